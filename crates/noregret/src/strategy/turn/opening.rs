//! The first points: one scrambled Sobol sequence per study, continued from proposal to proposal.

use std::num::NonZeroUsize;

use rand::{Rng, SeedableRng};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::math::sobol;
use crate::maximize::MaximizeError;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::{Choice, History};
use crate::strategy::memo::Memo;
use crate::strategy::turn::batch::Batch;
use crate::strategy::{Proposal, Strategy};

/// Scrambled Sobol points, for ever: the strategy `sobol`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sobol;

impl Strategy for Sobol {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let q = q.map_or(1, NonZeroUsize::get);
        let mut batch = Batch::new(history);
        let mut memo = history.memo().clone();
        fill(&mut batch, history, q, &mut memo, rng)?;
        let diagnostics = Diagnostics {
            algorithm: "sobol".into(),
            design_points: q,
            duplicates_avoided: batch.duplicates_avoided,
            ..Diagnostics::default()
        };
        Ok(Proposal { choices: batch.choices, memo, diagnostics })
    }
}

/// Adds the next `count` points of the study's sequence to `batch`. Over a pool: random rows.
pub fn fill(
    batch: &mut Batch<'_>,
    history: &History,
    count: usize,
    memo: &mut Memo,
    rng: &mut Stream,
) -> Result<(), MaximizeError> {
    let space = history.space();
    let seed = *memo.design.seed.get_or_insert_with(|| rng.next_u64());
    if space.as_pool().is_some() {
        for _ in 0..count {
            let choice = batch.random(rng)?;
            batch.push(choice, rng)?;
        }
    } else {
        let end = memo.design.used + count;
        // Where constraints reject some of the sequence, a longer piece of it holds enough points nearly always.
        let drawn = if space.is_constrained() { 8 * end } else { end };
        let mut sequence = sobol::points(space.dims(), drawn, &mut Stream::seed_from_u64(seed));
        let mut feasible = Vec::with_capacity(count);
        let mut skip = memo.design.used;
        for x in sequence.chunks_mut(space.dims()) {
            space.snap(x);
            if feasible.len() < count && space.is_feasible(x) {
                if skip > 0 { skip -= 1 } else { feasible.push(x.to_vec()) }
            }
        }
        while feasible.len() < count {
            feasible.push(space.sample(rng)?);
        }
        for x in feasible {
            batch.push(Choice { x, row: None }, rng)?;
        }
    }
    memo.design.used += count;
    Ok(())
}

/// Points of an initial design in `dims` dimensions: enough to see a slope in each.
pub fn default_size(dims: usize) -> usize {
    (dims + 2).clamp(5, 50)
}
