//! Algorithms on an exact Gaussian process, one file each; `model` fits it to a history, `search` maximizes utilities on it.

pub mod bucb;
pub mod dpp_ts;
pub mod gp_ei;
pub mod gp_ts;
pub mod gp_ucb;
pub mod model;
pub mod ntk_ts;
#[cfg(test)]
mod pure_exploration;
pub mod qei;
pub mod rff_ts;
pub mod search;
pub mod sp;
pub mod ts;
pub mod ts_rsr;
pub mod ucb_pe;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::limits::{Demand, INITIAL_POINTS, PARAMETERS, Table};
use crate::strategy::turn::Turn;
use crate::surrogate::gp::GpConfig;
use model::{GpModel, GpState};
use search::Search;

/// Options that all these algorithms share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GpOptions {
    /// The Gaussian process.
    pub model: GpConfig,
    /// How utilities are maximized: how candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one; not `never` with the solver `adaptive-grid`.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl GpOptions {
    /// The posterior at the candidates that are kept, and the points themselves.
    fn tables(&self, dims: usize) -> Vec<Table> {
        let (option, most) = self.solver.most_points();
        let kept = [
            ("solver.candidates", self.solver.kept_candidates()),
            ("model.max_points", self.model.max_points),
        ];
        vec![Table::of(kept), Table::of([(option, most), (PARAMETERS, dims)])]
    }

    /// Returns what is wrong with options that are valid by themselves.
    fn conflict(&self) -> Option<String> {
        let is_blind = matches!(self.solver, Solver::AdaptiveGrid { .. }) && self.measure == Measure::Never;
        is_blind.then(|| {
            "solver `adaptive-grid` adapts to what is measured; choose measure `always` or `scheduled`, or solver `random-grid`"
                .into()
        })
    }

    /// The search for the points of a turn.
    pub(crate) fn search<'a>(&'a self, gp: &GpState, turn: &Turn<'a>) -> Search<'a> {
        Search::new(&self.solver, self.measure, gp, turn)
    }
}

/// The options of an algorithm: its own, and the shared ones.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
// In place: a reference would refuse the name that stands beside the options in a table.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
#[serde(deny_unknown_fields)]
pub struct OnGp<O> {
    /// Its own.
    #[serde(flatten)]
    pub own: O,
    /// The shared ones.
    #[serde(flatten)]
    pub gp: GpOptions,
}

impl<O> Demand for OnGp<O> {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.gp.tables(dims)
    }
}

impl<O> From<O> for OnGp<O> {
    /// Own options, with the defaults of the shared ones.
    fn from(own: O) -> Self {
        Self { own, gp: GpOptions::default() }
    }
}

/// The interface of an algorithm's own options.
pub trait OwnOptions {
    /// The algorithm's name.
    const NAME: &'static str;

    /// Whether it draws functions by random features, which not all kernels have.
    const DRAWS_PATHS: bool = false;

    /// Checks what serde cannot.
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Returns what would have to be different for these options to work with the solver.
    fn refuses(&self, _solver: &Solver) -> Option<String> {
        None
    }
}

/// An algorithm on a Gaussian process: its options and its model. Its `impl Strategy` is the algorithm itself.
#[derive(Debug)]
pub struct GpStrategy<O> {
    own: O,
    gp: GpOptions,
    model: GpModel,
    name: &'static str,
}

impl<O: OwnOptions> GpStrategy<O> {
    /// Builds the algorithm; returns an error if an option is invalid.
    pub fn new(config: OnGp<O>) -> Result<Self> {
        Self::named(O::NAME, config)
    }

    /// The same under the name of another algorithm that differs in options only.
    fn named(name: &'static str, OnGp { own, gp }: OnGp<O>) -> Result<Self> {
        own.check()?;
        INITIAL_POINTS.check("initial_points", gp.initial_points)?;
        gp.model.validate()?;
        gp.solver.validate()?;
        if let Some(problem) = own.refuses(&gp.solver).or_else(|| gp.conflict()) {
            return Err(AlgorithmError::Options { name: name.into(), problem }.into());
        }
        if O::DRAWS_PATHS {
            gp.model.validate_for_paths()?;
        }
        let model = GpModel::new(gp.model.clone(), gp.solver.kept_candidates());
        Ok(Self { own, gp, model, name })
    }
}
