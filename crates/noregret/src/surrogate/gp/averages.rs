//! The posterior of averages of the function over some coordinates.
//!
//! # Notation
//! | here       | shape | meaning                                                                              |
//! |------------|-------|--------------------------------------------------------------------------------------|
//! | `at`       | d x m | points whose coordinates `averaged` are to be averaged over                          |
//! | `over`     | d x S | settings of those coordinates                                                        |
//! | `x_is`     | d     | the `i`-th point with the averaged coordinates of the `s`-th setting                 |
//! | `f_i`      | 1     | `1/S sum_s f(x_is)`, the average at the `i`-th point                                 |
//! | `c_i`      | n     | `1/S sum_s k(X, x_is)`, its covariances with the data                                |
//!
//! An average is a linear function of `f`, so it is normal like `f` itself: its mean is `c_i^T (K + tau I)^-1 y` and its variance
//! `1/S^2 sum_st k(x_is, x_it) - |L^-1 c_i|^2`. The mean of the deviations would be something else: errors at different settings
//! partly cancel.
//!
//! Costs `m S n` covariances and `m n^2` operations for the solves; the prior's part takes `S^2` covariances, once if the kernel is
//! stationary (then the coordinates that all `x_is` share do not count), else for each point.

use rayon::prelude::*;

use super::posterior::{Gp, subtract_squares};
use crate::math::vector;
use crate::surrogate::Marginals;
use crate::surrogate::points::Points;

/// Points at a time: bounds the memory to `n` times this.
const PANEL: usize = 256;

/// A set of points, and the coordinates to average over.
struct Averaged<'a> {
    at: &'a Points,
    over: &'a Points,
    coordinates: &'a [bool],
}

impl Averaged<'_> {
    /// `x_is`, into `x`.
    fn point(&self, i: usize, s: usize, x: &mut [f64]) {
        for (k, x) in x.iter_mut().enumerate() {
            *x = if self.coordinates[k] { self.over.coordinate(k)[s] } else { self.at.coordinate(k)[i] };
        }
    }

    /// All `x_is` of one `i`.
    fn settings(&self, i: usize) -> Points {
        let mut points = Points::new(self.at.dims());
        let mut x = vec![0.0; self.at.dims()];
        for s in 0..self.over.len() {
            self.point(i, s, &mut x);
            points.push(&x);
        }
        points
    }
}

impl Gp {
    /// The posterior of the averages over the coordinates `averaged` at each of the points `at`, for the settings `over`, of which there
    /// must be at least one.
    pub(crate) fn averages(&self, at: &Points, over: &Points, averaged: &[bool]) -> Marginals {
        let dims = self.points().dims();
        assert!(at.dims() == dims && over.dims() == dims && averaged.len() == dims, "points of one space");
        assert!(!over.is_empty(), "an average of something");
        let sets = Averaged { at, over, coordinates: averaged };
        let mut all = Marginals { mean: Vec::new(), variance: self.prior_variances(&sets) };
        for begin in (0..at.len()).step_by(PANEL) {
            let end = (begin + PANEL).min(at.len());
            let m = end - begin;
            let mut c = self.averaged_covariances(&sets, begin..end);
            all.mean.extend(self.weighed(&c, m));
            self.factor().solve_lower_rows(&mut c, m);
            let variance = &mut all.variance[begin..end];
            c.chunks(m).for_each(|column| subtract_squares(column, variance));
            variance.iter_mut().for_each(|v| *v = v.max(0.0));
        }
        all
    }

    /// The `c_i` of a panel, column-major `m x n`.
    fn averaged_covariances(&self, sets: &Averaged<'_>, panel: std::ops::Range<usize>) -> Vec<f64> {
        let (m, n) = (panel.len(), self.len());
        let share = (sets.over.len() as f64).recip();
        let rows: Vec<Vec<f64>> = panel
            .into_par_iter()
            .map_init(
                || (vec![0.0; n], vec![0.0; sets.at.dims()]),
                |(column, x), i| {
                    let mut sum = vec![0.0; n];
                    for s in 0..sets.over.len() {
                        sets.point(i, s, x);
                        self.kernel().column(self.points(), 0, x, column);
                        vector::axpy(share, column, &mut sum);
                    }
                    sum
                },
            )
            .collect();
        let mut c = vec![0.0; m * n];
        for (i, row) in rows.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                c[j * m + i] = *value;
            }
        }
        c
    }

    /// `1/S^2 sum_st k(x_is, x_it)` for each `i`.
    fn prior_variances(&self, sets: &Averaged<'_>) -> Vec<f64> {
        let m = sets.at.len();
        let prior = |i: usize| {
            let settings = sets.settings(i);
            let mut column = vec![0.0; settings.len()];
            let sums = (0..settings.len()).map(|s| {
                self.kernel().column(&settings, 0, &settings.point(s), &mut column);
                column.iter().sum::<f64>()
            });
            sums.sum::<f64>() / (settings.len() as f64).powi(2)
        };
        if m > 0 && self.kernel().is_stationary() {
            return vec![prior(0); m];
        }
        (0..m).into_par_iter().map(prior).collect()
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::Surrogate;
    use crate::surrogate::gp::kernel::{Coordinates, Factor, Form, Kernel};

    fn random(dims: usize, count: usize, seed: u64) -> Points {
        let mut rng = Seed(seed).stream(Purpose::Experiment, 0, 0);
        Points::from_columns(dims, &(0..dims * count).map(|_| rng.random()).collect::<Vec<f64>>())
    }

    fn gp(kernel: Kernel) -> Gp {
        let points = random(3, 40, 1);
        let y: Vec<f64> = (0..40).map(|i| (5.0 * points.point(i)[0]).sin() + points.point(i)[2]).collect();
        Gp::new(kernel, points, &y, vec![1e-3; 40]).unwrap()
    }

    fn kernels() -> [Kernel; 2] {
        let both = Coordinates::new(vec![0, 1, 2], vec![1.0, 0.7, 2.0]);
        let mut bent = Kernel::new(Form::Matern52, vec![0.4, 0.8, 0.6], 3, 1.3);
        bent.factors.push(Factor::new(Form::Linear, both));
        [Kernel::new(Form::Matern52, vec![0.4, 0.8, 0.6], 3, 1.3), bent]
    }

    /// An equivalence: the joint posterior of all points of an average has its mean and its variance.
    #[test]
    fn averages_are_those_of_the_joint_posterior() {
        for kernel in kernels() {
            let gp = gp(kernel);
            let (at, over) = (random(3, 5, 2), random(3, 17, 3));
            let averaged = [false, true, true];
            let found = gp.averages(&at, &over, &averaged);
            let sets = Averaged { at: &at, over: &over, coordinates: &averaged };
            for i in 0..at.len() {
                let joint = gp.joint(&sets.settings(i)).unwrap();
                let s = over.len() as f64;
                let mean = joint.mean().iter().sum::<f64>() / s;
                let covariances = (0..17).flat_map(|a| (0..17).map(move |b| (a, b)));
                let variance = covariances.map(|(a, b)| joint.covariance(a, b)).sum::<f64>() / (s * s);
                // Rounding of sums of some hundred numbers near 1, and the jitter of the joint factor.
                assert!((found.mean[i] - mean).abs() < 1e-9, "{} {mean}", found.mean[i]);
                assert!((found.variance[i] - variance).abs() < 1e-8, "{} {variance}", found.variance[i]);
                let alone: f64 = gp.marginals(&sets.settings(i)).variance.iter().sum::<f64>() / s;
                assert!(found.variance[i] < alone, "errors at different settings partly cancel");
            }
        }
    }

    /// An equivalence, across the border of a panel: the average over nothing is the function itself.
    #[test]
    fn the_average_over_nothing_is_the_function() {
        for kernel in kernels() {
            let gp = gp(kernel);
            let at = random(3, PANEL + 5, 4);
            let (found, plain) = (gp.averages(&at, &random(3, 3, 5), &[false; 3]), gp.marginals(&at));
            for i in 0..at.len() {
                assert!((found.mean[i] - plain.mean[i]).abs() < 1e-10);
                assert!((found.variance[i] - plain.variance[i]).abs() < 1e-10);
            }
        }
    }
}
