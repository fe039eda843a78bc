//! What was expected of a point when it was chosen.

use super::recommend::Posterior;
use super::{Direction, Event, Study, TrialState};
use crate::error::Error;
use crate::math::normal;
use crate::math::rng::Purpose;
use crate::strategy::dataset::top;
use crate::strategy::history::{History, Outcome};
use crate::surrogate::Surrogate;
use crate::surrogate::points::Points;

/// What the model of recommendations, had it been asked when a point was chosen, would have said of it. All in the user's units.
///
/// It is fitted to the values known then, as it is to all of them now. The algorithm may have had another model, and knew which points
/// were running: those play no part here.
#[derive(Clone, Debug, PartialEq)]
pub struct Foresight {
    /// Evaluations with a value at that moment.
    pub evaluations: usize,
    /// The value expected at the point.
    pub mean: f64,
    /// Its standard deviation, without noise.
    pub sd: f64,
    /// What the deviation would have been had nothing been known.
    pub prior_sd: f64,
    /// The best mean of an evaluated point.
    pub best_mean: f64,
    /// How much the point was expected to be better than that: the expectation of the positive part of the difference (Jones et al. 1998,
    /// eq. (15), with the best mean in place of the best value, which noise may have made too good).
    pub expected_improvement: f64,
    /// The evaluated point that is nearest by the model.
    pub nearest: Nearest,
}

/// The nearest of the evaluated points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Its trial.
    pub number: u64,
    /// The correlation of the values at the two points before anything is known: 1 at the same point, 0 far away.
    pub correlation: f64,
    /// How many evaluated points had better means.
    pub better: usize,
}

impl Study {
    /// What was expected of the point of trial `number` when it began; `None` if no value was known then. Takes a fit of the model. An error
    /// if there is no such trial.
    pub fn foresight(&self, number: u64) -> Result<Option<Foresight>, Error> {
        self.trial(number)?;
        let Some((earlier, numbers)) = self.history_before(number) else { return Ok(None) };
        if earlier.values().next().is_none() {
            return Ok(None);
        }
        let mut rng = self.seed.stream(Purpose::Reference, earlier.len() as u64, 0);
        let posterior = Posterior::new(&earlier, &mut rng)?;
        let index = usize::try_from(number).expect("invariant: there is such a trial");
        let x = &self.choices[index].x;
        Ok(Some(foresight(&posterior, &earlier, &numbers, x, self.direction)))
    }

    /// What was known when trial `number` began, as it was known then, and the trial of each evaluation.
    fn history_before(&self, number: u64) -> Option<(History, Vec<u64>)> {
        let mut history = History::new(self.space().clone(), self.duplicates());
        let mut numbers: Vec<u64> = Vec::new();
        let mut places = vec![None; self.trials.len()];
        let mut end = |number: u64, state: TrialState| {
            let i = usize::try_from(number).ok().filter(|i| *i < self.choices.len())?;
            let outcome = match state {
                TrialState::Complete { value, noise_var } => {
                    Outcome::Value { y: self.direction.flip(value), noise_variance: noise_var }
                }
                _ => Outcome::Failed,
            };
            if let Some(place) = places[i] {
                history.correct(place, &self.choices[i], outcome);
            } else {
                places[i] = Some(numbers.len());
                history.add(&self.choices[i], outcome);
                numbers.push(number);
            }
            Some(())
        };
        let mut begun = 0;
        for event in &self.events {
            let begins = match event {
                Event::Asked(asked) => asked.choices.len() as u64,
                Event::Enqueued(_) | Event::Added(_) => 1,
                Event::Told(_) | Event::Failed(_) | Event::Planned(_) | Event::Replaced(_) => 0,
            };
            if begun + begins > number {
                return Some((history, numbers));
            }
            match event {
                Event::Told(told) => {
                    end(told.number, TrialState::Complete { value: told.value, noise_var: told.noise_var })?;
                }
                Event::Failed(failed) => {
                    end(failed.number, TrialState::Failed { reason: failed.reason.clone() })?;
                }
                Event::Replaced(replaced) => end(replaced.number, replaced.state())?,
                Event::Added(added) => end(begun, added.state())?,
                Event::Asked(_) | Event::Enqueued(_) | Event::Planned(_) => {}
            }
            begun += begins;
        }
        None
    }
}

/// The history must have a value; `numbers` are the trials of its evaluations.
fn foresight(
    Posterior { gp, fit, places, .. }: &Posterior,
    history: &History,
    numbers: &[u64],
    x: &[f64],
    direction: Direction,
) -> Foresight {
    let here = Points::from_columns(x.len(), x);
    let evaluated = history.points().select(places);
    let means = gp.means(&evaluated);
    let best_mean = means.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let marginals = gp.marginals(&here);
    let (mean, sd) = (marginals.mean[0], marginals.variance[0].sqrt());
    let prior = gp.kernel().variance(x);
    let mut covariances = vec![0.0; evaluated.len()];
    gp.kernel().column(&evaluated, 0, x, &mut covariances);
    for (i, k) in covariances.iter_mut().enumerate() {
        *k /= (prior * gp.kernel().variance(&evaluated.point(i))).sqrt();
    }
    let nearest = top(&covariances, 1).first().copied().unwrap_or_default();
    // Far below, h underflows, and so does the expected improvement; without a deviation it is what is certain.
    let improvement =
        if sd > 0.0 { sd * normal::h((mean - best_mean) / sd) } else { (mean - best_mean).max(0.0) };
    let units = &fit.units;
    let value = |standardized: f64| direction.flip(units.mean + units.sd * standardized);
    Foresight {
        evaluations: places.len(),
        mean: value(mean),
        sd: units.sd * sd,
        prior_sd: units.sd * prior.sqrt(),
        best_mean: value(best_mean),
        expected_improvement: units.sd * improvement,
        nearest: Nearest {
            number: numbers[places[nearest]],
            correlation: covariances[nearest].clamp(0.0, 1.0),
            better: means.iter().filter(|mean| **mean > means[nearest]).count(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{Failed, Told};
    use crate::{Params, Space};

    fn space() -> Space {
        Space::bounds(&[(0.0, 1.0); 2]).unwrap()
    }

    fn grow(study: &mut Study, trials: usize) {
        for trial in study.ask(trials).unwrap() {
            let x = trial.numbers();
            study.tell(trial.number, (x[0] - 0.3).powi(2) + x[1]).unwrap();
        }
    }

    /// An equivalence: what a study that ended there predicts of the point, in either direction, with failures and corrections before
    /// and after it.
    #[test]
    fn it_is_what_was_predicted_then() {
        for direction in [Direction::Minimize, Direction::Maximize] {
            let mut study = Study::builder().space(space()).direction(direction).build().unwrap();
            assert!(study.foresight(0).is_err(), "there is no such trial");
            grow(&mut study, 6);
            study.add(&Params::from_iter([("x0", 0.9), ("x1", 0.1)]), f64::NAN, None).unwrap();
            study.absorb(Failed { number: 2, reason: "it was wrong".into() }).unwrap();
            let then = study.recommended().unwrap().unwrap();
            let batch = study.ask(2).unwrap();
            let predicted = batch
                .iter()
                .map(|trial| study.predict(std::slice::from_ref(&trial.params)).unwrap().unwrap());
            let predicted: Vec<_> = predicted.collect();
            grow(&mut study, 4);
            study.replace(1, 0.7, None).unwrap();
            study.absorb(Told { number: 2, value: 0.1, noise_var: None }).unwrap();
            for (trial, predicted) in batch.iter().zip(predicted) {
                let found = study.foresight(trial.number).unwrap().unwrap();
                assert_eq!(found.evaluations, 5);
                assert!((found.mean - predicted.mean[0]).abs() < 1e-9, "{found:?} {predicted:?}");
                assert!((found.sd - predicted.sd[0]).abs() < 1e-9, "{found:?} {predicted:?}");
                assert!((found.best_mean - then.mean).abs() < 1e-9, "{found:?} {then:?}");
                assert!(
                    found.expected_improvement >= 0.0 && found.sd <= found.prior_sd * (1.0 + 1e-9),
                    "{found:?}"
                );
                assert!(found.nearest.number < 6 && found.nearest.number != 2, "{found:?}");
            }
            assert_eq!(study.foresight(0).unwrap(), None, "nothing was known");
        }
    }

    /// By hand: the expected improvement of a point whose mean is the best one is `sd / sqrt(2 pi)`.
    #[test]
    fn near_and_far_are_told_apart() {
        let mut study = Study::builder().space(space()).build().unwrap();
        for i in 0..30 {
            let x = [f64::from(i % 6) / 5.0, f64::from(i / 6) / 10.0];
            study
                .add(&Params::from_iter([("x0", x[0]), ("x1", x[1])]), (8.0 * x[0]).sin() + x[1], None)
                .unwrap();
        }
        let beside = study.enqueue(&Params::from_iter([("x0", 0.6), ("x1", 0.11)])).unwrap();
        let same = study.enqueue(&Params::from_iter([("x0", 0.6), ("x1", 0.1)])).unwrap();
        let far = study.enqueue(&Params::from_iter([("x0", 0.5), ("x1", 1.0)])).unwrap();
        let [beside, same, far] =
            [beside, same, far].map(|trial| study.foresight(trial.number).unwrap().unwrap());
        assert_eq!(same.nearest.number, 9, "x0 = 3 / 5, x1 = 1 / 10: {same:?}");
        assert!(same.nearest.correlation > 1.0 - 1e-9 && beside.nearest.correlation > 0.95, "{beside:?}");
        assert!(
            far.nearest.correlation < beside.nearest.correlation && far.sd > 3.0 * beside.sd,
            "{far:?} {beside:?}"
        );
        // sin(4.8) is the lowest of the six, and x1 = 0 is below 0.1.
        assert_eq!(same.nearest.better, 1, "{same:?}");
        for found in [beside, same, far] {
            let z = (found.best_mean - found.mean) / found.sd;
            assert!((found.expected_improvement - found.sd * normal::h(z)).abs() < 1e-12, "{found:?}");
        }
    }
}
