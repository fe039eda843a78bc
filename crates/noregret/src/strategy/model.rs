//! The Gaussian process of a running study: fitted on a schedule, grown point by point in between.
//!
//! The model is a cache. Everything it was made from is in the history and in the memo's [`Fit`], and it is always made in
//! the same order (the evaluations of the fit in one factorisation, later ones one by one), so that a model built anew has
//! the same bits as one that grew with the study.

use rand::{Rng, RngExt, SeedableRng};

use super::diagnostics::ModelDiagnostics;
use super::history::{Choice, History, Outcome};
use super::memo::{Fit, Memo, Units};
use crate::acquisition::thompson::EnlargedPath;
use crate::acquisition::utility::Utility;
use crate::acquisition::{Acquisition, Scored};
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::multi_start::top;
use crate::maximize::{MaximizeError, Region, Taken};
use crate::surrogate::Surrogate;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::fit::{Effort, FitProblem};
use crate::surrogate::gp::hyperparameters::Hyperparameters;
use crate::surrogate::gp::kernel::{Kernel, ParameterKind};
use crate::surrogate::gp::path::Path;
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::gp::warp::{Transform, Warp};
use crate::surrogate::gp::{GpConfig, Pending};
use crate::surrogate::points::Points;

/// Pools up to this size keep their whole posterior from round to round; larger ones are scored in panels.
const KEPT_POOL: usize = 20_000;
/// Fresh candidates around the best points in every round.
const FRESH: usize = 48;
/// How many of the best points they surround.
const CENTERS: usize = 3;
/// A fit from nothing climbs on few points first, from each of its starts ...
const COARSE: Effort = Effort { evaluations: 30, tolerance: 1e-2 };
/// ... this many ...
const COARSE_POINTS: usize = 100;
/// ... then from the best end on half of the points it may use ...
const MIDDLE: Effort = Effort { evaluations: 15, tolerance: 3e-3 };
/// ... and at last on all of them, as a warm start does at once: a likelihood costs the cube of the points.
const FINE: Effort = Effort { evaluations: 12, tolerance: 1e-3 };

/// Least noise variance of what stands in for a failure, in units of the values' variance.
const NOISE_OF_FAILURE: f64 = 0.25;

/// A utility of a model, at the candidates that the model keeps.
pub trait OnModel: Acquisition {
    /// The utility at candidates whose posterior is known.
    fn values_at(&self, candidates: &Candidates) -> Vec<f64>;

    /// What it makes of mean and deviation, if it looks at nothing else.
    fn utility(&self) -> Option<Utility> {
        None
    }
}

impl OnModel for Scored<'_, Gp> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let mut values = vec![0.0; candidates.len()];
        self.utility.values(candidates.mean(), candidates.variance(), &mut values);
        values
    }

    fn utility(&self) -> Option<Utility> {
        Some(self.utility)
    }
}

impl OnModel for Path<'_> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        Path::values_at(self, candidates)
    }
}

impl OnModel for EnlargedPath<'_> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        EnlargedPath::values_at(self, candidates)
    }
}

/// The model and its cache.
#[derive(Debug)]
pub struct GpModel {
    config: GpConfig,
    state: Option<State>,
}

/// The model for one history.
#[derive(Debug)]
pub struct State {
    fit: Fit,
    gp: Gp,
    /// Standardised values of the model's points.
    y: Vec<f64>,
    /// Candidates that belong to the fit; for a pool its rows.
    kept: Candidates,
    /// Candidates of this round.
    fresh: Candidates,
    /// Noise variance of points whose value is not known yet.
    pending_noise: f64,
    /// Evaluations of the history that are in the model.
    told: usize,
    /// The worst value so far, in the user's units: it stands in for failures.
    worst: f64,
    failures: usize,
    subset_of: Option<usize>,
    revision: u64,
}

/// A piece of history as a model takes it.
pub(super) struct Dataset {
    pub(super) points: Points,
    pub(super) values: Vec<f64>,
    pub(super) known_noise: Vec<Option<f64>>,
    failed: Vec<bool>,
    worst: f64,
    pub(super) subset_of: Option<usize>,
}

impl GpModel {
    /// A model of this configuration, which must be valid.
    pub fn new(config: GpConfig) -> Self {
        Self { config, state: None }
    }

    /// The configuration.
    pub fn config(&self) -> &GpConfig {
        &self.config
    }

    /// Brings the model up to date with `history`, refitting it if that is due (then `memo` has the new fit), and
    /// conditions it on what is running. `candidates` are kept with a new fit. There must be a value in the history.
    pub fn prepare(
        &mut self,
        history: &History,
        memo: &mut Memo,
        candidates: usize,
        rng: &mut Stream,
    ) -> Result<(&mut State, ModelDiagnostics), Error> {
        let refitted = self.is_due(history, memo);
        let fit = self.fit_if_due(history, memo, rng);
        let usable = self.state.take().filter(|s| {
            s.fit == fit
                && s.revision == history.revision()
                && s.told <= history.len()
                && (s.kept.len() == candidates || history.space().as_pool().is_some())
        });
        let mut state = match usable {
            Some(state) => state,
            None => State::new(&self.config, history, fit.clone(), candidates)?,
        };
        state.catch_up(&self.config, history);
        for choice in history.pending() {
            state.gp.condition(&choice.x, state.pending_noise);
        }
        state.kept.follow(&state.gp);
        state.refresh(history, rng);
        let mut diagnostics = ModelDiagnostics {
            points: state.gp.observed(),
            subset_of: state.subset_of.map(|_| history.len()),
            pending: history.pending().len(),
            failures: state.failures,
            refitted,
            fit,
            jitter: 0.0,
            factor_retries: 0,
            lifted_pivots: 0,
        };
        diagnostics.set_repairs(state.gp.repairs());
        Ok((self.state.insert(state), diagnostics))
    }

    /// The fit to use now: the last one, or a new one if that is due.
    pub(super) fn fit_if_due(&self, history: &History, memo: &mut Memo, rng: &mut Stream) -> Fit {
        let last = memo.fit.take();
        let fit = match last {
            Some(fit) if !self.is_overdue(history, &fit) => fit,
            last => self.fit(history, last.as_ref(), rng.next_u64()),
        };
        memo.fit.insert(fit).clone()
    }

    /// A fit is due when the evaluations have grown by the share `refit_growth` since the last one: the fits' costs then
    /// form a geometric series, whose sum is a constant factor of the last.
    fn is_due(&self, history: &History, memo: &Memo) -> bool {
        memo.fit.as_ref().is_none_or(|fit| self.is_overdue(history, fit))
    }

    fn is_overdue(&self, history: &History, fit: &Fit) -> bool {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
        let growth = (fit.evaluations as f64 * self.config.refit_growth) as usize;
        history.len() >= fit.evaluations.saturating_add(growth.max(1)) || history.len() < fit.evaluations
    }

    /// Fits hyperparameters to the whole history, starting where the last fit ended.
    fn fit(&self, history: &History, last: Option<&Fit>, seed: u64) -> Fit {
        // What stands in for failures says nothing of how the objective varies, nor of its noise.
        let data = Dataset::new(self.config.max_points, history, history.len(), seed).without_failures();
        let warp = match self.config.transform {
            Transform::None => None,
            Transform::YeoJohnson => Warp::fit(&data.values),
        };
        let warped = |y: &f64| warp.map_or(*y, |warp| warp.value(*y));
        let values: Vec<f64> = data.values.iter().map(warped).collect();
        let (mean, sd) = if self.config.standardize { mean_and_sd(&values) } else { (0.0, 1.0) };
        let kernel = self.config.kernel_for(history.space().kinds());
        let start = last
            .filter(|fit| {
                self.config.warm_start
                    && fit.hyperparameters.kernel_parameters.len() == kernel.parameter_count()
            })
            .map(|fit| fit.hyperparameters.clone());
        let hyperparameters = self.config.start(&kernel);
        let mut fit = Fit {
            evaluations: history.len(),
            units: Units { warp, mean, sd },
            hyperparameters,
            seed,
            likelihoods: 0,
        };
        if self.config.is_fitted() {
            (fit.hyperparameters, fit.likelihoods) =
                self.climb(&data.standardized(&fit.units), &kernel, start, seed);
        }
        fit
    }

    /// From nothing: two starts on few points, then the better one on more and more. Warm: on all at once.
    fn climb(
        &self,
        data: &Dataset,
        kernel: &Kernel,
        start: Option<Hyperparameters>,
        seed: u64,
    ) -> (Hyperparameters, usize) {
        let mut rng = Stream::seed_from_u64(seed ^ SUBSAMPLE);
        let mut order: Vec<usize> = (0..data.points.len()).collect();
        shuffle(&mut order, &mut rng);
        let mut likelihoods = 0;
        let mut fit = |points: usize, start: &Hyperparameters, effort: Effort| {
            let mut chosen = order[..points.min(order.len())].to_vec();
            chosen.sort_unstable();
            let (points, y, known) = data.select(&chosen);
            let problem = FitProblem {
                kernel,
                points: &points,
                y: &y,
                known_noise: &known,
                lengthscale: self.config.lengthscale,
                odds: self.config.odds,
                outputscale: self.config.outputscale,
                noise: self.config.noise,
            };
            let fitted = problem.fit(start, effort);
            likelihoods += fitted.evaluations;
            fitted
        };
        let dims = data.points.dims() as f64;
        let size = fit_size(data.points.len(), self.config.fit_points);
        let coarse = size.min(COARSE_POINTS);
        let start = start.unwrap_or_else(|| {
            let first = self.config.start(kernel);
            // The second start: rougher and noisier, and nearer to a sum of effects of single parameters.
            let rough = Hyperparameters {
                kernel_parameters: kernel
                    .parameter_kinds()
                    .zip(&first.kernel_parameters)
                    .map(|(kind, value)| match kind {
                        ParameterKind::Odds => (value * dims).min(self.config.odds.high),
                        ParameterKind::Lengthscale => (value * 0.3).max(self.config.lengthscale.low),
                    })
                    .collect(),
                outputscale: first.outputscale,
                noise_variance: (first.noise_variance * 100.0)
                    .clamp(self.config.noise.low, self.config.noise.high),
            };
            let starts = if self.config.warm_start { vec![first, rough] } else { vec![first] };
            let ends: Vec<_> = starts.iter().map(|start| fit(coarse, start, COARSE)).collect();
            let best = ends.into_iter().reduce(|a, b| if b.log_posterior > a.log_posterior { b } else { a });
            let best = best.expect("invariant: there is a start").hyperparameters;
            if size > 2 * coarse { fit(size / 2, &best, MIDDLE).hyperparameters } else { best }
        });
        let fitted = fit(size, &start, FINE).hyperparameters;
        (fitted, likelihoods)
    }
}

/// How many of `n` observations a fit uses. Leaving out a fifth halves its time and cost 0.01 nats an observation at
/// n = 500 (Hartmann-6, three data sets); for small `n` every observation counts.
fn fit_size(n: usize, most: usize) -> usize {
    if n <= most / 5 * 3 { n } else { (n / 5 * 4).max(most / 5 * 3).min(most) }
}

/// Separates the stream of the fit's subsample from that of the candidates, which share the fit's seed.
const SUBSAMPLE: u64 = 0x5EED_0F5A_4D91_E500;
/// ... and that of the subset of a large history.
const SUBSET: u64 = 0x5EED_0F5B_5E70_0000;

fn shuffle(order: &mut [usize], rng: &mut Stream) {
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
}

impl Dataset {
    /// The first `n` evaluations of `history`, or a subset of them if they are too many.
    pub(super) fn new(max_points: usize, history: &History, n: usize, seed: u64) -> Self {
        let outcomes = &history.outcomes()[..n];
        let (values, worst) = values_with_worst(outcomes);
        let known = |o: &Outcome| match o {
            Outcome::Value { noise_variance, .. } => *noise_variance,
            Outcome::Failed => None,
        };
        let rows = if n > max_points { subset(&values, max_points / 2, seed) } else { (0..n).collect() };
        Self {
            points: history.points().select(&rows),
            values: rows.iter().map(|&i| values[i]).collect(),
            known_noise: rows.iter().map(|&i| known(&outcomes[i])).collect(),
            failed: rows.iter().map(|&i| outcomes[i] == Outcome::Failed).collect(),
            worst,
            subset_of: (rows.len() < n).then_some(n),
        }
    }

    /// In these units.
    pub(super) fn standardized(mut self, units: &Units) -> Self {
        for (y, noise) in self.values.iter_mut().zip(&mut self.known_noise) {
            *noise = noise.map(|v| units.standardized_variance(v, *y));
            *y = units.standardized(*y);
        }
        self
    }

    fn without_failures(self) -> Self {
        let rows: Vec<usize> = (0..self.failed.len()).filter(|&i| !self.failed[i]).collect();
        let (points, values, known_noise) = self.select(&rows);
        Self { points, values, known_noise, failed: vec![false; rows.len()], ..self }
    }

    fn select(&self, rows: &[usize]) -> (Points, Vec<f64>, Vec<Option<f64>>) {
        let y = rows.iter().map(|&i| self.values[i]).collect();
        let known = rows.iter().map(|&i| self.known_noise[i]).collect();
        (self.points.select(rows), y, known)
    }
}

/// The values, with the worst of them in place of failures, and that worst value.
pub(super) fn values_with_worst(outcomes: &[Outcome]) -> (Vec<f64>, f64) {
    let value = |outcome: &Outcome| match outcome {
        Outcome::Value { y, .. } => Some(*y),
        Outcome::Failed => None,
    };
    let worst = outcomes.iter().filter_map(value).fold(f64::INFINITY, f64::min);
    (outcomes.iter().map(|outcome| value(outcome).unwrap_or(worst)).collect(), worst)
}

/// Mean and deviation of the values, without overflow; a deviation of 0 becomes 1.
pub(super) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    // The rounded mean of equal values may differ from them in the last bit, which is no deviation.
    if let Some((first, rest)) = values.split_first()
        && rest.iter().all(|y| y.to_bits() == first.to_bits())
    {
        return (*first, 1.0);
    }
    let n = values.len().max(1) as f64;
    let mean: f64 = values.iter().map(|y| y / n).sum();
    let largest = values.iter().map(|y| (y / 2.0 - mean / 2.0).abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return (mean, 1.0);
    }
    let squares: f64 = values.iter().map(|y| ((y / 2.0 - mean / 2.0) / largest).powi(2) / n).sum();
    let sd = 2.0 * (largest * squares.sqrt());
    (mean, if sd.is_normal() { sd } else { 1.0 })
}

/// `size` rows of a long history: half of them the best, and a random sample of the rest.
///
/// What is near the optimum must be known well, the rest so far that nobody goes there again. With a quarter for the best, regrets are
/// larger where values are exact, and smaller where they are noisy and the best ones partly lucky (docs/benchmarks.md).
fn subset(values: &[f64], size: usize, seed: u64) -> Vec<usize> {
    let mut rows = top(values, size / 2);
    let best: std::collections::BTreeSet<usize> = rows.iter().copied().collect();
    let mut rest: Vec<usize> = (0..values.len()).filter(|i| !best.contains(i)).collect();
    shuffle(&mut rest, &mut Stream::seed_from_u64(seed ^ SUBSET));
    rows.extend(rest.into_iter().take(size - best.len()));
    rows.sort_unstable();
    rows
}

impl State {
    fn new(config: &GpConfig, history: &History, fit: Fit, candidates: usize) -> Result<Self, Error> {
        let data =
            Dataset::new(config.max_points, history, fit.evaluations, fit.seed).standardized(&fit.units);
        let kernel = config.fitted_kernel(history.space().kinds(), &fit.hyperparameters);
        let noise = |i: usize| {
            if data.failed[i] { noise_of_failure(&fit) } else { noise_of(data.known_noise[i], &fit, config) }
        };
        let noise = (0..data.failed.len()).map(noise).collect();
        let failures = data.failed.iter().filter(|failed| **failed).count();
        let (worst, subset_of) = (data.worst, data.subset_of);
        let gp = Gp::new(kernel, data.points, &data.values, noise)?;
        let none = Taken::default();
        let region = Region { space: history.space(), taken: &none, batch: &none, apart: 0.0 };
        let set = match history.space().as_pool() {
            Some(pool) if pool.len() <= KEPT_POOL => {
                Points::from_columns(pool.dims(), &pool.encoded(0..pool.len()))
            }
            Some(pool) => Points::new(pool.dims()),
            None => {
                region.sobol(candidates, &mut Stream::seed_from_u64(fit.seed)).map_err(MaximizeError::from)?
            }
        };
        let kept = Candidates::new(&gp, set);
        let fresh = Candidates::new(&gp, Points::new(history.space().dims()));
        let told = fit.evaluations;
        let pending_noise = match config.pending {
            Pending::Noisy => fit.hyperparameters.noise_variance,
            Pending::Exact => config.noise.low,
        };
        let revision = history.revision();
        Ok(Self {
            fit,
            gp,
            y: data.values,
            kept,
            fresh,
            pending_noise,
            told,
            worst,
            failures,
            subset_of,
            revision,
        })
    }

    /// Appends what was told since.
    fn catch_up(&mut self, config: &GpConfig, history: &History) {
        self.gp.release();
        for i in self.told..history.len() {
            let (value, noise) = match history.outcomes()[i] {
                Outcome::Value { y, noise_variance } => {
                    self.worst = self.worst.min(y);
                    let known = noise_variance.map(|v| self.fit.units.standardized_variance(v, y));
                    (y, noise_of(known, &self.fit, config))
                }
                Outcome::Failed => {
                    self.failures += 1;
                    (self.worst, noise_of_failure(&self.fit))
                }
            };
            let y = self.fit.units.standardized(value);
            self.gp.append(&history.points().point(i), y, noise);
            self.y.push(y);
        }
        self.told = history.len();
    }

    /// New candidates around the points with the best posterior means.
    fn refresh(&mut self, history: &History, rng: &mut Stream) {
        let none = Taken::default();
        let region = Region { space: history.space(), taken: &none, batch: &none, apart: 0.0 };
        let mut points = Points::new(history.space().dims());
        for center in top(&self.means_at_data(), CENTERS) {
            let around = region.around(&self.gp.points().point(center), FRESH / CENTERS, rng);
            (0..around.len()).for_each(|i| points.push(&around.point(i)));
        }
        self.fresh = Candidates::new(&self.gp, points);
    }

    /// More candidates of this round.
    pub fn add_fresh(&mut self, points: &Points) {
        let mut all = self.fresh.points().clone();
        (0..points.len()).for_each(|i| all.push(&points.point(i)));
        self.fresh = Candidates::new(&self.gp, all);
    }

    /// Conditions the variances on one more point of the batch.
    pub fn condition(&mut self, choice: &Choice) {
        self.gp.condition(&choice.x, self.pending_noise);
        self.kept.follow(&self.gp);
        self.fresh.follow(&self.gp);
    }

    /// The posterior.
    pub fn gp(&self) -> &Gp {
        &self.gp
    }

    /// Standardised values of the observed points.
    pub fn values(&self) -> &[f64] {
        &self.y
    }

    /// The fit it is made from.
    pub fn fit(&self) -> &Fit {
        &self.fit
    }

    /// Candidates kept from round to round.
    pub fn kept(&self) -> &Candidates {
        &self.kept
    }

    /// Candidates of this round.
    pub fn fresh(&self) -> &Candidates {
        &self.fresh
    }

    /// Posterior means at the observed points, free: `K alpha = y - noise * alpha`.
    pub fn means_at_data(&self) -> Vec<f64> {
        let alpha = self.gp.alpha();
        self.y.iter().enumerate().map(|(i, y)| y - self.gp.noise(i) * alpha[i]).collect()
    }

    /// The best posterior mean at an observed point: the incumbent that improvements are counted from.
    pub fn incumbent(&self) -> f64 {
        self.means_at_data().into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The same, also over points that run or are in the batch: what they will bring is no improvement any more.
    pub fn believed_incumbent(&self) -> f64 {
        let pending: Vec<usize> = (self.gp.observed()..self.gp.len()).collect();
        let believed = self.gp.marginals(&self.gp.points().select(&pending)).mean;
        believed.into_iter().fold(self.incumbent(), f64::max)
    }

    /// A utility of mean and deviation on this model.
    pub fn scored(&self, utility: Utility) -> Scored<'_, Gp> {
        Scored { model: &self.gp, utility }
    }
}

/// Noise variance of what stands in for a failure: half a deviation of all values, or more if they are noisier. A failure is no
/// observation of the objective; taken for an exact one, it would make a cliff beside which the model overshoots.
fn noise_of_failure(fit: &Fit) -> f64 {
    fit.hyperparameters.noise_variance.max(NOISE_OF_FAILURE)
}

/// Noise variance of an observation: its own above the floor, or the fitted one.
fn noise_of(known: Option<f64>, fit: &Fit, config: &GpConfig) -> f64 {
    known.map_or(fit.hyperparameters.noise_variance, |v| v + config.noise.low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_holds_the_best_and_some_of_the_others() {
        let values: Vec<f64> = (0..1_000).map(|i| f64::from(i * 7 % 1_000)).collect();
        let rows = subset(&values, 100, 3);
        assert!(rows.len() == 100 && rows.is_sorted_by(|a, b| a < b), "{rows:?}");
        let best = rows.iter().filter(|i| values[**i] >= 950.0).count();
        let worse_half = rows.iter().filter(|i| values[**i] < 500.0).count();
        // 50 of the 950 others, about 26 of them from the worse half: 10 are four deviations fewer.
        assert!(best == 50 && worse_half > 10, "{best} {worse_half}");
        assert!(rows == subset(&values, 100, 3) && rows != subset(&values, 100, 4));
    }
}
