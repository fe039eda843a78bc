//! Who did what, and when.

use noregret_client::views::{Span, Worker, Workers};
use noregret_store::{Timestamp, rfc3339};

use super::Chronicle;
use super::activity::{MOST_SPANS, Person};

/// Workers in an answer at most, the latest of them.
const MOST_WORKERS: usize = 500;

impl Chronicle {
    /// Workers, and the last evaluations.
    pub fn workers(&self, now: Timestamp) -> Workers {
        let activity = &self.activity;
        let mut latest: Vec<(usize, &Person)> = activity.people.iter().enumerate().collect();
        latest.sort_by(|(i, a), (j, b)| b.last.cmp(&a.last).then(i.cmp(j)));
        let is_cut = latest.len() > MOST_WORKERS;
        latest.truncate(MOST_WORKERS);
        // From the place in the fold to the place in the answer.
        let mut places = vec![None; activity.people.len()];
        for (place, (i, _)) in (0_u32..).zip(&latest) {
            places[*i] = Some(place);
        }
        let place = |person: u32| places.get(person as usize).copied().flatten();
        let closed = activity.closed.iter().filter_map(|span| {
            Some(Span {
                number: span.number,
                worker: place(span.person)?,
                begin: self.seconds(span.begin),
                end: Some(self.seconds(span.end)),
                outcome: span.outcome.word().into(),
            })
        });
        let open = activity.open.iter().filter_map(|(number, span)| {
            Some(Span {
                number: *number,
                worker: place(span.person)?,
                begin: self.seconds(span.begin),
                end: None,
                outcome: "running".into(),
            })
        });
        let mut spans: Vec<Span> = closed.chain(open).collect();
        spans.sort_by(|a, b| a.begin.total_cmp(&b.begin).then(a.number.cmp(&b.number)));
        let beyond = spans.len().saturating_sub(MOST_SPANS);
        spans.drain(..beyond);
        Workers {
            position: self.position(),
            begun: self.begun().map(rfc3339),
            now: self.seconds(now),
            workers: latest.iter().map(|(_, person)| self.worker(person, now)).collect(),
            spans,
            thinned: activity.has_forgotten || beyond > 0 || is_cut,
            evaluation_seconds: activity.seconds,
            thinking_seconds: self.ledger().model_seconds(),
        }
    }

    fn worker(&self, person: &Person, now: Timestamp) -> Worker {
        Worker {
            name: person.name.clone(),
            host: host_of(&person.name),
            running: person.running,
            complete: person.complete,
            failed: person.failed,
            lost: person.lost,
            first: self.seconds(person.first),
            last: self.seconds(person.last),
            busy: person.busy(now),
        }
    }
}

/// What comes after the `@`, and is no number of a boot of a machine: that says nothing to people.
fn host_of(name: &str) -> Option<String> {
    let (_, place) = name.split_once('@')?;
    let place = place.split('/').next().unwrap_or(place);
    let is_name = place.contains(|c: char| c.is_ascii_alphabetic()) && !is_boot(place);
    is_name.then(|| place.to_owned())
}

/// Whether this is an identifier of a boot (five groups of hexadecimal digits) and of a namespace, as processes have it in their names.
fn is_boot(place: &str) -> bool {
    let lengths: Vec<usize> = place.split('-').map(str::len).collect();
    lengths.starts_with(&[8, 4, 4, 4, 12]) && place.chars().all(|c| c.is_ascii_hexdigit() || c == '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_those_that_people_know() {
        assert_eq!(host_of("gpu-7@lab3").as_deref(), Some("lab3"));
        assert_eq!(host_of("gpu-7@lab3/0").as_deref(), Some("lab3"));
        assert_eq!(host_of("somebody"), None);
        assert_eq!(host_of("17-99@7c6aa1a2-31e5-4dbb-a5f0-0123456789ab-4026531836"), None);
        assert_eq!(host_of("17@1763500000000"), None);
    }
}
