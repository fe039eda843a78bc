//! What a log says of a study, without its model.

use std::collections::BTreeMap;

use noregret::{Direction, space::ExpressionType};
use noregret_client::api::Counts;
use noregret_store::{
    Definition, Entry, Event, Ledger, Store, StoreError, Timestamp, TrialRecord, TrialStatus,
};
use serde_json::Value as Json;

use super::activity::Activity;

/// Entries that are read at once.
const PAGE: usize = 2_000;
/// Names of attributes that can be columns.
const MOST_ATTRS: usize = 1_000;

/// A study as its log tells it: trials, the order in which they ended, who evaluated them.
#[derive(Clone, Debug, Default)]
pub struct Chronicle {
    position: u64,
    ledger: Ledger,
    definition: Option<Box<Definition>>,
    /// Trials that have ended, in the order in which they did.
    ended: Vec<u64>,
    pub(super) activity: Activity,
    /// Attributes by name, with what their values are.
    attrs: BTreeMap<String, ExpressionType>,
    begun: Option<Timestamp>,
    last: Option<Timestamp>,
    /// The last position after which a model may say something else.
    model_position: u64,
}

impl Chronicle {
    /// Reads what is new in the log.
    pub fn catch_up(&mut self, store: &dyn Store, name: &str) -> Result<(), StoreError> {
        let last = store.last(name)?;
        if last < self.position {
            *self = Self::default(); // it is another log of this name
        }
        while self.position < last {
            let entries = store.read(name, self.position, PAGE)?;
            if entries.is_empty() {
                break;
            }
            entries.iter().for_each(|entry| self.apply(entry));
        }
        Ok(())
    }

    /// Goes on with the next entry.
    pub fn apply(&mut self, entry: &Entry) {
        self.position += 1;
        self.begun.get_or_insert(entry.time);
        self.last = self.last.max(Some(entry.time));
        match &entry.event {
            Event::Defined(definition) => self.define(definition),
            Event::Planned(planned) => {
                if let Some(definition) = &mut self.definition {
                    definition.trials = planned.trials;
                }
            }
            Event::Told { attrs, .. } => {
                attrs.iter().for_each(|(name, value)| self.note_attribute(name, value));
            }
            _ => {}
        }
        if !says_nothing_to_a_model(&entry.event) {
            self.model_position = self.position;
        }
        let is_over = |ledger: &Ledger, number| {
            ledger.record(number).is_some_and(|record: &TrialRecord| record.status.is_over())
        };
        let known = self.ledger.records().len() as u64;
        // A proposal of many points ends nothing; everything else concerns one trial at most.
        let number = Some(entry.event.trials()).filter(|numbers| numbers.end - numbers.start == 1);
        let number = number.map(|numbers| numbers.start);
        let was_over = number.is_some_and(|number| is_over(&self.ledger, number));
        self.ledger.apply(entry);
        self.activity.apply(entry);
        if let Some(number) = number.filter(|number| !was_over && *number <= known)
            && is_over(&self.ledger, number)
        {
            self.ended.push(number);
        }
    }

    fn define(&mut self, definition: &Definition) {
        // The first says how many trials there are to be; later that is for `Planned`.
        let trials = self.definition.as_ref().map_or(definition.trials, |known| known.trials);
        self.definition = Some(Box::new(Definition { trials, ..definition.clone() }));
    }

    fn note_attribute(&mut self, name: &str, value: &Json) {
        let ty = match value {
            Json::Number(_) => ExpressionType::Number,
            Json::String(_) => ExpressionType::Text,
            Json::Bool(_) => ExpressionType::Truth,
            _ => ExpressionType::Mixed,
        };
        if let Some(known) = self.attrs.get_mut(name) {
            if *known != ty {
                *known = ExpressionType::Mixed;
            }
        } else if self.attrs.len() < MOST_ATTRS {
            self.attrs.insert(name.to_owned(), ty);
        }
    }

    /// The last position that it knows.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The last position after which a model may say something else than before.
    pub fn model_position(&self) -> u64 {
        self.model_position
    }

    /// All trials.
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// How the study is defined; nothing before its first entry.
    pub fn definition(&self) -> Option<&Definition> {
        self.definition.as_deref()
    }

    /// When the study began.
    pub fn begun(&self) -> Option<Timestamp> {
        self.begun
    }

    /// When something last happened.
    pub(super) fn last(&self) -> Option<Timestamp> {
        self.last
    }

    /// Names of attributes, with what their values are.
    pub(super) fn attrs(&self) -> &BTreeMap<String, ExpressionType> {
        &self.attrs
    }

    pub(super) fn direction(&self) -> Direction {
        self.definition().map_or(Direction::Minimize, |definition| definition.direction)
    }

    /// Trials by state.
    pub fn counts(&self) -> Counts {
        let ledger = &self.ledger;
        Counts {
            waiting: ledger.waiting().len() as u64,
            running: ledger.running().count() as u64,
            complete: ledger.complete(),
            failed: ledger.failed(),
        }
    }

    /// Whether everything that was planned is done.
    pub(super) fn is_done(&self) -> bool {
        let trials = self.definition().and_then(|definition| definition.trials);
        let is_spent = trials.is_some_and(|trials| self.ledger.asked() >= trials as u64);
        is_spent && self.ledger.waiting().len() == 0 && self.ledger.running().next().is_none()
    }

    /// Seconds from the beginning to a moment.
    pub(super) fn seconds(&self, time: Timestamp) -> f64 {
        self.begun.map_or(0.0, |begun| time.since(begun).as_secs_f64())
    }

    /// Trials that have ended, in the order in which they did.
    pub(super) fn ended(&self) -> impl ExactSizeIterator<Item = &TrialRecord> + Clone {
        self.ended.iter().map(|number| {
            self.ledger.record(*number).expect("invariant: a trial that has ended is in the ledger")
        })
    }

    /// Seconds from the beginning to the last entry.
    pub(crate) fn until(&self) -> f64 {
        self.last.map_or(0.0, |last| self.seconds(last))
    }

    /// Numbers of the trials with a value, the best first.
    pub(crate) fn best_first(&self) -> Vec<u64> {
        let valued = |record: &TrialRecord| Some((record.number, value_of(record)?));
        let mut best: Vec<(u64, f64)> = self.ledger.records().iter().filter_map(valued).collect();
        match self.direction() {
            Direction::Minimize => best.sort_by(|(_, a), (_, b)| a.total_cmp(b)),
            Direction::Maximize => best.sort_by(|(_, a), (_, b)| b.total_cmp(a)),
        }
        best.into_iter().map(|(number, _)| number).collect()
    }

    /// Places among all that have ended at which the best so far changed, with the trials.
    pub(super) fn improvements(&self) -> Vec<(usize, &TrialRecord, f64)> {
        let is_better: fn(f64, f64) -> bool = match self.direction() {
            Direction::Minimize => |new, old| new < old,
            Direction::Maximize => |new, old| new > old,
        };
        let mut best: Option<f64> = None;
        let mut changes = Vec::new();
        for (place, record) in self.ended().enumerate() {
            let Some(value) = value_of(record) else { continue };
            if best.is_none_or(|best| is_better(value, best)) {
                best = Some(value);
                changes.push((place, record, value));
            }
        }
        changes
    }
}

/// The value of a trial, if it has one.
pub(super) fn value_of(record: &TrialRecord) -> Option<f64> {
    match record.status {
        TrialStatus::Complete { value, .. } => Some(value),
        _ => None,
    }
}

/// Whether it is about who evaluates, rather than about points and values.
fn says_nothing_to_a_model(event: &Event) -> bool {
    matches!(
        event,
        Event::Claimed { .. }
            | Event::Leased { .. }
            | Event::Renewed { .. }
            | Event::Released { .. }
            | Event::Retried { .. }
            | Event::Requested(_)
            | Event::Late { .. }
            | Event::Archived { .. }
            | Event::Paused { .. }
            | Event::Noted { .. }
            | Event::Tagged { .. }
    )
}
