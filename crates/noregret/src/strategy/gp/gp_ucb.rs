//! GP-UCB: the point with the highest upper confidence bound.
//! Kim et al. 2025, Algorithm 1 (Srinivas et al. 2010; Chowdhury & Gopalan 2017); its random-grid form is section 4.
//!
//! # Notation
//! | paper                 | here          | meaning                                                     |
//! |-----------------------|---------------|-------------------------------------------------------------|
//! | `beta_t`              | `beta`        | weight of the deviation, by one of the named schedules      |
//! | `gamma_{t-1}`         | information gain | realised by the points so far                            |
//! | `X_t`                 | `solver`      | where the maximum is looked for                             |
//!
//! # Departures
//! The realised information gain stands in for the maximal one, which cannot be computed. Points of a batch lower the
//! variance for those after them and leave the mean alone (as GP-BUCB does; the paper proposes one point a round).

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::utility::Utility;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;

/// Settings of GP-UCB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GpUcbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// The Gaussian process.
    pub model: GpConfig,
    /// How the bound is maximized.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

/// GP-UCB.
#[derive(Debug)]
pub struct GpUcb {
    config: GpUcbConfig,
    model: GpModel,
}

impl TryFrom<GpUcbConfig> for GpUcb {
    type Error = Error;

    fn try_from(config: GpUcbConfig) -> Result<Self, Error> {
        config.beta.validate()?;
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for GpUcb {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let GpUcbConfig { beta, solver, measure, initial_points, .. } = &self.config;
        let course = Course::new("gp-ucb", solver, *measure, *initial_points);
        by_bounds(course, *beta, &mut self.model, history, q, rng)
    }
}

/// Points with the highest bounds, one after the other.
pub(crate) fn by_bounds(
    course: Course<'_>,
    beta: BetaSchedule,
    model: &mut GpModel,
    history: &History,
    q: Option<NonZeroUsize>,
    rng: &mut Stream,
) -> Result<Proposal, Error> {
    search::propose(course, model, history, q, rng, |now, solve, rng| {
        let beta = beta.value(&now.round(history.space()));
        solve(&now.state.scored(Utility::Ucb { beta }), rng)
    })
}
