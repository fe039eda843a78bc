//! Wilcoxon's signed-rank test for pairs. Wilcoxon 1945.

use noregret::math::normal;

use super::ranks;

/// Pairs up to which the law is exact.
const EXACT: usize = 25;

/// p-value of the hypothesis that neither of a pair tends to be larger, against the alternative that the first does.
///
/// Equal pairs are left out, as Wilcoxon did, and tied differences share their mean rank. Up to 25 pairs the p-value is exact,
/// ties included: all signs of the ranks are equally likely. Beyond, the sum of ranks is taken to be normal, without correction for
/// continuity. NaN for NaN, and where all pairs are equal.
///
/// # Panics
/// When the samples differ in length.
pub fn signed_rank_test(larger: &[f64], smaller: &[f64]) -> f64 {
    assert_eq!(larger.len(), smaller.len(), "values of pairs");
    let differences: Vec<f64> =
        larger.iter().zip(smaller).map(|(a, b)| a - b).filter(|d| *d != 0.0).collect();
    if differences.is_empty() || differences.iter().any(|d| d.is_nan()) {
        return f64::NAN;
    }
    let sizes: Vec<f64> = differences.iter().map(|d| d.abs()).collect();
    let ranks = ranks(&sizes);
    let positive = ranks.iter().zip(&differences).filter(|(_, d)| **d > 0.0);
    let sum: f64 = positive.map(|(rank, _)| rank).sum();
    if ranks.len() <= EXACT { exact(&ranks, sum) } else { approximate(&ranks, sum) }
}

/// Share of all signs for which the positive ranks add up to `sum` or more.
fn exact(ranks: &[f64], sum: f64) -> f64 {
    // Twice a mean rank is a whole number.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 25 * 26")]
    let whole = |rank: f64| (2.0 * rank).round() as usize;
    let total: usize = ranks.iter().map(|rank| whole(*rank)).sum();
    let mut ways = vec![0.0; total + 1]; // counts up to 2^25
    ways[0] = 1.0;
    for rank in ranks.iter().map(|rank| whole(*rank)) {
        for sum in (rank..=total).rev() {
            ways[sum] += ways[sum - rank];
        }
    }
    ways[whole(sum)..].iter().sum::<f64>() / ways.iter().sum::<f64>()
}

fn approximate(ranks: &[f64], sum: f64) -> f64 {
    let mean = ranks.iter().sum::<f64>() / 2.0;
    let variance = ranks.iter().map(|rank| rank * rank).sum::<f64>() / 4.0;
    normal::cdf((mean - sum) / variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::statistics::samples::{A, B, close};

    /// `stats.wilcoxon(a, b, alternative="greater", method=...)`, SciPy 1.17.1.
    #[test]
    fn agrees_with_scipy() {
        // The same differences as decimals would be, so that two of them tie.
        let differences = [0.6, -0.2, 1.4, 0.7, 1.0, -0.25, 1.1, 0.8, -0.05, 1.3];
        assert!(close(signed_rank_test(&differences, &[0.0; 10]), EXACT_WITHOUT_TIES));
        let with_ties = [1.0, -1.0, 2.0, 2.0, -3.0, 4.0, 0.0, 5.0];
        assert!(close(signed_rank_test(&with_ties, &[0.0; 8]), 0.125));
        let many: Vec<f64> =
            (0..30).map(|i| f64::from(i * 7 % 31 - 12) * 0.5 + 0.25 * f64::from((i * 5) % 3)).collect();
        assert!(close(signed_rank_test(&many, &[0.0; 30]), 0.045_787_053_375_983_856));
    }
    const EXACT_WITHOUT_TIES: f64 = 0.013_671_875;

    #[test]
    fn both_sides_share_the_probability_of_the_sum_itself() {
        let both = signed_rank_test(&A, &B) + signed_rank_test(&B, &A);
        assert!(both > 1.0 && both < 1.1, "{both}");
        assert!((signed_rank_test(&[1.0, 2.0, 3.0], &[0.0; 3]) - 0.125).abs() < 1e-15, "one of 2^3");
    }

    #[test]
    fn what_decides_nothing_is_nan() {
        assert!(signed_rank_test(&A, &A).is_nan() && signed_rank_test(&[], &[]).is_nan());
        assert!(signed_rank_test(&[f64::NAN, 1.0], &[0.0, 0.0]).is_nan());
    }
}
