//! Where a maximizer may search: the space without the points that must not be suggested again.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use rand::RngExt;

use crate::math::rng::Stream;
use crate::math::sobol;
use crate::space::{Kind, Space, SpaceError};
use crate::surrogate::points::Points;

/// Points that must not be suggested again.
#[derive(Clone, Debug, Default)]
pub struct Taken {
    /// Sorted, so that neighbours can be found.
    points: BTreeSet<Vec<u64>>,
    rows: HashSet<usize>,
}

impl Taken {
    /// Adds a point, or the row of a pool.
    pub fn insert(&mut self, x: &[f64], row: Option<usize>) {
        match row {
            Some(row) => self.rows.insert(row),
            None => self.points.insert(key(x)),
        };
    }

    /// Removes a point, or the row of a pool.
    pub fn remove(&mut self, x: &[f64], row: Option<usize>) {
        match row {
            Some(row) => self.rows.remove(&row),
            None => self.points.remove(&key(x)),
        };
    }

    /// Whether the point, or the row, was added.
    pub fn contains(&self, x: &[f64], row: Option<usize>) -> bool {
        if self.is_empty() {
            return false;
        }
        match row {
            Some(row) => self.rows.contains(&row),
            None => self.points.contains(&key(x)),
        }
    }

    /// Whether a point was added that differs from this one by no more than `slack` in any coordinate.
    fn contains_near(&self, x: &[f64], slack: &[u64]) -> bool {
        let (key, Some(&first)) = (key(x), slack.first()) else { return false };
        // Points that are near in the first coordinate are next to each other.
        let low = vec![key[0].saturating_sub(first)];
        let together = self.points.range(low..).take_while(|other| other[0] <= key[0] + first);
        let is_near = |other: &Vec<u64>| {
            other.iter().zip(&key).zip(slack).all(|((a, b), slack)| a.abs_diff(*b) <= *slack)
        };
        together.into_iter().any(is_near)
    }

    /// How many points and rows there are.
    pub fn len(&self) -> usize {
        self.points.len() + self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Steps of a coordinate that are distinguished: 2^46, the levels of the widest integer. Finer ones are rounding: a climb
/// that ends one bit short of a bound has found the bound, and both decode to the same float.
const STEPS: f64 = (1_u64 << 46) as f64;

/// A key that is equal for points that differ by rounding only.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "coordinates lie in [0, 1]")]
fn key(x: &[f64]) -> Vec<u64> {
    x.iter().map(|u| (u * STEPS).round() as u64).collect()
}

/// The space and the points that are taken.
#[derive(Clone, Copy, Debug)]
pub struct Region<'a> {
    /// The space.
    pub space: &'a Space,
    /// Points that must not be suggested.
    pub taken: &'a Taken,
    /// Points of the current batch.
    pub batch: &'a Taken,
    /// Points count as the same where no number differs by more than this share of its range, and nothing else differs.
    pub apart: f64,
}

/// Nothing is taken: a constant, but for the allocation that a hash set's state needs.
static NONE: LazyLock<Taken> = LazyLock::new(Taken::default);

impl<'a> Region<'a> {
    /// The whole space, nothing of which is taken.
    pub fn whole(space: &'a Space) -> Self {
        Self { space, taken: &NONE, batch: &NONE, apart: 0.0 }
    }
}

impl Region<'_> {
    /// Whether the point, or the row, must not be suggested.
    pub fn is_taken(&self, x: &[f64], row: Option<usize>) -> bool {
        self.taken.contains(x, row)
            || self.batch.contains(x, row)
            || (self.apart > 0.0 && row.is_none() && self.is_near_taken(x))
    }

    fn is_near_taken(&self, x: &[f64]) -> bool {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of 2^46 steps")]
        let steps = (self.apart.min(1.0) * STEPS) as u64;
        let kinds = self.space.kinds().iter();
        let slack: Vec<u64> = kinds.map(|kind| if *kind == Kind::Continuous { steps } else { 0 }).collect();
        self.taken.contains_near(x, &slack) || self.batch.contains_near(x, &slack)
    }

    /// `count` uniform feasible points.
    pub fn uniform(&self, count: usize, rng: &mut Stream) -> Result<Points, SpaceError> {
        let mut points = Points::new(self.space.dims());
        for _ in 0..count {
            points.push(&self.space.sample(rng)?);
        }
        Ok(points)
    }

    /// `count` feasible points of a scrambled Sobol sequence; where constraints reject too many of them, uniform ones
    /// fill up.
    pub fn sobol(&self, count: usize, rng: &mut Stream) -> Result<Points, SpaceError> {
        if self.space.as_pool().is_some() {
            return self.uniform(count, rng);
        }
        let dims = self.space.dims();
        let mut points = Points::new(dims);
        let drawn = if self.space.is_constrained() { 2 * count } else { count };
        for x in sobol::points(dims, drawn, rng).chunks_mut(dims) {
            self.space.snap(x);
            if points.len() < count && self.space.is_feasible(x) {
                points.push(x);
            }
        }
        while points.len() < count {
            points.push(&self.space.sample(rng)?);
        }
        Ok(points)
    }

    /// `count` feasible points around `center`: each coordinate moves with probability `min(1, 20 / d)`, numbers by a
    /// normal step whose size is drawn from a geometric range of radii, categories to any other.
    pub fn around(&self, center: &[f64], count: usize, rng: &mut Stream) -> Points {
        let dims = self.space.dims();
        let mut points = Points::new(dims);
        if self.space.as_pool().is_some() {
            return points;
        }
        let probability = (20.0 / dims as f64).min(1.0);
        let mut x = vec![0.0; dims];
        // Two draws for each point wanted: constraints and unmoved points reject some.
        for _ in 0..2 * count {
            if points.len() == count {
                break;
            }
            x.copy_from_slice(center);
            // Radii from 0.3 down to 3e-4 of the cube's side.
            let radius = 0.3 * 10.0_f64.powf(-3.0 * rng.random::<f64>());
            for (k, x) in x.iter_mut().enumerate() {
                if rng.random::<f64>() < probability {
                    *x = self.moved(k, *x, radius, rng);
                }
            }
            self.space.snap(&mut x);
            if x != center && self.space.is_feasible(&x) {
                points.push(&x);
            }
        }
        points
    }

    /// Coordinate `k` moved from `u`: a number by a normal step of deviation `radius`, clamped; a category to any, itself
    /// included.
    pub(crate) fn moved(&self, k: usize, u: f64, radius: f64, rng: &mut Stream) -> f64 {
        use rand_distr::{Distribution, StandardNormal};
        match self.space.kinds()[k] {
            Kind::Category(levels) => self.space.coordinate_of_level(k, rng.random_range(0..levels)),
            Kind::Levels(levels) => {
                // At least one step either way, so that small radii still move coarse parameters.
                let z: f64 = StandardNormal.sample(rng);
                #[expect(clippy::cast_possible_truncation, reason = "saturates; levels are at most 2^46")]
                let step = (z * radius * levels as f64).abs().round().max(1.0).copysign(z) as i64;
                let level = self.space.level_of(k, u).saturating_add_signed(step).min(levels - 1);
                self.space.coordinate_of_level(k, level)
            }
            Kind::Continuous => {
                let z: f64 = StandardNormal.sample(rng);
                (u + radius * z).clamp(0.0, 1.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::space::{Param, Pool};

    fn mixed() -> Space {
        Space::builder()
            .float("x", 0.0, 1.0)
            .log_int("n", 1, 64)
            .categorical("c", ["a", "b", "d"])
            .bool("b")
            .constraint("c", "x * n <= 20")
            .build()
            .unwrap()
    }

    #[test]
    fn points_and_rows_are_remembered_apart() {
        let mut taken = Taken::default();
        assert!(taken.is_empty() && !taken.contains(&[0.5], None));
        taken.insert(&[0.5], Some(3));
        assert!(
            taken.contains(&[0.9], Some(3))
                && !taken.contains(&[0.5], None)
                && !taken.contains(&[0.5], Some(2))
        );
        taken.insert(&[0.5], None);
        assert_eq!(taken.len(), 2);
        taken.remove(&[0.5], None);
        assert!(!taken.contains(&[0.5], None) && taken.contains(&[0.5], Some(3)));
        taken.remove(&[0.1], Some(3));
        assert!(taken.is_empty());
    }

    #[test]
    fn a_bound_missed_by_rounding_is_the_bound() {
        let mut taken = Taken::default();
        taken.insert(&[0.0, 1.0], None);
        assert!(taken.contains(&[-0.0, 1.0 - f64::EPSILON], None) && taken.contains(&[1e-17, 1.0], None));
        assert!(!taken.contains(&[1e-12, 1.0], None));
    }

    #[test]
    fn neighbors_of_the_widest_integer_are_told_apart() {
        let max = Param::MAX_INT;
        let space = Space::builder().int("n", -max, max - 1).build().unwrap();
        let levels = 1_u64 << 46;
        for level in [0, 1, levels / 3, levels / 2, levels - 2] {
            let mut taken = Taken::default();
            taken.insert(&[space.coordinate_of_level(0, level)], None);
            assert!(!taken.contains(&[space.coordinate_of_level(0, level + 1)], None), "{level}");
        }
    }

    #[test]
    fn near_points_count_as_the_same_if_only_numbers_differ() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 0, 99_999_999)
            .float("y", 0.0, 1.0)
            .build()
            .unwrap();
        let (mut taken, none) = (Taken::default(), Taken::default());
        let n = |level| space.coordinate_of_level(1, level);
        for x in [[0.5, n(7), 0.5], [0.0, n(7), 1.0], [0.499, n(7), 0.5], [0.500_001, n(7), 0.8]] {
            taken.insert(&x, None);
        }
        let region = Region { space: &space, taken: &taken, batch: &none, apart: 1e-5 };
        let of_batch = Region { taken: &none, batch: &taken, ..region };
        let exact = Region { apart: 0.0, ..region };
        let near = [[0.500_009, n(7), 0.499_991], [0.499_991, n(7), 0.5], [5e-6, n(7), 1.0]];
        let far = [[0.500_02, n(7), 0.5], [0.5, n(7), 0.500_02], [0.5, n(8), 0.5], [0.9, n(7), 0.5]];
        for x in near {
            assert!(region.is_taken(&x, None) && of_batch.is_taken(&x, None) && !exact.is_taken(&x, None));
        }
        for x in far {
            assert!(!region.is_taken(&x, None) && !of_batch.is_taken(&x, None), "{x:?}");
        }
        assert!(exact.is_taken(&[0.5, n(7), 0.5], None) && !region.is_taken(&[], Some(3)));
    }

    #[test]
    fn every_set_is_feasible_and_made_of_points_of_the_space() {
        let space = mixed();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = Stream::seed_from_u64(1);
        let center = space.sample(&mut rng).unwrap();
        let sets = [
            region.uniform(100, &mut rng).unwrap(),
            region.sobol(100, &mut rng).unwrap(),
            region.around(&center, 100, &mut rng),
        ];
        for set in sets {
            assert!(set.len() <= 100 && set.len() >= 50);
            for i in 0..set.len() {
                let x = set.point(i);
                let mut snapped = x.clone();
                space.snap(&mut snapped);
                assert_eq!(x, snapped);
                assert_eq!(space.violated(&x), None);
            }
        }
    }

    #[test]
    fn what_is_around_a_point_is_near_it_and_not_itself() {
        let space = mixed();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let mut center = vec![0.5, 0.5, 0.5, 0.25];
        space.snap(&mut center);
        let around = region.around(&center, 400, &mut Stream::seed_from_u64(2));
        let points: Vec<Vec<f64>> = (0..around.len()).map(|i| around.point(i)).collect();
        assert!(points.iter().all(|x| *x != center));
        // Radii fall off geometrically from 0.3: two thirds are below 0.03 and most normal steps below twice that.
        let near = points.iter().filter(|x| (x[0] - center[0]).abs() < 0.06).count();
        assert!(near > points.len() / 2, "{near} of {}", points.len());
        for k in [1, 2, 3] {
            let levels: std::collections::BTreeSet<u64> =
                points.iter().map(|x| space.level_of(k, x[k])).collect();
            assert!(levels.len() >= 2, "coordinate {k} moves");
        }
    }

    #[test]
    fn pools_have_rows_and_nothing_around_them() {
        let space = Space::pool(Pool::new(vec![0.0, 5.0, 10.0], 1).unwrap());
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = Stream::seed_from_u64(3);
        let rows = region.sobol(20, &mut rng).unwrap();
        assert!((0..20).all(|i| [0.0, 0.5, 1.0].contains(&rows.point(i)[0])));
        assert!(region.around(&[0.5], 10, &mut rng).is_empty());
    }
}
