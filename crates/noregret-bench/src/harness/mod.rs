//! What experiments share to run: flags, settings, data sets, processes in Python, and where results go.

pub(crate) mod adapter;
pub(crate) mod data_table;
mod error;
mod options;
mod output;
mod setting;
mod shelf;

pub use error::{BenchError, TableProblem};
pub use options::Options;
pub use output::Output;
pub use setting::Setting;
pub use shelf::Shelf;
