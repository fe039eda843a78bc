//! The log itself, for clients that keep a copy: what `--storage http://…` uses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use noregret_client::api::{Append, Appended, Log, Problem};
use noregret_files::{Allowed, DefineError, again};
use noregret_store::{Entry, Event, Timestamp, read_event, write_page};
use serde_json::value::RawValue;

use crate::app::App;
use crate::problem::{invalid, no_such_study, of_store};
use crate::request::{Answer, Call};
use crate::studies::check_name;
use crate::token_file::Role;

/// Entries in one answer at most.
const PAGE: usize = 2_000;
/// Seconds that a request may wait for something new.
const LONGEST_WAIT: f64 = 30.0;

#[expect(clippy::disallowed_methods, reason = "a request waits for so long")]
pub(crate) fn read(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    // No log is that long: what is beyond its end is nothing.
    let after: u64 = call.number_of("after")?.unwrap_or(0).min(u64::MAX >> 2);
    let limit = call.number_of("limit")?.unwrap_or(PAGE).min(PAGE);
    let wait: f64 = call.number_of("wait")?.unwrap_or(0.0);
    if !(0.0..=LONGEST_WAIT).contains(&wait) {
        return Err(invalid(format!("wait must be from 0 to {LONGEST_WAIT} seconds, not {wait}")));
    }
    if wait > 0.0 {
        let desk = app.desks.of(&call.study)?;
        desk.wait(after, Instant::now() + Duration::from_secs_f64(wait), &app.closing)?;
    }
    let trials = (call.number_of("trials_from")?, call.number_of("trials_to")?);
    let found = match trials {
        (None, None) => {
            let found = app.store.read(&call.study, after, limit).map_err(of_store)?;
            (after + 1..).zip(found).collect::<Vec<_>>()
        }
        (from, to) => {
            let (from, to) = (from.unwrap_or(0), to.unwrap_or(u64::MAX));
            let found = app.store.read_trials(&call.study, from..to).map_err(of_store)?;
            // Their positions are not known here, and do not matter.
            (1..).zip(found).collect()
        }
    };
    let last = app.store.last(&call.study).map_err(of_store)?;
    if last == 0 {
        return Err(no_such_study(&call.study));
    }
    let internal = |error: serde_json::Error| Problem::new(500, "internal", error.to_string());
    let raw = |(position, time, text): (u64, i64, String)| {
        Ok((position, time, RawValue::from_string(text).map_err(internal)?))
    };
    let entries = write_page(&call.study, &found).map_err(internal)?;
    Answer::json(200, &Log { entries: entries.into_iter().map(raw).collect::<Result<_, _>>()?, last })
}

pub(crate) fn append(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Append { after, entries } = call.json()?;
    check_name(&call.study)?;
    let entry = |(time, text): &(i64, Box<RawValue>)| {
        let event = read_event(text.get())
            .map_err(|error| invalid(format!("an entry cannot be understood: {error}")))?;
        Ok(Entry { time: Timestamp(*time), event })
    };
    let entries: Vec<Entry> = entries.iter().map(entry).collect::<Result<_, Problem>>()?;
    for entry in &entries {
        let role = role_of(&entry.event);
        if !call.caller.is(role) {
            let problem = format!("to make or change a study needs a token that may {role}");
            return Err(Problem::new(403, "forbidden", problem));
        }
        if let Event::Defined(definition) = &entry.event {
            check_definition(app, definition)?;
        }
    }
    let last = if after == 0 { begin(app, call, &entries)? } else { None };
    let last = match last {
        Some(last) => last,
        None => app.desks.of(&call.study)?.append(after, &entries)?,
    };
    Answer::json(200, &Appended { last })
}

/// Who may write such an entry.
fn role_of(event: &Event) -> Role {
    match event {
        Event::Defined(_) | Event::Planned(_) | Event::Archived { .. } => Role::Admin,
        _ => Role::Work,
    }
}

/// A definition that cannot be opened again is worth nothing; one with candidates in a file that the caller names is refused.
fn check_definition(app: &App, definition: &noregret_store::Definition) -> Result<(), Problem> {
    definition.algorithm.build().map_err(|error| invalid(error.to_string()))?;
    match again(definition, Allowed::Within(&app.pools)) {
        // Its program thinks, and keeps the candidates.
        Ok(_) | Err(DefineError::KeptByProgram) => Ok(()),
        Err(error) => Err(invalid(error.to_string())),
    }
}

/// Makes a study, if there is none of this name; `None` if there is one.
fn begin(app: &App, call: &Call, entries: &[Entry]) -> Result<Option<u64>, Problem> {
    let [first, rest @ ..] = entries else {
        return Err(invalid("a log begins with the definition of its study"));
    };
    if app.store.last(&call.study).map_err(of_store)? > 0 {
        return Ok(None);
    }
    if !matches!(first.event, Event::Defined(_)) {
        return Err(no_such_study(&call.study));
    }
    let last = app.store.append(&call.study, 0, std::slice::from_ref(first)).map_err(of_store)?;
    if rest.is_empty() {
        return Ok(Some(last));
    }
    app.desks.of(&call.study)?.append(last, rest).map(Some)
}
