//! The initial design: one scrambled Sobol sequence per study, continued from proposal to proposal.

use rand::{Rng, SeedableRng};

use super::Turn;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::math::sobol;
use crate::maximize::MaximizeError;
use crate::strategy::history::Choice;

/// Points of the sequence drawn for each point wanted: if constraints reject some, a longer piece nearly always has enough
/// feasible ones.
const PIECES: usize = 8;

/// Adds the next `count` points of the study's sequence; in a pool, random rows.
pub(crate) fn add_sobol(turn: &mut Turn<'_>, count: usize) -> Result<()> {
    let space = turn.history.space();
    let seed = *turn.memo.design.seed.get_or_insert_with(|| turn.rng.next_u64());
    if space.as_pool().is_some() {
        for _ in 0..count {
            turn.push_random()?;
        }
    } else {
        let used = turn.memo.design.used;
        let mut feasible = sequence(turn, seed, used, count);
        while feasible.len() < count {
            feasible.push(space.sample(turn.rng).map_err(MaximizeError::from)?);
        }
        for x in feasible {
            turn.push_choice(Choice { x, row: None })?;
        }
    }
    turn.memo.design.used += count;
    turn.diagnostics.design_points += count;
    Ok(())
}

/// Up to `count` feasible points of the sequence, after the first `used`.
fn sequence(turn: &Turn<'_>, seed: u64, used: usize, count: usize) -> Vec<Vec<f64>> {
    let space = turn.history.space();
    let end = used + count;
    let drawn = if space.is_constrained() { PIECES * end } else { end };
    let mut points = sobol::points(space.dims(), drawn, &mut Stream::seed_from_u64(seed));
    let snapped = points.chunks_mut(space.dims()).map(|x| {
        space.snap(x);
        x.to_vec()
    });
    snapped.filter(|x| space.is_feasible(x)).skip(used).take(count).collect()
}

/// Points of an initial design in `dims` dimensions: enough to see a slope in each.
pub(crate) fn default_size(dims: usize) -> usize {
    (dims + 2).clamp(5, 50)
}
