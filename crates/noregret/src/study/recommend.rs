//! The recommended point: the best posterior mean, not the luckiest observation.

use serde::{Deserialize, Serialize};

use super::{Direction, Trial};
use crate::error::Error;
use crate::math::rng::Stream;
use crate::space::Params;
use crate::strategy::gp::model::GpModel;
use crate::strategy::history::{History, Outcome};
use crate::strategy::memo::{Fit, Memo};
use crate::surrogate::Surrogate;
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::posterior::Gp;

/// Half-width of a 95 % interval in deviations.
const NORMAL_95: f64 = 1.959_963_984_540_054;

/// The point that the model recommends.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recommendation {
    /// Its trial.
    pub number: u64,
    /// Its parameters.
    pub params: Params,
    /// Its expected noise-free value.
    pub mean: f64,
    /// A 95 % interval for that value.
    pub interval: (f64, f64),
    /// Its observed value.
    pub observed: Option<f64>,
}

/// A recommendation as the model sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) place: usize,
    mean: f64,
    sd: f64,
}

impl Found {
    pub(super) fn in_users_units(self, trial: &Trial, direction: Direction) -> Recommendation {
        let (low, high) = (self.mean - NORMAL_95 * self.sd, self.mean + NORMAL_95 * self.sd);
        let (a, b) = (direction.flip(low), direction.flip(high));
        Recommendation {
            number: trial.number,
            params: trial.params.clone(),
            mean: direction.flip(self.mean),
            interval: (a.min(b), a.max(b)),
            observed: trial.value(),
        }
    }
}

/// The model of recommendations is the same for every algorithm. It is fitted from scratch, so that it depends on the history alone,
/// and to observed values only: the stand-ins for failures keep suggestions away but would bias a recommendation.
#[derive(Debug, Default)]
pub(super) struct Recommender {
    cached: Option<((usize, u64), Posterior)>,
}

/// The posterior given all observed values, and its units.
#[derive(Debug)]
pub(super) struct Posterior {
    pub(super) gp: Gp,
    pub(super) fit: Fit,
}

impl Recommender {
    pub(super) fn recommend(&mut self, history: &History, rng: &mut Stream) -> Result<Option<Found>, Error> {
        let Some(Posterior { gp, fit }) = self.posterior(history, rng)? else { return Ok(None) };
        Ok(best_place(history, gp).map(|place| {
            let there = gp.marginals(&history.points().slice(place..place + 1));
            let mean = fit.units.mean + fit.units.sd * there.mean[0];
            Found { place, mean, sd: fit.units.sd * there.variance[0].sqrt() }
        }))
    }

    /// Fits the model to this history; `None` if nothing was told.
    pub(super) fn posterior(
        &mut self,
        history: &History,
        rng: &mut Stream,
    ) -> Result<Option<&Posterior>, Error> {
        if history.values().next().is_none() {
            return Ok(None);
        }
        let key = (history.len(), history.revision());
        if self.cached.as_ref().is_none_or(|(known, _)| *known != key) {
            let mut model = GpModel::new(GpConfig::default(), 0);
            let (state, _) = model.update(&history.observed(), &mut Memo::default(), rng)?;
            self.cached = Some((key, Posterior { gp: state.gp().clone(), fit: state.fit().clone() }));
        }
        Ok(self.cached.as_ref().map(|(_, posterior)| posterior))
    }
}

/// The index of the evaluation with the best posterior mean; ties go to the first. All evaluations with a value are compared,
/// also those outside the subset that the model was fitted to.
pub(super) fn best_place(history: &History, gp: &Gp) -> Option<usize> {
    let means = gp.means(history.points());
    (0..history.len())
        .filter(|&i| matches!(history.outcomes()[i], Outcome::Value { .. }))
        .max_by(|&a, &b| means[a].total_cmp(&means[b]).then(b.cmp(&a)))
}
