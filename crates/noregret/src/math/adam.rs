//! Adam in a box: a few steps of about the same length in every coordinate, whatever the scale of the objective.
//! Kingma & Ba, "Adam: a method for stochastic optimization" (2015), Algorithm 1.
//!
//! # Departures
//! - Steps are clamped to the box, and the moments start anew when one is, as the authors of TS-RSR do.
//! - The best point visited is returned, not the last.

use super::minimum::{Minimum, Stop};

/// Decay of the first moment.
const BETA_1: f64 = 0.9;
/// Decay of the second moment.
const BETA_2: f64 = 0.999;
/// Keeps steps finite where the gradient vanishes.
const EPSILON: f64 = 1e-8;

/// A number of steps of a length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// How many.
    pub steps: usize,
    /// How long, in units of the coordinates.
    pub rate: f64,
}

impl Adam {
    /// Goes downhill from `start`; `objective` writes its gradient and returns its value.
    pub fn minimize(
        &self,
        start: &[f64],
        lower: &[f64],
        upper: &[f64],
        mut objective: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Minimum {
        let d = start.len();
        let (mut x, mut gradient) = (start.to_vec(), vec![0.0; d]);
        let (mut first, mut second) = (vec![0.0; d], vec![0.0; d]);
        let mut value = objective(&x, &mut gradient);
        let mut best = Minimum { x: x.clone(), value, iterations: 0, evaluations: 1, stop: Stop::Iterations };
        let mut t = 0;
        for _ in 0..self.steps {
            if !value.is_finite() || gradient.iter().any(|g| !g.is_finite()) {
                best.stop = Stop::NotFinite;
                break;
            }
            t += 1;
            let mut clamped = false;
            for j in 0..d {
                first[j] = BETA_1 * first[j] + (1.0 - BETA_1) * gradient[j];
                second[j] = BETA_2 * second[j] + (1.0 - BETA_2) * gradient[j] * gradient[j];
                let unbiased = |moment: f64, beta: f64| moment / (1.0 - beta.powi(t));
                let step = unbiased(first[j], BETA_1) / (unbiased(second[j], BETA_2).sqrt() + EPSILON);
                let to = x[j] - self.rate * step;
                x[j] = to.clamp(lower[j], upper[j]);
                clamped |= x[j].to_bits() != to.to_bits();
            }
            if clamped {
                t = 0;
                first.fill(0.0);
                second.fill(0.0);
            }
            value = objective(&x, &mut gradient);
            best.iterations += 1;
            best.evaluations += 1;
            if value < best.value {
                best.value = value;
                best.x.copy_from_slice(&x);
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bowl(center: [f64; 2]) -> impl Fn(&[f64], &mut [f64]) -> f64 {
        move |x, gradient| {
            for j in 0..2 {
                gradient[j] = 2.0 * (x[j] - center[j]);
            }
            (0..2).map(|j| (x[j] - center[j]).powi(2)).sum()
        }
    }

    #[test]
    fn the_first_step_has_the_length_of_the_rate() {
        let end = Adam { steps: 1, rate: 0.01 }.minimize(&[0.5, 0.5], &[0.0; 2], &[1.0; 2], bowl([0.9, 0.0]));
        assert!((end.x[0] - 0.51).abs() < 1e-9 && (end.x[1] - 0.49).abs() < 1e-9, "{:?}", end.x);
    }

    #[test]
    fn many_steps_reach_the_bottom_or_the_bound() {
        let adam = Adam { steps: 2_000, rate: 0.01 };
        let inside = adam.minimize(&[0.1, 0.9], &[0.0; 2], &[1.0; 2], bowl([0.3, 0.6]));
        assert!((inside.x[0] - 0.3).abs() < 1e-4 && (inside.x[1] - 0.6).abs() < 1e-4, "{inside:?}");
        let outside = adam.minimize(&[0.1, 0.9], &[0.0; 2], &[1.0; 2], bowl([1.5, 0.6]));
        assert!((outside.x[0] - 1.0).abs() < 1e-12, "{outside:?}");
    }

    #[test]
    fn what_is_no_number_ends_it_at_the_best_point() {
        let end = Adam { steps: 10, rate: 0.1 }.minimize(&[0.5], &[0.0], &[1.0], |x, gradient| {
            gradient[0] = -1.0;
            if x[0] > 0.75 { f64::NAN } else { -x[0] }
        });
        assert!(end.stop == Stop::NotFinite && end.x[0] <= 0.75 && end.value.is_finite(), "{end:?}");
    }
}
