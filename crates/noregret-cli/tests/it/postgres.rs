//! A study in PostgreSQL, by the command line: several processes, one of them killed, and a server that is restarted meanwhile.

use std::collections::BTreeMap;
use std::fs;

use noregret_testkit::postgres::PostgresServer;

use crate::folder::Folder;
use crate::signals::until;

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
