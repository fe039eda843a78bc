//! SP: stochastic policies; every point of a batch is drawn independently, the likelier the better its mean.
//! Garcia-Barcos & Martinez-Cantin 2019, "Fully distributed Bayesian optimization with stochastic policies"; a rival in Ren & Li.
//!
//! # Notation
//! | code of Ren & Li                      | here            | meaning                                    |
//! |---------------------------------------|-----------------|--------------------------------------------|
//! | `3 ln(n + 15 + 1) / (max mu - min mu)` | `sharpness ...` | inverse temperature of the softmax          |
//!
//! # Departures
//! As in the code of Ren & Li the softmax is over the posterior mean, where the original takes an acquisition function.
//! The candidates are those with the highest bounds. A point is drawn once.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::Taken;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::gp::model::GpModel;
use crate::strategy::gp::search::draws::Draws;
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;
use rand::RngExt;

/// Settings of SP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SpConfig {
    /// Factor of the inverse temperature.
    pub sharpness: f64,
    /// The Gaussian process.
    pub model: GpConfig,
    /// How candidates are made and polished.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for SpConfig {
    fn default() -> Self {
        Self {
            sharpness: 3.0,
            model: GpConfig::default(),
            solver: Solver::default(),
            measure: Measure::default(),
            initial_points: None,
        }
    }
}

/// SP.
#[derive(Debug)]
pub struct Sp {
    config: SpConfig,
    model: GpModel,
}

impl TryFrom<SpConfig> for Sp {
    type Error = Error;

    fn try_from(config: SpConfig) -> Result<Self, Error> {
        if !(config.sharpness > 0.0 && config.sharpness.is_finite()) {
            let (range, value) = ("positive and finite", config.sharpness);
            return Err(AlgorithmError::OutOfRange { option: "sharpness", range, value }.into());
        }
        config.model.validate()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Strategy for Sp {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let SpConfig { sharpness, solver, measure, initial_points, .. } = &self.config;
        let course = Course::new("sp", solver, *measure, *initial_points);
        let mut taken = Taken::default();
        search::propose_with(
            course,
            &mut self.model,
            history,
            q,
            rng,
            |state, _, _, rng| Draws::new(state, history, rng),
            |_, draws, _, rng| {
                let mean = draws.joint().mean();
                let extremes = |(low, high): (f64, f64), &m: &f64| (low.min(m), high.max(m));
                let (low, high) = mean.iter().fold((f64::INFINITY, f64::NEG_INFINITY), extremes);
                let inverse =
                    sharpness * (history.len() as f64).ln_1p() / (high - low).max(f64::MIN_POSITIVE);
                // The order of `mean * inverse + Gumbel noise` is a draw without replacement from the softmax.
                let mut keys: Vec<(f64, usize)> = (0..mean.len())
                    .map(|i| {
                        let u: f64 = rng.random_range(f64::MIN_POSITIVE..1.0);
                        ((mean[i] - high) * inverse - (-u.ln()).ln(), i)
                    })
                    .collect();
                keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
                let order: Vec<usize> = keys.into_iter().map(|(_, i)| i).collect();
                let i = draws.first_free(&order, &history.region(&taken))?;
                draws.take(i, history, &mut taken);
                Ok(draws.maximum(i, f64::NAN))
            },
        )
    }
}
