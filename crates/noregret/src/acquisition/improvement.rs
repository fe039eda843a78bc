//! Expected improvement and probability of improvement over the best value so far.
//!
//! Expected improvement: Jones, Schonlau & Welch (1998), eq. (15); probability of improvement: Kushner (1964).
//! # Notation
//! | paper           | here            | meaning                                             |
//! |-----------------|-----------------|-----------------------------------------------------|
//! | `y_hat - f_min` | `delta`         | by how much the mean exceeds the best               |
//! | `s`             | `sd`            | posterior deviation                                 |
//! | `delta / s`     | `u`             | the same in units of the deviation, `standardise`   |
//! | `Phi`, `phi`    | `cdf`, `pdf`    | standard normal                                     |
//! # Departures
//! We maximise, Jones et al. minimise: the sign of `delta` is turned.

use super::utility::Slope;
use crate::math::normal::{cdf, h, pdf};

/// `u = (mean - best) / sd`; without deviation its limit, an infinity by the sign, or 0 if the two are equal.
pub(super) fn standardise(mean: f64, best: f64, sd: f64) -> f64 {
    let delta = mean - best;
    // `abs`, because the square root of -0 is -0.
    if delta == 0.0 && sd == 0.0 { 0.0 } else { delta / sd.abs() }
}

/// `EI = delta cdf(u) + sd pdf(u)`, which is `max(delta, 0) + sd h(-|u|)`: in this form nothing cancels, and without
/// deviation `max(delta, 0)` is left.
pub(super) fn expected(best: f64, mean: f64, sd: f64) -> f64 {
    let u = standardise(mean, best, sd);
    (mean - best).max(0.0) + sd * h(-u.abs())
}

/// `d EI / d mean = cdf(u)` and `d EI / d sd = pdf(u)`: the terms from within `u` cancel.
pub(super) fn expected_slope(best: f64, mean: f64, sd: f64) -> Slope {
    let u = standardise(mean, best, sd);
    Slope { value: expected(best, mean, sd), by_mean: cdf(u), by_sd: pdf(u) }
}

/// `PI = cdf(u)`; without deviation a step from 0 to 1 with 1/2 at equality.
pub(super) fn probability(best: f64, mean: f64, sd: f64) -> f64 {
    cdf(standardise(mean, best, sd))
}

/// `d PI / d mean = pdf(u) / sd` and `d PI / d sd = -u pdf(u) / sd`; without deviation PI is a step, and both are 0.
pub(super) fn probability_slope(best: f64, mean: f64, sd: f64) -> Slope {
    let u = standardise(mean, best, sd);
    let value = cdf(u);
    if sd == 0.0 {
        return Slope { value, by_mean: 0.0, by_sd: 0.0 };
    }
    let density = pdf(u);
    // For an infinite u the density is 0, and their product would be NaN.
    let moment = if density == 0.0 { 0.0 } else { u * density };
    Slope { value, by_mean: density / sd, by_sd: -moment / sd }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "limits and stored digits are exact")]
mod tests {
    use super::*;

    #[test]
    fn closed_forms_at_one_deviation() {
        // Phi(1) and phi(1) to 16 digits (Abramowitz & Stegun, table 26.1).
        let (phi, density) = (0.841_344_746_068_542_9, 0.241_970_724_519_143_37);
        let ei = expected_slope(1.0, 3.0, 2.0); // u = 1
        assert!((ei.value - 2.0 * (density + phi)).abs() < 1e-15);
        assert!((ei.by_mean - phi).abs() < 1e-15 && (ei.by_sd - density).abs() < 1e-15);
        let pi = probability_slope(1.0, 3.0, 2.0);
        assert!((pi.value - phi).abs() < 1e-15);
        assert!((pi.by_mean - density / 2.0).abs() < 1e-15 && (pi.by_sd + density / 2.0).abs() < 1e-15);
    }

    #[test]
    fn without_deviation_the_limits_hold() {
        assert_eq!(expected(1.0, 3.0, 0.0), 2.0);
        assert_eq!(expected(1.0, 1.0, 0.0), 0.0);
        assert_eq!(expected(1.0, -3.0, 0.0), 0.0);
        let at = |mean| expected_slope(1.0, mean, 0.0);
        assert_eq!((at(3.0).by_mean, at(3.0).by_sd), (1.0, 0.0));
        assert_eq!((at(-3.0).by_mean, at(-3.0).by_sd), (0.0, 0.0));
        assert_eq!((at(1.0).by_mean, at(1.0).by_sd), (0.5, pdf(0.0)));
        assert_eq!([3.0, 1.0, -3.0].map(|mean| probability(1.0, mean, 0.0)), [1.0, 0.5, 0.0]);
        // A negative zero, as the root of one gives, is no deviation either.
        assert_eq!(expected(1.0, 3.0, -0.0), 2.0);
        assert_eq!(probability(1.0, 3.0, -0.0), 1.0);
    }

    #[test]
    fn the_smallest_deviations_are_no_special_case() {
        assert_eq!(expected(0.0, 1.0, 1e-300), 1.0);
        assert_eq!(expected(0.0, -1.0, 1e-300), 0.0);
        assert_eq!(probability(0.0, -1.0, 1e-300), 0.0);
        assert_eq!(expected(0.0, 0.0, 1e-300), 1e-300 * pdf(0.0));
    }
}
