//! Smooth polynomial problems of any dimension.

use crate::{Problem, cube};

/// The squared distance from the origin, on `[-5.12, 5.12]^d`.
pub fn sphere(d: usize) -> Problem {
    Problem::new(format!("sphere-{d}d"), sphere_value, cube(d, -5.12, 5.12), 0.0, vec![vec![0.0; d]])
}

fn sphere_value(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum()
}

/// Rosenbrock (1960): a curved valley towards `(1, ..., 1)`.
///
/// In two dimensions the box is `[-2, 2] x [-1, 3]` as in Ren & Li, "TS-RSR", Table 5; in more, `[-5, 10]^d`.
///
/// # Panics
/// When `d < 2`, where there is no valley.
pub fn rosenbrock(d: usize) -> Problem {
    assert!(d >= 2, "rosenbrock needs two dimensions or more");
    let bounds = if d == 2 { vec![(-2.0, 2.0), (-1.0, 3.0)] } else { cube(d, -5.0, 10.0) };
    Problem::new(format!("rosenbrock-{d}d"), rosenbrock_value, bounds, 0.0, vec![vec![1.0; d]])
}

fn rosenbrock_value(x: &[f64]) -> f64 {
    x.windows(2).map(|x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (x[0] - 1.0).powi(2)).sum()
}

/// Styblinski & Tang (1990): two wells in every coordinate, one of them deeper, on `[-5, 5]^d`.
pub fn styblinski_tang(d: usize) -> Problem {
    // The least root of 4 x^3 - 32 x + 5, and the value of one coordinate there.
    let (root, per_coordinate) = (-2.903_534_027_771_177, -39.166_165_703_771_41);
    let minimum = per_coordinate * d as f64;
    let name = format!("styblinski-tang-{d}d");
    Problem::new(name, styblinski_tang_value, cube(d, -5.0, 5.0), minimum, vec![vec![root; d]])
}

fn styblinski_tang_value(x: &[f64]) -> f64 {
    x.iter().map(|&x| 0.5 * (x.powi(4) - 16.0 * x * x + 5.0 * x)).sum()
}
