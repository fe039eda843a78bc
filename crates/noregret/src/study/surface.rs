//! The model over regions of the space: predictions at points of the unit cube, and of averages over some coordinates.

use super::importance::row_at;
use super::predict::Prediction;
use super::recommend::Posterior;
use super::{Study, StudyError};
use crate::error::Error;
use crate::math::rng::Purpose;
use crate::math::sobol;
use crate::surrogate::Surrogate;
use crate::surrogate::points::Points;

/// Settings that are averaged over, at most and at least.
const MOST_SETTINGS: usize = 128;
const FEWEST_SETTINGS: usize = 16;
/// Covariances that averages may take, about half a second's.
const COVARIANCES: usize = 60_000_000;
/// Operations that the solves behind deviations may take, about a second's.
const OPERATIONS: usize = 10_000_000_000;
/// The stream of the settings. They are the same for every history, so that maps of different moments can be compared.
const SETTINGS: u64 = 0;

/// How many points deviations should be asked for at once, at most, of a model of so many evaluations: about a second's work. Each takes
/// `n^2` operations.
pub fn affordable_points(evaluations: usize) -> usize {
    OPERATIONS / evaluations.max(1).pow(2)
}

impl Study {
    /// Posterior means and deviations at points of the unit cube, by the model of recommendations; `None` before the first value is told.
    /// An error if a point does not belong to the space. See [`affordable_points`] for the cost.
    pub fn predict_at(&mut self, points: &Points) -> Result<Option<Prediction>, Error> {
        self.check_points(points)?;
        let direction = self.direction;
        Ok(self.posterior()?.map(|posterior| {
            let values = posterior.gp.marginals(points);
            posterior.in_users_units(&values, direction)
        }))
    }

    /// The means alone, which are far cheaper: `n` operations a point.
    pub fn means_at(&mut self, points: &Points) -> Result<Option<Vec<f64>>, Error> {
        self.check_points(points)?;
        let direction = self.direction;
        Ok(self.posterior()?.map(|Posterior { gp, fit, .. }| {
            gp.means(points).iter().map(|m| direction.flip(fit.units.mean + fit.units.sd * m)).collect()
        }))
    }

    /// Posterior means and deviations of averages: at each point over all values of the coordinates `averaged`, while the others are as in
    /// the point. Of a pool, over its rows. Deviations are those of the average, not the mean of deviations. `None` before the first
    /// value is told; an error if a point does not belong to the space, or if `averaged` has not one element a coordinate.
    ///
    /// Averages are over a sample of 128 settings, or fewer (at least 16) if points and evaluations are many, the same for all points
    /// and histories. Constraints are disregarded. Costs points times settings times evaluations, and the deviations the same as in
    /// [`Self::predict_at`].
    pub fn predict_averages(
        &mut self,
        points: &Points,
        averaged: &[bool],
    ) -> Result<Option<Prediction>, Error> {
        self.check_points(points)?;
        let (found, expected) = (averaged.len(), self.space().dims());
        if found != expected {
            return Err(StudyError::Coordinates { found, expected }.into());
        }
        let (direction, evaluations) = (self.direction, self.history.len());
        let pairs = points.len().max(1) * evaluations.max(1);
        let settings = if averaged.contains(&true) {
            (COVARIANCES / pairs).clamp(FEWEST_SETTINGS, MOST_SETTINGS)
        } else {
            1
        };
        let over = self.settings(settings);
        Ok(self.posterior()?.map(|posterior| {
            let values = posterior.gp.averages(points, &over, averaged);
            posterior.in_users_units(&values, direction)
        }))
    }

    /// `count` points all over the space, feasible or not; rows of a pool.
    fn settings(&self, count: usize) -> Points {
        let space = self.space();
        let mut rng = self.seed.stream(Purpose::Reference, SETTINGS, 3);
        let mut all = Points::new(space.dims());
        if let Some(pool) = space.as_pool() {
            sobol::points(1, count, &mut rng)
                .iter()
                .for_each(|u| all.push(&pool.point(row_at(*u, pool.len()))));
            return all;
        }
        for x in sobol::points(space.dims(), count, &mut rng).chunks_exact_mut(space.dims()) {
            space.snap(x);
            all.push(x);
        }
        all
    }

    fn check_points(&self, points: &Points) -> Result<(), StudyError> {
        let (found, expected) = (points.dims(), self.space().dims());
        if found != expected {
            return Err(StudyError::Coordinates { found, expected });
        }
        let outside = |x: &&f64| !(0.0..=1.0).contains(*x);
        match (0..expected).find_map(|k| points.coordinate(k).iter().find(outside)) {
            Some(&value) => Err(StudyError::Coordinate { value }),
            None => Ok(()),
        }
    }

    /// The model of recommendations; `None` if nothing was told.
    pub(super) fn posterior(&mut self) -> Result<Option<&Posterior>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        self.recommender.posterior(&self.history, &mut rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Direction, Params, Pool, Space};

    /// `x^2 + 3 y`, with a category that does not matter.
    fn study(direction: Direction) -> Study {
        let space = Space::builder()
            .float("x", -1.0, 1.0)
            .float("y", 0.0, 1.0)
            .categorical("c", ["a", "b"])
            .build()
            .unwrap();
        let mut study = Study::builder().space(space).direction(direction).build().unwrap();
        for mut u in sobol::points(3, 60, &mut crate::math::rng::Seed(3).stream(Purpose::Experiment, 0, 0))
            .chunks_exact(3)
            .map(<[f64]>::to_vec)
        {
            study.space().snap(&mut u);
            let (params, x) = (study.space().decode(&u), 2.0 * u[0] - 1.0);
            study.add(&params, x * x + 3.0 * u[1], None).unwrap();
        }
        study
    }

    fn line(count: usize) -> Points {
        let at = |i: usize| [i as f64 / (count - 1) as f64, 0.5, 0.25];
        Points::from_columns(3, &(0..count).flat_map(at).collect::<Vec<f64>>())
    }

    /// The average of `x^2 + 3 y` over `y` is `x^2 + 1.5`, known better than the values themselves.
    #[test]
    fn averages_are_those_of_the_function() {
        for direction in [Direction::Minimize, Direction::Maximize] {
            let mut study = study(direction);
            let points = line(9);
            let averages = study.predict_averages(&points, &[false, true, true]).unwrap().unwrap();
            let there = study.predict_at(&points).unwrap().unwrap();
            for i in 0..9 {
                let x = 2.0 * points.point(i)[0] - 1.0;
                // 128 Sobol points average a line to better than 1 / 128, times its slope of 3; the model adds as much.
                assert!((averages.mean[i] - (x * x + 1.5)).abs() < 0.06, "{i}: {}", averages.mean[i]);
                assert!(averages.sd[i] <= there.sd[i] + 1e-9, "{i}: {} {}", averages.sd[i], there.sd[i]);
            }
        }
    }

    /// Equivalences: points of the cube are predicted as those in the user's units, and means alone as with deviations.
    #[test]
    fn points_of_the_cube_are_predicted_like_parameters() {
        let mut study = study(Direction::Maximize);
        let points = line(5);
        let params: Vec<Params> = (0..5).map(|i| study.space().decode(&points.point(i))).collect();
        let (a, b) = (study.predict_at(&points).unwrap().unwrap(), study.predict(&params).unwrap().unwrap());
        let means = study.means_at(&points).unwrap().unwrap();
        for i in 0..5 {
            assert!((a.mean[i] - b.mean[i]).abs() < 1e-9 && (a.sd[i] - b.sd[i]).abs() < 1e-9, "{a:?} {b:?}");
            assert!((a.mean[i] - means[i]).abs() < 1e-9, "{a:?} {means:?}");
        }
        let nothing = study.predict_averages(&points, &[false; 3]).unwrap().unwrap();
        assert!(nothing.mean.iter().zip(&a.mean).all(|(a, b)| (a - b).abs() < 1e-9), "{nothing:?} {a:?}");
    }

    #[test]
    fn a_pool_is_averaged_over_its_rows() {
        // The second feature is the first one's double: rows differ along a line.
        let features: Vec<f64> = (0..50).flat_map(|i| [f64::from(i), 2.0 * f64::from(i)]).collect();
        let space = Space::pool(Pool::new(features, 2).unwrap());
        let mut study = Study::builder().space(space).build().unwrap();
        for row in (0..50).step_by(3) {
            study.add_row(row, (row * row) as f64, None).unwrap();
        }
        let points = Points::from_columns(2, &[0.5, 0.5]);
        let average = study.predict_averages(&points, &[true, true]).unwrap().unwrap();
        // The mean of the squares up to 49: 49 * 99 / 6. Sobol points cut the rows into 128 parts.
        assert!((average.mean[0] - 808.5).abs() < 25.0, "{average:?}");
    }

    #[test]
    fn foreign_points_are_refused() {
        let mut study = study(Direction::Minimize);
        let short = Points::from_columns(2, &[0.5, 0.5]);
        assert!(study.predict_at(&short).is_err() && study.means_at(&short).is_err());
        let outside = Points::from_columns(3, &[0.5, f64::NAN, 0.5]);
        assert!(study.predict_at(&outside).is_err() && study.predict_averages(&outside, &[true; 3]).is_err());
        assert!(study.predict_averages(&line(3), &[true]).is_err());
        assert_eq!(study.predict_at(&Points::new(3)).unwrap().unwrap().mean, [0.0; 0]);
    }
}
