//! The posterior at a fixed set of candidates, kept from round to round.
//!
//! A new observation (or pending point) `b` appends one row to `V = L^-1 k(X, C)` and changes everything else by
//! rank one: `c(x) = (k(x, b) - v(x) . v(b)) / L_bb`, `mu += c * white_b`, `sigma^2 -= c^2`. That is `O(n N)` a point for
//! `N` candidates, where solving anew would be `O(n^2 N)`.
//!
//! # Notation
//! | here       | shape | meaning                                                          |
//! |------------|-------|------------------------------------------------------------------|
//! | `v`        | N x n | `V^T`, one column per row of the model's factor                  |
//! | `mean`     | N     | posterior mean given the observed rows                           |
//! | `variance` | N     | posterior variance given the observed rows                       |
//! | `conditioned` | N  | posterior variance given observed and pending rows               |

use rayon::prelude::*;

use super::posterior::{Gp, Joint, subtract_squares};
use crate::math::cholesky::NotPositiveDefinite;
use crate::math::vector;
use crate::surrogate::points::Points;

/// Candidates handled by one thread at a time; their part of the new row stays in the first-level cache.
const PANEL: usize = 256;

/// The candidates and their posterior.
#[derive(Clone, Debug)]
pub struct Candidates {
    points: Points,
    v: Vec<f64>,
    mean: Vec<f64>,
    variance: Vec<f64>,
    conditioned: Vec<f64>,
    observed: usize,
    rows: usize,
}

impl Candidates {
    /// The posterior of `gp` at `points`: one kernel block and one triangular solve.
    pub fn new(gp: &Gp, points: Points) -> Self {
        let (mean, v) = gp.project(&points);
        let n = points.len();
        let mut variance: Vec<f64> = (0..n).map(|i| gp.kernel().variance(&points.point(i))).collect();
        let observed = gp.observed();
        for column in v.chunks(n.max(1)).take(observed) {
            subtract_squares(column, &mut variance);
        }
        let mut conditioned = variance.clone();
        for column in v.chunks(n.max(1)).skip(observed) {
            subtract_squares(column, &mut conditioned);
        }
        Self { points, v, mean, variance, conditioned, observed, rows: gp.len() }
    }

    /// Brings the posterior up to date with `gp`, which has only grown (or dropped its pending points) since.
    pub fn follow(&mut self, gp: &Gp) {
        let n = self.len();
        // Pending rows of the last call are void as soon as an observation arrives.
        if gp.observed() > self.observed || gp.len() < self.rows {
            self.v.truncate(n * self.observed);
            self.rows = self.observed;
            self.conditioned.copy_from_slice(&self.variance);
        }
        let mut row = Vec::new();
        for r in self.rows..gp.len() {
            // The factor of the model has grown by the row (v(b)^T, L_bb). Forward substitution of k(X, x) goes on by one step:
            // c(x) = (k(x, b) - v(b) . v(x)) / L_bb. Mean and variance are sums over the rows, V^T white and k(x, x) - |v(x)|^2,
            // and gain one term each.
            gp.factor().row(r, &mut row);
            let x = gp.points().point(r);
            let (v, points) = (&self.v, &self.points);
            let mut c = vec![0.0; n];
            c.par_chunks_mut(PANEL).enumerate().for_each(|(p, c)| {
                let start = p * PANEL;
                gp.kernel().column(points, start, &x, c);
                vector::subtract_product(v, n, start..start + c.len(), &row, c);
                let inverse = 1.0 / gp.factor().diagonal(r);
                c.iter_mut().for_each(|c| *c *= inverse);
            });
            subtract_squares(&c, &mut self.conditioned);
            if r < gp.observed() {
                subtract_squares(&c, &mut self.variance);
                vector::axpy(gp.white()[r], &c, &mut self.mean);
                self.observed += 1;
            }
            self.v.extend(c);
            self.rows += 1;
        }
    }

    /// The candidates.
    pub fn points(&self) -> &Points {
        &self.points
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Posterior means.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// Posterior variances given observed and pending points. May be negative by rounding: clamp before the root.
    #[expect(clippy::misnamed_getters, reason = "the variance that counts is the conditioned one")]
    pub fn variance(&self) -> &[f64] {
        &self.conditioned
    }

    /// Posterior variances given observed points alone.
    pub fn observed_variance(&self) -> &[f64] {
        &self.variance
    }

    /// The joint posterior of some candidates of several sets given observed points alone, for exact draws. What was
    /// solved for the candidates is used again: `O(m^2 (n + m))` for `m` of them, without a solve.
    pub fn joint(gp: &Gp, parts: &[(&Self, &[usize])]) -> Result<(Joint, Points), NotPositiveDefinite> {
        let m = parts.iter().map(|(_, chosen)| chosen.len()).sum::<usize>();
        let mut points = Points::new(gp.points().dims());
        let (mut mean, mut v) = (Vec::with_capacity(m), Vec::with_capacity(m * gp.observed()));
        for (set, chosen) in parts {
            for &i in *chosen {
                points.push(&set.points.point(i));
                mean.push(set.mean[i]);
            }
        }
        for row in 0..gp.observed() {
            for (set, chosen) in parts {
                let column = &set.v[row * set.len()..][..set.len()];
                v.extend(chosen.iter().map(|&i| column[i]));
            }
        }
        Ok((Joint::new(gp, &points, mean, &v)?, points))
    }

    /// Rows of `V` that belong to pending points, by candidate: `c(x)`, the covariance with what will be known.
    pub(crate) fn pending_rows(&self) -> impl Iterator<Item = &[f64]> {
        self.v.chunks(self.len().max(1)).skip(self.observed)
    }

    /// `k(C, X) (K + tau I)^-1 r` for whitened residuals `white = L^-1 r` over the observed points: the part of a
    /// pathwise sample that depends on the data, without a single kernel evaluation.
    pub fn weigh(&self, white: &[f64]) -> Vec<f64> {
        let n = self.len();
        let mut sum = vec![0.0; n];
        let negative: Vec<f64> = white.iter().map(|w| -w).collect();
        sum.par_chunks_mut(PANEL).enumerate().for_each(|(p, sum)| {
            let start = p * PANEL;
            vector::subtract_product(&self.v, n, start..start + sum.len(), &negative, sum);
        });
        sum
    }
}
