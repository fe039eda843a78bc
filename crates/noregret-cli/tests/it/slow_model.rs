//! A model that thinks for seconds keeps nobody waiting.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::Folder;
use crate::signals::{send, until};

/// Thinks for seconds, once it has a result.
pub(crate) const SLOW: &str = r#"{ name = "dngo", initial_points = 2, training = { name = "epochs", epochs = 60000, method = "adam", rate = 0.05, decay = 0.0001, toward = "zero", warm = false } }"#;
/// What must happen meanwhile happens within this, even on a crowded machine. It is far less than the model takes.
const SOON: f64 = 1.0;

/// The first trial is quick, so that the model begins to think; the second is not.
const FIRST_QUICK: &str = "echo $NOREGRET_TRIAL >> started\n[ $NOREGRET_TRIAL = 1 ] && sleep 0.7\ndate +%s%N > ended.$NOREGRET_TRIAL\necho $1";

fn slow(study: &str, script: &str) -> Folder {
    let folder = Folder::with(
        &format!("batch = 1\nalgorithm = {SLOW}\n{study}"),
        r#"["sh", "evaluate.sh", "{x}"]
timeout = "2s""#,
    );
    folder.script("evaluate.sh", script);
    folder
}

fn seconds_of_thinking(events: &[Value]) -> f64 {
    events
        .iter()
        .filter(|event| event["event"] == "asked")
        .filter_map(|event| event["seconds"].as_f64())
        .fold(0.0, f64::max)
}

#[test]
fn results_are_written_while_the_model_thinks() {
    let folder = slow("", FIRST_QUICK);
    let ended = folder.call(&["run", "study.toml", "--workers", "2", "--trials", "3", "--json"]).with(0);
    let thought = seconds_of_thinking(&ended.json());
    assert!(thought > 1.5 * SOON, "the model was too quick to test anything: {thought} s");
    // When the evaluation said that it ended, and when that was in the log.
    let said: f64 = folder.read("ended.1").trim().parse::<f64>().unwrap() / 1e9;
    let written = folder.trials()[1]["ended"].as_str().map(humantime::parse_rfc3339).unwrap().unwrap();
    let written = written.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs_f64();
    assert!(written - said < SOON, "written after {} s", written - said);
}

#[test]
fn time_outs_are_kept_while_the_model_thinks() {
    let folder = slow("", "[ $NOREGRET_TRIAL = 1 ] && exec sleep 60\necho $1");
    let ended = folder.call(&["run", "study.toml", "--workers", "2", "--trials", "3", "--json"]).with(0);
    assert!(seconds_of_thinking(&ended.json()) > 1.5 * SOON);
    let trial = &folder.trials()[1];
    assert!(trial["reason"].as_str().unwrap().contains("longer than 2s"), "{trial}");
    assert!(trial["seconds"].as_f64().unwrap() < 2.0 + SOON, "{trial}");
}

#[test]
fn ctrl_c_is_heard_while_the_model_thinks() {
    let folder = slow("", "echo $NOREGRET_TRIAL >> started\necho $1");
    let child = folder.start(&["run", "study.toml", "--workers", "2", "--trials", "9"]);
    until("two results are there", || {
        fs::read_to_string(folder.path("started")).is_ok_and(|text| text.lines().count() == 2)
    });
    thread::sleep(Duration::from_millis(300));
    let begin = Instant::now();
    send("-INT", child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(begin.elapsed().as_secs_f64() < SOON, "after {:?}", begin.elapsed());
    assert_eq!(folder.read("started").lines().count(), 2, "nothing was started after the signal");
}

/// A result that waited in the memory of a process was lost with it, and the evaluation repeated.
#[test]
fn what_ended_while_the_model_thinks_is_not_repeated_after_a_kill() {
    let folder = slow("", FIRST_QUICK);
    let mut child = folder.start(&["run", "study.toml", "--workers", "2", "--trials", "3"]);
    until("the second has ended", || folder.path("ended.1").exists());
    thread::sleep(Duration::from_secs_f64(SOON));
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(folder.count("complete"), 2);
    folder.call(&["run", "study.toml", "--workers", "2", "--trials", "3"]).with(0);
    let mut started: Vec<String> = folder.read("started").lines().map(str::to_owned).collect();
    started.sort_unstable();
    assert_eq!(started, ["0", "1", "2"]);
}
