//! A cheap approximation of the posterior around one point: exact mean, variance from the nearest observations.
//!
//! Polishing a candidate evaluates the posterior and its gradient dozens of times within a small neighbourhood. The
//! exact mean costs `O(n)`, but the exact variance `O(n^2)`. Conditioning on the `m` observations most correlated with the
//! start instead costs `O(m^2)` and, since more data can only lower a variance, gives an upper bound that is close where it
//! matters. Callers compare the results under the exact posterior afterwards.

use super::kernel::{Factor, Slopes};
use super::posterior::{Gp, factor};
use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::vector;
use crate::surrogate::points::Points;
use crate::surrogate::{Gradient, Marginals, Surrogate};

/// The local model.
#[derive(Debug)]
pub struct LocalGp<'a> {
    gp: &'a Gp,
    points: Points,
    factor: Cholesky,
}

impl<'a> LocalGp<'a> {
    /// The local model of `gp` around `center`, from its `neighbors` most correlated points (pending ones included).
    pub fn new(gp: &'a Gp, center: &[f64], neighbors: usize) -> Result<Self, NotPositiveDefinite> {
        let mut k = vec![0.0; gp.len()];
        gp.kernel().column(gp.points(), 0, center, &mut k);
        if gp.kernel().factors.iter().any(|factor| matches!(factor, Factor::Network(_))) {
            // Correlations, not covariances: a network's are largest with the inputs farthest from the origin.
            for (i, k) in k.iter_mut().enumerate() {
                let variance = gp.kernel().variance(&gp.points().point(i));
                *k /= if variance > 0.0 { variance.sqrt() } else { 1.0 };
            }
        }
        let mut nearest: Vec<usize> = (0..gp.len()).collect();
        if neighbors < nearest.len() {
            nearest.select_nth_unstable_by(neighbors, |&a, &b| k[b].total_cmp(&k[a]).then(a.cmp(&b)));
            nearest.truncate(neighbors);
            nearest.sort_unstable();
        }
        let points = gp.points().select(&nearest);
        let noise: Vec<f64> = nearest.iter().map(|&i| gp.noise(i)).collect();
        let factor = factor(gp.kernel(), &points, &noise)?;
        Ok(Self { gp, points, factor })
    }
}

impl Surrogate for LocalGp<'_> {
    fn marginals(&self, points: &Points) -> Marginals {
        let mut all = Marginals::default();
        let (mut k, mut near) = (vec![0.0; self.gp.observed()], vec![0.0; self.points.len()]);
        for i in 0..points.len() {
            let x = points.point(i);
            self.gp.kernel().column(self.gp.points(), 0, &x, &mut k);
            self.gp.kernel().column(&self.points, 0, &x, &mut near);
            self.factor.solve_lower(&mut near);
            all.mean.push(vector::dot(&k, self.gp.alpha()));
            all.variance.push((self.gp.kernel().variance(&x) - vector::dot(&near, &near)).max(0.0));
        }
        all
    }
}

impl Gradient for LocalGp<'_> {
    fn marginal_with_gradient(&self, x: &[f64], mean: &mut [f64], variance: &mut [f64]) -> (f64, f64) {
        let kernel = self.gp.kernel();
        let mut slopes = Slopes::default();
        kernel.column_with_slopes(self.gp.points(), 0, x, &mut slopes);
        let alpha = self.gp.alpha();
        let mu = vector::dot(&slopes.value[..alpha.len()], alpha);
        mean.fill(0.0);
        kernel.add_input_gradient(self.gp.points(), x, &slopes, alpha, 1.0, mean);

        kernel.column_with_slopes(&self.points, 0, x, &mut slopes);
        let mut u = slopes.value.clone();
        self.factor.solve_lower(&mut u);
        let sigma2 = kernel.variance(x) - vector::dot(&u, &u);
        self.factor.solve_upper(&mut u);
        variance.fill(0.0);
        kernel.add_input_gradient(&self.points, x, &slopes, &u, -2.0, variance);
        kernel.add_variance_gradient(x, 1.0, variance);
        (mu, sigma2.max(0.0))
    }
}
