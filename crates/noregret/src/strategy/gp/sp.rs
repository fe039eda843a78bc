//! SP: stochastic policies; every point of a batch is drawn independently, the likelier the better its mean.
//! Garcia-Barcos & Martinez-Cantin 2019, "Fully distributed Bayesian optimization with stochastic policies"; a rival in Ren & Li.
//!
//! # Notation
//! | code of Ren & Li                      | here            | meaning                                    |
//! |---------------------------------------|-----------------|--------------------------------------------|
//! | `3 ln(n + 15 + 1) / (max mu - min mu)` | `sharpness ...` | inverse temperature of the softmax          |
//!
//! # Departures
//! As in the code of Ren & Li the softmax is over the posterior mean, where the original takes an acquisition function.
//! The candidates are those with the highest bounds. A point is drawn once.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use rand::RngExt;

const SHARPNESS: Range = Range::new(1e-9, 1e9);

/// Settings of SP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SpConfig {
    /// Factor of the inverse temperature. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = SHARPNESS.stated()))]
    pub sharpness: f64,
}

impl Default for SpConfig {
    fn default() -> Self {
        Self { sharpness: 3.0 }
    }
}

/// SP.
pub type Sp = GpStrategy<SpConfig>;

impl OwnOptions for SpConfig {
    const NAME: &'static str = "sp";

    fn check(&self) -> Result<()> {
        Ok(SHARPNESS.check("sharpness", self.sharpness)?)
    }
}

impl Strategy for Sp {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let draws = Draws::new(gp, &mut turn)?;
        while turn.wants_more() {
            let order = self.own.order(draws.joint().mean(), history.len(), turn.rng);
            let found = draws.first_free(&order, &turn.region());
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

impl SpConfig {
    /// A draw without replacement from the softmax of the means, `n` evaluations told.
    ///
    /// The order of `mean * inverse + Gumbel noise` is such a draw (Gumbel-max trick), whose noise is `-ln(-ln u)`.
    fn order(&self, mean: &[f64], n: usize, rng: &mut Stream) -> Vec<usize> {
        let extremes = |(low, high): (f64, f64), &m: &f64| (low.min(m), high.max(m));
        let (low, high) = mean.iter().fold((f64::INFINITY, f64::NEG_INFINITY), extremes);
        let inverse = self.sharpness * (n as f64).ln_1p() / (high - low).max(f64::MIN_POSITIVE);
        let mut keys: Vec<(f64, usize)> = (0..mean.len())
            .map(|i| {
                let u: f64 = rng.random_range(f64::MIN_POSITIVE..1.0);
                ((mean[i] - high) * inverse - (-u.ln()).ln(), i)
            })
            .collect();
        keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        keys.into_iter().map(|(_, i)| i).collect()
    }
}
