//! The model of one history: its posterior, and the candidates whose posterior is kept up to date with it.

use rand::SeedableRng;

use crate::acquisition::Scored;
use crate::acquisition::beta::Round;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::multi_start::top;
use crate::maximize::{MaximizeError, Region};
use crate::strategy::dataset::Dataset;
use crate::strategy::diagnostics::ModelDiagnostics;
use crate::strategy::history::{Choice, History, Outcome};
use crate::strategy::memo::Fit;
use crate::strategy::turn::Turn;
use crate::surrogate::Surrogate;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::gp::{GpConfig, Pending};
use crate::surrogate::points::Points;

/// Pools up to this size keep their whole posterior from round to round; larger ones are scored in panels.
const KEPT_POOL: usize = 20_000;
/// Fresh candidates around the best points in every round.
const FRESH: usize = 48;
/// How many of the best points they surround.
const CENTERS: usize = 3;
/// Least noise variance of the stand-in for a failure, in units of the values' variance.
const NOISE_OF_FAILURE: f64 = 0.25;

/// The model for one history.
#[derive(Debug)]
pub struct GpState {
    fit: Fit,
    gp: Gp,
    /// Standardised values of the model's points.
    y: Vec<f64>,
    /// Candidates that belong to the fit; for a pool its rows.
    kept: Candidates,
    /// Candidates of this round.
    fresh: Candidates,
    /// Noise variance of points without a value.
    pending_noise: f64,
    /// Evaluations of the history that are in the model.
    told: usize,
    /// The worst value so far, in the user's units, used in place of failures.
    worst: f64,
    failures: usize,
    subset_of: Option<usize>,
    revision: u64,
}

impl GpState {
    /// Builds the model of the evaluations of `fit`.
    pub(super) fn new(config: &GpConfig, history: &History, fit: Fit, candidates: usize) -> Result<Self> {
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
        let region = Region::whole(history.space());
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

    /// Whether this is the model of the history up to its last evaluations.
    pub(super) fn is_of(&self, history: &History, fit: &Fit, candidates: usize) -> bool {
        self.fit == *fit
            && self.revision == history.revision()
            && self.told <= history.len()
            && (self.kept.len() == candidates || history.space().as_pool().is_some())
    }

    /// Appends new evaluations, and conditions the variances on running points.
    pub(super) fn catch_up(&mut self, config: &GpConfig, history: &History, rng: &mut Stream) {
        self.append_told(config, history);
        for choice in history.pending() {
            self.gp.condition(&choice.x, self.pending_noise);
        }
        self.kept.follow(&self.gp);
        self.refresh(history, rng);
    }

    fn append_told(&mut self, config: &GpConfig, history: &History) {
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
        let region = Region::whole(history.space());
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

    /// Diagnostics of the model.
    pub(super) fn diagnostics(&self, history: &History, refitted: bool) -> ModelDiagnostics {
        let repairs = self.gp.repairs();
        ModelDiagnostics {
            points: self.gp.observed(),
            subset_of: self.subset_of.map(|_| history.len()),
            pending: history.pending().len(),
            failures: self.failures,
            refitted,
            fit: self.fit.clone(),
            jitter: repairs.jitter,
            factor_retries: repairs.retries,
            lifted_pivots: repairs.lifted_pivots,
        }
    }

    /// The inputs of schedules of confidence weights in round `t`, counted from 0.
    pub(crate) fn round(&self, t: usize, turn: &Turn<'_>) -> Round {
        let space = turn.history.space();
        Round {
            t,
            dims: space.dims(),
            candidates: space.cardinality().and_then(|c| usize::try_from(c).ok()),
            information_gain: self.gp.information_gain(),
        }
    }

    /// The posterior.
    pub fn gp(&self) -> &Gp {
        &self.gp
    }

    /// Standardised values of the observed points.
    pub fn values(&self) -> &[f64] {
        &self.y
    }

    /// The fit it was built from.
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

    /// Posterior means at the observed points, without a solve: `(K + D) alpha = y`, so `K alpha = y - D alpha`, with the noise
    /// variances `D`.
    pub fn means_at_data(&self) -> Vec<f64> {
        let alpha = self.gp.alpha();
        self.y.iter().enumerate().map(|(i, y)| y - self.gp.noise(i) * alpha[i]).collect()
    }

    /// The incumbent: the best posterior mean at an observed point.
    pub fn incumbent(&self) -> f64 {
        self.means_at_data().into_iter().fold(f64::NEG_INFINITY, f64::max)
    }

    /// The same, also over running points and those of the batch: their results will not be improvements any more.
    pub fn believed_incumbent(&self) -> f64 {
        let pending: Vec<usize> = (self.gp.observed()..self.gp.len()).collect();
        let believed = self.gp.marginals(&self.gp.points().select(&pending)).mean;
        believed.into_iter().fold(self.incumbent(), f64::max)
    }

    /// What an evaluation at this point would tell, `1/2 ln(1 + sigma^2 / sigma_n^2)`, given all that the model is conditioned on:
    /// Lemma A.1 of Ren & Li.
    pub(crate) fn information_of(&self, choice: &Choice) -> f64 {
        let here = Points::from_columns(choice.x.len(), &choice.x);
        let variance = self.gp.marginals(&here).variance[0].max(0.0);
        0.5 * (variance / self.pending_noise.max(f64::MIN_POSITIVE)).ln_1p()
    }

    /// An estimate from below of `rho_m = max sigma(x) / sigma(x | A)` over points `x` and sets `A` of `m` (Ren & Li, Theorem 4.1), at
    /// the candidates: `m` evaluations of `x` itself, or next to it, give `sqrt(1 + m sigma^2 / sigma_n^2)`.
    pub(crate) fn largest_shrinkage(&self, m: usize) -> f64 {
        let variances = self.kept.observed_variance().iter().chain(self.fresh.observed_variance());
        let largest = variances.copied().fold(0.0, f64::max);
        (1.0 + m as f64 * largest / self.pending_noise.max(f64::MIN_POSITIVE)).sqrt()
    }

    /// A utility of mean and deviation on this model.
    pub fn scored(&self, utility: Utility) -> Scored<'_, Gp> {
        Scored { model: &self.gp, utility }
    }
}

/// Noise variance of the stand-in for a failure: half a deviation of all values, or more if they are noisier. A failure is not an
/// observation of the objective; taken as an exact one, it would make a cliff beside which the model overshoots.
fn noise_of_failure(fit: &Fit) -> f64 {
    fit.hyperparameters.noise_variance.max(NOISE_OF_FAILURE)
}

/// Noise variance of an observation: its own above the floor, or the fitted one.
fn noise_of(known: Option<f64>, fit: &Fit, config: &GpConfig) -> f64 {
    known.map_or(fit.hyperparameters.noise_variance, |v| v + config.noise.low)
}
