//! Four workers whose results come back one at a time, in any order: `cargo run -p noregret --example ask_tell`.

use noregret::{Direction, Space, Study, Trial};

/// Yield of a reaction in per cent; imagine that each measurement takes a day.
fn measure(trial: &Trial) -> f64 {
    let v = trial.numbers();
    let (t, c) = ((v[0] - 78.0) / 25.0, (v[1] - 0.35) / 0.3);
    92.0 * (0.4 * t * c - t * t - c * c).exp()
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), noregret::Error> {
    let space =
        Space::builder().float("temperature", 20.0, 120.0).float("concentration", 0.05, 1.0).build()?;
    let mut study = Study::builder().space(space).direction(Direction::Maximize).seed(1).build()?;

    // Four points at once are one joint decision: they do not crowd together.
    let mut running = study.ask(4)?;
    for finished in 0..20 {
        // Some worker is done. Here they take turns; in life it is whoever comes first.
        let trial = running.remove(finished % running.len());
        let percent = measure(&trial);
        study.tell(trial.number, percent)?;
        println!("trial {:2}: {percent:5.1} % at {}", trial.number, trial.params);

        // The free worker gets a new point, chosen in view of the three that are still running.
        running.extend(study.ask(1)?);
    }

    // A crashed worker is told as such: its point counts as bad, and does not come again.
    study.fail(running[0].number, "the stirrer broke")?;

    if let Some(best) = study.best_observed() {
        println!("best of 20: {:.1} % at {}", best.value().unwrap_or(f64::NAN), best.params);
    }
    Ok(())
}
