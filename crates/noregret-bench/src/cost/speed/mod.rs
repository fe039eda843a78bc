//! How long a suggestion takes, where the time goes, and how near that is to what the machine can do.
//!
//! One suggestion of `gp-ei` on Hartmann-6 with `n` random observations: *cold* (all told at once, hyperparameters fitted
//! from nothing) and *warm* (rounds of a running study, at least 1,000 candidates and polishing included). Every figure is
//! the least (cold) or the median (warm) of several: machines are noisy.

pub(crate) mod machine;
mod parts;
mod subsample;
mod suggestion;
mod tables;

use std::io::Write;

use noregret::{Algorithm, Error};
use noregret_problems::hartmann6;
use serde::Serialize;

use self::machine::peak_gflops;
pub use self::parts::Parts;
pub use self::subsample::Subsample;
pub use self::suggestion::Suggestion;
use crate::report::{Progress, peak_memory_mb};
use crate::{BenchError, Options};

/// Examples for the help text.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench speed
  noregret bench speed --sizes 50,200,500 --algorithms gp-ts
  noregret bench speed --json > speed.json
  noregret bench speed --large --runs 3

Beside other libraries: noregret bench peers --sizes 100,500,1000,2000.";

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct SpeedArgs {
    /// Those of all experiments; `--runs` is the number of cold suggestions, of which the fastest counts.
    #[command(flatten)]
    pub options: Options,

    /// Numbers of observations, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [50, 200, 500, 1_000, 2_000, 5_000])]
    pub sizes: Vec<usize>,

    /// Rounds of the running study behind the warm figures
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,

    /// Only the cases that take longest: networks after 2,000 and 5,000 evaluations, a batch of 500 by a forest, 5,000
    /// categories; the fastest of `--runs`
    #[arg(long)]
    pub large: bool,
}

/// Measures one algorithm after another and prints a report on each; with `--json` one object a line.
pub fn run(args: &SpeedArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    if args.large {
        return super::large::run(&args.options, out);
    }
    args.options.problems_among(&["hartmann-6d"])?;
    let known: Vec<&'static str> = Algorithm::all().iter().map(|algorithm| algorithm.name).collect();
    for algorithm in args.options.algorithms_among(&known, &["gp-ei"])? {
        let report = measure(args, algorithm)?;
        if args.options.json {
            serde_json::to_writer(&mut *out, &report).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            write!(out, "{}", report.to_text())?;
        }
    }
    Ok(())
}

/// Everything that was measured.
#[derive(Clone, Debug, Serialize)]
pub struct SpeedReport {
    /// Always `speed`.
    pub experiment: &'static str,
    /// The algorithm.
    pub algorithm: &'static str,
    /// Threads of the pool.
    pub threads: usize,
    /// Multiplications and additions a second of one core in a loop of nothing else.
    pub peak_gflops: f64,
    /// One suggestion, by number of observations.
    pub suggestions: Vec<Suggestion>,
    /// The parts of a suggestion, by number of observations, on one thread.
    pub parts: Vec<Parts>,
    /// Exponent of `n` in the time of appending an observation, over all sizes from 500 on.
    pub append_exponent: f64,
    /// The same between neighbouring sizes: larger where the factor leaves a cache.
    pub append_steps: Vec<f64>,
    /// What fitting on a subsample loses.
    pub subsample: Vec<Subsample>,
    /// The largest memory of the process, if the system tells.
    pub peak_memory_mb: Option<f64>,
}

/// Runs the measurements.
fn measure(args: &SpeedArgs, algorithm: &'static str) -> Result<SpeedReport, Error> {
    let problem = hartmann6();
    let threads = rayon::current_num_threads();
    let progress = Progress::new(2 * args.sizes.len() as u64 + 4, "speed");
    let mut suggestions = Vec::new();
    for &n in &args.sizes {
        progress.message(format!("suggestions at n = {n}"));
        suggestions.push(Suggestion::measure(args, algorithm, &problem, n)?);
        progress.advance(1);
    }
    // Parts are measured on one thread: shares of one core's peak.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let mut parts = Vec::new();
    for &n in &args.sizes {
        progress.message(format!("parts at n = {n}"));
        parts.push(match &pool {
            Ok(pool) => pool.install(|| Parts::measure(n)),
            Err(_) => Parts::measure(n),
        });
        progress.advance(1);
    }
    progress.message("subsamples".to_owned());
    let mut subsample = Vec::new();
    for n in [500, 1_000, 2_000].into_iter().filter(|n| args.sizes.contains(n)) {
        subsample.push(Subsample::measure(&problem, n, args.options.seed)?);
        progress.advance(1);
    }
    let large: Vec<&Parts> = parts.iter().filter(|p| p.n >= 500).collect();
    let points: Vec<(f64, f64)> = large.iter().map(|p| ((p.n as f64).ln(), p.append_ms.ln())).collect();
    Ok(SpeedReport {
        experiment: "speed",
        algorithm,
        threads,
        peak_gflops: peak_gflops(),
        suggestions,
        parts,
        append_exponent: slope(&points),
        append_steps: points.windows(2).map(slope).collect(),
        subsample,
        peak_memory_mb: peak_memory_mb(None),
    })
}

/// Least-squares slope.
fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    covariance / variance
}
