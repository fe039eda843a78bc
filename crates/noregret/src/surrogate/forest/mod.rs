//! A random forest: the mean of many trees, each grown on a sample of its own, and the variance between them.
//! Breiman 2001, "Random forests"; as a surrogate Hutter, Hoos & Leyton-Brown 2011, "Sequential model-based optimization
//! for general algorithm configuration" (SMAC).
//!
//! # Departures
//!
//! - Defaults are those of scikit-learn's `RandomForestRegressor`, on which GPyOpt (with more trees) builds: 100
//!   trees, every coordinate looked at for every split, leaves of a single point. SMAC has `features = 5/6`, and SMAC3 also `min_leaf = 3`.
//! - A category is split from all others at once, as if it were coded by one column a level (which is how GPyOpt codes it),
//!   but counts as one coordinate where coordinates are drawn. Breiman and SMAC divide levels into two sets.
//! - Thresholds lie in the middle between two values, as in scikit-learn; SMAC draws them.

mod tree;

use rand::{Rng, RngExt, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::points::Points;
use super::{Marginals, Surrogate};
use crate::math::range::{OutOfRange, Range};
use crate::math::rng::Stream;
use crate::space::Kind;
use tree::{Descent, Growth, Sorted, Tree};

/// Points that are sent down all trees before the next: their coordinates stay in a cache.
const PANEL: usize = 1024;

/// How the variance of the forest is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ForestVariance {
    /// That of the trees' means.
    #[default]
    Between,
    /// The same and the mean of the variances within the leaves: the law of total variance, as in SMAC.
    Total,
}

/// More trees would fill the memory and change no digit that matters.
const TREES: Range = Range::new(1.0, 10_000.0);
const FEATURES: Range = Range::new(1e-6, 1.0);
const MIN_LEAF: Range = Range::new(1.0, 1e6);

/// Settings of a forest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ForestConfig {
    /// Number of trees. From 1 to 10000.
    #[cfg_attr(feature = "schema", schemars(transform = TREES.stated()))]
    pub trees: usize,
    /// Whether each tree sees a sample of the points, drawn with replacement, or all of them.
    pub bootstrap: bool,
    /// Share of the coordinates that are looked at for one split, rounded down; at least one is. From 1e-6 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = FEATURES.stated()))]
    pub features: f64,
    /// Distinct points in a leaf, at least. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = MIN_LEAF.stated()))]
    pub min_leaf: usize,
    /// How the variance is computed.
    pub variance: ForestVariance,
}

impl ForestConfig {
    /// Returns an error that names the first setting out of its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        TREES.check("forest.trees", self.trees)?;
        FEATURES.check("forest.features", self.features)?;
        MIN_LEAF.check("forest.min_leaf", self.min_leaf)
    }
}

impl Default for ForestConfig {
    fn default() -> Self {
        Self { trees: 100, bootstrap: true, features: 1.0, min_leaf: 1, variance: ForestVariance::Between }
    }
}

/// A fitted forest.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest {
    trees: Vec<Tree>,
    variance: ForestVariance,
}

impl Forest {
    /// Fits a forest to values `y` at `points`, whose coordinates are of `kinds`. Each tree has a stream of its own, so
    /// that the number of threads changes nothing.
    ///
    /// # Panics
    /// Without points, without trees, or if the lengths differ.
    pub fn fit(config: &ForestConfig, kinds: &[Kind], points: &Points, y: &[f64], rng: &mut Stream) -> Self {
        assert!(config.trees > 0 && !y.is_empty() && points.len() == y.len(), "a value for every point");
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a count")]
        let features = (config.features * kinds.len() as f64) as usize;
        let growth = Growth { features: features.max(1), min_leaf: config.min_leaf.max(1) };
        let sorted = Sorted::new(points, kinds);
        let seed = rng.next_u64();
        let grow = |tree: usize| {
            let mut rng = stream(seed, tree);
            let counts = if config.bootstrap { bootstrap(y.len(), &mut rng) } else { vec![1; y.len()] };
            Tree::grow(&sorted, y, &counts, growth, &mut rng)
        };
        Self { trees: (0..config.trees).into_par_iter().map(grow).collect(), variance: config.variance }
    }

    /// Leaves of all trees together.
    pub fn leaf_count(&self) -> usize {
        self.trees.iter().map(Tree::leaf_count).sum()
    }

    /// For each point, the leaf of each tree that it ends in.
    pub(crate) fn leaves(&self, points: &Points) -> Vec<Vec<u32>> {
        let mut descent = Descent::default();
        let mut leaves = vec![Vec::with_capacity(self.trees.len()); points.len()];
        let mut ends = vec![0; points.len()];
        for tree in &self.trees {
            tree.descend(points, &mut descent, &mut ends);
            leaves.iter_mut().zip(&ends).for_each(|(leaves, end)| leaves.push(*end));
        }
        leaves
    }

    /// Mean and variance at a few points.
    fn panel(&self, points: &Points) -> Vec<(f64, f64)> {
        let mut descent = Descent::default();
        let mut sums = vec![Sums::default(); points.len()];
        let mut ends = vec![0; points.len()];
        for tree in &self.trees {
            tree.descend(points, &mut descent, &mut ends);
            for (sums, end) in sums.iter_mut().zip(&ends) {
                let leaf = tree.leaf(*end);
                sums.add(leaf.mean, leaf.variance);
            }
        }
        sums.into_iter().map(|sums| sums.mean_and_variance(self.variance)).collect()
    }
}

/// The stream of one tree.
fn stream(seed: u64, tree: usize) -> Stream {
    let mut rng = Stream::seed_from_u64(seed);
    rng.set_stream(tree as u64);
    rng
}

/// How often each of `n` points comes among `n` draws of one of them.
fn bootstrap(n: usize, rng: &mut Stream) -> Vec<u32> {
    let mut counts = vec![0; n];
    (0..n).for_each(|_| counts[rng.random_range(0..n)] += 1);
    counts
}

/// Sums over trees, counted from the first tree's mean: trees that agree have no variance, to the last bit.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    trees: f64,
    first: f64,
    sum: f64,
    squares: f64,
    within: f64,
}

impl Sums {
    fn add(&mut self, mean: f64, variance: f64) {
        if self.trees == 0.0 {
            self.first = mean;
        }
        let from_first = mean - self.first;
        self.trees += 1.0;
        self.sum += from_first;
        self.squares += from_first * from_first;
        self.within += variance;
    }

    fn mean_and_variance(self, variance: ForestVariance) -> (f64, f64) {
        let from_first = self.sum / self.trees;
        let between = (self.squares / self.trees - from_first * from_first).max(0.0);
        let variance = match variance {
            ForestVariance::Between => between,
            ForestVariance::Total => between + self.within / self.trees,
        };
        (self.first + from_first, variance)
    }
}

impl Surrogate for Forest {
    fn marginals(&self, points: &Points) -> Marginals {
        let panels: Vec<Vec<(f64, f64)>> = (0..points.len().div_ceil(PANEL))
            .into_par_iter()
            .map(|panel| self.panel(&points.slice(panel * PANEL..((panel + 1) * PANEL).min(points.len()))))
            .collect();
        let (mean, variance) = panels.into_iter().flatten().unzip();
        Marginals { mean, variance }
    }
}

#[cfg(test)]
mod tests;
