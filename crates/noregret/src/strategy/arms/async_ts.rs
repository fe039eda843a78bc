//! Asynchronous Thompson sampling over arms: each point is the best arm of an independent draw, whatever else is running.
//! Kandasamy et al. 2018; a rival in Calandriello et al. 2020.
//!
//! # Departures
//! Draws are of the Nyström model: weights from `N(V^-1 Z^T y, lambda V^-1)`, and for each arm independently what the
//! dictionary does not explain, so that every arm's marginal distribution is that of eqs. (1) and (3).

use std::num::NonZeroUsize;

use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::arms::bbkb::design;
use crate::strategy::arms::model::{SparseConfig, SparseModel};
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::{Duplicates, History};
use crate::strategy::turn::batch::Batch;
use crate::strategy::{Proposal, Strategy};

/// Draws made at once: the memory is this many numbers for each arm.
const BLOCK: usize = 8;

/// Settings of asynchronous Thompson sampling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AsyncTsConfig {
    /// The model.
    pub sparse: SparseConfig,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

/// Asynchronous Thompson sampling.
#[derive(Debug)]
pub struct AsyncTs {
    config: AsyncTsConfig,
    model: SparseModel,
}

impl TryFrom<AsyncTsConfig> for AsyncTs {
    type Error = Error;

    fn try_from(config: AsyncTsConfig) -> Result<Self, Error> {
        config.sparse.validate()?;
        Ok(Self { model: SparseModel::new(config.sparse.clone(), false), config })
    }
}

impl Strategy for AsyncTs {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let q = q.or(NonZeroUsize::new(1));
        let most = q.map_or(1, NonZeroUsize::get);
        let mut memo = history.memo().clone();
        let mut batch = Batch::new(history);
        let mut diagnostics = Diagnostics { algorithm: "async-ts".into(), ..Diagnostics::default() };
        let done = design(&mut batch, history, q, self.config.initial_points, &mut memo, rng)?;
        diagnostics.design_points = batch.choices.len();
        if !done {
            let state = self.model.prepare(history, &mut memo, rng)?;
            let model = state.model();
            let mean = model.mean_weights(state.data())?;
            let mut free = state.free(&history.region(&batch.taken));
            while batch.choices.len() < most {
                let block = (most - batch.choices.len()).min(BLOCK);
                let draws = Mat::from_fn(mean.len(), block, |_, _| StandardNormal.sample(rng));
                let mut weights = draws;
                for j in 0..block {
                    // Covariance lambda V^-1: L^-T of independent normals.
                    let column = weights.col_as_slice_mut(j);
                    model.v_factor().solve_upper(column);
                    for (w, mean) in column.iter_mut().zip(&mean) {
                        *w = mean + model.lambda().sqrt() * *w;
                    }
                }
                let values = model.inner_products(weights.as_ref());
                for j in 0..block {
                    let mut best: Option<(f64, usize)> = None;
                    for (arm, is_free) in free.iter().enumerate() {
                        let noise: f64 = StandardNormal.sample(rng);
                        let residual = (model.residual(arm) * model.lambda()).sqrt();
                        let value = values[arm * block + j] + residual * noise;
                        if *is_free && best.is_none_or(|(most, _)| value > most) {
                            best = Some((value, arm));
                        }
                    }
                    let choice = match best {
                        Some((_, arm)) => {
                            free[arm] = history.duplicates() == Duplicates::Replicate;
                            state.choice(arm, history)
                        }
                        None if history.space().as_pool().is_some() => {
                            return Err(MaximizeError::NothingLeft { tried: free.len() }.into());
                        }
                        None => batch.random(rng)?,
                    };
                    batch.push(choice, rng)?;
                }
            }
        }
        diagnostics.duplicates_avoided = batch.duplicates_avoided;
        Ok(Proposal { choices: batch.choices, memo, diagnostics })
    }
}
