//! Many processes on one study: how fast they are together, and what a trial costs.
//!
//! The same number of workers is divided among more and more processes, each a `noregret run` of the program that runs this
//! experiment, all on one study in a SQLite file or another storage. The objective sleeps and says when it woke up. *Ask* is the time from a
//! result's being told to the start of the next evaluation in the same process, *tell* that from the end of an evaluation to
//! the event that says that its result is kept; both as somebody sees them who reads the output of `run --json`. Processor
//! time is that of the processes themselves, without the evaluations they start.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use serde_json::Value;

use crate::BenchError;
use crate::report::statistics::quantile;
use crate::report::{Progress, Table};

/// Examples for the help text.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench crowd
  noregret bench crowd --processes 1,16 --workers 32 --algorithm neural-bo --trials 60
  noregret bench crowd --processes 1 --workers 3 --trials 12 --algorithm '{ name = \"dngo\", initial_points = 4, training = { name = \"epochs\", method = \"adam\", epochs = 50000, rate = 0.05, decay = 0.0001, toward = \"zero\", warm = false } }'
  noregret bench crowd --sleep 0 --json
  noregret bench crowd --processes 64 --trials 1000 --storage postgresql://ann@localhost/bench";

/// Ticks of a process's time in a second, on every Linux.
const TICKS: f64 = 100.0;

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct CrowdArgs {
    /// How many processes share the workers
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', default_values_t = [1, 8, 32])]
    pub processes: Vec<usize>,
    /// Evaluations at once, in all
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub workers: usize,
    /// Trials of each study
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub trials: usize,
    /// Seconds that an evaluation takes
    #[arg(long, value_name = "SECONDS", default_value_t = 0.5)]
    pub sleep: f64,
    /// The algorithm, by name or as a table of the study file
    #[arg(long, value_name = "ALGORITHM", default_value = "auto")]
    pub algorithm: String,
    /// Where the study is kept [default: a SQLite file in a temporary folder]; it stays there
    #[arg(long, value_name = "URL")]
    pub storage: Option<String>,
    /// Give up after so many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0)]
    pub limit: f64,
    /// The program to measure [default: this one]
    #[arg(long, value_name = "FILE")]
    pub program: Option<PathBuf>,
    /// Print one JSON object for each number of processes
    #[arg(long)]
    pub json: bool,
}

/// One study.
#[derive(Clone, Debug, Serialize)]
pub struct CrowdReport {
    /// Always `crowd`.
    pub experiment: &'static str,
    /// Processes, and workers of each.
    pub processes: usize,
    /// Workers of each process.
    pub workers: usize,
    /// Trials with a value in the end.
    pub complete: usize,
    /// From the start of the first process to the end of the last.
    pub seconds: f64,
    /// Processor time of all of them, for each trial, in milliseconds.
    pub cpu_ms: f64,
    /// Median and 99th percentile of an ask, in milliseconds.
    pub ask_ms: (f64, f64),
    /// Median and 99th percentile of a tell, in milliseconds.
    pub tell_ms: (f64, f64),
    /// Whether it was given up.
    pub gave_up: bool,
}

/// Measures and prints.
pub fn run(args: &CrowdArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let progress = Progress::new(args.processes.len() as u64, "processes on one study");
    let mut reports = Vec::new();
    for &processes in &args.processes {
        let report = crowd(args, processes.clamp(1, args.workers.max(1)))?;
        progress.advance(1);
        if args.json {
            serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        }
        reports.push(report);
    }
    if !args.json {
        write!(out, "{}", table(&reports))?;
    }
    Ok(())
}

fn crowd(args: &CrowdArgs, processes: usize) -> Result<CrowdReport, BenchError> {
    let folder = tempfile::tempdir()?;
    // Another one in each storage that stays.
    write_study(args, &format!("crowd-{}-{processes}", std::process::id()), folder.path())?;
    let program = args.program.clone().map_or_else(std::env::current_exe, Ok)?;
    let each = (args.workers / processes).max(1);
    let begin = Instant::now();
    let mut crew: Vec<Runner> = (0..processes)
        .map(|_| Runner::start(&program, args, folder.path(), each))
        .collect::<Result<_, _>>()?;
    let mut gave_up = false;
    while crew.iter_mut().any(|runner| !runner.has_ended()) {
        if !gave_up && begin.elapsed().as_secs_f64() > args.limit {
            gave_up = true;
            crew.iter_mut().for_each(|runner| drop(runner.child.kill()));
        }
        thread::sleep(Duration::from_millis(10));
    }
    let seconds = begin.elapsed().as_secs_f64();
    let cpu: f64 = crew.iter().map(|runner| runner.cpu).sum();
    let (mut asks, mut tells) = (Vec::new(), Vec::new());
    let mut complete = 0;
    for runner in crew {
        let heard = runner.output.join().unwrap_or_default();
        complete += heard.tells.len();
        asks.extend(heard.asks);
        tells.extend(heard.tells);
    }
    Ok(CrowdReport {
        experiment: "crowd",
        processes,
        workers: each,
        complete,
        seconds,
        cpu_ms: 1e3 * cpu / complete.max(1) as f64,
        ask_ms: median_and_99(&asks),
        tell_ms: median_and_99(&tells),
        gave_up,
    })
}

fn write_study(args: &CrowdArgs, name: &str, folder: &Path) -> Result<(), BenchError> {
    let CrowdArgs { trials, sleep, algorithm, .. } = args;
    let algorithm = if algorithm.starts_with('{') { algorithm.clone() } else { format!("\"{algorithm}\"") };
    let study = format!(
        "[study]\nname = \"{name}\"\ntrials = {trials}\nbatch = 1\nalgorithm = {algorithm}\n\
         [objective]\ncommand = [\"sh\", \"evaluate.sh\", \"{{x}}\", \"{{y}}\"]\n\
         [parameters]\nx = {{ type = \"float\", low = -5, high = 10 }}\ny = {{ type = \"float\", low = 0, high = 15 }}\n"
    );
    fs::write(folder.join("study.toml"), study)?;
    let script = format!(
        "sleep {sleep}\nprintf '{{\"value\": %s, \"attrs\": {{\"ended\": %s}}}}' \"$1\" \"$(date +%s.%N)\"\n"
    );
    Ok(fs::write(folder.join("evaluate.sh"), script)?)
}

/// A process of the crowd.
struct Runner {
    child: Child,
    output: thread::JoinHandle<Heard>,
    /// Seconds of processor time, without those of its evaluations.
    cpu: f64,
    has_ended: bool,
}

/// What a process said, in milliseconds.
#[derive(Default)]
struct Heard {
    asks: Vec<f64>,
    tells: Vec<f64>,
}

impl Runner {
    fn start(program: &Path, args: &CrowdArgs, folder: &Path, workers: usize) -> Result<Self, BenchError> {
        let mut child = Command::new(program)
            .envs(args.storage.iter().map(|url| ("NOREGRET_STORAGE", url)))
            .args(["run", "study.toml", "--json", "--workers", &workers.to_string()])
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let stdout = child.stdout.take();
        let output = thread::spawn(move || stdout.map(listen).unwrap_or_default());
        Ok(Self { child, output, cpu: 0.0, has_ended: false })
    }

    /// Whether it has ended; until then, and at its end, its time is noted.
    fn has_ended(&mut self) -> bool {
        if !self.has_ended {
            let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id())).unwrap_or_default();
            if let Some((state, cpu)) = state_and_cpu(&stat) {
                self.cpu = cpu;
                if state != "Z" {
                    return false;
                }
            }
            self.has_ended = self.child.wait().is_ok();
        }
        self.has_ended
    }
}

/// State and processor time of a process, by its line in `/proc`.
fn state_and_cpu(stat: &str) -> Option<(&str, f64)> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    let mut ticks = fields.skip(10).map(|field| field.parse::<f64>().ok()); // field 14; the state is field 3
    Some((state, (ticks.next()?? + ticks.next()??) / TICKS))
}

fn listen(stdout: impl Read) -> Heard {
    let mut heard = Heard::default();
    let mut free: Vec<Instant> = Vec::new();
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        let Ok(event) = serde_json::from_str::<Value>(&line) else { continue };
        match event["event"].as_str() {
            Some("told") => {
                free.push(Instant::now());
                let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
                let ended = event["trial"]["attrs"]["ended"].as_f64().unwrap_or(now);
                heard.tells.push(1e3 * (now - ended));
            }
            Some("started_trial") => {
                heard.asks.extend(free.pop().map(|since| 1e3 * since.elapsed().as_secs_f64()));
            }
            _ => {}
        }
    }
    heard
}

fn median_and_99(times: &[f64]) -> (f64, f64) {
    if times.is_empty() { (f64::NAN, f64::NAN) } else { (quantile(times, 0.5), quantile(times, 0.99)) }
}

fn table(reports: &[CrowdReport]) -> Table {
    let mut table = Table::new([
        "processes × workers",
        "trials",
        "seconds",
        "trials a second",
        "CPU a trial",
        "ask, median and 99 %",
        "tell, median and 99 %",
    ]);
    for report in reports {
        let both = |(median, most): (f64, f64)| format!("{median:.0} / {most:.0} ms");
        let given_up = if report.gave_up { " (given up)" } else { "" };
        table.row([
            format!("{} × {}", report.processes, report.workers),
            report.complete.to_string(),
            format!("{:.1}{given_up}", report.seconds),
            format!("{:.0}", report.complete as f64 / report.seconds),
            format!("{:.1} ms", report.cpu_ms),
            both(report.ask_ms),
            both(report.tell_ms),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_is_read_whatever_its_name() {
        let stat = "7 (a ) b) Z 1 7 7 0 -1 4 0 0 0 0 150 50 9 9 20 0 1 0 5 0 0";
        assert_eq!(state_and_cpu(stat), Some(("Z", 2.0)));
    }
}
