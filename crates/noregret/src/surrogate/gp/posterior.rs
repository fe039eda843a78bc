//! The exact posterior of a Gaussian process with given hyperparameters, growing point by point.
//!
//! # Notation
//! (Rasmussen & Williams 2006, Algorithm 2.1; Kim et al. 2025, section 2.2.)
//!
//! | paper               | here     | shape | meaning                                                     |
//! |---------------------|----------|-------|-------------------------------------------------------------|
//! | `X`                 | `points` | d x n | where the objective was or is being evaluated               |
//! | `Y`                 | `y`      | n     | what was observed                                           |
//! | `K + tau I = L L^T` | `factor` | n x n | its Cholesky factor; `tau` is `noise[i]`, by observation    |
//! | `L^-1 Y`            | `white`  | n     | whitened observations; 0 for points whose value is not known |
//! | `(K + tau I)^-1 Y`  | `alpha`  | n     | weights of the posterior mean                               |
//!
//! Pending points are rows like any other whose whitened value is 0: they lower the variance and leave the mean
//! alone, and are dropped by shortening the factor.

use std::sync::OnceLock;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::kernel::{Kernel, Slopes};
use super::local::LocalGp;
use crate::math::cholesky::{Cholesky, NotPositiveDefinite, Repairs};
use crate::math::rng::Stream;
use crate::math::vector;
use crate::surrogate::points::Points;
use crate::surrogate::{Gradient, Marginals, Surrogate};

/// Points whose posterior is computed at a time: bounds the memory of a large set to `n` times this.
const PANEL: usize = 1024;
/// Sets smaller than this, as climbs ask for, are not worth a thread nor a vector across the set.
const FEW: usize = 16;
/// Observations behind the variance of a local stand-in. A hundred neighbours surround a point in ten dimensions several
/// times over, and their factor (130 kB) stays in the second-level cache.
const NEIGHBORS: usize = 128;

/// The posterior.
#[derive(Clone, Debug)]
pub struct Gp {
    kernel: Kernel,
    points: Points,
    noise: Vec<f64>,
    factor: Cholesky,
    white: Vec<f64>,
    observed: usize,
    alpha: OnceLock<Vec<f64>>,
}

impl Gp {
    /// The posterior of `kernel` given values `y` at `points`, each with its noise variance.
    pub fn new(
        kernel: Kernel,
        points: Points,
        y: &[f64],
        noise: Vec<f64>,
    ) -> Result<Self, NotPositiveDefinite> {
        let n = points.len();
        assert!(y.len() == n && noise.len() == n, "one value and one noise variance per point");
        let factor = factor(&kernel, &points, &noise)?;
        let mut white = y.to_vec();
        factor.solve_lower(&mut white);
        Ok(Self { kernel, points, noise, factor, white, observed: n, alpha: OnceLock::new() })
    }

    /// Adds an observation: `O(n^2)`. Pending points are dropped first.
    pub fn append(&mut self, x: &[f64], y: f64, noise: f64) {
        self.release();
        let (row, root) = self.push_row(x, noise);
        self.white.push((y - vector::dot(&row, &self.white)) / root);
        self.observed += 1;
        self.alpha = OnceLock::new();
    }

    /// Conditions the variance on an evaluation at `x` whose value is not known yet: `O(n^2)`.
    pub fn condition(&mut self, x: &[f64], noise: f64) {
        self.push_row(x, noise);
        self.white.push(0.0);
    }

    /// Forgets the points of [`Self::condition`].
    pub fn release(&mut self) {
        let n = self.observed;
        self.points.truncate(n);
        self.noise.truncate(n);
        self.white.truncate(n);
        self.factor.truncate(n);
    }

    fn push_row(&mut self, x: &[f64], noise: f64) -> (Vec<f64>, f64) {
        let mut row = vec![0.0; self.points.len()];
        self.kernel.column(&self.points, 0, x, &mut row);
        let root = self.factor.append(&mut row, self.kernel.variance(x) + noise);
        self.points.push(x);
        self.noise.push(noise);
        (row, root)
    }

    /// The covariance function.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The factor of `K + tau I` over observed and pending points.
    pub fn factor(&self) -> &Cholesky {
        &self.factor
    }

    /// Observed points, then pending ones.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Whitened observations `L^-1 y`, 0 for pending points.
    pub fn white(&self) -> &[f64] {
        &self.white
    }

    /// Number of points with a value.
    pub fn observed(&self) -> usize {
        self.observed
    }

    /// Number of points, observed and pending.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Noise variance of point `i`.
    pub fn noise(&self, i: usize) -> f64 {
        self.noise[i]
    }

    /// What it took to keep the factorisation alive.
    pub fn repairs(&self) -> Repairs {
        self.factor.repairs()
    }

    /// Weights of the posterior mean over the observed points, `(K + tau I)^-1 y`.
    pub fn alpha(&self) -> &[f64] {
        self.alpha.get_or_init(|| {
            let mut alpha = self.white[..self.observed].to_vec();
            self.factor.solve_upper(&mut alpha);
            alpha
        })
    }

    /// `log p(y | X)`, the log marginal likelihood of the observations.
    pub fn log_likelihood(&self) -> f64 {
        let n = self.observed;
        let log_roots: f64 = (0..n).map(|i| self.factor.diagonal(i).ln()).sum();
        let white = &self.white[..n];
        -0.5 * vector::dot(white, white) - log_roots - 0.5 * n as f64 * std::f64::consts::TAU.ln()
    }

    /// Realised information gain of the observations, `1/2 log det(I + K / tau)`, free from the factor:
    /// `sum_i log(L_ii / sqrt(tau_i))` (Kim et al. 2025, section 2.2, for the points chosen rather than the best).
    pub fn information_gain(&self) -> f64 {
        let gain: f64 =
            (0..self.observed).map(|i| (self.factor.diagonal(i) / self.noise[i].sqrt()).ln()).sum();
        if gain.is_finite() { gain.max(0.0) } else { 0.0 }
    }

    /// Mean, and `V^T` with `V = L^-1 k(X, C)` (column-major `m x n`, a row per point of `set`).
    pub(crate) fn project(&self, set: &Points) -> (Vec<f64>, Vec<f64>) {
        let mut v = self.cross_covariance(set);
        let mean = self.weighed(&v, set.len());
        self.factor.solve_lower_rows(&mut v, set.len());
        (mean, v)
    }

    /// Posterior means alone, without the solve that variances need; a panel at a time, however large the set is.
    pub(crate) fn means(&self, set: &Points) -> Vec<f64> {
        const PANEL: usize = 4_096;
        let panels = (0..set.len()).step_by(PANEL).map(|begin| begin..(begin + PANEL).min(set.len()));
        let means = |panel: std::ops::Range<usize>| {
            let points = set.slice(panel);
            self.weighed(&self.cross_covariance(&points), points.len())
        };
        panels.flat_map(means).collect()
    }

    /// `k alpha` for the covariances of `m` points with the data.
    pub(super) fn weighed(&self, k: &[f64], m: usize) -> Vec<f64> {
        let mut mean = vec![0.0; m];
        if m > 0 && !self.is_empty() {
            let observed = MatRef::from_column_major_slice(k, m, self.len()).subcols(0, self.observed);
            let alpha = MatRef::from_column_major_slice(self.alpha(), self.observed, 1);
            let out = MatMut::from_column_major_slice_mut(&mut mean, m, 1);
            matmul(out, Accum::Replace, observed, alpha, 1.0, Par::Seq);
        }
        mean
    }

    /// `k(set, X)`, column-major `m x n`. Long loops run over whichever of the two sets is larger.
    pub(super) fn cross_covariance(&self, set: &Points) -> Vec<f64> {
        let (m, n) = (set.len(), self.len());
        let mut k = vec![0.0; m * n];
        if m >= FEW {
            k.par_chunks_mut(m).enumerate().for_each(|(j, column)| {
                self.kernel.column(set, 0, &self.points.point(j), column);
            });
        } else {
            let mut row = vec![0.0; n];
            for i in 0..m {
                self.kernel.column(&self.points, 0, &set.point(i), &mut row);
                for (j, value) in row.iter().enumerate() {
                    k[j * m + i] = *value;
                }
            }
        }
        k
    }

    /// The joint posterior of a small set, for exact draws: `O(m n (m + n) + m^3)`.
    pub fn joint(&self, set: &Points) -> Result<Joint, NotPositiveDefinite> {
        let (mean, v) = self.project(set);
        Joint::new(self, set, mean, &v)
    }
}

/// Factors `K(points, points) + diag(noise)`.
pub(crate) fn factor(
    kernel: &Kernel,
    points: &Points,
    noise: &[f64],
) -> Result<Cholesky, NotPositiveDefinite> {
    Cholesky::factor(points.len(), |j, rows| {
        let x = points.point(j);
        kernel.column(points, j, &x, rows);
        rows[0] = kernel.variance(&x) + noise[j];
    })
}

impl Surrogate for Gp {
    fn marginals(&self, points: &Points) -> Marginals {
        let panels: Vec<Points> = (0..points.len())
            .step_by(PANEL)
            .map(|i| points.slice(i..(i + PANEL).min(points.len())))
            .collect();
        let mut all = Marginals::default();
        for panel in &panels {
            let (mean, v) = self.project(panel);
            let mut variance: Vec<f64> =
                (0..panel.len()).map(|i| self.kernel.variance(&panel.point(i))).collect();
            for column in v.chunks(panel.len().max(1)) {
                subtract_squares(column, &mut variance);
            }
            variance.iter_mut().for_each(|v| *v = v.max(0.0));
            all.mean.extend(mean);
            all.variance.extend(variance);
        }
        all
    }
}

/// `variance -= v^2`, element by element.
pub(crate) fn subtract_squares(v: &[f64], variance: &mut [f64]) {
    for (variance, v) in variance.iter_mut().zip(v) {
        *variance -= v * v;
    }
}

impl Gradient for Gp {
    /// `dmu = sum_i alpha_i dk_i`, `dvar = dk(x,x) - 2 sum_i u_i dk_i` with `u = (K + tau I)^-1 k(x)`: `O(n^2)`.
    fn marginal_with_gradient(&self, x: &[f64], mean: &mut [f64], variance: &mut [f64]) -> (f64, f64) {
        let mut slopes = Slopes::default();
        self.kernel.column_with_slopes(&self.points, 0, x, &mut slopes);
        let alpha = self.alpha();
        let mu = vector::dot(&slopes.value[..self.observed], alpha);
        let mut u = slopes.value.clone();
        self.factor.solve_lower(&mut u);
        let sigma2 = self.kernel.variance(x) - vector::dot(&u, &u);
        self.factor.solve_upper(&mut u);
        mean.fill(0.0);
        variance.fill(0.0);
        self.kernel.add_input_gradient(&self.points, x, &slopes, alpha, 1.0, mean);
        self.kernel.add_input_gradient(&self.points, x, &slopes, &u, -2.0, variance);
        self.kernel.add_variance_gradient(x, 1.0, variance);
        (mu, sigma2.max(0.0))
    }

    fn local(&self, center: &[f64]) -> Option<Box<dyn Gradient + '_>> {
        // With few observations the exact variance is as cheap.
        if self.len() <= 2 * NEIGHBORS {
            return None;
        }
        let local = LocalGp::new(self, center, NEIGHBORS).ok()?;
        Some(Box::new(local))
    }
}

/// The joint posterior of a finite set of points.
#[derive(Clone, Debug)]
pub struct Joint {
    mean: Vec<f64>,
    factor: Cholesky,
}

impl Joint {
    /// The covariance is `k(set, set) - v v^T`, where `v` has a row for each point of `set` (column-major).
    pub(super) fn new(gp: &Gp, set: &Points, mean: Vec<f64>, v: &[f64]) -> Result<Self, NotPositiveDefinite> {
        let m = set.len();
        let mut reduction = vec![0.0; m * m];
        if m > 0 && !v.is_empty() {
            let v = MatRef::from_column_major_slice(v, m, v.len() / m);
            triangular::matmul(
                MatMut::from_column_major_slice_mut(&mut reduction, m, m),
                BlockStructure::TriangularLower,
                Accum::Replace,
                v,
                BlockStructure::Rectangular,
                v.transpose(),
                BlockStructure::Rectangular,
                1.0,
                Par::Seq,
            );
        }
        let largest = (0..m).map(|j| gp.kernel.variance(&set.point(j))).fold(0.0, f64::max);
        // Where the data leave next to nothing open, the difference is made of rounding errors.
        let factor = Cholesky::factor_difference(m, largest, |j, rows| {
            gp.kernel.column(set, j, &set.point(j), rows);
            for (k, r) in rows.iter_mut().zip(&reduction[j * m + j..(j + 1) * m]) {
                *k -= r;
            }
            // The kernel's own diagonal, which the distance-based column gives only up to the linear factors.
            rows[0] = (gp.kernel.variance(&set.point(j)) - reduction[j * m + j]).max(0.0);
        })?;
        Ok(Self { mean, factor })
    }

    /// Covariance of the `i`-th and the `j`-th point.
    pub fn covariance(&self, i: usize, j: usize) -> f64 {
        let l = self.factor.l();
        (0..=i.min(j)).map(|k| l[(i, k)] * l[(j, k)]).sum()
    }

    /// Posterior means.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Repairs of the covariance's factorisation.
    pub fn repairs(&self) -> Repairs {
        self.factor.repairs()
    }

    /// `count` joint draws of the function's values, one column each: `mean + L Z`, one product of matrices.
    pub fn draws(&self, count: usize, rng: &mut Stream) -> Mat<f64> {
        let m = self.mean.len();
        let z: Mat<f64> = Mat::from_fn(m, count, |_, _| StandardNormal.sample(rng));
        let mut draws = Mat::from_fn(m, count, |i, _| self.mean[i]);
        triangular::matmul(
            draws.as_mut(),
            BlockStructure::Rectangular,
            Accum::Add,
            self.factor.l(),
            BlockStructure::TriangularLower,
            z.as_ref(),
            BlockStructure::Rectangular,
            1.0,
            Par::Seq,
        );
        draws
    }

    /// One joint draw of the function's values: `mean + L z`. The factor is made once, a draw costs `O(m^2)`.
    pub fn draw(&self, rng: &mut Stream) -> Vec<f64> {
        let l = self.factor.l();
        let z: Vec<f64> = (0..self.mean.len()).map(|_| StandardNormal.sample(rng)).collect();
        let mut draw = self.mean.clone();
        for (j, z) in z.iter().enumerate() {
            for i in j..draw.len() {
                draw[i] += l[(i, j)] * z;
            }
        }
        draw
    }
}
