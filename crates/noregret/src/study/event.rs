//! The events of a study. Trials, best points and curves are folds over the list of events.
//!
//! Each kind is a struct, so that a log can embed it and add fields of its own, such as the time.

use serde::{Deserialize, Serialize};

use super::TrialState;
use crate::space::Params;
use crate::strategy::history::Choice;
use crate::strategy::memo::Memo;

/// One event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
pub enum Event {
    /// Points were proposed.
    Asked(Asked),
    /// A trial got its value.
    Told(Told),
    /// A trial ended without a value.
    Failed(Failed),
    /// The user enqueued a point.
    Enqueued(Enqueued),
    /// A result from elsewhere was added.
    Added(Added),
    /// The total number of trials changed.
    Planned(Planned),
    /// The result of a trial turned out to be another one.
    Replaced(Replaced),
}

/// Points were proposed. Their trials get the next numbers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The points.
    pub choices: Vec<Choice>,
    /// The state that the strategy needs to continue from here.
    pub memo: Box<Memo>,
}

/// A trial got its value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Which trial.
    pub number: u64,
    /// The value, in the user's direction.
    pub value: f64,
    /// Variance of its noise.
    #[serde(default, alias = "noise_variance", skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
}

/// A trial ended without a value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// Which trial.
    pub number: u64,
    /// Why.
    pub reason: String,
}

/// The user enqueued a point. It becomes a trial with the next number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Enqueued {
    /// What to evaluate.
    pub params: Params,
    /// Its point.
    pub choice: Choice,
}

/// A result from elsewhere was added. It becomes a trial with the next number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Added {
    /// What was evaluated.
    pub params: Params,
    /// Its point.
    pub choice: Choice,
    /// The value as told, NaN if there was none; see [`TrialState::of`].
    #[serde(default = "any_float::none", with = "any_float")]
    pub value: f64,
    /// Variance of its noise.
    #[serde(default, alias = "noise_variance", skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
}

impl Added {
    /// The state of its trial, which has ended already.
    pub fn state(&self) -> TrialState {
        TrialState::of(self.value, self.noise_var)
    }
}

/// The result of a trial turned out to be another one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replaced {
    /// Which trial. It had ended.
    pub number: u64,
    /// The value, in the user's direction; NaN if the evaluation had failed after all.
    #[serde(default = "any_float::none", with = "any_float")]
    pub value: f64,
    /// Variance of its noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
}

impl Replaced {
    /// The state of its trial from now on.
    pub fn state(&self) -> TrialState {
        TrialState::of(self.value, self.noise_var)
    }
}

/// The total number of trials changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Planned {
    /// The total number of trials; `None` if unknown.
    pub trials: Option<usize>,
}

macro_rules! into_event {
    ($($kind:ident)*) => {
        $(impl From<$kind> for Event {
            fn from(event: $kind) -> Self {
                Self::$kind(event)
            }
        })*
    };
}
into_event!(Asked Told Failed Enqueued Added Planned Replaced);

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

    /// Old logs leave out the value of a failure: it is NaN.
    pub(super) fn none() -> f64 {
        f64::NAN
    }
}
