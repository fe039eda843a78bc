//! A wrong result is replaced: from then on all is as if it had been told right.

use noregret::study::StudyError;
use noregret::{Algorithm, Direction, Error, Params, Space, Study, Trial, TrialState};

fn space() -> Space {
    Space::builder().float("x", 0.0, 1.0).float("y", 0.0, 1.0).build().unwrap()
}

fn value(trial: &Trial) -> f64 {
    trial.numbers().iter().map(|x| (x - 0.3).powi(2)).sum()
}

/// Points of a Sobol' sequence and their values; that of trial 5 is mistyped in every way that people mistype.
fn study(wrong: Option<f64>) -> Study {
    let sobol = Algorithm::with_options("sobol", serde_json::Map::new()).unwrap();
    let mut study =
        Study::builder().space(space()).algorithm(sobol).direction(Direction::Minimize).build().unwrap();
    for trial in study.ask(20).unwrap() {
        let told = wrong.filter(|_| trial.number == 5).unwrap_or_else(|| value(&trial));
        study.tell(trial.number, told).unwrap();
    }
    study
}

#[test]
fn what_is_said_of_a_study_is_as_if_it_had_been_told_right() {
    let mut right = study(None);
    let truth = value(right.trial(5).unwrap());
    for wrong in [-1e9, 1e6, truth * 10.0, f64::NAN] {
        let mut replaced = study(Some(wrong));
        let before = replaced.recommended().unwrap();
        assert!(replaced.replace(5, truth, None).unwrap());
        assert!(!replaced.replace(5, truth, None).unwrap(), "nothing is left to replace");
        assert_eq!(replaced.trials(), right.trials());
        assert_eq!(replaced.best_observed(), right.best_observed());
        assert_eq!(replaced.recommended().unwrap(), right.recommended().unwrap(), "{wrong}: {before:?}");
        assert_eq!(replaced.insight().unwrap(), right.insight().unwrap());
    }
}

#[test]
fn a_value_can_turn_out_to_be_a_failure() {
    let mut study = study(Some(-5.0));
    assert_eq!(study.best_observed().unwrap().number, 5);
    assert!(study.replace(5, f64::NAN, None).unwrap());
    assert!(matches!(study.trial(5).unwrap().state, TrialState::Failed { .. }));
    assert_ne!(study.best_observed().unwrap().number, 5);
    assert!(!study.replace(5, f64::INFINITY, None).unwrap(), "a failure it is already");
}

/// Every algorithm goes on after a replacement, and a replayed log with it suggests the same to the last bit. A value that was larger than
/// all others by nine orders must not shape what is suggested afterwards.
#[test]
fn every_algorithm_goes_on() {
    for description in Algorithm::all() {
        let options = match description.name {
            "rff-ts" => serde_json::json!({"model": {"features": 128}}),
            "random-forest" => serde_json::json!({"forest": {"trees": 20}, "candidates": 1000}),
            name if name.starts_with("sto") || name.starts_with("neural") || name == "deep-ensemble" => {
                serde_json::json!({"network": {"width": 12}, "candidates": 200})
            }
            "dngo" => {
                let training = serde_json::json!({"name": "epochs", "method": "adam", "rate": 0.05, "epochs": 40, "warm": true});
                serde_json::json!({"network": {"width": 12}, "candidates": 200, "training": training})
            }
            _ => serde_json::json!({}),
        };
        let algorithm =
            Algorithm::with_options(description.name, options.as_object().unwrap().clone()).unwrap();
        let builder =
            || Study::builder().space(space()).algorithm(algorithm.clone()).seed(3).trials(Some(40));
        let mut study = builder().build().unwrap();
        for round in 0..6 {
            for trial in study.ask(3).unwrap() {
                let told = if trial.number == 7 { -1e9 } else { value(&trial) };
                study.tell(trial.number, told).unwrap();
            }
            if round == 3 {
                let truth = value(study.trial(7).unwrap());
                study.replace(7, truth, Some(1e-4)).unwrap();
            }
        }
        let mut replayed = builder().replay(study.events().to_vec()).unwrap();
        let suggested = study.suggest(2).unwrap();
        assert_eq!(replayed.suggest(2).unwrap(), suggested, "{}", description.name);
        assert_eq!(study.trial(7).unwrap().state, replayed.trial(7).unwrap().state);
        assert!(suggested.iter().all(|params: &Params| params.len() == 2));
    }
}

/// After a wrong value that was larger than all others by nine orders, the fit is made anew at once: its units are those of the values.
#[test]
fn the_fit_forgets_a_wrong_value() {
    let algorithm = Algorithm::with_options("gp-ei", serde_json::Map::new()).unwrap();
    let mut study = Study::builder().space(space()).algorithm(algorithm).seed(3).build().unwrap();
    for trial in study.ask(30).unwrap() {
        let told = if trial.number == 7 { 1e9 } else { value(&trial) };
        study.tell(trial.number, told).unwrap();
    }
    study.ask(1).unwrap();
    let sd = |study: &Study| study.diagnostics().unwrap().model.as_ref().unwrap().fit.units.sd;
    assert!(sd(&study) > 1e6);
    let truth = value(study.trial(7).unwrap());
    study.replace(7, truth, None).unwrap();
    study.ask(1).unwrap();
    assert!(sd(&study) < 1.0, "{}", sd(&study));
}

#[test]
fn what_has_no_result_cannot_be_replaced() {
    let mut study = study(None);
    let running = study.ask(1).unwrap()[0].number;
    assert_eq!(
        study.replace(running, 1.0, None),
        Err(Error::Study(StudyError::NothingToReplace { number: running }))
    );
    assert!(matches!(study.replace(99, 1.0, None), Err(Error::Study(StudyError::UnknownTrial { .. }))));
    assert!(matches!(study.replace(0, 1.0, Some(-1.0)), Err(Error::Study(StudyError::NoiseVariance { .. }))));
}
