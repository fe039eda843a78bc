//! Who evaluated what, and when: a fold over the log.

use std::collections::{BTreeMap, VecDeque};

use noregret_store::{Entry, Event, Timestamp};

/// Evaluations that have ended and are kept one by one.
pub(super) const MOST_SPANS: usize = 3_000;

/// All that was evaluated, by whom.
#[derive(Clone, Debug, Default)]
pub(super) struct Activity {
    pub(super) people: Vec<Person>,
    places: BTreeMap<String, u32>,
    /// Evaluations under way, by trial.
    pub(super) open: BTreeMap<u64, Open>,
    /// The last ones that have ended, in the order in which they did.
    pub(super) closed: VecDeque<Closed>,
    /// Whether there were more.
    pub(super) has_forgotten: bool,
    /// Seconds of all evaluations.
    pub(super) seconds: f64,
    /// For each trial, who had it last.
    last: BTreeMap<u64, u32>,
}

/// Somebody who evaluates.
#[derive(Clone, Debug)]
pub(super) struct Person {
    pub(super) name: String,
    pub(super) running: u64,
    pub(super) complete: u64,
    pub(super) failed: u64,
    pub(super) lost: u64,
    pub(super) first: Timestamp,
    pub(super) last: Timestamp,
    /// Milliseconds with something to evaluate, up to when it last had nothing.
    busy: u64,
    /// Since when it has something.
    since: Timestamp,
}

impl Person {
    /// Seconds with something to evaluate, up to `now`; evaluations at the same time count once.
    pub(super) fn busy(&self, now: Timestamp) -> f64 {
        let open = if self.running > 0 { now.since(self.since).as_secs_f64() } else { 0.0 };
        self.busy as f64 / 1e3 + open
    }
}

/// An evaluation under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Open {
    pub(super) person: u32,
    pub(super) begin: Timestamp,
}

/// An evaluation that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closed {
    pub(super) number: u64,
    pub(super) person: u32,
    pub(super) begin: Timestamp,
    pub(super) end: Timestamp,
    pub(super) outcome: Outcome,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    Complete,
    Failed,
    Retried,
    Released,
    Lost,
}

impl Outcome {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Failed => "failed",
            Self::Retried => "retried",
            Self::Released => "released",
            Self::Lost => "lost",
        }
    }
}

impl Activity {
    pub(super) fn apply(&mut self, entry: &Entry) {
        let now = entry.time;
        match &entry.event {
            Event::Leased { number, worker, .. } => {
                // Somebody else has it now.
                self.end(*number, now, Outcome::Lost, None);
                self.begin(*number, worker, now);
            }
            Event::Renewed { worker, .. } => {
                if let Some(place) = self.places.get(worker) {
                    let person = &mut self.people[*place as usize];
                    person.last = person.last.max(now);
                }
            }
            Event::Released { number, lost } => {
                let outcome = if *lost { Outcome::Lost } else { Outcome::Released };
                self.end(*number, now, outcome, None);
            }
            Event::Retried { number, seconds, .. } => {
                self.end(*number, now, Outcome::Retried, Some(*seconds));
            }
            Event::Told { told, seconds, .. } => self.end(told.number, now, Outcome::Complete, *seconds),
            Event::Failed { failed, seconds, .. } => self.end(failed.number, now, Outcome::Failed, *seconds),
            _ => {}
        }
    }

    /// Who had a trial last.
    pub(super) fn worker_of(&self, number: u64) -> Option<&str> {
        let place = self.last.get(&number)?;
        self.people.get(*place as usize).map(|person| person.name.as_str())
    }

    fn begin(&mut self, number: u64, worker: &str, now: Timestamp) {
        let place = self.place_of(worker, now);
        let person = &mut self.people[place as usize];
        if person.running == 0 {
            person.since = now;
        }
        person.running += 1;
        person.last = person.last.max(now);
        self.open.insert(number, Open { person: place, begin: now });
        self.last.insert(number, place);
    }

    fn place_of(&mut self, worker: &str, now: Timestamp) -> u32 {
        if let Some(place) = self.places.get(worker) {
            return *place;
        }
        let place = u32::try_from(self.people.len()).unwrap_or(u32::MAX);
        self.places.insert(worker.to_owned(), place);
        self.people.push(Person {
            name: worker.to_owned(),
            running: 0,
            complete: 0,
            failed: 0,
            lost: 0,
            first: now,
            last: now,
            busy: 0,
            since: now,
        });
        place
    }

    /// The evaluation of this trial has ended, if there was one.
    fn end(&mut self, number: u64, end: Timestamp, outcome: Outcome, seconds: Option<f64>) {
        let Some(Open { person: place, begin }) = self.open.remove(&number) else { return };
        let person = &mut self.people[place as usize];
        person.running -= 1;
        if person.running == 0 {
            person.busy += u64::try_from(end.since(person.since).as_millis()).unwrap_or(u64::MAX);
        }
        match outcome {
            Outcome::Complete => person.complete += 1,
            Outcome::Failed | Outcome::Retried => person.failed += 1,
            Outcome::Released | Outcome::Lost => person.lost += 1,
        }
        // Who is lost was not seen when that was noticed.
        if outcome != Outcome::Lost {
            person.last = person.last.max(end);
            self.seconds += seconds.unwrap_or_else(|| end.since(begin).as_secs_f64());
        }
        self.closed.push_back(Closed { number, person: place, begin, end, outcome });
        if self.closed.len() > MOST_SPANS {
            self.closed.pop_front();
            self.has_forgotten = true;
        }
    }
}
