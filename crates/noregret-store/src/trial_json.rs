//! The JSON of a trial, the same on the command line, in exports and over the network.

use std::time::{Duration, UNIX_EPOCH};

use noregret::Space;
use noregret_client::api::Trial;

use crate::{Timestamp, TrialRecord, TrialStatus};

impl TrialRecord {
    /// All that is known of it, in the user's words.
    pub fn described(&self, space: &Space) -> Trial {
        let (value, noise_var, reason, worker) = match &self.status {
            TrialStatus::Waiting => (None, None, None, None),
            TrialStatus::Running(lease) => (None, None, None, Some(lease.worker.clone())),
            TrialStatus::Complete { value, noise_var } => (Some(*value), *noise_var, None, None),
            TrialStatus::Failed { reason } => (None, None, Some(reason.clone()), None),
        };
        Trial {
            number: self.number,
            state: self.status.word().into(),
            id: self.id(space),
            params: self.params(space),
            value,
            noise_var,
            reason,
            attrs: self.attrs.clone(),
            attempts: self.leases,
            late: self.late,
            asked: rfc3339(self.asked),
            started: self.started.map(rfc3339),
            ended: self.ended.map(rfc3339),
            seconds: self.seconds,
            worker,
            stderr: self.stderr.clone(),
            note: self.note.clone(),
        }
    }
}

/// The last millisecond that can be written with four digits for the year; a clock, or a log, may be wrong.
const END_OF_9999: u64 = 253_402_300_799_999;

/// A timestamp as text, in UTC.
pub fn rfc3339(time: Timestamp) -> String {
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
