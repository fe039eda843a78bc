//! A log that ends with the process: for trying things out and for tests.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Entry, Store, StoreError};

/// Logs in memory.
#[derive(Debug, Default)]
pub struct MemoryStore {
    studies: Mutex<BTreeMap<String, Vec<Entry>>>,
    news: Condvar,
}

impl MemoryStore {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Vec<Entry>>> {
        // Nothing can panic half way through a change: a poisoned lock still guards whole logs.
        self.studies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        let mut studies = self.lock();
        let found = studies.get(study).map_or(0, |log| log.len() as u64);
        if found != after {
            return Err(StoreError::Conflict { study: study.into(), expected: after, found });
        }
        if entries.is_empty() {
            return Ok(found);
        }
        let log = studies.entry(study.to_owned()).or_default();
        log.extend_from_slice(entries);
        self.news.notify_all();
        Ok(log.len() as u64)
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let skip = usize::try_from(after).unwrap_or(usize::MAX);
        let studies = self.lock();
        let log = studies.get(study).map_or(&[][..], Vec::as_slice);
        Ok(log.iter().skip(skip).take(limit).cloned().collect())
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        let concerns = |entry: &&Entry| {
            let trials = entry.event.trials();
            trials.start < numbers.end && numbers.start < trials.end
        };
        Ok(self.lock().get(study).map_or(&[][..], Vec::as_slice).iter().filter(concerns).cloned().collect())
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        Ok(self.lock().iter().map(|(name, log)| (name.clone(), log.len() as u64)).collect())
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        Ok(self.lock().get(study).map_or(0, |log| log.len() as u64))
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        let is_old = |studies: &mut BTreeMap<String, Vec<Entry>>| {
            studies.get(study).map_or(0, |log| log.len() as u64) <= after
        };
        drop(self.news.wait_timeout_while(self.lock(), most, is_old));
        Ok(())
    }

    fn is_told(&self) -> bool {
        true
    }
}
