//! From a posterior to the utility of evaluating one more point; larger is better.

pub mod beta;
pub mod improvement;
pub mod log_improvement;
pub mod rsr;
pub mod thompson;
pub mod ucb;
pub mod utility;

use crate::surrogate::Gradient;
use crate::surrogate::points::Points;
use utility::Utility;

/// Utility of one more point. Model and incumbent are captured at construction.
pub trait Acquisition: Sync {
    /// The utility at each of a set of points: the unit of work.
    fn values(&self, points: &Points) -> Vec<f64>;

    /// The utility and its gradient at one point.
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64;

    /// A cheaper approximation of the utility near `center`, if there is one. Callers that climb on it must compare the
    /// results under the utility itself.
    fn around(&self, _center: &[f64]) -> Option<Box<dyn Acquisition + '_>> {
        None
    }

    /// The utility at one point.
    fn value(&self, x: &[f64]) -> f64 {
        self.values(&Points::from_columns(x.len(), x))[0]
    }
}

/// A utility that depends on the posterior mean and deviation at the point only.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a, M: ?Sized> {
    /// The model that gives the posterior.
    pub model: &'a M,
    /// The utility computed from mean and deviation.
    pub utility: Utility,
}

/// Below this deviation a gradient of the deviation is rounding noise (`var / 2 sd` of a difference of numbers of
/// size 1), and is taken as 0.
const FLAT_SD: f64 = 1e-9;

impl<M: Gradient + ?Sized> Acquisition for Scored<'_, M> {
    fn values(&self, points: &Points) -> Vec<f64> {
        let marginals = self.model.marginals(points);
        let mut values = vec![0.0; points.len()];
        self.utility.values(&marginals.mean, &marginals.variance, &mut values);
        values
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut by_variance = vec![0.0; x.len()];
        let (mean, variance) = self.model.marginal_with_gradient(x, gradient, &mut by_variance);
        let sd = variance.sqrt();
        let slope = self.utility.slope(mean, sd);
        let by_variance_scale = if sd > FLAT_SD { slope.by_sd / (2.0 * sd) } else { 0.0 };
        for (gradient, by_variance) in gradient.iter_mut().zip(&by_variance) {
            *gradient = slope.by_mean * *gradient + by_variance_scale * by_variance;
        }
        slope.value
    }

    fn around(&self, center: &[f64]) -> Option<Box<dyn Acquisition + '_>> {
        let model = self.model.local(center)?;
        Some(Box::new(ScoredLocally { model, utility: self.utility }))
    }
}

/// A utility on a local model of its own.
struct ScoredLocally<'a> {
    model: Box<dyn Gradient + 'a>,
    utility: Utility,
}

impl Acquisition for ScoredLocally<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        Scored { model: &*self.model, utility: self.utility }.values(points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Scored { model: &*self.model, utility: self.utility }.value_and_gradient(x, gradient)
    }
}
