//! Algorithms on an exact Gaussian process, one file each; `model` fits it to a history, `search` maximizes utilities on it.

pub mod bucb;
pub mod dpp_ts;
pub mod gp_ei;
pub mod gp_ts;
pub mod gp_ucb;
pub mod model;
pub mod ntk_ts;
pub mod qei;
pub mod rff_ts;
pub mod search;
pub mod sp;
pub mod ts;
pub mod ts_rsr;
pub mod ucb_pe;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::surrogate::gp::GpConfig;
use model::{GpModel, GpState};
use search::Search;

/// What all these algorithms can be told.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GpOptions {
    /// The Gaussian process.
    pub model: GpConfig,
    /// How utilities are maximized: how candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl GpOptions {
    /// The model, once the options are checked.
    pub(crate) fn build(&self) -> Result<GpModel> {
        self.model.validate()?;
        self.solver.validate()?;
        Ok(GpModel::new(self.model.clone(), self.solver.kept_candidates()))
    }

    /// The same for an algorithm that draws functions by random features.
    pub(crate) fn build_for_paths(&self) -> Result<GpModel> {
        self.model.validate_for_paths()?;
        self.build()
    }

    /// Opens a turn with its share of the initial design.
    pub(crate) fn open<'a>(
        &self,
        name: &'static str,
        history: &'a History,
        q: Option<NonZeroUsize>,
        rng: &'a mut Stream,
    ) -> Result<Turn<'a>> {
        Turn::open(name, history, q, self.initial_points, rng)
    }

    /// The search for the points of a turn.
    pub(crate) fn search<'a>(&'a self, gp: &GpState, turn: &Turn<'a>) -> Search<'a> {
        Search::new(&self.solver, self.measure, gp, turn)
    }
}
