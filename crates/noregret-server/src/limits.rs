//! How often somebody may come: buckets that fill at a steady rate.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Names that are remembered; beyond, those that have their fill are forgotten.
const REMEMBERED: usize = 10_000;

/// A bucket for each name.
#[derive(Debug)]
pub(crate) struct Buckets {
    /// Requests a second, in the long run.
    rate: f64,
    /// Requests at once.
    burst: f64,
    levels: Mutex<BTreeMap<String, (f64, Instant)>>,
}

impl Buckets {
    pub(crate) fn new(rate: f64, burst: f64) -> Self {
        Self { rate, burst, levels: Mutex::default() }
    }

    /// Whether this name has one left, and takes it.
    pub(crate) fn take(&self, name: &str, now: Instant) -> bool {
        let mut levels = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        if levels.len() >= REMEMBERED && !levels.contains_key(name) {
            let (rate, burst) = (self.rate, self.burst);
            levels
                .retain(|_, (level, since)| *level + rate * now.duration_since(*since).as_secs_f64() < burst);
        }
        let (level, since) = levels.entry(name.to_owned()).or_insert((self.burst, now));
        *level = (*level + self.rate * now.duration_since(*since).as_secs_f64()).min(self.burst);
        *since = now;
        let has_one = *level >= 1.0;
        if has_one {
            *level -= 1.0;
        }
        has_one
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn a_bucket_empties_and_fills() {
        let buckets = Buckets::new(2.0, 3.0);
        let now = Instant::now();
        assert_eq!([0; 4].map(|_| buckets.take("a", now)), [true, true, true, false]);
        assert!(buckets.take("b", now));
        let later = now + Duration::from_secs(1);
        assert_eq!([0; 3].map(|_| buckets.take("a", later)), [true, true, false]);
    }
}
