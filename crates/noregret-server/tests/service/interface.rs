//! The interface as its users meet it.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use noregret_client::api::{Asked, Told};
use noregret_client::{Client, another_key};
use noregret_store::{HttpStore, MemoryStore, Store};
use serde_json::{Value as Json, json};

use crate::server::{Server, refusal};

#[test]
fn a_study_from_its_file_to_its_answer() {
    let server = Server::start();
    let made = server.make("s", json!({ "trials": 6, "batch": 2 }));
    assert_eq!((&made["trials"], &made["done"]), (&json!(6), &json!(false)));
    // The same file again is the same study; another search is refused.
    server.make("s", json!({ "trials": 6, "batch": 2 }));
    let (status, detail) = {
        let file = json!({
            "study": { "name": "s" }, "objective": { "command": ["none"] },
            "parameters": { "y": { "type": "float", "low": 0.0, "high": 1.0 } },
        });
        refusal(server.client().post("/api/v1/studies", &file))
    };
    assert!(status == 409 && detail.contains("another search"), "{detail}");
    server.post("s/trials:enqueue", json!({ "points": [{ "x": 0.5, "a": "q" }] }));
    let mut told = 0;
    loop {
        let asked = server.post("s/trials:ask", json!({ "n": 2, "worker": "w", "lease": 60 }));
        let trials = asked["trials"].as_array().unwrap();
        if asked["done"] == true {
            break;
        }
        for trial in trials {
            if told == 0 {
                assert_eq!(trial["params"], json!({ "x": 0.5, "a": "q" }), "queued points come first");
            }
            let number = trial["number"].as_u64().unwrap();
            let tell = json!({ "value": trial["params"]["x"], "attrs": { "epochs": 3 }, "worker": "w" });
            let done = server.post(&format!("s/trials/{number}:tell"), tell.clone());
            assert_eq!(done, json!({ "number": number, "result": "complete" }));
            assert_eq!(server.post(&format!("s/trials/{number}:tell"), tell)["result"], "same");
            told += 1;
        }
    }
    assert_eq!(told, 6);
    let other = server.post("s/trials/0:tell", json!({ "value": 77.0 }));
    assert_eq!(other["result"], "late");
    let study = server.get("s");
    assert_eq!((&study["counts"]["complete"], &study["done"]), (&json!(6), &json!(true)));
    let best = server.get("s/best");
    let page = server.get("s/trials?state=complete&limit=4");
    assert_eq!((page["trials"].as_array().unwrap().len(), &page["next"]), (4, &json!(4)));
    let rest = server.get("s/trials?state=complete&from=4");
    assert_eq!((rest["trials"].as_array().unwrap().len(), &rest["next"]), (2, &Json::Null));
    let least = page["trials"].as_array().unwrap().iter().chain(rest["trials"].as_array().unwrap());
    let least = least.map(|trial| trial["value"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!(best["observed"]["value"].as_f64(), Some(least));
    assert_eq!(server.get("s/trials/0")["attrs"]["epochs"], 3);
    let more = server.post("s:plan", json!({ "trials": 8 }));
    assert_eq!((&more["trials"], &more["done"]), (&json!(8), &json!(false)));
    assert_eq!(server.post("s:pause", json!({ "paused": true }))["paused"], true);
    let paused = server.post("s/trials:ask", json!({ "n": 1 }));
    assert_eq!((&paused["trials"], &paused["done"]), (&json!([]), &json!(false)));
    assert_eq!(server.post("s:pause", json!({ "paused": false }))["paused"], false);
    let noted = server.post("s:annotate", json!({ "note": "the second", "tags": ["a", "b"] }));
    assert_eq!((&noted["note"], &noted["tags"]), (&json!("the second"), &json!(["a", "b"])));
    assert_eq!(server.post("s/trials/0:annotate", json!({ "note": "odd" }))["note"], "odd");
    let value = server.get("s/trials/0")["value"].clone();
    let wrong = json!({ "value": 1e9, "reason": "a test" });
    assert_eq!(server.post("s/trials/0:replace", wrong.clone())["result"], "complete");
    assert_eq!(server.post("s/trials/0:replace", wrong)["result"], "same");
    assert_eq!(server.get("s/trials/0")["value"], 1e9);
    server.post("s/trials/0:replace", json!({ "value": value }));
    assert_eq!(server.post("s:archive", json!({}))["archived"], true);
    assert_eq!(server.post("s:archive", json!({ "archived": false }))["archived"], false);
    let added = json!({ "results": [{ "params": { "x": 0.125, "a": "p" }, "value": 9.0 }] });
    assert_eq!(server.post("s/trials:add", added.clone())["added"], 1);
    assert_eq!(server.post("s/trials:add", added)["added"], 0);
    let suggested = server.post("s:suggest", json!({ "n": 3 }));
    assert_eq!(suggested["points"].as_array().unwrap().len(), 3);
    let predicted = server.post("s:predict", json!({ "points": [{ "x": 0.5, "a": "q" }] }));
    assert_eq!(predicted["mean"].as_array().unwrap().len(), 1);
    assert!(server.get("s/insight")["importance"].is_array());
    assert!(server.get("s/diagnostics")["diagnostics"]["algorithm"].is_string());
}

#[test]
fn wrong_requests_hear_what_would_be_right() {
    let server = Server::start();
    server.make("s", json!({}));
    server.post("s/trials:ask", json!({ "n": 1 }));
    for (path, body, status, why) in [
        ("s/trials:ask", json!({ "n": 0 }), 422, "from 1 to"),
        ("s/trials:ask", json!({ "m": 1 }), 422, "unknown field `m`"),
        ("s/trials:ask", json!({ "n": 1, "lease": 0.1 }), 422, "a lease lasts"),
        ("s/trials:ask", json!({ "n": 1, "worker": "" }), 422, "worker's name"),
        ("s/trials/0:tell", json!({}), 422, "missing field `value`"),
        ("s/trials/0:tell", json!({ "value": 1.0, "noise_var": -1.0 }), 422, "noise"),
        ("s/trials/9:tell", json!({ "value": 1.0 }), 404, "9"),
        ("s/trials/0:fail", json!({ "reason": " " }), 422, "needs a reason"),
        ("s/trials:enqueue", json!({ "points": [{ "x": 7.0, "a": "p" }] }), 422, "x"),
        ("s/trials:enqueue", json!({ "points": [] }), 422, "from 1 to"),
        ("s:plan", json!({ "trials": 0 }), 422, "at least one"),
        ("s:annotate", json!({ "tags": [""] }), 422, "printable characters"),
        ("s:annotate", json!({}), 422, "say what to note"),
        ("s/trials/0:annotate", json!({}), 422, "say what to note"),
        ("s/trials/0:annotate", json!({ "tags": ["a"] }), 422, "studies have tags"),
        ("s/trials/9:annotate", json!({ "note": "a" }), 404, "9"),
        ("s/trials/0:replace", json!({ "value": 1.0 }), 422, "no result to replace"),
        ("none/trials:ask", json!({ "n": 1 }), 404, "no study `none`"),
    ] {
        let (found, detail) = server.refused(path, body.clone());
        assert_eq!(found, status, "{path} {body}: {detail}");
        assert!(detail.contains(why), "{path} {body}: {detail}");
    }
    let query = refusal(server.client().get("/api/v1/studies/s/trials?states=x"));
    assert!(query.0 == 422 && query.1.contains("known are: limit, from, state"), "{query:?}");
    let toml = "[study]\nname = \"t\"\n[objective]\nbuiltin = \"egg\"\n";
    let mut answer = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .build()
        .new_agent()
        .post(format!("{}/api/v1/studies", server.url()))
        .header("authorization", format!("Bearer {}", server.admin))
        .header("content-type", "application/toml")
        .send(toml)
        .unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    assert!(answer.status() == 422 && text.contains("unknown builtin `egg`"), "{text}");
}

/// A failed evaluation is tried again as often as the study file says.
#[test]
fn failures_are_tried_again() {
    let server = Server::start();
    server.make("s", json!({ "trials": 1 }));
    let ask = || server.post("s/trials:ask", json!({ "n": 1, "worker": "w", "lease": 60 }));
    let fail = json!({ "reason": "exit status 1", "stderr": "boom", "retry": true, "worker": "w" });
    for attempt in 0..2 {
        let asked = ask();
        assert_eq!(asked["trials"][0]["number"], 0, "attempt {attempt}: {asked}");
        assert_eq!(server.post("s/trials/0:fail", fail.clone())["result"], "failed");
    }
    assert_eq!(ask()["done"], true);
    let trial = server.get("s/trials/0");
    assert_eq!((&trial["state"], &trial["reason"]), (&json!("failed"), &json!("exit status 1")));
}

#[test]
fn a_key_is_done_once() {
    let server = Server::start();
    server.make("s", json!({}));
    let (client, none) = (server.client(), Duration::ZERO);
    let post = |path: &str, body: &Json, key: &str| -> Json {
        client.post_waiting(&format!("/api/v1/studies/s/{path}"), body, key, none, none).unwrap()
    };
    let keys: Vec<String> = (0..4).map(|_| another_key()).collect();
    let ask = json!({ "n": 2 });
    let first = post("trials:ask", &ask, &keys[0]);
    let tell = json!({ "value": 1.0 });
    let told = post("trials/0:tell", &tell, &keys[1]);
    let points = json!({ "points": [{ "x": 0.5, "a": "q" }] });
    let queued = post("trials:enqueue", &points, &keys[2]);
    let fail = json!({ "reason": "no", "retry": true });
    let failed = post("trials/1:fail", &fail, &keys[3]);
    let position = server.get("s")["position"].clone();
    let numbers = |asked: &Json| -> Vec<Json> {
        asked["trials"].as_array().unwrap().iter().map(|trial| trial["number"].clone()).collect()
    };
    assert_eq!(numbers(&post("trials:ask", &ask, &keys[0])), numbers(&first));
    assert_eq!(post("trials/0:tell", &tell, &keys[1]), told);
    assert_eq!(numbers(&post("trials:enqueue", &points, &keys[2])), numbers(&queued));
    assert_eq!(post("trials/1:fail", &fail, &keys[3]), failed);
    assert_eq!(server.get("s")["position"], position, "nothing was written twice");
    // A key of another request is a mistake.
    let other: Result<Json, _> =
        client.post_waiting("/api/v1/studies/s/trials:ask", &json!({ "n": 3 }), &keys[0], none, none);
    let refused = refusal(other);
    assert!(refused.0 == 422 && refused.1.contains("another request"), "{refused:?}");
}

/// A key outlives the server.
#[test]
fn another_server_over_the_same_log_knows_the_keys() {
    let store = Arc::new(MemoryStore::default());
    let first = Server::over(Arc::clone(&store) as Arc<dyn Store>, tempfile::tempdir().unwrap());
    first.make("s", json!({}));
    let ask = |server: &Server, key: &str| -> Asked {
        let client = Client::new(server.url().parse().unwrap(), Some(server.admin.clone()));
        let (path, body) = ("/api/v1/studies/s/trials:ask", json!({ "n": 2 }));
        client.post_waiting(path, &body, key, Duration::ZERO, Duration::ZERO).unwrap()
    };
    let key = another_key();
    let asked = ask(&first, &key);
    // The same tokens: it is the same caller.
    let Server { folder, listening, admin, .. } = first;
    listening.stop();
    let second = Server { admin, ..Server::over(store, folder) };
    let again = ask(&second, &key);
    let numbers = |asked: &Asked| asked.trials.iter().map(|trial| trial.number).collect::<Vec<_>>();
    assert_eq!(numbers(&again), numbers(&asked));
    assert_eq!(second.get("s/trials")["trials"].as_array().unwrap().len(), 2);
}

/// Who asks where nothing is to be had waits, and is woken by what comes.
#[test]
fn asking_waits_for_a_trial() {
    let server = Server::start();
    server.make("s", json!({ "trials": 1 }));
    let trial = server.post("s/trials:ask", json!({ "n": 1, "worker": "w", "lease": 600 }));
    let begin = Instant::now();
    let asked = server.post("s/trials:ask", json!({ "n": 1, "wait": 0.5 }));
    assert_eq!((asked["trials"].as_array().unwrap().len(), &asked["done"]), (0, &json!(false)));
    assert!(begin.elapsed() >= Duration::from_millis(500));
    thread::scope(|scope| {
        let waiting =
            scope.spawn(|| server.post("s/trials:ask", json!({ "n": 1, "wait": 20, "worker": "v" })));
        thread::sleep(Duration::from_millis(200));
        let number = trial["trials"][0]["number"].clone();
        server.post("s/trials:release", json!({ "worker": "w", "trials": [number] }));
        let begin = Instant::now();
        let asked = waiting.join().unwrap();
        assert_eq!(asked["trials"][0]["number"], number);
        assert!(begin.elapsed() < Duration::from_secs(2), "{:?}", begin.elapsed());
    });
}

/// A worker that says nothing loses its trials; its result still counts if it is the first.
#[test]
fn leases_end_and_late_results_are_kept() {
    let server = Server::start();
    server.make("s", json!({ "trials": 2 }));
    let ask = |worker: &str| server.post("s/trials:ask", json!({ "n": 1, "worker": worker, "lease": 1 }));
    assert_eq!(ask("frozen")["trials"][0]["number"], 0);
    assert_eq!(ask("alive")["trials"][0]["number"], 1);
    for _ in 0..4 {
        thread::sleep(Duration::from_millis(400));
        let held = server.post("s/trials:heartbeat", json!({ "worker": "alive", "lease": 1 }));
        assert_eq!(held["trials"], json!([1]));
    }
    assert_eq!(ask("other")["trials"][0]["number"], 0, "it was given to somebody else");
    let held = server.post("s/trials:heartbeat", json!({ "worker": "frozen", "lease": 1 }));
    assert_eq!(held["trials"], json!([]), "and the first hears of it");
    let told: Told = server
        .client()
        .post("/api/v1/studies/s/trials/0:tell", &json!({ "value": 0.5, "worker": "other" }))
        .unwrap();
    assert_eq!(told.result, "complete");
    assert_eq!(
        server.post("s/trials/0:tell", json!({ "value": 0.25, "worker": "frozen" }))["result"],
        "late"
    );
    let trial = server.get("s/trials/0");
    assert_eq!((&trial["value"], &trial["late"], &trial["attempts"]), (&json!(0.5), &json!(1), &json!(2)));
}

/// Events come as they happen, and go on where a reader was.
#[test]
fn events_are_sent_from_any_position() {
    let server = Server::start();
    server.make("s", json!({}));
    let read = |after: &str, stop: &dyn Fn(&str) -> bool| -> Vec<String> {
        let mut stream = TcpStream::connect(server.listening.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let token = &server.admin;
        write!(
            stream,
            "GET /api/v1/studies/s/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n{after}\r\n"
        )
        .unwrap();
        let mut lines = Vec::new();
        for line in BufReader::new(stream).lines() {
            let line = line.unwrap();
            let is_last = stop(&line);
            if line.starts_with("id: ") || line.starts_with("event: ") {
                lines.push(line);
            }
            if is_last {
                break;
            }
        }
        lines
    };
    let seen = thread::scope(|scope| {
        let reading =
            scope.spawn(|| read("", &|line| line.starts_with("data: ") && line.contains("\"told\"")));
        thread::sleep(Duration::from_millis(300));
        server.post("s/trials:ask", json!({ "n": 1 }));
        server.post("s/trials/0:tell", json!({ "value": 1.0 }));
        reading.join().unwrap()
    });
    let kinds: Vec<&str> = seen.iter().filter_map(|line| line.strip_prefix("event: ")).collect();
    assert!(kinds.starts_with(&["defined", "asked", "leased"]) && kinds.contains(&"told"), "{kinds:?}");
    let rest = read("Last-Event-ID: 2\r\n", &|line| line.starts_with("data: "));
    assert_eq!(rest, ["id: 3", "event: leased"]);
}

/// One slow study keeps no other waiting, nor the results of its own.
#[test]
fn thinking_blocks_nobody() {
    let server = Server::start();
    server.make("quick", json!({}));
    server.make("slow", json!({ "algorithm": "auto" }));
    let results: Vec<Json> = (0..700)
        .map(|i| {
            let x = f64::from(i) / 700.0;
            json!({ "params": { "x": x, "a": "p" }, "value": (7.0 * x).sin() })
        })
        .collect();
    server.post("slow/trials:add", json!({ "results": results }));
    server.post("slow/trials:enqueue", json!({ "points": [{ "x": 0.5, "a": "q" }] }));
    server.post("slow/trials:ask", json!({ "n": 1, "worker": "w", "lease": 600 }));
    thread::scope(|scope| {
        let slow = scope.spawn(|| {
            let begin = Instant::now();
            server.post("slow/trials:ask", json!({ "n": 8 }));
            begin.elapsed()
        });
        thread::sleep(Duration::from_millis(20));
        let begin = Instant::now();
        server.post("slow/trials/700:tell", json!({ "value": 0.5 }));
        let told = begin.elapsed();
        server.post("quick/trials:ask", json!({ "n": 1 }));
        let quick = begin.elapsed();
        let slow = slow.join().unwrap();
        if slow > Duration::from_millis(500) {
            assert!(told < slow / 2 && quick < slow / 2, "{told:?}, {quick:?} beside {slow:?}");
        }
    });
}

#[test]
fn the_server_ends_with_answers() {
    let server = Server::start();
    server.make("s", json!({ "trials": 1 }));
    server.post("s/trials:ask", json!({ "n": 1, "worker": "w", "lease": 600 }));
    let (url, admin) = (server.url(), server.admin.clone());
    let waiting = thread::spawn(move || {
        let client = Client::new(url.parse().unwrap(), Some(admin));
        client.post::<Asked>("/api/v1/studies/s/trials:ask", &json!({ "n": 1, "wait": 50 }))
    });
    thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    server.listening.stop();
    assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    assert!(waiting.join().unwrap().unwrap().trials.is_empty(), "who waited was answered");
}

#[test]
fn encrypted_and_behind_a_path() {
    use noregret_server::{App, Role, TlsFiles, TokenFile, listen};
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let tls = TlsFiles { certificate: folder.path().join("cert.pem"), key: folder.path().join("key.pem") };
    std::fs::write(&tls.certificate, made.cert.pem()).unwrap();
    std::fs::write(&tls.key, made.signing_key.serialize_pem()).unwrap();
    let tokens = TokenFile::new(folder.path().join("tokens.json"));
    let token = crate::server::token(&tokens, Role::Admin, &[]);
    let options =
        noregret_server::Options { base_path: "/base".into(), ..crate::server::options(tokens, Vec::new()) };
    let app = Arc::new(App::new(Arc::new(MemoryStore::default()), options));
    let listening = listen(app, "127.0.0.1:0".parse().unwrap(), Some(&tls)).unwrap();
    let port = listening.address.port();
    // Its certificate is nobody's that we know.
    let url = format!("https://localhost:{port}/base");
    let stranger = HttpStore::open(&url.parse().unwrap(), Some(token.clone())).unwrap_err().to_string();
    assert!(stranger.contains("ertificate"), "{stranger}");
    let certificate = ureq::tls::Certificate::from_pem(made.cert.pem().as_bytes()).unwrap();
    let roots = ureq::tls::RootCerts::new_with_certs(&[certificate]);
    let agent = ureq::Agent::config_builder()
        .tls_config(ureq::tls::TlsConfig::builder().root_certs(roots).build())
        .http_status_as_error(false)
        .build()
        .new_agent();
    let get = |path: &str| {
        let bearer = format!("Bearer {token}");
        agent
            .get(format!("https://localhost:{port}{path}"))
            .header("authorization", bearer)
            .call()
            .unwrap()
            .status()
    };
    assert_eq!(
        (get("/base/healthz"), get("/base/api/v1/studies")),
        (200.try_into().unwrap(), 200.try_into().unwrap())
    );
    assert_eq!(get("/api/v1/studies"), 404);
}
