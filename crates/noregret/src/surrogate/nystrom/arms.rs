//! The finite set of points of a Nyström model, in panels.

use std::ops::Range;

use crate::space::Pool;
use crate::surrogate::points::Points;

/// Rows of a pool, followed by points of their own: either may be empty.
#[derive(Clone, Debug)]
pub struct Arms {
    pool: Option<Pool>,
    points: Points,
}

impl Arms {
    /// The rows of a pool.
    pub fn of_pool(pool: Pool) -> Self {
        let points = Points::new(pool.dims());
        Self { pool: Some(pool), points }
    }

    /// Points of the unit cube.
    pub fn of_points(points: Points) -> Self {
        Self { pool: None, points }
    }

    /// Appends a point.
    pub fn push(&mut self, x: &[f64]) {
        self.points.push(x);
    }

    fn rows(&self) -> usize {
        self.pool.as_ref().map_or(0, Pool::len)
    }

    /// Number of arms.
    pub fn len(&self) -> usize {
        self.rows() + self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Coordinates in the unit cube.
    pub fn point(&self, arm: usize) -> Vec<f64> {
        match &self.pool {
            Some(pool) if arm < pool.len() => pool.point(arm),
            _ => self.points.point(arm - self.rows()),
        }
    }

    /// The arms of a range.
    pub fn panel(&self, range: Range<usize>) -> Points {
        let rows = self.rows();
        match &self.pool {
            None => self.points.slice(range),
            Some(pool) => {
                let dims = pool.dims();
                let of_pool = range.start.min(rows)..range.end.min(rows);
                let mut panel = Points::by_coordinate(dims, of_pool.len(), |k, out| {
                    pool.extend_coordinate(k, of_pool.clone(), out);
                });
                for arm in range.start.max(rows)..range.end {
                    panel.push(&self.points.point(arm - rows));
                }
                panel
            }
        }
    }

    /// The given arms.
    pub fn select(&self, arms: &[usize]) -> Points {
        let mut selected = Points::new(self.points.dims());
        arms.iter().for_each(|&arm| selected.push(&self.point(arm)));
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_cross_from_the_pool_to_the_points() {
        let mut arms = Arms::of_pool(Pool::new(vec![0.0, 1.0, 2.0, 3.0, 4.0], 1).unwrap());
        arms.push(&[0.125]);
        assert_eq!((arms.len(), arms.point(1), arms.point(5)), (6, vec![0.25], vec![0.125]));
        assert_eq!(arms.panel(3..6).coordinate(0), [0.75, 1.0, 0.125]);
        assert_eq!(arms.panel(5..6), arms.select(&[5]));
    }
}
