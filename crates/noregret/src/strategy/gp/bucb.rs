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
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::gp::gp_ucb::by_bounds;
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::Course;
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;

/// Settings of BUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BucbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// The Gaussian process.
    pub model: GpConfig,
    /// How candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for BucbConfig {
    fn default() -> Self {
        Self {
            beta: BetaSchedule::RenLi { candidates: 1_001 },
            model: GpConfig::default(),
            solver: Solver::default(),
            measure: Measure::default(),
            initial_points: None,
        }
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

    fn try_from(config: BucbConfig) -> Result<Self, Error> {
        config.beta.validate()?;
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for Bucb {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let BucbConfig { beta, solver, measure, initial_points, .. } = &self.config;
        let course = Course::new("bucb", solver, *measure, *initial_points);
        by_bounds(course, *beta, &mut self.model, history, q, rng)
    }
}
