//! Random forest: expected improvement on the mean and the spread of many regression trees.
//! Hutter, Hoos & Leyton-Brown 2011, "Sequential model-based optimization for general algorithm configuration" (SMAC),
//! section 4; Lindauer et al. 2022, "SMAC3"; the rival "random forest" in Phan-Trong et al. 2023, "NeuralBO", which is that
//! of GPyOpt and of scikit-learn in it.
//!
//! # Notation
//!
//! | SMAC            | here       | meaning                                                            |
//! |-----------------|------------|--------------------------------------------------------------------|
//! | `mu`, `sigma^2` | `marginals`| mean over trees and the variance of their means                    |
//! | `c_min`         | `incumbent`| what improvements are counted from                                 |
//! | `Theta_rand`    | `spread`   | candidates from all over the space                                 |
//!
//! # Departures
//!
//! - The incumbent is the best mean of the forest at an evaluated point, as in GPyOpt; SMAC takes the best value. GPyOpt
//!   asks for 0.01 more than that, we do not.
//! - We maximize the logarithm of the improvement, which has the same maximum and does not vanish to rounding.
//! - SMAC climbs from the best known points by exchanging one parameter at a time. Here such exchanges are a quarter of the
//!   candidates, and the one climb starts at the best of all candidates, in a fixed number of rounds.
//! - Points that run, and those of a batch, count as evaluated with the mean that the forest has there, and the forest is
//!   fitted again (kriging believer, Ginsbourger et al. 2008). Failed evaluations count with the worst value.
//! - From the 17th point of a batch on, one forest has several points, a quarter of those so far: the best, and the next best that
//!   end in other leaves. A fit for each of hundreds would take most of a minute.
//! - SMAC interleaves random points and races them; every point here is chosen by the forest.
//! - Variances of noise that values come with are not looked at.

use std::num::NonZeroUsize;

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::grid::{best_of, best_row};
use crate::maximize::multi_start::top;
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::strategy::dataset::{mean_and_sd, values_with_worst};
use crate::strategy::history::{Choice, History};
use crate::strategy::limits::{Demand, INITIAL_POINTS, PARAMETERS, Table};
use crate::strategy::memo::Units;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::Surrogate;
use crate::surrogate::forest::{Forest, ForestConfig};
use crate::surrogate::points::Points;

/// A quarter of the candidates are neighbors of this many of the best points, as in SMAC.
const CENTERS: usize = 10;
/// Deviation of a number's exchange (SMAC, section 4.3). Small steps would end in the cell of the best point, where a forest
/// promises most and an evaluation teaches least: with steps of all sizes, 40 evaluations of a bowl in three dimensions
/// were no better than random ones.
const STEP: f64 = 0.2;
/// Rounds around the best candidate ...
const ROUNDS: usize = 10;
/// ... each of this share of the candidates: together a fifth more of them.
const SHARE_OF_ROUND: usize = 50;
const CANDIDATES: Range = Range::new(1.0, 1e6);
/// This many points of a batch have a forest each; then one forest has ...
const ALONE: usize = 16;
/// ... this share of the points so far.
const SHARE_OF_BATCH: usize = 4;
/// Candidates that are compared for each further point of a forest: some are in the leaves of better ones.
const RANKED: usize = 20;
/// Rows of a pool that are encoded at once.
const BLOCK: usize = 1 << 16;

/// Settings of the random forest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RandomForestConfig {
    /// The forest.
    pub forest: ForestConfig,
    /// Points at which the improvement is compared, before the rounds around the best of them. Pools, and discrete spaces
    /// of no more points, are taken whole. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl Demand for RandomForestConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        vec![Table::of([("candidates", self.candidates), (PARAMETERS, dims)])]
    }
}

impl Default for RandomForestConfig {
    fn default() -> Self {
        Self { forest: ForestConfig::default(), candidates: 10_000, initial_points: None }
    }
}

/// The random forest.
#[derive(Clone, Debug)]
pub struct RandomForest {
    config: RandomForestConfig,
}

impl RandomForest {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: RandomForestConfig) -> Result<Self> {
        config.forest.validate()?;
        CANDIDATES.check("candidates", config.candidates)?;
        INITIAL_POINTS.check("initial_points", config.initial_points)?;
        Ok(Self { config })
    }
}

impl Strategy for RandomForest {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open("random-forest", history, q, self.config.initial_points, rng)?;
        if !turn.wants_more() {
            return turn.finish();
        }
        let mut model = ForestModel::new(&self.config.forest, history, turn.rng);
        model.assume(&turn.without_value(), turn.rng);
        while turn.wants_more() {
            let several = if turn.picked() < ALONE { 1 } else { turn.picked() / SHARE_OF_BATCH };
            let (region, rng) = turn.region_and_rng();
            let found = self.maximize(&model, &region, rng);
            let x = turn.push(found)?.x.clone();
            let mut chosen = Points::from_columns(x.len(), &x);
            let more = several.min(turn.missing() + 1) - 1;
            if more > 0 {
                let (region, rng) = turn.region_and_rng();
                for choice in self.next_best(&model, &region, more, &chosen, rng)? {
                    chosen.push(&turn.push_choice(choice)?.x);
                }
            }
            if turn.wants_more() {
                model.assume(&chosen, turn.rng);
            }
        }
        turn.diagnostics.counters = model.counters(history.len());
        turn.finish()
    }
}

impl RandomForest {
    /// Up to `count` further points of the same forest, the best first. No two of them, and none of `chosen`, end in the same leaf of
    /// more than half of the trees: the forest could hardly tell them apart.
    fn next_best(
        &self,
        model: &ForestModel<'_>,
        region: &Region<'_>,
        count: usize,
        chosen: &Points,
        rng: &mut Stream,
    ) -> Result<Vec<Choice>, MaximizeError> {
        let pool = region.space.as_pool();
        let candidates = match (pool, self.whole(region)) {
            (Some(_), _) => None,
            (None, Some(all)) => Some(all),
            (None, None) => Some(self.candidates(model, region, rng)?),
        };
        let values = match (&candidates, pool) {
            (Some(points), _) => model.improvements(points),
            (None, Some(pool)) => {
                let blocks = (0..pool.len()).step_by(BLOCK).map(|i| i..(i + BLOCK).min(pool.len()));
                let values =
                    |rows| model.improvements(&Points::from_columns(pool.dims(), &pool.encoded(rows)));
                blocks.flat_map(values).collect()
            }
            (None, None) => Vec::new(),
        };
        let choice = |i: usize| match (&candidates, pool) {
            (None, Some(pool)) => Choice { x: pool.point(i), row: Some(i) },
            (Some(points), _) => Choice { x: points.point(i), row: None },
            (None, None) => Choice { x: Vec::new(), row: None },
        };
        let mut ranked: Vec<Choice> = top(&values, RANKED * count).into_iter().map(choice).collect();
        ranked.retain(|choice| !region.is_taken(&choice.x, choice.row));
        let mut points = Points::new(region.space.dims());
        ranked.iter().for_each(|choice| points.push(&choice.x));
        let mut leaves = model.forest.leaves(chosen);
        let mut more = Vec::with_capacity(count);
        for (choice, ends) in ranked.into_iter().zip(model.forest.leaves(&points)) {
            let shared = |other: &Vec<u32>| other.iter().zip(&ends).filter(|(a, b)| a == b).count();
            if more.len() < count && leaves.iter().all(|other| 2 * shared(other) <= ends.len()) {
                leaves.push(ends);
                more.push(choice);
            }
        }
        Ok(more)
    }

    /// Maximizes the expected improvement.
    fn maximize(
        &self,
        model: &ForestModel<'_>,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        let score = |points: &Points| model.improvements(points);
        if let Some(pool) = region.space.as_pool() {
            return best_row(pool, region, score);
        }
        if let Some(all) = self.whole(region) {
            return best_of(&score(&all), &all, region);
        }
        let candidates = self.candidates(model, region, rng)?;
        let mut best = best_of(&score(&candidates), &candidates, region)?;
        for _ in 0..ROUNDS {
            let near = neighbors(&best.x, region, self.config.candidates.div_ceil(SHARE_OF_ROUND), rng);
            best.work += Work { values: near.len(), gradients: 0 };
            if let Ok(found) = best_of(&score(&near), &near, region)
                && found.value > best.value
            {
                best = Maximum { work: best.work, ..found };
            }
        }
        Ok(best)
    }

    /// All points of a discrete space, if they are few.
    fn whole(&self, region: &Region<'_>) -> Option<Points> {
        region.space.cardinality().filter(|points| *points <= self.config.candidates as u64)?;
        let mut all = Points::new(region.space.dims());
        region.space.points()?.for_each(|x| all.push(&x));
        Some(all)
    }

    /// Half of them are Sobol points, a quarter uniform, and a quarter neighbors of the best points. Ties go to the first: a
    /// Sobol point.
    fn candidates(
        &self,
        model: &ForestModel<'_>,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Points, MaximizeError> {
        let quarter = self.config.candidates / 4;
        let mut spread = region.sobol(self.config.candidates - 2 * quarter, rng)?;
        let mut add = |points: &Points| (0..points.len()).for_each(|i| spread.push(&points.point(i)));
        add(&region.uniform(quarter, rng)?);
        let centers = top(&model.means, CENTERS);
        for &center in &centers {
            add(&neighbors(&model.points.point(center), region, quarter.div_ceil(centers.len()), rng));
        }
        Ok(spread)
    }
}

/// Up to `count` feasible points that differ from `center` in one parameter (SMAC, section 4.3).
fn neighbors(center: &[f64], region: &Region<'_>, count: usize, rng: &mut Stream) -> Points {
    let mut points = Points::new(center.len());
    // Two draws for each point wanted: constraints and unmoved points reject some.
    for _ in 0..2 * count {
        if points.len() == count {
            break;
        }
        let k = rng.random_range(0..center.len());
        let mut x = center.to_vec();
        x[k] = region.moved(k, x[k], STEP, rng);
        region.space.snap(&mut x);
        if x != center && region.space.is_feasible(&x) {
            points.push(&x);
        }
    }
    points
}

/// The forest, with the observed and the assumed values it is fitted to.
struct ForestModel<'a> {
    config: &'a ForestConfig,
    history: &'a History,
    points: Points,
    /// Standardised values.
    y: Vec<f64>,
    forest: Forest,
    /// The forest's means at the points.
    means: Vec<f64>,
    /// Forests fitted so far.
    fits: usize,
}

impl<'a> ForestModel<'a> {
    /// Fits a forest to the history.
    fn new(config: &'a ForestConfig, history: &'a History, rng: &mut Stream) -> Self {
        let (mut y, _) = values_with_worst(history.outcomes());
        let (mean, sd) = mean_and_sd(&y);
        let units = Units { warp: None, mean, sd };
        y.iter_mut().for_each(|y| *y = units.standardized(*y));
        let points = history.points().clone();
        let forest = Forest::fit(config, history.space().kinds(), &points, &y, rng);
        let means = forest.marginals(&points).mean;
        Self { config, history, points, y, forest, means, fits: 1 }
    }

    /// Adds points with their means as values, and fits again.
    fn assume(&mut self, points: &Points, rng: &mut Stream) {
        if points.is_empty() {
            return;
        }
        self.y.extend(self.forest.marginals(points).mean);
        (0..points.len()).for_each(|i| self.points.push(&points.point(i)));
        self.forest = Forest::fit(self.config, self.history.space().kinds(), &self.points, &self.y, rng);
        self.means = self.forest.marginals(&self.points).mean;
        self.fits += 1;
    }

    /// Logarithms of the expected improvements.
    fn improvements(&self, points: &Points) -> Vec<f64> {
        let utility = Utility::LogExpectedImprovement { best: self.incumbent() };
        let marginals = self.forest.marginals(points);
        let mut values = vec![0.0; points.len()];
        utility.values(&marginals.mean, &marginals.variance, &mut values);
        values
    }

    /// The best mean at an observed or assumed point.
    fn incumbent(&self) -> f64 {
        self.means.iter().copied().fold(f64::NEG_INFINITY, f64::max)
    }

    fn counters(&self, told: usize) -> std::collections::BTreeMap<String, f64> {
        let leaves = self.forest.leaf_count() as f64 / self.config.trees as f64;
        let counted = [
            ("forest_points", told as f64),
            ("forest_assumed", (self.y.len() - told) as f64),
            ("forest_leaves_per_tree", leaves),
            ("forest_fits", self.fits as f64),
        ];
        counted.map(|(name, count)| (name.to_owned(), count)).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Pool, Space};
    use crate::strategy::history::Duplicates;
    use crate::strategy::testing::{beats_random_search, best, random_pool, stream, value};
    use crate::surrogate::forest::ForestVariance;

    fn forest(trees: usize, candidates: usize) -> RandomForest {
        let forest = ForestConfig { trees, ..ForestConfig::default() };
        RandomForest::new(RandomForestConfig { forest, candidates, initial_points: None }).unwrap()
    }

    #[test]
    fn finds_more_than_random_search() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .int("n", 1, 20)
            .categorical("c", ["a", "b", "d"])
            .constraint("sum", "x + y <= 1.5")
            .build()
            .unwrap();
        let bowl = |u: &[f64]| {
            let numbers: f64 = u[..3].iter().map(|u| (u - 0.4).powi(2)).sum();
            -numbers - if (0.4..0.6).contains(&u[3]) { 0.0 } else { 0.3 }
        };
        beats_random_search(|| forest(30, 400), &space, 60, best, bowl);
    }

    #[test]
    fn has_less_regret_than_random_search_in_a_pool() {
        let bowl = |u: &[f64]| -u.iter().map(|u| (u - 0.4).powi(2)).sum::<f64>();
        let total = |values: &[f64]| values.iter().sum::<f64>();
        beats_random_search(|| forest(20, 1), &random_pool(1_000, 3), 40, total, bowl);
    }

    #[test]
    fn what_runs_is_believed_to_have_the_mean_and_lowers_the_spread() {
        // Three evaluations of row 34 run, between rows of different values.
        let space = Space::pool(Pool::new((0..60).map(f64::from).collect(), 1).unwrap());
        let pool = space.as_pool().unwrap();
        let at = |row: usize| Choice { x: pool.point(row), row: Some(row) };
        let mut history = History::new(space.clone(), Duplicates::Replicate);
        for row in (0..60).step_by(4) {
            history.add(&at(row), value(-(row as f64 - 30.0).abs()));
        }
        let config = ForestConfig::default();
        let mut model = ForestModel::new(&config, &history, &mut stream(1, 0));
        let before = model.forest.marginals(&Points::from_columns(1, &pool.point(34)));
        let running = Points::from_columns(1, &[pool.point(34), pool.point(34), pool.point(34)].concat());
        model.assume(&running, &mut stream(1, 0));
        let after = model.forest.marginals(&Points::from_columns(1, &pool.point(34)));
        assert!(after.variance[0] < 0.5 * before.variance[0], "{before:?} {after:?}");
        assert_eq!(model.y[model.y.len() - 1].to_bits(), before.mean[0].to_bits());
    }

    #[test]
    fn a_batch_is_told_of_its_own_points() {
        let mut history = History::new(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), Duplicates::Avoid);
        for i in 0..30 {
            let x = vec![f64::from(i % 6) / 5.0, f64::from(i / 6) / 4.0];
            let y = -(x[0] - 0.5).powi(2) - (x[1] - 0.5).powi(2);
            history.add(&Choice { x, row: None }, value(y));
        }
        let proposal = forest(100, 2000).propose(&history, NonZeroUsize::new(4), &mut stream(2, 0)).unwrap();
        let counters = &proposal.diagnostics.counters;
        assert_eq!(
            (counters["forest_points"].to_bits(), counters["forest_assumed"].to_bits()),
            (30.0_f64.to_bits(), 3.0_f64.to_bits())
        );
        assert_eq!(proposal.diagnostics.work.values / 4, 2400);
        // Four rows of the same cell would all be within its sides.
        let apart = |a: &Choice, b: &Choice| a.x.iter().zip(&b.x).any(|(a, b)| (a - b).abs() > 0.02);
        let pairs = (0..4).flat_map(|i| (0..i).map(move |j| (i, j)));
        let far = pairs.filter(|&(i, j)| apart(&proposal.choices[i], &proposal.choices[j])).count();
        assert!(far >= 4, "{:?}", proposal.choices);
    }

    /// Each of 120 points once had a forest of its own.
    #[test]
    fn a_large_batch_shares_forests_and_stays_apart() {
        let space = random_pool(2_000, 2);
        let pool = space.as_pool().unwrap();
        for space in [space.clone(), Space::bounds(&[(0.0, 1.0); 2]).unwrap()] {
            let is_pool = space.as_pool().is_some();
            let mut history = History::new(space, Duplicates::Avoid);
            for row in 0..60 {
                let x = pool.point(row);
                let y = -(x[0] - 0.5).powi(2) - (x[1] - 0.5).powi(2);
                history.add(&Choice { x, row: is_pool.then_some(row) }, value(y));
            }
            let proposal =
                forest(30, 500).propose(&history, NonZeroUsize::new(120), &mut stream(2, 0)).unwrap();
            assert_eq!(proposal.choices.len(), 120);
            let counters = &proposal.diagnostics.counters;
            assert!(counters["forest_fits"] < 35.0, "{counters:?}");
            let same = |a: &Choice, b: &Choice| a.x.iter().zip(&b.x).all(|(a, b)| (a - b).abs() < 1e-3);
            let choices = &proposal.choices;
            let pairs = (0..120).flat_map(|i| (0..i).map(move |j| (i, j)));
            let close = pairs.filter(|&(i, j)| same(&choices[i], &choices[j])).count();
            // Of 7,140 pairs of random points some 0.03 would be as close; each in its own leaf, few are.
            assert!(close < 12, "{close}");
        }
    }

    #[test]
    fn settings_are_checked() {
        let with = |change: fn(&mut RandomForestConfig)| {
            let mut config = RandomForestConfig::default();
            change(&mut config);
            RandomForest::new(config).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with(|c| c.forest.features = 5.0 / 6.0), Ok(()));
        assert_eq!(with(|c| c.forest.variance = ForestVariance::Total), Ok(()));
        for (wrong, option) in [
            (with(|c| c.forest.trees = 0), "forest.trees"),
            (with(|c| c.forest.trees = 10_001), "forest.trees"),
            (with(|c| c.forest.features = 0.0), "forest.features"),
            (with(|c| c.forest.features = f64::NAN), "forest.features"),
            (with(|c| c.forest.features = 1.5), "forest.features"),
            (with(|c| c.forest.min_leaf = 0), "forest.min_leaf"),
            (with(|c| c.candidates = 0), "candidates"),
        ] {
            let error = wrong.unwrap_err();
            assert!(error.starts_with(option), "{error}");
        }
    }
}
