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
    /// The model, once its options are checked.
    pub(crate) fn build(&self) -> Result<GpModel> {
        self.model.validate()?;
        self.solver.validate()?;
        Ok(GpModel::new(self.model.clone(), self.solver.kept_candidates()))
    }

    /// The search for the points of a turn.
    pub(crate) fn search<'a>(&'a self, gp: &GpState, turn: &Turn<'a>) -> Search<'a> {
        Search::new(&self.solver, self.measure, gp, turn)
    }
}

/// The options of one of these algorithms.
pub trait GpAlgorithm {
    /// Its name.
    const NAME: &'static str;

    /// Those that all of them have.
    fn gp(&self) -> &GpOptions;

    /// Checks the others.
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// One of these algorithms: its options, and its model. What it does is its `impl Strategy`.
#[derive(Debug)]
pub struct GpStrategy<A> {
    name: &'static str,
    config: A,
    model: GpModel,
}

impl<A: GpAlgorithm> GpStrategy<A> {
    /// The algorithm, once its options are checked.
    pub fn new(config: A) -> Result<Self> {
        Self::named(A::NAME, config)
    }

    /// The same under the name of another algorithm that differs in its options only.
    fn named(name: &'static str, config: A) -> Result<Self> {
        config.check()?;
        Ok(Self { name, model: config.gp().build()?, config })
    }

    /// Opens a turn with its share of the initial design.
    fn open<'a>(
        &self,
        history: &'a History,
        q: Option<NonZeroUsize>,
        rng: &'a mut Stream,
    ) -> Result<Turn<'a>> {
        Turn::open(self.name, history, q, self.config.gp().initial_points, rng)
    }
}
