//! UCB-PE: one point by its upper confidence bound, the rest of the batch by pure exploration of the relevant region.
//! Contal et al. 2013, "Parallel Gaussian process optimization with upper confidence bound and pure exploration", Alg. 1.
//!
//! # Notation
//! | paper     | here        | meaning                                                                     |
//! |-----------|-------------|-----------------------------------------------------------------------------|
//! | `y_t`     | `threshold` | the largest lower bound, `max mu - beta sigma`                              |
//! | `R_t^+`   |             | where `mu + 2 beta sigma >= y_t`                                            |
//!
//! # Departures
//! The region is that of the deviation given the batch so far, so that it shrinks a little within a batch. The code behind
//! Ren & Li explores the whole space; `region = false` does so.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::{BetaSchedule, Round};
use crate::acquisition::utility::Utility;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::gp::model::{GpModel, State};
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::candidates::Candidates;

/// Settings of UCB-PE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct UcbPeConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// Whether exploration stays in the relevant region.
    pub region: bool,
    /// The Gaussian process.
    pub model: GpConfig,
    /// How candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for UcbPeConfig {
    fn default() -> Self {
        Self {
            beta: BetaSchedule::RenLi { candidates: 1_001 },
            region: true,
            model: GpConfig::default(),
            solver: Solver::default(),
            measure: Measure::default(),
            initial_points: None,
        }
    }
}

/// UCB-PE.
#[derive(Debug)]
pub struct UcbPe {
    config: UcbPeConfig,
    model: GpModel,
}

impl TryFrom<UcbPeConfig> for UcbPe {
    type Error = Error;

    fn try_from(config: UcbPeConfig) -> Result<Self, Error> {
        config.beta.validate()?;
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for UcbPe {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let UcbPeConfig { beta, region, solver, measure, initial_points, .. } = &self.config;
        let course = Course::new("ucb-pe", solver, *measure, *initial_points);
        let space = history.space();
        search::propose(course, &mut self.model, history, q, rng, |now, solve, rng| {
            let beta = beta.value(&Round {
                t: now.t - now.i, // one weight for the whole batch
                dims: space.dims(),
                candidates: space.cardinality().and_then(|c| usize::try_from(c).ok()),
                information_gain: now.state.gp().information_gain(),
            });
            let utility = match (now.i, region) {
                (0, _) => Utility::Ucb { beta },
                (_, true) => {
                    let threshold = largest_lower_bound(now.state, beta);
                    Utility::RelevantDeviation { beta: 2.0 * beta, threshold }
                }
                (_, false) => Utility::StandardDeviation,
            };
            solve(&now.state.scored(utility), rng)
        })
    }
}

/// `max mu - beta sigma` over the candidates, whose deviations are those before the batch.
fn largest_lower_bound(state: &State, beta: f64) -> f64 {
    let lower = |set: &Candidates| -> f64 {
        let bounds = set.mean().iter().zip(set.observed_variance());
        bounds
            .map(|(mean, variance)| mean - beta * variance.max(0.0).sqrt())
            .fold(f64::NEG_INFINITY, f64::max)
    };
    lower(state.kept()).max(lower(state.fresh()))
}
