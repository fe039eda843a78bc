//! The overlap kernel of categories: the exponential of a weighted Hamming distance.
//!
//! The statistic counts the coordinates that differ, `s = sum_k [x_k != c_k] / l_k`, and the covariance is `exp(-s)`. A category
//! does not vary continuously, so there is no gradient by the point; `ds/dlog l_k = -[x_k != c_k] / l_k`.

use pulp::Simd;

use super::coordinates::Coordinates;
use super::factor::{FactorKernel, FactorSlopes, Pairs};
use super::statistic::{self, LANES, OneStatistic};
use crate::math::vector::exp_one;
use crate::surrogate::points::Points;

/// A factor for categories: all differences are equally large.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// The coordinates it looks at.
    pub coordinates: Coordinates,
}

impl FactorKernel for Overlap {
    fn parameter_count(&self) -> usize {
        self.coordinates.lengthscales().len()
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        self.coordinates.lengthscales_mut().iter_mut().collect()
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        statistic::multiply_column(Mismatches, &self.coordinates, pairs, out);
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        statistic::multiply_slopes(Mismatches, &self.coordinates, pairs, slopes);
    }

    fn add_input_gradient(&self, _: Pairs<'_>, _: &[Vec<f64>], _: &[f64], _: f64, _: &mut [f64]) {}

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
            let sum = sum_of_mismatches(t.iter().copied(), &points.coordinate(k.index)[j..]);
            gradient[k.slot] -= sum / k.lengthscale;
        }
    }
}

/// Sum of `t` over the points whose category is not that of the first.
pub(super) fn sum_of_mismatches(t: impl Iterator<Item = f64>, coordinate: &[f64]) -> f64 {
    let c = coordinate[0];
    #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
    t.zip(coordinate).filter(|(_, x)| **x != c).map(|(t, _)| t).sum()
}

#[derive(Clone, Copy)]
pub(super) struct Mismatches;

impl OneStatistic for Mismatches {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        for l in 0..LANES {
            #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
            let differs = block[l] != c;
            s[l] += if differs { inverse } else { 0.0 };
        }
    }

    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        let e = exp_one::<S>(-s);
        (e, -e)
    }
}
