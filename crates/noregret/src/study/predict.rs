//! Predictions of the model at any point, for plots and for a look before an evaluation.

use super::Direction;
use super::recommend::{Posterior, Recommender};
use crate::error::Error;
use crate::math::rng::Stream;
use crate::space::Params;
use crate::strategy::history::History;
use crate::surrogate::points::Points;
use crate::surrogate::{Marginals, Surrogate};

/// The posterior of the noise-free objective at some points, in the user's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Posterior means.
    pub mean: Vec<f64>,
    /// Posterior standard deviations.
    pub sd: Vec<f64>,
}

/// Predicts with the model of the recommendation; `None` if nothing was told.
pub(super) fn predict(
    recommender: &mut Recommender,
    history: &History,
    direction: Direction,
    points: &[Params],
    rng: &mut Stream,
) -> Result<Option<Prediction>, Error> {
    let mut encoded = Points::new(history.space().dims());
    for params in points {
        encoded.push(&history.space().encode(params)?);
    }
    let Some(posterior) = recommender.posterior(history, rng)? else { return Ok(None) };
    Ok(Some(posterior.in_users_units(&posterior.gp.marginals(&encoded), direction)))
}

impl Posterior {
    /// What the model says, as the user has it.
    pub(super) fn in_users_units(&self, values: &Marginals, direction: Direction) -> Prediction {
        let units = &self.fit.units;
        let mean = values.mean.iter().map(|m| direction.flip(units.mean + units.sd * m)).collect();
        let sd = values.variance.iter().map(|v| units.sd * v.sqrt()).collect();
        Prediction { mean, sd }
    }
}

#[cfg(test)]
mod tests {
    use crate::study::{Direction, Study};
    use crate::{Params, Space};

    fn study(direction: Direction) -> Study {
        let space = Space::builder().float("x", -1.0, 1.0).categorical("c", ["a", "b"]).build().unwrap();
        let mut study = Study::builder().space(space).direction(direction).build().unwrap();
        for i in 0..12 {
            let x = f64::from(i) / 6.0 - 0.9;
            let params: Params = serde_json::from_value(serde_json::json!({"x": x, "c": "a"})).unwrap();
            study.add(&params, x * x, None).unwrap();
        }
        study
    }

    /// An equivalence: what is recommended is what is predicted there, in either direction.
    #[test]
    fn the_recommendation_is_a_prediction() {
        for direction in [Direction::Minimize, Direction::Maximize] {
            let mut study = study(direction);
            let recommended = study.recommended().unwrap().unwrap();
            let there = study.predict(&[recommended.params]).unwrap().unwrap();
            assert!((there.mean[0] - recommended.mean).abs() < 1e-9, "{there:?}");
            let width = recommended.interval.1 - recommended.interval.0;
            assert!((2.0 * 1.959_963_984_540_054 * there.sd[0] - width).abs() < 1e-9, "{there:?}");
        }
    }

    #[test]
    fn running_trials_do_not_make_the_model_surer() {
        let mut study = study(Direction::Minimize);
        let far: Params = serde_json::from_value(serde_json::json!({"x": 0.99, "c": "b"})).unwrap();
        let before = (study.predict(std::slice::from_ref(&far)).unwrap(), study.recommended().unwrap());
        study.enqueue(&far).unwrap();
        assert_eq!((study.predict(&[far]).unwrap(), study.recommended().unwrap()), before);
    }

    /// A few failures among many noisy values, as a spreadsheet with gaps has them: once they stood in the model as exact
    /// observations of the worst value, which made it rough and sure of itself.
    #[test]
    fn scattered_failures_leave_the_model_alone() {
        use crate::math::rng::{Purpose, Seed};
        use rand::RngExt;
        let mut rng = Seed(7).stream(Purpose::Experiment, 0, 0);
        let space = Space::bounds(&[(-1.0, 1.0); 2]).unwrap();
        let truth = |x: &[f64]| 5.0 * x[0] * x[0] + x[1];
        let mut study = |failures: bool| {
            let mut study = Study::builder().space(space.clone()).build().unwrap();
            for i in 0..300 {
                let x = [rng.random_range(-1.0..1.0), rng.random_range(-1.0..1.0)];
                let noise: f64 = (0..12).map(|_| rng.random_range(-0.25..0.25)).sum(); // deviation 1/2
                let value = if failures && i % 12 == 0 { f64::NAN } else { truth(&x) + noise };
                study.add(&Params::from_iter([("x0", x[0]), ("x1", x[1])]), value, None).unwrap();
            }
            let grid = (0..100).map(|i| [f64::from(i % 10) / 5.0 - 0.9, f64::from(i / 10) / 5.0 - 0.9]);
            let grid: Vec<[f64; 2]> = grid.collect();
            let points: Vec<Params> =
                grid.iter().map(|x| Params::from_iter([("x0", x[0]), ("x1", x[1])])).collect();
            let there = study.predict(&points).unwrap().unwrap();
            let squares: f64 = grid.iter().zip(&there.mean).map(|(x, m)| (m - truth(x)).powi(2)).sum();
            (squares / 100.0).sqrt()
        };
        let (without, with) = (study(false), study(true));
        // 300 values of deviation 1/2 on a smooth function: an error near 0.1; the failures are a twelfth of them.
        assert!(without < 0.2 && with < 0.25, "{without} without failures, {with} with them");
    }

    #[test]
    fn nothing_is_predicted_from_nothing_and_bad_points_are_refused() {
        let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
        let mut study = Study::builder().space(space.clone()).build().unwrap();
        assert_eq!(study.predict(&[space.decode(&[0.5])]).unwrap(), None);
        assert!(study.predict(&[Params::from_iter([("x0", 2.0)])]).is_err());
    }
}
