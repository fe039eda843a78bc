//! The binary as a user meets it: what it prints where, and its exit codes.

use std::io::Read;
use std::process::{Command, Output, Stdio};

fn noregret(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_noregret")).args(args).output().expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("text")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("text")
}

#[test]
fn algorithms_are_listed_for_people_and_machines() {
    let table = noregret(&["algorithms"]);
    assert_eq!(table.status.code(), Some(0));
    let text = stdout(&table);
    assert!(text.starts_with("name") && text.contains("gp-ucb") && text.contains("Srinivas"), "{text}");

    let json = noregret(&["algorithms", "--json"]);
    let all: serde_json::Value = serde_json::from_str(&stdout(&json)).unwrap();
    let all = all.as_array().unwrap();
    assert!(
        all.iter().all(|a| a["purpose"].is_string() && a["paper"].is_string() && a["options"].is_object())
    );
    let ucb = all.iter().find(|a| a["name"] == "gp-ucb").unwrap();
    assert_eq!(ucb["options"]["beta"]["name"], "sqrt-log");
}

#[test]
fn the_schema_is_json() {
    let output = noregret(&["schema"]);
    assert_eq!(output.status.code(), Some(0));
    let schema: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert!(schema["properties"]["study"].is_object());
}

#[test]
fn help_is_a_success_with_examples() {
    for args in [
        &["--help"] as &[&str],
        &["algorithms", "--help"],
        &["schema", "--help"],
        &["bench", "inexact", "--help"],
        &["bench", "neural-bo", "--help"],
        &["bench", "sto-bnts", "--help"],
    ] {
        let output = noregret(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}");
        let text = stdout(&output);
        assert!(text.contains("Usage: noregret") && text.contains("Example"), "{args:?}: {text}");
        assert!(!text.contains('\u{1b}'), "no colours where there is no terminal");
    }
    let inexact = stdout(&noregret(&["bench", "inexact", "--help"]));
    for word in [
        "--problems",
        "--algorithms",
        "--runs",
        "--seed",
        "--json",
        "--out",
        "--setting",
        "--ablation",
        "--no-eta",
    ] {
        assert!(inexact.contains(word), "{word} in {inexact}");
    }
}

#[test]
fn wrong_usage_exits_with_2_and_says_why_on_stderr() {
    for (args, why) in [
        (&[] as &[&str], "Usage"),
        (&["bench"], "inexact"),
        (&["run-away"], "unrecognized subcommand"),
        (&["bench", "inexact", "--runs", "0"], "--runs"),
        (
            &["bench", "inexact", "--problems", "egg"],
            "unknown problem `egg`; known are: branin, rastrigin-3d",
        ),
        (
            &["bench", "inexact", "--algorithms", "newton"],
            "unknown algorithm `newton`; known are: random-grid",
        ),
        (&["bench", "inexact", "--setting", "mine"], "unknown setting `mine`; known are: paper, code, ours"),
    ] {
        let output = noregret(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(output.stdout.is_empty(), "{args:?}");
        assert!(stderr(&output).contains(why), "{args:?}: {}", stderr(&output));
    }
}

#[test]
fn an_experiment_prints_records() {
    let small =
        ["--problems", "branin", "--runs", "1", "--ablation", "small-design", "--algorithms", "random-grid"];
    let output = noregret(&[&["bench", "inexact", "--json", "--no-eta"] as &[&str], &small].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let record: serde_json::Value = serde_json::from_str(stdout(&output).trim()).unwrap();
    assert_eq!((&record["problem"], &record["algorithm"]), (&"branin".into(), &"random-grid".into()));
}

/// `noregret algorithms | head -1`: the reader goes away early.
#[test]
fn a_closed_pipe_is_no_panic() {
    for args in [&["algorithms"] as &[&str], &["algorithms", "--json"], &["schema"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_noregret"))
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take()); // closed before anything can have been read
        let status = child.wait().unwrap();
        let mut errors = String::new();
        child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        assert_eq!((status.code(), errors.as_str()), (Some(0), ""), "{args:?}");
    }
}
