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
    let imported = modules.and_then(|modules| modules.contains("numpy")).unwrap_or(false);
    imported.then(|| object.extract().ok()).flatten()
}

fn from_matrix(space: &Space, matrix: &PyReadonlyArray2<'_, f64>) -> PyResult<Vec<Params>> {
    if matrix.shape()[1] != space.dims() {
        let error = noregret::SpaceError::ValueCount { found: matrix.shape()[1], expected: space.dims() };
        return Err(space_exception(&error));
    }
    let declared: Vec<&Param> = space.params().map(|(_, param)| param).collect();
    let rows = matrix.as_array();
    let value = |(i, &x): (usize, &f64)| match declared.get(i) {
        Some(param) => value_of(param, x),
        None => Value::Float(x), // a pool has features and no parameters
    };
    let point =
        |row: numpy::ndarray::ArrayView1<'_, f64>| space.assign(row.iter().enumerate().map(value).collect());
    rows.rows().into_iter().map(point).collect::<Result<_, _>>().map_err(|error| space_exception(&error))
}

fn from_object(space: &Space, point: &Bound<'_, PyAny>) -> PyResult<Params> {
    if let Ok(dict) = point.cast::<PyDict>() {
        return to_params(dict);
    }
    let values = point.try_iter()?.map(|value| to_value(&value?)).collect::<PyResult<_>>()?;
    space.assign(values).map_err(|error| space_exception(&error))
}

/// What a number in an array of floats means: arrays have one type, parameters have several.
fn value_of(param: &Param, x: f64) -> Value {
    let number = Value::Float(x);
    let choices = match param {
        Param::Float { .. } => return number,
        Param::Int { .. } => return number.as_i64().map_or(number, Value::Int),
        Param::Bool {} => return truth(x).map_or(number, Value::Bool),
        Param::Ordinal { values } => values,
        Param::Categorical { choices } => choices,
    };
    let meant = |choice: &&Value| match choice {
        Value::Bool(choice) => truth(x) == Some(*choice),
        other => other.means(&number),
    };
    choices.iter().find(meant).cloned().unwrap_or(number)
}

fn truth(x: f64) -> Option<bool> {
    [(0.0, false), (1.0, true)].into_iter().find_map(|(number, truth)| (number == x).then_some(truth))
}
