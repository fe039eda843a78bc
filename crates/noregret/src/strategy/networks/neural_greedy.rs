//! NeuralGreedy: perturb the values, fit a network, take its maximum. Paria et al. 2022, as a rival in Phan-Trong et al. 2023.
//!
//! # Departures
//! - The perturbation has the deviation `noise` of an observation, in units of the values as fitted (standardised unless `standardize = false`), and
//!   the penalty of a Gauss-Newton fit is that of STO-BNTS, `noise^2` times the squared distance to the start; Phan-Trong et al. refer to an appendix of
//!   Paria et al. for both. With `training = { name = "epochs" }` that penalty is not there, and `decay` counts.
//! - At most 1,000 evaluations are fitted, half of them the best and the others a random sample of the rest, also by epochs, whose cost is linear.
//!   Phan-Trong et al. fit all of their 2,000 to 6,000: beyond 1,000 the fit is coarser here away from the best points.
//! - Failed evaluations take the worst value, so that their surroundings are avoided. A known variance of noise replaces `noise^2`, in the
//!   perturbation and in the weight of the square (by epochs at most 1).
//! - A training that ends with numbers that are not finite is replaced by the first parameters, with a note: the point is then the maximum of a
//!   network that has learnt nothing.
//! - The network is fitted from fresh parameters for every point, to convergence by default.
//! - Where the maximum is looked for is ours: candidates all over the space and around the best evaluations, then climbs; with
//!   `polished = 0` the uniform candidates only, as for NeuralBO. A point that was told, is running or is in the batch is not proposed again
//!   (`duplicates = "avoid"`, the default of a study): the next best takes its place.

use std::num::NonZeroUsize;

use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::limits::{Demand, Table};
use crate::strategy::networks::FitOptions;
use crate::strategy::networks::model::candidate_tables;
use crate::strategy::networks::model::encoded_history::FIT_A_POINT;
use crate::strategy::networks::model::learning::{Assignment, Learning, Start};
use crate::strategy::networks::model::opening::Opening;
use crate::strategy::networks::model::search::maximize;
use crate::strategy::networks::model::streams;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::Encoder;
use crate::surrogate::neural::draw::{Draw, TrainingData};
use crate::surrogate::neural::epochs::Learner;

/// Settings of NeuralGreedy.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NeuralGreedyConfig {
    /// Where its parameters begin.
    pub start: Start,
    /// How the network learns.
    pub training: Learning,
    /// The network, its data and its search; `noise` is the deviation of the perturbation.
    #[serde(flatten)]
    pub fit: FitOptions,
}

impl Demand for NeuralGreedyConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.fit.candidates, dims)
    }
}

/// NeuralGreedy.
#[derive(Debug)]
pub struct NeuralGreedy {
    config: NeuralGreedyConfig,
}

impl NeuralGreedy {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: NeuralGreedyConfig) -> Result<Self> {
        config.fit.check()?;
        config.training.validate()?;
        config.start.check("neural-greedy", &config.fit.network)?;
        Ok(Self { config })
    }
}

impl Strategy for NeuralGreedy {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let FitOptions { network, initial_points, .. } = &self.config.fit;
        let mut turn = Opening::sobol(network, *initial_points).open("neural-greedy", history, q, rng)?;
        let Some((encoder, told)) = self.config.fit.prepare(FIT_A_POINT, &mut turn)? else {
            return turn.finish();
        };
        let fit = |mut own: Stream| self.fit_perturbed(&told.data, &encoder, &mut own);
        let members: Vec<Result<(Draw, Diagnostics)>> =
            streams(turn.missing(), turn.rng).into_par_iter().map(fit).collect();
        let budget = self.config.fit.budget();
        let centers = if budget.polished == 0 { Vec::new() } else { told.centers() };
        for member in members {
            let (draw, said) = member?;
            add_up(&said, &mut turn.diagnostics);
            let found = maximize(&draw, budget, &centers, &mut turn);
            turn.push(found)?;
        }
        turn.finish()
    }
}

impl NeuralGreedy {
    /// Fits a network to perturbed values; returns it with diagnostics.
    fn fit_perturbed(
        &self,
        data: &TrainingData,
        encoder: &Encoder,
        own: &mut Stream,
    ) -> Result<(Draw, Diagnostics)> {
        let NeuralGreedyConfig { start, training, fit: FitOptions { network, noise, .. } } = &self.config;
        let (network, start) = start.network(network, encoder.inputs(), own);
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

/// Merges diagnostics: adds up steps, keeps the largest of other counters, and drops repeated notes.
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::Space;
    use crate::surrogate::neural::NetworkConfig;
    use crate::surrogate::points::Points;

    /// The printed network has no biases: in the middle of the box it is 0, whatever it learns.
    #[test]
    fn the_start_is_a_choice() {
        let space = Space::bounds(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let network = NetworkConfig { depth: 1, width: 20, ..NetworkConfig::default() };
        let middle = |start: Start| {
            let fit = FitOptions { network: network.clone(), ..FitOptions::default() };
            let greedy =
                NeuralGreedy::new(NeuralGreedyConfig { start, fit, ..NeuralGreedyConfig::default() });
            let encoder = network.encoder(&space).unwrap();
            let x = encoder.encode(&Points::from_columns(2, &[0.1, 0.9, 0.7, 0.2]), 0..2);
            let data = TrainingData { x, y: vec![3.0, 4.0], weights: vec![1.0; 2], noise: 0.1 };
            let mut own = Stream::seed_from_u64(1);
            let (draw, _) = greedy.unwrap().fit_perturbed(&data, &encoder, &mut own).unwrap();
            draw.values(&Points::from_columns(2, &[0.5, 0.5]))[0]
        };
        assert!(middle(Start::Printed).abs() < 1e-12);
        assert!(middle(Start::Scaled).abs() > 0.5);
    }
}
