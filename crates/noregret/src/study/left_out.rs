//! Leave-one-out predictions: how well the model predicts values that it has not seen.

use super::Study;
use super::recommend::Posterior;
use crate::error::Error;
use crate::math::rng::Purpose;

/// What the model of all other evaluations says of each one, with the same hyperparameters, in the user's units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// Trials that the model has, in the order in which they ended.
    pub number: Vec<u64>,
    /// Their values.
    pub value: Vec<f64>,
    /// What a model without each of them expects.
    pub mean: Vec<f64>,
    /// The standard deviation of that, noise included.
    pub sd: Vec<f64>,
}

impl Study {
    /// Predicts each value by a model of all others; `None` before three values are told. `O(n^3 / 3)`; where the model has some of many
    /// evaluations, those.
    pub fn left_out(&mut self) -> Result<Option<LeftOut>, Error> {
        if !super::insight::has_enough(&self.history) {
            return Ok(None);
        }
        let numbers = self.numbers_by_place();
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        let Some(posterior) = self.recommender.posterior(&self.history, &mut rng)? else { return Ok(None) };
        let Posterior { gp, fit, places, .. } = posterior;
        let found = gp.left_out();
        let mut left_out = LeftOut::default();
        for ((place, residual), variance) in places.iter().zip(found.residual).zip(found.variance) {
            let number = numbers[*place];
            let trial = usize::try_from(number).ok().and_then(|i| self.trials.get(i));
            let Some(value) = trial.and_then(super::Trial::value) else { continue };
            left_out.number.push(number);
            left_out.value.push(value);
            left_out.mean.push(value - self.direction.flip(fit.units.sd * residual));
            left_out.sd.push(fit.units.sd * variance.sqrt());
        }
        Ok(Some(left_out))
    }

    /// The trial of each evaluation of the history.
    pub(super) fn numbers_by_place(&self) -> Vec<u64> {
        let mut numbers = vec![0; self.history.len()];
        for (number, place) in (0..).zip(&self.places) {
            if let Some(place) = place {
                numbers[*place] = number;
            }
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    use crate::math::rng::{Purpose, Seed};
    use crate::{Direction, Params, Space, Study};

    /// `n` values of a wave with noise of this deviation, and a failure before every tenth.
    fn study(direction: Direction, n: usize, noise: f64) -> Study {
        let mut rng = Seed(5).stream(Purpose::Experiment, 0, 0);
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut study = Study::builder().space(space).direction(direction).build().unwrap();
        for i in 0..n {
            let x: [f64; 2] = [rng.random(), rng.random()];
            let z: f64 = StandardNormal.sample(&mut rng);
            let params = Params::from_iter([("x0", x[0]), ("x1", x[1])]);
            if i % 10 == 0 {
                study.add(&params, f64::NAN, None).unwrap();
            }
            let value = 10.0 * ((4.0 * x[0]).sin() + x[1] + noise * z) + 300.0;
            study.add(&params, if direction == Direction::Minimize { value } else { -value }, None).unwrap();
        }
        study
    }

    #[test]
    fn values_are_predicted_as_well_as_the_intervals_say() {
        for noise in [0.0, 0.3] {
            let found = study(Direction::Minimize, 80, noise).left_out().unwrap().unwrap();
            assert_eq!(found.number.len(), 80, "failures are no values");
            assert_eq!(&found.number[..3], [1, 2, 3]);
            let inside = |z: f64| {
                let within = |i: &usize| (found.value[*i] - found.mean[*i]).abs() <= z * found.sd[*i];
                (0..80).filter(within).count()
            };
            // 90 % of 80 are 72; binomial with a deviation of 2.7, and the hyperparameters have seen all values.
            assert!((60..=80).contains(&inside(1.645)), "{} of 80 at noise {noise}", inside(1.645));
            let errors: f64 = (0..80).map(|i| (found.value[i] - found.mean[i]).powi(2)).sum::<f64>() / 80.0;
            // The function's deviation is about 7; the noise's is 3.
            assert!(errors.sqrt() < 10.0 * noise * 1.3 + 0.5, "{} at noise {noise}", errors.sqrt());
        }
    }

    #[test]
    fn the_direction_changes_signs_only() {
        let (low, high) = (study(Direction::Minimize, 30, 0.1), study(Direction::Maximize, 30, 0.1));
        let [low, high] = [low, high].map(|mut study| study.left_out().unwrap().unwrap());
        for i in 0..30 {
            assert!((low.mean[i] + high.mean[i]).abs() < 1e-9 * low.mean[i].abs());
            assert_eq!(low.sd[i].to_bits(), high.sd[i].to_bits());
        }
    }

    #[test]
    fn few_values_predict_nothing() {
        assert_eq!(study(Direction::Minimize, 2, 0.0).left_out().unwrap(), None);
    }

    /// The model has a part of many evaluations, and each of that part is predicted.
    #[test]
    fn of_many_evaluations_a_part_is_predicted() {
        let mut study = study(Direction::Minimize, 4_200, 0.1);
        let found = study.left_out().unwrap().unwrap();
        let fitted = study.fitted().unwrap().unwrap();
        assert_eq!((fitted.evaluations, fitted.of), (found.number.len(), 4_200));
        assert!(found.number.len() < 4_200 && found.number.is_sorted_by(|a, b| a < b));
        for (number, value) in found.number.iter().zip(&found.value) {
            assert_eq!(study.trial(*number).unwrap().value(), Some(*value));
        }
    }
}
