//! Entries as the database has them: what a proposal has in common with an earlier one is not written again.
//!
//! Most of a proposal is the state of the model and its diagnostics, and most of that stays the same from one to the next. An entry
//! has all of it, or the position of one that has (`since`) and what is different (`changes`, a merge patch as of RFC 7396: a null
//! removes). No entry needs more than one other to be read, and every entry that comes out of the store is whole.

use serde_json::{Map, Value as Json};

use crate::{Entry, Event, Timestamp};

/// The fields of a proposal that are compared with those of an earlier one.
const STATE: [&str; 2] = ["memo", "diagnostics"];
/// Changes that take more than this share of the state are a reason to write it anew, so that later ones take less.
const SHARE: usize = 3;

/// The state of a proposal that is in the database as a whole.
#[derive(Clone, Debug)]
pub(crate) struct Basis {
    pub(crate) study: String,
    pub(crate) position: u64,
    state: Json,
}

/// Writes an event. The second is the basis that it makes, once it is in the database.
pub(crate) fn encode(
    event: &Event,
    study: &str,
    position: u64,
    basis: Option<&Basis>,
) -> Result<(String, Option<Basis>), serde_json::Error> {
    let mut body = serde_json::to_value(event)?;
    let Some(fields) = proposal(&mut body) else { return Ok((serde_json::to_string(event)?, None)) };
    let state = taken_state(fields);
    if let Some(basis) = basis.filter(|basis| basis.study == study) {
        let changes = difference(&basis.state, &state).unwrap_or_else(|| Json::Object(Map::new()));
        if SHARE * changes.to_string().len() <= state.to_string().len() {
            fields.insert("since".into(), basis.position.into());
            fields.insert("changes".into(), changes);
            return Ok((body.to_string(), None));
        }
    }
    Ok((serde_json::to_string(event)?, Some(Basis { study: study.into(), position, state })))
}

/// Reads an event. A whole proposal becomes the basis; if another one is needed, `find` returns the entry at its position.
pub(crate) fn decode(
    text: &str,
    study: &str,
    position: u64,
    basis: &mut Option<Basis>,
    find: impl FnOnce(u64) -> Result<String, String>,
) -> Result<Event, String> {
    let plain = |text: &str| read_event(text).map_err(|error| error.to_string());
    if !text.starts_with("{\"asked\"") {
        return plain(text);
    }
    let mut body: Json = plain_json(text)?;
    let Some(fields) = proposal(&mut body) else { return plain(text) };
    match fields.remove("since") {
        None => {
            let state = taken_state(fields);
            *basis = Some(Basis { study: study.into(), position, state });
            plain(text)
        }
        Some(since) => {
            let since = since.as_u64().ok_or("`since` is not a position")?;
            let is_known = |basis: &Basis| basis.study == study && basis.position == since;
            if !basis.as_ref().is_some_and(is_known) {
                let mut found = plain_json(&find(since)?)?;
                let whole = proposal(&mut found).filter(|fields| !fields.contains_key("since"));
                let whole = whole.ok_or("it continues an entry that is no whole proposal")?;
                *basis = Some(Basis { study: study.into(), position: since, state: taken_state(whole) });
            }
            let mut state = basis.as_ref().map_or(Json::Null, |basis| basis.state.clone());
            patch(&mut state, fields.remove("changes").unwrap_or(Json::Null));
            if let Json::Object(state) = state {
                fields.extend(state);
            }
            plain(&body.to_string())
        }
    }
}

/// Reads an event that is written in full. All that read one call this: what serde makes of so many types is large, and would be in the
/// program as often as it is asked for.
pub fn read_event(text: &str) -> Result<Event, serde_json::Error> {
    serde_json::from_str(text)
}

/// Entries as they are sent together: a proposal may refer to an earlier one among them.
pub fn write_page(
    study: &str,
    entries: &[(u64, Entry)],
) -> Result<Vec<(u64, i64, String)>, serde_json::Error> {
    let mut basis = None;
    let write = |(position, entry): &(u64, Entry)| {
        let (text, whole) = encode(&entry.event, study, *position, basis.as_ref())?;
        basis = whole.or(basis.take());
        Ok((*position, entry.time.0, text))
    };
    entries.iter().map(write).collect()
}

/// Reads them again. An error comes with the position of the entry.
pub fn read_page<'a>(
    study: &str,
    texts: impl Iterator<Item = (u64, i64, &'a str)>,
) -> Result<Vec<(u64, Entry)>, (u64, String)> {
    let mut basis = None;
    let read = |(position, time, text): (u64, i64, &str)| {
        let find = |at| Err(format!("it refers to entry {at}, which was not sent"));
        let event = decode(text, study, position, &mut basis, find).map_err(|problem| (position, problem))?;
        Ok((position, Entry { time: Timestamp(time), event }))
    };
    texts.map(read).collect()
}

fn plain_json(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn proposal(body: &mut Json) -> Option<&mut Map<String, Json>> {
    body.get_mut("asked")?.as_object_mut()
}

fn taken_state(fields: &mut Map<String, Json>) -> Json {
    STATE.into_iter().filter_map(|name| Some((name.to_owned(), fields.remove(name)?))).collect()
}

/// What turns `from` into `to`; a null is as good as nothing.
fn difference(from: &Json, to: &Json) -> Option<Json> {
    match (from, to) {
        (Json::Object(from), Json::Object(to)) => {
            let kept = to.iter().filter_map(|(name, value)| {
                let before = from.get(name).unwrap_or(&Json::Null);
                Some((name.clone(), difference(before, value)?))
            });
            let gone = from.iter().filter(|(name, value)| !value.is_null() && !to.contains_key(*name));
            let changes: Map<String, Json> =
                kept.chain(gone.map(|(name, _)| (name.clone(), Json::Null))).collect();
            (!changes.is_empty()).then_some(Json::Object(changes))
        }
        // 0 and -0 are equal and not the same.
        (Json::Number(a), Json::Number(b)) => {
            let bits = |number: &serde_json::Number| number.as_f64().map(f64::to_bits);
            (a != b || bits(a) != bits(b)).then(|| to.clone())
        }
        _ => (from != to).then(|| to.clone()),
    }
}

fn patch(target: &mut Json, changes: Json) {
    let Json::Object(changes) = changes else {
        *target = changes;
        return;
    };
    if !target.is_object() {
        *target = Json::Object(Map::new());
    }
    let Some(fields) = target.as_object_mut() else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(&name);
        } else {
            patch(fields.entry(name).or_insert(Json::Null), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_turns_one_into_the_other() {
        let values = [
            json!({"a": 1, "b": {"c": [1, 2], "d": 0.5}}),
            json!({"a": 2, "b": {"c": [1], "d": 0.5}}),
            json!({"b": {}}),
            json!({"b": {"d": -0.0, "e": {"f": "g"}}}),
            json!({"b": {"d": 0.0}, "h": true}),
            json!({}),
        ];
        for from in &values {
            for to in &values {
                let mut target = from.clone();
                let changes = difference(from, to);
                let texts = [from, to].map(Json::to_string); // which tell 0 from -0
                assert_eq!(changes.is_none(), texts[0] == texts[1]);
                patch(&mut target, changes.unwrap_or_else(|| json!({})));
                assert_eq!(target.to_string(), to.to_string(), "from {from}");
            }
        }
    }

    #[test]
    fn a_null_is_as_good_as_nothing() {
        assert_eq!(difference(&json!({"a": null}), &json!({})), None);
        assert_eq!(difference(&json!({}), &json!({"a": null})), None);
        assert_eq!(difference(&json!({"a": 1}), &json!({"a": null})), Some(json!({"a": null})));
    }
}
