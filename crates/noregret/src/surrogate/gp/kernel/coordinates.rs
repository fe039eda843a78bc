//! The coordinates that a factor looks at, with their lengthscales.

/// Coordinates of a point and the unit in which distances along each are measured: one lengthscale per coordinate, or one for all.
#[derive(Clone, Debug, PartialEq)]
pub struct Coordinates {
    indices: Vec<usize>,
    lengthscales: Vec<f64>,
}

/// One of the coordinates of a factor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinate {
    /// Its index in a point.
    pub(crate) index: usize,
    /// The index of its lengthscale among those of the factor.
    pub(crate) slot: usize,
    /// Its lengthscale.
    pub(crate) lengthscale: f64,
}

impl Coordinates {
    /// The coordinates `indices` of a point, with a lengthscale each or a single one shared by all.
    pub fn new(indices: Vec<usize>, lengthscales: Vec<f64>) -> Self {
        let fits = lengthscales.len() == 1 || lengthscales.len() == indices.len();
        assert!(fits, "one lengthscale per coordinate, or one for all");
        Self { indices, lengthscales }
    }

    /// Number of coordinates.
    pub fn len(&self) -> usize {
        self.indices.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The distinct lengthscales.
    pub fn lengthscales(&self) -> &[f64] {
        &self.lengthscales
    }

    pub(super) fn lengthscales_mut(&mut self) -> &mut [f64] {
        &mut self.lengthscales
    }

    /// The lengthscale of a point's coordinate `index`; `None` if the factor does not look at it.
    pub fn lengthscale_of(&self, index: usize) -> Option<f64> {
        self.iter().find(|coordinate| coordinate.index == index).map(|coordinate| coordinate.lengthscale)
    }

    /// All coordinates, in order.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Coordinate> {
        let shared = self.lengthscales.len() == 1;
        self.indices.iter().enumerate().map(move |(i, &index)| {
            let slot = if shared { 0 } else { i };
            Coordinate { index, slot, lengthscale: self.lengthscales[slot] }
        })
    }
}
