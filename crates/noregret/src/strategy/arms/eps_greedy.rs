//! Epsilon-greedy over arms: the arm with the best posterior mean, or with probability epsilon a random one.
//! Sutton & Barto 2018, section 2.2; a rival in Calandriello et al. 2020.
//!
//! # Departures
//! - The mean is that of the Nyström model. Within a batch that avoids repeats, the next best mean follows.
//! - `initial_points` come first. The random point is one of the space, not of the arms.
//! - Kernel and `lambda` are fitted by default: see `model/mod.rs`, also for spaces without a pool and repeats.

use std::num::NonZeroUsize;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::model::SparseModel;
use crate::strategy::arms::model::bounds::{Bounds, Pick, Score};
use crate::strategy::history::{Duplicates, History};
use crate::strategy::limits::{Demand, Table};
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

const EPSILON: Range = Range::new(0.0, 1.0);

/// Settings of epsilon-greedy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct EpsGreedyConfig {
    /// The probability of a random arm. From 0 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = EPSILON.stated()))]
    pub epsilon: f64,
    /// Model and first points.
    #[serde(flatten)]
    pub arms: ArmOptions,
}

impl Demand for EpsGreedyConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.arms.tables(Some(self.arms.sparse.max_atoms), dims)
    }
}

impl Default for EpsGreedyConfig {
    fn default() -> Self {
        Self { epsilon: 0.1, arms: ArmOptions::default() }
    }
}

/// Epsilon-greedy.
#[derive(Debug)]
pub struct EpsGreedy {
    config: EpsGreedyConfig,
    model: SparseModel,
}

impl EpsGreedy {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: EpsGreedyConfig) -> Result<Self> {
        config.arms.validate()?;
        EPSILON.check("epsilon", config.epsilon)?;
        Ok(Self { model: SparseModel::new(config.arms.sparse.clone(), true), config })
    }
}

impl Strategy for EpsGreedy {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open("eps-greedy", history, q, self.config.arms.initial_points, rng)?;
        let Some(state) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let free = state.free(&turn.region());
        // Means do not change within a batch: the heap is a sorted list.
        let mut bounds = Bounds::new(state.model(), Score::Ucb { radius: 0.0 }, &free);
        while turn.wants_more() {
            if turn.rng.random_bool(self.config.epsilon) {
                turn.push_random()?;
                continue;
            }
            // Skip arms that were picked at random before.
            let is_new = |pick: &Pick| !turn.is_taken(&state.choice(pick.arm, history));
            let Some(pick) = std::iter::from_fn(|| bounds.next()).find(is_new) else {
                turn.push(Err(MaximizeError::NothingLeft { tried: free.len() }))?;
                continue;
            };
            if history.duplicates() == Duplicates::Replicate {
                bounds.put_back(pick);
            }
            turn.push_choice(state.choice(pick.arm, history))?;
        }
        turn.finish()
    }
}
