//! Is random grid search sufficient? GP-UCB with its bound maximized by different solvers, on six functions.
//! Kim, Liu & Chen 2025, "Bayesian Optimization with Inexact Acquisition", section 5.1: Figures 1 (cumulative regret) and
//! 2 (time), and the ablations of App. B.2: a fixed grid in place of a growing one, and half the initial design.
//!
//! One point a round, no noise, `beta_t = sqrt(ln(t + 2))`, a scrambled Sobol design that all solvers of a run share. The
//! regret of the initial points is not counted. The three settings are those of [`Setting`].
//!
//! # Departures
//! - The grid ablation is run on the six functions; the paper's is on a data set (Fig. 4) whose code is not public.
//! - Time is that of proposing (fit and acquisition); the authors' also holds the evaluations, which take microseconds.
//! - The paper prints plots only. Numbers beside ours come from the authors' public code, run by us.

mod claims;
mod findings;
mod problem;
mod run;
mod setting;

use std::io::Write;

use crate::report::Progress;
use crate::{BenchError, Options, Output, Setting};
pub(crate) use claims::claims;
use problem::{CASES, Case};

/// Repetitions in the paper.
const RUNS: u32 = 20;
/// Solvers of the paper; the rest of [`SOLVERS`] are ours.
const PAPER_SOLVERS: [&str; 4] = ["random-grid", "lbfgsb", "nelder-mead", "cg"];
const SOLVERS: [&str; 7] =
    ["random-grid", "lbfgsb", "nelder-mead", "cg", "auto", "sobol-grid", "adaptive-grid"];

/// What `noregret bench inexact --help` says after the flags.
pub const AFTER_HELP: &str = "\
Problems:    branin, rastrigin-3d, hartmann-3d, hartmann-4d, levy-5d, hartmann-6d
Algorithms:  random-grid, lbfgsb, nelder-mead, cg (the paper's solvers of the acquisition function),
             and auto, sobol-grid, adaptive-grid (ours)
Settings:    paper  as printed
             code   as the authors' public code runs it, which differs
             ours   as users of noregret get it

Examples:
  noregret bench inexact --problems branin --runs 3
  noregret bench inexact --setting ours --algorithms random-grid,lbfgsb,auto --out figures
  noregret bench inexact --setting code --json > inexact-code.jsonl";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InexactArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// One of the paper's ablations in place of its main experiment
    #[arg(long, value_name = "NAME")]
    pub ablation: Option<Ablation>,

    /// Do not estimate how exactly the acquisition function was maximized: faster, and nothing else changes
    #[arg(long)]
    pub no_eta: bool,
}

/// The ablations of App. B.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Ablation {
    /// Grids of 100 points beside the growing ones (B.2.1)
    FixedGrid,
    /// Half the initial points, and the rounds of the authors' script (B.2.2)
    SmallDesign,
}

/// A solver under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TestedSolver {
    solver: &'static str,
    /// Whether its grid has a fixed size; `None` for solvers without a choice.
    fixed_grid: Option<bool>,
}

impl TestedSolver {
    /// `growing`, `fixed`, or nothing for solvers without a choice.
    fn grid(self) -> Option<&'static str> {
        self.fixed_grid.map(|fixed| if fixed { "fixed" } else { "growing" })
    }
}

/// The solvers to run: with the grid ablation the random grid in both forms, and by default nothing else.
fn solvers(args: &InexactArgs) -> Result<Vec<TestedSolver>, BenchError> {
    let fixed = args.ablation == Some(Ablation::FixedGrid);
    let default = if fixed { &PAPER_SOLVERS[..1] } else { &PAPER_SOLVERS[..] };
    let mut solvers = Vec::new();
    for solver in args.options.algorithms_among(&SOLVERS, default)? {
        let is_grid = solver == "random-grid";
        solvers.push(TestedSolver { solver, fixed_grid: is_grid.then_some(false) });
        if is_grid && fixed {
            solvers.push(TestedSolver { solver, fixed_grid: Some(true) });
        }
    }
    Ok(solvers)
}

/// Runs the experiment and writes what it found.
pub fn run(args: &InexactArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    let setting = Setting::of(options, Setting::Paper)?;
    let problems = options.problems_among(&CASES.map(|case| case.problem))?;
    let solvers = solvers(args)?;
    let runs = options.runs_or(RUNS);
    let ablation = match args.ablation {
        None => "",
        Some(Ablation::FixedGrid) => "-fixed-grid",
        Some(Ablation::SmallDesign) => "-small-design",
    };
    let mut output = Output::new(options, format!("inexact-{}{ablation}", setting.name()), out)?;
    let cases: Vec<Case> = CASES.into_iter().filter(|case| problems.contains(&case.problem)).collect();
    let small = args.ablation == Some(Ablation::SmallDesign);
    let size = |case: &Case| if small { case.small } else { case.large };

    let rounds: usize = cases.iter().map(|case| size(case).1).sum();
    let progress = Progress::new((rounds * solvers.len()) as u64 * u64::from(runs), "inexact");
    for case in &cases {
        let problem = case.problem();
        for run in 0..runs {
            for &tested in &solvers {
                progress.message(format!("{}, run {run}, {}", case.problem, tested.solver));
                let (initial, rounds) = size(case);
                let plan = run::InexactRun {
                    problem: &problem,
                    initial,
                    rounds,
                    setting,
                    tested,
                    design: if small { "small" } else { "large" },
                    run,
                    seed: options.seed_of(run),
                    with_eta: !args.no_eta,
                };
                output.obtain(|record| plan.is_of(record), || plan.execute())?;
                progress.advance(rounds as u64);
            }
        }
        progress.note(&format!("inexact, {}: {} done, {runs} runs", setting.name(), case.problem));
    }
    drop(progress);
    findings::report(setting, args.ablation, &mut output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Record;

    fn args(problems: &str, algorithms: &str, setting: Setting) -> InexactArgs {
        let list =
            |names: &str| names.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let options = Options {
            problems: list(problems),
            algorithms: list(algorithms),
            runs: std::num::NonZeroU32::new(1),
            setting: Some(setting.name().into()),
            json: true,
            ..Options::default()
        };
        InexactArgs { options, ..InexactArgs::default() }
    }

    /// A run of six rounds.
    fn short(setting: Setting, tested: TestedSolver, with_eta: bool) -> Record {
        let plan = run::InexactRun {
            problem: &CASES[0].problem(),
            initial: 10,
            rounds: 6,
            setting,
            tested,
            design: "small",
            run: 0,
            seed: 1,
            with_eta,
        };
        plan.execute().unwrap()
    }

    #[test]
    fn every_setting_and_solver_runs_and_measuring_changes_nothing() {
        for setting in Setting::ALL {
            for solver in SOLVERS {
                let tested = TestedSolver { solver, fixed_grid: None };
                let (with, without) = (short(setting, tested, true), short(setting, tested, false));
                assert_eq!(with.regret_curve, without.regret_curve, "{setting:?}, {solver}");
                assert_eq!((with.rounds, with.evaluations, with.regret_curve.len()), (6, 16, 7));
                assert_eq!(with.regret_curve[0].to_bits(), 0.0_f64.to_bits());
                assert!(with.regret_curve.is_sorted(), "{setting:?}, {solver}: regret is never negative");
                assert!(with.extra_number("eta_hat") > 0.5 && without.extra_number("eta_hat").is_nan());
                assert!(with.extra_number("m_hat") >= 0.0 && with.extra_number("values") > 0.0);
            }
        }
    }

    #[test]
    fn the_grid_ablation_runs_both_grids() {
        let mut args = args("branin", "", Setting::Paper);
        args.ablation = Some(Ablation::FixedGrid);
        let both = solvers(&args).unwrap();
        let records: Vec<Record> = both.into_iter().map(|c| short(Setting::Paper, c, false)).collect();
        let grids: Vec<_> = records.iter().map(|record| record.extra["grid"].as_str().unwrap()).collect();
        assert_eq!(grids, ["growing", "fixed"]);
        // 100 (1 + 2 + ... + 6) against 6 times 100.
        assert_eq!(
            records.iter().map(|r| r.extra["values"].as_u64().unwrap()).collect::<Vec<_>>(),
            [2_100, 600]
        );
    }

    #[test]
    fn machines_get_a_record_for_each_run_and_solver() {
        let mut args = args("branin", "random-grid,auto", Setting::Ours);
        args.ablation = Some(Ablation::SmallDesign);
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let records = Record::read_all(&out[..]).unwrap();
        let solvers: Vec<_> = records.iter().map(|record| record.algorithm.as_str()).collect();
        assert_eq!(solvers, ["random-grid", "auto"]);
        assert_eq!((records[0].evaluations, records[0].extra["design"].as_str()), (30, Some("small")));
    }

    #[test]
    fn people_get_tables_and_a_verdict() {
        let mut args = args("branin", "random-grid,lbfgsb", Setting::Code);
        args.options.json = false;
        args.ablation = Some(Ablation::SmallDesign);
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        for part in ["Cumulative regret", "random-grid", "Seconds", "eta", "Verdict"] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }

    #[test]
    fn unknown_names_are_usage_errors() {
        for bad in [args("egg", "", Setting::Paper), args("", "newton", Setting::Paper)] {
            assert!(run(&bad, &mut Vec::new()).unwrap_err().is_usage());
        }
    }
}
