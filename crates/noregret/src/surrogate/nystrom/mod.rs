//! A Gaussian process in the span of a few points, the dictionary, over a finite set of arms.
//! Calandriello et al. 2020, "Near-linear time Gaussian process optimization with adaptive batching and resparsification"
//! (BBKB), eqs. (1) to (3). Variances are divided by `lambda`, in this module and in the strategies that use it only.
//!
//! # Notation
//! | paper              | here         | shape | meaning                                                              |
//! |--------------------|--------------|-------|----------------------------------------------------------------------|
//! | `S`                | `dictionary` | m     | inducing points, some of the arms that were pulled                   |
//! | `z(x)`             | `z`          | m     | embedding: `z(x) . z(x') = k_S(x)^T K_S^-1 k_S(x')`                  |
//! | `V_t`              | `v`          | m x m | `sum z z^T + lambda I` over all pulls                                |
//! | `mu(x)`            | mean         | A     | `z^T V^-1 Z^T y`, eq. (1)                                            |
//! | `sigma^2(x)`       | variance     | A     | `(k(x, x) - z . z) / lambda + z^T V^-1 z`, eqs. (2) and (3)          |
//!
//! # How it is kept up to date
//! Any square root of `K_S^-1` will do for the embedding, so any rotation of it will too. [`Nystrom::rebuild`] takes
//! `z = L_S^-1 k_S`, at `2 A m^2` flops for the embeddings and the variances. [`Nystrom::advance`] goes from one dictionary
//! and data set to the next by thin products, `O(A m)` for each pull, atom dropped and atom added:
//!
//! - *Pulls* `B = [sqrt(c) z_a]`: `V^-1` loses `N N^T` with `N = V^-1 B C^-T`, `C C^T = I + B^T V^-1 B`.
//! - *Dropping atoms.* What the others do not span are the dual vectors `d_j` with `d_j . z(s_i) = [i = j]`. Reflections
//!   `I - Y T Y^T` turn them into the last coordinates, which are cut off. With `H` those directions, `|H^T z|^2` goes to the
//!   residual, and `z^T V^-1 z` loses `|C^-1 H^T V^-1 z|^2`, `C C^T = H^T V^-1 H`: the inverse of a leading block.
//! - *Adding atoms.* New components are what the old ones leave over, `L^-1 (k(x, s) - z(x) . z(s))`; `z^T V^-1 z` gains the
//!   square of what `V^-1` cannot predict of them, over the Schur complement.
//!
//! Rounding adds up: strategies rebuild now and then.
//!
//! # Departures
//! - Atoms that the others span up to 1e-10 of their variance, or 1e-6 of the noise (a hundredth of either where a dictionary is built
//!   at once), are left out, in place of a pseudo-inverse. Built at once, it is in the order of the largest residual variance: in any
//!   other, a cluster of atoms is as ill-conditioned as the kernel is smooth.
//! - Pulls that are still running count in the variance and not in the mean.

mod advance;
pub mod arms;
mod panel;
mod small;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::vector;
use crate::surrogate::gp::kernel::Kernel;
use crate::surrogate::points::Points;
use arms::Arms;
use panel::{PANEL, Panel, Scratch};
use small::{factor, gram};

/// Atoms whose residual variance is below this share of their variance add nothing but rounding errors ...
const SPANNED: f64 = 1e-10;
/// ... and below this share of the noise nothing that matters: a pull explains as large a share of what they would add.
const FAINT: f64 = 1e-6;
/// Both may be so much smaller where the order of the atoms is free, for rounding errors are.
const ORDERED: f64 = 1e-2;

/// The residual variance up to which an atom counts as spanned by the others.
fn negligible(prior: f64, lambda: f64) -> f64 {
    (SPANNED * prior).max(FAINT * lambda)
}

/// Numbers in all embeddings below which waking threads costs more than they save.
const LITTLE: usize = 1_000_000;

/// The pulls of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulls {
    /// Results told.
    pub told: usize,
    /// Still running.
    pub running: usize,
    /// Sum of the results told.
    pub sum: f64,
}

impl Pulls {
    /// All pulls.
    pub fn count(&self) -> usize {
        self.told + self.running
    }
}

/// Pulls by arm.
pub type PullsByArm = BTreeMap<usize, Pulls>;

/// Covariances over `lambda` of one arm with every arm.
#[derive(Clone, Debug, PartialEq)]
pub struct Covariances {
    /// The posterior covariance, eq. (2).
    pub full: Vec<f64>,
    /// Its part `z^T V^-1 z'`, along which variances shrink while the dictionary stays as it is.
    pub projected: Vec<f64>,
}

/// How much was computed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkDone {
    /// Flops of the products and solves over all arms.
    pub flops: f64,
    /// Full rebuilds.
    pub rebuilds: usize,
    /// Incremental changes.
    pub advances: usize,
}

/// The model.
#[derive(Clone, Debug)]
pub struct Nystrom {
    kernel: Kernel,
    lambda: f64,
    arms: Arms,
    panels: Vec<Panel>,
    /// Arms with pulls, in the order of their first, and the embedding of each (a row).
    pulled: Vec<usize>,
    place: BTreeMap<usize, usize>,
    counts: Vec<usize>,
    z_pulled: Mat<f64>,
    dictionary: Vec<usize>,
    v: Mat<f64>,
    v_factor: Cholesky,
    /// How much was computed so far.
    pub work: WorkDone,
}

impl Nystrom {
    /// A model without pulls.
    pub fn new(kernel: Kernel, lambda: f64, arms: Arms) -> Self {
        let starts = (0..arms.len()).step_by(PANEL);
        let mut panels: Vec<Panel> =
            starts.map(|first| Panel::new(first, PANEL.min(arms.len() - first))).collect();
        let nothing = Points::new(0);
        let empty = Cholesky::empty();
        panels.par_iter_mut().for_each(|panel| {
            panel.embed(&kernel, &arms, &nothing, &empty);
        });
        Self {
            kernel,
            lambda,
            arms,
            panels,
            pulled: Vec::new(),
            place: BTreeMap::new(),
            counts: Vec::new(),
            z_pulled: Mat::zeros(0, 0),
            dictionary: Vec::new(),
            v: Mat::zeros(0, 0),
            v_factor: Cholesky::empty(),
            work: WorkDone::default(),
        }
    }

    /// The arms.
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// The prior.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The ridge, also the noise variance of the model.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The dictionary: arms.
    pub fn dictionary(&self) -> &[usize] {
        &self.dictionary
    }

    /// Components of the embedding.
    pub fn components(&self) -> usize {
        self.v.nrows()
    }

    fn at(&self, arm: usize) -> (&Panel, usize) {
        (&self.panels[arm / PANEL], arm % PANEL)
    }

    /// The posterior mean of an arm, eq. (1).
    pub fn mean(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.mean[i]
    }

    /// Variance that the dictionary does not explain, over `lambda`: it stays as it is within a batch.
    pub fn residual(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.residual[i].max(0.0) / self.lambda
    }

    /// `z^T V^-1 z`: the part of the variance that pulls reduce.
    pub fn projected(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.projected[i].max(0.0)
    }

    /// The variance of an arm over `lambda`, eq. (3).
    pub fn variance(&self, arm: usize) -> f64 {
        self.residual(arm) + self.projected(arm)
    }

    /// Whether the dictionary explains an arm up to rounding.
    pub fn is_spanned(&self, arm: usize) -> bool {
        let (panel, i) = self.at(arm);
        panel.residual[i] <= negligible(self.kernel.variance(&self.arms.point(arm)), self.lambda)
    }

    /// The embedding of an arm.
    pub fn embedding(&self, arm: usize) -> Vec<f64> {
        let (panel, i) = self.at(arm);
        let mut z = vec![0.0; self.components()];
        panel.copy_embedding(i, &mut z);
        z
    }

    /// `V` itself.
    pub fn v(&self) -> &Mat<f64> {
        &self.v
    }

    /// The factor of `V`.
    pub fn v_factor(&self) -> &Cholesky {
        &self.v_factor
    }

    /// `score(arm, mean, variance)` of all arms, in order.
    pub fn scores(&self, score: impl Fn(usize, f64, f64) -> f64 + Sync) -> Vec<f64> {
        let mut scores = vec![0.0; self.arms.len()];
        scores.par_chunks_mut(PANEL).zip(&self.panels).enumerate().for_each(|(p, (out, panel))| {
            for (i, out) in out.iter_mut().enumerate() {
                let variance = panel.residual[i].max(0.0) / self.lambda + panel.projected[i].max(0.0);
                *out = score(p * PANEL + i, panel.mean[i], variance);
            }
        });
        scores
    }

    /// Covariances over `lambda` of one arm with every arm.
    pub fn covariances(&self, arm: usize) -> Covariances {
        let x = self.arms.point(arm);
        let z = self.embedding(arm);
        let mut t = z.clone();
        self.v_factor.solve(&mut t);
        // Columns V^-1 z_s and z_s / lambda.
        let right = Mat::from_fn(z.len(), 2, |i, j| if j == 0 { t[i] } else { z[i] / self.lambda });
        let (mut projected, mut full) = (vec![0.0; self.arms.len()], vec![0.0; self.arms.len()]);
        let out = projected.par_chunks_mut(PANEL).zip(full.par_chunks_mut(PANEL));
        out.zip(&self.panels).for_each_init(Vec::new, |work: &mut Vec<f64>, ((projected, full), panel)| {
            let rows = full.len();
            work.resize(2 * rows, 0.0);
            panel.prior_column(&self.kernel, &self.arms, &x, full);
            panel.inner(right.as_ref(), work);
            let (by_v, by_lambda) = work.split_at(rows);
            projected.copy_from_slice(by_v);
            for i in 0..rows {
                full[i] = full[i] / self.lambda - by_lambda[i] + by_v[i];
            }
        });
        Covariances { full, projected }
    }

    /// A bound from above of `log det(K / lambda + I)` over the pulls of the last change of data, running ones included. It
    /// is exact if the dictionary holds every arm that was pulled.
    ///
    /// With `K = Q + R`, what the dictionary explains and the rest, both positive: `det(I + (Q + R) / lambda)` is at most
    /// `det(I + Q / lambda) det(I + R / lambda)`. The first factor is `det(V / lambda)`; the second is at most the product of
    /// its diagonal (Hadamard), where an arm of `n` pulls counts once, with `n` times its residual variance.
    pub fn log_det_bound(&self) -> f64 {
        let explained = self.v_factor.log_det() - self.components() as f64 * self.lambda.ln();
        let rest =
            self.pulled.iter().zip(&self.counts).map(|(arm, n)| (*n as f64 * self.residual(*arm)).ln_1p());
        explained.max(0.0) + rest.sum::<f64>()
    }

    /// Inner products of every arm's embedding with the columns of `right` (m x q), arm by arm: A x q, row-major.
    pub fn inner_products(&self, right: MatRef<'_, f64>) -> Vec<f64> {
        let q = right.ncols();
        let mut out = vec![0.0; self.arms.len() * q];
        out.par_chunks_mut(PANEL * q.max(1)).zip(&self.panels).for_each(|(out, panel)| {
            let rows = panel.mean.len();
            let mut columns = vec![0.0; rows * q];
            panel.inner(right, &mut columns);
            for i in 0..rows {
                for j in 0..q {
                    out[i * q + j] = columns[j * rows + i];
                }
            }
        });
        out
    }

    /// Forgets everything and embeds all arms by this dictionary, of arms with pulls.
    pub fn rebuild(&mut self, data: &PullsByArm, dictionary: &[usize]) -> Result<(), NotPositiveDefinite> {
        let (dictionary, l_s) = independent(&self.kernel, &self.arms, dictionary, self.lambda);
        let atoms = self.arms.select(&dictionary);
        let m = dictionary.len();
        let (kernel, arms) = (&self.kernel, &self.arms);
        for_each_panel(&mut self.panels, m, |panel, _| panel.embed(kernel, arms, &atoms, &l_s));
        self.dictionary = dictionary;
        self.pulled = data.keys().copied().collect();
        self.place = self.pulled.iter().enumerate().map(|(i, arm)| (*arm, i)).collect();
        self.counts = data.values().map(Pulls::count).collect();
        let mut z = Mat::zeros(self.pulled.len(), m);
        self.gather(0, &mut z);
        self.z_pulled = z;
        self.v = gram(self.z_pulled.as_ref(), &self.counts);
        for i in 0..m {
            self.v[(i, i)] += self.lambda;
        }
        self.v_factor = factor(&self.v)?;
        let v_factor = &self.v_factor;
        for_each_panel(&mut self.panels, m, |panel, scratch| panel.project(v_factor, scratch));
        self.predict(data)?;
        self.work.rebuilds += 1;
        self.work.flops += (self.arms.len() * m * (2 * m + 2)) as f64;
        Ok(())
    }

    /// Copies the embeddings of the pulled arms from `from` on into the rows of `z`.
    fn gather(&self, from: usize, z: &mut Mat<f64>) {
        let mut row = vec![0.0; z.ncols()];
        for i in from..self.pulled.len() {
            let (panel, at) = self.at(self.pulled[i]);
            panel.copy_embedding(at, &mut row);
            for (j, value) in row.iter().enumerate() {
                z[(i, j)] = *value;
            }
        }
    }

    /// The weights of the mean, and the mean of every arm.
    fn predict(&mut self, data: &PullsByArm) -> Result<(), NotPositiveDefinite> {
        let weights = self.mean_weights(data)?;
        let weights = Mat::from_fn(weights.len(), 1, |i, _| weights[i]);
        for_each_panel(&mut self.panels, weights.nrows(), |panel, _| panel.predict(weights.as_ref()));
        Ok(())
    }

    /// `V^-1 Z^T y`, by the pulls that were told.
    pub fn mean_weights(&self, data: &PullsByArm) -> Result<Vec<f64>, NotPositiveDefinite> {
        let m = self.components();
        let sums: Vec<f64> = self.pulled.iter().map(|arm| data.get(arm).map_or(0.0, |p| p.sum)).collect();
        let mut w: Vec<f64> = (0..m).map(|j| vector::dot(self.z_pulled.col_as_slice(j), &sums)).collect();
        if data.values().all(|pulls| pulls.running == 0) {
            self.v_factor.solve(&mut w);
        } else {
            let told: Vec<usize> = self.pulled.iter().map(|a| data.get(a).map_or(0, |p| p.told)).collect();
            let mut v = gram(self.z_pulled.as_ref(), &told);
            for i in 0..m {
                v[(i, i)] += self.lambda;
            }
            factor(&v)?.solve(&mut w);
        }
        Ok(w)
    }
}

/// Runs over all panels, of `m` components each.
fn for_each_panel(panels: &mut [Panel], m: usize, each: impl Fn(&mut Panel, &mut Scratch) + Sync) {
    if panels.len() * PANEL * m < LITTLE {
        let mut scratch = Scratch::default();
        panels.iter_mut().for_each(|panel| each(panel, &mut scratch));
    } else {
        panels.par_iter_mut().for_each_init(Scratch::default, |scratch, panel| each(panel, scratch));
    }
}

/// Appends a row unless it is spanned by those before, up to a residual variance of `least`.
fn appended(factor: &mut Cholesky, row: &mut [f64], diagonal: f64, least: f64) -> bool {
    let mut solved = row.to_vec();
    factor.solve_lower(&mut solved);
    let pivot = diagonal - vector::dot(&solved, &solved);
    let independent = pivot > least;
    if independent {
        factor.append(row, diagonal);
    }
    independent
}

/// The arms among `wanted` that the others do not span, by falling residual variance, and the factor of their covariance.
fn independent(kernel: &Kernel, arms: &Arms, wanted: &[usize], lambda: f64) -> (Vec<usize>, Cholesky) {
    let points = arms.select(wanted);
    let prior: Vec<f64> = (0..points.len()).map(|i| kernel.variance(&points.point(i))).collect();
    let mut residual = prior.clone();
    // A Cholesky factorisation with pivots, `columns` those of the factor, in the order of `points`.
    let (mut order, mut columns) = (Vec::<usize>::new(), Vec::<Vec<f64>>::new());
    while let Some(next) = (0..points.len())
        .filter(|i| residual[*i] > ORDERED * negligible(prior[*i], lambda))
        .max_by(|a, b| residual[*a].total_cmp(&residual[*b]).then(b.cmp(a)))
    {
        let mut column = vec![0.0; points.len()];
        kernel.column(&points, 0, &points.point(next), &mut column);
        for earlier in &columns {
            vector::axpy(-earlier[next], earlier, &mut column);
        }
        let root = residual[next].sqrt();
        for (column, residual) in column.iter_mut().zip(&mut residual) {
            *column /= root;
            *residual -= *column * *column;
        }
        residual[next] = 0.0;
        order.push(next);
        columns.push(column);
    }
    let kept: Vec<usize> = order.iter().map(|i| wanted[*i]).collect();
    let points = arms.select(&kept);
    let whole = Cholesky::factor(kept.len(), |j, rows| kernel.column(&points, j, &points.point(j), rows));
    if let Ok(whole) = whole
        && whole.repairs().jitter == 0.0
    {
        return (kept, whole);
    }
    // The kernel itself is not positive up to rounding: one by one, as far as it is.
    let (mut sound, mut factor) = (Vec::new(), Cholesky::empty());
    let mut so_far = Points::new(points.dims());
    let mut row = Vec::new();
    for (i, arm) in kept.iter().enumerate() {
        let x = points.point(i);
        row.resize(so_far.len(), 0.0);
        kernel.column(&so_far, 0, &x, &mut row);
        let prior = kernel.variance(&x);
        if appended(&mut factor, &mut row, prior, negligible(prior, lambda)) {
            so_far.push(&x);
            sound.push(*arm);
        }
    }
    (sound, factor)
}
