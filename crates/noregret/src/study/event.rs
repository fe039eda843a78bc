//! Everything that happens in a study. Trials, best points and curves are folds over the list of events.

use serde::{Deserialize, Serialize};

use crate::space::Params;
use crate::strategy::history::Choice;
use crate::strategy::memo::Memo;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Points were proposed; their trials are numbered on from the last.
    Asked {
        /// The points.
        choices: Vec<Choice>,
        /// What the strategy will need to go on from here.
        memo: Box<Memo>,
    },
    /// A trial got its value.
    Told {
        /// Which trial.
        number: u64,
        /// The value, in the user's own direction.
        value: f64,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_variance: Option<f64>,
    },
    /// A trial ended without a value.
    Failed {
        /// Which trial.
        number: u64,
        /// Why.
        reason: String,
    },
    /// A result from elsewhere, never asked for: it gets the next number.
    Added {
        /// What was evaluated.
        params: Params,
        /// Its point.
        choice: Choice,
        /// The value.
        value: f64,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_variance: Option<f64>,
    },
}
