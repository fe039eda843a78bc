//! A factor whose kernel is that of an infinitely wide network: from coordinates to the statistics of [`super::ntk`] and
//! back to gradients.
//!
//! Input `k` of the network is `p_k(x) = (stretch x_k - shift) / l_k`. For `x` and the point `c` there are three statistics,
//! in this order: `xx = sum_k p_k(x)^2`, `cc = sum_k p_k(c)^2`, `gap = sum_k (p_k(x) - p_k(c))^2`.

use super::kernel::{Factor, LANES};
use super::ntk::Ntk;
use crate::math::vector;
use crate::surrogate::points::Points;

/// Statistics of a pair.
pub(super) const STATISTICS: usize = 3;

/// The network of a factor.
pub(super) struct Network<'a> {
    factor: &'a Factor,
    ntk: Ntk,
    stretch: f64,
    shift: f64,
}

impl<'a> Network<'a> {
    /// The network behind `factor`, if there is one.
    pub(super) fn of(factor: &'a Factor) -> Option<Self> {
        let ntk = Ntk::new(factor.form.activation()?, &factor.ntk, factor.dims.len());
        let (stretch, shift) = if factor.ntk.symmetric { (2.0, 1.0) } else { (1.0, 0.0) };
        Some(Self { factor, ntk, stretch, shift })
    }

    /// Indices of the inputs, their coordinates and the inverse lengthscales.
    fn inputs(&self) -> impl Iterator<Item = (usize, usize, f64)> {
        self.factor.dims.iter().enumerate().map(|(i, &k)| (i, k, 1.0 / self.factor.lengthscale(i)))
    }

    /// One input of the network. All squares are made of it in the same way, so that equal points have equal norms.
    fn input(&self, x: f64, inverse: f64) -> f64 {
        (self.stretch * x - self.shift) * inverse
    }

    fn squared_norm(&self, x: &[f64]) -> f64 {
        self.inputs().map(|(_, k, inverse)| self.input(x[k], inverse)).fold(0.0, |sum, p| sum + p * p)
    }

    /// `k(x, x)` and its derivative by the squared norm of the inputs.
    pub(super) fn variance_and_slope(&self, x: &[f64]) -> (f64, f64) {
        self.ntk.variance_and_slope(self.squared_norm(x))
    }

    /// Adds the gradient of the squared norm of `x`, times `scale`.
    pub(super) fn add_norm_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        for (_, k, inverse) in self.inputs() {
            gradient[k] += scale * 2.0 * self.stretch * inverse * self.input(x[k], inverse);
        }
    }

    /// Calls `f` for blocks of points from `from` on: place of the block, squared norms and squared distances to `x`.
    fn for_blocks(
        &self,
        points: &Points,
        from: usize,
        n: usize,
        x: &[f64],
        mut f: impl FnMut(usize, &[f64; LANES], &[f64; LANES]),
    ) {
        for start in (0..n).step_by(LANES) {
            let (mut cc, mut gap) = ([0.0; LANES], [0.0; LANES]);
            for (_, k, inverse) in self.inputs() {
                let own = self.input(x[k], inverse);
                let rest = points.coordinate(k)[from + start..].iter().take(LANES.min(n - start));
                for (l, c) in rest.enumerate() {
                    let input = self.input(*c, inverse);
                    cc[l] += input * input;
                    gap[l] += (input - own) * (input - own);
                }
            }
            f(start, &cc, &gap);
        }
    }

    /// Multiplies `out` by the factor's part of the column of `x`.
    pub(super) fn column(&self, points: &Points, from: usize, x: &[f64], out: &mut [f64]) {
        let xx = self.squared_norm(x);
        self.for_blocks(points, from, out.len(), x, |start, cc, gap| {
            let pairs = cc.iter().zip(gap);
            for (out, (cc, gap)) in out[start..].iter_mut().zip(pairs) {
                *out *= self.ntk.value(xx, *cc, *gap);
            }
        });
    }

    /// Multiplies the slopes `own` by the factor's, one array for each statistic, and the `others` (the values, and slopes of
    /// other factors) by its part of the column of `x`.
    pub(super) fn column_with_slopes<'b>(
        &self,
        points: &Points,
        from: usize,
        x: &[f64],
        own: &mut [Vec<f64>],
        others: impl Iterator<Item = &'b mut Vec<f64>>,
    ) {
        let xx = self.squared_norm(x);
        let n = own[0].len();
        let mut all = vec![0.0; n];
        self.for_blocks(points, from, n, x, |start, cc, gap| {
            for l in 0..LANES.min(n - start) {
                let pair = self.ntk.covariance(xx, cc[l], gap[l]);
                all[start + l] = pair.ntk;
                for (own, slope) in own.iter_mut().zip(pair.slopes) {
                    own[start + l] *= slope;
                }
            }
        });
        for other in others {
            other.iter_mut().zip(&all).for_each(|(other, h)| *other *= h);
        }
    }

    /// Adds `scale * d/dx sum_i weights[i] k(points[i], x)`; `slopes` are those by the statistics.
    pub(super) fn add_input_gradient(
        &self,
        points: &Points,
        x: &[f64],
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        let t: Vec<f64> = weights.iter().zip(&slopes[2]).map(|(w, slope)| w * slope).collect();
        let total: f64 = t.iter().sum();
        for (_, k, inverse) in self.inputs() {
            let moment = vector::dot(&t, &points.coordinate(k)[..t.len()]);
            gradient[k] += scale * 2.0 * (self.stretch * inverse).powi(2) * (x[k] * total - moment);
        }
        self.add_norm_gradient(x, scale * vector::dot(weights, &slopes[0][..weights.len()]), gradient);
    }

    /// `sum_i weights[i] dk(points[j + i], points[j]) / dlog l` for each input.
    pub(super) fn log_lengthscale_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
    ) -> impl Iterator<Item = (usize, f64)> {
        let weighed =
            |slopes: &[f64]| -> Vec<f64> { weights.iter().zip(slopes).map(|(w, s)| w * s).collect() };
        let by_xx = vector::dot(weights, &slopes[0][..weights.len()]);
        let (by_cc, by_gap) = (weighed(&slopes[1]), weighed(&slopes[2]));
        self.inputs().map(move |(i, k, inverse)| {
            let coordinate = &points.coordinate(k)[j..];
            let own = self.input(coordinate[0], inverse);
            let squares = vector::weighted_squares(&by_gap, coordinate, coordinate[0])
                + vector::weighted_squares(&by_cc, coordinate, self.shift / self.stretch);
            // Every statistic is a sum of terms over l_k^2.
            (i, -2.0 * (by_xx * own * own + squares * (self.stretch * inverse).powi(2)))
        })
    }
}
