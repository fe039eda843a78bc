//! Logarithms of expected improvement and of the probability of improvement.
//!
//! Ament et al. (2023), "Unexpected improvements to expected improvement for Bayesian optimization", the analytic
//! log EI: where improvement is unlikely the plain utilities underflow and their gradients with them, the logarithms
//! do not.
//! # Notation
//! | paper             | here             | meaning                                             |
//! |-------------------|------------------|-----------------------------------------------------|
//! | `z`               | `u`              | `(mean - best) / sd`                                |
//! | `h(z)`            | `normal::h`      | `pdf(u) + u cdf(u)`                                 |
//! | `log_h(z)`        | `normal::log_h`  | its logarithm, finite down to `u = -1e154`          |
//! # Departures
//! The paper computes `log_h` in three regimes with `erfcx`; `math::normal` has one approximation for the half-line.
//! Where the value is minus infinity (no deviation and no improvement, or `u` out of range) there is no slope to
//! follow, and both partial derivatives are returned as 0, so that the chain rule makes no NaN of them.

use super::improvement::{expected, standardise};
use super::utility::Slope;
use crate::math::normal::{cdf, hazard, log_cdf, log_h, log_h_slope, pdf};

/// `log EI = ln sd + log_h(u)`; with an improvement in the mean the logarithm of EI itself, as `ln sd` and `ln u`
/// would cancel for a small deviation. Without deviation `ln(mean - best)` or minus infinity.
pub(super) fn expected_value(best: f64, mean: f64, sd: f64) -> f64 {
    if mean > best { expected(best, mean, sd).ln() } else { sd.ln() + log_h(standardise(mean, best, sd)) }
}

/// `d log EI / d mean = cdf(u) / EI` and `d log EI / d sd = pdf(u) / EI`.
///
/// With `r = cdf(u)/h(u)` these are `r / sd` and `(1 - u r) / sd`, as `pdf = h - u cdf`: sums of positive terms for
/// `u <= 0`.
pub(super) fn expected_slope(best: f64, mean: f64, sd: f64) -> Slope {
    let value = expected_value(best, mean, sd);
    if value == f64::NEG_INFINITY {
        return Slope { value, by_mean: 0.0, by_sd: 0.0 };
    }
    let u = standardise(mean, best, sd);
    if mean > best {
        let improvement = expected(best, mean, sd);
        Slope { value, by_mean: cdf(u) / improvement, by_sd: pdf(u) / improvement }
    } else {
        let r = log_h_slope(u);
        Slope { value, by_mean: r / sd, by_sd: (1.0 - u * r) / sd }
    }
}

/// `log PI = log_cdf(u)`; without deviation 0, `-ln 2` at equality, or minus infinity.
pub(super) fn probability_value(best: f64, mean: f64, sd: f64) -> f64 {
    log_cdf(standardise(mean, best, sd))
}

/// With the hazard `r = pdf(u)/cdf(u)`: `d log PI / d mean = r / sd` and `d log PI / d sd = -u r / sd`; without
/// deviation log PI is a step, and both are 0.
pub(super) fn probability_slope(best: f64, mean: f64, sd: f64) -> Slope {
    let value = probability_value(best, mean, sd);
    if sd == 0.0 || value == f64::NEG_INFINITY {
        return Slope { value, by_mean: 0.0, by_sd: 0.0 };
    }
    let u = standardise(mean, best, sd);
    let r = hazard(u);
    // For an infinite u the hazard is 0, and their product would be NaN.
    let moment = if r == 0.0 { 0.0 } else { u * r };
    Slope { value, by_mean: r / sd, by_sd: -moment / sd }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "limits and stored digits are exact")]
mod tests {
    use std::f64::consts::LN_2;

    use super::*;

    #[test]
    fn deep_in_the_tail_value_and_slope_stay_finite() {
        // log_h(-100) and its slope by mpmath 1.3.0 (see math::normal); sd = 1/2.
        let ei = expected_slope(50.0, 0.0, 0.5);
        assert!((ei.value - (-5_010.129_578_800_25 - 2.0_f64.ln())).abs() < 1e-11);
        assert!((ei.by_mean - 2.0 * 100.019_994_004_195_87).abs() < 1e-11);
        assert!((ei.by_sd - 2.0 * (1.0 + 100.0 * 100.019_994_004_195_87)).abs() < 1e-9);
        for u in [-1e6, -1e50, -1e150] {
            let (ei, pi) = (expected_slope(0.0, u, 1.0), probability_slope(0.0, u, 1.0));
            for slope in [ei, pi] {
                assert!(slope.value.is_finite() && (slope.by_mean / -u - 1.0).abs() < 1e-11);
                assert!(slope.by_sd.is_finite() && slope.by_sd > 0.0);
            }
        }
    }

    #[test]
    fn without_deviation_the_limits_hold() {
        let at = |mean| expected_slope(1.0, mean, 0.0);
        assert_eq!(at(3.0), Slope { value: 2.0_f64.ln(), by_mean: 0.5, by_sd: 0.0 });
        for mean in [1.0, -3.0] {
            assert_eq!(at(mean), Slope { value: f64::NEG_INFINITY, by_mean: 0.0, by_sd: 0.0 });
        }
        let [above, equal, below] = [3.0, 1.0, -3.0].map(|mean| probability_slope(1.0, mean, 0.0));
        assert_eq!((above.value, below.value), (0.0, f64::NEG_INFINITY));
        assert!((equal.value + LN_2).abs() <= f64::EPSILON);
        for slope in [above, equal, below] {
            assert_eq!((slope.by_mean, slope.by_sd), (0.0, 0.0));
        }
    }

    /// `ln sd + ln u` would be wrong by 1e-13 here.
    #[test]
    fn a_sure_improvement_keeps_its_digits() {
        assert_eq!(expected_value(0.0, 1.5, 1e-300), 1.5_f64.ln());
    }
}
