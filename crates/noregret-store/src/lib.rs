//! The event log of a study: kept in memory or in SQLite, shared by any number of processes.
//!
//! A [`Store`] appends entries and reads them back, and knows nothing of what they mean. Everything else is a fold over
//! the log, written once: [`TrialRecord`] and [`Ledger`] follow trials through leases, retries and results, and
//! [`SharedStudy`] keeps a [`noregret::Study`] in step with a log that others write to as well.
//!
//! # What is promised
//! - **Nothing told is lost.** An entry is in the log when `append` returns. It survives the process being killed at any
//!   moment; entries with results also survive a power cut, as far as the disk keeps its word.
//! - **Nothing is counted twice.** A trial has one result. A second one is recorded as [`Event::Late`], which is no error.
//! - **Nobody waits for the dead.** A trial is leased until a deadline and returns to the queue after it.

mod clock;
mod definition;
mod error;
mod event;
mod ledger;
mod memory;
mod proposed;
mod shared;
mod sqlite;
mod trial;
mod url;
mod worker;

use std::ops::Range;

pub use clock::Timestamp;
pub use definition::{Definition, SpaceDefinition};
pub use error::StoreError;
pub use event::{Attrs, Entry, Event, can_be_kept};
pub use ledger::Ledger;
pub use memory::MemoryStore;
pub use noregret::study::Verdict;
pub use proposed::Proposed;
pub use shared::{
    Draft, Evaluation, ExternalResult, HandOut, Next, SharedStudy, Skew, Task, records_of, tell_one,
};
pub use sqlite::SqliteStore;
pub use trial::{Lease, TrialRecord, TrialStatus};
pub use url::StorageUrl;
pub use worker::{is_dead, this_worker};

/// An append-only log for each study.
///
/// Entries of a study are numbered from 1 on without gaps; a *position* is the number of the last entry seen.
pub trait Store: Send + Sync {
    /// Appends all entries or none, right after position `after`, and returns the new last position.
    /// [`StoreError::Conflict`] if somebody else has written there: read on, think again, and try again.
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError>;

    /// At most `limit` entries after position `after`, in order. None at all if there is no such study.
    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError>;

    /// The entries that concern any of these trials, in order.
    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError>;

    /// Names of all studies with their last positions, by name.
    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError>;

    /// The last position of a study; 0 if there is none of this name.
    fn last(&self, study: &str) -> Result<u64, StoreError>;
}
