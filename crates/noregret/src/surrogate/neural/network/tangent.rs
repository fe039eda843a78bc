//! Products of the gradients by the parameters with each other: the empirical tangent kernel, its diagonal, and squares.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::{Network, Signals, Trace, dot, product};

/// Columns of a kernel matrix computed at a time.
const GRAM_PANEL: usize = 256;

/// Some columns of a matrix.
fn part<'a>(m: &'a Mat<f32>, columns: &Range<usize>) -> MatRef<'a, f32> {
    m.as_ref().subcols(columns.start, columns.len())
}

impl Network {
    /// `J J'^T`: the empirical tangent kernel between two sets of points, by the layerwise rule
    /// `sum_l (delta_l^T delta'_l) o (s_l^2 a_{l-1}^T a'_{l-1} + t_l^2)`.
    pub fn gram(&self, left: (&Trace, &Signals), right: (&Trace, &Signals)) -> Mat<f32> {
        self.gram_of(left, 0..left.0.output.len(), right, 0..right.0.output.len())
    }

    /// The tangent kernel of a set with itself: only one triangle is computed, panel by panel.
    pub fn gram_of_itself(&self, trace: &Trace, signals: &Signals) -> Mat<f32> {
        let n = trace.output.len();
        let panels: Vec<Mat<f32>> = (0..n.div_ceil(GRAM_PANEL))
            .into_par_iter()
            .map(|i| {
                let begin = i * GRAM_PANEL;
                let columns = begin..(begin + GRAM_PANEL).min(n);
                self.gram_of((trace, signals), begin..n, (trace, signals), columns)
            })
            .collect();
        let below = |i: usize, j: usize| {
            let begin = j / GRAM_PANEL * GRAM_PANEL;
            panels[j / GRAM_PANEL][(i - begin, j - begin)]
        };
        Mat::from_fn(n, n, |i, j| if i >= j { below(i, j) } else { below(j, i) })
    }

    fn gram_of(
        &self,
        left: (&Trace, &Signals),
        rows: Range<usize>,
        right: (&Trace, &Signals),
        columns: Range<usize>,
    ) -> Mat<f32> {
        let (n, m) = (rows.len(), columns.len());
        let last = self.last();
        let top = self.layers.len() - 1;
        let mut gram = Mat::zeros(n, m);
        let squared = |scale: f32| scale * scale;
        product(
            gram.as_mut(),
            part(&left.0.a[top], &rows).transpose(),
            part(&right.0.a[top], &columns),
            squared(last.weight_scale),
        );
        if last.has_biases() {
            for j in 0..m {
                gram.col_as_slice_mut(j).iter_mut().for_each(|k| *k += squared(last.bias_scale));
            }
        }
        let (mut inner, mut signal) = (Mat::zeros(n, m), Mat::zeros(n, m));
        for (l, layer) in self.hidden().iter().enumerate() {
            let scale = squared(layer.weight_scale);
            let (of_left, of_right) = (&left.0.a[l], &right.0.a[l]);
            if let Some(inputs) = left.0.sparse.as_ref().filter(|_| l == 0) {
                inputs.inner(rows.clone(), of_right, columns.clone(), scale, &mut inner);
            } else {
                let of_left = part(of_left, &rows).transpose();
                product(inner.as_mut(), of_left, part(of_right, &columns), scale);
            }
            let (lower, upper) = (part(&left.1.delta[l], &rows), part(&right.1.delta[l], &columns));
            product(signal.as_mut(), lower.transpose(), upper, 1.0);
            let shift = squared(layer.bias_scale);
            for j in 0..m {
                let pairs = inner.col_as_slice(j).iter().zip(signal.col_as_slice(j));
                for (k, (inner, signal)) in gram.col_as_slice_mut(j).iter_mut().zip(pairs) {
                    *k += signal * (inner + shift);
                }
            }
        }
        if self.front.is_some() {
            let (left, right) = (part(&left.1.front, &rows).transpose(), part(&right.1.front, &columns));
            matmul(gram.as_mut(), Accum::Add, left, right, 1.0, Par::Seq);
        }
        gram
    }

    /// The diagonal of [`Self::gram`] of a set with itself.
    pub fn squared_norms(&self, trace: &Trace, signals: &Signals) -> Vec<f32> {
        let last = self.last();
        let squared = |scale: f32| scale * scale;
        let top = &trace.a[self.layers.len() - 1];
        let norm = |j: usize| {
            let a = top.col_as_slice(j);
            let mut sum = squared(last.weight_scale) * dot(a, a) + squared(last.bias_scale);
            for (l, layer) in self.hidden().iter().enumerate() {
                let (a, delta) = (trace.a[l].col_as_slice(j), signals.delta[l].col_as_slice(j));
                sum +=
                    dot(delta, delta) * (squared(layer.weight_scale) * dot(a, a) + squared(layer.bias_scale));
            }
            if self.front.is_some() {
                sum += dot(signals.front.col_as_slice(j), signals.front.col_as_slice(j));
            }
            sum
        };
        (0..trace.output.len()).map(norm).collect()
    }

    /// Adds the squares of the points' gradients, element by element, to `out`.
    pub fn add_squared_gradients(&self, trace: &Trace, signals: &Signals, out: &mut [f32]) {
        let squares = |m: &Mat<f32>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)] * m[(i, j)]);
        let squared = |scale: f32| scale * scale;
        if let Some(front) = &self.front {
            for j in 0..signals.front.ncols() {
                let own = signals.front.col_as_slice(j);
                out[..front.parameters()].iter_mut().zip(own).for_each(|(out, g)| *out += g * g);
            }
        }
        for (l, layer) in self.hidden().iter().enumerate() {
            let (delta, a) = (squares(&signals.delta[l]), squares(&trace.a[l]));
            let scale = squared(layer.weight_scale);
            matmul(layer.weights_mut(out), Accum::Add, delta.as_ref(), a.transpose(), scale, Par::Seq);
            let biases = &mut out[layer.biases_range()];
            for j in 0..delta.ncols() {
                let shifted = biases.iter_mut().zip(delta.col_as_slice(j));
                shifted.for_each(|(out, d)| *out += squared(layer.bias_scale) * d);
            }
        }
        let last = self.last();
        let top = &trace.a[self.layers.len() - 1];
        for j in 0..top.ncols() {
            let own = out[last.offset..][..last.inputs].iter_mut().zip(top.col_as_slice(j));
            own.for_each(|(out, a)| *out += squared(last.weight_scale) * a * a);
        }
        if last.has_biases() {
            out[last.biases_range().start] += squared(last.bias_scale) * top.ncols() as f32;
        }
    }

    /// `sum_k g_k^2 / diagonal_k` for each point's gradient `g`: a matrix product a layer, since `g_ij^2` is
    /// `s^2 delta_i^2 a_j^2`. `inverse` has the inverse of the diagonal.
    pub fn weighted_squared_norms(&self, trace: &Trace, signals: &Signals, inverse: &[f32]) -> Vec<f32> {
        let n = trace.output.len();
        let squares = |m: &Mat<f32>| Mat::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)] * m[(i, j)]);
        let squared = |scale: f32| scale * scale;
        let mut out = vec![0.0_f32; n];
        if let Some(front) = &self.front {
            let inverse = &inverse[..front.parameters()];
            for (j, out) in out.iter_mut().enumerate() {
                *out +=
                    signals.front.col_as_slice(j).iter().zip(inverse).map(|(g, u)| g * g * u).sum::<f32>();
            }
        }
        for (l, layer) in self.hidden().iter().enumerate() {
            let (delta, a) = (squares(&signals.delta[l]), squares(&trace.a[l]));
            let mut moved = Mat::zeros(layer.outputs, n);
            product(moved.as_mut(), layer.weights(inverse), a.as_ref(), squared(layer.weight_scale));
            let biases = &inverse[layer.biases_range()];
            for (j, out) in out.iter_mut().enumerate() {
                let moved = moved.col_as_slice_mut(j);
                moved.iter_mut().zip(biases).for_each(|(m, u)| *m += squared(layer.bias_scale) * u);
                *out += dot(moved, delta.col_as_slice(j));
            }
        }
        let last = self.last();
        let top = &trace.a[self.layers.len() - 1];
        let weights = &inverse[last.offset..][..last.inputs];
        for (j, out) in out.iter_mut().enumerate() {
            let own = top.col_as_slice(j).iter().zip(weights).map(|(a, u)| a * a * u).sum::<f32>();
            *out += squared(last.weight_scale) * own;
            if last.has_biases() {
                *out += squared(last.bias_scale) * inverse[last.biases_range().start];
            }
        }
        out
    }
}
