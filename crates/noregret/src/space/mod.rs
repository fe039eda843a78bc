//! The search space: parameters in the user's units `<->` points of the unit cube.
//!
//! Everything past this folder sees points `u` of `[0, 1]^d`, one coordinate per parameter, and the [`Kind`] of each
//! coordinate. A space is either declared by parameters and constraints, or is a finite [`Pool`] of candidates.

mod builder;
mod constraint;
mod encode;
mod error;
mod expression;
mod ids;
mod name;
mod param;
mod params;
mod pool;
mod sample;
mod value;

use std::sync::Arc;

use crate::math::rng::Stream;

pub use builder::SpaceBuilder;
pub use error::SpaceError;
pub use expression::{Cell, Column, ExpressionProblem, Filter, FilterError, Type as ExpressionType};
pub use ids::Ids;
pub use name::nearest;
pub use param::{Kind, Param};
pub use params::Params;
pub use pool::Pool;
pub use value::Value;

use constraint::Constraint;

/// The search space: parameters with constraints, or a finite pool. Immutable, checked, cheap to clone.
///
/// Methods that take a point panic if it does not have [`dims`](Self::dims) coordinates. Coordinates outside
/// `[0, 1]` are clamped wherever they are read, and NaN counts as 0.5.
#[derive(Clone, Debug)]
pub struct Space {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    names: Arc<[String]>,
    kinds: Vec<Kind>,
    domain: Domain,
}

#[derive(Debug)]
enum Domain {
    Params { params: Vec<Param>, constraints: Vec<Constraint> },
    Pool(Pool),
}

impl Space {
    /// Starts an empty declaration.
    pub fn builder() -> SpaceBuilder {
        SpaceBuilder::default()
    }

    /// A space from parameters by name, and constraints by name, each an expression such as `x + y <= 1`.
    pub fn from_params(
        params: impl IntoIterator<Item = (String, Param)>,
        constraints: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, SpaceError> {
        let builder = params.into_iter().fold(Self::builder(), |b, (name, param)| b.param(name, param));
        constraints.into_iter().fold(builder, |b, (name, expression)| b.constraint(name, expression)).build()
    }

    /// A box of floats called `x0`, `x1` and so on, from their lower and upper bounds.
    pub fn bounds(bounds: &[(f64, f64)]) -> Result<Self, SpaceError> {
        let floats = bounds.iter().enumerate();
        floats.fold(Self::builder(), |b, (i, &(low, high))| b.float(name::numbered(i), low, high)).build()
    }

    /// The space of the rows of a pool.
    pub fn pool(pool: Pool) -> Self {
        let (names, kinds) = (pool.shared_names(), vec![Kind::Continuous; pool.dims()]);
        Self { inner: Arc::new(Inner { names, kinds, domain: Domain::Pool(pool) }) }
    }

    /// The pool, if the space is one. Its points are identified by their rows.
    pub fn as_pool(&self) -> Option<&Pool> {
        match &self.inner.domain {
            Domain::Pool(pool) => Some(pool),
            Domain::Params { .. } => None,
        }
    }

    /// Number of coordinates: of parameters, or of features of the pool.
    pub fn dims(&self) -> usize {
        self.inner.kinds.len()
    }

    /// Names of the coordinates, in order.
    pub fn names(&self) -> &[String] {
        &self.inner.names
    }

    /// How each coordinate may move. Those of a pool count as continuous, though only its rows may be tried.
    pub fn kinds(&self) -> &[Kind] {
        &self.inner.kinds
    }

    /// Parameters by name, in order; none for a pool.
    pub fn params(&self) -> impl ExactSizeIterator<Item = (&str, &Param)> {
        let params = self.param_list();
        self.names()[..params.len()].iter().map(String::as_str).zip(params)
    }

    /// Constraints by name, in order, with their expressions; a predicate has none.
    pub fn constraints(&self) -> impl ExactSizeIterator<Item = (&str, Option<&str>)> {
        self.constraint_list().iter().map(|constraint| (constraint.name(), constraint.expression()))
    }

    /// Whether some points of the cube may be infeasible. A pool has no constraints.
    pub fn is_constrained(&self) -> bool {
        !self.constraint_list().is_empty()
    }

    /// Number of distinct points, feasible or not: rows of a pool, or the grid if all coordinates are discrete.
    /// `None` if one is continuous, or if there are more than `u64::MAX`.
    pub fn cardinality(&self) -> Option<u64> {
        match &self.inner.domain {
            Domain::Pool(pool) => Some(pool.len() as u64),
            Domain::Params { .. } => {
                self.kinds().iter().try_fold(1_u64, |n, kind| n.checked_mul(kind.levels()?))
            }
        }
    }

    /// The point of the given values, or which of them is wrong and what would be right.
    ///
    /// Names may come in any order; `3` is accepted for a float, `3.0` for an int. Constraints are not checked. In a
    /// pool, features are scaled like its rows, and clamped to the pool's ranges.
    pub fn encode(&self, params: &Params) -> Result<Vec<f64>, SpaceError> {
        let mut u = Vec::with_capacity(self.dims());
        for (i, name) in self.names().iter().enumerate() {
            let Some(value) = params.get_near(i, name) else {
                self.refuse_unknown(params)?; // a misspelt name is both unknown and missing
                return Err(SpaceError::MissingParameter { name: name.clone() });
            };
            u.push(match &self.inner.domain {
                Domain::Params { params, .. } => params[i].encode(name, value)?,
                Domain::Pool(pool) => pool.encode(i, value)?,
            });
        }
        if params.len() > self.dims() {
            self.refuse_unknown(params)?;
        }
        Ok(u)
    }

    fn refuse_unknown(&self, params: &Params) -> Result<(), SpaceError> {
        let is_known = |name: &str| self.names().iter().any(|known| known == name);
        match params.iter().find(|(name, _)| !is_known(name)) {
            None => Ok(()),
            Some((name, _)) => {
                let nearest = name::nearest(name, self.names().iter().map(String::as_str));
                Err(SpaceError::UnknownParameter { name: name.to_owned(), nearest })
            }
        }
    }

    /// These values, in the order of the parameters, by name. [`Self::encode`] checks them.
    pub fn assign(&self, values: Vec<Value>) -> Result<Params, SpaceError> {
        if values.len() != self.dims() {
            return Err(SpaceError::ValueCount { found: values.len(), expected: self.dims() });
        }
        Ok(Params::with_names(Arc::clone(&self.inner.names), values))
    }

    /// The values at `u`. In a pool, the unscaled features, which need not be those of a row: use [`Pool::params`] for a
    /// row.
    pub fn decode(&self, u: &[f64]) -> Params {
        self.assert_dims(u);
        match &self.inner.domain {
            Domain::Pool(pool) => pool.decode(u),
            Domain::Params { params, .. } => {
                let values = params.iter().zip(u).map(|(param, &u)| param.decode(u)).collect();
                Params::with_names(Arc::clone(&self.inner.names), values)
            }
        }
    }

    /// Moves `u` to where encoding its decoded values would put it: levels to their middles, floats into `[0, 1]`.
    pub fn snap(&self, u: &mut [f64]) {
        self.assert_dims(u);
        match &self.inner.domain {
            Domain::Pool(_) => u.iter_mut().for_each(|u| *u = encode::into_unit(*u)),
            Domain::Params { params, .. } => {
                u.iter_mut().zip(params).for_each(|(u, param)| *u = param.snap(*u));
            }
        }
    }

    /// The level of coordinate `dim` that contains `u`; 0 if it is continuous.
    pub fn level_of(&self, dim: usize, u: f64) -> u64 {
        self.param_list().get(dim).map_or(0, |param| param.level_of(u))
    }

    /// The coordinate of a level of `dim`, of the last one if `level` is too large; 0.5 if `dim` is continuous.
    pub fn coordinate_of_level(&self, dim: usize, level: u64) -> f64 {
        self.param_list().get(dim).map_or(0.5, |param| param.coordinate_of_level(level))
    }

    /// Whether all constraints hold at `u`; true in a pool.
    pub fn is_feasible(&self, u: &[f64]) -> bool {
        self.violated(u).is_none()
    }

    /// Name of the first constraint that does not hold at `u`.
    pub fn violated(&self, u: &[f64]) -> Option<&str> {
        self.assert_dims(u);
        let violated = self.constraint_list().iter().find(|constraint| !self.satisfies(constraint, u));
        violated.map(Constraint::name)
    }

    /// A random feasible point: uniform in the cube, snapped, drawn again while infeasible; a random row of a pool.
    pub fn sample(&self, rng: &mut Stream) -> Result<Vec<f64>, SpaceError> {
        sample::sample(self, rng)
    }

    /// All feasible points of a discrete space, the last coordinate varying fastest; `None` if any coordinate is
    /// continuous, and for a pool. Check [`cardinality`](Self::cardinality) first.
    pub fn points(&self) -> Option<impl Iterator<Item = Vec<f64>>> {
        let discrete = self.kinds().iter().all(|kind| *kind != Kind::Continuous);
        discrete.then(|| sample::Grid::new(self).filter(|u| self.is_feasible(u)))
    }

    fn satisfies(&self, constraint: &Constraint, u: &[f64]) -> bool {
        constraint.holds(self.param_list(), u, || self.decode(u))
    }

    fn param_list(&self) -> &[Param] {
        match &self.inner.domain {
            Domain::Params { params, .. } => params,
            Domain::Pool(_) => &[],
        }
    }

    fn constraint_list(&self) -> &[Constraint] {
        match &self.inner.domain {
            Domain::Params { constraints, .. } => constraints,
            Domain::Pool(_) => &[],
        }
    }

    fn assert_dims(&self, u: &[f64]) {
        assert_eq!(u.len(), self.dims(), "a point of this space has {} coordinates", self.dims());
    }
}

#[cfg(test)]
mod tests;
