//! Spaces as Python declares them.

use indexmap::IndexMap;
use noregret::{Param, Space, SpaceError, Value};
use noregret_store::SpaceDefinition;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFrozenSet, PySet};

use crate::calls::Calls;
use crate::convert::{from_params, to_value};
use crate::errors::{raise, space_exception};
use crate::points::matrix;

/// A finite set of candidates.
#[pyclass(frozen, module = "noregret._native")]
pub(crate) struct Pool {
    space: Space,
}

#[pymethods]
impl Pool {
    #[new]
    fn new(
        features: &Bound<'_, PyAny>,
        ids: Option<Vec<String>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let pool = if let Some(matrix) = matrix::<f64>(features) {
            noregret::Pool::new(cells_of(&matrix)?, matrix.shape()[1])
        } else if let Some(matrix) = matrix::<f32>(features) {
            noregret::Pool::from_f32(cells_of(&matrix)?, matrix.shape()[1])
        } else {
            let rows: Vec<Vec<f64>> = rows_of(features).map_err(|error: PyErr| {
                let problem = format!(
                    "features are rows of numbers, one row for each candidate: {}",
                    error.value(features.py())
                );
                raise("InvalidSpace", &problem, None)
            })?;
            let width = rows.first().map_or(0, Vec::len);
            if let Some((i, row)) = rows.iter().enumerate().find(|(_, row)| row.len() != width) {
                let problem =
                    format!("row {i} of the pool (from 0) has {} features, row 0 has {width}", row.len());
                return Err(raise("InvalidSpace", &problem, None));
            }
            noregret::Pool::new(rows.concat(), width)
        };
        Self::finish(pool, ids, names)
    }

    /// All features, row by row, as the bytes of 32-bit floats.
    fn cells<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let bytes: Vec<u8> = self.pool().features().iter().flat_map(|x| x.to_le_bytes()).collect();
        PyBytes::new(py, &bytes)
    }

    /// The pool of such bytes.
    #[staticmethod]
    fn from_cells(cells: &[u8], names: Vec<String>, ids: Option<Vec<String>>) -> PyResult<Self> {
        let float = |bytes: &[u8]| bytes.try_into().map_or(f32::NAN, f32::from_le_bytes);
        let cells = cells.chunks(4).map(float).collect();
        let pool = noregret::Pool::from_f32(cells, names.len());
        Self::finish(pool, ids, Some(names))
    }

    fn __len__(&self) -> usize {
        self.pool().len()
    }

    /// Names of the features.
    fn names(&self) -> Vec<String> {
        self.pool().names().to_vec()
    }

    /// The id of a row; its number if it was given none.
    fn id(&self, row: usize) -> PyResult<String> {
        self.check(row)?;
        Ok(self.pool().id(row).into_owned())
    }

    /// The row of an id, if there is one.
    fn row_of_id(&self, id: &str) -> Option<usize> {
        self.pool().row_of_id(id)
    }

    /// The features of a row, by name.
    fn params<'py>(&self, py: Python<'py>, row: usize) -> PyResult<Bound<'py, PyAny>> {
        self.check(row)?;
        Ok(from_params(py, &self.pool().params(row))?.into_any())
    }
}

impl Pool {
    fn finish(
        pool: Result<noregret::Pool, SpaceError>,
        ids: Option<Vec<String>>,
        names: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let pool = pool
            .and_then(|pool| match names {
                Some(names) => pool.with_names(names),
                None => Ok(pool),
            })
            .and_then(|pool| match ids {
                Some(ids) => pool.with_ids(ids),
                None => Ok(pool),
            });
        Ok(Self { space: Space::pool(pool.map_err(|error| space_exception(&error))?) })
    }

    pub(crate) fn space(&self) -> &Space {
        &self.space
    }

    fn pool(&self) -> &noregret::Pool {
        self.space.as_pool().unwrap_or_else(|| unreachable!("invariant: made from a pool"))
    }

    fn check(&self, row: usize) -> PyResult<()> {
        let rows = self.pool().len();
        if row < rows {
            return Ok(());
        }
        let problem = format!("the pool has no row {row}: it has {rows}, numbered from 0");
        Err(pyo3::exceptions::PyIndexError::new_err(problem))
    }

    /// What is kept of it in a log: Python has the rest.
    pub(crate) fn definition(&self) -> SpaceDefinition {
        let pool = self.pool();
        SpaceDefinition::Pool {
            file: String::new(),
            features: pool.names().to_vec(),
            id: None,
            rows: pool.len(),
            digest: pool.digest(),
        }
    }
}

/// The elements of an array, row by row. An array may be larger than memory if its strides are 0.
fn cells_of<T: numpy::Element + Copy>(matrix: &PyReadonlyArray2<'_, T>) -> PyResult<Vec<T>> {
    let mut cells = Vec::new();
    let count = matrix.shape()[0].checked_mul(matrix.shape()[1]);
    if count.is_none_or(|count| cells.try_reserve_exact(count).is_err()) {
        let problem = format!("features of the shape {:?} do not fit into memory", matrix.shape());
        return Err(raise("InvalidSpace", &problem, None));
    }
    cells.extend(matrix.as_array().iter().copied());
    Ok(cells)
}

/// Rows of numbers. Whatever length an object says it has, memory is taken as its items come.
fn rows_of(features: &Bound<'_, PyAny>) -> PyResult<Vec<Vec<f64>>> {
    let row = |row: Bound<'_, PyAny>| {
        if row.is_instance_of::<PyDict>()
            || row.is_instance_of::<PySet>()
            || row.is_instance_of::<PyFrozenSet>()
        {
            return Err(PyTypeError::new_err("a row is a list or an array, not a set or a dict"));
        }
        row.try_iter()?.map(|x| x?.extract()).collect()
    };
    features.try_iter()?.map(|item| row(item?)).collect()
}

/// Parameters and constraints.
pub(crate) struct Declared {
    parameters: IndexMap<String, Param>,
    constraints: IndexMap<String, String>,
    predicates: Vec<(String, Py<PyAny>)>,
}

impl Declared {
    /// From parameters as tuples (`("float", low, high, log)` and so on), expressions and functions, all by name.
    pub(crate) fn new(
        parameters: Vec<(String, Bound<'_, PyAny>)>,
        constraints: Vec<(String, String)>,
        predicates: Vec<(String, Py<PyAny>)>,
    ) -> PyResult<Self> {
        let declare = |(name, tuple): (String, Bound<'_, PyAny>)| {
            let param = to_param(&tuple).map_err(|error| about(&tuple, &name, error))?;
            Ok((name, param))
        };
        let parameters = parameters.into_iter().map(declare).collect::<PyResult<_>>()?;
        Ok(Self { parameters, constraints: constraints.into_iter().collect(), predicates })
    }

    /// What is kept of it in a log. Functions are only named there, and must be given again.
    pub(crate) fn definition(&self) -> SpaceDefinition {
        let rules = self.constraints.iter().map(|(name, rule)| (name.clone(), Some(rule.clone())));
        let functions = self.predicates.iter().map(|(name, _)| (name.clone(), None));
        SpaceDefinition::Parameters {
            parameters: self.parameters.clone(),
            constraints: rules.chain(functions).collect(),
        }
    }

    /// The space; its functions are called by way of `calls`.
    pub(crate) fn build(self, py: Python<'_>, calls: &Calls) -> PyResult<Space> {
        let mut builder = Space::builder();
        for (name, param) in self.parameters {
            builder = builder.param(name, param);
        }
        for (name, expression) in self.constraints {
            builder = builder.constraint(name, expression);
        }
        for (name, function) in self.predicates {
            let calls = calls.clone();
            builder = builder.predicate(name, move |params| calls.ask(&function, params));
        }
        let built = py.detach(|| builder.build());
        calls.check()?;
        built.map_err(|error| space_exception(&error))
    }
}

fn to_param(tuple: &Bound<'_, PyAny>) -> PyResult<Param> {
    let at = |i: usize| tuple.get_item(i);
    let values = || -> PyResult<Vec<Value>> { at(1)?.try_iter()?.map(|value| to_value(&value?)).collect() };
    let kind: String = at(0)?.extract()?;
    Ok(match kind.as_str() {
        "float" => Param::Float { low: at(1)?.extract()?, high: at(2)?.extract()?, log: at(3)?.is_truthy()? },
        "int" => Param::Int { low: at(1)?.extract()?, high: at(2)?.extract()?, log: at(3)?.is_truthy()? },
        "ordinal" => Param::Ordinal { values: values()? },
        "categorical" => Param::Categorical { choices: values()? },
        _ => Param::Bool {},
    })
}

/// The parameter's name for an error that does not know it.
fn about(tuple: &Bound<'_, PyAny>, name: &str, error: PyErr) -> PyErr {
    raise("InvalidSpace", &format!("parameter `{name}`: {}", error.value(tuple.py())), Some(name))
}
