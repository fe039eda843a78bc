//! What a log consists of: the events of the study itself, and those of handing its trials out.

use std::ops::Range;

use noregret::Params;
use noregret::strategy::diagnostics::Diagnostics;
use noregret::strategy::history::Choice;
use noregret::strategy::memo::Memo;
use noregret::study;
use serde::{Deserialize, Serialize};

use crate::worker::is_process;
use crate::{Definition, Timestamp};

/// What an evaluation says about itself beyond its value.
pub type Attrs = serde_json::Map<String, serde_json::Value>;

/// An event and its time.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When it was written, by the writer's clock.
    pub time: Timestamp,
    /// What happened.
    pub event: Event,
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    /// The study was made, or goes on with other settings.
    Defined(Box<Definition>),
    /// Points were proposed: trials `first`, `first + 1`, ..., waiting for somebody to evaluate them.
    Asked {
        /// Number of the first.
        first: u64,
        /// The points.
        choices: Vec<Choice>,
        /// What the strategy needs to go on from here.
        memo: Box<Memo>,
        /// How they came about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        diagnostics: Option<Box<Diagnostics>>,
        /// How long that took.
        #[serde(default)]
        seconds: f64,
    },
    /// A point of the user's own waits as trial `number`.
    Enqueued {
        /// The next number.
        number: u64,
        /// What to evaluate.
        params: Params,
        /// Its point.
        choice: Choice,
    },
    /// A worker has taken a trial.
    Leased {
        /// Which trial.
        number: u64,
        /// Who.
        worker: String,
        /// Until when nobody else will; without a date, until it is told or released.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    /// A worker is alive: all that it has leased stays its own for longer.
    Renewed {
        /// Who.
        worker: String,
        /// Until when.
        until: Timestamp,
    },
    /// A lease has ended without a result; the trial waits again.
    Released {
        /// Which trial.
        number: u64,
        /// Whether its worker has vanished, rather than given it back.
        #[serde(default)]
        lost: bool,
    },
    /// An attempt has failed; the trial waits for another.
    Retried {
        /// Which trial.
        number: u64,
        /// Why it failed.
        reason: String,
        /// The end of what it wrote to stderr.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        stderr: String,
        /// How long it took.
        #[serde(default)]
        seconds: f64,
    },
    /// A trial got its value.
    Told {
        /// Which trial.
        number: u64,
        /// The value, in the user's own direction.
        value: f64,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_var: Option<f64>,
        /// What else it said.
        #[serde(default, skip_serializing_if = "Attrs::is_empty")]
        attrs: Attrs,
        /// How long the evaluation took, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// A trial ended without a value.
    Failed {
        /// Which trial.
        number: u64,
        /// Why.
        reason: String,
        /// The end of what it wrote to stderr.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        stderr: String,
        /// How long the evaluation took, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// A second result of a trial that has one: kept for the record, not counted.
    Late {
        /// Which trial.
        number: u64,
        /// The value, if it had one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_var: Option<f64>,
        /// What else it said.
        #[serde(default, skip_serializing_if = "Attrs::is_empty")]
        attrs: Attrs,
        /// Why it had no value.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// A result from elsewhere, never asked for, as trial `number`.
    Added {
        /// The next number.
        number: u64,
        /// What was evaluated.
        params: Params,
        /// Its point.
        choice: Choice,
        /// The value; without one it was a failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<f64>,
        /// Variance of its noise.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        noise_var: Option<f64>,
    },
}

impl Event {
    /// The trials that this concerns.
    pub fn trials(&self) -> Range<u64> {
        match self {
            Self::Defined(_) | Self::Renewed { .. } => 0..0,
            Self::Asked { first, choices, .. } => *first..first + choices.len() as u64,
            Self::Leased { number, .. }
            | Self::Enqueued { number, .. }
            | Self::Released { number, .. }
            | Self::Retried { number, .. }
            | Self::Told { number, .. }
            | Self::Failed { number, .. }
            | Self::Late { number, .. }
            | Self::Added { number, .. } => *number..number + 1,
        }
    }

    /// Whether this must survive a power cut: somebody has paid for it with an evaluation, or has walked away with it.
    pub fn must_last(&self) -> bool {
        match self {
            Self::Defined(_)
            | Self::Enqueued { .. }
            | Self::Told { .. }
            | Self::Failed { .. }
            | Self::Late { .. }
            | Self::Added { .. } => true,
            // A process dies in a power cut, too; a person has the trial on paper.
            Self::Leased { worker, .. } => !is_process(worker),
            Self::Asked { .. } | Self::Renewed { .. } | Self::Released { .. } | Self::Retried { .. } => false,
        }
    }

    /// What the study itself sees of it.
    pub(crate) fn in_study(&self) -> Option<study::Event> {
        Some(match self {
            Self::Asked { choices, memo, .. } => {
                study::Event::Asked { choices: choices.clone(), memo: memo.clone() }
            }
            Self::Enqueued { params, choice, .. } => {
                study::Event::Enqueued { params: params.clone(), choice: choice.clone() }
            }
            Self::Told { number, value, noise_var, .. } => {
                study::Event::Told { number: *number, value: *value, noise_variance: *noise_var }
            }
            Self::Failed { number, reason, .. } => {
                study::Event::Failed { number: *number, reason: reason.clone() }
            }
            Self::Added { params, choice, value, noise_var, .. } => study::Event::Added {
                params: params.clone(),
                choice: choice.clone(),
                value: value.unwrap_or(f64::NAN),
                noise_variance: *noise_var,
            },
            _ => return None,
        })
    }
}
