//! A lower triangular factor `L` of a growing positive definite matrix, `A = L L^T`.
//!
//! Built once by blocked factorisation, then extended a row at a time (`O(n^2)`), changed by rank-one updates and
//! downdates, and shortened again. Every repair of an indefinite matrix is counted, none is silent.
//!
//! # Notation
//! | here    | shape | meaning                                                     |
//! |---------|-------|-------------------------------------------------------------|
//! | `n`     | 1     | rows so far                                                 |
//! | `L`     | n x n | the factor, column-major with `stride` rows of room a column |
//! | jitter  | 1     | what was added to the diagonal before the factor existed    |

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::linalg::triangular_solve::{solve_lower_triangular_in_place, solve_upper_triangular_in_place};
use faer::{MatMut, MatRef, Par};
use rayon::prelude::*;

use super::vector;

/// Jitter starts at this share of the mean diagonal: a hundred times the rounding error of a factorisation of
/// 10,000 points (`n * eps`).
const FIRST_JITTER: f64 = 1e-10;
/// ... grows by this factor a step ...
const JITTER_STEP: f64 = 10.0;
/// ... and beyond this share the matrix is not a covariance at all, whatever rounding did to it.
const LAST_JITTER: f64 = 1e-3;
/// Rounding errors of a posterior covariance as a share of the prior's: those of its factor (`n * eps` for 10,000 points), a thousand times
/// over for a badly conditioned one.
const ROUNDING: f64 = 1e-9 / LAST_JITTER;
/// Right-hand sides solved as one panel by one thread. Fixed, so that results do not depend on the threads.
const PANEL: usize = 128;

/// What was done to keep a factorisation alive.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Repairs {
    /// Added to the whole diagonal before the factorisation succeeded.
    pub jitter: f64,
    /// Factorisations tried beyond the first.
    pub retries: usize,
    /// Appended rows whose pivot had to be lifted to the jitter floor (duplicate points without noise).
    pub lifted_pivots: usize,
}

/// The matrix is too far from positive definite for any jitter.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("matrix of {n} rows is not positive definite (pivot {pivot}, jitter up to {jitter:e})")]
pub struct NotPositiveDefinite {
    /// Number of rows.
    pub n: usize,
    /// First pivot that failed at the last try.
    pub pivot: usize,
    /// The largest jitter tried.
    pub jitter: f64,
}

/// The growing factor.
#[derive(Clone, Debug, Default)]
pub struct Cholesky {
    n: usize,
    stride: usize,
    data: Vec<f64>,
    jitter: f64,
    retries: usize,
    /// Rows whose pivot was lifted.
    lifted: Vec<usize>,
}

impl Cholesky {
    /// The factor of an empty matrix, to be appended to.
    pub fn empty() -> Self {
        Self::default()
    }

    /// Factors the `n x n` matrix whose lower triangle `fill` writes, column by column: `fill(j, rows)` sets
    /// `rows[i] = A[j + i, j]` for `i = 0 .. n - j`. Columns are filled in parallel.
    ///
    /// `fill` is called again for every retry with a larger jitter, so that no second copy of `A` is kept.
    pub fn factor(n: usize, fill: impl Fn(usize, &mut [f64]) + Sync) -> Result<Self, NotPositiveDefinite> {
        Self::factor_difference(n, 0.0, fill)
    }

    /// The same for the small difference of large matrices, with diagonals of this size: what is left of them may be their rounding
    /// errors, so that jitter may be as large as those.
    pub fn factor_difference(
        n: usize,
        size: f64,
        fill: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Result<Self, NotPositiveDefinite> {
        let stride = with_room(n);
        let mut factor = Self { n, stride, data: vec![0.0; n * stride], ..Self::default() };
        let mut jitter = 0.0;
        loop {
            let fill_column = |(j, column): (usize, &mut [f64])| fill(j, &mut column[j..n]);
            if factor_par(n) == Par::Seq {
                factor.data.chunks_mut(stride.max(1)).enumerate().for_each(fill_column);
            } else {
                factor.data.par_chunks_mut(stride.max(1)).enumerate().for_each(fill_column);
            }
            let mean_diagonal = (0..n).map(|j| factor.data[j * stride + j]).sum::<f64>() / n.max(1) as f64;
            for j in 0..n {
                factor.data[j * stride + j] += jitter;
            }
            match factor.factor_in_place() {
                Ok(()) => {
                    factor.jitter = jitter;
                    return Ok(factor);
                }
                Err(pivot) => {
                    let next =
                        if jitter == 0.0 { FIRST_JITTER * mean_diagonal } else { jitter * JITTER_STEP };
                    // Every retry adds more, up to a finite limit; `!(a <= b)` also stops on NaN.
                    let limit = LAST_JITTER * mean_diagonal.max(ROUNDING * size);
                    if !(next > jitter && next <= limit && limit.is_finite()) {
                        return Err(NotPositiveDefinite { n, pivot, jitter });
                    }
                    jitter = next;
                    factor.retries += 1;
                }
            }
        }
    }

    fn factor_in_place(&mut self) -> Result<(), usize> {
        let mut memory = MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
            self.n,
            Par::Seq,
            faer::Spec::default(),
        ));
        let matrix =
            MatMut::from_column_major_slice_with_stride_mut(&mut self.data, self.n, self.n, self.stride);
        llt::factor::cholesky_in_place(
            matrix,
            llt::factor::LltRegularization::default(),
            factor_par(self.n),
            MemStack::new(&mut memory),
            faer::Spec::default(),
        )
        .map_err(|llt::factor::LltError::NonPositivePivot { index }| index)?;
        // faer accepts infinite pivots; a covariance never has one.
        match (0..self.n).find(|&j| !self.diagonal(j).is_finite()) {
            Some(pivot) => Err(pivot),
            None => Ok(()),
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.n
    }

    /// Whether the factor has no rows.
    pub fn is_empty(&self) -> bool {
        self.n == 0
    }

    /// What it took to make the rows that are there.
    pub fn repairs(&self) -> Repairs {
        Repairs { jitter: self.jitter, retries: self.retries, lifted_pivots: self.lifted.len() }
    }

    /// `L` as a matrix; the part above the diagonal is not meaningful.
    pub fn l(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice_with_stride(&self.data, self.n, self.n, self.stride)
    }

    /// `L[j, j]`.
    pub fn diagonal(&self, j: usize) -> f64 {
        self.data[j * self.stride + j]
    }

    /// Row `i` of `L` up to the diagonal, into `out` (which gets `i` elements); the diagonal is not included.
    pub fn row(&self, i: usize, out: &mut Vec<f64>) {
        out.clear();
        out.extend((0..i).map(|j| self.data[j * self.stride + i]));
    }

    /// Column `j` of `L` from the diagonal down.
    fn column(&self, j: usize) -> &[f64] {
        &self.data[j * self.stride + j..j * self.stride + self.n]
    }

    /// `log det A`.
    pub fn log_det(&self) -> f64 {
        2.0 * (0..self.n).map(|j| self.diagonal(j).ln()).sum::<f64>()
    }

    /// Appends the row and column `(row, diagonal)` of `A`; `row` has `n` elements and becomes `L^-1 row`, the new
    /// row of `L`. Returns its last element, the new pivot's root.
    ///
    /// A pivot that rounding made too small is lifted to the first jitter step and counted.
    pub fn append(&mut self, row: &mut [f64], diagonal: f64) -> f64 {
        assert_eq!(row.len(), self.n, "append: the row must have one element per row of the factor");
        self.solve_lower(row);
        let pivot = diagonal - vector::dot(row, row);
        let floor = FIRST_JITTER * diagonal.abs().max(f64::MIN_POSITIVE);
        let root = if pivot > floor {
            pivot.sqrt()
        } else {
            self.lifted.push(self.n);
            floor.sqrt()
        };
        self.make_room();
        let (n, stride) = (self.n, self.stride);
        for (j, value) in row.iter().enumerate() {
            self.data[j * stride + n] = *value;
        }
        self.data.resize((n + 1) * stride, 0.0);
        self.data[n * stride + n] = root;
        self.n += 1;
        root
    }

    /// Forgets all rows beyond the first `n`.
    pub fn truncate(&mut self, n: usize) {
        if n < self.n {
            self.n = n;
            self.data.truncate(n * self.stride);
            self.lifted.retain(|row| *row < n);
        }
    }

    fn make_room(&mut self) {
        if self.n < self.stride {
            return;
        }
        let stride = with_room(self.n);
        let mut data = Vec::with_capacity(stride * stride);
        for j in 0..self.n {
            data.extend_from_slice(&self.data[j * self.stride..(j + 1) * self.stride]);
            data.resize((j + 1) * stride, 0.0);
        }
        self.data = data;
        self.stride = stride;
    }

    /// `b <- L^-1 b`, one right-hand side: one pass over the factor, column by column.
    ///
    /// A shorter `b` is solved with the leading rows, the factor as it was when it had that many.
    pub fn solve_lower(&self, b: &mut [f64]) {
        let n = b.len();
        assert!(n <= self.n, "solve_lower: at most one element per row of the factor");
        for j in 0..n {
            let column = &self.column(j)[..n - j];
            let x = b[j] / column[0];
            b[j] = x;
            vector::axpy(-x, &column[1..], &mut b[j + 1..]);
        }
    }

    /// `b <- L^-T b`, one right-hand side; a shorter `b` as in [`Self::solve_lower`].
    pub fn solve_upper(&self, b: &mut [f64]) {
        let n = b.len();
        assert!(n <= self.n, "solve_upper: at most one element per row of the factor");
        for j in (0..n).rev() {
            let column = &self.column(j)[..n - j];
            b[j] = (b[j] - vector::dot(&column[1..], &b[j + 1..])) / column[0];
        }
    }

    /// `b <- A^-1 b`.
    pub fn solve(&self, b: &mut [f64]) {
        self.solve_lower(b);
        self.solve_upper(b);
    }

    /// `B <- B L^-T` for a column-major `m x n` matrix of `m` right-hand sides, each of them a **row** of `b`
    /// (so that appending a row of `L` appends a column to `b`). Panels of right-hand sides run in parallel.
    pub fn solve_lower_rows(&self, b: &mut [f64], m: usize) {
        assert_eq!(b.len(), m * self.n, "solve_lower_rows: m right-hand sides of n elements");
        if m <= 1 {
            // One row is contiguous.
            return self.solve_lower(b);
        }
        let panels = MatMut::from_column_major_slice_mut(b, m, self.n);
        solve_panels(panels, |panel| {
            solve_lower_triangular_in_place(self.l(), panel.transpose_mut(), Par::Seq);
        });
    }

    /// `B <- B L^-1`: the transposed solve for right-hand sides that are rows of `b`.
    pub fn solve_upper_rows(&self, b: &mut [f64], m: usize) {
        assert_eq!(b.len(), m * self.n, "solve_upper_rows: m right-hand sides of n elements");
        if m <= 1 {
            return self.solve_upper(b);
        }
        let panels = MatMut::from_column_major_slice_mut(b, m, self.n);
        solve_panels(panels, |panel| {
            solve_upper_triangular_in_place(self.l().transpose(), panel.transpose_mut(), Par::Seq);
        });
    }

    /// The factor of `A + v v^T`; `v` is used as work space. `O(n^2)`.
    ///
    /// Givens rotations of `[L v]`, Golub & Van Loan (2013), section 6.5.4.
    pub fn rank_one_update(&mut self, v: &mut [f64]) {
        assert_eq!(v.len(), self.n, "rank_one_update: one element per row of the factor");
        for j in 0..self.n {
            let stride = self.stride;
            let column = &mut self.data[j * stride + j..j * stride + self.n];
            let r = column[0].hypot(v[j]);
            let (c, s) = (column[0] / r, v[j] / r);
            column[0] = r;
            for (l, v) in column[1..].iter_mut().zip(&mut v[j + 1..]) {
                let (old, w) = (*l, *v);
                *l = c * old + s * w;
                *v = c * w - s * old;
            }
        }
    }

    /// The factor of `A - v v^T`; `v` is used as work space. `O(n^2)`.
    ///
    /// On an error (the result would not be positive definite) the factor is unchanged.
    pub fn rank_one_downdate(&mut self, v: &mut [f64]) -> Result<(), NotPositiveDefinite> {
        assert_eq!(v.len(), self.n, "rank_one_downdate: one element per row of the factor");
        // A - v v^T is positive definite exactly if |L^-1 v| < 1; asking first keeps the factor whole on failure.
        let mut p = v.to_vec();
        self.solve_lower(&mut p);
        let left = 1.0 - vector::dot(&p, &p);
        if !(left > f64::EPSILON * self.n as f64) {
            return Err(NotPositiveDefinite { n: self.n, pivot: self.n.saturating_sub(1), jitter: 0.0 });
        }
        for j in 0..self.n {
            let stride = self.stride;
            let column = &mut self.data[j * stride + j..j * stride + self.n];
            let r = ((column[0] - v[j]) * (column[0] + v[j])).max(f64::MIN_POSITIVE).sqrt();
            let (c, s) = (r / column[0], v[j] / column[0]);
            column[0] = r;
            for (l, v) in column[1..].iter_mut().zip(&mut v[j + 1..]) {
                *l = (*l - s * *v) / c;
                *v = c * *v - s * *l;
            }
        }
        Ok(())
    }

    /// The diagonal of `A^-1`, without the rest of it: `O(n^3 / 3)`, in the memory of a panel.
    ///
    /// `A^-1 = L^-T L^-1`, so its `i`-th diagonal element is the squared length of `L^-1 e_i`, which begins with `i` zeros.
    pub fn inverse_diagonal(&self) -> Vec<f64> {
        let n = self.n;
        let panel = |begin: usize| {
            let (size, rows) = (PANEL.min(n - begin), n - begin);
            let mut columns = vec![0.0; rows * size];
            (0..size).for_each(|j| columns[j * rows + j] = 1.0);
            let rest = self.l().submatrix(begin, begin, rows, rows);
            let unknown = MatMut::from_column_major_slice_mut(&mut columns, rows, size);
            solve_lower_triangular_in_place(rest, unknown, Par::Seq);
            columns.chunks_exact(rows).map(|column| vector::dot(column, column)).collect::<Vec<f64>>()
        };
        let begins: Vec<usize> = (0..n).step_by(PANEL).collect();
        begins.into_par_iter().flat_map_iter(panel).collect()
    }

    /// The lower triangle of `A^-1`, column-major `n x n`, into `out`; above the diagonal there is nothing of meaning.
    ///
    /// Only the gradient of the marginal likelihood needs it: there every element of the inverse is used.
    pub fn inverse(&self, out: &mut Vec<f64>, scratch: &mut Vec<f64>) {
        let n = self.n;
        // What was there before is overwritten; only new elements need a value.
        out.resize(n * n, 0.0);
        scratch.resize(n * n, 0.0);
        if n == 0 {
            return;
        }
        // M = L^-1, then A^-1 = M^T M.
        faer::linalg::triangular_inverse::invert_lower_triangular(
            MatMut::from_column_major_slice_mut(scratch, n, n),
            self.l(),
            factor_par(n),
        );
        let m = MatRef::from_column_major_slice(scratch, n, n);
        faer::linalg::matmul::triangular::matmul(
            MatMut::from_column_major_slice_mut(out, n, n),
            faer::linalg::matmul::triangular::BlockStructure::TriangularLower,
            faer::Accum::Replace,
            m.transpose(),
            faer::linalg::matmul::triangular::BlockStructure::TriangularUpper,
            m,
            faer::linalg::matmul::triangular::BlockStructure::TriangularLower,
            1.0,
            factor_par(n),
        );
    }
}

/// Rows to make room for when there are `n`: an eighth more, so that growing copies little and wastes little.
fn with_room(n: usize) -> usize {
    n + n / 8 + 8
}

/// Threads for a dense `n x n` operation: below a few hundred rows starting them costs more than they save.
fn factor_par(n: usize) -> Par {
    if n < 384 { Par::Seq } else { Par::rayon(0) }
}

/// Cuts the rows of `matrix` into panels of a fixed size and solves them in parallel.
fn solve_panels(matrix: MatMut<'_, f64>, solve: impl Fn(MatMut<'_, f64>) + Sync + Send) {
    let mut rest = matrix;
    let mut panels = Vec::with_capacity(rest.nrows() / PANEL + 1);
    while rest.nrows() > PANEL {
        let (panel, tail) = rest.split_at_row_mut(PANEL);
        panels.push(panel);
        rest = tail;
    }
    panels.push(rest);
    if panels.len() == 1 {
        panels.into_iter().for_each(solve);
    } else {
        panels.into_par_iter().for_each(solve);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A well-conditioned covariance: exponential kernel on points of a line, plus noise.
    fn covariance(i: usize, j: usize) -> f64 {
        let noise = if i == j { 0.1 } else { 0.0 };
        (-((i as f64 * 0.61).sin() - (j as f64 * 0.61).sin()).abs()).exp() + noise
    }

    fn factored(n: usize) -> Cholesky {
        Cholesky::factor(n, |j, rows| {
            rows.iter_mut().enumerate().for_each(|(i, a)| *a = covariance(j + i, j));
        })
        .expect("positive definite")
    }

    fn reconstruct(chol: &Cholesky) -> Vec<Vec<f64>> {
        let l = chol.l();
        let n = chol.len();
        (0..n)
            .map(|i| (0..n).map(|j| (0..=i.min(j)).map(|k| l[(i, k)] * l[(j, k)]).sum()).collect())
            .collect()
    }

    fn assert_factor_of(chol: &Cholesky, a: impl Fn(usize, usize) -> f64, tolerance: f64) {
        for (i, row) in reconstruct(chol).iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                assert!((value - a(i, j)).abs() < tolerance, "({i}, {j}): {value} != {}", a(i, j));
            }
        }
    }

    /// An equivalence, across the border of a panel and with a stride of its own.
    #[test]
    fn the_diagonal_of_the_inverse_is_that_of_the_inverse() {
        for n in [0, 1, 5, PANEL, 2 * PANEL + 3] {
            let chol = factored(n);
            let (mut inverse, mut scratch) = (Vec::new(), Vec::new());
            chol.inverse(&mut inverse, &mut scratch);
            let diagonal = chol.inverse_diagonal();
            assert_eq!(diagonal.len(), n);
            for (i, found) in diagonal.iter().enumerate() {
                // Sums of at most 300 products of either sign, of a condition number below 1e5.
                assert!((found / inverse[i * n + i] - 1.0).abs() < 1e-9, "{i} of {n}: {found}");
            }
        }
    }

    /// An infinite mean of the diagonal, or one of zero, left no jitter that was too large: once an endless loop.
    #[test]
    fn retries_end_whatever_the_diagonal() {
        for diagonal in [f64::INFINITY, f64::MAX, 0.0, -1.0, f64::NAN, f64::MIN_POSITIVE] {
            // The off-diagonal is larger than the diagonal: never positive definite without a large jitter.
            let factored = Cholesky::factor(2, |_, rows| {
                rows.fill(if diagonal.is_finite() { 2.0 * diagonal.abs() + 1.0 } else { 1.0 });
                rows[0] = diagonal;
            });
            assert!(factored.is_err(), "{diagonal}");
        }
    }

    #[test]
    fn appended_is_refactored() {
        let mut grown = factored(3);
        for n in 3..60 {
            let mut row: Vec<f64> = (0..n).map(|j| covariance(n, j)).collect();
            grown.append(&mut row, covariance(n, n));
        }
        let whole = factored(60);
        for i in 0..60 {
            for j in 0..=i {
                assert!((grown.l()[(i, j)] - whole.l()[(i, j)]).abs() < 1e-13);
            }
        }
        assert!((grown.log_det() - whole.log_det()).abs() < 1e-11);
        assert_eq!(grown.repairs(), Repairs::default());
    }

    #[test]
    fn grows_from_nothing_and_shrinks_back() {
        let mut chol = Cholesky::empty();
        for n in 0..20 {
            let mut row: Vec<f64> = (0..n).map(|j| covariance(n, j)).collect();
            chol.append(&mut row, covariance(n, n));
        }
        assert_factor_of(&chol, covariance, 1e-14);
        chol.truncate(7);
        assert_eq!(chol.len(), 7);
        assert_factor_of(&chol, covariance, 1e-14);
        let mut row: Vec<f64> = (0..7).map(|j| covariance(7, j)).collect();
        chol.append(&mut row, covariance(7, 7));
        assert_factor_of(&chol, covariance, 1e-14);
    }

    #[test]
    fn solves_invert_the_matrix() {
        let n = 45;
        let chol = factored(n);
        let b: Vec<f64> = (0..n).map(|i| (i as f64).cos()).collect();
        let mut x = b.clone();
        chol.solve(&mut x);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| covariance(i, j) * x[j]).sum();
            assert!((product - b[i]).abs() < 1e-12);
        }
        let (mut inverse, mut scratch) = (Vec::new(), Vec::new());
        chol.inverse(&mut inverse, &mut scratch);
        for i in 0..n {
            let product: f64 = (0..n).map(|j| inverse[i.min(j) * n + i.max(j)] * b[j]).sum();
            assert!((product - x[i]).abs() < 1e-11);
        }
    }

    /// The panels' results are those of single solves, for sizes that do and do not fill the panels.
    #[test]
    fn many_right_hand_sides_agree_with_one() {
        let n = 37;
        let chol = factored(n);
        for m in [1, 5, PANEL, PANEL + 1, 3 * PANEL + 17] {
            let b: Vec<f64> = (0..m * n).map(|i| ((i * i) as f64).sin()).collect();
            for upper in [false, true] {
                let mut solved = b.clone();
                if upper {
                    chol.solve_upper_rows(&mut solved, m);
                } else {
                    chol.solve_lower_rows(&mut solved, m);
                }
                for row in [0, m / 2, m - 1] {
                    let mut one: Vec<f64> = (0..n).map(|j| b[j * m + row]).collect();
                    if upper {
                        chol.solve_upper(&mut one);
                    } else {
                        chol.solve_lower(&mut one);
                    }
                    assert!((0..n).all(|j| (one[j] - solved[j * m + row]).abs() < 1e-12));
                }
            }
        }
    }

    #[test]
    fn singular_matrices_are_repaired_and_counted() {
        let ones = Cholesky::factor(50, |_, rows| rows.fill(1.0)).expect("repaired");
        assert!(ones.repairs().jitter > 0.0 && ones.repairs().retries > 0);
        let mut grown = Cholesky::empty();
        for n in 0..50 {
            grown.append(&mut vec![1.0; n], 1.0);
        }
        assert_eq!(grown.repairs().lifted_pivots, 49);
        let mut shorter = grown.clone();
        shorter.truncate(10);
        assert_eq!(shorter.repairs().lifted_pivots, 9);
        assert!((0..50).all(|j| grown.diagonal(j).is_finite() && grown.diagonal(j) > 0.0));
    }

    #[test]
    fn hopeless_matrices_are_errors() {
        let negative = Cholesky::factor(4, |j, rows| rows[0] = if j == 2 { -1.0 } else { 1.0 });
        assert_eq!(negative.unwrap_err().n, 4);
        assert!(Cholesky::factor(4, |_, rows| rows.fill(f64::NAN)).is_err());
        assert!(Cholesky::factor(0, |_, _| ()).unwrap().is_empty());
    }

    /// Blocked factorisation and inverse use threads from some size on; their bits must not depend on how many.
    #[test]
    fn threads_do_not_change_the_factor() {
        let pool = |threads| rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let same = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits());
        for n in [400, 1100] {
            let run = |threads| {
                pool(threads).install(|| {
                    let (factor, mut inverse) = (factored(n), Vec::new());
                    factor.inverse(&mut inverse, &mut Vec::new());
                    (factor.data, inverse)
                })
            };
            let (one, many) = (run(1), run(4));
            assert!(same(&one.0, &many.0), "factor of {n}");
            assert!(same(&one.1, &many.1), "inverse of {n}");
        }
    }

    proptest! {
        #[test]
        fn updates_and_downdates_undo_each_other(v in prop::collection::vec(-2.0..2.0_f64, 12)) {
            let mut chol = factored(12);
            chol.rank_one_update(&mut v.clone());
            assert_factor_of(&chol, |i, j| covariance(i, j) + v[i] * v[j], 1e-12);
            chol.rank_one_downdate(&mut v.clone()).unwrap();
            assert_factor_of(&chol, covariance, 1e-10);
        }

        #[test]
        fn impossible_downdates_change_nothing(scale in 3.0..100.0_f64) {
            let mut chol = factored(6);
            let mut v = vec![0.0; 6];
            v[2] = scale;
            prop_assert!(chol.rank_one_downdate(&mut v).is_err());
            assert_factor_of(&chol, covariance, 1e-14);
        }
    }
}
