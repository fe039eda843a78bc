//! What a command gets from noregret, what noregret makes of its output, and what is left of it in the end: nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::folder::{Ended, Folder};

/// Starts three processes that a signal to the group does not reach or may not reach, and writes down their numbers: one in
/// the group, one in a session of its own, and a daemon whose parent has ended.
const FAMILY: &str = "sleep 300 & echo $! >> pids
setsid sh -c 'echo $$ >> pids; exec sleep 300' &
sh -c 'setsid sh -c \"echo \\$\\$ >> pids; exec sleep 300\" > /dev/null 2>&1 < /dev/null &'
while [ $(wc -l < pids) -lt 3 ]; do sleep 0.01; done
";

/// A study of one trial with this in `[objective]`, whose command is the script `evaluate.sh`.
fn study(objective: &str, script: &str) -> Folder {
    let folder = Folder::full(&format!(
        "[study]\nname = \"s\"\ntrials = 1\n[objective]\ncommand = [\"sh\", \"evaluate.sh\", \"{{x}}\"]\n{objective}\n\
         [parameters]\nx = {{ type = \"float\", low = 0, high = 1 }}\n"
    ));
    folder.script("evaluate.sh", script);
    folder
}

fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < Duration::from_secs(20), "still not: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

fn is_gone(pid: &str) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

/// The family of an evaluation, once it has written down all its numbers.
fn family(folder: &Folder) -> Vec<String> {
    let pids = || fs::read_to_string(folder.path("pids")).unwrap_or_default();
    until("the family is complete", || pids().matches('\n').count() == 3);
    pids().lines().map(str::to_owned).collect()
}

/// The line of `/proc/PID/status` of a command, as it wrote it to `status`.
fn status(folder: &Folder, key: &str) -> String {
    let text = folder.read("status");
    let line = text.lines().find_map(|line| line.strip_prefix(key)).expect(&text);
    line.trim_matches([':', '\t', ' ']).to_owned()
}

#[cfg(target_os = "linux")]
#[test]
fn a_time_out_kills_children_that_left_the_group() {
    let folder = study("timeout = \"500ms\"", &format!("{FAMILY}sleep 300"));
    let begin = Instant::now();
    folder.call(&["run", "study.toml"]).with(1);
    assert!(begin.elapsed() < Duration::from_secs(20), "{:?}", begin.elapsed());
    assert_eq!(folder.trials()[0]["reason"], "it took longer than 500ms");
    for pid in family(&folder) {
        assert!(is_gone(&pid), "process {pid} has outlived the time-out");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn grandchildren_die_with_a_killed_run() {
    let folder = study("", &format!("echo $$ > command\n{FAMILY}sleep 300"));
    let mut child = folder.start(&["run", "study.toml"]);
    let family = family(&folder);
    child.kill().unwrap(); // SIGKILL
    child.wait().unwrap();
    let command = folder.read("command").trim().to_owned();
    for pid in family.iter().chain([&command]) {
        until(&format!("process {pid} has ended"), || is_gone(pid));
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_an_evaluation_leaves_running_ends_with_it() {
    let folder = study("", &format!("{FAMILY}echo 4.5"));
    folder.call(&["run", "study.toml"]).with(0);
    assert_eq!(folder.trials()[0]["value"], 4.5);
    for pid in family(&folder) {
        assert!(is_gone(&pid), "process {pid} has outlived its evaluation");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_supervisor_that_is_killed_takes_its_command_along() {
    let folder = study("", "echo $$ > command\nsleep 0.3\nkill -9 $PPID\nexec sleep 300");
    folder.call(&["run", "study.toml"]).with(1);
    assert_eq!(folder.trials()[0]["reason"], "the process that supervised it was killed");
    until("the command has ended", || is_gone(folder.read("command").trim()));
}

#[cfg(target_os = "linux")]
#[test]
fn the_supervisor_is_not_for_people() {
    let folder = study("", "echo 1");
    let ended = folder.call(&["supervise", "--", "echo", "1"]).with(2);
    assert!(ended.stderr.contains("a part of `noregret run`") && ended.stdout.is_empty(), "{ended:?}");
    assert!(!folder.call(&["--help"]).with(0).stdout.contains("supervise"));
}

#[test]
fn a_number_is_never_read_from_the_middle_of_a_line() {
    let value = |script: &str| {
        let folder = study("", script);
        let ended = folder.call(&["run", "study.toml"]);
        (ended.code, folder.trials()[0].clone())
    };
    let (code, trial) = value("printf 7.; head -c 300000 /dev/zero | tr '\\0' 0");
    assert_eq!((code, &trial["value"]), (Some(0), &7.0.into()), "{}", trial["reason"]);
    let (code, trial) = value("printf 7.; head -c 1100000 /dev/zero | tr '\\0' 0");
    assert_eq!((code, &trial["reason"]), (Some(1), &"the last line of stdout is longer than 1 MiB".into()));
    let (code, trial) = value("echo 0.5; head -c 5000000 /dev/zero | tr '\\0' '\\n'");
    assert_eq!((code, &trial["value"]), (Some(0), &0.5.into()), "{}", trial["reason"]);
    let (code, trial) = value("for i in 1 2 3; do printf '\\r%d0 %%' $i; done; printf '\\r0.5\\n'");
    assert_eq!((code, &trial["value"]), (Some(0), &0.5.into()), "{}", trial["reason"]);
}

/// Control sequences in all that a command and a study can contain.
#[test]
fn control_sequences_do_not_reach_the_terminal() {
    let folder = Folder::full(
        r#"
        [study]
        name = "s\u001b]0;name\u0007"
        trials = 2
        [objective]
        command = ["sh", "evaluate.sh"]
        [parameters]
        act = { type = "categorical", choices = ["\u001b[8mhidden\nforged", "größer 学习率"] }
        "#,
    );
    folder.script(
        "evaluate.sh",
        "[ $NOREGRET_TRIAL = 1 ] && echo 1 && exit\nprintf '\\033[31m red\\033]52;c;cHduZWQ=\\007\\t.\\n' >&2; exit 3",
    );
    let harmless = |ended: &Ended| {
        for text in [&ended.stdout, &ended.stderr] {
            assert!(!text.contains(|c: char| c.is_control() && c != '\n'), "{ended:?}");
            assert!(!text.contains("\nforged"), "{ended:?}");
        }
    };
    let run = folder.call(&["run", "study.toml"]).with(0);
    harmless(&run);
    let failed = "trial 0 failed: it ended with exit code 3: \\x1b[31m red\\x1b]52;c;cHduZWQ=\\x07 .\n";
    assert!(run.stderr.contains(failed), "{run:?}");
    folder.call(&["tell", "study.toml", "0", "--fail", "\u{1b}[1mreason\nforged"]).with(0);
    for command in ["trials", "best", "show"] {
        harmless(&folder.call(&[command, "study.toml"]).with(0));
    }
    for words in [
        &["ask", "study.toml", "-n", "1"] as &[&str],
        &["tell", "study.toml", "0", "\u{1b}[1m"],
        &["best", "--study", "\u{1b}[1m", "--storage", "sqlite:///noregret.db"],
    ] {
        harmless(&folder.call(words));
    }
    let shown = folder.call(&["trials", "study.toml"]).with(0).stdout;
    assert!(shown.contains("\\x1b[8mhidden\\nforged") || shown.contains("größer 学习率"), "{shown}");
}

#[test]
fn the_environment_can_be_restricted_and_set() {
    let environment = |objective: &str| {
        let folder = study(objective, "env > environment; echo 1");
        let mut command = folder.command(&["run", "study.toml"]);
        command.envs([("SECRET_TOKEN", "s3cret"), ("CUDA_HOME", "/cuda"), ("OMP_NUM_THREADS", "8")]);
        Ended::from(command.output().unwrap()).with(0);
        let text = folder.read("environment");
        assert!(text.contains("NOREGRET_TRIAL=0\n") && text.contains("NOREGRET_PARAMS={\"x\":"), "{text}");
        assert!(text.contains("PATH=/"), "{text}");
        text
    };
    let all = environment("");
    assert!(all.contains("SECRET_TOKEN=s3cret\n") && all.contains("OMP_NUM_THREADS=8\n"), "{all}");
    let some = environment(
        "environment = [\"CUDA_*\"]\nenv = { OMP_NUM_THREADS = \"1\", GREETING = \"a b = {x}\\n\" }",
    );
    assert!(
        some.contains("CUDA_HOME=/cuda\n") && !some.contains("SECRET") && !some.contains("HOME=/root"),
        "{some}"
    );
    assert!(some.contains("OMP_NUM_THREADS=1\n") && some.contains("GREETING=a b = {x}\n"), "{some}");
    assert!(!environment("environment = []").contains("CUDA"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_command_starts_with_open_files_and_signals_as_usual() {
    // Itself started with signals ignored, as by `nohup` and in the background, and one blocked.
    let folder =
        study("", "ls -l /proc/$$/fd > files; cat /proc/self/status > status; umask > umask; echo 1");
    let script = "ls -l /proc/$$/fd > inherited; trap '' INT HUP QUIT XFSZ USR1; umask 027
        exec env --block-signal=USR2 \"$0\" run study.toml";
    let run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .stdin(Stdio::null())
        .output();
    Ended::from(run.unwrap()).with(0);
    let targets = |name: &str| -> BTreeSet<String> {
        folder.read(name).lines().filter_map(|line| Some(line.split_once(" -> ")?.1.to_owned())).collect()
    };
    // Besides what somebody opened before us, there are the pipes; the shell opened two files itself.
    let added: Vec<String> = targets("files").difference(&targets("inherited")).cloned().collect();
    let (pipes, rest): (Vec<_>, Vec<_>) = added.iter().partition(|target| target.starts_with("pipe:"));
    assert_eq!(pipes.len(), 2, "{added:?}");
    assert!(rest.iter().all(|file| file.ends_with("/files") || file.ends_with("/evaluate.sh")), "{added:?}");
    assert_eq!(status(&folder, "SigBlk"), "0000000000000000");
    // Signals 32 and 33 belong to the C library, which lets nobody change them.
    let ignored = u64::from_str_radix(&status(&folder, "SigIgn"), 16).unwrap();
    assert_eq!(ignored & !(0b11 << 31), 0, "{ignored:x}");
    assert_eq!(folder.read("umask").trim(), "0027");
}

/// A file that grows beyond a limit ends a program by default. noregret takes it for a full disk; commands still end.
#[test]
fn a_limit_on_the_size_of_files_is_a_full_disk() {
    let folder = Folder::with("trials = 300\nalgorithm = \"random\"", r#"["echo", "{x}"]"#);
    let script = "ulimit -S -f 200; exec \"$0\" run study.toml --workers 2";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .stdout(Stdio::null())
        .stderr(fs::File::create(folder.path("messages")).unwrap())
        .spawn()
        .unwrap();
    until("it warns", || {
        folder.read("messages").contains("results are kept") || child.try_wait().unwrap().is_some()
    });
    let raised =
        Command::new("prlimit").args(["--fsize=unlimited", "--pid", &child.id().to_string()]).status();
    assert!(raised.unwrap().success());
    let ended = child.wait().unwrap();
    assert!(ended.success(), "{ended}: {}", folder.read("messages"));
    assert_eq!((folder.trials().len(), folder.count("complete")), (300, 300));

    let folder = study("", "head -c 1000000 /dev/zero > large; kill -XFSZ $$; echo 1");
    let script = "ulimit -f 500; exec \"$0\" run study.toml";
    let run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .output();
    Ended::from(run.unwrap()).with(1);
    assert_eq!(folder.trials()[0]["reason"], "it was killed by signal 25 (a file grew beyond the limit)");
    assert!(fs::metadata(folder.path("large")).unwrap().len() <= 512_000, "the limit holds for commands");
}

/// Runs a study of 24 short trials with 16 workers where the machine does not allow so many.
fn with_limit(option: &str, prepare: impl FnOnce(&Folder, &mut Command)) {
    let folder = Folder::with(
        "trials = 24\nbatch = 16\nalgorithm = \"random\"",
        r#"["sh", "-c", "echo {x}; exec sleep 0.3"]"#,
    );
    let mut command = Command::new("prlimit");
    command.args([option, env!("CARGO_BIN_EXE_noregret"), "run", "study.toml", "--workers", "16"]);
    command.current_dir(folder.root());
    prepare(&folder, &mut command);
    let ended = Ended::from(command.output().unwrap()).with(0);
    assert_eq!((folder.count("complete"), folder.count("failed")), (24, 0), "{ended:?}");
    assert!(ended.stderr.contains("for lack of processes, threads, memory or files"), "{ended:?}");
    assert!(ended.stderr.contains("; going on with "), "{ended:?}");
    assert_eq!(ended.stderr.matches("warning: ").count(), 1, "said once: {ended:?}");
}

#[test]
fn too_few_open_files_are_fewer_workers() {
    with_limit("--nofile=30", |_, _| ());
}

#[test]
fn too_few_processes_are_fewer_workers() {
    if !rustix::process::geteuid().is_root() {
        return; // the limit counts all processes of a user, of whom this one may have any number
    }
    with_limit("--nproc=20", |folder, command| {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(folder.root(), fs::Permissions::from_mode(0o777)).unwrap();
        command.uid(31_847); // nobody's: root may have any number of processes
    });
}

#[test]
fn an_export_never_overwrites_the_study() {
    use std::os::unix::fs::symlink;
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 2\n[objective]\ncommand = [\"echo\", \"1\"]\n[pool]\nfile = \"pool.csv\"\n",
    );
    folder.write("pool.csv", "a\n1\n2\n3\n");
    folder.call(&["run", "study.toml"]).with(0);
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("noregret.db", folder.path("link.csv")).unwrap();
    fs::hard_link(folder.path("noregret.db"), folder.path("hard.csv")).unwrap();
    let before = fs::read(folder.path("noregret.db")).unwrap();
    for (output, what) in [
        ("noregret.db", "the storage of the study"),
        ("sub/../noregret.db", "the storage of the study"),
        ("link.csv", "the storage of the study"),
        ("hard.csv", "the storage of the study"),
        ("noregret.db-wal", "the storage of the study"),
        ("noregret.db-shm", "the storage of the study"),
        ("noregret.db-journal", "the storage of the study"),
        ("study.toml", "the study file"),
        ("pool.csv", "the pool of the study"),
    ] {
        for study in [&["study.toml"] as &[&str], &["--study", "s", "--storage", "sqlite:///noregret.db"]] {
            if study.len() > 1 && output == "study.toml" {
                continue; // without it, nothing says that this is the study file
            }
            let ended =
                folder.call(&[&["export", "--format", "csv", "--output", output], study].concat()).with(2);
            assert!(ended.stderr.contains(what) && ended.stderr.contains("name another file"), "{ended:?}");
        }
    }
    assert_eq!(fs::read(folder.path("noregret.db")).unwrap(), before);
    assert_eq!(folder.read("pool.csv"), "a\n1\n2\n3\n");
    assert_eq!(folder.count("complete"), 2);
}

#[test]
fn an_export_that_fails_leaves_the_old_file() {
    let folder = study(
        "",
        "printf '{\"value\": 1, \"attrs\": {\"log\": \"'; head -c 200000 /dev/zero | tr '\\0' x; echo '\"}}'",
    );
    folder.call(&["run", "study.toml"]).with(0);
    folder.write("trials.json", "old");
    let script = "ulimit -f 200; exec \"$0\" export study.toml --output trials.json";
    let run = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .output();
    let ended = Ended::from(run.unwrap()).with(1);
    assert!(ended.stderr.contains("trials.json cannot be written: File too large"), "{ended:?}");
    assert_eq!(folder.read("trials.json"), "old");
    let names: Vec<_> =
        fs::read_dir(folder.root()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(names.iter().all(|name| !name.to_string_lossy().ends_with(".part")), "{names:?}");
    folder.call(&["export", "study.toml", "--output", "trials.json"]).with(0);
    assert!(folder.read("trials.json").starts_with("[\n{"));
    // What is no file is written to as it is.
    let ended = folder.call(&["export", "study.toml", "--format", "csv", "--output", "/dev/stdout"]).with(0);
    assert!(ended.stdout.starts_with("number,state,x,"), "{ended:?}");
}

#[test]
fn a_storage_is_a_file_and_nothing_that_forgets() {
    let folder = Folder::with("trials = 2", r#"["echo", "1"]"#);
    for url in ["sqlite:///file:u.db?mode=memory", "sqlite:///file:u.db", "sqlite:///file::memory:"] {
        let ended = folder.call(&["run", "study.toml", "--storage", url]).with(2);
        assert!(ended.stderr.contains("SQLite's own addresses (file:...) are not supported"), "{ended:?}");
    }
    for name in ["./file:u.db?mode=memory", "./:memory:"] {
        let url = format!("sqlite:///{name}");
        folder.call(&["run", "study.toml", "--storage", &url]).with(0);
        let trials = folder.call(&["trials", "study.toml", "--storage", &url, "--json"]).with(0);
        assert_eq!(trials.json().len(), 2);
        assert!(folder.path(name).exists());
    }
    // By a study file in a folder with such a name.
    fs::create_dir(folder.path("file:v")).unwrap();
    fs::copy(folder.path("study.toml"), folder.path("file:v/study.toml")).unwrap();
    folder.call(&["run", "file:v/study.toml"]).with(0);
    assert!(folder.path("file:v/noregret.db").exists());
}
