//! Killed at any moment, a study loses nothing and counts nothing twice.
//!
//! `NOREGRET_KILLS=1000 cargo test -p noregret-cli --all-features --test it crash` kills more often: so many times one process of eight workers, a
//! fifth of that one of three processes, and a twentieth with a model that thinks for seconds.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::folder::Folder;

/// How often to kill one process.
fn kills() -> usize {
    std::env::var("NOREGRET_KILLS").ok().and_then(|n| n.parse().ok()).unwrap_or(200)
}

/// Moments at which to kill, in milliseconds below `range`; a simple generator is enough.
fn moments(range: u64) -> impl FnMut() -> u64 {
    let mut chance = 12_345u64;
    move || {
        chance = chance.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (chance >> 33) % range
    }
}

const WORKERS: usize = 8;
/// More than 200 runs of a fraction of a second can finish, so that every kill hits a study at work.
const ENDLESS: &str = "1000000";

/// Told results that a run has announced, by trial; sends a word for each.
fn announced(output: impl std::io::Read, heard: &Sender<()>) -> BTreeMap<u64, f64> {
    let mut told = BTreeMap::new();
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        // The last line may have been cut by the kill.
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        if event["event"] == "told" {
            let trial = &event["trial"];
            let before = told.insert(trial["number"].as_u64().unwrap(), trial["value"].as_f64().unwrap());
            assert_eq!(before, None, "told twice: {line}");
            let _ = heard.send(());
        }
    }
    told
}

#[test]
fn kills_of_one_process_lose_nothing() {
    let folder = Folder::with("algorithm = \"random\"\nbatch = 8", r#"["sh", "evaluate.sh", "{x}"]"#);
    // Every evaluation leaves a line when it begins; appending a short line is atomic.
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 0.01\necho $1");
    let workers = WORKERS.to_string();
    let mut told: BTreeMap<u64, f64> = BTreeMap::new();
    let mut in_flight = 0;
    let mut moment = moments(120);
    for kill in 0..kills() {
        let args = ["run", "study.toml", "--workers", &workers, "--trials", ENDLESS, "--json"];
        let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        let (sender, results) = mpsc::channel();
        let reader = thread::spawn(move || announced(stdout, &sender));
        // A trial that is lost ten times has failed. So every fourth run gets through all that waits, on the slowest machine.
        if kill % 4 == 3 {
            for _ in 0..WORKERS {
                let _ = results.recv_timeout(Duration::from_secs(20));
            }
        }
        thread::sleep(Duration::from_millis(5 + moment()));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        for (number, value) in reader.join().unwrap() {
            assert_eq!(told.insert(number, value), None, "trial {number} was told before kill {kill}");
        }
        if kill % 20 == 19 {
            check(&folder, &told);
        }
        in_flight += folder.trials().iter().filter(|trial| trial["state"] == "running").count();
    }
    // A crowded machine is slower to start, and has told less by the time of the kill.
    assert!(told.len() > kills() / 4, "the kills came too fast to test anything: {} told", told.len());

    // Go on to the end: whatever was asked for is evaluated.
    let asked = folder.trials().len() + 20;
    folder.call(&["run", "study.toml", "--workers", &workers, "--trials", &asked.to_string()]).with(0);
    check(&folder, &told);
    let trials = folder.trials();
    assert_eq!(trials.len(), asked);
    assert!(trials.iter().all(|trial| trial["state"] == "complete"), "all are evaluated in the end");

    // Evaluations repeated: begun more often than once. Each belongs to a kill that found it running.
    let started = fs::read_to_string(folder.path("started")).unwrap();
    let repeated = started.lines().count() - started.lines().collect::<BTreeSet<_>>().len();
    assert!(repeated <= in_flight, "{repeated} repeated, {in_flight} in flight");
}

/// What was announced is in the log with its value, and trials are numbered without gaps.
fn check(folder: &Folder, told: &BTreeMap<u64, f64>) {
    let trials = folder.trials();
    for (number, trial) in (0..).zip(&trials) {
        assert_eq!(trial["number"].as_u64(), Some(number));
        assert_ne!(trial["state"], "failed", "{trial}");
        if trial["state"] == "complete" {
            // The value is the parameter: a result of another trial would not fit.
            assert_eq!(trial["value"], trial["params"]["x"]);
        }
    }
    for (number, value) in told {
        let trial = &trials[usize::try_from(*number).unwrap()];
        assert_eq!(trial["value"].as_f64(), Some(*value), "{trial}");
    }
}

/// A process of a crowd, and what it announces.
struct Member {
    child: Child,
    reader: JoinHandle<BTreeMap<u64, f64>>,
}

impl Member {
    fn start(folder: &Folder, workers: &str) -> Self {
        let args = ["run", "study.toml", "--workers", workers, "--trials", ENDLESS, "--json"];
        let mut child = folder.command(&args).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let stdout = child.stdout.take().unwrap();
        Self { child, reader: thread::spawn(move || announced(stdout, &mpsc::channel().0)) }
    }

    /// Kills it, and adds what it has announced.
    fn kill(mut self, told: &mut BTreeMap<u64, f64>) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        for (number, value) in self.reader.join().unwrap() {
            assert_eq!(told.insert(number, value), None, "trial {number} was told before");
        }
    }
}

#[test]
fn kills_of_one_of_three_processes_lose_nothing() {
    let folder = Folder::with("algorithm = \"random\"\nbatch = 1", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 0.02\necho $1");
    let (workers, mut told, mut moment) = ("3", BTreeMap::new(), moments(150));
    let mut members: Vec<Member> = (0..3).map(|_| Member::start(&folder, workers)).collect();
    let killed = kills() / 5;
    for _ in 0..killed {
        thread::sleep(Duration::from_millis(40 + moment()));
        // The oldest: every process gets to do something.
        members.remove(0).kill(&mut told);
        members.push(Member::start(&folder, workers));
    }
    members.into_iter().for_each(|member| member.kill(&mut told));
    assert!(told.len() > killed, "the kills came too fast to test anything: {} told", told.len());
    let asked = folder.trials().len() + 5;
    folder.call(&["run", "study.toml", "--workers", workers, "--trials", &asked.to_string()]).with(0);
    check(&folder, &told);
    assert!(folder.trials().iter().all(|trial| trial["state"] == "complete"));
    let started = folder.read("started");
    let repeated = started.lines().count() - started.lines().collect::<BTreeSet<_>>().len();
    assert!(repeated <= 3 * (killed + 3), "{repeated} repeated: more than were running at {killed} kills");
}

/// What has ended long before a kill is in the log, although the model was thinking all the time.
#[test]
fn kills_of_a_model_that_thinks_for_seconds_repeat_nothing_that_has_ended() {
    let folder = Folder::with(
        &format!("batch = 1\nalgorithm = {}", crate::slow_model::SLOW),
        r#"["sh", "evaluate.sh", "{x}"]"#,
    );
    folder.script("evaluate.sh", "sleep 0.$NOREGRET_TRIAL\ndate \"+$NOREGRET_TRIAL %s%N\" >> ended\necho $1");
    let (mut told, mut moment, mut killed_at) = (BTreeMap::new(), moments(2500), Vec::new());
    for _ in 0..(kills() / 20).max(3) {
        let member = Member::start(&folder, "3");
        thread::sleep(Duration::from_millis(500 + moment()));
        killed_at.push(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64());
        member.kill(&mut told);
    }
    check(&folder, &told);
    let mut first: BTreeMap<String, f64> = BTreeMap::new();
    for line in folder.read("ended").lines() {
        let (trial, time) = line.split_once(' ').unwrap();
        let time = time.parse::<f64>().unwrap() / 1e9;
        if let Some(ended) = first.insert(trial.to_owned(), time) {
            // A result is in the log within 0.1 s; a crowded machine gets more.
            let is_excused = killed_at.iter().any(|kill| (-0.1..0.5).contains(&(kill - ended)));
            assert!(
                is_excused,
                "trial {trial} ended at {ended} and was evaluated again; kills {killed_at:?}"
            );
        }
    }
    assert!(first.len() > 2, "{first:?}");
}

#[test]
fn evaluations_die_with_a_killed_run() {
    let folder = Folder::with("trials = 1", r#"["sh", "evaluate.sh"]"#);
    folder.script("evaluate.sh", "echo $$ > pid\nexec sleep 60");
    let mut child = folder.start(&["run", "study.toml"]);
    let pid = loop {
        match fs::read_to_string(folder.path("pid")) {
            Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
            _ => thread::sleep(Duration::from_millis(10)),
        }
    };
    child.kill().unwrap();
    child.wait().unwrap();
    let gone = |pid: &str| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    };
    for _ in 0..100 {
        if gone(&pid) {
            return;
        }
        thread::sleep(Duration::from_millis(20));
    }
    panic!("process {pid} still runs");
}
