//! TS: parallel Thompson sampling; each point is the maximum of an independent draw over the candidates.
//! Hernández-Lobato et al. 2017; Kandasamy et al. 2018; a rival in Ren & Li.
//!
//! # Departures
//! Draws are joint at the candidates with the highest bounds and not polished, as in the comparison of Ren & Li; `gp-ts`
//! maximizes each draw over the continuous space. A point that two draws agree on is taken once, and the second draw's
//! next best in its place.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::Taken;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;

/// Settings of TS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TsConfig {
    /// The Gaussian process.
    pub model: GpConfig,
    /// How candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

/// TS.
#[derive(Debug)]
pub struct Ts {
    /// The algorithm that it is, or is the course of.
    name: &'static str,
    config: TsConfig,
    model: GpModel,
}

impl TryFrom<TsConfig> for Ts {
    type Error = Error;

    fn try_from(config: TsConfig) -> Result<Self, Error> {
        Self::named("ts", config)
    }
}

impl Ts {
    /// The same course under the name of another algorithm.
    pub(crate) fn named(name: &'static str, config: TsConfig) -> Result<Self, Error> {
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { name, model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for Ts {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let TsConfig { solver, measure, initial_points, .. } = &self.config;
        let course = Course::new(self.name, solver, *measure, *initial_points);
        let mut taken = Taken::default();
        search::propose_with(
            course,
            &mut self.model,
            history,
            q,
            rng,
            |state, _, _, rng| Draws::new(state, history, rng),
            |_, draws, _, rng| {
                let i = draws.first_free(&draws.ranking(rng), &history.region(&taken))?;
                draws.take(i, history, &mut taken);
                Ok(draws.maximum(i, f64::NAN))
            },
        )
    }
}
