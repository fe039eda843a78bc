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
//! - Atoms that the others span up to 1e-10 of their variance are left out, in place of a pseudo-inverse.
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

/// Atoms whose residual variance is below this share of their variance add nothing but rounding errors.
const SPANNED: f64 = 1e-10;

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
        panel.residual[i] <= SPANNED * self.kernel.variance(&self.arms.point(arm))
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

    /// The posterior covariance over `lambda` of one arm with every arm, eq. (2).
    pub fn covariances(&self, arm: usize) -> Vec<f64> {
        let x = self.arms.point(arm);
        let z = self.embedding(arm);
        let mut t = z.clone();
        self.v_factor.solve(&mut t);
        let right = Mat::from_fn(z.len(), 1, |i, _| t[i] - z[i] / self.lambda);
        let mut covariances = vec![0.0; self.arms.len()];
        covariances.par_chunks_mut(PANEL).zip(&self.panels).for_each_init(Vec::new, |prior, (out, panel)| {
            prior.resize(out.len(), 0.0);
            panel.prior_column(&self.kernel, &self.arms, &x, prior);
            panel.inner(right.as_ref(), out);
            out.iter_mut().zip(&*prior).for_each(|(c, k)| *c += k / self.lambda);
        });
        covariances
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
        let (dictionary, l_s) = independent(&self.kernel, &self.arms, dictionary);
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

/// Appends a row unless it is spanned by those before.
fn appended(factor: &mut Cholesky, row: &mut [f64], diagonal: f64, prior: f64) -> bool {
    let mut solved = row.to_vec();
    factor.solve_lower(&mut solved);
    let pivot = diagonal - vector::dot(&solved, &solved);
    let independent = pivot > SPANNED * prior;
    if independent {
        factor.append(row, diagonal);
    }
    independent
}

/// The arms among `wanted` that the ones before them do not span, and the factor of their covariance.
fn independent(kernel: &Kernel, arms: &Arms, wanted: &[usize]) -> (Vec<usize>, Cholesky) {
    let points = arms.select(wanted);
    let whole = Cholesky::factor(wanted.len(), |j, rows| kernel.column(&points, j, &points.point(j), rows));
    // Most often there are none, and the factorisation in blocks is much faster.
    if let Ok(whole) = whole
        && whole.repairs().jitter == 0.0
        && (0..wanted.len()).all(|j| whole.diagonal(j).powi(2) > SPANNED * kernel.variance(&points.point(j)))
    {
        return (wanted.to_vec(), whole);
    }
    let (mut kept, mut factor) = (Vec::new(), Cholesky::empty());
    let mut so_far = Points::new(points.dims());
    let mut row = Vec::new();
    for (i, arm) in wanted.iter().enumerate() {
        let x = points.point(i);
        row.resize(so_far.len(), 0.0);
        kernel.column(&so_far, 0, &x, &mut row);
        let prior = kernel.variance(&x);
        if appended(&mut factor, &mut row, prior, prior) {
            so_far.push(&x);
            kept.push(*arm);
        }
    }
    (kept, factor)
}
