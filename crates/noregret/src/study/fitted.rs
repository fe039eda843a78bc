//! The model of recommendations in numbers that people can judge.

use super::Study;
use super::recommend::Posterior;
use crate::error::Error;
use crate::math::rng::Purpose;

/// The fitted model, in the user's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Evaluations that it has.
    pub evaluations: usize,
    /// Evaluations with a value in all.
    pub of: usize,
    /// Standard deviation of the noise of values that come without their own.
    pub noise_sd: f64,
    /// Standard deviation of the noise-free values before anything is known, by the fit.
    pub signal_sd: f64,
    /// The length scale of each parameter, by name, as a share of its range: over that distance values are still much alike, over
    /// several times of it they have little to do with each other. Of a category, larger is more alike, too. Parameters with a single
    /// value have none.
    pub lengthscales: Vec<(String, f64)>,
}

impl Study {
    /// The fit of the model behind recommendations and predictions, which the algorithm may not share; `None` before the first value is
    /// told.
    pub fn fitted(&mut self) -> Result<Option<Fitted>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        let Some(posterior) = self.recommender.posterior(&self.history, &mut rng)? else { return Ok(None) };
        let Posterior { gp, fit, places, .. } = posterior;
        let lengthscale = |k: usize| gp.kernel().factors.iter().find_map(|factor| factor.lengthscale_of(k));
        let names = self.history.space().names().iter().enumerate();
        Ok(Some(Fitted {
            evaluations: places.len(),
            of: self.history.values().count(),
            noise_sd: fit.units.sd * fit.hyperparameters.noise_variance.sqrt(),
            signal_sd: fit.units.sd * fit.hyperparameters.outputscale.sqrt(),
            lengthscales: names.filter_map(|(k, name)| Some((name.clone(), lengthscale(k)?))).collect(),
        }))
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;
    use rand_distr::{Distribution, StandardNormal};

    use crate::math::rng::{Purpose, Seed};
    use crate::{Params, Space, Study, Value};

    #[test]
    fn the_fit_tells_noise_from_signal_and_rough_from_smooth() {
        let mut rng = Seed(5).stream(Purpose::Experiment, 0, 0);
        let space = Space::builder()
            .float("wave", 0.0, 1.0)
            .float("line", 0.0, 1.0)
            .int("one", 3, 3)
            .build()
            .unwrap();
        let mut study = Study::builder().space(space).build().unwrap();
        assert_eq!(study.fitted().unwrap(), None);
        for _ in 0..150 {
            let x: [f64; 2] = [rng.random(), rng.random()];
            let z: f64 = StandardNormal.sample(&mut rng);
            let params = [("wave", Value::from(x[0])), ("line", Value::from(x[1])), ("one", Value::from(3))];
            study
                .add(&Params::from_iter(params), 50.0 * (12.0 * x[0]).sin() + 20.0 * x[1] + 5.0 * z, None)
                .unwrap();
        }
        let fitted = study.fitted().unwrap().unwrap();
        assert_eq!((fitted.evaluations, fitted.of), (150, 150));
        // 150 values: the deviation of an estimated deviation is 6 %.
        assert!((3.5..6.5).contains(&fitted.noise_sd), "{fitted:?}");
        assert!((15.0..500.0).contains(&fitted.signal_sd), "{fitted:?}");
        let [(wave, rough), (line, smooth)] = &fitted.lengthscales[..] else { panic!("{fitted:?}") };
        assert_eq!((wave.as_str(), line.as_str()), ("wave", "line"));
        assert!(rough < smooth && *rough < 1.0, "{fitted:?}");
    }
}
