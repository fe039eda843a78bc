//! From a start to a local maximum: numbers by a gradient (or simplex) method, integers and categories by neighbours.
//!
//! Discrete coordinates are searched, not rounded: all single changes are scored at once, the best one is taken if it
//! improves, and the continuous coordinates are climbed again. [`Discrete::Round`] keeps the habit of the literature
//! (relax, climb, round), to reproduce published results.

use serde::{Deserialize, Serialize};

use super::{Region, Work};
use crate::acquisition::Acquisition;
use crate::math::conjugate_gradient::ConjugateGradient;
use crate::math::lbfgsb::Lbfgsb;
use crate::math::minimum::Minimum;
use crate::math::nelder_mead::NelderMead;
use crate::space::Kind;
use crate::surrogate::points::Points;

/// Alternations between neighbours and continuous climbing; more were never needed in tests on ten mixed parameters.
const MAX_ALTERNATIONS: usize = 8;
/// Neighbours of one discrete coordinate that are looked at: all of a category's, or steps of 1, 2, 4, ... levels.
const MAX_NEIGHBORS: u64 = 32;

/// The method for continuous coordinates.
#[derive(Clone, Debug)]
pub enum LocalMethod {
    /// Quasi-Newton with bounds.
    Lbfgsb(Lbfgsb),
    /// Simplex search: no gradients.
    NelderMead(NelderMead),
    /// Nonlinear conjugate gradients, clipped to the box.
    ConjugateGradient(ConjugateGradient),
}

/// How integers and categories are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Discrete {
    /// Neighbour moves, alternating with the continuous coordinates.
    #[default]
    Search,
    /// All coordinates are climbed as if continuous, then rounded.
    Round,
}

/// A part of the cube: bounds by coordinate.
#[derive(Clone, Debug, PartialEq)]
pub struct Within(pub Vec<(f64, f64)>);

impl Within {
    /// Whether the point lies inside.
    pub fn contains(&self, x: &[f64]) -> bool {
        x.iter().zip(&self.0).all(|(x, (low, high))| low <= x && x <= high)
    }
}

/// A way to climb.
#[derive(Clone, Debug)]
pub struct Climber {
    /// Bounds of the continuous coordinates; `None` is the whole cube.
    pub within: Option<Within>,
    /// The method for continuous coordinates.
    pub method: LocalMethod,
    /// How discrete coordinates are searched.
    pub discrete: Discrete,
    /// Step of forward differences in place of analytic gradients, as the authors of Kim et al. 2025 ran their solvers.
    pub finite_difference: Option<f64>,
}

impl Default for Climber {
    /// L-BFGS-B on analytic gradients, stopped when little is left to gain.
    fn default() -> Self {
        Self {
            method: LocalMethod::Lbfgsb(Lbfgsb {
                max_iterations: 30,
                max_evaluations: 40,
                gradient_tolerance: 1e-6,
                value_tolerance: 1e-7,
                ..Lbfgsb::default()
            }),
            discrete: Discrete::Search,
            finite_difference: None,
            within: None,
        }
    }
}

/// Where a climb ended.
#[derive(Clone, Debug)]
pub struct Climbed {
    /// A feasible point of the space.
    pub x: Vec<f64>,
    /// Its utility.
    pub value: f64,
    /// Whether the method stopped by one of its tolerances.
    pub converged: bool,
    /// The evaluations it took.
    pub work: Work,
}

impl Climber {
    /// Climbs from `start`, a feasible point; the result is feasible and no worse.
    pub fn climb(&self, utility: &dyn Acquisition, region: &Region<'_>, start: &[f64]) -> Climbed {
        let kinds = region.space.kinds();
        let round = self.discrete == Discrete::Round;
        let free: Vec<bool> = kinds.iter().map(|k| round || *k == Kind::Continuous).collect();
        let mut at = Climbed {
            x: start.to_vec(),
            value: utility.value(start),
            converged: true,
            work: Work { values: 1, gradients: 0 },
        };
        if free.contains(&true) {
            self.climb_free(utility, region, &free, &mut at);
        }
        let searched = !round && kinds.iter().any(|k| *k != Kind::Continuous);
        for _ in 0..if searched { MAX_ALTERNATIONS } else { 0 } {
            if !step_to_neighbor(utility, region, &mut at) {
                break;
            }
            if free.contains(&true) {
                self.climb_free(utility, region, &free, &mut at);
            }
        }
        at
    }

    /// Climbs the free coordinates and accepts the result if it is feasible and better.
    fn climb_free(&self, utility: &dyn Acquisition, region: &Region<'_>, free: &[bool], at: &mut Climbed) {
        let bounds = |k: usize| match &self.within {
            _ if !free[k] => (at.x[k], at.x[k]),
            Some(Within(bounds)) => bounds[k],
            None => (0.0, 1.0),
        };
        let (lower, upper): (Vec<f64>, Vec<f64>) = (0..free.len()).map(bounds).unzip();
        let minimum = self.minimize(utility, &at.x, &lower, &upper, &mut at.work);
        at.converged = minimum.stop.converged();
        let start = at.x.clone();
        // Predicates have no gradient: from an infeasible end, backtrack towards the start until it is feasible.
        let mut share = 1.0;
        for _ in 0..if region.space.is_constrained() { 6 } else { 1 } {
            // In this form a share of 1 gives `b` exactly; `a + (b - a)` would miss a bound by rounding.
            let mut x: Vec<f64> =
                start.iter().zip(&minimum.x).map(|(a, b)| (1.0 - share) * a + share * b).collect();
            region.space.snap(&mut x);
            if region.space.is_feasible(&x) {
                let value = utility.value(&x);
                at.work.values += 1;
                if value > at.value {
                    at.x = x;
                    at.value = value;
                    return;
                }
            }
            share *= 0.5;
        }
    }

    fn minimize(
        &self,
        utility: &dyn Acquisition,
        start: &[f64],
        lower: &[f64],
        upper: &[f64],
        work: &mut Work,
    ) -> Minimum {
        let mut spent = Work::default();
        let downhill = |x: &[f64], gradient: &mut [f64]| match self.finite_difference {
            None => {
                spent.gradients += 1;
                let value = utility.value_and_gradient(x, gradient);
                gradient.iter_mut().for_each(|g| *g = -*g);
                -value
            }
            Some(step) => {
                spent.values += 1 + x.len();
                -forward_differences(utility, x, step, gradient)
            }
        };
        let minimum = match &self.method {
            LocalMethod::Lbfgsb(method) => method.minimize(start, lower, upper, downhill),
            LocalMethod::ConjugateGradient(method) => method.minimize(start, lower, upper, downhill),
            LocalMethod::NelderMead(method) => {
                let minimum = method.minimize(start, lower, upper, |x| -utility.value(x));
                spent.values += minimum.evaluations;
                minimum
            }
        };
        *work += spent;
        minimum
    }
}

/// The negative gradient by forward differences (backward at the upper end of the cube); returns the value.
fn forward_differences(utility: &dyn Acquisition, x: &[f64], step: f64, gradient: &mut [f64]) -> f64 {
    let mut points = Points::new(x.len());
    points.push(x);
    let mut moved = x.to_vec();
    let signed: Vec<f64> = x.iter().map(|x| if x + step > 1.0 { -step } else { step }).collect();
    for k in 0..x.len() {
        moved[k] = x[k] + signed[k];
        points.push(&moved);
        moved[k] = x[k];
    }
    let values = utility.values(&points);
    for (k, gradient) in gradient.iter_mut().enumerate() {
        *gradient = -(values[k + 1] - values[0]) / signed[k];
    }
    values[0]
}

/// Takes the best single change of a discrete coordinate if it improves.
fn step_to_neighbor(utility: &dyn Acquisition, region: &Region<'_>, at: &mut Climbed) -> bool {
    let space = region.space;
    let mut neighbors = Points::new(at.x.len());
    let mut moved = at.x.clone();
    for (k, kind) in space.kinds().iter().enumerate() {
        let level = space.level_of(k, at.x[k]);
        for other in neighbor_levels(*kind, level) {
            moved[k] = space.coordinate_of_level(k, other);
            if space.is_feasible(&moved) {
                neighbors.push(&moved);
            }
        }
        moved[k] = at.x[k];
    }
    let values = utility.values(&neighbors);
    at.work.values += values.len();
    let mut best = None;
    for (i, value) in values.iter().enumerate() {
        if *value > at.value {
            at.value = *value;
            best = Some(i);
        }
    }
    if let Some(i) = best {
        neighbors.copy_point(i, &mut at.x);
    }
    best.is_some()
}

/// Levels one move away: every other category, or ordered levels at distances 1, 2, 4, ...
fn neighbor_levels(kind: Kind, level: u64) -> Vec<u64> {
    match kind {
        Kind::Continuous => Vec::new(),
        // A window of categories around the current one, wrapping: all of them unless there are very many.
        Kind::Category(levels) => {
            (1..levels.min(MAX_NEIGHBORS)).map(|step| (level + step) % levels).collect()
        }
        Kind::Levels(levels) => {
            let steps = (0..MAX_NEIGHBORS).map(|e| 1_u64 << e).take_while(|step| *step < levels);
            steps
                .flat_map(|step| [level.checked_sub(step), level.checked_add(step).filter(|l| *l < levels)])
                .flatten()
                .collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::math::conjugate_gradient::Outside;
    use crate::math::rng::Stream;
    use crate::maximize::function::FromFn;
    use crate::maximize::multi_start::MultiStart;
    use crate::maximize::{Maximize, Taken};
    use crate::space::Space;

    fn climb(climber: &Climber, utility: &dyn Acquisition, space: &Space, start: &[f64]) -> Climbed {
        let none = Taken::default();
        climber.climb(utility, &Region { space, taken: &none, batch: &none, apart: 0.0 }, start)
    }

    fn best_of_starts(climber: Climber, utility: &dyn Acquisition, space: &Space) -> f64 {
        let none = Taken::default();
        let region = Region { space, taken: &none, batch: &none, apart: 0.0 };
        let search = MultiStart { starts: 6, grid: 32, climber, only_converged: false };
        search.maximize(utility, &region, &mut Stream::seed_from_u64(1)).unwrap().value
    }

    fn rounding() -> Climber {
        Climber { discrete: Discrete::Round, ..Climber::default() }
    }

    /// A narrow valley between grid points: the relaxed optimum (0.59, 0.51) rounds to (0.55, 0.55), far up its side.
    #[test]
    fn search_finds_the_exhaustive_optimum_where_rounding_fails() {
        let space = Space::builder()
            .int("p", 1, 10)
            .int("q", 1, 10)
            .categorical("c", ["a", "b", "d"])
            .build()
            .unwrap();
        let utility = FromFn(|u: &[f64]| {
            let category = (u[2] * 3.0).floor();
            -100.0 * (u[0] - u[1] - 0.08).powi(2) - (u[0] + u[1] - 1.1).powi(2) + 0.1 * (category - 1.0).abs()
        });
        let exhaustive = space.points().unwrap().map(|u| utility.value(&u)).fold(f64::NEG_INFINITY, f64::max);
        let searched = best_of_starts(Climber::default(), &utility, &space);
        assert!((searched - exhaustive).abs() < 1e-12, "{searched} {exhaustive}");
        let end = climb(&rounding(), &utility, &space, &[0.55, 0.55, 0.5]);
        assert!(end.value < exhaustive - 0.1, "rounding was lucky: {}", end.value);
    }

    #[test]
    fn search_finds_the_optimum_of_a_mixed_problem() {
        // Each pair of levels has its own best x; only one pair has the highest hill, and it is next to a deep hole.
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 0, 4)
            .categorical("c", ["a", "b", "d"])
            .build()
            .unwrap();
        let hill = |n: f64, c: f64| ((7.0 * n + 5.0 * c) % 11.0 / 11.0, (3.0 * n + 4.0 * c) % 13.0);
        let utility = FromFn(|u: &[f64]| {
            let (center, height) = hill((u[1] * 5.0).floor(), (u[2] * 3.0).floor());
            height - 50.0 * (u[0] - center).powi(2)
        });
        let levels = (0..5).flat_map(|n| (0..3).map(move |c| hill(f64::from(n), f64::from(c)).1));
        let highest = levels.fold(f64::NEG_INFINITY, f64::max);
        let found = best_of_starts(Climber::default(), &utility, &space);
        assert!((found - highest).abs() < 1e-6, "{found} {highest}");
    }

    #[test]
    fn neighbors_cover_categories_and_double_their_distance_on_levels() {
        let sorted = |kind, level| {
            let mut levels = neighbor_levels(kind, level);
            levels.sort_unstable();
            levels
        };
        assert_eq!(sorted(Kind::Category(5), 2), [0, 1, 3, 4]);
        assert_eq!(sorted(Kind::Category(5), 4), [0, 1, 2, 3]);
        assert_eq!(sorted(Kind::Levels(10), 0), [1, 2, 4, 8]);
        assert_eq!(sorted(Kind::Levels(10), 9), [1, 5, 7, 8]);
        assert_eq!(sorted(Kind::Levels(10), 4), [0, 2, 3, 5, 6, 8]);
        for single in [Kind::Continuous, Kind::Category(1), Kind::Levels(1)] {
            assert!(sorted(single, 0).is_empty(), "{single:?}");
        }
        let many = sorted(Kind::Category(1000), 990);
        assert_eq!(many.len(), 31);
        assert!(
            many.windows(2).all(|w| w[0] < w[1]) && !many.contains(&990) && many.iter().all(|l| *l < 1000)
        );
        // The widest integer: no shift overflows.
        assert!(sorted(Kind::Levels(1 << 46), 1 << 45).iter().all(|l| *l < 1 << 46));
    }

    #[test]
    fn constrained_climbs_stay_feasible_and_get_no_worse() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .int("n", 1, 4)
            .constraint("sum", "x + y <= 0.8")
            .constraint("product", "n * x <= 1.5")
            .build()
            .unwrap();
        let utility = FromFn(|u: &[f64]| u[0] + 0.9 * u[1] + 0.5 * u[2]);
        let mut rng = Stream::seed_from_u64(2);
        for climber in [Climber::default(), rounding()] {
            for _ in 0..50 {
                let start = space.sample(&mut rng).unwrap();
                let end = climb(&climber, &utility, &space, &start);
                assert_eq!(space.violated(&end.x), None, "{start:?} {end:?}");
                assert!(end.value >= utility.value(&start));
                assert!((end.value - utility.value(&end.x)).abs() < 1e-15);
            }
        }
    }

    #[test]
    fn every_method_climbs_a_hill() {
        let space = Space::bounds(&[(0.0, 1.0); 3]).unwrap();
        let utility = FromFn(|u: &[f64]| {
            -(u[0] - 0.3).powi(2) - 2.0 * (u[1] - 0.6).powi(2) - 0.5 * (u[2] - 1.5).powi(2)
        });
        let methods = [
            LocalMethod::Lbfgsb(Lbfgsb::default()),
            LocalMethod::NelderMead(NelderMead::default()),
            // Clipped, as by default, it may take a corner for a summit: that is the habit it reproduces.
            LocalMethod::ConjugateGradient(ConjugateGradient {
                outside: Outside::Project,
                ..ConjugateGradient::default()
            }),
        ];
        for method in methods {
            for finite_difference in [None, Some(1e-8)] {
                let climber = Climber { method: method.clone(), finite_difference, ..Climber::default() };
                let end = climb(&climber, &utility, &space, &[0.9, 0.1, 0.2]);
                let gap = end.x.iter().zip([0.3, 0.6, 1.0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(gap < 1e-3 && end.converged, "{method:?} {end:?}"); // Nelder-Mead stops at 1e-4
                let gradients = finite_difference.is_none() && !matches!(method, LocalMethod::NelderMead(_));
                assert_eq!(end.work.gradients > 0, gradients, "{method:?}");
                assert!(end.work.values > 0);
            }
        }
    }

    /// A climb to `a + (b - a)` stopped one bit short of the bound `b`, and so suggested the same corner twice.
    #[test]
    fn a_climb_to_a_bound_ends_on_the_bound() {
        let space = Space::bounds(&[(-5.0, 10.0), (0.0, 15.0)]).unwrap();
        let utility = FromFn(|u: &[f64]| u[1] - u[0]);
        let mut corner = Taken::default();
        corner.insert(&[0.0, 1.0], None);
        let mut rng = Stream::seed_from_u64(3);
        for _ in 0..200 {
            let end = climb(&Climber::default(), &utility, &space, &space.sample(&mut rng).unwrap());
            assert!(corner.contains(&end.x, None), "{:?}", end.x);
        }
    }

    #[test]
    fn a_utility_that_is_not_a_number_leaves_the_start() {
        let space = Space::builder().float("x", 0.0, 1.0).int("n", 1, 3).build().unwrap();
        let end = climb(&Climber::default(), &FromFn(|_: &[f64]| f64::NAN), &space, &[0.25, 0.5]);
        assert_eq!(end.x, [0.25, 0.5]);
        assert!(end.value.is_nan());
    }
}
