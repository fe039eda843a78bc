//! TS: parallel Thompson sampling; each point is the maximum of an independent draw over the candidates.
//! Hernández-Lobato et al. 2017; Kandasamy et al. 2018; a rival in Ren & Li.
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`.
//! - Draws are joint at the candidates: 1,000 Sobol points that stay until the next fit (with another solver than `auto`, drawn anew in
//!   every round), 48 points around the three best data points, and the end of a climb on the mean. They are not polished, as in the
//!   comparison of Ren & Li, whose set is another: about 1,000 uniform points, drawn anew in every round, and the ends of climbs on the
//!   mean. Ours has more points near the best ones: it refines them further. `gp-ts` maximizes each draw over the continuous space.
//! - Of more than 1,024 kept candidates (`solver.candidates`, or a pool up to 20,000 rows) a draw is at the 1,024 with the highest
//!   bounds, and only these can be proposed. Where the posterior is near the prior, the others would hold the maximum as often.
//! - Of a pool above 20,000 rows, 2,000 rows are drawn at random in every round, and a draw is at the 1,024 of them with the highest
//!   bounds. Only these can be proposed: the best row of the pool seldom is, in any one round.
//! - A point that two draws agree on is taken once, and the second draw's next best in its place, unless repeats are welcome
//!   (`duplicates = "replicate"`). Nor is a point proposed that was told or is running (`avoid`), where the papers allow
//!   repeats. On a box this changes little; in a pool with noise much, since a promising row cannot be measured again.

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
