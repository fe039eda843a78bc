//! The standard normal distribution, accurate to a few units in the last place from the centre to the far tails.
//!
//! One smooth function carries the whole left half-line, `t(z) = pdf(z)/cdf(-z) - z` for `z >= 0`: by how much the
//! inverse Mills ratio exceeds its argument. It falls from `sqrt(2/pi)` to 0 like `1/z`, and whatever else is
//! difficult in the left tail follows from it by sums of positive terms, where nothing can cancel:
//!
//! ```text
//! pdf(z)/cdf(-z) = z + t                 the hazard, and 1 / Mills ratio
//! cdf(-z)        = pdf(z) / (z + t)
//! h(-z)          = pdf(z) t / (z + t)    h(u) = pdf(u) + u cdf(u)
//! d log h(-z)    = cdf(-z)/h(-z) = 1/t
//! ```
//!
//! So there is a single switch, at 0: the right half follows from the left by `cdf(x) = 1 - cdf(-x)` and
//! `h(u) = u + h(-u)`, again without cancellation. (`erfc` would not do: rounding `x / sqrt(2)` alone costs a relative
//! error of `x^2` units, 1e-13 at `x = -38`, and it underflows just there.)
//! # Notation
//! | here    | meaning                                                                    |
//! |---------|----------------------------------------------------------------------------|
//! | `z`     | distance from the centre, `-x` in the left half; never negative            |
//! | `t`     | excess `pdf(z)/cdf(-z) - z`                                                |
//! | `h(u)`  | `E max(u + N(0,1), 0)`: expected improvement in units of the deviation     |
//! # Accuracy
//! Worst relative errors against mpmath 1.3.0 with 80 digits, over 10,000 points for each function between -1e150 and
//! 1e150 (`scripts/reference/normal_mpmath.py check`): `pdf` 3.6e-16, `log_pdf` 2.0e-16, `cdf` 5.3e-16, `log_cdf`
//! 9.2e-16, `mills_ratio` 8.2e-16, `hazard` 5.6e-16, `h` 5.7e-16, `log_h` 2.9e-16, `log_h_slope` 5.7e-16, `quantile`
//! 7.7e-16.

/// `1 / sqrt(2 pi)`, the density at the centre.
const FRAC_1_SQRT_2PI: f64 = 0.398_942_280_401_432_7;
/// `ln sqrt(2 pi)`.
const LN_SQRT_2PI: f64 = 0.918_938_533_204_672_8;
/// `sqrt(2 / pi)`, the hazard at the centre; exactly twice the density there, so that `cdf(0)` is exactly one half.
const SQRT_FRAC_2_PI: f64 = 2.0 * FRAC_1_SQRT_2PI;

/// Density `exp(-x^2 / 2) / sqrt(2 pi)`.
///
/// `x^2` is formed in two parts: rounded to one, its error would grow to `x^2 / 4` units in the last place.
pub fn pdf(x: f64) -> f64 {
    // Where the density is below the smallest number, and `inf - inf` would follow.
    if x.abs() > 39.0 {
        return 0.0;
    }
    // 26 leading bits: `head * head` is exact.
    let head = f64::from_bits(x.to_bits() & !0x07ff_ffff);
    FRAC_1_SQRT_2PI * (-0.5 * head * head).exp() * (-0.5 * (x - head) * (x + head)).exp()
}

/// Logarithm of the density; minus infinity only where the square overflows, from |x| = 1.9e154 on.
pub fn log_pdf(x: f64) -> f64 {
    -0.5 * x * x - LN_SQRT_2PI
}

/// Probability of a value below `x`.
pub fn cdf(x: f64) -> f64 {
    if x > 0.0 { 1.0 - cdf(-x) } else { pdf(x) / (excess(-x) - x) }
}

/// Logarithm of [`cdf`], finite and accurate in both tails.
pub fn log_cdf(x: f64) -> f64 {
    if x > 0.0 { (-cdf(-x)).ln_1p() } else { log_pdf(x) - (excess(-x) - x).ln() }
}

/// Mills ratio `cdf(-z) / pdf(z)`, which is `sqrt(pi/2) erfcx(z / sqrt(2))`; it overflows below `z = -37.6`.
pub fn mills_ratio(z: f64) -> f64 {
    if z < 0.0 { cdf(-z) / pdf(z) } else { 1.0 / (z + excess(z)) }
}

/// `pdf(x) / cdf(x)`, the derivative of [`log_cdf`]; it approaches `-x` in the left tail.
pub fn hazard(x: f64) -> f64 {
    if x > 0.0 { pdf(x) / cdf(x) } else { excess(-x) - x }
}

/// `h(u) = pdf(u) + u cdf(u) = E max(u + N(0,1), 0)`; it underflows below `u = -38`, where [`log_h`] goes on.
pub fn h(u: f64) -> f64 {
    if u > 0.0 {
        return u + h(-u);
    }
    let t = excess(-u);
    pdf(u) * (t / (t - u))
}

/// Logarithm of [`h`]: increasing, and finite down to `u = -1e154`, where its value leaves the range of `f64`.
///
/// Like any function it has no relative accuracy at its zero, `u = 0.90`: the error there is absolute, 1e-16.
pub fn log_h(u: f64) -> f64 {
    if u > 0.0 {
        return (u + h(-u)).ln();
    }
    let t = excess(-u);
    log_pdf(u) + (t / (t - u)).ln()
}

/// Derivative of [`log_h`], `cdf(u) / h(u)`: positive and decreasing, close to `-u` in the left tail, to `1/u` in the
/// right.
pub fn log_h_slope(u: f64) -> f64 {
    if u > 0.0 { cdf(u) / h(u) } else { 1.0 / excess(-u) }
}

/// `t(z) = pdf(z)/cdf(-z) - z` for `z >= 0`, including infinity.
///
/// `t(z) (z + sqrt(pi/2))` is 1 at both ends and between 1 and 1.22 inside. With `s = 1 - 8/(z + 4)`, which takes
/// `[0, inf]` to `[-1, 1]`, it is `1 + (1 - s^2) q(s)`, and one Chebyshev series for `q` serves the whole half-line:
/// the terms left out sum to 5e-17, the rounding is that of the last few operations, both ends are exact.
fn excess(z: f64) -> f64 {
    let y = 8.0 / (z + 4.0);
    let s = 1.0 - y;
    // Clenshaw's recurrence, the constant term last.
    let (mut b1, mut b2) = (0.0, 0.0);
    for &a in EXCESS[1..].iter().rev() {
        (b1, b2) = ((a - b2) + 2.0 * s * b1, b1);
    }
    let q = (EXCESS[0] - b2) + s * b1;
    SQRT_FRAC_2_PI * (1.0 + y * (2.0 - y) * q) / (1.0 + SQRT_FRAC_2_PI * z)
}

/// Chebyshev coefficients of `q`, by `scripts/reference/normal_mpmath.py coefficients`.
const EXCESS: [f64; 27] = [
    0.199_707_159_725_827_25,
    -0.137_985_782_191_674_65,
    0.012_451_605_015_985_584,
    0.006_052_119_970_865_566,
    -0.001_908_054_135_084_523_2,
    -0.000_118_480_837_237_639_95,
    0.000_152_052_806_980_494_43,
    -1.093_729_156_117_524_3e-5,
    -9.703_112_855_015_379e-6,
    1.817_699_151_505_976_6e-6,
    5.202_952_626_761_462e-7,
    -1.756_494_142_245_014_6e-7,
    -2.222_134_574_844_298_3e-8,
    1.384_813_455_530_713e-8,
    5.418_940_884_690_929e-10,
    -9.584_547_696_393_415e-10,
    2.404_374_348_764_240_4e-11,
    5.927_501_954_339_613e-11,
    -4.932_296_843_429_157e-12,
    -3.231_651_479_196_861_5e-12,
    4.835_703_917_155_512e-13,
    1.458_754_226_097_216e-13,
    -3.764_718_458_590_888e-14,
    -4.188_175_912_861_341e-15,
    2.581_214_875_131_628_4e-15,
    -1.043_310_641_693_706e-16,
    -1.631_549_574_582_475_8e-16,
];

/// Inverse of [`cdf`]: minus infinity at 0, infinity at 1, NaN outside.
///
/// Wichura (1988), algorithm AS 241, routine PPND16: rational functions of degree 7 over 7, one for the middle in
/// `q^2` with `q = p - 1/2`, two for the tails in `r = sqrt(-ln min(p, 1 - p))`. Relative error below 1e-15.
pub fn quantile(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        // 0.425^2 - q^2, in [0, 0.425^2].
        return q * ratio(&MIDDLE, 0.180_625 - q * q);
    }
    let tail = if q < 0.0 { p } else { 1.0 - p };
    if tail == 0.0 {
        return f64::INFINITY.copysign(q);
    }
    // NaN for p outside [0, 1], and it stays NaN.
    let r = (-tail.ln()).sqrt();
    let distance = if r > 5.0 { ratio(&FAR, r - 5.0) } else { ratio(&NEAR, r - 1.6) };
    distance.copysign(q)
}

/// Numerator and denominator of a rational function, constant terms first.
type Rational = ([f64; 8], [f64; 8]);

fn ratio((numerator, denominator): &Rational, x: f64) -> f64 {
    let polynomial = |c: &[f64; 8]| c.iter().rev().fold(0.0, |sum, &c| sum * x + c);
    polynomial(numerator) / polynomial(denominator)
}

/// AS 241: |p - 1/2| up to 0.425.
#[expect(clippy::excessive_precision, reason = "the digits as printed")]
const MIDDLE: Rational = (
    [
        3.387_132_872_796_366_608,
        133.141_667_891_784_377_45,
        1_971.590_950_306_551_442_7,
        13_731.693_765_509_461_125,
        45_921.953_931_549_871_457,
        67_265.770_927_008_700_853,
        33_430.575_583_588_128_105,
        2_509.080_928_730_122_672_7,
    ],
    [
        1.0,
        42.313_330_701_600_911_252,
        687.187_007_492_057_908_3,
        5_394.196_021_424_751_107_7,
        21_213.794_301_586_595_867,
        39_307.895_800_092_710_61,
        28_729.085_735_721_942_674,
        5_226.495_278_852_854_561,
    ],
);
/// AS 241: tails down to `exp(-25)`.
#[expect(clippy::excessive_precision, reason = "the digits as printed")]
const NEAR: Rational = (
    [
        1.423_437_110_749_683_577_34,
        4.630_337_846_156_545_295_9,
        5.769_497_221_460_691_405_5,
        3.647_848_324_763_204_605_04,
        1.270_458_252_452_368_382_58,
        0.241_780_725_177_450_611_77,
        0.022_723_844_989_269_184_583_3,
        7.745_450_142_783_414_076_4e-4,
    ],
    [
        1.0,
        2.053_191_626_637_758_821_87,
        1.676_384_830_183_803_849_4,
        0.689_767_334_985_100_004_55,
        0.148_103_976_427_480_074_59,
        0.015_198_666_563_616_457_196_6,
        5.475_938_084_995_344_946e-4,
        1.050_750_071_644_416_843_24e-9,
    ],
);
/// AS 241: tails below `exp(-25)`.
#[expect(clippy::excessive_precision, reason = "the digits as printed")]
const FAR: Rational = (
    [
        6.657_904_643_501_103_777_2,
        5.463_784_911_164_114_369_9,
        1.784_826_539_917_291_335_8,
        0.296_560_571_828_504_891_23,
        0.026_532_189_526_576_123_093,
        1.242_660_947_388_078_438_6e-3,
        2.711_555_568_743_487_578_15e-5,
        2.010_334_399_292_288_132_65e-7,
    ],
    [
        1.0,
        0.599_832_206_555_887_937_69,
        0.136_929_880_922_735_805_31,
        0.014_875_361_290_850_614_852_5,
        7.868_691_311_456_132_591e-4,
        1.846_318_317_510_054_681_8e-5,
        1.421_511_758_316_445_888_7e-7,
        2.044_263_103_389_939_785_64e-15,
    ],
);

#[cfg(test)]
mod tests {
    use std::f64::consts::LN_2;

    use super::*;
    use proptest::prelude::*;

    /// Eight units in the last place: twice what the dense comparison with mpmath found for the worst function.
    const ULPS: f64 = 8.0 * f64::EPSILON;

    fn assert_close(value: f64, exact: f64, what: &str) {
        assert!((value - exact).abs() <= ULPS * exact.abs(), "{what}: {value:e}, not {exact:e}");
    }

    /// `(x, log_cdf, hazard, log_h, log_h_slope)` by mpmath 1.3.0, `scripts/reference/normal_mpmath.py table`.
    const REFERENCE: [(f64, f64, f64, f64, f64); 12] = [
        (
            5.0,
            -2.866_516_129_637_636e-7,
            1.486_719_940_904_905_6e-6,
            1.609_437_923_126_431_3,
            0.199_999_940_531_220_06,
        ),
        (
            0.5,
            -0.368_946_415_288_656_4,
            0.509_160_433_837_033_5,
            -0.359_827_683_745_063_8,
            0.990_922_718_004_109_9,
        ),
        (0.0, -LN_2, 0.797_884_560_802_865_4, -0.918_938_533_204_672_8, 1.253_314_137_315_500_3),
        (
            -0.5,
            -1.175_911_761_593_618_5,
            1.141_077_770_368_064_6,
            -1.620_516_264_387_319_9,
            1.559_873_148_348_079_7,
        ),
        (
            -1.0,
            -1.841_021_645_009_263_6,
            1.525_135_276_160_981,
            -2.485_121_025_712_641_3,
            1.904_271_233_329_691_8,
        ),
        (-5.0, -15.064_998_393_988_725, 5.186_503_967_125_842, -16.744_301_162_660_99, 5.361_816_241_288_088),
        (
            -10.0,
            -53.231_285_150_512_47,
            10.098_093_233_962_512,
            -55.553_122_036_122_35,
            10.194_383_033_412_553,
        ),
        (-38.0, -726.557_216_018_820_1, 38.026_279_466_575_87, -730.196_183_402_113_8, 38.052_522_760_041_33),
        (
            -100.0,
            -5_005.524_208_694_205,
            100.009_998_000_999_26,
            -5_010.129_578_800_25,
            100.019_994_004_195_87,
        ),
        (
            -10_000.0,
            -50_000_010.129_278_91,
            10_000.000_099_999_997,
            -50_000_019.339_619_31,
            10_000.000_199_999_993,
        ),
        (-1_000_000.0, -500_000_000_014.734_44, 1_000_000.000_001, -500_000_000_028.55, 1_000_000.000_002),
        (-1e100, -5e199, 1e100, -5e199, 1e100),
    ];

    #[test]
    fn agrees_with_mpmath_from_the_centre_to_the_far_tail() {
        for (x, log_cdf_x, hazard_x, log_h_x, slope_x) in REFERENCE {
            assert_close(log_cdf(x), log_cdf_x, &format!("log cdf({x})"));
            assert_close(hazard(x), hazard_x, &format!("hazard({x})"));
            assert_close(log_h(x), log_h_x, &format!("log h({x})"));
            assert_close(log_h_slope(x), slope_x, &format!("slope of log h({x})"));
            if log_h_x > -700.0 {
                // exp of a rounded exponent is wrong by that exponent's size in units.
                let tolerance = 4.0 * f64::EPSILON * (1.0 + log_h_x.abs());
                assert!((h(x) / log_h_x.exp() - 1.0).abs() < tolerance, "h({x})");
                assert!((cdf(x) / log_cdf_x.exp() - 1.0).abs() < tolerance, "cdf({x})");
                assert!((pdf(x) / log_pdf(x).exp() - 1.0).abs() < tolerance, "pdf({x})");
            }
            assert_close(
                mills_ratio(-x),
                if x > 0.0 { cdf(x) / pdf(x) } else { 1.0 / hazard_x },
                "Mills ratio",
            );
        }
    }

    #[test]
    fn both_ends_and_the_centre_are_exact() {
        assert_eq!((cdf(0.0), h(0.0)), (0.5, pdf(0.0)));
        assert_eq!((cdf(f64::NEG_INFINITY), cdf(f64::INFINITY)), (0.0, 1.0));
        assert_eq!((log_cdf(f64::NEG_INFINITY), log_cdf(f64::INFINITY)), (f64::NEG_INFINITY, 0.0));
        assert_eq!((pdf(f64::NEG_INFINITY), pdf(f64::INFINITY)), (0.0, 0.0));
        assert_eq!((hazard(f64::NEG_INFINITY), hazard(f64::INFINITY)), (f64::INFINITY, 0.0));
        assert_eq!((h(f64::NEG_INFINITY), h(f64::INFINITY)), (0.0, f64::INFINITY));
        assert_eq!((log_h(f64::NEG_INFINITY), log_h(f64::INFINITY)), (f64::NEG_INFINITY, f64::INFINITY));
        assert_eq!((log_h_slope(f64::NEG_INFINITY), log_h_slope(f64::INFINITY)), (f64::INFINITY, 0.0));
        assert_eq!((quantile(0.0), quantile(0.5), quantile(1.0)), (f64::NEG_INFINITY, 0.0, f64::INFINITY));
        for f in [pdf, log_pdf, cdf, log_cdf, mills_ratio, hazard, h, log_h, log_h_slope, quantile] {
            assert!(f(f64::NAN).is_nan());
        }
        assert!(quantile(-1e-300).is_nan() && quantile(1.0 + f64::EPSILON).is_nan());
    }

    /// The value may jump at the switch by its rounding error, not more.
    #[test]
    fn the_switch_at_zero_leaves_no_step() {
        for f in [pdf, log_pdf, cdf, log_cdf, mills_ratio, hazard, h, log_h, log_h_slope] {
            for step in [f64::MIN_POSITIVE, 1e-100, 1e-17] {
                assert_close(f(step), f(-step), "across zero");
                assert_close(f(step), f(0.0), "at zero");
            }
        }
    }

    #[test]
    fn quantile_agrees_with_mpmath_and_has_no_steps() {
        // mpmath 1.3.0, `scripts/reference/normal_mpmath.py table`.
        for (p, x) in [
            (1e-300, -37.047_096_299_361_2),
            (1e-100, -21.273_453_560_965_326),
            (1e-20, -9.262_340_089_798_407),
            (1e-10, -6.361_340_902_404_057),
            (1e-5, -4.264_890_793_922_825),
            (0.024_25, -1.972_961_051_311_885),
            (0.075, -1.439_531_470_938_456),
            (0.25, -0.674_489_750_196_081_7),
            (0.4, -0.253_347_103_135_799_7),
            (0.6, 0.253_347_103_135_799_7),
            (0.975, 1.959_963_984_540_053_8),
            (0.999_999, 4.753_424_308_817_087),
        ] {
            assert_close(quantile(p), x, &format!("quantile({p})"));
        }
        // Where AS 241 goes over from one formula to the next; the slope there is 1/pdf.
        for (p, gap) in [(0.075, 1e-15), (0.925, 1e-15), ((-25.0_f64).exp(), 1e-24)] {
            let slope = 1.0 / pdf(quantile(p));
            let step = quantile(p + gap) - quantile(p - gap);
            let expected = slope * ((p + gap) - (p - gap));
            assert!(
                (step - expected).abs() < 16.0 * f64::EPSILON * quantile(p).abs(),
                "{p}: {step:e}, {expected:e}"
            );
        }
    }

    /// A dense scan of the range that acquisitions live in, switches and all.
    #[test]
    fn logarithms_increase_and_their_slopes_decrease() {
        let grid = |i: i32| -60.0 + 1e-3 * f64::from(i);
        for i in 0..70_000 {
            let (a, b) = (grid(i), grid(i + 1));
            assert!(log_h(a) < log_h(b), "log h at {a}");
            assert!(log_h_slope(a) > log_h_slope(b), "its slope at {a}");
            assert!(hazard(a) > hazard(b), "hazard at {a}");
            assert!(
                if a < 8.0 { log_cdf(a) < log_cdf(b) } else { log_cdf(a) <= log_cdf(b) },
                "log cdf at {a}"
            );
        }
    }

    /// Central differences with a step that balances truncation (`step^2`) and rounding (`EPSILON / step`).
    fn difference(f: fn(f64) -> f64, x: f64) -> f64 {
        let step = 1e-5 * x.abs().max(1.0);
        let (left, right) = (x - step, x + step);
        (f(right) - f(left)) / (right - left)
    }

    proptest! {
        #[test]
        fn log_h_increases_down_to_minus_a_million(u in -1e6..50.0_f64, gap in 1e-9..1.0) {
            // A gap above the spacing of the values: relative 1e-9 of u is 1e-9 u^2 of the value.
            let right = u + gap * u.abs().max(1.0);
            prop_assert!(log_h(u) < log_h(right));
            prop_assert!(log_h(u).is_finite() && log_h_slope(u) > 0.0);
        }

        #[test]
        fn slopes_agree_with_differences(exponent in -3.0..6.0, negative: bool) {
            let size = 10.0_f64.powf(exponent);
            let x = if negative { -size } else { size.min(20.0) };
            prop_assert!((log_h_slope(x) / difference(log_h, x) - 1.0).abs() < 1e-6);
            if x < 5.0 { // beyond, log cdf is flat in double precision
                prop_assert!((hazard(x) / difference(log_cdf, x) - 1.0).abs() < 1e-6);
                prop_assert!((pdf(x) - difference(cdf, x)).abs() < 1e-9);
            }
        }

        #[test]
        fn quantile_inverts_cdf(x in -37.0..5.0_f64) {
            // One unit in cdf moves x by cdf/pdf units: much to the right of the centre, little to the left.
            let tolerance = 4.0 * f64::EPSILON * (x.abs() + cdf(x) / pdf(x));
            prop_assert!((quantile(cdf(x)) - x).abs() <= tolerance);
        }
    }
}
