//! How long a suggestion takes, where the time goes, and how near that is to what the machine can do.
//!
//! One suggestion of `gp-ei` on Hartmann-6 with `n` random observations: *cold* (all told at once, hyperparameters fitted
//! from nothing) and *warm* (rounds of a running study, at least 1,000 candidates and polishing included). Every figure is
//! the least (cold) or the median (warm) of several: machines are noisy.

use std::fmt::Write as _;
use std::io::Write;
use std::time::Instant;

use crate::report::statistics::{mean, median};
use noregret::math::cholesky::Cholesky;
use noregret::math::rng::{Purpose, Seed};
use noregret::strategy::history::{Choice, Duplicates, History, Outcome};
use noregret::strategy::memo::Memo;
use noregret::strategy::model::GpModel;
use noregret::surrogate::Gradient;
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::candidates::Candidates;
use noregret::surrogate::gp::kernel::{Form, Kernel};
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;
use noregret::{Algorithm, Error, Params, Space, Study};
use noregret_problems::Problem;
use pulp::{Arch, Simd, WithSimd};
use rand::RngExt;
use serde::Serialize;

use crate::report::{Progress, Table, peak_memory_mb};
use crate::{BenchError, Options};

/// Examples for the help text.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench speed
  noregret bench speed --sizes 50,200,500 --algorithms gp-ts
  noregret bench speed --json > speed.json

Beside other libraries: noregret bench peers --sizes 100,500,1000,2000.";

/// The flags of this experiment.
#[derive(Clone, Debug, clap::Args)]
pub struct Config {
    /// Those of all experiments; `--runs` is the number of cold suggestions, of which the fastest counts.
    #[command(flatten)]
    pub options: Options,

    /// Numbers of observations, separated by commas
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [50, 200, 500, 1_000, 2_000, 5_000])]
    pub sizes: Vec<usize>,

    /// Rounds of the running study behind the warm figures
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,
}

/// Measures one algorithm after another and prints a report on each; with `--json` one object a line.
pub fn run(config: &Config, out: &mut dyn Write) -> Result<(), BenchError> {
    config.options.problems_among(&["hartmann-6d"])?;
    let known: Vec<&'static str> =
        Algorithm::all().iter().map(|d| d.name).filter(|name| name.contains('-')).collect();
    for algorithm in config.options.algorithms_among(&known, &["gp-ei"])? {
        let report = measure(config, algorithm)?;
        if config.options.json {
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

/// Times of one suggestion, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// Observations.
    pub n: usize,
    /// From nothing: the fastest.
    pub cold_ms: f64,
    /// In a running study: the median of the rounds.
    pub warm_median_ms: f64,
    /// ... and their mean, refits and reference solves included.
    pub warm_mean_ms: f64,
    /// Refits among the rounds.
    pub refits: usize,
    /// Likelihoods evaluated by the cold fit.
    pub likelihoods: usize,
    /// Utilities and gradients evaluated by the last warm suggestion.
    pub utilities: usize,
    /// Gradients among them.
    pub gradients: usize,
}

/// Times of the parts, in milliseconds, and speeds.
#[derive(Clone, Debug, Serialize)]
pub struct Parts {
    /// Observations.
    pub n: usize,
    /// Kernel block of 1,000 candidates.
    pub kernel_block_ms: f64,
    /// Elements of it a second, in units of 1e9.
    pub kernel_gelems: f64,
    /// The factorisation.
    pub cholesky_ms: f64,
    /// Its speed at `n^3 / 3` multiply-adds... counted as `n^3 / 3` flops, as LAPACK does.
    pub cholesky_gflops: f64,
    /// The triangular solve of 1,000 candidates.
    pub solve_ms: f64,
    /// Its speed at `n^2` flops a candidate.
    pub solve_gflops: f64,
    /// Appending an observation, weights of the mean included.
    pub append_ms: f64,
    /// Bringing 1,000 candidates up to date with it.
    pub follow_ms: f64,
    /// Exact posterior with gradient at one point.
    pub gradient_us: f64,
    /// The same from the local stand-in.
    pub local_gradient_us: Option<f64>,
}

/// Log likelihood of all data under hyperparameters fitted to all of them and to a subsample.
#[derive(Clone, Debug, Serialize)]
pub struct Subsample {
    /// Observations.
    pub n: usize,
    /// Those used by the fit.
    pub points: usize,
    /// Log likelihood an observation lost, in nats.
    pub nats_lost: f64,
    /// Time of the fit on the subsample over that on all data.
    pub time_ratio: f64,
}

/// Runs the measurements.
fn measure(config: &Config, algorithm: &'static str) -> Result<SpeedReport, Error> {
    let problem = Problem::by_name("hartmann-6d").expect("invariant: a known problem");
    let threads = rayon::current_num_threads();
    let progress = Progress::new(2 * config.sizes.len() as u64 + 4, "speed");
    let mut suggestions = Vec::new();
    for &n in &config.sizes {
        progress.message(format!("suggestions at n = {n}"));
        suggestions.push(suggestion(config, algorithm, &problem, n)?);
        progress.advance(1);
    }
    // Parts are measured on one thread: shares of one core's peak.
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
    let mut parts = Vec::new();
    for &n in &config.sizes {
        progress.message(format!("parts at n = {n}"));
        parts.push(match &pool {
            Ok(pool) => pool.install(|| measure_parts(n)),
            Err(_) => measure_parts(n),
        });
        progress.advance(1);
    }
    progress.message("subsamples".to_owned());
    let mut subsample = Vec::new();
    for n in [500, 1_000, 2_000].into_iter().filter(|n| config.sizes.contains(n)) {
        subsample.push(measure_subsample(&problem, n, config.options.seed)?);
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

fn random_study(algorithm: &str, problem: &Problem, n: usize, seed: u64) -> Result<Study, Error> {
    let space = Space::bounds(&problem.bounds)?;
    let algorithm = Algorithm::by_name(algorithm)?;
    let mut study = Study::builder().space(space.clone()).algorithm(algorithm).seed(seed).build()?;
    let mut rng = Seed(seed).stream(Purpose::Experiment, n as u64, 0);
    for _ in 0..n {
        let params = space.decode(&space.sample(&mut rng)?);
        study.add(&params, value(problem, &params), None)?;
    }
    Ok(study)
}

fn value(problem: &Problem, params: &Params) -> f64 {
    let x: Vec<f64> = params.iter().filter_map(|(_, v)| v.as_f64()).collect();
    problem.value(&x)
}

fn suggestion(config: &Config, algorithm: &str, problem: &Problem, n: usize) -> Result<Suggestion, Error> {
    let (mut cold, mut warm, mut refits, mut likelihoods) = (Vec::new(), Vec::new(), 0, 0);
    let (mut utilities, mut gradients) = (0, 0);
    for run in 0..config.options.runs_or(3) {
        let mut study = random_study(algorithm, problem, n, config.options.seed_of(run))?;
        let start = Instant::now();
        let mut trial = study.ask(1)?.remove(0);
        cold.push(milliseconds(start));
        likelihoods = study.diagnostics().and_then(|d| d.model.as_ref()).map_or(0, |m| m.fit.likelihoods);
        // One running study is enough for the warm figures.
        if run > 0 {
            continue;
        }
        for _ in 0..config.rounds {
            study.tell(trial.number, value(problem, &trial.params))?;
            let start = Instant::now();
            trial = study.ask(1)?.remove(0);
            warm.push(milliseconds(start));
            if let Some(diagnostics) = study.diagnostics() {
                refits += usize::from(diagnostics.model.as_ref().is_some_and(|m| m.refitted));
                (utilities, gradients) = (diagnostics.work.values, diagnostics.work.gradients);
            }
        }
    }
    Ok(Suggestion {
        n,
        cold_ms: cold.into_iter().fold(f64::INFINITY, f64::min),
        warm_median_ms: median(&warm),
        warm_mean_ms: mean(&warm),
        refits,
        likelihoods,
        utilities,
        gradients,
    })
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The fastest of as many calls as fit into about a second, at least two.
fn fastest<T>(mut f: impl FnMut() -> T) -> f64 {
    let (mut best, mut total, mut calls) = (f64::INFINITY, 0.0, 0);
    while calls < 2 || (total < 500.0 && calls < 200) {
        let start = Instant::now();
        std::hint::black_box(f());
        let elapsed = milliseconds(start);
        best = best.min(elapsed);
        total += elapsed;
        calls += 1;
    }
    best
}

fn measure_parts(n: usize) -> Parts {
    const CANDIDATES: usize = 1_000;
    let mut rng = Seed(1).stream(Purpose::Experiment, n as u64, 0);
    let mut cube = |count: usize| {
        let columns: Vec<f64> = (0..6 * count).map(|_| rng.random()).collect();
        Points::from_columns(6, &columns)
    };
    let (points, set) = (cube(n), cube(CANDIDATES));
    let y: Vec<f64> = (0..n).map(|i| (5.0 * points.point(i)[0]).sin()).collect();
    let kernel = Kernel::new(Form::Matern52, vec![0.5; 6], 6, 1.0);

    let mut block = vec![0.0; CANDIDATES * n];
    let kernel_block_ms = fastest(|| {
        for (j, column) in block.chunks_mut(CANDIDATES).enumerate() {
            kernel.column(&set, 0, &points.point(j), column);
        }
    });
    let mut matrix = vec![0.0; n * n];
    for (j, column) in matrix.chunks_mut(n).enumerate() {
        kernel.column(&points, 0, &points.point(j), column);
        column[j] += 1e-4;
    }
    let factor = || Cholesky::factor(n, |j, rows| rows.copy_from_slice(&matrix[j * n + j..(j + 1) * n]));
    let cholesky_ms = fastest(factor);
    drop(matrix);

    let mut gp =
        Gp::new(kernel, points, &y, vec![1e-4; n]).expect("invariant: noise keeps it positive definite");
    let mut right_hand_sides = block;
    let solve_ms = fastest(|| gp.factor().solve_lower_rows(&mut right_hand_sides, CANDIDATES));
    drop(right_hand_sides);
    let mut candidates = Candidates::new(&gp, set);
    let (mut append, mut follow) = (f64::INFINITY, f64::INFINITY);
    for i in 0..8 {
        let x = [0.1 * f64::from(i) + 0.05; 6];
        let start = Instant::now();
        gp.append(&x, 0.3, 1e-4);
        gp.alpha();
        append = append.min(milliseconds(start));
        let start = Instant::now();
        candidates.follow(&gp);
        follow = follow.min(milliseconds(start));
    }
    let (mut by_mean, mut by_variance) = ([0.0; 6], [0.0; 6]);
    let at = [0.3; 6];
    let gradient_us = 1e3 * fastest(|| gp.marginal_with_gradient(&at, &mut by_mean, &mut by_variance));
    let local_gradient_us = gp
        .local(&at)
        .map(|local| 1e3 * fastest(|| local.marginal_with_gradient(&at, &mut by_mean, &mut by_variance)));
    let cubed = (n as f64).powi(3);
    Parts {
        n,
        kernel_block_ms,
        kernel_gelems: (CANDIDATES * n) as f64 / kernel_block_ms / 1e6,
        cholesky_ms,
        cholesky_gflops: cubed / 3.0 / cholesky_ms / 1e6,
        solve_ms,
        solve_gflops: (n as f64).powi(2) * CANDIDATES as f64 / solve_ms / 1e6,
        append_ms: append,
        follow_ms: follow,
        gradient_us,
        local_gradient_us,
    }
}

/// Fits on the default subsample and on everything, and compares the likelihoods of everything.
fn measure_subsample(problem: &Problem, n: usize, seed: u64) -> Result<Subsample, Error> {
    let space = Space::bounds(&problem.bounds)?;
    let mut history = History::new(space.clone(), Duplicates::Avoid);
    let mut rng = Seed(seed).stream(Purpose::Experiment, n as u64, 99);
    for _ in 0..n {
        let x = space.sample(&mut rng)?;
        let y = -problem.at_unit(&x);
        history.add(&Choice { x, row: None }, Outcome::Value { y, noise_variance: None });
    }
    let fit = |fit_points: usize| -> Result<(f64, f64), Error> {
        let mut rng = Seed(seed).stream(Purpose::Propose, n as u64, 0);
        let mut model = GpModel::new(GpConfig { fit_points, ..GpConfig::default() });
        let start = Instant::now();
        let (state, _) = model.prepare(&history, &mut Memo::default(), 1, &mut rng)?;
        Ok((state.gp().log_likelihood(), milliseconds(start)))
    };
    let most = GpConfig::default().fit_points;
    let (sub, sub_ms) = fit(most)?;
    // Allowed twice as many as there are, the fit uses all of them.
    let (all, all_ms) = fit(2 * n)?;
    let points = most.min(n / 5 * 4);
    Ok(Subsample { n, points, nats_lost: (all - sub) / n as f64, time_ratio: sub_ms / all_ms })
}

/// Multiply-adds in registers and nothing else, counted as two flops each.
fn peak_gflops() -> f64 {
    const CHAINS: usize = 12;
    const STEPS: usize = 200_000;
    struct Loop;
    impl WithSimd for Loop {
        type Output = (f64, usize);
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> (f64, usize) {
            let [a, b, start] = std::hint::black_box([0.999, 0.001, 1.0]).map(|v| simd.splat_f64s(v));
            let mut chains = [start; CHAINS];
            for _ in 0..STEPS {
                for chain in &mut chains {
                    *chain = simd.mul_add_f64s(*chain, a, b);
                }
            }
            let sum = chains.into_iter().map(|c| simd.reduce_sum_f64s(c)).sum();
            (sum, S::F64_LANES)
        }
    }
    let mut lanes = 1;
    let best = fastest(|| {
        let (sum, width) = Arch::new().dispatch(Loop);
        lanes = width;
        sum
    });
    (2 * CHAINS * STEPS * lanes) as f64 / best / 1e6
}

/// Least-squares slope.
/// Speed of a product of large matrices on this many threads: what dense work is compared with.
pub(crate) fn product_gflops(threads: usize) -> f64 {
    const N: usize = 1_024;
    let a = faer::Mat::from_fn(N, N, |i, j| ((i * 7 + j * 3) % 11) as f64);
    let mut c = faer::Mat::zeros(N, N);
    let par = if threads > 1 { faer::Par::rayon(threads) } else { faer::Par::Seq };
    let ms = fastest(|| {
        faer::linalg::matmul::matmul(c.as_mut(), faer::Accum::Replace, a.as_ref(), a.as_ref(), 1.0, par);
    });
    2.0 * (N as f64).powi(3) / ms / 1e6
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (x, y) = points.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / n, y + p.1 / n));
    let covariance: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let variance: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    covariance / variance
}

impl SpeedReport {
    /// The tables for a person.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let share = |gflops: f64| format!("{gflops:.1} ({:.0} %)", 100.0 * gflops / self.peak_gflops);
        let mut table = Table::new([
            "n",
            "cold ms",
            "warm ms",
            "warm mean ms",
            "refits",
            "likelihoods",
            "utilities",
            "gradients",
        ]);
        for s in &self.suggestions {
            table.row([
                s.n.to_string(),
                format!("{:.1}", s.cold_ms),
                format!("{:.1}", s.warm_median_ms),
                format!("{:.1}", s.warm_mean_ms),
                s.refits.to_string(),
                s.likelihoods.to_string(),
                s.utilities.to_string(),
                s.gradients.to_string(),
            ]);
        }
        let _ = writeln!(
            text,
            "One suggestion of {} on Hartmann-6 ({} threads)\n{table}",
            self.algorithm, self.threads
        );
        let mut table = Table::new([
            "n",
            "kernel ms",
            "Gelem/s",
            "Cholesky ms",
            "GFLOP/s",
            "solve ms",
            "GFLOP/s",
            "append ms",
            "follow ms",
            "gradient us",
            "local us",
        ]);
        for p in &self.parts {
            table.row([
                p.n.to_string(),
                format!("{:.2}", p.kernel_block_ms),
                format!("{:.2}", p.kernel_gelems),
                format!("{:.2}", p.cholesky_ms),
                share(p.cholesky_gflops),
                format!("{:.2}", p.solve_ms),
                share(p.solve_gflops),
                format!("{:.3}", p.append_ms),
                format!("{:.2}", p.follow_ms),
                format!("{:.0}", p.gradient_us),
                p.local_gradient_us.map_or("-".into(), |us| format!("{us:.0}")),
            ]);
        }
        let _ = writeln!(
            text,
            "Parts on one thread, 1,000 candidates (in brackets: share of the core's {:.1} GFLOP/s)\n{table}",
            self.peak_gflops
        );
        let mut table =
            Table::new(["n", "fitted on", "nats lost an observation", "time of a full fit saved"]);
        for s in &self.subsample {
            table.row([
                s.n.to_string(),
                s.points.to_string(),
                format!("{:.4}", s.nats_lost),
                format!("{:.0} %", 100.0 * (1.0 - s.time_ratio)),
            ]);
        }
        let _ = writeln!(text, "Fitting on a subsample\n{table}");
        let steps: Vec<String> = self.append_steps.iter().map(|e| format!("{e:.2}")).collect();
        let _ = writeln!(
            text,
            "appending an observation: O(n^{:.2}); between neighbouring sizes {}",
            self.append_exponent,
            steps.join(", ")
        );
        if let Some(memory) = self.peak_memory_mb {
            let _ = writeln!(text, "peak memory: {memory:.0} MB");
        }
        text
    }
}
