//! Hyperparameters by maximum a posteriori: L-BFGS-B on the exact gradient of the log marginal likelihood.
//!
//! Rasmussen & Williams 2006, eqs. (5.8), (5.9):
//! `log p(y) = -1/2 y^T K^-1 y - 1/2 log det K - n/2 log 2 pi`, `d/dt = 1/2 tr((alpha alpha^T - K^-1) dK/dt)`,
//! for `t` the logarithms of lengthscales, output scale and noise variance, plus their log priors.
//!
//! The gradient follows from `dK^-1 = -K^-1 dK K^-1` and `dlog det K = tr(K^-1 dK)`: with `alpha = K^-1 y` the first term gives
//! `1/2 alpha^T dK alpha`, the second `-1/2 tr(K^-1 dK)`. So with `W = alpha alpha^T - K^-1` each component is
//! `1/2 sum_ij W_ij dK_ij/dt`.

use rayon::prelude::*;

use super::hyperparameters::{Hyperparameters, Tunable};
use super::kernel::{Kernel, ParameterKind, Slopes};
use super::posterior::factor;
use crate::math::cholesky::Cholesky;
use crate::math::lbfgsb::Lbfgsb;
use crate::math::vector;
use crate::surrogate::points::Points;

/// Columns of the gradient's double sum that one thread adds up. Fixed, so that the sum does not depend on the threads.
const PANEL: usize = 32;

/// A fit: the kernel, the data and the priors.
#[derive(Clone, Debug)]
pub struct FitProblem<'a> {
    /// The structure of the kernel; its values are replaced.
    pub kernel: &'a Kernel,
    /// Observed points.
    pub points: &'a Points,
    /// Observed values, standardised.
    pub y: &'a [f64],
    /// Noise variances that came with the observations.
    pub known_noise: &'a [Option<f64>],
    /// All lengthscales.
    pub lengthscale: Tunable,
    /// The odds of the kernel `anova`.
    pub odds: Tunable,
    /// The output scale.
    pub outputscale: Tunable,
    /// The noise variance; its lower bound is added to known noise too, as a floor.
    pub noise: Tunable,
}

/// Limits of the work of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Evaluations of likelihood and gradient.
    pub evaluations: usize,
    /// Largest gradient of the log posterior per observation that counts as zero.
    pub tolerance: f64,
}

/// The result of a fit.
#[derive(Clone, Debug)]
pub struct MapEstimate {
    /// The most probable hyperparameters found.
    pub hyperparameters: Hyperparameters,
    /// Log posterior density there, up to a constant.
    pub log_posterior: f64,
    /// Evaluations spent.
    pub evaluations: usize,
}

impl FitProblem<'_> {
    /// Climbs from `start`.
    pub fn fit(&self, start: &Hyperparameters, effort: Effort) -> MapEstimate {
        let parameters = self.kernel.parameter_count();
        let tunables = self.tunables();
        let log = |f: fn(&Tunable) -> f64| -> Vec<f64> { tunables.iter().map(|t| f(t).ln()).collect() };
        let (lower, upper) = (log(|t| t.low), log(|t| t.high));
        let x0: Vec<f64> = start
            .kernel_parameters
            .iter()
            .copied()
            .chain([start.outputscale, start.noise_variance])
            .map(f64::ln)
            .collect();
        assert_eq!(x0.len(), parameters + 2, "one start per hyperparameter");
        let minimizer = Lbfgsb {
            gradient_tolerance: effort.tolerance * self.y.len().max(1) as f64,
            // The log posterior need not be known better than to a thousandth of a nat.
            value_tolerance: 1e-6,
            max_evaluations: effort.evaluations,
            ..Lbfgsb::default()
        };
        let mut kernel = self.kernel.clone();
        let mut work = LikelihoodScratch::default();
        let minimum = minimizer.minimize(&x0, &lower, &upper, |t, gradient| {
            let value = self.log_posterior(t, gradient, &mut kernel, &mut work).unwrap_or(f64::NEG_INFINITY);
            gradient.iter_mut().for_each(|g| *g = -*g);
            -value
        });
        let value = |i: usize| minimum.x[i].exp().clamp(tunables[i].low, tunables[i].high);
        MapEstimate {
            hyperparameters: Hyperparameters {
                kernel_parameters: (0..parameters).map(value).collect(),
                outputscale: value(parameters),
                noise_variance: value(parameters + 1),
            },
            log_posterior: -minimum.value,
            evaluations: minimum.evaluations,
        }
    }

    fn tunables(&self) -> Vec<Tunable> {
        let of_kernel = self.kernel.parameter_kinds().map(|kind| match kind {
            ParameterKind::Lengthscale => self.lengthscale,
            ParameterKind::Odds => self.odds,
        });
        of_kernel.chain([self.outputscale, self.noise]).collect()
    }

    /// Log posterior at the logarithms `t` (parameters of the kernel, output scale, noise), and its gradient.
    /// `None` where the covariance cannot be factored.
    fn log_posterior(
        &self,
        t: &[f64],
        gradient: &mut [f64],
        kernel: &mut Kernel,
        work: &mut LikelihoodScratch,
    ) -> Option<f64> {
        let n = self.points.len();
        let parameters = t.len() - 2;
        kernel.set_parameters(t[..parameters].iter().map(|log| log.exp()));
        kernel.outputscale = t[parameters].exp();
        let noise_variance = t[parameters + 1].exp();
        let noise: Vec<f64> = self
            .known_noise
            .iter()
            .map(|known| known.map_or(noise_variance, |v| v + self.noise.low))
            .collect();
        let chol = factor(kernel, self.points, &noise).ok()?;

        let mut white = self.y.to_vec();
        chol.solve_lower(&mut white);
        // |L^-1 y|^2 = y^T K^-1 y
        let mut value = -0.5 * vector::dot(&white, &white)
            - 0.5 * chol.log_det()
            - 0.5 * n as f64 * std::f64::consts::TAU.ln();
        let mut alpha = white;
        chol.solve_upper(&mut alpha);

        gradient.fill(0.0);
        let diagonal = self.add_kernel_gradient(kernel, &chol, &alpha, work, gradient);
        // dK/dlog noise is the noise variance on the diagonal, where it is not known: 1/2 noise sum_i W_ii.
        gradient[parameters + 1] = 0.5
            * noise_variance
            * diagonal
                .iter()
                .zip(self.known_noise)
                .filter(|(_, known)| known.is_none())
                .map(|(w, _)| w)
                .sum::<f64>();

        for (i, tunable) in self.tunables().iter().enumerate() {
            let (density, slope) = tunable.prior.log_density(t[i], self.points.dims());
            value += density;
            gradient[i] += slope;
        }
        value.is_finite().then_some(value)
    }

    /// Adds `1/2 sum_ij W_ij dK_ij` with `W = alpha alpha^T - K^-1`; returns the diagonal of `W`.
    fn add_kernel_gradient(
        &self,
        kernel: &Kernel,
        chol: &Cholesky,
        alpha: &[f64],
        work: &mut LikelihoodScratch,
        gradient: &mut [f64],
    ) -> Vec<f64> {
        let n = alpha.len();
        let parameters = gradient.len() - 2;
        chol.inverse(&mut work.inverse, &mut work.scratch);
        let inverse = &work.inverse;
        let columns: Vec<usize> = (0..n).step_by(PANEL).collect();
        let parts: Vec<Vec<f64>> = columns
            .into_par_iter()
            .map(|first| {
                let mut part = vec![0.0; parameters + 1];
                let (mut slopes, mut t, mut weights) = (Slopes::default(), Vec::new(), Vec::new());
                for j in first..(first + PANEL).min(n) {
                    let x = self.points.point(j);
                    kernel.column_with_slopes(self.points, j, &x, &mut slopes);
                    // W and dK are symmetric: 1/2 sum_ij is the sum over the lower triangle plus half of the diagonal.
                    weights.clear();
                    weights.extend(
                        alpha[j..]
                            .iter()
                            .zip(&inverse[j * n + j..(j + 1) * n])
                            .map(|(a, k)| a * alpha[j] - k),
                    );
                    weights[0] *= 0.5;
                    kernel.add_log_parameter_gradient(self.points, j, &slopes, &weights, &mut t, &mut part);
                    // dK/dlog outputscale is K without its noise.
                    part[parameters] += vector::dot(&weights, &slopes.value);
                }
                part
            })
            .collect();
        for part in parts {
            for (gradient, part) in gradient.iter_mut().zip(part) {
                *gradient += part;
            }
        }
        (0..n).map(|i| alpha[i] * alpha[i] - inverse[i * n + i]).collect()
    }
}

/// Matrices reused from one evaluation to the next.
#[derive(Debug, Default)]
struct LikelihoodScratch {
    inverse: Vec<f64>,
    scratch: Vec<f64>,
}

#[cfg(test)]
impl FitProblem<'_> {
    /// The objective of the fit, for gradient checks.
    pub(crate) fn log_posterior_at(&self, t: &[f64], gradient: &mut [f64]) -> f64 {
        self.log_posterior(t, gradient, &mut self.kernel.clone(), &mut LikelihoodScratch::default())
            .unwrap_or(f64::NEG_INFINITY)
    }
}
