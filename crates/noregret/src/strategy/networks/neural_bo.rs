//! NeuralBO: a network is the mean, its gradients are the features of the deviation, and each point is the best of independent
//! draws at the candidates. Phan-Trong et al. 2023, Algorithms 1 and 2; and NeuralTS (Zhang et al. 2021) and NeuralUCB (Zhou et al.
//! 2020), which differ in their features and in what is made of the deviation.
//!
//! # Notation
//! See `model/learning.rs`. `nu` is `nu`, `lambda` is `lambda`; `sigma_t` is in [`posterior`](crate::surrogate::neural::posterior).
//!
//! # Departures
//! - `U` has all points told (2,000 at most, see below), initial ones too, and those that are running; dynamic features are those of the present parameters for
//!   all points. The codes of NeuralTS and NeuralUCB add up the gradients of chosen points as they were, on the diagonal only:
//!   `variance = "accumulated"`, for trainings with `warm = true`; with static features all gradients are those of the first parameters
//!   (lines 3 and 7 of Algorithm 1). The code of NeuralBO adds up the same in a full p x p matrix, of which the diagonal is an option. A full `U` that is
//!   accumulated is missing here: `variance = "exact"` is full, with initial points and, if dynamic, with the gradients of all points at the
//!   present parameters; its deviations are smaller than that code's near initial points.
//!   With a diagonal alone, deviations at evaluated points shrink less.
//! - NeuralTS and NeuralUCB are by default in our own form: a network in the scaling of the tangent kernel, trained to convergence, with
//!   the whole of `U` in the dual. The code of NeuralTS's authors, which has both and which Dai et al. 2022 used for both, is `start = "pytorch"`,
//!   `network.inputs = "unit"`, `standardize = false`, `variance = "accumulated"` and 100 steps of SGD, `training = { name = "epochs", method = "sgd",
//!   rate = 0.01, epochs = 100, decay = 0.001, loss = "mean-shared-decay", toward = "zero", warm = true, shorten = false }`, with
//!   `lambda = 0.001`. Its `nu` is a factor of the variance; here it is one of the deviation. The code of NeuralUCB's authors cannot be had: it takes SGD
//!   steps on single points until the mean loss is 0.001, at most 1,000, with a decay of `lambda`, and after 2,000 rounds in every 100th only.
//!   NeuralUCB's `gamma_t`, which its paper computes in each round from `det U`, is the constant `nu`, and multiplies `sqrt(lambda g^T U^-1 g)`, as in its
//!   code; the paper has no `lambda` there. The start with `f = 0` of both papers, by paired weights of opposite sign, is missing.
//! - The network learns to convergence by default; the paper's and its code's trainings are by name (see docs/guide.md). The paper's
//!   step overshoots and is shortened, unless `shorten = false`.
//! - `sigma_t` is computed in the dual, from an n x n matrix: cubic in the number of evaluations, where the paper's p x p matrix has a constant
//!   size (50,500 x 50,500 for width 500 in 100 dimensions). `variance = "diagonal"` keeps p numbers. Both, and the training, use at most 2,000
//!   evaluations: beyond, half are the best and the others a random sample.
//! - Defaults are ours: values standardised, parameters in the network's own scaling with biases (`start = "scaled"`), for NeuralBO `nu` 0.1
//!   without the paper's search among 0.1, 1 and 10 and without the theorem's schedule, for NeuralTS and NeuralUCB `nu` 1 with `lambda` 0.01.
//! - The maximum over the domain (line 5) is the best of the candidates, at each of which the draw is independent of the others: the more
//!   candidates, the more exploration, by `sqrt(2 ln N)` deviations. NeuralUCB has 600 more around the three best evaluations, and then looks around
//!   the best candidate, where Dai et al. climb by gradients. A point that was told, is running or is in the batch is not proposed again
//!   (`duplicates = "avoid"`, the default of a study): the next best takes its place. The papers allow repeats: `"replicate"`.
//! - In a batch, draws are independent; NeuralUCB's deviations know of the batch so far.
//! - Categories are one-hot inputs, and all candidates are points of the space. Dai et al. (App. F) treat a mixed domain as continuous and round
//!   the maximum, which may then be at a point that is not the best; and more than two categories get an order that the network must unlearn.
//! - Failed evaluations take the worst value, so that their surroundings are avoided. Known variances of noise weight the squares of a fit by
//!   `lambda` (of standardised values) over the variance, by epochs at most by 1; in the deviations they count with `variance = "exact"` only.
//! - A training that ends with numbers that are not finite is replaced by the first parameters, with a note: the mean is then that of a network
//!   that has learnt nothing, and points go by it and by the deviation.

use std::num::NonZeroUsize;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::history::History;
use crate::strategy::limits::{Demand, INITIAL_POINTS, Table};
use crate::strategy::networks::model::belief::{Belief, Features};
use crate::strategy::networks::model::encoded_history::ONE_FIT;
use crate::strategy::networks::model::field::Field;
use crate::strategy::networks::model::learned::{Learned, LearnedConfig, LearnedNetwork};
use crate::strategy::networks::model::learning::{Learning, Start};
use crate::strategy::networks::model::opening::Opening;
use crate::strategy::networks::model::search::{candidates, close_in};
use crate::strategy::networks::model::{CANDIDATES, candidate_tables};
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::NetworkConfig;
use crate::surrogate::neural::posterior::Variance;
use crate::surrogate::points::Points;

const NU: Range = Range::new(0.0, 1e6);
const LAMBDA: Range = Range::new(1e-6, 1e6);

/// Settings of NeuralBO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NeuralBoConfig {
    /// The network.
    pub network: NetworkConfig,
    /// Where its parameters begin.
    pub start: Start,
    /// Whose gradients are the features.
    pub features: Features,
    /// Factor of the deviation. From 0 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = NU.stated()))]
    pub nu: f64,
    /// Points among which the best draw is looked for. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// How the network learns, and what its deviations are made of.
    #[serde(flatten)]
    pub gradients: GradientOptions,
}

impl Demand for NeuralBoConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.candidates, dims)
    }
}

impl Default for NeuralBoConfig {
    fn default() -> Self {
        Self {
            network: NetworkConfig { depth: 1, width: 500, ..NetworkConfig::default() },
            start: Start::Scaled,
            features: Features::Static,
            nu: 0.1,
            candidates: 50_000,
            gradients: GradientOptions::default(),
        }
    }
}

/// Options of the algorithms whose deviation is computed from a network's gradients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GradientOptions {
    /// What is kept of the matrix of gradients.
    pub variance: Variance,
    /// How the network learns.
    pub training: Learning,
    /// Weight of the prior. From 1e-6 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = LAMBDA.stated()))]
    pub lambda: f64,
    /// Shift and scale the values to mean 0 and deviation 1.
    pub standardize: bool,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl Default for GradientOptions {
    fn default() -> Self {
        let (variance, training) = (Variance::Exact, Learning::default());
        Self { variance, training, lambda: 0.01, standardize: true, initial_points: None }
    }
}

/// Settings of NeuralTS and NeuralUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NeuralBanditConfig {
    /// The network.
    pub network: NetworkConfig,
    /// Where its parameters begin.
    pub start: Start,
    /// Factor of the deviation. From 0 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = NU.stated()))]
    pub nu: f64,
    /// Points among which the best is looked for. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// How the network learns, and what its deviations are made of.
    #[serde(flatten)]
    pub gradients: GradientOptions,
}

impl Demand for NeuralBanditConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.candidates, dims)
    }
}

impl Default for NeuralBanditConfig {
    fn default() -> Self {
        let (network, gradients) = (NetworkConfig::default(), GradientOptions::default());
        Self { network, start: Start::Scaled, nu: 1.0, candidates: 10_000, gradients }
    }
}

/// How the deviation is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Policy {
    /// An independent draw at every candidate.
    Draw,
    /// A confidence bound.
    Bound,
}

/// NeuralBO, NeuralTS or NeuralUCB.
#[derive(Debug)]
pub struct NeuralBo {
    name: &'static str,
    policy: Policy,
    config: NeuralBoConfig,
    learned: Learned,
}

impl NeuralBo {
    /// NeuralBO.
    pub fn published(config: NeuralBoConfig) -> Result<Self> {
        Self::new("neural-bo", Policy::Draw, config)
    }

    /// NeuralTS.
    pub fn neural_ts(config: NeuralBanditConfig) -> Result<Self> {
        Self::new("neural-ts", Policy::Draw, config.into())
    }

    /// NeuralUCB.
    pub fn neural_ucb(config: NeuralBanditConfig) -> Result<Self> {
        Self::new("neural-ucb", Policy::Bound, config.into())
    }

    fn new(name: &'static str, policy: Policy, config: NeuralBoConfig) -> Result<Self> {
        config.network.validate()?;
        let NeuralBoConfig { nu, candidates, .. } = config;
        let GradientOptions { training, lambda, standardize, initial_points, .. } = config.gradients;
        NU.check("nu", nu)?;
        LAMBDA.check("lambda", lambda)?;
        CANDIDATES.check("candidates", candidates)?;
        INITIAL_POINTS.check("initial_points", initial_points)?;
        training.validate()?;
        config.start.check(name, &config.network)?;
        let accumulate = config.gradients.variance == Variance::Accumulated;
        if accumulate && !training.is_warm() {
            return Err(AlgorithmError::Options {
                name: name.into(),
                problem: "variance = \"accumulated\" adds up what trainings left: it needs training with warm = true".into(),
            }
            .into());
        }
        let learned = Learned::new(LearnedConfig {
            network: config.network.clone(),
            start: config.start,
            learning: training,
            standardize,
            ridge: lambda,
            most: ONE_FIT,
            accumulate: accumulate.then_some(config.features),
        });
        Ok(Self { name, policy, config, learned })
    }
}

impl From<NeuralBanditConfig> for NeuralBoConfig {
    fn from(config: NeuralBanditConfig) -> Self {
        let NeuralBanditConfig { network, start, nu, candidates, gradients } = config;
        Self { network, start, features: Features::Dynamic, nu, candidates, gradients }
    }
}

impl Strategy for NeuralBo {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let NeuralBoConfig { network, features, nu, .. } = &self.config;
        let GradientOptions { variance, lambda, initial_points, .. } = &self.config.gradients;
        let mut turn = Opening::sobol(network, *initial_points).open(self.name, history, q, rng)?;
        let Some(learned) = self.learned.prepare(&mut turn)? else { return turn.finish() };
        let mut belief = learned.belief(*features, *variance, *lambda, &turn.without_value())?;
        let field = self.field(&belief, &learned, &mut turn)?;
        let mut computed = 0;
        while turn.wants_more() {
            if self.policy == Policy::Bound && turn.picked() > 0 {
                belief = learned.belief(*features, *variance, *lambda, &turn.without_value())?;
            }
            let (region, rng) = turn.region_and_rng();
            let found = match self.policy {
                Policy::Draw => field.best(&belief, &region, || {
                    let z: f64 = StandardNormal.sample(rng);
                    nu * z
                }),
                Policy::Bound => field
                    .best(&belief, &region, || *nu)
                    .and_then(|(first, count)| Ok((climbed(first, &belief, *nu, &region, rng)?, count))),
            };
            let found = found.map(|(maximum, count)| {
                computed += count;
                maximum
            });
            turn.push(found)?;
        }
        turn.diagnostics.counters.insert("deviations_computed".into(), computed as f64);
        if belief.jitter > 0.0 {
            turn.diagnostics.counters.insert("jitter_of_deviations".into(), belief.jitter);
        }
        turn.finish()
    }
}

impl NeuralBo {
    /// The points at which draws or bounds are compared; bounds also near the best evaluations.
    fn field(&self, belief: &Belief<'_>, learned: &LearnedNetwork, turn: &mut Turn<'_>) -> Result<Field> {
        if let Some(pool) = turn.history.space().as_pool() {
            return Ok(Field::of_pool(belief, pool));
        }
        let centers = if self.policy == Policy::Draw { Vec::new() } else { learned.told.centers() };
        let (region, rng) = turn.region_and_rng();
        Ok(Field::of_points(belief, candidates(&region, self.config.candidates, &centers, rng)?))
    }
}

/// Moves from the candidate with the highest bound to a higher one nearby; a row of a pool stays.
fn climbed(
    first: Maximum,
    belief: &Belief<'_>,
    nu: f64,
    region: &Region<'_>,
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    if region.space.as_pool().is_some() {
        return Ok(first);
    }
    let start = Points::from_columns(first.x.len(), &first.x);
    let mut best = close_in(|points| belief.bounds(points, nu), &[first.value], &start, region, rng)?;
    best.work += first.work;
    Ok(best)
}
