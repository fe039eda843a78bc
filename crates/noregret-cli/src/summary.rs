//! The best of a study, in words and as JSON.

use std::fmt;

use noregret::study::{Recommendation, RemainingRegret};
use noregret::{Params, Value};
use noregret_store::{SharedStudy, TrialRecord};
use serde_json::json;

use crate::number::short;
use crate::printable;

/// The best observed trial and the recommended one.
pub(crate) struct Best<'a> {
    observed: Option<serde_json::Value>,
    lines: Vec<String>,
    recommended: Option<&'a Recommendation>,
    /// The candidate's name, in a pool.
    recommended_id: Option<String>,
    regret: Option<RemainingRegret>,
}

/// Why a trial failed, on one line: the reason and the last that it said on stderr.
pub(crate) fn failure(reason: &str, stderr: &str) -> String {
    let (reason, last) = (printable::line(reason), printable::last_line(stderr));
    if last.is_empty() { reason.into_owned() } else { format!("{reason}: {last}") }
}

/// The remaining regret, on one line.
pub(crate) fn remaining(regret: &RemainingRegret) -> String {
    let (low, high) = (short(regret.interval.0), short(regret.interval.1));
    format!("remaining regret  {} (90 %: {low} to {high}), by the model", short(regret.median))
}

/// Parameters on one line, floats shortened.
pub(crate) fn params(params: &Params) -> String {
    let text = |value: &Value| match value {
        Value::Float(x) => short(*x),
        other => printable::line(&other.to_string()).into_owned(),
    };
    let pair = |(name, value): (&str, &Value)| format!("{}={}", printable::line(name), text(value));
    params.iter().map(pair).collect::<Vec<_>>().join("  ")
}

/// The best observed trial, and the recommended one if it was asked for.
pub(crate) fn best<'a>(shared: &mut SharedStudy, recommended: Option<&'a Recommendation>) -> Best<'a> {
    let space = shared.study().space().clone();
    let number = shared.study().best_observed().map(|trial| trial.number);
    let record = number.and_then(|number| shared.ledger().record(number));
    let what = |record: &TrialRecord| {
        let id = record.id(&space).map_or(String::new(), |id| format!("{}  ", printable::line(&id)));
        format!("trial {}  {id}{}", record.number, params(&record.params(&space)))
    };
    let mut lines = Vec::new();
    let mut observed = None;
    if let Some(record) = record {
        let trial = record.described(&space);
        lines.push(format!(
            "best observed  {}  {}",
            trial.value.map(short).unwrap_or_default(),
            what(record)
        ));
        observed = serde_json::to_value(trial).ok();
    }
    if let Some(point) = recommended
        && let Some(record) = shared.ledger().record(point.number)
    {
        let (low, high) = (short(point.interval.0), short(point.interval.1));
        lines.push(format!("recommended    {} (95 %: {low} to {high})  {}", short(point.mean), what(record)));
    }
    let record = recommended.and_then(|point| shared.ledger().record(point.number));
    let recommended_id = record.and_then(|record| record.id(&space));
    Best { observed, lines, recommended, recommended_id, regret: None }
}

impl Best<'_> {
    /// Adds the remaining regret.
    pub(crate) fn with_regret(mut self, regret: Option<RemainingRegret>) -> Self {
        self.regret = regret;
        self.lines.extend(regret.as_ref().map(remaining));
        self
    }

    pub(crate) fn to_json(&self) -> serde_json::Value {
        let mut recommended = json!(self.recommended);
        if let (Some(id), Some(table)) = (&self.recommended_id, recommended.as_object_mut()) {
            table.insert("id".into(), id.as_str().into());
        }
        let mut json = json!({ "observed": self.observed, "recommended": recommended });
        if let Some(regret) = &self.regret {
            json["remaining_regret"] = json!(regret);
        }
        json
    }
}

impl fmt::Display for Best<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.lines.is_empty() {
            return writeln!(f, "no trial has a value yet");
        }
        self.lines.iter().try_for_each(|line| writeln!(f, "{line}"))
    }
}
