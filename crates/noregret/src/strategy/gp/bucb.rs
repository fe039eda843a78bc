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

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::error::Result;
use crate::strategy::gp::OnGp;
use crate::strategy::gp::gp_ucb::{GpUcb, GpUcbConfig};

/// Settings of BUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BucbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
}

impl Default for BucbConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::RenLi { candidates: 1_001 } }
    }
}

/// The loop of GP-UCB, whose deviation is conditioned on the batch so far, with another weight.
pub fn build(OnGp { own: BucbConfig { beta }, gp }: OnGp<BucbConfig>) -> Result<GpUcb> {
    GpUcb::named("bucb", OnGp { own: GpUcbConfig { beta }, gp })
}
