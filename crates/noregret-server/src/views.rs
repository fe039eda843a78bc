//! What people look at.

use std::sync::Arc;

use noregret_client::api::Problem;
use noregret_client::views::{MapOf, Overview, Session, Story};
use noregret_page::log::{MOST_POINTS, MOST_ROWS, TableOf, timeline};
use noregret_page::model::{self, ViewError};
use noregret_store::{SharedStudy, Timestamp, rfc3339};
use serde::Serialize;

use crate::app::App;
use crate::problem::{invalid, no_such_study, of_store};
use crate::request::{Answer, Call};
use crate::token_file::Role;

/// Trials in a history, if nobody says how many.
const POINTS: usize = 2_000;

pub(crate) fn session(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let role = if app.read_only { Role::Read } else { call.caller.role };
    let session = Session {
        role: role.word().into(),
        version: env!("CARGO_PKG_VERSION").into(),
        report: false,
        made: None,
        more: serde_json::Map::new(),
    };
    Answer::json(200, &session)
}

pub(crate) fn overview(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let all = app.store.studies().map_err(of_store)?;
    let seen = all.into_iter().filter(|(name, _)| call.caller.may_see(name) && app.shows(name));
    let card = |(name, position): (String, u64)| {
        app.chronicles.card(&name, position, || app.desks.problem_of(&name))
    };
    let studies = seen.map(card).collect::<Result<_, Problem>>()?;
    Answer::json(200, &Overview { studies, time: rfc3339(Timestamp::now()) })
}

pub(crate) fn history(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let points = call.number_of("points")?.unwrap_or(POINTS);
    if points == 0 || points > MOST_POINTS {
        return Err(invalid(format!("points must be from 1 to {MOST_POINTS}, not {points}")));
    }
    let position = app.chronicles.look(&call.study, |chronicle| Ok(chronicle.position()))?;
    let question = format!("history {points}");
    let kept = app.answers.get(&call.study, &question, position, false, || {
        let history = app.chronicles.look(&call.study, |chronicle| Ok(chronicle.history(points)))?;
        json(&history)
    })?;
    Ok(Answer::kept(kept))
}

pub(crate) fn trials(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let of = TableOf {
        filter: call.word_of("filter").map(str::to_owned),
        sort: call.word_of("sort").map(str::to_owned),
        descending: call.truth_of("descending")?,
        from: call.number_of("from")?.unwrap_or(0),
        limit: call.number_of("limit")?,
    };
    if let Some(limit) = of.limit.filter(|limit| *limit > MOST_ROWS) {
        return Err(invalid(format!("limit is at most {MOST_ROWS}, not {limit}")));
    }
    let space = app.desks.of(&call.study)?.space()?;
    let table = app.chronicles.look(&call.study, |chronicle| {
        chronicle.table(&space, &of).map_err(|error| invalid(error.to_string()))
    })?;
    Answer::json(200, &table)
}

pub(crate) fn workers(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let workers = app.chronicles.look(&call.study, |chronicle| Ok(chronicle.workers(Timestamp::now())))?;
    Answer::json(200, &workers)
}

pub(crate) fn story(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let number = call.number;
    let space = app.desks.of(&call.study)?.space()?;
    let trial = app.chronicles.look(&call.study, |chronicle| {
        let record = chronicle
            .ledger()
            .record(number)
            .ok_or_else(|| Problem::new(404, "no-such-trial", format!("there is no trial {number}")))?;
        let described = chronicle.described(record, &space);
        Ok(noregret_client::api::Trial { stderr: record.stderr.clone(), ..described })
    })?;
    let entries = app.store.read_trials(&call.study, number..number.saturating_add(1)).map_err(of_store)?;
    let why = asked(app, call, &format!("why {number}"), |shared| model::why(shared, number))?;
    let why = serde_json::from_slice(why.plain())
        .map_err(|error| Problem::new(500, "internal", error.to_string()))?;
    Answer::json(200, &Story { trial, timeline: timeline(number, &entries), why })
}

pub(crate) fn map(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let of: MapOf = call.json()?;
    // The same wish in other words is the same wish.
    let question = format!("map {}", serde_json::to_string(&of).unwrap_or_default());
    let answer = asked(app, call, &question, |shared| model::map(shared.study(), &of))?;
    Ok(Answer::kept(answer))
}

pub(crate) fn importance(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    asked(app, call, "importance", |shared| Ok(model::importance(shared.study())?)).map(Answer::kept)
}

pub(crate) fn trust(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let trust = |shared: &mut SharedStudy| {
        let (study, ledger, diagnostics) = shared.parts();
        Ok(model::trust(study, ledger, diagnostics)?)
    };
    asked(app, call, "trust", trust).map(Answer::kept)
}

pub(crate) fn regret(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    asked(app, call, "regret", |shared| Ok(model::regret(shared.study())?)).map(Answer::kept)
}

pub(crate) fn pool(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    asked(app, call, "pool", |shared| Ok(model::pool(shared.study())?)).map(Answer::kept)
}

/// The model's answer to a question: thought of once for all who ask it, until there is something new.
fn asked<T: Serialize>(
    app: &Arc<App>,
    call: &Call,
    question: &str,
    ask: impl FnOnce(&mut SharedStudy) -> Result<T, ViewError>,
) -> Result<Arc<crate::kept::Kept>, Problem> {
    let desk = app.desks.of(&call.study)?;
    let position = app.chronicles.look(&call.study, |chronicle| Ok(chronicle.model_position()))?;
    app.answers.get(&call.study, question, position, true, || {
        let found = desk.consult(&app.thinkers, |shared| ask(shared).map_err(of_view))?;
        json(&found)
    })
}

fn of_view(error: ViewError) -> Problem {
    match error {
        ViewError::Store(error) => of_store(error),
        error if error.is_of_the_request() => invalid(error.to_string()),
        ViewError::Study(error) => of_store(error.into()),
        error => Problem::new(500, "internal", error.to_string()),
    }
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, Problem> {
    serde_json::to_vec(value).map_err(|error| Problem::new(500, "internal", error.to_string()))
}

/// A study that is not shown is like one that is not there.
pub(crate) fn check_shown(app: &App, study: &str) -> Result<(), Problem> {
    if app.shows(study) { Ok(()) } else { Err(no_such_study(study)) }
}
