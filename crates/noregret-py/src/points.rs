//! Many points at once: arrays are read where they lie, whatever their strides; other rows element by element.

use noregret::{Param, Params, Space, Value};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::convert::{to_params, to_value};
use crate::errors::space_exception;

/// The points of a matrix of numbers, or of a sequence whose items are dicts or rows of values.
pub(crate) fn read(space: &Space, points: &Bound<'_, PyAny>) -> PyResult<Vec<Params>> {
    match matrix(points) {
        Some(matrix) => from_matrix(space, &matrix),
        None => points.try_iter()?.map(|point| from_object(space, &point?)).collect(),
    }
}

/// A two-dimensional array of such numbers, if it is one. Nothing can be one before somebody has imported `NumPy`, and it is
/// not imported for the sake of an answer.
pub(crate) fn matrix<'py, T: numpy::Element>(object: &Bound<'py, PyAny>) -> Option<PyReadonlyArray2<'py, T>> {
    let modules = object.py().import("sys").and_then(|sys| sys.getattr("modules"));
    // `None` stands there for a module that must not be imported.
    let imported = modules.and_then(|modules| modules.get_item("numpy")).is_ok_and(|numpy| !numpy.is_none());
    imported.then(|| object.extract().ok()).flatten()
}

fn from_matrix(space: &Space, matrix: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Params>> {
    if matrix.shape()[1] != space.dims() {
        let error = noregret::SpaceError::ValueCount { found: matrix.shape()[1], expected: space.dims() };
        return Err(space_exception(&error));
    }
    let rows = matrix.as_array();
    rows.rows()
        .into_iter()
        .map(|row| assign(space, row.iter().copied().map(Value::Float).collect()))
        .collect()
}

fn from_object(space: &Space, point: &Bound<'_, PyAny>) -> PyResult<Params> {
    if let Ok(dict) = point.cast::<PyDict>() {
        let params = to_params(dict)?;
        let values: Option<Vec<Value>> = space.names().iter().map(|name| params.get(name).cloned()).collect();
        return match values.filter(|values| values.len() == params.len()) {
            Some(values) => assign(space, values),
            None => Ok(params), // something is missing or unknown: encoding it will tell
        };
    }
    assign(space, point.try_iter()?.map(|value| to_value(&value?)).collect::<PyResult<_>>()?)
}

fn assign(space: &Space, mut values: Vec<Value>) -> PyResult<Params> {
    for (value, (_, param)) in values.iter_mut().zip(space.params()) {
        *value = meant(param, std::mem::replace(value, Value::Bool(false)));
    }
    space.assign(values).map_err(|error| space_exception(&error))
}

/// A value in the type of its parameter, where it means one: arrays have one type, parameters have several.
fn meant(param: &Param, value: Value) -> Value {
    let choices = match param {
        Param::Float { .. } => return value.as_f64().map_or(value, Value::Float),
        Param::Int { .. } => return value.as_i64().map_or(value, Value::Int),
        Param::Bool {} => return truth(&value).map_or(value, Value::Bool),
        Param::Ordinal { values } => values,
        Param::Categorical { choices } => choices,
    };
    let exact = choices.iter().find(|choice| choice.means(&value));
    let loose =
        || choices.iter().find(|choice| choice.as_bool().is_some() && choice.as_bool() == truth(&value));
    exact.or_else(loose).cloned().unwrap_or(value)
}

/// What 0 and 1 mean for a truth value.
fn truth(value: &Value) -> Option<bool> {
    value.as_bool().or(match value.as_i64() {
        Some(0) => Some(false),
        Some(1) => Some(true),
        _ => None,
    })
}
