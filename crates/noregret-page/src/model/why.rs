//! Why a point was chosen.
//!
//! The algorithm does not say why; what can be said is what a model of that moment expected of the point. It is that of recommendations
//! (see [`noregret::study::Foresight`]), so it says something of every algorithm. The rule, with `correlation` that of the values at the
//! point and at the nearest evaluated one:
//!
//! | kind          | if                                                                                                         |
//! |---------------|------------------------------------------------------------------------------------------------------------|
//! | `design`      | it was one of the first points, before there was a model                                                   |
//! | `queued`      | a person enqueued it                                                                                       |
//! | `added`       | it is a result from elsewhere                                                                              |
//! | `refinement`  | the correlation is at least 0.9, and the nearest point was among the best three, or the best tenth         |
//! | `exploration` | the expected value was worse than the best one, the correlation below 0.7, and the deviation at least half of what it would have been had nothing been known; and all points of algorithms that look at no values |
//! | `balance`     | otherwise: some of both                                                                                    |

use noregret::study::{Event, Foresight};
use noregret::{Algorithm, Direction};
use noregret_client::views::Why;
use noregret_store::{Proposed, SharedStudy};

use super::ViewError;
use super::words::{count, number, percent};

/// Values at two points are nearly the same with a correlation from here on: a fifth of the variance is left.
const NEAR: f64 = 0.9;
/// Below this, more than half of the variance is left.
const FAR: f64 = 0.7;
/// Good points are this many, or the best tenth.
const GOOD: usize = 3;

/// How a trial came to be.
enum Origin {
    /// It was proposed, as one of so many points, of which so many were of the design.
    Proposed {
        place: usize,
    },
    Queued,
    Added,
}

/// Why the point of trial `number` was chosen. An error if there is no such trial. Takes a fit of the model to what was known then.
pub fn why(shared: &mut SharedStudy, number: u64) -> Result<Why, ViewError> {
    shared.study().trial(number)?;
    let proposed = shared.proposal_of(number)?;
    let study = shared.study();
    let foresight = study.foresight(number)?;
    let origin = origin(study.events(), number);
    let kind = kind(&origin, proposed.as_deref(), foresight.as_ref(), study.algorithm(), study.direction());
    let diagnostics = proposed.as_deref().and_then(|proposed| proposed.diagnostics.as_deref());
    let algorithm = proposed.is_some().then(|| {
        let said =
            diagnostics.map(|diagnostics| diagnostics.algorithm.clone()).filter(|name| !name.is_empty());
        said.unwrap_or_else(|| study.algorithm().name().into())
    });
    let of = |part: fn(&Foresight) -> f64| foresight.as_ref().map(part);
    Ok(Why {
        summary: summary(kind, algorithm.as_deref(), foresight.as_ref()),
        kind: kind.into(),
        mean: of(|foresight| foresight.mean),
        sd: of(|foresight| foresight.sd),
        best_mean: of(|foresight| foresight.best_mean),
        expected_improvement: of(|foresight| foresight.expected_improvement),
        nearest: foresight
            .as_ref()
            .map(|foresight| (foresight.nearest.number, foresight.nearest.correlation)),
        // Points of the design are not the maximum of anything.
        eta_hat: diagnostics
            .filter(|_| kind != "design")
            .and_then(|diagnostics| diagnostics.inexactness.as_ref())
            .map(|inexactness| inexactness.eta_hat),
        batch: proposed.as_ref().map(|proposed| proposed.asked.choices.len() as u64),
        notes: diagnostics.map_or(Vec::new(), |diagnostics| diagnostics.notes.clone()),
        algorithm,
    })
}

/// The trial must exist.
fn origin(events: &[Event], number: u64) -> Origin {
    let mut begun = 0;
    for event in events {
        match event {
            Event::Asked(asked) => {
                let choices = asked.choices.len() as u64;
                if number < begun + choices {
                    return Origin::Proposed { place: usize::try_from(number - begun).unwrap_or(usize::MAX) };
                }
                begun += choices;
            }
            Event::Enqueued(_) if number == begun => return Origin::Queued,
            Event::Added(_) if number == begun => return Origin::Added,
            Event::Enqueued(_) | Event::Added(_) => begun += 1,
            _ => {}
        }
    }
    Origin::Added
}

fn kind(
    origin: &Origin,
    proposed: Option<&Proposed>,
    foresight: Option<&Foresight>,
    algorithm: &Algorithm,
    direction: Direction,
) -> &'static str {
    let place = match origin {
        Origin::Queued => return "queued",
        Origin::Added => return "added",
        Origin::Proposed { place } => *place,
    };
    if looks_at_no_values(proposed, algorithm) {
        return "exploration";
    }
    let diagnostics = proposed.and_then(|proposed| proposed.diagnostics.as_ref());
    // Points of the design come first in a batch.
    let is_of_design = diagnostics.is_some_and(|diagnostics| place < diagnostics.design_points);
    let Some(foresight) = foresight.filter(|_| !is_of_design) else { return "design" };
    let is_worse = direction.is_better(foresight.best_mean, foresight.mean);
    let nearest = foresight.nearest;
    let is_good = nearest.better < GOOD.max(foresight.evaluations / 10);
    if nearest.correlation >= NEAR && is_good {
        "refinement"
    } else if is_worse && nearest.correlation < FAR && foresight.sd >= 0.5 * foresight.prior_sd {
        "exploration"
    } else {
        "balance"
    }
}

fn looks_at_no_values(proposed: Option<&Proposed>, algorithm: &Algorithm) -> bool {
    let said = proposed.and_then(|proposed| proposed.diagnostics.as_ref());
    let name = said.map(|diagnostics| diagnostics.algorithm.as_str()).filter(|name| !name.is_empty());
    matches!(name.unwrap_or(algorithm.name()), "random" | "sobol")
}

fn summary(kind: &str, algorithm: Option<&str>, foresight: Option<&Foresight>) -> String {
    let why = match (kind, foresight) {
        ("design", _) => "One of the first points: they are spread over the whole space, so that a model can begin.".to_owned(),
        ("queued", _) => "A person chose this point and put it into the queue.".to_owned(),
        ("added", _) => "A result from elsewhere, which somebody added to the study.".to_owned(),
        ("refinement", Some(foresight)) => format!(
            "Refinement: next to trial {}, one of the best so far, to see whether its surroundings are even better.",
            foresight.nearest.number
        ),
        ("exploration", Some(foresight)) if foresight.nearest.correlation < FAR && !matches!(algorithm, Some("random" | "sobol")) => {
            "Exploration: not because a good value was expected here, but because nobody knew; it could have been better than all others.".to_owned()
        }
        ("exploration", _) => format!(
            "Exploration: the algorithm `{}` spreads points over the space and looks at no values.",
            algorithm.unwrap_or("random")
        ),
        _ => "Some of both: a good value was thought possible here, and the model was not sure of it.".to_owned(),
    };
    let Some(foresight) = foresight.filter(|_| kind != "design") else { return why };
    let nearest = foresight.nearest;
    let near = match nearest.correlation {
        _ if kind == "refinement" => String::new(),
        c if c >= NEAR => format!(" Trial {} is next to it.", nearest.number),
        c if c >= 0.05 => format!(
            " The nearest evaluated point, trial {}, tells {} of its value.",
            nearest.number,
            percent(c * c)
        ),
        _ => " No evaluated point is near.".to_owned(),
    };
    format!(
        "{why} From {} the model expected {} ± {} here; the best point so far had {}.{near}",
        count(foresight.evaluations, "value"),
        number(foresight.mean),
        number(foresight.sd),
        number(foresight.best_mean),
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use noregret::study::Nearest;
    use noregret::{Duplicates, Params, Space};
    use noregret_store::{
        Definition, Evaluation, ExternalResult, HandOut, MemoryStore, SpaceDefinition, Store, Timestamp,
    };

    use super::*;

    const NOW: Timestamp = Timestamp(0);

    fn open(algorithm: &str) -> SharedStudy {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let parameters = space.params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
        let definition = Definition {
            version: Definition::VERSION,
            direction: Direction::Minimize,
            seed: 0,
            algorithm: Algorithm::by_name(algorithm).unwrap(),
            duplicates: Duplicates::Avoid,
            trials: None,
            space: SpaceDefinition::Parameters { parameters, constraints: [].into_iter().collect() },
            assignment: None,
        };
        let store = Arc::new(MemoryStore::default()) as Arc<dyn Store>;
        SharedStudy::open(store, "s", &definition, space).unwrap()
    }

    fn grow(shared: &mut SharedStudy, rounds: usize) {
        let order =
            HandOut { wanted: 1, batch: None, budget: None, worker: "w".into(), lease: None, request: None };
        for _ in 0..rounds {
            for trial in shared.hand_out(&order, NOW).unwrap() {
                let x = trial.numbers();
                let value = (x[0] - 0.3).powi(2) + (x[1] - 0.6).powi(2);
                shared.tell(&[(trial.number, Evaluation::value(value))], Some("w"), NOW).unwrap();
            }
        }
    }

    #[test]
    fn every_trial_has_a_reason() {
        let mut shared = open("auto");
        let point = |x: f64, y: f64| Params::from_iter([("x0", x), ("x1", y)]);
        grow(&mut shared, 14);
        let queued = shared.enqueue(&[point(0.9, 0.9)], NOW).unwrap()[0].number;
        let external =
            ExternalResult { params: point(0.1, 0.1), row: None, value: Some(0.3), noise_var: None };
        shared.add(&[external], NOW).unwrap();
        let all: Vec<Why> = (0..16).map(|number| why(&mut shared, number).unwrap()).collect();
        assert_eq!((all[0].kind.as_str(), all[0].mean), ("design", None));
        assert!(all[0].summary.contains("first points") && all[0].algorithm.is_some());
        let last = &all[13];
        assert!(["refinement", "exploration", "balance"].contains(&last.kind.as_str()), "{last:?}");
        assert!(
            last.mean.is_some() && last.sd.is_some_and(|sd| sd > 0.0) && last.nearest.is_some(),
            "{last:?}"
        );
        assert!(last.summary.contains("From 13 values") && last.batch == Some(1), "{last:?}");
        assert!(!last.notes.is_empty(), "auto says what it chose: {last:?}");
        let queued = usize::try_from(queued).unwrap();
        assert_eq!((all[queued].kind.as_str(), all[queued].algorithm.as_deref()), ("queued", None));
        assert!(all[queued].mean.is_some(), "what was expected of it is known all the same");
        assert_eq!(all[15].kind, "added");
        assert!(why(&mut shared, 16).unwrap_err().is_of_the_request());
    }

    #[test]
    fn algorithms_without_a_model_explore() {
        let mut shared = open("random");
        grow(&mut shared, 8);
        let last = why(&mut shared, 7).unwrap();
        assert_eq!((last.kind.as_str(), last.algorithm.as_deref()), ("exploration", Some("random")));
        assert!(last.summary.contains("looks at no values"), "{last:?}");
    }

    /// The rule, at its borders.
    #[test]
    fn kinds_follow_from_what_was_expected() {
        let place = Origin::Proposed { place: 0 };
        let of = |mean: f64, sd: f64, correlation: f64, better: usize, direction: Direction| {
            let nearest = Nearest { number: 3, correlation, better };
            let foresight = Foresight {
                evaluations: 50,
                mean,
                sd,
                prior_sd: 1.0,
                best_mean: 2.0,
                expected_improvement: 0.1,
                nearest,
            };
            kind(&place, None, Some(&foresight), &Algorithm::default(), direction)
        };
        let low = Direction::Minimize;
        assert_eq!(of(2.1, 0.1, 0.95, 2, low), "refinement");
        assert_eq!(of(2.1, 0.1, 0.95, 4, low), "refinement", "the fifth of fifty is among the best tenth");
        assert_eq!(of(2.1, 0.1, 0.95, 5, low), "balance", "next to a point that is not good");
        assert_eq!(of(2.1, 0.6, 0.5, 9, low), "exploration");
        assert_eq!(of(1.9, 0.6, 0.5, 9, low), "balance", "expected to be better");
        assert_eq!(of(1.9, 0.6, 0.5, 9, Direction::Maximize), "exploration", "expected to be worse");
        assert_eq!(of(2.1, 0.4, 0.5, 9, low), "balance", "the model was rather sure");
        assert_eq!(of(2.1, 0.6, 0.8, 9, low), "balance", "not far");
        assert_eq!(kind(&place, None, None, &Algorithm::default(), low), "design");
    }
}
