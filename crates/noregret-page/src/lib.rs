//! What people look at: the views of a study, for the dashboard and for reports.
//!
//! [`model`] asks the model: maps, importance, whether it can be trusted. [`log`] folds what happened: values over time, tables, workers. The
//! types of all answers are those of [`noregret_client::views`]. [`bundle`] is the page itself, and
//! [`report`] puts all of it into one file.

pub mod bundle;
pub mod describe;
pub mod log;
pub mod model;
pub mod report;
