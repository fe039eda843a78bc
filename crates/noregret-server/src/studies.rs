//! Studies: made, listed, described, changed, asked about their model.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use noregret::strategy::history::Choice;
use noregret::{Params, Space, Value};
use noregret_client::api::{
    Archive, Diagnostics, Insight, Plan, Points, Predicted, Problem, Studies, Study, StudyName, Suggest,
    Suggested,
};
use noregret_client::views::{Annotate, Pause};
use noregret_files::{Allowed, StudyFile, define};
use noregret_store::{Assignment, SharedStudy, StoreError, Timestamp};
use serde_json::json;

use crate::app::App;
use crate::desk::Desk;
use crate::problem::{invalid, of_store};
use crate::request::{Answer, Call, LONGEST_NAME};
use crate::token_file::Role;

/// Characters of a note, characters of a tag, and tags of a study, at most.
const LONGEST_NOTE: usize = 10_000;
const LONGEST_TAG: usize = 100;
const MOST_TAGS: usize = 50;
/// Points of one request at most.
pub(crate) const MOST_POINTS: usize = 100_000;

/// What workers are told of a study file.
pub fn assignment(file: &StudyFile) -> Assignment {
    Assignment {
        objective: json!(file.objective),
        batch: file.batch(),
        stop_when_regret_below: file.study.stop_when_regret_below,
    }
}

/// Names that can be written into addresses and logs.
pub(crate) fn check_name(name: &str) -> Result<(), Problem> {
    let length = name.chars().count();
    if name.trim().is_empty() || length > LONGEST_NAME || name.chars().any(char::is_control) {
        return Err(invalid(format!("a study's name has from 1 to {LONGEST_NAME} printable characters")));
    }
    Ok(())
}

pub(crate) fn list(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let limit = call.number_of("limit")?.unwrap_or(usize::MAX);
    let all = app.store.studies().map_err(of_store)?;
    let seen = all.into_iter().filter(|(name, _)| call.caller.may_see(name) && app.shows(name)).take(limit);
    let studies = seen.map(|(name, position)| StudyName { name, position }).collect();
    Answer::json(200, &Studies { studies })
}

pub(crate) fn create(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let text = std::str::from_utf8(&call.body).map_err(|_| invalid("a study file is text, in UTF-8"))?;
    let read = if call.is_toml() { StudyFile::from_toml(text) } else { StudyFile::from_json(text) };
    let file = read.map_err(|error| invalid(error.to_string()))?;
    let name = file.study.name.clone();
    check_name(&name)?;
    if !call.caller.may_see(&name) {
        return Err(Problem::new(403, "forbidden", format!("this token is not for study `{name}`")));
    }
    // Files with candidates are those of the server's own folders.
    let folder = app.pools.first().map_or(Path::new("/nonexistent"), |folder| folder.as_path());
    let allowed = Allowed::Within(&app.pools);
    let (mut definition, space) =
        define(&file, folder, allowed).map_err(|error| invalid(error.to_string()))?;
    definition.assignment = Some(Box::new(assignment(&file)));
    let is_new = app.store.last(&name).map_err(of_store)? == 0;
    SharedStudy::open(Arc::clone(&app.store), &name, &definition, space).map_err(of_store)?;
    let desk = app.desks.of(&name)?;
    let study = desk.with_newest(|shared| describe_study(&desk, shared, call))?;
    Answer::json(if is_new { 201 } else { 200 }, &study)
}

pub(crate) fn describe(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let desk = app.desks.of(&call.study)?;
    Answer::json(200, &desk.with_newest(|shared| describe_study(&desk, shared, call))?)
}

fn describe_study(desk: &Desk, shared: &mut SharedStudy, call: &Call) -> Result<Study, Problem> {
    let study = noregret_page::describe::study(shared, desk.is_satisfied());
    let mut study = study.map_err(|error| Problem::new(500, "internal", error.to_string()))?;
    // A command line may hold what is not for everybody.
    study.objective = study.objective.filter(|_| call.caller.is(Role::Work));
    Ok(study)
}

pub(crate) fn plan(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Plan { trials } = call.json()?;
    if trials == 0 {
        return Err(invalid("a study has at least one trial"));
    }
    change(app, call, |shared| shared.plan(trials, Timestamp::now()))
}

pub(crate) fn archive(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Archive { archived } = call.json()?;
    change(app, call, |shared| shared.archive(archived, Timestamp::now()))
}

pub(crate) fn pause(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Pause { paused } = call.json()?;
    change(app, call, |shared| shared.pause(paused, Timestamp::now()))
}

pub(crate) fn annotate(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Annotate { note, tags } = call.json()?;
    if note.is_none() && tags.is_none() {
        return Err(invalid("say what to note: `note`, `tags` or both"));
    }
    note.as_deref().map_or(Ok(()), check_note)?;
    tags.as_deref().map_or(Ok(()), check_tags)?;
    change(app, call, |shared| {
        note.map_or(Ok(()), |note| shared.note(None, &note, Timestamp::now()))?;
        tags.map_or(Ok(()), |tags| shared.tag(&tags, Timestamp::now()))
    })
}

/// Notes are for people, and everybody who looks gets all of them.
pub(crate) fn check_note(note: &str) -> Result<(), Problem> {
    let length = note.chars().count();
    if length > LONGEST_NOTE {
        return Err(invalid(format!("a note has at most {LONGEST_NOTE} characters, not {length}")));
    }
    Ok(())
}

fn check_tags(tags: &[String]) -> Result<(), Problem> {
    let is_wrong = |tag: &String| {
        tag.trim().is_empty() || tag.chars().count() > LONGEST_TAG || tag.chars().any(char::is_control)
    };
    if tags.len() > MOST_TAGS || tags.iter().any(is_wrong) {
        let problem =
            format!("there are at most {MOST_TAGS} tags, of 1 to {LONGEST_TAG} printable characters each");
        return Err(invalid(problem));
    }
    Ok(())
}

fn change(
    app: &Arc<App>,
    call: &Call,
    change: impl FnOnce(&mut SharedStudy) -> Result<(), StoreError>,
) -> Result<Answer, Problem> {
    let desk = app.desks.of(&call.study)?;
    let study = desk.with_newest(|shared| {
        change(shared).map_err(of_store)?;
        describe_study(&desk, shared, call)
    })?;
    Answer::json(200, &study)
}

pub(crate) fn suggest(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Suggest { n } = call.json()?;
    let q = NonZeroUsize::new(n)
        .filter(|q| q.get() <= MOST_POINTS)
        .ok_or_else(|| invalid(format!("n must be from 1 to {MOST_POINTS}, not {n}")))?;
    let suggested = app.desks.of(&call.study)?.consult(&app.thinkers, |shared| {
        if let Some(name) = shared.definition().space.function() {
            return Err(invalid(format!(
                "constraint `{name}` is a function of the program that made this study"
            )));
        }
        let (draft, _) = shared.study().draft_ask(Some(q)).map_err(|error| of_store(error.into()))?;
        let space = shared.study().space();
        let id = |choice: &Choice| Some(space.as_pool()?.id(choice.row?).into_owned());
        Ok(Suggested {
            points: draft.choices.iter().map(|choice| choice.params(space)).collect(),
            ids: draft.choices.iter().filter_map(id).collect(),
        })
    })?;
    Answer::json(200, &suggested)
}

pub(crate) fn predict(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Points { points } = call.json()?;
    let predicted = app.desks.of(&call.study)?.consult(&app.thinkers, |shared| {
        let points = resolve(shared.study().space(), points)?;
        shared.study().predict(&points).map_err(|error| of_store(error.into()))
    })?;
    let (mean, sd) = predicted.map_or((None, None), |found| (Some(found.mean), Some(found.sd)));
    Answer::json(200, &Predicted { mean, sd })
}

pub(crate) fn best(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let best = app.desks.of(&call.study)?.consult(&app.thinkers, |shared| {
        noregret_page::describe::best(shared).map_err(|error| of_store(error.into()))
    })?;
    Answer::json(200, &best)
}

pub(crate) fn insight(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let found = app
        .desks
        .of(&call.study)?
        .consult(&app.thinkers, |shared| shared.study().insight().map_err(|error| of_store(error.into())))?;
    let regret = found.as_ref().map(|insight| json!(insight.remaining_regret));
    let importance = found.map(|insight| insight.importance);
    Answer::json(200, &Insight { remaining_regret: regret, importance })
}

pub(crate) fn diagnostics(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let desk = app.desks.of(&call.study)?;
    let diagnostics = desk.with_newest(|shared| Ok(shared.diagnostics().map(|known| json!(known))))?;
    Answer::json(200, &Diagnostics { diagnostics })
}

/// Points as they come, checked; candidates of a pool may be named by `id`.
pub(crate) fn resolve(space: &Space, points: Vec<Params>) -> Result<Vec<Params>, Problem> {
    if points.is_empty() || points.len() > MOST_POINTS {
        return Err(invalid(format!("there must be from 1 to {MOST_POINTS} points, not {}", points.len())));
    }
    points.into_iter().map(|point| Ok(resolve_one(space, point)?.1)).collect()
}

/// The same for one point, with its row in the pool if it is named.
pub(crate) fn resolve_one(space: &Space, point: Params) -> Result<(Option<usize>, Params), Problem> {
    if let (Some(pool), Some(Value::Text(id)), 1) = (space.as_pool(), point.get("id"), point.len()) {
        let row = pool.row_of_id(id).ok_or_else(|| invalid(format!("the pool has no {id:?}")))?;
        return Ok((Some(row), pool.params(row)));
    }
    space.encode(&point).map_err(|error| invalid(error.to_string()))?;
    Ok((None, point))
}
