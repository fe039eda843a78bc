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
//! | `T_init`, `I(D_{T_init})` | `explored` | 2 | number of points chosen by largest deviation, and their gain (App. B.1) |
//! | `m gamma / T_init`  | `exponent` | 1    | bound of `ln rho_m` (Lemma B.2), at most `explore`         |
//!
//! # Departures
//! - The prior is not known: kernel and noise are fitted to standardised values by default, and change with each fit; beyond
//!   `model.max_points` evaluations the model is of a subset. Theorem 4.1 is of a fixed one.
//! - On a continuous space the finite set `X` of Algorithm 4.1 is that of the candidates of the solver `auto`: 1,000 Sobol points
//!   that stay until the next fit, 48 around the best ones, and the end of a climb on the mean. `f*` and the ratio are of the same
//!   set. By option `polish` the ratio is minimised over the continuous space. This explores more: its minimum may lie
//!   beyond the candidates, where the deviation is larger, while `f*` is of the candidates. On Ackley's function the regret is three
//!   times as large then; nowhere in Tables 1 to 3 is it clearly smaller (docs/reproduction/ts-rsr.md). With another solver `f*` is of
//!   1,000 Sobol points besides the fresh ones, and the ratio is minimised wherever that solver looks, with or without `polish`.
//! - Of more than 1,024 kept candidates (`solver.candidates`, or a pool up to 20,000 rows) `f*` is of the 1,024 with the highest
//!   bounds, the ratio of all. Where the posterior is near the prior, any of them may hold the maximum: of 20,000 independent values
//!   `f*` is about 0.8 deviations too low then, which explores less. With data the bounds leave out what can hardly be the maximum.
//! - Of a pool above 20,000 rows, 2,000 rows are drawn at random in every round. `f*` is of the 1,024 of them with the highest bounds,
//!   the largest mean of App. C that of these 2,000 and of the data; the ratio is of all rows. So `f*` is too low, and a row outside
//!   the sample may have a mean above it: its regret counts as 1e-6, and of such rows the one of largest deviation is chosen.
//! - Resampling stops after 50 draws for each point wanted, which all points of a batch share; then the largest mean plus a tenth of
//!   the largest deviation stands in, counted in the diagnostics (`stand_ins`). Regrets below 1e-6 deviations of the values count as
//!   that much.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the paper allows repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.
//! - Points that are running lower the deviation, as those of the batch do.
//! - By option `refine`, the authors' code: the first point is the best candidate, later ones take a few steps of Adam from it.
//!   We keep the best point visited; the authors keep the one a step after it (the point after a step with the loss before it).
//! - App. B.1 explores one point at a time before the first batch, on no data. We explore in batches, on the data there are:
//!   the gain is that of the explored points given everything before each, for which Lemma B.2 holds as it stands. The realised
//!   gain stands in for the maximal one, which is larger; the proof needs no more. Each gain is by the model of its time: if
//!   hyperparameters are fitted, the bound is of a model that changes. A failed evaluation counts as explored. The largest deviation
//!   is that which the solver finds: by climbs from the candidates, with `polished = 0` that of this round's candidates. Lemma B.2
//!   holds to that accuracy.
//! - Points that are running, and design points of the same proposal, count as part of the batch, whose size `m` is that of all. A
//!   point counts as explored once it is proposed: while such points are running, their gain is in the bound though it is not yet in
//!   `sigma_t`, and the bound is too small until their results are in.
//! - Beyond 256 points climbs (of `polish`, and of the exploration) follow a local model, see `gp_ucb`.
//! - The counter `rho` of the diagnostics estimates `rho_m` from below, at the candidates and for batches at one point.

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
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::gp::model::GpState;
use crate::strategy::gp::search::draws::{Draws, Maxima};
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::memo::Explored;
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
    /// Explore by largest deviation until `q * (information gain) / n` of the `n` points explored so is at most this (App. B.1):
    /// then no batch of `q`, running points included, lowers a deviation by more than `exp` of it. Never if not given. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = EXPLORE.stated()))]
    pub explore: Option<f64>,
    /// Move points of a batch from the second on by steps of Adam, as the authors' code does.
    pub refine: Option<Refine>,
    /// Minimize the ratio over the continuous space, by climbs from the best candidates of the solver `auto`. By default its minimum
    /// is that of the candidates, the set that the sampled maxima are of. Without effect on other solvers, which look wherever they do.
    pub polish: bool,
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
        if self.own.explores(&mut turn) {
            let mut explored = turn.memo.explored.unwrap_or_default();
            while turn.wants_more() {
                // Lemma B.2: the point of largest deviation, given all before it.
                let found = search.maximize(&gp.scored(Utility::StandardDeviation), gp, &mut turn);
                let choice = turn.push(found)?;
                explored.points += 1;
                explored.gain += gp.information_of(choice);
                gp.condition(choice);
            }
            turn.memo.explored = Some(explored);
            return turn.finish();
        }
        if !self.own.polish {
            search = search.at_candidates();
        }
        turn.diagnostics.counters.insert("rho".into(), gp.largest_shrinkage(without_result(&turn)));
        let f_star = sampled_maxima(gp, &mut turn)?;
        while turn.wants_more() {
            let i = turn.picked();
            let ratio = gp.scored(Utility::RegretToUncertainty { f_star: f_star[i] }); // eq. (4.2)
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
    /// Whether the initial exploration goes on (App. B.1): while `m I / T_init`, which bounds the logarithm of `rho_m`, is above
    /// the limit.
    fn explores(&self, turn: &mut Turn<'_>) -> bool {
        let Some(limit) = self.explore else { return false };
        let (m, Explored { points, gain }) = (without_result(turn), turn.memo.explored.unwrap_or_default());
        let exponent = m as f64 * gain / points as f64;
        let explores = points == 0 || exponent > limit;
        let state = if explores { "exploring by largest deviation" } else { "explored" };
        turn.diagnostics.notes.push(if points == 0 {
            format!("{state}: no point was chosen so yet")
        } else {
            format!("{state}: {m} points times the gain {gain:.3} of {points} explored is {exponent:.3} each")
        });
        if points > 0 {
            turn.diagnostics.counters.insert("log_rho_bound".into(), exponent);
        }
        explores
    }
}

/// `m`: the points of the turn, chosen or wanted, and those that are running, which have no results either.
fn without_result(turn: &Turn<'_>) -> usize {
    turn.choices().len() + turn.missing() + turn.history.pending().len()
}

/// Draws `f*` for each point wanted (App. C).
fn sampled_maxima(gp: &mut GpState, turn: &mut Turn<'_>) -> Result<Vec<f64>> {
    let maxima = Draws::new(gp, turn)?.maxima(turn.missing(), turn.rng);
    let gain = gp.gp().information_gain();
    turn.diagnostics.notes.push(format!("the information gain so far is {gain:.3}"));
    count_failed_draws(&maxima, &mut turn.diagnostics);
    Ok(maxima.f_star)
}

fn count_failed_draws(&Maxima { redrawn, stand_ins, .. }: &Maxima, diagnostics: &mut Diagnostics) {
    for (name, count) in [("redrawn", redrawn), ("stand_ins", stand_ins)] {
        if count > 0 {
            diagnostics.counters.insert(name.into(), count as f64);
        }
    }
    if redrawn + stand_ins > 0 {
        let failed = redrawn + stand_ins;
        diagnostics.notes.push(format!(
            "{failed} sampled maxima did not exceed the largest mean: {redrawn} drawn again, {stand_ins} replaced"
        ));
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
    use crate::strategy::history::{Choice, Duplicates};
    use crate::strategy::memo::Memo;
    use crate::strategy::testing::{random_history, stream, value};
    use crate::surrogate::Surrogate;
    use crate::surrogate::gp::GpConfig;
    use crate::surrogate::gp::hyperparameters::Tunable;
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
        let config = OnGp { own: TsRsrConfig { polish: true, ..TsRsrConfig::default() }, gp };
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

    /// By default the ratio is minimised over the candidates: none has a smaller one, and the point is one of them.
    #[test]
    fn the_ratio_is_minimized_over_the_candidates() {
        let history = history();
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let config = OnGp { own: TsRsrConfig::default(), gp };
        for seed in 0..5 {
            let mut strategy = TsRsr::new(config.clone()).unwrap();
            let proposal = strategy.propose(&history, NonZeroUsize::new(1), &mut stream(seed, 0)).unwrap();
            let chosen = &proposal.choices[0].x;
            // The same draw by the same stream, of which the design takes the first number.
            let mut rng = stream(seed, 0);
            rng.next_u64();
            let mut model = GpModel::new(config.gp.model.clone(), config.gp.solver.kept_candidates());
            let (state, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
            let f_star = Draws::of(state, &history, &mut rng).unwrap().maxima(1, &mut rng).f_star[0];
            let ratio = state.scored(Utility::RegretToUncertainty { f_star });
            let sets = [state.kept().points(), state.fresh().points()];
            let best = sets.map(|set| ratio.values(set).into_iter().fold(f64::NEG_INFINITY, f64::max));
            let (found, best) = (ratio.value_and_gradient(chosen, &mut [0.0]), best[0].max(best[1]));
            assert!((found - best).abs() < 1e-9 * best.abs(), "seed {seed}: {found} {best}"); // two ways to a variance
            assert!(sets.iter().any(|set| (0..set.len()).any(|i| set.point(i) == *chosen)));
        }
    }

    fn exploring(limit: f64) -> TsRsr {
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let own = TsRsrConfig { explore: Some(limit), ..TsRsrConfig::default() };
        TsRsr::new(OnGp { own, gp }).unwrap()
    }

    fn explores(proposal: &Proposal) -> bool {
        proposal.diagnostics.notes.iter().any(|note| note.starts_with("exploring by largest deviation"))
    }

    /// App. B.1: while the bound is large, points are those of largest deviation.
    #[test]
    fn exploration_comes_first_if_asked_for() {
        let history = history();
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let mut rng = Seed(0).stream(Purpose::Propose, 0, 0);
        let proposal = exploring(1e-3).propose(&history, NonZeroUsize::new(1), &mut rng).unwrap();
        assert!(explores(&proposal));
        let mut model = GpModel::new(gp.model.clone(), gp.solver.kept_candidates());
        let mut rng = Seed(0).stream(Purpose::Propose, 0, 0);
        rng.next_u64();
        let (state, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
        let grid: Vec<f64> = (0..=2_000).map(|i| f64::from(i) / 2_000.0).collect();
        let variance = |columns: &[f64]| state.gp().marginals(&Points::from_columns(1, columns)).variance;
        let largest = variance(&grid).into_iter().fold(0.0, f64::max);
        let chosen = variance(&proposal.choices[0].x)[0];
        assert!(chosen >= largest * (1.0 - 1e-6));
        // Lemma A.1, by hand.
        let explored = proposal.memo.explored.unwrap();
        let gain = 0.5 * (chosen / state.fit().hyperparameters.noise_variance).ln_1p();
        assert!(explored.points == 1 && (explored.gain - gain).abs() < 1e-9 * gain, "{explored:?} {gain}");
    }

    /// Lemma B.1 is of all points without results. Four explored points with a gain of 2 bound `ln rho_m` by `m / 2`.
    #[test]
    fn running_points_are_part_of_the_batch() {
        let mut history = history();
        let bound = |history: &History| {
            let proposal = exploring(0.6).propose(history, NonZeroUsize::new(1), &mut stream(1, 0)).unwrap();
            let counter = |name: &str| proposal.diagnostics.counters.get(name).copied();
            (counter("log_rho_bound"), counter("rho"), explores(&proposal))
        };
        let memo = Memo { explored: Some(Explored { points: 4, gain: 2.0 }), ..Memo::default() };
        history.proposed([], memo.clone());
        let (alone, one, exploring_alone) = bound(&history);
        assert_eq!((alone, exploring_alone), (Some(0.5), false));
        history.proposed([(7, Choice { x: vec![0.77], row: None })], memo.clone());
        let (beside, _, exploring_beside) = bound(&history);
        assert_eq!((beside, exploring_beside), (Some(1.0), true));
        // rho^2 - 1 is proportional to m.
        let mut plain = TsRsr::new(OnGp {
            own: TsRsrConfig::default(),
            gp: GpOptions { initial_points: Some(0), ..GpOptions::default() },
        })
        .unwrap();
        let proposal = plain.propose(&history, NonZeroUsize::new(1), &mut stream(1, 0)).unwrap();
        let excess = |rho: f64| rho.powi(2) - 1.0;
        let share = excess(proposal.diagnostics.counters["rho"]) / excess(one.unwrap());
        assert!((share - 2.0).abs() < 1e-9, "{share}");
    }

    /// A design point of the same proposal has no result either: three points are three, whoever chose them.
    #[test]
    fn design_points_are_part_of_the_batch() {
        let history = history();
        let rho = |initial_points| {
            let gp = GpOptions { initial_points: Some(initial_points), ..GpOptions::default() };
            let mut strategy = TsRsr::new(OnGp { own: TsRsrConfig::default(), gp }).unwrap();
            let proposal = strategy.propose(&history, NonZeroUsize::new(3), &mut stream(1, 0)).unwrap();
            (proposal.diagnostics.design_points, proposal.diagnostics.counters["rho"])
        };
        let ((none, alone), (one, beside)) = (rho(0), rho(8));
        assert_eq!((none, one), (0, 1));
        assert!((alone - beside).abs() < 1e-9 * alone, "{alone} {beside}");
    }

    /// Of 200 draws 199 were too low; 196 of these were made again, and three maxima replaced.
    #[test]
    fn failed_draws_are_counted_once() {
        let counted = |redrawn, stand_ins| {
            let mut diagnostics = Diagnostics::default();
            count_failed_draws(&Maxima { f_star: Vec::new(), redrawn, stand_ins }, &mut diagnostics);
            (diagnostics.counters.into_iter().collect::<Vec<_>>(), diagnostics.notes.pop())
        };
        assert_eq!(counted(0, 0), (Vec::new(), None));
        let (counters, note) = counted(196, 3);
        assert_eq!(counters, [("redrawn".to_owned(), 196.0), ("stand_ins".to_owned(), 3.0)]);
        assert!(note.unwrap().starts_with("199 sampled maxima"));
    }

    /// Lemma B.2 is of points chosen by deviation. A hundred replicates of one point, whose gain is small and whose number is
    /// large, do not end the exploration; the explored points do, and it does not come back.
    #[test]
    fn replicates_do_not_end_the_exploration() {
        let line = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let mut history = History::new(line, Duplicates::Replicate);
        for i in 0..100 {
            let y = if i % 2 == 0 { 1.0 } else { -1.0 };
            history.add(&Choice { x: vec![0.5], row: None }, value(y));
        }
        let model = GpConfig {
            lengthscale: Tunable::fixed(0.3),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(0.25),
            ..GpConfig::default()
        };
        let gp = GpOptions { model, initial_points: Some(0), ..GpOptions::default() };
        let own = TsRsrConfig { explore: Some(1.0), ..TsRsrConfig::default() };
        let mut strategy = TsRsr::new(OnGp { own, gp }).unwrap();
        let (mut phases, mut rho) = (Vec::new(), 0.0_f64);
        for t in 0..40_u64 {
            let proposal = strategy.propose(&history, NonZeroUsize::new(2), &mut stream(1, t)).unwrap();
            phases.push(explores(&proposal));
            rho = rho.max(proposal.diagnostics.counters.get("rho").copied().unwrap_or(0.0));
            let numbers = [2 * t, 2 * t + 1];
            history.proposed(numbers.into_iter().zip(proposal.choices), proposal.memo);
            for number in numbers {
                history.told(number, value((number as f64).sin())).unwrap();
            }
        }
        let explored = phases.iter().filter(|explores| **explores).count();
        assert!((2..39).contains(&explored), "{explored}");
        assert!(phases.is_sorted_by(|a, b| a >= b), "{phases:?}");
        // Lemma B.2: from then on rho_m <= e.
        assert!(rho > 1.0 && rho <= 1.0_f64.exp(), "{rho}");
    }
}
