//! Student's t distribution, the t-tests that stand on it, and the law of F. Student 1908; Welch 1947.
//!
//! The tail is half a regularised incomplete beta function, `P(T > t) = I_x(df/2, 1/2) / 2` with `x = df / (df + t^2)` and
//! `t >= 0`, computed by its continued fraction (Abramowitz & Stegun, 26.5.8). One of its parameters is always a number of halves, so
//! that the only gamma functions needed are `gamma(a + 1/2) / gamma(a)`, which has a series of its own: no logarithms of large
//! numbers are subtracted, and the tail is exact to 1e-12 of itself, down to 1e-300, for up to 10,000 degrees of freedom; beyond, the
//! error grows in proportion to them.
//!
//! All tests are one-sided: the alternative is that the first sample is from the larger mean. NaN is answered where the data
//! decide nothing: too few values, or no spread and no difference.

use super::{mean, standard_deviation};

/// `P(T > t)` for `df > 0` degrees of freedom, which need not be a whole number.
pub fn student_tail(t: f64, df: f64) -> f64 {
    if t.is_nan() || !(df > 0.0) {
        return f64::NAN;
    }
    if t < 0.0 {
        return 1.0 - student_tail(-t, df);
    }
    if t.is_infinite() {
        return 0.0;
    }
    let sum = t.mul_add(t, df);
    0.5 * beta_share(df / sum, t * t / sum, 0.5 * df, 1)
}

/// `P(F > f)` for `above >= 1` degrees of freedom in the numerator and `below > 0` in the denominator (Abramowitz & Stegun, 26.6.2).
///
/// Exact to 1e-12 for up to 100 above.
pub fn f_tail(f: f64, above: usize, below: f64) -> f64 {
    if f.is_nan() || above == 0 || !(below > 0.0) {
        return f64::NAN;
    }
    if f <= 0.0 || f.is_infinite() {
        return f64::from(u8::from(f <= 0.0));
    }
    let scaled = above as f64 * f;
    beta_share(below / (below + scaled), scaled / (below + scaled), 0.5 * below, above)
}

/// The regularised incomplete beta function `I_x(a, b)` for `b` of so many halves, given `x` and `y = 1 - x`.
fn beta_share(x: f64, y: f64, a: f64, halves: usize) -> f64 {
    let b = 0.5 * halves as f64;
    if x <= 0.0 || y <= 0.0 {
        return f64::from(u8::from(y <= 0.0));
    }
    // x^a y^b / B(a, b), with 1 / B(a, b) = (gamma(a + b) / gamma(a)) / gamma(b); ln x without loss where x is near 1.
    let ln_x = if y < 0.5 { (-y).ln_1p() } else { x.ln() };
    let mut front = (a * ln_x).exp() * half_step(a) * y.sqrt() / std::f64::consts::PI.sqrt();
    for i in 1..halves {
        let past = 0.5 * i as f64;
        front *= y.sqrt() * half_step(a + past) / half_step(past); // gamma(1/2) = sqrt(pi), and on from it
    }
    // The fraction converges fast on this side of the mean.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(y, b, a) / b
    }
}

/// `gamma(a + 1/2) / gamma(a)`: by the recurrence up to `a >= 20`, where five terms of the series leave less than 1e-17.
fn half_step(mut a: f64) -> f64 {
    let mut factor = 1.0;
    while a < 20.0 {
        factor *= a / (a + 0.5);
        a += 1.0;
    }
    let u = (a * a).recip();
    let series =
        -1.0 / 8.0 + u * (1.0 / 192.0 + u * (-1.0 / 640.0 + u * (17.0 / 14_336.0 - u * 31.0 / 18_432.0)));
    factor * a.sqrt() * (series / a).exp()
}

/// The continued fraction of the incomplete beta function, by Lentz' method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    /// In place of a zero that would be divided by.
    const TINY: f64 = 1e-300;
    /// The number of terms grows as the square root of the larger parameter.
    const TERMS: u32 = 100_000;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = away(1.0 - (a + b) * x / (a + 1.0)).recip();
    let mut h = d;
    for m in 1..TERMS {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = away(1.0 + even * d).recip();
        c = away(1.0 + even / c);
        h *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = away(1.0 + odd * d).recip();
        c = away(1.0 + odd / c);
        h *= d * c;
        if (d * c - 1.0).abs() < f64::EPSILON {
            break;
        }
    }
    h
}

/// p-value of Student's two-sample test, variances taken to be equal.
pub fn student_t_test(larger: &[f64], smaller: &[f64]) -> f64 {
    let (n, m) = (larger.len() as f64, smaller.len() as f64);
    let df = n + m - 2.0;
    let squares =
        (n - 1.0) * standard_deviation(larger).powi(2) + (m - 1.0) * standard_deviation(smaller).powi(2);
    let error = (squares / df * (n.recip() + m.recip())).sqrt();
    student_tail((mean(larger) - mean(smaller)) / error, df)
}

/// p-value of Welch's two-sample test, variances not taken to be equal.
pub fn welch_t_test(larger: &[f64], smaller: &[f64]) -> f64 {
    let share = |values: &[f64]| standard_deviation(values).powi(2) / values.len() as f64;
    let (a, b) = (share(larger), share(smaller));
    let rest = |share: f64, values: &[f64]| share * share / (values.len() as f64 - 1.0);
    let df = (a + b).powi(2) / (rest(a, larger) + rest(b, smaller));
    student_tail((mean(larger) - mean(smaller)) / (a + b).sqrt(), df)
}

/// p-value of the t-test for pairs.
///
/// # Panics
/// When the samples differ in length.
pub fn paired_t_test(larger: &[f64], smaller: &[f64]) -> f64 {
    assert_eq!(larger.len(), smaller.len(), "values of pairs");
    let differences: Vec<f64> = larger.iter().zip(smaller).map(|(a, b)| a - b).collect();
    let n = differences.len() as f64;
    student_tail(mean(&differences) / (standard_deviation(&differences) / n.sqrt()), n - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::statistics::samples::{A, B, C, close};

    /// `mpmath.betainc(df/2, 1/2, 0, df/(df + t^2), regularized=True) / 2`, mpmath 1.3.0 with 40 digits; SciPy 1.17.1's
    /// `stats.t.sf` agrees to 15.
    #[test]
    fn tails_to_twelve_digits() {
        for (t, df, expected) in [
            (0.0, 1.0, 0.5),
            (1.0, 1.0, 0.25),
            (2.5, 9.0, 0.016_930_913_841_492_87),
            (-2.5, 9.0, 0.983_069_086_158_507_1),
            (12.0, 18.0, 2.523_255_551_281_828_5e-10),
            (50.0, 18.0, 4.535_212_997_066_782e-21),
            (0.3, 3.7, 0.390_133_743_565_731_15),
            (6.3138, 1.0, 0.049_999_622_321_669_87),
            (1e-3, 18.0, 0.499_606_557_552_493_6),
            (30.0, 200.0, 2.862_080_604_413_926e-76),
            (4.0, 0.5, 0.159_610_041_494_335_77),
        ] {
            let tail = student_tail(t, df);
            assert!(close(tail, expected), "t = {t}, df = {df}: {tail:e} != {expected:e}");
        }
        assert!((student_tail(1.96, 1e6) / 0.024_998_033_792_634_895 - 1.0).abs() < 1e-10);
        assert!(student_tail(f64::INFINITY, 3.0).abs() < 1e-300);
        assert!(student_tail(f64::NAN, 3.0).is_nan() && student_tail(1.0, 0.0).is_nan());
    }

    /// One degree of freedom is Cauchy's law, two have a closed form.
    #[test]
    fn closed_forms() {
        for i in -40..=40 {
            let t = f64::from(i) * 0.7;
            let cauchy = 0.5 - t.atan() / std::f64::consts::PI;
            let two = 0.5 - t / (2.0 * (2.0 + t * t).sqrt());
            // Beyond the centre the closed forms cancel.
            assert!((student_tail(t, 1.0) - cauchy).abs() < 1e-14, "{t}");
            assert!((student_tail(t, 2.0) - two).abs() < 1e-14, "{t}");
        }
    }

    /// One degree of freedom above is the square of Student's law, two have the closed form `(1 + 2 f / m)^(-m/2)`, and two below
    /// `1 - (1 + 2 / (n f))^(-n/2)`.
    #[test]
    fn the_law_of_f_in_closed_form() {
        for i in 1..60_u32 {
            let f = f64::from(i) * 0.21;
            for m in [1.0, 5.0, 34.0, 500.0_f64] {
                assert!(close(f_tail(f, 1, m), 2.0 * student_tail(f.sqrt(), m)), "{f} {m}");
                let two = (-0.5 * m * (2.0 * f / m).ln_1p()).exp();
                assert!((f_tail(f, 2, m) / two - 1.0).abs() < 1e-11, "{f} {m}");
            }
            for n in [1, 3, 10, 99] {
                let half = 0.5 * n as f64;
                let two = -(-half * (1.0 / (half * f)).ln_1p()).exp_m1();
                assert!((f_tail(f, n, 2.0) / two - 1.0).abs() < 1e-11, "{f} {n}");
            }
        }
        assert!((f_tail(0.0, 3, 4.0) - 1.0).abs() < 1e-15 && f_tail(f64::INFINITY, 3, 4.0).abs() < 1e-300);
        assert!(f_tail(f64::NAN, 3, 4.0).is_nan() && f_tail(1.0, 0, 4.0).is_nan());
    }

    /// `stats.ttest_ind(a, b, alternative="greater")`, with `equal_var=False` for Welch, and `stats.ttest_rel`, SciPy 1.17.1.
    #[test]
    fn tests_agree_with_scipy() {
        assert!(close(student_t_test(&A, &B), 0.057_959_723_094_777_4));
        assert!(close(welch_t_test(&A, &B), 0.058_665_645_521_508_97));
        assert!(close(student_t_test(&A, &C[..6]), 0.087_423_432_226_022_71));
        assert!(close(welch_t_test(&A, &C[..6]), 0.153_920_149_610_826_78));
        assert!(close(paired_t_test(&A, &B), 0.005_034_628_375_696_324));
        assert!(close(paired_t_test(&B, &A), 1.0 - 0.005_034_628_375_696_324));
    }

    #[test]
    fn what_decides_nothing_is_nan() {
        assert!(student_t_test(&[1.0], &[2.0]).is_nan() && welch_t_test(&[1.0], &[2.0, 3.0]).is_nan());
        assert!(paired_t_test(&A, &A).is_nan() && student_t_test(&[1.0; 3], &[1.0; 3]).is_nan());
        assert!(student_t_test(&[2.0; 3], &[1.0; 3]).abs() < 1e-300, "a difference without any spread");
    }
}
