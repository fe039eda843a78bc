//! From history to the next points: the contract first, then a folder for each family of algorithms.

pub mod algorithm;
pub mod arms;
pub mod auto;
pub(crate) mod dataset;
pub mod diagnostics;
pub mod gp;
pub mod history;
pub mod limits;
pub mod memo;
pub mod model_free;
pub mod networks;
#[cfg(test)]
pub(crate) mod testing;
pub mod trees;
pub(crate) mod turn;

use std::num::NonZeroUsize;

use crate::error::Result;
use crate::math::rng::Stream;
use diagnostics::Diagnostics;
use history::{Choice, History};
use memo::Memo;

/// An algorithm, as a study sees it: a pure function of configuration, history and stream.
///
/// The fields of `self` are a cache: dropping it must change nothing but the time taken. State that the history alone does
/// not determine is returned in the proposal's [`Memo`] and logged.
pub trait Strategy: Send {
    /// Proposes `q` points, or with `None` as many as the algorithm allows to run at once.
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal>;
}

/// The next points, with state and diagnostics.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The points.
    pub choices: Vec<Choice>,
    /// State for the next proposal.
    pub memo: Memo,
    /// Diagnostics for the user.
    pub diagnostics: Diagnostics,
}
