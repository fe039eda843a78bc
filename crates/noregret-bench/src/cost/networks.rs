//! What strategies with a network cost: a batch at the papers' sizes, the speed of training against that of matrix products of the
//! same sizes, and how a suggestion grows with the evaluations. `noregret bench sto-bnts --speed`.

use std::io::Write;
use std::time::Instant;

use faer::{Mat, Par};
use noregret::math::rng::{Purpose, Seed};
use noregret::surrogate::neural::model::AtPoints;
use noregret::surrogate::neural::regression::{Targets, Training};
use noregret::surrogate::neural::{Network, NetworkConfig};
use noregret::{Algorithm, Direction, Space, Study};
use rand::RngExt;

use crate::report::{Table, peak_memory_mb};
use crate::{BenchError, Options};

/// Points of a batch.
const BATCH: usize = 4;
/// Repetitions, of which the fastest counts.
const REPEATS: usize = 3;
/// Steps of training that are timed.
const STEPS: usize = 200;

/// The algorithms of the first table, with what the authors' code needs for one suggestion on two cores and what we promise.
const ALGORITHMS: [(&str, &str, &str); 7] = [
    ("sto-bnts", "100-150", "5"),
    ("sto-bnts-linear", "> 100", "0.5"),
    ("deep-ensemble", "", ""),
    ("neural-bo", "1.2 (2,000 candidates)", "0.5"),
    ("neural-ts", "", ""),
    ("neural-ucb", "", ""),
    ("dngo", "", ""),
];

/// A study with `n` evaluations of a smooth function in `dims` dimensions.
fn study(name: &str, dims: usize, n: usize, seed: u64) -> Result<Study, BenchError> {
    let space = Space::bounds(&vec![(0.0, 1.0); dims])?;
    let algorithm = Algorithm::by_name(name).map_err(noregret::Error::from)?;
    let mut study = Study::builder()
        .space(space.clone())
        .direction(Direction::Maximize)
        .algorithm(algorithm)
        .seed(seed)
        .build()?;
    let mut rng = Seed(seed).stream(Purpose::Design, 0, 0);
    for _ in 0..n {
        let u: Vec<f64> = (0..dims).map(|_| rng.random()).collect();
        // The target of our measurements of the authors' code.
        let y = 100.0 * u.iter().map(|u| (3.0 * u).cos()).sum::<f64>() / dims as f64;
        study.add(&space.decode(&u), y, None)?;
    }
    Ok(study)
}

/// Gflop/s of training a network on `n` points by descent, and of the matrix products that it consists of, on one core.
fn training_speed(n: usize, dims: usize, seed: u64) -> Result<(f64, f64, f64), BenchError> {
    let config = NetworkConfig::default();
    let network: Network = config.network(dims);
    let mut rng = Seed(seed).stream(Purpose::Experiment, 0, 0);
    let x = Mat::from_fn(dims, n, |_, _| rng.random_range(-1.0_f32..1.0));
    let y: Vec<f32> = (0..n).map(|_| rng.random_range(-1.0..1.0)).collect();
    let weights = vec![1.0; n];
    let start = network.init(&mut rng);
    let training = Training::Descent { rate: 0.5, momentum: 0.9, tolerance: 0.0, steps: STEPS };
    // Forward, backward and the gradient: each a product with every weight and point; backward not to the inputs.
    let weights_of = |inputs: usize| (inputs * config.width) as f64;
    let square = weights_of(config.width) * (config.depth - 1) as f64;
    let flops = 2.0 * n as f64 * (3.0 * square + 2.0 * weights_of(dims));
    let (mut trained, mut best) = (f64::INFINITY, f64::INFINITY);
    let a = Mat::from_fn(config.width, config.width, |i, j| ((i * 7 + j * 3) % 11) as f32);
    let b = Mat::from_fn(config.width, n, |i, j| ((i * 5 + j) % 7) as f32);
    let mut c = Mat::zeros(config.width, n);
    for _ in 0..REPEATS {
        let mut model = AtPoints::new(&network, x.as_ref());
        let targets = Targets { y: &y, weights: &weights, ridge: 0.01 };
        let clock = Instant::now();
        let fitted = training.fit(&mut model, targets, &start).map_err(noregret::Error::from)?;
        // The first step is preceded by the estimate of the curvature, some forty products.
        trained = trained.min(clock.elapsed().as_secs_f64() / (fitted.steps as f64 + 20.0));
        let clock = Instant::now();
        for _ in 0..100 {
            faer::linalg::matmul::matmul(
                c.as_mut(),
                faer::Accum::Replace,
                a.as_ref(),
                b.as_ref(),
                1.0,
                Par::Seq,
            );
        }
        best = best.min(clock.elapsed().as_secs_f64() / 100.0);
    }
    let product = 2.0 * weights_of(config.width) * n as f64 / best / 1e9;
    Ok((flops / trained / 1e9, product, 1e3 * trained))
}

/// A batch of each algorithm at the papers' sizes.
fn batches(seed: u64) -> Result<Table, BenchError> {
    let mut table =
        Table::new(["algorithm", "s a batch", "authors' code, s a point", "limit, s", "training"]);
    for (name, theirs, limit) in ALGORITHMS {
        let (mut seconds, mut story) = (f64::INFINITY, String::new());
        for _ in 0..REPEATS {
            // Afresh, so that nothing is running: the same batch each time.
            let mut study = study(name, 12, 200, seed)?;
            let clock = Instant::now();
            study.ask(BATCH)?;
            seconds = seconds.min(clock.elapsed().as_secs_f64());
            if let Some(diagnostics) = study.diagnostics() {
                let of = |name: &str| diagnostics.counters.get(name).copied();
                story = match (of("training_steps"), of("gradient_left")) {
                    (Some(steps), Some(left)) => format!("{steps} steps, gradient {left:.1e} of the first"),
                    _ => String::new(),
                };
            }
        }
        table.row([name.into(), format!("{seconds:.3}"), theirs.into(), limit.into(), story]);
    }
    Ok(table)
}

/// The speed of training, against matrix products of the same sizes.
fn training(seed: u64) -> Result<Table, BenchError> {
    let mut table =
        Table::new(["n", "training, Gflop/s", "product of its size, Gflop/s", "share", "ms a step"]);
    for n in [50, 200, 1_000] {
        let (training, product, ms) = training_speed(n, 12, seed)?;
        let share = format!("{:.0} %", 100.0 * training / product);
        table.row([
            n.to_string(),
            format!("{training:.1}"),
            format!("{product:.1}"),
            share,
            format!("{ms:.2}"),
        ]);
    }
    Ok(table)
}

/// One suggestion after more and more evaluations.
fn growth(seed: u64) -> Result<Table, BenchError> {
    let mut table =
        Table::new(["n", "sto-bnts, s", "sto-bnts-linear, s", "neural-bo, s", "peak memory so far, MB"]);
    for n in [100, 500, 1_000, 2_000, 4_000, 6_000] {
        let mut row = vec![n.to_string()];
        for name in ["sto-bnts", "sto-bnts-linear", "neural-bo"] {
            let mut study = study(name, 14, n, seed)?;
            let clock = Instant::now();
            study.ask(1)?;
            row.push(format!("{:.2}", clock.elapsed().as_secs_f64()));
        }
        row.push(peak_memory_mb(None).map_or(String::new(), |mb| format!("{mb:.0}")));
        table.row(row);
    }
    Ok(table)
}

/// Runs the measurements and writes their tables.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), BenchError> {
    writeln!(
        out,
        "A batch of {BATCH} at n = 200, d = 12, default networks and candidates, all cores\n{}",
        batches(options.seed)?
    )?;
    writeln!(
        out,
        "Gradient descent on the default network (32 bits, d = 12), one core\n{}",
        training(options.seed)?
    )?;
    writeln!(out, "One suggestion in 14 dimensions\n{}", growth(options.seed)?)?;
    Ok(())
}
