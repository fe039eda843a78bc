//! Many processes on one study, by a server or by its storage itself: how fast they are, and whether anything is lost.
//!
//! The experiment starts `noregret serve` of the program that runs it, and processes that ask for a trial, tell its value at once, and so
//! on, until the study is done. *Ask* and *tell* are whole requests as such a process sees them. With `--direct` the processes use the
//! storage without a server; with `--servers` several servers share the storage, and each has its part of the processes. Then one client
//! alone asks and tells, when the study is young and when it is full.

use std::io::{BufRead, BufReader, Read, Write};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use noregret::Space;
use noregret_client::Client;
use noregret_client::api::{Ask, Asked, Study, Told};
use noregret_store::{
    Evaluation, HandOut, SharedStudy, StorageUrl, Store, Timestamp, TrialStatus, this_worker,
};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::BenchError;
use crate::report::statistics::quantile;
use crate::report::{Progress, Table};

/// Examples for the help text.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench service
  noregret bench service --processes 64 --trials 10000 --storage postgresql://ann@localhost/bench
  noregret bench service --direct --storage postgresql://ann@localhost/bench
  noregret bench service --servers 3 --storage postgresql://ann@localhost/bench";

/// Asks and tells of the client that is alone.
const SAMPLES: usize = 500;
/// Trials told in one commit while the study is filled.
const CHUNK: usize = 500;

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct ServiceArgs {
    /// Processes that work on the study
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub processes: usize,
    /// Trials that they evaluate together
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    pub trials: usize,
    /// Trials of the full study, for the client that is alone; 0 leaves that part out
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub full: usize,
    /// Where the studies are kept [default: a SQLite file in a temporary folder]; they stay there
    #[arg(long, value_name = "URL")]
    pub storage: Option<StorageUrl>,
    /// Without a server: the processes use the storage themselves
    #[arg(long)]
    pub direct: bool,
    /// Servers over the same storage, which share the processes
    #[arg(long, value_name = "N", default_value = "1", conflicts_with = "direct")]
    pub servers: NonZeroUsize,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
    /// Be one of the processes, on this study
    #[arg(long, hide = true)]
    client: Option<String>,
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct ServiceReport {
    /// Always `service`.
    pub experiment: &'static str,
    /// `http`, or the kind of storage.
    pub way: String,
    /// Servers.
    pub servers: usize,
    /// Processes.
    pub processes: usize,
    /// Trials.
    pub trials: usize,
    /// Results that were told and are not in the log, or are there with another value.
    pub lost: usize,
    /// Results that were counted twice, or came late.
    pub twice: usize,
    /// Trials a second.
    pub rate: f64,
    /// Median and 99th percentile of an ask, in milliseconds.
    pub ask_ms: (f64, f64),
    /// Median and 99th percentile of a tell, in milliseconds.
    pub tell_ms: (f64, f64),
    /// One client alone, young: median and 99th percentile of a tell.
    pub young_tell_ms: Option<(f64, f64)>,
    /// The same on the full study.
    pub full_tell_ms: Option<(f64, f64)>,
    /// Tells a second of that client's eight threads, on the full study.
    pub full_tells_a_second: Option<f64>,
}

/// What a process says at its end: seconds.
#[derive(Default, Serialize, Deserialize)]
struct Times {
    asks: Vec<f64>,
    tells: Vec<f64>,
    /// Trials that it told, and their values.
    told: Vec<(u64, f64)>,
}

/// Measures and prints.
pub fn run(args: &ServiceArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    if let Some(study) = &args.client {
        let times = work(args, study)?;
        serde_json::to_writer(&mut *out, &times).map_err(std::io::Error::from)?;
        writeln!(out)?;
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let url = args.storage.clone().unwrap_or_else(|| StorageUrl::Sqlite(folder.path().join("bench.db")));
    let report = measure(args, &url, folder.path())?;
    if args.json {
        serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report.to_table())?;
    }
    Ok(())
}

/// A server process.
struct Server {
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn start(url: &StorageUrl, folder: &Path) -> Result<Self, BenchError> {
        let mut child = Command::new(std::env::current_exe()?)
            .args(["serve", "--bind", "127.0.0.1:0", "--json", "--rate", "1000000", "--storage"])
            .arg(url.to_string())
            .env("NOREGRET_TOKENS", folder.join("tokens.json"))
            .current_dir(folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.as_mut() {
            BufReader::new(stdout).read_line(&mut line)?;
        }
        let said: serde_json::Value = serde_json::from_str(&line).map_err(std::io::Error::from)?;
        let text = |name: &str| said[name].as_str().unwrap_or_default().to_owned();
        Ok(Self { address: text("address"), token: text("token"), child })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn measure(args: &ServiceArgs, url: &StorageUrl, folder: &Path) -> Result<ServiceReport, BenchError> {
    let servers = if args.direct { 0 } else { args.servers.get() };
    let servers: Vec<Server> = (0..servers).map(|_| Server::start(url, folder)).collect::<Result<_, _>>()?;
    let name = format!("service-{}", std::process::id());
    let way = match (servers.first(), url) {
        (Some(_), _) => "HTTP",
        (None, StorageUrl::Postgres(_)) => "PostgreSQL",
        (None, _) => "SQLite",
    };
    make(url, &name, args.trials)?;
    let progress = Progress::new(args.trials as u64, "processes that ask and tell");
    let begin = Instant::now();
    let crew: Vec<Child> = (0..args.processes)
        .map(|k| {
            let server = servers.get(k % servers.len().max(1));
            let storage = server.map_or_else(|| url.to_string(), |server| server.address.clone());
            Command::new(std::env::current_exe()?)
                .args(["bench", "service", "--client", &name, "--storage", &storage])
                .env("NOREGRET_TOKEN", server.map_or("", |server| server.token.as_str()))
                .stdout(Stdio::piped())
                .spawn()
        })
        .collect::<Result<_, _>>()?;
    let mut all = Times::default();
    for mut child in crew {
        let mut text = String::new();
        if let Some(mut stdout) = child.stdout.take() {
            stdout.read_to_string(&mut text)?;
        }
        child.wait()?;
        let times: Times = serde_json::from_str(&text).map_err(std::io::Error::from)?;
        progress.advance(times.told.len() as u64);
        all.asks.extend(times.asks);
        all.tells.extend(times.tells);
        all.told.extend(times.told);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let (lost, twice) = check(url, &name, &all.told, args.trials)?;
    let mut report = ServiceReport {
        experiment: "service",
        way: way.into(),
        servers: servers.len(),
        processes: args.processes,
        trials: args.trials,
        lost,
        twice,
        rate: args.trials as f64 / seconds,
        ask_ms: percentiles(&all.asks),
        tell_ms: percentiles(&all.tells),
        young_tell_ms: None,
        full_tell_ms: None,
        full_tells_a_second: None,
    };
    if let Some(server) = servers.first().filter(|_| args.full > 0) {
        progress.message("one client alone");
        alone(args, url, server, &mut report)?;
    }
    Ok(report)
}

/// A study of one parameter with the algorithm `random`.
fn make(url: &StorageUrl, name: &str, trials: usize) -> Result<SharedStudy, BenchError> {
    let parameters = [("x".to_owned(), noregret::Param::Float { low: 0.0, high: 1.0, log: false })];
    let definition = noregret_store::Definition {
        version: noregret_store::Definition::VERSION,
        direction: noregret::Direction::Minimize,
        seed: 0,
        algorithm: noregret::Algorithm::Random(noregret::strategy::algorithm::NoOptions {}),
        duplicates: noregret::Duplicates::Avoid,
        trials: Some(trials),
        space: noregret_store::SpaceDefinition::Parameters {
            parameters: parameters.clone().into_iter().collect(),
            constraints: [].into(),
        },
        assignment: None,
    };
    Ok(SharedStudy::open(url.open()?, name, &definition, Space::from_params(parameters, [])?)?)
}

/// What one of the processes does.
fn work(args: &ServiceArgs, study: &str) -> Result<Times, BenchError> {
    match &args.storage {
        Some(StorageUrl::Http(url)) => {
            let token = std::env::var("NOREGRET_TOKEN").ok();
            work_by_server(&Client::new(url.clone(), token), study, usize::MAX)
        }
        Some(url) => work_directly(&url.open()?, study),
        None => Err(BenchError::Write(std::io::Error::other("a client needs --storage"))),
    }
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::Write(std::io::Error::other(error.to_string()))
}

fn work_by_server(client: &Client, study: &str, most: usize) -> Result<Times, BenchError> {
    let path = format!("/api/v1/studies/{study}/trials");
    let worker = format!("{}/{:?}", this_worker(), std::thread::current().id());
    let mut times = Times::default();
    while times.told.len() < most {
        let ask =
            Ask { n: Some(1), worker: Some(worker.clone()), lease: Some(600.0), wait: 5.0, beyond: false };
        let begin = Instant::now();
        let asked: Asked = client.post(&format!("{path}:ask"), &ask).map_err(failed)?;
        let took = begin.elapsed().as_secs_f64();
        if asked.done {
            break;
        }
        for trial in asked.trials {
            times.asks.push(took);
            let value = trial.params.get("x").and_then(noregret::Value::as_f64).unwrap_or(f64::NAN);
            let begin = Instant::now();
            let tell = json!({ "value": value, "worker": worker });
            let told: Told = client.post(&format!("{path}/{}:tell", trial.number), &tell).map_err(failed)?;
            times.tells.push(begin.elapsed().as_secs_f64());
            if told.result == "complete" {
                times.told.push((trial.number, value));
            }
        }
    }
    Ok(times)
}

fn work_directly(store: &Arc<dyn Store>, study: &str) -> Result<Times, BenchError> {
    let definition = SharedStudy::first_definition(&**store, study, "the storage")?;
    let space = Space::builder().float("x", 0.0, 1.0).build()?;
    let budget = definition.trials.map(|n| n as u64);
    let mut shared = SharedStudy::resume(Arc::clone(store), study, definition, space)?;
    let (worker, lease) = (this_worker(), Some(Duration::from_mins(10)));
    let order = HandOut { wanted: 1, batch: Some(1), budget, worker: worker.clone(), lease, request: None };
    let mut times = Times::default();
    loop {
        let begin = Instant::now();
        let trials = shared.hand_out(&order, Timestamp::now())?;
        let took = begin.elapsed().as_secs_f64();
        if trials.is_empty() {
            return Ok(times);
        }
        for trial in trials {
            times.asks.push(took);
            let value = trial.numbers()[0];
            let begin = Instant::now();
            shared.tell(&[(trial.number, Evaluation::value(value))], Some(&worker), Timestamp::now())?;
            times.tells.push(begin.elapsed().as_secs_f64());
            times.told.push((trial.number, value));
        }
    }
}

/// Results that were told and are not there, and those that were counted twice.
fn check(
    url: &StorageUrl,
    name: &str,
    told: &[(u64, f64)],
    trials: usize,
) -> Result<(usize, usize), BenchError> {
    let shared = make(url, name, trials)?;
    let has = |(number, value): &&(u64, f64)| {
        let record = shared.ledger().record(*number);
        record.is_some_and(
            |record| matches!(record.status, TrialStatus::Complete { value: known, .. } if known.to_bits() == value.to_bits()),
        )
    };
    let kept = told.iter().filter(has).count();
    let missing = trials.saturating_sub(usize::try_from(shared.ledger().complete()).unwrap_or(usize::MAX));
    let mut numbers: Vec<u64> = told.iter().map(|(number, _)| *number).collect();
    numbers.sort_unstable();
    let all = numbers.len();
    numbers.dedup();
    let late = shared.ledger().records().iter().filter(|record| record.late > 0).count();
    Ok((told.len() - kept + missing, all - numbers.len() + late))
}

/// One client on a young study, and on a full one.
fn alone(
    args: &ServiceArgs,
    url: &StorageUrl,
    server: &Server,
    report: &mut ServiceReport,
) -> Result<(), BenchError> {
    let name = format!("alone-{}", std::process::id());
    let all = args.full + 20 * SAMPLES;
    let mut shared = make(url, &name, all)?;
    let client = Client::new(server.address.parse().map_err(failed)?, Some(server.token.clone()));
    let study: Study = client.get(&format!("/api/v1/studies/{name}")).map_err(failed)?;
    debug_assert_eq!(study.name, name);
    report.young_tell_ms = Some(percentiles(&work_by_server(&client, &name, SAMPLES)?.tells));
    shared.catch_up()?;
    let order = HandOut {
        wanted: CHUNK,
        batch: Some(1),
        budget: None,
        worker: this_worker(),
        lease: None,
        request: None,
    };
    while shared.ledger().records().len() < args.full {
        let trials = shared.hand_out(&order, Timestamp::now())?;
        let results: Vec<_> = trials.iter().map(|t| (t.number, Evaluation::value(t.numbers()[0]))).collect();
        shared.tell(&results, None, Timestamp::now())?;
    }
    drop(shared);
    // The server reads what was written beside it before it answers.
    client.get::<Study>(&format!("/api/v1/studies/{name}")).map_err(failed)?;
    report.full_tell_ms = Some(percentiles(&work_by_server(&client, &name, SAMPLES)?.tells));
    let (client, name) = (&client, &name);
    let tells: Vec<Result<f64, BenchError>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(move || told_a_second(client, name))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(Ok(0.0))).collect()
    });
    report.full_tells_a_second = Some(tells.into_iter().sum::<Result<f64, _>>()?);
    Ok(())
}

/// Asks for many trials at once, and tells them one by one.
fn told_a_second(client: &Client, study: &str) -> Result<f64, BenchError> {
    let path = format!("/api/v1/studies/{study}/trials");
    let asked: Asked = client.post(&format!("{path}:ask"), &json!({ "n": SAMPLES })).map_err(failed)?;
    let begin = Instant::now();
    for trial in &asked.trials {
        let tell = json!({ "value": 0.5 });
        client.post::<Told>(&format!("{path}/{}:tell", trial.number), &tell).map_err(failed)?;
    }
    Ok(asked.trials.len() as f64 / begin.elapsed().as_secs_f64())
}

fn percentiles(seconds: &[f64]) -> (f64, f64) {
    let milliseconds: Vec<f64> = seconds.iter().map(|s| 1e3 * s).collect();
    (quantile(&milliseconds, 0.5), quantile(&milliseconds, 0.99))
}

impl ServiceReport {
    fn to_table(&self) -> Table {
        let pair = |(median, high): (f64, f64)| format!("{median:.2} / {high:.2} ms");
        let mut rows = vec![
            (
                "by".to_owned(),
                if self.servers > 1 {
                    format!("{}, {} servers", self.way, self.servers)
                } else {
                    self.way.clone()
                },
            ),
            (
                format!("{} trials by {} processes, a second", self.trials, self.processes),
                format!("{:.0}", self.rate),
            ),
            ("lost, counted twice".into(), format!("{}, {}", self.lost, self.twice)),
            ("ask, median / 99 %".into(), pair(self.ask_ms)),
            ("tell, median / 99 %".into(), pair(self.tell_ms)),
        ];
        let mut more =
            |what: &str, value: Option<String>| rows.extend(value.map(|value| (what.to_owned(), value)));
        more("tell alone, young study", self.young_tell_ms.map(pair));
        more("tell alone, full study", self.full_tell_ms.map(pair));
        more(
            "tells a second, 8 threads, full study",
            self.full_tells_a_second.map(|rate| format!("{rate:.0}")),
        );
        let mut table = Table::new(["what", "measured"]);
        for (what, value) in rows {
            table.row([what, value]);
        }
        table
    }
}
