//! Scrambled Sobol points: an initial design that never ends.
//! Sobol 1967; Owen 1995 (scrambling).
//!
//! # Departures
//! - In a pool the points are random rows.
//! - Points that constraints forbid are passed over; where more than seven eighths are, uniform points fill up. Points that may not be
//!   suggested again are replaced by random ones.
//! - Coordinates past the 1,024th are those of a Latin hypercube, drawn anew for each proposal: points of different proposals are not
//!   evenly spread there.

use std::num::NonZeroUsize;

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::history::History;
use crate::strategy::turn::{Turn, opening};
use crate::strategy::{Proposal, Strategy};

/// Scrambled Sobol points.
#[derive(Clone, Copy, Debug, Default)]
pub struct SobolSearch;

impl Strategy for SobolSearch {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::begin("sobol", history, q, rng);
        let count = turn.missing();
        opening::add_sobol(&mut turn, count)?;
        turn.finish()
    }
}
