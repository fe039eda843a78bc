//! A proposal under construction: its points so far, the next memo, and the diagnostics.
//!
//! An algorithm opens a turn, asks its model while the turn wants more points, pushes each point it finds, and finishes:
//!
//! ```text
//! let mut turn = Turn::open("name", history, q, initial_points, rng)?;
//! let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
//! while turn.wants_more() {
//!     let found = search.maximize(&utility, gp, &mut turn);
//!     gp.condition(turn.push(found)?);
//! }
//! turn.finish()
//! ```

pub(crate) mod batch;
pub(crate) mod opening;

use std::num::NonZeroUsize;

use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::strategy::Proposal;
use crate::strategy::diagnostics::{Diagnostics, Inexactness};
use crate::strategy::history::{Choice, History};
use crate::strategy::memo::{Memo, Rounds};
use crate::surrogate::points::Points;
use batch::Batch;

/// A proposal under construction.
pub(crate) struct Turn<'a> {
    /// The history, with running points.
    pub(crate) history: &'a History,
    /// The memo for the next proposal.
    pub(crate) memo: Memo,
    /// The diagnostics of this proposal.
    pub(crate) diagnostics: Diagnostics,
    /// The stream of this proposal.
    pub(crate) rng: &'a mut Stream,
    batch: Batch<'a>,
    wanted: Wanted,
    /// Set when an adaptive batch ends before its limit.
    closed: bool,
}

/// The size of a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Exactly(usize),
    /// As many as the algorithm allows to run at once, up to a limit.
    AtMost(usize),
}

impl<'a> Turn<'a> {
    /// Opens a turn without points. If the user leaves the number to the algorithm, one point is wanted.
    pub(crate) fn begin(
        name: &'static str,
        history: &'a History,
        q: Option<NonZeroUsize>,
        rng: &'a mut Stream,
    ) -> Self {
        Self {
            history,
            memo: history.memo().clone(),
            diagnostics: Diagnostics { algorithm: name.into(), ..Diagnostics::default() },
            rng,
            batch: Batch::new(history),
            wanted: Wanted::Exactly(q.map_or(1, NonZeroUsize::get)),
            closed: false,
        }
    }

    /// Opens a turn with its share of the initial design.
    pub(crate) fn open(
        name: &'static str,
        history: &'a History,
        q: Option<NonZeroUsize>,
        initial_points: Option<usize>,
        rng: &'a mut Stream,
    ) -> Result<Self> {
        let mut turn = Self::begin(name, history, q, rng);
        turn.add_design(initial_points)?;
        Ok(turn)
    }

    /// The same for an algorithm that decides how many points may run at once, at most `most`.
    pub(crate) fn open_adaptive(
        name: &'static str,
        history: &'a History,
        q: Option<NonZeroUsize>,
        (initial_points, most): (Option<usize>, usize),
        rng: &'a mut Stream,
    ) -> Result<Self> {
        let mut turn = Self::begin(name, history, q, rng);
        if q.is_none() {
            turn.wanted = Wanted::AtMost(most);
        }
        turn.add_design(initial_points)?;
        // Wait for the results of the design.
        turn.closed = q.is_none() && !turn.batch.choices.is_empty();
        Ok(turn)
    }

    /// Adds as many points of the initial design as are missing.
    fn add_design(&mut self, initial_points: Option<usize>) -> Result<()> {
        let count = self.design_size(initial_points);
        opening::add_sobol(self, count)
    }

    /// The number of points of the initial design in this turn. Without any value there is nothing to fit a model to: then
    /// all points belong to the design.
    pub(crate) fn design_size(&self, initial_points: Option<usize>) -> usize {
        let history = self.history;
        let size = initial_points.unwrap_or_else(|| opening::default_size(history.space().dims()));
        let missing = size.saturating_sub(history.len() + history.pending().len());
        let blind = history.values().next().is_none();
        match self.wanted {
            Wanted::Exactly(q) if blind => q,
            Wanted::Exactly(q) => q.min(missing),
            Wanted::AtMost(_) => {
                let count = if blind { missing.max(1) } else { missing };
                history.left(count).map_or(count, |left| count.min(left.max(1)))
            }
        }
    }

    /// Whether the algorithm must choose another point.
    pub(crate) fn wants_more(&self) -> bool {
        self.missing() > 0
    }

    /// How many points the algorithm may still choose.
    pub(crate) fn missing(&self) -> usize {
        let (Wanted::Exactly(most) | Wanted::AtMost(most)) = self.wanted;
        if self.closed { 0 } else { most.saturating_sub(self.batch.choices.len()) }
    }

    /// Whether the algorithm decides how many points there are.
    pub(crate) fn is_adaptive(&self) -> bool {
        matches!(self.wanted, Wanted::AtMost(_))
    }

    /// Ends a batch before its limit.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    /// The points so far.
    pub(crate) fn choices(&self) -> &[Choice] {
        &self.batch.choices
    }

    /// The number of points chosen by the algorithm, not by the design.
    pub(crate) fn picked(&self) -> usize {
        self.batch.choices.len() - self.diagnostics.design_points
    }

    /// The round that this turn is part of, see [`Rounds`]; `true` if it begins with this turn.
    pub(crate) fn round(&mut self) -> (Rounds, bool) {
        let told = self.history.len();
        let (round, begins) = match self.memo.rounds {
            Some(last) if last.told == told => (last, false),
            Some(last) => (Rounds { begun: last.begun + 1, told, ..last }, true),
            // A log of an older release counts points in the ledger alone: weights must not fall where it ends.
            None => (Rounds { begun: self.memo.ledger.rounds + 1, initial: told, told }, true),
        };
        self.memo.rounds = Some(round);
        (round, begins)
    }

    /// Points without a value: the running ones, then those of this turn.
    pub(crate) fn without_value(&self) -> Points {
        let mut points = Points::new(self.history.space().dims());
        self.history.pending().chain(&self.batch.choices).for_each(|choice| points.push(&choice.x));
        points
    }

    /// The region to search for the next point.
    pub(crate) fn region(&self) -> Region<'_> {
        self.history.region(&self.batch.taken)
    }

    /// The same, with the stream of the proposal for a search that draws.
    pub(crate) fn region_and_rng(&mut self) -> (Region<'_>, &mut Stream) {
        (self.history.region(&self.batch.taken), self.rng)
    }

    /// Whether the duplicates policy forbids a point.
    pub(crate) fn is_taken(&self, choice: &Choice) -> bool {
        self.batch.is_taken(choice)
    }

    /// Adds the point that a search has found. If all candidates of the search are taken, adds a random point, since the space
    /// may have others.
    pub(crate) fn push(&mut self, found: Result<Maximum, MaximizeError>) -> Result<&Choice> {
        match found {
            Ok(Maximum { x, row, work, .. }) => {
                self.diagnostics.work += work;
                self.push_choice(Choice { x, row })
            }
            Err(MaximizeError::NothingLeft { .. }) => {
                self.diagnostics.duplicates_avoided += 1;
                self.push_random()
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Adds a point, or a random one if it is taken.
    pub(crate) fn push_choice(&mut self, choice: Choice) -> Result<&Choice> {
        Ok(self.batch.push(choice, self.rng)?)
    }

    /// Adds a random point that is not taken.
    pub(crate) fn push_random(&mut self) -> Result<&Choice> {
        let choice = self.batch.random(self.rng)?;
        self.push_choice(choice)
    }

    /// Returns the proposal.
    #[expect(clippy::unnecessary_wraps, reason = "it ends functions that can fail")]
    pub(crate) fn finish(mut self) -> Result<Proposal> {
        self.diagnostics.duplicates_avoided += self.batch.duplicates_avoided;
        if self.diagnostics.model.is_some() {
            self.diagnostics.inexactness = Inexactness::of(&self.memo.ledger);
        }
        Ok(Proposal { choices: self.batch.choices, memo: self.memo, diagnostics: self.diagnostics })
    }
}
