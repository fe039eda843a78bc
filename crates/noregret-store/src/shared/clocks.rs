//! How the clocks of other workers differ from ours.
//!
//! An entry that was not there at one reading and is there at the next was written in between. If its time by the writer's
//! clock is outside of that span, the clocks differ by at least the gap. Deadlines of that writer are shifted by it. Without
//! such a proof, clocks are taken to agree.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::{Entry, Event, Timestamp};

/// A difference below this is a slow disk rather than a wrong clock: writers wait up to 30 s for each other.
const NOTABLE: Duration = Duration::from_secs(40);

/// A clock that differs from ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skew {
    /// Whose.
    pub worker: String,
    /// By how much at least.
    pub by: Duration,
    /// Whether it is ahead of ours.
    pub is_ahead: bool,
}

#[derive(Debug, Default)]
pub(super) struct Clocks {
    /// When everything written so far had been read.
    read: Option<Timestamp>,
    /// What to add to the times of a worker, in milliseconds, to have ours.
    offsets: BTreeMap<String, i64>,
    skew: Option<Skew>,
}

impl Clocks {
    /// An entry is read `now`, and was not there at the last reading.
    pub(super) fn hear(&mut self, entry: &Entry, now: Timestamp) {
        let (Event::Leased { worker, .. } | Event::Renewed { worker, .. } | Event::Claimed { worker, .. }) =
            &entry.event
        else {
            return;
        };
        let Some(read) = self.read.filter(|read| *read <= now) else { return };
        let least = read.0.saturating_sub(entry.time.0);
        let most = now.0.saturating_sub(entry.time.0);
        let offset = 0.clamp(least, most);
        let by = Duration::from_millis(offset.unsigned_abs());
        if by >= NOTABLE && self.skew.as_ref().is_none_or(|known| known.by < by) {
            self.skew = Some(Skew { worker: worker.clone(), by, is_ahead: offset < 0 });
        }
        if offset == 0 {
            self.offsets.remove(worker);
        } else {
            self.offsets.insert(worker.clone(), offset);
        }
    }

    /// Everything that was written by now has been read.
    pub(super) fn read_all(&mut self, now: Timestamp) {
        self.read = Some(now);
    }

    /// A time of a worker's, by our clock.
    pub(super) fn ours(&self, worker: &str, its: Timestamp) -> Timestamp {
        Timestamp(its.0.saturating_add(self.offsets.get(worker).copied().unwrap_or(0)))
    }

    pub(super) fn skew(&self) -> Option<&Skew> {
        self.skew.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    fn lease(time: i64) -> Entry {
        let event =
            Event::Leased { number: 0, worker: "w".into(), until: Some(Timestamp(time + 2 * MINUTE)) };
        Entry { time: Timestamp(time), event }
    }

    /// We read at minute 100 and 101; in between, a worker wrote with a clock that is off by `minutes`.
    fn heard(minutes: i64) -> Clocks {
        let mut clocks = Clocks::default();
        clocks.read_all(Timestamp(100 * MINUTE));
        clocks.hear(&lease((100 + minutes) * MINUTE + 30_000), Timestamp(101 * MINUTE));
        clocks
    }

    #[test]
    fn a_clock_that_is_off_shifts_the_deadlines_of_its_worker() {
        for minutes in [10, -10] {
            let clocks = heard(minutes);
            let skew = clocks.skew().unwrap();
            assert_eq!((skew.is_ahead, skew.by.as_secs()), (minutes > 0, 10 * 60 - 30));
            // Its lease of two minutes ends two minutes after minute 100 or 101, by our clock.
            let end = clocks.ours("w", Timestamp((102 + minutes) * MINUTE + 30_000)).0;
            assert!((102 * MINUTE..=103 * MINUTE).contains(&end), "{end}");
        }
    }

    #[test]
    fn clocks_that_may_agree_are_taken_to_agree() {
        let clocks = heard(0);
        assert_eq!((clocks.skew(), clocks.ours("w", Timestamp(7))), (None, Timestamp(7)));
        // What was there at the first reading may be of any age.
        let mut first = Clocks::default();
        first.hear(&lease(0), Timestamp(100 * MINUTE));
        assert_eq!((first.skew(), first.ours("w", Timestamp(7))), (None, Timestamp(7)));
    }
}
