//! GP-BUCB: batches by confidence bounds that end when the product of `1 + variance` says so.
//! Desautels et al. 2014 (there GP-AUCB), as Alg. 2 of Calandriello et al. 2020; `threshold = 1` is GP-UCB.
//!
//! # Departures
//! - The model is that of BBKB. With `exact` its dictionary holds every arm that was pulled, those of the batch included,
//!   and it is the exact Gaussian process; without, the dictionary is sampled and frozen within a batch.
//! - The radius is that of BBKB.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::bbkb::{Bbkb, BbkbConfig, Radius};
#[cfg(feature = "schema")]
use crate::strategy::arms::bbkb::{DELTA, MAX_BATCH, NORM, THRESHOLD};
use crate::strategy::arms::model::shrinkage::Rule;
use crate::strategy::limits::{Demand, Table};

/// Settings of GP-BUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GpBucbConfig {
    /// The factor `C`. From 1 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = THRESHOLD.stated()))]
    pub threshold: f64,
    /// Exact variances, at a cost that grows with the square of the distinct arms; `max_atoms` does not apply.
    pub exact: bool,
    /// Which radius.
    pub radius: Radius,
    /// Bound of the function's norm, in units of the kernel's. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = NORM.stated()))]
    pub norm: f64,
    /// Probability that an interval misses. From 1e-15 to 0.999999.
    #[cfg_attr(feature = "schema", schemars(transform = DELTA.stated()))]
    pub delta: f64,
    /// Points of a batch at most. From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = MAX_BATCH.stated()))]
    pub max_batch: usize,
    /// Model and first points.
    #[serde(flatten)]
    pub arms: ArmOptions,
}

impl Default for GpBucbConfig {
    fn default() -> Self {
        let BbkbConfig { radius, norm, delta, max_batch, arms, .. } = BbkbConfig::default();
        Self { threshold: 2.0, exact: true, radius, norm, delta, max_batch, arms }
    }
}

impl Demand for GpBucbConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.arms.tables((!self.exact).then_some(self.arms.sparse.max_atoms), dims)
    }
}

impl GpBucbConfig {
    /// The strategy.
    pub fn build(self) -> Result<Bbkb> {
        let Self { threshold, exact, radius, norm, delta, max_batch, arms } = self;
        let threshold = Some(threshold);
        let config = BbkbConfig { threshold, radius, norm, delta, parallel: None, max_batch, arms };
        let bbkb = Bbkb::new("gp-bucb", Rule::Product, 2.0, config)?;
        Ok(if exact { bbkb.exact() } else { bbkb })
    }
}
