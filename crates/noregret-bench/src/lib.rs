//! The experiments of the papers behind noregret, and the comparison with its peers: `noregret bench`.
//!
//! An experiment is a module with a `Config` (the shared [`Options`] and flags of its own, read from the command line)
//! and a function `run(&Config, &mut dyn Write)` that hands records, text and figures to an [`Output`].
#![expect(clippy::disallowed_methods, reason = "experiments measure time")]

mod adapter;
pub mod auto;
pub mod bbkb;
pub mod bbob;
mod data_table;
mod error;
pub mod inexact;
pub mod neural_bo;
mod neural_speed;
mod options;
mod output;
pub mod peers;
pub mod report;
mod setting;
pub mod speed;
pub mod sto_bnts;
pub mod store;
pub mod ts_rsr;

pub use error::{BenchError, TableProblem};
pub use options::Options;
pub use output::Output;
pub use setting::Setting;
