//! What would be recorded, before it is: whoever shares a log with others writes there first, and then lets it happen by
//! [`Study::absorb`].

use std::num::NonZeroUsize;

use super::{Added, Asked, Enqueued, Study, StudyError, check_noise_var};
use crate::error::Error;
use crate::math::rng::Purpose;
use crate::space::Params;
use crate::strategy::Proposal;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::Choice;

impl Study {
    /// What [`Self::ask`] (or [`Self::ask_batch`], without a number) would record now, and how it came about.
    pub fn draft_ask(&mut self, q: Option<NonZeroUsize>) -> Result<(Asked, Diagnostics), Error> {
        let Proposal { choices, memo, diagnostics, .. } = self.propose(q)?;
        Ok((Asked { choices, memo: Box::new(memo) }, diagnostics))
    }

    pub(super) fn propose(&mut self, q: Option<NonZeroUsize>) -> Result<Proposal, Error> {
        let (seed, t) = (self.seed, self.turn);
        let rng = || seed.stream(Purpose::Propose, t, 0);
        let error = match self.strategy.propose(&self.history, q, &mut rng()) {
            Err(error) if error.is_exhausted() => error,
            proposed => return proposed,
        };
        // More were asked for than are left: hand out what is.
        let limit = q.map_or(1, NonZeroUsize::get);
        match self.history.left(limit).and_then(NonZeroUsize::new) {
            Some(left) if left.get() < limit => self.strategy.propose(&self.history, Some(left), &mut rng()),
            _ => Err(error),
        }
    }

    /// What [`Self::add`] would record.
    pub fn draft_add(&self, params: &Params, value: f64, noise_var: Option<f64>) -> Result<Added, Error> {
        check_noise_var(self.trials.len() as u64, noise_var)?;
        let choice = self.choice_of(params)?;
        Ok(Added { params: params.clone(), choice, value, noise_var })
    }

    /// What [`Self::add_row`] would record.
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

    /// What [`Self::enqueue`] would record.
    pub fn draft_enqueue(&self, params: &Params) -> Result<Enqueued, Error> {
        let choice = self.choice_of(params)?;
        if let Some(constraint) = self.space().violated(&choice.x) {
            let constraint = constraint.to_owned();
            return Err(StudyError::Infeasible { params: params.clone(), constraint }.into());
        }
        Ok(Enqueued { params: params.clone(), choice })
    }

    /// The point of these parameters; in a pool, the features of a row stand for that row.
    fn choice_of(&self, params: &Params) -> Result<Choice, Error> {
        let row = self.space().as_pool().and_then(|pool| pool.row_of(params));
        Ok(Choice { x: self.space().encode(params)?, row })
    }
}
