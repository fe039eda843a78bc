//! From a start to a local maximum: numbers by a gradient (or simplex) method, integers and categories by neighbours.
//!
//! Discrete coordinates are searched, not rounded: all single changes are scored at once, the best one is taken if it
//! improves, and the continuous coordinates are climbed again. [`Discrete::Round`] keeps the habit of the literature
//! (relax, climb, round) for reproduction.

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
pub enum Method {
    /// Quasi-Newton with bounds.
    Lbfgsb(Lbfgsb),
    /// Simplex search: no gradients.
    NelderMead(NelderMead),
    /// Nonlinear conjugate gradients, clipped to the box.
    ConjugateGradient(ConjugateGradient),
}

/// What is done with integers and categories.
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

/// A way to climb.
#[derive(Clone, Debug)]
pub struct Climber {
    /// For continuous coordinates.
    pub method: Method,
    /// For the others.
    pub discrete: Discrete,
    /// Step of forward differences in place of analytic gradients, as the authors of Kim et al. 2025 ran their solvers.
    pub finite_difference: Option<f64>,
}

impl Default for Climber {
    /// L-BFGS-B on analytic gradients, stopped when little is left to gain.
    fn default() -> Self {
        Self {
            method: Method::Lbfgsb(Lbfgsb {
                max_iterations: 30,
                max_evaluations: 40,
                gradient_tolerance: 1e-6,
                value_tolerance: 1e-7,
                ..Lbfgsb::default()
            }),
            discrete: Discrete::Search,
            finite_difference: None,
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
    /// Whether the method met one of its tolerances.
    pub converged: bool,
    /// What it cost.
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
        let bound = |end: f64| -> Vec<f64> {
            at.x.iter().zip(free).map(|(x, free)| if *free { end } else { *x }).collect()
        };
        let minimum = self.minimize(utility, &at.x, &bound(0.0), &bound(1.0), &mut at.work);
        at.converged = minimum.stop.converged();
        let start = at.x.clone();
        // Predicates have no gradient: from an infeasible end go back along the way until it is feasible.
        let mut share = 1.0;
        for _ in 0..if region.space.is_constrained() { 6 } else { 1 } {
            // The first term vanishes at the end of the way, where `a + (b - a)` would miss a bound by rounding.
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
            Method::Lbfgsb(method) => method.minimize(start, lower, upper, downhill),
            Method::ConjugateGradient(method) => method.minimize(start, lower, upper, downhill),
            Method::NelderMead(method) => {
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
