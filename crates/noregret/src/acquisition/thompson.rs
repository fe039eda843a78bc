//! Thompson sampling: the utility of a point is its value under one function drawn from the posterior.
//!
//! # Notation
//! (Kim et al. 2025, Algorithm 2 and Theorem 4.)
//!
//! | paper            | here       | meaning                                                        |
//! |------------------|------------|----------------------------------------------------------------|
//! | `f_t`            | [`Path`]   | a draw from the posterior                                      |
//! | `beta_t`         | `beta`     | factor of the posterior deviation                              |
//! | `eta~_t`         | `eta`      | worst-case accuracy of the maximizer                           |
//! | `B`              | `norm_bound` | bound of the objective's norm                                |
//! | `v~_t`           | `margin`   | `(1 / eta~ - 1) B`                                             |
//! | `s_{t-1}`        |            | `beta sigma + v~`, the deviation of the enlarged sample        |
//!
//! # Departures
//! Theorem 4 prints the variance `s^2` of the enlarged sample and not its covariance. Ours is `beta^2` times the posterior's, as in
//! Algorithm 2, plus that of an independent part which makes up the variance (see [`EnlargedPath`]). The proof (Chowdhury & Gopalan
//! 2017, Lemmas 5 and 7) uses the law at single points and a union bound, so it holds for any covariance with this variance.
//! Stretching the posterior's own draw by `s / sigma` would give it as well, but `(f - mu) / sigma` jumps at every observed point, and
//! maxima would gather there.

use std::borrow::Cow;

use super::Acquisition;
use crate::math::rng::Stream;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::path::{FeaturePath, Path, UnitPath};
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::neural::draw::Draw;
use crate::surrogate::points::Points;
use crate::surrogate::{Gradient, Surrogate};

impl Acquisition for Path<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        Path::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Path::value_and_gradient(self, x, gradient)
    }
}

impl Acquisition for FeaturePath {
    fn values(&self, points: &Points) -> Vec<f64> {
        FeaturePath::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        FeaturePath::value_and_gradient(self, x, gradient)
    }
}

impl Acquisition for Draw {
    fn values(&self, points: &Points) -> Vec<f64> {
        Draw::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        Draw::value_and_gradient(self, x, gradient)
    }
}

/// A sample path whose deviation is enlarged from `sigma` to `beta sigma + margin`: inexact GP-TS (Theorem 4).
///
/// `mu + beta (f - mu) + sqrt(margin^2 + 2 beta margin sigma) g`, with `f` drawn from the posterior and `g`, independent of it,
/// from the prior and scaled to variance 1: then the variance is
/// `beta^2 sigma^2 + margin^2 + 2 beta margin sigma = (beta sigma + margin)^2`.
///
/// `sigma` is the deviation given the observed points alone, as `f` is drawn given these: running points and those of the
/// batch play no part.
#[derive(Clone, Debug)]
pub struct EnlargedPath<'a> {
    /// Without points that have no value.
    gp: Cow<'a, Gp>,
    path: Path<'a>,
    /// `g`; `None` if the margin is 0.
    extra: Option<UnitPath>,
    beta: f64,
    margin: f64,
}

/// Below this deviation its gradient is rounding noise (`var / 2 sd` of a difference of numbers of size 1), and is taken as 0.
const FLAT_SD: f64 = 1e-9;

impl<'a> EnlargedPath<'a> {
    /// Draws a path from the posterior of `gp`, enlarged by `beta` and by `margin = (1 / eta - 1) * norm_bound`.
    ///
    /// # Panics
    /// If the kernel is that of a network.
    pub fn draw(gp: &'a Gp, features: usize, beta: f64, margin: f64, rng: &mut Stream) -> Self {
        let path = Path::draw(gp, features, rng);
        let dims = gp.points().dims();
        let extra = (margin > 0.0).then(|| UnitPath::draw(gp.kernel(), dims, features, rng));
        let gp = if gp.len() > gp.observed() {
            let mut observed = gp.clone();
            observed.release();
            Cow::Owned(observed)
        } else {
            Cow::Borrowed(gp)
        };
        Self { gp, path, extra, beta, margin }
    }

    /// The enlarged path at candidates whose posterior is known.
    pub fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let draws = self.path.values_at(candidates);
        self.enlarged(draws, candidates.points(), candidates.mean(), candidates.observed_variance())
    }

    /// `draws` of the path at `points`, enlarged.
    fn enlarged(&self, mut draws: Vec<f64>, points: &Points, mean: &[f64], variance: &[f64]) -> Vec<f64> {
        let extra = self.extra.as_ref().map(|extra| extra.values(points));
        for (i, draw) in draws.iter_mut().enumerate() {
            *draw = mean[i] + self.beta * (*draw - mean[i]);
            if let Some(extra) = &extra {
                *draw += self.weight(variance[i].max(0.0).sqrt()) * extra[i];
            }
        }
        draws
    }

    /// The weight of `g` where the deviation is `sd`.
    fn weight(&self, sd: f64) -> f64 {
        (self.margin * (self.margin + 2.0 * self.beta * sd)).sqrt()
    }
}

impl Acquisition for EnlargedPath<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        let marginals = self.gp.marginals(points);
        self.enlarged(self.path.values(points), points, &marginals.mean, &marginals.variance)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (mut by_mean, mut by_variance) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let (mean, variance) = self.gp.marginal_with_gradient(x, &mut by_mean, &mut by_variance);
        let sd = variance.sqrt();
        let draw = self.path.value_and_gradient(x, gradient);
        for (gradient, by_mean) in gradient.iter_mut().zip(&by_mean) {
            *gradient = by_mean + self.beta * (*gradient - by_mean);
        }
        let mut value = mean + self.beta * (draw - mean);
        if let Some(extra) = &self.extra {
            let mut by_extra = vec![0.0; x.len()];
            let g = extra.value_and_gradient(x, &mut by_extra);
            let weight = self.weight(sd);
            // d weight = margin beta / weight * dsd, and dsd = dvar / (2 sd)
            let slope = if sd > FLAT_SD { 0.5 * g * self.margin * self.beta / (weight * sd) } else { 0.0 };
            for i in 0..x.len() {
                gradient[i] += weight * by_extra[i] + slope * by_variance[i];
            }
            value += weight * g;
        }
        value
    }
}
