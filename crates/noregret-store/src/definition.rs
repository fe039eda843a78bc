//! What a study was made from: the first entry of its log.

use std::num::NonZeroUsize;

use indexmap::IndexMap;
use noregret::{Algorithm, Direction, Duplicates, Param};
use serde::{Deserialize, Serialize};

/// Everything that decides what a study suggests, but for what was told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Version of the log's format.
    pub version: u32,
    /// Whether small or large values are good.
    pub direction: Direction,
    /// The seed.
    pub seed: u64,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Whether points may repeat.
    pub duplicates: Duplicates,
    /// Trials that there are to be in all, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    /// Where to search.
    pub space: SpaceDefinition,
    /// What workers on other machines are to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignment: Option<Box<Assignment>>,
}

/// What a worker that has no study file needs to know of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The section `[objective]` of the study file: the log only keeps it.
    pub objective: serde_json::Value,
    /// Points decided on together; without a number the algorithm says how many may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<NonZeroUsize>,
    /// No more trials once the estimate of what could still be gained is below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_when_regret_below: Option<f64>,
}

/// Where a study searches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SpaceDefinition {
    /// Parameters and what must hold of them.
    Parameters {
        /// Declarations by name, in order.
        parameters: IndexMap<String, Param>,
        /// Expressions by name; none for what is a function in the program that made the study.
        constraints: IndexMap<String, Option<String>>,
    },
    /// A finite set, kept in a file.
    Pool {
        /// Where the file was when the study was made; empty if it came from no file.
        file: String,
        /// Columns that describe a candidate.
        features: Vec<String>,
        /// Column with the names of candidates.
        id: Option<String>,
        /// How many candidates there are.
        rows: usize,
        /// A digest of names and features: a log is worth nothing with other rows.
        digest: u64,
    },
}

impl Definition {
    /// The format that this version writes.
    pub const VERSION: u32 = 1;

    /// What may change in the middle of a study, by another definition. The number of trials changes by [`Event::Planned`].
    ///
    /// [`Event::Planned`]: crate::Event::Planned
    pub fn settings(&self) -> (u64, &Algorithm, Duplicates) {
        (self.seed, &self.algorithm, self.duplicates)
    }

    /// In which way the search is another one, so that results of one cannot serve the other; `None` if it is the same.
    /// The [settings](Self::settings) do not matter.
    pub fn difference(&self, now: &Self) -> Option<String> {
        if self.direction != now.direction {
            return Some(format!(
                "direction was {}, and is {} now",
                word(self.direction),
                word(now.direction)
            ));
        }
        self.space.difference(&now.space)
    }
}

impl SpaceDefinition {
    /// A constraint that only the program which made the study can check.
    pub fn function(&self) -> Option<&str> {
        match self {
            Self::Parameters { constraints, .. } => {
                constraints.iter().find_map(|(name, rule)| rule.is_none().then_some(name.as_str()))
            }
            Self::Pool { .. } => None,
        }
    }

    fn difference(&self, now: &Self) -> Option<String> {
        match (self, now) {
            (
                Self::Parameters { parameters: old, constraints: old_constraints },
                Self::Parameters { parameters: new, constraints: new_constraints },
            ) => differing("parameter", old, new)
                .or_else(|| differing("constraint", old_constraints, new_constraints))
                .or_else(|| {
                    (!old.keys().eq(new.keys())).then(|| "the order of the parameters has changed".into())
                }),
            (
                Self::Pool { features: old, rows: old_rows, digest: old_digest, .. },
                Self::Pool { features, rows, digest, .. },
            ) => {
                if old_rows != rows {
                    Some(format!("the pool had {old_rows} rows, and has {rows} now"))
                } else if old != features {
                    Some(format!(
                        "the pool's features were {}, and are {} now",
                        old.join(", "),
                        features.join(", ")
                    ))
                } else if old_digest != digest {
                    Some("the contents of the pool have changed".into())
                } else {
                    None // the file may have moved, and ids may come from another column
                }
            }
            (Self::Parameters { .. }, Self::Pool { .. }) => {
                Some("it had parameters, and has a pool now".into())
            }
            (Self::Pool { .. }, Self::Parameters { .. }) => {
                Some("it had a pool, and has parameters now".into())
            }
        }
    }
}

fn differing<T: PartialEq + Serialize>(
    kind: &str,
    old: &IndexMap<String, T>,
    new: &IndexMap<String, T>,
) -> Option<String> {
    let text = |value: &T| match serde_json::to_string(value).unwrap_or_default() {
        function if function == "null" => "a function".into(),
        text => text,
    };
    for (name, was) in old {
        match new.get(name) {
            None => return Some(format!("{kind} `{name}` is gone")),
            Some(is) if is != was => {
                return Some(format!("{kind} `{name}` was {}, and is {} now", text(was), text(is)));
            }
            Some(_) => {}
        }
    }
    new.keys().find(|name| !old.contains_key(*name)).map(|name| format!("{kind} `{name}` is new"))
}

fn word(direction: Direction) -> &'static str {
    match direction {
        Direction::Minimize => "minimize",
        Direction::Maximize => "maximize",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn definition(high: f64) -> Definition {
        let parameters =
            [("lr", Param::Float { low: 0.0, high, log: false }), ("bias", Param::Bool {})].map(own).into();
        Definition {
            version: Definition::VERSION,
            direction: Direction::Minimize,
            seed: 0,
            algorithm: Algorithm::default(),
            duplicates: Duplicates::Avoid,
            trials: None,
            space: SpaceDefinition::Parameters { parameters, constraints: IndexMap::new() },
            assignment: None,
        }
    }

    fn own<T>((name, value): (&str, T)) -> (String, T) {
        (name.to_owned(), value)
    }

    #[test]
    fn settings_may_change_and_the_search_may_not() {
        let old = definition(1.0);
        assert_eq!(old.difference(&old), None);
        assert_eq!(
            old.difference(&Definition {
                seed: 7,
                algorithm: Algorithm::Sobol(noregret::strategy::algorithm::NoOptions {}),
                ..old.clone()
            }),
            None
        );
        let turned = Definition { direction: Direction::Maximize, ..old.clone() };
        assert_eq!(old.difference(&turned).unwrap(), "direction was minimize, and is maximize now");
        let wider = old.difference(&definition(2.0)).unwrap();
        assert!(wider.starts_with("parameter `lr` was {\"type\":\"float\""), "{wider}");
        let SpaceDefinition::Parameters { mut parameters, constraints } = old.space.clone() else { panic!() };
        parameters.shift_remove("bias");
        let fewer =
            Definition { space: SpaceDefinition::Parameters { parameters, constraints }, ..old.clone() };
        assert_eq!(old.difference(&fewer).unwrap(), "parameter `bias` is gone");
        assert_eq!(fewer.difference(&old).unwrap(), "parameter `bias` is new");
    }

    #[test]
    fn a_pool_may_move_and_not_change() {
        let pool = |file: &str, digest| Definition {
            space: SpaceDefinition::Pool {
                file: file.into(),
                features: vec!["a".into()],
                id: None,
                rows: 3,
                digest,
            },
            ..definition(1.0)
        };
        assert_eq!(pool("a.csv", 1).difference(&pool("b.csv", 1)), None);
        assert!(pool("a.csv", 1).difference(&pool("a.csv", 2)).unwrap().contains("contents"));
        assert!(pool("a.csv", 1).difference(&definition(1.0)).unwrap().contains("parameters now"));
    }

    #[test]
    fn it_reads_back() {
        for trials in [None, Some(60)] {
            let definition = Definition { trials, ..definition(0.1) };
            let json = serde_json::to_string(&definition).unwrap();
            assert_eq!(serde_json::from_str::<Definition>(&json).unwrap(), definition);
            assert_eq!(json.contains("trials"), trials.is_some(), "older logs have no such field");
        }
    }
}
