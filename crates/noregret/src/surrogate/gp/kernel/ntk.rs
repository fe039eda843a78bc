//! The neural tangent kernel of an infinitely wide, fully connected network, in closed form.
//! Jacot et al. 2018, "Neural tangent kernel", Theorem 1; ReLU: Cho & Saul 2009, "Kernel methods for deep learning", the
//! arc-cosine kernels of orders 0 and 1; erf: Williams 1998, "Computation with infinite neural networks" (Rasmussen & Williams
//! 2006, eq. (4.29)).
//!
//! Layer `l` is `z_l = (weight_sd / sqrt(fan in)) W_l a_{l-1} + bias_sd b_l`, `a_l = phi(z_l)`, all entries of `W` and `b`
//! standard normal and trained; `depth` such layers are followed by an affine one. With `(u, v) ~ N(0, S_l)` of two inputs:
//!
//! `S_1 = weight_sd^2 x . c / d + bias_sd^2`, `S_{l+1} = weight_sd^2 E[phi(u) phi(v)] + bias_sd^2`,
//! `T_1 = S_1`, `T_{l+1} = S_{l+1} + T_l weight_sd^2 E[phi'(u) phi'(v)]`.
//!
//! `S_{depth + 1}` is the covariance of the network at its initialisation (NNGP), `T_{depth + 1}` the tangent kernel.
//!
//! # Notation
//! | papers         | here       | meaning                                                                    |
//! |----------------|------------|----------------------------------------------------------------------------|
//! | `x . x`, `c . c` | `xx`, `cc` | squared norms of the two inputs; after a layer, its variances            |
//! | `|x - c|^2`    | `gap`      | squared distance; after a layer, the mean square of `u - v`                |
//! | `theta`        | `theta`    | angle of the two: `cos theta = S(x, c) / sqrt(S(x, x) S(c, c))`            |
//! | `k_1 / 2`      |            | `E[relu(u) relu(v)] = sqrt(xx cc) (sin + (pi - theta) cos) / (2 pi)`       |
//! | `k_0 / 2`      | `tangent`  | `E[relu'(u) relu'(v)] = (pi - theta) / (2 pi)`                             |
//!
//! The papers write all of it with the inner product `xc = (xx + cc - gap) / 2`. Here it is the distance that goes from layer to
//! layer: the ReLU kernel falls off linearly in it, like Matérn 1/2, and for close points the inner product has lost it to
//! rounding: an angle below 1e-8 has the cosine 1.

use std::f64::consts::{FRAC_1_PI, FRAC_2_PI, PI};

use serde::{Deserialize, Serialize};

use crate::math::range::{OutOfRange, Range};

/// Where two inputs point the same way the ReLU kernel has its cusp, as Matérn 1/2 at distance 0. The slope of the angle is
/// infinite there, and 0, the mean of both sides, is taken for it; also this close by, where products of slopes could overflow.
const CUSP: f64 = 1e-100;

/// Depth costs time, and the kernel of a deeper network is all but constant.
const DEPTH: Range = Range::new(1.0, 32.0);
/// With 32 layers of such weights and biases the square of a variance is still a float.
const WEIGHT_SD: Range = Range::new(1e-6, 100.0);
const BIAS_SD: Range = Range::new(0.0, 100.0);

/// The network whose kernel `ntk-relu` and `ntk-erf` are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NtkConfig {
    /// Hidden layers. From 1 to 32.
    #[cfg_attr(feature = "schema", schemars(transform = DEPTH.stated()))]
    pub depth: usize,
    /// Deviation of the weights, before they are divided by the root of the layer's width.
    /// From 1e-6 to 100.
    #[cfg_attr(feature = "schema", schemars(transform = WEIGHT_SD.stated()))]
    pub weight_sd: f64,
    /// Deviation of the biases. From 0 to 100.
    #[cfg_attr(feature = "schema", schemars(transform = BIAS_SD.stated()))]
    pub bias_sd: f64,
    /// Map the unit cube to `[-1, 1]` before the network.
    pub symmetric: bool,
}

impl Default for NtkConfig {
    /// The network of Dai et al. 2022.
    fn default() -> Self {
        Self { depth: 2, weight_sd: 1.5, bias_sd: 0.05, symmetric: false }
    }
}

impl NtkConfig {
    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        DEPTH.check("depth", self.depth)?;
        WEIGHT_SD.check("weight_sd", self.weight_sd)?;
        BIAS_SD.check("bias_sd", self.bias_sd)
    }
}

/// What a hidden unit does with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NtkActivation {
    /// `max(0, z)`.
    Relu,
    /// The error function.
    Erf,
}

/// The kernel as a function of the squared norms of two inputs and of their squared distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ntk {
    activation: NtkActivation,
    depth: usize,
    weight_variance: f64,
    bias_variance: f64,
    /// Weight of the inputs in the first layer: `weight_sd^2 / d`.
    first: f64,
}

/// Both kernels of a network at two inputs, and the derivatives of the tangent kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Covariance {
    /// Covariance of the outputs at initialisation: `S_{depth + 1}`.
    pub nngp: f64,
    /// The tangent kernel: `T_{depth + 1}`.
    pub ntk: f64,
    /// Derivatives of the tangent kernel by `xx`, `cc` and `gap`, the other two held.
    pub slopes: [f64; 3],
}

/// Expectations over one layer's `(u, v)`, without the factor `weight_sd^2`, and their derivatives by `xx`, `cc`, `gap`.
struct Expectations {
    /// `E[(phi(u) - phi(v))^2]`.
    gap: f64,
    gap_slopes: [f64; 3],
    /// `E[phi'(u) phi'(v)]`.
    tangent: f64,
    tangent_slopes: [f64; 3],
}

impl Ntk {
    /// The kernel of a network on `dims` inputs. The configuration must be valid.
    pub fn new(activation: NtkActivation, config: &NtkConfig, dims: usize) -> Self {
        let weight_variance = config.weight_sd * config.weight_sd;
        Self {
            activation,
            depth: config.depth,
            weight_variance,
            bias_variance: config.bias_sd * config.bias_sd,
            first: weight_variance / dims.max(1) as f64,
        }
    }

    /// The tangent kernel of inputs with squared norms `xx` and `cc` and squared distance `gap`.
    #[inline]
    pub fn value(&self, xx: f64, cc: f64, gap: f64) -> f64 {
        self.recursion(xx, cc, gap).ntk
    }

    /// Both kernels, and derivatives.
    #[inline]
    pub fn covariance(&self, xx: f64, cc: f64, gap: f64) -> Covariance {
        self.recursion(xx, cc, gap)
    }

    /// The tangent kernel of an input with itself, and its derivative by the squared norm `xx`.
    pub fn variance_and_slope(&self, xx: f64) -> (f64, f64) {
        let (mut s, mut ds) = (self.first * xx + self.bias_variance, self.first);
        let (mut t, mut dt) = (s, ds);
        for _ in 0..self.depth {
            let (tangent, by_s) = self.activation.tangent(s);
            let (square, slope) = self.activation.square(s);
            let (tangent, d_tangent) = (self.weight_variance * tangent, self.weight_variance * by_s * ds);
            (s, ds) = (self.weight_variance * square + self.bias_variance, self.weight_variance * slope * ds);
            (t, dt) = (s + t * tangent, ds + dt * tangent + t * d_tangent);
        }
        (t, dt)
    }

    /// The recursion over the layers, derivatives in forward mode; where they are not used, the compiler drops them.
    ///
    /// After each layer, `xx` and `cc` are `S(x, x)` and `S(c, c)`, and `gap = E[(u - v)^2]`, so that `s = S(x, c)` is
    /// `(xx + cc - gap) / 2`; `t` is `T(x, c)`. `xx` depends on the squared norm of `x` alone, `cc` on that of `c`, `gap` on all three
    /// arguments: `by_xx`, `by_cc` and `by_gap` are these derivatives.
    #[inline(always)]
    fn recursion(&self, xx: f64, cc: f64, gap: f64) -> Covariance {
        let w = self.weight_variance;
        let (mut xx, mut cc) = (self.first * xx + self.bias_variance, self.first * cc + self.bias_variance);
        let (mut by_xx, mut by_cc) = (self.first, self.first); // slopes of `xx` by the input's, and of `cc`
        let (mut gap, mut by_gap) = (self.first * gap, [0.0, 0.0, self.first]);
        let mut s = 0.5 * (xx + cc - gap);
        let mut t = s;
        let mut slopes = [0.5 * by_xx, 0.5 * by_cc, -0.5 * by_gap[2]];
        for _ in 0..self.depth {
            let e = self.activation.expectations(xx, cc, gap);
            let chain = |d: [f64; 3]| {
                [d[0] * by_xx + d[2] * by_gap[0], d[1] * by_cc + d[2] * by_gap[1], d[2] * by_gap[2]]
            };
            let tangent_slopes = chain(e.tangent_slopes);
            by_gap = chain(e.gap_slopes).map(|d| w * d);
            gap = w * e.gap;
            let ((square_x, slope_x), (square_c, slope_c)) =
                (self.activation.square(xx), self.activation.square(cc));
            (xx, cc) = (w * square_x + self.bias_variance, w * square_c + self.bias_variance);
            (by_xx, by_cc) = (w * slope_x * by_xx, w * slope_c * by_cc);
            s = 0.5 * (xx + cc - gap);
            let by_s = [0.5 * (by_xx - by_gap[0]), 0.5 * (by_cc - by_gap[1]), -0.5 * by_gap[2]];
            for i in 0..3 {
                slopes[i] = by_s[i] + w * (slopes[i] * e.tangent + t * tangent_slopes[i]);
            }
            t = s + t * (w * e.tangent);
        }
        Covariance { nngp: s, ntk: t, slopes }
    }
}

impl NtkActivation {
    /// `E[phi(u)^2]` for `u ~ N(0, s)`, and its derivative by `s`.
    #[inline(always)]
    fn square(self, s: f64) -> (f64, f64) {
        match self {
            NtkActivation::Relu => (0.5 * s, 0.5),
            NtkActivation::Erf => {
                // asin(2 s / (1 + 2 s)), by the tangent of the angle: accurate for large `s` too.
                let root = (1.0 + 4.0 * s).sqrt();
                (FRAC_2_PI * (2.0 * s).atan2(root), 2.0 * FRAC_2_PI / ((1.0 + 2.0 * s) * root))
            }
        }
    }

    /// `E[phi'(u)^2]`, and its derivative by `s`.
    fn tangent(self, s: f64) -> (f64, f64) {
        match self {
            NtkActivation::Relu => (0.5, 0.0),
            NtkActivation::Erf => {
                let square = 1.0 + 4.0 * s;
                let tangent = 2.0 * FRAC_2_PI / square.sqrt();
                (tangent, -2.0 * tangent / square)
            }
        }
    }

    /// The expectations of a pair with variances `xx` and `cc` and mean squared difference `gap`.
    #[inline(always)]
    fn expectations(self, xx: f64, cc: f64, gap: f64) -> Expectations {
        // With a = sqrt(xx), b = sqrt(cc), gap = a^2 + b^2 - 2 a b cos theta: near = gap - (a - b)^2 = 2 a b (1 - cos theta) and
        // far = 2 a b (1 + cos theta), both 0 at the origin.
        let (a, b) = (xx.sqrt(), cc.sqrt());
        let sum = a + b;
        let difference = if sum > 0.0 { (xx - cc) / sum } else { 0.0 };
        let near = (gap - difference * difference).max(0.0).min(4.0 * a * b);
        let far = 4.0 * a * b - near;
        match self {
            NtkActivation::Relu => relu([xx, cc, gap], [a, b, difference], near, far),
            NtkActivation::Erf => erf([xx, cc, gap], near * far),
        }
    }
}

/// Arc-cosine kernels (Cho & Saul 2009), for the distance in place of the inner product.
#[inline(always)]
fn relu([xx, cc, gap]: [f64; 3], [a, b, difference]: [f64; 3], near: f64, far: f64) -> Expectations {
    const HALF_TURN: f64 = 0.5 * FRAC_1_PI; // 1 / (2 pi)
    let (near_root, far_root) = (near.sqrt(), far.sqrt());
    // tan(theta / 2)^2 = (1 - cos) / (1 + cos)
    let theta = 2.0 * near_root.atan2(far_root);
    let area = near_root * far_root; // 2 a b sin theta
    let tangent = HALF_TURN * (PI - theta);
    // xx / 2 + cc / 2 - 2 E[relu(u) relu(v)] with xx + cc = gap + 2 a b cos:
    // E[(relu(u) - relu(v))^2] = gap / 2 - a b (sin - theta cos) / pi, where far - near = 4 a b cos.
    let square = 0.5 * gap - HALF_TURN * (area - 0.5 * theta * (far - near));
    // From 2 a b cos = xx + cc - gap: dtheta/dgap = 1 / area, dtheta/dxx = -(1 - (b / a) cos) / area, and
    // 1 - (b / a) cos = (a - b) / a + near / (2 xx), in which nothing cancels for close inputs.
    let steep = if area > CUSP { HALF_TURN / area } else { 0.0 };
    // d/dxx of a b (sin - theta cos), the distance held, is (a b sin / xx - theta) / 2.
    let share = |variance: f64| if variance > 0.0 { 0.5 * area / variance } else { 0.0 };
    let by_norm = |root: f64, variance: f64, difference: f64| {
        if steep > 0.0 { steep * (difference / root + 0.5 * near / variance) } else { 0.0 }
    };
    Expectations {
        gap: square,
        gap_slopes: [HALF_TURN * (theta - share(xx)), HALF_TURN * (theta - share(cc)), tangent],
        tangent,
        tangent_slopes: [by_norm(a, xx, difference), by_norm(b, cc, -difference), -steep],
    }
}

/// Rasmussen & Williams 2006, eq. (4.29); `E[erf' erf']` is its derivative by the inner product. `product` is `4 (xx cc - xc^2)`.
#[inline(always)]
fn erf([xx, cc, gap]: [f64; 3], product: f64) -> Expectations {
    let xc = 0.5 * (xx + cc - gap);
    // (1 + 2 xx) (1 + 2 cc) - 4 xc^2, as a sum of what is not negative.
    let determinant = 1.0 + 2.0 * (xx + cc) + product;
    let root = determinant.sqrt();
    let tangent = 2.0 * FRAC_2_PI / root;
    let ((square_x, slope_x), (square_c, slope_c)) =
        (NtkActivation::Erf.square(xx), NtkActivation::Erf.square(cc));
    // At fixed inner product dE/dxx = -tangent xc / (1 + 2 xx); the distance held, it moves with half of `xx` and `cc`.
    let cross_slope = |variance: f64| tangent * (0.5 - xc / (1.0 + 2.0 * variance));
    let tangent_slope = |other: f64| tangent * (2.0 * xc - (1.0 + 2.0 * other)) / determinant;
    Expectations {
        gap: square_x + square_c - 2.0 * FRAC_2_PI * (2.0 * xc).atan2(root),
        gap_slopes: [slope_x - 2.0 * cross_slope(xx), slope_c - 2.0 * cross_slope(cc), tangent],
        tangent,
        tangent_slopes: [tangent_slope(cc), tangent_slope(xx), -2.0 * tangent * xc / determinant],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;
    use noregret_testkit::gradient_gap;
    use proptest::prelude::*;

    const ACTIVATIONS: [NtkActivation; 2] = [NtkActivation::Relu, NtkActivation::Erf];

    fn network(depth: usize, weight_sd: f64, bias_sd: f64) -> NtkConfig {
        NtkConfig { depth, weight_sd, bias_sd, symmetric: false }
    }

    fn squares(x: &[f64], c: &[f64]) -> [f64; 3] {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gap = x.iter().zip(c).map(|(x, c)| (x - c).powi(2)).sum();
        [dot(x, x), dot(c, c), gap]
    }

    /// Two unit vectors at a right angle and at one of 60 degrees, `weight_sd^2 / d = 1` and no bias.
    #[test]
    fn one_hidden_layer_of_relu_by_hand() {
        let ntk = Ntk::new(NtkActivation::Relu, &network(1, 2.0_f64.sqrt(), 0.0), 2);
        let square = ntk.covariance(1.0, 1.0, 2.0);
        assert!((square.nngp - FRAC_1_PI).abs() < 1e-15 && (square.ntk - FRAC_1_PI).abs() < 1e-15);
        let near = ntk.covariance(1.0, 1.0, 1.0);
        let nngp = 0.75_f64.sqrt() / PI + 1.0 / 3.0;
        assert!((near.nngp - nngp).abs() < 1e-15);
        // 1/2 of the first layer times 2 (pi - pi/3) / (2 pi).
        assert!((near.ntk - nngp - 1.0 / 3.0).abs() < 1e-15);
        // Of a point with itself: 1 from the last layer, 1 from the first.
        assert!((ntk.value(1.0, 1.0, 0.0) - 2.0).abs() < 1e-15);
    }

    /// `S_1 = 1` for the point with itself, and 1/2 for points whose norms are 1 and 1/2.
    #[test]
    fn one_hidden_layer_of_erf_by_hand() {
        let ntk = Ntk::new(NtkActivation::Erf, &network(1, 1.0, 0.0), 1);
        let own = ntk.covariance(1.0, 1.0, 0.0);
        let nngp = FRAC_2_PI * (2.0_f64 / 3.0).asin();
        assert!((own.nngp - nngp).abs() < 1e-15);
        assert!((own.ntk - nngp - 4.0 * FRAC_1_PI / 5.0_f64.sqrt()).abs() < 1e-15);
        // xx = 1, cc = 1/4, xc = 1/2: determinant 3 * 3/2 - 1.
        let other = ntk.covariance(1.0, 0.25, 0.25);
        let nngp = FRAC_2_PI * (1.0 / 4.5_f64.sqrt()).asin();
        assert!((other.nngp - nngp).abs() < 1e-15);
        assert!((other.ntk - nngp - 0.5 * 4.0 * FRAC_1_PI / 3.5_f64.sqrt()).abs() < 1e-15);
    }

    /// `E[f(u) f(v)]` for deviations `a`, `b` and the angle `2 pi turn / 720`, in polar coordinates by the midpoint rule. Units
    /// of ReLU switch where cells meet, so that its error is that of a smooth function: 1e-5 at these steps.
    fn expectation(f: impl Fn(f64) -> f64, a: f64, b: f64, turn: u32) -> f64 {
        let (angles, radii, reach) = (720_u32, 1000_u32, 10.0);
        let (by_angle, by_radius) = (2.0 * PI / f64::from(angles), reach / f64::from(radii));
        let theta = f64::from(turn) * by_angle;
        let mut sum = 0.0;
        for i in 0..angles {
            let phi = (f64::from(i) + 0.5) * by_angle;
            for j in 0..radii {
                let r = (f64::from(j) + 0.5) * by_radius;
                sum += r * (-0.5 * r * r).exp() * f(a * r * phi.cos()) * f(b * r * (phi - theta).cos());
            }
        }
        sum * by_angle * by_radius / (2.0 * PI)
    }

    #[test]
    fn one_hidden_layer_is_its_double_integral() {
        let (config, dims) = (network(1, 1.3, 0.4), 3);
        let (w, bias) = (1.3_f64.powi(2), 0.4_f64.powi(2));
        for (a, b, turn) in [(1.0, 1.0, 60), (0.7, 1.9, 200), (1.5, 0.6, 300), (0.9, 0.9, 0)] {
            let s_1 = a * b * (2.0 * PI * f64::from(turn) / 720.0).cos();
            // The inputs whose first layer has this covariance.
            let input = |s: f64| (s - bias) * 3.0 / w;
            let (xx, cc) = (input(a * a), input(b * b));
            let gap = xx + cc - 2.0 * input(s_1);
            for activation in ACTIVATIONS {
                let pair = Ntk::new(activation, &config, dims).covariance(xx, cc, gap);
                let (square, tangent) = match activation {
                    NtkActivation::Relu => (
                        expectation(|z| z.max(0.0), a, b, turn),
                        expectation(|z| if z > 0.0 { 1.0 } else { 0.0 }, a, b, turn),
                    ),
                    NtkActivation::Erf => (
                        expectation(|z| 2.0 * normal::cdf(z * 2.0_f64.sqrt()) - 1.0, a, b, turn),
                        expectation(|z| 2.0 / PI.sqrt() * (-z * z).exp(), a, b, turn),
                    ),
                };
                let nngp = w * square + bias;
                assert!((pair.nngp - nngp).abs() < 2e-5, "{activation:?} {} {nngp}", pair.nngp);
                let ntk = nngp + s_1 * w * tangent;
                assert!((pair.ntk - ntk).abs() < 2e-5, "{activation:?} {} {ntk}", pair.ntk);
            }
        }
    }

    /// The recursion as it is printed, with inner products and cosines: `(NNGP, NTK)`.
    fn printed(activation: NtkActivation, config: &NtkConfig, x: &[f64], c: &[f64]) -> (f64, f64) {
        let (w, bias) = (config.weight_sd.powi(2), config.bias_sd.powi(2));
        let first = |a: &[f64], b: &[f64]| {
            w * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / a.len() as f64 + bias
        };
        let pair = |xx: f64, xc: f64, cc: f64| match activation {
            NtkActivation::Relu => {
                let cos = (xc / (xx * cc).sqrt()).clamp(-1.0, 1.0);
                let theta = cos.acos();
                let square = (xx * cc).sqrt() * (theta.sin() + (PI - theta) * cos) / (2.0 * PI);
                (w * square + bias, w * (PI - theta) / (2.0 * PI))
            }
            NtkActivation::Erf => {
                let sides = ((1.0 + 2.0 * xx) * (1.0 + 2.0 * cc)).sqrt();
                let square = 2.0 / PI * (2.0 * xc / sides).asin();
                (w * square + bias, w * 4.0 / PI / (sides * sides - 4.0 * xc * xc).sqrt())
            }
        };
        let (mut xx, mut xc, mut cc) = (first(x, x), first(x, c), first(c, c));
        let mut ntk = xc;
        for _ in 0..config.depth {
            let (s, tangent) = pair(xx, xc, cc);
            (xx, cc) = (pair(xx, xx, xx).0, pair(cc, cc, cc).0);
            xc = s;
            ntk = xc + ntk * tangent;
        }
        (xc, ntk)
    }

    fn input() -> impl Strategy<Value = Vec<f64>> {
        prop::collection::vec(-1.5..1.5_f64, 3)
    }

    proptest! {
        #[test]
        fn deep_kernels_are_the_printed_recursion(
            x in input(), c in input(), depth in 1..6_usize, weight_sd in 0.3..2.5_f64, bias_sd in 0.02..1.0_f64,
        ) {
            let config = network(depth, weight_sd, bias_sd);
            let [xx, cc, gap] = squares(&x, &c);
            for activation in ACTIVATIONS {
                let ntk = Ntk::new(activation, &config, 3);
                let pair = ntk.covariance(xx, cc, gap);
                let (s, t) = printed(activation, &config, &x, &c);
                // The arccosine of the printed form loses half of the digits near 0 and pi.
                let scale = 1e-7 * ntk.variance_and_slope(xx.max(cc)).0;
                prop_assert!((pair.nngp - s).abs() < scale && (pair.ntk - t).abs() < scale, "{pair:?} {s} {t}");
            }
        }

        #[test]
        fn slopes_are_difference_quotients(
            x in input(), c in input(), depth in 1..5_usize, weight_sd in 0.3..2.0_f64, bias_sd in 0.2..1.0_f64,
        ) {
            let statistics = squares(&x, &c);
            // Away from the cusp and from inputs that point to opposite sides, where an angle has no slope.
            let angle = (statistics[0] + statistics[1] - statistics[2]) / (4.0 * statistics[0] * statistics[1]).sqrt();
            prop_assume!(statistics[2] > 0.2 && angle.abs() < 0.9 && statistics[0].min(statistics[1]) > 0.3);
            for activation in ACTIVATIONS {
                let ntk = Ntk::new(activation, &network(depth, weight_sd, bias_sd), 3);
                let gap = gradient_gap(
                    |s| ntk.value(s[0], s[1], s[2]),
                    |s, g| g.copy_from_slice(&ntk.covariance(s[0], s[1], s[2]).slopes),
                    &statistics,
                );
                prop_assert!(gap < 1e-6, "{activation:?} {gap:e}");
                let gap = gradient_gap(
                    |s| ntk.variance_and_slope(s[0]).0,
                    |s, g| g[0] = ntk.variance_and_slope(s[0]).1,
                    &statistics[..1],
                );
                prop_assert!(gap < 1e-6, "variance, {activation:?} {gap:e}");
            }
        }

        #[test]
        fn a_point_with_itself_has_the_variance(xx in 0.0..100.0_f64, depth in 1..33_usize, bias_sd in 0.0..2.0_f64) {
            for activation in ACTIVATIONS {
                let ntk = Ntk::new(activation, &network(depth, 1.4, bias_sd), 5);
                let (variance, slope) = ntk.variance_and_slope(xx);
                let own = ntk.covariance(xx, xx, 0.0);
                // Each layer adds its rounding, and that of a slope grows on the way through those above.
                let layers = depth as f64;
                prop_assert!((own.ntk - variance).abs() <= 1e-13 * layers * variance, "{activation:?} {own:?} {variance}");
                let gap = (own.slopes[0] + own.slopes[1] - slope).abs();
                prop_assert!(gap <= 1e-12 * layers * slope.abs(), "{own:?} {slope}");
            }
        }
    }

    /// Inputs at the distance `epsilon` of each other: the ReLU kernel falls off in proportion to it, however small it is.
    #[test]
    fn close_points_keep_their_digits() {
        let ntk = Ntk::new(NtkActivation::Relu, &network(2, 1.5, 0.05), 1);
        let fall = |epsilon: f64| {
            // Of equal norms, so that the distance is all that differs.
            (ntk.value(0.5, 0.5, 0.0) - ntk.value(0.5, 0.5, epsilon * epsilon)) / epsilon
        };
        let limit = fall(1e-5);
        for epsilon in [1e-6, 1e-8, 1e-9] {
            // The difference of the two values is known to 1e-15.
            assert!((fall(epsilon) - limit).abs() < 1e-4 * limit + 1e-15 / epsilon, "{epsilon:e}");
        }
        assert!(limit > 0.1);
    }

    #[test]
    fn every_edge_is_finite() {
        let edges = [0.0, f64::MIN_POSITIVE, 1e-200, 1e-17, 1.0, 1e8];
        for activation in ACTIVATIONS {
            for config in [network(1, 1.5, 0.0), network(3, 1.5, 0.05), network(32, 100.0, 100.0)] {
                let ntk = Ntk::new(activation, &config, 2);
                for xx in edges {
                    assert!(ntk.variance_and_slope(xx).0.is_finite());
                    for (cc, gap) in [
                        (xx, 0.0),
                        (xx, f64::MIN_POSITIVE),
                        (xx, 1e-17 * xx),
                        (xx, 4.0 * xx),
                        (0.0, xx),
                        (1e-200, xx),
                    ] {
                        let pair = ntk.covariance(xx, cc, gap);
                        let all = [pair.nngp, pair.ntk].into_iter().chain(pair.slopes);
                        assert!(
                            all.clone().all(f64::is_finite),
                            "{activation:?} {xx:e} {cc:e} {gap:e}: {pair:?}"
                        );
                    }
                }
            }
        }
    }
}
