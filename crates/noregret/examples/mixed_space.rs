//! Numbers, choices and a constraint together: `cargo run -p noregret --example mixed_space`.

use noregret::{MinimizeOptions, Space, Trial, Value, minimize};

/// A made-up validation error of a network with these settings.
fn validation_error(trial: &Trial) -> Option<f64> {
    let number = |name| trial.params.get(name).and_then(Value::as_f64);
    let (lr, layers, width) = (number("lr")?, number("layers")?, number("width")?);
    let activation = trial.params.get("activation")?.as_str()?;
    let bias = trial.params.get("bias")?.as_bool()?;
    let size = (layers * width).log2();
    let penalty = if activation == "gelu" { 0.0 } else { 0.02 } + if bias { 0.0 } else { 0.01 };
    Some(0.05 + 0.02 * (lr.log10() + 2.7).powi(2) + 0.01 * (size - 8.5).powi(2) + penalty)
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), noregret::Error> {
    let space = Space::builder()
        .log_float("lr", 1e-5, 1e-1) // ratios matter, not differences
        .int("layers", 1, 8)
        .ordinal("width", [32, 64, 128, 256]) // few values, in order
        .categorical("activation", ["relu", "tanh", "gelu"]) // no order
        .bool("bias")
        .constraint("memory", "layers * width <= 1024 and not (activation == 'gelu' and width > 128)")
        .build()?;
    let options = MinimizeOptions { trials: 40, batch: 4, seed: 7, ..MinimizeOptions::default() };
    // What is not a finite number counts as a failed trial.
    let found = minimize(space, &options, |trial| validation_error(trial).unwrap_or(f64::NAN))?;

    for trial in found.study.trials().iter().take(4) {
        println!("tried {}: {:.3}", trial.params, trial.value().unwrap_or(f64::NAN));
    }
    if let Some(best) = found.best {
        println!("best of 40: {:.3} with {}", best.value().unwrap_or(f64::NAN), best.params);
    }
    Ok(())
}
