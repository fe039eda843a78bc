//! Random feasible points, the grid of a discrete space, and the check that some points are feasible.

use rand::{RngExt, SeedableRng};

use super::{Kind, Space, SpaceError};
use crate::math::rng::Stream;

/// Discrete spaces up to this size are enumerated instead of sampled: exact, and a matter of milliseconds.
const ENUMERABLE: u64 = 100_000;
/// Points drawn, at most, to see whether a larger space is feasible, and feasible ones among them that settle it:
/// 1 in 10,000.
const CHECKED: u64 = 100_000;
const ENOUGH: u64 = 10;
/// Tries for one point: where 1 in 10,000 is feasible, all fail with probability `exp(-100)`.
const MAX_TRIES: u64 = 1_000_000;

/// Statistics of a search for feasible points.
struct Census {
    tried: u64,
    feasible: u64,
    /// Points at which each constraint failed.
    rejected: Vec<u64>,
}

impl Census {
    fn new(space: &Space) -> Self {
        Self { tried: 0, feasible: 0, rejected: vec![0; space.constraint_list().len()] }
    }

    /// Counts `u` and returns whether it is feasible.
    fn count(&mut self, space: &Space, u: &[f64]) -> bool {
        self.tried += 1;
        let mut feasible = true;
        for (constraint, rejected) in space.constraint_list().iter().zip(&mut self.rejected) {
            if !space.satisfies(constraint, u) {
                *rejected += 1;
                feasible = false;
            }
        }
        self.feasible += u64::from(feasible);
        feasible
    }

    fn into_error(self, space: &Space) -> SpaceError {
        let mut worst = ("", 0);
        for (constraint, &rejected) in space.constraint_list().iter().zip(&self.rejected) {
            if rejected > worst.1 {
                worst = (constraint.name(), rejected);
            }
        }
        SpaceError::Infeasible { tried: self.tried, feasible: self.feasible, constraint: worst.0.to_owned() }
    }
}

/// Fails if too little is feasible: less than one point where all can be enumerated, else less than about 1 in 10,000 of
/// the cube. A function of the space alone.
pub(super) fn check_feasible(space: &Space) -> Result<(), SpaceError> {
    if space.constraint_list().is_empty() {
        return Ok(());
    }
    let mut census = Census::new(space);
    let found = if is_enumerable(space) {
        Grid::new(space).any(|u| census.count(space, &u))
    } else {
        let mut rng = Stream::seed_from_u64(0);
        let mut u = vec![0.0; space.dims()];
        while census.tried < CHECKED && census.feasible < ENOUGH {
            draw(space, &mut u, &mut rng);
            census.count(space, &u);
        }
        census.feasible >= ENOUGH
    };
    if found { Ok(()) } else { Err(census.into_error(space)) }
}

/// A feasible point, uniform in the cube before snapping.
pub(super) fn sample(space: &Space, rng: &mut Stream) -> Result<Vec<f64>, SpaceError> {
    if let Some(pool) = space.as_pool() {
        return Ok(pool.point(rng.random_range(0..pool.len())));
    }
    let mut u = vec![0.0; space.dims()];
    let mut census = Census::new(space);
    while census.tried < MAX_TRIES {
        draw(space, &mut u, rng);
        if census.count(space, &u) {
            return Ok(u);
        }
        if census.tried >= ENUMERABLE && is_enumerable(space) {
            // Enumerating the feasible points is faster than more rejections; then all of them are equally likely.
            let feasible: Vec<Vec<f64>> = Grid::new(space).filter(|u| space.is_feasible(u)).collect();
            if feasible.is_empty() {
                break;
            }
            return Ok(feasible[rng.random_range(0..feasible.len())].clone());
        }
    }
    Err(census.into_error(space))
}

fn is_enumerable(space: &Space) -> bool {
    space.cardinality().is_some_and(|n| n <= ENUMERABLE)
}

fn draw(space: &Space, u: &mut [f64], rng: &mut Stream) {
    u.fill_with(|| rng.random());
    space.snap(u);
}

/// All points of a discrete space, feasible or not; the last coordinate varies fastest.
pub(super) struct Grid<'a> {
    space: &'a Space,
    /// The next point's levels; `None` at the end.
    levels: Option<Vec<u64>>,
}

impl<'a> Grid<'a> {
    /// The grid of `space`, empty if any coordinate is continuous.
    pub(super) fn new(space: &'a Space) -> Self {
        let discrete = space.kinds().iter().all(|kind| *kind != Kind::Continuous);
        Self { space, levels: discrete.then(|| vec![0; space.dims()]) }
    }
}

impl Iterator for Grid<'_> {
    type Item = Vec<f64>;

    fn next(&mut self) -> Option<Vec<f64>> {
        let levels = self.levels.as_mut()?;
        let space = self.space;
        let point =
            levels.iter().enumerate().map(|(dim, &level)| space.coordinate_of_level(dim, level)).collect();
        let mut wrapped = true;
        for (level, kind) in levels.iter_mut().zip(space.kinds()).rev() {
            *level += 1;
            wrapped = Some(*level) == kind.levels();
            if !wrapped {
                break;
            }
            *level = 0;
        }
        if wrapped {
            self.levels = None;
        }
        Some(point)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::Pool;

    fn rng() -> Stream {
        Seed(1).stream(Purpose::Experiment, 0, 0)
    }

    #[test]
    fn samples_are_snapped_feasible_and_fill_the_space() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 1, 4)
            .constraint("below", "x <= n / 4")
            .build()
            .unwrap();
        let mut rng = rng();
        let mut seen = [0; 4];
        for _ in 0..1000 {
            let u = space.sample(&mut rng).unwrap();
            let mut snapped = u.clone();
            space.snap(&mut snapped);
            assert_eq!(u, snapped);
            assert!(space.is_feasible(&u));
            seen[usize::try_from(space.level_of(1, u[1])).unwrap()] += 1;
        }
        // Of the feasible volume 1/16 * (1 + 2 + 3 + 4), the k-th level has k tenths.
        for (k, n) in seen.into_iter().enumerate() {
            let p = (k + 1) as f64 / 10.0;
            let sd = (1000.0 * p * (1.0 - p)).sqrt();
            assert!((f64::from(n) - 1000.0 * p).abs() < 5.0 * sd, "{seen:?}");
        }
    }

    #[test]
    fn impossible_constraints_are_found_when_building() {
        let build = |expression: &str| {
            Space::builder()
                .float("x", 0.0, 1.0)
                .float("y", 0.0, 1.0)
                .constraint("loose", "x < 0.9")
                .constraint("tight", expression)
                .build()
        };
        let error = build("x + y > 3").unwrap_err();
        let (tried, feasible, constraint) = (CHECKED, 0, "tight".to_owned());
        assert_eq!(error, SpaceError::Infeasible { tried, feasible, constraint });
        assert!(matches!(build("x == 0.5").unwrap_err(), SpaceError::Infeasible { .. }));
        assert!(build("x * y < 0.0001").is_ok());
    }

    #[test]
    fn a_single_feasible_point_of_a_small_grid_is_enough() {
        let builder = || Space::builder().int("a", 1, 300).int("b", 1, 300);
        let space = builder().constraint("corner", "a + b == 600").build().unwrap();
        let u = space.sample(&mut rng()).unwrap();
        assert_eq!(space.decode(&u).to_string(), "a=300, b=300");
        assert_eq!(space.points().unwrap().count(), 1);
        let error = builder().constraint("beyond", "a + b == 601").build().unwrap_err();
        let (tried, feasible, constraint) = (90_000, 0, "beyond".to_owned());
        assert_eq!(error, SpaceError::Infeasible { tried, feasible, constraint });
    }

    #[test]
    fn grids_count_with_the_last_coordinate_fastest() {
        let space = Space::builder().bool("a").int("b", 1, 3).categorical("c", ["only"]).build().unwrap();
        let points: Vec<String> = space.points().unwrap().map(|u| space.decode(&u).to_string()).collect();
        assert_eq!(points.len(), 6);
        assert_eq!(points[0], "a=false, b=1, c=only");
        assert_eq!(points[1], "a=false, b=2, c=only");
        assert_eq!(points[5], "a=true, b=3, c=only");
        assert!(Space::bounds(&[(0.0, 1.0)]).unwrap().points().is_none());
    }

    #[test]
    fn pools_give_their_rows() {
        let space = Space::pool(Pool::new(vec![0.0, 5.0, 10.0], 1).unwrap());
        let mut rng = rng();
        let mut drawn: Vec<f64> = (0..100).map(|_| space.sample(&mut rng).unwrap()[0]).collect();
        drawn.sort_by(f64::total_cmp);
        drawn.dedup();
        assert_eq!(drawn, [0.0, 0.5, 1.0]);
    }
}
