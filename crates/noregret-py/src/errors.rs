//! Errors as exceptions: the one place where classes are chosen. They are declared in `python/noregret/errors.py`.

use noregret::SpaceError;
use noregret::study::StudyError;
use noregret_store::{StoreError, explained};
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;

/// The exception for an error of the library.
pub(crate) fn exception(error: &StoreError) -> PyErr {
    use noregret::Error as E;
    let class = match error {
        StoreError::Interrupted => return PyKeyboardInterrupt::new_err(()),
        error if error.is_exhausted() => "NothingLeft",
        StoreError::AnotherStudy { .. } => "AnotherStudy",
        StoreError::NoSuchStudy { .. } => "NoSuchStudy",
        StoreError::Study(E::Space(error)) => return space_exception(error),
        StoreError::Study(E::Study(StudyError::UnknownTrial { .. })) => "UnknownTrial",
        StoreError::Study(E::Study(StudyError::Infeasible { .. })) => "InvalidParams",
        StoreError::Study(E::Study(_)) => "InvalidArgument",
        StoreError::Study(E::Fit(_) | E::Maximize(_)) => "ModelError",
        StoreError::Study(_) => "InvalidAlgorithm",
        _ => "StorageError",
    };
    raise(class, &explained(error), None)
}

/// The exception for a wrong space, or for a point that is none of it.
pub(crate) fn space_exception(error: &SpaceError) -> PyErr {
    let class = match error {
        SpaceError::UnknownParameter { .. }
        | SpaceError::MissingParameter { .. }
        | SpaceError::ValueCount { .. }
        | SpaceError::WrongType { .. }
        | SpaceError::OutOfRange { .. }
        | SpaceError::NotAChoice { .. } => "InvalidParams",
        _ => "InvalidSpace",
    };
    raise(class, &error.to_string(), error.parameter())
}

/// An exception of ours, by name.
pub(crate) fn raise(class: &str, message: &str, parameter: Option<&str>) -> PyErr {
    Python::attach(|py| {
        let make = || {
            let exception = py.import("noregret.errors")?.getattr(class)?.call1((message,))?;
            if let Some(parameter) = parameter {
                exception.setattr("parameter", parameter)?;
            }
            Ok(PyErr::from_value(exception))
        };
        make().unwrap_or_else(|error: PyErr| error)
    })
}

/// What cannot happen, if it does.
pub(crate) fn internal(error: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("noregret failed, which is a bug: {error}"))
}
