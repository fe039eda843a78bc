//! Uniform points: what every other algorithm has to beat.

use std::num::NonZeroUsize;

use crate::error::Error;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::turn::batch::Batch;
use crate::strategy::{Proposal, Strategy};

/// Uniform random search.
#[derive(Clone, Copy, Debug, Default)]
pub struct Random;

impl Strategy for Random {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let mut batch = Batch::new(history);
        for _ in 0..q.map_or(1, NonZeroUsize::get) {
            let choice = batch.random(rng)?;
            batch.push(choice, rng)?;
        }
        Ok(Proposal {
            choices: batch.choices,
            memo: history.memo().clone(),
            diagnostics: Diagnostics { algorithm: "random".into(), ..Diagnostics::default() },
        })
    }
}
