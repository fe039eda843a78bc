//! Trials: handed out, told, queued, given back, listed.

use std::sync::Arc;
use std::time::{Duration, Instant};

use noregret_client::api::{
    Add, Added, Ask, Asked, Fail, Heartbeat, Held, Points, Problem, Release, Tell, Told, Trials,
};
use noregret_client::views::{Annotate, Replace};
use noregret_store::{
    Evaluation, ExternalResult, SharedStudy, Timestamp, TrialRecord, TrialStatus, can_be_kept,
};

use crate::app::App;
use crate::desk::{HandedOut, Order, Said};
use crate::problem::{invalid, of_store};
use crate::request::{Answer, Call, LONGEST_NAME};
use crate::studies::{MOST_POINTS, check_note, resolve, resolve_one};

/// Who has what was asked for without a name, as `noregret ask` has it.
const NOBODY: &str = "ask";
/// Trials on a page at most.
const PAGE: usize = 1_000;
/// Seconds that a request may wait for a trial, and that a lease may last.
const LONGEST_WAIT: f64 = 60.0;
const LONGEST_LEASE: f64 = 365.0 * 86_400.0;
/// Bytes of a reason and of what was written to stderr that are kept.
const KEPT: usize = 100_000;

#[expect(clippy::disallowed_methods, reason = "a request waits for so long")]
pub(crate) fn ask(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Ask { n, worker, lease, wait, beyond } = call.json()?;
    if let Some(n) = n.filter(|n| *n == 0 || *n > MOST_POINTS) {
        return Err(invalid(format!("n must be from 1 to {MOST_POINTS}, not {n}")));
    }
    if !(0.0..=LONGEST_WAIT).contains(&wait) {
        return Err(invalid(format!("wait must be from 0 to {LONGEST_WAIT} seconds, not {wait}")));
    }
    let order = Order {
        n,
        worker: worker_name(worker.as_deref())?.unwrap_or(NOBODY).to_owned(),
        lease: lease.map(span).transpose()?,
        request: call.named.clone(),
        beyond,
        until: Instant::now() + Duration::from_secs_f64(wait),
    };
    let desk = app.desks.of(&call.study)?;
    let handed_out = match desk.done(call.named.as_ref())? {
        Some(done) => {
            let trials = desk.with(|shared| Ok(described(shared, done.trials)))?;
            return Answer::json(200, &Asked { trials, done: false });
        }
        None => desk.ask(&order, &app.thinkers, &app.closing)?,
    };
    let HandedOut { trials, done } = handed_out;
    let numbers = trials.into_iter().map(|trial| trial.number).collect();
    Answer::json(200, &Asked { trials: desk.with(|shared| Ok(described(shared, numbers)))?, done })
}

fn described(shared: &mut SharedStudy, numbers: Vec<u64>) -> Vec<noregret_client::api::Trial> {
    let space = shared.study().space().clone();
    let records = numbers.into_iter().filter_map(|number| shared.ledger().record(number));
    records.map(|record| record.described(&space)).collect()
}

fn worker_name(name: Option<&str>) -> Result<Option<&str>, Problem> {
    let is_wrong =
        |name: &str| name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control);
    if name.is_some_and(is_wrong) {
        return Err(invalid(format!("a worker's name has from 1 to {LONGEST_NAME} printable characters")));
    }
    Ok(name)
}

fn span(seconds: f64) -> Result<Duration, Problem> {
    if !(1.0..=LONGEST_LEASE).contains(&seconds) {
        return Err(invalid(format!("a lease lasts from 1 to {LONGEST_LEASE} seconds, not {seconds}")));
    }
    Ok(Duration::from_secs_f64(seconds))
}

fn took(seconds: Option<f64>) -> Result<Option<f64>, Problem> {
    match seconds {
        Some(seconds) if !(0.0..=1e12).contains(&seconds) => {
            Err(invalid(format!("an evaluation takes a number of seconds, not {seconds}")))
        }
        other => Ok(other),
    }
}

pub(crate) fn tell(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Tell { value, noise_var, attrs, seconds, worker } = call.json()?;
    if !can_be_kept(&attrs) {
        return Err(invalid("attrs are nested too deep"));
    }
    let worker = worker_name(worker.as_deref())?.map(str::to_owned);
    let value = value.unwrap_or(f64::NAN);
    let evaluation = Evaluation::Value { value, noise_var, attrs, seconds: took(seconds)? };
    end(app, call, evaluation, worker)
}

pub(crate) fn fail(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Fail { reason, stderr, seconds, retry, worker } = call.json()?;
    if reason.trim().is_empty() {
        return Err(invalid("a failure needs a reason"));
    }
    let worker = worker_name(worker.as_deref())?.map(str::to_owned);
    let (reason, stderr, seconds) = (end_of(reason), end_of(stderr), took(seconds)?);
    let may_retry = retry
        && app.desks.of(&call.study)?.with(|shared| {
            let assignment = shared.definition().assignment.as_ref();
            let retries = assignment.and_then(|known| known.objective.get("retries")?.as_u64()).unwrap_or(0);
            Ok(shared.ledger().record(call.number).is_some_and(|record| u64::from(record.retries) < retries))
        })?;
    let evaluation = if may_retry {
        Evaluation::Retry { reason, stderr, seconds: seconds.unwrap_or_default() }
    } else {
        Evaluation::Failure { reason, stderr, seconds }
    };
    end(app, call, evaluation, worker)
}

/// The end of a text: the last that it says is what matters.
fn end_of(text: String) -> String {
    if text.len() <= KEPT {
        return text;
    }
    let start = (text.len() - KEPT..text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
    text[start..].to_owned()
}

fn end(
    app: &Arc<App>,
    call: &Call,
    evaluation: Evaluation,
    worker: Option<String>,
) -> Result<Answer, Problem> {
    let desk = app.desks.of(&call.study)?;
    let number = call.number;
    if let Some(done) = desk.done(call.named.as_ref())? {
        return Answer::json(200, &Told { number, result: done.result });
    }
    let verdict = desk.tell(Said { number, evaluation, worker, request: call.named.clone() })?;
    Answer::json(200, &Told { number, result: verdict.word().into() })
}

pub(crate) fn heartbeat(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Heartbeat { worker, lease } = call.json()?;
    worker_name(Some(&worker))?;
    let lease = span(lease)?;
    let desk = app.desks.of(&call.study)?;
    let held = desk.with_newest(|shared| {
        if !held(shared, &worker).is_empty() {
            shared.renew(&worker, lease, Timestamp::now()).map_err(of_store)?;
        }
        Ok(held(shared, &worker))
    })?;
    Answer::json(200, &Held { trials: held })
}

fn held(shared: &SharedStudy, worker: &str) -> Vec<u64> {
    let own = shared.ledger().running().filter(|(_, lease)| lease.worker == worker);
    own.map(|(number, _)| number).collect()
}

pub(crate) fn release(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Release { worker, trials } = call.json()?;
    worker_name(Some(&worker))?;
    let is_one = call.is_about_one;
    let desk = app.desks.of(&call.study)?;
    let left = desk.with_newest(|shared| {
        let numbers = match (is_one, trials) {
            (true, _) => vec![call.number],
            (false, Some(numbers)) => numbers,
            (false, None) => held(shared, &worker),
        };
        for number in &numbers {
            shared.study().trial(*number).map_err(|error| of_store(error.into()))?;
        }
        shared.release(&numbers, &[&worker], Timestamp::now()).map_err(of_store)?;
        Ok(held(shared, &worker))
    })?;
    Answer::json(200, &Held { trials: left })
}

pub(crate) fn enqueue(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Points { points } = call.json()?;
    let desk = app.desks.of(&call.study)?;
    desk.done(call.named.as_ref())?;
    let trials = desk.with_newest(|shared| {
        let points = resolve(shared.study().space(), points)?;
        let queued = shared.enqueue_for(&points, call.named.as_ref(), Timestamp::now()).map_err(of_store)?;
        Ok(described(shared, queued.into_iter().map(|trial| trial.number).collect()))
    })?;
    Answer::json(200, &Trials { trials, next: None })
}

pub(crate) fn add(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Add { results } = call.json()?;
    if results.is_empty() || results.len() > MOST_POINTS {
        return Err(invalid(format!("there must be from 1 to {MOST_POINTS} results, not {}", results.len())));
    }
    let desk = app.desks.of(&call.study)?;
    desk.done(call.named.as_ref())?;
    let added = desk.with_newest(|shared| {
        let space = shared.study().space().clone();
        let external = |result: noregret_client::api::External| {
            let (row, params) = resolve_one(&space, result.params)?;
            Ok(ExternalResult { params, row, value: result.value, noise_var: result.noise_var })
        };
        let results: Vec<ExternalResult> =
            results.into_iter().map(external).collect::<Result<_, Problem>>()?;
        shared.add_for(&results, call.named.as_ref(), Timestamp::now()).map_err(of_store)
    })?;
    Answer::json(200, &Added { added })
}

pub(crate) fn annotate(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Annotate { note, tags } = call.json()?;
    if tags.is_some() {
        return Err(invalid("studies have tags, trials have notes"));
    }
    let Some(note) = note else { return Err(invalid("say what to note: `note`, which may be empty")) };
    check_note(&note)?;
    let desk = app.desks.of(&call.study)?;
    let trial = desk.with_newest(|shared| {
        shared.study().trial(call.number).map_err(|error| of_store(error.into()))?;
        shared.note(Some(call.number), &note, Timestamp::now()).map_err(of_store)?;
        Ok(described(shared, vec![call.number]).pop())
    })?;
    Answer::json(200, &trial)
}

pub(crate) fn replace(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let Replace { value, noise_var, reason } = call.json()?;
    check_note(&reason)?;
    let (number, value) = (call.number, value.unwrap_or(f64::NAN));
    let verdict = app.desks.of(&call.study)?.with_newest(|shared| {
        shared.replace(number, value, noise_var, &reason, Timestamp::now()).map_err(of_store)
    })?;
    Answer::json(200, &Told { number, result: verdict.word().into() })
}

pub(crate) fn list(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let from: u64 = call.number_of("from")?.unwrap_or(0);
    let limit = call.number_of("limit")?.unwrap_or(100_usize).min(PAGE);
    let is_wanted: fn(&TrialStatus) -> bool = match call.word_of("state") {
        None => |_| true,
        Some("waiting") => |status| matches!(status, TrialStatus::Waiting),
        Some("running") => |status| matches!(status, TrialStatus::Running(_)),
        Some("complete") => |status| matches!(status, TrialStatus::Complete { .. }),
        Some("failed") => |status| matches!(status, TrialStatus::Failed { .. }),
        Some(other) => {
            return Err(invalid(format!("state is waiting, running, complete or failed, not {other:?}")));
        }
    };
    let desk = app.desks.of(&call.study)?;
    let page = desk.with_newest(|shared| {
        let space = shared.study().space().clone();
        let first = usize::try_from(from).unwrap_or(usize::MAX);
        let rest = shared.ledger().records().get(first..).unwrap_or_default();
        let mut chosen = rest.iter().filter(|record: &&TrialRecord| is_wanted(&record.status));
        let trials = chosen.by_ref().take(limit).map(|record| record.described(&space)).collect();
        Ok(Trials { trials, next: chosen.next().map(|record| record.number) })
    })?;
    Answer::json(200, &page)
}

pub(crate) fn one(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let desk = app.desks.of(&call.study)?;
    let trial = desk.with_newest(|shared| {
        shared.study().trial(call.number).map_err(|error| of_store(error.into()))?;
        Ok(described(shared, vec![call.number]).pop())
    })?;
    Answer::json(200, &trial)
}
