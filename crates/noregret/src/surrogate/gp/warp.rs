//! A monotone transformation of the values that draws long tails in: Yeo & Johnson 2000.
//!
//! A Gaussian process expects values that vary about as much everywhere. Objectives often span orders of magnitude on their bad
//! side, and then the process sees a cliff and a plain. With `z = (y - location) / scale` (the median and the distance of the
//! quartiles, which tails do not move), eq. (2.1):
//!
//! | `z`       | `t(z)`                                          |
//! |-----------|-------------------------------------------------|
//! | `z >= 0`  | `((1 + z)^lambda - 1) / lambda`                 |
//! | `z < 0`   | `-((1 - z)^(2 - lambda) - 1) / (2 - lambda)`    |
//!
//! with logarithms where the exponent vanishes. `lambda = 1` changes nothing; a larger one draws the lower tail in and stretches
//! the upper one. It is chosen such that the transformed values look most like a normal sample: their profile likelihood, eq. (3.1).

use serde::{Deserialize, Serialize};

/// Whether values are transformed before they are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Transform {
    /// They are not transformed.
    #[default]
    None,
    /// By a power that draws long tails in.
    YeoJohnson,
}

/// A transformation with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Warp {
    /// The median.
    pub location: f64,
    /// The distance of the quartiles, as large as a deviation for normal values.
    pub scale: f64,
    /// The power.
    pub lambda: f64,
}

/// From the logarithm of the upper side to beyond that of the lower one, where the lowest values are bounded.
const POWERS: (f64, f64) = (0.0, 2.5);
/// Quartiles of a normal sample are this many deviations apart.
const QUARTILES: f64 = 1.349;
/// A stretched tail ends here, so that squares of transformed values are still numbers.
const LARGEST: f64 = 1e100;
/// With fewer values the tails cannot be estimated.
const FEWEST: usize = 5;

impl Warp {
    /// The transformation for these values; `None` if there are few or most of them are equal.
    pub fn fit(values: &[f64]) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let n = sorted.len();
        if n < FEWEST {
            return None;
        }
        let (location, scale) = (sorted[n / 2], (sorted[n * 3 / 4] - sorted[n / 4]) / QUARTILES);
        if !(scale.is_normal() && ((sorted[n - 1] - sorted[0]) / scale).is_finite()) {
            return None;
        }
        let at = |lambda| Self { location, scale, lambda };
        // Golden-section search; in practice the likelihood has a single maximum. Of the two inner points one is reused in each
        // step, since `golden^2 = 1 - golden`.
        let golden = 0.5 * (5.0_f64.sqrt() - 1.0);
        let (mut low, mut high) = POWERS;
        let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
        let (mut at_a, mut at_b) = (at(a).log_likelihood(&sorted), at(b).log_likelihood(&sorted));
        while high - low > 1e-2 {
            if at_a > at_b {
                (high, b, at_b) = (b, a, at_a);
                a = high - golden * (high - low);
                at_a = at(a).log_likelihood(&sorted);
            } else {
                (low, a, at_a) = (a, b, at_b);
                b = low + golden * (high - low);
                at_b = at(b).log_likelihood(&sorted);
            }
        }
        Some(at(0.5 * (low + high)))
    }

    /// The profile likelihood of a normal sample, up to a constant (eq. (3.1)).
    ///
    /// If `t(y)` is normal, the density of `y` is that of `t(y)` times `t'(y)`. With the mean and the variance `v` that maximise
    /// it, the quadratic terms add up to the constant `-n/2`, and `-n/2 log v + sum_i log t'(y_i)` is left.
    fn log_likelihood(&self, values: &[f64]) -> f64 {
        let n = values.len() as f64;
        let transformed: Vec<f64> = values.iter().map(|y| self.value(*y)).collect();
        let mean = transformed.iter().sum::<f64>() / n;
        let variance = transformed.iter().map(|t| (t - mean).powi(2)).sum::<f64>() / n;
        -0.5 * n * variance.ln() + values.iter().map(|y| self.slope(*y).ln()).sum::<f64>()
    }

    /// `t(z)` at a value.
    pub fn value(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        let power = |z: f64, lambda: f64| {
            let log = z.ln_1p();
            if lambda.abs() < 1e-9 { log } else { (lambda * log).exp_m1() / lambda }
        };
        let t = if z >= 0.0 { power(z, self.lambda) } else { -power(-z, 2.0 - self.lambda) };
        t.clamp(-LARGEST, LARGEST)
    }

    /// Its derivative by the value, times the scale: `(1 + z)^(lambda - 1)` for `z >= 0` and `(1 - z)^(1 - lambda)` below, which is
    /// `exp((lambda - 1) sign(z) ln(1 + |z|))` on both sides.
    pub fn slope(&self, y: f64) -> f64 {
        let z = (y - self.location) / self.scale;
        ((self.lambda - 1.0) * z.abs().ln_1p().copysign(z)).exp().clamp(1.0 / LARGEST, LARGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rises_with_the_slope_it_says() {
        for lambda in [0.0, 0.3, 1.0, 1.7, 2.0] {
            let warp = Warp { location: 2.0, scale: 3.0, lambda };
            for y in [-40.0, -1.0, 1.9, 2.1, 5.0, 60.0] {
                let h = 1e-5;
                let quotient = (warp.value(y + h) - warp.value(y - h)) / (2.0 * h) * warp.scale;
                assert!((quotient / warp.slope(y) - 1.0).abs() < 1e-6, "{lambda} {y}: {quotient}");
            }
        }
        let same = Warp { location: 2.0, scale: 3.0, lambda: 1.0 };
        assert!((same.value(11.0) - 3.0).abs() < 1e-15 && (same.value(-4.0) + 2.0).abs() < 1e-15);
    }

    #[test]
    fn long_tails_are_drawn_in_and_normal_values_left_alone() {
        let normal = |i: u32| crate::math::normal::quantile((f64::from(i) + 0.5) / 101.0);
        let plain: Vec<f64> = (0..101).map(normal).collect();
        assert!((Warp::fit(&plain).unwrap().lambda - 1.0).abs() < 0.05);
        let tail: Vec<f64> = plain.iter().map(|z| -(3.0 * z).exp()).collect();
        let warp = Warp::fit(&tail).unwrap();
        assert!(warp.lambda > 1.8, "{warp:?}");
        let transformed: Vec<f64> = tail.iter().map(|y| warp.value(*y)).collect();
        // From 1,000 times the quartile's distance to a few.
        assert!(transformed.iter().all(|t| t.abs() < 10.0), "{transformed:?}");
    }

    /// The likelihood of a power that overflows must not be NaN, which is neither more nor less than that of another.
    #[test]
    fn values_at_the_end_of_the_range_stay_numbers() {
        for huge in [1e300, -1e300] {
            let warp = Warp::fit(&[0.0, 0.0, huge, -7.4, -5.7]).unwrap();
            for y in [huge, -huge, 0.0, -7.4] {
                let (t, slope) = (warp.value(y), warp.slope(y));
                assert!((t * t).is_finite() && (slope * slope).is_normal(), "{warp:?} at {y}: {t} {slope}");
            }
            assert!(warp.value(-7.4) < warp.value(-5.7) && warp.value(-5.7) < warp.value(0.0), "{warp:?}");
        }
    }

    #[test]
    fn nothing_is_made_of_few_or_equal_values() {
        assert_eq!(Warp::fit(&[1.0, 2.0, 9.0]), None);
        assert_eq!(Warp::fit(&[1.0; 20]), None);
        assert_eq!(
            Warp::fit(&[-1e308, -1e307, 0.0, 1e-300, 1e307, 1e308]).map(|w| w.value(0.0).is_finite()),
            None
        );
    }
}
