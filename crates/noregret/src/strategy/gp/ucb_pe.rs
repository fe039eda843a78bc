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

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::model::GpState;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::candidates::Candidates;

/// Settings of UCB-PE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct UcbPeConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// Whether exploration stays in the relevant region.
    pub region: bool,
}

impl Default for UcbPeConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::RenLi { candidates: 1_001 }, region: true }
    }
}

/// UCB-PE.
pub type UcbPe = GpStrategy<UcbPeConfig>;

impl OwnOptions for UcbPeConfig {
    const NAME: &'static str = "ucb-pe";

    fn check(&self) -> Result<()> {
        Ok(self.beta.validate().map_err(|e| e.of("beta"))?)
    }
}

impl Strategy for UcbPe {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let beta = self.own.beta.value(&gp.round(&turn)); // one weight for the whole batch
        while turn.wants_more() {
            let utility = match (turn.picked(), self.own.region) {
                (0, _) => Utility::Ucb { beta },
                (_, true) => {
                    let threshold = largest_lower_bound(gp, beta);
                    Utility::RelevantDeviation { beta: 2.0 * beta, threshold }
                }
                (_, false) => Utility::StandardDeviation,
            };
            let found = search.maximize(&gp.scored(utility), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

/// `max mu - beta sigma` over the candidates, whose deviations are those before the batch.
fn largest_lower_bound(gp: &GpState, beta: f64) -> f64 {
    let lower = |set: &Candidates| -> f64 {
        let bounds = set.mean().iter().zip(set.observed_variance());
        bounds
            .map(|(mean, variance)| mean - beta * variance.max(0.0).sqrt())
            .fold(f64::NEG_INFINITY, f64::max)
    };
    lower(gp.kept()).max(lower(gp.fresh()))
}
