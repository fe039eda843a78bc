//! The study as a fold over its events. Its state changes nowhere else.

use super::{Event, Planned, Study, StudyError, Trial, TrialState};
use crate::error::Error;
use crate::space::{Params, Pool};
use crate::strategy::history::{Choice, Outcome};

impl Study {
    /// Applies an event of a log. If the event does not fit, returns an error and changes nothing.
    pub fn absorb(&mut self, event: impl Into<Event>) -> Result<(), Error> {
        let event = event.into();
        let position = self.events.len();
        let foreign = |problem| StudyError::ForeignLog { position, problem: Box::new(problem) };
        self.check(&event).map_err(foreign)?;
        self.record(event);
        Ok(())
    }

    /// Applies an event that is known to fit.
    pub(super) fn record(&mut self, event: impl Into<Event>) {
        let event = event.into();
        self.apply(&event);
        // The number of trials must not shift the random streams: set at the beginning or later, suggestions are the same.
        self.turn += u64::from(!matches!(event, Event::Planned(_)));
        self.events.push(event);
    }

    /// Checks that an event of a log fits this study.
    fn check(&self, event: &Event) -> Result<(), StudyError> {
        let choices = match event {
            Event::Asked(asked) => {
                let trials = self.trials.len() + asked.choices.len();
                let sound = asked.memo.check(self.space().dims(), self.history.len(), trials);
                sound.map_err(|problem| StudyError::Memo { problem })?;
                asked.choices.as_slice()
            }
            Event::Enqueued(enqueued) => std::slice::from_ref(&enqueued.choice),
            Event::Added(added) => {
                check_logged_noise(self.trials.len() as u64, added.noise_var)?;
                std::slice::from_ref(&added.choice)
            }
            Event::Told(told) => {
                check_logged_noise(told.number, told.noise_var)?;
                return self.check_number(told.number);
            }
            Event::Failed(failed) => return self.check_number(failed.number),
            Event::Replaced(replaced) => {
                check_logged_noise(replaced.number, replaced.noise_var)?;
                return self.check_number(replaced.number);
            }
            Event::Planned(_) => return Ok(()),
        };
        let expected = self.space().dims();
        let rows = self.space().as_pool().map_or(0, Pool::len);
        for choice in choices {
            if choice.x.len() != expected {
                return Err(StudyError::Coordinates { found: choice.x.len(), expected });
            }
            if let Some(value) = choice.x.iter().copied().find(|x| !(0.0..=1.0).contains(x)) {
                return Err(StudyError::Coordinate { value });
            }
            if let Some(row) = choice.row.filter(|row| *row >= rows) {
                return Err(StudyError::UnknownRow { row, rows });
            }
        }
        Ok(())
    }

    fn check_number(&self, number: u64) -> Result<(), StudyError> {
        let asked = self.trials.len();
        let is_known = usize::try_from(number).is_ok_and(|i| i < asked);
        if is_known { Ok(()) } else { Err(StudyError::UnknownTrial { number, asked }) }
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Asked(asked) => {
                let first = self.trials.len() as u64;
                for choice in &asked.choices {
                    self.begin(choice.params(self.space()), choice);
                }
                self.history.proposed((first..).zip(asked.choices.iter().cloned()), (*asked.memo).clone());
            }
            Event::Enqueued(enqueued) => {
                let number = self.begin(enqueued.params.clone(), &enqueued.choice);
                let memo = self.history.memo().clone();
                self.history.proposed([(number, enqueued.choice.clone())], memo);
            }
            Event::Told(told) => {
                let state = TrialState::Complete { value: told.value, noise_var: told.noise_var };
                self.end(told.number, state);
            }
            Event::Failed(failed) => {
                self.end(failed.number, TrialState::Failed { reason: failed.reason.clone() });
            }
            Event::Added(added) => {
                let number = self.begin(added.params.clone(), &added.choice);
                self.end(number, added.state());
            }
            Event::Replaced(replaced) => self.end(replaced.number, replaced.state()),
            Event::Planned(Planned { trials }) => self.history.set_budget(*trials),
        }
    }

    /// Adds a trial and returns its number.
    fn begin(&mut self, params: Params, choice: &Choice) -> u64 {
        let number = self.trials.len() as u64;
        self.trials.push(Trial { number, params, row: choice.row, state: TrialState::Running });
        self.choices.push(choice.clone());
        self.places.push(None);
        number
    }

    fn end(&mut self, number: u64, state: TrialState) {
        let Some(i) = usize::try_from(number).ok().filter(|i| *i < self.trials.len()) else {
            return;
        };
        let outcome = match state {
            TrialState::Complete { value, noise_var } => {
                Outcome::Value { y: self.direction.flip(value), noise_variance: noise_var }
            }
            _ => Outcome::Failed,
        };
        let choice = &self.choices[i];
        if let Some(place) = self.places[i] {
            self.history.correct(place, choice, outcome);
        } else {
            self.places[i] = Some(self.history.len());
            if self.history.told(number, outcome).is_none() {
                self.history.add(choice, outcome);
            }
        }
        self.trials[i].state = state;
    }
}

/// Checks a variance in a log. Older releases accepted any that is finite: the model clamps them.
fn check_logged_noise(number: u64, noise_var: Option<f64>) -> Result<(), StudyError> {
    match noise_var {
        Some(value) if !(value.is_finite() && value >= 0.0) => {
            Err(StudyError::NoiseVariance { number, value })
        }
        _ => Ok(()),
    }
}
