//! Maximum a posteriori fits of hyperparameters: when a fit is due, and where it starts.

use rand::{Rng, RngExt, SeedableRng};

use crate::math::rng::Stream;
use crate::strategy::dataset::{Dataset, mean_and_sd, shuffle};
use crate::strategy::history::History;
use crate::strategy::memo::{Fit, Memo, Units};
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::fit::{Effort, FitProblem, MapEstimate};
use crate::surrogate::gp::hyperparameters::{Hyperparameters, Tunable};
use crate::surrogate::gp::kernel::{Kernel, ParameterKind};
use crate::surrogate::gp::warp::{Transform, Warp};

/// A fit from scratch climbs on few points first, from each of its starts ...
const COARSE: Effort = Effort { evaluations: 30, tolerance: 1e-2 };
/// ... this many ...
const COARSE_POINTS: usize = 100;
/// ... then from the best end on half of the points it may use ...
const MIDDLE: Effort = Effort { evaluations: 15, tolerance: 3e-3 };
/// ... and at last on all of them, as a warm start does at once. A likelihood costs the cube of the number of points.
const FINE: Effort = Effort { evaluations: 12, tolerance: 1e-3 };

/// Separates the stream of further starts from the others that the fit's seed gives rise to.
const RESTARTS: u64 = 0x5EED_0F4E_57A4_7500;
/// Separates the stream of the fit's subsample from that of the candidates, which share the fit's seed.
const SUBSAMPLE: u64 = 0x5EED_0F5A_4D91_E500;

/// Returns the fit to use now: the last one, or a new one if that is due.
pub(crate) fn fit_if_due(config: &GpConfig, history: &History, memo: &mut Memo, rng: &mut Stream) -> Fit {
    let fit = match memo.fit.take() {
        Some(fit) if !is_due(config, history, Some(&fit)) => fit,
        last => fit(config, history, last.as_ref(), rng.next_u64()),
    };
    memo.fit.insert(fit).clone()
}

/// A fit is due when the evaluations have grown by the share `refit_growth` since the last one: the fits' costs then
/// form a geometric series, whose sum is a constant factor of the last. After a value was replaced it is due at once: a mistyped value may
/// have been larger than all others by orders, and units and hyperparameters were fitted to it.
pub(super) fn is_due(config: &GpConfig, history: &History, last: Option<&Fit>) -> bool {
    let Some(fit) = last else { return true };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    let growth = (fit.evaluations as f64 * config.refit_growth) as usize;
    history.len() >= fit.evaluations.saturating_add(growth.max(1))
        || history.len() < fit.evaluations
        || history.replacements() != fit.replacements
}

/// Fits hyperparameters to the whole history, starting where the last fit ended.
fn fit(config: &GpConfig, history: &History, last: Option<&Fit>, seed: u64) -> Fit {
    // The stand-ins for failures carry no information on lengthscales or noise.
    let data = Dataset::new(config.max_points, history, history.len(), seed).without_failures();
    let warp = match config.transform {
        Transform::None => None,
        Transform::YeoJohnson => Warp::fit(&data.values),
    };
    let warped = |y: &f64| warp.map_or(*y, |warp| warp.value(*y));
    let values: Vec<f64> = data.values.iter().map(warped).collect();
    let (mean, sd) = if config.standardize { mean_and_sd(&values) } else { (0.0, 1.0) };
    let units = Units { warp, mean, sd };
    let kernel = config.kernel_for(history.space().kinds());
    let fits = |fit: &&Fit| fit.hyperparameters.kernel_parameters.len() == kernel.parameter_count();
    let warm = last.filter(|fit| config.warm_start && fits(fit)).map(|fit| fit.hyperparameters.clone());
    let (hyperparameters, likelihoods) = if config.is_fitted() {
        Ascent::new(config, &kernel, data.standardized(&units), seed).maximize(warm)
    } else {
        (config.start(&kernel), 0)
    };
    let (evaluations, replacements) = (history.len(), history.replacements());
    Fit { evaluations, units, hyperparameters, seed, likelihoods, replacements }
}

/// The maximization of the posterior of the hyperparameters.
struct Ascent<'a> {
    config: &'a GpConfig,
    kernel: &'a Kernel,
    data: Dataset,
    /// Observations in random order: the first ones are a sample.
    order: Vec<usize>,
    /// Of further starts.
    rng: Stream,
    /// Likelihoods evaluated.
    likelihoods: usize,
}

impl<'a> Ascent<'a> {
    fn new(config: &'a GpConfig, kernel: &'a Kernel, data: Dataset, seed: u64) -> Self {
        let mut order: Vec<usize> = (0..data.points.len()).collect();
        shuffle(&mut order, &mut Stream::seed_from_u64(seed ^ SUBSAMPLE));
        let rng = Stream::seed_from_u64(seed ^ RESTARTS);
        Self { config, kernel, data, order, rng, likelihoods: 0 }
    }

    /// From scratch: several starts on few points, then the best one on more and more. Warm: on all at once.
    fn maximize(mut self, warm: Option<Hyperparameters>) -> (Hyperparameters, usize) {
        let size = fit_size(self.data.points.len(), self.config.fit_points);
        let start = warm.unwrap_or_else(|| self.cold_start(size));
        let fitted = self.climb(size, &start, FINE);
        (fitted.hyperparameters, self.likelihoods)
    }

    fn cold_start(&mut self, size: usize) -> Hyperparameters {
        let coarse = size.min(COARSE_POINTS);
        let first = self.config.start(self.kernel);
        let mut best = self.climb(coarse, &first, COARSE);
        if self.config.warm_start {
            let other = self.climb(coarse, &self.rough_start(&first), COARSE);
            if other.log_posterior > best.log_posterior {
                best = other;
            }
        }
        for _ in 0..self.config.restarts {
            let start = self.random_start();
            let other = self.climb(coarse, &start, COARSE);
            if other.log_posterior > best.log_posterior {
                best = other;
            }
        }
        if size > 2 * coarse {
            best = self.climb(size / 2, &best.hyperparameters, MIDDLE);
        }
        best.hyperparameters
    }

    /// The second start: rougher and noisier, and nearer to a sum of effects of single parameters.
    fn rough_start(&self, first: &Hyperparameters) -> Hyperparameters {
        let GpConfig { odds, lengthscale, noise, .. } = self.config;
        let dims = self.data.points.dims() as f64;
        let rougher = |(kind, value): (ParameterKind, &f64)| match kind {
            ParameterKind::Odds => (value * dims).min(odds.high),
            ParameterKind::Lengthscale => (value * 0.3).max(lengthscale.low),
        };
        Hyperparameters {
            kernel_parameters: self
                .kernel
                .parameter_kinds()
                .zip(&first.kernel_parameters)
                .map(rougher)
                .collect(),
            outputscale: first.outputscale,
            noise_variance: (first.noise_variance * 100.0).clamp(noise.low, noise.high),
        }
    }

    /// A further start: each hyperparameter is uniform between its bounds on a logarithmic scale.
    fn random_start(&mut self) -> Hyperparameters {
        let GpConfig { odds, lengthscale, outputscale, noise, .. } = self.config;
        let mut between = |tunable: &Tunable| {
            let (low, high) = (tunable.low.ln(), tunable.high.ln());
            let log = low + (high - low) * self.rng.random::<f64>();
            log.exp().clamp(tunable.low, tunable.high)
        };
        Hyperparameters {
            kernel_parameters: self
                .kernel
                .parameter_kinds()
                .map(|kind| match kind {
                    ParameterKind::Odds => between(odds),
                    ParameterKind::Lengthscale => between(lengthscale),
                })
                .collect(),
            outputscale: between(outputscale),
            noise_variance: between(noise),
        }
    }

    /// Climbs from `start` on a sample of the observations.
    fn climb(&mut self, points: usize, start: &Hyperparameters, effort: Effort) -> MapEstimate {
        let mut chosen = self.order[..points.min(self.order.len())].to_vec();
        chosen.sort_unstable();
        let (points, y, known) = self.data.select(&chosen);
        let problem = FitProblem {
            kernel: self.kernel,
            points: &points,
            y: &y,
            known_noise: &known,
            lengthscale: self.config.lengthscale,
            odds: self.config.odds,
            outputscale: self.config.outputscale,
            noise: self.config.noise,
        };
        let fitted = problem.fit(start, effort);
        self.likelihoods += fitted.evaluations;
        fitted
    }
}

/// How many of `n` observations a fit uses. Leaving out a fifth halves its time and cost 0.01 nats an observation at
/// n = 500 (Hartmann-6, three data sets); for small `n` every observation counts.
fn fit_size(n: usize, most: usize) -> usize {
    if n <= most / 5 * 3 { n } else { (n / 5 * 4).max(most / 5 * 3).min(most) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;
    use crate::strategy::testing::random_history;
    use crate::surrogate::gp::kernel::Form;

    /// Values far from the prior's mean of 0 and a smooth kernel: one start ends at the lower bound, where nothing is correlated
    /// and the likelihood is flat; one of several finds the lengthscale.
    #[test]
    fn further_starts_leave_the_plateau_of_tiny_lengthscales() {
        let waves = |x: &[f64]| -2.0 + (9.0 * x[0]).sin() * (7.0 * x[1]).cos() + (8.0 * x[2]).sin();
        let history = random_history(Space::bounds(&[(0.0, 1.0); 3]).unwrap(), 40, 5, waves);
        let lengthscale = |restarts| {
            let config = GpConfig {
                kernel: Form::Matern52,
                isotropic: true,
                lengthscale: Tunable::free(1.0, 1e-5, 1e5),
                outputscale: Tunable::fixed(1.0),
                noise: Tunable::fixed(1e-4),
                standardize: false,
                warm_start: false,
                restarts,
                ..GpConfig::default()
            };
            fit(&config, &history, None, 3).hyperparameters.kernel_parameters[0]
        };
        assert!(lengthscale(0) < 1e-3, "{}", lengthscale(0));
        assert!((0.05..2.0).contains(&lengthscale(5)), "{}", lengthscale(5));
    }
}
