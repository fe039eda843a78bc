//! Problems of two dimensions.

use crate::{Problem, cube};
use std::f64::consts::{PI, TAU};

/// Branin (1972): three equal minima in two valleys, on `[-5, 10] x [0, 15]`.
pub fn branin() -> Problem {
    // The cosine is -1 and the square 0 at all three.
    let minimizers = vec![vec![-PI, 12.275], vec![PI, 2.275], vec![3.0 * PI, 2.475]];
    let minimum = 10.0 / (8.0 * PI);
    Problem::new("branin", branin_value, vec![(-5.0, 10.0), (0.0, 15.0)], minimum, minimizers)
}

fn branin_value(x: &[f64]) -> f64 {
    let valley = x[1] - 5.1 / (4.0 * PI * PI) * x[0] * x[0] + 5.0 / PI * x[0] - 6.0;
    valley * valley + 10.0 * (1.0 - 1.0 / (8.0 * PI)) * x[0].cos() + 10.0
}

/// Bird (Mishra 2006): two narrow wells on `[-2 pi, 2 pi]^2`.
pub fn bird() -> Problem {
    let minimizers = vec![
        vec![4.701_043_130_249_553, 3.152_938_503_724_93],
        vec![-1.582_142_176_930_033_5, -3.130_246_803_454_656_2],
    ];
    Problem::new("bird-2d", bird_value, cube(2, -TAU, TAU), -106.764_536_749_264_68, minimizers)
}

fn bird_value(x: &[f64]) -> f64 {
    let (sin, cos) = (x[0].sin(), x[1].cos());
    sin * (1.0 - cos).powi(2).exp() + cos * (1.0 - sin).powi(2).exp() + (x[0] - x[1]).powi(2)
}

/// Goldstein & Price (1971): values from 3 to about a million on `[-2, 2]^2`.
pub fn goldstein_price() -> Problem {
    Problem::new("goldstein-price", goldstein_price_value, cube(2, -2.0, 2.0), 3.0, vec![vec![0.0, -1.0]])
}

fn goldstein_price_value(x: &[f64]) -> f64 {
    let (x, y) = (x[0], x[1]);
    let first = 19.0 - 14.0 * x + 3.0 * x * x - 14.0 * y + 6.0 * x * y + 3.0 * y * y;
    let second = 18.0 - 32.0 * x + 12.0 * x * x + 48.0 * y - 36.0 * x * y + 27.0 * y * y;
    (1.0 + (x + y + 1.0).powi(2) * first) * (30.0 + (2.0 * x - 3.0 * y).powi(2) * second)
}

/// Six-hump camel back (Dixon & Szegő 1978): two equal minima among six, on `[-3, 3] x [-2, 2]`.
pub fn six_hump_camel() -> Problem {
    let (x, y) = (0.089_842_013_100_318_06, 0.712_656_403_020_739_6);
    let minimizers = vec![vec![x, -y], vec![-x, y]];
    let bounds = vec![(-3.0, 3.0), (-2.0, 2.0)];
    Problem::new("six-hump-camel", six_hump_camel_value, bounds, -1.031_628_453_489_877_4, minimizers)
}

fn six_hump_camel_value(x: &[f64]) -> f64 {
    let (xx, yy) = (x[0] * x[0], x[1] * x[1]);
    (4.0 - 2.1 * xx + xx * xx / 3.0) * xx + x[0] * x[1] + (4.0 * yy - 4.0) * yy
}
