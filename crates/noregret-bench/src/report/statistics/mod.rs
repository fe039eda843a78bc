//! Sample statistics and tests of hypotheses, for reports.
//!
//! NaN among the values makes the result NaN: a failed run never disappears in a mean.

mod friedman;
mod normality;
mod signed_rank;
mod student;

pub use friedman::friedman_test;
pub use normality::{kolmogorov_tail, normality_test};
pub use signed_rank::signed_rank_test;
pub use student::{f_tail, paired_t_test, student_t_test, student_tail, welch_t_test};

/// Arithmetic mean; NaN for no values.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Sample standard deviation, with the divisor `n - 1`; NaN for fewer than two values.
pub fn standard_deviation(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::NAN;
    }
    let mean = mean(values);
    // Differences first, squares second: no cancellation when the mean is large.
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (squares / (values.len() - 1) as f64).sqrt()
}

/// The middle value, or the mean of the two middle ones; NaN for no values.
pub fn median(values: &[f64]) -> f64 {
    quantile(values, 0.5)
}

/// The value below which a share `p` of the sample lies, linear between neighbours (NumPy's default, type 7).
///
/// NaN for no values.
///
/// # Panics
/// When `p` is not in `[0, 1]`.
pub fn quantile(values: &[f64], p: f64) -> f64 {
    assert!((0.0..=1.0).contains(&p), "quantile at {p}");
    if values.is_empty() || values.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = p * (sorted.len() - 1) as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 <= position <= n - 1")]
    let below = position.floor() as usize;
    let above = (below + 1).min(sorted.len() - 1);
    let share = position - below as f64;
    // Not between equals: infinity less itself would be no number.
    let between = share > 0.0 && sorted[above] > sorted[below];
    if between { sorted[below] + share * (sorted[above] - sorted[below]) } else { sorted[below] }
}

/// Rank of every value, from 1 for the smallest; equal values share the mean of their ranks, NaN come last.
pub fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    // Not `total_cmp`, for which -0 < 0 and half of the NaN come first.
    let compare = |a: f64, b: f64| a.partial_cmp(&b).unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()));
    order.sort_by(|&i, &j| compare(values[i], values[j]));
    let mut ranks = vec![0.0; values.len()];
    let mut before = 0;
    for tied in order.chunk_by(|&i, &j| compare(values[i], values[j]).is_eq()) {
        // Ranks before + 1 up to before + k have the mean before + (k + 1) / 2.
        let shared = before as f64 + (tied.len() + 1) as f64 / 2.0;
        for &i in tied {
            ranks[i] = shared;
        }
        before += tied.len();
    }
    ranks
}

/// Kolmogorov's distance: the largest gap between the distribution of the sample and `cdf`. NaN for no values.
///
/// For a sample of `cdf` itself it exceeds `c / sqrt(n)` with probability at most `2 exp(-2 c^2)` (Massart 1990):
/// 3e-8 for `c = 3`.
pub fn kolmogorov_distance(sample: &[f64], cdf: impl Fn(f64) -> f64) -> f64 {
    if sample.is_empty() || sample.iter().any(|v| v.is_nan()) {
        return f64::NAN;
    }
    let n = sample.len() as f64;
    let mut sorted = sample.to_vec();
    sorted.sort_by(f64::total_cmp);
    let gap = |(i, &x): (usize, &f64)| {
        let expected = cdf(x);
        // Just below x the sample's own distribution is at i / n, at x it is at (i + 1) / n.
        f64::max(expected - i as f64 / n, (i + 1) as f64 / n - expected)
    };
    sorted.iter().enumerate().map(gap).fold(0.0, f64::max)
}

/// Which of several hypotheses to reject, if at most a share `level` of those rejected may be true.
///
/// Benjamini & Hochberg 1995, section 3.1: reject the `k` smallest p-values for the largest `k` with `p_(k) <= k level / n`.
/// A NaN counts as a hypothesis that is not rejected.
pub fn benjamini_hochberg(p_values: &[f64], level: f64) -> Vec<bool> {
    let mut sorted: Vec<f64> = p_values.iter().copied().filter(|p| !p.is_nan()).collect();
    sorted.sort_by(f64::total_cmp);
    let n = p_values.len() as f64;
    let passes = |(i, p): &(usize, &f64)| **p <= (i + 1) as f64 * level / n;
    let threshold = sorted.iter().enumerate().filter(passes).map(|(_, p)| *p).next_back();
    p_values.iter().map(|p| threshold.is_some_and(|threshold| *p <= threshold)).collect()
}

/// p-values made larger so that all of them below a level may be trusted at once, whichever hypotheses are true.
///
/// Holm 1979: the `i`-th smallest of `n` (from 0) is multiplied by `n - i`, and none is smaller than the one before. NaN stays NaN, and
/// counts among the `n`.
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).filter(|&i| !p_values[i].is_nan()).collect();
    order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
    let mut adjusted = vec![f64::NAN; p_values.len()];
    let mut least: f64 = 0.0;
    for (i, &place) in order.iter().enumerate() {
        least = least.max(p_values[place] * (p_values.len() - i) as f64).min(1.0);
        adjusted[place] = least;
    }
    adjusted
}

/// Samples whose p-values are known.
#[cfg(test)]
mod samples {
    pub(super) const A: [f64; 10] = [3.1, 2.7, 4.4, 1.9, 3.6, 2.2, 5.0, 2.9, 3.3, 4.1];
    pub(super) const B: [f64; 10] = [2.5, 2.95, 3.0, 1.2, 2.6, 2.45, 3.9, 2.1, 3.35, 2.8];
    pub(super) const C: [f64; 10] = [0.1, 0.2, 0.15, 9.0, 0.12, 0.18, 0.11, 0.22, 0.3, 0.14];

    /// To twelve digits.
    pub(super) fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-12 * b.abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 3 x 0.01, 2 x 0.02, then 0.03 must not fall below 0.04; a NaN makes four of them.
    #[test]
    fn holm_by_hand() {
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close(&holm(&[0.03, 0.01, 0.02]), &[0.04, 0.03, 0.04]));
        assert!(close(&holm(&[0.9, 0.8]), &[1.0, 1.0]));
        let with_nan = holm(&[0.01, f64::NAN]);
        assert!((with_nan[0] - 0.02).abs() < 1e-12 && with_nan[1].is_nan());
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() <= 1e-14 * (1.0 + b.abs()) // a handful of roundings
    }

    #[test]
    fn moments_by_hand() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert!(close(mean(&values), 5.0));
        assert!(close(standard_deviation(&values), (32.0_f64 / 7.0).sqrt()));
        let raised = values.map(|v| v + 1e9);
        assert!(close(standard_deviation(&raised), (32.0_f64 / 7.0).sqrt()));
    }

    #[test]
    fn too_few_values_are_nan() {
        assert!(mean(&[]).is_nan() && median(&[]).is_nan() && standard_deviation(&[1.0]).is_nan());
        assert!(kolmogorov_distance(&[], |x| x).is_nan());
        assert!(close(median(&[3.0]), 3.0));
    }

    #[test]
    fn nan_is_never_dropped() {
        let values = [1.0, f64::NAN, 3.0];
        assert!(mean(&values).is_nan() && median(&values).is_nan() && standard_deviation(&values).is_nan());
    }

    /// `numpy.quantile([3, 1, 4, 1, 5], p)`, NumPy 2.4.6.
    #[test]
    fn quantiles_interpolate_between_neighbours() {
        let values = [3.0, 1.0, 4.0, 1.0, 5.0];
        for (p, expected) in [(0.0, 1.0), (0.1, 1.0), (0.3, 1.4), (0.5, 3.0), (0.9, 4.6), (1.0, 5.0)] {
            assert!(close(quantile(&values, p), expected), "p = {p}");
        }
        assert!(close(median(&[1.0, 2.0, 3.0, 10.0]), 2.5));
    }

    #[test]
    fn an_infinite_neighbour_does_not_spoil_an_exact_quantile() {
        assert!(close(median(&[1.0, 2.0, f64::INFINITY]), 2.0));
        assert!(median(&[f64::INFINITY; 2]).is_infinite());
    }

    #[test]
    fn ties_share_their_mean_rank_and_nan_come_last() {
        assert_eq!(ranks(&[0.3, 0.1, 0.3, 0.2]), [3.5, 1.0, 3.5, 2.0]);
        assert_eq!(ranks(&[0.0, -0.0]), [1.5, 1.5]);
        assert_eq!(ranks(&[-f64::NAN, 2.0, f64::NAN, 1.0]), [3.5, 2.0, 3.5, 1.0]);
        assert!(ranks(&[]).is_empty());
    }

    /// The example of Benjamini & Hochberg 1995, section 4.1: four of fifteen are rejected at 5 %.
    #[test]
    fn the_example_of_benjamini_and_hochberg() {
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
            0.6528, 0.7590, 1.0,
        ];
        let rejected = |p: &[f64]| benjamini_hochberg(p, 0.05).iter().filter(|r| **r).count();
        assert_eq!(rejected(&p), 4);
        let backwards: Vec<f64> = p.iter().rev().copied().collect();
        assert_eq!(rejected(&backwards), 4);
        // A step up: the first is rejected for the sake of the second, and a NaN only makes it harder.
        assert_eq!(benjamini_hochberg(&[0.04, 0.045], 0.05), [true, true]);
        assert_eq!(benjamini_hochberg(&[0.04, 0.045, f64::NAN], 0.05), [false, false, false]);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
    }

    #[test]
    fn kolmogorov_distance_by_hand() {
        assert!(close(kolmogorov_distance(&[0.25, 0.75], |x| x), 0.25));
        assert!(close(kolmogorov_distance(&[0.9], |x| x), 0.9));
    }
}
