//! TS-RSR and its rivals on the functions of Tables 1, 2 and 3 of Ren & Li, "TS-RSR: a provably efficient approach for batch
//! Bayesian optimization", with the paper's batch sizes and rounds and 15 uniform initial points that all algorithms of a run
//! share. Simple regret is that of the best noise-free value so far, initial points included.
//!
//! # Departures
//! - Table 4 (Boston housing, robot pushing) needs simulators that are not part of this program yet.
//! - See [`Setting`] for what differs between the paper, its code and this experiment.

mod setting;
mod target;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Direction, Duplicates, Params, Space, Study};
use noregret_problems::Problem;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::report::table::{compact, mean_sd_rank};
use crate::report::{LinePlot, Progress, Record, Summary, Table, mean_curves};
use crate::setting::Setting;
use crate::{BenchError, Options, Output};
use setting::NOISE;
use target::Target;

/// Functions of Table 1, of each kind.
const FUNCTIONS: u32 = 10;
/// Initial points.
const INITIAL: usize = 15;
/// The algorithms of the tables, in their order, and one of ours.
const ALGORITHMS: [&str; 8] = ["dpp-ts", "bucb", "ucb-pe", "sp", "ts", "qei", "ts-rsr", "qei-mc"];

/// What `noregret bench ts-rsr --help` says after the flags.
pub const AFTER_HELP: &str = "\
Tables:      1  gp-2d, gp-3d
             2  ackley-2d, rosenbrock-2d, bird-2d, ackley-3d
             3  hartmann-6d, griewank-8d, michalewicz-10d
             4  Boston housing and robot pushing: not available yet, they need simulators
Algorithms:  dpp-ts, bucb, ucb-pe, sp, ts, qei, ts-rsr (the paper's), and qei-mc (ours)
Settings:    paper  as printed
             code   as the authors' public code runs it, which differs
             ours   as users of noregret get it: hyperparameters fitted

Examples:
  noregret bench ts-rsr --table 2 --runs 3
  noregret bench ts-rsr --problems hartmann-6d --setting ours --out figures
  noregret bench ts-rsr --setting code --json > ts-rsr-code.jsonl
  noregret bench ts-rsr --speed";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Config {
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

/// A problem of the paper: its table, batch size and rounds, and what the paper prints, in the order of [`ALGORITHMS`].
struct Case {
    problem: &'static str,
    table: u8,
    batch: usize,
    rounds: usize,
    /// Repetitions in the paper: those of Table 1 are spread over ten functions.
    runs: u32,
    /// Mean and deviation for each of the paper's algorithms.
    printed: [(f64, f64); 7],
}

/// Figures of a table row, in the units that the paper prints.
const fn scaled(unit: f64, figures: [(f64, f64); 7]) -> [(f64, f64); 7] {
    let mut out = figures;
    let mut i = 0;
    while i < 7 {
        out[i] = (figures[i].0 * unit, figures[i].1 * unit);
        i += 1;
    }
    out
}

const CASES: [Case; 9] = [
    Case {
        problem: "gp-2d",
        table: 1,
        batch: 20,
        rounds: 20,
        runs: 10 * FUNCTIONS,
        printed: scaled(
            1e-2,
            [(6.1, 11.4), (5.1, 11.3), (11.8, 16.8), (12.7, 18.6), (8.9, 14.6), (29.8, 26.1), (3.8, 10.0)],
        ),
    },
    Case {
        problem: "gp-3d",
        table: 1,
        batch: 5,
        rounds: 50,
        runs: 5 * FUNCTIONS,
        printed: scaled(
            1e-2,
            [(5.8, 9.1), (36.0, 29.5), (48.9, 35.5), (12.4, 20.6), (3.0, 6.8), (29.8, 54.2), (1.9, 3.6)],
        ),
    },
    Case {
        problem: "ackley-2d",
        table: 2,
        batch: 5,
        rounds: 50,
        runs: 10,
        printed: scaled(
            1e-3,
            [(2.2, 1.6), (2.3, 1.1), (8.3, 5.4), (3.5, 1.8), (4.3, 3.1), (10.4, 3.5), (1.7, 1.1)],
        ),
    },
    Case {
        problem: "rosenbrock-2d",
        table: 2,
        batch: 5,
        rounds: 50,
        runs: 10,
        printed: scaled(
            1e-3,
            [(6.2, 7.2), (22.7, 24.1), (207.1, 165.9), (69.0, 61.1), (3.9, 1.7), (12.1, 7.3), (2.0, 1.6)],
        ),
    },
    Case {
        problem: "bird-2d",
        table: 2,
        batch: 5,
        rounds: 50,
        runs: 10,
        printed: scaled(
            1e-4,
            [(0.4, 1.0), (7.1, 7.2), (763.3, 1782.0), (1.4, 1.0), (0.3, 0.0), (1.4, 2.0), (0.7, 1.0)],
        ),
    },
    Case {
        problem: "ackley-3d",
        table: 2,
        batch: 20,
        rounds: 15,
        runs: 10,
        printed: scaled(
            1e-2,
            [(3.9, 4.0), (50.1, 71.7), (158.7, 113.3), (104.2, 97.3), (18.0, 38.3), (45.6, 55.6), (1.2, 0.6)],
        ),
    },
    Case {
        problem: "hartmann-6d",
        table: 3,
        batch: 5,
        rounds: 30,
        runs: 10,
        printed: scaled(
            1e-2,
            [(11.1, 9.4), (4.78, 4.9), (8.3, 6.5), (4.0, 8.0), (5.9, 9.5), (1.9, 5.5), (1.6, 4.7)],
        ),
    },
    Case {
        problem: "griewank-8d",
        table: 3,
        batch: 10,
        rounds: 30,
        runs: 10,
        printed: scaled(
            1e-2,
            [(14.0, 5.0), (5.2, 1.8), (14.3, 4.8), (15.5, 8.9), (14.9, 4.3), (11.0, 4.1), (3.1, 1.7)],
        ),
    },
    Case {
        problem: "michalewicz-10d",
        table: 3,
        batch: 5,
        rounds: 30,
        runs: 10,
        printed: scaled(
            1.0,
            [(5.4, 0.8), (5.4, 1.1), (5.8, 0.7), (4.8, 0.8), (5.5, 0.7), (5.0, 0.7), (4.4, 0.7)],
        ),
    },
];

/// Runs the experiment and writes what it found.
pub fn run(config: &Config, out: &mut dyn Write) -> Result<(), BenchError> {
    if config.speed {
        return speed(&config.options, out);
    }
    let options = &config.options;
    let setting = Setting::of(options, Setting::Paper)?;
    let problems = options.problems_among(&CASES.map(|case| case.problem))?;
    let algorithms = options.algorithms_among(&ALGORITHMS, &ALGORITHMS[..7])?;
    let runs = |case: &Case| options.runs_or(case.runs);
    let mut output = Output::new(options, format!("ts-rsr-{}", setting.name()), out)?;
    if config.table == Some(4) {
        return output.text(
            "Table 4 (Boston housing, robot pushing in 3 and 4 dimensions) needs simulators that noregret does not have yet.\n",
        );
    }
    let wanted = |case: &&Case| {
        problems.contains(&case.problem) && config.table.is_none_or(|table| table == case.table)
    };
    let cases: Vec<&Case> = CASES.iter().filter(wanted).collect();
    let rounds = |case: &&Case| case.rounds as u64 * u64::from(runs(case));
    let steps = cases.iter().map(rounds).sum::<u64>() * algorithms.len() as u64;
    let progress = Progress::new(steps, "ts-rsr");
    for case in &cases {
        for run in 0..runs(case) {
            let seed = options.seed_of(run);
            // Ten functions, each as often as it takes.
            let target = Target::new(case.problem, setting, seed % u64::from(FUNCTIONS));
            for algorithm in &algorithms {
                progress.message(format!("{}, run {run}, {algorithm}", case.problem));
                output.record(execute(case, &target, setting, algorithm, run, seed)?)?;
                progress.advance(case.rounds as u64);
            }
        }
        progress.note(&format!("ts-rsr, {}: {} done, {} runs", setting.name(), case.problem, runs(case)));
    }
    drop(progress);
    report(setting, &cases, &mut output)
}

fn execute(
    case: &Case,
    target: &Target,
    setting: Setting,
    algorithm: &str,
    run: u32,
    seed: u64,
) -> Result<Record, BenchError> {
    let space = Space::bounds(&target.bounds)?;
    let side = target.bounds[0].1 - target.bounds[0].0;
    let build = |seed| {
        Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(setting::algorithm(setting, algorithm, case.problem, side))
            .duplicates(Duplicates::Avoid)
            .seed(seed)
            .build()
    };
    let mut study = build(seed)?;
    let mut noise = Seed(seed).stream(Purpose::Noise, 0, 0);
    let mut noisy = |regret: f64, sd: f64| {
        let z: f64 = StandardNormal.sample(&mut noise);
        regret + sd * z
    };
    let mut seen: Vec<(Params, f64)> = Vec::new();
    // The same for all algorithms: it depends on the seed alone.
    let mut rng = Seed(seed).stream(Purpose::Design, 0, 0);
    for _ in 0..INITIAL {
        let u: Vec<f64> = (0..space.dims()).map(|_| rng.random()).collect();
        let params = space.decode(&u);
        let x: Vec<f64> = params.iter().filter_map(|(_, value)| value.as_f64()).collect();
        let regret = target.regret(&x);
        study.add(&params, noisy(regret, NOISE), None)?;
        seen.push((params, regret));
    }
    let best_of =
        |seen: &[(Params, f64)]| seen.iter().map(|(_, regret)| *regret).fold(f64::INFINITY, f64::min);
    let (mut curve, mut cumulative, mut seconds) = (vec![best_of(&seen)], 0.0, 0.0);
    let mut distances = 0.0;
    let mut redrawn = 0;
    for round in 0..case.rounds {
        if setting::draws_noise_anew(setting) {
            study = build(Seed(seed).stream(Purpose::Experiment, round as u64, 0).random())?;
            let sd = NOISE * deviation(&seen);
            for (params, regret) in &seen {
                study.add(params, noisy(*regret, sd), None)?;
            }
        }
        let clock = Instant::now();
        let trials = study.ask(case.batch)?;
        seconds += clock.elapsed().as_secs_f64();
        let notes = study.diagnostics().map(|d| d.notes.iter().filter(|n| n.contains("drawn again")).count());
        redrawn += notes.unwrap_or(0);
        let points: Vec<Vec<f64>> =
            trials.iter().map(|trial| space.encode(&trial.params)).collect::<Result<_, _>>()?;
        distances += smallest_distance(&points);
        for trial in trials {
            let regret = target.regret(&trial.numbers());
            cumulative += regret;
            study.tell(trial.number, noisy(regret, NOISE))?;
            seen.push((trial.params, regret));
        }
        curve.push(best_of(&seen));
    }
    let best = best_of(&seen);
    let points = case.batch * case.rounds;
    Ok(Record {
        experiment: "ts-rsr".into(),
        setting: setting.name().into(),
        problem: case.problem.into(),
        algorithm: algorithm.into(),
        run,
        seed,
        batch: case.batch,
        rounds: case.rounds,
        evaluations: INITIAL + points,
        simple_regret: best,
        cumulative_regret: cumulative,
        regret_curve: curve,
        seconds_thinking: seconds,
        seconds_per_point: seconds / points as f64,
        extra: BTreeMap::from([
            ("smallest_distance".to_owned(), (distances / case.rounds as f64).into()),
            ("rounds_redrawn".to_owned(), redrawn.into()),
        ]),
    })
}

/// Batches whose time is measured.
const BATCHES: [usize; 5] = [5, 10, 20, 50, 100];

/// How long a batch takes, by its size: Hartmann-6 with 500 observations, hyperparameters known, the fastest of five.
fn speed(options: &Options, out: &mut dyn Write) -> Result<(), BenchError> {
    let problem = Problem::by_name("hartmann-6d").expect("invariant: a known problem");
    let space = Space::bounds(&problem.bounds)?;
    let mut study = Study::builder()
        .space(space.clone())
        .algorithm(Algorithm::by_name("ts-rsr").map_err(noregret::Error::from)?);
    study = study.seed(options.seed);
    let mut study = study.build()?;
    let mut rng = Seed(options.seed).stream(Purpose::Design, 0, 0);
    for _ in 0..500 {
        let u: Vec<f64> = (0..6).map(|_| rng.random()).collect();
        study.add(&space.decode(&u), problem.at_unit(&u), None)?;
    }
    study.ask(1)?; // fits the hyperparameters
    let mut table = Table::new(["batch", "ms", "ms a point", "exponent since the last"]);
    let mut last: Option<(usize, f64)> = None;
    let mut first = None;
    for q in BATCHES {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let clock = Instant::now();
            study.suggest(q)?;
            best = best.min(1e3 * clock.elapsed().as_secs_f64());
        }
        let exponent = |(before, ms): (usize, f64)| (best / ms).ln() / (q as f64 / before as f64).ln();
        let since = last.map_or(String::new(), |last| format!("{:.2}", exponent(last)));
        table.row([q.to_string(), format!("{best:.1}"), format!("{:.2}", best / q as f64), since]);
        last = Some((q, best));
        first = first.or(last);
    }
    let overall = first
        .zip(last)
        .map_or(f64::NAN, |((q0, t0), (q1, t1))| (t1 / t0).ln() / (q1 as f64 / q0 as f64).ln());
    writeln!(out, "One batch of ts-rsr on Hartmann-6 with 500 observations\n{table}")?;
    writeln!(out, "time grows as q^{overall:.2} from q = {} to {}", BATCHES[0], BATCHES[4])?;
    Ok(())
}

/// The standard deviation of what was seen.
fn deviation(seen: &[(Params, f64)]) -> f64 {
    let n = seen.len() as f64;
    let mean = seen.iter().map(|(_, regret)| regret / n).sum::<f64>();
    seen.iter().map(|(_, regret)| (regret - mean).powi(2) / n).sum::<f64>().sqrt()
}

/// The smallest distance between two points of a batch, in the unit cube.
fn smallest_distance(points: &[Vec<f64>]) -> f64 {
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut least = f64::INFINITY;
    for (i, a) in points.iter().enumerate() {
        for b in &points[..i] {
            least = least.min(distance(a, b));
        }
    }
    if least.is_finite() { least } else { 0.0 }
}

fn report(setting: Setting, cases: &[&Case], output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let regret = Summary::of(&records, |record| record.simple_regret.max(0.0));
    let distance = Summary::of(&records, |record| record.extra_number("smallest_distance"));
    let seconds = Summary::of(&records, |record| 1e3 * record.seconds_thinking / record.rounds as f64);
    let mut text = format!(
        "Ren & Li, Tables 1 to 3. Setting {}, {}.\n\nSimple regret, mean ± sd [rank]; below it what the paper prints\n",
        setting.name(),
        setting::describe(setting)
    );
    let mut header = vec!["problem".to_owned()];
    header.extend(regret.algorithms.iter().cloned());
    let mut table = Table::new(header);
    let (mut reached, mut first_two, mut compared) = (0, 0, 0);
    for case in cases {
        let Case { problem, batch, rounds, .. } = case;
        let runs = regret.cells.iter().find(|cell| cell.problem == *problem).map_or(0, |cell| cell.count);
        let mut ours = vec![format!("{problem} (m = {batch}, T = {rounds}, runs: {runs})")];
        let mut theirs = vec!["  printed".to_owned()];
        for algorithm in &regret.algorithms {
            let cell = regret.get(case.problem, algorithm);
            ours.push(cell.map_or(String::new(), |cell| mean_sd_rank(cell.mean, cell.sd, Some(cell.rank))));
            let printed =
                ALGORITHMS[..7].iter().position(|known| known == algorithm).map(|i| case.printed[i]);
            theirs.push(
                printed.map_or(String::new(), |(mean, sd)| format!("{} ± {}", compact(mean), compact(sd))),
            );
            if let Some(cell) = cell.filter(|_| algorithm == "ts-rsr") {
                compared += 1;
                reached += u32::from(cell.mean <= case.printed[6].0);
                first_two += u32::from(cell.rank <= 2);
            }
        }
        table.row(ours).row(theirs);
    }
    let _ = writeln!(text, "{table}");
    let _ = writeln!(text, "Median of the simple regret\n{}", medians(&regret));
    let _ = writeln!(
        text,
        "Smallest distance within a batch, mean over rounds, in the unit cube\n{}",
        Table::matrix(&distance)
    );
    let _ = writeln!(text, "Milliseconds a batch\n{}", Table::matrix(&seconds));
    if compared > 0 {
        let _ = writeln!(
            text,
            "Verdict ({}): ts-rsr is at or below the printed mean on {reached} of {compared} problems, and first or second on {first_two}.",
            setting.name()
        );
    }
    let wider = |case: &&&Case| {
        let of = |algorithm| distance.get(case.problem, algorithm).map_or(f64::NAN, |cell| cell.mean);
        of("ts-rsr") > of("ts")
    };
    if distance.algorithms.iter().any(|algorithm| algorithm == "ts") && compared > 0 {
        let wider = cases.iter().filter(wider).count();
        let _ =
            writeln!(text, "Batches of ts-rsr are spread wider than those of ts on {wider} of {compared}.");
    }
    output.text(text)?;
    if output.wants_figures() {
        let plot = LinePlot {
            title: format!("Simple regret by round (setting {})", setting.name()),
            x_label: "round".into(),
            y_label: "simple regret".into(),
            log_y: true,
            panels: LinePlot::panels_of(&mean_curves(&records, |record| &record.regret_curve)),
        };
        output.figure("regret", &plot.to_svg()?)?;
    }
    Ok(())
}

/// The median of every cell.
fn medians(summary: &Summary) -> Table {
    let mut header = vec!["problem".to_owned()];
    header.extend(summary.algorithms.iter().cloned());
    let mut table = Table::new(header);
    for problem in &summary.problems {
        let median = |algorithm: &String| {
            summary.get(problem, algorithm).map_or(String::new(), |cell| compact(cell.median))
        };
        let mut row = vec![problem.clone()];
        row.extend(summary.algorithms.iter().map(median));
        table.row(row);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn short(problem: &str, setting: Setting, algorithm: &str) -> Record {
        let case = CASES.iter().find(|case| case.problem == problem).unwrap();
        let case = Case { rounds: 3, ..*case };
        execute(&case, &Target::new(problem, setting, 0), setting, algorithm, 0, 7).unwrap()
    }

    #[test]
    fn every_algorithm_runs_in_every_setting() {
        for setting in Setting::ALL {
            for algorithm in ALGORITHMS {
                let record = short("ackley-2d", setting, algorithm);
                assert_eq!(
                    (record.evaluations, record.regret_curve.len()),
                    (30, 4),
                    "{setting:?} {algorithm}"
                );
                assert!(record.regret_curve.is_sorted_by(|a, b| a >= b));
            }
        }
    }

    #[test]
    fn designs_are_shared_and_runs_repeat() {
        let (a, b) = (short("bird-2d", Setting::Code, "ts-rsr"), short("bird-2d", Setting::Code, "sp"));
        assert_eq!(a.regret_curve[0].to_bits(), b.regret_curve[0].to_bits());
        assert_eq!(a.regret_curve, short("bird-2d", Setting::Code, "ts-rsr").regret_curve);
    }

    /// Batches of TS-RSR are spread wider than those of Thompson sampling, by the mean over rounds and fixed seeds, on the
    /// functions of two and three dimensions; for the others, which take longer, see docs/reproduction.md.
    #[test]
    fn batches_are_diverse() {
        for case in CASES.iter().filter(|case| case.table < 3) {
            let distance = |algorithm| {
                let case = Case { rounds: 15, ..*case };
                let run = |seed| {
                    let target = Target::new(case.problem, Setting::Code, seed);
                    let record = execute(&case, &target, Setting::Code, algorithm, 0, seed).unwrap();
                    record.extra_number("smallest_distance")
                };
                (0..3).map(run).sum::<f64>() / 3.0
            };
            let (ours, theirs) = (distance("ts-rsr"), distance("ts"));
            assert!(ours > theirs, "{}: {ours} {theirs}", case.problem);
        }
    }
}
