//! Loops over slices that the compiler turns into the widest vectors of the machine at hand.
//!
//! Every loop is plain Rust in an `inline(always)` body of [`pulp`]'s run-time dispatch (SSE2, AVX2 or AVX-512 on x86), with
//! fused multiply-add where the machine has it. Sums run over a fixed number of lanes, so results do not depend on the
//! vector width nor on how a caller splits the work into threads, only on whether there is a fused multiply-add.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

/// Independent partial sums of a dot product: enough to hide the latency of an addition (4 cycles, 2 ports) at
/// eight doubles a vector.
const LANES: usize = 32;

/// `a * b + c`: fused where that is one instruction, and not a library call.
#[inline(always)]
pub(crate) fn fma<S: Simd>(a: f64, b: f64, c: f64) -> f64 {
    if S::IS_SCALAR { a * b + c } else { a.mul_add(b, c) }
}

/// Inner product of two slices of equal length.
pub fn dot(a: &[f64], b: &[f64]) -> f64 {
    struct Dot<'a>(&'a [f64], &'a [f64]);
    impl WithSimd for Dot<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let (a_blocks, a_rest) = self.0.as_chunks::<LANES>();
            let (b_blocks, b_rest) = self.1.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for (p, q) in a_blocks.iter().zip(b_blocks) {
                for i in 0..LANES {
                    lanes[i] = fma::<S>(p[i], q[i], lanes[i]);
                }
            }
            for (i, (p, q)) in a_rest.iter().zip(b_rest).enumerate() {
                lanes[i] = fma::<S>(*p, *q, lanes[i]);
            }
            lanes.iter().sum()
        }
    }
    assert_eq!(a.len(), b.len(), "dot: lengths differ");
    Arch::new().dispatch(Dot(a, b))
}

/// `y += a * x`.
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    struct Axpy<'a>(f64, &'a [f64], &'a mut [f64]);
    impl WithSimd for Axpy<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (y, x) in self.2.iter_mut().zip(self.1) {
                *y = fma::<S>(self.0, *x, *y);
            }
        }
    }
    assert_eq!(x.len(), y.len(), "axpy: lengths differ");
    Arch::new().dispatch(Axpy(a, x, y));
}

/// `y -= M[rows, ..] * x` for a column-major `M` of `stride` rows a column, `x.len()` columns wide.
///
/// One streaming pass over the panel: four columns at a time, so that `y` is read and written a quarter as often.
pub fn subtract_product(m: &[f64], stride: usize, rows: Range<usize>, x: &[f64], y: &mut [f64]) {
    struct Product<'a> {
        m: &'a [f64],
        stride: usize,
        rows: Range<usize>,
        x: &'a [f64],
        y: &'a mut [f64],
    }
    impl WithSimd for Product<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { m, stride, rows, x, y } = self;
            let n = y.len();
            let column = |j: usize| &m[j * stride + rows.start..][..n];
            let quads = x.len() / 4 * 4;
            for j in (0..quads).step_by(4) {
                let (a, b, c, d) = (column(j), column(j + 1), column(j + 2), column(j + 3));
                for i in 0..n {
                    let near = fma::<S>(a[i], -x[j], fma::<S>(b[i], -x[j + 1], y[i]));
                    y[i] = fma::<S>(c[i], -x[j + 2], fma::<S>(d[i], -x[j + 3], near));
                }
            }
            for (j, x) in x.iter().enumerate().skip(quads) {
                for (y, a) in y.iter_mut().zip(column(j)) {
                    *y = fma::<S>(*a, -x, *y);
                }
            }
        }
    }
    assert_eq!(rows.len(), y.len(), "subtract_product: rows differ");
    Arch::new().dispatch(Product { m, stride, rows, x, y });
}

/// `exp` of every element, to 2 ulp; arguments below -708 give 0 and NaN stays NaN.
///
/// For arguments up to 709 (kernels only ever ask for negative ones).
pub fn exp(x: &mut [f64]) {
    struct Exp<'a>(&'a mut [f64]);
    impl WithSimd for Exp<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for x in self.0 {
                *x = exp_one::<S>(*x);
            }
        }
    }
    Arch::new().dispatch(Exp(x));
}

/// `cos` of every element, to 1e-15 absolutely for arguments up to about 1e6 in size.
pub fn cos(x: &mut [f64]) {
    struct Cos<'a>(&'a mut [f64]);
    impl WithSimd for Cos<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for x in self.0 {
                *x = cos_one::<S>(*x);
            }
        }
    }
    Arch::new().dispatch(Cos(x));
}

/// `waves <- weights * -sin(waves)` and `waves -> cos(waves)` in one pass: value and slope of weighted waves.
pub fn cos_and_slope(waves: &mut [f64], weights: &[f64], slopes: &mut [f64]) {
    struct Waves<'a>(&'a mut [f64], &'a [f64], &'a mut [f64]);
    impl WithSimd for Waves<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for ((wave, weight), slope) in self.0.iter_mut().zip(self.1).zip(self.2) {
                // -sin(a) = cos(a + pi/2)
                *slope = cos_one::<S>(*wave + std::f64::consts::FRAC_PI_2) * weight;
                *wave = cos_one::<S>(*wave);
            }
        }
    }
    assert!(waves.len() == weights.len() && waves.len() == slopes.len(), "cos_and_slope: lengths differ");
    Arch::new().dispatch(Waves(waves, weights, slopes));
}

/// `sum_i t_i (x_i - c)^2`.
pub fn weighted_squares(t: &[f64], x: &[f64], c: f64) -> f64 {
    struct Squares<'a>(&'a [f64], &'a [f64], f64);
    impl WithSimd for Squares<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let (t_blocks, t_rest) = self.0.as_chunks::<LANES>();
            let (x_blocks, x_rest) = self.1.as_chunks::<LANES>();
            let mut lanes = [0.0; LANES];
            for (t, x) in t_blocks.iter().zip(x_blocks) {
                for i in 0..LANES {
                    let difference = x[i] - self.2;
                    lanes[i] = fma::<S>(t[i] * difference, difference, lanes[i]);
                }
            }
            for (i, (t, x)) in t_rest.iter().zip(x_rest).enumerate() {
                lanes[i] += t * (x - self.2) * (x - self.2);
            }
            lanes.iter().sum()
        }
    }
    Arch::new().dispatch(Squares(t, x, c))
}

/// 1.5 * 2^52: adding it rounds a double of moderate size to an integer, held in the low bits of the sum.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// `exp(x)` without a branch: `2^k * p(r)`, `r = x - k ln 2` in two steps (Cody & Waite 1980), `|r| <= 0.347`,
/// where the Taylor polynomial of degree 13 is exact to 4e-18.
#[inline(always)]
pub(crate) fn exp_one<S: Simd>(x: f64) -> f64 {
    const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    // Below -708 the power of two would leave the normal range. (`x < -708.0` is false for NaN, which passes through.)
    let clamped = if x < -708.0 { -708.0 } else { x };
    let shifted = fma::<S>(clamped, std::f64::consts::LOG2_E, ROUND);
    let k = shifted - ROUND;
    let r = fma::<S>(k, -LN_2_LOW, fma::<S>(k, -LN_2_HIGH, clamped));
    let mut p = 1.0 / 6_227_020_800.0;
    for c in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ] {
        p = fma::<S>(p, r, c);
    }
    let p = fma::<S>(p * r, r, r) + 1.0;
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let value = p * power;
    if x < -708.0 { 0.0 } else { value }
}

/// `cos(x)` without a branch: `x` is reduced to `|r| <= pi/2` by multiples of pi in three steps, then
/// `cos(x) = (-1)^k cos(r)` and `cos(r) = 1 - 2 sin^2(r/2)` by the Taylor polynomial of `sin` on `|r/2| <= pi/4`.
#[inline(always)]
pub(crate) fn cos_one<S: Simd>(x: f64) -> f64 {
    // pi = A + B + C, where A and B have 32 bits, so that k * A and k * B are exact for |k| < 2^20.
    const A: f64 = 3.141_592_653_468_251_2;
    const B: f64 = 1.215_420_101_260_793_2e-10;
    const C: f64 = 4.044_532_497_591_901e-21;
    let shifted = fma::<S>(x, std::f64::consts::FRAC_1_PI, ROUND);
    let k = shifted - ROUND;
    let h = 0.5 * fma::<S>(k, -C, fma::<S>(k, -B, fma::<S>(k, -A, x)));
    let z = h * h;
    let mut p = 1.0 / 355_687_428_096_000.0;
    for c in [
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ] {
        p = fma::<S>(p, z, c);
    }
    let sin = fma::<S>(h * z, p, h);
    let cos = fma::<S>(-2.0 * sin, sin, 1.0);
    f64::from_bits(cos.to_bits() ^ (shifted.to_bits() << 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(f: fn(&mut [f64]), x: f64) -> f64 {
        let mut x = [x];
        f(&mut x);
        x[0]
    }

    #[test]
    fn exp_is_accurate_to_two_ulp() {
        let mut worst: f64 = 0.0;
        for i in 0..200_000 {
            let x = -707.9 + f64::from(i) * 707.9 / 200_000.0;
            worst = worst.max((one(exp, x) / x.exp() - 1.0).abs());
        }
        assert!(worst <= 4.0 * f64::EPSILON, "{worst:e}");
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "these limits are exact")]
    fn exp_at_the_edges() {
        assert_eq!(one(exp, 0.0), 1.0);
        assert_eq!(one(exp, -1e6), 0.0);
        assert_eq!(one(exp, f64::NEG_INFINITY), 0.0);
        assert!(one(exp, f64::NAN).is_nan());
    }

    #[test]
    fn cos_is_accurate() {
        let mut worst: f64 = 0.0;
        for i in 0..400_000 {
            let x = (f64::from(i) - 200_000.0) * 0.731;
            worst = worst.max((one(cos, x) - x.cos()).abs());
        }
        assert!(worst < 1e-15, "{worst:e}");
    }

    #[test]
    fn sums_agree_with_plain_loops() {
        for n in [0, 1, 7, 32, 33, 100, 257] {
            let a: Vec<f64> = (0..n).map(|i| f64::from(i).sin()).collect();
            let b: Vec<f64> = (0..n).map(|i| f64::from(i).cos()).collect();
            let plain: f64 = a.iter().zip(&b).map(|(x, y)| x * y).sum();
            assert!((dot(&a, &b) - plain).abs() < 1e-13);
            let mut y = b.clone();
            axpy(0.3, &a, &mut y);
            assert!(y.iter().zip(&a).zip(&b).all(|((y, a), b)| (y - (b + 0.3 * a)).abs() < 1e-15));
        }
    }

    #[test]
    fn panel_product_agrees_with_dots() {
        let (rows, cols) = (11, 7);
        let m: Vec<f64> = (0..rows * cols).map(|i| (i as f64).sin()).collect();
        let x: Vec<f64> = (0..cols).map(|i| (i as f64).cos()).collect();
        let mut y = vec![1.0; 5];
        subtract_product(&m, rows, 3..8, &x, &mut y);
        for (i, y) in y.iter().enumerate() {
            let plain: f64 = (0..cols).map(|j| m[j * rows + 3 + i] * x[j]).sum();
            assert!((y - (1.0 - plain)).abs() < 1e-14);
        }
    }
}
