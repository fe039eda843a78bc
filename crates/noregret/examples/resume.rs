//! A study as a list of events: written down, read again, and continued as if nothing had happened.
//! `cargo run -p noregret --example resume`.

use noregret::study::{Event, StudyBuilder};
use noregret::{Space, Study, Trial};

/// Space, algorithm and seed are the study's configuration; they are not in the events.
fn description() -> Result<StudyBuilder, noregret::Error> {
    let space = Space::builder().float("x", -2.0, 2.0).float("y", -1.0, 3.0).build()?;
    Ok(Study::builder().space(space).seed(42))
}

fn rosenbrock(trial: &Trial) -> f64 {
    let v = trial.numbers();
    (1.0 - v[0]).powi(2) + 100.0 * (v[1] - v[0] * v[0]).powi(2)
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut study = description()?.build()?;
    for _ in 0..6 {
        for trial in study.ask(2)? {
            study.tell(trial.number, rosenbrock(&trial))?;
        }
    }
    let running = study.ask(1)?; // and then the machine goes down, before this one is told

    // One line of JSON for each event: append them to a file as they come.
    let log: Vec<String> = study.events().iter().map(serde_json::to_string).collect::<Result<_, _>>()?;
    println!("{} events, the last but one: {}", log.len(), log[log.len() - 2]);

    let events: Vec<Event> = log.iter().map(|line| serde_json::from_str(line)).collect::<Result<_, _>>()?;
    let mut resumed = description()?.replay(events)?;
    println!("resumed with {} trials; number {} is still running", resumed.trials().len(), running[0].number);

    let (next, again) = (study.ask(2)?, resumed.ask(2)?);
    println!("the old study goes on with {}", next[0].params);
    println!("the resumed one with       {}", again[0].params);
    assert_eq!(next, again, "the same bits, not just similar numbers");
    Ok(())
}
