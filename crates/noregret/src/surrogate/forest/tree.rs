//! One regression tree: grown on presorted coordinates, stored in flat arrays, evaluated at many points at a time.
//! Breiman, Friedman, Olshen & Stone 1984, "Classification and regression trees", chapter 8.
//!
//! # Notation
//!
//! | book          | here        | meaning                                                                      |
//! |---------------|-------------|------------------------------------------------------------------------------|
//! | `y_bar(t)`    | `mean`      | mean of the values in a node                                                 |
//! | `y - y_bar(t)`| `residual`  | of one point, times how often the sample holds it                            |
//! | `Delta R(s,t)`| `score`     | by how much a split lowers the sum of squares, over the node's weight        |
//!
//! Residuals of a node sum to 0. With `s` the sum on the left and `w` the weight there, of `W` in all, the decrease is
//! `s^2 / w + s^2 / (W - w) = W s^2 / (w (W - w))`: one running sum a coordinate, and the factor `W` is left out.
//!
//! Coordinates are sorted once for all trees. A node is the same range of every coordinate's order, and a split divides
//! each range stably in two, so that a level of the tree costs `O(n d)` and nothing is sorted again.

use rand::RngExt;
use rayon::prelude::*;

use crate::math::rng::Stream;
use crate::space::Kind;
use crate::surrogate::points::Points;

/// Scores that differ by less than this share differ by rounding only; the coordinate looked at first then has it.
const ROUNDING: f64 = 1e-12;
/// Points of a node that are no longer divided together on their way down.
const FEW: usize = 4;

/// A node: points whose coordinate lies in `[low, high]` go to the child `left`, the others to `left + 1`. A leaf sends
/// everything to itself.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TreeNode {
    low: f64,
    high: f64,
    feature: u32,
    left: u32,
}

/// The values of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Leaf {
    /// Their mean.
    pub(super) mean: f64,
    /// Their variance.
    pub(super) variance: f64,
}

/// A tree; node 0 is its root.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tree {
    nodes: Vec<TreeNode>,
    /// By node; only those of leaves are read.
    leaves: Vec<Leaf>,
}

/// Memory of a descent, for the next one.
#[derive(Debug, Default)]
pub(super) struct Descent {
    /// The points, those of a node side by side.
    order: Vec<u32>,
    /// Those that go to the right.
    right: Vec<u32>,
    /// Nodes with the ranges of their points.
    open: Vec<(u32, usize, usize)>,
}

/// What all trees share: the points, sorted by each coordinate.
#[derive(Debug)]
pub(super) struct Sorted<'a> {
    points: &'a Points,
    kinds: &'a [Kind],
    /// Of each coordinate, `rank << 32 | index` of the points in its order; equal coordinates have equal ranks.
    orders: Vec<Vec<u64>>,
}

/// When to stop and where to look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// Coordinates looked at for one split, at least 1.
    pub(super) features: usize,
    /// Distinct points on either side of a split, at least 1.
    pub(super) min_leaf: usize,
}

impl<'a> Sorted<'a> {
    /// Sorts `points`, whose coordinates are of `kinds`.
    pub(super) fn new(points: &'a Points, kinds: &'a [Kind]) -> Self {
        assert_eq!(points.dims(), kinds.len(), "a kind for every coordinate");
        let n = u32::try_from(points.len()).expect("invariant: points are counted in 32 bits");
        let sort = |k: usize| {
            let x = points.coordinate(k);
            let mut order: Vec<u64> = (0..u64::from(n)).collect();
            order.sort_unstable_by(|&i, &j| x[low(i)].total_cmp(&x[low(j)]).then(i.cmp(&j)));
            let mut rank = 0;
            for at in 0..order.len() {
                let previous = at.checked_sub(1).map(|at| x[low(order[at])]);
                rank += u64::from(previous.is_some_and(|previous| previous < x[low(order[at])]));
                order[at] |= rank << 32;
            }
            order
        };
        Self { points, kinds, orders: (0..kinds.len()).into_par_iter().map(sort).collect() }
    }
}

/// The number in the low half.
#[expect(clippy::cast_possible_truncation, reason = "the low half is meant")]
fn low(entry: u64) -> usize {
    entry as u32 as usize
}

/// The rank in the high half.
fn rank(entry: u64) -> u64 {
    entry >> 32
}

impl Tree {
    /// Grows a tree on the sample that holds point `i`, of value `y[i]`, `counts[i]` times.
    pub(super) fn grow(
        sorted: &Sorted<'_>,
        y: &[f64],
        counts: &[u32],
        growth: Growth,
        rng: &mut Stream,
    ) -> Self {
        Grower::new(sorted, y, counts, growth).grow(rng)
    }

    /// Number of leaves: nodes come in pairs below the root.
    pub(super) fn leaf_count(&self) -> usize {
        self.nodes.len() / 2 + 1
    }

    /// Sends points down the tree and records their leaves. All points of a node are divided at once: their coordinates lie
    /// side by side, and none waits for the node that another one is in. Few points go on alone.
    #[expect(clippy::needless_bitwise_bool, reason = "a branch here would be guessed wrong every other time")]
    pub(super) fn descend(&self, points: &Points, descent: &mut Descent, ends: &mut [u32]) {
        let Descent { order, right, open } = descent;
        order.clear();
        order.extend((0_u32..).take(points.len()));
        right.resize(points.len(), 0);
        open.push((0, 0, points.len()));
        while let Some((at, begin, end)) = open.pop() {
            let node = self.nodes[at as usize];
            if end - begin <= FEW || node.left == at {
                for &i in &order[begin..end] {
                    ends[i as usize] = self.leaf_below(at, points, i as usize);
                }
                continue;
            }
            let x = points.coordinate(node.feature as usize);
            let (mut kept, mut moved) = (begin, 0);
            for k in begin..end {
                let i = order[k];
                let x = x[i as usize];
                let goes_right = usize::from((x < node.low) | (x > node.high));
                order[kept] = i;
                right[moved] = i;
                kept += 1 - goes_right;
                moved += goes_right;
            }
            order[kept..end].copy_from_slice(&right[..moved]);
            open.push((node.left + 1, kept, end));
            open.push((node.left, begin, kept));
        }
    }

    /// The leaf below node `at` that point `i` ends in.
    fn leaf_below(&self, mut at: u32, points: &Points, i: usize) -> u32 {
        loop {
            let node = self.nodes[at as usize];
            if node.left == at {
                return at;
            }
            let x = points.coordinate(node.feature as usize)[i];
            at = node.left + u32::from(x < node.low || x > node.high);
        }
    }

    /// The values of a node that a point has ended in.
    pub(super) fn leaf(&self, node: u32) -> Leaf {
        self.leaves[node as usize]
    }

    fn push(&mut self) -> u32 {
        let node = u32::try_from(self.nodes.len()).expect("invariant: twice as many nodes as points");
        self.nodes.push(TreeNode { low: f64::NEG_INFINITY, high: f64::INFINITY, feature: 0, left: node });
        self.leaves.push(Leaf { mean: 0.0, variance: 0.0 });
        node
    }
}

/// A distinct point of the sample, while the tree grows.
#[derive(Clone, Copy, Debug)]
struct Member {
    /// Its count in the sample times its value minus the mean of its node.
    residual: f64,
    /// Its count in the sample.
    weight: f64,
}

/// A node that is still to be split.
#[derive(Clone, Copy, Debug)]
struct Open {
    node: u32,
    begin: usize,
    end: usize,
    /// A coordinate in whose order `begin..end` are the node's members: that of the split above it.
    listed_by: usize,
}

/// A split: `from..to` of the coordinate's order go to the left.
#[derive(Clone, Copy, Debug)]
struct Split {
    score: f64,
    feature: usize,
    from: usize,
    to: usize,
}

/// A tree in the making. Members are numbered anew, so that the arrays that are read in no order stay small.
struct Grower<'a> {
    sorted: &'a Sorted<'a>,
    growth: Growth,
    /// Number of each member among the points.
    index: Vec<u32>,
    y: Vec<f64>,
    members: Vec<Member>,
    /// Of each coordinate, `rank << 32 | member` in its order. A coordinate that is constant in a node is not kept up below it.
    orders: Vec<Vec<u64>>,
    is_left: Vec<bool>,
    scratch: Vec<u64>,
    /// A permutation of the coordinates.
    features: Vec<usize>,
}

impl<'a> Grower<'a> {
    fn new(sorted: &'a Sorted<'a>, y: &[f64], counts: &[u32], growth: Growth) -> Self {
        let mut member_of = vec![u64::MAX; y.len()];
        let (mut index, mut values, mut members) = (Vec::new(), Vec::new(), Vec::new());
        for (i, &count) in (0_u32..).zip(counts).filter(|(_, count)| **count > 0) {
            member_of[i as usize] = index.len() as u64;
            index.push(i);
            values.push(y[i as usize]);
            members.push(Member { residual: 0.0, weight: f64::from(count) });
        }
        let restrict = |order: &Vec<u64>| {
            let entry = |entry: &u64| (rank(*entry) << 32, member_of[low(*entry)]);
            let sampled = order.iter().map(entry).filter(|(_, member)| *member != u64::MAX);
            sampled.map(|(rank, member)| rank | member).collect()
        };
        Self {
            sorted,
            growth,
            orders: sorted.orders.iter().map(restrict).collect(),
            is_left: vec![false; index.len()],
            scratch: vec![0; index.len()],
            features: (0..sorted.kinds.len()).collect(),
            index,
            y: values,
            members,
        }
    }

    fn grow(mut self, rng: &mut Stream) -> Tree {
        shuffle(&mut self.features, rng);
        let mut tree = Tree { nodes: Vec::new(), leaves: Vec::new() };
        let mut open = vec![Open { node: tree.push(), begin: 0, end: self.y.len(), listed_by: 0 }];
        while let Some(at) = open.pop() {
            let leaf = self.settle(at);
            tree.leaves[at.node as usize] = leaf;
            if leaf.variance == 0.0 || !self.is_divisible(at.end - at.begin) {
                continue;
            }
            let Some(split) = self.best_split(at, leaf.variance, rng) else { continue };
            tree.nodes[at.node as usize] = self.node(split, tree.push());
            let left = tree.nodes[at.node as usize].left;
            let right = tree.push();
            let middle = self.divide(at, split);
            let listed_by = split.feature;
            open.push(Open { node: right, begin: middle, end: at.end, listed_by });
            open.push(Open { node: left, begin: at.begin, end: middle, listed_by });
        }
        tree
    }

    /// Whether a node of this many members may be split.
    fn is_divisible(&self, members: usize) -> bool {
        members / 2 >= self.growth.min_leaf
    }

    /// Mean and variance of a node, from which its members' residuals are taken. Those of equal values are exact.
    fn settle(&mut self, at: Open) -> Leaf {
        let listed = &self.orders[at.listed_by][at.begin..at.end];
        let first = self.y[low(listed[0])];
        let (mut weight, mut sum) = (0.0, 0.0);
        for &entry in listed {
            let w = self.members[low(entry)].weight;
            weight += w;
            sum += w * (self.y[low(entry)] - first);
        }
        let mean = first + sum / weight;
        let mut squares = 0.0;
        for &entry in listed {
            let member = &mut self.members[low(entry)];
            let from_mean = self.y[low(entry)] - mean;
            member.residual = member.weight * from_mean;
            squares += member.residual * from_mean;
        }
        Leaf { mean, variance: squares / weight }
    }

    /// The best split by the coordinates that are drawn for this node. Constant coordinates do not count.
    fn best_split(&mut self, at: Open, variance: f64, rng: &mut Stream) -> Option<Split> {
        let weight: f64 =
            self.orders[at.listed_by][at.begin..at.end].iter().map(|&e| self.members[low(e)].weight).sum();
        let mut best: Option<Split> = None;
        let mut looked_at = 0;
        let dims = self.features.len();
        // All coordinates: only ties need randomness, and a random first coordinate is enough.
        let begin = if self.growth.features < dims { 0 } else { rng.random_range(0..dims) };
        for drawn in 0..dims {
            if self.growth.features < dims {
                let other = rng.random_range(drawn..dims);
                self.features.swap(drawn, other);
            }
            let feature = self.features[(begin + drawn) % dims];
            let order = &self.orders[feature][at.begin..at.end];
            if rank(order[0]) == rank(order[order.len() - 1]) {
                continue;
            }
            let found = match self.sorted.kinds[feature] {
                Kind::Category(_) => self.best_category(order, weight),
                Kind::Continuous | Kind::Levels(_) => self.best_threshold(order, weight),
            };
            let Some((score, from, to)) = found else { continue };
            looked_at += 1;
            if best.is_none_or(|best| score > best.score * (1.0 + ROUNDING)) {
                best = Some(Split { score, feature, from: at.begin + from, to: at.begin + to });
            }
            // All variance explained: no coordinate can do better.
            let is_perfect = best.is_some_and(|best| best.score >= variance * (1.0 - ROUNDING));
            if looked_at == self.growth.features || is_perfect {
                break;
            }
        }
        best
    }

    /// Score and range of the best split between two values of a number.
    fn best_threshold(&self, order: &[u64], weight: f64) -> Option<(f64, usize, usize)> {
        let least = self.growth.min_leaf;
        let (mut s, mut w) = (0.0, 0.0);
        for &entry in &order[..least - 1] {
            s += self.members[low(entry)].residual;
            w += self.members[low(entry)].weight;
        }
        let mut best = None;
        let mut highest = f64::NEG_INFINITY;
        for (at, pair) in order[least - 1..=order.len() - least].windows(2).enumerate() {
            let member = self.members[low(pair[0])];
            s += member.residual;
            w += member.weight;
            let (gain, spread) = (s * s, w * (weight - w));
            // The quotient is compared without a division.
            if gain > highest * spread && rank(pair[0]) != rank(pair[1]) {
                best = Some((gain / spread, 0, at + least));
                highest = gain / spread * (1.0 + ROUNDING);
            }
        }
        best
    }

    /// Score and range of the category that is best split from the rest; of equals that of the first member, whatever the
    /// order of categories.
    fn best_category(&self, order: &[u64], weight: f64) -> Option<(f64, usize, usize)> {
        let least = self.growth.min_leaf;
        let mut best: Option<(f64, usize, usize)> = None;
        let mut from = 0;
        for level in order.chunk_by(|a, b| rank(*a) == rank(*b)) {
            let (mut s, mut w) = (0.0, 0.0);
            for &entry in level {
                s += self.members[low(entry)].residual;
                w += self.members[low(entry)].weight;
            }
            let to = from + level.len();
            let score = s * s / (w * (weight - w));
            let is_better = best.is_none_or(|(best, other, _)| {
                let is_equal = (score - best).abs() <= best * ROUNDING;
                if is_equal { low(level[0]) < low(order[other]) } else { score > best }
            });
            if is_better && level.len() >= least && order.len() - level.len() >= least {
                best = Some((score, from, to));
            }
            from = to;
        }
        best
    }

    /// The node of a split: a threshold in the middle between two values, or an interval around one category.
    fn node(&self, split: Split, left: u32) -> TreeNode {
        let x = self.sorted.points.coordinate(split.feature);
        let x_at = |at: usize| x[self.index[low(self.orders[split.feature][at])] as usize];
        let last = x_at(split.to - 1);
        let feature = u32::try_from(split.feature).expect("invariant: coordinates are counted in 32 bits");
        if let Kind::Category(levels) = self.sorted.kinds[split.feature] {
            // Levels lie a step apart; a quarter of it is far from rounding and from the neighbors.
            let quarter = 0.25 / levels as f64;
            return TreeNode { low: last - quarter, high: last + quarter, feature, left };
        }
        let next = x_at(split.to);
        let middle = last + 0.5 * (next - last);
        // Between neighboring floats there is no middle.
        let high = if middle < next { middle } else { last };
        TreeNode { low: f64::NEG_INFINITY, high, feature, left }
    }

    /// Divides the node's range of every order that will be needed; returns where the right side begins.
    fn divide(&mut self, at: Open, split: Split) -> usize {
        let middle = at.begin + (split.to - split.from);
        let order = &self.orders[split.feature];
        order[at.begin..at.end].iter().for_each(|&entry| self.is_left[low(entry)] = false);
        order[split.from..split.to].iter().for_each(|&entry| self.is_left[low(entry)] = true);
        let is_last = !self.is_divisible(middle - at.begin) && !self.is_divisible(at.end - middle);
        for (feature, order) in self.orders.iter_mut().enumerate() {
            let order = &mut order[at.begin..at.end];
            let is_constant = rank(order[0]) == rank(order[order.len() - 1]);
            let is_needed = feature == split.feature && split.from > at.begin;
            if is_needed || (feature != split.feature && !is_last && !is_constant) {
                divide(order, &self.is_left, &mut self.scratch);
            }
        }
        middle
    }
}

/// Puts the coordinates into a random order.
pub(super) fn shuffle(features: &mut [usize], rng: &mut Stream) {
    for i in (1..features.len()).rev() {
        features.swap(i, rng.random_range(0..=i));
    }
}

/// Moves what is left to the front, keeping the order on both sides, without a branch.
fn divide(order: &mut [u64], is_left: &[bool], scratch: &mut [u64]) {
    let (mut left, mut right) = (0, 0);
    for at in 0..order.len() {
        let entry = order[at];
        let goes_left = usize::from(is_left[low(entry)]);
        order[left] = entry;
        scratch[right] = entry;
        left += goes_left;
        right += 1 - goes_left;
    }
    order[left..].copy_from_slice(&scratch[..right]);
}
