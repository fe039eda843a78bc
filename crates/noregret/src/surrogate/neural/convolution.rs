//! The front of a network for images: a 3 x 3 convolution that keeps the size, the activation, and pooling over 3 x 3 pixels
//! (Dai et al. 2022, App. F.4, which prints neither strides nor padding; that the size is kept is their code).
//!
//! The layerwise rule for tangent kernels would have a double sum over positions here. The gradients themselves are small, ten
//! numbers a channel, so they are formed for each point.

use faer::{Mat, MatMut, MatRef};
use serde::{Deserialize, Serialize};

use super::activation::Activation;
use super::network::{product, reshape};
use crate::math::range::Range;

/// How 3 x 3 neighbouring pixels are pooled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pooling {
    /// Their maximum (Dai et al. 2022, App. F.4); windows do not overlap, which is not printed.
    #[default]
    Max,
    /// Their mean; windows are two pixels apart (their code).
    Average,
}

impl Pooling {
    fn stride(self) -> usize {
        match self {
            Pooling::Max => 3,
            Pooling::Average => 2,
        }
    }
}

/// Pixels of a side: a window must fit in.
pub(crate) const PIXELS: Range = Range::new(3.0, 1_000.0);

/// The points are images of one channel, row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Image {
    /// Rows of pixels. From 3 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = PIXELS.stated()))]
    pub height: usize,
    /// Pixels in a row. From 3 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = PIXELS.stated()))]
    pub width: usize,
    /// How neighbouring pixels are pooled.
    #[serde(default)]
    pub pool: Pooling,
}

/// Side of the windows of convolution and pooling.
const SIDE: usize = 3;

impl Image {
    /// Number of pixels.
    pub fn pixels(&self) -> usize {
        self.height * self.width
    }

    /// Whether a window fits in.
    pub fn is_valid(&self) -> bool {
        self.height >= SIDE && self.width >= SIDE
    }

    /// Rows and columns after pooling.
    fn pooled(&self) -> (usize, usize) {
        let count = |size: usize| (size - SIDE) / self.pool.stride() + 1;
        (count(self.height), count(self.width))
    }
}

/// Convolution, activation and pooling.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Convolution {
    pub(super) image: Image,
    pub(super) channels: usize,
    pub(super) weight_scale: f32,
    pub(super) bias_scale: f32,
    pub(super) activation: Activation,
}

/// The results of a forward pass.
#[derive(Clone, Debug)]
pub(super) struct ConvolutionTrace {
    /// The 9 pixels around each pixel, 0 beyond the border; 9 x (pixels n).
    patches: Mat<f32>,
    z: Mat<f32>,
    value: Mat<f32>,
    slope: Mat<f32>,
    /// Which pixel each maximum came from; one for each channel, window and point.
    winners: Vec<u32>,
}

impl Default for ConvolutionTrace {
    fn default() -> Self {
        let (patches, z, value, slope) = (Mat::new(), Mat::new(), Mat::new(), Mat::new());
        Self { patches, z, value, slope, winners: Vec::new() }
    }
}

impl Convolution {
    /// Pixels that a unit sees.
    pub(super) const PATCH: usize = SIDE * SIDE;

    /// Weights (channels x 9, column-major), then biases if there are any.
    pub(super) fn parameters(&self) -> usize {
        self.channels * (Self::PATCH + usize::from(self.bias_scale != 0.0))
    }

    /// Features of an image after pooling: channels, window by window.
    pub(super) fn outputs(&self) -> usize {
        let (rows, columns) = self.image.pooled();
        self.channels * rows * columns
    }

    fn patches(&self, x: MatRef<'_, f32>, out: &mut Mat<f32>) {
        let Image { height, width, .. } = self.image;
        let pixels = height * width;
        reshape(out, Self::PATCH, pixels * x.ncols());
        for j in 0..x.ncols() {
            for row in 0..height {
                for column in 0..width {
                    let patch = out.col_as_slice_mut(j * pixels + row * width + column);
                    for (k, pixel) in patch.iter_mut().enumerate() {
                        // Shifted by one, so that the border has no negative numbers.
                        let (r, c) = (row + k / SIDE, column + k % SIDE);
                        let inside = r >= 1 && c >= 1 && r <= height && c <= width;
                        *pixel = if inside { x[((r - 1) * width + c - 1, j)] } else { 0.0 };
                    }
                }
            }
        }
    }

    /// Writes the pooled features of every image, a column of `x` each, to `out`.
    pub(super) fn forward(
        &self,
        theta: &[f32],
        x: MatRef<'_, f32>,
        trace: &mut ConvolutionTrace,
        out: &mut Mat<f32>,
    ) {
        let (n, pixels) = (x.ncols(), self.image.pixels());
        self.patches(x, &mut trace.patches);
        for m in [&mut trace.z, &mut trace.value, &mut trace.slope] {
            reshape(m, self.channels, pixels * n);
        }
        let weights = MatRef::from_column_major_slice(
            &theta[..self.channels * Self::PATCH],
            self.channels,
            Self::PATCH,
        );
        product(trace.z.as_mut(), weights, trace.patches.as_ref(), self.weight_scale);
        let biases = &theta[self.channels * Self::PATCH..self.parameters()];
        for column in 0..pixels * n {
            let z = trace.z.col_as_slice_mut(column);
            z.iter_mut().zip(biases).for_each(|(z, b)| *z += self.bias_scale * b);
            self.activation.apply(
                z,
                trace.value.col_as_slice_mut(column),
                trace.slope.col_as_slice_mut(column),
            );
        }
        reshape(out, self.outputs(), n);
        trace.winners.clear();
        trace.winners.resize(if self.image.pool == Pooling::Max { self.outputs() * n } else { 0 }, 0);
        for j in 0..n {
            let column = out.col_as_slice_mut(j);
            for (window, out) in column.chunks_exact_mut(self.channels).enumerate() {
                match self.image.pool {
                    Pooling::Average => {
                        out.fill(0.0);
                        for pixel in self.window(window) {
                            let value = trace.value.col_as_slice(j * pixels + pixel);
                            out.iter_mut().zip(value).for_each(|(out, v)| *out += v / Self::PATCH as f32);
                        }
                    }
                    Pooling::Max => {
                        let first = j * self.outputs() + window * self.channels;
                        let winners = &mut trace.winners[first..first + self.channels];
                        out.fill(f32::NEG_INFINITY);
                        for pixel in self.window(window) {
                            let value = trace.value.col_as_slice(j * pixels + pixel);
                            for ((out, winner), v) in out.iter_mut().zip(&mut *winners).zip(value) {
                                if v > out {
                                    *out = *v;
                                    *winner = u32::try_from(pixel).unwrap_or(u32::MAX);
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// The pixels of a window.
    fn window(&self, window: usize) -> impl Iterator<Item = usize> + use<> {
        let (stride, width) = (self.image.pool.stride(), self.image.width);
        let (_, columns) = self.image.pooled();
        let (top, left) = (window / columns * stride, window % columns * stride);
        (0..Self::PATCH).map(move |k| (top + k / SIDE) * width + left + k % SIDE)
    }

    /// The gradient by weights and biases of each point, given the signals at the pooled features; one point a column.
    pub(super) fn gradients(&self, trace: &ConvolutionTrace, arrived: MatRef<'_, f32>, out: &mut Mat<f32>) {
        let (n, pixels) = (arrived.ncols(), self.image.pixels());
        reshape(out, self.parameters(), n);
        let mut delta = Mat::<f32>::zeros(self.channels, pixels);
        for j in 0..n {
            delta.fill(0.0);
            for window in 0..self.outputs() / self.channels {
                let rows = window * self.channels;
                match self.image.pool {
                    Pooling::Average => {
                        for pixel in self.window(window) {
                            for (c, delta) in delta.col_as_slice_mut(pixel).iter_mut().enumerate() {
                                *delta += arrived[(rows + c, j)] / Self::PATCH as f32;
                            }
                        }
                    }
                    Pooling::Max => {
                        for c in 0..self.channels {
                            let pixel = trace.winners[j * self.outputs() + rows + c] as usize;
                            delta[(c, pixel)] += arrived[(rows + c, j)];
                        }
                    }
                }
            }
            let own = out.col_as_slice_mut(j);
            let (weights, biases) = own.split_at_mut(self.channels * Self::PATCH);
            for pixel in 0..pixels {
                let slope = trace.slope.col_as_slice(j * pixels + pixel);
                delta.col_as_slice_mut(pixel).iter_mut().zip(slope).for_each(|(d, s)| *d *= s);
            }
            let patches = trace.patches.as_ref().subcols(j * pixels, pixels);
            let weights = MatMut::from_column_major_slice_mut(weights, self.channels, Self::PATCH);
            product(weights, delta.as_ref(), patches.transpose(), self.weight_scale);
            for (c, bias) in biases.iter_mut().enumerate() {
                *bias = self.bias_scale * (0..pixels).map(|pixel| delta[(c, pixel)]).sum::<f32>();
            }
        }
    }
}
