//! Minimizes the Branin function: `cargo run -p noregret --example minimize_function`.

use noregret::{MinimizeOptions, Space, minimize};
use std::f64::consts::PI;

fn branin(x: f64, y: f64) -> f64 {
    let a = y - 5.1 / (4.0 * PI * PI) * x * x + 5.0 / PI * x - 6.0;
    a * a + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x.cos() + 10.0
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), noregret::Error> {
    let space = Space::builder().float("x", -5.0, 10.0).float("y", 0.0, 15.0).build()?;
    let options = MinimizeOptions { trials: 40, ..MinimizeOptions::default() };
    let found = minimize(space, &options, |trial| {
        let v = trial.numbers();
        branin(v[0], v[1])
    })?;
    if let Some(best) = found.best {
        println!("best of 40: {} at {}", best.value().unwrap_or(f64::NAN), best.params);
    }
    Ok(())
}
