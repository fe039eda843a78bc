//! The JSON of a trial, the same in `trials --json`, `ask --json`, `export` and the events of `run`.

use std::time::{Duration, UNIX_EPOCH};

use noregret::{Params, Space};
use noregret_store::{Attrs, Timestamp, TrialRecord, TrialStatus};
use serde::Serialize;

/// One trial. Keys that every trial has are always present, null if there is no value.
#[derive(Debug, Serialize)]
pub(crate) struct TrialJson<'a> {
    pub(crate) number: u64,
    pub(crate) state: &'static str,
    /// The candidate's name, in a pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) id: Option<String>,
    pub(crate) params: Params,
    pub(crate) value: Option<f64>,
    pub(crate) noise_var: Option<f64>,
    pub(crate) reason: Option<&'a str>,
    pub(crate) attrs: &'a Attrs,
    /// Number of times it was handed out.
    pub(crate) attempts: u32,
    /// Results that arrived after the first.
    #[serde(skip_serializing_if = "is_zero")]
    pub(crate) late: u32,
    pub(crate) asked: String,
    pub(crate) started: Option<String>,
    pub(crate) ended: Option<String>,
    pub(crate) seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) worker: Option<&'a str>,
    #[serde(skip_serializing_if = "str::is_empty")]
    pub(crate) stderr: &'a str,
}

impl<'a> TrialJson<'a> {
    pub(crate) fn new(record: &'a TrialRecord, space: &Space) -> Self {
        let (value, noise_var, reason, worker) = match &record.status {
            TrialStatus::Waiting => (None, None, None, None),
            TrialStatus::Running(lease) => (None, None, None, Some(lease.worker.as_str())),
            TrialStatus::Complete { value, noise_var } => (Some(*value), *noise_var, None, None),
            TrialStatus::Failed { reason } => (None, None, Some(reason.as_str()), None),
        };
        Self {
            number: record.number,
            state: record.status.word(),
            id: record.id(space),
            params: record.params(space),
            value,
            noise_var,
            reason,
            attrs: &record.attrs,
            attempts: record.leases,
            late: record.late,
            asked: rfc3339(record.asked),
            started: record.started.map(rfc3339),
            ended: record.ended.map(rfc3339),
            seconds: record.seconds,
            worker,
            stderr: &record.stderr,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The last millisecond that can be written with four digits for the year; a clock, or a log, may be wrong.
const END_OF_9999: u64 = 253_402_300_799_999;

/// A timestamp as text, in UTC.
pub(crate) fn rfc3339(time: Timestamp) -> String {
    let since = Duration::from_millis(u64::try_from(time.0).unwrap_or(0).min(END_OF_9999));
    humantime::format_rfc3339_millis(UNIX_EPOCH + since).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_beyond_the_year_9999_is_text_too() {
        assert_eq!(rfc3339(Timestamp(i64::MAX)), "9999-12-31T23:59:59.999Z");
        assert_eq!(rfc3339(Timestamp(i64::MIN)), "1970-01-01T00:00:00.000Z");
    }
}
