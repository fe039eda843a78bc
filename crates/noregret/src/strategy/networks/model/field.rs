//! The points over which a draw or a bound is maximized: candidates, or the rows of a pool, block by block.

use super::belief::{Belief, Envelope};
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::space::Pool;
use crate::surrogate::points::Points;

/// Rows of a pool in one block.
const BLOCK: usize = 1 << 16;

/// Candidates, or the rows of a pool, block by block, with the quantities that stay fixed within a batch.
pub(crate) struct Field {
    /// The candidates; rows of a pool are encoded on demand.
    points: Option<Points>,
    envelopes: Vec<Envelope>,
}

impl Field {
    /// These candidates.
    pub(crate) fn of_points(belief: &Belief<'_>, points: Points) -> Self {
        Self { envelopes: vec![belief.envelope(&points)], points: Some(points) }
    }

    /// All rows.
    pub(crate) fn of_pool(belief: &Belief<'_>, pool: &Pool) -> Self {
        let envelope = |begin: usize| {
            let rows = begin..(begin + BLOCK).min(pool.len());
            belief.envelope(&Points::from_columns(pool.dims(), &pool.encoded(rows)))
        };
        Self { points: None, envelopes: (0..pool.len()).step_by(BLOCK).map(envelope).collect() }
    }

    /// The best point by `mean + weight deviation`; `weight` is called once for each, in order.
    pub(crate) fn best(
        &self,
        belief: &Belief<'_>,
        region: &Region<'_>,
        mut weight: impl FnMut() -> f64,
    ) -> Result<(Maximum, usize), MaximizeError> {
        let pool = region.space.as_pool();
        let point = |i: usize| match (&self.points, pool) {
            (Some(points), _) => points.point(i),
            (None, Some(pool)) => pool.point(i),
            (None, None) => Vec::new(),
        };
        let is_free = |i: usize| match pool {
            Some(_) => !region.is_taken(&[], Some(i)), // a row needs no coordinates
            None => !region.is_taken(&point(i), None),
        };
        let (mut best, mut computed, mut first): (Option<(f64, usize)>, usize, usize) = (None, 0, 0);
        for envelope in &self.envelopes {
            let weights: Vec<f64> = (0..envelope.mean.len()).map(|_| weight()).collect();
            let select = |chunk: &[usize]| {
                let mut points = Points::new(region.space.dims());
                chunk.iter().for_each(|i| points.push(&point(first + i)));
                points
            };
            let least = best.map_or(f64::NEG_INFINITY, |(value, _)| value);
            let (found, more) = belief.best(select, envelope, &weights, |i| is_free(first + i), least);
            computed += more;
            best = found.map(|(value, i)| (value, first + i)).or(best);
            first += envelope.mean.len();
        }
        let work = Work { values: first, gradients: 0 };
        match best {
            Some((value, i)) => Ok((Maximum { x: point(i), row: pool.map(|_| i), value, work }, computed)),
            None if (0..first).any(is_free) => Err(MaximizeError::NotFinite { tried: first }),
            None => Err(MaximizeError::NothingLeft { tried: first }),
        }
    }
}
