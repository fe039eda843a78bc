//! Values and points between Python and the library.

use noregret::{Params, Value};
use noregret_store::TrialRecord;
use noregret_store::{Timestamp, TrialStatus};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::errors::raise;

/// A value as the library has it. Scalars of `NumPy` count as what they are.
pub(crate) fn to_value(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    if let Ok(truth) = object.cast::<PyBool>() {
        return Ok(Value::Bool(truth.is_true()));
    }
    if object.is_instance_of::<PyInt>() {
        return to_int(object);
    }
    if object.is_instance_of::<PyFloat>() {
        return Ok(Value::Float(object.extract()?));
    }
    if let Ok(text) = object.cast::<PyString>() {
        return Ok(Value::Text(text.to_str()?.to_owned()));
    }
    if matches!(object.get_type().name()?.to_str()?, "bool" | "bool_") {
        return Ok(Value::Bool(object.is_truthy()?));
    }
    // Arrays of one element have `__index__`, and refuse it if they hold a float.
    if let Ok(value) = to_int(object) {
        return Ok(value);
    }
    if let Ok(x) = object.extract::<f64>() {
        return Ok(Value::Float(x));
    }
    let problem = format!("a value must be a number, text, True or False, not {}", object.repr()?);
    Err(raise("InvalidParams", &problem, None))
}

fn to_int(object: &Bound<'_, PyAny>) -> PyResult<Value> {
    object.extract::<i64>().map(Value::Int).map_err(|error| {
        let problem = format!("{object} is too large for an integer of 64 bits");
        if error.is_instance_of::<pyo3::exceptions::PyOverflowError>(object.py()) {
            raise("InvalidParams", &problem, None)
        } else {
            error
        }
    })
}

/// A value as Python has it.
pub(crate) fn from_value<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(truth) => truth.into_pyobject(py)?.to_owned().into_any(),
        Value::Int(i) => i.into_pyobject(py)?.into_any(),
        Value::Float(x) => x.into_pyobject(py)?.into_any(),
        Value::Text(text) => text.into_pyobject(py)?.into_any(),
    })
}

/// Values by name, as the library has them.
pub(crate) fn to_params(dict: &Bound<'_, PyDict>) -> PyResult<Params> {
    let pair = |(name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
        let name: String = name.extract()?;
        let value = to_value(&value).inspect_err(|error| {
            // Not every exception takes it, and then its text has to do.
            let _ = error.value(dict.py()).setattr("parameter", &name);
        })?;
        Ok((name, value))
    };
    let pairs: Vec<(String, Value)> = dict.iter().map(pair).collect::<PyResult<_>>()?;
    Ok(Params::from_iter(pairs))
}

/// Values by name, as Python has them.
pub(crate) fn from_params<'py>(py: Python<'py>, params: &Params) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (name, value) in params.iter() {
        dict.set_item(name, from_value(py, value)?)?;
    }
    Ok(dict)
}

/// A trial as the tuple from which Python makes its own: number, state, params, row, id, value, noise variance, reason, attributes as
/// JSON, seconds, and the times in seconds at which it was asked, started, ended.
pub(crate) fn from_record<'py>(
    py: Python<'py>,
    record: &TrialRecord,
    params: &Params,
    id: Option<&str>,
) -> PyResult<Bound<'py, PyTuple>> {
    let (value, noise_var, reason) = match &record.status {
        TrialStatus::Complete { value, noise_var } => (Some(*value), *noise_var, None),
        TrialStatus::Failed { reason } => (None, None, Some(reason.as_str())),
        TrialStatus::Waiting | TrialStatus::Running(_) => (None, None, None),
    };
    let attrs = (!record.attrs.is_empty()).then(|| serde_json::Value::from(record.attrs.clone()).to_string());
    let items: [Bound<'py, PyAny>; 13] = [
        record.number.into_pyobject(py)?.into_any(),
        record.status.word().into_pyobject(py)?.into_any(),
        from_params(py, params)?.into_any(),
        record.choice.row.into_pyobject(py)?.into_any(),
        id.into_pyobject(py)?.into_any(),
        value.into_pyobject(py)?.into_any(),
        noise_var.into_pyobject(py)?.into_any(),
        reason.into_pyobject(py)?.into_any(),
        attrs.into_pyobject(py)?.into_any(),
        record.seconds.into_pyobject(py)?.into_any(),
        seconds(record.asked).into_pyobject(py)?.into_any(),
        record.started.map(seconds).into_pyobject(py)?.into_any(),
        record.ended.map(seconds).into_pyobject(py)?.into_any(),
    ];
    PyTuple::new(py, items)
}

/// Seconds since 1970.
fn seconds(time: Timestamp) -> f64 {
    time.0 as f64 / 1e3
}

/// Numbers as an array of `NumPy`, or as a list where there is none.
pub(crate) fn array(py: Python<'_>, numbers: Vec<f64>) -> PyResult<Bound<'_, PyAny>> {
    if py.import("numpy").is_ok() {
        return Ok(PyArray1::from_vec(py, numbers).into_any());
    }
    Ok(PyList::new(py, numbers)?.into_any())
}
