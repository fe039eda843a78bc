//! Algebra of the small matrices: of the size of the dictionary, not of the arms.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::lu::partial_pivoting;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{Accum, Mat, MatRef, Par, Spec};

use crate::math::cholesky::{Cholesky, NotPositiveDefinite};

/// Rows from which threads are worth waking.
const LARGE: usize = 384;

fn par(rows: usize) -> Par {
    if rows < LARGE { Par::Seq } else { Par::rayon(0) }
}

/// `A B`.
pub(super) fn times(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Mat<f64> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(out.as_mut(), Accum::Replace, a, b, 1.0, par(a.nrows().min(b.ncols())));
    out
}

/// The factor of a matrix, of which the lower triangle is read.
pub(super) fn factor(matrix: &Mat<f64>) -> Result<Cholesky, NotPositiveDefinite> {
    let n = matrix.nrows();
    Cholesky::factor(n, |j, rows| rows.copy_from_slice(&matrix.col_as_slice(j)[j..]))
}

/// `sum_i counts_i z_i z_i^T`, `z_i` the rows.
pub(super) fn gram(z: MatRef<'_, f64>, counts: &[usize]) -> Mat<f64> {
    times(z.transpose(), weighted(z, counts).as_ref())
}

/// Rows multiplied by their counts.
pub(super) fn weighted(z: MatRef<'_, f64>, counts: &[usize]) -> Mat<f64> {
    Mat::from_fn(z.nrows(), z.ncols(), |i, j| counts[i] as f64 * z[(i, j)])
}

/// `A^-1 B`.
pub(super) fn solve(factor: &Cholesky, b: &Mat<f64>) -> Mat<f64> {
    let mut x = b.clone();
    solve_lower_triangular_in_place(factor.l(), x.as_mut(), Par::Seq);
    solve_upper_triangular_in_place(factor.l().transpose(), x.as_mut(), Par::Seq);
    x
}

/// `B <- B L^-T`.
pub(super) fn solve_rows(factor: &Cholesky, b: &mut Mat<f64>) {
    solve_lower_triangular_in_place(factor.l(), b.as_mut().transpose_mut(), Par::Seq);
}

/// `A^-1 B C^-T` with `C C^T = B^T A^-1 B`, plus the identity if `ridge`.
pub(super) fn reduction(
    factor: &Cholesky,
    b: &Mat<f64>,
    ridge: bool,
) -> Result<Mat<f64>, NotPositiveDefinite> {
    let mut solved = solve(factor, b);
    let inner = times(b.transpose(), solved.as_ref());
    let c = Cholesky::factor(b.ncols(), |j, rows| {
        for (i, out) in (j..).zip(rows) {
            *out = inner[(i, j)] + if ridge && i == j { 1.0 } else { 0.0 };
        }
    })?;
    solve_rows(&c, &mut solved);
    Ok(solved)
}

/// `A^-1 B` for any square matrix, by a factorisation with pivots.
pub(super) fn solve_square(mut a: Mat<f64>, mut b: Mat<f64>) -> Mat<f64> {
    let n = a.nrows();
    let (mut forward, mut backward) = (vec![0_usize; n], vec![0_usize; n]);
    let par = par(n);
    let needed = StackReq::any_of(&[
        partial_pivoting::factor::lu_in_place_scratch::<usize, f64>(n, n, par, Spec::default()),
        partial_pivoting::solve::solve_in_place_scratch::<usize, f64>(n, b.ncols(), par),
    ]);
    let mut memory = MemBuffer::new(needed);
    let (_, permutation) = partial_pivoting::factor::lu_in_place(
        a.as_mut(),
        &mut forward,
        &mut backward,
        par,
        MemStack::new(&mut memory),
        Spec::default(),
    );
    let (lu, rhs) = (a.as_ref(), b.as_mut());
    partial_pivoting::solve::solve_in_place(lu, lu, permutation, rhs, par, MemStack::new(&mut memory));
    b
}
