//! TS: parallel Thompson sampling; each point is the maximum of an independent draw over the candidates.
//! Hernández-Lobato et al. 2017; Kandasamy et al. 2018; a rival in Ren & Li.
//!
//! # Departures
//! Draws are joint at the candidates with the highest bounds and not polished, as in the comparison of Ren & Li; `gp-ts`
//! maximizes each draw over the continuous space. A point that two draws agree on is taken once, and the second draw's
//! next best in its place.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::{GpAlgorithm, GpOptions, GpStrategy};
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
pub type Ts = GpStrategy<TsConfig>;

impl GpAlgorithm for TsConfig {
    const NAME: &'static str = "ts";

    fn gp(&self) -> &GpOptions {
        &self.gp
    }
}

impl Strategy for Ts {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = self.open(history, q, rng)?;
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
