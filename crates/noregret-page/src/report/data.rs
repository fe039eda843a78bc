//! What a report has inside: answers by their requests, as the page would ask for them.

use std::collections::BTreeSet;

use noregret_client::api::Trial;
use noregret_client::views::{Importance, MapOf, Overview, Session, Story, Table};
use noregret_store::{SharedStudy, Timestamp};
use serde::Serialize;
use serde_json::{Map, Value as Json, json};

use super::number::rounded;
use super::{ReportError, Reported};
use crate::log::{TableOf, timeline};
use crate::{describe, model};

/// Trials of a study in a report: beyond, the best of them, the first and the last, and evenly some of the others.
const MOST_TRIALS: usize = 1_000;
/// Bytes of the table of trials: of studies with many parameters there are fewer trials.
const TABLE: usize = 450_000;
/// Trials on a map: a share of the best, and evenly some of the others.
const ON_A_MAP_AT_MOST: usize = 200;
/// Places in the plot of values.
const POINTS: usize = 2_000;
/// Evaluations in the timeline of workers.
const MOST_SPANS: usize = 1_000;
/// Parameters with a curve, and those of them that have a map with each other.
const CURVES: usize = 8;
const MAPS: usize = 4;
/// Points along an axis: of curves and of maps.
const ON_A_CURVE: usize = 48;
const ON_A_MAP: usize = 24;
/// Trials whose whole story is told: the best, and the last failures.
const BEST_STORIES: usize = 5;
const FAILED_STORIES: usize = 5;
/// Bytes of what a failed evaluation wrote that are kept.
const STDERR: usize = 2_000;

/// The answers, as one JSON object from requests to answers.
pub fn data(studies: &mut [Reported<'_>], made: &str) -> Result<String, ReportError> {
    let mut answers = Map::new();
    let mut maps = Map::new();
    let mut thinned = Vec::new();
    let mut cards = Vec::new();
    for study in &mut *studies {
        let name = study.name().to_owned();
        let wishes = add(study, &mut answers, &mut thinned)?;
        maps.insert(name.clone(), serde_json::to_value(wishes)?);
        cards.push(study.chronicle.card(&name, None));
    }
    let overview = Overview { studies: cards, time: made.to_owned() };
    answers.insert("GET /api/v1/overview".into(), serde_json::to_value(overview)?);
    let session = Session {
        role: "read".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        report: true,
        made: Some(made.to_owned()),
        more: Map::from_iter([
            ("maps".to_owned(), Json::Object(maps)),
            ("thinned".to_owned(), json!(thinned)),
        ]),
    };
    answers.insert("GET /api/v1/session".into(), serde_json::to_value(session)?);
    Ok(serde_json::to_string(&answers)?)
}

/// Adds what the page asks about a study; returns the maps that it can show.
fn add(
    study: &mut Reported<'_>,
    answers: &mut Map<String, Json>,
    thinned: &mut Vec<String>,
) -> Result<Vec<MapOf>, ReportError> {
    let base = format!("/api/v1/studies/{}", segment(study.name()));
    let mut put = |path: &str, answer: Json| answers.insert(format!("GET {base}{path}"), answer);
    let Reported { shared, chronicle, store } = study;
    let described = describe::study(shared, false)?;
    put("", serde_json::to_value(noregret_client::api::Study { objective: None, ..described })?);
    let best = describe::best(shared)?;
    let recommended = best.recommended.as_ref().and_then(|point| number_of(point.get()));
    put("/best", serde_json::to_value(best)?);
    let history = chronicle.history(POINTS);
    if history.thinned {
        let name = shared.name();
        thinned
            .push(format!("`{name}`: the plot of values has some of the trials, the best ones among them"));
    }
    put("/views/history?points=2000", of_view(&history)?);
    put("/views/regret", of_view(&model::regret(shared.study())?)?);
    let importance = model::importance(shared.study())?;
    put("/views/importance", of_view(&importance)?);
    let (inner, ledger, diagnostics) = shared.parts();
    put("/views/trust", of_view(&model::trust(inner, ledger, diagnostics)?)?);
    let mut workers = chronicle.workers(Timestamp::now());
    workers.now = chronicle.until();
    let beyond = workers.spans.len().saturating_sub(MOST_SPANS);
    workers.spans.drain(..beyond);
    workers.thinned |= beyond > 0;
    if workers.thinned {
        thinned.push(format!("`{}`: the timeline of workers has the last evaluations only", shared.name()));
    }
    put("/views/workers", of_view(&workers)?);
    put("/views/pool", of_view(&model::pool(shared.study())?)?);
    let space = shared.study().space().clone();
    let (mut table, mut told) = self::table(chronicle, shared, MOST_TRIALS)?;
    let bytes = serde_json::to_string(&table)?.len();
    if bytes > TABLE {
        (table, told) = self::table(chronicle, shared, MOST_TRIALS.min(table.trials.len()) * TABLE / bytes)?;
    }
    if table.trials.len() < usize::try_from(table.total).unwrap_or(usize::MAX) {
        thinned.push(format!(
            "`{}`: the table has {} of {} trials: the best, the first, the last, and some of the others",
            shared.name(),
            table.trials.len(),
            table.total
        ));
    }
    put("/views/trials", serde_json::to_value(&table)?);
    let stories = told.into_iter().chain(recommended);
    for number in stories.collect::<BTreeSet<u64>>() {
        let Some(record) = chronicle.ledger().record(number) else { continue };
        let trial = Trial { stderr: end_of(&record.stderr), ..chronicle.described(record, &space) };
        let entries = store.read_trials(shared.name(), number..number + 1)?;
        let why = model::why(shared, number)?;
        let story = Story { trial, timeline: timeline(number, &entries), why };
        put(&format!("/trials/{number}/story"), of_view(&story)?);
    }
    let mut shown = Vec::new();
    let best = chronicle.best_first();
    let best: BTreeSet<u64> = best.into_iter().take(ON_A_MAP_AT_MOST / 2).collect();
    for of in wishes(shared, importance.as_ref()) {
        let Some(mut map) = model::map(shared.study(), &of)? else { continue };
        thin(&mut map.evaluated, |(number, ..)| best.contains(number));
        let request = format!("POST {base}:map {}", serde_json::to_string(&of)?);
        answers.insert(request, of_view(&map)?);
        shown.push(of);
    }
    if chronicle.counts().complete > ON_A_MAP_AT_MOST as u64 {
        thinned
            .push(format!("`{}`: on maps there are the best trials, and some of the others", shared.name()));
    }
    Ok(shown)
}

/// Keeps what matters, and evenly some of the rest.
fn thin<T>(all: &mut Vec<T>, matters: impl Fn(&T) -> bool) {
    if all.len() <= ON_A_MAP_AT_MOST {
        return;
    }
    let step = all.len().div_ceil(ON_A_MAP_AT_MOST / 2);
    let mut place = 0;
    all.retain(|one| {
        place += 1;
        matters(one) || place % step == 0
    });
}

/// An answer of the model, with no more digits than anybody reads.
fn of_view(answer: &impl Serialize) -> Result<Json, serde_json::Error> {
    serde_json::to_value(answer).map(rounded)
}

/// Curves of the parameters that matter most, and maps of those that matter most of these.
fn wishes(shared: &mut SharedStudy, importance: Option<&Importance>) -> Vec<MapOf> {
    let names: Vec<String> = match importance {
        Some(importance) => importance.parameters.iter().map(|of| of.name.clone()).collect(),
        None => shared.study().space().names().to_vec(),
    };
    let wish = |x: &String, y: Option<&String>| MapOf {
        x: x.clone(),
        y: y.cloned(),
        others: "best".into(),
        fixed: std::collections::BTreeMap::default(),
        resolution: if y.is_some() { ON_A_MAP } else { ON_A_CURVE },
    };
    let mut wishes: Vec<MapOf> = names.iter().take(CURVES).map(|x| wish(x, None)).collect();
    for (i, x) in names.iter().take(MAPS).enumerate() {
        wishes.extend(names.iter().take(MAPS).skip(i + 1).map(|y| wish(x, Some(y))));
    }
    wishes
}

/// The trials that a report shows, `most` at most, and the numbers of those whose story it tells.
fn table(
    chronicle: &crate::log::Chronicle,
    shared: &mut SharedStudy,
    most: usize,
) -> Result<(Table, Vec<u64>), serde_json::Error> {
    let space = shared.study().space().clone();
    let records = chronicle.ledger().records();
    let n = records.len();
    let best = chronicle.best_first();
    let mut kept = vec![n <= most; n];
    let mut keep = |numbers: &mut dyn Iterator<Item = usize>| {
        numbers.for_each(|i| {
            if let Some(kept) = kept.get_mut(i) {
                *kept = true;
            }
        });
    };
    let part = (most / 4).max(1);
    let index = |number: &u64| usize::try_from(*number).unwrap_or(usize::MAX);
    keep(&mut best.iter().take(part).map(index));
    keep(&mut (0..part.min(n)));
    keep(&mut (n.saturating_sub(part)..n));
    keep(&mut (0..n).step_by((n / part).max(1)).take(part));
    // An empty filter: every table has what it needs but the rows.
    let empty = TableOf { limit: Some(0), ..TableOf::default() };
    let table = chronicle.table(&space, &empty).map_err(<serde_json::Error as serde::ser::Error>::custom)?;
    let trials = records.iter().zip(&kept).filter(|(_, kept)| **kept);
    let trials = trials.map(|(record, _)| chronicle.described(record, &space)).collect();
    let failed = records.iter().rev().filter(|record| record.status.word() == "failed");
    let failed = failed.take(FAILED_STORIES).map(|record| record.number);
    let told = best.iter().copied().take(BEST_STORIES).chain(failed).collect();
    Ok((Table { trials, ..table }, told))
}

fn number_of(recommended: &str) -> Option<u64> {
    serde_json::from_str::<Json>(recommended).ok()?.get("number")?.as_u64()
}

fn end_of(text: &str) -> String {
    let start = text.len().saturating_sub(STDERR);
    let start = (start..=text.len()).find(|i| text.is_char_boundary(*i)).unwrap_or(text.len());
    text[start..].to_owned()
}

/// A name in an address, as the page writes it.
fn segment(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.!~*'()".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.extend(["%".to_owned(), format!("{byte:02X}")]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays_on_a_map() {
        let mut few: Vec<u64> = (0..150).collect();
        thin(&mut few, |_| false);
        assert_eq!(few.len(), 150);
        let mut many: Vec<u64> = (0..2_000).collect();
        thin(&mut many, |number| *number < 100);
        assert!(
            many.len() <= ON_A_MAP_AT_MOST && many.starts_with(&(0..100).collect::<Vec<_>>()),
            "{}",
            many.len()
        );
    }

    #[test]
    fn names_are_as_browsers_write_them() {
        assert_eq!(segment("a/b c:d?é"), "a%2Fb%20c%3Ad%3F%C3%A9");
        assert_eq!(segment("it's (1)!"), "it's%20(1)!");
    }
}
