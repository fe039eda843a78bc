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
//! - By default `beta_t` is `sqrt(ln(t + 2))`, that of the paper's experiments. That of Algorithm 1 is the schedule `chowdhury`, with
//!   `events = 2` for Theorem 7; the realised information gain stands in for the maximal one, which cannot be computed (see
//!   [`BetaSchedule`]).
//! - By default the bound is maximized from candidates by climbs; the random grids of section 4 are
//!   `solver = { name = "random-grid" }`.
//! - The paper proposes one point a round. Points that run, and those of a batch, lower the variance for those after them and leave the
//!   mean alone (as GP-BUCB does); points of a round share its weight. What a round is, where points are asked for one by one, says
//!   `Rounds` of the memo. Random grids still grow by points (`maximize/grid.rs`).
//! - Beyond 256 points, climbs of every solver (`auto`, `lbfgsb`, `nelder-mead`, `cg`) follow a local model, with the exact mean and
//!   the variance given 128 points; their ends are compared by the bound itself (`maximize/multi_start.rs`).
//! - `B` and the noise are in units of the standardised values, and the prior's variance is fitted, where Assumption 1 asks for at
//!   most 1.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the paper allows repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Settings of GP-UCB.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GpUcbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
}

/// GP-UCB.
pub type GpUcb = GpStrategy<GpUcbConfig>;

impl OwnOptions for GpUcbConfig {
    const NAME: &'static str = "gp-ucb";

    fn check(&self) -> Result<()> {
        Ok(self.beta.validate().map_err(|e| e.of("beta"))?)
    }
}

impl Strategy for GpUcb {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let t = turn.round().0.begun - 1;
        let beta = self.own.beta.value(&gp.round(t, &turn)); // one weight for the whole round
        while turn.wants_more() {
            let found = search.maximize(&gp.scored(Utility::Ucb { beta }), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}
