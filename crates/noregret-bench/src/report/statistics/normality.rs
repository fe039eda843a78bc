//! Is a sample normal? The test of Kolmogorov and Smirnov, with the exact law of its statistic.
//! Marsaglia, Tsang & Wang 2003, "Evaluating Kolmogorov's distribution".

use noregret::math::normal;

use super::{kolmogorov_distance, mean, standard_deviation};

/// p-value of the hypothesis that the values are normal, with the sample's own mean and deviation.
///
/// The p-value is that of Kolmogorov's law, which holds for a mean and a deviation known beforehand. Fitted to the sample they
/// make the distance smaller, so that the p-value is too large and the test hardly ever rejects: conservative. Lilliefors (1967)
/// has the right law; for ten values the distance that he rejects at 5 % is 0.262, which has a p-value of 0.43 here. NaN for values
/// without a spread.
pub fn normality_test(values: &[f64]) -> f64 {
    let (mean, sd) = (mean(values), standard_deviation(values));
    if !(sd > 0.0) {
        return f64::NAN;
    }
    kolmogorov_tail(kolmogorov_distance(values, |x| normal::cdf((x - mean) / sd)), values.len())
}

/// `P(D > d)` for Kolmogorov's distance of `n` values from their own law, to 1e-12.
///
/// NaN for no values.
pub fn kolmogorov_tail(d: f64, n: usize) -> f64 {
    if d.is_nan() || n == 0 {
        return f64::NAN;
    }
    let m = n as f64;
    if m * d <= 0.5 {
        return 1.0; // half a step is the smallest distance that there is
    }
    if d >= 1.0 {
        return 0.0;
    }
    if m * d * d > 18.0 {
        return 2.0 * (-2.0 * m * d * d).exp(); // Massart's bound: below 5e-16, and the matrix would be large
    }
    (1.0 - kolmogorov_cdf(d, n)).clamp(0.0, 1.0)
}

/// `P(D < d)` as the middle element of a power of a matrix (their section 2).
///
/// # Notation
/// | paper | here | meaning                                      |
/// |-------|------|----------------------------------------------|
/// | `k`   | `k`  | `ceil(n d)`, from `d = (k - h) / n`          |
/// | `m`   | `m`  | `2 k - 1`, rows of `H`                       |
/// | `H`   | `H`  | Durbin's matrix, row by row                  |
#[expect(non_snake_case, reason = "the paper's matrix")]
fn kolmogorov_cdf(d: f64, n: usize) -> f64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 < n d <= n")]
    let k = (n as f64 * d) as usize + 1;
    let m = 2 * k - 1;
    let h = k as f64 - n as f64 * d;
    let mut H = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m.min(i + 2) {
            H[i * m + j] = 1.0;
        }
    }
    for i in 0..m {
        H[i * m] -= power(h, i + 1);
        H[(m - 1) * m + i] -= power(h, m - i);
    }
    if 2.0 * h > 1.0 {
        H[(m - 1) * m] += power(2.0 * h - 1.0, m);
    }
    for i in 0..m {
        for j in 0..m.min(i + 2) {
            for g in 1..=(i + 1 - j) {
                H[i * m + j] /= g as f64;
            }
        }
    }
    let mut Q = Scaled { entries: H, exponent: 0 }.power(n, m);
    // n! / n^n, a factor at a time, so that nothing overflows.
    for i in 1..=n {
        Q.entries[(k - 1) * m + k - 1] *= i as f64 / n as f64;
        if Q.entries[(k - 1) * m + k - 1] < 1e-140 {
            Q.entries[(k - 1) * m + k - 1] *= 1e140;
            Q.exponent -= 140;
        }
    }
    Q.entries[(k - 1) * m + k - 1] * 10_f64.powi(Q.exponent)
}

fn power(x: f64, n: usize) -> f64 {
    x.powi(i32::try_from(n).unwrap_or(i32::MAX))
}

/// A matrix times a power of ten.
struct Scaled {
    entries: Vec<f64>,
    exponent: i32,
}

impl Scaled {
    /// The `n`-th power of a square matrix of `m` rows, by squaring.
    fn power(&self, n: usize, m: usize) -> Self {
        if n == 1 {
            return Self { entries: self.entries.clone(), exponent: self.exponent };
        }
        let half = self.power(n / 2, m);
        let mut whole = half.times(&half, m);
        if n % 2 == 1 {
            whole = self.times(&whole, m);
        }
        let middle = (m / 2) * m + m / 2;
        if whole.entries[middle] > 1e140 {
            whole.entries.iter_mut().for_each(|v| *v *= 1e-140);
            whole.exponent += 140;
        }
        whole
    }

    fn times(&self, other: &Self, m: usize) -> Self {
        let mut entries = vec![0.0; m * m];
        for (row, out) in self.entries.chunks_exact(m).zip(entries.chunks_exact_mut(m)) {
            for (a, other) in row.iter().zip(other.entries.chunks_exact(m)) {
                out.iter_mut().zip(other).for_each(|(out, b)| *out += a * b);
            }
        }
        Self { entries, exponent: self.exponent + other.exponent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::statistics::samples::{A, B, C};

    /// `stats.kstwo.sf(d, n)`, SciPy 1.17.1.
    #[test]
    fn tails_agree_with_scipy() {
        for (d, n, expected) in [
            (0.6, 1, 0.8),
            (0.3, 3, 0.886_222_222_222_222_2),
            (0.1, 10, 0.999_637_12),
            (0.274, 10, 0.371_520_384_543_495_7),
            (0.5, 10, 0.007_777_41),
            (0.9, 10, 2e-10),
            (0.05, 100, 0.953_215_971_063_572_5),
            (0.1, 100, 0.252_692_757_006_387_4),
            (0.2, 100, 5.551_927_327_988_775e-4),
            (0.15, 1000, 4.164_248_022_430_78e-20),
            (0.04, 10, 1.0),
        ] {
            let tail = kolmogorov_tail(d, n);
            assert!((tail - expected).abs() < 1e-12, "d = {d}, n = {n}: {tail:e} != {expected:e}");
        }
        // SciPy approximates for as many.
        assert!((kolmogorov_tail(0.03, 1000) - 0.322_690_214).abs() < 1e-7);
        assert!(kolmogorov_tail(0.5, 0).is_nan() && kolmogorov_tail(1.0, 3).abs() < 1e-300);
    }

    /// `stats.kstest(x, "norm", args=(x.mean(), x.std(ddof=1)))`, SciPy 1.17.1.
    #[test]
    fn normality_agrees_with_scipy() {
        for (sample, expected) in
            [(&A, 0.998_697_408_266_457_7), (&B, 0.877_349_247_672_845_5), (&C, 0.006_747_382_915_475_394)]
        {
            assert!((normality_test(sample) - expected).abs() < 1e-12, "{}", normality_test(sample));
        }
        assert!(normality_test(&[1.0; 5]).is_nan() && normality_test(&[1.0]).is_nan());
    }
}
