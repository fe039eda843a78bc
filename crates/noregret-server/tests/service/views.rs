//! What people look at, as the page asks for it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use noregret_client::api::segment;
use serde_json::{Value as Json, json};

use crate::server::{Server, refusal, token};

/// A study with ten values (0.9 down to 0.0), a failure and a running trial.
fn study(server: &Server, name: &str) -> String {
    server.make(name, json!({ "trials": 20 }));
    let path = segment(name);
    let ask = json!({ "n": 12, "worker": "gpu1", "lease": 600 });
    server.post(&format!("{path}/trials:ask"), ask);
    for i in 0..10 {
        let tell = json!({ "value": f64::from(9 - i) / 10.0, "attrs": { "epochs": i, "host": "lab" }, "worker": "gpu1" });
        server.post(&format!("{path}/trials/{i}:tell"), tell);
    }
    server.post(
        &format!("{path}/trials/10:fail"),
        json!({ "reason": "out of memory", "stderr": "boom", "worker": "gpu1" }),
    );
    path
}

#[test]
fn everything_can_be_looked_at() {
    let server = Server::start();
    // Names with slashes and colons are names.
    let path = study(&server, "a/b:c d");
    let history = server.get(&format!("{path}/views/history?points=100"));
    assert_eq!(history["number"].as_array().unwrap().len(), 11);
    assert_eq!(history["value"][10], Json::Null);
    assert_eq!(history["best"].as_array().unwrap().len(), 10);
    assert_eq!((&history["thinned"], &history["planned"]), (&json!(false), &json!(20)));
    assert_eq!(history["running"][0][2], "gpu1");
    let workers = server.get(&format!("{path}/views/workers"));
    let worker = &workers["workers"][0];
    assert_eq!(
        (&worker["name"], &worker["complete"], &worker["failed"], &worker["running"]),
        (&json!("gpu1"), &json!(10), &json!(1), &json!(1))
    );
    assert_eq!(workers["spans"].as_array().unwrap().len(), 12);
    let story = server.get(&format!("{path}/trials/10/story"));
    let steps: Vec<&str> =
        story["timeline"].as_array().unwrap().iter().map(|step| step["what"].as_str().unwrap()).collect();
    assert_eq!(steps, ["asked", "leased", "failed"]);
    assert_eq!(
        (&story["trial"]["stderr"], &story["timeline"][2]["worker"]),
        (&json!("boom"), &json!("gpu1"))
    );
    assert!(story["why"]["summary"].is_string());
    let overview: Json = server.client().get("/api/v1/overview").unwrap();
    let card = &overview["studies"][0];
    assert_eq!(
        (&card["name"], &card["best"], &card["workers"]),
        (&json!("a/b:c d"), &json!(0.0), &json!(["gpu1"]))
    );
    assert_eq!((card["spark"][0].as_f64(), &card["counts"]["failed"]), (Some(0.9), &json!(1)));
    for view in ["regret", "importance", "trust", "pool"] {
        server.get(&format!("{path}/views/{view}"));
    }
    assert_eq!(server.get(&format!("{path}/views/pool")), Json::Null);
    server.post(&format!("{path}:map"), json!({ "x": "x" }));
    // What happens is seen at once.
    server.post(&format!("{path}/trials/11:tell"), json!({ "value": -1.0 }));
    assert_eq!(server.get(&format!("{path}/views/history"))["value"][11], -1.0);
    let overview: Json = server.client().get("/api/v1/overview").unwrap();
    assert_eq!(overview["studies"][0]["best"], -1.0);
}

#[test]
fn tables_are_filtered_and_sorted() {
    let server = Server::start();
    let path = study(&server, "s");
    let table = |query: &str| server.get(&format!("{path}/views/trials?{query}"));
    let numbers = |table: &Json| -> Vec<u64> {
        table["trials"].as_array().unwrap().iter().map(|trial| trial["number"].as_u64().unwrap()).collect()
    };
    let failed = table(&format!("filter={}", segment("state = failed and attempts >= 1")));
    assert_eq!((numbers(&failed), &failed["matching"], &failed["total"]), (vec![10], &json!(1), &json!(12)));
    assert_eq!(
        (&failed["trials"][0]["worker"], &failed["trials"][0]["stderr"]),
        (&json!("gpu1"), &Json::Null)
    );
    assert_eq!(failed["attrs"], json!(["epochs", "host"]));
    let best = table("sort=value&limit=3");
    assert_eq!((numbers(&best), &best["matching"]), (vec![9, 8, 7], &json!(12)));
    // What has no value comes last, in both directions.
    assert_eq!(numbers(&table("sort=value&descending=true")), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    assert_eq!(numbers(&table("sort=value&descending=true&from=10&limit=1")), [10]);
    let epochs = segment("epochs > 6 and host = lab and value < 0.2");
    assert_eq!(numbers(&table(&format!("filter={epochs}"))), [8, 9]);
    let refused =
        |query: &str| refusal(server.client().get(&format!("/api/v1/studies/s/views/trials?{query}")));
    let (status, detail) = refused(&format!("filter={}", segment("valeu < 3")));
    assert!(status == 422 && detail.contains("no column `valeu` (nearest known: `value`)"), "{detail}");
    for (query, why) in [
        ("sort=colour", "to sort by"),
        ("limit=1001", "at most 1000"),
        ("descending=maybe", "true or false"),
        ("from=-1", "no such number"),
    ] {
        let (status, detail) = refused(query);
        assert!(status == 422 && detail.contains(why), "{query}: {detail}");
    }
    assert_eq!(refusal(server.client().get("/api/v1/studies/none/views/history")).0, 404);
    assert_eq!(refusal(server.client().get("/api/v1/studies/s/trials/99/story")).0, 404);
    assert_eq!(refusal(server.client().get("/api/v1/studies/s/views/history?points=0")).0, 422);
}

#[test]
fn cards_of_other_studies_are_for_others() {
    let server = Server::start();
    study(&server, "mine");
    study(&server, "theirs");
    let client = server.client_of(&token(&server.tokens, noregret_server::Role::Read, &["mine"]));
    let overview: Json = client.get("/api/v1/overview").unwrap();
    assert_eq!(overview["studies"].as_array().unwrap().len(), 1);
}

/// Who comes by cookie follows events as well.
#[test]
fn events_come_to_the_page() {
    let server = Server::start();
    let path = study(&server, "s");
    let mut login = ureq::post(format!("{}/login", server.url()))
        .header("content-type", "application/json")
        .send(json!({ "token": server.admin }).to_string())
        .unwrap();
    let cookie = login.headers()["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    drop(login.body_mut().read_to_string());
    let position = server.get(&path)["position"].clone();
    let mut stream = TcpStream::connect(server.listening.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    write!(
        stream,
        "GET /api/v1/studies/s/events?after={position} HTTP/1.1\r\nHost: x\r\nCookie: {cookie}\r\n\r\n"
    )
    .unwrap();
    let begin = Instant::now();
    server.post("s/trials/11:tell", json!({ "value": 3.0 }));
    let lines = BufReader::new(stream).lines().map(Result::unwrap);
    let found: Vec<String> = lines.take_while(|line| !line.contains("\"told\"")).collect();
    assert!(found[0].starts_with("HTTP/1.1 200"), "{found:?}");
    assert!(begin.elapsed() < Duration::from_secs(5));
}

/// The next plate of a laboratory has names.
#[test]
fn suggestions_from_a_pool_are_named() {
    let server = Server::start();
    let pools = server.folder.path().join("pools");
    std::fs::create_dir_all(&pools).unwrap();
    std::fs::write(pools.join("alloys.csv"), "id,cu,ni\na1,0.1,0.9\nb2,0.5,0.5\nc3,0.9,0.1\n").unwrap();
    let file = json!({
        "study": { "name": "alloys", "algorithm": "random" },
        "objective": { "command": ["none"] },
        "pool": { "file": "alloys.csv", "id": "id" },
    });
    server.client().post::<Json>("/api/v1/studies", &file).unwrap();
    let suggested = server.post("alloys:suggest", json!({ "n": 2 }));
    let (points, ids) = (suggested["points"].as_array().unwrap(), suggested["ids"].as_array().unwrap());
    assert_eq!((points.len(), ids.len()), (2, 2));
    for (point, id) in points.iter().zip(ids) {
        let cu = match id.as_str().unwrap() {
            "a1" => 0.1,
            "b2" => 0.5,
            _ => 0.9,
        };
        assert_eq!(point["cu"], cu, "{suggested}");
    }
    // Where there is no pool there are no names.
    study(&server, "s");
    assert!(server.post("s:suggest", json!({ "n": 1 })).get("ids").is_none());
}
