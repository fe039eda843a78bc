//! Plays a script of asks and tells and prints the suggestions as lines of JSON: `python/tests/test_storage.py` plays the same
//! through Python and on the command line, and compares. Given numbers of trials, `ask_tell_script 12 30` plays another one: a study
//! that is to have 12 trials, has them, and is then to have 30.

use std::env;

use noregret::{Algorithm, Error, Space, Study};

/// What the trials of the study with numbers turn out to be worth.
const VALUES: [f64; 12] = [0.5, 0.25, 0.125, 2.0, 1.5, 0.75, 0.375, 1.0, 0.0625, 0.625, 0.875, 0.3125];

fn main() -> Result<(), Error> {
    let plans: Vec<usize> = env::args().skip(1).filter_map(|plan| plan.parse().ok()).collect();
    if let [first, second] = plans[..] { planned(first, second) } else { mixed() }
}

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn ask(study: &mut Study, values: &[f64]) -> Result<(), Error> {
    for (trial, value) in study.ask(values.len())?.into_iter().zip(values) {
        println!("{}", serde_json::to_string(&trial.params).unwrap_or_default());
        study.tell(trial.number, *value)?;
    }
    Ok(())
}

fn mixed() -> Result<(), Error> {
    let space = Space::builder()
        .log_float("lr", 1e-5, 1e-1)
        .int("layers", 1, 8)
        .categorical("act", ["relu", "tanh"])
        .ordinal("width", [32, 64, 128])
        .bool("bias")
        .constraint("c", "layers <= 6 or bias")
        .build()?;
    let options = [("initial_points".to_owned(), 4.into())].into_iter().collect();
    let algorithm = Algorithm::with_options("ts-rsr", options)?;
    let mut study = Study::builder().space(space).algorithm(algorithm).seed(11).build()?;
    for values in [[0.5, 0.25], [-0.125, 2.0], [1.5, -0.75], [0.375, 1.0], [0.0, -0.5]] {
        ask(&mut study, &values)?;
    }
    Ok(())
}

fn planned(first: usize, second: usize) -> Result<(), Error> {
    let space = Space::builder().float("x", 0.0, 1.0).float("y", 0.0, 1.0).build()?;
    let mut study = Study::builder().space(space).seed(5).trials(first).build()?;
    for values in VALUES.chunks(3) {
        ask(&mut study, values)?;
    }
    study.plan(Some(second));
    ask(&mut study, &VALUES[..3])
}
