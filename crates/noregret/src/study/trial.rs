//! One evaluation, from the proposal to its result.

use serde::{Deserialize, Serialize};

use crate::space::Params;

/// The state of a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum TrialState {
    /// Running: handed out, not told yet.
    Running,
    /// Complete, with a value.
    Complete {
        /// The value, as told.
        value: f64,
        /// Variance of its noise, if told.
        #[serde(default, alias = "noise_variance", skip_serializing_if = "Option::is_none")]
        noise_var: Option<f64>,
    },
    /// Failed: ended without a value.
    Failed {
        /// Why.
        reason: String,
    },
}

impl TrialState {
    /// The state of a trial that was told this value: NaN and infinities are failures. Nothing else decides this.
    pub fn of(value: f64, noise_var: Option<f64>) -> Self {
        if value.is_finite() {
            Self::Complete { value, noise_var }
        } else {
            Self::Failed { reason: format!("the value is {value}, not a finite number") }
        }
    }

    /// Whether the trial has this value and, if given, this noise variance.
    pub fn has(&self, value: f64, noise_var: Option<f64>) -> bool {
        match self {
            Self::Complete { value: known, noise_var: known_noise } => {
                known.total_cmp(&value).is_eq() && noise_var.is_none_or(|noise| *known_noise == Some(noise))
            }
            _ => false,
        }
    }
}

/// A trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Its number, from 0.
    pub number: u64,
    /// What to evaluate.
    pub params: Params,
    /// The pool's row, if the space is a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<usize>,
    /// Its state.
    #[serde(flatten)]
    pub state: TrialState,
}

impl Trial {
    /// Its value, if it has one.
    pub fn value(&self) -> Option<f64> {
        match self.state {
            TrialState::Complete { value, .. } => Some(value),
            _ => None,
        }
    }

    /// Its parameters as numbers, in order, for numeric objectives. Text becomes NaN, true becomes 1.
    pub fn numbers(&self) -> Vec<f64> {
        self.params
            .iter()
            .map(|(_, v)| v.as_f64().or(v.as_bool().map(f64::from)).unwrap_or(f64::NAN))
            .collect()
    }
}
