//! noregret beside its peers: BoTorch, Optuna, HEBO, SMAC3, egobox, bayesian-optimization, scikit-optimize, Nevergrad.
//!
//! Everybody gets the same functions with the same noise and the same number of evaluations, in batches of the same size. Minima are
//! moved to random places, another one in each run: nobody profits from an optimum in the middle of the box. Peers run in
//! processes of their own behind small adapters (`benchmarks/peers`), one process for all runs of a method, with as many
//! threads as we have.
//!
//! A run's regret is that of the best point evaluated, noise left out. Methods are ranked within a *block*: the runs of all methods with
//! one function, batch size and seed.
//!
//! `suite`, `name`, `task`, `contender` and `run` make the records, `basin` says whether a run found the right valley; `findings` gathers what
//! `blocks`, `ranking`, `pairs`, `families`, `regrets` and `costs` make of the records, for the terminal, the `page` and
//! documents. `timing` is an experiment of its own: one suggestion after so many evaluations.

mod basin;
mod blocks;
pub(crate) mod contender;
mod costs;
mod families;
pub(crate) mod findings;
mod name;
mod page;
mod pairs;
mod ranking;
mod regrets;
pub(crate) mod run;
pub(crate) mod suite;
pub(crate) mod task;
mod timing;

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use crate::report::Progress;
use crate::{BenchError, Options, Output};
use contender::Contender;
use run::MethodRun;
use suite::Suite;

/// Repetitions, each with a minimum in another place.
const RUNS: u32 = 10;

/// What is run with `--quick`: problems, batches, methods and runs.
const QUICK: (&[&str], &[usize], &[&str], u32) = (
    &["branin", "hartmann-6d", "levy-10d", "levy-5d-mixed"],
    &[1, 5],
    &["auto", "optuna-gp", "optuna-tpe", "egobox-egor", "nevergrad-ngopt", "random"],
    2,
);

/// What `noregret bench peers --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    branin, six-hump-camel, hartmann-3d, rosenbrock-5d, hartmann-6d, levy-5d, ackley-5d, michalewicz-5d, griewank-8d,
             levy-10d, ackley-10d, styblinski-tang-10d, rastrigin-20d, levy-50d, hartmann-6d-noisy, levy-10d-noisy,
             levy-5d-mixed, ackley-10d-mixed; all with their minimum in a random place, and what leaves the box mirrored back.
             Without the mirror, which makes creases: branin-translated and the like, for branin, six-hump-camel, hartmann-3d,
             rosenbrock-5d, hartmann-6d, levy-5d, ackley-5d, griewank-8d, levy-10d, ackley-10d
Algorithms:  any of noregret's, and botorch-qlognei, optuna-gp, optuna-tpe, hebo, smac-blackbox, egobox-egor, bayesopt-ucb,
             skopt-gp, nevergrad-ngopt. The first one named is compared with the others. [default: auto, all peers, random]

The peers need their environments: benchmarks/peers/make_environments.sh FOLDER. The whole takes days: begin with --quick, which
leaves out the slow ones. With --out, runs whose records the folder already holds are not run again, and the results are also written as a
page, peers.html, and without figures as peers.md. Several commands, one for each method say, may fill one folder at a time. Methods
need not have run the same: with --records FOLDER nothing is run, and what the folder holds is reported.

Examples:
  noregret bench peers --quick --environments ~/peer-environments --out figures
  noregret bench peers --problems hartmann-6d --batches 5 --algorithms auto,optuna-gp --environments ~/peer-environments
  noregret bench peers --algorithms auto,gp-ei,ts-rsr,qei --runs 20 --seed 1000
  noregret bench peers --sizes 100,500,1000,2000 --threads 1 --environments ~/peer-environments";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PeersArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Sizes of batches, separated by commas [default: 1,5,20]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub batches: Vec<NonZeroUsize>,

    /// Evaluations of a run [default: 30 to 200, by dimension and batch]
    #[arg(long, value_name = "N")]
    pub evaluations: Option<NonZeroUsize>,

    /// Folder with the environments of the peers, as the script in benchmarks/peers makes it
    #[arg(long, value_name = "DIR")]
    pub environments: Option<PathBuf>,

    /// Folder with their adapters
    #[arg(long, value_name = "DIR", default_value = "benchmarks/peers")]
    pub adapters: PathBuf,

    /// Threads of every contender
    #[arg(long, value_name = "N", default_value = "2")]
    pub threads: Option<NonZeroUsize>,

    /// Time single suggestions after so many evaluations, separated by commas, in place of whole runs; by default of auto,
    /// botorch-qlognei, optuna-gp and egobox-egor
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',')]
    pub sizes: Vec<NonZeroUsize>,

    /// A small part in about a quarter of an hour, unless other flags name more
    #[arg(long)]
    pub quick: bool,
}

/// Runs the experiment and writes what it found.
pub fn run(args: &PeersArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    let chosen = |asked: bool, quick: &'static [&'static str], all: &[&'static str]| -> Vec<&'static str> {
        if args.quick && !asked { quick.to_vec() } else { all.to_vec() }
    };
    let problems = options.problems_among(&suite::problems())?;
    let problems = chosen(!options.problems.is_empty(), QUICK.0, &problems);
    let threads = args.threads.map_or(2, NonZeroUsize::get);
    if !args.sizes.is_empty() {
        let methods = options.algorithms_among(&contender::names(), &timing::METHODS)?;
        return timing::run(args, &methods, threads, out);
    }
    let methods = options.algorithms_among(&contender::names(), &contender::default_names())?;
    let methods = chosen(!options.algorithms.is_empty(), QUICK.2, &methods);
    let batches = match (args.batches.is_empty(), args.quick) {
        (false, _) => args.batches.iter().map(|batch| batch.get()).collect(),
        (true, true) => QUICK.1.to_vec(),
        (true, false) => vec![1, 5, 20],
    };
    let suite = Suite {
        problems,
        batches,
        runs: options.runs_or(if args.quick { QUICK.3 } else { RUNS }),
        evaluations: args.evaluations.map(NonZeroUsize::get),
        seed: options.seed,
    };
    let mut output = Output::new(options, "peers", out)?;
    let progress = Progress::new(suite.len() * methods.len() as u64, "peers");
    for method in &methods {
        let mut contender = Contender::new(method, args, threads)?;
        for run in suite.runs() {
            let plan = MethodRun { method, run: &run };
            progress.message(plan.to_string());
            output.obtain(|record| plan.is_of(record), || plan.execute(&mut contender))?;
            progress.advance(1);
        }
        contender.stop();
        progress.note(&format!("peers: {method} done"));
    }
    drop(progress);
    findings::report(&methods, &mut output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Record;

    fn args(algorithms: &str, problems: &str) -> PeersArgs {
        let list = |names: &str| names.split(',').map(str::to_owned).collect();
        let options = Options {
            problems: list(problems),
            algorithms: list(algorithms),
            runs: std::num::NonZeroU32::new(3),
            ..Options::default()
        };
        let size = |n| NonZeroUsize::new(n).unwrap();
        PeersArgs {
            options,
            batches: vec![size(1), size(3)],
            evaluations: Some(size(12)),
            ..PeersArgs::default()
        }
    }

    #[test]
    fn our_own_algorithms_run_on_every_sort_of_problem_and_are_ranked() {
        let mut args = args("gp-ei,random", "branin,hartmann-6d-noisy,levy-5d-mixed");
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["mean rank", "critical difference", "levy-5d-mixed", "seconds", "18 blocks"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        args.options.json = true;
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let records = Record::read_all(&out[..]).unwrap();
        assert_eq!(records.len(), 2 * 3 * 2 * 3);
        for record in &records {
            assert_eq!(record.evaluations, 12);
            assert!(record.simple_regret >= -1e-9 && record.regret_curve.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn a_folder_gets_a_page_and_is_enough_for_another() {
        let folder = tempfile::tempdir().unwrap();
        let mut args = args("gp-ei,random", "branin,levy-5d-mixed");
        args.options.out = Some(folder.path().to_owned());
        run(&args, &mut Vec::new()).unwrap();
        let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
        let page = read("peers.html");
        crate::report::html::tests::assert_well_formed(&page);
        for record in Record::read_all(read("peers.jsonl").as_bytes()).unwrap() {
            assert_eq!(record.extra["version"], env!("CARGO_PKG_VERSION"));
            assert_eq!(record.extra.contains_key("global_basin"), record.problem == "branin");
        }
        // A peer that has no environment here, and no record: nothing is run, and the page says who is missing.
        args.options.algorithms.push("optuna-tpe".into());
        args.options.records = args.options.out.clone();
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("No runs of: optuna-tpe") && text.contains("12 blocks"), "{text}");
    }

    #[test]
    fn a_peer_that_cannot_be_started_is_an_error_that_says_how() {
        let error = run(&args("optuna-gp", "branin"), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("make_environments.sh"), "{error}");
    }

    #[test]
    fn every_name_is_known() {
        assert!(contender::PEERS.iter().all(|peer| contender::names().contains(&peer.method)));
        assert!(QUICK.2.iter().all(|method| contender::names().contains(method)));
        assert!(QUICK.0.iter().all(|problem| suite::problems().contains(problem)));
    }
}
