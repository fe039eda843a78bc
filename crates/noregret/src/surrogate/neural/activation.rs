//! Activation functions: value, slope and curvature, many at a time.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

/// A unit's nonlinearity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(z, 0)`: for functions with kinks, and the usual choice.
    #[default]
    Relu,
    /// The error function: for smooth functions.
    Erf,
    /// The hyperbolic tangent.
    Tanh,
}

impl Activation {
    /// Writes `phi(z)` and `phi'(z)` of every element. At the kink of a ReLU the slope is 0.
    pub(crate) fn apply(self, z: &[f32], value: &mut [f32], slope: &mut [f32]) {
        match self {
            Activation::Relu => {
                for ((z, value), slope) in z.iter().zip(value).zip(slope) {
                    let on = *z > 0.0;
                    *value = if on { *z } else { 0.0 };
                    *slope = if on { 1.0 } else { 0.0 };
                }
            }
            Activation::Erf => Arch::new().dispatch(Erf { z, value, slope }),
            Activation::Tanh => Arch::new().dispatch(Tanh { z, value, slope }),
        }
    }

    /// `phi''(z)` from `z`, `phi(z)` and `phi'(z)`; 0 for a ReLU.
    pub(crate) fn curvature(self, z: f32, value: f32, slope: f32) -> f32 {
        match self {
            Activation::Relu => 0.0,
            Activation::Erf => -2.0 * z * slope,
            Activation::Tanh => -2.0 * value * slope,
        }
    }
}

struct Erf<'a> {
    z: &'a [f32],
    value: &'a mut [f32],
    slope: &'a mut [f32],
}

impl WithSimd for Erf<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((z, value), slope) in self.z.iter().zip(self.value).zip(self.slope) {
            let bell = exp::<S>(-z * z);
            *value = erf::<S>(*z, bell);
            *slope = std::f32::consts::FRAC_2_SQRT_PI * bell;
        }
    }
}

struct Tanh<'a> {
    z: &'a [f32],
    value: &'a mut [f32],
    slope: &'a mut [f32],
}

impl WithSimd for Tanh<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        for ((z, value), slope) in self.z.iter().zip(self.value).zip(self.slope) {
            *value = tanh::<S>(*z);
            *slope = 1.0 - *value * *value;
        }
    }
}

/// `tanh(z)` to 4e-7 of itself: near 0 by its series, elsewhere `(1 - e) / (1 + e)` with `e = exp(-2 |z|)`.
#[inline(always)]
fn tanh<S: Simd>(z: f32) -> f32 {
    // Coefficients of z^13, z^11, ..., z: the next term is below 1e-9 of the sum for |z| <= 0.35.
    const SERIES: [f32; 7] = [
        21_844.0 / 6_081_075.0,
        -1_382.0 / 155_925.0,
        62.0 / 2_835.0,
        -17.0 / 315.0,
        2.0 / 15.0,
        -1.0 / 3.0,
        1.0,
    ];
    let squared = z * z;
    let mut series = 0.0;
    for c in SERIES {
        series = fma::<S>(series, squared, c);
    }
    let e = exp::<S>(-2.0 * z.abs());
    let far = ((1.0 - e) / (1.0 + e)).copysign(z);
    if squared < 0.1225 { series * z } else { far }
}

/// `a * b + c`, fused where that is one instruction.
#[inline(always)]
fn fma<S: Simd>(a: f32, b: f32, c: f32) -> f32 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// `erf(z)` to 2e-7: below 1 by its series, above by Abramowitz & Stegun 7.1.26; `bell = exp(-z^2)`.
#[inline(always)]
fn erf<S: Simd>(z: f32, bell: f32) -> f32 {
    // 2 / sqrt(pi) (-1)^k / (k! (2 k + 1)), k = 10 .. 0: the next term is below 2e-9 for |z| <= 1.
    const SERIES: [f32; 11] = [
        1.480_719_3e-8,
        -1.636_584_5e-7,
        1.646_211_3e-6,
        -1.492_565e-5,
        1.205_533_3e-4,
        -8.548_327e-4,
        5.223_977_6e-3,
        -2.686_617_1e-2,
        1.128_379_2e-1,
        -3.761_263_9e-1,
        std::f32::consts::FRAC_2_SQRT_PI,
    ];
    const TAIL: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_8, -0.284_496_74, 0.254_829_6];
    let squared = z * z;
    let mut series = 0.0;
    for c in SERIES {
        series = fma::<S>(series, squared, c);
    }
    let t = 1.0 / fma::<S>(0.327_591_1, z.abs(), 1.0);
    let mut tail = 0.0;
    for c in TAIL {
        tail = fma::<S>(tail, t, c);
    }
    let far = (1.0 - tail * t * bell).copysign(z);
    if squared < 1.0 { series * z } else { far }
}

/// `exp(x)` for `x <= 0`, to 2e-7 of itself; below -87 it is 0.
#[inline(always)]
fn exp<S: Simd>(x: f32) -> f32 {
    /// 1.5 * 2^23: adding it rounds to an integer, held in the low bits of the sum.
    const ROUND: f32 = 12_582_912.0;
    let clamped = if x < -87.0 { -87.0 } else { x };
    let shifted = fma::<S>(clamped, std::f32::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    // ln 2 in two parts, the first with few digits.
    let r = fma::<S>(k, 2.121_944_4e-4, fma::<S>(k, -0.693_359_4, clamped));
    let mut p = 1.0 / 5_040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0] {
        p = fma::<S>(p, r, c);
    }
    // 2^k: the integer in the low bits, moved to the exponent.
    let power = f32::from_bits(shifted.to_bits().wrapping_add(127) << 23);
    if x < -87.0 { 0.0 } else { p * power }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::normal;

    fn at(activation: Activation, z: f32) -> (f32, f32) {
        let (mut value, mut slope) = ([0.0], [0.0]);
        activation.apply(&[z], &mut value, &mut slope);
        (value[0], slope[0])
    }

    #[test]
    fn the_error_function_is_that_of_the_normal_distribution() {
        for i in -600..=600 {
            let z = i as f32 / 100.0;
            let (value, slope) = at(Activation::Erf, z);
            let x = f64::from(z) * std::f64::consts::SQRT_2;
            let (exact, exact_slope) = (2.0 * normal::cdf(x) - 1.0, 2.0 * 2.0_f64.sqrt() * normal::pdf(x));
            assert!((f64::from(value) - exact).abs() < 4e-7, "{z}: {value} {exact}");
            assert!((f64::from(slope) - exact_slope).abs() < 4e-7, "{z}: {slope} {exact_slope}");
        }
        // Near 0 the digits are relative: products of many small units depend on them.
        assert!((at(Activation::Erf, 1e-4).0 / 1.128_379_2e-4 - 1.0).abs() < 1e-6);
        assert_eq!(at(Activation::Erf, 20.0), (1.0, 0.0));
        assert!(at(Activation::Erf, f32::NAN).0.is_nan());
    }

    #[test]
    fn the_hyperbolic_tangent_is_that_of_the_library() {
        for i in -1_200..=1_200 {
            let z = i as f32 / 100.0 + 1e-4;
            let (value, slope) = at(Activation::Tanh, z);
            let exact = f64::from(z).tanh();
            // Some units in the last place of 32 bits.
            assert!((f64::from(value) / exact - 1.0).abs() < 5e-7, "{z}: {value} {exact}");
            assert!((f64::from(slope) - (1.0 - exact * exact)).abs() < 1e-6, "{z}: {slope}");
        }
        assert_eq!((at(Activation::Tanh, 0.0).0, at(Activation::Tanh, -50.0).0), (0.0, -1.0));
        assert!(at(Activation::Tanh, f32::NAN).0.is_nan());
        assert!((at(Activation::Tanh, 1e-6).0 / 1e-6 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn slopes_and_curvatures_are_difference_quotients() {
        const STEP: f32 = 1e-2;
        for activation in [Activation::Relu, Activation::Erf, Activation::Tanh] {
            for z in [-1.7_f32, -0.4, 0.3, 0.9, 2.1] {
                let (above, below, (value, slope)) =
                    (at(activation, z + STEP), at(activation, z - STEP), at(activation, z));
                // Differences of order STEP^2 remain, and rounding of 1e-7 / STEP.
                assert!(((above.0 - below.0) / (2.0 * STEP) - slope).abs() < 3e-4, "{activation:?} {z}");
                let curvature = activation.curvature(z, value, slope);
                assert!(((above.1 - below.1) / (2.0 * STEP) - curvature).abs() < 5e-4, "{activation:?} {z}");
            }
        }
    }
}
