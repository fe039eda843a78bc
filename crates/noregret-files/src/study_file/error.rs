//! Errors of study files, with their position and a hint.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use noregret::SpaceError;
use noregret::math::range::OutOfRange;
use noregret::space::nearest;
use noregret_problems::Problem as Builtin;

use super::place::{self, Place};

/// An invalid study file: the problem and its position.
#[derive(Debug)]
pub struct StudyFileError {
    path: Option<PathBuf>,
    place: Option<Place>,
    problem: Box<Problem>,
}

/// The problem of a study file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// Invalid TOML, or TOML of the wrong shape.
    #[error("{0}")]
    Toml(String),
    /// Invalid JSON, or JSON of the wrong shape.
    #[error("{0}")]
    Json(String),
    /// Neither or both of `command` and `builtin`.
    #[error("[objective] needs either `command` or `builtin`, and has {}", if *both { "both" } else { "neither" })]
    Objective {
        /// Both rather than neither.
        both: bool,
    },
    /// Unknown test problem.
    #[error("unknown builtin `{name}`; known are: {}", Builtin::names().join(", "))]
    UnknownBuiltin {
        /// The given name.
        name: String,
    },
    /// Neither or both of `parameters` and `pool`.
    #[error("a study needs either [parameters] or [pool], and has {}", if *both { "both" } else { "neither" })]
    Space {
        /// Both rather than neither.
        both: bool,
    },
    /// Constraints without parameters.
    #[error("[constraints] are about [parameters], of which there are none")]
    ConstraintsWithoutParameters,
    /// Invalid threshold.
    #[error("stop_when_regret_below must be a positive number, not {value}")]
    Threshold {
        /// The given value.
        value: f64,
    },
    /// A number out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A word of the command that no command line can hold.
    #[error("[objective] command: {word:?} has a NUL, which no command line can hold")]
    Nul {
        /// The word.
        word: String,
    },
    /// Empty name.
    #[error("a study needs a name that is not empty")]
    EmptyName,
    /// An environment for a test problem.
    #[error("[objective] `{key}` is about the environment of a `command`; a test problem has none")]
    EnvironmentOfBuiltin {
        /// `env` or `environment`.
        key: &'static str,
    },
    /// Invalid variable.
    #[error("[objective] {key}: {name:?} {problem}")]
    Variable {
        /// `env` or `environment`.
        key: &'static str,
        /// The given name.
        name: String,
        /// What is wrong with it.
        problem: VariableProblem,
    },
    /// Invalid option of the algorithm.
    #[error("algorithm: {0}")]
    Algorithm(Box<noregret::Error>),
    /// Invalid parameters or constraints.
    #[error(transparent)]
    Parameters(Box<SpaceError>),
}

/// What is wrong with a variable of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableProblem {
    /// Empty name.
    #[error("names no variable")]
    Empty,
    /// A character that no name has.
    #[error("is no name of a variable: it contains `=` or a zero byte")]
    Character,
    /// A star in the middle of a name.
    #[error("has a `*` elsewhere than at its end, where it stands for any rest of a name")]
    Star,
    /// A variable that noregret sets.
    #[error("is set by noregret for each trial, and cannot be set to anything else")]
    Ours,
    /// A value that no variable can have.
    #[error("has a value with a zero byte")]
    Value,
}

impl From<SpaceError> for Problem {
    fn from(error: SpaceError) -> Self {
        Self::Parameters(Box::new(error))
    }
}

impl From<Problem> for StudyFileError {
    fn from(problem: Problem) -> Self {
        Self { path: None, place: None, problem: Box::new(problem) }
    }
}

impl StudyFileError {
    /// From an error of the TOML parser.
    pub(super) fn toml(text: &str, error: &toml::de::Error) -> Self {
        let (message, word) = friendly(error.message());
        let span =
            word.and_then(|word| place::of_word(text, &word, error.span().as_ref())).or_else(|| error.span());
        let place = span.map(|span| Place::new(text, span));
        Self { path: None, place, problem: Box::new(Problem::Toml(message)) }
    }

    /// From an error of the JSON parser.
    pub(super) fn json(text: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let message = message.strip_suffix(&format!(" at line {line} column {column}")).unwrap_or(&message);
        let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
        let end = before + column;
        let place = Some(Place::new(text, end.saturating_sub(1)..end));
        Self { path: None, place, problem: Box::new(Problem::Json(friendly(message).0)) }
    }

    /// Finds the position of the problem in the text.
    pub(super) fn located_in(mut self, text: &str) -> Self {
        if self.place.is_none() {
            self.place = self.problem.span(text).map(|span| Place::new(text, span));
        }
        self
    }

    /// The same, with the name of the file.
    #[must_use]
    pub fn in_file(mut self, path: &Path) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The problem.
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

impl Problem {
    fn span(&self, text: &str) -> Option<Range<usize>> {
        match self {
            Self::Read(_) | Self::Toml(_) | Self::Json(_) | Self::Space { both: false } => None,
            Self::Objective { .. } => place::of_path(text, &["objective"]),
            Self::UnknownBuiltin { .. } => place::of_path(text, &["objective", "builtin"]),
            Self::Space { both: true } => place::of_path(text, &["pool"]),
            Self::ConstraintsWithoutParameters => place::of_path(text, &["constraints"]),
            Self::Threshold { .. } => place::of_path(text, &["study", "stop_when_regret_below"]),
            Self::OutOfRange(error) => place::of_path(text, &error.option.split('.').collect::<Vec<_>>()),
            Self::Nul { .. } => place::of_path(text, &["objective", "command"]),
            Self::Algorithm(_) => place::of_path(text, &["study", "algorithm"]),
            Self::EnvironmentOfBuiltin { key } => place::of_path(text, &["objective", key]),
            Self::Variable { key: "environment", name, .. } => {
                let list = place::of_path(text, &["objective", "environment"]);
                place::of_word(text, name, list.as_ref()).or(list)
            }
            Self::Variable { key, name, .. } => place::of_path(text, &["objective", key, name]),
            Self::EmptyName => place::of_path(text, &["study", "name"]),
            Self::Parameters(error) => match &**error {
                SpaceError::Constraint { name, column, .. } => {
                    let span = place::of_path(text, &["constraints", name])?;
                    // The expression begins after its quote.
                    let start = (span.start + column).min(span.end.saturating_sub(1)).max(span.start);
                    Some(start..start + 1)
                }
                SpaceError::Infeasible { constraint: name, .. }
                | SpaceError::DuplicateConstraint { name } => place::of_path(text, &["constraints", name]),
                error => {
                    let name = error.parameter()?;
                    let key = match error {
                        SpaceError::EmptyRange { .. } | SpaceError::LogNotPositive { .. } => "low",
                        SpaceError::DuplicateChoice { .. } | SpaceError::NoChoices { .. } => "choices",
                        _ => "",
                    };
                    place::of_path(text, &["parameters", name, key])
                }
            },
        }
    }
}

impl fmt::Display for StudyFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.path {
            Some(path) => write!(f, "{}", path.display())?,
            None => f.write_str("study file")?,
        }
        match &self.place {
            Some(place) => write!(f, ":{}:{}: {}\n{place}", place.line, place.column, self.problem),
            None => write!(f, ": {}", self.problem),
        }
    }
}

impl std::error::Error for StudyFileError {}

/// Rewrites a message of serde; returns it with the word of the file that it is about.
fn friendly(message: &str) -> (String, Option<String>) {
    for (kind, ours) in [("unknown field", "unknown key"), ("unknown variant", "unknown value")] {
        let Some((before, rest)) = message.split_once(kind) else { continue };
        let words = quoted(rest);
        let Some((word, known)) = words.split_first() else { continue };
        let near = nearest(word, known.iter().copied());
        let hint = if near.is_empty() {
            "; nothing is expected here".into()
        } else {
            format!("; did you mean `{near}`?")
        };
        let list = if known.len() > 1 { format!(" Known here: {}", known.join(", ")) } else { String::new() };
        return (format!("{before}{ours} `{word}`{hint}{list}"), Some((*word).to_owned()));
    }
    let mut message = message.to_owned();
    for (theirs, ours) in [
        ("expected f64", "expected a number"),
        ("expected i64", "expected a whole number"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected usize", "expected a whole number from 0 on"),
        ("expected a nonzero u64", "expected a whole number from 1 on"),
        ("expected a sequence", "expected a list of words, such as [\"python3\", \"train.py\", \"{x}\"]"),
        ("expected a string", "expected a text in quotes"),
        ("expected variant identifier", "expected a table with `type`"),
        ("missing field", "missing key"),
    ] {
        message = message.replace(theirs, ours);
    }
    (message, None)
}

/// The words between backticks.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_words_get_the_nearest_known_one() {
        let (message, word) = friendly("unknown field `trails`, expected one of `name`, `trials`, `seed`");
        assert_eq!(message, "unknown key `trails`; did you mean `trials`? Known here: name, trials, seed");
        assert_eq!(word.as_deref(), Some("trails"));
        assert_eq!(
            friendly("unknown field `x`, there are no fields").0,
            "unknown key `x`; nothing is expected here"
        );
        assert_eq!(friendly("expected f64"), ("expected a number".into(), None));
    }
}
