//! Ask, tell, events, recommendation: the interface for the outer crates.
//!
//! A study is a fold over its [`Event`]s: [`StudyBuilder::replay`] of the same events gives the same study, and the same
//! next proposal, bit by bit.

mod builder;
mod draft;
mod error;
mod event;
mod fitted;
mod fold;
mod foresight;
mod importance;
mod insight;
mod left_out;
mod limits;
mod minimize;
mod predict;
mod recommend;
mod regrets;
mod surface;
mod trial;
mod verdict;

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

pub use builder::StudyBuilder;
pub use error::{StudyError, check_noise_var};
pub use event::{Added, Asked, Enqueued, Event, Failed, Planned, Replaced, Told};
pub use fitted::Fitted;
pub use foresight::{Foresight, Nearest};
pub use importance::{Estimate, Importance, ParameterImportance};
pub use insight::{Insight, RemainingRegret};
pub use left_out::LeftOut;
pub use limits::{BATCHES, NOISE_VARIANCES, TRIALS};
pub use minimize::{MinimizeOptions, Minimized, minimize};
pub use predict::Prediction;
pub use recommend::Recommendation;
pub use surface::affordable_points;
pub use trial::{Trial, TrialState};
pub use verdict::Verdict;

use crate::error::Error;
use crate::math::rng::{Purpose, Seed};
use crate::space::{Params, Space};
use crate::strategy::Strategy;
use crate::strategy::algorithm::Algorithm;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::{Choice, Duplicates, History};
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

    /// Whether value `a` is better than `b`; equal ones are not, nor is NaN.
    pub fn is_better(self, a: f64, b: f64) -> bool {
        match self {
            Direction::Minimize => a < b,
            Direction::Maximize => a > b,
        }
    }
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
    /// For each trial, its index in the history once it has ended.
    places: Vec<Option<usize>>,
    events: Vec<Event>,
    /// Events that count for the streams of random numbers: all but [`Event::Planned`].
    turn: u64,
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
    /// Returns a builder.
    pub fn builder() -> StudyBuilder {
        StudyBuilder::default()
    }

    /// Proposes `n` points jointly, given the running trials, and hands them out as trials. Returns fewer if a finite space
    /// has fewer left. `n` is from 1 to 1e5.
    pub fn ask(&mut self, n: usize) -> Result<Vec<Trial>, Error> {
        let q = NonZeroUsize::new(n).ok_or(StudyError::AskedForNothing)?;
        self.ask_for(Some(q))
    }

    /// Proposes as many points as the algorithm allows to run at once.
    pub fn ask_batch(&mut self) -> Result<Vec<Trial>, Error> {
        self.ask_for(None)
    }

    fn ask_for(&mut self, q: Option<NonZeroUsize>) -> Result<Vec<Trial>, Error> {
        let (asked, diagnostics) = self.draft_ask(q)?;
        let first = self.trials.len();
        self.record(asked);
        self.diagnostics = Some(diagnostics);
        Ok(self.trials[first..].to_vec())
    }

    /// Returns the points that [`Self::ask`] would hand out now, without registering them.
    pub fn suggest(&mut self, n: usize) -> Result<Vec<Params>, Error> {
        let q = NonZeroUsize::new(n).ok_or(StudyError::AskedForNothing)?;
        let proposal = self.propose(Some(q))?;
        Ok(proposal.choices.iter().map(|choice| choice.params(self.space())).collect())
    }

    /// Tells the value of a trial. NaN and infinities are failures, not values.
    pub fn tell(&mut self, number: u64, value: f64) -> Result<Verdict, Error> {
        self.tell_with_noise(number, value, None)
    }

    /// Tells the value of a trial and the variance of its noise, from 0 to 1e150.
    pub fn tell_with_noise(
        &mut self,
        number: u64,
        value: f64,
        noise_var: Option<f64>,
    ) -> Result<Verdict, Error> {
        check_noise_var(number, noise_var)?;
        if let TrialState::Failed { reason } = TrialState::of(value, noise_var) {
            return self.fail(number, reason);
        }
        let verdict = match &self.trial(number)?.state {
            TrialState::Running => Verdict::Complete,
            TrialState::Failed { .. } => Verdict::AfterFailure,
            ended if ended.has(value, noise_var) => return Ok(Verdict::Same),
            TrialState::Complete { .. } => return Ok(Verdict::Late),
        };
        self.record(Told { number, value, noise_var });
        Ok(verdict)
    }

    /// Marks a trial as failed. Its point is kept and not suggested again.
    pub fn fail(&mut self, number: u64, reason: impl Into<String>) -> Result<Verdict, Error> {
        let reason = reason.into();
        match &self.trial(number)?.state {
            TrialState::Running => {
                self.record(Failed { number, reason });
                Ok(Verdict::Failed)
            }
            TrialState::Failed { reason: known } if *known == reason => Ok(Verdict::Same),
            _ => Ok(Verdict::Late),
        }
    }

    /// Replaces the result of a trial, which turned out to be wrong. A value that is not finite makes a failure of it. From then on
    /// everything is as if it had been told so, but for what was suggested meanwhile. Returns whether that changed anything.
    pub fn replace(&mut self, number: u64, value: f64, noise_var: Option<f64>) -> Result<bool, Error> {
        let replaced = self.draft_replace(number, value, noise_var)?;
        let is_new = replaced.is_some();
        replaced.into_iter().for_each(|replaced| self.record(replaced));
        Ok(is_new)
    }

    /// Adds a result from elsewhere as a new trial. A value that is not finite is a failure. In a pool, the features of a
    /// row identify it.
    pub fn add(&mut self, params: &Params, value: f64, noise_var: Option<f64>) -> Result<u64, Error> {
        self.record(self.draft_add(params, value, noise_var)?);
        Ok(self.trials.len() as u64 - 1)
    }

    /// Adds a result for a row of the pool.
    pub fn add_row(&mut self, row: usize, value: f64, noise_var: Option<f64>) -> Result<u64, Error> {
        self.record(self.draft_add_row(row, value, noise_var)?);
        Ok(self.trials.len() as u64 - 1)
    }

    /// Makes a trial of the user's own point. It is running from now on, like one that was asked for.
    pub fn enqueue(&mut self, params: &Params) -> Result<Trial, Error> {
        self.record(self.draft_enqueue(params)?);
        Ok(self.trials[self.trials.len() - 1].clone())
    }

    /// Sets the total number of trials; `None` if unknown. `auto` takes a smaller initial design if trials are few, and
    /// searches near the best point towards their end.
    pub fn plan(&mut self, trials: Option<usize>) {
        if trials != self.planned() {
            self.record(Planned { trials });
        }
    }

    /// Returns the trial of this number.
    pub fn trial(&self, number: u64) -> Result<&Trial, Error> {
        let asked = self.trials.len();
        let index = usize::try_from(number).unwrap_or(usize::MAX);
        self.trials.get(index).ok_or(Error::Study(StudyError::UnknownTrial { number, asked }))
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

    /// The total number of trials, if known.
    pub fn planned(&self) -> Option<usize> {
        self.history.budget()
    }

    /// Whether points may repeat.
    pub fn duplicates(&self) -> Duplicates {
        self.history.duplicates()
    }

    /// All trials, by number.
    pub fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// All events.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Diagnostics of the last proposal; `None` before the first one and after a replay.
    pub fn diagnostics(&self) -> Option<&Diagnostics> {
        self.diagnostics.as_ref()
    }

    /// The trial with the best observed value. With noise that may be the luckiest one: see [`Self::recommended`].
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

    /// Posterior means and deviations at these points; `None` before the first value is told.
    pub fn predict(&mut self, points: &[Params]) -> Result<Option<Prediction>, Error> {
        let mut rng = self.seed.stream(Purpose::Reference, self.history.len() as u64, 0);
        predict::predict(&mut self.recommender, &self.history, self.direction, points, &mut rng)
    }

    /// Remaining regret and importance of parameters, by the model; `None` before three values are told.
    pub fn insight(&mut self) -> Result<Option<Insight>, Error> {
        self.insight_with(true)
    }

    /// The remaining regret of the recommended point, by the model; `None` before three values are told.
    pub fn remaining_regret(&mut self) -> Result<Option<RemainingRegret>, Error> {
        let key = recommend::key(&self.history);
        if let Some(known) = self.recommender.regrets.get(&key) {
            return Ok(Some(*known));
        }
        let found = self.insight_with(false)?.map(|insight| insight.remaining_regret);
        self.recommender.regrets.extend(found.map(|found| (key, found)));
        Ok(found)
    }

    /// Which parameters matter, alone and in all, with intervals over what the model holds possible; `None` before three values are told,
    /// if the model is flat, or with more than 128 parameters. Computed once for every state of the study.
    pub fn importance(&mut self) -> Result<Option<Importance>, Error> {
        if !insight::has_enough(&self.history) {
            return Ok(None);
        }
        let key = recommend::key(&self.history);
        if let Some((known, importance)) = &self.recommender.importance
            && *known == key
        {
            return Ok(importance.clone());
        }
        let told = self.history.len() as u64;
        let mut rng = self.seed.stream(Purpose::Reference, told, 0);
        let Some(posterior) = self.recommender.posterior(&self.history, &mut rng)? else { return Ok(None) };
        let mut rng = self.seed.stream(Purpose::Reference, told, 2);
        let found = importance::importance(self.history.space(), posterior, &mut rng);
        self.recommender.importance = Some((key, found.clone()));
        Ok(found)
    }

    fn insight_with(&mut self, importance: bool) -> Result<Option<Insight>, Error> {
        if !insight::has_enough(&self.history) {
            return Ok(None);
        }
        let told = self.history.len() as u64;
        let mut rng = self.seed.stream(Purpose::Reference, told, 0);
        let Some(posterior) = self.recommender.posterior(&self.history, &mut rng)? else { return Ok(None) };
        let mut rng = self.seed.stream(Purpose::Reference, told, 1);
        insight::insight(&self.history, posterior, importance, &mut rng).map(Some)
    }
}
