//! TS-RSR and its rivals on the functions of Tables 1, 2 and 3 of Ren & Li, "TS-RSR: a provably efficient approach for batch
//! Bayesian optimization", with the paper's batch sizes and rounds and 15 uniform initial points that all algorithms of a run
//! share. Simple regret is that of the best noise-free value so far, initial points included.
//!
//! # Departures
//! - Table 4 (Boston housing, robot pushing) needs simulators that are not part of this program yet.
//! - See [`Setting`] for what differs between the paper, its code and this experiment.

mod claims;
mod findings;
mod problem;
mod run;
mod setting;
mod tables;

use std::io::Write;

use crate::report::Progress;
use crate::{BenchError, Options, Output, Setting};
pub(crate) use claims::claims;
use problem::Target;
use run::TsRsrRun;
use tables::{EXTRA, FUNCTIONS, PAPER_ALGORITHMS, ROWS, TableRow};

/// Those of the paper, one of ours, qEI without the candidates that we add near the best points, TS-RSR after the exploration of
/// App. B.1, and TS-RSR with its ratio minimised over the continuous space.
const ALGORITHMS: [&str; 11] = [
    "dpp-ts",
    "bucb",
    "ucb-pe",
    "sp",
    "ts",
    "qei",
    "ts-rsr",
    "qei-mc",
    "qei-uniform",
    "ts-rsr-explore",
    "ts-rsr-polished",
];

/// What `noregret bench ts-rsr --help` says after the flags.
pub const AFTER_HELP: &str = "\
Tables:      1  gp-2d, gp-3d
             2  ackley-2d, rosenbrock-2d, bird-2d, ackley-3d
             3  hartmann-6d, griewank-8d, michalewicz-10d
             4  Boston housing and robot pushing: not available yet, they need simulators
Besides:     bird-2d-150, the 150 rounds of the authors' script; gp-noisy-2d, where the exploration of App. B.1 can end
Algorithms:  dpp-ts, bucb, ucb-pe, sp, ts, qei, ts-rsr (the paper's); qei-mc (ours), qei-uniform (without candidates near the best
             points), ts-rsr-explore (App. B.1 first), ts-rsr-polished (the ratio minimised over the continuous space)
Settings:    paper  as printed
             code   as the authors' public code runs it, which differs
             ours   as users of noregret get it: hyperparameters fitted

Examples:
  noregret bench ts-rsr --table 2 --runs 3
  noregret bench ts-rsr --problems hartmann-6d --setting ours --out figures
  noregret bench ts-rsr --setting code --json > ts-rsr-code.jsonl
  noregret bench ts-rsr --problems bird-2d,bird-2d-150 --setting code
  noregret bench ts-rsr --problems gp-noisy-2d --algorithms ts-rsr,ts-rsr-explore
  noregret bench ts-rsr --speed";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct TsRsrArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Measure how the time of a batch grows with its size, in place of regrets
    #[arg(long)]
    pub speed: bool,

    /// Only the problems of this table of the paper
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=4))]
    pub table: Option<u8>,
}

/// Runs the experiment and writes what it found.
pub fn run(args: &TsRsrArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    if args.speed {
        return crate::cost::batches::run(&args.options, out);
    }
    let options = &args.options;
    let setting = Setting::of(options, Setting::Paper)?;
    let known: Vec<&'static str> = ROWS.iter().chain(&EXTRA).map(|row| row.problem).collect();
    let problems = options.problems_among(&known)?;
    let algorithms = options.algorithms_among(&ALGORITHMS, &PAPER_ALGORITHMS)?;
    let runs = |row: &TableRow| options.runs_or(row.runs);
    let mut output = Output::new(options, format!("ts-rsr-{}", setting.name()), out)?;
    if args.table == Some(4) {
        return output.text(
            "Table 4 (Boston housing, robot pushing in 3 and 4 dimensions) needs simulators that noregret does not have yet.\n",
        );
    }
    let wanted = |row: &&TableRow| {
        problems.contains(&row.problem) && args.table.is_none_or(|table| table == row.table)
    };
    let beside = if options.problems.is_empty() { &[][..] } else { &EXTRA };
    let rows: Vec<&TableRow> = ROWS.iter().chain(beside).filter(wanted).collect();
    let rounds = |row: &&TableRow| row.rounds as u64 * u64::from(runs(row));
    let steps = rows.iter().map(rounds).sum::<u64>() * algorithms.len() as u64;
    let progress = Progress::new(steps, "ts-rsr");
    for row in &rows {
        for run in 0..runs(row) {
            let seed = options.seed_of(run);
            // Ten functions, each as often as it takes.
            let target = Target::new(row.problem, setting, seed % u64::from(FUNCTIONS));
            for algorithm in &algorithms {
                progress.message(format!("{}, run {run}, {algorithm}", row.problem));
                let plan = TsRsrRun { row, target: &target, setting, algorithm, number: run, seed };
                output.obtain(|record| plan.is_of(record), || plan.execute())?;
                progress.advance(row.rounds as u64);
            }
        }
        progress.note(&format!("ts-rsr, {}: {} done, {} runs", setting.name(), row.problem, runs(row)));
    }
    drop(progress);
    findings::report(setting, &rows, &mut output)
}
