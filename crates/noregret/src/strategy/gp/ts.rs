//! TS: parallel Thompson sampling; each point is the maximum of an independent draw over the candidates.
//! Hernández-Lobato et al. 2017; Kandasamy et al. 2018; a rival in Ren & Li.
//!
//! # Departures
//! Draws are joint at the candidates with the highest bounds and not polished, as in the comparison of Ren & Li; `gp-ts`
//! maximizes each draw over the continuous space. A point that two draws agree on is taken once, and the second draw's
//! next best in its place.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::math::rng::Stream;
use crate::strategy::gp::GpOptions;
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};

/// Settings of TS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TsConfig {
    /// Model, search and first points.
    #[serde(flatten)]
    pub gp: GpOptions,
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

    fn try_from(config: TsConfig) -> Result<Self> {
        Self::named("ts", config)
    }
}

impl Ts {
    /// The same course under the name of another algorithm.
    pub(crate) fn named(name: &'static str, config: TsConfig) -> Result<Self> {
        Ok(Self { name, model: config.gp.build()?, config })
    }
}

impl Strategy for Ts {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = self.config.gp.open(self.name, history, q, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let draws = Draws::new(gp, &mut turn)?;
        while turn.wants_more() {
            let order = draws.ranking(turn.rng);
            let found = draws.first_free(&order, &turn.region());
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}
