//! The cases that take longest: networks after thousands of evaluations, a batch of hundreds by a forest, a category of thousands of
//! levels. `noregret bench speed --large`.

use std::io::Write;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Params, Space, Study, Value};
use noregret_problems::hartmann6;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use crate::report::{Progress, Table};
use crate::{BenchError, Options};

/// The algorithms on networks.
const NETWORKS: [&str; 8] = [
    "sto-bnts",
    "sto-bnts-linear",
    "deep-ensemble",
    "neural-bo",
    "neural-ucb",
    "neural-ts",
    "neural-greedy",
    "dngo",
];
/// Evaluations told.
const SIZES: [usize; 2] = [2_000, 5_000];
/// Points of a batch.
const BATCH: usize = 4;
/// Points of a batch of the forest ...
const FOREST_BATCH: usize = 500;
/// ... after this many evaluations.
const FOREST_SIZE: usize = 1_000;
/// Levels of a category ...
const LEVELS: usize = 5_000;
/// ... with this many evaluations.
const CATEGORY_SIZE: usize = 50;
/// Deviation of the noise: a tenth of the range of Hartmann-6. A network takes longest over noise that it must not follow.
const NOISE: f64 = 0.3;

fn algorithm(name: &str) -> Result<Algorithm, BenchError> {
    Ok(Algorithm::by_name(name).map_err(noregret::Error::from)?)
}

/// A study with `n` random evaluations of Hartmann-6 with noise.
fn hartmann(name: &str, n: usize, seed: u64) -> Result<Study, BenchError> {
    let problem = hartmann6();
    let space = Space::bounds(&problem.bounds)?;
    let mut study = Study::builder().space(space.clone()).algorithm(algorithm(name)?).seed(seed).build()?;
    let mut rng = Seed(seed).stream(Purpose::Design, 0, 0);
    for _ in 0..n {
        let u: Vec<f64> = (0..6).map(|_| rng.random()).collect();
        let z: f64 = StandardNormal.sample(&mut rng);
        study.add(&space.decode(&u), problem.at_unit(&u) + NOISE * z, None)?;
    }
    Ok(study)
}

/// A study of two numbers and a category of many levels.
fn categories(name: &str, seed: u64) -> Result<Study, BenchError> {
    let levels: Vec<String> = (0..LEVELS).map(|level| format!("c{level}")).collect();
    let space = Space::builder()
        .float("x", 0.0, 1.0)
        .float("y", 0.0, 1.0)
        .categorical("c", levels.clone())
        .build()?;
    let mut study = Study::builder().space(space).algorithm(algorithm(name)?).seed(seed).build()?;
    let mut rng = Seed(seed).stream(Purpose::Design, 0, 0);
    for _ in 0..CATEGORY_SIZE {
        let (x, y): (f64, f64) = (rng.random(), rng.random());
        let level = rng.random_range(0..LEVELS);
        let params: Params =
            [("x", Value::Float(x)), ("y", Value::Float(y)), ("c", Value::from(levels[level].as_str()))]
                .into_iter()
                .collect();
        study.add(&params, x + y + level as f64 / LEVELS as f64, None)?;
    }
    Ok(study)
}

/// Runs the measurements and writes their tables.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), BenchError> {
    let runs = options.runs_or(1);
    let progress = Progress::new((NETWORKS.len() * SIZES.len() + 2) as u64, "large studies");
    let time =
        |study: &dyn Fn() -> Result<Study, BenchError>, q: usize| -> Result<(f64, String), BenchError> {
            let (mut best, mut note) = (f64::INFINITY, String::new());
            for _ in 0..runs {
                let mut study = study()?;
                let clock = Instant::now();
                study.ask(q)?;
                best = best.min(clock.elapsed().as_secs_f64());
                note = study.diagnostics().map_or(String::new(), |d| d.notes.join("; "));
            }
            progress.advance(1);
            Ok((best, note))
        };
    let mut table = Table::new(["what", "s", "note"]);
    for name in NETWORKS {
        for n in SIZES {
            let (seconds, note) = time(&|| hartmann(name, n, options.seed), BATCH)?;
            let what = format!("{name}, {n} evaluations, {BATCH} points");
            table.row([what, format!("{seconds:.2}"), note]);
        }
    }
    let (seconds, note) = time(&|| hartmann("random-forest", FOREST_SIZE, options.seed), FOREST_BATCH)?;
    let what = format!("random-forest, {FOREST_SIZE} evaluations, {FOREST_BATCH} points");
    table.row([what, format!("{seconds:.2}"), note]);
    let (seconds, note) = time(&|| categories("neural-bo", options.seed), 1)?;
    let what = format!("neural-bo, {LEVELS} categories, {CATEGORY_SIZE} evaluations, 1 point");
    table.row([what, format!("{seconds:.2}"), note]);
    drop(progress);
    writeln!(out, "{table}")?;
    Ok(())
}
