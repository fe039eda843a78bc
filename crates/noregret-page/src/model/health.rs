//! How a study is, in sentences, each with what to do about it.
//!
//! Thresholds are next to the sentences. They are chosen such that a sound study of a well-behaved function is told so, and nobody is sent
//! after the noise of small samples: shares of `n` are compared with what they should be less three standard errors.

use std::collections::BTreeMap;

use noregret::strategy::diagnostics::Diagnostics;
use noregret::study::{Importance, Recommendation, RemainingRegret};
use noregret::{Direction, Duplicates, Param, Study, Trial, TrialState};
use noregret_client::views::{LeftOut, ModelCard, Remark};
use noregret_store::Ledger;

use super::axis::param;
use super::words::{count, names, number, percent};

/// With fewer evaluations shares of them say nothing.
const FEW: usize = 10;
/// With fewer left-out predictions neither do those.
const FEW_PREDICTIONS: usize = 20;
/// A parameter whose total share is surely below this has no effect that anybody would care for.
const NO_EFFECT: f64 = 0.02;
/// A place within this of the end of a range is at the end.
const AT_BOUND: f64 = 0.005;

/// What is known of a study.
pub(super) struct Known<'a> {
    pub(super) study: &'a Study,
    pub(super) ledger: &'a Ledger,
    pub(super) diagnostics: Option<&'a Diagnostics>,
    pub(super) model: Option<&'a ModelCard>,
    pub(super) importance: Option<&'a Importance>,
    /// Of all values.
    pub(super) left_out: Option<&'a LeftOut>,
    pub(super) recommended: Option<&'a Recommendation>,
    pub(super) regret: Option<&'a RemainingRegret>,
}

/// All that is to be said, the most urgent first; never nothing.
pub(super) fn remarks(known: &Known<'_>) -> Vec<Remark> {
    let checks: [fn(&Known<'_>) -> Option<Remark>; 12] = [
        failures,
        intervals,
        explained,
        noise,
        bound,
        stalled,
        exactness,
        without_effect,
        duplicates,
        subset,
        lost,
        sound,
    ];
    let values = known.study.trials().iter().filter(|trial| trial.value().is_some()).count();
    let beginning = (values < 3).then(|| {
        let text = match values {
            0 => "No value is known yet: the first ones come before any model.".to_owned(),
            _ => format!("Only {} known: there is not much of a model yet.", are(values, "value")),
        };
        note(text)
    });
    let mut remarks: Vec<Remark> =
        beginning.into_iter().chain(checks.iter().filter_map(|check| check(known))).collect();
    let is_worse = |remark: &Remark| remark.level != "good";
    // Praise has its place: below what is wrong, and not beside a warning.
    if remarks.iter().any(|remark| remark.level == "warning")
        || (values < FEW && remarks.iter().any(is_worse))
    {
        remarks.retain(is_worse);
    }
    let rank = |remark: &Remark| ["warning", "note", "good"].iter().position(|level| *level == remark.level);
    remarks.sort_by_key(rank);
    remarks
}

fn warning(text: String) -> Remark {
    Remark { level: "warning".into(), text }
}

fn note(text: String) -> Remark {
    Remark { level: "note".into(), text }
}

/// `1 value is`, `2 values are`.
fn are(n: usize, one: &str) -> String {
    format!("{} {}", count(n, one), if n == 1 { "is" } else { "are" })
}

fn failures(known: &Known<'_>) -> Option<Remark> {
    let is_failed = |trial: &&Trial| matches!(trial.state, TrialState::Failed { .. });
    let failed = known.study.trials().iter().filter(is_failed).count();
    let ended = known.study.trials().iter().filter(|trial| trial.state != TrialState::Running).count();
    let share = failed as f64 / ended.max(1) as f64;
    let text = format!(
        "{failed} of {} failed ({}). Look at their reasons; if a region of the space always fails, a constraint keeps the study out of it.",
        count(ended, "evaluation"),
        percent(share)
    );
    match () {
        () if ended < 5 || share < 0.1 => None,
        () if share < 0.3 => Some(note(text)),
        () => Some(warning(text)),
    }
}

/// Whether as many values are inside their intervals as should be.
fn intervals(known: &Known<'_>) -> Option<Remark> {
    let left_out = known.left_out?;
    let n = left_out.value.len();
    let (half, most, _) = left_out.coverage;
    let errors = |share: f64| 3.0 * (share * (1.0 - share) / n as f64).sqrt();
    if n < FEW_PREDICTIONS {
        return None;
    }
    if most < 0.9 - errors(0.9) {
        return Some(warning(format!(
            "Only {} of the values are inside the 90 % intervals of a model that has not seen them: do not trust the intervals, they are too \
             narrow. The function may jump, or vary far more in one place than in others; a logarithm of the value or of a parameter often helps.",
            percent(most)
        )));
    }
    (half > 0.5 + errors(0.5) && half > 0.8).then(|| {
        note(format!(
            "{} of the values are inside intervals that should hold half of them: the model is more cautious than it need be. Its predictions \
             are better than they say.",
            percent(half)
        ))
    })
}

fn explained(known: &Known<'_>) -> Option<Remark> {
    let left_out = known.left_out.filter(|left_out| left_out.value.len() >= FEW_PREDICTIONS)?;
    (left_out.explained < 0.1).then(|| {
        warning(
            "The model hardly predicts values that it has not seen. Either the parameters have little to do with the value, or noise hides it, \
             or the function is too rough for so few evaluations: repeat one point a few times to see which."
                .into(),
        )
    })
}

fn noise(known: &Known<'_>) -> Option<Remark> {
    let model = known.model.filter(|model| model.evaluations >= FEW as u64)?;
    (model.noise_sd > model.signal_sd).then(|| {
        warning(format!(
            "The noise of a single value (deviation {}) is larger than what the parameters change (deviation {}): evaluate points several times, \
             or average over more runs in each evaluation, and let the study repeat points (duplicates = \"replicate\").",
            number(model.noise_sd),
            number(model.signal_sd)
        ))
    })
}

/// Whether the best point is at the end of a range. Of a parameter without effect that means nothing.
fn bound(known: &Known<'_>) -> Option<Remark> {
    let recommended = known.recommended?;
    let space = known.study.space();
    let x = space.encode(&recommended.params).ok()?;
    let matters = |name: &str| {
        let of = known.importance.and_then(|all| all.parameters.iter().find(|one| one.name == name));
        of.is_none_or(|one| one.total.interval.1 >= NO_EFFECT)
    };
    let at_bound = |dim: usize| {
        let (levels, name) = (space.kinds()[dim].levels(), space.names()[dim].as_str());
        let (low, high) = match param(space, dim)? {
            Param::Float { low, high, .. } => (number(*low), number(*high)),
            Param::Int { low, high, .. } => (low.to_string(), high.to_string()),
            _ => return None,
        };
        let at = match levels {
            Some(levels) if levels < 4 => return None,
            Some(levels) => (space.level_of(dim, x[dim]) == 0, space.level_of(dim, x[dim]) == levels - 1),
            None => (x[dim] < AT_BOUND, x[dim] > 1.0 - AT_BOUND),
        };
        let side = match at {
            (true, _) => format!("the lower bound of `{name}` ({low})"),
            (_, true) => format!("the upper bound of `{name}` ({high})"),
            _ => return None,
        };
        matters(name).then_some(side)
    };
    let sides: Vec<String> = (0..space.dims()).filter_map(at_bound).collect();
    let evaluated = known.study.trials().iter().filter(|trial| trial.value().is_some()).count();
    (!sides.is_empty() && evaluated >= FEW).then(|| {
        let many = if sides.len() > 4 { format!(" and {} more", sides.len() - 4) } else { String::new() };
        note(format!(
            "The best point is at {}{many}: better values may lie beyond. If they can be tried, start a study with a wider range.",
            sides[..sides.len().min(4)].join(" and ")
        ))
    })
}

/// Trials since the best value was found. A third of all, and at least twenty, is long.
fn stalled(known: &Known<'_>) -> Option<Remark> {
    let mut ended: Vec<_> = known.ledger.records().iter().filter(|record| record.status.is_over()).collect();
    ended.sort_by_key(|record| (record.ended, record.number));
    let best = known.study.best_observed()?.number;
    let place = ended.iter().position(|record| record.number == best)?;
    let since = ended.len() - 1 - place;
    (since >= 20 && 3 * since >= ended.len()).then(|| {
        let left = known.regret.map_or(String::new(), |regret| {
            let (median, high) = (number(regret.median), number(regret.interval.1));
            if high == "0" {
                return " By the model, nothing that can be told from 0 may still be gained.".into();
            }
            format!(" By the model, about {median} may still be gained, and hardly more than {high}.")
        });
        note(format!(
            "The last {since} of {} evaluations found nothing better than trial {best}.{left} If that is not worth more evaluations, stop here.",
            ended.len()
        ))
    })
}

fn exactness(known: &Known<'_>) -> Option<Remark> {
    let inexactness = known.diagnostics?.inexactness.as_ref()?;
    (inexactness.eta_hat < 0.9).then(|| {
        note(format!(
            "In the last round the acquisition function was maximized to {} of what a longer search found: suggestions are somewhat worse than the \
             model allows. A larger `solver` in the algorithm's options helps, if it has one.",
            number(inexactness.eta_hat)
        ))
    })
}

fn without_effect(known: &Known<'_>) -> Option<Remark> {
    let importance = known.importance.filter(|importance| importance.evaluations >= FEW)?;
    let idle = importance.parameters.iter().filter(|one| one.total.interval.1 < NO_EFFECT);
    let idle: Vec<String> = idle.map(|one| one.name.clone()).collect();
    (!idle.is_empty()).then(|| {
        let (has, fix) = if idle.len() == 1 { ("has", "it") } else { ("have", "them") };
        note(format!(
            "{} {has} hardly any effect on the value (surely less than {} of its variation): choose {fix} by what is cheap or simple.",
            names(&idle),
            percent(NO_EFFECT)
        ))
    })
}

/// Points that were evaluated more than once.
fn duplicates(known: &Known<'_>) -> Option<Remark> {
    let mut by_point: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for trial in known.study.trials() {
        if let Some(value) = trial.value() {
            let point = trial.row.map_or_else(|| trial.params.to_string(), |row| row.to_string());
            by_point.entry(point).or_default().push(value);
        }
    }
    by_point.retain(|_, values| values.len() > 1);
    let extra: usize = by_point.values().map(|values| values.len() - 1).sum();
    if extra == 0 {
        return None;
    }
    let same =
        by_point.values().all(|values| values.iter().all(|value| value.to_bits() == values[0].to_bits()));
    if same {
        let advice = match known.study.duplicates() {
            Duplicates::Avoid => "they were added or enqueued by hand",
            _ => "duplicates = \"avoid\" spends them elsewhere",
        };
        return Some(note(format!(
            "{} repeated an earlier point and gave the same value: there is no noise to average out, so {advice}.",
            count(extra, "evaluation")
        )));
    }
    // Within groups: the deviation of a single value, whatever the points are.
    let squares = |values: &Vec<f64>| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
    };
    let deviation = (by_point.values().map(squares).sum::<f64>() / extra as f64).sqrt();
    Some(note(format!(
        "{} repeated an earlier point; values at the same point differ by a deviation of {}. That is the noise of a single value{}.",
        count(extra, "evaluation"),
        number(deviation),
        known
            .model
            .map_or(String::new(), |model| format!(", which the model takes for {}", number(model.noise_sd)))
    )))
}

fn subset(known: &Known<'_>) -> Option<Remark> {
    let model = known.model.filter(|model| model.evaluations < model.of)?;
    Some(note(format!(
        "The model behind these views uses {} of {} evaluations, most of them promising ones: an exact model of all would take too long. What it \
         says of bad regions is coarser than the data.",
        model.evaluations, model.of
    )))
}

fn lost(known: &Known<'_>) -> Option<Remark> {
    let lost: u32 = known.ledger.records().iter().map(|record| record.lost).sum();
    let leases: u32 = known.ledger.records().iter().map(|record| record.leases).sum();
    (lost >= 3 && f64::from(lost) > 0.05 * f64::from(leases)).then(|| {
        note(format!(
            "{lost} times a worker vanished with a trial, which another one had to begin anew: look at the machines, or at their memory."
        ))
    })
}

/// What is well.
fn sound(known: &Known<'_>) -> Option<Remark> {
    let left_out = known.left_out.filter(|left_out| left_out.value.len() >= FEW)?;
    let (_, most, _) = left_out.coverage;
    (left_out.explained >= 0.5).then(|| {
        let better = if known.study.direction() == Direction::Minimize { "low" } else { "high" };
        Remark {
            level: "good".into(),
            text: format!(
                "The model predicts values that it has not seen: it explains {} of their variance, and {} of them are inside its 90 % intervals. \
                 It knows where values are {better}.",
                percent(left_out.explained),
                percent(most)
            ),
        }
    })
}

#[cfg(test)]
mod tests {
    use noregret::strategy::diagnostics::Inexactness;
    use noregret::{Params, Space, Value};
    use noregret_store::{Entry, Event, Timestamp};

    use super::*;

    fn known<'a>(study: &'a Study, ledger: &'a Ledger) -> Known<'a> {
        Known {
            study,
            ledger,
            diagnostics: None,
            model: None,
            importance: None,
            left_out: None,
            recommended: None,
            regret: None,
        }
    }

    fn study(values: &[f64]) -> Study {
        let space = Space::builder().float("x", 0.0, 1.0).int("n", 1, 50).bool("b").build().unwrap();
        let mut study = Study::builder().space(space).build().unwrap();
        for (i, value) in values.iter().enumerate() {
            let x = i as f64 / values.len() as f64;
            let point = [("x", Value::from(x)), ("n", Value::from(7)), ("b", Value::from(true))];
            study.add(&Params::from_iter(point), *value, None).unwrap();
        }
        study
    }

    fn model(noise_sd: f64, signal_sd: f64) -> ModelCard {
        ModelCard { evaluations: 4_000, of: 20_000, noise_sd, signal_sd, lengthscales: Vec::new() }
    }

    fn left_out(coverage: (f64, f64, f64), explained: f64) -> LeftOut {
        let column = || vec![0.0; 50];
        LeftOut {
            number: (0..50).collect(),
            value: column(),
            mean: column(),
            sd: column(),
            coverage,
            explained,
        }
    }

    #[test]
    fn failures_are_counted() {
        let ledger = Ledger::default();
        for (failed, level) in [(0, None), (4, Some("note")), (12, Some("warning"))] {
            let values: Vec<f64> =
                (0..20).map(|i| if i < failed { f64::NAN } else { f64::from(i) }).collect();
            let study = study(&values);
            let found = failures(&known(&study, &ledger));
            assert_eq!(found.as_ref().map(|remark| remark.level.as_str()), level, "{found:?}");
            assert!(
                found.is_none_or(|remark| remark
                    .text
                    .starts_with(&format!("{failed} of 20 evaluations failed")))
            );
        }
    }

    #[test]
    fn predictions_are_judged_by_what_chance_allows() {
        let (study, ledger) = (study(&[1.0, 2.0]), Ledger::default());
        // 50 predictions: 90 % less three standard errors of 4.2 % is 77 %.
        let cases = [
            ((0.5, 0.80, 0.9), 0.9, None, None),
            ((0.4, 0.70, 0.8), 0.9, Some("warning"), None),
            ((0.9, 1.00, 1.0), 0.9, Some("note"), None),
            ((0.5, 0.90, 0.95), 0.05, None, Some("warning")),
        ];
        for (coverage, share, of_intervals, of_means) in cases {
            let left_out = left_out(coverage, share);
            let known = Known { left_out: Some(&left_out), ..known(&study, &ledger) };
            let level = |remark: Option<Remark>| remark.map(|remark| remark.level);
            assert_eq!(level(intervals(&known)).as_deref(), of_intervals, "{coverage:?}");
            assert_eq!(level(explained(&known)).as_deref(), of_means, "{coverage:?}");
        }
    }

    #[test]
    fn noise_subsets_and_inexactness_are_named() {
        let (study, ledger) = (study(&[1.0, 2.0]), Ledger::default());
        let (noisy, quiet) = (model(2.0, 0.5), model(0.5, 2.0));
        let of = |model| Known { model: Some(model), ..known(&study, &ledger) };
        assert!(noise(&of(&noisy)).is_some_and(|remark| remark.text.contains("replicate")));
        assert!(noise(&of(&quiet)).is_none());
        assert!(subset(&of(&quiet)).is_some_and(|remark| remark.text.contains("4000 of 20000")));
        let inexact = |eta_hat| Diagnostics {
            inexactness: Some(Inexactness {
                eta_hat,
                m_hat: 0.0,
                rounds: 3,
                measured: 1,
                shift: String::new(),
                grid: None,
            }),
            ..Diagnostics::default()
        };
        let (good, bad) = (inexact(0.999), inexact(0.87));
        let of = |diagnostics| Known { diagnostics: Some(diagnostics), ..known(&study, &ledger) };
        assert!(exactness(&of(&good)).is_none());
        assert!(exactness(&of(&bad)).is_some_and(|remark| remark.text.contains("0.87")));
    }

    #[test]
    fn the_best_at_a_bound_is_pointed_out() {
        let ledger = Ledger::default();
        let values: Vec<f64> = (0..20).map(f64::from).collect();
        let mut study = study(&values);
        let recommended = study.recommended().unwrap().unwrap();
        let at = |x: f64, n: i64| {
            let point = [("x", Value::from(x)), ("n", Value::from(n)), ("b", Value::from(true))];
            Recommendation { params: Params::from_iter(point), ..recommended.clone() }
        };
        for (x, n, said) in [
            (0.5, 7, None),
            (0.0, 7, Some("lower bound of `x` (0)")),
            (0.5, 50, Some("upper bound of `n` (50)")),
        ] {
            let point = at(x, n);
            let found = bound(&Known { recommended: Some(&point), ..known(&study, &ledger) });
            assert_eq!(found.is_some(), said.is_some(), "{found:?}");
            assert!(found.is_none_or(|remark| said.is_some_and(|said| remark.text.contains(said))));
        }
    }

    #[test]
    fn repeated_points_tell_the_noise() {
        let ledger = Ledger::default();
        let mut study = study(&[1.0, 2.0, 3.0]);
        assert!(duplicates(&known(&study, &ledger)).is_none());
        let first = study.trials()[0].params.clone();
        study.add(&first, 1.0, None).unwrap();
        assert!(duplicates(&known(&study, &ledger)).is_some_and(|remark| remark.text.contains("same value")));
        study.add(&first, 4.0, None).unwrap();
        // 1, 1 and 4: squares of 6 over two degrees of freedom.
        assert!(
            duplicates(&known(&study, &ledger))
                .is_some_and(|remark| remark.text.contains("deviation of 1.73"))
        );
    }

    #[test]
    fn a_study_that_finds_nothing_new_is_told_so() {
        for (best, is_stalled) in [(5, true), (45, false)] {
            let values: Vec<f64> =
                (0..60).map(|i| if i == best { 0.0 } else { 1.0 + f64::from(i) }).collect();
            let study = study(&values);
            let mut ledger = Ledger::default();
            for (number, event) in (0..).zip(study.events()) {
                let noregret::study::Event::Added(added) = event.clone() else {
                    panic!("only results were added")
                };
                ledger.apply(&Entry {
                    time: Timestamp(number),
                    event: Event::Added { number: number.unsigned_abs(), added },
                });
            }
            let found = stalled(&known(&study, &ledger));
            assert_eq!(found.is_some(), is_stalled, "{found:?}");
            assert!(
                found.is_none_or(|remark| remark.text.starts_with("The last 54 of 60 evaluations")),
                "as many as came after"
            );
        }
    }
}
