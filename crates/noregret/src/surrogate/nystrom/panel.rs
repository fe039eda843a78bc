//! A panel of arms: their embeddings and all that is derived from them, small enough to stay in a core's cache.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use super::arms::Arms;
use crate::math::cholesky::Cholesky;
use crate::surrogate::gp::kernel::Kernel;
use crate::surrogate::points::Points;

/// Arms of a panel. Fixed, so that results do not depend on the threads.
pub(super) const PANEL: usize = 128;

/// Consecutive arms.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    first: usize,
    rows: usize,
    /// Components of the embedding, one contiguous column each: rows x m.
    z: Vec<f64>,
    /// `k(x, x) - |z|^2`.
    pub(super) residual: Vec<f64>,
    /// `z^T V^-1 z`.
    pub(super) projected: Vec<f64>,
    /// The posterior mean.
    pub(super) mean: Vec<f64>,
}

/// How embeddings change from one dictionary and data set to the next: thin matrices that every panel is multiplied with.
pub(super) struct Change {
    /// Components before.
    pub(super) m: usize,
    /// `[N | N2 | H | Y T]`, m x (b + 3 r): new data, variance along what is dropped, the dropped directions, reflectors.
    pub(super) thin: Mat<f64>,
    /// New data.
    pub(super) b: usize,
    /// Components dropped.
    pub(super) r: usize,
    /// `Y^T`, of the components that stay: r x (m - r).
    pub(super) back: Mat<f64>,
    /// The atoms that come.
    pub(super) atoms: Points,
    /// `[Z_new^T | G | w]`, (m - r) x (2 a + 1): embeddings of the new atoms, `V^-1 v`, and the weights of the mean.
    pub(super) grow: Mat<f64>,
    /// The weights of the new components, a.
    pub(super) weights: Vec<f64>,
    /// Factor of the new atoms' residual covariance.
    pub(super) innovation: Cholesky,
    /// Factor of the Schur complement of V.
    pub(super) schur: Cholesky,
}

/// Work space.
#[derive(Default)]
pub(super) struct Scratch(Vec<f64>);

impl Scratch {
    fn take(&mut self, len: usize) -> &mut [f64] {
        if self.0.len() < len {
            self.0.resize(len, 0.0);
        }
        &mut self.0[..len]
    }
}

fn product(out: &mut [f64], rows: usize, z: &[f64], right: MatRef<'_, f64>, accum: Accum, scale: f64) {
    let z = MatRef::from_column_major_slice(z, rows, right.nrows());
    let out = MatMut::from_column_major_slice_mut(out, rows, right.ncols());
    matmul(out, accum, z, right, scale, Par::Seq);
}

/// Adds `scale` times the squared norm of every row of a column-major matrix to `out`.
fn add_squares(matrix: &[f64], rows: usize, scale: f64, out: &mut [f64]) {
    for column in matrix.chunks_exact(rows) {
        for (out, x) in out.iter_mut().zip(column) {
            *out += scale * x * x;
        }
    }
}

impl Panel {
    pub(super) fn new(first: usize, rows: usize) -> Self {
        let zeros = || vec![0.0; rows];
        Self { first, rows, z: Vec::new(), residual: zeros(), projected: zeros(), mean: zeros() }
    }

    fn points(&self, arms: &Arms) -> Points {
        arms.panel(self.first..self.first + self.rows)
    }

    /// The embedding of the `i`-th arm of the panel.
    pub(super) fn copy_embedding(&self, i: usize, out: &mut [f64]) {
        for (out, column) in out.iter_mut().zip(self.z.chunks_exact(self.rows)) {
            *out = column[i];
        }
    }

    /// Embeds all arms from nothing: `z = L_S^-1 k_S`.
    pub(super) fn embed(&mut self, kernel: &Kernel, arms: &Arms, atoms: &Points, l_s: &Cholesky) {
        let points = self.points(arms);
        let (rows, m) = (self.rows, atoms.len());
        self.z.resize(rows * m, 0.0);
        let mut x = vec![0.0; atoms.dims()];
        for (j, column) in self.z.chunks_exact_mut(rows).enumerate() {
            atoms.copy_point(j, &mut x);
            kernel.column(&points, 0, &x, column);
        }
        for i in 0..rows {
            self.residual[i] = kernel.variance(&points.point(i));
        }
        let z = MatMut::from_column_major_slice_mut(&mut self.z, rows, m);
        solve_lower_triangular_in_place(l_s.l(), z.transpose_mut(), Par::Seq);
        add_squares(&self.z, rows, -1.0, &mut self.residual);
    }

    /// `z^T V^-1 z` from nothing.
    pub(super) fn project(&mut self, v: &Cholesky, scratch: &mut Scratch) {
        let copy = scratch.take(self.z.len());
        copy.copy_from_slice(&self.z);
        let u = MatMut::from_column_major_slice_mut(copy, self.rows, v.len());
        solve_lower_triangular_in_place(v.l(), u.transpose_mut(), Par::Seq);
        self.projected.fill(0.0);
        add_squares(copy, self.rows, 1.0, &mut self.projected);
    }

    /// Follows a change of dictionary and data.
    pub(super) fn follow(&mut self, kernel: &Kernel, arms: &Arms, change: &Change, scratch: &mut Scratch) {
        let rows = self.rows;
        let Change { m, b, r, .. } = *change;
        let a = change.atoms.len();
        let (wide, grown) = (change.thin.ncols(), change.grow.ncols());
        let work = scratch.take(rows * (wide + grown));
        // The embeddings are read from memory once and then from the cache.
        let (thin, grow) = work.split_at_mut(rows * wide);
        product(thin, rows, &self.z, change.thin.as_ref(), Accum::Replace, 1.0);
        add_squares(&thin[..rows * (b + r)], rows, -1.0, &mut self.projected);
        add_squares(&thin[rows * (b + r)..rows * (b + 2 * r)], rows, 1.0, &mut self.residual);
        if r > 0 {
            let along = &thin[rows * (b + 2 * r)..rows * (b + 3 * r)];
            self.z.truncate(rows * (m - r));
            product(&mut self.z, rows, along, change.back.as_ref(), Accum::Add, -1.0);
        }
        product(grow, rows, &self.z, change.grow.as_ref(), Accum::Replace, 1.0);
        let (explained, rest) = grow.split_at_mut(rows * a);
        let (cross, mean) = rest.split_at_mut(rows * a);
        self.mean.copy_from_slice(mean);
        if a > 0 {
            let points = self.points(arms);
            let mut x = vec![0.0; change.atoms.dims()];
            let from = self.z.len();
            self.z.resize(from + rows * a, 0.0);
            let fresh = &mut self.z[from..];
            for (j, column) in fresh.chunks_exact_mut(rows).enumerate() {
                change.atoms.copy_point(j, &mut x);
                kernel.column(&points, 0, &x, column);
                column.iter_mut().zip(&explained[j * rows..]).for_each(|(k, e)| *k -= e);
            }
            change.innovation.solve_lower_rows(fresh, rows);
            add_squares(fresh, rows, -1.0, &mut self.residual);
            for (column, weight) in fresh.chunks_exact(rows).zip(&change.weights) {
                self.mean.iter_mut().zip(column).for_each(|(mean, z)| *mean += weight * z);
            }
            cross.iter_mut().zip(&*fresh).for_each(|(c, z)| *c = z - *c);
            change.schur.solve_lower_rows(cross, rows);
            add_squares(cross, rows, 1.0, &mut self.projected);
        }
    }

    /// The posterior mean, by its weights.
    pub(super) fn predict(&mut self, weights: MatRef<'_, f64>) {
        product(&mut self.mean, self.rows, &self.z, weights, Accum::Replace, 1.0);
    }

    /// Inner products of the embeddings with the columns of `right`.
    pub(super) fn inner(&self, right: MatRef<'_, f64>, out: &mut [f64]) {
        product(out, self.rows, &self.z, right, Accum::Replace, 1.0);
    }

    /// Covariances of the prior with one point.
    pub(super) fn prior_column(&self, kernel: &Kernel, arms: &Arms, x: &[f64], out: &mut [f64]) {
        kernel.column(&self.points(arms), 0, x, out);
    }
}
