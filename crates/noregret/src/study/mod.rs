//! Ask, tell, events, recommendation: the only part that the outer crates call.
//!
//! A study is a fold over its [`Event`]s: [`StudyBuilder::replay`] of the same events gives the same study, and the same
//! next proposal, bit by bit.

mod builder;
mod event;
mod insight;
mod minimize;
mod predict;
mod recommend;
mod trial;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

pub use builder::StudyBuilder;
pub use event::Event;
pub use insight::{Insight, RemainingRegret};
pub use minimize::{MinimizeOptions, Minimized, minimize};
pub use predict::Prediction;
pub use recommend::Recommendation;
pub use trial::{Trial, TrialState};

use crate::error::Error;
use crate::math::rng::{Purpose, Seed};
use crate::space::{Params, Space};
use crate::strategy::algorithm::Algorithm;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::{Choice, Duplicates, History, Outcome};
use crate::strategy::{Proposal, Strategy};
use recommend::Recommender;

/// Whether small or large values are good.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Small values are good.
    #[default]
    Minimize,
    /// Large values are good.
    Maximize,
}

impl Direction {
    /// The value as strategies see it: larger is better. Its own inverse.
    pub(crate) fn flip(self, value: f64) -> f64 {
        match self {
            Direction::Minimize => -value,
            Direction::Maximize => value,
        }
    }
}

/// A wrong use of a study.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No trial has this number.
    #[error("there is no trial {number}: {asked} trials were asked for, numbered from 0")]
    UnknownTrial {
        /// The number.
        number: u64,
        /// Trials so far.
        asked: usize,
    },
    /// A noise variance that is none.
    #[error("trial {number}: a noise variance must be finite and not negative, not {value}")]
    NoiseVariance {
        /// The trial.
        number: u64,
        /// What was told.
        value: f64,
    },
    /// No points were asked for.
    #[error("ask for at least one point")]
    AskedForNothing,
    /// A study without a space.
    #[error("a study needs a space: call `space` on its builder")]
    NoSpace,
    /// A row of a space that has none.
    #[error("row {row} was given, but the space is no pool")]
    NotAPool {
        /// The row.
        row: usize,
    },
    /// A pool has no such row.
    #[error("the pool has no row {row}: it has {rows}, numbered from 0")]
    UnknownRow {
        /// The row.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A log of another study.
    #[error("event {position} of the log does not fit this study")]
    ForeignLog {
        /// Its place, from 0 on.
        position: usize,
        /// Why not.
        #[source]
        problem: Box<StudyError>,
    },
    /// A point of another space.
    #[error("a point of {found} coordinates in a space of {expected}")]
    Coordinates {
        /// Its coordinates.
        found: usize,
        /// The space's.
        expected: usize,
    },
    /// A point that the constraints rule out was to be tried.
    #[error("{params} violates the constraint `{constraint}`")]
    Infeasible {
        /// The point.
        params: Params,
        /// What does not hold of it.
        constraint: String,
    },
}

/// What became of something told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is the trial's value.
    Complete,
    /// It was not a finite number: the trial has failed.
    Failed,
    /// The trial had ended before; nothing changed.
    Repeated,
    /// The trial had been given up; now it has a value after all.
    Late,
}

/// A study in memory.
pub struct Study {
    direction: Direction,
    seed: Seed,
    algorithm: Algorithm,
    strategy: Box<dyn Strategy>,
    history: History,
    trials: Vec<Trial>,
    choices: Vec<Choice>,
    /// For each trial, its place in the history once it has ended.
    places: Vec<Option<usize>>,
    events: Vec<Event>,
    diagnostics: Option<Diagnostics>,
    recommender: Recommender,
}

impl std::fmt::Debug for Study {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Study")
            .field("direction", &self.direction)
            .field("seed", &self.seed)
            .field("algorithm", &self.algorithm)
            .field("trials", &self.trials.len())
            .finish_non_exhaustive()
    }
}

impl Study {
    /// Starts the description of a study.
    pub fn builder() -> StudyBuilder {
        StudyBuilder::default()
    }

    /// Proposes `n` points as one joint decision that sees what is running, and hands them out as trials. If fewer are
    /// left of a finite space, these.
    pub fn ask(&mut self, n: usize) -> Result<Vec<Trial>, Error> {
        let q = NonZeroUsize::new(n).ok_or(StudyError::AskedForNothing)?;
        self.ask_for(Some(q))
    }

    /// Proposes as many points as the algorithm allows to run at once.
    pub fn ask_batch(&mut self) -> Result<Vec<Trial>, Error> {
        self.ask_for(None)
    }

    fn ask_for(&mut self, q: Option<NonZeroUsize>) -> Result<Vec<Trial>, Error> {
        let (event, diagnostics) = self.draft_ask(q)?;
        let first = self.trials.len();
        self.record(event);
        self.diagnostics = Some(diagnostics);
        Ok(self.trials[first..].to_vec())
    }

    /// What [`Self::ask`] (or [`Self::ask_batch`], without a number) would record now. Nothing happens before the event is
    /// given to [`Self::absorb`]: whoever shares a log with others writes it there first.
    pub fn draft_ask(&mut self, q: Option<NonZeroUsize>) -> Result<(Event, Diagnostics), Error> {
        let Proposal { choices, memo, diagnostics, .. } = self.propose(q)?;
        Ok((Event::Asked { choices, memo: Box::new(memo) }, diagnostics))
    }

    /// Lets an event of a log happen; an error, and nothing else, if it cannot have happened here.
    pub fn absorb(&mut self, event: Event) -> Result<(), Error> {
        let position = self.events.len();
        let foreign = |problem| StudyError::ForeignLog { position, problem: Box::new(problem) };
        self.check(&event).map_err(foreign)?;
        self.record(event);
        Ok(())
    }

    fn propose(&mut self, q: Option<NonZeroUsize>) -> Result<Proposal, Error> {
        let (seed, t) = (self.seed, self.events.len() as u64);
        let rng = || seed.stream(Purpose::Propose, t, 0);
        let error = match self.strategy.propose(&self.history, q, &mut rng()) {
            Err(error) if error.is_exhausted() => error,
            answered => return answered,
        };
        // More were asked for than are left: hand out what is.
        let limit = q.map_or(1, NonZeroUsize::get);
        match self.history.left(limit).and_then(NonZeroUsize::new) {
            Some(left) if left.get() < limit => self.strategy.propose(&self.history, Some(left), &mut rng()),
            _ => Err(error),
        }
    }

    /// The points that [`Self::ask`] would hand out now; nothing is registered.
    pub fn suggest(&mut self, n: usize) -> Result<Vec<Params>, Error> {
        let q = NonZeroUsize::new(n).ok_or(StudyError::AskedForNothing)?;
        let proposal = self.propose(Some(q))?;
        Ok(proposal.choices.iter().map(|choice| self.params_of(choice)).collect())
    }

    /// Tells the value of a trial. NaN and infinities are failures, not values.
    pub fn tell(&mut self, number: u64, value: f64) -> Result<Told, Error> {
        self.tell_with_noise(number, value, None)
    }

    /// Tells the value of a trial and the variance of its noise.
    pub fn tell_with_noise(
        &mut self,
        number: u64,
        value: f64,
        noise_variance: Option<f64>,
    ) -> Result<Told, Error> {
        check_noise(number, noise_variance)?;
        match self.trial(number)?.state {
            TrialState::Complete { .. } => return Ok(Told::Repeated),
            TrialState::Failed { .. } if !value.is_finite() => return Ok(Told::Repeated),
            _ if !value.is_finite() => {
                self.record(Event::Failed {
                    number,
                    reason: format!("the value is {value}, not a finite number"),
                });
                return Ok(Told::Failed);
            }
            TrialState::Failed { .. } => {
                self.record(Event::Told { number, value, noise_variance });
                return Ok(Told::Late);
            }
            TrialState::Running => {}
        }
        self.record(Event::Told { number, value, noise_variance });
        Ok(Told::Complete)
    }

    /// Tells that a trial ended without a value. The point is kept and not suggested again.
    pub fn fail(&mut self, number: u64, reason: impl Into<String>) -> Result<Told, Error> {
        if self.trial(number)?.state != TrialState::Running {
            return Ok(Told::Repeated);
        }
        self.record(Event::Failed { number, reason: reason.into() });
        Ok(Told::Failed)
    }

    /// Adds a result from elsewhere; it becomes a trial of its own. A value that is not finite is a failure. In a pool,
    /// the features of a row stand for that row.
    pub fn add(&mut self, params: &Params, value: f64, noise_variance: Option<f64>) -> Result<u64, Error> {
        self.record_added(self.draft_add(params, value, noise_variance)?)
    }

    /// Adds a result for a row of the pool.
    pub fn add_row(&mut self, row: usize, value: f64, noise_variance: Option<f64>) -> Result<u64, Error> {
        self.record_added(self.draft_add_row(row, value, noise_variance)?)
    }

    #[expect(clippy::unnecessary_wraps, reason = "it ends two functions that can fail")]
    fn record_added(&mut self, event: Event) -> Result<u64, Error> {
        self.record(event);
        Ok(self.trials.len() as u64 - 1)
    }

    /// What [`Self::add`] would record; see [`Self::draft_ask`].
    pub fn draft_add(
        &self,
        params: &Params,
        value: f64,
        noise_variance: Option<f64>,
    ) -> Result<Event, Error> {
        check_noise(self.trials.len() as u64, noise_variance)?;
        let choice = self.choice_of(params)?;
        Ok(Event::Added { params: params.clone(), choice, value, noise_variance })
    }

    /// What [`Self::add_row`] would record; see [`Self::draft_ask`].
    pub fn draft_add_row(&self, row: usize, value: f64, noise_variance: Option<f64>) -> Result<Event, Error> {
        check_noise(self.trials.len() as u64, noise_variance)?;
        let pool = self.space().as_pool().ok_or(StudyError::NotAPool { row })?;
        if row >= pool.len() {
            return Err(StudyError::UnknownRow { row, rows: pool.len() }.into());
        }
        let choice = Choice { x: pool.point(row), row: Some(row) };
        let params = self.params_of(&choice);
        Ok(Event::Added { params, choice, value, noise_variance })
    }

    /// Makes a trial of a point of your own; it runs from now on, like one that was asked for.
    pub fn enqueue(&mut self, params: &Params) -> Result<Trial, Error> {
        self.record(self.draft_enqueue(params)?);
        Ok(self.trials[self.trials.len() - 1].clone())
    }

    /// What [`Self::enqueue`] would record; see [`Self::draft_ask`].
    pub fn draft_enqueue(&self, params: &Params) -> Result<Event, Error> {
        let choice = self.choice_of(params)?;
        if let Some(constraint) = self.space().violated(&choice.x) {
            let constraint = constraint.to_owned();
            return Err(StudyError::Infeasible { params: params.clone(), constraint }.into());
        }
        Ok(Event::Enqueued { params: params.clone(), choice })
    }

    /// The point of these parameters; in a pool, the features of a row stand for that row.
    fn choice_of(&self, params: &Params) -> Result<Choice, Error> {
        let row = self.space().as_pool().and_then(|pool| pool.row_of(params));
        Ok(Choice { x: self.space().encode(params)?, row })
    }

    /// The trial of this number.
    pub fn trial(&self, number: u64) -> Result<&Trial, Error> {
        let asked = self.trials.len();
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.trials.get(index).ok_or(Error::Study(StudyError::UnknownTrial { number, asked }))
    }

    /// Lets an event happen: the one place where a study changes.
    fn record(&mut self, event: Event) {
        self.apply(&event);
        self.events.push(event);
    }

    /// Whether an event of a log can have happened in this study.
    fn check(&self, event: &Event) -> Result<(), StudyError> {
        let choices = match event {
            Event::Asked { choices, .. } => choices.as_slice(),
            Event::Enqueued { choice, .. } | Event::Added { choice, .. } => std::slice::from_ref(choice),
            Event::Told { number, .. } | Event::Failed { number, .. } => {
                let asked = self.trials.len();
                let known = usize::try_from(*number).is_ok_and(|i| i < asked);
                return if known { Ok(()) } else { Err(StudyError::UnknownTrial { number: *number, asked }) };
            }
        };
        let expected = self.space().dims();
        let rows = self.space().as_pool().map_or(0, crate::space::Pool::len);
        for choice in choices {
            if choice.x.len() != expected {
                return Err(StudyError::Coordinates { found: choice.x.len(), expected });
            }
            if let Some(row) = choice.row.filter(|row| *row >= rows) {
                return Err(StudyError::UnknownRow { row, rows });
            }
        }
        Ok(())
    }

    fn apply(&mut self, event: &Event) {
        match event {
            Event::Asked { choices, memo } => {
                let first = self.trials.len() as u64;
                for choice in choices {
                    self.begin(self.params_of(choice), choice);
                }
                self.history.proposed((first..).zip(choices.iter().cloned()), (**memo).clone());
            }
            Event::Enqueued { params, choice } => {
                let number = self.begin(params.clone(), choice);
                let memo = self.history.memo().clone();
                self.history.proposed([(number, choice.clone())], memo);
            }
            Event::Told { number, value, noise_variance } => {
                self.end(*number, TrialState::Complete { value: *value, noise_variance: *noise_variance });
            }
            Event::Failed { number, reason } => {
                self.end(*number, TrialState::Failed { reason: reason.clone() });
            }
            Event::Added { params, choice, value, noise_variance } => {
                let number = self.begin(params.clone(), choice);
                let state = if value.is_finite() {
                    TrialState::Complete { value: *value, noise_variance: *noise_variance }
                } else {
                    TrialState::Failed { reason: format!("the value is {value}, not a finite number") }
                };
                self.end(number, state);
            }
        }
    }

    /// A new trial; answers its number.
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
            TrialState::Complete { value, noise_variance } => {
                Outcome::Value { y: self.direction.flip(value), noise_variance }
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

    fn params_of(&self, choice: &Choice) -> Params {
        choice.params(self.space())
    }

    /// The search space.
    pub fn space(&self) -> &Space {
        self.history.space()
    }

    /// Whether small or large values are good.
    pub fn direction(&self) -> Direction {
        self.direction
    }

    /// The algorithm and its settings.
    pub fn algorithm(&self) -> &Algorithm {
        &self.algorithm
    }

    /// Says how many trials there will be in all, if that is known: `auto` begins with a smaller design where they are few. It is no part of the
    /// log; whoever replays a study says it again.
    pub fn set_budget(&mut self, trials: Option<usize>) {
        self.history.set_budget(trials);
    }

    /// Whether points may repeat.
    pub fn duplicates(&self) -> Duplicates {
        self.history.duplicates()
    }

    /// All trials, by number.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Everything that happened.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// How the last proposal came about; `None` before the first one and after a replay.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        self.diagnostics.as_ref()
    }

    /// The trial with the best value told. With noise, the luckiest: see [`Self::recommended`].
    pub fn best_observed(&self) -> Option<&Trial> {
        let score = |trial: &&Trial| trial.value().map(|value| self.direction.flip(value));
        self.trials
            .iter()
            .filter(|t| t.value().is_some())
            .reduce(|best, trial| if score(&trial) > score(&best) { trial } else { best })
    }

    /// The evaluated point with the best posterior mean, with an interval for its noise-free value.
    pub fn recommended(&mut self) -> Result<Option<Recommendation>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        let Some(found) = self.recommender.recommend(&self.history, &mut rng)? else {
            return Ok(None);
        };
        let number = self.places.iter().position(|place| *place == Some(found.place));
        Ok(number.map(|number| found.in_users_units(&self.trials[number], self.direction)))
    }

    /// What the model expects at these points, with which doubt; `None` before the first value is told.
    pub fn predict(&mut self, points: &[Params]) -> Result<Option<Prediction>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        predict::predict(&mut self.recommender, &self.history, self.direction, points, &mut rng)
    }

    /// What the model says about the study as a whole; `None` before three values are told.
    pub fn insight(&self) -> Result<Option<Insight>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 1);
        insight::insight(&self.history, true, &mut rng)
    }

    /// What the recommended point may still miss, by the model; `None` before three values are told.
    pub fn remaining_regret(&self) -> Result<Option<RemainingRegret>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 1);
        let insight = insight::insight(&self.history, false, &mut rng)?;
        Ok(insight.map(|insight| insight.remaining_regret))
    }
}

fn check_noise(number: u64, noise_variance: Option<f64>) -> Result<(), StudyError> {
    match noise_variance {
        Some(value) if !(value >= 0.0 && value.is_finite()) => {
            Err(StudyError::NoiseVariance { number, value })
        }
        _ => Ok(()),
    }
}
