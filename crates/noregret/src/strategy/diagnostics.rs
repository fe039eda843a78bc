//! Diagnostics of a proposal: they report everything that was repaired, capped or estimated.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::maximize::Work;
use crate::maximize::inexact::{Ledger, SHIFT};
use crate::strategy::memo::Fit;

/// Diagnostics of one proposal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Diagnostics {
    /// The algorithm that made it.
    pub algorithm: String,
    /// Points from the initial design.
    pub design_points: usize,
    /// The model, if one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelDiagnostics>,
    /// Work of maximizing the acquisition function.
    pub work: Work,
    /// How exactly it was maximized.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inexactness: Option<Inexactness>,
    /// Points that would have repeated earlier ones and were replaced.
    pub duplicates_avoided: usize,
    /// Sizes and counts that the algorithm reports, by name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub counters: BTreeMap<String, f64>,
    /// Other remarks, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The Gaussian process behind a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelDiagnostics {
    /// Evaluations the model was conditioned on.
    pub points: usize,
    /// Evaluations told, if the model uses only a subset of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subset_of: Option<usize>,
    /// Running points its variance was conditioned on.
    pub pending: usize,
    /// Failed evaluations, which the model takes with the worst value seen.
    pub failures: usize,
    /// Whether hyperparameters were fitted for this proposal.
    pub refitted: bool,
    /// The fit in use.
    pub fit: Fit,
    /// Added to the covariance's diagonal to factor it.
    pub jitter: f64,
    /// Factorisations tried beyond the first.
    pub factor_retries: usize,
    /// Points whose pivot had to be lifted: duplicates without noise.
    pub lifted_pivots: usize,
}

/// Estimates of how exactly acquisition functions were maximized (Kim et al. 2025, section 3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inexactness {
    /// The last estimate of `eta`.
    pub eta_hat: f64,
    /// The accumulated `sum (1 - eta)`.
    pub m_hat: f64,
    /// Rounds in the sum.
    pub rounds: usize,
    /// Rounds in which the reference was solved.
    pub measured: usize,
    /// The shift that makes utilities non-negative, on which `eta` depends.
    pub shift: String,
    /// The adaptive grid's size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grid: Option<usize>,
}

impl Inexactness {
    pub(crate) fn of(ledger: &Ledger) -> Option<Self> {
        ledger.eta_hat.map(|eta_hat| Self {
            eta_hat,
            m_hat: ledger.m_hat,
            rounds: ledger.rounds,
            measured: ledger.measured,
            shift: SHIFT.into(),
            grid: ledger.grid,
        })
    }
}
