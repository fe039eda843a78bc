//! The native half of the Python package: thin. It turns Python objects into the library's and back, keeps the interpreter
//! responsive while the library thinks, and has no opinions. What users see is `python/noregret` around it.

#![expect(clippy::needless_pass_by_value, reason = "what comes from Python comes by value")]

mod calls;
mod convert;
mod description;
mod errors;
mod interruptible;
mod points;
mod space;
mod state;
mod study;
mod thinking;

use pyo3::prelude::*;

/// The library behind the Python package `noregret`; not meant to be used directly.
#[pymodule]
mod _native {
    use super::{PyResult, Python, calls, errors, pyfunction};

    #[pymodule_export]
    use super::space::Pool;
    #[pymodule_export]
    use super::study::Study;

    /// What there is to choose from, as JSON.
    #[pyfunction]
    fn algorithms() -> PyResult<String> {
        serde_json::to_string(&noregret::Algorithm::all()).map_err(errors::internal)
    }

    /// Called before the interpreter ends.
    #[pyfunction]
    fn close(py: Python<'_>) {
        calls::close(py);
    }

    /// Version of the package.
    #[pyfunction]
    fn version() -> &'static str {
        env!("CARGO_PKG_VERSION")
    }
}
