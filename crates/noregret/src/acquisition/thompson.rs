//! Thompson sampling: the utility of a point is its value under one function drawn from the posterior.
//!
//! # Notation
//! (Kim et al. 2025, Algorithm 2 and Theorem 4.)
//!
//! | paper            | here       | meaning                                                        |
//! |------------------|------------|----------------------------------------------------------------|
//! | `f_t`            | [`Path`]   | a draw from the posterior                                      |
//! | `beta_t`         | `beta`     | factor of the posterior deviation                              |
//! | `eta~_t`         | `eta`      | worst-case accuracy of the maximizer                           |
//! | `B`              | `norm_bound` | bound of the objective's norm                                |
//! | `v~_t`           | `margin`   | `(1 / eta~ - 1) B`                                             |
//! | `s_{t-1}`        |            | `beta sigma + v~`, the deviation of the enlarged sample        |

use super::Acquisition;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::path::{FeaturePath, Path};
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::neural::draw::Draw;
use crate::surrogate::points::Points;
use crate::surrogate::{Gradient, Surrogate};

impl Acquisition for Path<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        Path::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Path::value_and_gradient(self, x, gradient)
    }
}

impl Acquisition for FeaturePath {
    fn values(&self, points: &Points) -> Vec<f64> {
        FeaturePath::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        FeaturePath::value_and_gradient(self, x, gradient)
    }
}

impl Acquisition for Draw {
    fn values(&self, points: &Points) -> Vec<f64> {
        Draw::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Draw::value_and_gradient(self, x, gradient)
    }
}

/// A sample path whose deviation is enlarged from `sigma` to `beta sigma + margin`: inexact GP-TS (Theorem 4).
///
/// The path `mu + (beta sigma + margin) / sigma * (f - mu)`; where `sigma` vanishes it is `mu`.
#[derive(Clone, Debug)]
pub struct EnlargedPath<'a> {
    gp: &'a Gp,
    path: Path<'a>,
    beta: f64,
    margin: f64,
}

/// Deviation below which the enlarged path falls back to the posterior mean: there `(f - mu) / sigma` is 0 / 0.
const NO_DEVIATION: f64 = 1e-8;

impl<'a> EnlargedPath<'a> {
    /// Enlarges `path`, drawn from `gp`, by `beta` and by `margin = (1 / eta - 1) * norm_bound`.
    pub fn new(gp: &'a Gp, path: Path<'a>, beta: f64, margin: f64) -> Self {
        Self { gp, path, beta, margin }
    }

    /// The enlarged path at candidates whose posterior is known.
    pub fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let mut values = self.path.values_at(candidates);
        let known = candidates.mean().iter().zip(candidates.variance());
        for (value, (mean, variance)) in values.iter_mut().zip(known) {
            *value = self.stretch(*mean, variance.max(0.0).sqrt(), *value);
        }
        values
    }

    fn stretch(&self, mean: f64, sd: f64, draw: f64) -> f64 {
        if sd < NO_DEVIATION { mean } else { mean + (self.beta + self.margin / sd) * (draw - mean) }
    }
}

impl Acquisition for EnlargedPath<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        let marginals = self.gp.marginals(points);
        let mut values = self.path.values(points);
        for (value, (mean, variance)) in values.iter_mut().zip(marginals.mean.iter().zip(&marginals.variance))
        {
            *value = self.stretch(*mean, variance.sqrt(), *value);
        }
        values
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (mut by_mean, mut by_variance) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mean, variance) = self.gp.marginal_with_gradient(x, &mut by_mean, &mut by_variance);
        let sd = variance.sqrt();
        let draw = self.path.value_and_gradient(x, gradient);
        if sd < NO_DEVIATION {
            gradient.copy_from_slice(&by_mean);
            return mean;
        }
        let factor = self.beta + self.margin / sd;
        // d(margin / sd) = -margin / sd^2 * dvar / (2 sd)
        let by_factor = -0.5 * self.margin / (variance * sd) * (draw - mean);
        for i in 0..x.len() {
            gradient[i] = by_mean[i] + factor * (gradient[i] - by_mean[i]) + by_factor * by_variance[i];
        }
        self.stretch(mean, sd, draw)
    }
}
