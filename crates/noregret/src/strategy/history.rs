//! The input of a strategy: evaluated points, running points, and the memo of earlier proposals.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Region, Taken};
use crate::space::{Params, Space};
use crate::strategy::memo::Memo;
use crate::surrogate::points::Points;

/// A point to evaluate, with its row if the space is a pool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Coordinates in the unit cube.
    pub x: Vec<f64>,
    /// The pool's row.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
}

impl Choice {
    /// The parameters of this point, in the user's units.
    ///
    /// # Panics
    /// If the point belongs to another space: wrong dimensions, or a row out of range.
    pub fn params(&self, space: &Space) -> Params {
        match (space.as_pool(), self.row) {
            (Some(pool), Some(row)) => pool.params(row),
            _ => space.decode(&self.x),
        }
    }
}

/// How an evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// With a value; larger is better (the study flips the sign of what is minimized).
    Value {
        /// The value.
        y: f64,
        /// Variance of its noise, if it came with one.
        noise_variance: Option<f64>,
    },
    /// Without one.
    Failed,
}

/// Whether a point may be suggested again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Duplicates {
    /// Never: no point that was told, failed or is running.
    #[default]
    Avoid,
    /// A told point may come again, a running or failed one not.
    Allow,
    /// Repeats are welcome, even in one batch, as with noisy objectives; only failed points do not come again.
    Replicate,
}

/// The history, in the order in which results were told.
#[derive(Clone, Debug)]
pub struct History {
    space: Space,
    duplicates: Duplicates,
    points: Points,
    rows: Vec<Option<usize>>,
    outcomes: Vec<Outcome>,
    pending: BTreeMap<u64, Choice>,
    taken: Taken,
    memo: Memo,
    revision: u64,
    replacements: u64,
    budget: Option<usize>,
}

impl History {
    /// An empty history.
    pub fn new(space: Space, duplicates: Duplicates) -> Self {
        let points = Points::new(space.dims());
        Self {
            space,
            duplicates,
            points,
            rows: Vec::new(),
            outcomes: Vec::new(),
            pending: BTreeMap::new(),
            taken: Taken::default(),
            memo: Memo::default(),
            revision: 0,
            replacements: 0,
            budget: None,
        }
    }

    /// The total number of evaluations, if known.
    pub fn budget(&self) -> Option<usize> {
        self.budget
    }

    /// Sets the total number of evaluations.
    pub fn set_budget(&mut self, budget: Option<usize>) {
        self.budget = budget;
    }

    /// The search space.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// The duplicates policy.
    pub fn duplicates(&self) -> Duplicates {
        self.duplicates
    }

    /// Evaluated points, failed ones included.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// The rows of evaluated points, where they are rows of a pool.
    pub fn rows(&self) -> &[Option<usize>] {
        &self.rows
    }

    /// How each evaluation ended.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.outcomes
    }

    /// Number of evaluations told.
    pub fn len(&self) -> usize {
        self.outcomes.len()
    }

    /// Whether nothing was told.
    pub fn is_empty(&self) -> bool {
        self.outcomes.is_empty()
    }

    /// Values told, without failures.
    pub fn values(&self) -> impl Iterator<Item = f64> {
        self.outcomes.iter().filter_map(|outcome| match outcome {
            Outcome::Value { y, .. } => Some(*y),
            Outcome::Failed => None,
        })
    }

    /// The same without failures and running points: only what was observed of the objective.
    pub fn observed(&self) -> Cow<'_, Self> {
        if self.pending.is_empty() && self.outcomes.iter().all(|outcome| *outcome != Outcome::Failed) {
            return Cow::Borrowed(self);
        }
        let with_value: Vec<usize> =
            (0..self.len()).filter(|&i| self.outcomes[i] != Outcome::Failed).collect();
        Cow::Owned(self.selected(&with_value))
    }

    /// Some evaluations, in this order, and nothing else.
    pub(crate) fn selected(&self, places: &[usize]) -> Self {
        let mut selected = Self::new(self.space.clone(), self.duplicates);
        for &i in places {
            selected.add(&Choice { x: self.points.point(i), row: self.rows[i] }, self.outcomes[i]);
        }
        selected
    }

    /// Points handed out and not told yet, in the order of their numbers.
    pub fn pending(&self) -> impl ExactSizeIterator<Item = &Choice> {
        self.pending.values()
    }

    /// The memo of earlier proposals.
    pub fn memo(&self) -> &Memo {
        &self.memo
    }

    /// The region to search, without the points of `batch` chosen so far.
    pub fn region<'a>(&'a self, batch: &'a Taken) -> Region<'a> {
        Region { space: &self.space, taken: &self.taken, batch, apart: 0.0 }
    }

    /// `count` points of the whole space, taken or not; it must not be a pool.
    pub(crate) fn spread(&self, count: usize, rng: &mut Stream) -> Result<Points> {
        Ok(Region::whole(&self.space).sobol(count, rng).map_err(MaximizeError::from)?)
    }

    /// Up to `count` points near this one, taken or not; none of a pool.
    pub(crate) fn near(&self, center: &[f64], count: usize, rng: &mut Stream) -> Points {
        Region::whole(&self.space).around(center, count, rng)
    }

    /// The number of points of a finite space that may still be suggested, counted up to `limit`; `None` if it is infinite.
    pub fn left(&self, limit: usize) -> Option<usize> {
        if let Some(pool) = self.space.as_pool() {
            let free = (0..pool.len()).filter(|&row| !self.taken.contains(&[], Some(row))); // a row needs no coordinates
            return Some(free.take(limit).count());
        }
        Some(self.space.points()?.filter(|x| !self.taken.contains(x, None)).take(limit).count())
    }

    /// Records a proposal: its points are running now.
    pub fn proposed(&mut self, numbered: impl IntoIterator<Item = (u64, Choice)>, memo: Memo) {
        for (number, choice) in numbered {
            if self.duplicates != Duplicates::Replicate {
                self.taken.insert(&choice.x, choice.row);
            }
            self.pending.insert(number, choice);
        }
        self.memo = memo;
    }

    /// Records the outcome of trial `number`; returns `None` if no such trial is running.
    pub fn told(&mut self, number: u64, outcome: Outcome) -> Option<Choice> {
        let choice = self.pending.remove(&number)?;
        self.add(&choice, outcome);
        Some(choice)
    }

    /// Corrects the outcome of the `index`-th evaluation: a result arrived after its trial had been given up, or was wrong.
    pub fn correct(&mut self, index: usize, choice: &Choice, outcome: Outcome) {
        self.replacements += u64::from(self.outcomes[index] != Outcome::Failed);
        self.outcomes[index] = outcome;
        self.set_taken(choice, outcome);
        self.revision += 1;
    }

    /// The number of corrections so far. Models that were built before a correction must be built again.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The number of values among them that were wrong. What was fitted to them must be fitted again.
    pub fn replacements(&self) -> u64 {
        self.replacements
    }

    /// Adds an evaluation that was never proposed.
    pub fn add(&mut self, choice: &Choice, outcome: Outcome) {
        self.set_taken(choice, outcome);
        self.points.push(&choice.x);
        self.rows.push(choice.row);
        self.outcomes.push(outcome);
    }

    fn set_taken(&mut self, choice: &Choice, outcome: Outcome) {
        let keep = match (self.duplicates, outcome) {
            (Duplicates::Avoid, _) | (_, Outcome::Failed) => true,
            // The same point may be running as another trial.
            (Duplicates::Allow, Outcome::Value { .. }) => self.is_running(choice),
            (Duplicates::Replicate, Outcome::Value { .. }) => false,
        };
        if keep {
            self.taken.insert(&choice.x, choice.row);
        } else {
            self.taken.remove(&choice.x, choice.row);
        }
    }

    fn is_running(&self, choice: &Choice) -> bool {
        let mut this = Taken::default();
        this.insert(&choice.x, choice.row);
        self.pending.values().any(|other| this.contains(&other.x, other.row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Pool;

    const VALUE: Outcome = Outcome::Value { y: 1.0, noise_variance: None };

    fn at(x: f64) -> Choice {
        Choice { x: vec![x], row: None }
    }

    fn history(duplicates: Duplicates) -> History {
        History::new(Space::bounds(&[(0.0, 1.0)]).unwrap(), duplicates)
    }

    fn is_taken(history: &History, choice: &Choice) -> bool {
        history.region(&Taken::default()).is_taken(&choice.x, choice.row)
    }

    /// Whether a point may not come again while it runs, once it was told, and once it has failed.
    fn policy(duplicates: Duplicates) -> [bool; 3] {
        let mut history = history(duplicates);
        history.proposed([(0, at(0.1)), (1, at(0.2)), (2, at(0.3))], Memo::default());
        assert_eq!(history.told(1, VALUE), Some(at(0.2)));
        assert_eq!(history.told(2, Outcome::Failed), Some(at(0.3)));
        [0.1, 0.2, 0.3].map(|x| is_taken(&history, &at(x)))
    }

    #[test]
    fn policies() {
        assert_eq!(policy(Duplicates::Avoid), [true, true, true]);
        assert_eq!(policy(Duplicates::Allow), [true, false, true]);
        assert_eq!(policy(Duplicates::Replicate), [false, false, true]);
    }

    #[test]
    fn a_running_point_stays_taken_when_its_result_comes_from_elsewhere() {
        let mut history = history(Duplicates::Allow);
        history.proposed([(0, at(0.1))], Memo::default());
        history.add(&at(0.1), VALUE);
        assert!(is_taken(&history, &at(0.1)));
        history.told(0, VALUE);
        assert!(!is_taken(&history, &at(0.1)));
    }

    #[test]
    fn late_results_correct_what_was_given_up() {
        let mut history = history(Duplicates::Allow);
        history.proposed([(0, at(0.1))], Memo::default());
        history.told(0, Outcome::Failed);
        assert_eq!((history.len(), history.values().count(), history.revision()), (1, 0, 0));
        history.correct(0, &at(0.1), VALUE);
        assert_eq!((history.len(), history.values().count(), history.revision()), (1, 1, 1));
        assert!(!is_taken(&history, &at(0.1)));
        assert_eq!(history.told(0, VALUE), None, "no longer running");
    }

    #[test]
    fn what_is_left_is_counted() {
        let mut open = history(Duplicates::Avoid);
        assert_eq!(open.left(5), None);
        open.add(&at(0.5), VALUE);
        assert_eq!(open.left(5), None);

        let space = Space::builder().int("a", 1, 3).bool("b").constraint("c", "a >= 2 or b").build().unwrap();
        let mut grid = History::new(space.clone(), Duplicates::Avoid);
        assert_eq!((grid.left(100), grid.left(2)), (Some(5), Some(2)));
        let first = space.points().unwrap().next().unwrap();
        grid.add(&Choice { x: first, row: None }, VALUE);
        assert_eq!(grid.left(100), Some(4));

        let mut pool =
            History::new(Space::pool(Pool::new(vec![0.0, 1.0, 1.0], 1).unwrap()), Duplicates::Avoid);
        pool.add(&Choice { x: vec![1.0], row: Some(2) }, VALUE);
        assert_eq!(pool.left(100), Some(2));
    }
}
