//! Views of logs made by hand.

use noregret::Space;
use noregret_store::{Entry, MemoryStore, Store, Timestamp};
use serde_json::json;

use super::{Chronicle, TableOf, timeline};

/// An entry at so many seconds.
fn at(seconds: i64, event: serde_json::Value) -> Entry {
    Entry { time: Timestamp(1_000_000 + 1_000 * seconds), event: serde_json::from_value(event).unwrap() }
}

fn space() -> Space {
    Space::builder().float("x", 0.0, 1.0).categorical("act", ["relu", "tanh"]).build().unwrap()
}

/// Two workers, a retry, a loss, a failure, a result from elsewhere, and a trial that runs.
fn entries() -> Vec<Entry> {
    let definition = json!({ "defined": {
        "version": 1, "direction": "minimize", "seed": 3, "algorithm": { "random": {} }, "duplicates": "avoid", "trials": 9,
        "space": { "parameters": { "parameters": {}, "constraints": {} } },
    }});
    let memo = json!({ "design": null, "fit": null });
    let choices: Vec<_> = (0..4).map(|i| json!({ "x": [f64::from(i) / 4.0, 0.25] })).collect();
    vec![
        at(0, definition),
        at(1, json!({ "asked": { "first": 0, "choices": choices, "memo": memo, "seconds": 0.5 } })),
        at(2, json!({ "leased": { "number": 0, "worker": "ann@lab" } })),
        at(4, json!({ "leased": { "number": 1, "worker": "ann@lab" } })),
        at(5, json!({ "leased": { "number": 2, "worker": "bob" } })),
        at(6, json!({ "told": { "number": 0, "value": 0.5, "attrs": { "epochs": 7, "tag": "a" } } })),
        at(8, json!({ "retried": { "number": 1, "reason": "exit status 1", "seconds": 3.5 } })),
        at(9, json!({ "leased": { "number": 1, "worker": "bob" } })),
        at(11, json!({ "released": { "number": 2, "lost": true } })),
        at(12, json!({ "told": { "number": 1, "value": 0.25 } })),
        at(13, json!({ "leased": { "number": 2, "worker": "ann@lab" } })),
        at(15, json!({ "failed": { "number": 2, "reason": "out of memory", "stderr": "boom" } })),
        at(
            16,
            json!({ "added": { "number": 4, "params": { "x": 0.9, "act": "tanh" }, "choice": { "x": [0.9, 0.75] }, "value": 0.75 } }),
        ),
        at(17, json!({ "leased": { "number": 3, "worker": "bob" } })),
    ]
}

fn chronicle() -> Chronicle {
    let mut chronicle = Chronicle::default();
    entries().iter().for_each(|entry| chronicle.apply(entry));
    chronicle
}

#[test]
fn values_come_in_the_order_in_which_they_were_told() {
    let history = chronicle().history(2_000);
    assert_eq!(history.number, [0, 1, 2, 4]);
    assert_eq!(history.place, [0, 1, 2, 3]);
    assert_eq!(history.value, [Some(0.5), Some(0.25), None, Some(0.75)]);
    assert_eq!(history.ended, [6.0, 12.0, 15.0, 16.0]);
    assert_eq!(history.best, [(0, 6.0, 0.5), (1, 12.0, 0.25)]);
    assert_eq!(history.running, [(3, 17.0, "bob".to_owned())]);
    assert_eq!((history.position, history.planned, history.thinned), (14, Some(9), false));
}

#[test]
fn time_with_something_to_do_is_counted_once() {
    let workers = chronicle().workers(Timestamp(1_020_000));
    let found: Vec<_> = workers
        .workers
        .iter()
        .map(|worker| {
            (worker.name.as_str(), worker.complete, worker.failed, worker.lost, worker.running, worker.busy)
        })
        .collect();
    // ann: 2 to 8 (two at once) and 13 to 15; bob: 5 to 12 (two at once), and since 17.
    assert_eq!(found, [("bob", 1, 0, 1, 1, 10.0), ("ann@lab", 1, 2, 0, 0, 8.0)]);
    assert_eq!(workers.workers[1].host.as_deref(), Some("lab"));
    // 4 + 3.5 + 3 + 2 seconds: nobody knows how long what was lost took.
    assert_eq!((workers.evaluation_seconds, workers.thinking_seconds), (12.5, 0.5));
    let spans: Vec<_> = workers
        .spans
        .iter()
        .map(|span| (span.number, span.worker, span.begin, span.end, span.outcome.as_str()))
        .collect();
    assert_eq!(
        spans,
        [
            (0, 1, 2.0, Some(6.0), "complete"),
            (1, 1, 4.0, Some(8.0), "retried"),
            (2, 0, 5.0, Some(11.0), "lost"),
            (1, 0, 9.0, Some(12.0), "complete"),
            (2, 1, 13.0, Some(15.0), "failed"),
            (3, 0, 17.0, None, "running"),
        ]
    );
}

#[test]
fn tables_know_who_had_a_trial() {
    let (chronicle, space) = (chronicle(), space());
    let numbers = |of: TableOf| -> Vec<u64> {
        let table = chronicle.table(&space, &of).unwrap();
        table.trials.iter().map(|trial| trial.number).collect()
    };
    let filter = |filter: &str| numbers(TableOf { filter: Some(filter.into()), ..TableOf::default() });
    assert_eq!(filter("worker = bob"), [1, 3]);
    assert_eq!(filter("state = complete and x < 0.5"), [0, 1]);
    assert_eq!(filter("act = tanh"), [4]);
    assert_eq!(filter("epochs = 7 or tag = b"), [0]);
    assert_eq!(filter("reason = 'out of memory'"), [2]);
    assert_eq!(filter("seconds >= 3"), [0, 1]);
    assert_eq!(filter("  "), [0, 1, 2, 3, 4]);
    let sort = |sort: &str, descending| {
        numbers(TableOf { sort: Some(sort.into()), descending, ..TableOf::default() })
    };
    assert_eq!(sort("value", false), [1, 0, 4, 2, 3]);
    assert_eq!(sort("value", true), [4, 0, 1, 2, 3]);
    assert_eq!(sort("worker", false), [0, 2, 1, 3, 4]);
    assert_eq!(sort("", true), [4, 3, 2, 1, 0]);
    let error =
        chronicle.table(&space, &TableOf { sort: Some("valu".into()), ..TableOf::default() }).unwrap_err();
    assert_eq!(error.to_string(), "there is no column `valu` to sort by (nearest known: `value`)");
}

#[test]
fn a_trial_tells_its_life() {
    let steps = timeline(1, &entries());
    let found: Vec<_> =
        steps.iter().map(|step| (step.what.as_str(), step.worker.as_deref(), step.detail.as_str())).collect();
    assert_eq!(
        found,
        [
            ("asked", None, "one of 4 points"),
            ("leased", Some("ann@lab"), ""),
            ("retried", Some("ann@lab"), "exit status 1"),
            ("leased", Some("bob"), ""),
            ("told", Some("bob"), "value 0.25"),
        ]
    );
    assert!(steps[4].time.ends_with("00:16:52.000Z"), "{}", steps[4].time);
}

#[test]
fn a_card_says_how_it_goes() {
    let card = chronicle().card("s", None);
    assert_eq!((card.best, card.spark.as_slice()), (Some(0.25), &[0.5, 0.25, 0.25, 0.25][..]));
    assert_eq!((card.workers.as_slice(), card.done, card.trials), (&["bob".to_owned()][..], false, Some(9)));
    assert_eq!((card.counts.complete, card.counts.failed, card.counts.running), (3, 1, 1));
}

/// What follows a log in pieces knows the same as what reads it at once, and another log of the same name is read anew.
#[test]
fn a_chronicle_follows_a_log() {
    let store = MemoryStore::default();
    let mut chronicle = Chronicle::default();
    for (i, entry) in entries().iter().enumerate() {
        store.append("s", i as u64, std::slice::from_ref(entry)).unwrap();
        chronicle.catch_up(&store, "s").unwrap();
    }
    let whole = self::chronicle();
    let shown =
        |chronicle: &Chronicle| serde_json::to_value(chronicle.workers(Timestamp(1_020_000))).unwrap();
    assert_eq!(shown(&chronicle), shown(&whole));
    assert_eq!((chronicle.position(), chronicle.model_position()), (14, 13));
    let other = MemoryStore::default();
    other.append("s", 0, &entries()[..2]).unwrap();
    chronicle.catch_up(&other, "s").unwrap();
    assert_eq!((chronicle.position(), chronicle.ledger().records().len()), (2, 4));
}
