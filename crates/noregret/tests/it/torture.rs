//! Values and variances at the ends of the floats: every algorithm goes on, nothing panics, nothing hangs.

use std::sync::mpsc;
use std::time::Duration;

use noregret::study::{Event, Told};
use noregret::{Algorithm, Space, Study};
use serde_json::json;

/// Longer than any of these studies takes on a busy machine, by far: most take milliseconds, and a hang never ends.
const LIMIT: Duration = Duration::from_mins(10);

/// The values that a study is told, one after the other, and the variances of their noise.
struct Torture {
    name: &'static str,
    value: fn(usize) -> f64,
    noise_var: Option<f64>,
}

const TORTURES: [Torture; 13] = [
    Torture { name: "huge", value: |i| 1e307 * i as f64, noise_var: None },
    Torture { name: "huge of both signs", value: |i| [1.7e308, -1.7e308][i % 2], noise_var: None },
    Torture {
        name: "1e308 of both signs, with noise",
        value: |i| [1e308, -1e308][i % 2],
        noise_var: Some(1e150),
    },
    Torture { name: "tiny", value: |i| 1e-300 * i as f64, noise_var: None },
    Torture { name: "denormal", value: |i| f64::from_bits(i as u64), noise_var: Some(0.0) },
    Torture { name: "tiny with noise", value: |i| 1e-155 * i as f64, noise_var: Some(1.0) },
    Torture { name: "constant", value: |_| 0.1, noise_var: None },
    Torture { name: "constant and huge", value: |_| 1e300, noise_var: Some(1e150) },
    Torture { name: "one outlier", value: |i| if i == 3 { 1e300 } else { i as f64 }, noise_var: None },
    Torture {
        name: "one outlier below",
        value: |i| if i == 3 { -1e300 } else { 1e-3 * i as f64 },
        noise_var: None,
    },
    Torture { name: "huge noise", value: |i| i as f64, noise_var: Some(1e150) },
    Torture { name: "no noise", value: |i| i as f64, noise_var: Some(0.0) },
    Torture {
        name: "zeros of both signs",
        value: |i| [0.0, -0.0][i % 2],
        noise_var: Some(f64::MIN_POSITIVE),
    },
];

fn quick(name: &str) -> Algorithm {
    let options = match name {
        "rff-ts" => json!({"model": {"features": 64}}),
        "random-forest" => json!({"forest": {"trees": 10}, "candidates": 200}),
        "reg-evolution" => json!({"population": 4, "sample": 2}),
        "sto-bnts" | "sto-bnts-linear" | "deep-ensemble" | "neural-greedy" => {
            json!({"network": {"width": 12}, "candidates": 100, "polished": 2})
        }
        "neural-ucb" | "neural-ts" | "neural-bo" | "dngo" => {
            json!({"network": {"width": 12}, "candidates": 100})
        }
        "gp-ucb" | "gp-ts" | "gp-ei" | "ts-rsr" | "bucb" | "ucb-pe" | "sp" | "ts" | "ntk-ts" | "qei"
        | "dpp-ts" => {
            json!({"solver": {"name": "auto", "candidates": 100}})
        }
        "bbkb" | "bbkb-local" | "bkb" | "gp-bucb" | "async-ts" | "eps-greedy" => {
            json!({"sparse": {"arms": 200}})
        }
        _ => json!({}),
    };
    Algorithm::with_options(name, options.as_object().unwrap().clone()).unwrap()
}

/// Runs `story` in a thread of its own, for at most [`LIMIT`].
fn in_time(what: &str, story: impl FnOnce() -> Result<(), noregret::Error> + Send + 'static) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(story()));
    match receiver.recv_timeout(LIMIT) {
        Ok(result) => assert_eq!(result, Ok(()), "{what}"),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what}: it hangs"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what}: it panicked"),
    }
}

fn new_study(name: &str) -> Study {
    let space =
        Space::builder().float("x", 0.0, 1.0).int("n", 1, 9).categorical("c", ["a", "b"]).build().unwrap();
    Study::builder().space(space).algorithm(quick(name)).build().unwrap()
}

/// What `noregret best` and `show` ask for.
fn look(study: &mut Study) -> Result<(), noregret::Error> {
    study.recommended()?;
    study.insight()?;
    assert!(study.best_observed().is_some());
    Ok(())
}

#[test]
fn every_algorithm_survives_values_at_the_ends_of_the_floats() {
    for description in Algorithm::all() {
        for torture in &TORTURES {
            let Torture { value, noise_var, .. } = *torture;
            in_time(&format!("{}: {}", description.name, torture.name), move || {
                let mut study = new_study(description.name);
                for n in [7, 1, 2] {
                    for trial in study.ask(n)? {
                        let i = usize::try_from(trial.number).unwrap();
                        study.tell_with_noise(trial.number, value(i), noise_var)?;
                    }
                }
                look(&mut study)
            });
        }
    }
}

#[test]
fn every_algorithm_survives_one_point_with_contradicting_values() {
    for description in Algorithm::all() {
        in_time(description.name, move || {
            let mut study = new_study(description.name);
            let params = study.suggest(1)?.remove(0);
            for i in 0..8 {
                study.add(&params, [1e10, -1e10][i % 2], Some(0.0))?;
            }
            study.ask(2)?;
            look(&mut study)
        });
    }
}

/// Such a variance is refused today; logs of before may have it.
#[test]
fn logs_with_absurd_variances_still_open() {
    for name in ["auto", "gp-ts", "bbkb", "neural-bo", "random-forest", "dngo"] {
        in_time(name, move || {
            let mut study = new_study(name);
            study.ask(8)?;
            let mut events = study.events().to_vec();
            events.extend((0..8).map(|number| {
                let noise_var = Some(if number % 2 == 0 { 1.7e308 } else { 0.01 });
                Event::Told(Told { number, value: number as f64, noise_var })
            }));
            let space = study.space().clone();
            let mut study = Study::builder().space(space).algorithm(quick(name)).replay(events)?;
            study.ask(2)?;
            look(&mut study)
        });
    }
}
