//! The event log of a study: kept in memory, in SQLite, in PostgreSQL or by a server, shared by any number of processes.
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

mod abridged;
mod clock;
mod definition;
mod error;
mod event;
mod http;
mod ledger;
mod memory;
mod postgres;
mod proposed;
mod shared;
mod sqlite;
mod trial;
mod trial_json;
mod url;
mod worker;

use std::ops::Range;
use std::thread;
use std::time::Duration;

pub use abridged::{read_event, read_page, write_page};
pub use clock::Timestamp;
pub use definition::{Assignment, Definition, SpaceDefinition};
pub use error::{StoreError, explained};
pub use event::{Attrs, Entry, Event, Requested, can_be_kept};
pub use http::HttpStore;
pub use ledger::Ledger;
pub use memory::MemoryStore;
pub use noregret::study::Verdict;
pub use postgres::{PostgresStore, PostgresUrl};
pub use proposed::Proposed;
pub use shared::{
    Draft, Evaluation, ExternalResult, HandOut, LogKeeper, Next, Request, SharedStudy, Skew, Statement, Task,
    records_of, tell_one,
};
pub use sqlite::SqliteStore;
pub use trial::{Lease, TrialRecord, TrialStatus};
pub use trial_json::rfc3339;
pub use url::StorageUrl;
pub use worker::{is_dead, this_worker};

/// How often to look for something new where nobody tells: a fraction of what an evaluation worth a model takes.
const POLL: Duration = Duration::from_millis(15);

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

    /// Waits until a study has gone beyond position `after`, for at most so long. It may return before: look, and wait again.
    /// Stores that are not told of news ([`Self::is_told`]) look for them every few milliseconds.
    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        let begin = clock::Stopwatch::start();
        while self.last(study)? <= after {
            let Some(left) = most.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else { break };
            thread::sleep(POLL.min(left));
        }
        Ok(())
    }

    /// Whether news wake who waits, so that waiting costs nothing.
    fn is_told(&self) -> bool {
        false
    }
}

/// The entries that were read after position `after`. Who counted on from a gap would read those behind it again and again.
fn without_gaps(study: &str, after: u64, found: Vec<(u64, Entry)>) -> Result<Vec<Entry>, StoreError> {
    let expected = after.saturating_add(1)..;
    if let Some((position, _)) = expected.zip(&found).find(|(position, (found, _))| position != found) {
        let problem = "it is missing".into();
        return Err(StoreError::Corrupt { study: study.into(), position, problem });
    }
    Ok(found.into_iter().map(|(_, entry)| entry).collect())
}
