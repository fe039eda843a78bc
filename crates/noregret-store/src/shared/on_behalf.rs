//! What is written for others: requests from other machines, whose answers may be lost on the way, and entries that a process elsewhere has
//! decided on.

use std::fmt;
use std::sync::Arc;

use super::{PAGE, SharedStudy};
use crate::{Entry, Event, Ledger, Requested, Store, StoreError};

/// A request from another machine, by the name that its sender gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The name.
    pub key: String,
    /// A digest of what it says.
    pub digest: u64,
}

impl Request {
    /// What the log keeps of it.
    pub(super) fn done(&self, trials: Vec<u64>, result: &str) -> Event {
        Event::Requested(Requested {
            key: self.key.clone(),
            digest: self.digest,
            trials,
            result: result.into(),
        })
    }
}

impl SharedStudy {
    /// What the log knows of a request, if it was done before.
    pub(super) fn done(&self, request: Option<&Request>) -> Option<&Requested> {
        self.ledger.request(&request?.key)
    }

    /// Appends entries that a process elsewhere has decided on, after having tried them: what does not follow from the log is
    /// refused, so that nobody can make it unreadable. Returns the new last position, or a conflict if the log has gone on.
    pub fn append_for(&mut self, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        self.catch_up()?;
        if after != self.position {
            let study = self.name.clone();
            return Err(StoreError::Conflict { study, expected: after, found: self.position });
        }
        let tried = entries.iter().try_for_each(|entry| self.try_entry(entry));
        let appended = tried.and_then(|()| self.store.append(&self.name, after, entries));
        if appended.is_err() {
            // What was tried is not in the log: everything is read again.
            let mut anew = Self::unread(
                Arc::clone(&self.store),
                &self.name,
                self.definition.clone(),
                self.space.clone(),
            )?;
            anew.catch_up()?;
            *self = anew;
        }
        appended
    }

    fn try_entry(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let known = self.ledger.records().len() as u64;
        let unknown = entry.event.trials().find(|number| *number >= known);
        if let Some(number) = unknown.filter(|_| entry.event.begins().is_none()) {
            return Err(self.corrupt(format!("there is no trial {number}")));
        }
        self.absorb(entry)
    }
}

/// The log of a study whose space is known elsewhere only: in the program that made it.
pub struct LogKeeper {
    store: Arc<dyn Store>,
    name: String,
    ledger: Ledger,
    position: u64,
}

impl fmt::Debug for LogKeeper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogKeeper").field("name", &self.name).finish_non_exhaustive()
    }
}

impl LogKeeper {
    /// Reads the log.
    pub fn open(store: Arc<dyn Store>, name: &str) -> Result<Self, StoreError> {
        let mut keeper = Self { store, name: name.into(), ledger: Ledger::default(), position: 0 };
        keeper.catch_up()?;
        Ok(keeper)
    }

    fn catch_up(&mut self) -> Result<(), StoreError> {
        loop {
            let entries = self.store.read(&self.name, self.position, PAGE)?;
            entries.iter().for_each(|entry| self.ledger.apply(entry));
            self.position += entries.len() as u64;
            if entries.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// The last entry known.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Appends entries that a process elsewhere has decided on, if their trials are those that come next, or are there.
    pub fn append_for(&mut self, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        self.catch_up()?;
        let (study, found) = (self.name.clone(), self.position);
        if after != found {
            return Err(StoreError::Conflict { study, expected: after, found });
        }
        let mut known = self.ledger.records().len() as u64;
        for (position, entry) in (found + 1..).zip(entries) {
            let trials = entry.event.trials();
            let fits = match entry.event.begins() {
                Some(first) => first == known,
                None => trials.end <= known,
            };
            if !fits {
                let problem = format!("trial {} does not follow", trials.start);
                return Err(StoreError::Corrupt { study, position, problem });
            }
            known = known.max(trials.end);
        }
        let last = self.store.append(&self.name, after, entries)?;
        entries.iter().for_each(|entry| self.ledger.apply(entry));
        self.position = last;
        Ok(last)
    }
}
