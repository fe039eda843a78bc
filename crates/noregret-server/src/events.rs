//! Events as they happen, sent by the server (`text/event-stream`).

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use noregret_client::api::Problem;
use noregret_store::{Entry, rfc3339};
use serde_json::json;
use tokio::sync::mpsc::{Sender, channel};

use crate::app::{App, Caller};
use crate::desk::Desk;
use crate::problem::busy;
use crate::request::{Answer, Body, Call};

/// Entries that are read at once.
const PAGE: usize = 500;
/// Pieces that may be on their way to a slow reader.
const PIECES: usize = 4;
/// Readers at once: each has a thread.
const MOST: usize = 256;
/// A sign of life, so that proxies keep the connection open and the end of a reader is noticed.
const PULSE: Duration = Duration::from_secs(10);

/// Counts a reader for as long as it reads.
struct Reader(Arc<App>);

impl Drop for Reader {
    fn drop(&mut self) {
        self.0.metrics.streams.fetch_sub(1, Ordering::Relaxed);
    }
}

pub(crate) fn stream(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let after = call.last_event.or(call.number_of("after")?).unwrap_or(0).min(u64::MAX >> 2);
    let desk = app.desks.of(&call.study)?;
    if app.metrics.streams.fetch_add(1, Ordering::Relaxed) >= MOST {
        app.metrics.streams.fetch_sub(1, Ordering::Relaxed);
        return Err(busy("too many read events already: come again"));
    }
    let reader = Reader(Arc::clone(app));
    let (sender, pieces) = channel(PIECES);
    let (study, caller) = (call.study.clone(), call.caller.clone());
    let send = move || {
        let reader = reader;
        send_all(&reader.0, &desk, &study, &caller, after, &sender);
    };
    std::thread::Builder::new()
        .name("events".into())
        .spawn(send)
        .map_err(|error| busy(format!("no thread is left: {error}")))?;
    Ok(Answer { content_type: "text/event-stream", ..Answer::empty(200, Body::Pieces(pieces)) })
}

/// Sends what happens, until the reader is gone or the server ends.
#[expect(clippy::disallowed_methods, reason = "a sign of life now and then")]
fn send_all(app: &App, desk: &Desk, study: &str, caller: &Caller, mut after: u64, sender: &Sender<Vec<u8>>) {
    // How long to wait before reading on after a connection was lost.
    let mut piece = String::from("retry: 2000\n\n");
    loop {
        let found = match app.store.read(study, after, PAGE) {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!("events of `{study}` cannot be read: {error}");
                return; // the reader comes again, and goes on where it was
            }
        };
        for entry in found {
            after += 1;
            piece.push_str(&written(after, &entry));
        }
        if sender.blocking_send(piece.into_bytes()).is_err() || app.closing.load(Ordering::Relaxed) {
            return;
        }
        piece = String::new();
        // A token that was revoked meanwhile is worth nothing.
        if !app.still_admits(caller) {
            return;
        }
        let pulse = Instant::now() + PULSE;
        while desk.heard() <= after && Instant::now() < pulse {
            if sender.is_closed() || app.closing.load(Ordering::Relaxed) {
                return;
            }
            let slice = pulse.min(Instant::now() + Duration::from_secs(1));
            if desk.wait(after, slice, &app.closing).is_err() {
                return;
            }
        }
        if desk.heard() <= after {
            piece.push_str(": still here\n\n");
        }
    }
}

/// An entry as an event. Of a proposal it has the points, and not the state of the model.
fn written(position: u64, entry: &Entry) -> String {
    let mut event = serde_json::to_value(&entry.event).unwrap_or_default();
    if let Some(asked) = event.get_mut("asked").and_then(|asked| asked.as_object_mut()) {
        asked.remove("memo");
        asked.remove("diagnostics");
    }
    let kind = event.as_object().and_then(|event| event.keys().next().cloned()).unwrap_or_default();
    let data = json!({ "position": position, "time": rfc3339(entry.time), "event": event });
    format!("id: {position}\nevent: {kind}\ndata: {data}\n\n")
}
