//! GP-TS: the maximum of a function drawn from the posterior; a batch is as many independent draws.
//! Kim et al. 2025, Algorithm 2 (Chowdhury & Gopalan 2017), and its inexact form, Theorem 4.
//!
//! # Notation
//! | paper      | here         | meaning                                                                  |
//! |------------|--------------|--------------------------------------------------------------------------|
//! | `beta_t`   | `beta`       | factor of the posterior deviation; 1 is plain Thompson sampling          |
//! | `eta~_t`   | `accuracy`   | accuracy the maximizer is trusted with; 1 is exact                       |
//! | `B`        | `norm_bound` | bound of the objective's norm, in deviations of the values               |
//! | `v~_t`     |              | `(1 / eta~ - 1) B`, added to the deviation                               |
//!
//! # Departures
//! Draws are pathwise samples, polished over the continuous space, where Algorithm 2 takes a grid of size `(2BLbdt^2)^d`;
//! `solver = { name = "random-grid" }` gives the grids of Theorem 8.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::thompson::EnlargedPath;
use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::path::Path;

const ACCURACY: Range = Range::new(1e-6, 1.0);
const NORM_BOUND: Range = Range::new(0.0, 1e6);

/// Settings of GP-TS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GpTsConfig {
    /// Factor of the posterior deviation.
    pub beta: BetaSchedule,
    /// Accuracy that the solver is trusted with; below 1 the deviation is enlarged for it. From 1e-6 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = ACCURACY.stated()))]
    pub accuracy: f64,
    /// Bound of the objective's norm that goes with `accuracy`. From 0 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = NORM_BOUND.stated()))]
    pub norm_bound: f64,
}

impl Default for GpTsConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::Constant { value: 1.0 }, accuracy: 1.0, norm_bound: 1.0 }
    }
}

/// GP-TS.
pub type GpTs = GpStrategy<GpTsConfig>;

impl OwnOptions for GpTsConfig {
    const NAME: &'static str = "gp-ts";
    const DRAWS_PATHS: bool = true;

    fn check(&self) -> Result<()> {
        self.beta.validate().map_err(|e| e.of("beta"))?;
        ACCURACY.check("accuracy", self.accuracy)?;
        Ok(NORM_BOUND.check("norm_bound", self.norm_bound)?)
    }
}

impl Strategy for GpTs {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let GpTsConfig { beta, accuracy, norm_bound, .. } = self.own;
        let margin = (1.0 / accuracy - 1.0) * norm_bound; // v~_t
        let t = turn.round().0.begun - 1;
        let beta = beta.value(&gp.round(t, &turn)); // one factor for the whole round
        while turn.wants_more() {
            let path = Path::draw(gp.gp(), self.gp.model.features, turn.rng);
            #[expect(clippy::float_cmp, reason = "the exact value 1 names the plain algorithm")]
            let found = if beta == 1.0 && margin == 0.0 {
                search.maximize(&path, gp, &mut turn)
            } else {
                search.maximize(&EnlargedPath::new(gp.gp(), path, beta, margin), gp, &mut turn)
            };
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}
