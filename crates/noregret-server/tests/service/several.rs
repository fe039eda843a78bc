//! Several servers over one database at the same time, with workers on each: nothing is lost, and nothing counted twice.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread;

use noregret_client::Client;
use noregret_client::api::{Ask, Asked, Tell, Told};
use noregret_store::{PostgresStore, Store};
use noregret_testkit::postgres::PostgresServer;
use serde_json::{Value as Json, json};

use crate::server::Server;

/// Trials of the study, and workers on each server.
const TRIALS: u64 = 120;
const WORKERS: usize = 4;

fn servers(database: &str, n: usize) -> Vec<Server> {
    let over = |_| {
        let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&database.parse().unwrap()).unwrap());
        Server::over(store, tempfile::tempdir().unwrap())
    };
    (0..n).map(over).collect()
}

/// Asks and tells until the study is done; returns what was told.
fn work(client: &Client, worker: &str) -> Vec<(u64, f64)> {
    let mut told = Vec::new();
    loop {
        let ask =
            Ask { n: Some(1), worker: Some(worker.into()), lease: Some(600.0), wait: 5.0, beyond: false };
        let asked: Asked = client.post("/api/v1/studies/s/trials:ask", &ask).unwrap();
        if asked.done {
            return told;
        }
        for trial in asked.trials {
            let value = trial.params.get("x").and_then(noregret::Value::as_f64).unwrap();
            let tell = Tell {
                value: Some(value),
                noise_var: None,
                attrs: serde_json::Map::new(),
                seconds: None,
                worker: Some(worker.into()),
            };
            let path = format!("/api/v1/studies/s/trials/{}:tell", trial.number);
            let done: Told = client.post(&path, &tell).unwrap();
            assert_eq!(done.result, "complete", "trial {}", trial.number);
            told.push((trial.number, value));
        }
    }
}

#[test]
fn workers_of_several_servers_share_a_study() {
    let Some(database) = PostgresServer::start() else { return };
    let servers = servers(&database.create_database("several"), 3);
    servers[0].make("s", json!({ "trials": TRIALS, "batch": 1 }));
    let told = Mutex::new(BTreeMap::new());
    thread::scope(|scope| {
        for (at, server) in servers.iter().enumerate() {
            for k in 0..WORKERS {
                let (client, told) = (server.client(), &told);
                scope.spawn(move || {
                    for (number, value) in work(&client, &format!("worker {k} of {at}")) {
                        let before = told.lock().unwrap().insert(number, value);
                        assert_eq!(before, None, "trial {number} was handed out twice");
                    }
                });
            }
        }
    });
    let told = told.into_inner().unwrap();
    assert_eq!(told.keys().copied().collect::<Vec<_>>(), (0..TRIALS).collect::<Vec<_>>(), "nothing is lost");
    // Each server has all of it.
    for server in &servers {
        let page: Json = server.get("s/trials?limit=1000");
        let trials = page["trials"].as_array().unwrap();
        assert_eq!(trials.len() as u64, TRIALS);
        for trial in trials {
            let number = trial["number"].as_u64().unwrap();
            assert_eq!((&trial["state"], &trial["attempts"]), (&json!("complete"), &json!(1)), "{trial}");
            assert_eq!(trial["value"].as_f64(), told.get(&number).copied(), "{trial}");
            assert!(trial.get("late").is_none(), "{trial}");
        }
    }
}

/// What one server is told is news for who waits at another: a trial that is given back, a point that is queued, the end of the study.
#[test]
fn who_waits_at_one_server_hears_of_another() {
    let Some(database) = PostgresServer::start() else { return };
    let servers = servers(&database.create_database("news"), 2);
    servers[0].make("s", json!({ "trials": 1 }));
    let ask = |server: &Server, worker: &str| -> Asked {
        let ask =
            Ask { n: Some(1), worker: Some(worker.into()), lease: Some(600.0), wait: 30.0, beyond: false };
        server.client().post("/api/v1/studies/s/trials:ask", &ask).unwrap()
    };
    assert_eq!(ask(&servers[0], "a").trials[0].number, 0);
    thread::scope(|scope| {
        let waiting = scope.spawn(|| ask(&servers[1], "b"));
        servers[0].post("s/trials:release", json!({ "worker": "a", "trials": [0] }));
        assert_eq!(waiting.join().unwrap().trials[0].number, 0);
        let waiting = scope.spawn(|| ask(&servers[0], "a"));
        servers[1].post("s/trials:enqueue", json!({ "points": [{ "x": 0.5, "a": "q" }] }));
        assert_eq!(waiting.join().unwrap().trials[0].number, 1);
        let waiting = scope.spawn(|| ask(&servers[1], "b"));
        servers[1].post("s/trials/0:tell", json!({ "value": 0.5, "worker": "b" }));
        servers[0].post("s/trials/1:tell", json!({ "value": 0.25, "worker": "a" }));
        let asked = waiting.join().unwrap();
        assert!(asked.done && asked.trials.is_empty());
    });
    // What both tell is kept once.
    let again = servers[1].post("s/trials/1:tell", json!({ "value": 0.75 }));
    assert_eq!(again["result"], "late");
    assert_eq!(servers[0].get("s/trials/1")["value"], 0.25);
}
