//! Whatever users, commands and disks do, noregret says what is wrong and loses nothing.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::folder::{Ended, Folder};

/// Runs a study of one trial with this shell script, and gives the reason of its failure.
fn failure_of(script: &str) -> String {
    let folder = Folder::with("trials = 1", r#"["sh", "evaluate.sh"]"#);
    folder.script("evaluate.sh", script);
    let ended = folder.call(&["run", "study.toml"]).with(1);
    assert!(ended.stderr.contains("all 1 trials have failed"), "{ended:?}");
    let trial = &folder.trials()[0];
    assert_eq!(trial["state"], "failed");
    trial["reason"].as_str().unwrap().to_owned()
}

#[test]
fn study_files() {
    let folder = Folder::full("[study]\nname = \"s\"\ntrails = 3\n");
    let ended = folder.call(&["run", "none.toml"]).with(2);
    assert!(ended.stderr.contains("none.toml: cannot be read: No such file"), "{ended:?}");
    let ended = folder.call(&["run", "study.toml"]).with(2);
    let expected = "error: study.toml:3:1: unknown key `trails`; did you mean `trials`?";
    assert!(ended.stderr.starts_with(expected), "{ended:?}");
    assert!(ended.stderr.contains("\n3 | trails = 3\n  | ^^^^^^"), "{ended:?}");
    folder.write("study.toml", "[study\nname = 1");
    assert!(folder.call(&["run", "study.toml"]).with(2).stderr.starts_with("error: study.toml:1:"));
    folder.write("study.json", "{\"study\": {\"name\": \"s\", \"trails\": 3}}");
    let ended = folder.call(&["run", "study.json"]).with(2);
    assert!(
        ended.stderr.contains("did you mean `trials`") && ended.stderr.contains("study.json:1:32: "),
        "{ended:?}"
    );
    fs::write(folder.path("study.toml"), [0xff, 0xfe, 0x00]).unwrap();
    assert!(folder.call(&["run", "study.toml"]).with(2).stderr.contains("UTF-8"));
}

#[test]
fn studies_that_are_not_there() {
    let folder = Folder::with("", r#"["true"]"#);
    folder.call(&["ask", "study.toml", "--dry-run"]).with(0);
    for command in ["trials", "best", "show", "export"] {
        let ended = folder.call(&[command, "study.toml"]).with(1);
        assert!(ended.stderr.contains("study `s` has no trials yet"), "{ended:?}");
    }
    assert!(!folder.path("noregret.db").exists(), "looking makes nothing");
    folder.call(&["ask", "study.toml"]).with(0);
    let ended = folder.call(&["best", "--study", "t", "--storage", "sqlite:///noregret.db"]).with(2);
    assert!(ended.stderr.contains("there is no study `t`") && ended.stderr.contains("it has s"), "{ended:?}");
    let ended = folder.call(&["best", "study.toml", "--storage", "noregret.db"]).with(2);
    assert!(ended.stderr.contains("sqlite:///path.db"), "{ended:?}");
    folder.write("text.db", &"not a database at all, but long enough to be mistaken for one ".repeat(9));
    let ended = folder.call(&["run", "study.toml", "--storage", "sqlite:///text.db"]).with(2);
    assert!(ended.stderr.contains("is not a database of noregret"), "{ended:?}");
}

#[test]
fn a_study_that_has_changed() {
    let folder = Folder::with("trials = 1", r#"["echo", "1"]"#);
    folder.call(&["run", "study.toml"]).with(0);
    let text = fs::read_to_string(folder.path("study.toml")).unwrap();
    folder.write("study.toml", &text.replace("high = 1", "high = 2"));
    let ended = folder.call(&["run", "study.toml", "--trials", "2"]).with(2);
    assert!(ended.stderr.contains("parameter `x` was") && ended.stderr.contains("tell --from"), "{ended:?}");
    for command in ["trials", "best", "show", "export"] {
        assert!(folder.call(&[command, "study.toml"]).with(2).stderr.contains("parameter `x` was"));
    }
    folder.call(&["export", "--study", "s", "--storage", "sqlite:///noregret.db"]).with(0);
    folder.write("study.toml", &text.replace("trials = 1", "trials = 2\nalgorithm = \"sobol\"\nseed = 9"));
    folder.call(&["run", "study.toml"]).with(0);
    assert_eq!(folder.count("complete"), 2);
}

#[test]
fn a_command_that_does_not_exist() {
    let folder = Folder::with("trials = 3", r#"["./trian.py", "{x}"]"#);
    let ended = folder.call(&["run", "study.toml"]).with(2);
    assert!(ended.stderr.contains("\"./trian.py\" cannot be started: No such file"), "{ended:?}");
    assert_eq!(folder.count("failed"), 0, "nothing is wrong with the trial");
    folder.script("trian.py", "echo 1");
    folder.call(&["run", "study.toml"]).with(0);
    assert_eq!(folder.count("complete"), 3);
    let folder = Folder::with("", r#"["echo", "{y}"]"#);
    let ended = folder.call(&["run", "study.toml", "--trials", "1"]).with(2);
    assert!(ended.stderr.contains("`{y}` in \"{y}\" names no parameter (nearest: `x`)"), "{ended:?}");
}

#[test]
fn a_command_that_never_works_is_not_tried_for_ever() {
    let folder = Folder::with("trials = 100", r#"["sh", "-c", "echo no module named torch >&2; exit 1"]"#);
    let ended = folder.call(&["run", "study.toml"]).with(1);
    assert!(ended.stderr.contains("stopping: nothing has worked so far"), "{ended:?}");
    assert_eq!(folder.trials().len(), 5);
    let table = folder.call(&["trials", "study.toml"]).with(0).stdout;
    assert!(table.contains("exit code 1: no module named torch"), "{table}");
    folder.call(&["run", "study.toml", "--keep-going", "--trials", "8"]).with(1);
    assert_eq!(folder.trials().len(), 8);
}

#[test]
fn a_misspelt_command_harms_no_trial() {
    let folder = Folder::with("trials = 3\nbatch = 2", r#"["./trian.py"]"#);
    for _ in 0..12 {
        folder.call(&["run", "study.toml"]).with(2);
    }
    assert_eq!((folder.trials().len(), folder.count("waiting")), (2, 2));
}

#[test]
fn a_command_that_breaks_half_way_may_be_mended() {
    let folder = Folder::with("trials = 4", r#"["./evaluate"]"#);
    folder.script(
        "evaluate",
        "[ $NOREGRET_TRIAL = 1 ] && [ ! -e broken ] && touch broken && chmod -x evaluate; echo 1",
    );
    let mut child = folder.start(&["run", "study.toml"]);
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let warning = lines.find(|line| line.starts_with("warning: ")).unwrap();
    assert!(warning.contains("cannot be started: Permission denied"), "{warning}");
    fs::set_permissions(folder.path("evaluate"), fs::Permissions::from_mode(0o755)).unwrap();
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.count("complete"), 4);
}

#[test]
fn messages_that_nobody_can_read_stop_nothing() {
    let folder = Folder::with("trials = 5", r#"["echo", "{x}"]"#);
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut command = folder.command(&["run", "study.toml"]);
    assert!(command.stderr(full).stdout(Stdio::null()).status().unwrap().success());
    assert_eq!(folder.count("complete"), 5);
}

#[test]
fn a_test_problem_of_other_dimensions() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 2\n[objective]\nbuiltin = \"branin\"\n[parameters]\nx = { type = \"bool\" }\n",
    );
    let ended = folder.call(&["run", "study.toml"]).with(2);
    assert!(ended.stderr.contains("takes 2 numbers"), "{ended:?}");
}

#[test]
fn options_of_algorithms() {
    let folder = Folder::with("algorithm = { name = \"gp-ei\", model = { fit_points = 0 } }", r#"["true"]"#);
    let ended = folder.call(&["run", "study.toml"]).with(2);
    assert!(ended.stderr.starts_with("error: study.toml:3:"), "{ended:?}");
    assert_eq!(ended.stderr.matches("fit_points must be").count(), 1, "{ended:?}");
    assert!(!folder.path("noregret.db").exists());
}

#[test]
fn commands_that_print_no_value() {
    assert!(
        failure_of("echo garbage")
            .contains("must be a number or a JSON object with `value`, not \"garbage\"")
    );
    assert!(failure_of("echo nan").contains("the value is NaN"));
    assert!(failure_of("true").contains("it printed nothing"));
    assert!(failure_of("echo '{\"valu\": 1}'").contains("no `value`"));
    assert!(failure_of("printf '\\377\\376\\n'").contains("must be a number"));
}

#[test]
fn commands_that_end_badly() {
    assert_eq!(failure_of("echo 1; exit 3"), "it ended with exit code 3");
    assert_eq!(failure_of("echo 1; kill -SEGV $$"), "it was killed by signal 11 (segmentation fault)");
    assert_eq!(failure_of("kill -9 $$"), "it was killed by signal 9 (killed; out of memory?)");
}

#[test]
fn a_command_that_hangs_is_killed_with_its_children() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 1\n[objective]\ncommand = [\"sh\", \"evaluate.sh\"]\ntimeout = \"400ms\"\n\
         [parameters]\nx = { type = \"float\", low = 0, high = 1 }\n",
    );
    folder.script("evaluate.sh", "sh -c 'sleep 3; touch survived' &\nsleep 60");
    let begin = Instant::now();
    folder.call(&["run", "study.toml"]).with(1);
    assert!(begin.elapsed() < Duration::from_secs(3));
    assert_eq!(folder.trials()[0]["reason"], "it took longer than 400ms");
    thread::sleep(Duration::from_millis(3200));
    assert!(!folder.path("survived").exists(), "a child has outlived the time-out");
}

#[test]
fn a_command_that_forks_does_not_hold_us_up() {
    let folder = Folder::with("trials = 2", r#"["sh", "evaluate.sh"]"#);
    // One child stays in the group, the other leaves it; both keep stdout open.
    folder.script("evaluate.sh", "sleep 30 &\nsetsid sleep 30 &\necho 4.5");
    let begin = Instant::now();
    folder.call(&["run", "study.toml"]).with(0);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert!(folder.trials().iter().all(|trial| trial["value"] == 4.5));
}

#[test]
fn a_flood_of_a_gigabyte_needs_little_memory() {
    let folder = Folder::with(
        "trials = 1",
        r#"["sh", "-c", "yes | head -c 1000000000; yes x | head -c 1000000 >&2; echo; echo 3"]"#,
    );
    let mut child = folder.start(&["run", "study.toml"]);
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0u64));
        thread::sleep(Duration::from_millis(5));
    }
    Ended::from(child.wait_with_output().unwrap()).with(0);
    assert_eq!(folder.trials()[0]["value"], 3.0);
    assert!((1..100_000).contains(&peak), "peak of {peak} kB");
}

/// A disk that is full until somebody makes room: the size of files is limited, then no longer.
#[test]
fn a_full_disk_delays_results_and_loses_none() {
    let folder = Folder::with("trials = 300\nalgorithm = \"random\"", r#"["echo", "{x}"]"#);
    let script = "trap '' XFSZ; ulimit -S -f 200; exec \"$0\" run study.toml --workers 2";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let warning = lines.find(|line| line.starts_with("warning: ") || line.starts_with("error: ")).unwrap();
    assert!(warning.contains("cannot be written") && warning.contains("results are kept"), "{warning}");
    let raised =
        Command::new("prlimit").args(["--fsize=unlimited", "--pid", &child.id().to_string()]).status();
    assert!(raised.unwrap().success());
    lines.for_each(drop);
    assert!(child.wait().unwrap().success());
    assert_eq!((folder.trials().len(), folder.count("complete")), (300, 300));
}

#[test]
fn results_that_cannot_be_written_are_shown() {
    let folder = Folder::with("trials = 300\nalgorithm = \"random\"", r#"["echo", "{x}"]"#);
    let script = "trap '' XFSZ; ulimit -f 200; exec \"$0\" run study.toml --workers 1";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("warning: ") {
        line.clear();
        assert_ne!(stderr.read_line(&mut line).unwrap(), 0);
    }
    for _ in 0..2 {
        assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
        thread::sleep(Duration::from_millis(100));
    }
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest}");
    let told = rest.lines().find(|line| line.contains("noregret tell study.toml")).expect(&rest);
    // The command that it shows is the right one.
    let words: Vec<&str> = told.split_whitespace().skip(1).collect();
    folder.call(&words).with(0);
    let number: usize = words[2].parse().unwrap();
    assert_eq!(folder.trials()[number]["state"], "complete");
}

#[test]
fn a_read_only_database() {
    let folder = Folder::with("trials = 2", r#"["echo", "1"]"#);
    folder.call(&["run", "study.toml", "--trials", "1"]).with(0);
    let mode =
        |name: &str, mode| fs::set_permissions(folder.path(name), fs::Permissions::from_mode(mode)).unwrap();
    mode("noregret.db", 0o444);
    mode("", 0o555);
    let mut command = folder.command(&["run", "study.toml"]);
    if rustix::process::geteuid().is_root() {
        command.uid(65_534); // permissions mean nothing to root
    }
    let ended = Ended::from(command.output().unwrap()).with(1);
    mode("", 0o755);
    assert!(ended.stderr.contains("noregret.db cannot be"), "{ended:?}");
    assert!(ended.stderr.contains("read-only") || ended.stderr.contains("may not be written"), "{ended:?}");
    assert_eq!(folder.count("complete"), 1);
}

/// `--workers 18446744073709551615` grew until it was killed.
#[test]
fn numbers_of_the_command_line_have_ranges() {
    let folder = Folder::with("trials = 2", r#"["echo", "1"]"#);
    for workers in ["0", "10001", "18446744073709551615", "99999999999999999999"] {
        let ended = folder.call(&["run", "study.toml", "--workers", workers]).with(2);
        assert!(ended.stderr.contains("from 1 to 10000"), "{ended:?}");
    }
    for n in ["0", "100001", "9223372036854775808"] {
        let ended = folder.call(&["ask", "study.toml", "-n", n]).with(2);
        assert!(ended.stderr.contains("from 1 to 100000"), "{ended:?}");
    }
    let ended = folder.call(&["run", "study.toml", "--trials", "9223372036854775808"]).with(2);
    assert!(ended.stderr.contains("1000000000"), "{ended:?}");
    folder.call(&["run", "study.toml", "--workers", "3"]).with(0);
}
