//! Regularized evolution: mutate the best of a few drawn from the population, in which the oldest dies.
//! Real et al. 2019, "Regularized evolution for image classifier architecture search", Algorithm 1; a rival in Calandriello
//! et al. 2020.
//!
//! # Notation
//!
//! | paper        | here                | meaning                                                     |
//! |--------------|---------------------|-------------------------------------------------------------|
//! | `P`          | `config.population` | size of the population: of the window into history          |
//! | `S`          | `config.sample`     | how many of it are drawn, with replacement, for one parent  |
//! | `population` | `population`        | indices of the evaluations that live                        |
//! | `parent`     | `parent`            | the best of the sample                                      |
//! | `child`      | `child`             | the parent with one thing changed                           |
//!
//! The queue of the paper takes in each child and gives up its oldest member, so it always holds the last `P` evaluations:
//! the population is a view of history, and nothing is kept between proposals.
//!
//! # Departures
//!
//! - The paper mutates architectures. Here one parameter changes: a number by a normal step in the unit cube, clamped; a
//!   category to any other. In a pool the child is one of the free rows nearest to the parent.
//! - A child that is infeasible or may not be suggested again is drawn anew, with its parameter, and after `MAX_MUTATIONS` such draws
//!   a uniform point stands in. The paper may train the same model twice. A number at a bound is changed half as often as others:
//!   steps beyond it lead back to the parent, and are drawn anew.
//! - Failed evaluations live in the population as its worst members; the paper has none.
//! - Running evaluations count as members of the first generation, and as nothing after it: workers do not wait.

use std::collections::BinaryHeap;
use std::num::NonZeroUsize;
use std::ops;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::space::{Kind, Pool};
use crate::strategy::history::{Choice, History, Outcome};
use crate::strategy::limits::Demand;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Draws of one child. Where a quarter of the mutations would do, all fail with a probability below `1e-12`.
const MAX_MUTATIONS: usize = 100;

const COUNTS: Range = Range::new(1.0, 1e6);
const STEP: Range = Range::new(1e-9, 1_000.0);

/// Settings of regularized evolution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RegEvolutionConfig {
    /// Evaluations that may become parents: the last so many. The first so many points are uniform. 100 in the paper.
    /// From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = COUNTS.stated()))]
    pub population: usize,
    /// How many of the population compete for one parent. 25 in the paper; 10 in the scripts of Ying et al. 2019.
    /// From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = COUNTS.stated()))]
    pub sample: usize,
    /// Standard deviation of a number's change, in units of the unit cube; a discrete one moves at least a level.
    /// From 1e-9 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = STEP.stated()))]
    pub step: f64,
    /// In a pool, a child is one of this many free rows nearest to its parent. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = COUNTS.stated()))]
    pub neighbors: usize,
}

impl Demand for RegEvolutionConfig {}

impl Default for RegEvolutionConfig {
    fn default() -> Self {
        Self { population: 100, sample: 25, step: 0.1, neighbors: 16 }
    }
}

/// Regularized evolution.
#[derive(Clone, Debug)]
pub struct RegEvolution {
    config: RegEvolutionConfig,
}

impl RegEvolution {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: RegEvolutionConfig) -> Result<Self> {
        let RegEvolutionConfig { population, sample, step, neighbors } = config;
        for (option, count) in [("population", population), ("sample", sample), ("neighbors", neighbors)] {
            COUNTS.check(option, count)?;
        }
        STEP.check("step", step)?;
        Ok(Self { config })
    }
}

impl Strategy for RegEvolution {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let population = self.population(history);
        let started = history.len() + history.pending().len();
        let mut turn = Turn::begin("reg-evolution", history, q, rng);
        while turn.wants_more() {
            if started + turn.choices().len() < self.config.population || population.is_empty() {
                turn.diagnostics.design_points += 1; // the first generation
                turn.push_random()?;
                continue;
            }
            let parent = self.parent(history, population.clone(), turn.rng);
            match self.child(&history.points().point(parent), &mut turn) {
                Some(child) => turn.push_choice(child)?,
                None => turn.push_random()?,
            };
        }
        turn.finish()
    }
}

impl RegEvolution {
    /// The evaluations that live (Alg. 1: each cycle adds the child on the right and removes the leftmost).
    fn population(&self, history: &History) -> ops::Range<usize> {
        history.len().saturating_sub(self.config.population)..history.len()
    }

    /// The best of the sample; of equals the first drawn.
    fn parent(&self, history: &History, population: ops::Range<usize>, rng: &mut Stream) -> usize {
        let fitness = |i: usize| match history.outcomes()[i] {
            Outcome::Value { y, .. } => y,
            Outcome::Failed => f64::NEG_INFINITY,
        };
        let mut parent = rng.random_range(population.clone());
        for _ in 1..self.config.sample {
            let candidate = rng.random_range(population.clone());
            if fitness(candidate) > fitness(parent) {
                parent = candidate;
            }
        }
        parent
    }

    /// A mutation of `parent` that may be suggested, if one is found.
    fn child(&self, parent: &[f64], turn: &mut Turn<'_>) -> Option<Choice> {
        match turn.history.space().as_pool() {
            Some(pool) => self.neighbor(parent, pool, turn),
            None => self.mutation(parent, turn),
        }
    }

    /// The parent with one parameter changed.
    fn mutation(&self, parent: &[f64], turn: &mut Turn<'_>) -> Option<Choice> {
        let (region, rng) = turn.region_and_rng();
        let space = region.space;
        let movable: Vec<usize> =
            (0..space.dims()).filter(|&k| space.kinds()[k].levels() != Some(1)).collect();
        if movable.is_empty() {
            return None;
        }
        for _ in 0..MAX_MUTATIONS {
            let k = movable[rng.random_range(0..movable.len())];
            let mut x = parent.to_vec();
            x[k] = match space.kinds()[k] {
                // Any other: were the parent's among them, parameters of few categories would change less often.
                Kind::Category(levels) => {
                    let level = (space.level_of(k, x[k]) + rng.random_range(1..levels)) % levels;
                    space.coordinate_of_level(k, level)
                }
                _ => region.moved(k, x[k], self.config.step, rng),
            };
            space.snap(&mut x);
            if x != parent && space.is_feasible(&x) && !region.is_taken(&x, None) {
                return Some(Choice { x, row: None });
            }
        }
        None
    }

    /// One of the nearest free rows that differ from the parent, in one pass over the pool.
    fn neighbor(&self, parent: &[f64], pool: &Pool, turn: &mut Turn<'_>) -> Option<Choice> {
        let choice = |row: usize| Choice { x: pool.point(row), row: Some(row) };
        // The farthest on top. Distances are not negative, so their bits are in the order of their values.
        // Rows at the same distance, of which pools of categories have many, are in random order.
        let mut nearest: BinaryHeap<(u64, u64, usize)> = BinaryHeap::new();
        for row in 0..pool.len() {
            let distance: f64 = pool.point(row).iter().zip(parent).map(|(a, b)| (a - b) * (a - b)).sum();
            let full = nearest.len() == self.config.neighbors;
            let farthest = nearest.peek().filter(|_| full).copied();
            if distance <= 0.0 || farthest.is_some_and(|(most, ..)| distance.to_bits() > most) {
                continue;
            }
            let key = (distance.to_bits(), turn.rng.random(), row);
            if farthest.is_none_or(|farthest| key < farthest) && !turn.is_taken(&choice(row)) {
                if full {
                    nearest.pop();
                }
                nearest.push(key);
            }
        }
        let nearest = nearest.into_sorted_vec();
        if nearest.is_empty() {
            return None;
        }
        let (.., row) = nearest[turn.rng.random_range(0..nearest.len())];
        Some(choice(row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::Space;
    use crate::strategy::history::Duplicates;
    use crate::strategy::testing::{beats_random_search, best, random_pool, value};

    fn evolution(population: usize, sample: usize) -> RegEvolution {
        let config = RegEvolutionConfig { population, sample, ..RegEvolutionConfig::default() };
        RegEvolution::new(config).unwrap()
    }

    #[test]
    fn climbs_higher_than_random_search() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .int("n", 1, 20)
            .log_float("s", 1e-3, 1.0)
            .categorical("c", ["a", "b", "d"])
            .constraint("sum", "x + y <= 1.5")
            .build()
            .unwrap();
        let bowl = |u: &[f64]| {
            let numbers: f64 = u[..4].iter().map(|u| (u - 0.4).powi(2)).sum();
            -numbers - if u[4] > 0.66 { 0.0 } else { 0.2 }
        };
        beats_random_search(|| evolution(20, 5), &space, 150, best, bowl);
    }

    #[test]
    fn climbs_higher_than_random_search_in_a_pool() {
        let bowl = |u: &[f64]| -u.iter().map(|u| (u - 0.4).powi(2)).sum::<f64>();
        beats_random_search(|| evolution(20, 5), &random_pool(5_000, 4), 150, best, bowl);
    }

    #[test]
    fn the_oldest_dies() {
        // The first value towers above the rest; were it alive, a sample of 60 of 3 would hardly ever miss it.
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut history = History::new(space, Duplicates::Avoid);
        let points = [[0.9, 0.9], [0.1, 0.2], [0.3, 0.1], [0.2, 0.3]];
        for (x, y) in points.iter().zip([100.0, 1.0, 3.0, 2.0]) {
            history.add(&Choice { x: x.to_vec(), row: None }, value(y));
        }
        let strategy = evolution(3, 60);
        assert_eq!(strategy.population(&history), 1..4);
        for t in 0..50 {
            let mut rng = Seed(1).stream(Purpose::Propose, t, 0);
            assert_eq!(strategy.parent(&history, 1..4, &mut rng), 2);
            let proposal = strategy.clone().propose(&history, None, &mut rng).unwrap();
            let child = &proposal.choices[0].x;
            let moved = child.iter().zip(&points[2]).filter(|(a, b)| a.to_bits() != b.to_bits()).count();
            assert_eq!((moved, proposal.diagnostics.design_points), (1, 0));
        }
    }

    #[test]
    fn failures_are_the_worst_and_still_grow_old() {
        let mut history = History::new(Space::bounds(&[(0.0, 1.0)]).unwrap(), Duplicates::Avoid);
        let outcomes = [value(5.0), Outcome::Failed, value(-1e300), Outcome::Failed];
        for (i, outcome) in outcomes.into_iter().enumerate() {
            history.add(&Choice { x: vec![0.2 * i as f64], row: None }, outcome);
        }
        let strategy = evolution(3, 60);
        let mut rng = Seed(1).stream(Purpose::Propose, 0, 0);
        assert_eq!(strategy.parent(&history, strategy.population(&history), &mut rng), 2);
    }

    #[test]
    fn the_first_generation_counts_what_runs() {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut history = History::new(space, Duplicates::Avoid);
        for i in 0..6 {
            history.add(&Choice { x: vec![0.1 * f64::from(i), 0.5], row: None }, value(0.0));
        }
        let running = (0..2).map(|i| (i, Choice { x: vec![0.1 * i as f64, 0.1], row: None }));
        history.proposed(running, history.memo().clone());
        let mut rng = Seed(1).stream(Purpose::Propose, 0, 0);
        let proposal = evolution(10, 3).propose(&history, NonZeroUsize::new(5), &mut rng).unwrap();
        assert_eq!((proposal.choices.len(), proposal.diagnostics.design_points), (5, 2));
    }

    /// A truth value is mutated as often as a category of ten levels and a number, and each other level has the same chance. Shares
    /// of 9,000 children; a deviation of more than 5 standard deviations has a probability of 6e-7.
    #[test]
    fn all_parameters_and_categories_have_equal_chances() {
        const CHILDREN: u64 = 9_000;
        let levels = ["a", "b", "d", "e", "f", "g", "h", "i", "j", "k"];
        let space =
            Space::builder().bool("flag").categorical("c", levels).float("x", 0.0, 1.0).build().unwrap();
        let parent = [space.coordinate_of_level(0, 1), space.coordinate_of_level(1, 3), 0.5];
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        history.add(&Choice { x: parent.to_vec(), row: None }, value(1.0));
        let strategy = evolution(1, 1);
        let (mut parameters, mut categories) = ([0.0; 3], [0.0; 10]);
        for t in 0..CHILDREN {
            let mut rng = Seed(4).stream(Purpose::Propose, t, 0);
            let child = strategy.clone().propose(&history, None, &mut rng).unwrap().choices.remove(0).x;
            let changed: Vec<usize> = (0..3).filter(|&k| child[k].to_bits() != parent[k].to_bits()).collect();
            assert_eq!(changed.len(), 1);
            parameters[changed[0]] += 1.0;
            if changed[0] == 1 {
                categories[usize::try_from(space.level_of(1, child[1])).unwrap()] += 1.0;
            }
        }
        let close = |count: f64, n: f64, p: f64| (count - n * p).abs() < 5.0 * (n * p * (1.0 - p)).sqrt();
        assert!(parameters.iter().all(|count| close(*count, CHILDREN as f64, 1.0 / 3.0)), "{parameters:?}");
        let others = (0..10).filter(|&level| level != 3);
        assert!(
            others.into_iter().all(|level| close(categories[level], parameters[1], 1.0 / 9.0)),
            "{categories:?}"
        );
    }

    #[test]
    fn a_child_in_a_pool_is_a_free_neighbor() {
        // Rows 0, 1, ..., 99 on a line; around row 50 the rows 48 to 52 are taken.
        let space = Space::pool(Pool::new((0..100).map(f64::from).collect(), 1).unwrap());
        let pool = space.as_pool().unwrap();
        let at = |row: usize| Choice { x: pool.point(row), row: Some(row) };
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        for row in [48, 49, 51, 52, 50] {
            history.add(&at(row), value(row as f64));
        }
        let config = RegEvolutionConfig { population: 1, neighbors: 4, ..RegEvolutionConfig::default() };
        let mut strategy = RegEvolution::new(config).unwrap();
        let mut rng = Seed(1).stream(Purpose::Propose, 0, 0);
        let proposal = strategy.propose(&history, NonZeroUsize::new(4), &mut rng).unwrap();
        let mut rows: Vec<usize> = proposal.choices.iter().filter_map(|choice| choice.row).collect();
        rows.sort_unstable();
        rows.dedup();
        // Each pick widens the circle by one: within four of the edge of the hole.
        assert_eq!(rows.len(), 4);
        assert!(rows.iter().all(|row| (43..48).contains(row) || (53..58).contains(row)), "{rows:?}");
    }

    #[test]
    fn rows_at_the_same_distance_have_the_same_chance() {
        let space = Space::pool(Pool::new((0..41).map(|row| f64::from(row.min(1))).collect(), 1).unwrap());
        let mut history = History::new(space, Duplicates::Replicate);
        history.add(&Choice { x: vec![0.0], row: Some(0) }, value(1.0));
        let config = RegEvolutionConfig { population: 1, neighbors: 4, ..RegEvolutionConfig::default() };
        let mut strategy = RegEvolution::new(config).unwrap();
        let mut counts = [0_usize; 41];
        for t in 0..4_000 {
            let mut rng = Seed(2).stream(Purpose::Propose, t, 0);
            counts[strategy.propose(&history, None, &mut rng).unwrap().choices[0].row.unwrap()] += 1;
        }
        // 100 each, with a deviation of 10.
        assert!(counts[0] == 0 && counts[1..].iter().all(|count| (50..150).contains(count)), "{counts:?}");
    }

    #[test]
    fn settings_are_checked() {
        let default = RegEvolutionConfig::default;
        for (config, option) in [
            (RegEvolutionConfig { population: 0, ..default() }, "population"),
            (RegEvolutionConfig { sample: 0, ..default() }, "sample"),
            (RegEvolutionConfig { neighbors: 0, ..default() }, "neighbors"),
            (RegEvolutionConfig { step: 0.0, ..default() }, "step"),
            (RegEvolutionConfig { step: f64::NAN, ..default() }, "step"),
        ] {
            let error = RegEvolution::new(config).unwrap_err().to_string();
            assert!(error.starts_with(option), "{error}");
        }
    }
}
