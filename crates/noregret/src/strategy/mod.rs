//! From history to the next points: one file per published algorithm.

pub mod algorithm;
pub mod async_ts;
pub mod auto;
pub mod bbkb;
mod bounds;
pub mod bucb;
pub mod choose;
pub mod diagnostics;
pub mod dngo;
pub mod dpp_ts;
mod draws;
pub mod eps_greedy;
pub mod gp_bucb;
pub mod gp_ei;
pub mod gp_ts;
pub mod gp_ucb;
pub mod history;
pub mod initial;
mod large_pool;
pub mod learned;
pub mod memo;
pub mod model;
pub mod neural;
pub mod neural_bo;
pub mod neural_greedy;
pub mod ntk_ts;
pub mod qei;
pub mod random;
pub mod random_forest;
pub mod reg_evolution;
pub mod rff_ts;
pub mod sp;
pub mod sparse;
pub mod sto_bnts;
mod suggest;
pub mod trust_region;
pub mod ts;
pub mod ts_rsr;
pub mod ucb_pe;

use std::num::NonZeroUsize;

use crate::error::Error;
use crate::math::rng::Stream;
use diagnostics::Diagnostics;
use history::{Choice, History};
use memo::Memo;

/// All a study knows of an algorithm: a pure function of configuration, history and stream.
///
/// What `self` remembers is a cache; dropping it must change nothing but the time taken. What history alone does not
/// determine is returned in the proposal's [`Memo`] and logged.
pub trait Strategy: Send {
    /// The next points; `None` asks for as many as the algorithm allows to run at once.
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error>;
}

/// The next points and what was learnt on the way.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// The points.
    pub choices: Vec<Choice>,
    /// To be kept for the next proposal.
    pub memo: Memo,
    /// To be shown to whoever wonders.
    pub diagnostics: Diagnostics,
}
