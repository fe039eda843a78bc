//! What goes over the wire: requests and answers, as JSON.
//!
//! The same words as in study files, on the command line and in Python. Requests refuse unknown fields; answers may get more of them.

use noregret::{Direction, Params};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value as Json};

/// An error, as RFC 9457 has it (`application/problem+json`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// Which kind: `urn:noregret:` and a word.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What is wrong, and what would be right: the same text as on the command line.
    pub detail: String,
    /// Where the study's log is, if somebody else was faster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u64>,
}

impl Problem {
    /// A problem of this kind, such as `no-such-study`.
    pub fn new(status: u16, word: &str, detail: impl Into<String>) -> Self {
        let title = word.replace('-', " ");
        Self { kind: format!("urn:noregret:{word}"), title, status, detail: detail.into(), position: None }
    }

    /// The kind without its prefix.
    pub fn word(&self) -> &str {
        self.kind.strip_prefix("urn:noregret:").unwrap_or(&self.kind)
    }
}

/// One trial. Keys that every trial has are always there, null if there is no value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trial {
    /// Its number, from 0.
    pub number: u64,
    /// `waiting`, `running`, `complete` or `failed`.
    pub state: String,
    /// The candidate's name, in a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What to evaluate.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, noregret::Value>"))]
    pub params: Params,
    /// Its value.
    pub value: Option<f64>,
    /// Variance of the value's noise.
    pub noise_var: Option<f64>,
    /// Why it failed.
    pub reason: Option<String>,
    /// What the evaluation said beyond its value.
    pub attrs: Map<String, Json>,
    /// Number of times it was handed out.
    pub attempts: u32,
    /// Results that arrived after the first.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub late: u32,
    /// When it was proposed.
    pub asked: String,
    /// When it was last handed out.
    pub started: Option<String>,
    /// When it ended.
    pub ended: Option<String>,
    /// How long its evaluation took.
    pub seconds: Option<f64>,
    /// Who evaluates it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// The end of what it wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// Studies, by name.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Studies {
    /// One page of them.
    pub studies: Vec<StudyName>,
}

/// A study in a list.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyName {
    /// Its name.
    pub name: String,
    /// The last position of its log.
    pub position: u64,
}

/// A study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Study {
    /// Its name.
    pub name: String,
    /// Whether small or large values are good.
    pub direction: Direction,
    /// The algorithm, with its options.
    pub algorithm: Json,
    /// The seed.
    pub seed: u64,
    /// Trials that there are to be in all.
    pub trials: Option<usize>,
    /// Where it searches; parameters are in their order.
    #[cfg_attr(feature = "schema", schemars(with = "Json"))]
    pub space: Box<RawValue>,
    /// Whether it was put away.
    pub archived: bool,
    /// Whether it hands out nothing for now.
    #[serde(default)]
    pub paused: bool,
    /// Words by which studies are grouped.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What somebody noted about it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub note: String,
    /// Trials by state.
    pub counts: Counts,
    /// The best trial observed.
    pub best_observed: Option<Trial>,
    /// Whether all its trials are done.
    pub done: bool,
    /// What its workers are to run: the section `[objective]` of the study file. Only for those who may work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<Json>,
    /// The last position of its log.
    pub position: u64,
}

/// Trials by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Nobody evaluates them.
    pub waiting: u64,
    /// Somebody does.
    pub running: u64,
    /// They have a value.
    pub complete: u64,
    /// They ended without one.
    pub failed: u64,
}

/// How many trials there are to be in all, more or fewer than before.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// From 1 to 1e9.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 1_000_000_000)))]
    pub trials: usize,
}

/// Put a study away, or take it out again.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Archive {
    /// Whether it is to be away.
    #[serde(default = "yes")]
    pub archived: bool,
}

fn yes() -> bool {
    true
}

/// Hand out trials.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Ask {
    /// How many; without a number as many as the algorithm allows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    pub n: Option<usize>,
    /// Who takes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub worker: Option<String>,
    /// Seconds after which they are handed out again, unless a heartbeat comes; without a number, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 31_536_000)))]
    pub lease: Option<f64>,
    /// Seconds to wait for a trial, if there is none to be had: at most 60.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 60)))]
    pub wait: f64,
    /// Beyond the study's number of trials, too.
    #[serde(default)]
    pub beyond: bool,
}

/// Trials that were handed out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asked {
    /// Fewer than were asked for, or none, if no more are to be had now.
    pub trials: Vec<Trial>,
    /// Whether none will come: the study is done.
    pub done: bool,
}

/// The result of a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tell {
    /// Its value; null is a failure, as NaN is elsewhere.
    #[serde(deserialize_with = "Option::deserialize")]
    pub value: Option<f64>,
    /// Variance of the value's noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
    /// What else the evaluation says.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub attrs: Map<String, Json>,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Who evaluated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub worker: Option<String>,
}

/// A trial ended without a value.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fail {
    /// Why.
    #[cfg_attr(feature = "schema", schemars(length(min = 1), regex(pattern = r"\S")))]
    pub reason: String,
    /// The end of what it wrote to stderr.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// How long it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Whether to try again, as often as the study file says.
    #[serde(default)]
    pub retry: bool,
    /// Who evaluated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub worker: Option<String>,
}

/// What became of a result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Told {
    /// The trial.
    pub number: u64,
    /// `complete`, `failed`, `same` (nothing new) or `late` (it has another result already; this one is kept and not counted).
    pub result: String,
}

/// A worker is alive: what it has stays its own.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Heartbeat {
    /// Who.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub worker: String,
    /// For so many seconds from now.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 31_536_000)))]
    pub lease: f64,
}

/// Trials that a worker still has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Held {
    /// Their numbers. One that is missing was told by somebody else, or handed out again.
    pub trials: Vec<u64>,
}

/// Give trials back, unevaluated.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Release {
    /// Who has them: what others have is not touched.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 200)))]
    pub worker: String,
    /// Which; without a list, all that it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trials: Option<Vec<u64>>,
}

/// Points.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Points {
    /// Parameters by name, or for a pool also `{"id": "name of a candidate"}`.
    #[cfg_attr(
        feature = "schema",
        schemars(
            with = "Vec<std::collections::BTreeMap<String, noregret::Value>>",
            length(min = 1, max = 100_000)
        )
    )]
    pub points: Vec<Params>,
}

/// How many points.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Suggest {
    /// How many.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100_000)))]
    pub n: usize,
}

/// Points that `ask` would hand out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Suggested {
    /// Parameters by name.
    #[cfg_attr(
        feature = "schema",
        schemars(with = "Vec<std::collections::BTreeMap<String, noregret::Value>>")
    )]
    pub points: Vec<Params>,
}

/// What the model expects at points.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Predicted {
    /// Means, without noise; null if there is no model yet.
    pub mean: Option<Vec<f64>>,
    /// Standard deviations.
    pub sd: Option<Vec<f64>>,
}

/// Results from elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Add {
    /// All are added, or none. What is there already is not added again.
    #[cfg_attr(feature = "schema", schemars(length(min = 1, max = 100_000)))]
    pub results: Vec<External>,
}

/// A result from elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct External {
    /// What was evaluated.
    #[cfg_attr(feature = "schema", schemars(with = "std::collections::BTreeMap<String, noregret::Value>"))]
    pub params: Params,
    /// Its value; null if it failed.
    #[serde(deserialize_with = "Option::deserialize")]
    pub value: Option<f64>,
    /// Variance of the value's noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
}

/// How many results were new.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Added {
    /// How many.
    pub added: usize,
}

/// One page of trials, by number.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trials {
    /// The trials.
    pub trials: Vec<Trial>,
    /// Where the next page begins (`from`), if there is one.
    pub next: Option<u64>,
}

/// What to use.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Best {
    /// The trial with the best value, which with noise is the luckiest.
    pub observed: Option<Trial>,
    /// The one with the best mean under the model, with a 95 % interval of its value without noise.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Json>"))]
    pub recommended: Option<Box<RawValue>>,
    /// The name of the recommended candidate, in a pool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recommended_id: Option<String>,
    /// What may still be gained, by the model: median and 90 % interval.
    pub remaining_regret: Option<Json>,
}

/// What the model knows of the study as a whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Insight {
    /// What may still be gained, by the model: median and 90 % interval.
    pub remaining_regret: Option<Json>,
    /// The share of the model's variation that each parameter explains on its own: pairs of name and share.
    #[cfg_attr(feature = "schema", schemars(with = "Option<Vec<Vec<Json>>>"))]
    pub importance: Option<Vec<(String, f64)>>,
}

/// How the last proposal came about.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Diagnostics {
    /// As in `noregret show --json`.
    pub diagnostics: Option<Json>,
}

/// Entries of a log, as the storage of clients reads them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Log {
    /// Position, time in milliseconds since 1970, and what happened; proposals may refer to an earlier entry of the same answer.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<Json>>"))]
    pub entries: Vec<(u64, i64, Box<RawValue>)>,
    /// The last position of the study's log.
    pub last: u64,
}

/// Entries to be appended.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Append {
    /// The last position that the writer knows.
    pub after: u64,
    /// Time in milliseconds since 1970, and what happened.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Vec<Json>>", length(max = 100_000)))]
    pub entries: Vec<(i64, Box<RawValue>)>,
}

/// They were appended.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Appended {
    /// The new last position.
    pub last: u64,
}

/// A byte as two hexadecimal digits.
pub(crate) fn hex(byte: u8) -> String {
    format!("{byte:02x}")
}

/// Makes a segment of a path of a name.
pub fn segment(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(byte as char);
        } else {
            text.push('%');
            text.push_str(&hex(byte).to_uppercase());
        }
    }
    // A path has no segments of dots: they mean here and above.
    match text.as_str() {
        "." => "%2E".into(),
        ".." => "%2E%2E".into(),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_segments() {
        assert_eq!(segment("my-study_1.2~"), "my-study_1.2~");
        assert_eq!(segment("a/b c:d?é"), "a%2Fb%20c%3Ad%3F%C3%A9");
        assert_eq!(segment(".."), "%2E%2E");
    }

    #[test]
    fn requests_refuse_what_they_do_not_know() {
        assert!(serde_json::from_str::<Ask>(r#"{"n": 2, "m": 3}"#).is_err());
        assert!(serde_json::from_str::<Tell>(r#"{"value": null}"#).unwrap().value.is_none());
    }
}
