//! DPP-TS: a batch by Thompson sampling, then made more diverse by a Markov chain over batches.
//! Nava, Mutny & Krause 2022, "Diversified sampling for batched Bayesian optimization with determinantal point processes",
//! Alg. 1 and 2; a rival in Ren & Li.
//!
//! # Notation
//! | paper                    | here      | meaning                                                              |
//! |--------------------------|-----------|----------------------------------------------------------------------|
//! | `P_max(x)`               |           | probability that `x` is the maximum, from which Thompson sampling draws |
//! | `det(I + K_t / sigma^2)` | `volume`  | diversity of a batch under the posterior                             |
//!
//! With repeats the chain's stationary law is `prod P_max(x_i) det(I + sigma^-2 K_t(batch))`. A step replaces one point by a draw
//! from `P_max`; that density cancels, and the step is accepted with the ratio of the determinants.
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`.
//! - The chain is short by default (20 steps; the code behind Ren & Li makes 2).
//! - Points of the batch are distinct, nor was any told (`avoid`) or is running, unless repeats are welcome (`duplicates = "replicate"`).
//!   So a step proposes the best free point of a draw, whose density depends on the rest of the batch and does not cancel: the law above
//!   holds with `replicate` only. On a box the laws differ little, while two draws seldom agree; in a pool with noise they differ
//!   much, since a promising row cannot be measured again.
//! - A batch of one point is by plain Thompson sampling. By the law above it would have weight `1 + sigma^-2 K_t(x, x)` besides, and
//!   explore more.
//! - Points that are running are not in the determinant: a batch is diverse in itself, and may lie near what is running.
//! - `P_max` is that of the candidates, the set of `ts`: 1,000 Sobol points that stay until the next fit (with another solver than
//!   `auto`, drawn anew in every round), 48 points around the three best data points, and the end of a climb on the mean; the code
//!   behind Ren & Li has uniform points, drawn anew in every round, and climbs. Of more than 1,024 kept ones (`solver.candidates`, or a
//!   pool up to 20,000 rows) it is of the 1,024 with the highest bounds; of a pool above 20,000 rows, of the 1,024 with the highest
//!   bounds among 2,000 random ones, drawn anew in every round. Only these can be proposed: where the posterior is near the prior, the
//!   others would hold the maximum as often.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::cholesky::Cholesky;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Taken};
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use rand::RngExt;

const STEPS: Range = Range::new(0.0, 1e5);

/// Settings of DPP-TS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct DppTsConfig {
    /// Steps of the chain. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = STEPS.stated()))]
    pub steps: usize,
}

impl Default for DppTsConfig {
    fn default() -> Self {
        Self { steps: 20 }
    }
}

/// DPP-TS.
pub type DppTs = GpStrategy<DppTsConfig>;

impl OwnOptions for DppTsConfig {
    const NAME: &'static str = "dpp-ts";

    fn check(&self) -> Result<()> {
        Ok(STEPS.check("steps", self.steps)?)
    }
}

impl Strategy for DppTs {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let draws = Draws::new(gp, &mut turn)?;
        let mut batch = thompson_batch(&draws, &mut turn);
        let (noise, steps) = (gp.fit().hyperparameters.noise_variance, self.own.steps);
        let accepted = diversify(&mut batch, &draws, noise, steps, &mut turn);
        turn.diagnostics.notes.push(format!("{accepted} of {steps} steps of the chain were accepted"));
        while turn.wants_more() {
            // With fewer candidates than points wanted, the turn adds random points.
            let nothing = MaximizeError::NothingLeft { tried: draws.len() };
            let found = batch.get(turn.picked()).map(|&i| draws.maximum(i)).ok_or(nothing);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

/// Draws from `P_max`: one for each point wanted, at most one for each candidate (Alg. 1).
fn thompson_batch(draws: &Draws, turn: &mut Turn<'_>) -> Vec<usize> {
    let mut taken = Taken::default();
    let mut batch = Vec::with_capacity(turn.missing());
    while batch.len() < turn.missing() {
        let order = draws.ranking(turn.rng);
        let Some(i) = draws.place_of_first_free(&order, &turn.history.region(&taken)) else { break };
        draws.take(i, turn.history, &mut taken);
        batch.push(i);
    }
    batch
}

/// Metropolis steps over batches (Alg. 2); returns how many were accepted.
fn diversify(batch: &mut [usize], draws: &Draws, noise: f64, steps: usize, turn: &mut Turn<'_>) -> usize {
    if batch.len() < 2 {
        return 0;
    }
    let mut now = volume(batch, draws, noise);
    let mut accepted = 0;
    for _ in 0..steps {
        let place = turn.rng.random_range(0..batch.len());
        let mut taken = Taken::default();
        for (_, &i) in batch.iter().enumerate().filter(|(k, _)| *k != place) {
            draws.take(i, turn.history, &mut taken);
        }
        let order = draws.ranking(turn.rng);
        let Some(proposed) = draws.place_of_first_free(&order, &turn.history.region(&taken)) else {
            continue;
        };
        let before = std::mem::replace(&mut batch[place], proposed);
        let then = volume(batch, draws, noise);
        // Accept with probability min(1, det_then / det_now): u < exp(then - now), in logarithms.
        let u: f64 = turn.rng.random();
        if u.ln() < then - now {
            now = then;
            accepted += 1;
        } else {
            batch[place] = before;
        }
    }
    accepted
}

/// `ln det(I + K_t(batch) / noise)`.
fn volume(batch: &[usize], draws: &Draws, noise: f64) -> f64 {
    let factor = Cholesky::factor(batch.len(), |j, rows| {
        for (row, &i) in rows.iter_mut().zip(&batch[j..]) {
            *row = draws.joint().covariance(i, batch[j]) / noise;
        }
        rows[0] += 1.0;
    });
    // det(L L^T) = (prod_i L_ii)^2. A matrix that cannot be factored has volume 0.
    factor.map_or(f64::NEG_INFINITY, |factor| {
        2.0 * (0..batch.len()).map(|i| factor.diagonal(i).ln()).sum::<f64>()
    })
}
