//! The best of finitely many points: a pool, a random grid, a Sobol grid.
//!
//! Random grid search is enough for sublinear regret if the grid grows with the rounds (Kim et al. 2025, Theorems 7
//! and 8, Assumption 5): `|X_t| = c t`, fresh uniform points in every round; Remark 10 has `t^2` and `t^d`.
//!
//! # Departures
//! - A grid that grows stops at [`super::solver::LARGEST_GRID`] points: `t^d` reaches it in round 100 in three dimensions, in round
//!   10 in six. From there on the theorems no longer apply.
//! - `t` counts the points that the model has chosen, those of a batch one by one, so that a grid grows within a batch; the paper has
//!   one point a round. Weights `beta_t` go by rounds that end when a result is told (`Rounds` of the memo): with batches, their `t`
//!   is smaller than that of the grids.
//! - Points that may not be suggested again are passed over. Uniform points of a box are never such, unless `apart` of `gp-ei` is set.

use super::{Maximize, MaximizeError, Maximum, Region, Work};
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::space::Pool;
use crate::surrogate::points::Points;

/// Rows that are scored at a time: a megabyte of coordinates if there are 16, and a multiple of the panels in which
/// models work, so that no value depends on it.
const PANEL: usize = 8192;

/// Every row of the pool.
#[derive(Clone, Copy, Debug)]
pub struct Exhaustive;

/// Uniform points.
#[derive(Clone, Copy, Debug)]
pub struct RandomGrid {
    /// How many.
    pub size: usize,
}

/// Scrambled Sobol points.
#[derive(Clone, Copy, Debug)]
pub struct SobolGrid {
    /// How many.
    pub size: usize,
}

impl Maximize for Exhaustive {
    fn maximize(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        _: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        let Some(pool) = region.space.as_pool() else {
            return Err(MaximizeError::NothingLeft { tried: 0 });
        };
        best_row(pool, region, |rows| utility.values(rows))
    }
}

impl Maximize for RandomGrid {
    fn maximize(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        let points = region.uniform(self.size, rng)?;
        best_of(&utility.values(&points), &points, region)
    }
}

impl Maximize for SobolGrid {
    fn maximize(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        let points = region.sobol(self.size, rng)?;
        best_of(&utility.values(&points), &points, region)
    }
}

/// The best row of the region's pool by `score` that is not taken; ties go to the lowest. Rows are scored in panels.
pub(crate) fn best_row(
    pool: &Pool,
    region: &Region<'_>,
    score: impl Fn(&Points) -> Vec<f64>,
) -> Result<Maximum, MaximizeError> {
    let mut values = Vec::with_capacity(pool.len());
    panels(pool).for_each(|rows| values.extend(score(&rows)));
    let row = best_where(&values, |row| region.is_taken(&[], Some(row)))?; // rows are known by number
    let work = Work { values: values.len(), gradients: 0 };
    Ok(Maximum { x: pool.point(row), row: Some(row), value: values[row], work })
}

/// All rows in order, in panels that are scored at once.
pub(crate) fn panels(pool: &Pool) -> impl Iterator<Item = Points> {
    (0..pool.len()).step_by(PANEL).map(|begin| {
        let rows = begin..(begin + PANEL).min(pool.len());
        Points::from_columns(pool.dims(), &pool.encoded(rows))
    })
}

/// The best of `points` by `values` that is not taken; ties go to the lowest index. If `points` are the rows of the
/// region's pool, the maximum names its row.
pub fn best_of(values: &[f64], points: &Points, region: &Region<'_>) -> Result<Maximum, MaximizeError> {
    let is_pool = region.space.as_pool().is_some_and(|pool| pool.len() == points.len());
    let row = |i: usize| is_pool.then_some(i);
    let best = best_where(values, |i| region.is_taken(&points.point(i), row(i)))?;
    let work = Work { values: values.len(), gradients: 0 };
    Ok(Maximum { x: points.point(best), row: row(best), value: values[best], work })
}

/// The place of the largest value that is not taken; ties go to the lowest.
fn best_where(values: &[f64], is_taken: impl Fn(usize) -> bool) -> Result<usize, MaximizeError> {
    let mut best: Option<usize> = None;
    for (i, value) in values.iter().enumerate() {
        let better = best.map_or(*value > f64::NEG_INFINITY || value.is_finite(), |b| *value > values[b]);
        if better && !value.is_nan() && !is_taken(i) {
            best = Some(i);
        }
    }
    // All utilities may be minus infinity (log EI far from any improvement); a point is suggested all the same.
    let best = best.or_else(|| (0..values.len()).find(|&i| !values[i].is_nan() && !is_taken(i)));
    match best {
        Some(i) => Ok(i),
        None if values.iter().all(|v| v.is_nan()) && !values.is_empty() => {
            Err(MaximizeError::NotFinite { tried: values.len() })
        }
        None => Err(MaximizeError::NothingLeft { tried: values.len() }),
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::maximize::Taken;
    use crate::maximize::function::FromFn;
    use crate::space::Space;

    /// Points 0, 1/4, 1/2, 3/4, 1 with the given values; `taken` of them are not to be suggested.
    fn pick(values: [f64; 5], taken: &[usize]) -> Result<f64, MaximizeError> {
        let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let points = Points::from_columns(1, &[0.0, 0.25, 0.5, 0.75, 1.0]);
        let (mut told, mut batch) = (Taken::default(), Taken::default());
        for (i, &place) in taken.iter().enumerate() {
            if i % 2 == 0 { &mut told } else { &mut batch }.insert(&points.point(place), None);
        }
        let region = Region { space: &space, taken: &told, batch: &batch, apart: 0.0 };
        best_of(&values, &points, &region).map(|maximum| {
            assert_eq!((maximum.row, maximum.work), (None, Work { values: 5, gradients: 0 }));
            maximum.x[0]
        })
    }

    const NAN: f64 = f64::NAN;
    const LOW: f64 = f64::NEG_INFINITY;

    #[test]
    fn ties_go_to_the_lowest_index() {
        assert_eq!(pick([1.0, 3.0, 2.0, 3.0, 0.0], &[]), Ok(0.25));
        assert_eq!(pick([0.0; 5], &[]), Ok(0.0));
        assert_eq!(pick([0.0; 5], &[0, 1]), Ok(0.5));
    }

    #[test]
    fn what_is_no_number_or_taken_is_passed_over() {
        assert_eq!(pick([NAN, 3.0, NAN, 2.0, NAN], &[1]), Ok(0.75));
        assert_eq!(pick([5.0, 4.0, 3.0, 2.0, 1.0], &[0, 1, 2]), Ok(0.75));
        assert_eq!(pick([NAN; 5], &[]), Err(MaximizeError::NotFinite { tried: 5 }));
        assert_eq!(pick([1.0; 5], &[0, 1, 2, 3, 4]), Err(MaximizeError::NothingLeft { tried: 5 }));
        assert_eq!(pick([1.0, NAN, NAN, NAN, NAN], &[0]), Err(MaximizeError::NothingLeft { tried: 5 }));
    }

    #[test]
    fn a_hopeless_point_is_better_than_none() {
        assert_eq!(pick([LOW; 5], &[]), Ok(0.0));
        assert_eq!(pick([LOW, NAN, LOW, LOW, LOW], &[0]), Ok(0.5));
        assert_eq!(pick([LOW, LOW, -1e308, LOW, LOW], &[]), Ok(0.5));
        assert_eq!(pick([1.0, f64::INFINITY, 2.0, LOW, 0.0], &[]), Ok(0.25));
    }

    #[test]
    fn pools_are_searched_by_row() {
        // Rows 1 and 3 have the same features and are still two rows.
        let space = Space::pool(Pool::new(vec![0.0, 2.0, 1.0, 2.0], 1).unwrap());
        let utility = FromFn(|u: &[f64]| u[0]);
        let (mut taken, none) = (Taken::default(), Taken::default());
        for expected in [Some(1), Some(3), Some(2), Some(0), None] {
            let region = Region { space: &space, taken: &taken, batch: &none, apart: 0.0 };
            let found = Exhaustive.maximize(&utility, &region, &mut Stream::seed_from_u64(0));
            assert_eq!(found.as_ref().ok().and_then(|m| m.row), expected);
            match found {
                Ok(maximum) => taken.insert(&maximum.x, maximum.row),
                Err(error) => assert_eq!(error, MaximizeError::NothingLeft { tried: 4 }),
            }
        }
    }

    #[test]
    fn a_row_is_found_in_whichever_panel_it_is() {
        let rows = 2 * PANEL + 5;
        for wanted in [0, PANEL - 1, PANEL, 2 * PANEL - 1, rows - 1] {
            let feature = |row| if row == wanted { 1.0 } else { row as f32 * 1e-6 };
            let pool = Pool::from_f32((0..rows).map(feature).collect(), 1).unwrap();
            let (space, none) = (Space::pool(pool), Taken::default());
            let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
            let found = Exhaustive
                .maximize(&FromFn(|u: &[f64]| u[0]), &region, &mut Stream::seed_from_u64(0))
                .unwrap();
            assert_eq!((found.row, found.x, found.work.values), (Some(wanted), vec![1.0], rows));
        }
    }

    #[test]
    fn grids_are_feasible_counted_and_repeatable() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 1, 4)
            .constraint("c", "x <= n / 5")
            .build()
            .unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let utility = FromFn(|u: &[f64]| u[0]);
        let random = |seed| {
            RandomGrid { size: 100 }.maximize(&utility, &region, &mut Stream::seed_from_u64(seed)).unwrap()
        };
        let sobol = |seed| {
            SobolGrid { size: 100 }.maximize(&utility, &region, &mut Stream::seed_from_u64(seed)).unwrap()
        };
        for maximum in [random(1), sobol(1)] {
            assert!(
                space.is_feasible(&maximum.x) && maximum.value > 0.5 && maximum.value <= 0.8,
                "{maximum:?}"
            );
            assert_eq!(maximum.work.values, 100);
        }
        assert_eq!((random(1), sobol(1)), (random(1), sobol(1)));
        assert_ne!(random(1), random(2));
        let error = Exhaustive.maximize(&utility, &region, &mut Stream::seed_from_u64(0)).unwrap_err();
        assert_eq!(error, MaximizeError::NothingLeft { tried: 0 });
    }
}
