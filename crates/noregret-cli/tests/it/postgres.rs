//! A study in PostgreSQL, by the command line: several processes, one of them killed, and a server that is restarted meanwhile.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use noregret::{Params, Space};
use noregret_store::{HandOut, PostgresStore, SharedStudy, Store, Timestamp};
use noregret_testkit::postgres::PostgresServer;

use crate::folder::Folder;
use crate::signals::{send, until};

#[test]
fn processes_share_a_study_through_kills_and_restarts() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("shared");
    server.query("shared", "ALTER USER noregret PASSWORD 'secret'");
    let address = address.replace("noregret@", "noregret:secret@");
    let folder =
        Folder::with("trials = 60\nbatch = 1\nalgorithm = \"random\"", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 0.05\necho $1");
    let started = || fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    let run = ["run", "study.toml", "--workers", "3", "--storage", &address];
    let mut crew: Vec<_> = (0..3).map(|_| folder.start(&run)).collect();
    until("some are evaluated", || started() >= 10);
    crew[0].kill().unwrap(); // -9
    server.restart(true);
    until("more are evaluated", || started() >= 25);
    server.restart(false);
    let mut killed = crew.remove(0);
    killed.wait().unwrap();
    for child in crew {
        let ended: crate::folder::Ended = child.wait_with_output().unwrap().into();
        let said = ended.with(0).stderr;
        assert!(!said.contains("secret"), "{said}");
    }
    // The killed one had at most three in its hands.
    assert!((60..=63).contains(&started()), "{}", started());
    let study = ["--study", "s", "--storage", &address];
    let trials = folder.call(&[&["trials", "--json"][..], &study].concat()).with(0).json();
    let values: BTreeMap<u64, f64> = trials
        .iter()
        .map(|trial| {
            assert_eq!(trial["state"], "complete", "{trial}");
            assert_eq!(trial["value"], trial["params"]["x"], "{trial}");
            (trial["number"].as_u64().unwrap(), trial["value"].as_f64().unwrap())
        })
        .collect();
    assert_eq!(values.keys().copied().collect::<Vec<_>>(), (0..60).collect::<Vec<_>>());
    let best = folder.call(&[&["best", "--json"][..], &study].concat()).with(0).json();
    let least = values.values().copied().fold(f64::INFINITY, f64::min);
    assert_eq!(best[0]["observed"]["value"].as_f64(), Some(least), "{best:?}");
    // Errors name the storage, without its password.
    let missing = folder.call(&["best", "--study", "other", "--storage", &address]).with(2);
    assert!(missing.stderr.contains("it has s") && !missing.stderr.contains("secret"), "{}", missing.stderr);
    server.stop();
    let away = folder.call(&[&["best"][..], &study].concat()).with(1);
    assert!(away.stderr.contains("cannot be opened") && !away.stderr.contains("secret"), "{}", away.stderr);
}

/// A `run` that waits for others is told when there is something for it, and leaves the server alone until then.
#[test]
fn who_waits_is_woken_and_asks_for_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("idle");
    let folder =
        Folder::with("trials = 2\nbatch = 1\nalgorithm = \"random\"", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo $1 >> started\necho $1");
    let started = || fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    folder.call(&["enqueue", "study.toml", "--storage", &address, "--point", "x=0.5"]).with(0);
    // Somebody elsewhere has the first trial, and may vanish: the run waits for that.
    let store: Arc<dyn Store> = Arc::new(PostgresStore::open(&address.parse().unwrap()).unwrap());
    let definition = SharedStudy::first_definition(&*store, "s", "").unwrap();
    let space = Space::builder().float("x", 0.0, 1.0).build().unwrap();
    let mut other = SharedStudy::resume(store, "s", definition, space).unwrap();
    let lease = Some(Duration::from_hours(1));
    let order = HandOut {
        wanted: 1,
        batch: Some(1),
        budget: None,
        worker: "1-1@elsewhere".into(),
        lease,
        request: None,
    };
    assert_eq!(other.hand_out(&order, Timestamp::now()).unwrap().len(), 1);
    let child = folder.start(&["run", "study.toml", "--workers", "2", "--storage", &address]);
    until("it has done the second", || started() == 1);
    thread::sleep(Duration::from_secs(1));
    server.query("idle", "ALTER SYSTEM SET log_statement = 'all'");
    server.query("idle", "SELECT pg_reload_conf()");
    thread::sleep(Duration::from_secs(1));
    let statements = || server.log().lines().filter(|line| line.contains("noregret.")).count();
    let (before, watched) = (statements(), Duration::from_secs(4));
    thread::sleep(watched);
    // It looks every ten seconds all the same, with two statements or three. Asking every 200 ms it would be 20.
    let asked = statements() - before;
    assert!(asked <= 4, "{asked} statements in {watched:?}");
    let mut delays: Vec<Duration> = (1..=5_u32)
        .map(|k| {
            let point: Params = [("x", f64::from(k) / 8.0)].into_iter().collect();
            let begin = Instant::now();
            other.enqueue(&[point], Timestamp::now()).unwrap();
            until("it is evaluated", || started() > k as usize);
            let delay = begin.elapsed();
            thread::sleep(Duration::from_millis(60 * u64::from(k))); // at no fixed beat
            delay
        })
        .collect();
    delays.sort();
    // On a crowded machine some take longer, but far less than until it would look by itself.
    assert!(delays[0] < Duration::from_millis(150) && delays[4] < Duration::from_secs(3), "{delays:?}");
    assert!(statements() > before, "the log shows what is asked");
    send("-INT", child.id());
    let ended: crate::folder::Ended = child.wait_with_output().unwrap().into();
    ended.with(130);
}
