//! A box around the best point that grows with success and shrinks without: Eriksson et al. 2019, "Scalable global optimization via
//! local Bayesian optimization", section 2 and App. A.
//!
//! In many dimensions no model fits everywhere, and the largest expected improvement lies in unexplored corners. The box keeps the
//! search where the model is informed.
//!
//! # Departures
//! There is one box, its center moves with the best point, and its size is found from the history alone, evaluation by evaluation:
//! three improvements double it, as many evaluations without one as there are dimensions (or four) halve it. From its smallest size it
//! starts again at the first one, around the same point.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::error::Error;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::Region;
use crate::maximize::climb::Within;
use crate::space::Kind;
use crate::strategy::gp::model::GpState;
use crate::strategy::history::{History, Outcome};
use crate::strategy::turn::Turn;
use crate::surrogate::points::Points;

/// Side of the first box, of the largest and of the smallest, in units of the cube.
const FIRST: f64 = 0.8;
const LARGEST: f64 = 1.6;
const SMALLEST: f64 = 0.007_812_5;
/// Improvements in a row that double the box.
const SUCCESSES: usize = 3;
/// An improvement is more than this share of half the range of the values.
const IMPROVEMENT: f64 = 1e-3;
/// Sides differ by the lengthscales, within these limits.
const WEIGHTS: (f64, f64) = (0.3, 3.0);

/// Flops that the candidates' triangular solves may cost: beyond about 1,000 evaluations there are fewer candidates ...
const CANDIDATE_FLOPS: usize = 400_000_000;
/// ... but no fewer than these.
const FEWEST: usize = 50;

/// Points of a batch, running ones included, that stay inside towards the end. More of them get in each other's way: with batches
/// of 20, all inside is worse than every third.
const FINISHERS: usize = 2;

const CANDIDATES: Range = Range::new(1.0, 1e6);
const EVERY: Range = Range::new(1.0, 1e6);
const FINISH: Range = Range::new(0.0, 1.0);

/// When suggestions stay near the best point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct TrustRegion {
    /// Candidates inside; fewer from about 1,000 evaluations on, where they would take most of the time. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// Every `every`-th point stays inside; 1 for all of them. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = EVERY.stated()))]
    pub every: usize,
    /// After this share of all trials, told or running, where their number is known, the first two points of every batch, to which
    /// running points belong, stay inside as well:
    /// what is found elsewhere could not be followed up any more. 1 for never. From 0 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = FINISH.stated()))]
    pub finish: f64,
    /// Points that need not stay inside are chosen by an upper confidence bound of this weight; by default as those inside.
    pub elsewhere: Option<BetaSchedule>,
}

impl Default for TrustRegion {
    fn default() -> Self {
        Self { candidates: 500, every: 1, finish: 1.0, elsewhere: None }
    }
}

/// The side of the box after this history.
fn side(history: &History) -> f64 {
    let values = history.outcomes().iter().map(|outcome| match outcome {
        Outcome::Value { y, .. } => *y,
        Outcome::Failed => f64::NEG_INFINITY,
    });
    let finite = values.clone().filter(|y| y.is_finite());
    let (low, high) = finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
    // Half the range, in halves: the difference of two large values may overflow.
    let tolerance = IMPROVEMENT * (high / 2.0 - low / 2.0);
    let patience = history.space().dims().max(4);
    let (mut side, mut best, mut successes, mut failures) = (FIRST, f64::NEG_INFINITY, 0, 0);
    for (i, y) in values.enumerate() {
        let better = y > best + if best.is_finite() { tolerance } else { 0.0 };
        best = best.max(y);
        // The initial design does not count.
        if i < 2 * patience {
            continue;
        }
        // Section 2: count successes and failures in a row; tau_succ successes double the side, tau_fail failures halve it.
        (successes, failures) = if better { (successes + 1, 0) } else { (0, failures + 1) };
        if successes == SUCCESSES {
            (side, successes) = ((2.0 * side).min(LARGEST), 0);
        } else if failures == patience {
            (side, failures) = (side / 2.0, 0);
            if side < SMALLEST {
                side = FIRST;
            }
        }
    }
    side
}

impl TrustRegion {
    /// Checks what serde cannot.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        CANDIDATES.check("trust_region.candidates", self.candidates)?;
        EVERY.check("trust_region.every", self.every)?;
        FINISH.check("trust_region.finish", self.finish)?;
        if let Some(elsewhere) = &self.elsewhere {
            elsewhere.validate().map_err(|e| e.of("trust_region.elsewhere"))?;
        }
        Ok(())
    }

    /// Whether the model's `t`-th point stays inside, which is the `i`-th of its batch.
    fn is_due(&self, t: usize, i: usize, history: &History) -> bool {
        let running = history.pending().len();
        let is_late = |budget: usize| (history.len() + running) as f64 >= self.finish * budget as f64;
        let finishes = self.finish < 1.0 && history.budget().is_some_and(is_late) && running + i < FINISHERS;
        finishes || t.is_multiple_of(self.every)
    }
}

/// The box of one turn.
pub(super) struct TrustBox {
    pub(super) region: TrustRegion,
    /// Points that the model had chosen before this turn.
    rounds: usize,
    /// The box itself, if a point of this turn has to stay inside.
    within: Option<Within>,
}

impl TrustBox {
    /// Places the box around the best point and adds candidates in it to the model.
    pub(super) fn new(region: TrustRegion, gp: &mut GpState, turn: &mut Turn<'_>) -> Self {
        let (rounds, first) = (turn.memo.ledger.rounds, turn.choices().len());
        let is_due = |i: usize| region.is_due(rounds + i, first + i, turn.history);
        let within = (0..turn.missing()).any(is_due).then(|| {
            let within = bounds(gp, turn.history);
            let candidates = candidates(&within, region.candidates, gp, turn.history, turn.rng);
            gp.add_fresh(&candidates);
            within
        });
        Self { region, rounds, within }
    }

    /// Whether the next point of the turn stays inside.
    pub(super) fn holds_next(&self, turn: &Turn<'_>) -> bool {
        self.region.is_due(self.rounds + turn.picked(), turn.choices().len(), turn.history)
    }

    /// Its bounds.
    pub(super) fn within(&self) -> Option<&Within> {
        self.within.as_ref()
    }
}

/// The center of the box: the evaluation with the best mean.
fn center(gp: &GpState) -> Vec<f64> {
    let means = gp.means_at_data();
    let best = (0..means.len()).max_by(|&a, &b| means[a].total_cmp(&means[b])).unwrap_or(0);
    gp.gp().points().point(best)
}

/// The box. Its sides are proportional to the lengthscales; their geometric mean is the side that the history gives.
fn bounds(gp: &GpState, history: &History) -> Within {
    let space = history.space();
    let center = center(gp);
    let side = side(history);
    let factor = gp.gp().kernel().factors.first();
    let lengthscale = |k: usize| factor?.lengthscale_of(k);
    let logs: Vec<f64> = (0..space.dims()).filter_map(|k| Some(lengthscale(k)?.ln())).collect();
    // Section 2: side_k = side * l_k / (prod_j l_j)^(1/d). The geometric mean is computed from logarithms.
    let middle = (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp();
    let bound = |k: usize| {
        if matches!(space.kinds()[k], Kind::Category(_)) {
            return (0.0, 1.0);
        }
        let weight = lengthscale(k).map_or(1.0, |l| (l / middle).clamp(WEIGHTS.0, WEIGHTS.1));
        let half = 0.5 * side * weight;
        ((center[k] - half).max(0.0), (center[k] + half).min(1.0))
    };
    Within((0..space.dims()).map(bound).collect())
}

/// Points of the box that differ from its center in about 20 coordinates, or in all if there are fewer (App. A).
fn candidates(
    Within(bounds): &Within,
    most: usize,
    gp: &GpState,
    history: &History,
    rng: &mut Stream,
) -> Points {
    let space = history.space();
    let region = Region::whole(space);
    let center = center(gp);
    let probability = (20.0 / space.dims() as f64).min(1.0);
    // A triangular solve costs n^2 flops a candidate.
    let n = gp.gp().len().max(1);
    let count = most.min((CANDIDATE_FLOPS / (n * n)).max(FEWEST));
    let mut points = Points::new(space.dims());
    let mut x = center.clone();
    // Two draws for each point wanted: constraints and unmoved points reject some.
    for _ in 0..2 * count {
        if points.len() == count {
            break;
        }
        for k in 0..x.len() {
            x[k] = center[k];
            if rng.random::<f64>() < probability {
                x[k] = match space.kinds()[k] {
                    Kind::Category(_) => region.moved(k, center[k], 1.0, rng),
                    _ => bounds[k].0 + (bounds[k].1 - bounds[k].0) * rng.random::<f64>(),
                };
            }
        }
        space.snap(&mut x);
        if x != center && space.is_feasible(&x) {
            points.push(&x);
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::Space;
    use crate::strategy::auto;
    use crate::strategy::gp::model::GpModel;
    use crate::strategy::history::{Choice, Duplicates};
    use crate::strategy::memo::Memo;
    use crate::surrogate::gp::kernel::Form;

    /// Values in order, at random points of the space.
    fn told(space: &Space, values: impl IntoIterator<Item = f64>) -> History {
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        for y in values {
            let x = space.sample(&mut rng).unwrap();
            let outcome =
                if y.is_nan() { Outcome::Failed } else { Outcome::Value { y, noise_variance: None } };
            history.add(&Choice { x, row: None }, outcome);
        }
        history
    }

    fn side_after(values: &[f64]) -> f64 {
        // Two dimensions: a patience of four, and eight values that count as the design.
        let design = (0..8).map(|_| 0.0);
        side(&told(&Space::bounds(&[(0.0, 1.0); 2]).unwrap(), design.chain(values.iter().copied())))
    }

    #[test]
    fn it_grows_with_success_and_shrinks_without() {
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} {b}");
        same(side_after(&[]), FIRST);
        same(side_after(&[0.0; 3]), FIRST);
        same(side_after(&[0.0; 4]), FIRST / 2.0);
        same(side_after(&[0.0, 0.0, 0.0, 1.0, 0.0]), FIRST);
        same(side_after(&[1.0, 2.0]), FIRST);
        same(side_after(&[1.0, 2.0, 3.0]), 2.0 * FIRST);
        same(side_after(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), LARGEST);
        // A failure is no improvement, nor is one by a thousandth of the spread.
        same(side_after(&[f64::NAN; 4]), FIRST / 2.0);
        same(side_after(&[5.0, 5.001, 5.002, 5.003, 5.004]), FIRST / 2.0);
        // Seven halvings lead below the smallest: it starts again.
        same(side_after(&[0.0; 27]), FIRST / 64.0);
        same(side_after(&[0.0; 28]), FIRST);
    }

    #[test]
    fn towards_the_end_the_first_points_of_a_batch_stay_inside() {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let region = TrustRegion { every: 3, finish: 0.5, ..TrustRegion::default() };
        let inside = |history: &History| [1, 2, 3, 4].map(|t| region.is_due(t, t - 1, history));
        let mut history = told(&space, [0.0; 9]);
        let usual = [false, false, true, false];
        assert_eq!(inside(&history), usual, "nobody knows when it ends");
        history.set_budget(Some(19));
        assert_eq!(inside(&history), usual, "not yet");
        history.set_budget(Some(18));
        assert_eq!(inside(&history), [true, true, true, false]);
        // What runs is part of the batch.
        history.proposed([(9, Choice { x: vec![0.5, 0.5], row: None })], Memo::default());
        assert_eq!(inside(&history), [true, false, true, false]);
        let never = TrustRegion { finish: 1.0, ..region };
        history.set_budget(Some(1));
        assert!(!never.is_due(1, 0, &history));
        assert!(TrustRegion { finish: 1.5, ..region }.validate().is_err());
        assert!(TrustRegion { finish: f64::NAN, ..region }.validate().is_err());
    }

    #[test]
    fn candidates_lie_in_the_box_around_the_best_point() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 0, 20)
            .categorical("c", ["a", "b", "d"])
            .build()
            .unwrap();
        let values: Vec<f64> = (0..30).map(|i| -f64::from((i - 17) * (i - 17))).collect();
        let history = told(&space, values);
        let mut model = GpModel::new(auto::model(Form::Anova, 3), 50);
        let mut rng = Seed(2).stream(Purpose::Experiment, 0, 0);
        let (gp, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
        let within = bounds(gp, &history);
        let points = candidates(&within, TrustRegion::default().candidates, gp, &history, &mut rng);
        assert!(points.len() > 100, "{}", points.len());
        let center = history.points().point(17);
        let inside = |x: &[f64]| {
            // Whole numbers are moved to the nearest, half a step beyond the bound at most.
            let (low, high) = within.0[1];
            within.0[0].0 <= x[0] && x[0] <= within.0[0].1 && low - 0.03 <= x[1] && x[1] <= high + 0.03
        };
        for i in 0..points.len() {
            let x = points.point(i);
            assert!(inside(&x) && space.is_feasible(&x) && x != center, "{x:?} {within:?}");
        }
        assert!(within.0[0].0 <= center[0] && center[0] <= within.0[0].1 && within.0[2] == (0.0, 1.0));
        assert!(within.0[0].1 - within.0[0].0 < 1.0, "{within:?}");
    }
}
