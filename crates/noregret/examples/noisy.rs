//! Noisy measurements: the best value seen is the luckiest one. `cargo run -p noregret --example noisy`.

use noregret::math::rng::{Purpose, Seed};
use noregret::{Space, Study, Value};
use rand_distr::{Distribution, Normal};

const NOISE: f64 = 0.5;

/// What we would like to know: smallest, with value 0, at 3.
fn truth(dose: f64) -> f64 {
    0.2 * (dose - 3.0).powi(2)
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let space = Space::builder().float("dose", 0.0, 10.0).build()?;
    let mut study = Study::builder().space(space).seed(2).build()?;
    let (noise, mut rng) = (Normal::new(0.0, NOISE)?, Seed(2).stream(Purpose::Noise, 0, 0));
    for _ in 0..15 {
        for trial in study.ask(2)? {
            let measured = truth(trial.numbers()[0]) + noise.sample(&mut rng);
            // The variance of the noise is known here. Without it, `tell` has it estimated from the data.
            study.tell_with_noise(trial.number, measured, Some(NOISE * NOISE))?;
        }
    }

    let dose = |params: &noregret::Params| params.get("dose").and_then(Value::as_f64).unwrap_or(f64::NAN);
    if let Some(best) = study.best_observed() {
        let (x, value) = (dose(&best.params), best.value().unwrap_or(f64::NAN));
        println!("best observed: dose {x:.2}, measured {value:.2}, in truth {:.2}", truth(x));
    }
    if let Some(recommended) = study.recommended()? {
        let (x, (low, high)) = (dose(&recommended.params), recommended.interval);
        println!(
            "recommended:   dose {x:.2}, expected {:.2} (95 %: {low:.2} to {high:.2}), in truth {:.2}",
            recommended.mean,
            truth(x)
        );
    }
    Ok(())
}
