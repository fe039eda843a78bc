//! A server as a storage: the suite of all stores, the same suggestions, and a network that loses answers.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use noregret::{Algorithm, Direction, Duplicates, Param, Space};
use noregret_client::Client;
use noregret_client::api::{Ask, Asked, Tell, Told};
use noregret_store::{
    Definition, Entry, Evaluation, Event, HandOut, HttpStore, MemoryStore, SharedStudy, SpaceDefinition,
    SqliteStore, Store, StoreError, Timestamp,
};
use noregret_testkit::proxy::Proxy;
use noregret_testkit::store::shares_studies;
use serde_json::json;

use crate::server::Server;

#[test]
fn it_passes_the_suite() {
    // Servers live as long as their stores may be used.
    let servers = std::cell::RefCell::new(Vec::new());
    shares_studies(&|| {
        let server = Server::over(Arc::new(MemoryStore::default()), tempfile::tempdir().unwrap());
        let store = server.store();
        servers.borrow_mut().push(server);
        store
    });
}

fn definition() -> Definition {
    let parameters = [
        ("x".to_owned(), Param::Float { low: 0.0, high: 1.0, log: false }),
        ("a".to_owned(), Param::Float { low: -1.0, high: 1.0, log: false }),
    ]
    .into();
    Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 5,
        algorithm: Algorithm::by_name("auto").unwrap(),
        duplicates: Duplicates::Avoid,
        trials: Some(30),
        space: SpaceDefinition::Parameters { parameters, constraints: [].into() },
        assignment: None,
    }
}

fn space() -> Space {
    Space::builder().float("x", 0.0, 1.0).float("a", -1.0, 1.0).build().unwrap()
}

fn value(x: &[f64]) -> f64 {
    (x[0] - 0.3).powi(2) + (x[1] - 0.1).powi(2)
}

/// The same log gives the same suggestions, wherever it is kept and whoever thinks.
#[test]
fn suggestions_are_those_of_other_stores() {
    let server = Server::start();
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 3] = [
        Arc::new(MemoryStore::default()),
        Arc::new(SqliteStore::open(folder.path().join("x.db")).unwrap()),
        server.store(),
    ];
    let order =
        HandOut { wanted: 3, batch: Some(3), budget: None, worker: "w".into(), lease: None, request: None };
    let mut all = Vec::new();
    for store in stores {
        let mut study = SharedStudy::open(store, "s", &definition(), space()).unwrap();
        let mut seen = Vec::new();
        for _ in 0..8 {
            for trial in study.hand_out(&order, Timestamp::now()).unwrap() {
                let x = trial.numbers();
                seen.push(x.clone());
                study.tell(&[(trial.number, Evaluation::value(value(&x)))], None, Timestamp::now()).unwrap();
            }
        }
        all.push(seen);
    }
    // The server thinks itself.
    let file = json!({
        "study": { "name": "thought", "seed": 5, "trials": 30, "batch": 3, "algorithm": "auto" },
        "objective": { "command": ["none"] },
        "parameters": {
            "x": { "type": "float", "low": 0.0, "high": 1.0 }, "a": { "type": "float", "low": -1.0, "high": 1.0 },
        },
    });
    let client = server.client();
    let text = file.to_string().replace(
        &json!(file["parameters"]).to_string(),
        r#"{"x":{"type":"float","low":0.0,"high":1.0},"a":{"type":"float","low":-1.0,"high":1.0}}"#,
    );
    let raw = serde_json::value::RawValue::from_string(text).unwrap();
    client.post::<serde_json::Value>("/api/v1/studies", &raw).unwrap();
    let mut seen = Vec::new();
    for _ in 0..8 {
        let asked: Asked =
            client.post("/api/v1/studies/thought/trials:ask", &Ask { n: Some(3), ..Ask::default() }).unwrap();
        for trial in asked.trials {
            let x: Vec<f64> = ["x", "a"].map(|name| trial.params.get(name).unwrap().as_f64().unwrap()).into();
            seen.push(x.clone());
            let path = format!("/api/v1/studies/thought/trials/{}:tell", trial.number);
            let _: Told = client.post(&path, &json!({ "value": value(&x) })).unwrap();
        }
    }
    all.push(seen);
    for (place, seen) in ["SQLite", "a server", "a server that thinks"].iter().zip(&all[1..]) {
        assert_eq!(*seen, all[0], "{place}");
    }
}

/// Every 7th answer is lost: a request that is sent again is done once.
#[test]
fn answers_that_are_lost_change_nothing() {
    let server = Server::start();
    server.make("s", json!({ "trials": 60 }));
    let address: SocketAddr = server.listening.address;
    let proxy = Proxy::new(address);
    proxy.lose_every(7);
    let url = format!("http://127.0.0.1:{}", proxy.port());
    let told = AtomicU64::new(0);
    thread::scope(|scope| {
        for worker in 0..4 {
            let (url, token, told) = (&url, &server.admin, &told);
            scope.spawn(move || {
                let client = Client::new(url.parse().unwrap(), Some(token.clone()));
                let worker = Some(format!("worker {worker}"));
                loop {
                    let ask = Ask { n: Some(1), worker: worker.clone(), wait: 1.0, ..Ask::default() };
                    let asked: Asked = client.post("/api/v1/studies/s/trials:ask", &ask).unwrap();
                    if asked.done {
                        return;
                    }
                    for trial in asked.trials {
                        let value = trial.params.get("x").and_then(noregret::Value::as_f64);
                        let tell = Tell {
                            value,
                            noise_var: None,
                            attrs: serde_json::Map::new(),
                            seconds: None,
                            worker: worker.clone(),
                        };
                        let path = format!("/api/v1/studies/s/trials/{}:tell", trial.number);
                        let done: Told = client.post(&path, &tell).unwrap();
                        assert_eq!(done.result, "complete", "trial {}", trial.number);
                        told.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    assert!(proxy.lost() > 5, "{} answers were lost", proxy.lost());
    assert_eq!(told.into_inner(), 60);
    let trials = server.get("s/trials?limit=1000");
    let trials = trials["trials"].as_array().unwrap();
    assert_eq!(trials.len(), 60);
    for trial in trials {
        assert_eq!((&trial["state"], &trial["attempts"]), (&json!("complete"), &json!(1)), "{trial}");
        assert_eq!(trial["value"], trial["params"]["x"], "{trial}");
        assert!(trial.get("late").is_none(), "{trial}");
    }
}

/// The same by entries of the log, which a client decides on.
#[test]
fn appends_whose_answers_are_lost_are_found() {
    let server = Server::start();
    let proxy = Proxy::new(server.listening.address);
    let url = format!("http://127.0.0.1:{}", proxy.port());
    let store: Arc<dyn Store> =
        Arc::new(HttpStore::open(&url.parse().unwrap(), Some(server.admin.clone())).unwrap());
    let definition = Definition { algorithm: Algorithm::by_name("random").unwrap(), ..definition() };
    let mut study = SharedStudy::open(Arc::clone(&store), "s", &definition, space()).unwrap();
    proxy.lose_every(5);
    let order = HandOut {
        wanted: 1,
        batch: Some(1),
        budget: None,
        worker: "w".into(),
        lease: Some(Duration::from_mins(10)),
        request: None,
    };
    for _ in 0..20 {
        let trial = study.hand_out(&order, Timestamp::now()).unwrap().pop().unwrap();
        let value = Evaluation::value(trial.numbers()[0]);
        study.tell(&[(trial.number, value)], Some("w"), Timestamp::now()).unwrap();
    }
    assert!(proxy.lost() > 3);
    let ledger = study.ledger();
    assert_eq!((ledger.records().len(), ledger.complete()), (20, 20));
    assert!(ledger.records().iter().all(|record| record.leases == 1 && record.late == 0));
}

/// Entries that do not follow from the log are refused, and leave it as it was.
#[test]
fn nobody_can_make_a_log_unreadable() {
    let server = Server::start();
    server.make("s", json!({}));
    let store = server.store();
    let last = store.last("s").unwrap();
    let entry =
        |event: &str| Entry { time: Timestamp(0), event: serde_json::from_str::<Event>(event).unwrap() };
    for event in [
        r#"{"told":{"number":7,"value":0.5}}"#,
        r#"{"leased":{"number":0,"worker":"w"}}"#,
        r#"{"enqueued":{"number":5,"params":{"x":0.5,"a":"p"},"choice":{"x":[0.5,0.25]}}}"#,
        r#"{"enqueued":{"number":0,"params":{"x":0.5,"a":"p"},"choice":{"x":[0.5]}}}"#,
        r#"{"enqueued":{"number":0,"params":{"x":7.5,"a":"p"},"choice":{"x":[7.5,0.25]}}}"#,
    ] {
        let refused = store.append("s", last, &[entry(event)]).unwrap_err();
        assert!(matches!(refused, StoreError::Refused { .. }), "{event}: {refused}");
    }
    // Half of an append is none of it.
    let good = r#"{"enqueued":{"number":0,"params":{"x":0.5,"a":"p"},"choice":{"x":[0.5,0.25]}}}"#;
    let both = [entry(good), entry(r#"{"told":{"number":7,"value":0.5}}"#)];
    assert!(store.append("s", last, &both).is_err());
    assert_eq!(store.last("s").unwrap(), last);
    assert_eq!(store.append("s", last, &both[..1]).unwrap(), last + 1);
    assert_eq!(server.get("s")["counts"]["waiting"], 1);
    // A study that was never defined, and one whose candidates are in a file that the caller names.
    assert!(store.append("other", 0, &[entry(good)]).is_err());
    let mut definition = definition();
    definition.space = SpaceDefinition::Pool {
        file: "/etc/passwd".into(),
        features: vec!["x".into()],
        id: None,
        rows: 1,
        digest: 0,
    };
    let defined = Entry { time: Timestamp(0), event: Event::Defined(Box::new(definition.clone())) };
    let refused = store.append("pool", 0, &[defined]).unwrap_err().to_string();
    assert!(refused.contains("may not be read from here"), "{refused}");
    // Candidates that a program keeps are its own business: the server keeps the log.
    if let SpaceDefinition::Pool { file, .. } = &mut definition.space {
        file.clear();
    }
    let defined = Entry { time: Timestamp(0), event: Event::Defined(Box::new(definition)) };
    assert_eq!(store.append("pool", 0, &[defined]).unwrap(), 1);
    let (status, detail) = server.refused("pool/trials:ask", json!({ "n": 1 }));
    assert!(status == 422 && detail.contains("kept by the Python program"), "{detail}");
    assert!(store.append("pool", 1, &[entry(r#"{"told":{"number":7,"value":0.5}}"#)]).is_err());
}
