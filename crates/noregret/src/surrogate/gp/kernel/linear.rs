//! The linear kernel: planes through the origin with random slopes (Rasmussen & Williams 2006, section 4.2.2).
//!
//! The covariance is its own statistic, `s = sum_k x_k c_k / l_k^2`: the slope along `k` has the variance `1 / l_k^2`.
//! `ds/dx_k = c_k / l_k^2` and `ds/dlog l_k = -2 x_k c_k / l_k^2`.

use pulp::Simd;

use super::coordinates::Coordinates;
use super::factor::{FactorKernel, FactorSlopes, Pairs};
use super::statistic::{self, LANES, OneStatistic};
use crate::math::vector::{self, fma};
use crate::surrogate::points::Points;

/// A factor whose functions are planes through the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// The coordinates it looks at.
    pub coordinates: Coordinates,
}

impl FactorKernel for Linear {
    fn parameter_count(&self) -> usize {
        self.coordinates.lengthscales().len()
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        self.coordinates.lengthscales_mut().iter_mut().collect()
    }

    fn is_stationary(&self) -> bool {
        false
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.coordinates.iter().map(|k| (x[k.index] / k.lengthscale).powi(2)).sum()
    }

    fn add_log_variance_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        let own = self.variance(x);
        if own > 0.0 {
            for k in self.coordinates.iter() {
                gradient[k.index] += scale / own * 2.0 * x[k.index] / k.lengthscale.powi(2);
            }
        }
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        statistic::multiply_column(InnerProduct, &self.coordinates, pairs, out);
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        statistic::multiply_slopes(InnerProduct, &self.coordinates, pairs, slopes);
    }

    fn add_input_gradient(
        &self,
        pairs: Pairs<'_>,
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        let t: Vec<f64> = weights.iter().zip(&slopes[0]).map(|(w, slope)| w * slope).collect();
        for k in self.coordinates.iter() {
            let moment = vector::dot(&t, &pairs.coordinate(k.index)[..t.len()]);
            gradient[k.index] += scale * k.lengthscale.powi(-2) * moment;
        }
    }

    fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        t.clear();
        t.extend(weights.iter().zip(&slopes[0]).map(|(w, s)| w * s));
        for k in self.coordinates.iter() {
            let (coordinate, l) = (&points.coordinate(k.index)[j..], k.lengthscale);
            let sum = coordinate[0] * vector::dot(t, coordinate) / (l * l);
            gradient[k.slot] -= 2.0 * sum;
        }
    }
}

#[derive(Clone, Copy)]
struct InnerProduct;

impl OneStatistic for InnerProduct {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        let weight = c * inverse * inverse;
        for l in 0..LANES {
            s[l] = fma::<S>(block[l], weight, s[l]);
        }
    }

    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        (s, 1.0)
    }
}
