//! BUCB: upper confidence bounds whose deviation knows of the batch so far.
//! Desautels, Krause & Burdick 2014, "Parallelizing exploration-exploitation tradeoffs", eq. (8); a rival in Ren & Li.
//!
//! # Notation
//! | paper       | here   | meaning                                                        |
//! |-------------|--------|----------------------------------------------------------------|
//! | `beta_t`    | `beta` | weight of the deviation (its square root, in the paper)        |
//! | `fb[t]`     |        | the last round with feedback: the mean is that of then         |
//!
//! # Departures
//! The weight is not enlarged by `exp(C)` for the hallucinated observations, as nobody does in practice. By default it is
//! that of the code behind Ren & Li, counted from round 1 (there the first weight is minus infinity): `0.2 ln(|X| t^2
//! pi^2 / 0.06)` for 1,001 candidates.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::utility::Utility;
use crate::error::{Error, Result};
use crate::math::rng::Stream;
use crate::strategy::gp::GpOptions;
use crate::strategy::gp::model::GpModel;
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};

/// Settings of BUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BucbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// Model, search and first points.
    #[serde(flatten)]
    pub gp: GpOptions,
}

impl Default for BucbConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::RenLi { candidates: 1_001 }, gp: GpOptions::default() }
    }
}

/// BUCB.
#[derive(Debug)]
pub struct Bucb {
    config: BucbConfig,
    model: GpModel,
}

impl TryFrom<BucbConfig> for Bucb {
    type Error = Error;

    fn try_from(config: BucbConfig) -> Result<Self> {
        config.beta.validate()?;
        Ok(Self { model: config.gp.build()?, config })
    }
}

impl Strategy for Bucb {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = self.config.gp.open("bucb", history, q, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.config.gp.search(gp, &turn);
        while turn.wants_more() {
            let beta = self.config.beta.value(&gp.round(&turn));
            let found = search.maximize(&gp.scored(Utility::Ucb { beta }), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}
