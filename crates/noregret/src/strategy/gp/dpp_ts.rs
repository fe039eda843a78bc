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
//! The chain's stationary law is `prod P_max(x_i) det(I + sigma^-2 K_t(batch))`. A step replaces one point by a draw from
//! `P_max`; that density cancels, and the step is accepted with the ratio of the determinants.
//!
//! # Departures
//! The chain is short by default (the code behind Ren & Li makes 2 steps). Points of the batch are distinct unless repeats
//! are welcome.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::cholesky::Cholesky;
use crate::math::rng::Stream;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::maximize::{MaximizeError, Taken};
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;
use rand::RngExt;

/// Settings of DPP-TS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DppTsConfig {
    /// Steps of the chain.
    pub steps: usize,
    /// The Gaussian process.
    pub model: GpConfig,
    /// How candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for DppTsConfig {
    fn default() -> Self {
        Self {
            steps: 20,
            model: GpConfig::default(),
            solver: Solver::default(),
            measure: Measure::default(),
            initial_points: None,
        }
    }
}

/// DPP-TS.
#[derive(Debug)]
pub struct DppTs {
    config: DppTsConfig,
    model: GpModel,
}

impl TryFrom<DppTsConfig> for DppTs {
    type Error = Error;

    fn try_from(config: DppTsConfig) -> Result<Self, Error> {
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for DppTs {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let DppTsConfig { steps, solver, measure, initial_points, .. } = &self.config;
        let course = Course::new("dpp-ts", solver, *measure, *initial_points);
        search::propose_with(
            course,
            &mut self.model,
            history,
            q,
            rng,
            |state, q, diagnostics, rng| {
                let draws = Draws::new(state, history, rng)?;
                let mut taken = Taken::default();
                let mut batch = Vec::with_capacity(q);
                for _ in 0..q {
                    // A pool may be smaller than the batch: what is missing is found elsewhere.
                    let Ok(i) = draws.first_free(&draws.ranking(rng), &history.region(&taken)) else { break };
                    draws.take(i, history, &mut taken);
                    batch.push(i);
                }
                let noise = state.fit().hyperparameters.noise_variance;
                let accepted = diversify(&mut batch, &draws, history, noise, *steps, rng);
                diagnostics.notes.push(format!("{accepted} of {steps} steps of the chain were accepted"));
                Ok((draws, batch))
            },
            |now, (draws, batch), _, _| match batch.get(now.i) {
                Some(&i) => Ok(draws.maximum(i, f64::NAN)),
                None => Err(MaximizeError::NothingLeft { tried: draws.len() }),
            },
        )
    }
}

/// Metropolis steps over batches; answers how many were accepted.
fn diversify(
    batch: &mut [usize],
    draws: &Draws,
    history: &History,
    noise: f64,
    steps: usize,
    rng: &mut Stream,
) -> usize {
    if batch.len() < 2 {
        return 0;
    }
    let mut now = volume(batch, draws, noise);
    let mut accepted = 0;
    for _ in 0..steps {
        let place = rng.random_range(0..batch.len());
        let mut taken = Taken::default();
        for (_, &i) in batch.iter().enumerate().filter(|(k, _)| *k != place) {
            draws.take(i, history, &mut taken);
        }
        let Ok(proposed) = draws.first_free(&draws.ranking(rng), &history.region(&taken)) else { continue };
        let before = std::mem::replace(&mut batch[place], proposed);
        let then = volume(batch, draws, noise);
        let u: f64 = rng.random();
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
    factor.map_or(f64::NEG_INFINITY, |factor| {
        2.0 * (0..batch.len()).map(|i| factor.diagonal(i).ln()).sum::<f64>()
    })
}
