//! Epsilon-greedy over arms: the arm with the best posterior mean, or with a small chance any.
//! Sutton & Barto 2018, section 2.2; a rival in Calandriello et al. 2020.
//!
//! # Departures
//! The mean is that of the Nyström model. Within a batch that avoids repeats, the next best mean follows.

use std::num::NonZeroUsize;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::arms::bbkb::design;
use crate::strategy::arms::model::bounds::{Bounds, Pick, Score};
use crate::strategy::arms::model::{SparseConfig, SparseModel};
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::{Duplicates, History};
use crate::strategy::turn::batch::Batch;
use crate::strategy::{Proposal, Strategy};

/// Settings of epsilon-greedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EpsGreedyConfig {
    /// The chance of a random arm.
    pub epsilon: f64,
    /// The model.
    pub sparse: SparseConfig,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for EpsGreedyConfig {
    fn default() -> Self {
        Self { epsilon: 0.1, sparse: SparseConfig::default(), initial_points: None }
    }
}

/// Epsilon-greedy.
#[derive(Debug)]
pub struct EpsGreedy {
    config: EpsGreedyConfig,
    model: SparseModel,
}

impl TryFrom<EpsGreedyConfig> for EpsGreedy {
    type Error = Error;

    fn try_from(config: EpsGreedyConfig) -> Result<Self, Error> {
        config.sparse.validate()?;
        let value = config.epsilon;
        if !(0.0..=1.0).contains(&value) {
            let range = "between 0 and 1";
            return Err(AlgorithmError::OutOfRange { option: "epsilon", range, value }.into());
        }
        Ok(Self { model: SparseModel::new(config.sparse.clone(), true), config })
    }
}

impl Strategy for EpsGreedy {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let q = q.or(NonZeroUsize::new(1));
        let most = q.map_or(1, NonZeroUsize::get);
        let mut memo = history.memo().clone();
        let mut batch = Batch::new(history);
        let mut diagnostics = Diagnostics { algorithm: "eps-greedy".into(), ..Diagnostics::default() };
        let done = design(&mut batch, history, q, self.config.initial_points, &mut memo, rng)?;
        diagnostics.design_points = batch.choices.len();
        if !done {
            let state = self.model.prepare(history, &mut memo, rng)?;
            let free = state.free(&history.region(&batch.taken));
            // Means do not change within a batch: the heap is a sorted list.
            let mut bounds = Bounds::new(state.model(), Score::Ucb { radius: 0.0 }, &free);
            while batch.choices.len() < most {
                let choice = if rng.random_bool(self.config.epsilon) {
                    batch.random(rng)?
                } else {
                    // What was picked at random before is passed over.
                    let is_new = |pick: &Pick| !batch.is_taken(&state.choice(pick.arm, history));
                    match std::iter::from_fn(|| bounds.next()).find(is_new) {
                        Some(pick) => {
                            if history.duplicates() == Duplicates::Replicate {
                                bounds.put_back(pick);
                            }
                            state.choice(pick.arm, history)
                        }
                        None if history.space().as_pool().is_some() => {
                            return Err(MaximizeError::NothingLeft { tried: free.len() }.into());
                        }
                        None => batch.random(rng)?,
                    }
                };
                batch.push(choice, rng)?;
            }
        }
        diagnostics.duplicates_avoided = batch.duplicates_avoided;
        Ok(Proposal { choices: batch.choices, memo, diagnostics })
    }
}
