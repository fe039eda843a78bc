//! Bayesian linear regression on the last hidden layer of a trained network (Snoek et al. 2015, section 3).
//!
//! Weights `w ~ N(0, 1/alpha)`, noise `N(0, 1/beta)`; `A = beta Phi^T Phi + alpha I`, mean `m = beta A^-1 Phi^T y`. The two precisions are those
//! of the largest marginal likelihood, by a fixed point: `gamma = D - alpha tr A^-1`, `alpha = gamma / |m|^2`,
//! `beta = (n - gamma) / |y - Phi m|^2` (`MacKay` 1992).

use faer::MatRef;

use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::vector::dot;

/// Steps of the fixed point; it is stopped by [`SETTLED`] long before, as a rule.
const STEPS: usize = 100;
/// Relative change of both precisions at which they have settled.
const SETTLED: f64 = 1e-4;
/// Precisions, for values of deviation 1: noise of 1e-4 to 10, weights alike.
const RANGE: (f64, f64) = (1e-2, 1e8);

/// The posterior of the weights.
#[derive(Debug)]
pub struct LastLayer {
    mean: Vec<f64>,
    factor: Cholesky,
    /// Precision of the weights.
    pub alpha: f64,
    /// Precision of the noise.
    pub beta: f64,
}

/// The features of a point: the activations and a constant.
fn feature(hidden: &[f32]) -> Vec<f64> {
    hidden.iter().map(|a| f64::from(*a)).chain([1.0]).collect()
}

impl LastLayer {
    /// Fits to the features `hidden`, a point a column, and their values. The columns beyond the values are of points that run: they
    /// make the variance smaller and leave the mean as it is.
    pub fn fit(hidden: MatRef<'_, f32>, y: &[f32]) -> Result<Self, NotPositiveDefinite> {
        let rows: Vec<Vec<f64>> = (0..hidden.ncols())
            .map(|j| feature(hidden.col(j).try_as_col_major().map_or(&[][..], |c| c.as_slice())))
            .collect();
        let n = y.len();
        let dims = hidden.nrows() + 1;
        let y: Vec<f64> = y.iter().map(|y| f64::from(*y)).collect();
        // By columns, so that sums over points are inner products.
        let columns = |count: usize| -> Vec<Vec<f64>> {
            (0..dims).map(|k| rows[..count].iter().map(|row| row[k]).collect()).collect()
        };
        let told = columns(n);
        let gram = |columns: &[Vec<f64>]| -> Vec<Vec<f64>> {
            (0..dims).map(|j| (j..dims).map(|i| dot(&columns[i], &columns[j])).collect()).collect()
        };
        let own = gram(&told);
        let factor = |gram: &[Vec<f64>], alpha: f64, beta: f64| {
            Cholesky::factor(dims, |j, out| {
                out.iter_mut().zip(&gram[j]).for_each(|(out, g)| *out = beta * g);
                out[0] += alpha;
            })
        };
        let scale = (dot(&y, &y) / n.max(1) as f64).max(1e-30);
        let (low, high) = (RANGE.0 / scale, RANGE.1 / scale);
        let (mut alpha, mut beta) = (1.0 / scale, 100.0 / scale);
        let right: Vec<f64> = told.iter().map(|column| dot(column, &y)).collect();
        let (mut inverse, mut scratch) = (Vec::new(), Vec::new());
        let mut mean = vec![0.0; dims];
        for _ in 0..STEPS {
            let a = factor(&own, alpha, beta)?;
            mean.iter_mut().zip(&right).for_each(|(m, r)| *m = beta * r);
            a.solve(&mut mean);
            a.inverse(&mut inverse, &mut scratch);
            let trace: f64 = (0..dims).map(|k| inverse[k * dims + k]).sum();
            let gamma = (dims as f64 - alpha * trace).clamp(1e-6, n as f64);
            let residual = |(row, y): (&Vec<f64>, &f64)| (y - dot(row, &mean)).powi(2);
            let squares: f64 = rows.iter().zip(&y).map(residual).sum();
            let bounded = |x: f64| if x.is_nan() { high } else { x.clamp(low, high) };
            let next = (bounded(gamma / dot(&mean, &mean)), bounded((n as f64 - gamma).max(1e-3) / squares));
            let change = (next.0 / alpha).ln().abs().max((next.1 / beta).ln().abs());
            (alpha, beta) = next;
            if change < SETTLED {
                break;
            }
        }
        let a = factor(&own, alpha, beta)?;
        mean.iter_mut().zip(&right).for_each(|(m, r)| *m = beta * r);
        a.solve(&mut mean);
        let all = if rows.len() > n { factor(&gram(&columns(rows.len())), alpha, beta)? } else { a };
        Ok(Self { mean, factor: all, alpha, beta })
    }

    /// Mean and variance, without noise, at the features of one point.
    pub fn predict(&self, hidden: &[f32]) -> (f64, f64) {
        let mut row = feature(hidden);
        let mean = dot(&row, &self.mean);
        self.factor.solve_lower(&mut row);
        (mean, dot(&row, &row))
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::SeedableRng;
    use rand_distr::{Distribution, StandardNormal};

    use super::*;
    use crate::math::rng::Stream;

    fn data(n: usize, noise: f32) -> (Mat<f32>, Vec<f32>) {
        let mut rng = Stream::seed_from_u64(4);
        let x = Mat::from_fn(3, n, |_, _| StandardNormal.sample(&mut rng));
        let y = (0..n).map(|j| {
            let z: f32 = StandardNormal.sample(&mut rng);
            2.0 * x[(0, j)] - x[(2, j)] + 0.5 + noise * z
        });
        let y = y.collect();
        (x, y)
    }

    #[test]
    fn the_precisions_are_those_of_the_data() {
        let (x, y) = data(400, 0.3);
        let layer = LastLayer::fit(x.as_ref(), &y).unwrap();
        // 1 / noise^2 = 11; the error of a deviation estimated from 400 values is one in 28.
        assert!((layer.beta.sqrt() * 0.3 - 1.0).abs() < 5.0 / 28.0, "{}", layer.beta);
        let (mean, variance) = layer.predict(&[1.0, 0.0, 0.0]);
        assert!((mean - 2.5).abs() < 0.2 && variance < 0.01, "{mean} {variance}");
    }

    /// The fixed point is where the marginal likelihood is largest.
    #[test]
    fn the_precisions_maximize_the_marginal_likelihood() {
        let (x, y) = data(12, 0.5);
        let layer = LastLayer::fit(x.as_ref(), &y).unwrap();
        let log_likelihood = |alpha: f64, beta: f64| {
            // The values are N(0, Phi Phi^T / alpha + I / beta).
            let inner =
                |i: usize, j: usize| 1.0 + (0..3).map(|k| f64::from(x[(k, i)] * x[(k, j)])).sum::<f64>();
            let factor = Cholesky::factor(12, |j, out| {
                out.iter_mut().enumerate().for_each(|(i, out)| *out = inner(j + i, j) / alpha);
                out[0] += 1.0 / beta;
            })
            .unwrap();
            let mut solved: Vec<f64> = y.iter().map(|y| f64::from(*y)).collect();
            factor.solve_lower(&mut solved);
            -0.5 * dot(&solved, &solved) - 0.5 * factor.log_det()
        };
        let best = log_likelihood(layer.alpha, layer.beta);
        for (a, b) in [(1.1, 1.0), (0.9, 1.0), (1.0, 1.1), (1.0, 0.9)] {
            assert!(log_likelihood(a * layer.alpha, b * layer.beta) < best, "{a} {b}");
        }
    }

    #[test]
    fn running_points_shrink_the_variance_and_leave_the_mean() {
        let (x, y) = data(8, 0.3);
        let without = LastLayer::fit(x.as_ref().subcols(0, 7), &y[..7]).unwrap();
        let with = LastLayer::fit(x.as_ref(), &y[..7]).unwrap();
        let at: Vec<f32> = x.col_as_slice(7).to_vec();
        assert!((with.predict(&at).0 - without.predict(&at).0).abs() < 1e-12);
        assert!(with.predict(&at).1 < 0.9 * without.predict(&at).1);
    }

    #[test]
    fn equal_values_and_few_points_are_no_trouble() {
        let (x, _) = data(2, 0.3);
        let layer = LastLayer::fit(x.as_ref(), &[0.0, 0.0]).unwrap();
        let (mean, variance) = layer.predict(&[0.3, 0.2, 0.1]);
        assert!(mean.abs() < 1e-6 && variance.is_finite() && variance >= 0.0);
    }
}
