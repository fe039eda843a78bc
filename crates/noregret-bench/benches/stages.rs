//! The stages of a suggestion by size: `cargo bench -p noregret-bench`.

use divan::{Bencher, black_box};
use noregret::math::rng::{Purpose, Seed};
use noregret::space::Kind;
use noregret::surrogate::forest::{Forest, ForestConfig};
use noregret::surrogate::gp::candidates::Candidates;
use noregret::surrogate::gp::kernel::{Form, Kernel};
use noregret::surrogate::gp::path::Path;
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;
use noregret::surrogate::{Gradient, Surrogate};
use noregret::{Algorithm, Space, Study};
use rand::RngExt;

const SIZES: [usize; 4] = [50, 200, 500, 1_000];

fn main() {
    divan::main();
}

fn points(n: usize) -> Points {
    let mut rng = Seed(1).stream(Purpose::Experiment, n as u64, 0);
    let columns: Vec<f64> = (0..6 * n).map(|_| rng.random()).collect();
    Points::from_columns(6, &columns)
}

fn model(n: usize) -> Gp {
    let points = points(n);
    let y: Vec<f64> = (0..n).map(|i| (5.0 * points.point(i)[0]).sin()).collect();
    let kernel = Kernel::new(Form::Matern52, vec![0.5; 6], 6, 1.0);
    Gp::new(kernel, points, &y, vec![1e-4; n]).expect("noise keeps it positive definite")
}

/// Kernel matrix and Cholesky factor.
#[divan::bench(args = SIZES)]
fn posterior(bencher: Bencher, n: usize) {
    bencher.bench(|| model(black_box(n)));
}

/// Kernel block and triangular solve of 1,000 candidates.
#[divan::bench(args = SIZES)]
fn candidates(bencher: Bencher, n: usize) {
    let (gp, set) = (model(n), points(1_000));
    bencher.bench(|| Candidates::new(&gp, set.clone()));
}

/// One more observation, and the candidates brought up to date with it.
#[divan::bench(args = SIZES)]
fn append_and_follow(bencher: Bencher, n: usize) {
    let gp = model(n);
    let candidates = Candidates::new(&gp, points(1_000));
    bencher.with_inputs(|| (gp.clone(), candidates.clone())).bench_refs(|(gp, candidates)| {
        gp.append(&[0.5; 6], 0.3, 1e-4);
        candidates.follow(gp);
    });
}

/// Posterior with gradients at one point.
#[divan::bench(args = SIZES)]
fn gradient(bencher: Bencher, n: usize) {
    let gp = model(n);
    let (mut mean, mut variance) = ([0.0; 6], [0.0; 6]);
    bencher.bench_local(|| gp.marginal_with_gradient(black_box(&[0.3; 6]), &mut mean, &mut variance));
}

/// A function drawn from the posterior, at 1,000 candidates.
#[divan::bench(args = SIZES)]
fn sample_path(bencher: Bencher, n: usize) {
    let gp = model(n);
    let candidates = Candidates::new(&gp, points(1_000));
    bencher.bench(|| Path::draw(&gp, 1_024, &mut Seed(2).stream(Purpose::Path, 0, 0)).values_at(&candidates));
}

/// One suggestion from nothing: fit, candidates, polishing.
#[divan::bench(args = SIZES, sample_count = 10)]
fn propose_cold(bencher: Bencher, n: usize) {
    let space = Space::bounds(&[(0.0, 1.0); 6]).expect("a box");
    let data = points(n);
    bencher
        .with_inputs(|| {
            let algorithm = Algorithm::by_name("gp-ei").expect("a known name");
            let mut study =
                Study::builder().space(space.clone()).algorithm(algorithm).build().expect("valid");
            for i in 0..n {
                let x = data.point(i);
                study.add(&space.decode(&x), (5.0 * x[0]).sin() + x[1], None).expect("in the box");
            }
            study
        })
        .bench_refs(|study| study.ask(1).expect("a suggestion"));
}

fn trees(n: usize) -> Forest {
    let points = points(n);
    let y: Vec<f64> = (0..n).map(|i| points.point(i).iter().map(|x| (x - 0.4).powi(2)).sum()).collect();
    let mut rng = Seed(1).stream(Purpose::Experiment, n as u64, 1);
    Forest::fit(&ForestConfig::default(), &[Kind::Continuous; 6], &points, &y, &mut rng)
}

/// A random forest of 100 trees.
#[divan::bench(args = SIZES)]
fn forest(bencher: Bencher, n: usize) {
    bencher.bench(|| trees(black_box(n)));
}

/// Its mean and variance at 10,000 candidates.
#[divan::bench(args = SIZES)]
fn forest_candidates(bencher: Bencher, n: usize) {
    let (forest, set) = (trees(n), points(10_000));
    bencher.bench(|| forest.marginals(&set));
}
