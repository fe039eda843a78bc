//! Truths about the Gaussian process as a whole: closed forms, equivalences, gradients, moments.

mod candidates;
mod fit;
mod infinite_networks;
mod kernels;
mod paths;
mod posterior;

use noregret_testkit::gradient_gap;
use proptest::prelude::*;
use rand::RngExt;

use super::candidates::Candidates;
use super::fit::{Effort, FitProblem};
use super::hyperparameters::{Hyperparameters, Prior, Tunable};
use super::kernel::anova::Anova;
use super::kernel::infinite_network::InfiniteNetwork;
use super::kernel::ntk::{NtkActivation, NtkConfig};
use super::kernel::{Coordinates, Factor, Form, Kernel};
use super::local::LocalGp;
use super::path::{FeaturePath, Path, UnitPath};
use super::posterior::Gp;
use crate::acquisition::thompson::EnlargedPath;
use crate::acquisition::utility::Utility;
use crate::acquisition::{Acquisition, Scored};
use crate::math::rng::{Purpose, Seed, Stream};
use crate::surrogate::points::Points;
use crate::surrogate::{Gradient, Marginals, Surrogate};

fn stream(item: u16) -> Stream {
    Seed(11).stream(Purpose::Experiment, 0, item)
}

fn random_points(dims: usize, n: usize, rng: &mut Stream) -> Points {
    let columns: Vec<f64> = (0..dims * n).map(|_| rng.random()).collect();
    Points::from_columns(dims, &columns)
}

/// A smooth function of the first two coordinates.
fn objective(x: &[f64]) -> f64 {
    (5.0 * x[0]).sin() + x[1] * x[1]
}

fn model(kernel: Kernel, dims: usize, n: usize) -> Gp {
    let points = random_points(dims, n, &mut stream(1));
    let y: Vec<f64> = (0..n).map(|i| objective(&points.point(i))).collect();
    Gp::new(kernel, points, &y, vec![1e-3; n]).unwrap()
}

/// Numbers and a category of three.
fn mixed_kernel() -> Kernel {
    Kernel {
        outputscale: 1.4,
        factors: vec![
            Factor::new(Form::Matern52, Coordinates::new(vec![0, 1], vec![0.4, 0.8])),
            Factor::new(Form::Overlap, Coordinates::new(vec![2], vec![1.5])),
        ],
    }
}

/// The same coordinates in the terms of an analysis of variance; 0.7 against 1 for a coordinate's part in a term.
fn anova_kernel() -> Kernel {
    let anova = Anova {
        numeric: Coordinates::new(vec![0, 1], vec![0.4, 0.8]),
        categorical: Coordinates::new(vec![2], vec![1.5]),
        odds: 0.7,
    };
    Kernel { outputscale: 1.4, factors: vec![Factor::Anova(anova)] }
}

fn smooth(dims: usize) -> Kernel {
    Kernel::new(Form::Matern52, vec![0.5; dims], dims, 1.2)
}

fn assert_close(a: &Marginals, b: &Marginals, tolerance: f64) {
    for (a, b) in a.mean.iter().zip(&b.mean).chain(a.variance.iter().zip(&b.variance)) {
        assert!((a - b).abs() < tolerance, "{a} != {b}");
    }
}

fn assert_gradient(utility: &dyn Acquisition, x: &[f64], tolerance: f64) {
    let gap = gradient_gap(
        |x| utility.value(x),
        |x, g| {
            utility.value_and_gradient(x, g);
        },
        x,
    );
    assert!(gap < tolerance, "gap {gap:e} at {x:?}");
    let mut g = vec![0.0; x.len()];
    assert!((utility.value(x) - utility.value_and_gradient(x, &mut g)).abs() < 1e-9);
}

/// Moments of draws against the posterior: bounds of 5 standard errors, a false-alarm rate of 6e-7 a comparison.
fn assert_moments(
    draw: impl Fn(u16) -> Vec<f64>,
    mean: &[f64],
    covariance: impl Fn(usize, usize) -> f64,
    extra: f64,
) {
    let draws: Vec<Vec<f64>> = (0..4000).map(draw).collect();
    let n = draws.len() as f64;
    for i in 0..mean.len() {
        let average = draws.iter().map(|d| d[i]).sum::<f64>() / n;
        let sd = covariance(i, i).sqrt();
        assert!(
            (average - mean[i]).abs() < 5.0 * sd / n.sqrt() + extra,
            "mean {i}: {average} != {}",
            mean[i]
        );
        for j in 0..=i {
            let products = draws.iter().map(|d| (d[i] - mean[i]) * (d[j] - mean[j]));
            let estimate = products.sum::<f64>() / n;
            // Var of a product of Gaussians: s_ii s_jj + s_ij^2.
            let spread = (covariance(i, i) * covariance(j, j) + covariance(i, j).powi(2)).sqrt();
            assert!(
                (estimate - covariance(i, j)).abs() < 5.0 * spread / n.sqrt() + extra,
                "covariance ({i}, {j}): {estimate} != {}",
                covariance(i, j)
            );
        }
    }
}

/// Posterior covariance from its definition, by conditioning on each point in turn.
fn exact_covariance(gp: &Gp, at: &Points) -> Vec<Vec<f64>> {
    let (_, v) = gp.project(at);
    let m = at.len();
    (0..m)
        .map(|i| {
            let mut k = vec![0.0; m];
            gp.kernel().column(at, 0, &at.point(i), &mut k);
            (0..m).map(|j| k[j] - (0..gp.len()).map(|r| v[r * m + i] * v[r * m + j]).sum::<f64>()).collect()
        })
        .collect()
}

fn fit_problem<'a>(
    kernel: &'a Kernel,
    points: &'a Points,
    y: &'a [f64],
    known_noise: &'a [Option<f64>],
) -> FitProblem<'a> {
    let log_normal = |location| Prior::LogNormal { location, scale: 1.0 };
    FitProblem {
        kernel,
        points,
        y,
        known_noise,
        lengthscale: Tunable { start: 0.5, low: 1e-2, high: 1e2, prior: Prior::DimensionScaled },
        odds: Tunable { start: 1.0, low: 1e-2, high: 1e2, prior: Prior::Log { location: 1.0, scale: 2.0 } },
        outputscale: Tunable { start: 1.0, low: 1e-2, high: 1e2, prior: log_normal(1.0) },
        noise: Tunable { start: 1e-2, low: 1e-6, high: 1.0, prior: log_normal(-4.0) },
    }
}
