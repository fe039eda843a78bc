//! From data to a posterior: predictions of the objective at new points, with their uncertainty.

pub mod forest;
pub mod gp;
pub mod neural;
pub mod nystrom;
pub mod points;

use points::Points;

/// Posterior mean and variance at each of a set of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Marginals {
    /// Posterior means.
    pub mean: Vec<f64>,
    /// Posterior variances of the noise-free function, never negative.
    pub variance: Vec<f64>,
}

/// A fitted, immutable model. Only fitting can fail.
pub trait Surrogate: Send + Sync {
    /// Marginal posterior at each of `points`.
    fn marginals(&self, points: &Points) -> Marginals;
}

/// Capability: the marginal posterior is differentiable in the point.
pub trait Gradient: Surrogate {
    /// Mean and variance at `x`, with their gradients.
    fn marginal_with_gradient(&self, x: &[f64], mean: &mut [f64], variance: &mut [f64]) -> (f64, f64);

    /// A cheaper approximation of the posterior near `center`, if there is one. Callers must compare what they find with it
    /// under the exact posterior.
    fn local(&self, _center: &[f64]) -> Option<Box<dyn Gradient + '_>> {
        None
    }
}
