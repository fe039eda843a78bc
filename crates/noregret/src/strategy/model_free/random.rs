//! Uniform points: the baseline for every other algorithm.
//!
//! Points that may not be suggested again are drawn anew, so the choice is uniform among the others. Outside of pools that ends with
//! 200 draws: of a finite space that is nearly used up the first point left is taken, in the order of the space.

use std::num::NonZeroUsize;

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Uniform random search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl Strategy for Random {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::begin("random", history, q, rng);
        while turn.wants_more() {
            turn.push_random()?;
        }
        turn.finish()
    }
}
