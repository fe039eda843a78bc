//! Squared exponential and Matérn: functions of the scaled distance of two points (Rasmussen & Williams 2006, section 4.2.1).
//!
//! The statistic is the squared distance `s = sum_k ((x_k - c_k) / l_k)^2`. With `h(s)` the covariance and `t = weight dh/ds`:
//!
//! - by a coordinate: `ds/dx_k = 2 (x_k - c_k) / l_k^2`, so `sum_i t_i ds_i/dx_k = 2 / l_k^2 (x_k sum_i t_i - sum_i t_i c_ik)`;
//! - by a lengthscale: `ds/dlog l_k = -2 ((x_k - c_k) / l_k)^2`.

use pulp::Simd;

use super::coordinates::Coordinates;
use super::factor::{FactorKernel, FactorSlopes, Pairs};
use super::statistic::{self, LANES, OneStatistic};
use crate::math::vector::{self, exp_one, fma};
use crate::surrogate::points::Points;

/// How the covariance falls with the distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// `exp(-s / 2)`.
    SquaredExponential,
    /// `exp(-r)` with `r = sqrt(s)`.
    Matern12,
    /// `(1 + r) exp(-r)` with `r = sqrt(3 s)`.
    Matern32,
    /// `(1 + r + r^2 / 3) exp(-r)` with `r = sqrt(5 s)`.
    Matern52,
}

impl Shape {
    /// `2 nu` of a Matérn kernel; `None` for the squared exponential, its limit.
    pub fn degrees_of_freedom(self) -> Option<f64> {
        match self {
            Shape::SquaredExponential => None,
            Shape::Matern12 => Some(1.0),
            Shape::Matern32 => Some(3.0),
            Shape::Matern52 => Some(5.0),
        }
    }
}

/// A factor that depends on the distance of two points alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Stationary {
    /// How it falls with the distance.
    pub shape: Shape,
    /// The coordinates it looks at.
    pub coordinates: Coordinates,
}

impl FactorKernel for Stationary {
    fn parameter_count(&self) -> usize {
        self.coordinates.lengthscales().len()
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        self.coordinates.lengthscales_mut().iter_mut().collect()
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        let coordinates = &self.coordinates;
        match self.shape {
            Shape::SquaredExponential => {
                statistic::multiply_column(SquaredExponential, coordinates, pairs, out);
            }
            Shape::Matern12 => statistic::multiply_column(Matern12, coordinates, pairs, out),
            Shape::Matern32 => statistic::multiply_column(Matern32, coordinates, pairs, out),
            Shape::Matern52 => statistic::multiply_column(Matern52, coordinates, pairs, out),
        }
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        let coordinates = &self.coordinates;
        match self.shape {
            Shape::SquaredExponential => {
                statistic::multiply_slopes(SquaredExponential, coordinates, pairs, slopes);
            }
            Shape::Matern12 => statistic::multiply_slopes(Matern12, coordinates, pairs, slopes),
            Shape::Matern32 => statistic::multiply_slopes(Matern32, coordinates, pairs, slopes),
            Shape::Matern52 => statistic::multiply_slopes(Matern52, coordinates, pairs, slopes),
        }
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
        let total: f64 = t.iter().sum();
        for k in self.coordinates.iter() {
            let moment = vector::dot(&t, &pairs.coordinate(k.index)[..t.len()]);
            let inverse = k.lengthscale.powi(-2);
            gradient[k.index] += scale * inverse * (2.0 * (pairs.x[k.index] * total - moment));
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
            let sum = vector::weighted_squares(t, coordinate, coordinate[0]) / (l * l);
            gradient[k.slot] -= 2.0 * sum;
        }
    }
}

#[inline(always)]
fn add_squared_differences<S: Simd>(s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
    for l in 0..LANES {
        let difference = (block[l] - c) * inverse;
        s[l] = fma::<S>(difference, difference, s[l]);
    }
}

#[derive(Clone, Copy)]
struct SquaredExponential;

impl OneStatistic for SquaredExponential {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        add_squared_differences::<S>(s, block, c, inverse);
    }

    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        let e = exp_one::<S>(-0.5 * s);
        (e, -0.5 * e)
    }
}

#[derive(Clone, Copy)]
struct Matern12;

impl OneStatistic for Matern12 {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        add_squared_differences::<S>(s, block, c, inverse);
    }

    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        let r = s.sqrt();
        let e = exp_one::<S>(-r);
        // dh/ds = -exp(-r) / (2 r) has a pole at r = 0, where the kernel has its cusp: 0 is the mean of its one-sided slopes.
        (e, if r > 0.0 { -0.5 * e / r } else { 0.0 })
    }
}

#[derive(Clone, Copy)]
struct Matern32;

impl OneStatistic for Matern32 {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        add_squared_differences::<S>(s, block, c, inverse);
    }

    /// `dh/dr = -r exp(-r)` and `dr/ds = 3 / (2 r)`: the `r` cancels.
    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        let r = (3.0 * s).sqrt();
        let e = exp_one::<S>(-r);
        ((1.0 + r) * e, -1.5 * e)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Matern52;

impl OneStatistic for Matern52 {
    #[inline(always)]
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64) {
        add_squared_differences::<S>(s, block, c, inverse);
    }

    /// `dh/dr = -r (1 + r) exp(-r) / 3` and `dr/ds = 5 / (2 r)`: the `r` cancels.
    #[inline(always)]
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        let r = (5.0 * s).sqrt();
        let e = exp_one::<S>(-r);
        ((1.0 + r + (5.0 / 3.0) * s) * e, (-5.0 / 6.0) * (1.0 + r) * e)
    }
}
