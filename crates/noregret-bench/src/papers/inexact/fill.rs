//! The fill distance of a random grid: how far a point of the cube can be from the grid.
//! Kim et al. 2025, Lemmas 17 and 18: `h_t = sup_x min_i |x - x_i|`, Euclidean, with `E[h_t] = O(t^(-1/d + xi))`.
//!
//! # Notation
//! | paper     | here        | meaning                                                                          |
//! |-----------|-------------|----------------------------------------------------------------------------------|
//! | `X_t`     | `grid`      | uniform points, by rows                                                          |
//! | `h_t`     | `distance`  | estimated from below: the largest distance from any probe                        |
//! | `sum h_t` | `FillSums`  | the inaccuracy of Theorems 7 and 8, up to the Lipschitz constant of the objective |
//!
//! # Departures
//! - The supremum is searched from Sobol probes, all corners and a compass search from the farthest, so `h_t` comes out too small
//!   rather than too large.
//! - All lengths are those of the unit cube; on a box with sides `s` they are `s` times as large.
//! - Grids have the sizes and the law of those that the solver uses, and are not the same: a solver does not show its grid.
//! - `h_t` is computed at rounds of a geometric sequence, and interpolated in between.

use noregret::math::rng::Stream;
use noregret::math::sobol;
use noregret::maximize::solver::grid_size;
use rand::RngExt;

/// Sobol probes of a grid.
const PROBES: usize = 512;
/// Probes from which the supremum is climbed to.
const CLIMBS: usize = 4;
/// The compass search ends when its step is this share of the distance.
const LAST_STEP: f64 = 1e-3;

/// How a grid grows: `per_round t^power`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Growth {
    pub(super) per_round: usize,
    pub(super) power: f64,
}

/// Fill distances of a run of `T` rounds, estimated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FillSums {
    /// `h_T`.
    pub(super) last: f64,
    /// `sum_{t <= T} h_t`.
    pub(super) sum: f64,
    /// The same up to `T / 2`.
    pub(super) half: f64,
}

impl FillSums {
    /// Over `rounds` rounds in `dims` dimensions.
    pub(super) fn new(growth: Growth, dims: usize, rounds: usize, rng: &mut Stream) -> Self {
        let mut at = vec![1_usize];
        while at[at.len() - 1] < rounds {
            // Steps of at most a quarter, so that the straight line in between is near the convex decay.
            at.push((at[at.len() - 1] * 5 / 4).max(at[at.len() - 1] + 1).min(rounds));
        }
        let h: Vec<f64> = at
            .iter()
            .map(|t| {
                let size = grid_size(growth.per_round, growth.power, *t);
                let grid: Vec<f64> = (0..size * dims).map(|_| rng.random()).collect();
                distance(&grid, dims, rng)
            })
            .collect();
        let between = |t: usize| {
            let i = at.partition_point(|known| *known < t);
            if at[i] == t {
                return h[i];
            }
            let share = (t - at[i - 1]) as f64 / (at[i] - at[i - 1]) as f64;
            (1.0 - share) * h[i - 1] + share * h[i]
        };
        let sum = |last: usize| (1..=last).map(between).sum();
        Self { last: between(rounds), sum: sum(rounds), half: sum(rounds / 2) }
    }
}

/// The fill distance of the points `grid` (by rows) in the unit cube of `dims` dimensions, from below.
pub(super) fn distance(grid: &[f64], dims: usize, rng: &mut Stream) -> f64 {
    let nearest = |x: &[f64]| {
        let squared = |point: &[f64]| point.iter().zip(x).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        grid.chunks(dims).map(squared).fold(f64::INFINITY, f64::min).sqrt()
    };
    let corners = (0..1_usize << dims.min(10))
        .map(|bits| (0..dims).map(|k| if bits >> k & 1 == 1 { 1.0 } else { 0.0 }).collect::<Vec<f64>>());
    let probes = sobol::points(dims, PROBES, rng);
    let mut far: Vec<(f64, Vec<f64>)> =
        probes.chunks(dims).map(<[f64]>::to_vec).chain(corners).map(|x| (nearest(&x), x)).collect();
    far.sort_by(|a, b| b.0.total_cmp(&a.0));
    let climbed = far.iter().take(CLIMBS).map(|(start, x)| {
        let (mut best, mut x, mut step) = (*start, x.clone(), 0.5 * start);
        while step > LAST_STEP * best {
            let mut moved = false;
            for k in 0..dims {
                for sign in [-1.0, 1.0] {
                    let old = x[k];
                    x[k] = (old + sign * step).clamp(0.0, 1.0);
                    let value = nearest(&x);
                    if value > best {
                        (best, moved) = (value, true);
                    } else {
                        x[k] = old;
                    }
                }
            }
            if !moved {
                step *= 0.5;
            }
        }
        best
    });
    climbed.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use noregret::math::rng::{Purpose, Seed};

    use super::*;

    fn rng() -> Stream {
        Seed(1).stream(Purpose::Experiment, 0, 0)
    }

    /// One point in the middle; the corners of the square; a regular grid; two points on a line.
    #[test]
    fn known_grids_have_their_fill_distance() {
        let root = std::f64::consts::SQRT_2;
        let square = [0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0];
        let regular = [0.25, 0.25, 0.25, 0.75, 0.75, 0.25, 0.75, 0.75];
        for (grid, dims, exact) in [
            (&[0.5, 0.5][..], 2, root / 2.0),
            (&square, 2, root / 2.0),
            (&regular, 2, root / 4.0),
            (&[0.1, 0.7], 1, 0.3),
        ] {
            let found = distance(grid, dims, &mut rng());
            // The search stops at steps of a thousandth of the distance; two dimensions may each be off by one.
            assert!(found <= exact + 1e-12 && found > exact * (1.0 - 3e-3), "{found}, not {exact}");
        }
    }

    #[test]
    fn sums_are_those_of_the_rounds() {
        // A grid of one point in each round: no fill distance is below that of the middle, 1/2.
        let one = FillSums::new(Growth { per_round: 1, power: 0.0 }, 1, 10, &mut rng());
        assert!((5.0..=10.0).contains(&one.sum) && (2.5..=5.0).contains(&one.half), "{one:?}");
        assert!((0.5..=1.0).contains(&one.last));
        // Larger grids fill better.
        let two = FillSums::new(Growth { per_round: 1, power: 2.0 }, 2, 30, &mut rng());
        let linear = FillSums::new(Growth { per_round: 1, power: 1.0 }, 2, 30, &mut rng());
        assert!(two.sum < linear.sum && two.last < linear.last, "{two:?}, {linear:?}");
    }
}
