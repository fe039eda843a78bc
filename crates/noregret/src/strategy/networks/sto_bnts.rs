//! STO-BNTS and STO-BNTS-Linear: each point of a batch is the maximum of a function drawn from the posterior of an infinitely wide
//! network, by fitting a network (or the linear model of its tangent features) from random parameters.
//! Dai et al. 2022, Algorithms 1 and 2; and their rival, a deep ensemble, after Lakshminarayanan et al. 2017.
//!
//! # Notation
//! See [`draw`](crate::surrogate::neural::draw). `beta_t` is `beta` (1 in all their experiments, on values as they are), `sigma` is `noise`.
//!
//! # Departures
//! - Targets are perturbed by noise of deviation `beta sigma`, without which the functions are no posterior samples; `perturb = false` is the
//!   printed loss (eq. 1), and the default of the deep ensemble (see below).
//! - Values are standardised, so that `noise` has a meaning; `standardize = false` is what the authors' code does.
//! - Fits are Gauss-Newton steps in the dual, to a stated tolerance, which is the closed form of the linear variant. The paper's "gradient
//!   descent till convergence" is `training = { name = "descent" }` in a form of our own: momentum 0.9 by Nesterov (`momentum = 0` is plain), steps of
//!   `rate / curvature` at the start, halved with a return to the best point when the loss grows fourfold, the best parameters of the way, and an end when the
//!   gradient is 1e-3 of the first. The authors' code, plain descent with a fixed rate of 0.001 for 10,000 steps, is not available: it stops
//!   short of the minimum along small eigenvalues of the kernel, where its functions stay nearer to the draw from the prior.
//! - The authors' code draws the same parameters in every iteration; here they are drawn anew, as printed (`redraw`).
//! - `beta` is a constant, by default 0.3 on standardised values; that of Theorem 1 grows with `t`, and their experiments have 1.
//! - Biases have a deviation of 1 by default, and inputs go from -1 to 1; 0.05 and 0 to 1 in the authors' code. Weights have a deviation of
//!   `1.5 / sqrt(fan in)` in every layer, as there. The network of section 2 is that of Arora et al. 2019, which has no biases, does not divide the
//!   first layer by `sqrt(d)`, and has factors `sqrt(2 / m)` for ReLU, on points of the unit ball.
//! - Categories are one-hot inputs. Climbs move the numbers by gradients and, in turns with that, integers and categories to the best of their
//!   neighbours, for which any other category counts (31 of them if there are more than 32). The authors (App. F) treat a mixed domain as continuous
//!   and round the maximum, which may then be at a point that is not the best; and more than two categories get an order that the network must unlearn.
//! - At most 1,000 evaluations are fitted (2,000 by the linear variant): the best and some of the others. Failed ones take the worst value; known
//!   variances of noise weight the squares.
//! - The first points are Sobol points by default, random ones in the paper. The uncertainty sampling of App. B (`initial = "uncertainty"`) chooses among
//!   2,000 random points in place of the domain, and draws its network anew for every request, so that a stage that is asked for in parts has
//!   several. It lasts for `initial_points`, not for the `T_init` of section 4. Eq. (4) as printed lacks a factor `sigma^2`, which changes no maximum.
//! - Lakshminarayanan et al. train a mean and a variance by the likelihood, with adversarial examples, and predict by the mixture of all members. Here,
//!   as in Dai et al., a member of an ensemble has a mean only, fitted by squares, and each point is the maximum of one member.
//! - A deep ensemble has the loss of eq. (1) by default, as a "reduced version" of Algorithm 1; in the authors' code it has no penalty
//!   (`regularize = false`; a ridge of at most 1e-4 stays, so that the equations are solvable in 32 bits). Its `beta` is always 1, that of the authors, where
//!   STO-BNTS has 0.3 by default: away from the data its members differ by about 2 deviations of the values, twice as much as the functions of STO-BNTS, and
//!   the noise of its fits is `sigma` in place of `0.3 sigma`. Its targets are not perturbed by default, so that members differ less near the data.
//! - Candidates are Sobol points and some around the best evaluations, and the best of them are climbed from, 5 by default (`polished`); the authors climb
//!   from 100 random points. Only a pool is evaluated at every point: a finite space of integers and categories is searched by candidates and climbs,
//!   where App. F evaluates all of it. A network with a convolution is not climbed outside pools: further candidates close in on the best one.
//! - A point that was told, is running or is in the batch is not proposed again (`duplicates = "avoid"`, the default of a study): the next best takes its
//!   place. The paper allows repeats: `"replicate"`.

use std::num::NonZeroUsize;

use rand::{Rng, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::cholesky::NotPositiveDefinite;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::limits::{Demand, Table};
use crate::strategy::memo::{Neural, Trainings};
use crate::strategy::networks::FitOptions;
use crate::strategy::networks::model::candidate_tables;
use crate::strategy::networks::model::encoded_history::{FIT_A_POINT, ONE_FIT};
use crate::strategy::networks::model::opening::{Initial, Opening};
use crate::strategy::networks::model::search::maximize;
use crate::strategy::networks::model::streams;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::draw::{Draw, Sampler, TrainingData};
use crate::surrogate::neural::regression::FittedNetwork;
use crate::surrogate::neural::{Encoder, Training};

/// Fits that run in parallel ...
const GROUP: usize = 8;
/// ... up to this many evaluations.
const SIDE_BY_SIDE: usize = 1_500;

const BETA: Range = Range::new(1e-6, 1e6);

/// Settings of STO-BNTS and its linear variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct StoBntsConfig {
    /// Factor of the posterior deviation. From 1e-6 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = BETA.stated()))]
    pub beta: f64,
    /// Perturb the targets by noise, which makes the functions exact samples (of the linear variant; nearly, of a network); without, the loss
    /// is as printed.
    pub perturb: bool,
    /// Draw parameters anew for every point, as printed; `false` draws the same ones in every iteration, as the authors' code does.
    pub redraw: bool,
    /// How the network is fitted.
    pub training: Training,
    /// Where the first points come from.
    pub initial: Initial,
    /// The network, its data and its search.
    #[serde(flatten)]
    pub fit: FitOptions,
}

impl Demand for StoBntsConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.fit.candidates, dims)
    }
}

impl Default for StoBntsConfig {
    fn default() -> Self {
        Self {
            // A network of the default size has a prior deviation of about 3; values have one of 1.
            beta: 0.3,
            perturb: true,
            redraw: true,
            training: Training::default(),
            initial: Initial::default(),
            fit: FitOptions::default(),
        }
    }
}

/// Settings of a deep ensemble.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DeepEnsembleConfig {
    /// Hold the parameters to where they started, as STO-BNTS does; the authors' code does not.
    pub regularize: bool,
    /// Perturb the targets by noise.
    pub perturb: bool,
    /// Draw parameters anew for every point; `false` draws the same ones in every iteration, as the authors' code does.
    pub redraw: bool,
    /// How the network is fitted.
    pub training: Training,
    /// The network, its data and its search.
    #[serde(flatten)]
    pub fit: FitOptions,
}

impl Demand for DeepEnsembleConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.fit.candidates, dims)
    }
}

impl Default for DeepEnsembleConfig {
    fn default() -> Self {
        let (training, fit) = (Training::default(), FitOptions::default());
        Self { regularize: true, perturb: false, redraw: true, training, fit }
    }
}

/// Which function is fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Network,
    Linear,
    Ensemble { regularize: bool },
}

/// STO-BNTS, its linear variant, or a deep ensemble.
#[derive(Debug)]
pub struct StoBnts {
    config: StoBntsConfig,
    variant: Variant,
}

impl StoBnts {
    /// Algorithm 1.
    pub fn network(config: StoBntsConfig) -> Result<Self> {
        Self::new(config, Variant::Network)
    }

    /// Algorithm 2.
    pub fn linear(config: StoBntsConfig) -> Result<Self> {
        Self::new(config, Variant::Linear)
    }

    /// A deep ensemble.
    pub fn ensemble(config: DeepEnsembleConfig) -> Result<Self> {
        let DeepEnsembleConfig { regularize, perturb, redraw, training, fit } = config;
        let config = StoBntsConfig { perturb, training, fit, beta: 1.0, redraw, initial: Initial::Sobol };
        Self::new(config, Variant::Ensemble { regularize })
    }

    fn new(config: StoBntsConfig, variant: Variant) -> Result<Self> {
        config.fit.check()?;
        BETA.check("beta", config.beta)?;
        config.training.validate()?;
        Ok(Self { config, variant })
    }

    fn name(&self) -> &'static str {
        match self.variant {
            Variant::Network => "sto-bnts",
            Variant::Linear => "sto-bnts-linear",
            Variant::Ensemble { .. } => "deep-ensemble",
        }
    }
}

impl Strategy for StoBnts {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let FitOptions { network, noise, initial_points: points, .. } = &self.config.fit;
        let opening = Opening { network, noise: *noise, initial: self.config.initial, points: *points };
        let mut turn = opening.open(self.name(), history, q, rng)?;
        let most = if self.variant == Variant::Linear { ONE_FIT } else { FIT_A_POINT };
        let Some((encoder, told)) = self.config.fit.prepare(most, &mut turn)? else { return turn.finish() };
        let sampler = self.sampler(encoder);
        let mut streams = self.streams(&mut turn);
        let budget = self.config.fit.budget();
        let (centers, mut account) = (told.centers(), Account::default());
        // Members are fitted in parallel, large ones in sequence: each keeps some n x n matrices.
        let group = if told.data.y.len() > SIDE_BY_SIDE { 1 } else { GROUP };
        for streams in streams.chunks_mut(group) {
            let draw = |own| self.draw(&sampler, &told.data, own);
            let draws: Vec<Result<Draw, NotPositiveDefinite>> = streams.par_iter_mut().map(draw).collect();
            for draw in draws {
                let draw = draw?;
                account.add(&draw.fitted);
                let found = maximize(&draw, budget, &centers, &mut turn);
                turn.push(found)?;
            }
        }
        account.write(&mut turn.diagnostics);
        turn.finish()
    }
}

impl StoBnts {
    fn sampler(&self, encoder: Encoder) -> Sampler {
        let StoBntsConfig { training, beta, perturb, fit, .. } = &self.config;
        #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
        let beta = *beta as f32;
        let network = fit.network.network(encoder.inputs());
        Sampler { network, encoder, training: *training, beta, perturb: *perturb }
    }

    /// Draws one function.
    fn draw(
        &self,
        sampler: &Sampler,
        data: &TrainingData,
        own: &mut Stream,
    ) -> Result<Draw, NotPositiveDefinite> {
        match self.variant {
            Variant::Network => sampler.sto_bnts(data, own),
            Variant::Linear => sampler.sto_bnts_linear(data, own),
            Variant::Ensemble { regularize } => sampler.ensemble_member(data, regularize, own),
        }
    }

    /// One stream for each point: fresh ones, or the same in every iteration by the memo's seed.
    fn streams(&self, turn: &mut Turn<'_>) -> Vec<Stream> {
        let count = turn.missing();
        if self.config.redraw {
            return streams(count, turn.rng);
        }
        let fresh = turn.rng.next_u64();
        let revision = turn.history.revision();
        let neural =
            turn.memo.neural.get_or_insert(Neural { seed: fresh, revision, trainings: Trainings::default() });
        let stream = |i: usize| {
            let mut own = Stream::seed_from_u64(neural.seed);
            own.set_stream(i as u64);
            own
        };
        (0..count).map(stream).collect()
    }
}

/// Cost and convergence of the fits of a turn.
#[derive(Default)]
struct Account {
    steps: usize,
    /// The largest remaining gradient; NaN if one was NaN.
    gradient: f64,
    not_converged: usize,
    jitter: f64,
}

impl Account {
    fn add(&mut self, fitted: &FittedNetwork) {
        self.steps += fitted.steps;
        if fitted.gradient > self.gradient || fitted.gradient.is_nan() {
            self.gradient = fitted.gradient;
        }
        self.not_converged += usize::from(!fitted.converged);
        self.jitter = self.jitter.max(fitted.jitter);
    }

    fn write(&self, diagnostics: &mut Diagnostics) {
        let counters = &mut diagnostics.counters;
        counters.insert("training_steps".into(), self.steps as f64);
        counters.insert("gradient_left".into(), self.gradient);
        counters.insert("fits_not_converged".into(), self.not_converged as f64);
        if self.jitter > 0.0 {
            counters.insert("jitter".into(), self.jitter);
        }
    }
}
