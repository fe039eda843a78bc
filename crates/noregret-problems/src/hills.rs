//! Problems of any dimension with many local minima over one global bowl.

use crate::{Problem, cube};
use std::f64::consts::{E, PI, TAU};

/// Ackley (1987), on `[-32.768, 32.768]^d`: nearly flat far out, a narrow funnel with a kink at the origin.
///
/// Ren & Li ("TS-RSR", Table 5) use `[-5, 5]^d`: `ackley(2).on(vec![(-5.0, 5.0); 2])`.
pub fn ackley(d: usize) -> Problem {
    Problem::new(format!("ackley-{d}d"), ackley_value, cube(d, -32.768, 32.768), 0.0, vec![vec![0.0; d]])
}

fn ackley_value(x: &[f64]) -> f64 {
    let d = x.len() as f64;
    let squares: f64 = x.iter().map(|x| x * x).sum();
    let cosines: f64 = x.iter().map(|x| (TAU * x).cos()).sum();
    -20.0 * (-0.2 * (squares / d).sqrt()).exp() - (cosines / d).exp() + 20.0 + E
}

/// Rastrigin (1974), on `[-5.12, 5.12]^d`: about `11^d` local minima.
pub fn rastrigin(d: usize) -> Problem {
    Problem::new(format!("rastrigin-{d}d"), rastrigin_value, cube(d, -5.12, 5.12), 0.0, vec![vec![0.0; d]])
}

fn rastrigin_value(x: &[f64]) -> f64 {
    x.iter().map(|x| 10.0 + x * x - 10.0 * (TAU * x).cos()).sum()
}

/// Levy, on `[-10, 10]^d`.
pub fn levy(d: usize) -> Problem {
    Problem::new(format!("levy-{d}d"), levy_value, cube(d, -10.0, 10.0), 0.0, vec![vec![1.0; d]])
}

fn levy_value(x: &[f64]) -> f64 {
    let w = |i: usize| 1.0 + (x[i] - 1.0) / 4.0;
    let last = x.len() - 1;
    let first = (PI * w(0)).sin().powi(2);
    let middle: f64 =
        (0..last).map(|i| (w(i) - 1.0).powi(2) * (1.0 + 10.0 * (PI * w(i) + 1.0).sin().powi(2))).sum();
    first + middle + (w(last) - 1.0).powi(2) * (1.0 + (TAU * w(last)).sin().powi(2))
}

/// Griewank (1981), on `[-600, 600]^d`: coordinate `i` ripples with period `2 pi sqrt(i)`.
///
/// Ren & Li ("TS-RSR", Table 6) use `[-1, 4]^8`, and in their public code another function: [`griewank_over_i`].
pub fn griewank(d: usize) -> Problem {
    Problem::new(format!("griewank-{d}d"), griewank_value, cube(d, -600.0, 600.0), 0.0, vec![vec![0.0; d]])
}

fn griewank_value(x: &[f64]) -> f64 {
    griewank_with(x, f64::sqrt)
}

/// Griewank as in the public code of Ren & Li, "TS-RSR", on their `[-1, 4]^d`: coordinate `i` is divided by `i`,
/// not by its root.
pub fn griewank_over_i(d: usize) -> Problem {
    Problem::new(
        format!("griewank-over-i-{d}d"),
        griewank_over_i_value,
        cube(d, -1.0, 4.0),
        0.0,
        vec![vec![0.0; d]],
    )
}

fn griewank_over_i_value(x: &[f64]) -> f64 {
    griewank_with(x, |i| i)
}

fn griewank_with(x: &[f64], divisor: impl Fn(f64) -> f64) -> f64 {
    let squares: f64 = x.iter().map(|x| x * x).sum();
    let cosines: f64 = x.iter().zip(1_u32..).map(|(x, i)| (x / divisor(f64::from(i))).cos()).product();
    squares / 4000.0 - cosines + 1.0
}
