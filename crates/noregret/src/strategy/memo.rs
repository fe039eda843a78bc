//! What a proposal leaves behind for the next: all that history and seed alone do not determine.
//!
//! A strategy's own fields are caches; the memo is logged with every proposal, so that a resumed study goes on exactly
//! where the interrupted one stopped.

use serde::{Deserialize, Serialize};

use crate::maximize::inexact::Ledger;
use crate::surrogate::gp::hyperparameters::Hyperparameters;

/// The memory of a study between proposals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memo {
    /// Seed of the initial design and how much of it was used.
    pub design: Design,
    /// The last fit of a Gaussian process.
    pub fit: Option<Fit>,
    /// The accumulated inexactness.
    pub ledger: Ledger,
    /// The dictionary of a sparse model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Sparse>,
}

/// A sparse model: everything from which it can be built again, bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    /// Seed of the arms, where the space is no pool, and of the coins by which atoms are kept.
    pub seed: u64,
    /// Evaluations that the hyperparameters were fitted to.
    pub evaluations: usize,
    /// Corrections of the history when the model was last built from nothing.
    pub revision: u64,
    /// Batches so far.
    pub batches: u64,
    /// `sum log(1 + variance)` over the model's choices, on which the radius depends.
    pub gain: Option<f64>,
    /// Points that were running when the model was last built from nothing, and are not among the arms.
    pub extras: Vec<Vec<f64>>,
    /// The batches since the model was last built from nothing.
    pub starts: Vec<Start>,
}

/// What a batch began with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Evaluations told.
    pub told: usize,
    /// Arms that were running, as often as they were.
    pub running: Vec<usize>,
    /// Atoms that the dictionary lost ...
    pub removed: Vec<usize>,
    /// ... and gained.
    pub added: Vec<usize>,
}

/// The initial design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Design {
    /// Seed of its points, drawn with the first proposal.
    pub seed: Option<u64>,
    /// Points proposed from it.
    pub used: usize,
}

/// A fit of a Gaussian process: everything from which the model can be built again, bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// How many evaluations had been told.
    pub evaluations: usize,
    /// Subtracted from the values ...
    pub mean: f64,
    /// ... which are then divided by this.
    pub sd: f64,
    /// The kernel's values.
    pub hyperparameters: Hyperparameters,
    /// Seed of the candidates, and of the subset if there is one, that belong to this fit.
    pub seed: u64,
    /// Evaluations of the likelihood that the fit took.
    pub likelihoods: usize,
}
