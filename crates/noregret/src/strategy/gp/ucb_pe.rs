//! UCB-PE: one point by its upper confidence bound, the rest of the batch by pure exploration of the relevant region.
//! Contal et al. 2013, "Parallel Gaussian process optimization with upper confidence bound and pure exploration", Alg. 1.
//!
//! # Notation
//! | paper     | here        | meaning                                                                     |
//! |-----------|-------------|-----------------------------------------------------------------------------|
//! | `y_t`     | `threshold` | the largest lower bound, `max mu - beta sigma`                              |
//! | `R_t^+`   |             | where `mu + 2 beta' sigma >= y_t`, with the weight `beta'` of the next round |
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`. Beyond 256 points climbs follow a local model, see `gp_ucb`.
//! - The region is that of the deviation given the batch so far, so that it shrinks a little within a batch. The code behind
//!   Ren & Li has no region: it takes the largest deviation of its candidates, about 1,000 random points. `region = false` has none
//!   either, and maximises the deviation as far as our solver does, over the continuous space by default.
//! - `y_t` is of the candidates, and of a pool above 20,000 rows of the data: at most the largest lower bound of the space, which
//!   enlarges the region. The deviation given the batch makes it smaller.
//! - The first point of a round is the one by its bound. A round goes on until a result arrives (see `Rounds` of the memo): with
//!   workers that ask for a point whenever a result arrives, all points are first ones, and it is BUCB.
//! - The weight is that of the code behind Ren & Li by default, see BUCB.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the paper allows repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::model::GpState;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::candidates::Candidates;

/// Data whose posterior is computed at once: a few megabytes for a thousand evaluations.
const PANEL: usize = 512;

/// Settings of UCB-PE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct UcbPeConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
    /// Whether exploration stays in the relevant region.
    pub region: bool,
}

impl Default for UcbPeConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::RenLi { candidates: 1_001 }, region: true }
    }
}

/// UCB-PE.
pub type UcbPe = GpStrategy<UcbPeConfig>;

impl OwnOptions for UcbPeConfig {
    const NAME: &'static str = "ucb-pe";

    fn check(&self) -> Result<()> {
        Ok(self.beta.validate().map_err(|e| e.of("beta"))?)
    }
}

impl Strategy for UcbPe {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let (round, begins) = turn.round();
        let [beta, next] = [round.begun - 1, round.begun].map(|t| self.own.beta.value(&gp.round(t, &turn)));
        let threshold = self.own.region.then(|| largest_lower_bound(gp, beta));
        while turn.wants_more() {
            let utility = match threshold {
                _ if begins && turn.picked() == 0 => Utility::Ucb { beta },
                Some(threshold) => Utility::RelevantDeviation { beta: 2.0 * next, threshold },
                None => Utility::StandardDeviation,
            };
            let found = search.maximize(&gp.scored(utility), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

/// `max mu - beta sigma` over the candidates, whose deviations are those before the batch; over the data, if there are none, as in a
/// pool that is too large to keep.
fn largest_lower_bound(gp: &GpState, beta: f64) -> f64 {
    let lower = |set: &Candidates| -> f64 {
        let bounds = set.mean().iter().zip(set.observed_variance());
        bounds
            .map(|(mean, variance)| mean - beta * variance.max(0.0).sqrt())
            .fold(f64::NEG_INFINITY, f64::max)
    };
    if gp.kept().is_empty() && gp.fresh().is_empty() {
        let data: Vec<usize> = (0..gp.gp().observed()).collect();
        let bound = |some: &[usize]| lower(&Candidates::new(gp.gp(), gp.gp().points().select(some)));
        return data.chunks(PANEL).map(bound).fold(f64::NEG_INFINITY, f64::max);
    }
    lower(gp.kept()).max(lower(gp.fresh()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Pool, Space};
    use crate::strategy::gp::{GpOptions, OnGp};
    use crate::strategy::history::{Choice, Duplicates};
    use crate::strategy::testing::{random_history, stream, value};
    use crate::surrogate::gp::GpConfig;
    use crate::surrogate::gp::hyperparameters::Tunable;

    /// A batch is the same kind of points whether they are asked for at once or one by one: the first by its bound, the others
    /// by deviation. A result begins the next round.
    #[test]
    fn one_point_of_a_round_is_by_its_bound() {
        let line = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let mut history = random_history(line, 6, 5, |x| (12.0 * x[0]).sin() + x[0]);
        let by = |beta: f64, history: &History| {
            let own = UcbPeConfig { beta: BetaSchedule::Constant { value: beta }, region: false };
            let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
            let mut strategy = UcbPe::new(OnGp { own, gp }).unwrap();
            strategy.propose(history, NonZeroUsize::new(1), &mut stream(3, 0)).unwrap()
        };
        // The weight matters to the first point of a round alone.
        let first = by(0.01, &history);
        assert_ne!(first.choices, by(5.0, &history).choices);
        history.proposed([(6, first.choices[0].clone())], first.memo);
        assert_eq!(by(0.01, &history).choices, by(5.0, &history).choices);
        history.told(6, value(0.5));
        assert_ne!(by(0.01, &history).choices, by(5.0, &history).choices);
    }

    /// No row of a large pool is kept. What lies above 0.5 cannot hold the maximum, though it is the least known.
    #[test]
    fn the_region_of_a_large_pool_is_relevant() {
        let pool = Pool::new((0..20_100).map(|i| f64::from(i) / 20_100.0).collect(), 1).unwrap();
        let mut history = History::new(Space::pool(pool.clone()), Duplicates::Avoid);
        for row in [500, 2_000, 3_500, 5_000, 6_500, 8_000, 9_500, 13_000, 20_000] {
            let x = pool.point(row);
            let y = if x[0] < 0.5 { (12.0 * x[0]).sin() } else { -30.0 };
            history.add(&Choice { x, row: Some(row) }, value(y));
        }
        let model = GpConfig {
            lengthscale: Tunable::fixed(0.15),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(1e-6),
            standardize: false,
            ..GpConfig::default()
        };
        let gp = GpOptions { model, initial_points: Some(0), ..GpOptions::default() };
        let explored = |region| {
            let own = UcbPeConfig { beta: BetaSchedule::Constant { value: 1.0 }, region };
            let mut strategy = UcbPe::new(OnGp { own, gp: gp.clone() }).unwrap();
            let proposal = strategy.propose(&history, NonZeroUsize::new(3), &mut stream(3, 0)).unwrap();
            proposal.choices[1..].iter().map(|choice| choice.x[0]).collect::<Vec<f64>>()
        };
        assert!(explored(true).iter().all(|x| *x < 0.5), "{:?}", explored(true));
        assert!(explored(false).iter().all(|x| *x > 0.5), "{:?}", explored(false));
    }
}
