//! The best of finitely many points: a pool, a random grid, a Sobol grid.
//!
//! Random grid search is enough for sublinear regret if the grid grows with the rounds (Kim et al. 2025, Theorems 7
//! and 8, Assumption 5): `|X_t| = c t`, fresh uniform points in every round.

use super::{Maximize, MaximizeError, Maximum, Region, Work};
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::surrogate::points::Points;

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
        let points = Points::from_columns(pool.dims(), pool.encoded());
        best_of(&utility.values(&points), &points, region)
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

/// The best of `points` by `values` that is not taken; ties go to the lowest index. If `points` are the rows of the
/// region's pool, the maximum names its row.
pub fn best_of(values: &[f64], points: &Points, region: &Region<'_>) -> Result<Maximum, MaximizeError> {
    let work = Work { values: values.len(), gradients: 0 };
    let is_pool = region.space.as_pool().is_some_and(|pool| pool.len() == points.len());
    let row = |i: usize| is_pool.then_some(i);
    let mut best: Option<usize> = None;
    for (i, value) in values.iter().enumerate() {
        let better = best.map_or(*value > f64::NEG_INFINITY || value.is_finite(), |b| *value > values[b]);
        if better && !value.is_nan() && !region.is_taken(&points.point(i), row(i)) {
            best = Some(i);
        }
    }
    // Utilities of minus infinity (log EI far from any hope) are no reason to suggest nothing.
    let best = best.or_else(|| {
        (0..values.len()).find(|&i| !values[i].is_nan() && !region.is_taken(&points.point(i), row(i)))
    });
    match best {
        Some(i) => Ok(Maximum { x: points.point(i), row: row(i), value: values[i], work }),
        None if values.iter().all(|v| v.is_nan()) && !values.is_empty() => {
            Err(MaximizeError::NotFinite { tried: values.len() })
        }
        None => Err(MaximizeError::NothingLeft { tried: values.len() }),
    }
}
