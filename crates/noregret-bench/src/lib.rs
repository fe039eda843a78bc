//! The experiments of the papers behind noregret, and the comparison with its peers: `noregret bench`.
//!
//! An experiment is a module with its flags (the shared [`Options`] and flags of its own, read from the command line) and a
//! function `run(&flags, &mut dyn Write)` that hands records, text and figures to an [`Output`].
#![expect(clippy::disallowed_methods, reason = "experiments measure time")]

pub mod compare;
pub mod cost;
mod harness;
pub mod papers;
pub mod report;

pub use harness::{BenchError, Options, Output, Setting, Shelf, TableProblem};
