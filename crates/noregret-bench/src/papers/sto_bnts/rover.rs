//! The rover of Wang et al. 2018, "Batched large-scale Bayesian optimization in high-dimensional spaces": a way in the plane
//! from one corner to the other, around 30 square obstacles, given by ten points.
//!
//! In the authors' program the points are smoothed by a spline whose default smoothing leaves a single cubic. So the way is
//! the Bézier curve that fits start, points and goal by least squares over their chord lengths, and then has its ends put on start
//! and goal: of the 20 numbers, four matter. Costs are integrated along the curve by trapezoids between 1,000 points.

/// Numbers that a way has: ten points of two coordinates each, one after the other.
pub(super) const DIMS: usize = 20;
/// Deviation of the noise on each of them as a point of the unit cube: 1e-4 on coordinates, as in the authors' program.
pub(super) const NOISE: f64 = 1e-4 / (RANGE.1 - RANGE.0);

const START: [f64; 2] = [0.05, 0.05];
const GOAL: [f64; 2] = [0.95, 0.95];
/// Coordinates of points lie between these.
const RANGE: (f64, f64) = (-0.1, 1.1);
/// Points at which the cost is evaluated.
const STEPS: usize = 1_000;
/// Cost of a unit of length, and that within an obstacle or outside the unit square, on top.
const LENGTH_COST: f64 = 0.05;
const OBSTACLE_COST: f64 = 20.0;
/// Half the side of an obstacle.
const HALF: f64 = 0.05;
/// Centres of the obstacles.
const OBSTACLES: [[f64; 2]; 30] = [
    [0.113_531_45, 0.172_511_16],
    [0.484_941_3, 0.768_451_3],
    [0.388_408_63, 0.107_308_09],
    [0.329_685_56, 0.375_422_75],
    [0.643_427_73, 0.324_384_15],
    [0.42, 0.35],
    [0.387_455_46, 0.068_890_7],
    [0.057_715_29, 0.167_057_3],
    [0.487_500_01, 0.678_642_49],
    [0.529_464_6, 0.662_452_26],
    [0.884_958_61, 0.767_708_09],
    [0.711_324_62, 0.465_807_45],
    [0.020_381_82, 0.321_460_63],
    [0.340_774_48, 0.704_464_64],
    [0.614_901_75, 0.790_817_85],
    [0.373_676_16, 0.672_044_1],
    [0.147_115_69, 0.570_603_65],
    [0.760_841_88, 0.651_681_23],
    [0.510_387_21, 0.786_553_73],
    [0.503_965_08, 0.902_999_52],
    [0.237_639_56, 0.382_607_48],
    [0.401_696_79, 0.725_530_68],
    [0.596_701_14, 0.085_415_69],
    [0.551_440_8, 0.628_551_34],
    [0.846_067_33, 0.942_645_43],
    [0.8, 0.195_902_18],
    [0.391_816_03, 0.463_575_32],
    [0.448_004_03, 0.273_801_16],
    [0.568_191_3, 0.146_870_6],
    [0.374_182_62, 0.692_100_95],
];

/// Minus the cost of the way given by `u`, a point of the unit cube.
pub(super) fn value(u: &[f64]) -> f64 {
    let raw = |u: f64| RANGE.0 + u * (RANGE.1 - RANGE.0);
    let inner: Vec<[f64; 2]> = u.chunks_exact(2).map(|pair| [raw(pair[0]), raw(pair[1])]).collect();
    -cost(&inner)
}

/// The cost of the way through `inner`.
fn cost(inner: &[[f64; 2]]) -> f64 {
    let controls = controls(inner);
    let curve: Vec<[f64; 2]> = (0..STEPS).map(|i| at(&controls, i as f64 / (STEPS - 1) as f64)).collect();
    let costs: Vec<f64> = curve.iter().map(|&p| local_cost(p)).collect();
    let segment = |i: usize| f64::midpoint(costs[i], costs[i + 1]) * distance(curve[i], curve[i + 1]);
    (0..STEPS - 1).map(segment).sum()
}

fn distance(a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - b[0]).hypot(a[1] - b[1])
}

/// Boxes are closed below and open above, as is the square.
fn local_cost(p: [f64; 2]) -> f64 {
    let within =
        |centre: [f64; 2], half: f64| (0..2).all(|k| centre[k] - half <= p[k] && p[k] < centre[k] + half);
    let hit = !within([0.5, 0.5], 0.5) || OBSTACLES.iter().any(|&centre| within(centre, HALF));
    LENGTH_COST + if hit { OBSTACLE_COST } else { 0.0 }
}

/// Bernstein's four cubics.
fn bernstein(t: f64) -> [f64; 4] {
    let s = 1.0 - t;
    [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t]
}

fn at(controls: &[[f64; 2]; 4], t: f64) -> [f64; 2] {
    let basis = bernstein(t);
    [0, 1].map(|k| (0..4).map(|j| basis[j] * controls[j][k]).sum())
}

/// Control points of the cubic that fits best, its ends moved to start and goal.
fn controls(inner: &[[f64; 2]]) -> [[f64; 2]; 4] {
    let points: Vec<[f64; 2]> = [START].into_iter().chain(inner.iter().copied()).chain([GOAL]).collect();
    let mut lengths = vec![0.0];
    for pair in points.windows(2) {
        lengths.push(lengths[lengths.len() - 1] + distance(pair[0], pair[1]));
    }
    let total = lengths[lengths.len() - 1];
    // Normal equations, the right sides in the last two columns.
    let mut equations = [[0.0; 6]; 4];
    for (point, length) in points.iter().zip(&lengths) {
        let basis = bernstein(length / total);
        for i in 0..4 {
            (0..4).for_each(|j| equations[i][j] += basis[i] * basis[j]);
            (0..2).for_each(|k| equations[i][4 + k] += basis[i] * point[k]);
        }
    }
    let [_, first, second, _] = solved(equations);
    [START, first, second, GOAL]
}

/// Gauss-Jordan elimination; the matrix is positive definite, so that no rows change places.
fn solved(mut equations: [[f64; 6]; 4]) -> [[f64; 2]; 4] {
    for i in 0..4 {
        let pivot = equations[i][i];
        equations[i].iter_mut().for_each(|v| *v /= pivot);
        let row = equations[i];
        for (_, other) in equations.iter_mut().enumerate().filter(|(j, _)| *j != i) {
            let factor = other[i];
            other.iter_mut().zip(row).for_each(|(v, r)| *v -= factor * r);
        }
    }
    equations.map(|row| [row[4], row[5]])
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;

    /// Values of the authors' program, run by us without its noise: the diagonal, and two bows beside it.
    #[test]
    fn ways_cost_what_they_cost_in_the_authors_program() {
        let way = |y: &dyn Fn(f64) -> f64| {
            let t = |j: i32| 0.05 + 0.9 * f64::from(j) / 11.0;
            let inner: Vec<[f64; 2]> = (1..=10).map(|j| [t(j), y(t(j))]).collect();
            -cost(&inner)
        };
        let bow = |t: f64| (PI * (t - 0.05) / 0.9).sin();
        for (found, expected) in [
            (way(&|t| t), -4.905_091),
            (way(&|t| (t + 0.35 * bow(t)).min(1.0)), -12.816_441),
            (way(&|t| t - 0.3 * bow(t)), -10.233_368),
        ] {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
    }

    #[test]
    fn coordinates_come_from_the_unit_cube() {
        let u: Vec<f64> = (0..10).flat_map(|j| [f64::from(j) / 9.0; 2]).collect();
        let inner: Vec<[f64; 2]> = (0..10).map(|j| [-0.1 + 1.2 * f64::from(j) / 9.0; 2]).collect();
        assert!((value(&u) + cost(&inner)).abs() < 1e-12);
    }

    /// The best found by random search over the two inner control points, in another program and on a coarser curve.
    #[test]
    fn a_way_around_exists() {
        let controls = [START, [0.629, 0.417], [0.930, -0.012], GOAL];
        let curve: Vec<[f64; 2]> = (0..STEPS).map(|i| at(&controls, i as f64 / 999.0)).collect();
        let free = curve.iter().filter(|p| local_cost(**p) < 1.0).count();
        assert!(free as f64 > 0.99 * STEPS as f64, "{free}");
    }
}
