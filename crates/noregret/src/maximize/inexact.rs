//! How inexactly the utility was maximized, and the accumulated inexactness.
//!
//! # Notation
//! (Kim et al. 2025, section 3.1 and App. A.2.)
//!
//! | paper      | here      | meaning                                                                            |
//! |------------|-----------|------------------------------------------------------------------------------------|
//! | `alpha_t`  | utility   | made non-negative by subtracting its smallest value over the reference points      |
//! | `alpha_t*` | `best`    | its maximum: unknown, so the best of a stronger reference solve and the chosen point |
//! | `eta_t`    | `eta_hat` | `alpha_t(x_t) / alpha_t*`, in [0, 1]                                               |
//! | `eta~_t`   |           | the worst accuracy of the solver in round `t`, over all that it may return: not known |
//! | `M_T`      |           | `sum_t (1 - eta~_t)`                                                               |
//! |            | `m_hat`   | `sum_t (1 - eta_hat)`, measured or carried over                                    |
//!
//! # Departures
//! - Rounds here are points, those of a batch one by one; the paper has one point a round.
//! - The paper's `M_T` sums the worst case `eta~_t`, a number below every `eta_t` that the solver's chance could give. It cannot be
//!   observed (for a random grid it is 0: all points may fall where the utility is smallest), so `m_hat` sums what was realised. Were
//!   every `eta_t` known, under one shift for both, the realised sum would be at most `M_T`; and the proof of Theorem 3 bounds the
//!   regret by it first. `m_hat` itself is an estimate, for the reasons that follow, and no bound of either sum.
//! - By default the reference is solved in rounds 1, 2, 4, 8, ..., counted from 0. Round 0 counts as exact, and rounds in between take
//!   over the last estimate, so `m_hat` extrapolates: the latest measurement stands for up to half of all rounds. With [`Measure::Always`] every round is
//!   measured, round 0 included, and nothing is carried over.
//! - `eta` depends on the shift. App. A.2 adds `B` to the bound of GP-UCB (Lemma 19) and some `C_t` to the draw of GP-TS (Lemma 20);
//!   ours, named [`SHIFT`], is the least that makes the utility non-negative at the reference points and at the chosen one. The lesser
//!   the shift, the lesser `eta`: under the shift `B` our `1 - eta` would be smaller by the factor `(best - floor) / (best + B)`, where
//!   `floor` is the smallest utility. So `m_hat` may exceed the `M_T` of the paper's shift, and is comparable between solvers rather
//!   than with the paper's bounds.
//! - `alpha_t*` is the best of a stronger solve, which may miss the maximum: by this `eta_hat` may be too large, never too small.
//! - For a logarithm (`log-expected`, the default of `gp-ei` and so of `auto`) `eta` is the ratio of shifted logarithms, not of
//!   improvements: with a floor 40 below the maximum, half of the best improvement has an `eta` of `1 - ln 2 / 40`, about 0.98.
//! - The adaptive grid is the "adaptive inexact optimization" that section 6 leaves open. In a measured round it doubles until
//!   `m_hat`, with this round, is at most `budget * sqrt(t)`, or the grid has 2^20 points; afterwards it gives up a quarter, down to 16
//!   points, if `m_hat` is below half of that. Between measured rounds it stays as it is, and the budget is not looked after: by
//!   default `m_hat` may exceed it there, and the inexactness that was not measured may, too. Where it has exceeded it by what was
//!   carried over, no grid keeps the budget in the next measured round, and that one grows to its limit. `measure = "always"` keeps
//!   the budget in every round, up to that limit; with `"never"` the grid could not adapt, and is refused.

use serde::{Deserialize, Serialize};

use super::climb::{Climber, Within};
use super::multi_start::{MultiStart, top};
use super::{MaximizeError, Region};
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::surrogate::points::Points;

/// The name of the shift that makes utilities non-negative.
pub const SHIFT: &str = "minimum over the reference points";

/// Points of a full reference solve.
pub const REFERENCE_POINTS: usize = 2_048;
/// Climbs from the best of them, beside that from the chosen point; the default solver makes 6, from 4 kept candidates and 2 fresh ones.
const REFERENCE_CLIMBS: usize = 8;
/// The adaptive grid is never smaller or larger than this.
const GRID_RANGE: (usize, usize) = (16, 1 << 20);

/// When the reference is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Never: no estimate.
    Never,
    /// In rounds 1, 2, 4, 8, ..., counted from 0; the others take over the last estimate.
    #[default]
    Scheduled,
    /// In every round.
    Always,
}

/// The accumulated inexactness of a study so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Rounds accounted for.
    pub rounds: usize,
    /// Rounds in which the reference was solved.
    pub measured: usize,
    /// The last estimate of `eta`; none counts as 1.
    pub eta_hat: Option<f64>,
    /// The sum of `1 - eta`, by the last estimate in rounds that were not measured.
    pub m_hat: f64,
    /// The next round in which the reference is solved.
    pub next: usize,
    /// The adaptive grid's size.
    pub grid: Option<usize>,
}

/// One comparison with a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate of `eta`.
    pub eta_hat: f64,
    /// The largest utility known.
    pub best: f64,
    /// The smallest utility over the reference points: the shift.
    pub floor: f64,
}

/// Compares the utility `value` of a chosen point `x` with a stronger solve of the same problem: climbs from the best
/// of `points` Sobol points and from `x` itself. If `x` had to be `within` a box, so have the points, of which constraints and
/// whole numbers may then leave fewer, and the climbs.
pub fn estimate(
    utility: &dyn Acquisition,
    region: &Region<'_>,
    within: Option<&Within>,
    (x, value): (&[f64], f64),
    points: usize,
    rng: &mut Stream,
) -> Result<Estimate, MaximizeError> {
    // Over a pool the search was exhaustive: no solve is stronger.
    if region.space.as_pool().is_some() {
        return Ok(Estimate { eta_hat: 1.0, best: value, floor: value });
    }
    let grid = region.sobol(points, rng)?;
    let grid = match within {
        Some(within) => shrunk(&grid, within, region),
        None => grid,
    };
    let values = utility.values(&grid);
    let floor = values.iter().copied().filter(|v| v.is_finite()).fold(value, f64::min);
    let mut starts = grid.select(&top(&values, REFERENCE_CLIMBS));
    starts.push(x);
    let climber = Climber { within: within.cloned(), ..Climber::default() };
    let reference = MultiStart { starts: starts.len(), grid: 0, climber, only_converged: false };
    let best = reference.climb_from(utility, region, &starts).map_or(value, |m| m.value.max(value));
    Ok(Estimate { eta_hat: eta(value, best, floor), best, floor })
}

/// The points of the cube moved into a box, without those that may not be suggested there.
fn shrunk(points: &Points, within: &Within, region: &Region<'_>) -> Points {
    let mut inside = Points::new(region.space.dims());
    for i in 0..points.len() {
        let mut x = points.point(i);
        x.iter_mut().zip(&within.0).for_each(|(x, (low, high))| *x = low + (high - low) * *x);
        region.space.snap(&mut x);
        if within.contains(&x) && region.space.is_feasible(&x) {
            inside.push(&x);
        }
    }
    inside
}

/// `(value - floor) / (best - floor)`; 1 where the utility is flat, 0 for a utility of minus infinity if others are finite.
pub fn eta(value: f64, best: f64, floor: f64) -> f64 {
    if value >= best {
        return 1.0;
    }
    let range = best - floor;
    if range.is_finite() { ((value - floor) / range).clamp(0.0, 1.0) } else { 0.0 }
}

impl Ledger {
    /// Whether to compare this round's maximization with a reference.
    pub fn is_due(&self, measure: Measure) -> bool {
        match measure {
            Measure::Never => false,
            Measure::Scheduled => self.rounds >= self.next.max(1),
            Measure::Always => true,
        }
    }

    /// Accounts for a round; `estimate` if it was measured.
    pub fn record(&mut self, estimate: Option<f64>) {
        if let Some(eta) = estimate {
            self.eta_hat = Some(eta);
            self.measured += 1;
            // Rounds 1, 2, 4, 8, ...: a reference solve costs as much as several suggestions, so there are only log2(t) of them.
            self.next = 2 * self.rounds.max(1);
        }
        self.m_hat += 1.0 - self.eta_hat.unwrap_or(1.0);
        self.rounds += 1;
    }

    /// Whether a round with this estimate would keep the sum below `budget * sqrt(t)`.
    pub fn within(&self, eta: f64, budget: f64) -> bool {
        self.m_hat + 1.0 - eta <= budget * ((self.rounds + 1) as f64).sqrt()
    }

    /// The adaptive grid for the next try: twice as large if this round's solution was not good enough.
    pub fn enlarge(&mut self, first: usize) {
        self.grid = Some((2 * self.grid.unwrap_or(first)).min(GRID_RANGE.1));
    }

    /// A quarter less if less than half of the budget is used: for rounds that were measured, since what is carried over is no
    /// ground for it.
    pub fn relax(&mut self, budget: f64, first: usize) {
        let grid = self.grid.unwrap_or(first);
        let used = self.m_hat / (budget * (self.rounds.max(1) as f64).sqrt());
        self.grid = Some(if used < 0.5 { (grid * 3 / 4).max(GRID_RANGE.0) } else { grid });
    }

    /// Whether the adaptive grid cannot grow any more.
    pub fn is_exhausted(&self) -> bool {
        self.grid == Some(GRID_RANGE.1)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rand::SeedableRng;

    use super::*;
    use crate::maximize::Taken;
    use crate::maximize::function::FromFn;
    use crate::space::{Pool, Space};
    use crate::strategy::algorithm::Algorithm;
    use crate::study::Study;

    const LOW: f64 = f64::NEG_INFINITY;

    proptest! {
        #[test]
        fn eta_is_a_share(a in -1e300..1e300_f64, b in -1e300..1e300_f64, c in -1e300..1e300_f64) {
            let mut sorted = [a, b, c];
            sorted.sort_by(f64::total_cmp);
            let [floor, value, best] = sorted;
            prop_assert!((0.0..=1.0).contains(&eta(value, best, floor)));
        }
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "exact by construction")]
    fn eta_by_hand() {
        assert_eq!(eta(2.0, 3.0, 1.0), 0.5);
        assert_eq!(eta(3.0, 3.0, 1.0), 1.0);
        assert_eq!(eta(1.0, 3.0, 1.0), 0.0);
        assert_eq!(eta(1.0, 1.0, 1.0), 1.0, "flat");
        assert_eq!(eta(LOW, LOW, LOW), 1.0, "hopeless everywhere");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "exact by construction")]
    fn a_hopeless_point_beside_a_good_one_has_no_eta() {
        // The range is infinite then, and passed for flat.
        assert_eq!(eta(LOW, 3.0, LOW), 0.0);
    }

    #[test]
    fn estimates_compare_with_a_stronger_solve() {
        let space = Space::bounds(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let utility = FromFn(|u: &[f64]| 1.0 - (u[0] - 0.3).powi(2) - (u[1] - 0.7).powi(2));
        let of = |x: [f64; 2]| {
            estimate(&utility, &region, None, (&x, utility.value(&x)), 256, &mut Stream::seed_from_u64(1))
                .unwrap()
        };
        let exact = of([0.3, 0.7]);
        assert!((exact.eta_hat - 1.0).abs() < 1e-9 && (exact.best - 1.0).abs() < 1e-9, "{exact:?}");
        // The floor is nearly the corner (1, 0), where the utility is 1 - 0.98.
        let middling = of([0.8, 0.7]);
        assert!((middling.eta_hat - (1.0 - 0.25 / 0.98)).abs() < 0.05, "{middling:?}");
        assert!(of([1.0, 0.0]).eta_hat.abs() < 1e-9);
    }

    /// The best point of a box is exact, however much higher the utility is elsewhere.
    #[test]
    fn estimates_stay_in_the_box_that_the_point_was_held_in() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 0, 10)
            .constraint("c", "x * n <= 4")
            .build()
            .unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let utility = FromFn(|u: &[f64]| u[0]);
        let of = |x: &[f64], within: Option<&Within>| {
            let mut rng = Stream::seed_from_u64(1);
            estimate(&utility, &region, within, (x, x[0]), 256, &mut rng).unwrap()
        };
        let within = Within(vec![(0.2, 0.6), (0.3, 0.7)]);
        let (best, middle) = ([0.6, space.coordinate_of_level(1, 5)], [0.4, space.coordinate_of_level(1, 5)]);
        let held = of(&best, Some(&within));
        assert!((held.eta_hat - 1.0).abs() < 1e-9 && held.floor >= 0.2, "{held:?}");
        assert!((of(&middle, Some(&within)).eta_hat - 0.5).abs() < 0.05);
        assert!(of(&best, None).eta_hat < 0.7);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "exact by construction")]
    fn nothing_is_stronger_than_looking_at_every_row() {
        let space = Space::pool(Pool::new(vec![0.0, 1.0, 2.0], 1).unwrap());
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let utility = FromFn(|u: &[f64]| u[0]);
        let found =
            estimate(&utility, &region, None, (&[0.5], 0.5), 64, &mut Stream::seed_from_u64(1)).unwrap();
        assert_eq!(found.eta_hat, 1.0);
    }

    #[test]
    fn inexactness_adds_up_and_is_carried_over() {
        let mut ledger = Ledger::default();
        ledger.record(None);
        assert_eq!((ledger.m_hat, ledger.rounds, ledger.measured), (0.0, 1, 0));
        ledger.record(Some(0.75));
        ledger.record(None);
        ledger.record(Some(1.0));
        ledger.record(None);
        assert_eq!((ledger.m_hat, ledger.rounds, ledger.measured), (0.5, 5, 2));
        assert_eq!(ledger.eta_hat, Some(1.0));
    }

    #[test]
    fn references_are_solved_in_rounds_1_2_4_8() {
        let mut ledger = Ledger::default();
        let mut due = Vec::new();
        for round in 0..40 {
            assert!(ledger.is_due(Measure::Always) && !ledger.is_due(Measure::Never));
            let now = ledger.is_due(Measure::Scheduled);
            due.extend(now.then_some(round));
            ledger.record(now.then_some(1.0));
        }
        assert_eq!(due, [1, 2, 4, 8, 16, 32]);
    }

    #[test]
    fn grids_double_and_relax_within_their_range() {
        let mut ledger = Ledger::default();
        ledger.enlarge(100);
        assert_eq!(ledger.grid, Some(200));
        (0..30).for_each(|_| ledger.enlarge(100));
        assert!(ledger.is_exhausted());
        (0..60).for_each(|_| ledger.relax(0.1, 100));
        assert_eq!(ledger.grid, Some(GRID_RANGE.0));
        ledger.m_hat = 1.0;
        ledger.relax(0.1, 100);
        assert_eq!(ledger.grid, Some(GRID_RANGE.0), "above half of the budget nothing is given back");
    }

    /// By default most rounds are not measured. A budget that is never used up lets the grid shrink, a quarter for each measurement,
    /// and no further: what is carried over is no ground for it.
    #[test]
    fn the_adaptive_grid_stays_as_it_is_between_measurements() {
        let options =
            serde_json::json!({"solver": {"name": "adaptive-grid", "budget": 1e6}, "initial_points": 4});
        let algorithm = Algorithm::with_options("gp-ucb", options.as_object().unwrap().clone()).unwrap();
        let space = Space::bounds(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let mut study = Study::builder().space(space).algorithm(algorithm).seed(1).build().unwrap();
        let mut grids = Vec::new();
        for _ in 0..14 {
            let trial = study.ask(1).unwrap().remove(0);
            let x = trial.numbers();
            study.tell(trial.number, (x[0] - 0.3).powi(2) + (5.0 * x[1]).sin()).unwrap();
            grids.extend(study.diagnostics().unwrap().inexactness.as_ref().map(|i| i.grid.unwrap()));
        }
        // Measured in rounds 1, 2, 4 and 8.
        assert_eq!(grids, [75, 56, 56, 42, 42, 42, 42, 31, 31]);
    }

    /// The sum of `1 - eta` stays below `budget * sqrt(t)` in every one of 50 rounds, by grids that a fixed size of the
    /// first would not have kept there.
    #[test]
    fn the_adaptive_grid_keeps_its_budget() {
        const BUDGET: f64 = 0.1;
        let options = serde_json::json!({
            "solver": {"name": "adaptive-grid", "budget": BUDGET, "first": 16}, "measure": "always", "initial_points": 4
        });
        let algorithm = Algorithm::with_options("gp-ucb", options.as_object().unwrap().clone()).unwrap();
        let space = Space::bounds(&[(0.0, 1.0), (0.0, 1.0)]).unwrap();
        let mut study = Study::builder().space(space).algorithm(algorithm).seed(1).build().unwrap();
        let (mut last, mut largest) = (0.0, 0);
        for t in 0..54_usize {
            let trial = study.ask(1).unwrap().remove(0);
            let x = trial.numbers();
            study.tell(trial.number, (x[0] - 0.3).powi(2) + (5.0 * x[1]).sin()).unwrap();
            let Some(inexactness) = &study.diagnostics().unwrap().inexactness else {
                assert!(t < 4, "measured in every round of the model");
                continue;
            };
            assert_eq!((inexactness.rounds, inexactness.measured), (t - 3, t - 3));
            assert!((0.0..=1.0).contains(&inexactness.eta_hat));
            assert!(inexactness.m_hat >= last, "a sum of what is not negative");
            assert!(inexactness.m_hat <= BUDGET * ((t - 3) as f64).sqrt(), "round {t}: {inexactness:?}");
            last = inexactness.m_hat;
            largest = largest.max(inexactness.grid.unwrap());
        }
        assert!(last > 0.0 && largest > 16, "it had something to adapt to");
    }
}
