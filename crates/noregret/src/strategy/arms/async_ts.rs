//! Asynchronous Thompson sampling over arms: each point is the best free arm of an independent draw, given the results so far.
//! Kandasamy et al. 2018; a rival in Calandriello et al. 2020.
//!
//! # Departures
//! - Draws are of the Nyström model: weights from `N(V^-1 Z^T y, lambda V^-1)`, and for each arm independently what the
//!   dictionary does not explain, so that every arm's marginal distribution is that of eqs. (1) and (3).
//! - Deviations are those of the posterior, as in Kandasamy et al. Calandriello et al. multiply theirs by a `beta_t` that they do not
//!   print, over ten (App. D.1). With that of BBKB (`sqrt(lambda) F + ...`, deviations over `sqrt(lambda)`) draws would spread
//!   `(F + sqrt(C gain + log(1/delta))) / 10` times as far: 0.4 times without data, as far at `C gain = 74`, three times at 830.
//! - `initial_points` come first. With `avoid` and `allow` no arm that is running is free, so that points depend on what runs.
//! - Kernel and `lambda` are fitted by default: see `model/mod.rs`, also for spaces without a pool and repeats.

use std::num::NonZeroUsize;

use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::model::SparseModel;
use crate::strategy::history::{Duplicates, History};
use crate::strategy::limits::{Demand, Table};
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::nystrom::Nystrom;

/// Draws made at once: the memory is this many numbers for each arm.
const BLOCK: usize = 8;

/// Settings of asynchronous Thompson sampling.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AsyncTsConfig {
    /// Model and first points.
    #[serde(flatten)]
    pub arms: ArmOptions,
}

impl Demand for AsyncTsConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.arms.tables(Some(self.arms.sparse.max_atoms), dims)
    }
}

/// Asynchronous Thompson sampling.
#[derive(Debug)]
pub struct AsyncTs {
    config: AsyncTsConfig,
    model: SparseModel,
}

impl AsyncTs {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: AsyncTsConfig) -> Result<Self> {
        config.arms.validate()?;
        Ok(Self { model: SparseModel::new(config.arms.sparse.clone(), false), config })
    }
}

impl Strategy for AsyncTs {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open("async-ts", history, q, self.config.arms.initial_points, rng)?;
        let Some(state) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut free = state.free(&turn.region());
        let mean = state.model().mean_weights(state.data())?;
        while turn.wants_more() {
            let block = turn.missing().min(BLOCK);
            let values = draw_explained(state.model(), &mean, block, turn.rng);
            for j in 0..block {
                let best = best_arm(state.model(), &free, |arm| values[arm * block + j], turn.rng);
                let nothing = MaximizeError::NothingLeft { tried: free.len() };
                let Some(arm) = best else {
                    turn.push(Err(nothing))?;
                    continue;
                };
                free[arm] = history.duplicates() == Duplicates::Replicate;
                turn.push_choice(state.choice(arm, history))?;
            }
        }
        turn.finish()
    }
}

/// `z . w` of every arm for `block` weights drawn from `N(V^-1 Z^T y, lambda V^-1)`, arm by arm.
fn draw_explained(model: &Nystrom, mean: &[f64], block: usize, rng: &mut Stream) -> Vec<f64> {
    let mut weights = Mat::from_fn(mean.len(), block, |_, _| StandardNormal.sample(rng));
    for j in 0..block {
        // Covariance lambda V^-1: L^-T of independent normals.
        let column: &mut [f64] = weights.col_as_slice_mut(j);
        model.v_factor().solve_upper(column);
        for (w, mean) in column.iter_mut().zip(mean) {
            *w = mean + model.lambda().sqrt() * *w;
        }
    }
    model.inner_products(weights.as_ref())
}

/// The free arm with the largest value: the part that the dictionary explains, plus independent noise for the rest.
fn best_arm(
    model: &Nystrom,
    free: &[bool],
    explained: impl Fn(usize) -> f64,
    rng: &mut Stream,
) -> Option<usize> {
    let mut best: Option<(f64, usize)> = None;
    for (arm, is_free) in free.iter().enumerate() {
        let noise: f64 = StandardNormal.sample(rng);
        let residual = (model.residual(arm) * model.lambda()).sqrt();
        let value = explained(arm) + residual * noise;
        if *is_free && best.is_none_or(|(most, _)| value > most) {
            best = Some((value, arm));
        }
    }
    best.map(|(_, arm)| arm)
}
