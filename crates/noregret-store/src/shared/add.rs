//! Results from elsewhere: old runs, spreadsheets, other programs.

use std::collections::BTreeMap;

use noregret::Params;
use noregret::strategy::history::Choice;

use super::{Request, SharedStudy};
use crate::clock::Clock;
use crate::{Event, StoreError, Timestamp, TrialStatus};

/// A result from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct ExternalResult {
    /// What was evaluated.
    pub params: Params,
    /// The pool's row, if it is known.
    pub row: Option<usize>,
    /// The value; without one it was a failure.
    pub value: Option<f64>,
    /// Variance of its noise.
    pub noise_var: Option<f64>,
}

impl SharedStudy {
    /// Adds results from elsewhere, all or none; returns how many were new. A result that is there already, with the same
    /// point and the same value, is not added again (one that is given twice must be there twice).
    pub fn add(&mut self, results: &[ExternalResult], now: Timestamp) -> Result<usize, StoreError> {
        self.add_for(results, None, now)
    }

    /// The same for a request from another machine.
    pub fn add_for(
        &mut self,
        results: &[ExternalResult],
        request: Option<&Request>,
        now: Timestamp,
    ) -> Result<usize, StoreError> {
        let clock = Clock::start(now);
        loop {
            if let Some(done) = self.done(request) {
                return Ok(done.trials.len());
            }
            let mut events = self.new_results(results)?;
            let added = events.len();
            if added > 0 {
                let first = self.study.trials().len() as u64;
                let numbers = (first..).take(added).collect();
                events.extend(request.map(|request| request.done(numbers, "")));
            }
            if self.append(clock.time(), events)? {
                return Ok(added);
            }
        }
    }

    /// The results that are not there yet.
    fn new_results(&self, results: &[ExternalResult]) -> Result<Vec<Event>, StoreError> {
        let mut known = self.results();
        let mut events = Vec::new();
        for result in results {
            let value = result.value.unwrap_or(f64::NAN);
            let added = match result.row {
                Some(row) => self.study.draft_add_row(row, value, result.noise_var)?,
                None => self.study.draft_add(&result.params, value, result.noise_var)?,
            };
            let there = if known.is_empty() {
                None
            } else {
                known.get_mut(&key(&added.choice, &added.state().into()))
            };
            if let Some(count) = there.filter(|count| **count > 0) {
                *count -= 1;
                continue;
            }
            let number = (self.study.trials().len() + events.len()) as u64;
            events.push(Event::Added { number, added });
        }
        Ok(events)
    }

    /// How often each result is there.
    fn results(&self) -> BTreeMap<Key, usize> {
        let mut known = BTreeMap::new();
        for record in self.ledger.records().iter().filter(|record| record.status.is_over()) {
            *known.entry(key(&record.choice, &record.status)).or_default() += 1;
        }
        known
    }
}

/// A point and its value, to the last bit.
type Key = (Vec<u64>, Option<usize>, Option<u64>);

fn key(choice: &Choice, status: &TrialStatus) -> Key {
    let value = match status {
        TrialStatus::Complete { value, .. } => Some(value.to_bits()),
        _ => None,
    };
    (choice.x.iter().map(|x| x.to_bits()).collect(), choice.row, value)
}
