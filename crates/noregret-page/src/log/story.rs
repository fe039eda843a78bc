//! The life of a trial.

use noregret_client::views::Step;
use noregret_store::{Entry, Event, rfc3339};

/// What happened to trial `number`, by the entries that concern it, in order.
pub fn timeline(number: u64, entries: &[Entry]) -> Vec<Step> {
    let mut holder: Option<String> = None;
    let mut steps = Vec::new();
    for entry in entries.iter().filter(|entry| entry.event.trials().contains(&number)) {
        let (what, detail) = match &entry.event {
            Event::Asked(proposed) => {
                let together = proposed.asked.choices.len();
                let detail = if together > 1 { format!("one of {together} points") } else { String::new() };
                ("asked", detail)
            }
            Event::Enqueued { .. } => ("enqueued", String::new()),
            Event::Added { added, .. } if added.value.is_finite() => {
                ("added", format!("value {}", added.value))
            }
            Event::Added { .. } => ("added", "a failure".into()),
            Event::Leased { worker, until, .. } => {
                holder = Some(worker.clone());
                ("leased", until.map_or(String::new(), |until| format!("until {}", rfc3339(until))))
            }
            Event::Released { lost: true, .. } => ("lost", "its worker has vanished".into()),
            Event::Released { .. } => ("released", String::new()),
            Event::Retried { reason, .. } => ("retried", reason.clone()),
            Event::Told { told, .. } => ("told", format!("value {}", told.value)),
            Event::Failed { failed, .. } => ("failed", failed.reason.clone()),
            Event::Late { value: Some(value), .. } => {
                ("late", format!("value {value}, which does not count"))
            }
            Event::Late { reason, .. } => ("late", reason.clone()),
            Event::Replaced { replaced, reason } => ("replaced", replacement(replaced.value, reason)),
            Event::Noted { note, .. } if note.is_empty() => ("noted", "its note was taken away".into()),
            Event::Noted { note, .. } => ("noted", note.clone()),
            _ => continue,
        };
        let ends = matches!(what, "released" | "lost" | "retried" | "told" | "failed");
        let worker = if ends { holder.take() } else { holder.clone() };
        let worker = worker.filter(|_| ends || what == "leased");
        steps.push(Step { time: rfc3339(entry.time), what: what.into(), worker, detail });
    }
    steps
}

/// A corrected result, and why.
fn replacement(value: f64, reason: &str) -> String {
    let value = if value.is_finite() { format!("value {value}") } else { "a failure".into() };
    if reason.is_empty() { value } else { format!("{value}: {reason}") }
}
