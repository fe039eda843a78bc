//! What a log consists of: the events of the study itself, with what the log keeps beside them, and those of handing its
//! trials out.

use std::ops::Range;

use noregret::study;
use serde::{Deserialize, Serialize};

use crate::worker::is_process;
use crate::{Definition, Proposed, Timestamp};

/// What an evaluation says about itself beyond its value.
pub type Attrs = serde_json::Map<String, serde_json::Value>;

/// Attributes are nested at most so deep. Readers of JSON give up at 128 levels, and the log has some of its own around them.
const DEEPEST: usize = 100;

/// Whether attributes can be read back from a log.
pub fn can_be_kept(attrs: &Attrs) -> bool {
    fn is_at_most(value: &serde_json::Value, depth: usize) -> bool {
        match value {
            serde_json::Value::Array(items) => {
                depth > 0 && items.iter().all(|item| is_at_most(item, depth - 1))
            }
            serde_json::Value::Object(items) => {
                depth > 0 && items.values().all(|item| is_at_most(item, depth - 1))
            }
            _ => true,
        }
    }
    attrs.values().all(|value| is_at_most(value, DEEPEST))
}

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
    /// Points were proposed, and wait for somebody to evaluate them.
    Asked(Box<Proposed>),
    /// A point of the user's own waits as trial `number`.
    Enqueued {
        /// The next number.
        number: u64,
        /// What the study itself sees.
        #[serde(flatten)]
        enqueued: study::Enqueued,
    },
    /// The study is to have another number of trials.
    Planned(study::Planned),
    /// A process wants new points, and thinks about them, or waits for whoever claimed before it. Several claims form a queue;
    /// who claims again keeps its place.
    Claimed {
        /// Who.
        worker: String,
        /// How many points; none takes the claim back.
        wanted: usize,
        /// Until when others wait for it.
        until: Timestamp,
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
        /// What the study itself sees.
        #[serde(flatten)]
        told: study::Told,
        /// What else the evaluation said.
        #[serde(default, skip_serializing_if = "Attrs::is_empty")]
        attrs: Attrs,
        /// How long it took, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seconds: Option<f64>,
    },
    /// A trial ended without a value.
    Failed {
        /// What the study itself sees.
        #[serde(flatten)]
        failed: study::Failed,
        /// The end of what the evaluation wrote to stderr.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        stderr: String,
        /// How long it took, if known.
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
    /// What was written just before was wanted by a request from another machine. Whoever repeats the request, because the answer was
    /// lost, gets the same answer, and nothing is written again.
    Requested(Requested),
    /// The study was put away, or taken out again.
    Archived {
        /// Whether it is away.
        archived: bool,
    },
    /// The result of a trial turned out to be another one.
    Replaced {
        /// What the study itself sees.
        #[serde(flatten)]
        replaced: study::Replaced,
        /// Why, in somebody's words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Nothing is handed out for now, or again.
    Paused {
        /// Whether nothing is.
        paused: bool,
    },
    /// Somebody has noted something, about a trial or about the study.
    Noted {
        /// The trial; without a number it is about the study.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        number: Option<u64>,
        /// The note, in place of an earlier one.
        note: String,
    },
    /// Words by which studies are grouped, in place of those that this one had.
    Tagged {
        /// The words.
        tags: Vec<String>,
    },
    /// A result from elsewhere, never asked for, as trial `number`.
    Added {
        /// The next number.
        number: u64,
        /// What the study itself sees.
        #[serde(flatten)]
        added: study::Added,
    },
}

/// A request that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Requested {
    /// The name that its sender gave it.
    pub key: String,
    /// A digest of what it said: the same name for something else is a mistake.
    pub digest: u64,
    /// The trials that it was about, or that came of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<u64>,
    /// What became of it, in a word, if trials do not say it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub result: String,
}

impl Event {
    /// The trials that this concerns.
    pub fn trials(&self) -> Range<u64> {
        match self {
            Self::Defined(_)
            | Self::Planned(_)
            | Self::Claimed { .. }
            | Self::Renewed { .. }
            | Self::Requested(_)
            | Self::Archived { .. }
            | Self::Paused { .. }
            | Self::Noted { number: None, .. }
            | Self::Tagged { .. } => 0..0,
            Self::Asked(proposed) => {
                proposed.first..proposed.first.saturating_add(proposed.asked.choices.len() as u64)
            }
            Self::Told { told: study::Told { number, .. }, .. }
            | Self::Failed { failed: study::Failed { number, .. }, .. }
            | Self::Leased { number, .. }
            | Self::Enqueued { number, .. }
            | Self::Released { number, .. }
            | Self::Retried { number, .. }
            | Self::Late { number, .. }
            | Self::Replaced { replaced: study::Replaced { number, .. }, .. }
            | Self::Noted { number: Some(number), .. }
            | Self::Added { number, .. } => *number..number.saturating_add(1),
        }
    }

    /// The number of the first trial that begins with this, if any does.
    pub(crate) fn begins(&self) -> Option<u64> {
        match self {
            Self::Asked(proposed) => Some(proposed.first),
            Self::Enqueued { number, .. } | Self::Added { number, .. } => Some(*number),
            _ => None,
        }
    }

    /// Whether this must survive a power cut: somebody has paid for it with an evaluation, or has walked away with it.
    pub fn must_last(&self) -> bool {
        match self {
            Self::Defined(_)
            | Self::Planned(_)
            | Self::Enqueued { .. }
            | Self::Told { .. }
            | Self::Failed { .. }
            | Self::Late { .. }
            | Self::Archived { .. }
            | Self::Replaced { .. }
            | Self::Paused { .. }
            | Self::Noted { .. }
            | Self::Tagged { .. }
            | Self::Added { .. } => true,
            // A process dies in a power cut, too; a person has the trial on paper.
            Self::Leased { worker, .. } => !is_process(worker),
            Self::Asked(_)
            | Self::Claimed { .. }
            | Self::Renewed { .. }
            | Self::Released { .. }
            | Self::Requested(_)
            | Self::Retried { .. } => false,
        }
    }

    /// What the study itself sees of it.
    pub(crate) fn in_study(&self) -> Option<study::Event> {
        match self {
            Self::Asked(proposed) => Some(proposed.asked.clone().into()),
            Self::Enqueued { enqueued, .. } => Some(enqueued.clone().into()),
            Self::Planned(planned) => Some((*planned).into()),
            Self::Told { told, .. } => Some((*told).into()),
            Self::Failed { failed, .. } => Some(failed.clone().into()),
            Self::Added { added, .. } => Some(added.clone().into()),
            Self::Replaced { replaced, .. } => Some((*replaced).into()),
            Self::Defined(_)
            | Self::Claimed { .. }
            | Self::Leased { .. }
            | Self::Renewed { .. }
            | Self::Released { .. }
            | Self::Retried { .. }
            | Self::Requested(_)
            | Self::Archived { .. }
            | Self::Paused { .. }
            | Self::Noted { .. }
            | Self::Tagged { .. }
            | Self::Late { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use noregret::strategy::diagnostics::{Diagnostics, ModelDiagnostics};
    use noregret::strategy::memo::Memo;

    use super::*;

    /// One of each kind that does not hold a definition, as it is written today: the form is a promise.
    const WRITTEN: &str = r#"{"asked":{"first":3,"choices":[{"x":[0.25,0.5]}],"memo":{"design":{"seed":7,"used":2},"fit":null,"ledger":{"rounds":0,"measured":0,"eta_hat":null,"m_hat":0.0,"next":0,"grid":null}},"seconds":0.25}}
{"enqueued":{"number":3,"params":{"x":0.25},"choice":{"x":[0.25]}}}
{"planned":{"trials":60}}
{"claimed":{"worker":"w","wanted":2,"until":9}}
{"leased":{"number":3,"worker":"w","until":9}}
{"renewed":{"worker":"w","until":99}}
{"released":{"number":3,"lost":true}}
{"retried":{"number":3,"reason":"r","stderr":"e","seconds":1.0}}
{"told":{"number":3,"value":0.5,"noise_var":0.25,"attrs":{"epochs":7},"seconds":2.0}}
{"failed":{"number":3,"reason":"r","stderr":"e","seconds":2.0}}
{"late":{"number":3,"value":0.5,"noise_var":0.25}}
{"requested":{"key":"k","digest":7,"trials":[3]}}
{"requested":{"key":"k","digest":7,"result":"complete"}}
{"archived":{"archived":true}}
{"replaced":{"number":3,"value":0.5,"noise_var":0.25,"reason":"r"}}
{"replaced":{"number":3,"value":"NaN"}}
{"paused":{"paused":true}}
{"noted":{"number":3,"note":"n"}}
{"noted":{"note":"n"}}
{"tagged":{"tags":["a","b"]}}
{"added":{"number":3,"params":{"x":0.25},"choice":{"x":[0.25],"row":2},"value":0.5,"noise_var":0.25}}
{"added":{"number":3,"params":{"x":0.25},"choice":{"x":[0.25]},"value":"NaN"}}"#;

    #[test]
    fn every_kind_is_written_as_promised() {
        for line in WRITTEN.lines() {
            let event: Event = serde_json::from_str(line).unwrap();
            assert_eq!(serde_json::to_string(&event).unwrap(), line);
        }
    }

    /// What the study writes of an event is what the log writes of it, but for its tag.
    #[test]
    fn the_vocabulary_is_the_studys() {
        for line in WRITTEN.lines() {
            let event: Event = serde_json::from_str(line).unwrap();
            let Some(in_study) = event.in_study() else { continue };
            let written: serde_json::Value = serde_json::from_str(line).unwrap();
            let (kind, fields) = written.as_object().unwrap().iter().next().unwrap();
            let serde_json::Value::Object(own) = serde_json::to_value(in_study).unwrap() else { panic!() };
            for (name, value) in own {
                let expected =
                    if name == "event" { &serde_json::Value::from(kind.as_str()) } else { &fields[&name] };
                assert_eq!(value, *expected, "{kind}: {name}");
            }
        }
    }

    fn fit(evaluations: usize) -> noregret::strategy::memo::Fit {
        let text = format!(
            r#"{{"evaluations":{evaluations},"mean":0.1,"sd":0.3,"hyperparameters":{{"lengthscales":[0.1],"outputscale":1.0,"noise_variance":0.2}},"seed":18446744073709551615,"likelihoods":9}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn proposed(in_memo: usize, in_diagnostics: usize) -> Event {
        let model = ModelDiagnostics {
            points: 5,
            subset_of: None,
            pending: 0,
            failures: 0,
            refitted: true,
            fit: fit(in_diagnostics),
            jitter: 0.0,
            factor_retries: 0,
            lifted_pivots: 0,
        };
        let memo = Box::new(Memo { fit: Some(fit(in_memo)), ..Memo::default() });
        Event::Asked(Box::new(Proposed {
            first: 0,
            asked: study::Asked { choices: Vec::new(), memo },
            diagnostics: Some(Box::new(Diagnostics { model: Some(model), ..Diagnostics::default() })),
            seconds: 0.0,
        }))
    }

    #[test]
    fn attributes_that_can_be_kept_are_read_back() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (depth, kept) in [(1, true), (100, true), (101, false), (125, false)] {
            let attrs: Attrs = serde_json::from_str(&format!(r#"{{"a":{}}}"#, nested(depth))).unwrap();
            assert_eq!(can_be_kept(&attrs), kept, "{depth}");
            let told = study::Told { number: 0, value: 0.5, noise_var: None };
            let event = Event::Told { told, attrs, seconds: None };
            let written = serde_json::to_string(&event).unwrap();
            assert!(!kept || serde_json::from_str::<Event>(&written).unwrap() == event);
        }
    }

    #[test]
    fn numbers_at_the_end_of_their_range_do_not_overflow() {
        let event = Event::Leased { number: u64::MAX, worker: String::new(), until: None };
        assert!(event.trials().is_empty());
    }

    #[test]
    fn a_fit_is_written_once_and_read_twice() {
        for (event, count) in [(proposed(5, 5), 1), (proposed(5, 4), 2)] {
            let text = serde_json::to_string(&event).unwrap();
            assert_eq!(text.matches("lengthscales").count(), count);
            assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), event);
        }
    }

    #[test]
    fn the_fit_of_an_older_log_is_there_twice() {
        let event = proposed(5, 5);
        let mut json = serde_json::to_value(&event).unwrap();
        json["asked"]["diagnostics"]["model"]["fit"] = serde_json::to_value(fit(5)).unwrap();
        assert_eq!(serde_json::from_value::<Event>(json).unwrap(), event);
    }
}
