//! A study whose log others write to as well.

mod add;
mod clocks;
mod hand_out;
mod manage;
mod on_behalf;
mod tell;
#[cfg(test)]
mod tests;
mod think;

use std::sync::Arc;

use noregret::strategy::diagnostics::Diagnostics;
use noregret::study::{Planned, StudyError, TRIALS};
use noregret::{Space, Study, study};

pub use add::ExternalResult;
use clocks::Clocks;
pub use clocks::Skew;
pub use hand_out::HandOut;
pub use on_behalf::{LogKeeper, Request};
pub use tell::{Evaluation, Statement, records_of, tell_one};
pub use think::{Draft, Next, Task};

use crate::clock::Clock;
use crate::error::explained;
use crate::worker::another_name;
use crate::{Definition, Entry, Event, Ledger, Proposed, Store, StoreError, Timestamp};

/// Entries read at once when catching up.
const PAGE: usize = 2_000;

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
    /// The name under which this claims to think.
    claimant: String,
    /// The last entry after which what was thought of before is void.
    void_before: u64,
    /// Whether somebody else has proposed points while this was thinking: there are several, and they should take turns.
    has_raced: bool,
    clocks: Clocks,
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
    /// noted in the log and used from now on, and so is a larger number of trials; to have fewer, [`Self::plan`] it.
    pub fn open(
        store: Arc<dyn Store>,
        name: &str,
        definition: &Definition,
        space: Space,
    ) -> Result<Self, StoreError> {
        check_trials(definition.trials)?;
        let mut shared = Self::resume(store, name, definition.clone(), space)?;
        let clock = Clock::start(Timestamp::now());
        while !shared.append(clock.time(), shared.what_is_new(definition))? {}
        Ok(shared)
    }

    /// What the log has to be told of a definition.
    fn what_is_new(&self, definition: &Definition) -> Vec<Event> {
        if self.position == 0 {
            return vec![Event::Defined(Box::new(definition.clone()))];
        }
        let mut events = Vec::new();
        let trials = self.definition.trials;
        let is_assigned =
            definition.assignment.is_some() && definition.assignment != self.definition.assignment;
        if self.definition.settings() != definition.settings() || is_assigned {
            events.push(Event::Defined(Box::new(Definition { trials, ..definition.clone() })));
        }
        if definition.trials > trials {
            events.push(Event::Planned(Planned { trials: definition.trials }));
        }
        events
    }

    /// Says how many trials there are to be in all, more or fewer than before. That is noted in the log, and all who go on
    /// with the study suggest accordingly.
    pub fn plan(&mut self, trials: usize, now: Timestamp) -> Result<(), StoreError> {
        let trials = Some(trials);
        check_trials(trials)?;
        let clock = Clock::start(now);
        while self.definition.trials != trials {
            self.append(clock.time(), vec![Event::Planned(Planned { trials })])?;
        }
        Ok(())
    }

    /// Opens a study with the settings that it has in the log, if it has any.
    pub fn resume(
        store: Arc<dyn Store>,
        name: &str,
        definition: Definition,
        space: Space,
    ) -> Result<Self, StoreError> {
        let mut shared = Self::unread(store, name, definition, space)?;
        shared.catch_up()?;
        Ok(shared)
    }

    /// The same study with nothing read yet, for another thread: it is where this one is once it has caught up.
    pub fn twin(&self) -> Result<Self, StoreError> {
        Self::unread(Arc::clone(&self.store), &self.name, self.definition.clone(), self.space.clone())
    }

    fn unread(
        store: Arc<dyn Store>,
        name: &str,
        definition: Definition,
        space: Space,
    ) -> Result<Self, StoreError> {
        let study = build(&definition, &space, Vec::new())?;
        Ok(Self {
            store,
            name: name.into(),
            space,
            definition,
            study,
            ledger: Ledger::default(),
            position: 0,
            diagnostics: None,
            claimant: another_name(),
            void_before: 0,
            has_raced: false,
            clocks: Clocks::default(),
        })
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

    /// Reads what others have written; returns how many entries that was.
    pub fn catch_up(&mut self) -> Result<usize, StoreError> {
        self.catch_up_at(Timestamp::now())
    }

    fn catch_up_at(&mut self, now: Timestamp) -> Result<usize, StoreError> {
        let begin = self.position;
        loop {
            let entries = self.store.read(&self.name, self.position, PAGE)?;
            for entry in &entries {
                self.clocks.hear(entry, now);
                self.absorb(entry)?;
            }
            if entries.len() < PAGE {
                self.clocks.read_all(now);
                return Ok(usize::try_from(self.position - begin).unwrap_or(usize::MAX));
            }
        }
    }

    fn absorb(&mut self, entry: &Entry) -> Result<(), StoreError> {
        let expected = self.ledger.records().len() as u64;
        if let Some(number) = entry.event.begins().filter(|number| *number != expected) {
            let problem = format!("trial {number} begins where trial {expected} should");
            return Err(self.corrupt(problem));
        }
        match &entry.event {
            Event::Defined(definition) => self.define(definition)?,
            Event::Planned(planned) => self.definition.trials = planned.trials,
            Event::Asked(proposed) => self.diagnostics.clone_from(&proposed.diagnostics),
            _ => {}
        }
        if let Some(event) = entry.event.in_study() {
            self.study.absorb(event).map_err(|error| self.corrupt(explained(&error)))?;
        }
        self.ledger.apply(entry);
        self.position += 1;
        if matches!(entry.event, Event::Asked(_) | Event::Defined(_) | Event::Planned(_)) {
            self.void_before = self.position;
        }
        Ok(())
    }

    /// The next entry makes no sense.
    fn corrupt(&self, problem: String) -> StoreError {
        StoreError::Corrupt { study: self.name.clone(), position: self.position + 1, problem }
    }

    /// Goes on with this definition. The first says how many trials there are to be; later that is for [`Event::Planned`].
    fn define(&mut self, definition: &Definition) -> Result<(), StoreError> {
        if let Some(difference) = definition.difference(&self.definition) {
            return Err(StoreError::AnotherStudy { study: self.name.clone(), difference });
        }
        let trials = if self.position == 0 { definition.trials } else { self.definition.trials };
        // Who has no study file for workers does not take theirs away.
        let assignment = definition.assignment.clone().or_else(|| self.definition.assignment.clone());
        let definition = Definition { trials, assignment, ..definition.clone() };
        let is_new = definition.settings() != self.definition.settings() || trials != self.definition.trials;
        if is_new {
            self.study = build(&definition, &self.space, self.study.events().to_vec())?;
        }
        self.definition = definition;
        Ok(())
    }

    /// Writes events that were decided on by the state at hand. Returns `false` if somebody else was faster: then the state
    /// is the newest now, and the caller decides again.
    fn append(&mut self, time: Timestamp, events: Vec<Event>) -> Result<bool, StoreError> {
        if events.is_empty() {
            return Ok(true);
        }
        let entries: Vec<Entry> = events.into_iter().map(|event| Entry { time, event }).collect();
        match self.store.append(&self.name, self.position, &entries) {
            Ok(_) => {
                self.clocks.read_all(time);
                entries.iter().try_for_each(|entry| self.absorb(entry)).map(|()| true)
            }
            Err(StoreError::Conflict { study, found, .. }) => {
                let known = self.position;
                // Without anything new to read, deciding again would end here again, for ever.
                if self.catch_up_at(time)? == 0 {
                    Err(StoreError::Replaced { study, known, found })
                } else {
                    Ok(false)
                }
            }
            Err(error) => Err(error),
        }
    }

    /// The study itself: suggestions, recommendation, model.
    pub fn study(&mut self) -> &mut Study {
        &mut self.study
    }

    /// The study itself, with its trials and how the last proposal came about.
    pub fn parts(&mut self) -> (&mut Study, &Ledger, Option<&Diagnostics>) {
        (&mut self.study, &self.ledger, self.diagnostics.as_deref())
    }

    /// Where its log is.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is made from, as of now.
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

    /// How the point of trial `number` came about, if it was proposed: reads the entries of that trial again.
    pub fn proposal_of(&self, number: u64) -> Result<Option<Box<Proposed>>, StoreError> {
        let entries = self.store.read_trials(&self.name, number..number.saturating_add(1))?;
        Ok(entries.into_iter().find_map(|entry| match entry.event {
            Event::Asked(proposed) => Some(proposed),
            _ => None,
        }))
    }

    /// The largest difference between the clocks of other workers and ours, if it is large enough to matter.
    pub fn skew(&self) -> Option<&Skew> {
        self.clocks.skew()
    }

    /// The last entry known.
    pub fn position(&self) -> u64 {
        self.position
    }
}

/// A number of trials that nobody can mean is refused; logs of before may have it.
fn check_trials(trials: Option<usize>) -> Result<(), StoreError> {
    let checked = TRIALS.check("trials", trials).map_err(StudyError::from);
    Ok(checked.map_err(noregret::Error::from)?)
}

fn build(definition: &Definition, space: &Space, events: Vec<study::Event>) -> Result<Study, StoreError> {
    let study = Study::builder()
        .space(space.clone())
        .direction(definition.direction)
        .algorithm(definition.algorithm.clone())
        .seed(definition.seed)
        .duplicates(definition.duplicates)
        .trials(definition.trials)
        .replay(events)?;
    Ok(study)
}
