//! A finite set of candidates, described by numeric features: a library of molecules, a table of past designs.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::encode::{coordinate_of_float, float_at};
use super::ids::{Ids, UniqueIds};
use super::{Params, SpaceError, Value, name};

/// Rows of numeric features from which a study chooses; cheap to clone.
///
/// A point of a pool is identified by its row. Each feature is scaled to `[0, 1]` by its smallest and largest value, and
/// to 0.5 if it is constant. Features are kept once, as 32-bit floats: 4 bytes a cell, and six to seven
/// digits. Coordinates are computed when they are needed.
#[derive(Clone, Debug)]
pub struct Pool {
    /// Row by row.
    features: Arc<Vec<f32>>,
    /// Smallest and largest value of each feature.
    ranges: Arc<[(f64, f64)]>,
    names: Arc<[String]>,
    ids: Option<Arc<UniqueIds>>,
}

impl Pool {
    /// A pool from its features, row by row, `dims` to a row, rounded to 32-bit floats. They are called `x0`, `x1`, ...
    /// and so on.
    pub fn new(features: Vec<f64>, dims: usize) -> Result<Self, SpaceError> {
        let is_too_large = |x: &f64| x.is_finite() && !narrow(*x).is_finite();
        if let Some(cell) = features.iter().position(is_too_large).filter(|_| dims > 0) {
            let (row, column, value) = (cell / dims, cell % dims, features[cell]);
            return Err(SpaceError::FeatureTooLarge { row, column, value });
        }
        Self::from_f32(features.into_iter().map(narrow).collect(), dims)
    }

    /// A pool from its features, row by row, `dims` to a row, without a copy. They are called `x0`, `x1`, ... and so on.
    pub fn from_f32(features: Vec<f32>, dims: usize) -> Result<Self, SpaceError> {
        if features.is_empty() || dims == 0 {
            let rows = features.len().checked_div(dims).unwrap_or(0);
            return Err(SpaceError::EmptyPool { rows, dims });
        }
        if !features.len().is_multiple_of(dims) {
            return Err(SpaceError::RaggedPool { cells: features.len(), dims });
        }
        if let Some(cell) = features.iter().position(|x| !x.is_finite()) {
            let (row, column, value) = (cell / dims, cell % dims, features[cell].into());
            return Err(SpaceError::NonFiniteFeature { row, column, value });
        }
        let ranges = ranges(&features, dims);
        let names = (0..dims).map(name::numbered).collect();
        Ok(Self { features: Arc::new(features), ranges: ranges.into(), names, ids: None })
    }

    /// Names the rows; ids must be unique. Any list of strings converts.
    pub fn with_ids(mut self, ids: impl Into<Ids>) -> Result<Self, SpaceError> {
        let ids = ids.into();
        if ids.len() != self.len() {
            return Err(SpaceError::IdCount { rows: self.len(), ids: ids.len() });
        }
        self.ids = Some(Arc::new(ids.try_into()?));
        Ok(self)
    }

    /// Names the features; names must be unique.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, SpaceError> {
        if names.len() != self.dims() {
            return Err(SpaceError::NameCount { dims: self.dims(), names: names.len() });
        }
        for (i, name) in names.iter().enumerate() {
            if names[..i].contains(name) {
                return Err(SpaceError::DuplicateName { name: name.clone() });
            }
        }
        self.names = names.into();
        Ok(self)
    }

    /// Number of rows, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.features.len() / self.dims()
    }

    /// Number of features.
    pub fn dims(&self) -> usize {
        self.ranges.len()
    }

    /// Names of the features, in order.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn shared_names(&self) -> Arc<[String]> {
        Arc::clone(&self.names)
    }

    /// Smallest and largest value of each feature.
    pub fn ranges(&self) -> &[(f64, f64)] {
        &self.ranges
    }

    /// The features, row by row.
    pub fn features(&self) -> &[f32] {
        &self.features
    }

    /// A digest of all features, the same on every machine (FNV-1a over their 32 bits).
    pub fn digest(&self) -> u64 {
        self.features.iter().fold(0xcbf2_9ce4_8422_2325, |hash, x| {
            (hash ^ u64::from(x.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
        })
    }

    /// The points of a range of rows in the unit cube, d x A column-major (a row of the pool is a column, contiguous).
    /// Process a large pool in panels that fit a cache.
    ///
    /// # Panics
    /// If there are no such rows.
    pub fn encoded(&self, rows: Range<usize>) -> Vec<f64> {
        let dims = self.dims();
        let cells = &self.features[rows.start * dims..rows.end * dims];
        cells.chunks_exact(dims).flat_map(|row| row.iter().zip(&*self.ranges).map(scale)).collect()
    }

    /// One coordinate of a range of rows, added to `out`. All values lie in the range, so nothing is clamped.
    pub(crate) fn extend_coordinate(&self, column: usize, rows: Range<usize>, out: &mut Vec<f64>) {
        let dims = self.dims();
        let (low, high) = self.ranges[column];
        let cells = self.features[rows.start * dims..rows.end * dims].iter().skip(column).step_by(dims);
        if low < high {
            out.extend(cells.map(|x| (f64::from(*x) - low) / (high - low)));
        } else {
            out.extend(cells.map(|_| 0.5));
        }
    }

    /// The point of `row` in the unit cube.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn point(&self, row: usize) -> Vec<f64> {
        self.encoded(row..row + 1)
    }

    /// The point of `row` in the unit cube, written to `out`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn point_into(&self, row: usize, out: &mut [f64]) {
        for ((out, x), range) in out.iter_mut().zip(self.row(row)).zip(&*self.ranges) {
            *out = scale((x, range));
        }
    }

    /// One coordinate of the point of `row`.
    pub(crate) fn coordinate(&self, row: usize, column: usize) -> f64 {
        scale((&self.row(row)[column], &self.ranges[column]))
    }

    /// The features of `row` by name: the shortest decimals that round to the same 32-bit floats. What was given with up to
    /// six digits reads back as it was, and nearly always what was given with seven.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn params(&self, row: usize) -> Params {
        let values = self.row(row).iter().map(|&x| Value::Float(decimal(x))).collect();
        Params::with_names(self.shared_names(), values)
    }

    fn row(&self, row: usize) -> &[f32] {
        &self.features[row * self.dims()..][..self.dims()]
    }

    /// The id of `row`: the one given, or else its number.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn id(&self, row: usize) -> Cow<'_, str> {
        assert!(row < self.len(), "row {row} of a pool of {}", self.len());
        match &self.ids {
            Some(ids) => Cow::Borrowed(ids.get(row)),
            None => Cow::Owned(row.to_string()),
        }
    }

    /// The row called `id`, if there is one.
    pub fn row_of_id(&self, id: &str) -> Option<usize> {
        match &self.ids {
            Some(ids) => ids.row_of(id),
            // Parsing alone would also accept "007" and "+7".
            None => id.parse().ok().filter(|&row| row < self.len() && self.id(row) == id),
        }
    }

    /// The first row with these features as 32-bit floats, if there is one; scans all rows.
    pub fn row_of(&self, params: &Params) -> Option<usize> {
        let feature = |(i, name): (usize, &String)| params.get_near(i, name)?.as_f64().map(narrow);
        let features: Vec<f32> = self.names.iter().enumerate().map(feature).collect::<Option<_>>()?;
        self.features.chunks_exact(self.dims()).position(|row| row == features)
    }

    /// The features at any point of the cube, by the inverse of the scaling; it need not be a row.
    pub(super) fn decode(&self, u: &[f64]) -> Params {
        let feature =
            |(&(low, high), &u): (&(f64, f64), &f64)| decimal(narrow(float_at(low, high, false, u)));
        let values = self.ranges.iter().zip(u).map(|at| feature(at).into());
        Params::with_names(self.shared_names(), values.collect())
    }

    /// The coordinate of one feature, clamped to its range in the pool.
    pub(super) fn encode(&self, column: usize, value: &Value) -> Result<f64, SpaceError> {
        let v = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| SpaceError::WrongType {
            name: self.names[column].clone(),
            expected: "a finite number",
            value: value.clone(),
        })?;
        Ok(scale((&narrow(v), &self.ranges[column])))
    }
}

fn ranges(features: &[f32], dims: usize) -> Vec<(f64, f64)> {
    let mut ranges = vec![(f32::INFINITY, f32::NEG_INFINITY); dims];
    for row in features.chunks_exact(dims) {
        for ((low, high), &x) in ranges.iter_mut().zip(row) {
            *low = low.min(x);
            *high = high.max(x);
        }
    }
    ranges.into_iter().map(|(low, high)| (low.into(), high.into())).collect()
}

/// Min-max scaling; a constant feature maps to 0.5.
fn scale((&x, &(low, high)): (&f32, &(f64, f64))) -> f64 {
    if low < high { coordinate_of_float(low, high, false, x.into()) } else { 0.5 }
}

/// The nearest 32-bit float; infinite beyond their range.
#[expect(clippy::cast_possible_truncation, reason = "rounds, as wanted here")]
fn narrow(x: f64) -> f32 {
    x as f32
}

/// The shortest decimal that rounds to `x`: 0.1 rather than 0.10000000149011612.
fn decimal(x: f32) -> f64 {
    // Rounded twice, to 64 bits and to 32, a decimal next to the middle of two floats might end at the other one.
    format!("{x:e}")
        .parse()
        .ok()
        .filter(|&decimal| narrow(decimal).to_bits() == x.to_bits())
        .unwrap_or(x.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(ids: &[&str]) -> Vec<String> {
        ids.iter().map(|&id| id.to_owned()).collect()
    }

    /// Rows (0, 7, -1), (5, 7, 1), (10, 7, 0); the middle feature is constant.
    fn example() -> Pool {
        Pool::new(vec![0.0, 7.0, -1.0, 5.0, 7.0, 1.0, 10.0, 7.0, 0.0], 3).unwrap()
    }

    #[test]
    fn features_are_scaled_by_column() {
        let pool = example();
        assert_eq!((pool.len(), pool.dims()), (3, 3));
        assert_eq!(pool.encoded(0..3), [0.0, 0.5, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5]);
        assert_eq!(pool.encoded(1..2), pool.point(1));
        assert_eq!(pool.point(1), [0.5, 0.5, 1.0]);
        let mut point = [f64::NAN; 3];
        pool.point_into(1, &mut point);
        assert_eq!(pool.point(1), point);
        assert_eq!(pool.point(1), [0, 1, 2].map(|column| pool.coordinate(1, column)));
        assert_eq!(pool.params(2).to_string(), "x0=10.0, x1=7.0, x2=0.0");
        assert_eq!(pool.decode(&pool.point(2)), pool.params(2));
    }

    #[test]
    fn features_read_back_as_they_were_written() {
        let written = [0.1, -0.3, 1234.567, 1e-30, 3.4e38, 16_777_216.0, 2.5e-6, 0.0];
        let pool = Pool::new(written.to_vec(), 2).unwrap();
        for (row, features) in written.chunks(2).enumerate() {
            let params = pool.params(row);
            let read: Vec<f64> = params.iter().map(|(_, value)| value.as_f64().unwrap()).collect();
            assert_eq!(read, features);
            assert_eq!(pool.row_of(&params), Some(row));
            assert_eq!(pool.encode(1, params.get("x1").unwrap()), Ok(pool.point(row)[1]));
        }
        // The digits beyond are lost, and do not keep a row from being found.
        let pool = Pool::new(vec![0.123_456_789, 2.0], 1).unwrap();
        assert_eq!(pool.params(0).to_string(), "x0=0.12345679");
        assert_eq!(pool.row_of(&Params::from_iter([("x0", 0.123_456_789)])), Some(0));
    }

    /// An equivalence: any 32-bit float survives its decimal.
    #[test]
    fn decimals_mean_the_same_float() {
        for i in 0..200_000_u32 {
            let x = f32::from_bits(i.wrapping_mul(2_654_435_761)); // Knuth's multiplier: all over the range
            assert!(!x.is_finite() || narrow(decimal(x)).to_bits() == x.to_bits(), "{x:e}");
        }
    }

    #[test]
    fn the_digest_sees_every_cell() {
        let of = |cells: &[f64]| Pool::new(cells.to_vec(), 1).unwrap().digest();
        assert_eq!(of(&[1.0, 2.0]), of(&[1.0, 2.0]));
        assert_ne!(of(&[1.0, 2.0]), of(&[2.0, 1.0]));
        assert_ne!(of(&[1.0, 2.0]), of(&[1.0, 2.5]));
    }

    #[test]
    fn rows_have_ids() {
        let pool = example();
        assert_eq!(pool.id(2), "2");
        assert_eq!(pool.row_of_id("2"), Some(2));
        assert_eq!(pool.row_of_id("02"), None);
        assert_eq!(pool.row_of_id("3"), None);
        let pool = pool.with_ids(ids(&["c", "a", "b"])).unwrap();
        assert_eq!(pool.id(0), "c");
        assert_eq!([pool.row_of_id("a"), pool.row_of_id("c"), pool.row_of_id("0")], [Some(1), Some(0), None]);
        let pool = pool.with_names(ids(&["mass", "log P", "charge"])).unwrap();
        assert_eq!(pool.params(0).to_string(), "mass=0.0, log P=7.0, charge=-1.0");
    }

    #[test]
    fn bad_pools_are_refused() {
        let error = |features: &[f64], dims| Pool::new(features.to_vec(), dims).unwrap_err();
        assert_eq!(error(&[], 2), SpaceError::EmptyPool { rows: 0, dims: 2 });
        assert_eq!(error(&[1.0], 0), SpaceError::EmptyPool { rows: 0, dims: 0 });
        assert_eq!(error(&[1.0, 2.0, 3.0], 2), SpaceError::RaggedPool { cells: 3, dims: 2 });
        assert_eq!(
            error(&[1.0, 2.0, 3.0, f64::INFINITY], 2),
            SpaceError::NonFiniteFeature { row: 1, column: 1, value: f64::INFINITY }
        );
        assert_eq!(
            error(&[1.0, 2.0, 1e39, 3.0], 2),
            SpaceError::FeatureTooLarge { row: 1, column: 0, value: 1e39 }
        );
        assert_eq!(
            Pool::from_f32(vec![f32::NEG_INFINITY], 1).unwrap_err(),
            SpaceError::NonFiniteFeature { row: 0, column: 0, value: f64::NEG_INFINITY }
        );
        assert_eq!(
            Pool::new(vec![f64::from(-f32::MAX), f64::from(f32::MAX)], 1).unwrap().encoded(0..2),
            [0.0, 1.0]
        );
        assert_eq!(example().with_ids(ids(&["a"])).unwrap_err(), SpaceError::IdCount { rows: 3, ids: 1 });
        assert_eq!(
            example().with_ids(ids(&["a", "b", "a"])).unwrap_err(),
            SpaceError::DuplicateId { id: "a".into(), first: 0, second: 2 }
        );
        assert!(matches!(
            example().with_names(ids(&["a"])),
            Err(SpaceError::NameCount { dims: 3, names: 1 })
        ));
        assert!(matches!(example().with_names(ids(&["a", "b", "a"])), Err(SpaceError::DuplicateName { .. })));
    }
}
