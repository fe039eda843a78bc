//! Points in time, as the log keeps them, and spans of it.

use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Now: the time of day when this process first asked, and what has passed since. Deadlines are compared with it, so
    /// it never jumps, whatever is done to the clock of the machine.
    pub fn now() -> Self {
        static FIRST: OnceLock<(Timestamp, Duration)> = OnceLock::new();
        let (first, began) = *FIRST.get_or_init(|| (Self::time_of_day(), steady()));
        first.after(steady().saturating_sub(began))
    }

    #[expect(clippy::disallowed_methods, reason = "the one place where the log asks what time it is")]
    fn time_of_day() -> Self {
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

/// A clock that nobody can set. On Linux it also goes on while the machine sleeps.
fn steady() -> Duration {
    #[cfg(target_os = "linux")]
    {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::Boottime);
        let whole = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
        whole + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
    }
    #[cfg(not(target_os = "linux"))]
    {
        static FIRST: OnceLock<Stopwatch> = OnceLock::new();
        FIRST.get_or_init(Stopwatch::start).elapsed()
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
