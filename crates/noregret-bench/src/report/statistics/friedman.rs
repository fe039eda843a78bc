//! Do several methods differ, over blocks in which each was tried once? Friedman's test in the form of Iman & Davenport.
//! Friedman 1937; Iman & Davenport 1980, eq. (2); for ties Conover 1999, "Practical Nonparametric Statistics", section 5.8.
//!
//! # Notation
//! | paper  | here      | meaning                                                            |
//! |--------|-----------|--------------------------------------------------------------------|
//! | `n, k` | `n`, `k`  | blocks, methods                                                    |
//! | `R_j`  | `sums`    | sum of the ranks of method `j`                                     |
//! | `T_1`  | `chi2`    | Friedman's statistic, corrected for ties                           |
//! | `T_2`  | `f`       | `(n - 1) T_1 / (n (k - 1) - T_1)`, in the law of F as good as exact |

use super::{f_tail, ranks};

/// p-value of the hypothesis that all methods are alike; a row of `blocks` has one value for each method.
///
/// By the law of F with `k - 1` and `(k - 1) (n - 1)` degrees of freedom: that of chi-squared, Friedman's own, rejects too
/// seldom (Iman & Davenport). Where all blocks rank alike F is infinite, and the p-value that of the other blocks agreeing
/// with the first by chance. NaN for fewer than two blocks or methods, and where all ranks are tied.
///
/// # Panics
/// When rows differ in length.
pub fn friedman_test(blocks: &[Vec<f64>]) -> f64 {
    let (n, k) = (blocks.len() as f64, blocks.first().map_or(0, Vec::len));
    assert!(blocks.iter().all(|block| block.len() == k), "values of a block");
    if blocks.len() < 2 || k < 2 {
        return f64::NAN;
    }
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let methods = k as f64;
    let expected = n * (methods + 1.0) / 2.0;
    let sums = (0..k).map(|j| ranked.iter().map(|row| row[j]).sum::<f64>());
    let between: f64 = sums.map(|sum| (sum - expected).powi(2)).sum();
    let squares: f64 = ranked.iter().flatten().map(|rank| rank * rank).sum();
    let within = squares - n * methods * (methods + 1.0).powi(2) / 4.0;
    if within <= 0.0 {
        return f64::NAN;
    }
    if ranked.iter().all(|row| row == &ranked[0]) {
        return arrangements(&ranked[0]).powi(1 - i32::try_from(blocks.len()).unwrap_or(i32::MAX));
    }
    let chi2 = (methods - 1.0) * between / within;
    let f = (n - 1.0) * chi2 / (n * (methods - 1.0) - chi2).max(0.0);
    f_tail(f, k - 1, (methods - 1.0) * (n - 1.0))
}

/// In how many orders the ranks of a block may stand: `k!` over that of each group of ties.
fn arrangements(ranks: &[f64]) -> f64 {
    let mut sorted = ranks.to_vec();
    sorted.sort_by(f64::total_cmp);
    let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
    let tied: f64 =
        sorted.chunk_by(|a, b| a.total_cmp(b).is_eq()).map(|group| factorial(group.len())).product();
    factorial(ranks.len()) / tied
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: rank sums 8, 7, 9 of four blocks give `T_1 = 0.5`, `T_2 = 3 * 0.5 / 7.5 = 0.2`; two and six degrees of
    /// freedom have the closed form `(1 + f / 3)^-3`.
    #[test]
    fn three_methods_by_hand() {
        let blocks = [[1.0, 2.0, 3.0], [3.0, 1.0, 2.0], [2.0, 1.0, 3.0], [20.0, 30.0, 10.0]];
        let blocks: Vec<Vec<f64>> = blocks.iter().map(|row| row.to_vec()).collect();
        let f: f64 = 0.2;
        assert!((friedman_test(&blocks) - (1.0 + f / 3.0).powi(-3)).abs() < 1e-12);
    }

    /// By hand, with ties: ranks (1.5, 1.5, 3), (1, 2, 3), (1, 2.5, 2.5) have sums 3.5, 6, 8.5, so that
    /// `T_1 = 2 * 12.5 / (41 - 36) = 5`, `T_2 = 2 * 5 / (6 - 5) = 10`; with two and four degrees of freedom `(1 + f / 2)^-2`.
    #[test]
    fn ties_by_hand() {
        let blocks = vec![vec![1.0, 1.0, 2.0], vec![1.0, 2.0, 3.0], vec![0.0, 5.0, 5.0]];
        assert!((friedman_test(&blocks) - 1.0 / 36.0).abs() < 1e-12);
    }

    #[test]
    fn what_decides_nothing_is_nan_and_agreement_may_be_chance() {
        assert!(friedman_test(&[]).is_nan() && friedman_test(&[vec![1.0, 2.0]]).is_nan());
        assert!(friedman_test(&[vec![1.0, 1.0], vec![2.0, 2.0]]).is_nan());
        assert!((friedman_test(&vec![vec![1.0, 2.0, 3.0]; 3]) - 1.0 / 36.0).abs() < 1e-15);
        assert!((friedman_test(&vec![vec![1.0, 2.0, 2.0]; 2]) - 1.0 / 3.0).abs() < 1e-15);
    }
}
