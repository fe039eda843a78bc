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
//! - Draws are pathwise samples (random features and an exact correction), polished over the continuous space, where Algorithm 2
//!   takes a grid of size `(2BLbdt^2)^d`; `solver = { name = "random-grid" }` gives the grids of Theorem 8.
//! - By default `beta` is 1, plain Thompson sampling. That of Algorithm 2 is the schedule `chowdhury` with `events = 2`, that of
//!   Theorem 8 with `events = 3`; the realised information gain stands in for the maximal one (see
//!   [`BetaSchedule`]).
//! - Theorem 4 has an accuracy `eta~_t` for each round; here it is one number for all. The covariance of its enlarged sample is not
//!   printed: see [`EnlargedPath`].
//! - The paper proposes one point a round. The points of a batch are maxima of independent draws given the observed points alone. They
//!   share the round's factor; what a round is, where points are asked for one by one, says `Rounds` of the memo. The random grids of
//!   Theorem 8 still grow by points (`maximize/grid.rs`).
//! - `B` and the noise are in units of the standardised values, and the prior's variance is fitted, where Assumption 1 asks for at
//!   most 1.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the paper allows repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.

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
            let features = self.gp.model.features;
            #[expect(clippy::float_cmp, reason = "the exact value 1 names the plain algorithm")]
            let found = if beta == 1.0 && margin == 0.0 {
                search.maximize(&Path::draw(gp.gp(), features, turn.rng), gp, &mut turn)
            } else {
                let path = EnlargedPath::draw(gp.gp(), features, beta, margin, turn.rng);
                search.maximize(&path, gp, &mut turn)
            };
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::maximize::solver::Solver;
    use crate::space::Space;
    use crate::strategy::gp::{GpOptions, OnGp};
    use crate::strategy::testing::random_history;
    use crate::surrogate::gp::GpConfig;

    /// The smallest distance, by the coordinate in which it is largest, between points of a batch of 5 after 20 evaluations.
    fn closest_pair(accuracy: f64, seed: u64) -> f64 {
        // With its maxima inside the square: on an edge, which is a line, maxima of independent draws do meet.
        let bumps = |x: &[f64]| (6.0 * x[0]).sin() * (6.0 * x[1] - 2.0).sin() - (x[0] - 0.4).powi(2);
        let history = random_history(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), 20, seed, bumps);
        let gp = GpOptions {
            model: GpConfig { features: 256, ..GpConfig::default() },
            solver: Solver::Auto { candidates: 300, polished: 4 },
            ..GpOptions::default()
        };
        let own = GpTsConfig { accuracy, ..GpTsConfig::default() };
        let mut rng = Seed(seed).stream(Purpose::Propose, 0, 0);
        let proposal = GpTs::new(OnGp { own, gp }).unwrap().propose(&history, NonZeroUsize::new(5), &mut rng);
        let points: Vec<Vec<f64>> = proposal.unwrap().choices.into_iter().map(|choice| choice.x).collect();
        let gap = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        let pairs = (0..5).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| gap(&points[i], &points[j])).fold(f64::INFINITY, f64::min)
    }

    /// The path was drawn given the data and stretched by the deviation given the batch: the points of a batch gathered.
    #[test]
    fn points_of_an_enlarged_batch_do_not_gather() {
        for seed in 0..100 {
            let gap = closest_pair(0.8, seed);
            assert!(gap > 1e-3, "seed {seed}: {gap:e}");
        }
    }
}
