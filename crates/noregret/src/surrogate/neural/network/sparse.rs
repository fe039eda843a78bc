//! Inputs that are mostly zeros: a category of thousands of levels is as many inputs, of which one is not 0.

use std::ops::Range;

use faer::{Mat, MatMut, MatRef};

/// Fewer inputs than this are multiplied as they are.
const WIDE: usize = 512;
/// The share of inputs that may differ from 0. Products with single columns are several times slower than those of matrices.
const SHARE: usize = 32;

/// Columns of mostly zeros: what differs from 0, and where.
#[derive(Clone, Debug)]
pub(super) struct Sparse {
    /// Where the entries of each column end.
    ends: Vec<usize>,
    entries: Vec<(usize, f32)>,
}

impl Sparse {
    /// The columns of `x`, if they are long and have few entries.
    pub(super) fn of(x: MatRef<'_, f32>) -> Option<Self> {
        let most = x.nrows() / SHARE * x.ncols();
        if x.nrows() < WIDE {
            return None;
        }
        let (mut ends, mut entries) = (Vec::with_capacity(x.ncols()), Vec::new());
        for column in x.col_iter() {
            entries.extend(column.iter().enumerate().filter(|(_, v)| **v != 0.0).map(|(i, v)| (i, *v)));
            if entries.len() > most {
                return None;
            }
            ends.push(entries.len());
        }
        Some(Self { ends, entries })
    }

    fn column(&self, j: usize) -> &[(usize, f32)] {
        let begin = j.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[begin..self.ends[j]]
    }

    /// `out = scale * weights * X`.
    pub(super) fn product(&self, weights: MatRef<'_, f32>, scale: f32, out: &mut Mat<f32>) {
        for j in 0..self.ends.len() {
            let out = out.col_as_slice_mut(j);
            out.fill(0.0);
            for &(i, v) in self.column(j) {
                for (out, w) in out.iter_mut().zip(weights.col(i).iter()) {
                    *out += scale * v * w;
                }
            }
        }
    }

    /// `out = scale * left * X^T`.
    pub(super) fn outer(&self, left: &Mat<f32>, scale: f32, mut out: MatMut<'_, f32>) {
        out.fill(0.0);
        for j in 0..self.ends.len() {
            for &(i, v) in self.column(j) {
                for (out, left) in out.as_mut().col_mut(i).iter_mut().zip(left.col_as_slice(j)) {
                    *out += scale * v * left;
                }
            }
        }
    }

    /// `out = scale * X^T right`, of some columns of both.
    pub(super) fn inner(
        &self,
        rows: Range<usize>,
        right: &Mat<f32>,
        columns: Range<usize>,
        scale: f32,
        out: &mut Mat<f32>,
    ) {
        for (to, column) in columns.enumerate() {
            let right = right.col_as_slice(column);
            for (out, row) in out.col_as_slice_mut(to).iter_mut().zip(rows.clone()) {
                *out = scale * self.column(row).iter().map(|&(i, v)| v * right[i]).sum::<f32>();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::super::{Network, Signals, Trace};
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::neural::activation::Activation;

    #[test]
    fn few_inputs_and_dense_ones_are_left_alone() {
        assert!(Sparse::of(Mat::<f32>::zeros(WIDE - 1, 3).as_ref()).is_none());
        assert!(Sparse::of(Mat::<f32>::full(WIDE, 3, 1.0).as_ref()).is_none());
        assert!(Sparse::of(Mat::<f32>::zeros(WIDE, 3).as_ref()).is_some());
    }

    /// An equivalence: every operation gives the same as the product of matrices, but for rounding in 32 bits.
    #[test]
    fn sparse_inputs_are_the_same_inputs() {
        let (inputs, n) = (600, 9);
        let network = Network::new(inputs, None, &[7, 5], Activation::Relu, |_, fan_in| {
            (1.0 / (fan_in as f32).sqrt(), 0.1)
        });
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        let theta = network.init(&mut rng);
        let mut x = Mat::zeros(inputs, n);
        for j in 0..n {
            x[(0, j)] = rng.random_range(-1.0_f32..1.0);
            x[(rng.random_range(1..inputs), j)] = 1.0;
        }
        let weights: Vec<f32> = (0..n).map(|_| rng.random()).collect();
        let all = |dense: bool| {
            let (mut trace, mut signals) = (Trace::default(), Signals::default());
            network.forward(&theta, x.as_ref(), &mut trace);
            if dense {
                network.forward_densely(&theta, x.as_ref(), &mut trace);
            }
            assert_eq!(trace.sparse.is_none(), dense);
            network.signals(&theta, &trace, &mut signals);
            let mut gradient = vec![1.0; network.parameters()];
            network.pull_back(&trace, &signals, &weights, &mut Mat::new(), &mut gradient);
            let moved = network.push_forward(&trace, &signals, &theta, &mut Mat::new());
            let gram = network.gram_of_itself(&trace, &signals);
            let gram = gram.col_iter().flat_map(|c| c.iter().copied().collect::<Vec<f32>>());
            trace.output().iter().copied().chain(gradient).chain(moved).chain(gram).collect::<Vec<f32>>()
        };
        for (sparse, dense) in all(false).into_iter().zip(all(true)) {
            // Sums of a few numbers of size 1, in another order: some units in the last place of 32 bits.
            assert!((sparse - dense).abs() < 1e-5 * (1.0 + dense.abs()), "{sparse} {dense}");
        }
    }
}
