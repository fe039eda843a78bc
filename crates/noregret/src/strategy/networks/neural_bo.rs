//! NeuralBO: a network is the mean, its gradients are the features of the deviation, and each point is the best of independent
//! draws at the candidates. Phan-Trong et al. 2023, Algorithms 1 and 2; and NeuralTS (Zhang et al. 2021) and NeuralUCB (Zhou et al.
//! 2020), which differ in their features and in what is made of the deviation.
//!
//! # Notation
//! See `learned.rs`. `nu` is `nu`, `lambda` is `lambda`; `sigma_t` is in [`posterior`](crate::surrogate::neural::posterior).
//!
//! # Departures
//! - `U` has all points told, initial ones too, and those that are running; dynamic features are those of the present parameters for
//!   all points, where the published codes add up gradients taken at different times.
//! - The network learns to convergence by default; the paper's and its code's trainings are by name (see docs/guide.md).
//! - In a batch, draws are independent; NeuralUCB's deviations know of the batch so far.

use std::num::NonZeroUsize;

use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::history::History;
use crate::strategy::networks::model::learned::{Features, Field, Learned, LearnedConfig, Learning, Start};
use crate::strategy::networks::model::{Course, Initial, candidates, close_in};
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::posterior::Variance;
use crate::surrogate::neural::{NetworkConfig, NetworkError};
use crate::surrogate::points::Points;

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
    /// What is kept of the matrix of gradients.
    pub variance: Variance,
    /// How the network learns.
    pub training: Learning,
    /// Factor of the deviation.
    pub nu: f64,
    /// Weight of the prior.
    pub lambda: f64,
    /// Shift and scale the values to mean 0 and deviation 1.
    pub standardize: bool,
    /// Points among which the best draw is looked for.
    pub candidates: usize,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for NeuralBoConfig {
    fn default() -> Self {
        Self {
            network: NetworkConfig { depth: 1, width: 500, ..NetworkConfig::default() },
            start: Start::Scaled,
            features: Features::Static,
            variance: Variance::Exact,
            training: Learning::default(),
            nu: 0.1,
            lambda: 0.01,
            standardize: true,
            candidates: 50_000,
            initial_points: None,
        }
    }
}

/// Settings of NeuralTS and NeuralUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NeuralBanditConfig {
    /// The network.
    pub network: NetworkConfig,
    /// What is kept of the matrix of gradients; the published code keeps the diagonal.
    pub variance: Variance,
    /// How the network learns.
    pub training: Learning,
    /// Factor of the deviation.
    pub nu: f64,
    /// Weight of the prior.
    pub lambda: f64,
    /// Shift and scale the values to mean 0 and deviation 1.
    pub standardize: bool,
    /// Points among which the best is looked for.
    pub candidates: usize,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for NeuralBanditConfig {
    fn default() -> Self {
        Self {
            network: NetworkConfig::default(),
            variance: Variance::Exact,
            training: Learning::default(),
            nu: 1.0,
            lambda: 0.01,
            standardize: true,
            candidates: 10_000,
            initial_points: None,
        }
    }
}

/// What is made of the deviation.
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
    pub fn published(config: NeuralBoConfig) -> Result<Self, Error> {
        Self::new("neural-bo", Policy::Draw, config)
    }

    /// NeuralTS.
    pub fn neural_ts(config: NeuralBanditConfig) -> Result<Self, Error> {
        Self::new("neural-ts", Policy::Draw, config.into())
    }

    /// NeuralUCB.
    pub fn neural_ucb(config: NeuralBanditConfig) -> Result<Self, Error> {
        Self::new("neural-ucb", Policy::Bound, config.into())
    }

    fn new(name: &'static str, policy: Policy, config: NeuralBoConfig) -> Result<Self, Error> {
        config.network.validate()?;
        let NeuralBoConfig { nu, lambda, candidates, .. } = config;
        Course::check("nu", nu, "finite and not negative", nu >= 0.0 && nu.is_finite())?;
        Course::check("lambda", lambda, "from 1e-6 to 1e6", (1e-6..=1e6).contains(&lambda))?;
        Course::check_candidates(candidates)?;
        if !config.training.is_valid() {
            return Err(NetworkError::Training.into());
        }
        if config.network.image.is_some() && config.start != Start::Scaled {
            return Err(AlgorithmError::Options {
                name: name.into(),
                problem: "images need start = \"scaled\": the others are for fully connected networks".into(),
            }
            .into());
        }
        let learned = Learned::new(LearnedConfig {
            network: config.network.clone(),
            start: config.start,
            learning: config.training,
            standardize: config.standardize,
            ridge: lambda,
        });
        Ok(Self { name, policy, config, learned })
    }
}

impl From<NeuralBanditConfig> for NeuralBoConfig {
    fn from(config: NeuralBanditConfig) -> Self {
        let NeuralBanditConfig {
            network,
            variance,
            training,
            nu,
            lambda,
            standardize,
            candidates,
            initial_points,
        } = config;
        let (start, features) = (Start::Scaled, Features::Dynamic);
        Self {
            network,
            start,
            features,
            variance,
            training,
            nu,
            lambda,
            standardize,
            candidates,
            initial_points,
        }
    }
}

impl Strategy for NeuralBo {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let NeuralBoConfig { network, features, variance, nu, lambda, initial_points, .. } = &self.config;
        let course = Course {
            name: self.name,
            network,
            noise: lambda.sqrt(),
            initial: Initial::Sobol,
            initial_points: *initial_points,
        };
        let mut progress = course.begin(history, q, rng)?;
        if progress.left == 0 {
            return Ok(progress.end());
        }
        let state = self.learned.prepare(history, &mut progress.memo, &mut progress.diagnostics, rng)?;
        let mut running = Points::new(history.space().dims());
        history.pending().for_each(|choice| running.push(&choice.x));
        progress.batch.choices.iter().for_each(|choice| running.push(&choice.x));
        let mut belief = state.belief(*features, *variance, *lambda, &running)?;
        let count = self.config.candidates;
        let centers = if self.policy == Policy::Draw { Vec::new() } else { state.told.centers() };
        let field = Field::new(&belief, &progress.region(), || {
            candidates(&progress.history.region(&progress.batch.taken), count, &centers, rng)
        })?;
        let mut computed = 0;
        for i in 0..progress.left {
            let found = match self.policy {
                Policy::Draw => field.best(&belief, &progress.region(), || {
                    let z: f64 = StandardNormal.sample(rng);
                    nu * z
                }),
                Policy::Bound => {
                    if i > 0 {
                        let last = progress.batch.choices.last().map(|choice| choice.x.clone());
                        last.iter().for_each(|x| running.push(x));
                        belief = state.belief(*features, *variance, *lambda, &running)?;
                    }
                    field.best(&belief, &progress.region(), || *nu)
                }
            };
            let mut found = found.map(|(maximum, more)| {
                computed += more;
                maximum
            });
            if let (Policy::Bound, Ok(first), None) = (self.policy, &found, history.space().as_pool()) {
                let start = Points::from_columns(first.x.len(), &first.x);
                let score = |points: &Points| belief.bounds(points, *nu);
                let close = close_in(score, &[first.value], &start, &progress.region(), rng);
                found = close.map(|mut maximum| {
                    maximum.work += first.work;
                    maximum
                });
            }
            progress.push(found, rng)?;
        }
        progress.diagnostics.counters.insert("deviations_computed".into(), computed as f64);
        if belief.jitter > 0.0 {
            progress.diagnostics.counters.insert("jitter_of_deviations".into(), belief.jitter);
        }
        Ok(progress.end())
    }
}
