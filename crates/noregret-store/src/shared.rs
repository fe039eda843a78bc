//! A study whose log others write to as well.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use noregret::strategy::diagnostics::Diagnostics;
use noregret::strategy::history::Choice;
use noregret::{Params, Space, Study, Trial, study};

use crate::worker::{is_dead, is_process};
use crate::{
    Attrs, Definition, Entry, Event, Ledger, Store, StoreError, Timestamp, TrialRecord, TrialStatus,
};

/// Entries read at once when catching up.
const PAGE: usize = 10_000;

/// A trial that was in the hands of this many vanished workers has failed: it may be what kills them.
const MAX_LOST: u32 = 10;

/// How an evaluation ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
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

impl Outcome {
    /// A value and nothing else.
    pub fn value(value: f64) -> Self {
        Self::Value { value, noise_var: None, attrs: Attrs::new(), seconds: None }
    }
}

/// What became of something told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the trial's value.
    Complete,
    /// The trial has failed.
    Failed,
    /// The trial waits for another attempt.
    Retried,
    /// The trial had failed before; now it has a value after all.
    AfterFailure,
    /// The trial has this very result already; nothing changed.
    Same,
    /// The trial has another result already; this one is recorded and not counted.
    Late,
}

/// What to hand out.
#[derive(Clone, Debug)]
pub struct HandOut {
    /// Trials wanted now.
    pub wanted: usize,
    /// Trials to decide on together when new ones are needed, if more; `None` leaves it to the algorithm.
    pub batch: Option<usize>,
    /// Trials of the study in all.
    pub budget: Option<u64>,
    /// Who takes them.
    pub worker: String,
    /// For how long; without a span, until they are told.
    pub lease: Option<Duration>,
}

/// A study in a store, as this process knows it.
pub struct SharedStudy {
    store: Arc<dyn Store>,
    name: String,
    space: Space,
    definition: Definition,
    study: Study,
    ledger: Ledger,
    position: u64,
    diagnostics: Option<Box<Diagnostics>>,
}

impl std::fmt::Debug for SharedStudy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedStudy")
            .field("name", &self.name)
            .field("position", &self.position)
            .finish_non_exhaustive()
    }
}

impl SharedStudy {
    /// Opens the study, or makes it. `space` is what `definition.space` describes.
    ///
    /// An error if there is one of this name that searches elsewhere. Another algorithm, seed or duplicates policy is
    /// noted in the log, and used from now on.
    pub fn open(
        store: Arc<dyn Store>,
        name: &str,
        definition: &Definition,
        space: Space,
    ) -> Result<Self, StoreError> {
        let mut shared = Self::resume(store, name, definition.clone(), space)?;
        shared.commit(Timestamp::now(), |shared, _| {
            let known = shared.position > 0 && shared.definition.settings() == definition.settings();
            Ok(if known { Vec::new() } else { vec![Event::Defined(Box::new(definition.clone()))] })
        })?;
        Ok(shared)
    }

    /// Opens a study with the settings that it has in the log, if it has any.
    pub fn resume(
        store: Arc<dyn Store>,
        name: &str,
        definition: Definition,
        space: Space,
    ) -> Result<Self, StoreError> {
        let study = build(&definition, &space, Vec::new())?;
        let mut shared = Self {
            store,
            name: name.into(),
            space,
            definition,
            study,
            ledger: Ledger::default(),
            position: 0,
            diagnostics: None,
        };
        shared.catch_up()?;
        Ok(shared)
    }

    /// How a study in the store was defined at first: its space never changes. `place` is for the error's text.
    pub fn first_definition(store: &dyn Store, name: &str, place: &str) -> Result<Definition, StoreError> {
        match store.read(name, 0, 1)?.pop().map(|entry| entry.event) {
            Some(Event::Defined(definition)) => Ok(*definition),
            Some(_) => {
                let problem = "the first entry must define the study".into();
                Err(StoreError::Corrupt { study: name.into(), position: 1, problem })
            }
            None => {
                let known = store.studies()?.into_iter().map(|(name, _)| name).collect();
                Err(StoreError::NoSuchStudy { study: name.into(), place: place.into(), known })
            }
        }
    }

    /// Reads what others have written; answers how many entries that was.
    pub fn catch_up(&mut self) -> Result<usize, StoreError> {
        let begin = self.position;
        loop {
            let entries = self.store.read(&self.name, self.position, PAGE)?;
            for entry in &entries {
                self.absorb(entry)?;
            }
            if entries.len() < PAGE {
                return Ok(usize::try_from(self.position - begin).unwrap_or(usize::MAX));
            }
        }
    }

    fn absorb(&mut self, entry: &Entry) -> Result<(), StoreError> {
        if let Event::Defined(definition) = &entry.event {
            if let Some(difference) = definition.difference(&self.definition) {
                return Err(StoreError::AnotherStudy { study: self.name.clone(), difference });
            }
            if definition.settings() != self.definition.settings() {
                self.study = build(definition, &self.space, self.study.events().to_vec())?;
            }
            self.definition = (**definition).clone();
        }
        if let Event::Asked { diagnostics, .. } = &entry.event {
            self.diagnostics.clone_from(diagnostics);
        }
        if let Some(event) = entry.event.in_study() {
            self.study.absorb(event).map_err(|error| StoreError::Corrupt {
                study: self.name.clone(),
                position: self.position + 1,
                problem: explain(&error),
            })?;
        }
        self.ledger.apply(entry);
        self.position += 1;
        Ok(())
    }

    /// Writes what `decide` makes of the newest state; decides again if somebody else was faster. Deciding takes time, too:
    /// the clock that it gets goes on from `now`.
    fn commit(
        &mut self,
        now: Timestamp,
        mut decide: impl FnMut(&mut Self, &dyn Fn() -> Timestamp) -> Result<Vec<Event>, StoreError>,
    ) -> Result<(), StoreError> {
        let begin = Instant::now();
        let clock = || now.after(begin.elapsed());
        loop {
            let events = decide(self, &clock)?;
            if events.is_empty() {
                return Ok(());
            }
            let time = clock();
            let entries: Vec<Entry> = events.into_iter().map(|event| Entry { time, event }).collect();
            match self.store.append(&self.name, self.position, &entries) {
                Ok(_) => return entries.iter().try_for_each(|entry| self.absorb(entry)),
                Err(error) if error.is_conflict() => {
                    self.catch_up()?;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Hands out up to `wanted` trials: those that wait first, then new ones, decided on together. Fewer, or none, if the
    /// budget is spent; an error only if nothing at all is left to suggest and nothing waits.
    pub fn hand_out(&mut self, order: &HandOut, now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        let mut taken = Vec::new();
        self.commit(now, |shared, clock| {
            let mut events = shared.recover(&order.worker, clock());
            let recovered = events.iter().filter_map(|event| match event {
                Event::Released { number, .. } => Some(*number),
                _ => None,
            });
            let mut waiting: Vec<u64> = shared.ledger.waiting().chain(recovered).collect();
            waiting.sort_unstable();
            waiting.truncate(order.wanted);
            taken = waiting;
            let open = order.budget.map_or(u64::MAX, |budget| budget.saturating_sub(shared.ledger.asked()));
            let open = usize::try_from(open).unwrap_or(usize::MAX);
            let missing = order.wanted - taken.len();
            // Without a number, the algorithm says how many may run before it must hear of results.
            let may_ask =
                order.batch.is_some() || (taken.is_empty() && shared.ledger.running().next().is_none());
            if missing > 0 && open > 0 && may_ask {
                let budget = order.budget.and_then(|budget| usize::try_from(budget).ok());
                shared.study.set_budget(budget);
                match shared.draft(order.batch.map(|batch| batch.max(missing)), open) {
                    Ok(asked) => {
                        taken.extend(asked.trials().take(missing));
                        events.push(asked);
                    }
                    Err(error) if error.is_exhausted() && !taken.is_empty() => {}
                    Err(error) => return Err(error),
                }
            }
            let until = order.lease.map(|span| clock().after(span));
            events.extend(taken.iter().map(|&number| Event::Leased {
                number,
                worker: order.worker.clone(),
                until,
            }));
            Ok(events)
        })?;
        taken.iter().map(|&number| Ok(self.study.trial(number)?.clone())).collect()
    }

    /// Proposes `q` points, or as many as the algorithm allows, and never more than `most`.
    fn draft(&mut self, q: Option<usize>, most: usize) -> Result<Event, StoreError> {
        let begin = Instant::now();
        let mut ask = |q: Option<usize>| self.study.draft_ask(q.and_then(NonZeroUsize::new));
        let (mut event, mut diagnostics) = ask(q.map(|q| q.min(most)))?;
        if matches!(&event, study::Event::Asked { choices, .. } if choices.len() > most) {
            (event, diagnostics) = ask(Some(most))?;
        }
        let study::Event::Asked { choices, memo } = event else {
            unreachable!("invariant: a proposal is recorded as asked")
        };
        Ok(Event::Asked {
            first: self.study.trials().len() as u64,
            choices,
            memo,
            diagnostics: Some(Box::new(diagnostics)),
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    /// Puts points of the user's own into the queue, all or none: they are handed out before new ones are thought of.
    pub fn enqueue(&mut self, points: &[Params], now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        let mut first = 0;
        self.commit(now, |shared, _| {
            first = shared.study.trials().len();
            let queue = |(number, params): (u64, &Params)| match shared.study.draft_enqueue(params)? {
                study::Event::Enqueued { params, choice } => Ok(Event::Enqueued { number, params, choice }),
                _ => unreachable!("invariant: a point of the user's own is recorded as such"),
            };
            (first as u64..).zip(points).map(queue).collect()
        })?;
        Ok(self.study.trials()[first..first + points.len()].to_vec())
    }

    /// What becomes of trials whose workers have vanished.
    fn recover(&self, own: &str, now: Timestamp) -> Vec<Event> {
        let event = |number| match self.ledger.record(number) {
            Some(record) if record.lost + 1 >= MAX_LOST => Event::Failed {
                number,
                reason: format!("its worker vanished {MAX_LOST} times while it was evaluated"),
                stderr: String::new(),
                seconds: None,
            },
            _ => Event::Released { number, lost: true },
        };
        // A process knows best what it is working on, whatever the clock says; people forget.
        let own = if is_process(own) { own } else { "" };
        self.ledger.abandoned(own, now, is_dead).into_iter().map(event).collect()
    }

    /// Tells how evaluations ended, all at once: one commit. A failure of a trial that somebody other than `worker` has
    /// taken over in the meantime does not end it; a value does.
    pub fn tell(
        &mut self,
        results: &[(u64, Outcome)],
        worker: Option<&str>,
        now: Timestamp,
    ) -> Result<Vec<Verdict>, StoreError> {
        let mut verdicts = Vec::new();
        self.commit(now, |shared, _| {
            verdicts.clear();
            let mut events = Vec::new();
            for (number, outcome) in results {
                let Some(record) = shared.ledger.record(*number) else {
                    let unknown = shared.study.trial(*number).err().map(StoreError::from);
                    return Err(unknown.unwrap_or_else(|| unreachable!("invariant: both know all trials")));
                };
                let (verdict, event) = judge(record, outcome, worker);
                verdicts.push(verdict);
                events.extend(event);
            }
            Ok(events)
        })?;
        Ok(verdicts)
    }

    /// Gives trials that one of `workers` holds back to the queue, unevaluated.
    pub fn release(&mut self, numbers: &[u64], workers: &[&str], now: Timestamp) -> Result<(), StoreError> {
        self.commit(now, |shared, _| {
            let own = |number: &&u64| match shared.ledger.record(**number).map(|record| &record.status) {
                Some(TrialStatus::Running(lease)) => workers.contains(&lease.worker.as_str()),
                _ => false,
            };
            Ok(numbers.iter().filter(own).map(|&number| Event::Released { number, lost: false }).collect())
        })
    }

    /// Keeps what this worker has leased for another `span`.
    pub fn renew(&mut self, worker: &str, span: Duration, now: Timestamp) -> Result<(), StoreError> {
        self.commit(now, |_, clock| {
            Ok(vec![Event::Renewed { worker: worker.to_owned(), until: clock().after(span) }])
        })
    }

    /// Adds results from elsewhere, all or none; answers how many were new. A result that is there already, with the same
    /// point and the same value, is not added again (one that is given twice must be there twice).
    pub fn add(&mut self, results: &[Added], now: Timestamp) -> Result<usize, StoreError> {
        let mut added = 0;
        self.commit(now, |shared, _| {
            let mut known = shared.results();
            let mut events = Vec::new();
            for result in results {
                let value = result.value.unwrap_or(f64::NAN);
                let event = match result.row {
                    Some(row) => shared.study.draft_add_row(row, value, result.noise_var)?,
                    None => shared.study.draft_add(&result.params, value, result.noise_var)?,
                };
                let study::Event::Added { params, choice, .. } = event else {
                    unreachable!("invariant: a result from elsewhere is recorded as added")
                };
                let value = result.value.filter(|value| value.is_finite());
                let there = if known.is_empty() { None } else { known.get_mut(&key(&choice, value)) };
                if let Some(count) = there.filter(|count| **count > 0) {
                    *count -= 1;
                    continue;
                }
                let number = (shared.study.trials().len() + events.len()) as u64;
                events.push(Event::Added { number, params, choice, value, noise_var: result.noise_var });
            }
            added = events.len();
            Ok(events)
        })?;
        Ok(added)
    }

    /// How often each result is there.
    fn results(&self) -> BTreeMap<Key, usize> {
        let mut known = BTreeMap::new();
        for record in self.ledger.records() {
            let value = match record.status {
                TrialStatus::Complete { value, .. } => Some(value),
                TrialStatus::Failed { .. } => None,
                _ => continue,
            };
            *known.entry(key(&record.choice, value)).or_default() += 1;
        }
        known
    }

    /// The study itself: suggestions, recommendation, model.
    pub fn study(&mut self) -> &mut Study {
        &mut self.study
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it was made from.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }

    /// All trials and who works on which.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How the last proposal came about, whoever made it.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        self.diagnostics.as_deref()
    }

    /// The last entry known.
    pub fn position(&self) -> u64 {
        self.position
    }
}

/// A point and its value, to the last bit.
type Key = (Vec<u64>, Option<usize>, Option<u64>);

fn key(choice: &Choice, value: Option<f64>) -> Key {
    (choice.x.iter().map(|x| x.to_bits()).collect(), choice.row, value.map(f64::to_bits))
}

/// A result from elsewhere.
#[derive(Clone, Debug, PartialEq)]
pub struct Added {
    /// What was evaluated.
    pub params: Params,
    /// The pool's row, if it is known.
    pub row: Option<usize>,
    /// The value; without one it was a failure.
    pub value: Option<f64>,
    /// Variance of its noise.
    pub noise_var: Option<f64>,
}

/// Tells how one evaluation ended, without reading the rest of the log: the cost does not grow with the study.
pub fn tell_one(
    store: &dyn Store,
    study: &str,
    number: u64,
    outcome: &Outcome,
    now: Timestamp,
) -> Result<Option<Verdict>, StoreError> {
    loop {
        let position = store.last(study)?;
        let Some(record) = record_of(store, study, number)? else { return Ok(None) };
        let (verdict, event) = judge(&record, outcome, None);
        let Some(event) = event else { return Ok(Some(verdict)) };
        match store.append(study, position, &[Entry { time: now, event }]) {
            Ok(_) => return Ok(Some(verdict)),
            Err(error) if error.is_conflict() => {}
            Err(error) => return Err(error),
        }
    }
}

/// One trial, from the entries that concern it.
fn record_of(store: &dyn Store, study: &str, number: u64) -> Result<Option<TrialRecord>, StoreError> {
    Ok(records_of(store, study, number..number + 1)?.pop())
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
fn judge(record: &TrialRecord, outcome: &Outcome, worker: Option<&str>) -> (Verdict, Option<Event>) {
    let number = record.number;
    let outcome = match outcome {
        Outcome::Value { value, seconds, .. } if !value.is_finite() => &Outcome::Failure {
            reason: format!("the value is {value}, not a finite number"),
            stderr: String::new(),
            seconds: *seconds,
        },
        other => other,
    };
    // Somebody else has the trial now: our failure says nothing of their attempt.
    let taken_over = match (&record.status, worker) {
        (TrialStatus::Running(lease), Some(worker)) => lease.worker != worker,
        _ => false,
    };
    match outcome {
        Outcome::Value { value, noise_var, attrs, seconds } => {
            let (value, noise_var, attrs) = (*value, *noise_var, attrs.clone());
            if let TrialStatus::Complete { value: known, noise_var: known_noise } = record.status {
                let nothing_new = noise_var.is_none_or(|noise| known_noise == Some(noise))
                    && (attrs.is_empty() || attrs == record.attrs);
                if known.total_cmp(&value).is_eq() && nothing_new {
                    return (Verdict::Same, None);
                }
                let reason = String::new();
                return (
                    Verdict::Late,
                    Some(Event::Late { number, value: Some(value), noise_var, attrs, reason }),
                );
            }
            let given_up = matches!(record.status, TrialStatus::Failed { .. });
            let verdict = if given_up { Verdict::AfterFailure } else { Verdict::Complete };
            (verdict, Some(Event::Told { number, value, noise_var, attrs, seconds: *seconds }))
        }
        Outcome::Failure { reason, .. } | Outcome::Retry { reason, .. }
            if record.status.is_over() || taken_over =>
        {
            if matches!(&record.status, TrialStatus::Failed { reason: known } if known == reason) {
                return (Verdict::Same, None);
            }
            let (attrs, reason) = (Attrs::new(), reason.clone());
            (Verdict::Late, Some(Event::Late { number, value: None, noise_var: None, attrs, reason }))
        }
        Outcome::Failure { reason, stderr, seconds } => {
            let (reason, stderr) = (reason.clone(), stderr.clone());
            (Verdict::Failed, Some(Event::Failed { number, reason, stderr, seconds: *seconds }))
        }
        Outcome::Retry { reason, stderr, seconds } => {
            let (reason, stderr) = (reason.clone(), stderr.clone());
            (Verdict::Retried, Some(Event::Retried { number, reason, stderr, seconds: *seconds }))
        }
    }
}

fn build(definition: &Definition, space: &Space, events: Vec<study::Event>) -> Result<Study, StoreError> {
    let study = Study::builder()
        .space(space.clone())
        .direction(definition.direction)
        .algorithm(definition.algorithm.clone())
        .seed(definition.seed)
        .duplicates(definition.duplicates)
        .replay(events)?;
    Ok(study)
}

/// An error with its causes.
fn explain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}
