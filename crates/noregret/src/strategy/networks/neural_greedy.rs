//! NeuralGreedy: perturb the values, fit a network, take its maximum. Paria et al. 2022, as a rival in Phan-Trong et al. 2023.
//!
//! # Departures
//! The network is fitted from fresh parameters for every point, to convergence by default.

use std::num::NonZeroUsize;

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::networks::model::learned::{Learning, Lesson, Start};
use crate::strategy::networks::model::{Course, Initial, Told, maximize, streams};
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::draw::Draw;
use crate::surrogate::neural::epochs::Learner;
use crate::surrogate::neural::{NetworkConfig, NetworkError};

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

    fn try_from(config: NeuralGreedyConfig) -> Result<Self, Error> {
        config.network.validate()?;
        let NeuralGreedyConfig { noise, candidates, .. } = config;
        Course::check("noise", noise, "from 1e-3 to 1e3", (1e-3..=1e3).contains(&noise))?;
        Course::check_candidates(candidates)?;
        if !config.training.is_valid() {
            return Err(NetworkError::Training.into());
        }
        Ok(Self { config })
    }
}

impl Strategy for NeuralGreedy {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let NeuralGreedyConfig { network, noise, training, standardize, .. } = &self.config;
        let NeuralGreedyConfig { candidates, polished, initial_points, .. } = self.config;
        let initial = Initial::Sobol;
        let course = Course { name: "neural-greedy", network, noise: *noise, initial, initial_points };
        let mut progress = course.begin(history, q, rng)?;
        if progress.left == 0 {
            return Ok(progress.end());
        }
        let encoder = network.encoder(history.space())?;
        let diagnostics = &mut progress.diagnostics;
        let told = Told::new(history, history.len(), &encoder, *standardize, *noise, 0, diagnostics);
        let members: Vec<Result<(Draw, Diagnostics), Error>> = streams(progress.left, rng)
            .into_par_iter()
            .map(|mut own| {
                let (network, start) = Start::Scaled.network(network, encoder.inputs(), &mut own);
                let mut data = told.data.clone();
                for (y, w) in data.y.iter_mut().zip(&data.weights) {
                    let z: f32 = StandardNormal.sample(&mut own);
                    *y += data.noise / w.sqrt() * z;
                }
                let mut learner = Learner::new(start.clone());
                let mut said = Diagnostics::default();
                let lesson = Lesson { network: &network, data: &data, ridge: noise * noise, start: &start };
                training.teach(lesson, &mut learner, &mut own, &mut said)?;
                Ok((Draw::of_network(network, encoder.clone(), learner.theta), said))
            })
            .collect();
        let centers = told.centers();
        for member in members {
            let (draw, said) = member?;
            for (name, value) in said.counters {
                // Steps add up; of the rest the largest is worth knowing.
                let known = progress.diagnostics.counters.entry(name.clone()).or_insert(0.0);
                *known = if name == "training_steps" { *known + value } else { known.max(value) };
            }
            for note in said.notes {
                if !progress.diagnostics.notes.contains(&note) {
                    progress.diagnostics.notes.push(note);
                }
            }
            let smooth = draw.is_differentiable();
            let found = maximize(&draw, &progress.region(), candidates, polished, smooth, &centers, rng);
            progress.push(found, rng)?;
        }
        Ok(progress.end())
    }
}
