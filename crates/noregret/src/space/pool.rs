//! A finite set of candidates, described by numeric features: a library of molecules, a table of past designs.

use std::borrow::Cow;
use std::sync::Arc;

use super::encode::{coordinate_of_float, float_at};
use super::{Params, SpaceError, Value, name};

/// Rows of numeric features, of which a study picks; cheap to clone.
///
/// A point of a pool is known by its row. Each feature is scaled to `[0, 1]` by its smallest and largest value, and
/// to 0.5 if it is constant. Both the features and their scaled copy are kept: 16 bytes a cell.
#[derive(Clone, Debug)]
pub struct Pool {
    /// As given, row by row.
    features: Arc<Vec<f64>>,
    /// Scaled, row by row.
    encoded: Arc<Vec<f64>>,
    /// Smallest and largest value of each feature.
    ranges: Arc<[(f64, f64)]>,
    names: Arc<[String]>,
    ids: Option<Arc<Ids>>,
}

/// Ids by row, and the rows in the order of their ids.
#[derive(Debug)]
struct Ids {
    by_row: Vec<String>,
    sorted: Vec<usize>,
}

impl Pool {
    /// A pool from its features, row by row, `dims` to a row. They are called `x0`, `x1`, ... and so on.
    pub fn new(features: Vec<f64>, dims: usize) -> Result<Self, SpaceError> {
        if features.is_empty() || dims == 0 {
            let rows = features.len().checked_div(dims).unwrap_or(0);
            return Err(SpaceError::EmptyPool { rows, dims });
        }
        if !features.len().is_multiple_of(dims) {
            return Err(SpaceError::RaggedPool { cells: features.len(), dims });
        }
        if let Some(cell) = features.iter().position(|x| !x.is_finite()) {
            let (row, column, value) = (cell / dims, cell % dims, features[cell]);
            return Err(SpaceError::NonFiniteFeature { row, column, value });
        }
        let ranges = ranges(&features, dims);
        for (column, &(low, high)) in ranges.iter().enumerate() {
            if !(high - low).is_finite() {
                return Err(SpaceError::RangeTooWide { name: name::numbered(column), low, high });
            }
        }
        let encoded =
            features.chunks_exact(dims).flat_map(|row| row.iter().zip(&ranges).map(scale)).collect();
        Ok(Self {
            features: Arc::new(features),
            encoded: Arc::new(encoded),
            ranges: ranges.into(),
            names: (0..dims).map(name::numbered).collect(),
            ids: None,
        })
    }

    /// Names the rows; ids must be unique.
    pub fn with_ids(mut self, ids: Vec<String>) -> Result<Self, SpaceError> {
        if ids.len() != self.len() {
            return Err(SpaceError::IdCount { rows: self.len(), ids: ids.len() });
        }
        let mut sorted: Vec<usize> = (0..ids.len()).collect();
        sorted.sort_by(|&a, &b| ids[a].cmp(&ids[b])); // stable: equal ids stay in the order of their rows
        if let Some(twin) = sorted.windows(2).find(|pair| ids[pair[0]] == ids[pair[1]]) {
            let (first, second) = (twin[0], twin[1]);
            return Err(SpaceError::DuplicateId { id: ids[first].clone(), first, second });
        }
        self.ids = Some(Arc::new(Ids { by_row: ids, sorted }));
        Ok(self)
    }

    /// Names the features; any text will do, as long as names differ.
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

    /// All points of the unit cube, d x A column-major (a row of the pool is a column, contiguous).
    pub fn encoded(&self) -> &[f64] {
        &self.encoded
    }

    /// The features as given, in the same order as [`encoded`](Self::encoded).
    pub fn features(&self) -> &[f64] {
        &self.features
    }

    /// The point of `row` in the unit cube.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn point(&self, row: usize) -> &[f64] {
        &self.encoded[row * self.dims()..][..self.dims()]
    }

    /// The features of `row` by name, exactly as given.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn params(&self, row: usize) -> Params {
        let features = &self.features[row * self.dims()..][..self.dims()];
        Params::with_names(self.shared_names(), features.iter().copied().map(Value::Float).collect())
    }

    /// The id of `row`: the one given, or else its number.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn id(&self, row: usize) -> Cow<'_, str> {
        assert!(row < self.len(), "row {row} of a pool of {}", self.len());
        match &self.ids {
            Some(ids) => Cow::Borrowed(&ids.by_row[row]),
            None => Cow::Owned(row.to_string()),
        }
    }

    /// The row called `id`, if there is one.
    pub fn row_of_id(&self, id: &str) -> Option<usize> {
        match &self.ids {
            Some(ids) => {
                let place = ids.sorted.binary_search_by(|&row| ids.by_row[row].as_str().cmp(id)).ok()?;
                Some(ids.sorted[place])
            }
            // Parsing alone would also take "007" and "+7".
            None => id.parse().ok().filter(|&row| row < self.len() && self.id(row) == id),
        }
    }

    /// The first row with exactly these features, if there is one: a look at every row.
    pub fn row_of(&self, params: &Params) -> Option<usize> {
        let feature = |(i, name): (usize, &String)| params.get_near(i, name)?.as_f64();
        let features: Vec<f64> = self.names.iter().enumerate().map(feature).collect::<Option<_>>()?;
        self.features.chunks_exact(self.dims()).position(|row| row == features)
    }

    /// Features at any point of the cube; the inverse of the scaling, whether or not a row is there.
    pub(super) fn decode(&self, u: &[f64]) -> Params {
        let values = self.ranges.iter().zip(u).map(|(&(low, high), &u)| float_at(low, high, false, u).into());
        Params::with_names(self.shared_names(), values.collect())
    }

    /// The coordinate of one feature, clamped to the range that the pool has of it.
    pub(super) fn encode(&self, column: usize, value: &Value) -> Result<f64, SpaceError> {
        let v = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| SpaceError::WrongType {
            name: self.names[column].clone(),
            expected: "a finite number",
            value: value.clone(),
        })?;
        Ok(scale((&v, &self.ranges[column])))
    }
}

fn ranges(features: &[f64], dims: usize) -> Vec<(f64, f64)> {
    let mut ranges = vec![(f64::INFINITY, f64::NEG_INFINITY); dims];
    for row in features.chunks_exact(dims) {
        for ((low, high), &x) in ranges.iter_mut().zip(row) {
            *low = low.min(x);
            *high = high.max(x);
        }
    }
    ranges
}

/// Min-max scaling; a constant feature maps to 0.5.
fn scale((&x, &(low, high)): (&f64, &(f64, f64))) -> f64 {
    if low < high { coordinate_of_float(low, high, false, x) } else { 0.5 }
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
        assert_eq!(pool.encoded(), [0.0, 0.5, 0.0, 0.5, 0.5, 1.0, 1.0, 0.5, 0.5]);
        assert_eq!(pool.point(1), [0.5, 0.5, 1.0]);
        assert_eq!(pool.params(2).to_string(), "x0=10.0, x1=7.0, x2=0.0");
        assert_eq!(pool.decode(pool.point(2)), pool.params(2));
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
        assert!(matches!(error(&[-f64::MAX, f64::MAX], 1), SpaceError::RangeTooWide { .. }));
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
