use super::tree::{Leaf, shuffle};
use super::*;

fn rng(seed: u64) -> Stream {
    Stream::seed_from_u64(seed)
}

fn uniform(dims: usize, n: usize, seed: u64) -> Points {
    let mut rng = rng(seed);
    Points::from_columns(dims, &(0..dims * n).map(|_| rng.random()).collect::<Vec<f64>>())
}

/// The coordinate of a level, as spaces encode it.
fn level(level: usize, levels: usize) -> f64 {
    (level as f64 + 0.5) / levels as f64
}

fn at(forest: &Forest, x: &[f64]) -> (f64, f64) {
    let marginals = forest.marginals(&Points::from_columns(x.len(), x));
    (marginals.mean[0], marginals.variance[0])
}

fn single(variance: ForestVariance, min_leaf: usize) -> ForestConfig {
    ForestConfig { trees: 1, bootstrap: false, min_leaf, variance, ..ForestConfig::default() }
}

#[test]
fn a_tree_by_hand() {
    // Sums of squares: 0.25 is best split from the rest (from 10.75 to 2), then 0.5 and 0.6 from 0.9.
    let points = Points::from_columns(1, &[0.9, 0.25, 0.6, 0.5]);
    let y = [5.0, 1.0, 4.0, 3.0];
    let fit = |config: &ForestConfig| Forest::fit(config, &[Kind::Continuous], &points, &y, &mut rng(0));

    let whole = fit(&single(ForestVariance::Total, 1));
    assert_eq!(whole.leaf_count(), 4);
    // Thresholds 0.375, 0.55 and 0.75 lie in the middle and belong to the left.
    let expected = [
        (0.0, 1.0),
        (0.375, 1.0),
        (0.376, 3.0),
        (0.55, 3.0),
        (0.551, 4.0),
        (0.75, 4.0),
        (0.751, 5.0),
        (1.0, 5.0),
    ];
    for (x, mean) in expected {
        assert_eq!(at(&whole, &[x]), (mean, 0.0), "at {x}");
    }

    let pairs = fit(&single(ForestVariance::Total, 2));
    assert_eq!(pairs.leaf_count(), 2);
    assert_eq!((at(&pairs, &[0.4]), at(&pairs, &[0.7])), ((2.0, 1.0), (4.5, 0.25)));
    let between = fit(&single(ForestVariance::Between, 2));
    assert_eq!(at(&between, &[0.4]), (2.0, 0.0));
}

#[test]
fn variance_is_that_of_the_trees_plus_that_within_leaves() {
    let mut sums = Sums::default();
    for (mean, variance) in [(1.0, 0.5), (3.0, 1.5), (8.0, 1.0)] {
        sums.add(mean, variance);
    }
    let (mean, between) = sums.mean_and_variance(ForestVariance::Between);
    let (_, total) = sums.mean_and_variance(ForestVariance::Total);
    // (9 + 1 + 16) / 3, and one more for the mean of the variances.
    assert!((mean - 4.0).abs() < 1e-15 && (between - 26.0 / 3.0).abs() < 1e-14);
    assert!((total - between - 1.0).abs() < 1e-14);
}

/// The same forest by the definition: every split is tried, and sums of squares are summed up from nothing.
struct Twin<'a> {
    kinds: &'a [Kind],
    points: &'a Points,
    y: &'a [f64],
    counts: Vec<u32>,
    features: Vec<usize>,
    most: usize,
    min_leaf: usize,
}

enum Branch {
    Leaf(Leaf),
    Node(usize, Test, Box<[Branch; 2]>),
}

#[derive(Clone, Copy)]
enum Test {
    AtMost(f64),
    Is(f64),
}

impl Test {
    fn holds(self, x: f64) -> bool {
        match self {
            Self::AtMost(threshold) => x <= threshold,
            Self::Is(category) => x.to_bits() == category.to_bits(),
        }
    }
}

impl Twin<'_> {
    fn leaf(&self, members: &[usize]) -> (Leaf, f64) {
        let weight: f64 = members.iter().map(|&i| f64::from(self.counts[i])).sum();
        let mean = members.iter().map(|&i| f64::from(self.counts[i]) * self.y[i]).sum::<f64>() / weight;
        let square = |&i: &usize| f64::from(self.counts[i]) * (self.y[i] - mean).powi(2);
        (Leaf { mean, variance: members.iter().map(square).sum::<f64>() / weight }, weight)
    }

    fn halves(&self, members: &[usize], feature: usize, test: Test) -> (Vec<usize>, Vec<usize>) {
        members.iter().partition(|&&i| test.holds(self.points.coordinate(feature)[i]))
    }

    /// Decrease of the sum of squares over the weight.
    fn score(&self, members: &[usize], feature: usize, test: Test) -> Option<f64> {
        let (left, right) = self.halves(members, feature, test);
        if left.len().min(right.len()) < self.min_leaf {
            return None;
        }
        let squares = |members: &[usize]| {
            let (leaf, weight) = self.leaf(members);
            leaf.variance * weight
        };
        Some((squares(members) - squares(&left) - squares(&right)) / self.leaf(members).1)
    }

    fn grow(&mut self, members: &[usize], rng: &mut Stream) -> Branch {
        let (leaf, _) = self.leaf(members);
        let first = self.y[members[0]].to_bits();
        if members.iter().all(|&i| self.y[i].to_bits() == first) || members.len() / 2 < self.min_leaf {
            return Branch::Leaf(leaf);
        }
        let mut best: Option<(f64, usize, Test)> = None;
        let mut looked_at = 0;
        let dims = self.features.len();
        let begin = if self.most < dims { 0 } else { rng.random_range(0..dims) };
        for drawn in 0..dims {
            if self.most < dims {
                let other = rng.random_range(drawn..dims);
                self.features.swap(drawn, other);
            }
            let feature = self.features[(begin + drawn) % dims];
            let mut x: Vec<f64> = members.iter().map(|&i| self.points.coordinate(feature)[i]).collect();
            x.sort_by(f64::total_cmp);
            x.dedup();
            let tests: Vec<Test> = match self.kinds[feature] {
                Kind::Category(_) => x.into_iter().map(Test::Is).collect(),
                _ => x.windows(2).map(|pair| Test::AtMost(f64::midpoint(pair[0], pair[1]))).collect(),
            };
            let mut of_feature: Option<(f64, usize, Test)> = None;
            for test in tests {
                let Some(score) = self.score(members, feature, test) else { continue };
                // Among equal categories that of the first point; thresholds come in order.
                let first = |test| self.halves(members, feature, test).0[0];
                let is_better = of_feature.is_none_or(|(best, _, other)| {
                    let is_equal = (score - best).abs() <= best * 1e-12;
                    if is_equal {
                        matches!(test, Test::Is(_)) && first(test) < first(other)
                    } else {
                        score > best
                    }
                });
                if is_better {
                    of_feature = Some((score, feature, test));
                }
            }
            let Some(found) = of_feature else { continue };
            looked_at += 1;
            if best.is_none_or(|(best, ..)| found.0 > best * (1.0 + 1e-12)) {
                best = Some(found);
            }
            if looked_at == self.most || best.is_some_and(|(best, ..)| best >= leaf.variance * (1.0 - 1e-12))
            {
                break;
            }
        }
        let Some((_, feature, test)) = best else { return Branch::Leaf(leaf) };
        let (left, right) = self.halves(members, feature, test);
        let left = self.grow(&left, rng);
        Branch::Node(feature, test, Box::new([left, self.grow(&right, rng)]))
    }
}

impl Branch {
    fn at(&self, x: &[f64]) -> Leaf {
        match self {
            Self::Leaf(leaf) => *leaf,
            Self::Node(feature, test, children) => children[usize::from(!test.holds(x[*feature]))].at(x),
        }
    }
}

/// Numbers, levels and categories, with ties in all but the first.
fn mixed(n: usize, seed: u64) -> (Vec<Kind>, Points) {
    let kinds = vec![Kind::Continuous, Kind::Levels(4), Kind::Category(5), Kind::Continuous];
    let mut rng = rng(seed);
    let mut points = Points::new(4);
    for _ in 0..n {
        let tied = f64::from(rng.random_range(0..6_u32)) / 6.0;
        let categories = [level(rng.random_range(0..4), 4), level(rng.random_range(0..5), 5)];
        points.push(&[rng.random(), categories[0], categories[1], tied]);
    }
    (kinds, points)
}

#[test]
fn forests_are_what_an_exhaustive_search_grows() {
    for (features, min_leaf, bootstrapped) in [(1.0, 1, true), (0.5, 3, true), (0.75, 2, false)] {
        let (kinds, points) = mixed(80, 3);
        let mut noise = rng(4);
        let y: Vec<f64> = (0..80)
            .map(|i| {
                let x = points.point(i);
                (6.0 * x[0]).sin() + x[1] + f64::from(u8::from(x[2] > 0.6)) + 0.3 * noise.random::<f64>()
            })
            .collect();
        let (trees, variance) = (7, ForestVariance::Total);
        let config = ForestConfig { trees, bootstrap: bootstrapped, features, min_leaf, variance };
        let forest = Forest::fit(&config, &kinds, &points, &y, &mut rng(5));
        let seed = rng(5).next_u64();
        let twins: Vec<Branch> = (0..trees)
            .map(|tree| {
                let mut rng = stream(seed, tree);
                let counts = if bootstrapped { bootstrap(80, &mut rng) } else { vec![1; 80] };
                let members: Vec<usize> = (0..80).filter(|&i| counts[i] > 0).collect();
                let most = [2, 3, 4][usize::from(features > 0.6) + usize::from(features > 0.9)];
                let (kinds, points, y, mut features) = (&*kinds, &points, &*y, vec![0, 1, 2, 3]);
                shuffle(&mut features, &mut rng);
                let mut twin = Twin { kinds, points, y, counts, features, most, min_leaf };
                twin.grow(&members, &mut rng)
            })
            .collect();
        let (_, asked) = mixed(500, 6);
        let marginals = forest.marginals(&asked);
        for i in 0..asked.len() {
            let mut sums = Sums::default();
            for twin in &twins {
                let leaf = twin.at(&asked.point(i));
                sums.add(leaf.mean, leaf.variance);
            }
            let (mean, variance) = sums.mean_and_variance(ForestVariance::Total);
            // Sums of 80 numbers of size 1, in another order.
            assert!((marginals.mean[i] - mean).abs() < 1e-13, "{features}: {i}");
            assert!((marginals.variance[i] - variance).abs() < 1e-13, "{features}: {i}");
        }
    }
}

#[test]
fn the_order_of_categories_does_not_matter() {
    let renamed = [3, 0, 4, 1, 2];
    let mut draw = rng(8);
    let (mut points, mut other) = (Points::new(2), Points::new(2));
    let mut y = Vec::new();
    for i in 0..60 {
        let (x, category) = (draw.random::<f64>(), i % 5);
        points.push(&[x, level(category, 5)]);
        other.push(&[x, level(renamed[category], 5)]);
        // Levels 1 and 3 are high: no threshold tells them from the rest.
        y.push(if category % 2 == 1 { 2.0 } else { 0.0 } + x + 0.1 * draw.random::<f64>());
    }
    let kinds = [Kind::Continuous, Kind::Category(5)];
    let config = ForestConfig::default();
    let first = Forest::fit(&config, &kinds, &points, &y, &mut rng(9));
    let second = Forest::fit(&config, &kinds, &other, &y, &mut rng(9));
    for category in 0..5 {
        for x in [0.05, 0.3, 0.55, 0.8] {
            let a = at(&first, &[x, level(category, 5)]);
            let b = at(&second, &[x, level(renamed[category], 5)]);
            assert!((a.0 - b.0).abs() < 1e-12 && (a.1 - b.1).abs() < 1e-12, "{a:?} {b:?}");
        }
    }
}

#[test]
fn equal_values_have_no_variance() {
    // 0.1 is no binary fraction: its mean over a sample is easily another number.
    let points = uniform(3, 50, 10);
    for variance in [ForestVariance::Between, ForestVariance::Total] {
        let config = ForestConfig { variance, ..ForestConfig::default() };
        let forest = Forest::fit(&config, &[Kind::Continuous; 3], &points, &[0.1; 50], &mut rng(11));
        assert_eq!(forest.leaf_count(), 100);
        let marginals = forest.marginals(&uniform(3, 20, 12));
        assert_eq!((marginals.mean, marginals.variance), (vec![0.1; 20], vec![0.0; 20]));
    }
}

#[test]
fn one_point_and_repeated_points() {
    let fit = |points: &Points, y: &[f64]| {
        Forest::fit(&ForestConfig::default(), &[Kind::Continuous; 2], points, y, &mut rng(13))
    };
    let one = fit(&Points::from_columns(2, &[0.3, 0.4]), &[7.0]);
    assert_eq!(at(&one, &[0.9, 0.9]), (7.0, 0.0));
    // The same point with two values cannot be split: trees differ by their samples alone.
    let same = fit(&Points::from_columns(2, &[0.5; 40]), &[[1.0, 3.0]; 10].concat());
    let (mean, variance) = at(&same, &[0.1, 0.9]);
    assert_eq!(same.leaf_count(), 100);
    // A mean of 20 coins has variance 1 / 20; that of 100 of them a deviation of 0.022.
    assert!((mean - 2.0).abs() < 5.0 * 0.022 && (0.02..0.1).contains(&variance), "{mean} {variance}");
    assert!(fit(&Points::from_columns(2, &[0.5; 4]), &[1.0, 1.0]).marginals(&Points::new(2)).mean.is_empty());
}

#[test]
fn trees_agree_where_data_are_and_differ_where_they_are_not() {
    // Ten repeats at each of 0, 0.1, ..., 0.4 and of 0.8, 0.9, 1; nothing between 0.4 and 0.8, where a step may be anywhere.
    let grid = [0.0, 0.1, 0.2, 0.3, 0.4, 0.8, 0.9, 1.0];
    let x: Vec<f64> = grid.iter().flat_map(|x| [*x; 10]).collect();
    let y: Vec<f64> = x.iter().map(|x| x * x).collect();
    let one = [Kind::Continuous];
    let repeated =
        Forest::fit(&ForestConfig::default(), &one, &Points::from_columns(1, &x), &y, &mut rng(14));
    for x in grid {
        // Each of the ten is missed by all with a probability of 4e-5.
        let (mean, variance) = at(&repeated, &[x]);
        assert!((mean - x * x).abs() < 1e-12 && variance < 1e-20, "{mean} {variance} at {x}");
    }
    let sparse = Forest::fit(
        &ForestConfig::default(),
        &one,
        &Points::from_columns(1, &grid),
        &grid.map(|x| x * x),
        &mut rng(14),
    );
    let (_, inside) = at(&sparse, &[0.2]);
    let (_, gap) = at(&sparse, &[0.59]);
    assert!(gap > 5.0 * inside && inside > 0.0, "{gap} {inside}");
}

#[test]
fn threads_change_no_bit() {
    let (kinds, points) = mixed(300, 15);
    let y: Vec<f64> = (0..300).map(|i| points.point(i).iter().sum::<f64>().sin()).collect();
    let (_, asked) = mixed(3 * PANEL + 7, 16);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let forest = Forest::fit(&ForestConfig::default(), &kinds, &points, &y, &mut rng(17));
            let marginals = forest.marginals(&asked);
            (forest, marginals)
        })
    };
    let one = run(1);
    assert!(one == run(2) && one == run(5));
    // Nor does the panel that a point is in.
    let marginals = one.0.marginals(&asked.slice(1000..1100));
    assert_eq!(marginals.mean, one.1.mean[1000..1100]);
}
