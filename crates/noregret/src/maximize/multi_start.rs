//! Several climbs from uniform starts, or from the best points of a grid.

use rayon::prelude::*;

use super::climb::{Climbed, Climber};
use super::grid::best_of;
use super::{Maximize, MaximizeError, Maximum, Region, Work};
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::surrogate::points::Points;

/// Climbs from several starts and returns the best end.
#[derive(Clone, Debug)]
pub struct MultiStart {
    /// How many climbs.
    pub starts: usize,
    /// Sobol points from which the best become the starts; 0 takes uniform starts as they come.
    pub grid: usize,
    /// How to climb.
    pub climber: Climber,
    /// Count only climbs that met a tolerance, if there are any, as the authors of Kim et al. 2025 do.
    pub only_converged: bool,
}

impl Maximize for MultiStart {
    fn maximize(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        if self.grid == 0 {
            return self.climb_from(utility, region, &region.uniform(self.starts, rng)?);
        }
        let grid = region.sobol(self.grid, rng)?;
        let starts = grid.select(&top(&utility.values(&grid), self.starts));
        let mut best = self.climb_from(utility, region, &starts)?;
        best.work.values += grid.len();
        Ok(best)
    }
}

impl MultiStart {
    /// Climbs from each of `starts` and returns the best point, ends and starts taken together.
    pub fn climb_from(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        starts: &Points,
    ) -> Result<Maximum, MaximizeError> {
        let climbed: Vec<Climbed> = (0..starts.len())
            .into_par_iter()
            .map(|i| {
                let start = starts.point(i);
                let local = utility.around(&start);
                self.climber.climb(local.as_deref().unwrap_or(utility), region, &start)
            })
            .collect();
        let mut ends = Points::new(region.space.dims());
        let mut work = Work::default();
        let any_converged = climbed.iter().any(|c| c.converged);
        for climbed in climbed {
            work += climbed.work;
            if climbed.converged || !(self.only_converged && any_converged) {
                ends.push(&climbed.x);
            }
        }
        // A climb may end on a taken point, or a stand-in may mislead it: its start is never worse than nothing.
        for i in 0..starts.len() {
            ends.push(&starts.point(i));
        }
        let best = best_of(&utility.values(&ends), &ends, region)?;
        work += best.work;
        Ok(Maximum { work, ..best })
    }
}

/// Indices of the `count` largest values that are numbers, best first; ties by index.
pub fn top(values: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..values.len()).filter(|&i| !values[i].is_nan()).collect();
    let by_value = |a: &usize, b: &usize| values[*b].total_cmp(&values[*a]).then(a.cmp(b));
    if count < order.len() {
        order.select_nth_unstable_by(count, by_value);
        order.truncate(count);
    }
    order.sort_unstable_by(by_value);
    order
}
