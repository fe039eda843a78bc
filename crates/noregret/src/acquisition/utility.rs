//! Utilities that depend on the posterior mean and standard deviation at a point only.

use super::{improvement, log_improvement, rsr, ucb};

/// A utility of the posterior mean and standard deviation at a point; larger is better.
///
/// For finite arguments with `sd >= 0` values and slopes are never NaN. A NaN argument always gives NaN, which the
/// maximiser reports. At `sd = 0` the values are the limits given in each variant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Utility {
    /// Upper confidence bound, `mean + beta sd`.
    Ucb {
        /// Weight of the deviation (not of the variance).
        beta: f64,
    },
    /// Expected improvement over `best`; `max(mean - best, 0)` if `sd = 0`.
    ExpectedImprovement {
        /// The value to improve on.
        best: f64,
    },
    /// Logarithm of expected improvement, finite where the improvement itself underflows; `ln(mean - best)` if
    /// `sd = 0`, or minus infinity without improvement.
    LogExpectedImprovement {
        /// The value to improve on.
        best: f64,
    },
    /// Probability of exceeding `best`; 0 or 1 if `sd = 0`, and 1/2 at equality.
    ProbabilityOfImprovement {
        /// The value to improve on.
        best: f64,
    },
    /// Logarithm of the probability of exceeding `best`; minus infinity, `-ln 2` or 0 if `sd = 0`.
    LogProbabilityOfImprovement {
        /// The value to improve on.
        best: f64,
    },
    /// Minus the ratio of regret to uncertainty, `-(f_star - mean) / sd` (Ren & Li, eq. 4.1); minus infinity if `sd = 0`.
    /// A regret below [`rsr::LEAST`] counts as that: where the mean exceeds `f_star`, more deviation is still better.
    RegretToUncertainty {
        /// The maximum of a function drawn from the posterior.
        f_star: f64,
    },
    /// The deviation where `mean + beta sd` reaches `threshold`, and what is missing to it elsewhere: exploration of a
    /// relevant region (Contal et al. 2013).
    RelevantDeviation {
        /// Weight of the deviation in the bound.
        beta: f64,
        /// What the bound must reach.
        threshold: f64,
    },
    /// The mean alone: pure exploitation.
    Mean,
    /// The deviation alone: pure exploration (uncertainty sampling).
    StandardDeviation,
}

/// A utility's value with its partial derivatives.
///
/// Where the value is minus infinity both derivatives are 0; they can be infinite only where the true one leaves the
/// range of `f64` (a deviation below about 1e-150).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slope {
    /// The utility itself.
    pub value: f64,
    /// Derivative by the posterior mean.
    pub by_mean: f64,
    /// Derivative by the posterior standard deviation.
    pub by_sd: f64,
}

impl Utility {
    /// The utility at one point, `sd >= 0`.
    pub fn value(self, mean: f64, sd: f64) -> f64 {
        match self {
            Self::Ucb { beta } => ucb::value(beta, mean, sd),
            Self::ExpectedImprovement { best } => improvement::expected(best, mean, sd),
            Self::LogExpectedImprovement { best } => log_improvement::expected_value(best, mean, sd),
            Self::ProbabilityOfImprovement { best } => improvement::probability(best, mean, sd),
            Self::LogProbabilityOfImprovement { best } => log_improvement::probability_value(best, mean, sd),
            Self::RegretToUncertainty { f_star } => rsr::value(f_star, mean, sd),
            Self::RelevantDeviation { beta, threshold } => {
                let missing = threshold - ucb::value(beta, mean, sd);
                // NaN must not be hidden.
                if missing > 0.0 || missing.is_nan() { -missing } else { sd }
            }
            Self::Mean => mean,
            Self::StandardDeviation => sd,
        }
    }

    /// The utility at one point with its partial derivatives, `sd >= 0`.
    pub fn slope(self, mean: f64, sd: f64) -> Slope {
        match self {
            Self::Ucb { beta } => ucb::slope(beta, mean, sd),
            Self::ExpectedImprovement { best } => improvement::expected_slope(best, mean, sd),
            Self::LogExpectedImprovement { best } => log_improvement::expected_slope(best, mean, sd),
            Self::ProbabilityOfImprovement { best } => improvement::probability_slope(best, mean, sd),
            Self::LogProbabilityOfImprovement { best } => log_improvement::probability_slope(best, mean, sd),
            Self::RegretToUncertainty { f_star } => rsr::slope(f_star, mean, sd),
            Self::RelevantDeviation { beta, threshold } => {
                let value = self.value(mean, sd);
                if ucb::value(beta, mean, sd) < threshold {
                    Slope { value, by_mean: 1.0, by_sd: beta }
                } else {
                    Slope { value, by_mean: 0.0, by_sd: 1.0 }
                }
            }
            Self::Mean => Slope { value: mean, by_mean: 1.0, by_sd: 0.0 },
            Self::StandardDeviation => Slope { value: sd, by_mean: 0.0, by_sd: 1.0 },
        }
    }

    /// Whether more deviation is never worse, whatever the mean. A probability of improvement falls where the mean is above the bar.
    pub fn rises_with_deviation(self) -> bool {
        match self {
            Self::Ucb { beta } | Self::RelevantDeviation { beta, .. } => beta >= 0.0,
            Self::ProbabilityOfImprovement { .. } | Self::LogProbabilityOfImprovement { .. } => false,
            Self::ExpectedImprovement { .. }
            | Self::LogExpectedImprovement { .. }
            | Self::RegretToUncertainty { .. }
            | Self::Mean
            | Self::StandardDeviation => true,
        }
    }

    /// The utility at many points, from their posterior means and **variances**, into `out`.
    ///
    /// A variance below 0, as rounding leaves it at an observed point, counts as 0.
    ///
    /// # Panics
    /// If the three lengths differ.
    pub fn values(self, mean: &[f64], variance: &[f64], out: &mut [f64]) {
        assert!(mean.len() == out.len() && variance.len() == out.len(), "one mean and one variance a point");
        for ((out, &mean), &variance) in out.iter_mut().zip(mean).zip(variance) {
            // Not `max`, which would turn NaN into 0.
            let variance = if variance < 0.0 { 0.0 } else { variance };
            *out = self.value(mean, variance.sqrt());
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "limits and stored digits are exact")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(best: f64, beta: f64) -> [Utility; 9] {
        [
            Utility::Ucb { beta },
            Utility::RegretToUncertainty { f_star: best },
            Utility::RelevantDeviation { beta, threshold: best },
            Utility::ExpectedImprovement { best },
            Utility::LogExpectedImprovement { best },
            Utility::ProbabilityOfImprovement { best },
            Utility::LogProbabilityOfImprovement { best },
            Utility::Mean,
            Utility::StandardDeviation,
        ]
    }

    #[test]
    fn batches_repeat_single_points_and_forgive_negative_variances() {
        let (mean, variance) = ([0.3, -2.0, 0.7, 1.0], [0.04, 9.0, -1e-17, 0.0]);
        for utility in all(0.5, 2.0) {
            let mut out = [f64::NAN; 4];
            utility.values(&mean, &variance, &mut out);
            assert_eq!(out, [0, 1, 2, 3].map(|i| utility.value(mean[i], variance[i].max(0.0).sqrt())));
        }
    }

    #[test]
    fn nan_is_never_hidden() {
        for utility in all(0.0, 1.0) {
            let slope = utility.slope(f64::NAN, f64::NAN);
            assert!(utility.value(f64::NAN, f64::NAN).is_nan() && slope.value.is_nan(), "{utility:?}");
            let mut out = [0.0];
            utility.values(&[f64::NAN], &[f64::NAN], &mut out);
            assert!(out[0].is_nan(), "{utility:?}");
        }
        for utility in all(0.0, 1.0).into_iter().take(7) {
            for (mean, sd) in [(f64::NAN, 1.0), (f64::NAN, 0.0), (1.0, f64::NAN), (-1.0, f64::NAN)] {
                assert!(utility.value(mean, sd).is_nan(), "{utility:?} at {mean}, {sd}");
                assert!(utility.slope(mean, sd).value.is_nan(), "{utility:?} at {mean}, {sd}");
            }
        }
    }

    proptest! {
        /// Central differences in units of the deviation, the one natural scale of both arguments. The error is
        /// counted against both partial derivatives together, since one of them may be 0 exactly.
        #[test]
        fn slopes_agree_with_differences(u in -36.0..9.0_f64, exponent in -6.0..4.0_f64, best in -3.0..3.0_f64) {
            let sd = 10.0_f64.powf(exponent);
            // Rounding of `best + u sd` must not blur u: shrink best with the deviation.
            let best = best * sd;
            let mean = best + u * sd;
            // The slopes change by themselves over a step of sd/u^2.
            let step = 1e-4 * sd / (1.0 + u * u);
            for utility in all(best, 1.7) {
                let slope = utility.slope(mean, sd);
                let by_mean = (utility.value(mean + step, sd) - utility.value(mean - step, sd)) / (2.0 * step);
                let by_sd = (utility.value(mean, sd + step) - utility.value(mean, sd - step)) / (2.0 * step);
                let scale = slope.by_mean.abs() + slope.by_sd.abs();
                // Truncation is 1e-8 of the slopes; rounding counts where a value is flat, such as PI near 1.
                let tolerance = 1e-6 * scale + 4.0 * f64::EPSILON * slope.value.abs() / step;
                prop_assert!((by_mean - slope.by_mean).abs() <= tolerance, "{utility:?}: {by_mean:e}");
                prop_assert!((by_sd - slope.by_sd).abs() <= tolerance, "{utility:?}: {by_sd:e}");
                prop_assert_eq!(slope.value, utility.value(mean, sd));
            }
        }

        /// Far in the tail only the logarithms have a slope left.
        #[test]
        fn logarithms_keep_their_slopes_in_the_far_tail(size in 1.5..6.0_f64, exponent in -100.0..100.0_f64) {
            let sd = 10.0_f64.powf(exponent);
            let mean = -10.0_f64.powf(size) * sd;
            for utility in [
                Utility::LogExpectedImprovement { best: 0.0 },
                Utility::LogProbabilityOfImprovement { best: 0.0 },
            ] {
                let slope = utility.slope(mean, sd);
                let difference = |value: &dyn Fn(f64) -> f64| (value(1.0 + 1e-5) - value(1.0 - 1e-5)) / 2e-5;
                let by_mean = difference(&|scale| utility.value(mean * scale, sd)) / mean;
                let by_sd = difference(&|scale| utility.value(mean, sd * scale)) / sd;
                prop_assert!((by_mean / slope.by_mean - 1.0).abs() < 1e-6);
                prop_assert!((by_sd / slope.by_sd - 1.0).abs() < 1e-6);
            }
        }

        /// Whoever says so rises; and a probability does not always.
        #[test]
        fn more_deviation_is_no_worse_where_a_utility_says_so(
            mean in -3.0..3.0, best in -3.0..3.0, sd in 1e-3..3.0, more in 0.0..3.0, beta in 0.0..9.0,
        ) {
            for utility in all(best, beta).into_iter().filter(|utility| utility.rises_with_deviation()) {
                let (less, more) = (utility.value(mean, sd), utility.value(mean, sd + more));
                // To rounding: far below the bar the logarithm is a difference of large numbers.
                prop_assert!(more >= less - 1e-12 * less.abs(), "{utility:?} at {mean}, {sd}: {less}, {more}");
            }
            let probability = Utility::ProbabilityOfImprovement { best: 0.0 };
            prop_assert!(probability.value(1.0, sd + 0.1) < probability.value(1.0, sd) || sd < 0.2);
        }

        /// All of `f64`: subnormal deviations, differences that overflow, scores that are infinite.
        #[test]
        fn finite_arguments_never_give_nan(
            mean in any::<f64>(), best in any::<f64>(), sd in any::<f64>(), beta in 0.0..1e3, plain in -9.0..9.0,
        ) {
            for mean in [mean, best, plain, 0.0] {
                for best in [best, 1.0, 0.0] {
                    for sd in [sd.abs(), 0.0, 5e-324, 1e-300, 1e308] {
                        for utility in all(best, beta) {
                            let slope = utility.slope(mean, sd);
                            prop_assert!(!slope.value.is_nan(), "{utility:?} at {mean:e}, {sd:e}");
                            prop_assert!(!slope.by_mean.is_nan(), "{utility:?} at {mean:e}, {sd:e}");
                            prop_assert!(!slope.by_sd.is_nan(), "{utility:?} at {mean:e}, {sd:e}");
                            prop_assert!(!utility.value(mean, sd).is_nan());
                        }
                    }
                }
            }
        }
    }
}
