//! Michalewicz (1992): steep ridges on a plateau, `d!` local minima.
//! `f(x) = - sum_i sin(x_i) sin^{2m}(i x_i^2 / pi)` with steepness `m = 10`, on `[0, pi]^d`.
//!
//! The function is a sum over coordinates, so its minimum is known in every dimension: coordinate `i` (from 1) has
//! one valley between each pair of neighbouring zeros `pi sqrt(k / i)`, and the logarithm of its depth is concave
//! there, so the bottom is the one zero of the logarithmic derivative.

use crate::{Problem, cube};
use std::f64::consts::PI;

/// Half the exponent of the ridges.
const STEEPNESS: i32 = 10;

/// Michalewicz' function in `d` dimensions: minimum -1.8013 for 2, -4.687658 for 5, -9.66015 for 10.
pub fn michalewicz(d: usize) -> Problem {
    let bottoms: Vec<(f64, f64)> = (1_u32..).take(d).map(bottom).collect();
    let minimizer = bottoms.iter().map(|&(x, _)| x).collect();
    let minimum = -bottoms.iter().map(|&(_, depth)| depth).sum::<f64>();
    Problem::new(format!("michalewicz-{d}d"), michalewicz_value, cube(d, 0.0, PI), minimum, vec![minimizer])
}

fn michalewicz_value(x: &[f64]) -> f64 {
    -x.iter().zip(1_u32..).map(|(&x, i)| depth(x, i)).sum::<f64>()
}

/// Minus the contribution of coordinate `i`.
fn depth(x: f64, i: u32) -> f64 {
    x.sin() * (f64::from(i) * x * x / PI).sin().powi(2 * STEEPNESS)
}

/// Where coordinate `i` is deepest, and how deep.
fn bottom(i: u32) -> (f64, f64) {
    let zero = |k: u32| PI * (f64::from(k) / f64::from(i)).sqrt();
    (0..i)
        .map(|k| {
            let x = valley(i, zero(k), zero(k + 1));
            (x, depth(x, i))
        })
        .max_by(|a, b| a.1.total_cmp(&b.1))
        .expect("invariant: i >= 1, so there is a valley")
}

/// The bottom between the zeros `low` and `high`, by bisection of the falling derivative of `ln depth`.
fn valley(i: u32, mut low: f64, mut high: f64) -> f64 {
    let i = f64::from(i);
    let slope = |x: f64| {
        let phase = i * x * x / PI;
        x.tan().recip() + 2.0 * f64::from(STEEPNESS) * (2.0 * i * x / PI) / phase.tan()
    };
    // 60 halvings leave less than the spacing of doubles.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As listed by Surjanovic & Bingham, to the digits printed there.
    #[test]
    fn minima_agree_with_the_published_ones() {
        for (d, published, digits) in [(2, -1.8013, 5e-5), (5, -4.687_658, 5e-7), (10, -9.660_15, 5e-6)] {
            let minimum = michalewicz(d).minimum;
            assert!((minimum - published).abs() <= digits, "{d}: {minimum}");
        }
    }

    #[test]
    fn first_two_minimizers_agree_with_the_published_ones() {
        let minimizer = &michalewicz(2).minimizers[0];
        assert!((minimizer[0] - 2.20).abs() < 5e-3 && (minimizer[1] - 1.57).abs() < 5e-3, "{minimizer:?}");
    }
}
