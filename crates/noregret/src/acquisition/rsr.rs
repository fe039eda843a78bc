//! The ratio of Thompson regret to uncertainty, negated so that larger is better: Ren & Li, "TS-RSR", eq. (4.1).

use super::utility::Slope;

/// The smallest regret that counts, in deviations of the values. Appendix C makes sure that `f_star` exceeds every mean at
/// the candidates; between them a mean may still reach it, where the ratio itself would prefer points without any
/// uncertainty.
pub const LEAST: f64 = 1e-6;

pub(super) fn value(f_star: f64, mean: f64, sd: f64) -> f64 {
    let gap = f_star - mean;
    // Not `max`, which would turn NaN into a number.
    let gap = if gap < LEAST { LEAST } else { gap };
    if sd == 0.0 && !gap.is_nan() { f64::NEG_INFINITY } else { -gap / sd }
}

pub(super) fn slope(f_star: f64, mean: f64, sd: f64) -> Slope {
    let value = value(f_star, mean, sd);
    if value == f64::NEG_INFINITY {
        return Slope { value, by_mean: 0.0, by_sd: 0.0 };
    }
    let by_mean = if f_star - mean < LEAST { 0.0 } else { 1.0 / sd };
    Slope { value, by_mean, by_sd: -value / sd }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::float_cmp, reason = "exact by construction")]
    fn by_hand() {
        assert_eq!(value(2.0, 1.0, 0.5), -2.0);
        assert_eq!(slope(2.0, 1.0, 0.5), Slope { value: -2.0, by_mean: 2.0, by_sd: 4.0 });
        assert_eq!(value(2.0, 1.0, 0.0), f64::NEG_INFINITY);
        // A mean above the sampled maximum does not make certainty attractive.
        assert!(value(2.0, 3.0, 0.5) > value(2.0, 3.0, 0.1));
        assert!(value(2.0, 3.0, 0.5) > value(2.0, 1.99, 0.5));
    }
}
