//! Several climbs from uniform starts, or from the best points of a grid.
//!
//! With more than 256 points in a Gaussian process, a utility of mean and deviation is climbed by a stand-in around each start
//! ([`Acquisition::around`]): the exact mean, and the variance given the 128 most correlated points. The best of all starts and ends is
//! chosen by the utility itself.

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
    /// Count only climbs that met a tolerance, if there are any, as the authors of Kim et al. 2025 do. The starts count all the same,
    /// as they do not there: one of them wins only if a climb from it failed, or was misled by a stand-in, and all others ended lower.
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
    /// Climbs from each of `starts` and returns the best of all starts and ends.
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
        // A climb may end on a taken point, or be misled by an approximate utility: then its start is still a candidate.
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::maximize::Taken;
    use crate::maximize::function::FromFn;
    use crate::space::Space;

    #[test]
    fn top_sorts_breaks_ties_by_index_and_drops_nan() {
        let values = [1.0, f64::NAN, 3.0, 1.0, f64::NEG_INFINITY, 3.0, 2.0];
        assert_eq!(top(&values, 4), [2, 5, 6, 0]);
        assert_eq!(top(&values, 5), [2, 5, 6, 0, 3]);
        assert_eq!(top(&values, 100), [2, 5, 6, 0, 3, 4]);
        assert!(top(&values, 0).is_empty() && top(&[], 3).is_empty() && top(&[f64::NAN], 1).is_empty());
    }

    /// Hills at 0.2 (height 1), 0.55 (2) and 0.9 (3, narrow).
    fn hills(u: &[f64]) -> f64 {
        let hill = |center: f64, height: f64, width: f64| height * (-((u[0] - center) / width).powi(2)).exp();
        hill(0.2, 1.0, 0.1) + hill(0.55, 2.0, 0.1) + hill(0.9, 3.0, 0.03)
    }

    fn search(grid: usize, taken: &Taken) -> Result<Maximum, MaximizeError> {
        let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let region = Region { space: &space, taken, batch: &Taken::default(), apart: 0.0 };
        let search = MultiStart { starts: 12, grid, climber: Climber::default(), only_converged: false };
        search.maximize(&FromFn(hills), &region, &mut Stream::seed_from_u64(4))
    }

    #[test]
    fn the_highest_hill_is_found_from_starts_on_the_others() {
        for grid in [0, 64] {
            let found = search(grid, &Taken::default()).unwrap();
            assert!((found.x[0] - 0.9).abs() < 1e-3 && (found.value - 3.0).abs() < 1e-4, "{found:?}");
            assert!(found.work.gradients > 0 && found.work.values >= grid + 12);
        }
    }

    #[test]
    fn a_taken_summit_gives_way_to_the_next_best_point() {
        let summit = search(64, &Taken::default()).unwrap();
        let mut taken = Taken::default();
        taken.insert(&summit.x, None);
        let next = search(64, &taken).unwrap();
        assert!(!taken.contains(&next.x, None) && next.value <= summit.value && next.value > 2.0, "{next:?}");
    }

    #[test]
    fn only_converged_climbs_count_if_any_did() {
        let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let starts = Points::from_columns(1, &[0.15, 0.85]);
        let end = |only_converged| {
            let search = MultiStart { starts: 2, grid: 0, climber: Climber::default(), only_converged };
            search.climb_from(&FromFn(hills), &region, &starts).unwrap()
        };
        // Here both converge: the option changes nothing.
        assert_eq!(end(true), end(false));
    }

    #[test]
    fn nothing_left_and_no_number_are_told_apart() {
        let space = Space::builder().int("n", 1, 2).build().unwrap();
        let mut taken = Taken::default();
        space.points().unwrap().for_each(|x| taken.insert(&x, None));
        let none = Taken::default();
        let search = MultiStart { starts: 3, grid: 8, climber: Climber::default(), only_converged: false };
        let rng = || Stream::seed_from_u64(0);
        let region = Region { space: &space, taken: &taken, batch: &none, apart: 0.0 };
        let error = search.maximize(&FromFn(|u: &[f64]| u[0]), &region, &mut rng()).unwrap_err();
        assert!(matches!(error, MaximizeError::NothingLeft { .. }), "{error}");
        // No start at all is better than any other when all are NaN.
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        assert!(search.maximize(&FromFn(|_: &[f64]| f64::NAN), &region, &mut rng()).is_err());
    }
}
