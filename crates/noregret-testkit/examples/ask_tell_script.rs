//! Plays a script of asks and tells and prints the suggestions as lines of JSON: `python/tests/test_study.py` plays the same
//! through Python and on the command line, and compares.

use noregret::{Algorithm, Space, Study};

#[expect(clippy::print_stdout, reason = "this is what it is for")]
fn main() -> Result<(), noregret::Error> {
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
        for (trial, value) in study.ask(2)?.into_iter().zip(values) {
            println!("{}", serde_json::to_string(&trial.params).unwrap_or_default());
            study.tell(trial.number, value)?;
        }
    }
    Ok(())
}
