//! What the server did, as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the histogram's buckets, in seconds.
const BUCKETS: [f64; 10] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0, 10.0, 60.0];

/// Counters.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(String, u16), Series>>,
    pub(crate) streams: AtomicUsize,
    pub(crate) connections: AtomicUsize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Series {
    count: u64,
    seconds: f64,
    buckets: [u64; BUCKETS.len()],
}

impl Metrics {
    /// A request was answered.
    pub(crate) fn count(&self, route: &str, status: u16, took: Duration) {
        let mut requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        let series = requests.entry((route.to_owned(), status)).or_default();
        let seconds = took.as_secs_f64();
        series.count += 1;
        series.seconds += seconds;
        for (bucket, end) in series.buckets.iter_mut().zip(BUCKETS) {
            *bucket += u64::from(seconds <= end);
        }
    }

    /// The text of `/metrics`.
    pub(crate) fn text(&self, (thinking, waiting): (usize, usize), open: usize) -> String {
        let mut text = String::from(
            "# HELP noregret_request_seconds How long requests took.\n# TYPE noregret_request_seconds histogram\n",
        );
        let requests = self.requests.lock().unwrap_or_else(PoisonError::into_inner);
        for ((route, status), series) in &*requests {
            let labels = format!("route=\"{route}\",status=\"{status}\"");
            for (count, end) in series.buckets.iter().zip(BUCKETS) {
                let _ = writeln!(text, "noregret_request_seconds_bucket{{{labels},le=\"{end}\"}} {count}");
            }
            let (count, seconds) = (series.count, series.seconds);
            let _ = writeln!(text, "noregret_request_seconds_bucket{{{labels},le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "noregret_request_seconds_sum{{{labels}}} {seconds}");
            let _ = writeln!(text, "noregret_request_seconds_count{{{labels}}} {count}");
        }
        let gauges = [
            ("noregret_thinking", "Studies that are being thought about.", thinking),
            ("noregret_thinking_waiting", "Requests that wait for their turn to think.", waiting),
            ("noregret_open_studies", "Studies that are held in memory.", open),
            ("noregret_event_streams", "Readers of live events.", self.streams.load(Ordering::Relaxed)),
            ("noregret_connections", "Open connections.", self.connections.load(Ordering::Relaxed)),
        ];
        for (name, help, value) in gauges {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} gauge\n{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_cumulative() {
        let metrics = Metrics::default();
        metrics.count("GET /x", 200, Duration::from_millis(3));
        metrics.count("GET /x", 200, Duration::from_secs(100));
        let text = metrics.text((1, 2), 3);
        assert!(text.contains("{route=\"GET /x\",status=\"200\",le=\"0.0025\"} 0\n"), "{text}");
        assert!(text.contains("le=\"0.005\"} 1\n") && text.contains("le=\"+Inf\"} 2\n"), "{text}");
        assert!(text.contains("noregret_thinking 1\n"));
    }
}
