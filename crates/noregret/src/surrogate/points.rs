//! Points stored by coordinate, so that loops over points are loops over contiguous memory.

use std::ops::Range;

/// A growing set of points of the unit cube, one contiguous array per coordinate.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Points {
    coordinates: Vec<Vec<f64>>,
    len: usize,
}

impl Points {
    /// No points yet, of `dims` coordinates each.
    pub fn new(dims: usize) -> Self {
        Self { coordinates: vec![Vec::new(); dims], len: 0 }
    }

    /// Points given one after another (`d x n`, column-major).
    pub fn from_columns(dims: usize, columns: &[f64]) -> Self {
        let len = columns.len().checked_div(dims).unwrap_or(0);
        assert_eq!(columns.len(), dims * len, "every point needs all its coordinates");
        let coordinates =
            (0..dims).map(|k| columns.iter().skip(k).step_by(dims).copied().collect()).collect();
        Self { coordinates, len }
    }

    /// Points whose coordinates `fill(k, out)` appends one after another, `len` values each.
    pub(crate) fn by_coordinate(dims: usize, len: usize, mut fill: impl FnMut(usize, &mut Vec<f64>)) -> Self {
        let coordinate = |k: usize| {
            let mut values = Vec::with_capacity(len);
            fill(k, &mut values);
            assert_eq!(values.len(), len, "every point needs all its coordinates");
            values
        };
        Self { coordinates: (0..dims).map(coordinate).collect(), len }
    }

    /// Number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of coordinates.
    pub fn dims(&self) -> usize {
        self.coordinates.len()
    }

    /// Coordinate `k` of all points.
    pub fn coordinate(&self, k: usize) -> &[f64] {
        &self.coordinates[k]
    }

    /// Adds a point.
    pub fn push(&mut self, x: &[f64]) {
        assert_eq!(x.len(), self.dims(), "push: one value per coordinate");
        for (coordinate, value) in self.coordinates.iter_mut().zip(x) {
            coordinate.push(*value);
        }
        self.len += 1;
    }

    /// Forgets all but the first `len` points.
    pub fn truncate(&mut self, len: usize) {
        for coordinate in &mut self.coordinates {
            coordinate.truncate(len);
        }
        self.len = self.len.min(len);
    }

    /// The points of a range.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self {
            coordinates: self.coordinates.iter().map(|c| c[range.clone()].to_vec()).collect(),
            len: range.len(),
        }
    }

    /// The points of the given indices, in that order.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Self {
        let coordinates = self.coordinates.iter().map(|c| indices.iter().map(|&i| c[i]).collect()).collect();
        Self { coordinates, len: indices.len() }
    }

    /// Point `i`, written to `out`.
    pub fn copy_point(&self, i: usize, out: &mut [f64]) {
        for (value, coordinate) in out.iter_mut().zip(&self.coordinates) {
            *value = coordinate[i];
        }
    }

    /// Point `i`.
    pub fn point(&self, i: usize) -> Vec<f64> {
        self.coordinates.iter().map(|c| c[i]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_and_pushes_agree() {
        let columns = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        let whole = Points::from_columns(2, &columns);
        let mut grown = Points::new(2);
        columns.chunks(2).for_each(|x| grown.push(x));
        assert_eq!(whole, grown);
        assert_eq!(whole.coordinate(1), [2.0, 4.0, 6.0]);
        assert_eq!(whole.point(2), [5.0, 6.0]);
        assert_eq!(whole.select(&[2, 0]).coordinate(0), [5.0, 1.0]);
        grown.truncate(1);
        assert_eq!(grown, whole.slice(0..1));
    }
}
