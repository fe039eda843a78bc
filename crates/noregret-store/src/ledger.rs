//! All trials of a study and who works on which: a fold over the whole log.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::{Entry, Event, Lease, Requested, Timestamp, TrialRecord, TrialStatus};

/// Requests that are remembered: whoever repeats one does so within minutes.
const REMEMBERED: usize = 10_000;

/// A process that wants new points.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Claim {
    pub(crate) worker: String,
    pub(crate) wanted: usize,
    /// Until when others wait for it.
    pub(crate) until: Timestamp,
}

/// The state of every trial.
#[derive(Clone, Debug, Default)]
pub struct Ledger {
    records: Vec<TrialRecord>,
    waiting: BTreeSet<u64>,
    running: BTreeSet<u64>,
    /// The first thinks, the others wait for it.
    claims: Vec<Claim>,
    asked: u64,
    complete: u64,
    failed: u64,
    added: u64,
    model_seconds: f64,
    /// How long the last proposal took.
    last_seconds: f64,
    /// Requests that were done, by their keys, and the keys in their order.
    requests: BTreeMap<String, Requested>,
    keys: VecDeque<String>,
    archived: bool,
    paused: bool,
    /// What somebody noted about the study, and the words by which it is grouped.
    note: String,
    tags: Vec<String>,
}

impl Ledger {
    /// Goes on with the next entry.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Asked(proposed) => {
                self.asked += proposed.asked.choices.len() as u64;
                self.model_seconds += proposed.seconds;
                self.last_seconds = proposed.seconds;
            }
            Event::Claimed { worker, wanted, until } => {
                self.claim(Claim { worker: worker.clone(), wanted: *wanted, until: *until });
                return;
            }
            Event::Requested(requested) => {
                self.remember(requested);
                return;
            }
            Event::Archived { archived } => self.archived = *archived,
            Event::Paused { paused } => self.paused = *paused,
            Event::Noted { number: None, note } => self.note.clone_from(note),
            Event::Tagged { tags } => self.tags.clone_from(tags),
            Event::Enqueued { .. } => self.asked += 1,
            Event::Added { .. } => self.added += 1,
            Event::Renewed { .. } => {
                for number in &self.running {
                    self.records[index(*number)].apply(entry);
                }
                return;
            }
            _ => {}
        }
        for record in TrialRecord::begun_by(entry) {
            self.count(&record.status, 1);
            if record.status == TrialStatus::Waiting {
                self.waiting.insert(record.number);
            }
            self.records.push(record);
        }
        if matches!(entry.event, Event::Asked(_) | Event::Enqueued { .. } | Event::Added { .. }) {
            return;
        }
        for number in entry.event.trials() {
            let Some(record) = self.records.get_mut(index(number)) else { continue };
            let before = record.status.clone();
            record.apply(entry);
            let after = record.status.clone();
            self.count(&before, -1);
            self.count(&after, 1);
            self.waiting.remove(&number);
            self.running.remove(&number);
            match after {
                TrialStatus::Waiting => self.waiting.insert(number),
                TrialStatus::Running(_) => self.running.insert(number),
                _ => false,
            };
        }
    }

    fn claim(&mut self, claim: Claim) {
        match self.claims.iter().position(|known| known.worker == claim.worker) {
            Some(i) if claim.wanted == 0 => drop(self.claims.remove(i)),
            Some(i) => self.claims[i] = claim,
            None if claim.wanted == 0 => {}
            None => self.claims.push(claim),
        }
    }

    fn remember(&mut self, requested: &Requested) {
        if self.requests.insert(requested.key.clone(), requested.clone()).is_none() {
            self.keys.push_back(requested.key.clone());
        }
        if self.keys.len() > REMEMBERED
            && let Some(oldest) = self.keys.pop_front()
        {
            self.requests.remove(&oldest);
        }
    }

    /// The request of this key, if it was done and is not long ago.
    pub fn request(&self, key: &str) -> Option<&Requested> {
        self.requests.get(key)
    }

    /// Whether the study was put away.
    pub fn is_archived(&self) -> bool {
        self.archived
    }

    /// Whether nothing is handed out for now.
    pub fn is_paused(&self) -> bool {
        self.paused
    }

    /// What somebody noted about the study.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The words by which the study is grouped.
    pub fn tags(&self) -> &[String] {
        &self.tags
    }

    fn count(&mut self, status: &TrialStatus, by: i64) {
        match status {
            TrialStatus::Complete { .. } => self.complete = self.complete.saturating_add_signed(by),
            TrialStatus::Failed { .. } => self.failed = self.failed.saturating_add_signed(by),
            _ => {}
        }
    }

    /// All trials, by number.
    pub fn records(&self) -> &[TrialRecord] {
        &self.records
    }

    /// One trial.
    pub fn record(&self, number: u64) -> Option<&TrialRecord> {
        self.records.get(index(number))
    }

    /// Trials that nobody evaluates, by number.
    pub fn waiting(&self) -> impl ExactSizeIterator<Item = u64> {
        self.waiting.iter().copied()
    }

    /// Trials that somebody evaluates, with their leases, by number.
    pub fn running(&self) -> impl Iterator<Item = (u64, &Lease)> {
        self.running.iter().filter_map(|number| match &self.records[index(*number)].status {
            TrialStatus::Running(lease) => Some((*number, lease)),
            _ => None,
        })
    }

    /// How many trials were proposed; what was added from elsewhere does not count.
    pub fn asked(&self) -> u64 {
        self.asked
    }

    /// How many of the trials that were proposed have ended.
    pub fn ended(&self) -> u64 {
        self.complete + self.failed - self.added
    }

    /// How many trials have a value.
    pub fn complete(&self) -> u64 {
        self.complete
    }

    /// How many trials ended without one.
    pub fn failed(&self) -> u64 {
        self.failed
    }

    /// How long all proposals together took.
    pub fn model_seconds(&self) -> f64 {
        self.model_seconds
    }

    /// How long the last proposal took.
    pub(crate) fn last_seconds(&self) -> f64 {
        self.last_seconds
    }

    /// Who wants new points, in the order in which they came.
    pub(crate) fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// The next moment at which a lease held by somebody other than `worker` ends.
    pub fn next_deadline(&self, worker: &str) -> Option<Timestamp> {
        self.running().filter(|(_, lease)| lease.worker != worker).filter_map(|(_, lease)| lease.until).min()
    }
}

fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
