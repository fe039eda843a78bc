//! Algorithms over a finite set of arms, on a sparse model that scales to millions of them.

pub mod async_ts;
pub mod bbkb;
pub mod eps_greedy;
pub mod gp_bucb;
pub mod model;

use serde::{Deserialize, Serialize};

use model::SparseConfig;

/// Options that all these algorithms share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ArmOptions {
    /// The model.
    pub sparse: SparseConfig,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}
