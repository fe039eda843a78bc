//! The Gaussian process of a running study: fitted on a schedule, grown point by point in between.
//!
//! The model is a cache. The history and the memo's fit determine it. It is always built in the same order (the
//! evaluations of the fit in one factorisation, later ones one by one), so that a rebuilt model has the same bits as one
//! that grew with the study.

mod fit;
mod state;

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::ModelDiagnostics;
use crate::strategy::history::History;
use crate::strategy::limits::Table;
use crate::strategy::memo::Memo;
use crate::strategy::turn::Turn;
use crate::surrogate::gp::GpConfig;
pub(crate) use fit::fit_if_due;
pub use state::GpState;

/// The model and its cache.
#[derive(Debug)]
pub struct GpModel {
    config: GpConfig,
    /// Candidates that are kept with a fit.
    candidates: usize,
    state: Option<GpState>,
}

impl GpModel {
    /// Takes a valid configuration, and the number of candidates to keep with each fit.
    pub fn new(config: GpConfig, candidates: usize) -> Self {
        Self { config, candidates, state: None }
    }

    /// Returns the model of a turn, conditioned on running points and on the turn's first points; `None` if the turn wants no more.
    pub(crate) fn prepare(&mut self, turn: &mut Turn<'_>) -> Result<Option<&mut GpState>> {
        if !turn.wants_more() {
            return Ok(None);
        }
        self.check_memory(turn)?;
        let (state, diagnostics) = self.update(turn.history, &mut turn.memo, turn.rng)?;
        turn.choices().iter().for_each(|choice| state.condition(choice));
        if let Some(told) = diagnostics.subset_of {
            turn.diagnostics.notes.push(format!(
                "the model uses {} of {told} evaluations: an exact Gaussian process on all of them would be too slow",
                diagnostics.points
            ));
        }
        turn.diagnostics.model = Some(diagnostics);
        Ok(Some(state))
    }

    /// Returns an error if the model, with all points that run and are asked for, would not fit into memory.
    fn check_memory(&self, turn: &Turn<'_>) -> Result<()> {
        let history = turn.history;
        let asked = turn.choices().len() + turn.missing();
        let points = history.len().min(self.config.max_points) + history.pending().len() + asked;
        let points = ("points of the model, running and asked for ones included", points);
        Table::of([points, points]).check()?;
        Ok(Table::of([("solver.candidates", self.candidates), points]).check()?)
    }

    /// Brings the model up to date with `history`, refitting it if that is due (then `memo` has the new fit), and
    /// conditions it on running points. The history must have a value.
    pub fn update(
        &mut self,
        history: &History,
        memo: &mut Memo,
        rng: &mut Stream,
    ) -> Result<(&mut GpState, ModelDiagnostics)> {
        let refitted = fit::is_due(&self.config, history, memo.fit.as_ref());
        let fit = fit_if_due(&self.config, history, memo, rng);
        let cached = self.state.take().filter(|state| state.is_of(history, &fit, self.candidates));
        let mut state = match cached {
            Some(state) => state,
            None => GpState::new(&self.config, history, fit, self.candidates)?,
        };
        state.catch_up(&self.config, history, rng);
        let diagnostics = state.diagnostics(history, refitted);
        Ok((self.state.insert(state), diagnostics))
    }
}
