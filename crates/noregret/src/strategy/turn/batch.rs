//! A batch of new points, with a fallback for points that were tried before.

use rand::RngExt;

use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Taken};
use crate::strategy::history::{Choice, Duplicates, History};

/// Random points tried before a discrete space is searched systematically.
const RANDOM_TRIES: usize = 200;

/// The points of one batch, each of them new.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    history: &'a History,
    /// The points so far, for maximizers to avoid.
    pub(crate) taken: Taken,
    /// The points so far.
    pub(crate) choices: Vec<Choice>,
    /// Repeats that were replaced.
    pub(crate) duplicates_avoided: usize,
}

impl<'a> Batch<'a> {
    /// An empty batch.
    pub(crate) fn new(history: &'a History) -> Self {
        Self { history, taken: Taken::default(), choices: Vec::new(), duplicates_avoided: 0 }
    }

    /// Whether the duplicates policy forbids this point.
    pub(crate) fn is_taken(&self, choice: &Choice) -> bool {
        self.history.region(&self.taken).is_taken(&choice.x, choice.row)
    }

    /// Adds a point, or a random new one in its place if it is taken.
    pub(crate) fn push(&mut self, choice: Choice, rng: &mut Stream) -> Result<&Choice, MaximizeError> {
        let choice = if self.is_taken(&choice) {
            self.duplicates_avoided += 1;
            self.random(rng)?
        } else {
            choice
        };
        if self.history.duplicates() != Duplicates::Replicate {
            self.taken.insert(&choice.x, choice.row);
        }
        self.choices.push(choice);
        Ok(&self.choices[self.choices.len() - 1])
    }

    /// A uniform point that is not taken.
    pub(crate) fn random(&self, rng: &mut Stream) -> Result<Choice, MaximizeError> {
        let space = self.history.space();
        if let Some(pool) = space.as_pool() {
            let start = rng.random_range(0..pool.len());
            let region = self.history.region(&self.taken);
            return (start..pool.len())
                .chain(0..start)
                .find(|&row| !region.is_taken(&[], Some(row))) // a row needs no coordinates
                .map(|row| Choice { x: pool.point(row), row: Some(row) })
                .ok_or(MaximizeError::NothingLeft { tried: pool.len() });
        }
        for _ in 0..RANDOM_TRIES {
            let choice = Choice { x: space.sample(rng)?, row: None };
            if !self.is_taken(&choice) {
                return Ok(choice);
            }
        }
        // Nearly everything is taken: a discrete space is searched from end to end.
        let all = space.points().into_iter().flatten();
        all.map(|x| Choice { x, row: None })
            .find(|choice| !self.is_taken(choice))
            .ok_or(MaximizeError::NothingLeft { tried: RANDOM_TRIES.max(self.history.len()) })
    }
}
