//! `noregret serve` and `noregret worker`, as processes: from a study file to its answer, through kills and preemptions.
//!
//! `NOREGRET_KILLS=200 cargo test --workspace --all-features --test it service` kills the server as often; by default it is a tenth of that.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use noregret_store::{Event, SqliteStore, Store};

use crate::folder::{Ended, Folder};
use crate::signals::{send, until};

/// A server process, ended with the test.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it at this port with a lasting token, and waits until it listens.
    fn start(folder: &Folder, port: u16) -> Self {
        let bind = format!("127.0.0.1:{port}");
        let args = ["serve", "study.toml", "--bind", &bind, "--json"];
        let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: serde_json::Value = serde_json::from_str(&line).unwrap();
        Self { child, address: said["address"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that was free a moment ago.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn token(folder: &Folder, role: &str) -> String {
    let made = folder.call(&["token", "create", "--role", role, "--name", "test"]).with(0);
    made.stdout.trim().to_owned()
}

fn worker(folder: &Folder, server: &str, token: &str, more: &[&str]) -> Child {
    let args = [&["worker", server, "--study", "s"][..], more].concat();
    let mut command = folder.command(&args);
    command.env("NOREGRET_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn ended(child: Child) -> Ended {
    child.wait_with_output().unwrap().into()
}

#[test]
fn a_server_and_a_worker_do_a_study() {
    let folder = Folder::with("trials = 12\nbatch = 3", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo \"$1\"");
    // Without tokens it makes one that ends with it, and prints the worker's command.
    let port = free_port();
    let mut child = folder.start(&["serve", "study.toml", "--bind", &format!("127.0.0.1:{port}")]);
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.contains("noregret worker")).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let token = words[0].strip_prefix("NOREGRET_TOKEN=").unwrap();
    assert_eq!(words[6..], ["--folder", folder.root().to_str().unwrap()], "it works from every folder");
    let done = ended(worker(&folder, words[3], token, &["--workers", "3"])).with(0);
    assert!(done.stderr.contains("12 trials evaluated here, 0 of them failed"), "{}", done.stderr);
    // Every command works by the server, too.
    let call = |args: &[&str]| -> Ended {
        let args = [args, &["--study", "s", "--storage", words[3]]].concat();
        folder.command(&args).env("NOREGRET_TOKEN", token).output().unwrap().into()
    };
    assert_eq!(call(&["trials", "--json"]).with(0).json().len(), 12);
    let best = call(&["best", "--json"]).with(0).json();
    assert_eq!(best[0]["observed"]["value"], best[0]["observed"]["params"]["x"]);
    assert_eq!(call(&["ask", "-n", "2", "--json"]).with(0).json().len(), 2);
    assert!(call(&["tell", "12", "0.5"]).with(0).stdout.contains("complete"));
    assert!(call(&["enqueue", "-p", "x=0.25"]).with(0).stdout.contains("x=0.25"));
    assert!(call(&["release", "--all"]).with(0).stdout.contains("13"));
    assert!(call(&["show"]).with(0).stdout.contains("importance"));
    assert!(call(&["export"]).with(0).stdout.contains("0.25"));
    let listed =
        folder.command(&["list", "--storage", words[3]]).env("NOREGRET_TOKEN", token).output().unwrap();
    assert!(Ended::from(listed).with(0).stdout.contains("auto"));
    assert!(call(&["archive"]).with(0).stdout.contains("put away"));
    let listed = |more: &[&str]| -> String {
        let args = [&["list", "--storage", words[3]], more].concat();
        Ended::from(folder.command(&args).env("NOREGRET_TOKEN", token).output().unwrap()).with(0).stdout
    };
    assert!(!listed(&[]).contains("auto") && listed(&["--all"]).contains("auto"));
    assert!(call(&["archive", "--undo"]).with(0).stdout.contains("listed again"));
    // And the log is the same as on the disk.
    assert_eq!(folder.count("complete"), 13);
    let refused = folder.command(&["best", "--study", "s", "--storage", words[3]]).output().unwrap();
    let refused = Ended::from(refused).with(1);
    assert!(refused.stderr.contains("NOREGRET_TOKEN"), "{}", refused.stderr);
    send("-TERM", child.id());
    assert!(child.wait().unwrap().success());
}

#[test]
fn others_need_tokens() {
    let folder = Folder::with("trials = 2", r#"["none"]"#);
    let open = folder.call(&["serve", "study.toml", "--bind", "0.0.0.0:0"]).with(2);
    assert!(open.stderr.contains("noregret token create"), "{}", open.stderr);
    let made = token(&folder, "read");
    let listed = folder.call(&["token", "list"]).with(0).stdout;
    assert!(listed.contains("read") && !listed.contains(&made), "{listed}");
    // Nobody reaches a machine by the address 0.0.0.0.
    let mut everywhere = folder.start(&["serve", "study.toml", "--bind", "0.0.0.0:0"]);
    let lines = BufReader::new(everywhere.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.contains("noregret worker")).unwrap();
    assert!(line.contains("NOREGRET_TOKEN=nr_... ") && line.contains(" http://HOST:"), "{line}");
    everywhere.kill().unwrap();
    everywhere.wait().unwrap();
    let short = folder.call(&["worker", "http://127.0.0.1:1", "--study", "s", "--lease", "500ms"]).with(2);
    assert!(short.stderr.contains("from 1s to 365 days"), "{}", short.stderr);
    let server = Server::start(&folder, free_port());
    let refused = ended(worker(&folder, &server.address, &made, &[])).with(2);
    assert!(
        refused.stderr.contains("no command for workers") || refused.stderr.contains("may read"),
        "{}",
        refused.stderr
    );
    folder.call(&["token", "revoke", &made]).with(0);
    let refused = ended(worker(&folder, &server.address, &made, &[])).with(2);
    assert!(refused.stderr.contains("was revoked"), "{}", refused.stderr);
    let wrong = ended(worker(&folder, "http://127.0.0.1:1", &made, &[])).with(1);
    assert!(wrong.stderr.contains("cannot be reached"), "{}", wrong.stderr);
}

/// A server that is killed at any moment loses no result and counts none twice.
#[test]
fn kills_of_the_server_lose_nothing() {
    let kills = std::env::var("NOREGRET_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(20);
    let folder =
        Folder::with("trials = 100000\nbatch = 4\nalgorithm = \"random\"", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 0.01\necho $1");
    let token = token(&folder, "work");
    let port = free_port();
    let mut server = Server::start(&folder, port);
    let crew: Vec<Child> =
        (0..2).map(|_| worker(&folder, &server.address, &token, &["--workers", "4", "--json"])).collect();
    let readers: Vec<_> = crew
        .into_iter()
        .map(|mut child| {
            let out = child.stdout.take().unwrap();
            let pid = child.id();
            let reading = thread::spawn(move || {
                let mut told = Vec::new();
                for line in BufReader::new(out).lines().map_while(Result::ok) {
                    let event: serde_json::Value = serde_json::from_str(&line).unwrap();
                    if event["event"] == "told" {
                        told.push((
                            event["number"].as_u64().unwrap(),
                            event["result"].as_str().unwrap().to_owned(),
                        ));
                    }
                }
                told
            });
            (child, pid, reading)
        })
        .collect();
    let mut chance = 4_711_u64;
    for _ in 0..kills {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        thread::sleep(Duration::from_millis((chance >> 33) % 150));
        drop(server); // -9
        server = Server::start(&folder, port);
    }
    let lines = || fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    let before = lines();
    until("workers go on after the last kill", || lines() > before + 20);
    let mut told = BTreeMap::new();
    for (mut child, pid, reading) in readers {
        send("-INT", pid); // finishes what runs
        assert_eq!(child.wait().unwrap().code(), Some(130));
        for (number, result) in reading.join().unwrap() {
            assert_eq!(result, "complete", "trial {number}");
            assert_eq!(told.insert(number, result), None, "trial {number} was told twice");
        }
    }
    let trials = folder.trials();
    let complete: Vec<u64> = trials
        .iter()
        .filter(|trial| trial["state"] == "complete")
        .map(|trial| {
            assert_eq!(trial["value"], trial["params"]["x"], "{trial}");
            assert!(trial.get("late").is_none(), "{trial}");
            trial["number"].as_u64().unwrap()
        })
        .collect();
    assert_eq!(complete, told.into_keys().collect::<Vec<_>>(), "what workers were told is in the log");
    // Each evaluation began once: no trial was lost on its way to a worker, or handed out again.
    let started = folder.read("started");
    let mut numbers: Vec<u64> = started.lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, complete, "{kills} kills repeated evaluations");
}

/// SIGTERM, as before a preemption, gives the trials back.
#[test]
fn a_preempted_worker_gives_its_trials_back() {
    let folder = Folder::with("trials = 2\nbatch = 2", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo x >> started\n[ -e quick ] || sleep 60\necho $1");
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let first = worker(&folder, &server.address, &token, &["--workers", "2"]);
    until("both run", || {
        fs::read_to_string(folder.path("started")).is_ok_and(|text| text.lines().count() == 2)
    });
    send("-TERM", first.id());
    let begin = Instant::now();
    ended(first).with(130);
    assert!(begin.elapsed() < Duration::from_secs(10));
    assert_eq!(folder.count("waiting"), 2);
    folder.write("quick", "");
    ended(worker(&folder, &server.address, &token, &[])).with(0);
    assert_eq!(folder.count("complete"), 2);
}

/// Slurm sends the signal to all processes of a job: a command that dies of it first has not failed.
#[test]
fn a_command_that_hears_the_signal_first_has_not_failed() {
    let folder = Folder::with("trials = 1", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo $$ > pid\nexec sleep 60");
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let child = worker(&folder, &server.address, &token, &[]);
    until("it runs", || fs::read_to_string(folder.path("pid")).is_ok_and(|text| text.ends_with('\n')));
    let pid: u32 = folder.read("pid").trim().parse().unwrap();
    send("-TERM", pid);
    thread::sleep(Duration::from_millis(500));
    send("-TERM", child.id());
    ended(child).with(130);
    assert_eq!(folder.count("waiting"), 1);
    // Without a signal for the worker it is a failure like others.
    let child = worker(&folder, &server.address, &token, &[]);
    until("it runs again", || {
        fs::read_to_string(folder.path("pid"))
            .is_ok_and(|text| text.trim() != pid.to_string() && text.ends_with('\n'))
    });
    send("-TERM", folder.read("pid").trim().parse().unwrap());
    ended(child).with(0);
    assert_eq!(folder.count("failed"), 1);
}

/// A worker takes no trial that cannot finish, and gives back what has not finished at the end of its time.
#[test]
fn a_worker_knows_when_its_time_ends() {
    let folder = Folder::with("trials = 50", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "sleep 2\necho $1");
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let begin = Instant::now();
    let done = ended(worker(&folder, &server.address, &token, &["--wall-time", "17s"])).with(0);
    assert!(begin.elapsed() < Duration::from_secs(17), "{:?}", begin.elapsed());
    assert!(done.stderr.contains("no trial would finish"), "{}", done.stderr);
    let (complete, running) = (folder.count("complete"), folder.count("running"));
    assert!((1..=4).contains(&complete) && running == 0, "{complete} complete, {running} running");
    assert_eq!(folder.count("waiting"), 0, "nothing was begun in vain");
}

/// Retries are those of the study file; a command of the worker's own takes the place of the study's.
#[test]
fn failures_and_commands_of_ones_own() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 3\n[objective]\ncommand = [\"false\"]\nretries = 1\n[parameters]\nx = { type = \"float\", low = 0, high = 1 }\n",
    );
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let failed = ended(worker(&folder, &server.address, &token, &["--keep-going"])).with(0);
    assert!(failed.stderr.contains("6 trials evaluated here, 6 of them failed"), "{}", failed.stderr);
    assert_eq!(folder.count("failed"), 3);
    let own = Folder::with("trials = 2", r#"["false"]"#);
    let token = self::token(&own, "work");
    let server = Server::start(&own, free_port());
    ended(worker(&own, &server.address, &token, &["--", "echo", "{x}"])).with(0);
    assert_eq!(own.count("complete"), 2);
    let missing = ended(worker(&own, &server.address, &token, &["--", "echo", "{y}"])).with(2);
    assert!(missing.stderr.contains("names no parameter"), "{}", missing.stderr);
}

/// A worker as if on another machine: in a namespace of processes of its own, where nobody can see whether it lives. It notes its process
/// id in the file `pid`. `None`, with a line that says so, where that is not permitted.
fn worker_elsewhere(folder: &Folder, server: &str, token: &str, more: &[&str]) -> Option<Child> {
    let mut unshare = vec!["--pid", "--fork", "--kill-child"];
    let is_root =
        || fs::metadata("/proc/self").is_ok_and(|data| std::os::unix::fs::MetadataExt::uid(&data) == 0);
    if !is_root() {
        unshare.extend(["--user", "--map-root-user"]);
    }
    let tried = Command::new("unshare").args(&unshare).arg("true").stderr(Stdio::null()).status();
    if !tried.as_ref().is_ok_and(ExitStatus::success) {
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        assert!(tried.is_err() || !is_ci, "`unshare` is here, and may not make a namespace");
        eprintln!("skipped: no namespace of processes can be made here");
        return None;
    }
    // The files of /proc are still those of the machine, which know the process by the number that others see.
    let note = "read -r pid rest < /proc/self/stat; echo $pid > pid; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(&unshare).args(["sh", "-c", note, "sh", env!("CARGO_BIN_EXE_noregret")]);
    command
        .args(["worker", server, "--study", "s"])
        .args(more)
        .current_dir(folder.root())
        .stdin(Stdio::null());
    command.env("NOREGRET_TOKEN", token).stdout(Stdio::piped()).stderr(Stdio::piped());
    Some(command.spawn().unwrap())
}

/// Values of results that came too late, by trial.
fn late_values(log: &Path) -> BTreeMap<u64, f64> {
    let entries = SqliteStore::open_to_read(log).unwrap().read("s", 0, usize::MAX).unwrap();
    let late = entries.into_iter().filter_map(|entry| match entry.event {
        Event::Late { number, value, .. } => Some((number, value.unwrap())),
        _ => None,
    });
    late.collect()
}

/// A machine that sleeps for longer than its leases, and wakes: its trials are handed out again, what it has found is kept and not counted.
#[test]
fn a_worker_that_was_frozen_is_late() {
    let folder = Folder::with("trials = 2\nbatch = 2", r#"["none"]"#);
    folder.script(
        "slow.sh",
        "echo $NOREGRET_TRIAL >> started\nwhile [ ! -e go ]; do sleep 0.05; done\necho 0.75",
    );
    folder.script("quick.sh", "echo $NOREGRET_TRIAL >> started\necho 0.25");
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let started = || fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    let short = ["--workers", "2", "--lease", "2s", "--", "sh"];
    let Some(frozen) =
        worker_elsewhere(&folder, &server.address, &token, &[&short[..], &["slow.sh"]].concat())
    else {
        return;
    };
    until("both run", || started() == 2);
    let pid: u32 = folder.read("pid").trim().parse().unwrap();
    // While it is awake it keeps them, whoever else asks.
    let other = worker(&folder, &server.address, &token, &[&short[..], &["quick.sh"]].concat());
    thread::sleep(Duration::from_secs(4));
    assert_eq!((started(), folder.count("running")), (2, 2), "its heartbeats keep them");
    send("-STOP", pid);
    let done = ended(other).with(0);
    assert!(done.stderr.contains("2 trials evaluated here, 0 of them failed"), "{}", done.stderr);
    folder.write("go", "");
    send("-CONT", pid);
    let woken = ended(frozen).with(0);
    assert_eq!(woken.stderr.matches(": late").count(), 2, "{}", woken.stderr);
    let trials = folder.trials();
    assert_eq!(trials.len(), 2, "{trials:?}");
    for trial in &trials {
        assert_eq!((&trial["state"], &trial["value"]), (&"complete".into(), &0.25.into()), "{trial}");
        assert_eq!((&trial["late"], &trial["attempts"]), (&1.into(), &2.into()), "{trial}");
    }
    assert_eq!(late_values(&folder.path("noregret.db")), BTreeMap::from([(0, 0.75), (1, 0.75)]));
    assert_eq!(started(), 4, "no more is repeated than was in its hands");
}

/// If it wakes before others have a result, its own is the first, and counts.
#[test]
fn a_worker_that_was_frozen_may_still_be_first() {
    let folder = Folder::with("trials = 1", r#"["none"]"#);
    folder.script("first.sh", "echo a >> started\nwhile [ ! -e go ]; do sleep 0.05; done\necho 0.75");
    folder.script("second.sh", "echo b >> started\nwhile [ ! -e then ]; do sleep 0.05; done\necho 0.25");
    let token = token(&folder, "work");
    let server = Server::start(&folder, free_port());
    let call = |script| ["--lease", "1s", "--", "sh", script];
    let Some(frozen) = worker_elsewhere(&folder, &server.address, &token, &call("first.sh")) else { return };
    let started =
        |what: &str| fs::read_to_string(folder.path("started")).is_ok_and(|text| text.contains(what));
    until("the first runs", || started("a"));
    let pid: u32 = folder.read("pid").trim().parse().unwrap();
    send("-STOP", pid);
    let other = worker(&folder, &server.address, &token, &call("second.sh"));
    until("the second runs", || started("b"));
    folder.write("go", "");
    send("-CONT", pid);
    let woken = ended(frozen).with(0);
    assert!(woken.stderr.contains("trial 0: 0.75"), "{}", woken.stderr);
    folder.write("then", "");
    assert!(ended(other).with(0).stderr.contains("trial 0: late"));
    let trials = folder.trials();
    assert_eq!(
        (trials.len(), &trials[0]["value"], &trials[0]["late"]),
        (1, &0.75.into(), &1.into()),
        "{trials:?}"
    );
}
