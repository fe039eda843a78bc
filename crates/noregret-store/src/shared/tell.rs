//! How evaluations ended, and what that means for their trials.

use std::collections::BTreeMap;

use noregret::TrialState;
use noregret::study::{Failed, Told, Verdict, check_noise_var};

use super::{Request, SharedStudy};
use crate::clock::Clock;
use crate::{Attrs, Entry, Event, Store, StoreError, Timestamp, TrialRecord, TrialStatus};

/// How an evaluation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Evaluation {
    /// With a value; one that is not finite counts as a failure.
    Value {
        /// The value.
        value: f64,
        /// Variance of its noise.
        noise_var: Option<f64>,
        /// What else it said.
        attrs: Attrs,
        /// How long it took, if known.
        seconds: Option<f64>,
    },
    /// Without one.
    Failure {
        /// Why.
        reason: String,
        /// The end of what it wrote to stderr.
        stderr: String,
        /// How long it took, if known.
        seconds: Option<f64>,
    },
    /// Without one, but it shall be tried again.
    Retry {
        /// Why.
        reason: String,
        /// The end of what it wrote to stderr.
        stderr: String,
        /// How long it took.
        seconds: f64,
    },
}

impl Evaluation {
    /// A value and nothing else.
    pub fn value(value: f64) -> Self {
        Self::Value { value, noise_var: None, attrs: Attrs::new(), seconds: None }
    }

    /// Returns an error if no model could use the variance.
    fn check(&self, number: u64) -> Result<(), StoreError> {
        match self {
            Self::Value { noise_var, .. } => {
                Ok(check_noise_var(number, *noise_var).map_err(noregret::Error::from)?)
            }
            Self::Failure { .. } | Self::Retry { .. } => Ok(()),
        }
    }
}

/// How an evaluation ended, by whom it is said, and for which request from another machine.
#[derive(Clone, Copy, Debug)]
pub struct Statement<'a> {
    /// Which trial.
    pub number: u64,
    /// How it ended.
    pub evaluation: &'a Evaluation,
    /// Who evaluated it, if that is known.
    pub worker: Option<&'a str>,
    /// The request that this is for.
    pub request: Option<&'a Request>,
}

impl SharedStudy {
    /// Tells how evaluations ended, all at once: one commit. A failure of a trial that somebody other than `worker` has
    /// taken over in the meantime does not end it; a value does.
    pub fn tell<'a>(
        &mut self,
        results: &'a [(u64, Evaluation)],
        worker: Option<&'a str>,
        now: Timestamp,
    ) -> Result<Vec<Verdict>, StoreError> {
        let statement = |(number, evaluation): &'a (u64, Evaluation)| Statement {
            number: *number,
            evaluation,
            worker,
            request: None,
        };
        let statements: Vec<Statement<'_>> = results.iter().map(statement).collect();
        self.tell_all(&statements, now)
    }

    /// The same for several workers and requests.
    pub fn tell_all(
        &mut self,
        statements: &[Statement<'_>],
        now: Timestamp,
    ) -> Result<Vec<Verdict>, StoreError> {
        statements.iter().try_for_each(|said| said.evaluation.check(said.number))?;
        let clock = Clock::start(now);
        loop {
            let (mut verdicts, mut events) = (Vec::new(), Vec::new());
            // A trial may be among the results more than once: the second is judged as what it will be then.
            let mut told: BTreeMap<u64, TrialRecord> = BTreeMap::new();
            for Statement { number, evaluation, worker, request } in statements {
                if let Some(verdict) = self.done(*request).and_then(|done| Verdict::of_word(&done.result)) {
                    verdicts.push(verdict);
                    continue;
                }
                let Some(record) = told.get(number).or_else(|| self.ledger.record(*number)) else {
                    let unknown = self.study.trial(*number).err().map(StoreError::from);
                    return Err(unknown.unwrap_or_else(|| unreachable!("invariant: both know all trials")));
                };
                let (verdict, event) = judge(record, evaluation, *worker);
                verdicts.push(verdict);
                if let Some(event) = event {
                    let mut record = record.clone();
                    record.apply(&Entry { time: clock.time(), event: event.clone() });
                    told.insert(*number, record);
                    events.push(event);
                    events.extend(request.map(|request| request.done(Vec::new(), verdict.word())));
                }
            }
            if self.append(clock.time(), events)? {
                return Ok(verdicts);
            }
        }
    }
}

/// Tells how one evaluation ended, without reading the rest of the log: the cost does not grow with the study.
pub fn tell_one(
    store: &dyn Store,
    study: &str,
    number: u64,
    evaluation: &Evaluation,
    now: Timestamp,
) -> Result<Option<Verdict>, StoreError> {
    evaluation.check(number)?;
    loop {
        let position = store.last(study)?;
        let Some(record) = record_of(store, study, number)? else { return Ok(None) };
        let (verdict, event) = judge(&record, evaluation, None);
        let Some(event) = event else { return Ok(Some(verdict)) };
        match store.append(study, position, &[Entry { time: now, event }]) {
            Ok(_) => return Ok(Some(verdict)),
            // Somebody was faster; if not, the log contradicts itself, and trying again would never end.
            Err(error) if error.is_conflict() && store.last(study)? != position => {}
            Err(error) => return Err(error),
        }
    }
}

/// One trial, from the entries that concern it.
fn record_of(store: &dyn Store, study: &str, number: u64) -> Result<Option<TrialRecord>, StoreError> {
    Ok(records_of(store, study, number..number.saturating_add(1))?.pop())
}

/// Some trials, by number, from the entries that concern them.
pub fn records_of(
    store: &dyn Store,
    study: &str,
    numbers: std::ops::Range<u64>,
) -> Result<Vec<TrialRecord>, StoreError> {
    let mut records: Vec<TrialRecord> = Vec::new();
    for entry in store.read_trials(study, numbers.clone())? {
        let begun = TrialRecord::begun_by(&entry);
        if begun.is_empty() {
            for number in entry.event.trials() {
                if let Ok(i) = records.binary_search_by_key(&number, |record| record.number) {
                    records[i].apply(&entry);
                }
            }
        } else {
            records.extend(begun.into_iter().filter(|record| numbers.contains(&record.number)));
        }
    }
    Ok(records)
}

/// What a result of `worker` means for a trial, and what is to be written.
fn judge(record: &TrialRecord, evaluation: &Evaluation, worker: Option<&str>) -> (Verdict, Option<Event>) {
    let number = record.number;
    let (reason, stderr, seconds) = match evaluation {
        Evaluation::Value { value, noise_var, attrs, seconds } => {
            let TrialState::Failed { reason } = TrialState::of(*value, *noise_var) else {
                let told = Told { number, value: *value, noise_var: *noise_var };
                return judge_value(record, told, attrs.clone(), *seconds);
            };
            (reason, String::new(), *seconds)
        }
        Evaluation::Failure { reason, stderr, seconds } => (reason.clone(), stderr.clone(), *seconds),
        Evaluation::Retry { reason, stderr, seconds } => (reason.clone(), stderr.clone(), Some(*seconds)),
    };
    // Somebody else has the trial now: our failure says nothing of their attempt.
    let taken_over = match (&record.status, worker) {
        (TrialStatus::Running(lease), Some(worker)) => lease.worker != worker,
        _ => false,
    };
    if record.status.is_over() || taken_over {
        if matches!(&record.status, TrialStatus::Failed { reason: known } if *known == reason) {
            return (Verdict::Same, None);
        }
        let late = Event::Late { number, value: None, noise_var: None, attrs: Attrs::new(), reason };
        return (Verdict::Late, Some(late));
    }
    if let Evaluation::Retry { seconds, .. } = evaluation {
        return (Verdict::Retried, Some(Event::Retried { number, reason, stderr, seconds: *seconds }));
    }
    (Verdict::Failed, Some(Event::Failed { failed: Failed { number, reason }, stderr, seconds }))
}

/// The same for a finite value.
fn judge_value(
    record: &TrialRecord,
    told: Told,
    attrs: Attrs,
    seconds: Option<f64>,
) -> (Verdict, Option<Event>) {
    let Told { number, value, noise_var } = told;
    if let TrialStatus::Complete { value: known, noise_var: known_noise } = record.status {
        let known = TrialState::Complete { value: known, noise_var: known_noise };
        if known.has(value, noise_var) && (attrs.is_empty() || attrs == record.attrs) {
            return (Verdict::Same, None);
        }
        let late = Event::Late { number, value: Some(value), noise_var, attrs, reason: String::new() };
        return (Verdict::Late, Some(late));
    }
    let given_up = matches!(record.status, TrialStatus::Failed { .. });
    let verdict = if given_up { Verdict::AfterFailure } else { Verdict::Complete };
    (verdict, Some(Event::Told { told, attrs, seconds }))
}
