//! Whatever users do wrong ends in a typed error that says what would be right, or in a safe suggestion; nothing told
//! is ever lost, and nothing panics.

use std::error::Error as _;

use noregret::study::{Event, StudyError, Verdict};
use noregret::{
    Algorithm, Duplicates, Error, MinimizeOptions, Params, Pool, Space, SpaceError, Study, TrialState, Value,
    minimize,
};

fn planar() -> Space {
    Space::bounds(&[(0.0, 1.0), (0.0, 1.0)]).unwrap()
}

fn study(space: Space, algorithm: Algorithm) -> Study {
    Study::builder().space(space).algorithm(algorithm).build().unwrap()
}

fn options(json: &str) -> serde_json::Map<String, serde_json::Value> {
    serde_json::from_str(json).unwrap()
}

/// Asserts that the message has all of `words`.
fn says(error: &dyn std::fmt::Display, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "`{word}` is missing from: {message}");
    }
}

#[test]
fn spaces_that_cannot_be_meant() {
    let b = Space::builder;
    says(&b().float("x", 2.0, 2.0).build().unwrap_err(), &["`x`", "low must be below high", "low = 2"]);
    says(&b().float("x", 3.0, 2.0).build().unwrap_err(), &["`x`", "low must be below high", "high = 2"]);
    says(&b().int("n", 3, 2).build().unwrap_err(), &["`n`", "low must be below high"]);
    says(&b().log_float("lr", 0.0, 1.0).build().unwrap_err(), &["`lr`", "above 0", "low = 0"]);
    says(&b().log_float("lr", -1.0, 1.0).build().unwrap_err(), &["`lr`", "above 0", "low = -1"]);
    says(&b().log_int("n", 0, 8).build().unwrap_err(), &["`n`", "above 0"]);
    says(&b().float("x", f64::NAN, 1.0).build().unwrap_err(), &["`x`", "finite"]);
    says(&b().float("x", 0.0, f64::INFINITY).build().unwrap_err(), &["`x`", "finite"]);
    says(&b().categorical("c", Vec::<Value>::new()).build().unwrap_err(), &["`c`", "at least one"]);
    says(&b().ordinal("o", Vec::<Value>::new()).build().unwrap_err(), &["`o`", "at least one"]);
    says(&b().build().unwrap_err(), &["at least one parameter"]);
}

#[test]
fn unsatisfiable_constraints_are_named() {
    let builder = Space::builder().float("x", 0.0, 1.0).float("y", 0.0, 1.0);
    let error = builder.constraint("budget", "x + y > 3").build().unwrap_err();
    assert!(matches!(error, SpaceError::Infeasible { feasible: 0, .. }));
    says(&error, &["`budget`", "0 of", "loosen"]);
}

#[test]
fn unknown_algorithms_and_options() {
    says(&Algorithm::by_name("gp-uct").unwrap_err(), &["`gp-uct`", "did you mean `gp-ucb`"]);
    says(&Algorithm::by_name("").unwrap_err(), &["unknown algorithm"]);
    for description in Algorithm::all() {
        let name = description.name;
        let error = Algorithm::with_options(name, options(r#"{"candidatez": 3}"#)).unwrap_err();
        says(&error, &[name, "candidatez"]);
    }
    let nested =
        Algorithm::with_options("gp-ei", options(r#"{"model": {"kernell": "linear"}}"#)).unwrap_err();
    says(&nested, &["gp-ei", "kernell"]);
    let solver = Algorithm::with_options("gp-ei", options(r#"{"solver": {"name": "simplex"}}"#)).unwrap_err();
    says(&solver, &["gp-ei", "simplex", "nelder-mead"]);
}

#[test]
fn options_out_of_range() {
    let build = |name: &str, json: &str| {
        Algorithm::with_options(name, options(json)).unwrap().build().map(|_| ()).unwrap_err()
    };
    says(&build("gp-ts", r#"{"accuracy": 0}"#), &["accuracy", "from 1e-6 to 1", "not 0"]);
    says(&build("gp-ts", r#"{"norm_bound": -1}"#), &["norm_bound", "from 0 to 1e6", "not -1"]);
    says(
        &build("gp-ei", r#"{"solver": {"name": "sobol-grid", "size": 0}}"#),
        &["solver.size", "from 1 to 1e7", "not 0"],
    );
    says(&build("gp-ei", r#"{"model": {"kernel": "overlap"}}"#), &["overlap", "matern-52"]);
    says(&build("gp-ei", r#"{"model": {"max_points": 1}}"#), &["model.max_points", "from 2 to 20000"]);
    let noise = r#"{"model": {"noise": {"start": 1.0, "low": 2.0, "high": 3.0}}}"#;
    says(&build("gp-ei", noise), &["noise", "low <= start"]);
}

#[test]
fn networks_that_cannot_be_meant() {
    let build = |name: &str, json: &str| {
        Algorithm::with_options(name, options(json)).unwrap().build().map(|_| ()).unwrap_err()
    };
    says(&build("sto-bnts", r#"{"network": {"width": 0}}"#), &["network.width", "from 1", "not 0"]);
    says(&build("neural-bo", r#"{"network": {"width": 1000000000000}}"#), &["network.width", "to 20000"]);
    says(&build("dngo", r#"{"network": {"depth": 1000}}"#), &["network.depth", "to 32"]);
    says(&build("neural-ts", r#"{"network": {"weight_sd": 1e20}}"#), &["weight_sd", "to 100"]);
    says(
        &build("sto-bnts", r#"{"network": {"image": {"height": 2, "width": 9}}}"#),
        &["image.height", "from 3"],
    );
    says(&build("sto-bnts-linear", r#"{"beta": 1e-50}"#), &["beta", "from 1e-6"]);
    says(&build("sto-bnts", r#"{"noise": 0}"#), &["noise", "from 0.001"]);
    says(&build("neural-greedy", r#"{"candidates": 5000000000}"#), &["candidates", "from 1 to 1e6"]);
    says(&build("neural-ucb", r#"{"lambda": 0}"#), &["lambda", "from 1e-6"]);
    let epochs = r#"{"training": {"name": "epochs", "method": "adam", "rate": -1, "epochs": 5}}"#;
    says(&build("dngo", epochs), &["training.rate", "from 1e-12"]);
    let image = r#"{"start": "printed", "network": {"depth": 2, "image": {"height": 9, "width": 9}}}"#;
    says(&build("neural-bo", image), &["images", "scaled"]);

    // Categories become inputs, one each.
    let many = (0..2_500).map(|i| i.to_string());
    let space = Space::builder().categorical("c", many).build().unwrap();
    let wide = Algorithm::with_options("neural-bo", options(r#"{"network": {"width": 20000}}"#)).unwrap();
    says(&study(space, wide).ask(1).unwrap_err(), &["50000000 parameters", "too large"]);
}

#[test]
fn studies_used_wrongly() {
    says(&Study::builder().build().unwrap_err(), &["needs a space"]);
    let mut study = study(planar(), Algorithm::default());
    says(&study.ask(0).unwrap_err(), &["at least one"]);
    says(&study.suggest(0).unwrap_err(), &["at least one"]);
    says(&study.tell(0, 1.0).unwrap_err(), &["no trial 0"]);
    study.ask(1).unwrap();
    says(&study.tell(7, 1.0).unwrap_err(), &["no trial 7", "1 trials"]);
    says(&study.fail(u64::MAX, "lost").unwrap_err(), &["no trial"]);
    for noise in [-1.0, f64::NAN, f64::INFINITY, 1.7e308, 1.1e150] {
        says(
            &study.tell_with_noise(0, 1.0, Some(noise)).unwrap_err(),
            &["trial 0", "noise variance", "from 0 to 1e150"],
        );
    }
    assert_eq!(study.trials()[0].state, TrialState::Running);
    let params = study.trials()[0].params.clone();
    says(&study.add(&params, 1.0, Some(1.7e308)).unwrap_err(), &["noise variance", "from 0 to 1e150"]);
    assert_eq!(study.events().len(), 1, "what was refused leaves no trace");
}

/// `ask(2**63)` grew until it was killed.
#[test]
fn batches_and_studies_without_end() {
    for name in ["random", "sobol", "auto", "bbkb", "neural-bo", "random-forest"] {
        let mut study = study(planar(), Algorithm::by_name(name).unwrap());
        for n in [100_001, 1 << 31, 1 << 53, 1 << 63, usize::MAX] {
            let words = ["n must be from 1 to 1e5", "not"];
            says(&study.ask(n).unwrap_err(), &words);
            says(&study.suggest(n).unwrap_err(), &words);
        }
    }
    for trials in [1_000_000_001, 1 << 63, usize::MAX] {
        let error = Study::builder().space(planar()).trials(trials).build().unwrap_err();
        says(&error, &["trials must be from 0 to 1e9"]);
        let options = MinimizeOptions { trials, ..MinimizeOptions::default() };
        assert!(minimize(planar(), &options, |_| panic!("it begins")).is_err());
    }
    let mut many = study(planar(), Algorithm::by_name("sobol").unwrap());
    assert_eq!(many.ask(100_000).unwrap().len(), 100_000);

    // The model grows by every point of a batch.
    let mut model = study(planar(), Algorithm::by_name("gp-ts").unwrap());
    for trial in model.ask(8).unwrap() {
        model.tell(trial.number, trial.numbers()[0]).unwrap();
    }
    let error = model.ask(100_000).unwrap_err();
    assert!(matches!(error, Error::Memory(_)), "{error}");
    says(&error, &["points of the model, running and asked for ones included (100008)", "80 GB"]);
}

/// A NUL in a choice ended a run with an error of the system, when the choice was first tried.
#[test]
fn a_nul_cannot_be_in_a_choice_or_an_id() {
    let error = Space::builder().categorical("c", ["a", "b\0c"]).build().unwrap_err();
    says(&error, &["`c`", "NUL", "command line"]);
    says(&Space::builder().ordinal("o", ["\0"]).build().unwrap_err(), &["`o`", "NUL"]);
    let pool = Pool::new(vec![0.0, 1.0], 1).unwrap();
    let error = pool.with_ids(vec!["a".to_owned(), "\0".to_owned()]).unwrap_err();
    says(&error, &["row 1", "NUL"]);
    says(&Space::builder().float("a=b", 0.0, 1.0).build().unwrap_err(), &["a=b", "cannot name a parameter"]);
    says(&Space::builder().float("a\0", 0.0, 1.0).build().unwrap_err(), &["cannot name a parameter"]);
}

#[test]
fn points_that_are_none_of_the_space() {
    let mut study = study(planar(), Algorithm::default());
    let mut add =
        |pairs: &[(&str, f64)]| study.add(&pairs.iter().copied().collect::<Params>(), 1.0, None).unwrap_err();
    says(&add(&[("x0", 0.5), ("x1", 1.5)]), &["`x1`", "between 0.0 and 1.0", "1.5"]);
    says(&add(&[("x0", 0.5), ("x1", f64::NAN)]), &["`x1`", "finite"]);
    says(&add(&[("x0", 0.5), ("y1", 0.5)]), &["unknown parameter `y1`", "`x1`"]);
    says(&add(&[("x0", 0.5)]), &["`x1`", "missing"]);
    says(&study.add_row(0, 1.0, None).unwrap_err(), &["row 0", "not a pool"]);
    assert!(study.trials().is_empty());
}

#[test]
fn values_that_are_not_finite_are_failures_with_a_reason() {
    let mut study = study(planar(), Algorithm::default());
    let trials = study.ask(3).unwrap();
    for (trial, (value, word)) in
        trials.iter().zip([(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (f64::NEG_INFINITY, "-inf")])
    {
        assert_eq!(study.tell(trial.number, value), Ok(Verdict::Failed));
        let index = usize::try_from(trial.number).unwrap();
        let TrialState::Failed { reason } = &study.trials()[index].state else { panic!("not failed") };
        says(reason, &[word, "not a finite number"]);
    }
    let number = study.add(&trials[0].params, f64::NAN, None).unwrap();
    assert!(matches!(study.trials()[usize::try_from(number).unwrap()].state, TrialState::Failed { .. }));
    assert_eq!(study.best_observed(), None);
    assert_eq!(study.recommended(), Ok(None));
    assert_eq!(study.ask(2).unwrap().len(), 2);
}

#[test]
fn second_and_late_results_are_no_errors() {
    let mut study = study(planar(), Algorithm::default());
    study.ask(2).unwrap();
    assert_eq!(study.tell(0, 1.0), Ok(Verdict::Complete));
    assert_eq!(study.tell(0, 2.0), Ok(Verdict::Late));
    assert_eq!(study.fail(0, "too late"), Ok(Verdict::Late));
    assert_eq!(study.fail(1, "worker lost"), Ok(Verdict::Failed));
    assert_eq!(study.tell(1, f64::NAN), Ok(Verdict::Late));
    assert_eq!(study.tell(1, 3.0), Ok(Verdict::AfterFailure));
    assert_eq!(study.trials().iter().map(noregret::Trial::value).collect::<Vec<_>>(), [Some(1.0), Some(3.0)]);
    assert_eq!(study.ask(1).unwrap()[0].number, 2);
}

#[test]
fn ten_thousand_results_at_one_point() {
    let mut study = study(planar(), Algorithm::default());
    let params: Params = [("x0", 0.25), ("x1", 0.75)].into_iter().collect();
    for i in 0..10_000 {
        study.add(&params, f64::from(i % 7), None).unwrap();
    }
    let trial = study.ask(1).unwrap().remove(0);
    assert_ne!(trial.params, params);
    assert_eq!(study.trials().len(), 10_001);
    let model = study.diagnostics().unwrap().model.as_ref().unwrap();
    assert_eq!(
        model.subset_of,
        Some(10_000),
        "an exact model of all of them would be too slow, and it says so"
    );
}

#[test]
fn constant_values_have_no_deviation() {
    let mut study = study(planar(), Algorithm::default());
    for _ in 0..11 {
        let trial = study.ask(1).unwrap().remove(0);
        // The rounded mean of eleven times 0.1 is not 0.1: its distance was taken for a deviation of 1e-17, by which
        // the first different value would have been divided.
        study.tell(trial.number, 0.1).unwrap();
    }
    study.ask(1).unwrap();
    let fit = &study.diagnostics().unwrap().model.as_ref().unwrap().fit;
    assert_eq!((fit.units.mean, fit.units.sd), (-0.1, 1.0));
}

#[test]
fn the_largest_floats_are_values() {
    let mut study = study(planar(), Algorithm::default());
    for (i, trial) in study.ask(8).unwrap().into_iter().enumerate() {
        study.tell(trial.number, if i == 0 { f64::MAX } else { f64::MIN }).unwrap();
    }
    for _ in 0..3 {
        let trial = study.ask(1).unwrap().remove(0);
        study.tell(trial.number, f64::MAX).unwrap();
    }
    assert_eq!(study.best_observed().unwrap().value(), Some(f64::MIN));
    assert!(study.recommended().is_ok());
}

#[test]
fn a_hundred_dimensions() {
    let space = Space::bounds(&[(-1.0, 1.0); 100]).unwrap();
    for name in ["gp-ei", "rff-ts"] {
        let algorithm = Algorithm::with_options(name, options(r#"{"initial_points": 6}"#)).unwrap();
        let mut study = study(space.clone(), algorithm);
        for n in [6, 2] {
            for trial in study.ask(n).unwrap() {
                let x = trial.numbers();
                assert!(x.len() == 100 && x.iter().all(|x| (-1.0..=1.0).contains(x)));
                study.tell(trial.number, x.iter().map(|x| x * x).sum()).unwrap();
            }
        }
        assert!(study.diagnostics().unwrap().model.is_some());
    }
}

#[test]
fn logs_of_other_studies_are_refused() {
    let mut other = study(planar(), Algorithm::default());
    other.ask(1).unwrap();
    other.tell(0, 1.0).unwrap();
    let events = other.events().to_vec();
    let replay = |space: Space, events: Vec<Event>| Study::builder().space(space).replay(events).map(|_| ());

    let wider = Space::bounds(&[(0.0, 1.0); 3]).unwrap();
    let error = replay(wider, events.clone()).unwrap_err();
    says(&error, &["event 0"]);
    let Error::Study(StudyError::ForeignLog { problem, .. }) = &error else { panic!("{error:?}") };
    assert_eq!(**problem, StudyError::Coordinates { found: 2, expected: 3 });

    let error = replay(planar(), events[1..].to_vec()).unwrap_err();
    let Error::Study(error) = error else { panic!("{error:?}") };
    says(error.source().unwrap(), &["no trial 0"]);

    let pool = Space::pool(Pool::new(vec![0.0, 1.0, 2.0, 3.0], 1).unwrap());
    let mut other = study(pool, Algorithm::default());
    other.add_row(3, 1.0, None).unwrap();
    let smaller = Space::pool(Pool::new(vec![0.0, 1.0, 2.0], 1).unwrap());
    let error = replay(smaller, other.events().to_vec()).unwrap_err();
    says(&error, &["event 0"]);
}

#[test]
fn features_of_a_row_stand_for_the_row() {
    // Told by its features, a row was suggested again.
    let pool = Pool::new(vec![0.0, 1.0, 2.0, 5.0], 1).unwrap();
    let mut study = study(Space::pool(pool), Algorithm::by_name("random").unwrap());
    let params: Params = [("x0", Value::Int(2))].into_iter().collect();
    study.add(&params, 1.0, None).unwrap();
    assert_eq!(study.trials()[0].row, Some(2));
    let mut rows: Vec<Option<usize>> = study.ask(3).unwrap().iter().map(|t| t.row).collect();
    rows.sort_unstable();
    assert_eq!(rows, [Some(0), Some(1), Some(3)]);
    let elsewhere: Params = [("x0", 3.5)].into_iter().collect();
    study.add(&elsewhere, 1.0, None).unwrap();
    assert_eq!(study.trials()[4].row, None, "what is no row is still an observation");
}

#[test]
fn a_batch_larger_than_what_is_left_gets_what_is_left() {
    let space = Space::builder().int("n", 1, 5).build().unwrap();
    let mut study = study(space.clone(), Algorithm::default());
    assert_eq!(study.ask(3).unwrap().len(), 3);
    assert_eq!(study.suggest(4).unwrap().len(), 2);
    assert_eq!(study.ask(4).unwrap().len(), 2);
    let error = study.ask(4).unwrap_err();
    assert!(error.is_exhausted());
    says(&error, &["nothing is left", "duplicates"]);

    let options = MinimizeOptions { trials: 20, batch: 3, ..MinimizeOptions::default() };
    let found = minimize(space, &options, |trial| trial.numbers()[0]).unwrap();
    assert_eq!(found.study.trials().len(), 5);
    assert_eq!(found.best.unwrap().value(), Some(1.0));
}

#[test]
fn replicates_and_allowed_repeats_never_exhaust() {
    for duplicates in [Duplicates::Allow, Duplicates::Replicate] {
        let space = Space::builder().int("n", 1, 3).build().unwrap();
        let mut study = Study::builder().space(space).duplicates(duplicates).build().unwrap();
        for _ in 0..8 {
            let trial = study.ask(1).unwrap().remove(0);
            study.tell(trial.number, trial.numbers()[0]).unwrap();
        }
        assert_eq!(study.trials().len(), 8);
    }
}

/// A noise variance near the end of the range, or huge beside tiny values, made sums infinite, and a study hang for good.
#[test]
fn absurd_noise_does_not_hang_a_study() {
    for (scale, noise) in [(1.0, 1e150), (1e-155, 1.0), (1e-300, 1e150)] {
        for name in ["auto", "gp-ucb", "ts-rsr", "bbkb"] {
            let mut study =
                study(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), Algorithm::by_name(name).unwrap());
            for trial in study.ask(8).unwrap() {
                let value = scale * trial.numbers().iter().map(|x| (x - 0.3).powi(2)).sum::<f64>();
                study.tell_with_noise(trial.number, value, (trial.number % 3 == 1).then_some(noise)).unwrap();
            }
            assert_eq!(study.ask(2).unwrap().len(), 2, "{name}");
            assert!(study.recommended().unwrap().is_some(), "{name}");
        }
    }
}
