//! Points in time, as the log keeps them, and spans of it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Now, by the clock of this machine.
    #[expect(clippy::disallowed_methods, reason = "the one place where the log asks what time it is")]
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }

    /// Later by `span`.
    #[must_use]
    pub fn after(self, span: Duration) -> Self {
        Self(self.0.saturating_add(i64::try_from(span.as_millis()).unwrap_or(i64::MAX)))
    }

    /// The time from `earlier` to this, or nothing if clocks disagree.
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }
}

/// A clock that goes on from a given time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(Timestamp, Stopwatch);

impl Clock {
    /// It is `now`.
    pub(crate) fn start(now: Timestamp) -> Self {
        Self(now, Stopwatch::start())
    }

    /// The time by this clock.
    pub(crate) fn time(self) -> Timestamp {
        self.0.after(self.1.elapsed())
    }
}

/// How long something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(Instant);

impl Stopwatch {
    #[expect(clippy::disallowed_methods, reason = "the one place where the log measures time")]
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }

    pub(crate) fn elapsed(self) -> Duration {
        self.0.elapsed()
    }
}
