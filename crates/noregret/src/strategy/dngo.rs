//! DNGO: expected improvement under a Bayesian linear regression on the last hidden layer of a network. Snoek et al. 2015; a rival in
//! Phan-Trong et al. 2023.
//!
//! # Departures
//! - The precisions of weights and noise maximize the marginal likelihood, where the paper integrates over them by slice sampling.
//! - Noise variances that come with values are not used.
//! - Running points and those chosen before in the batch are believed: they shrink the deviation and leave the mean.

use std::num::NonZeroUsize;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::history::History;
use super::learned::{Learned, LearnedConfig, Learning, Start, State};
use super::neural::{Course, Initial, candidates, close_in, joined};
use super::{Proposal, Strategy};
use crate::acquisition::utility::Utility;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::grid::best_row;
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::surrogate::neural::epochs::{Epochs, Optimizer, Toward};
use crate::surrogate::neural::last_layer::LastLayer;
use crate::surrogate::neural::network::Trace;
use crate::surrogate::neural::{Activation, NetworkConfig, NetworkError};
use crate::surrogate::points::Points;

/// Settings of DNGO.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct DngoConfig {
    /// The network.
    pub network: NetworkConfig,
    /// How it learns.
    pub training: Learning,
    /// Shift and scale the values to mean 0 and deviation 1.
    pub standardize: bool,
    /// Points at which the improvement is evaluated.
    pub candidates: usize,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for DngoConfig {
    /// Three layers of 50 tanh units, as in the paper.
    fn default() -> Self {
        Self {
            network: NetworkConfig {
                depth: 3,
                width: 50,
                activation: Activation::Tanh,
                weight_sd: 1.0,
                bias_sd: 1.0,
                ..NetworkConfig::default()
            },
            training: Learning::Epochs(Epochs {
                method: Optimizer::Adam,
                rate: 0.05,
                epochs: 500,
                batch: None,
                decay: 1e-4,
                toward: Toward::Zero,
                warm: false,
            }),
            standardize: true,
            candidates: 10_000,
            initial_points: None,
        }
    }
}

/// DNGO.
#[derive(Debug)]
pub struct Dngo {
    config: DngoConfig,
    learned: Learned,
}

impl TryFrom<DngoConfig> for Dngo {
    type Error = Error;

    fn try_from(config: DngoConfig) -> Result<Self, Error> {
        config.network.validate()?;
        Course::check_candidates(config.candidates)?;
        if !config.training.is_valid() {
            return Err(NetworkError::Training.into());
        }
        let learned = Learned::new(LearnedConfig {
            network: config.network.clone(),
            start: Start::Scaled,
            learning: config.training,
            standardize: config.standardize,
            ridge: 0.01,
        });
        Ok(Self { config, learned })
    }
}

/// The improvement to be expected of points.
struct Improvement<'a> {
    state: &'a State,
    layer: LastLayer,
    utility: Utility,
}

impl<'a> Improvement<'a> {
    /// Given what was told, and points whose values will be as expected.
    fn new(state: &'a State, running: &Points) -> Result<Self, Error> {
        let running = state.encoder.encode(running, 0..running.len());
        let x = joined(&state.told.data.x, &running);
        let mut trace = Trace::default();
        state.network.forward(&state.theta, x.as_ref(), &mut trace);
        let hidden = state.network.last_hidden(&trace);
        let layer = LastLayer::fit(hidden, &state.told.data.y)?;
        let mean = |j: usize| layer.predict(column(hidden, j)).0;
        let best = (0..hidden.ncols()).map(mean).fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { state, layer, utility: Utility::LogExpectedImprovement { best } })
    }

    fn values(&self, points: &Points) -> Vec<f64> {
        let panel = self.state.network.panel();
        let panels: Vec<Vec<f64>> = (0..points.len().div_ceil(panel))
            .into_par_iter()
            .map_init(Trace::default, |trace, i| {
                let range = i * panel..((i + 1) * panel).min(points.len());
                let x = self.state.encoder.encode(points, range);
                self.state.network.forward(&self.state.theta, x.as_ref(), trace);
                let hidden = self.state.network.last_hidden(trace);
                let value = |j: usize| {
                    let (mean, variance) = self.layer.predict(column(hidden, j));
                    self.utility.value(mean, variance.sqrt())
                };
                (0..hidden.ncols()).map(value).collect()
            })
            .collect();
        panels.concat()
    }

    fn maximize(
        &self,
        region: &Region<'_>,
        count: usize,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        if let Some(pool) = region.space.as_pool() {
            return best_row(pool, region, |rows| self.values(rows));
        }
        let points = candidates(region, count, &self.state.told.centers(), rng)?;
        close_in(|points| self.values(points), &self.values(&points), &points, region, rng)
    }
}

fn column(m: faer::MatRef<'_, f32>, j: usize) -> &[f32] {
    m.col(j).try_as_col_major().map_or(&[], |column| column.as_slice())
}

impl Strategy for Dngo {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let DngoConfig { network, candidates, initial_points, .. } = &self.config;
        let (initial, initial_points) = (Initial::Sobol, *initial_points);
        let course = Course { name: "dngo", network, noise: 0.1, initial, initial_points };
        let mut progress = course.begin(history, q, rng)?;
        if progress.left == 0 {
            return Ok(progress.end());
        }
        let state = self.learned.prepare(history, &mut progress.memo, &mut progress.diagnostics, rng)?;
        let mut running = Points::new(history.space().dims());
        history.pending().for_each(|choice| running.push(&choice.x));
        progress.batch.choices.iter().for_each(|choice| running.push(&choice.x));
        for _ in 0..progress.left {
            let improvement = Improvement::new(&state, &running)?;
            let found = improvement.maximize(&progress.region(), *candidates, rng);
            let choice = progress.push(found, rng)?;
            running.push(&choice.x);
        }
        Ok(progress.end())
    }
}
