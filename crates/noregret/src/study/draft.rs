//! Drafts of events. Several writers of one log draft an event, append it to the log, and then apply it with
//! [`Study::absorb`].

use std::num::NonZeroUsize;

use super::{Added, Asked, BATCHES, Enqueued, Replaced, Study, StudyError, TrialState, check_noise_var};
use crate::error::Error;
use crate::math::rng::Purpose;
use crate::space::Params;
use crate::strategy::Proposal;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::Choice;

impl Study {
    /// Drafts the event of [`Self::ask`] (or of [`Self::ask_batch`], without a number), with its diagnostics.
    pub fn draft_ask(&mut self, q: Option<NonZeroUsize>) -> Result<(Asked, Diagnostics), Error> {
        let Proposal { choices, memo, diagnostics, .. } = self.propose(q)?;
        Ok((Asked { choices, memo: Box::new(memo) }, diagnostics))
    }

    pub(super) fn propose(&mut self, q: Option<NonZeroUsize>) -> Result<Proposal, Error> {
        BATCHES.check("n", q.map(NonZeroUsize::get)).map_err(StudyError::from)?;
        let (seed, t) = (self.seed, self.turn);
        let rng = || seed.stream(Purpose::Propose, t, 0);
        let error = match self.strategy.propose(&self.history, q, &mut rng()) {
            Err(error) if error.is_exhausted() => error,
            proposed => return proposed,
        };
        // Fewer are left than were asked for: hand out those.
        let limit = q.map_or(1, NonZeroUsize::get);
        match self.history.left(limit).and_then(NonZeroUsize::new) {
            Some(left) if left.get() < limit => self.strategy.propose(&self.history, Some(left), &mut rng()),
            _ => Err(error),
        }
    }

    /// Drafts the event of [`Self::add`].
    pub fn draft_add(&self, params: &Params, value: f64, noise_var: Option<f64>) -> Result<Added, Error> {
        check_noise_var(self.trials.len() as u64, noise_var)?;
        let choice = self.choice_of(params)?;
        Ok(Added { params: params.clone(), choice, value, noise_var })
    }

    /// Drafts the event of [`Self::add_row`].
    pub fn draft_add_row(&self, row: usize, value: f64, noise_var: Option<f64>) -> Result<Added, Error> {
        check_noise_var(self.trials.len() as u64, noise_var)?;
        let pool = self.space().as_pool().ok_or(StudyError::NotAPool { row })?;
        if row >= pool.len() {
            return Err(StudyError::UnknownRow { row, rows: pool.len() }.into());
        }
        let choice = Choice { x: pool.point(row), row: Some(row) };
        let params = choice.params(self.space());
        Ok(Added { params, choice, value, noise_var })
    }

    /// Drafts the event of [`Self::replace`]; `None` if the trial has this result already.
    pub fn draft_replace(
        &self,
        number: u64,
        value: f64,
        noise_var: Option<f64>,
    ) -> Result<Option<Replaced>, Error> {
        check_noise_var(number, noise_var)?;
        let known = &self.trial(number)?.state;
        if *known == TrialState::Running {
            return Err(StudyError::NothingToReplace { number }.into());
        }
        let replaced = Replaced { number, value, noise_var };
        let is_same = match (known, replaced.state()) {
            (TrialState::Failed { .. }, TrialState::Failed { .. }) => true,
            (known, _) => known.has(value, noise_var),
        };
        Ok((!is_same).then_some(replaced))
    }

    /// Drafts the event of [`Self::enqueue`].
    pub fn draft_enqueue(&self, params: &Params) -> Result<Enqueued, Error> {
        let choice = self.choice_of(params)?;
        if let Some(constraint) = self.space().violated(&choice.x) {
            let constraint = constraint.to_owned();
            return Err(StudyError::Infeasible { params: params.clone(), constraint }.into());
        }
        Ok(Enqueued { params: params.clone(), choice })
    }

    /// Encodes parameters as a point. In a pool, the features of a row identify it.
    fn choice_of(&self, params: &Params) -> Result<Choice, Error> {
        let row = self.space().as_pool().and_then(|pool| pool.row_of(params));
        Ok(Choice { x: self.space().encode(params)?, row })
    }
}
