//! Maximization of a function that a network gives.

use super::encoded_history::CENTERS;
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::maximize::climb::Climber;
use crate::maximize::grid::{Exhaustive, best_of};
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::{Maximize, MaximizeError, Maximum, Region};
use crate::strategy::turn::Turn;
use crate::surrogate::neural::draw::Draw;
use crate::surrogate::points::Points;

/// Candidates around the best evaluations.
const AROUND: usize = 600;
/// Rounds of candidates around the best one, without gradients ...
const ZOOMS: usize = 4;
/// ... and how many in each.
const ZOOMED: usize = 250;

/// A set of candidates: uniform ones, and some around the best evaluations.
pub(crate) fn candidates(
    region: &Region<'_>,
    count: usize,
    centers: &[Vec<f64>],
    rng: &mut Stream,
) -> Result<Points, MaximizeError> {
    let mut points = region.sobol(count, rng)?;
    for center in centers {
        let around = region.around(center, AROUND / CENTERS, rng);
        (0..around.len()).for_each(|i| points.push(&around.point(i)));
    }
    Ok(points)
}

/// The number of candidates, and the number of climbs from the best of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchBudget {
    pub(crate) candidates: usize,
    pub(crate) polished: usize,
}

/// Maximizes a drawn function: over a pool by evaluating every row, elsewhere by climbs from the best candidates. Without
/// gradients, further candidates close in on the best one.
pub(crate) fn maximize(
    draw: &Draw,
    budget: SearchBudget,
    centers: &[Vec<f64>],
    turn: &mut Turn<'_>,
) -> Result<Maximum, MaximizeError> {
    let (region, rng) = turn.region_and_rng();
    if region.space.as_pool().is_some() {
        return Exhaustive.maximize(draw, &region, rng);
    }
    let points = candidates(&region, budget.candidates, centers, rng)?;
    let values = Acquisition::values(draw, &points);
    if budget.polished == 0 {
        return best_of(&values, &points, &region);
    }
    if !draw.is_differentiable() {
        return close_in(|points| Acquisition::values(draw, points), &values, &points, &region, rng);
    }
    let starts = points.select(&top(&values, budget.polished));
    let climbs =
        MultiStart { starts: starts.len(), grid: 0, climber: Climber::default(), only_converged: false };
    let mut best = match climbs.climb_from(draw, &region, &starts) {
        Ok(best) => best,
        Err(MaximizeError::NothingLeft { .. }) => best_of(&values, &points, &region)?,
        Err(error) => return Err(error),
    };
    best.work.values += values.len();
    Ok(best)
}

/// Starts at the best of `points`; a few times, tries candidates around the best point so far.
pub(crate) fn close_in(
    mut score: impl FnMut(&Points) -> Vec<f64>,
    values: &[f64],
    points: &Points,
    region: &Region<'_>,
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    let mut best = best_of(values, points, region)?;
    for _ in 0..ZOOMS {
        let around = region.around(&best.x, ZOOMED, rng);
        if around.is_empty() {
            break;
        }
        if let Ok(next) = best_of(&score(&around), &around, region) {
            best.work += next.work;
            if next.value > best.value {
                best = Maximum { work: best.work, ..next };
            }
        }
    }
    Ok(best)
}
