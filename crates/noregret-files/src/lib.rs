//! The files of users: the study file, tables of candidates, and what a study is made of by them.

mod define;
pub mod pool_file;
pub mod study_file;

pub use define::{Allowed, DefineError, again, define};
pub use pool_file::PoolFileError;
pub use study_file::{StudyFile, StudyFileError};

/// Shortens a text to `limit` characters, with dots for the rest.
pub fn shortened(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).collect();
    if text.chars().nth(limit).is_some() {
        short.push_str("...");
    }
    short
}
