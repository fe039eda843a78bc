//! qEI: expected improvement of a whole batch, point after point.
//! Ginsbourger, Le Riche & Carraro 2008 (kriging believer); Ament et al. 2023 (logarithms); a rival in Ren & Li.
//!
//! # Notation
//! | paper            | here          | shape | meaning                                                            |
//! |------------------|---------------|-------|--------------------------------------------------------------------|
//! | `f_min`, negated | `best`        | 1     | what is to be improved on                                          |
//! | `S`              | `fantasies`   | 1     | number of draws                                                    |
//! | `Y(X_batch)`     | `value(r, s)` | B x S | values at the points running and in the batch, drawn jointly       |
//! | `z`              | `normals`     | B x S | the normal numbers behind them                                     |
//! | `c(x)`           |               | B     | whitened covariance of `x` with those points                       |
//!
//! *Believer*: values at the batch so far are believed to be their means, so that the mean stays, the deviation shrinks and
//! the bar rises. *Monte Carlo*: given fantasy `s` the value at `x` is normal with mean `mu(x) + c(x) . z_s` and the
//! conditioned deviation; its expected improvement over the best of fantasy `s` is known in closed form, and the logarithm
//! of the average over fantasies is maximized. This is the sequential greedy qEI with one integral done exactly.
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`. Beyond 256 points climbs of the believer follow a local model, see `gp_ucb`.
//! - The bar is the best posterior mean at an evaluated point. Fantasies contain the noise. Gradients of the Monte Carlo form
//!   are differences.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the papers allow repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::Acquisition;
use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::gp::search::CandidateUtility;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::Surrogate;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::posterior::{Gp, subtract_squares};
use crate::surrogate::points::Points;
use rand_distr::{Distribution, StandardNormal};

/// Step of differences, on the unit cube.
const STEP: f64 = 1e-5;

/// How qEI takes the batch so far into account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum QeiMethod {
    /// Kriging believer: its values are assumed to equal their means.
    #[default]
    Believer,
    /// Average over values drawn jointly.
    MonteCarlo,
}

const FANTASIES: Range = Range::new(1.0, 1_000.0);

/// Settings of qEI.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct QeiConfig {
    /// How the batch so far is taken into account.
    pub method: QeiMethod,
    /// Fantasies of the Monte Carlo form. From 1 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = FANTASIES.stated()))]
    pub fantasies: usize,
}

impl Default for QeiConfig {
    fn default() -> Self {
        Self { method: QeiMethod::default(), fantasies: 64 }
    }
}

/// qEI.
pub type Qei = GpStrategy<QeiConfig>;

impl OwnOptions for QeiConfig {
    const NAME: &'static str = "qei";

    fn check(&self) -> Result<()> {
        Ok(FANTASIES.check("fantasies", self.fantasies)?)
    }
}

impl Strategy for Qei {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        let mut normals: Vec<Vec<f64>> = Vec::new();
        while turn.wants_more() {
            let found = match self.own.method {
                QeiMethod::Believer => {
                    let best = gp.believed_incumbent();
                    search.maximize(&gp.scored(Utility::LogExpectedImprovement { best }), gp, &mut turn)
                }
                QeiMethod::MonteCarlo => {
                    while normals.len() < gp.gp().len() - gp.gp().observed() {
                        let row = (0..self.own.fantasies).map(|_| StandardNormal.sample(turn.rng));
                        normals.push(row.collect());
                    }
                    search.maximize(&Fantasies::new(gp.gp(), gp.incumbent(), &normals), gp, &mut turn)
                }
            };
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

/// The expected improvement over a batch whose values are drawn jointly.
struct Fantasies<'a> {
    gp: &'a Gp,
    /// Normal numbers, a row for each point without a value.
    normals: &'a [Vec<f64>],
    /// The incumbent of each fantasy: its best value.
    bars: Vec<f64>,
}

impl<'a> Fantasies<'a> {
    fn new(gp: &'a Gp, best: f64, normals: &'a [Vec<f64>]) -> Self {
        let (first, l) = (gp.observed(), gp.factor().l());
        let pending: Vec<usize> = (first..gp.len()).collect();
        let means = gp.marginals(&gp.points().select(&pending)).mean;
        // Observed points come first in L L^T = [[K_oo, K_op], [K_po, K_pp]], noise included. So the lower right block L_pp has
        // L_pp L_pp^T = K_pp - K_po K_oo^-1 K_op, the posterior covariance, and fantasy s is means + L_pp z_s.
        let value = |r: usize, s: usize| {
            means[r] + (0..=r).map(|k| l[(first + r, first + k)] * normals[k][s]).sum::<f64>()
        };
        let fantasies = normals.first().map_or(1, Vec::len);
        let bars =
            (0..fantasies).map(|s| (0..pending.len()).map(|r| value(r, s)).fold(best, f64::max)).collect();
        Self { gp, normals: &normals[..pending.len()], bars }
    }

    /// The utility of one point with this mean, this deviation and these covariances `c`.
    fn utility(&self, mean: f64, sd: f64, c: &[f64]) -> f64 {
        let terms: Vec<f64> = (0..self.bars.len())
            .map(|s| {
                // E[f(x) | fantasy s] = mu(x) + c(x) . z_s, and its deviation does not depend on s.
                let shift: f64 = c.iter().zip(self.normals).map(|(c, z)| c * z[s]).sum();
                Utility::LogExpectedImprovement { best: self.bars[s] }.value(mean + shift, sd)
            })
            .collect();
        // ln(1/S sum_s exp(t_s)) = t_max + ln(1/S sum_s exp(t_s - t_max)): no term overflows.
        let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return if terms.iter().any(|term| term.is_nan()) { f64::NAN } else { largest };
        }
        largest + (terms.iter().map(|term| (term - largest).exp()).sum::<f64>() / terms.len() as f64).ln()
    }
}

impl Acquisition for Fantasies<'_> {
    fn values(&self, points: &Points) -> Vec<f64> {
        let (m, first) = (points.len(), self.gp.observed());
        // v = L^-1 k(X, x): the variance is k(x, x) - |v|^2, and the entries of v at the points without a value are c(x), the
        // covariances of f(x) with z given the observations.
        let (mean, v) = self.gp.project(points);
        let mut variance: Vec<f64> = (0..m).map(|i| self.gp.kernel().variance(&points.point(i))).collect();
        v.chunks(m.max(1)).for_each(|column| subtract_squares(column, &mut variance));
        (0..m)
            .map(|i| {
                let c: Vec<f64> = (first..self.gp.len()).map(|row| v[row * m + i]).collect();
                self.utility(mean[i], variance[i].max(0.0).sqrt(), &c)
            })
            .collect()
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let d = x.len();
        // One block of x and its d neighbors: (f(x + h e_k) - f(x)) / h.
        let mut set = Points::from_columns(d, x);
        for k in 0..d {
            let mut step = x.to_vec();
            // Inwards at the upper face.
            step[k] += if x[k] + STEP > 1.0 { -STEP } else { STEP };
            set.push(&step);
        }
        let values = self.values(&set);
        for k in 0..d {
            let step = set.coordinate(k)[k + 1] - x[k];
            gradient[k] = (values[k + 1] - values[0]) / step;
        }
        values[0]
    }
}

impl CandidateUtility for Fantasies<'_> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let rows: Vec<&[f64]> = candidates.pending_rows().collect();
        (0..candidates.len())
            .map(|i| {
                let sd = candidates.variance()[i].max(0.0).sqrt();
                self.utility(candidates.mean()[i], sd, &rows.iter().map(|row| row[i]).collect::<Vec<_>>())
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::gp::kernel::{Form, Kernel};

    fn gp() -> Gp {
        let x = Points::from_columns(1, &[0.1, 0.5, 0.9]);
        let mut gp =
            Gp::new(Kernel::new(Form::Matern52, vec![0.2], 1, 1.0), x, &[0.2, 1.0, -0.5], vec![1e-4; 3])
                .unwrap();
        gp.condition(&[0.6], 1e-4);
        gp.condition(&[0.3], 1e-4);
        gp
    }

    fn normals(rows: usize, fantasies: usize) -> Vec<Vec<f64>> {
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        (0..rows).map(|_| (0..fantasies).map(|_| StandardNormal.sample(&mut rng)).collect()).collect()
    }

    #[test]
    fn without_anything_running_it_is_log_ei() {
        let mut gp = gp();
        gp.release();
        let set = Points::from_columns(1, &[0.05, 0.45, 0.7]);
        let marginals = gp.marginals(&set);
        let ours = Fantasies::new(&gp, 0.9, &[]).values(&set);
        for i in 0..3 {
            let (mean, sd) = (marginals.mean[i], marginals.variance[i].sqrt());
            let exact = Utility::LogExpectedImprovement { best: 0.9 }.value(mean, sd);
            assert!((ours[i] - exact).abs() < 1e-9, "{} {exact}", ours[i]); // two ways to the same variance
        }
    }

    /// By plain Monte Carlo over the joint posterior of the running points and `x`: five standard errors.
    #[test]
    fn one_integral_done_exactly_changes_nothing() {
        let gp = gp();
        let (best, x) = (0.9, 0.56);
        let fantasies = normals(2, 4_000);
        let ours = Fantasies::new(&gp, best, &fantasies).values(&Points::from_columns(1, &[x]))[0].exp();
        let mut observed = gp.clone();
        observed.release();
        let set = Points::from_columns(1, &[0.6, 0.3, x]);
        let draws =
            observed.joint(&set).unwrap().draws(200_000, &mut Seed(2).stream(Purpose::Experiment, 0, 0));
        // What `x` adds to the best of the others; noise of 1e-4 in the fantasies is far below the error.
        let gains: Vec<f64> = draws.col_iter().map(|f| (f[2] - best.max(f[0]).max(f[1])).max(0.0)).collect();
        let n = gains.len() as f64;
        let mean = gains.iter().sum::<f64>() / n;
        let sd = (gains.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n).sqrt();
        // The fantasies have an error of their own, at most sqrt(200,000 / 4,000) times that of the draws.
        let error = 5.0 * sd / n.sqrt() * (1.0 + 50.0_f64.sqrt());
        assert!((ours - mean).abs() < error, "{ours} {mean} within {error}");
    }

    #[test]
    fn candidates_and_points_agree() {
        let gp = gp();
        let fantasies = normals(2, 16);
        let target = Fantasies::new(&gp, 0.9, &fantasies);
        let set = Points::from_columns(1, &[0.05, 0.2, 0.45, 0.7, 0.95]);
        let at = target.values_at(&Candidates::new(&gp, set.clone()));
        for (a, b) in at.iter().zip(target.values(&set)) {
            assert!((a - b).abs() < 1e-9, "{a} {b}");
        }
    }
}
