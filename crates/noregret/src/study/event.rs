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
    /// A point of the user's own became a trial, with the next number.
    Enqueued {
        /// What to evaluate.
        params: Params,
        /// Its point.
        choice: Choice,
    },
    /// A result from elsewhere, never asked for: it gets the next number.
    Added {
        /// What was evaluated.
        params: Params,
        /// Its point.
        choice: Choice,
        /// The value; one that is not finite is a failure, kept as it was told.
        #[serde(with = "any_float")]
        value: f64,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_variance: Option<f64>,
    },
}

/// Floats for which JSON has no number, as text: `"NaN"`, `"inf"`, `"-inf"`.
mod any_float {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(f64),
        Text(String),
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if value.is_finite() { serializer.serialize_f64(*value) } else { serializer.collect_str(value) }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(value) => Ok(value),
            Written::Text(text) => text.parse().map_err(D::Error::custom),
        }
    }
}
