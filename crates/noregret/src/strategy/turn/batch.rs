//! A batch of new points, with a fallback for points that were tried before.

use rand::RngExt;

use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Taken};
use crate::strategy::history::{Choice, Duplicates, History};

/// Random points tried before a finite space is searched systematically.
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

    /// A uniform point of those that are not taken. Only where `RANDOM_TRIES` draws were all taken, the first one left of a space that
    /// is no pool.
    pub(crate) fn random(&self, rng: &mut Stream) -> Result<Choice, MaximizeError> {
        let space = self.history.space();
        if let Some(pool) = space.as_pool() {
            let region = self.history.region(&self.taken);
            let is_free = |row: &usize| !region.is_taken(&[], Some(*row)); // a row needs no coordinates
            let drawn = (0..RANDOM_TRIES).map(|_| rng.random_range(0..pool.len())).find(is_free);
            let row = drawn.or_else(|| {
                // Nearly everything is taken: one of the rows that are left.
                let free: Vec<usize> = (0..pool.len()).filter(is_free).collect();
                (!free.is_empty()).then(|| free[rng.random_range(0..free.len())])
            });
            return row
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::history::Outcome;

    /// Draws from a pool of `rows` rows, all but `free` of which are taken, and how often each of these is drawn of 3,000 times.
    fn drawn(rows: usize, free: &[usize]) -> Vec<f64> {
        let space = Space::pool(Pool::new((0..rows).map(|row| row as f64).collect(), 1).unwrap());
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        for row in (0..rows).filter(|row| !free.contains(row)) {
            let choice = Choice { x: space.as_pool().unwrap().point(row), row: Some(row) };
            history.add(&choice, Outcome::Failed);
        }
        let batch = Batch::new(&history);
        let mut rng = Seed(3).stream(Purpose::Propose, 0, 0);
        let mut counts = vec![0.0; free.len()];
        for _ in 0..3_000 {
            let row = batch.random(&mut rng).unwrap().row;
            counts[free.iter().position(|&free| Some(free) == row).unwrap()] += 1.0;
        }
        counts
    }

    /// The row after a run of taken ones has no better chance than any other, whether draws or the list of what is left find it.
    /// Chi-square with 2 degrees of freedom: it exceeds 23.7 with a probability of 7e-6.
    #[test]
    fn rows_of_a_pool_that_are_left_have_equal_chances() {
        for rows in [10, 5_000] {
            let counts = drawn(rows, &[0, 1, rows - 1]);
            let chi_square: f64 = counts.iter().map(|count| (count - 1_000.0).powi(2) / 1_000.0).sum();
            assert!(chi_square < 23.7, "{rows} rows: {counts:?}");
        }
    }

    #[test]
    fn an_empty_pool_is_an_error() {
        let space = Space::pool(Pool::new(vec![0.0, 1.0], 1).unwrap());
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        for row in 0..2 {
            history.add(&Choice { x: space.as_pool().unwrap().point(row), row: Some(row) }, Outcome::Failed);
        }
        let mut rng = Seed(3).stream(Purpose::Propose, 0, 0);
        let error = Batch::new(&history).random(&mut rng).unwrap_err();
        assert_eq!(error, MaximizeError::NothingLeft { tried: 2 });
    }
}
