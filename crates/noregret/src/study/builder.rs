//! The description of a study, and its revival from a log.

use super::recommend::Recommender;
use super::{Direction, Event, Study, StudyError, TRIALS};
use crate::error::Error;
use crate::math::rng::Seed;
use crate::space::Space;
use crate::strategy::algorithm::Algorithm;
use crate::strategy::history::{Duplicates, History};

/// Builds a study.
#[derive(Clone, Debug, Default)]
pub struct StudyBuilder {
    space: Option<Space>,
    direction: Direction,
    algorithm: Algorithm,
    seed: u64,
    duplicates: Duplicates,
    trials: Option<usize>,
}

impl StudyBuilder {
    /// The search space; required.
    #[must_use]
    pub fn space(mut self, space: Space) -> Self {
        self.space = Some(space);
        self
    }

    /// Whether small (the default) or large values are good.
    #[must_use]
    pub fn direction(mut self, direction: Direction) -> Self {
        self.direction = direction;
        self
    }

    /// The algorithm; `auto` by default.
    #[must_use]
    pub fn algorithm(mut self, algorithm: Algorithm) -> Self {
        self.algorithm = algorithm;
        self
    }

    /// The seed; 0 by default. The same seed and the same told values give the same suggestions.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Whether points may repeat; avoided by default.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.duplicates = duplicates;
        self
    }

    /// The total number of trials, if known; unknown by default. At most 1e9. See [`Study::plan`].
    #[must_use]
    pub fn trials(mut self, trials: impl Into<Option<usize>>) -> Self {
        self.trials = trials.into();
        self
    }

    /// A new study.
    pub fn build(self) -> Result<Study, Error> {
        TRIALS.check("trials", self.trials).map_err(StudyError::from)?;
        self.replay(Vec::new())
    }

    /// Replays a log. Returns an error if an event does not fit the study.
    pub fn replay(self, events: Vec<Event>) -> Result<Study, Error> {
        let space = self.space.ok_or(StudyError::NoSpace)?;
        let strategy = self.algorithm.build()?;
        self.algorithm.check_memory(space.dims())?;
        let mut history = History::new(space, self.duplicates);
        history.set_budget(self.trials);
        let mut study = Study {
            direction: self.direction,
            seed: Seed(self.seed),
            strategy,
            algorithm: self.algorithm,
            history,
            trials: Vec::new(),
            choices: Vec::new(),
            places: Vec::new(),
            events: Vec::new(),
            turn: 0,
            diagnostics: None,
            recommender: Recommender::default(),
        };
        study.events.reserve(events.len());
        for event in events {
            study.absorb(event)?;
        }
        Ok(study)
    }
}
