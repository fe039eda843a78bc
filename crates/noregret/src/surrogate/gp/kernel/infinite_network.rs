//! A factor whose kernel is that of an infinitely wide network: from coordinates to the statistics of [`super::ntk`] and
//! back to gradients.
//!
//! Input `k` of the network is `p_k(x) = (stretch x_k - shift) / l_k`. For `x` and the point `c` there are three statistics,
//! in this order: `xx = sum_k p_k(x)^2`, `cc = sum_k p_k(c)^2`, `gap = sum_k (p_k(x) - p_k(c))^2`.

use super::coordinates::Coordinates;
use super::factor::{FactorKernel, FactorSlopes, Pairs};
use super::ntk::{Ntk, NtkActivation, NtkConfig};
use super::statistic::LANES;
use crate::math::vector;
use crate::surrogate::points::Points;

/// A factor whose functions are those of an infinitely wide network.
#[derive(Clone, Debug, PartialEq)]
pub struct InfiniteNetwork {
    /// What its hidden units compute.
    pub activation: NtkActivation,
    /// Its layers.
    pub config: NtkConfig,
    /// The coordinates it looks at.
    pub coordinates: Coordinates,
}

/// From a coordinate to an input of the network: `(stretch x - shift) / l`.
#[derive(Clone, Copy)]
struct Scaling {
    stretch: f64,
    shift: f64,
}

impl Scaling {
    /// One input of the network. All squares are made of it in the same way, so that equal points have equal norms.
    fn input(self, x: f64, inverse: f64) -> f64 {
        (self.stretch * x - self.shift) * inverse
    }
}

impl InfiniteNetwork {
    fn ntk(&self) -> Ntk {
        Ntk::new(self.activation, &self.config, self.coordinates.len())
    }

    fn scaling(&self) -> Scaling {
        let (stretch, shift) = if self.config.symmetric { (2.0, 1.0) } else { (1.0, 0.0) };
        Scaling { stretch, shift }
    }

    fn squared_norm(&self, x: &[f64]) -> f64 {
        let scaling = self.scaling();
        let inputs = self.coordinates.iter().map(|k| scaling.input(x[k.index], 1.0 / k.lengthscale));
        inputs.fold(0.0, |sum, p| sum + p * p)
    }

    /// Adds the gradient of the squared norm of `x`, times `scale`.
    fn add_norm_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        let scaling = self.scaling();
        for k in self.coordinates.iter() {
            let inverse = 1.0 / k.lengthscale;
            gradient[k.index] += scale * 2.0 * scaling.stretch * inverse * scaling.input(x[k.index], inverse);
        }
    }

    /// Calls `f` for blocks of the first `n` pairs: place of the block, squared norms and squared distances to `x`.
    fn for_blocks(&self, pairs: Pairs<'_>, n: usize, mut f: impl FnMut(usize, &[f64; LANES], &[f64; LANES])) {
        let scaling = self.scaling();
        for start in (0..n).step_by(LANES) {
            let (mut cc, mut gap) = ([0.0; LANES], [0.0; LANES]);
            for k in self.coordinates.iter() {
                let inverse = 1.0 / k.lengthscale;
                let own = scaling.input(pairs.x[k.index], inverse);
                let rest = pairs.coordinate(k.index)[start..].iter().take(LANES.min(n - start));
                for (l, c) in rest.enumerate() {
                    let input = scaling.input(*c, inverse);
                    cc[l] += input * input;
                    gap[l] += (input - own) * (input - own);
                }
            }
            f(start, &cc, &gap);
        }
    }
}

impl FactorKernel for InfiniteNetwork {
    fn parameter_count(&self) -> usize {
        self.coordinates.lengthscales().len()
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        self.coordinates.lengthscales_mut().iter_mut().collect()
    }

    fn statistic_count(&self) -> usize {
        3
    }

    fn is_stationary(&self) -> bool {
        false
    }

    fn variance(&self, x: &[f64]) -> f64 {
        self.ntk().variance_and_slope(self.squared_norm(x)).0
    }

    fn add_log_variance_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        let (own, slope) = self.ntk().variance_and_slope(self.squared_norm(x));
        if own > 0.0 {
            self.add_norm_gradient(x, scale / own * slope, gradient);
        }
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        let (ntk, xx) = (self.ntk(), self.squared_norm(pairs.x));
        self.for_blocks(pairs, out.len(), |start, cc, gap| {
            let squares = cc.iter().zip(gap);
            for (out, (cc, gap)) in out[start..].iter_mut().zip(squares) {
                *out *= ntk.value(xx, *cc, *gap);
            }
        });
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        let (ntk, xx) = (self.ntk(), self.squared_norm(pairs.x));
        let n = slopes.value.len();
        let mut h = vec![0.0; n];
        self.for_blocks(pairs, n, |start, cc, gap| {
            for l in 0..LANES.min(n - start) {
                let pair = ntk.covariance(xx, cc[l], gap[l]);
                h[start + l] = pair.ntk;
                for (own, slope) in slopes.own.iter_mut().zip(pair.slopes) {
                    own[start + l] *= slope;
                }
            }
        });
        slopes.multiply_others(&h);
    }

    fn add_input_gradient(
        &self,
        pairs: Pairs<'_>,
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        let [by_xx, _, by_gap] = by_statistic(slopes);
        let stretch = self.scaling().stretch;
        let t: Vec<f64> = weights.iter().zip(by_gap).map(|(w, slope)| w * slope).collect();
        let total: f64 = t.iter().sum();
        for k in self.coordinates.iter() {
            let moment = vector::dot(&t, &pairs.coordinate(k.index)[..t.len()]);
            gradient[k.index] +=
                scale * 2.0 * (stretch * (1.0 / k.lengthscale)).powi(2) * (pairs.x[k.index] * total - moment);
        }
        self.add_norm_gradient(pairs.x, scale * vector::dot(weights, &by_xx[..weights.len()]), gradient);
    }

    fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
        _: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        let [by_xx, by_cc, by_gap] = by_statistic(slopes);
        let weighed =
            |slopes: &[f64]| -> Vec<f64> { weights.iter().zip(slopes).map(|(w, s)| w * s).collect() };
        let by_xx = vector::dot(weights, &by_xx[..weights.len()]);
        let (by_cc, by_gap) = (weighed(by_cc), weighed(by_gap));
        let scaling = self.scaling();
        for k in self.coordinates.iter() {
            let (coordinate, inverse) = (&points.coordinate(k.index)[j..], 1.0 / k.lengthscale);
            let own = scaling.input(coordinate[0], inverse);
            let squares = vector::weighted_squares(&by_gap, coordinate, coordinate[0])
                + vector::weighted_squares(&by_cc, coordinate, scaling.shift / scaling.stretch);
            // Every statistic is a sum of terms over l_k^2.
            gradient[k.slot] += -2.0 * (by_xx * own * own + squares * (scaling.stretch * inverse).powi(2));
        }
    }
}

/// The slopes by `xx`, `cc` and `gap`.
fn by_statistic(slopes: &[Vec<f64>]) -> [&[f64]; 3] {
    std::array::from_fn(|i| slopes[i].as_slice())
}
