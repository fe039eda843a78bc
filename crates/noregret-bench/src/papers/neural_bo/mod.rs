//! Neural-BO and its rivals on Ackley, Levy and Michalewicz in 10 to 100 dimensions: Phan-Trong et al. 2023, "`NeuralBO`: a
//! black-box optimization algorithm using deep neural networks", section 7.1: Figure 1, Tables 1 and 2; and the example in the
//! authors' repository, Ackley in two dimensions.
//!
//! A table's value is the lowest noise-free one that was observed, initial points included. All methods of a run share the
//! initial points. See [`Setting`] for what differs between paper, code and this experiment.
//!
//! # Departures
//! - How many initial points the functions had is not printed; here they are the 15 of robot pushing (section 7.2.3).
//! - The range that the noise is a share of is not defined: here the largest of 10,000 uniform values minus the known minimum.
//! - The COCO suite (Figure 2) is the experiment `bbob`; the applications of section 7.2 are not repeated.

mod claims;
mod findings;
mod problem;
mod run;
mod setting;

use std::io::Write;

use crate::report::Progress;
use crate::{BenchError, Options, Output, Setting};
pub(crate) use claims::claims;
use problem::NoisyProblem;
use run::NeuralBoRun;
pub(crate) use setting::{NU, as_printed, variants};

/// Repetitions in the paper, and in the authors' repository.
const RUNS: u32 = 10;
/// The methods of the tables, in their order.
const ALGORITHMS: [&str; 7] =
    ["neural-bo", "neural-greedy", "gp-ucb", "gp-ts", "gp-ei", "dngo", "random-forest"];

/// What is run with `--quick`: problems, rounds and runs, about a quarter of an hour on two cores.
const QUICK: (&[&str], usize, u32) = (&["ackley-10d", "levy-10d", "michalewicz-10d"], 50, 3);

/// What `noregret bench neural-bo --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    ackley-10d, ackley-20d, ackley-50d, ackley-100d, and likewise levy-... and michalewicz-... (Figure 1);
             ackley-2d (the authors' example; what --setting code runs unless told otherwise)
Algorithms:  neural-bo, neural-greedy, gp-ucb, gp-ts, gp-ei, dngo, random-forest; in the setting paper, neural-bo stands for
             neural-bo-nu0.1, neural-bo-nu1 and neural-bo-nu10, of which tables take the best for each function;
             neural-greedy-climbing is neural-greedy with climbs from its best candidates
Settings:    paper  as printed: 2,000 rounds, noise variance 1 % of the range, a network of width 500
             code   as the authors' example: 100 rounds, noise deviation 10 % of the values', width 200
             ours   as users of noregret get it, with the paper's rounds and noise

The whole takes days: begin with --quick or --rounds. With --out, runs whose records the folder already holds are not run again, so
that an interrupted experiment goes on where it stopped; delete the folder to begin anew.

Examples:
  noregret bench neural-bo --quick
  noregret bench neural-bo --setting code --out figures
  noregret bench neural-bo --problems levy-20d --rounds 200 --runs 5 --out figures";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct NeuralBoArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Rounds after the initial points [default: 2000; in the setting `code` 100]
    #[arg(long, value_name = "N")]
    pub rounds: Option<usize>,

    /// Points a round
    #[arg(long, value_name = "N", default_value = "1")]
    pub batch: Option<std::num::NonZeroUsize>,

    /// Points among which a network or a forest looks for the best, in place of the setting's
    #[arg(long, value_name = "N")]
    pub candidates: Option<usize>,

    /// Move each function's minimum to a random place, another one in each run: Ackley's is in the middle of the box
    #[arg(long)]
    pub shifted: bool,

    /// A small part in a quarter of an hour: three problems, fewer rounds and runs, unless other flags name them
    #[arg(long)]
    pub quick: bool,
}

/// Runs the experiment and writes what it found.
pub fn run(args: &NeuralBoArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    let setting = Setting::of(options, Setting::Paper)?;
    let mut problems = options.problems_among(&problem::problems())?;
    if options.problems.is_empty() {
        problems = setting::problems(setting, args.quick);
    }
    let others = setting::NU.map(|(name, _)| name).into_iter().chain([setting::CLIMBING]);
    let known: Vec<&str> = ALGORITHMS.into_iter().chain(others).collect();
    let algorithms = setting::variants(setting, &options.algorithms_among(&known, &ALGORITHMS)?);
    let runs = options.runs_or(if args.quick { QUICK.2 } else { RUNS });
    let quick = args.quick.then_some(QUICK.1);
    let rounds = args.rounds.or(quick).unwrap_or_else(|| setting::rounds(setting));
    let batch = args.batch.map_or(1, std::num::NonZeroUsize::get);
    let mut output = Output::new(options, format!("neural-bo-{}", setting.name()), out)?;
    let steps = problems.len() * algorithms.len() * rounds;
    let progress = Progress::new(steps as u64 * u64::from(runs), "neural-bo");
    for problem in &problems {
        for run in 0..runs {
            let target = NoisyProblem::new(problem, setting, args.shifted.then(|| options.seed_of(run)));
            for algorithm in &algorithms {
                progress.message(format!("{problem}, run {run}, {algorithm}"));
                let seed = options.seed_of(run);
                let candidates = args.candidates;
                let plan =
                    NeuralBoRun { target: &target, setting, algorithm, rounds, batch, candidates, run, seed };
                if !output.obtain(|record| plan.is_of(record), || plan.execute(&progress))? {
                    progress.advance(rounds as u64);
                }
            }
        }
        progress.note(&format!("neural-bo, {}: {problem} done, {runs} runs", setting.name()));
    }
    drop(progress);
    findings::report(setting, &mut output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Record;

    /// Those that tests run: the quick ones, and the one with settings of its own.
    const TESTED: [&str; 4] = ["gp-ucb", "gp-ts", "gp-ei", "neural-bo-nu1"];

    fn args(setting: Setting, problems: &str, algorithms: &str) -> NeuralBoArgs {
        let list = |names: &str| names.split(',').filter(|n| !n.is_empty()).map(str::to_owned).collect();
        let options = Options {
            problems: list(problems),
            algorithms: list(algorithms),
            runs: std::num::NonZeroU32::new(2),
            setting: Some(setting.name().into()),
            ..Options::default()
        };
        NeuralBoArgs { options, rounds: Some(2), ..NeuralBoArgs::default() }
    }

    fn records(args: &NeuralBoArgs) -> Vec<Record> {
        let mut args = args.clone();
        args.options.json = true;
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        Record::read_all(&out[..]).unwrap()
    }

    #[test]
    fn algorithms_run_in_every_setting_from_the_same_points() {
        for setting in Setting::ALL {
            let args = args(setting, "ackley-10d", &TESTED.join(","));
            let records = records(&args);
            assert_eq!(records.len(), 2 * TESTED.len());
            for record in &records {
                let initial = if setting == Setting::Code { 5 } else { 15 };
                assert_eq!((record.evaluations, record.regret_curve.len()), (initial + 2, 3), "{record:?}");
                assert!(record.regret_curve.is_sorted_by(|a, b| a >= b));
                let first = &records[record.run as usize * TESTED.len()];
                assert_eq!(record.regret_curve[0].to_bits(), first.regret_curve[0].to_bits());
            }
        }
    }

    #[test]
    fn shifted_functions_have_a_name_and_a_place_of_their_own() {
        let mut args = args(Setting::Ours, "levy-10d", "gp-ei");
        args.shifted = true;
        let records = records(&args);
        assert!(records.iter().all(|record| record.problem == "levy-10d-shifted"));
        assert_ne!(records[0].regret_curve[0].to_bits(), records[1].regret_curve[0].to_bits());
    }

    #[test]
    fn neural_bo_is_run_with_every_nu_of_the_paper() {
        let mut args = args(Setting::Paper, "levy-10d", "neural-bo,gp-ei");
        args.options.runs = std::num::NonZeroU32::new(1);
        let records = records(&args);
        let names: Vec<&str> = records.iter().map(|record| record.algorithm.as_str()).collect();
        assert_eq!(names, ["neural-bo-nu0.1", "neural-bo-nu1", "neural-bo-nu10", "gp-ei"]);
        for record in &records[..3] {
            let factor = record.extra_number("rate_factor");
            assert!(factor > 0.0 && factor < 1.0, "the printed step is shortened: {record:?}");
        }
        assert!(records[3].extra_number("rate_factor").is_nan());
        for (name, nu) in setting::NU {
            let options =
                serde_json::to_value(setting::algorithm(Setting::Paper, name, None).unwrap()).unwrap();
            assert_eq!((&options["name"], &options["nu"]), (&"neural-bo".into(), &nu.into()));
        }
    }

    /// The rate as printed, without shortening: parameters become infinite, with Algorithm 2's sum and with a mean of squares.
    #[test]
    fn the_printed_step_diverges() {
        use noregret::{Algorithm, Direction, Space, Study};
        use noregret_problems::Problem;
        for (name, loss) in [("levy-10d", "sum"), ("levy-100d", "sum"), ("levy-100d", "mean")] {
            let mut options =
                serde_json::to_value(setting::algorithm(Setting::Paper, "neural-bo-nu1", Some(10)).unwrap())
                    .unwrap();
            options["training"]["shorten"] = false.into();
            options["training"]["loss"] = loss.into();
            let algorithm: Algorithm = serde_json::from_value(options).unwrap();
            let problem = Problem::by_name(name).unwrap();
            let space = Space::bounds(&problem.bounds).unwrap();
            let study = Study::builder().space(space.clone()).direction(Direction::Minimize);
            let mut study = study.algorithm(algorithm).build().unwrap();
            for i in 0..15_u32 {
                let u: Vec<f64> =
                    (0..space.dims()).map(|k| (0.618 * f64::from(i + 1) * (k + 1) as f64).fract()).collect();
                study.add(&space.decode(&u), problem.at_unit(&u), None).unwrap();
            }
            study.ask(1).unwrap();
            let notes = &study.diagnostics().unwrap().notes;
            assert!(notes.iter().any(|note| note.contains("diverged")), "{name}, {loss}: {notes:?}");
        }
    }

    /// Neural-Greedy has the network, start, training and search of Neural-BO. It differs in the perturbation of values, in fresh first
    /// weights for each point, and in the evaluations that it fits: 1,000 at most, Neural-BO 2,000.
    #[test]
    fn neural_greedy_is_given_what_neural_bo_is() {
        let of = |name: &str| {
            serde_json::to_value(setting::algorithm(Setting::Paper, name, None).unwrap()).unwrap()
        };
        let (bo, greedy) = (of("neural-bo-nu1"), of("neural-greedy"));
        for key in ["network", "start", "training", "standardize", "candidates"] {
            assert_eq!(bo[key], greedy[key], "{key}");
        }
        assert_eq!((&greedy["polished"], &greedy["start"]), (&0.into(), &"printed".into()));
        let mut climbing = of(setting::CLIMBING);
        assert_eq!(climbing["polished"], 5);
        climbing["polished"] = 0.into();
        assert_eq!(climbing, greedy);
    }

    #[test]
    fn every_method_has_settings() {
        for setting in Setting::ALL {
            for name in ALGORITHMS {
                assert_eq!(setting::algorithm(setting, name, None).unwrap().name(), name);
                setting::algorithm(setting, name, None).unwrap().build().unwrap();
            }
        }
    }

    #[test]
    fn batches_count_as_rounds_and_runs_repeat() {
        let mut args = args(Setting::Paper, "michalewicz-10d", "gp-ei");
        args.batch = std::num::NonZeroUsize::new(3);
        let (a, b) = (records(&args), records(&args));
        assert_eq!((a[0].evaluations, a[0].batch, a[0].rounds), (21, 3, 2));
        assert_eq!(a[1].regret_curve, b[1].regret_curve);
        assert!(a[0].extra_number("best_value") < 0.0, "{a:?}");
    }

    #[test]
    fn what_the_folder_holds_is_not_run_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut args = args(Setting::Paper, "levy-10d", "gp-ei");
        args.options.out = Some(folder.path().to_owned());
        let first = records(&args);
        // The same times to the last digit: these are the records of the first call.
        assert_eq!(records(&args), first);
        args.rounds = Some(1);
        assert_ne!(records(&args)[0].seconds_thinking.to_bits(), first[0].seconds_thinking.to_bits());
    }

    #[test]
    fn people_get_the_tables_of_the_paper() {
        let mut args = args(Setting::Code, "", "gp-ei,gp-ts");
        let folder = tempfile::tempdir().unwrap();
        args.options.out = Some(folder.path().to_owned());
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["ackley-2d", "Best value", "Table 1", "Seconds a suggestion", "Running minimum"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
        assert!(folder.path().join("neural-bo-code-minimum.svg").exists());
    }

    #[test]
    fn unknown_names_are_usage_errors() {
        for bad in [args(Setting::Paper, "egg", ""), args(Setting::Paper, "", "bobyqa")] {
            assert!(run(&bad, &mut Vec::new()).unwrap_err().is_usage());
        }
    }
}
