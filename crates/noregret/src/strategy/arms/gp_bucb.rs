//! GP-BUCB: batches by confidence bounds that end when the product of `1 + variance` says so.
//! Desautels et al. 2014 (there GP-AUCB), as Alg. 2 of Calandriello et al. 2020; `threshold = 1` is GP-UCB.
//!
//! The radius `alpha_t = C beta_fb(t)` stays the same within a batch. Its `beta` is that of GP-UCB: see `radius.rs`.
//!
//! # Departures
//! - The model is that of BBKB. With `exact` its dictionary holds every arm that was pulled, those of the batch included,
//!   and it is the exact Gaussian process; without, the dictionary is sampled and frozen within a batch.
//! - Kernel and `lambda` are fitted by default, which no theorem covers: see `model/mod.rs`, also for spaces without a pool and repeats.
//! - The product bounds the ratio of variances, so that `sqrt(C)` times the radius would do (Desautels et al.: `exp` of the information
//!   gain). Here it is `C` times, as in Alg. 2. Desautels et al. have the `beta_t` of Srinivas et al.
//! - `max_batch` ends a batch that the product has not ended; Alg. 2 has no such bound.
//! - Alg. 2 begins without data, here `initial_points` come first.
//! - What is running lowers the variances. The rule counts from the beginning of the batch, on variances that running points have
//!   lowered already: while others run, the intervals of the theorems need not hold (see `bbkb`).
//! - Desautels et al. set `C` by the information gain of a whole batch and begin with uncertainty sampling, so that few
//!   batches are small; as in Calandriello et al., `C` is a constant and batches may be small.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::bbkb::{Bbkb, BbkbConfig};
#[cfg(feature = "schema")]
use crate::strategy::arms::bbkb::{DELTA, MAX_BATCH, NORM, THRESHOLD};
use crate::strategy::arms::model::radius::{FirstGain, Radius};
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
    /// The sum in the radius for points that were there before the first batch.
    pub first_gain: FirstGain,
    /// Bound of the function's norm, in units of the kernel's. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = NORM.stated()))]
    pub norm: f64,
    /// Probability that an interval misses. From 1e-15 to 0.999999.
    #[cfg_attr(feature = "schema", schemars(transform = DELTA.stated()))]
    pub delta: f64,
    /// Points of a batch at most; the paper has no such bound. From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = MAX_BATCH.stated()))]
    pub max_batch: usize,
    /// Model and first points.
    #[serde(flatten)]
    pub arms: ArmOptions,
}

impl Default for GpBucbConfig {
    fn default() -> Self {
        let BbkbConfig { first_gain, norm, delta, max_batch, arms, .. } = BbkbConfig::default();
        let radius = Radius::GpBucb;
        Self { threshold: 2.0, exact: true, radius, first_gain, norm, delta, max_batch, arms }
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
        let Self { threshold, exact, radius, first_gain, norm, delta, max_batch, arms } = self;
        let (threshold, radius) = (Some(threshold), Some(radius));
        let config = BbkbConfig {
            threshold,
            radius,
            first_gain,
            norm,
            delta,
            max_batch,
            arms,
            ..BbkbConfig::default()
        };
        let bbkb = Bbkb::new("gp-bucb", Rule::Product, (2.0, Radius::GpBucb), config)?;
        Ok(if exact { bbkb.exact() } else { bbkb })
    }
}
