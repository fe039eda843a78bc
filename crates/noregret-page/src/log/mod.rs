//! What happened: values over time, tables of trials, workers, the life of a trial, all studies at a glance.
//!
//! A [`Chronicle`] is the fold behind all of it. It follows a log on its own, and has no model: a request costs what is new since the last
//! one, and keeps nobody who asks or tells waiting.

mod activity;
mod card;
mod chronicle;
mod history;
mod story;
mod table;
#[cfg(test)]
mod tests;
mod workers;

pub use chronicle::Chronicle;
pub use history::MOST_POINTS;
pub use story::timeline;
pub use table::{MOST_ROWS, TableError, TableOf};
