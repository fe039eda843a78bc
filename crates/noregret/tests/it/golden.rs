//! The event log as text: its form is a promise, and reading it back loses nothing.

use noregret::study::{Event, StudyBuilder};
use noregret::{Algorithm, Space, Study};

fn tiny() -> StudyBuilder {
    let space = Space::builder().int("n", 1, 4).categorical("c", ["a", "b"]).build().unwrap();
    Study::builder().space(space).algorithm(Algorithm::by_name("sobol").unwrap()).seed(1)
}

const TINY: &str = r#"{"event":"asked","choices":[{"x":[0.375,0.75]},{"x":[0.875,0.25]}],"memo":{"design":{"seed":15715005604373573095,"used":2},"fit":null,"ledger":{"rounds":0,"measured":0,"eta_hat":null,"m_hat":0.0,"next":0,"grid":null}}}
{"event":"told","number":1,"value":0.1,"noise_var":0.25}
{"event":"failed","number":0,"reason":"out of memory"}
{"event":"added","params":{"n":2,"c":"b"},"choice":{"x":[0.375,0.75]},"value":-2.5e-8}
{"event":"added","params":{"n":2,"c":"b"},"choice":{"x":[0.375,0.75]},"value":"-inf"}
{"event":"enqueued","params":{"n":4,"c":"a"},"choice":{"x":[0.875,0.25]}}
{"event":"planned","trials":60}"#;

/// As written before one word stood for the variance of noise.
const OLDER: &str = r#"{"event":"asked","choices":[{"x":[0.375,0.75]},{"x":[0.875,0.25]}],"memo":{"design":{"seed":15715005604373573095,"used":2},"fit":null,"ledger":{"rounds":0,"measured":0,"eta_hat":null,"m_hat":0.0,"next":0,"grid":null}}}
{"event":"told","number":1,"value":0.1,"noise_variance":0.25}
{"event":"failed","number":0,"reason":"out of memory"}
{"event":"added","params":{"n":2,"c":"b"},"choice":{"x":[0.375,0.75]},"value":-2.5e-8}
{"event":"added","params":{"n":2,"c":"b"},"choice":{"x":[0.375,0.75]},"value":"-inf"}"#;

#[test]
fn the_log_of_a_tiny_study() {
    let mut study = tiny().build().unwrap();
    study.ask(2).unwrap();
    study.tell_with_noise(1, 0.1, Some(0.25)).unwrap();
    study.fail(0, "out of memory").unwrap();
    let params = study.trials()[0].params.clone();
    study.add(&params, -2.5e-8, None).unwrap();
    study.add(&params, f64::NEG_INFINITY, None).unwrap();
    let own = study.trials()[1].params.clone();
    study.enqueue(&own).unwrap();
    study.plan(Some(60));
    study.plan(Some(60)); // no news
    let lines: Vec<String> = study.events().iter().map(|e| serde_json::to_string(e).unwrap()).collect();
    assert_eq!(lines.join("\n"), TINY);
}

#[test]
fn the_log_of_an_older_release_is_read() {
    let read =
        |log: &str| -> Vec<Event> { log.lines().map(|line| serde_json::from_str(line).unwrap()).collect() };
    let (older, newer) = (read(OLDER), read(TINY));
    assert_eq!(older, newer[..older.len()], "only the spelling differs");
    let study = tiny().replay(older).unwrap();
    assert_eq!(study.trials().len(), 4);
    assert_eq!(study.best_observed().and_then(noregret::Trial::value), Some(-2.5e-8));
    assert_eq!(study.planned(), None);
    assert_eq!(tiny().replay(newer).unwrap().planned(), Some(60));
}

/// Fitted hyperparameters, coordinates and values have all their bits in the text, so a study that was written, killed
/// and read goes on where it stopped.
#[test]
fn logs_survive_their_text() {
    let space =
        Space::builder().log_float("lr", 1e-5, 1e-1).float("x", -1.0, 2.0).int("n", 1, 9).build().unwrap();
    for description in Algorithm::all() {
        let algorithm = Algorithm::by_name(description.name).unwrap();
        let builder = Study::builder().space(space.clone()).algorithm(algorithm).seed(3);
        let mut study = builder.clone().build().unwrap();
        for n in [5, 1, 2, 1] {
            for trial in study.ask(n).unwrap() {
                // Thirds and sevenths have no short decimal form.
                let value = trial.number as f64 / 3.0 - 1.0 / (1.0 + trial.number as f64 * 7.0);
                study
                    .tell_with_noise(trial.number, value, (trial.number % 2 == 0).then_some(1e-4 / 3.0))
                    .unwrap();
            }
        }
        let params = study.trials()[0].params.clone();
        study.add(&params, f64::INFINITY, None).unwrap();
        let text = serde_json::to_string(study.events()).unwrap();
        let events: Vec<Event> = serde_json::from_str(&text).unwrap();
        assert_eq!(events, study.events(), "{}", description.name);
        let mut revived = builder.replay(events).unwrap();
        assert_eq!(revived.trials(), study.trials());
        assert_eq!(revived.ask(2).unwrap(), study.ask(2).unwrap(), "{}", description.name);
        assert_eq!(revived.events(), study.events());
    }
}

#[test]
fn a_nan_that_was_added_survives_its_text() {
    // JSON has no NaN: it was written as null, which no reader took.
    let mut study = tiny().build().unwrap();
    let params = study.space().decode(&[0.1, 0.1]);
    study.add(&params, f64::NAN, None).unwrap();
    let text = serde_json::to_string(study.events()).unwrap();
    let events: Vec<Event> = serde_json::from_str(&text).unwrap();
    assert_eq!(tiny().replay(events).unwrap().trials(), study.trials());
}
