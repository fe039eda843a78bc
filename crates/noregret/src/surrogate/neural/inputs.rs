//! From points of the unit cube to the inputs of a network: numbers as they are or centred, categories one-hot.

use faer::Mat;
use serde::{Deserialize, Serialize};

use super::convolution::Image;
use crate::space::{Kind, Space};
use crate::surrogate::points::Points;

/// How a coordinate becomes an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Inputs {
    /// As it is, from 0 to 1 (Dai et al. 2022).
    Unit,
    /// From -1 to 1 (Phan-Trong et al. 2023).
    #[default]
    Symmetric,
}

/// The inputs of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
enum InputColumn {
    /// To one input, `offset + scale u`.
    Number { input: usize, offset: f64, scale: f64 },
    /// To as many inputs as there are levels, of which one is 1 and the others 0.
    OneHot { first: usize, levels: u64 },
}

/// The encoding of a space.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    columns: Vec<InputColumn>,
    inputs: usize,
}

impl Encoder {
    /// For points of `space`. Images are taken from a pool as they are told, with one scale for all pixels.
    pub fn new(space: &Space, inputs: Inputs, image: Option<Image>) -> Self {
        let (offset, scale) = match inputs {
            Inputs::Unit => (0.0, 1.0),
            Inputs::Symmetric => (-1.0, 2.0),
        };
        if let (Some(pool), Some(_)) = (space.as_pool(), image) {
            let ranges = pool.ranges();
            let low = ranges.iter().map(|r| r.0).fold(f64::INFINITY, f64::min);
            let high = ranges.iter().map(|r| r.1).fold(f64::NEG_INFINITY, f64::max);
            let width = if high > low { high - low } else { 1.0 };
            // A pixel that never changes is encoded as 1/2, whatever it is.
            let column = |(input, (l, h)): (usize, &(f64, f64))| {
                let (from, by) = if h > l { (*l, h - l) } else { (*l, 0.0) };
                InputColumn::Number {
                    input,
                    offset: offset + scale * (from - low) / width,
                    scale: scale * by / width,
                }
            };
            return Self { columns: ranges.iter().enumerate().map(column).collect(), inputs: ranges.len() };
        }
        let mut next = 0;
        let columns = space
            .kinds()
            .iter()
            .map(|kind| {
                let input = next;
                match kind {
                    Kind::Category(levels) => {
                        next += usize::try_from(*levels).unwrap_or(usize::MAX);
                        InputColumn::OneHot { first: input, levels: *levels }
                    }
                    Kind::Continuous | Kind::Levels(_) => {
                        next += 1;
                        InputColumn::Number { input, offset, scale }
                    }
                }
            })
            .collect();
        Self { columns, inputs: next }
    }

    /// Number of inputs.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The inputs of some points, a point a column.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub fn encode(&self, points: &Points, range: std::ops::Range<usize>) -> Mat<f32> {
        let mut out = Mat::zeros(self.inputs, range.len());
        for (k, column) in self.columns.iter().enumerate() {
            let values = &points.coordinate(k)[range.clone()];
            match *column {
                InputColumn::Number { input, offset, scale } => {
                    for (j, u) in values.iter().enumerate() {
                        out[(input, j)] = (offset + scale * u) as f32;
                    }
                }
                InputColumn::OneHot { first, levels } => {
                    for (j, u) in values.iter().enumerate() {
                        out[(first + level(*u, levels), j)] = 1.0;
                    }
                }
            }
        }
        out
    }

    /// The gradient by the coordinates from that by the inputs; 0 for categories.
    pub fn gradient(&self, by_input: &[f32], gradient: &mut [f64]) {
        for (out, column) in gradient.iter_mut().zip(&self.columns) {
            *out = match *column {
                InputColumn::Number { input, scale, .. } => scale * f64::from(by_input[input]),
                InputColumn::OneHot { .. } => 0.0,
            };
        }
    }
}

/// Levels are encoded by the middles of as many equal parts of `[0, 1]`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "0 <= u <= 1, and levels were counted"
)]
fn level(u: f64, levels: u64) -> usize {
    ((u * levels as f64).floor() as usize).min(levels as usize - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Pool;

    #[test]
    fn numbers_are_centred_and_categories_one_hot() {
        let space = Space::builder()
            .float("x", 0.0, 10.0)
            .categorical("c", ["a", "b", "d"])
            .int("n", 1, 2)
            .build()
            .unwrap();
        let encoder = Encoder::new(&space, Inputs::Symmetric, None);
        let points = Points::from_columns(3, &[0.75, 0.5, 0.25, 0.0, 5.0 / 6.0, 0.75]);
        let x = encoder.encode(&points, 0..2);
        assert_eq!((encoder.inputs(), x.nrows()), (5, 5));
        assert_eq!(x.col_as_slice(0), [0.5, 0.0, 1.0, 0.0, -0.5]);
        assert_eq!(x.col_as_slice(1), [-1.0, 0.0, 0.0, 1.0, 0.5]);
        let mut gradient = vec![0.0; 3];
        encoder.gradient(&[1.0, 2.0, 3.0, 4.0, 5.0], &mut gradient);
        assert_eq!(gradient, vec![2.0, 0.0, 10.0]);
        assert_eq!(
            Encoder::new(&space, Inputs::Unit, None).encode(&points, 0..1).col_as_slice(0),
            [0.75, 0.0, 1.0, 0.0, 0.25]
        );
    }

    #[test]
    fn pixels_share_one_scale() {
        // The second pixel is always 4, the first goes from 0 to 8, the third only up to 2.
        let pool = Pool::new(vec![0.0, 4.0, 0.0, 8.0, 4.0, 2.0], 3).unwrap();
        let space = Space::pool(pool);
        let image = Image { height: 1, width: 3, pool: crate::surrogate::neural::Pooling::Max };
        let encoder = Encoder::new(&space, Inputs::Unit, Some(image));
        let rows = space.as_pool().unwrap().encoded(0..2);
        let x = encoder.encode(&Points::from_columns(3, &rows), 0..2);
        assert_eq!((x.col_as_slice(0), x.col_as_slice(1)), (&[0.0, 0.5, 0.0][..], &[1.0, 0.5, 0.25][..]));
    }
}
