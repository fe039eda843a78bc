//! Algorithms over a finite set of arms, on a sparse model that scales to millions of them.

pub mod async_ts;
pub mod bbkb;
pub mod eps_greedy;
pub mod gp_bucb;
pub mod model;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::strategy::limits::{INITIAL_POINTS, PARAMETERS, Table};
use model::SparseConfig;

/// Options that all these algorithms share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct ArmOptions {
    /// The model.
    pub sparse: SparseConfig,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl ArmOptions {
    /// Checks what serde cannot.
    fn validate(&self) -> Result<()> {
        INITIAL_POINTS.check("initial_points", self.initial_points)?;
        self.sparse.validate()
    }

    /// The features of the arms. `atoms` are those that a dictionary may have, if it is limited.
    fn tables(&self, atoms: Option<usize>, dims: usize) -> Vec<Table> {
        let arms = ("sparse.arms", self.sparse.arms);
        let features = Table::of([arms, ("sparse.max_atoms", atoms.unwrap_or(1))]);
        vec![features, Table::of([arms, (PARAMETERS, dims)])]
    }
}
