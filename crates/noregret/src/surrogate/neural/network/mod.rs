//! A fully connected network with one output, in the parameterisation of the tangent kernel, with an optional convolution
//! in front; and the operations that everything else uses, each a few matrix products over many points.
//!
//! # Notation
//! | here         | shape       | meaning                                                                           |
//! |--------------|-------------|-----------------------------------------------------------------------------------|
//! | `a_l`        | out x n     | activations of layer `l`; `a_0` the inputs, a point a column                      |
//! | `z_l`        | out x n     | `s_l W_l a_{l-1} + t_l b_l`                                                       |
//! | `s_l`, `t_l` |             | `weight_scale` (`sigma_w / sqrt(fan in)`) and `bias_scale` (`sigma_b`)            |
//! | `theta`      | p           | all `W_l` (column-major) and `b_l`, layer after layer, standard normal at first   |
//! | `delta_l`    | out x n     | the signals: `df / dz_l`                                                          |
//!
//! Gradients by the parameters are outer products `s_l delta_l a_{l-1}^T`, which are never formed for single points: what is
//! asked of them are sums over points ([`Network::pull_back`]), products with a direction ([`Network::push_forward`]) and
//! products with each other ([`Network::gram`]).

mod sparse;
mod tangent;

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatMut, MatRef, Par};
use rand_distr::{Distribution, StandardNormal};

use super::activation::Activation;
use super::convolution::{Convolution, Image};
use crate::math::rng::Stream;
use sparse::Sparse;

/// Numbers in one of the matrices of a panel: 128 kB, of which a pass needs five.
const PANEL_SIZE: usize = 1 << 15;

/// One affine layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    inputs: usize,
    outputs: usize,
    /// Factor of the weights.
    weight_scale: f32,
    /// Factor of the biases; 0 for a layer without.
    bias_scale: f32,
    /// Where its parameters begin: weights, then biases.
    offset: usize,
}

impl Layer {
    fn weights<'a>(&self, theta: &'a [f32]) -> MatRef<'a, f32> {
        let size = self.inputs * self.outputs;
        MatRef::from_column_major_slice(&theta[self.offset..][..size], self.outputs, self.inputs)
    }

    fn weights_mut<'a>(&self, theta: &'a mut [f32]) -> MatMut<'a, f32> {
        let size = self.inputs * self.outputs;
        MatMut::from_column_major_slice_mut(&mut theta[self.offset..][..size], self.outputs, self.inputs)
    }

    fn has_biases(&self) -> bool {
        self.bias_scale != 0.0
    }

    fn biases_range(&self) -> Range<usize> {
        let begin = self.offset + self.inputs * self.outputs;
        begin..begin + if self.has_biases() { self.outputs } else { 0 }
    }

    fn end(&self) -> usize {
        self.biases_range().end
    }
}

/// The shape of a network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    front: Option<Convolution>,
    layers: Vec<Layer>,
    activation: Activation,
}

/// The results of a forward pass over some points. Reused as scratch; empty before the first pass.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub(super) front: super::convolution::ConvolutionTrace,
    /// `a_0, ..., a_L`: inputs of each layer.
    pub(super) a: Vec<Mat<f32>>,
    /// `a_0`, if it is mostly zeros.
    sparse: Option<Sparse>,
    /// `z_1, ..., z_L` of the hidden layers.
    z: Vec<Mat<f32>>,
    /// `phi'(z_l)`.
    slope: Vec<Mat<f32>>,
    output: Vec<f32>,
}

/// Signals of some points. With their trace they determine the gradients. Reused as scratch.
#[derive(Clone, Debug)]
pub struct Signals {
    /// `delta_l` of the hidden layers.
    pub(super) delta: Vec<Mat<f32>>,
    /// Gradients by the parameters of the convolution, one point a column.
    pub(super) front: Mat<f32>,
    scratch: Mat<f32>,
}

impl Default for Signals {
    fn default() -> Self {
        Self { delta: Vec::new(), front: Mat::new(), scratch: Mat::new() }
    }
}

impl Trace {
    /// The network's value at each point.
    pub fn output(&self) -> &[f32] {
        &self.output
    }
}

/// Makes `m` a matrix of this shape; its elements are arbitrary.
pub(super) fn reshape(m: &mut Mat<f32>, rows: usize, columns: usize) {
    if m.nrows() != rows || m.ncols() != columns {
        *m = Mat::zeros(rows, columns);
    }
}

/// `out = scale * left * right`.
pub(super) fn product(out: MatMut<'_, f32>, left: MatRef<'_, f32>, right: MatRef<'_, f32>, scale: f32) {
    matmul(out, Accum::Replace, left, right, scale, Par::Seq);
}

impl Network {
    /// A network of hidden layers of these widths. `scales(l, fan_in)` are the factors of weights and biases of the `l`-th
    /// layer, counted from 0; the last one is the output.
    pub fn new(
        inputs: usize,
        image: Option<Image>,
        widths: &[usize],
        activation: Activation,
        scales: impl Fn(usize, usize) -> (f32, f32),
    ) -> Self {
        let (mut widths, mut depth) = (widths, 0);
        let front = image.map(|image| {
            let (weight_scale, bias_scale) = scales(0, Convolution::PATCH);
            depth = 1;
            let channels = widths[0];
            widths = &widths[1..];
            Convolution { image, channels, weight_scale, bias_scale, activation }
        });
        let mut offset = front.as_ref().map_or(0, Convolution::parameters);
        let mut fan_in = front.as_ref().map_or(inputs, Convolution::outputs);
        let mut layers = Vec::with_capacity(widths.len() + 1);
        for outputs in widths.iter().copied().chain([1]) {
            let (weight_scale, bias_scale) = scales(depth, fan_in);
            let layer = Layer { inputs: fan_in, outputs, weight_scale, bias_scale, offset };
            offset = layer.end();
            layers.push(layer);
            fan_in = outputs;
            depth += 1;
        }
        Self { front, layers, activation }
    }

    /// Number of parameters, `p`.
    pub fn parameters(&self) -> usize {
        self.layers.last().map_or(0, Layer::end)
    }

    /// Coordinates of a point.
    pub fn inputs(&self) -> usize {
        self.front.as_ref().map_or_else(|| self.layers[0].inputs, |front| front.image.pixels())
    }

    /// Units of the last hidden layer.
    pub fn features(&self) -> usize {
        self.last().inputs
    }

    /// Whether there is a convolution, whose input gradients are not implemented.
    pub fn is_convolutional(&self) -> bool {
        self.front.is_some()
    }

    /// Points to evaluate at a time, so that their activations stay in a cache; images have thousands of them each.
    pub fn panel(&self) -> usize {
        if self.is_convolutional() {
            return 32;
        }
        let widest = self.layers.iter().map(|layer| layer.inputs).max().unwrap_or(1);
        (1 << (PANEL_SIZE / widest.max(1)).max(1).ilog2()).clamp(32, 256)
    }

    fn last(&self) -> &Layer {
        &self.layers[self.layers.len() - 1]
    }

    fn hidden(&self) -> &[Layer] {
        &self.layers[..self.layers.len() - 1]
    }

    /// Where the biases of all layers are.
    pub fn biases(&self) -> impl Iterator<Item = Range<usize>> {
        self.layers.iter().map(Layer::biases_range)
    }

    /// Where the parameters of each layer are, weights and biases, and how many inputs a unit of it has; the convolution is the first.
    pub fn layers(&self) -> impl Iterator<Item = (Range<usize>, usize)> {
        let front = self.front.as_ref().map(|front| (0..front.parameters(), Convolution::PATCH));
        front.into_iter().chain(self.layers.iter().map(|layer| (layer.offset..layer.end(), layer.inputs)))
    }

    /// Standard normal parameters: `init` of Dai et al. 2022.
    pub fn init(&self, rng: &mut Stream) -> Vec<f32> {
        (0..self.parameters()).map(|_| StandardNormal.sample(rng)).collect()
    }

    /// Where the parameters of the last layer, weights and biases, are.
    pub fn last_layer(&self) -> Range<usize> {
        self.last().offset..self.last().end()
    }

    /// Evaluates the network at every column of `x`.
    pub fn forward(&self, theta: &[f32], x: MatRef<'_, f32>, trace: &mut Trace) {
        trace.sparse = if self.front.is_none() { Sparse::of(x) } else { None };
        self.forward_as_it_is(theta, x, trace);
    }

    /// The same without a look for zeros.
    #[cfg(test)]
    fn forward_densely(&self, theta: &[f32], x: MatRef<'_, f32>, trace: &mut Trace) {
        trace.sparse = None;
        self.forward_as_it_is(theta, x, trace);
    }

    fn forward_as_it_is(&self, theta: &[f32], x: MatRef<'_, f32>, trace: &mut Trace) {
        let n = x.ncols();
        let Trace { front: front_trace, a, sparse, z, slope, output } = trace;
        a.resize_with(self.layers.len(), Mat::new);
        z.resize_with(self.layers.len() - 1, Mat::new);
        slope.resize_with(self.layers.len() - 1, Mat::new);
        if let Some(front) = &self.front {
            front.forward(theta, x, front_trace, &mut a[0]);
        } else {
            reshape(&mut a[0], x.nrows(), n);
            a[0].copy_from(x);
        }
        for (l, layer) in self.hidden().iter().enumerate() {
            let (before, after) = a.split_at_mut(l + 1);
            reshape(&mut z[l], layer.outputs, n);
            reshape(&mut slope[l], layer.outputs, n);
            reshape(&mut after[0], layer.outputs, n);
            match sparse.as_ref().filter(|_| l == 0) {
                Some(inputs) => inputs.product(layer.weights(theta), layer.weight_scale, &mut z[l]),
                None => product(z[l].as_mut(), layer.weights(theta), before[l].as_ref(), layer.weight_scale),
            }
            let biases = &theta[layer.biases_range()];
            for j in 0..n {
                let z = z[l].col_as_slice_mut(j);
                for (z, b) in z.iter_mut().zip(biases) {
                    *z += layer.bias_scale * b;
                }
                self.activation.apply(z, after[0].col_as_slice_mut(j), slope[l].col_as_slice_mut(j));
            }
        }
        let last = self.last();
        output.clear();
        output.resize(n, 0.0);
        let out = MatMut::from_column_major_slice_mut(output, 1, n);
        product(out, last.weights(theta), a[self.layers.len() - 1].as_ref(), last.weight_scale);
        if last.has_biases() {
            let shift = last.bias_scale * theta[last.biases_range().start];
            output.iter_mut().for_each(|y| *y += shift);
        }
    }

    /// The signals of the points of a pass.
    pub fn signals(&self, theta: &[f32], trace: &Trace, signals: &mut Signals) {
        let n = trace.output.len();
        let Signals { delta, front: front_gradients, scratch } = signals;
        delta.resize_with(self.layers.len() - 1, Mat::new);
        // The output's own signal is 1, so what it sends back is the same for all points: its weights.
        let mut above: Option<usize> = None;
        for l in (0..self.hidden().len()).rev() {
            let (lower, upper) = delta.split_at_mut(l + 1);
            let (own, slope) = (&mut lower[l], &trace.slope[l]);
            reshape(own, self.layers[l].outputs, n);
            self.send_back(l + 1, theta, above.map(|_| upper[0].as_ref()), own);
            for j in 0..n {
                for (delta, slope) in own.col_as_slice_mut(j).iter_mut().zip(slope.col_as_slice(j)) {
                    *delta *= slope;
                }
            }
            above = Some(l);
        }
        if let Some(front) = &self.front {
            reshape(scratch, front.outputs(), n);
            self.send_back(0, theta, delta.first().map(Mat::as_ref), scratch);
            front.gradients(&trace.front, scratch.as_ref(), front_gradients);
        }
    }

    /// `out = s W^T delta` of layer `l`; without signals it is the output layer, whose signals are 1.
    fn send_back(&self, l: usize, theta: &[f32], delta: Option<MatRef<'_, f32>>, out: &mut Mat<f32>) {
        let layer = &self.layers[l];
        let weights = layer.weights(theta);
        if let Some(delta) = delta {
            product(out.as_mut(), weights.transpose(), delta, layer.weight_scale);
            return;
        }
        let row: Vec<f32> = (0..layer.inputs).map(|i| layer.weight_scale * weights[(0, i)]).collect();
        for j in 0..out.ncols() {
            out.col_as_slice_mut(j).copy_from_slice(&row);
        }
    }

    /// `J^T weights`: the sum of the points' gradients by the parameters, weighted. Overwrites `out`.
    pub fn pull_back(
        &self,
        trace: &Trace,
        signals: &Signals,
        weights: &[f32],
        scratch: &mut Mat<f32>,
        out: &mut [f32],
    ) {
        let n = weights.len();
        let column = MatRef::from_column_major_slice(weights, n, 1);
        if let Some(front) = &self.front {
            let part = &mut out[..front.parameters()];
            let part = MatMut::from_column_major_slice_mut(part, front.parameters(), 1);
            product(part, signals.front.as_ref(), column, 1.0);
        }
        for (l, layer) in self.hidden().iter().enumerate() {
            let delta = &signals.delta[l];
            reshape(scratch, layer.outputs, n);
            for j in 0..n {
                let scaled = scratch.col_as_slice_mut(j).iter_mut().zip(delta.col_as_slice(j));
                scaled.for_each(|(scaled, delta)| *scaled = weights[j] * delta);
            }
            let weights = layer.weights_mut(out);
            match trace.sparse.as_ref().filter(|_| l == 0) {
                Some(inputs) => inputs.outer(scratch, layer.weight_scale, weights),
                None => product(weights, scratch.as_ref(), trace.a[l].transpose(), layer.weight_scale),
            }
            let biases = layer.biases_range();
            let len = biases.len();
            if len > 0 {
                let part = MatMut::from_column_major_slice_mut(&mut out[biases], len, 1);
                product(part, delta.as_ref(), column, layer.bias_scale);
            }
        }
        let last = self.last();
        let top = trace.a[self.layers.len() - 1].as_ref();
        let part = &mut out[last.offset..][..last.inputs];
        product(MatMut::from_column_major_slice_mut(part, last.inputs, 1), top, column, last.weight_scale);
        if last.has_biases() {
            out[last.biases_range().start] = last.bias_scale * weights.iter().sum::<f32>();
        }
    }

    /// `J direction`: the derivative of the values along a direction of the parameters, at each point.
    pub fn push_forward(
        &self,
        trace: &Trace,
        signals: &Signals,
        direction: &[f32],
        scratch: &mut Mat<f32>,
    ) -> Vec<f32> {
        let n = trace.output.len();
        let mut out = vec![0.0_f32; n];
        if let Some(front) = &self.front {
            let part =
                MatRef::from_column_major_slice(&direction[..front.parameters()], 1, front.parameters());
            product(MatMut::from_column_major_slice_mut(&mut out, 1, n), part, signals.front.as_ref(), 1.0);
        }
        for (l, layer) in self.hidden().iter().enumerate() {
            reshape(scratch, layer.outputs, n);
            let (weights, scale) = (layer.weights(direction), layer.weight_scale);
            match trace.sparse.as_ref().filter(|_| l == 0) {
                Some(inputs) => inputs.product(weights, scale, scratch),
                None => product(scratch.as_mut(), weights, trace.a[l].as_ref(), scale),
            }
            let biases = &direction[layer.biases_range()];
            for (j, out) in out.iter_mut().enumerate() {
                let (moved, delta) = (scratch.col_as_slice_mut(j), signals.delta[l].col_as_slice(j));
                for (moved, b) in moved.iter_mut().zip(biases) {
                    *moved += layer.bias_scale * b;
                }
                *out += dot(moved, delta);
            }
        }
        let last = self.last();
        let mut along = vec![0.0_f32; n];
        let top = trace.a[self.layers.len() - 1].as_ref();
        product(
            MatMut::from_column_major_slice_mut(&mut along, 1, n),
            last.weights(direction),
            top,
            last.weight_scale,
        );
        let shift =
            if last.has_biases() { last.bias_scale * direction[last.biases_range().start] } else { 0.0 };
        out.iter_mut().zip(&along).for_each(|(out, along)| *out += along + shift);
        out
    }

    /// Activations of the last hidden layer, one point a column.
    pub fn last_hidden<'a>(&self, trace: &'a Trace) -> MatRef<'a, f32> {
        trace.a[self.layers.len() - 1].as_ref()
    }

    /// `df/dx` at each point of a pass, one a column; there must be no convolution.
    pub fn input_gradients(&self, theta: &[f32], signals: &Signals, points: usize) -> Mat<f32> {
        let mut out = Mat::zeros(self.inputs(), points);
        self.send_back(0, theta, signals.delta.first().map(Mat::as_ref), &mut out);
        out
    }

    /// Value and input gradient of `x -> J(x; theta) direction` at the points of a pass, whose signals are at hand; there must
    /// be no convolution.
    ///
    /// Forward along the direction (`dz_l = s (V_l a_{l-1} + W_l da_{l-1}) + t v_l`, `da_l = phi' dz_l`), then backward through
    /// that: the adjoints of `dz` are the signals, those of `z` obey
    /// `lambda_l = phi' (s V_{l+1}^T delta_{l+1} + s W_{l+1}^T lambda_{l+1}) + phi'' dz_l (s W_{l+1}^T delta_{l+1})`.
    pub fn push_forward_with_input_gradients(
        &self,
        theta: &[f32],
        direction: &[f32],
        trace: &Trace,
        signals: &Signals,
    ) -> (Vec<f32>, Mat<f32>) {
        let n = trace.output.len();
        let hidden = self.hidden().len();
        // Forward.
        let mut dz: Vec<Mat<f32>> = Vec::with_capacity(hidden);
        let mut da: Option<Mat<f32>> = None;
        for (l, layer) in self.hidden().iter().enumerate() {
            let mut own = Mat::zeros(layer.outputs, n);
            product(own.as_mut(), layer.weights(direction), trace.a[l].as_ref(), layer.weight_scale);
            if let Some(da) = &da {
                let (weights, scale) = (layer.weights(theta), layer.weight_scale);
                matmul(own.as_mut(), Accum::Add, weights, da.as_ref(), scale, Par::Seq);
            }
            let biases = &direction[layer.biases_range()];
            for j in 0..n {
                own.col_as_slice_mut(j).iter_mut().zip(biases).for_each(|(z, b)| *z += layer.bias_scale * b);
            }
            let slope = &trace.slope[l];
            da = Some(Mat::from_fn(layer.outputs, n, |i, j| slope[(i, j)] * own[(i, j)]));
            dz.push(own);
        }
        let values = self.push_forward(trace, signals, direction, &mut Mat::new());
        // Backward.
        let mut lambda: Option<Mat<f32>> = None;
        for l in (0..hidden).rev() {
            let above = &self.layers[l + 1];
            let delta_above = signals.delta.get(l + 1).map(Mat::as_ref);
            let mut arrived = Mat::zeros(self.layers[l].outputs, n);
            self.send_back(l + 1, direction, delta_above, &mut arrived);
            if let Some(lambda) = &lambda {
                let (weights, scale) = (above.weights(theta).transpose(), above.weight_scale);
                matmul(arrived.as_mut(), Accum::Add, weights, lambda.as_ref(), scale, Par::Seq);
            }
            let mut through = Mat::zeros(self.layers[l].outputs, n);
            self.send_back(l + 1, theta, delta_above, &mut through);
            let (z, a, slope) = (&trace.z[l], &trace.a[l + 1], &trace.slope[l]);
            lambda = Some(Mat::from_fn(self.layers[l].outputs, n, |i, j| {
                let curvature = self.activation.curvature(z[(i, j)], a[(i, j)], slope[(i, j)]);
                slope[(i, j)] * arrived[(i, j)] + curvature * dz[l][(i, j)] * through[(i, j)]
            }));
        }
        let mut gradient = Mat::zeros(self.inputs(), n);
        self.send_back(0, direction, signals.delta.first().map(Mat::as_ref), &mut gradient);
        if let Some(lambda) = &lambda {
            let first = &self.layers[0];
            let (weights, scale) = (first.weights(theta).transpose(), first.weight_scale);
            matmul(gradient.as_mut(), Accum::Add, weights, lambda.as_ref(), scale, Par::Seq);
        }
        (values, gradient)
    }
}

/// Inner product, over a fixed number of lanes.
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    const LANES: usize = 16;
    let (a_blocks, a_rest) = a.as_chunks::<LANES>();
    let (b_blocks, b_rest) = b.as_chunks::<LANES>();
    let mut lanes = [0.0_f32; LANES];
    for (p, q) in a_blocks.iter().zip(b_blocks) {
        for i in 0..LANES {
            lanes[i] += p[i] * q[i];
        }
    }
    for (i, (p, q)) in a_rest.iter().zip(b_rest).enumerate() {
        lanes[i] += p * q;
    }
    lanes.iter().sum()
}
