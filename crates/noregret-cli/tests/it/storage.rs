//! A storage that is taken away in the middle of a run, and one that may only be read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use crate::folder::{Ended, Folder};
use crate::signals::until;

const COMMAND: &str = r#"["sh", "evaluate.sh", "{x}"]"#;

/// Runs a study of 30 trials, does `harm` when some are told, and returns how that ended.
fn harmed(harm: impl Fn(&Folder)) -> (Folder, Ended) {
    let folder = Folder::with("trials = 30\nbatch = 1\nalgorithm = \"random\"", COMMAND);
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 0.05\necho $1");
    let child = folder.start(&["run", "study.toml", "--workers", "2"]);
    until("some are told", || {
        fs::read_to_string(folder.path("started")).is_ok_and(|text| text.lines().count() >= 8)
    });
    harm(&folder);
    let ended = child.wait_with_output().unwrap().into();
    (folder, ended)
}

/// The command that the error names brings every result back.
fn bring_back(folder: &Folder, ended: &Ended) -> usize {
    let command = ended.stderr.lines().find(|line| line.contains("--from")).expect("a command").trim();
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    folder.call(&words).with(0);
    folder.count("complete")
}

#[test]
fn a_deleted_storage_ends_a_run_with_an_error_and_loses_nothing() {
    let (folder, ended) = harmed(|folder| {
        for name in ["noregret.db", "noregret.db-wal", "noregret.db-shm"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
    });
    let ended = ended.with(1);
    assert!(ended.stderr.contains("was deleted or moved"), "{}", ended.stderr);
    let finished = bring_back(&folder, &ended);
    let started = folder.read("started").lines().count();
    // All but those that were running when it stopped.
    assert!(finished + 2 >= started && finished >= 6, "{finished} of {started}");
}

#[test]
fn a_truncated_storage_ends_a_run_with_an_error() {
    let (folder, ended) = harmed(|folder| {
        fs::File::options().write(true).open(folder.path("noregret.db")).unwrap().set_len(0).unwrap();
    });
    let ended = ended.with(1);
    assert!(ended.stderr.contains("was truncated"), "{}", ended.stderr);
    // What is left of it is for the user to look at; the results go into another.
    for name in ["noregret.db", "noregret.db-wal", "noregret.db-shm"] {
        let _ = fs::remove_file(folder.path(name));
    }
    assert!(bring_back(&folder, &ended) >= 6);
}

/// The binary as a user who may read the folder and not write to it. `None` if that cannot be arranged here.
fn as_a_guest(folder: &Folder, args: &[&str]) -> Option<Ended> {
    let binary = folder.path("noregret");
    fs::copy(env!("CARGO_BIN_EXE_noregret"), &binary).unwrap();
    fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)).unwrap();
    fs::set_permissions(folder.root(), fs::Permissions::from_mode(0o555)).unwrap();
    let is_root = Command::new("id").arg("-u").output().ok()?.stdout == b"0\n";
    let mut command = if is_root {
        // Nothing is forbidden to root.
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(&binary);
        command
    } else {
        Command::new(&binary)
    };
    let output = command.args(args).current_dir(folder.root()).stdin(Stdio::null()).output().ok();
    fs::set_permissions(folder.root(), fs::Permissions::from_mode(0o755)).unwrap();
    output.map(Ended::from)
}

#[test]
fn a_study_can_be_read_where_nothing_may_be_written() {
    let folder = Folder::with("trials = 6\nbatch = 1", COMMAND);
    folder.script("evaluate.sh", "echo $1");
    folder.call(&["run", "study.toml"]).with(0);
    for command in ["best", "show", "trials", "export"] {
        let Some(read) = as_a_guest(&folder, &[command, "study.toml"]) else {
            eprintln!("skipped: there is no setpriv here, and nothing is forbidden to root");
            return;
        };
        assert!(!read.with(0).stdout.is_empty(), "{command}");
    }
    let told = as_a_guest(&folder, &["tell", "study.toml", "0", "1.5"]).unwrap().with(1);
    assert!(
        told.stderr.contains("read-only") || told.stderr.contains("may not be written"),
        "{}",
        told.stderr
    );
    // What a killed process has left in the write-ahead log is read, too.
    let mut child = folder.start(&["run", "study.toml", "--trials", "100000"]);
    until("more are told", || folder.count("complete") > 8);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(fs::metadata(folder.path("noregret.db-wal")).unwrap().len() > 0);
    let trials = as_a_guest(&folder, &["trials", "study.toml", "--json"]).unwrap().with(0);
    assert!(trials.json().iter().filter(|trial| trial["state"] == "complete").count() > 8);
}
