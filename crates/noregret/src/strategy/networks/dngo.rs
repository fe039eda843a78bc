//! DNGO: expected improvement under a Bayesian linear regression on the last hidden layer of a network. Snoek et al. 2015; a rival in
//! Phan-Trong et al. 2023.
//!
//! # Departures
//! - The prior mean is 0 for standardised values, where Snoek et al. add a quadratic bowl in the middle of the box with parameters of its own (the
//!   implementation that Phan-Trong et al. took, pybnn, has none either). Inputs are not warped.
//! - The network is trained by Adam on all points at once with a decay of all parameters, 500 steps of rate 0.05, every time from the same first
//!   parameters (new ones after a correction of the history); the paper's SGD with momentum and its tuned settings are not printed in full. Adam in pybnn
//!   has batches of 10, 500 passes of rate 0.01 and no decay. A training that ends with numbers that are not finite is replaced by the first parameters,
//!   with a note.
//! - At most 3,000 evaluations are used, half of them the best and the others a random sample of the rest: beyond, means are coarser and
//!   deviations larger away from the best points.
//! - Improvements are counted from the best mean at an evaluated or running point, since values have noise; and it is their logarithm that is maximized.
//! - The maximum is looked for among Sobol points and some around the best evaluations, then around the best of these. A point that was told, is running
//!   or is in the batch is not proposed again (`duplicates = "avoid"`, the default of a study): the next best takes its place.
//! - The variance is `phi^T A^-1 phi`, that of the function, where Snoek et al. add the noise `1 / beta` to it. With it the point of the best mean
//!   would keep an improvement of `0.4 / sqrt(beta)` by noise alone; without it there is less exploration, and fewer points near evaluated ones.
//! - The regression has a constant besides the hidden units. Its precisions of weights and noise maximize the marginal likelihood, where the paper
//!   integrates over them by slice sampling and pybnn averages over 20 draws of them.
//! - Noise variances that come with values weight the squares in the training of the network: above 0.01 (of standardised values) they count less; the
//!   regression on the last layer does not use them. Failed evaluations take the worst value.
//! - Running points and those chosen before in the batch are believed: they shrink the deviation and leave the mean.

use std::num::NonZeroUsize;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::grid::best_row;
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::strategy::history::History;
use crate::strategy::limits::{Demand, INITIAL_POINTS, Table};
use crate::strategy::networks::model::encoded_history::PASSES;
use crate::strategy::networks::model::learned::{Learned, LearnedConfig, LearnedNetwork};
use crate::strategy::networks::model::learning::{Learning, Start};
use crate::strategy::networks::model::opening::Opening;
use crate::strategy::networks::model::search::{candidates, close_in};
use crate::strategy::networks::model::{CANDIDATES, candidate_tables, joined};
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::neural::epochs::{Epochs, Loss, Optimizer, Toward};
use crate::surrogate::neural::last_layer::LastLayer;
use crate::surrogate::neural::network::Trace;
use crate::surrogate::neural::{Activation, NetworkConfig};
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
    /// Points at which the improvement is evaluated. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl Demand for DngoConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        candidate_tables(self.candidates, dims)
    }
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
                loss: Loss::Mean,
                shorten: true,
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

impl Dngo {
    /// Builds the strategy; returns an error if an option is invalid.
    pub fn new(config: DngoConfig) -> Result<Self> {
        config.network.validate()?;
        CANDIDATES.check("candidates", config.candidates)?;
        INITIAL_POINTS.check("initial_points", config.initial_points)?;
        config.training.validate()?;
        let learned = Learned::new(LearnedConfig {
            network: config.network.clone(),
            start: Start::Scaled,
            learning: config.training,
            standardize: config.standardize,
            ridge: 0.01,
            most: PASSES,
            accumulate: None,
        });
        Ok(Self { config, learned })
    }
}

/// Expected improvement under the Bayesian linear regression on the last layer.
struct DngoAcquisition<'a> {
    network: &'a LearnedNetwork,
    layer: LastLayer,
    utility: Utility,
}

impl<'a> DngoAcquisition<'a> {
    /// Fits the last layer, given running points that are assumed to have their means as values.
    fn new(network: &'a LearnedNetwork, running: &Points) -> Result<Self> {
        let running = network.encoder.encode(running, 0..running.len());
        let x = joined(&network.told.data.x, &running);
        let mut trace = Trace::default();
        network.network.forward(&network.theta, x.as_ref(), &mut trace);
        let hidden = network.network.last_hidden(&trace);
        let layer = LastLayer::fit(hidden, &network.told.data.y)?;
        let mean = |j: usize| layer.predict(column(hidden, j)).0;
        let best = (0..hidden.ncols()).map(mean).fold(f64::NEG_INFINITY, f64::max);
        Ok(Self { network, layer, utility: Utility::LogExpectedImprovement { best } })
    }

    fn values(&self, points: &Points) -> Vec<f64> {
        let panel = self.network.network.panel();
        let panels: Vec<Vec<f64>> = (0..points.len().div_ceil(panel))
            .into_par_iter()
            .map_init(Trace::default, |trace, i| {
                let range = i * panel..((i + 1) * panel).min(points.len());
                let x = self.network.encoder.encode(points, range);
                self.network.network.forward(&self.network.theta, x.as_ref(), trace);
                let hidden = self.network.network.last_hidden(trace);
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
        let points = candidates(region, count, &self.network.told.centers(), rng)?;
        close_in(|points| self.values(points), &self.values(&points), &points, region, rng)
    }
}

fn column(m: faer::MatRef<'_, f32>, j: usize) -> &[f32] {
    m.col(j).try_as_col_major().map_or(&[], |column| column.as_slice())
}

impl Strategy for Dngo {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let DngoConfig { network, candidates, initial_points, .. } = &self.config;
        let mut turn = Opening::sobol(network, *initial_points).open("dngo", history, q, rng)?;
        let Some(learned) = self.learned.prepare(&mut turn)? else { return turn.finish() };
        while turn.wants_more() {
            let improvement = DngoAcquisition::new(&learned, &turn.without_value())?;
            let (region, rng) = turn.region_and_rng();
            let found = improvement.maximize(&region, *candidates, rng);
            turn.push(found)?;
        }
        turn.finish()
    }
}
