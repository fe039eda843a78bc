//! TS-RSR: batch points by the ratio of Thompson regret to uncertainty.
//! Ren & Li, "TS-RSR", eq. (4.2); resampling of `f*` from App. C; exploration first from App. B.1.
//!
//! # Notation
//! | paper               | here      | shape | meaning                                                   |
//! |---------------------|-----------|-------|-----------------------------------------------------------|
//! | `f*_{t,i}`          | `f_star`  | q     | maximum of the i-th function drawn from `f | F_t`         |
//! | `mu_t(x)`           | mean      | N     | posterior mean                                            |
//! | `sigma_t(x | ...)`  | sd        | N     | posterior deviation given the batch so far                |
//! | `m`                 | `q`       | 1     | batch size                                                |
//! | `m gamma / T_init`  | `explore` | 1     | exponent of the bound on `rho_m` (Lemma B.2)              |
//!
//! # Departures
//! - Draws are joint at the candidates with the highest bounds. Resampling stops after 50 draws a point; then the largest
//!   mean plus a tenth of the largest deviation stands in, counted in the diagnostics.
//! - The ratio is polished over the continuous space. Regrets below 1e-6 deviations count as that much.
//! - Points that are running lower the deviation, as those of the batch do.
//! - By option `refine`, the authors' code: the first point is the best candidate, later ones take a few steps of Adam from it.
//! - The realised information gain stands in for the maximal one in the rule of App. B.1.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::Acquisition;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::adam::Adam;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::Maximum;
use crate::space::Kind;
use crate::strategy::gp::model::GpState;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

const EXPLORE: Range = Range::new(1e-9, 1e9);
const STEPS: Range = Range::new(0.0, 1e5);
const RATE: Range = Range::new(1e-9, 1.0);

/// Settings of TS-RSR.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct TsRsrConfig {
    /// Explore by largest deviation until `q * (information gain) / n` is below this (App. B.1); never if not given.
    /// From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = EXPLORE.stated()))]
    pub explore: Option<f64>,
    /// Move points of a batch from the second on by steps of Adam, as the authors' code does in place of polishing.
    pub refine: Option<Refine>,
}

/// Steps of Adam.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refine {
    /// How many. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = STEPS.stated()))]
    pub steps: usize,
    /// Their length, in the unit cube. From 1e-9 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = RATE.stated()))]
    pub rate: f64,
}

impl Refine {
    /// The best point on the way from a candidate, if every parameter is a number.
    fn apply(self, start: Maximum, ratio: &dyn Acquisition, history: &History) -> Maximum {
        let space = history.space();
        if space.as_pool().is_some() || space.kinds().iter().any(|kind| *kind != Kind::Continuous) {
            return start;
        }
        let d = start.x.len();
        let adam = Adam { steps: self.steps, rate: self.rate };
        let end = adam.minimize(&start.x, &vec![0.0; d], &vec![1.0; d], |x, gradient| {
            let value = ratio.value_and_gradient(x, gradient);
            gradient.iter_mut().for_each(|g| *g = -*g);
            -value
        });
        if -end.value <= start.value || !space.is_feasible(&end.x) {
            return start;
        }
        let mut work = start.work;
        work.gradients += end.evaluations;
        Maximum { x: end.x, row: None, value: -end.value, work }
    }
}

/// TS-RSR.
pub type TsRsr = GpStrategy<TsRsrConfig>;

impl OwnOptions for TsRsrConfig {
    const NAME: &'static str = "ts-rsr";

    fn check(&self) -> Result<()> {
        if let Some(Refine { steps, rate }) = self.refine {
            STEPS.check("refine.steps", steps)?;
            RATE.check("refine.rate", rate)?;
        }
        Ok(EXPLORE.check("explore", self.explore)?)
    }
}

impl Strategy for TsRsr {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let f_star = self.own.sampled_maxima(gp, &mut turn)?;
        while turn.wants_more() {
            let i = turn.picked();
            let utility = match &f_star {
                Some(f_star) => Utility::RegretToUncertainty { f_star: f_star[i] }, // eq. (4.2)
                None => Utility::StandardDeviation,                                 // Lemma B.2
            };
            let ratio = gp.scored(utility);
            let mut found = search.maximize(&ratio, gp, &mut turn);
            if let Some(refine) = self.own.refine.filter(|_| i > 0) {
                found = found.map(|start| refine.apply(start, &ratio, history));
            }
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

impl TsRsrConfig {
    /// Draws `f*` for each point wanted (App. C); `None` during the initial exploration (App. B.1).
    fn sampled_maxima(&self, gp: &mut GpState, turn: &mut Turn<'_>) -> Result<Option<Vec<f64>>> {
        let (gain, n, q) = (gp.gp().information_gain(), gp.gp().observed().max(1), turn.missing());
        let bound = q as f64 * gain / n as f64;
        turn.diagnostics.notes.push(format!("the information gain so far is {gain:.3}"));
        if self.explore.is_some_and(|limit| bound > limit) {
            turn.diagnostics.notes.push(format!(
                "exploring by largest deviation: {q} points times the gain over {n} is {bound:.3}"
            ));
            return Ok(None);
        }
        let maxima = Draws::new(gp, turn)?.maxima(q, turn.rng);
        if maxima.redrawn > 0 {
            turn.diagnostics.counters.insert("redrawn".into(), maxima.redrawn as f64);
            turn.diagnostics.notes.push(format!(
                "{} sampled maxima did not exceed the largest mean: {} drawn again, {} replaced",
                maxima.redrawn + maxima.stand_ins,
                maxima.redrawn,
                maxima.stand_ins
            ));
        }
        Ok(Some(maxima.f_star))
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::Space;
    use crate::strategy::gp::model::GpModel;
    use crate::strategy::gp::{GpOptions, OnGp};
    use crate::strategy::memo::Memo;
    use crate::strategy::testing::random_history;
    use crate::surrogate::Surrogate;
    use crate::surrogate::points::Points;

    fn history() -> History {
        let line = Space::bounds(&[(0.0, 1.0)]).unwrap();
        random_history(line, 7, 5, |x| (12.0 * x[0]).sin() + x[0])
    }

    /// With one point, eq. (4.2) is eq. (4.1): no point of a fine grid has a smaller ratio of regret to uncertainty.
    #[test]
    fn one_point_minimizes_the_ratio() {
        let history = history();
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let config = OnGp { own: TsRsrConfig::default(), gp };
        for seed in 0..5 {
            let stream = || Seed(seed).stream(Purpose::Propose, 0, 0);
            let mut strategy = TsRsr::new(config.clone()).unwrap();
            let chosen =
                strategy.propose(&history, NonZeroUsize::new(1), &mut stream()).unwrap().choices.remove(0).x;
            // The same draw by the same stream, of which the design takes the first number.
            let mut rng = stream();
            rng.next_u64();
            let mut model = GpModel::new(config.gp.model.clone(), config.gp.solver.kept_candidates());
            let (state, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
            let f_star = Draws::of(state, &history, &mut rng).unwrap().maxima(1, &mut rng).f_star[0];
            let ratio = |columns: &[f64]| -> Vec<f64> {
                let m = state.gp().marginals(&Points::from_columns(1, columns));
                m.mean
                    .iter()
                    .zip(&m.variance)
                    .map(|(mean, variance)| (f_star - mean) / variance.sqrt())
                    .collect()
            };
            let grid: Vec<f64> = (0..=2_000).map(|i| f64::from(i) / 2_000.0).collect();
            let least = ratio(&grid).into_iter().fold(f64::INFINITY, f64::min);
            let found = ratio(&chosen)[0];
            assert!(found <= least + 1e-6 * least.abs(), "seed {seed}: {found} at {chosen:?}, grid {least}");
        }
    }

    /// App. B.1: while the bound is large, points are those of largest deviation.
    #[test]
    fn exploration_comes_first_if_asked_for() {
        let history = history();
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let own = TsRsrConfig { explore: Some(1e-3), ..TsRsrConfig::default() };
        let config = OnGp { own, gp };
        let mut rng = Seed(0).stream(Purpose::Propose, 0, 0);
        let mut strategy = TsRsr::new(config.clone()).unwrap();
        let proposal = strategy.propose(&history, NonZeroUsize::new(1), &mut rng).unwrap();
        assert!(
            proposal.diagnostics.notes.iter().any(|note| note.starts_with("exploring by largest deviation"))
        );
        let mut model = GpModel::new(config.gp.model.clone(), config.gp.solver.kept_candidates());
        let mut rng = Seed(0).stream(Purpose::Propose, 0, 0);
        rng.next_u64();
        let (state, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
        let grid: Vec<f64> = (0..=2_000).map(|i| f64::from(i) / 2_000.0).collect();
        let variance = |columns: &[f64]| state.gp().marginals(&Points::from_columns(1, columns)).variance;
        let largest = variance(&grid).into_iter().fold(0.0, f64::max);
        assert!(variance(&proposal.choices[0].x)[0] >= largest * (1.0 - 1e-6));
    }
}
