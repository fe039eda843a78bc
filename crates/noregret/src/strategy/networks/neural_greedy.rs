//! NeuralGreedy: perturb the values, fit a network, take its maximum. Paria et al. 2022, as a rival in Phan-Trong et al. 2023.
//!
//! # Departures
//! The network is fitted from fresh parameters for every point, to convergence by default.

use std::num::NonZeroUsize;

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::math::rng::Stream;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::networks::model::learning::{Assignment, Learning, Start};
use crate::strategy::networks::model::opening::Opening;
use crate::strategy::networks::model::search::{Effort, maximize};
use crate::strategy::networks::model::told::Told;
use crate::strategy::networks::model::{check_candidates, streams};
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::draw::{Draw, TrainingData};
use crate::surrogate::neural::epochs::Learner;
use crate::surrogate::neural::{Encoder, NetworkConfig, NetworkError};

/// Settings of NeuralGreedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NeuralGreedyConfig {
    /// The network.
    pub network: NetworkConfig,
    /// Deviation of the perturbation, in units of the standardised values.
    pub noise: f64,
    /// How the network learns.
    pub training: Learning,
    /// Shift and scale the values to mean 0 and deviation 1.
    pub standardize: bool,
    /// Points at which the network is evaluated.
    pub candidates: usize,
    /// How many of the best of them are climbed from.
    pub polished: usize,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for NeuralGreedyConfig {
    fn default() -> Self {
        Self {
            network: NetworkConfig::default(),
            noise: 0.1,
            training: Learning::default(),
            standardize: true,
            candidates: 10_000,
            polished: 5,
            initial_points: None,
        }
    }
}

/// NeuralGreedy.
#[derive(Debug)]
pub struct NeuralGreedy {
    config: NeuralGreedyConfig,
}

impl TryFrom<NeuralGreedyConfig> for NeuralGreedy {
    type Error = Error;

    fn try_from(config: NeuralGreedyConfig) -> Result<Self> {
        config.network.validate()?;
        let NeuralGreedyConfig { noise, candidates, .. } = config;
        AlgorithmError::check("noise", noise, (1e-3..=1e3).contains(&noise), "from 1e-3 to 1e3")?;
        check_candidates(candidates)?;
        if !config.training.is_valid() {
            return Err(NetworkError::Training.into());
        }
        Ok(Self { config })
    }
}

impl Strategy for NeuralGreedy {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let NeuralGreedyConfig { network, noise, standardize, initial_points, .. } = &self.config;
        let mut turn = Opening::sobol(network, *initial_points).open("neural-greedy", history, q, rng)?;
        if !turn.wants_more() {
            return turn.finish();
        }
        let encoder = network.encoder(history.space())?;
        let told =
            Told::new(history, history.len(), &encoder, *standardize, *noise, 0, &mut turn.diagnostics);
        let fit = |mut own: Stream| self.fit_perturbed(&told.data, &encoder, &mut own);
        let members: Vec<Result<(Draw, Diagnostics)>> =
            streams(turn.missing(), turn.rng).into_par_iter().map(fit).collect();
        let effort = Effort { candidates: self.config.candidates, polished: self.config.polished };
        let centers = told.centers();
        for member in members {
            let (draw, said) = member?;
            add_up(&said, &mut turn.diagnostics);
            let found = maximize(&draw, effort, &centers, &mut turn);
            turn.push(found)?;
        }
        turn.finish()
    }
}

impl NeuralGreedy {
    /// A network fitted to perturbed values, and what is to be said of it.
    fn fit_perturbed(
        &self,
        data: &TrainingData,
        encoder: &Encoder,
        own: &mut Stream,
    ) -> Result<(Draw, Diagnostics)> {
        let NeuralGreedyConfig { network, noise, training, .. } = &self.config;
        let (network, start) = Start::Scaled.network(network, encoder.inputs(), own);
        let mut data = data.clone();
        for (y, w) in data.y.iter_mut().zip(&data.weights) {
            let z: f32 = StandardNormal.sample(own);
            *y += data.noise / w.sqrt() * z;
        }
        let mut learner = Learner::new(start.clone());
        let mut said = Diagnostics::default();
        let task = Assignment { network: &network, data: &data, ridge: noise * noise, start: &start };
        training.teach(task, &mut learner, own, &mut said)?;
        Ok((Draw::of_network(network, encoder.clone(), learner.theta), said))
    }
}

/// Steps add up; of the rest the largest is worth knowing. What is said twice is said once.
fn add_up(said: &Diagnostics, all: &mut Diagnostics) {
    for (name, &value) in &said.counters {
        let known = all.counters.entry(name.clone()).or_insert(0.0);
        *known = if name == "training_steps" { *known + value } else { known.max(value) };
    }
    for note in &said.notes {
        if !all.notes.contains(note) {
            all.notes.push(note.clone());
        }
    }
}
