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
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Settings of TS: none of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TsConfig {}

/// TS.
pub type Ts = GpStrategy<TsConfig>;

impl OwnOptions for TsConfig {
    const NAME: &'static str = "ts";
}

impl Strategy for Ts {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
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
