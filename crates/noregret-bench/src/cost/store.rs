//! What the event log costs: in a running process, for one command on a large study, and around an evaluation.
//!
//! A study with the algorithm `random` is filled with trials in a SQLite file, or in another storage. *Ask* is the time of handing
//! out one trial less that of proposing it, *tell* that of writing one result to the storage; both are medians and 99th percentiles of
//! 1,000, when the study is young and when it is full. The commands are those of the program that runs this experiment. How much of the
//! disk a trial takes is counted with the algorithm `auto`, one evaluation at a time, in a SQLite file only.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use noregret::{Algorithm, Direction, Duplicates, Param, Space};
use noregret_problems::hartmann6;
use noregret_store::{
    Definition, Evaluation, HandOut, SharedStudy, SpaceDefinition, SqliteStore, StorageUrl, Store, Timestamp,
    this_worker,
};
use serde::Serialize;

use crate::BenchError;
use crate::report::statistics::{median, quantile};
use crate::report::{Progress, Table, peak_memory_mb};

/// Examples for the help text.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench store
  noregret bench store --trials 10000 --json
  noregret bench store --trials 20000 --storage postgresql://ann@localhost/bench";

/// Asks and tells behind a median.
const SAMPLES: usize = 1_000;
/// Trials told in one commit while the study is filled.
const CHUNK: usize = 500;
/// Trials of the study with `auto`, unless fewer are asked for.
const WITH_MODEL: usize = 1_000;
/// Evaluations of a command that does nothing.
const EVALUATIONS: usize = 500;
const WORKERS: usize = 2;

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct StoreArgs {
    /// Trials of the study
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub trials: usize,
    /// Folder for the database [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Another storage than a SQLite file: the studies stay there
    #[arg(long, value_name = "URL", conflicts_with = "folder")]
    pub storage: Option<StorageUrl>,
    /// Print one JSON object
    #[arg(long)]
    pub json: bool,
}

/// Everything that was measured, in milliseconds and megabytes.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Always `store`.
    pub experiment: &'static str,
    /// Trials in the end.
    pub trials: usize,
    /// One after the other, in the young study.
    pub young: Singles,
    /// One after the other, in the full study.
    pub full: Singles,
    /// A write of some bytes and their synchronisation, which nobody who promises durability can beat. Like all that is missing,
    /// for a SQLite file only.
    pub disk: Option<f64>,
    /// Size of the database.
    pub megabytes: Option<f64>,
    /// Opening the full study with all its trials.
    pub resume: f64,
    /// `noregret tell` on the full study, the process included.
    pub command_tell: f64,
    /// `noregret trials --json` on the full study.
    pub command_trials: f64,
    /// Its memory at the peak.
    pub command_trials_megabytes: Option<f64>,
    /// `noregret best` and `noregret show` on the full study.
    pub command_best_and_show: (f64, f64),
    /// Trials of a study with `auto` in six dimensions, and what each takes of its database, in bytes.
    pub with_model: Option<(usize, f64)>,
    /// What `noregret run` adds to each evaluation of a command that does nothing, with two workers.
    pub run_overhead: f64,
}

/// Trials that are asked for and told one by one.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Singles {
    /// Median and 99th percentile of an ask.
    pub ask: (f64, f64),
    /// Median and 99th percentile of a tell.
    pub tell: (f64, f64),
    /// Trials a second, asked for and told.
    pub rate: f64,
}

/// Where the studies are.
struct Place {
    url: StorageUrl,
    /// The file, if it is one.
    file: Option<PathBuf>,
    /// Appended to the names of studies, which stay.
    suffix: String,
}

impl Place {
    fn new(storage: Option<&StorageUrl>, folder: &Path) -> Self {
        let file = storage.is_none().then(|| folder.join("load.db"));
        let url = file.clone().map(StorageUrl::Sqlite);
        let suffix = storage.map_or_else(String::new, |_| format!("-{}", std::process::id()));
        Self { url: url.or_else(|| storage.cloned()).unwrap_or(StorageUrl::Memory), file, suffix }
    }

    fn name(&self, study: &str) -> String {
        format!("{study}{}", self.suffix)
    }

    /// As an argument that means the same in every folder.
    fn argument(&self) -> Result<String, BenchError> {
        Ok(match &self.url {
            StorageUrl::Sqlite(path) => StorageUrl::Sqlite(std::path::absolute(path)?).to_string(),
            other => other.to_string(),
        })
    }
}

/// Measures and prints.
pub fn run(args: &StoreArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let temporary = tempfile::tempdir()?;
    let folder = args.folder.as_deref().unwrap_or(temporary.path());
    if matches!(args.storage, Some(StorageUrl::Memory)) {
        let problem = "a study in memory ends with its process, and the commands would not find it";
        return Err(BenchError::Write(std::io::Error::other(problem)));
    }
    let place = Place::new(args.storage.as_ref(), folder);
    let report = measure(args.trials.max(2 * SAMPLES), &place, folder)?;
    if args.json {
        serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
        writeln!(out)?;
    } else {
        write!(out, "{}", report.to_table())?;
    }
    Ok(())
}

fn measure(trials: usize, place: &Place, folder: &Path) -> Result<StoreReport, BenchError> {
    let progress = Progress::new(trials as u64, "filling the study");
    let mut shared = open(place)?;
    let young = singles(&mut shared, SAMPLES)?;
    progress.advance(SAMPLES as u64);
    while shared.ledger().records().len() < trials - SAMPLES {
        let n = CHUNK.min(trials - SAMPLES - shared.ledger().records().len());
        chunk(&mut shared, n)?;
        progress.advance(n as u64);
    }
    let full = singles(&mut shared, SAMPLES - 1)?;
    let last = shared.hand_out(&order(1), Timestamp::now())?[0].number;
    drop(shared);

    progress.message("opening it, and calling the program");
    let begin = Instant::now();
    let resumed = open(place)?;
    let resume = milliseconds(begin.elapsed());
    assert_eq!(resumed.ledger().records().len(), trials);
    drop(resumed);
    let (url, name) = (place.argument()?, place.name("load"));
    let study = ["--study", &name, "--storage", &url];
    let number = last.to_string();
    let (command_tell, _) = call(&[&["tell"], &study[..], &[&number, "0.5"]].concat(), folder)?;
    let (command_trials, memory) = call(&[&["trials", "--json"], &study[..]].concat(), folder)?;
    let (command_best, _) = call(&[&["best"], &study[..]].concat(), folder)?;
    let (command_show, _) = call(&[&["show"], &study[..]].concat(), folder)?;
    let mut with_model = None;
    if place.file.is_some() {
        progress.message("a study with a model");
        let trials = WITH_MODEL.min(trials);
        with_model = Some((trials, bytes_with_model(trials, folder)? / trials as f64));
    }
    progress.message("running a command that does nothing");
    Ok(StoreReport {
        experiment: "store",
        trials,
        young,
        full,
        disk: place.file.as_ref().map(|_| disk(folder)).transpose()?,
        megabytes: place
            .file
            .as_ref()
            .and_then(|path| Some(std::fs::metadata(path).ok()?.len() as f64 / 1e6)),
        resume,
        command_tell,
        command_trials,
        command_trials_megabytes: memory,
        command_best_and_show: (command_best, command_show),
        with_model,
        run_overhead: run_overhead(place, folder)?,
    })
}

fn open(place: &Place) -> Result<SharedStudy, BenchError> {
    let parameters = [
        ("x".to_owned(), Param::Float { low: 0.0, high: 1.0, log: false }),
        ("n".to_owned(), Param::Int { low: 1, high: 1_000_000, log: false }),
    ];
    let random = Algorithm::Random(noregret::strategy::algorithm::NoOptions {});
    open_with(place.url.open()?, &place.name("load"), random, parameters.into())
}

fn open_with(
    store: Arc<dyn Store>,
    name: &str,
    algorithm: Algorithm,
    parameters: Vec<(String, Param)>,
) -> Result<SharedStudy, BenchError> {
    let space = Space::from_params(parameters.clone(), [])?;
    let definition = Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 0,
        algorithm,
        duplicates: Duplicates::Avoid,
        trials: None,
        assignment: None,
        space: SpaceDefinition::Parameters {
            parameters: parameters.into_iter().collect(),
            constraints: [].into(),
        },
    };
    Ok(SharedStudy::open(store, name, &definition, space)?)
}

/// Size of the database of a study with `auto` on Hartmann-6, one trial at a time, once it is closed.
fn bytes_with_model(trials: usize, folder: &Path) -> Result<f64, BenchError> {
    let path = folder.join("model.db");
    let problem = hartmann6();
    let unit = Param::Float { low: 0.0, high: 1.0, log: false };
    let parameters = (0..6).map(|k| (format!("x{k}"), unit.clone())).collect();
    let store = Arc::new(SqliteStore::open(&path)?);
    let mut shared = open_with(store, "load", Algorithm::default(), parameters)?;
    for _ in 0..trials {
        let trial = &shared.hand_out(&order(1), Timestamp::now())?[0];
        let value = problem.at_unit(&trial.numbers());
        shared.tell(&[(trial.number, Evaluation::value(value))], None, Timestamp::now())?;
    }
    drop(shared);
    Ok(std::fs::metadata(&path)?.len() as f64)
}

fn order(n: usize) -> HandOut {
    let lease = Some(Duration::from_hours(1));
    HandOut { wanted: n, batch: Some(1), budget: None, worker: this_worker(), lease, request: None }
}

/// Asks for one trial at a time, and tells it.
fn singles(shared: &mut SharedStudy, n: usize) -> Result<Singles, BenchError> {
    let (mut asks, mut tells) = (Vec::with_capacity(n), Vec::with_capacity(n));
    let all = Instant::now();
    for _ in 0..n {
        let model = shared.ledger().model_seconds();
        let begin = Instant::now();
        let trial = shared.hand_out(&order(1), Timestamp::now())?;
        let model = 1e3 * (shared.ledger().model_seconds() - model);
        asks.push(milliseconds(begin.elapsed()) - model);
        let begin = Instant::now();
        let value = Evaluation::value(trial[0].numbers()[0]);
        shared.tell(&[(trial[0].number, value)], None, Timestamp::now())?;
        tells.push(milliseconds(begin.elapsed()));
    }
    let rate = n as f64 / all.elapsed().as_secs_f64();
    let percentiles = |times: &[f64]| (quantile(times, 0.5), quantile(times, 0.99));
    Ok(Singles { ask: percentiles(&asks), tell: percentiles(&tells), rate })
}

fn chunk(shared: &mut SharedStudy, n: usize) -> Result<(), BenchError> {
    let trials = shared.hand_out(&order(n), Timestamp::now())?;
    let results: Vec<_> = trials.iter().map(|t| (t.number, Evaluation::value(t.numbers()[0]))).collect();
    shared.tell(&results, None, Timestamp::now())?;
    Ok(())
}

/// Median time of appending a page to a file and waiting for the disk.
fn disk(folder: &Path) -> Result<f64, BenchError> {
    let mut file = std::fs::File::create(folder.join("disk"))?;
    let mut times = Vec::new();
    for _ in 0..SAMPLES {
        let begin = Instant::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        times.push(milliseconds(begin.elapsed()));
    }
    Ok(median(&times))
}

/// Time and peak memory of a call of this program, its output read to the end.
fn call(args: &[&str], folder: &Path) -> Result<(f64, Option<f64>), BenchError> {
    let program = std::env::current_exe()?;
    let begin = Instant::now();
    let mut child = Command::new(program).args(args).current_dir(folder).stdout(Stdio::piped()).spawn()?;
    let (id, mut peak) = (child.id(), None);
    if let Some(stdout) = child.stdout.take() {
        for (i, line) in BufReader::new(stdout).lines().enumerate() {
            line?;
            if i % 1_000 == 0 {
                peak = peak_memory_mb(Some(id)).or(peak);
            }
        }
    }
    let ended = child.wait()?;
    if !ended.success() {
        return Err(BenchError::Write(std::io::Error::other(format!("noregret {} failed", args.join(" ")))));
    }
    Ok((milliseconds(begin.elapsed()), peak))
}

/// What a trial costs beyond its evaluation: the time of a worker for each trial, less that of the bare command.
fn run_overhead(place: &Place, folder: &Path) -> Result<f64, BenchError> {
    let name = place.name("idle");
    let study = format!(
        "[study]\nname = \"{name}\"\ntrials = {EVALUATIONS}\nalgorithm = \"random\"\n[objective]\n\
         command = [\"echo\", \"1\"]\n[parameters]\nx = {{ type = \"float\", low = 0, high = 1 }}\n"
    );
    std::fs::write(folder.join("idle.toml"), study)?;
    let mut bare = Vec::new();
    for _ in 0..100 {
        let begin = Instant::now();
        Command::new("echo").arg("1").output()?;
        bare.push(milliseconds(begin.elapsed()));
    }
    let workers = WORKERS.to_string();
    let url = place.argument()?;
    let storage = if place.file.is_some() { &[][..] } else { &["--storage", &url] };
    let (all, _) = call(&[&["run", "idle.toml", "--workers", &workers, "--json"], storage].concat(), folder)?;
    Ok(all * WORKERS as f64 / EVALUATIONS as f64 - median(&bare))
}

fn milliseconds(span: Duration) -> f64 {
    1e3 * span.as_secs_f64()
}

impl StoreReport {
    /// The table for a person.
    fn to_table(&self) -> Table {
        let mut table = Table::new(["what", "measured"]);
        let mut row = |what: &str, value: String| {
            table.row([what.to_owned(), value]);
        };
        row("trials", self.trials.to_string());
        let pair = |(median, high): (f64, f64)| format!("{median:.3} / {high:.3} ms");
        for (age, singles) in [("young", self.young), ("full", self.full)] {
            row(&format!("one ask without its proposal, {age} study, median / 99 %"), pair(singles.ask));
            row(&format!("one tell, {age} study, median / 99 %"), pair(singles.tell));
            row(&format!("asked for and told, {age} study, a second"), format!("{:.0}", singles.rate));
        }
        if let Some(disk) = self.disk {
            row("the disk alone: write and synchronise", format!("{disk:.3} ms"));
        }
        if let Some(megabytes) = self.megabytes {
            row("size of the database", format!("{megabytes:.0} MB"));
        }
        row("resuming the full study", format!("{:.0} ms", self.resume));
        row("noregret tell on the full study", format!("{:.0} ms", self.command_tell));
        let memory = self.command_trials_megabytes.map_or(String::new(), |mb| format!(", {mb:.0} MB"));
        row("noregret trials --json on the full study", format!("{:.0} ms{memory}", self.command_trials));
        let (best, show) = self.command_best_and_show;
        row("noregret best on the full study", format!("{best:.0} ms"));
        row("noregret show on the full study", format!("{show:.0} ms"));
        if let Some((trials, bytes)) = self.with_model {
            row(&format!("a trial with auto in the database ({trials} trials)"), format!("{bytes:.0} bytes"));
        }
        row("noregret run, a trial beyond its command", format!("{:.2} ms", self.run_overhead));
        table
    }
}
