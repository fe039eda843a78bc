//! Truths about the Gaussian process as a whole: closed forms, equivalences, gradients, moments.

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
use super::path::{FeaturePath, Path};
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

#[test]
fn one_observation_by_hand() {
    // k = 2, noise = 0.5, y = 1: mean = k(x) / 2.5, variance = 2 - k(x)^2 / 2.5.
    let kernel = Kernel::new(Form::SquaredExponential, vec![1.0], 1, 2.0);
    let gp = Gp::new(kernel, Points::from_columns(1, &[0.0]), &[1.0], vec![0.5]).unwrap();
    let k = 2.0 * (-0.5_f64 * 0.25).exp();
    let marginals = gp.marginals(&Points::from_columns(1, &[0.5]));
    assert!((marginals.mean[0] - k / 2.5).abs() < 1e-15);
    assert!((marginals.variance[0] - (2.0 - k * k / 2.5)).abs() < 1e-15);
    let expected = -0.5 / 2.5 - 0.5 * 2.5_f64.ln() - 0.5 * std::f64::consts::TAU.ln();
    assert!((gp.log_likelihood() - expected).abs() < 1e-15);
    assert!((gp.information_gain() - 0.5 * 5.0_f64.ln()).abs() < 1e-15);
}

#[test]
fn nothing_observed_is_the_prior() {
    let gp = Gp::new(smooth(2), Points::new(2), &[], vec![]).unwrap();
    let marginals = gp.marginals(&random_points(2, 5, &mut stream(2)));
    assert!(marginals.mean.iter().all(|m| *m == 0.0));
    assert!(marginals.variance.iter().all(|v| (v - 1.2).abs() < 1e-15));
}

#[test]
fn appended_observations_are_refitted_ones() {
    let whole = model(mixed_kernel(), 3, 40);
    let mut grown = Gp::new(mixed_kernel(), Points::new(3), &[], vec![]).unwrap();
    for i in 0..40 {
        let x = whole.points().point(i);
        grown.append(&x, objective(&x), 1e-3);
    }
    let at = random_points(3, 30, &mut stream(3));
    // Conditioning of K is about 4e4: twelve digits remain.
    assert_close(&whole.marginals(&at), &grown.marginals(&at), 1e-10);
    assert!((whole.log_likelihood() - grown.log_likelihood()).abs() < 1e-9);
}

#[test]
fn pending_points_lower_the_variance_and_keep_the_mean() {
    let mut gp = model(smooth(2), 2, 25);
    let at = random_points(2, 50, &mut stream(4));
    let before = gp.marginals(&at);
    let pending = [0.3, 0.4];
    gp.condition(&pending, 1e-3);
    let conditioned = gp.marginals(&at);
    // The same as having observed any value there.
    let mut observed = gp.clone();
    observed.release();
    observed.append(&pending, 7.0, 1e-3);
    for i in 0..at.len() {
        assert!((conditioned.mean[i] - before.mean[i]).abs() < 1e-12);
        assert!(conditioned.variance[i] <= before.variance[i] + 1e-12);
        assert!((conditioned.variance[i] - observed.marginals(&at).variance[i]).abs() < 1e-10);
    }
    gp.release();
    assert_close(&gp.marginals(&at), &before, 1e-15);
}

#[test]
fn followed_candidates_are_solved_ones() {
    let mut gp = model(mixed_kernel(), 3, 20);
    let at = random_points(3, 300, &mut stream(5));
    let mut candidates = Candidates::new(&gp, at.clone());
    let mut rng = stream(6);
    for round in 0..6 {
        let x: Vec<f64> = (0..3).map(|_| rng.random()).collect();
        if round % 2 == 0 {
            gp.append(&x, objective(&x), 1e-3);
        } else {
            gp.condition(&x, 1e-3);
        }
        candidates.follow(&gp);
        let fresh = Candidates::new(&gp, at.clone());
        let kept = |c: &Candidates| Marginals { mean: c.mean().to_vec(), variance: c.variance().to_vec() };
        assert_close(&kept(&candidates), &kept(&fresh), 1e-10);
    }
    gp.release();
    candidates.follow(&gp);
    let exact = gp.marginals(&at);
    assert!(candidates.variance().iter().zip(&exact.variance).all(|(a, b)| (a - b).abs() < 1e-10));
}

/// With all observations as neighbours the local model is the exact one; with fewer its variance is an upper bound.
#[test]
fn local_model_bounds_the_exact_one() {
    let gp = model(smooth(2), 2, 60);
    let center = [0.4, 0.6];
    let near = Points::from_columns(2, &[0.4, 0.6, 0.42, 0.58, 0.35, 0.66]);
    let exact = gp.marginals(&near);
    assert_close(&LocalGp::new(&gp, &center, 60).unwrap().marginals(&near), &exact, 1e-10);
    let local = LocalGp::new(&gp, &center, 20).unwrap().marginals(&near);
    for i in 0..near.len() {
        assert!((local.mean[i] - exact.mean[i]).abs() < 1e-12);
        assert!(local.variance[i] >= exact.variance[i] - 1e-12);
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

#[test]
fn every_acquisition_has_its_gradient() {
    let gp = model(smooth(3), 3, 30);
    let local = LocalGp::new(&gp, &[0.5; 3], 12).unwrap();
    let mut rng = stream(7);
    for _ in 0..10 {
        let x: Vec<f64> = (0..3).map(|_| rng.random_range(0.05..0.95)).collect();
        for utility in [
            Utility::Ucb { beta: 2.0 },
            Utility::ExpectedImprovement { best: 0.5 },
            Utility::LogExpectedImprovement { best: 0.5 },
            Utility::ProbabilityOfImprovement { best: 0.5 },
            Utility::Mean,
            Utility::StandardDeviation,
        ] {
            assert_gradient(&Scored { model: &gp, utility }, &x, 1e-6);
            assert_gradient(&Scored { model: &local, utility }, &x, 1e-6);
        }
        let path = Path::draw(&gp, 256, &mut rng);
        assert_gradient(&path, &x, 1e-6);
        assert_gradient(&EnlargedPath::new(&gp, path, 1.5, 0.2), &x, 1e-5);
    }
}

#[test]
fn mixed_and_linear_paths_have_their_gradients() {
    let mut rng = stream(8);
    let mut kernel = mixed_kernel();
    kernel.factors.push(Factor::new(Form::Linear, Coordinates::new(vec![3], vec![0.7])));
    let gp = model(kernel, 4, 25);
    let path = Path::draw(&gp, 128, &mut rng);
    let x = [0.3, 0.7, 0.5, 0.4];
    let continuous = |y: &[f64]| [y[0], y[1], x[2], y[2]];
    let gap = gradient_gap(
        |y| path.value(&continuous(y)),
        |y, g| {
            let mut full = [0.0; 4];
            path.value_and_gradient(&continuous(y), &mut full);
            g.copy_from_slice(&[full[0], full[1], full[3]]);
        },
        &[x[0], x[1], x[3]],
    );
    assert!(gap < 1e-6, "{gap:e}");
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

#[test]
fn joint_draws_have_the_posterior_moments() {
    let gp = model(mixed_kernel(), 3, 8);
    let at = random_points(3, 5, &mut stream(9));
    let covariance = exact_covariance(&gp, &at);
    let joint = gp.joint(&at).unwrap();
    assert_moments(|item| joint.draw(&mut stream(item)), joint.mean(), |i, j| covariance[i][j], 1e-9);
}

#[test]
fn pathwise_draws_have_the_posterior_moments() {
    let forms = [Form::SquaredExponential, Form::Matern12, Form::Matern32, Form::Matern52];
    let mut kernels = vec![anova_kernel()];
    for form in forms {
        let mut kernel = mixed_kernel();
        kernel.factors[0] = Factor::new(form, Coordinates::new(vec![0, 1], vec![0.4, 0.8]));
        kernels.push(kernel);
    }
    for kernel in kernels {
        let gp = model(kernel, 3, 8);
        // Two of the points share the category of an observation, the others have their own.
        let mut at = random_points(3, 4, &mut stream(9));
        at.push(&[0.5, 0.5, gp.points().point(0)[2]]);
        at.push(&[0.2, 0.9, gp.points().point(0)[2]]);
        let covariance = exact_covariance(&gp, &at);
        let mean = gp.marginals(&at).mean;
        // Frequencies are fresh in every path, so the covariance is exact in expectation; a path of few features is
        // not Gaussian, though, and its products spread more: 256 features add a few per cent, covered by `extra`.
        assert_moments(
            |item| Path::draw(&gp, 256, &mut stream(item)).values(&at),
            &mean,
            |i, j| covariance[i][j],
            0.01,
        );
    }
}

/// Multiplied out: the sum over all sets of coordinates of the product on the set, weighed by the chance of the set.
#[test]
fn anova_is_the_sum_over_sets_of_coordinates() {
    let kernel = anova_kernel();
    let points = random_points(3, 40, &mut stream(19));
    let mut x = points.point(3);
    x[0] += 0.1;
    let mut column = vec![0.0; 40];
    kernel.column(&points, 0, &x, &mut column);
    let one = |form, k: usize, l: f64, c: &[f64]| {
        let mut h = [0.0];
        let factors = vec![Factor::new(form, Coordinates::new(vec![k], vec![l]))];
        let single = Kernel { outputscale: 1.0, factors };
        single.column(&Points::from_columns(3, c), 0, &x, &mut h);
        h[0]
    };
    let p = 1.0 / 1.7;
    for (i, value) in column.iter().enumerate() {
        let c = points.point(i);
        let h = [
            one(Form::Matern52, 0, 0.4, &c),
            one(Form::Matern52, 1, 0.8, &c),
            one(Form::Overlap, 2, 1.5, &c),
        ];
        let set = |chosen: u32| -> f64 {
            (0..3).map(|k| if chosen >> k & 1 == 1 { p * h[k] } else { 1.0 - p }).product()
        };
        let sum: f64 = (0..8).map(set).sum();
        assert!((value - 1.4 * sum).abs() < 1e-14, "{i}: {value} {}", 1.4 * sum);
    }
    assert!((kernel.variance(&x) - 1.4).abs() < 1e-15);
}

/// Of a sum of functions of one coordinate each, few values tell all: what a product kernel cannot see between them.
#[test]
fn fit_finds_that_a_sum_is_a_sum() {
    let (d, n) = (6, 60);
    let points = random_points(d, n, &mut stream(20));
    let sum = |x: &[f64]| x.iter().enumerate().map(|(k, x)| (6.0 * x + k as f64).sin()).sum::<f64>() / 1.7;
    let product = |x: &[f64]| 4.0 * x[..3].iter().map(|x| (6.0 * x).sin()).product::<f64>();
    let chance = |f: &dyn Fn(&[f64]) -> f64| {
        let y: Vec<f64> = (0..n).map(|i| f(&points.point(i))).collect();
        let kernel = Kernel::new(Form::Anova, vec![1.0; d], d, 1.0);
        let known = vec![None; n];
        let problem = fit_problem(&kernel, &points, &y, &known);
        let start =
            Hyperparameters { kernel_parameters: vec![1.0; d + 1], outputscale: 1.0, noise_variance: 1e-2 };
        let fitted = problem.fit(&start, Effort { evaluations: 100, tolerance: 1e-4 }).hyperparameters;
        1.0 / (1.0 + fitted.kernel_parameters[d])
    };
    let (of_sum, of_product) = (chance(&sum), chance(&product));
    // Six coordinates in a term with this chance each: below one together, and several.
    assert!(of_sum < 1.0 / 6.0 && of_product > 0.3, "{of_sum} {of_product}");
}

#[test]
fn paths_agree_with_themselves_at_candidates() {
    let gp = model(mixed_kernel(), 3, 30);
    let at = random_points(3, 40, &mut stream(10));
    let candidates = Candidates::new(&gp, at.clone());
    let path = Path::draw(&gp, 128, &mut stream(12));
    for (a, b) in path.values(&at).iter().zip(path.values_at(&candidates)) {
        assert!((a - b).abs() < 1e-9);
    }
}

/// Bayesian linear regression on features: without data the prior, with precise data an interpolant, and its own gradient.
#[test]
fn feature_paths_are_draws_of_the_regression() {
    let empty = Gp::new(mixed_kernel(), Points::new(3), &[], vec![]).unwrap();
    let at = random_points(3, 4, &mut stream(16));
    let covariance = exact_covariance(&empty, &at);
    let draw = |item| FeaturePath::draw(&empty, &[], 128, &mut stream(item)).unwrap().values(&at);
    // 128 features are not quite Gaussian: see `pathwise_draws_have_the_posterior_moments`.
    assert_moments(draw, &[0.0; 4], |i, j| covariance[i][j], 0.02);

    let points = random_points(2, 20, &mut stream(17));
    let y: Vec<f64> = (0..20).map(|i| objective(&points.point(i))).collect();
    let gp = Gp::new(smooth(2), points.clone(), &y, vec![1e-6; 20]).unwrap();
    let path = FeaturePath::draw(&gp, &y, 512, &mut stream(18)).unwrap();
    // The posterior deviation at a point observed with noise variance 1e-6 is at most 1e-3, and so is its mean's error.
    assert!(path.values(&points).iter().zip(&y).all(|(f, y)| (f - y).abs() < 6e-3));
    let gap = gradient_gap(
        |x| path.values(&Points::from_columns(2, x))[0],
        |x, g| {
            path.value_and_gradient(x, g);
        },
        &[0.3, 0.6],
    );
    assert!(gap < 1e-6, "{gap:e}");
}

/// Theorem 4: the deviation of the enlarged path is `beta sigma + margin`.
#[test]
fn enlarged_paths_have_the_enlarged_deviation() {
    let gp = model(smooth(2), 2, 10);
    let at = Points::from_columns(2, &[0.5, 0.9]);
    let exact = gp.marginals(&at);
    let sd = 2.0 * exact.variance[0].sqrt() + 0.3;
    let draw = |item| EnlargedPath::new(&gp, Path::draw(&gp, 256, &mut stream(item)), 2.0, 0.3).values(&at);
    assert_moments(draw, &exact.mean, |_, _| sd * sd, 0.01);
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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn likelihood_gradient_is_the_difference_quotient(
        form in prop::sample::select(&[Form::Anova, Form::SquaredExponential, Form::Matern12, Form::Matern32, Form::Matern52, Form::Linear, Form::NtkRelu, Form::NtkErf][..]),
        symmetric in any::<bool>(),
        t in prop::collection::vec(-1.0..1.0_f64, 6),
        isotropic in any::<bool>(),
    ) {
        let mut kernel = if form == Form::Anova { anova_kernel() } else { mixed_kernel() };
        if form != Form::Anova {
            let lengthscales = if isotropic { vec![0.4] } else { vec![0.4, 0.8] };
            kernel.factors[0] = Factor::new(form, Coordinates::new(vec![0, 1], lengthscales));
        }
        if let Factor::Network(network) = &mut kernel.factors[0] {
            network.config.symmetric = symmetric;
        }
        let points = {
            let mut points = random_points(2, 12, &mut stream(13));
            let mut mixed = Points::new(3);
            for i in 0..12 {
                let mut x = points.point(i);
                x.push([0.25, 0.75][i % 2]);
                mixed.push(&x);
            }
            points.truncate(0);
            mixed
        };
        let y: Vec<f64> = (0..12).map(|i| objective(&points.point(i))).collect();
        let known: Vec<Option<f64>> = (0..12).map(|i| (i % 4 == 0).then_some(0.01)).collect();
        let problem = fit_problem(&kernel, &points, &y, &known);
        let t = &t[..kernel.parameter_count() + 2];
        let gap = gradient_gap(
            |t| problem.log_posterior_at(t, &mut vec![0.0; t.len()]),
            |t, g| { problem.log_posterior_at(t, g); },
            t,
        );
        prop_assert!(gap < 1e-5, "{gap:e}");
    }

    /// More data never raise a variance, and no variance is negative.
    #[test]
    fn variance_never_grows_with_data(columns in prop::collection::vec(0.0..1.0_f64, 2..40)) {
        let columns = &columns[..columns.len() / 2 * 2];
        let mut gp = Gp::new(smooth(2), Points::new(2), &[], vec![]).unwrap();
        let at = random_points(2, 20, &mut stream(14));
        let mut last = gp.marginals(&at).variance;
        for x in columns.chunks(2) {
            gp.append(x, objective(x), 1e-6);
            let now = gp.marginals(&at).variance;
            prop_assert!(now.iter().zip(&last).all(|(now, last)| *now >= 0.0 && *now <= last + 1e-9));
            last = now;
        }
    }
}

#[test]
fn fit_finds_the_scale_of_a_smooth_function() {
    let kernel = smooth(2);
    let points = random_points(2, 40, &mut stream(15));
    let y: Vec<f64> = (0..40).map(|i| objective(&points.point(i))).collect();
    let known = vec![None; 40];
    let problem = fit_problem(&kernel, &points, &y, &known);
    let start = Hyperparameters { kernel_parameters: vec![0.5; 2], outputscale: 1.0, noise_variance: 1e-2 };
    let fitted = problem.fit(&start, Effort { evaluations: 100, tolerance: 1e-4 });
    // The sine of period 1.26 varies faster than the parabola.
    let l = &fitted.hyperparameters.kernel_parameters;
    assert!(l[0] < l[1], "{l:?}");
    assert!(fitted.hyperparameters.noise_variance < 1e-3);
    let again = problem.fit(&fitted.hyperparameters, Effort { evaluations: 100, tolerance: 1e-4 });
    assert!(again.evaluations <= 3, "a warm start at the optimum stays there: {}", again.evaluations);
}

#[test]
fn gradient_of_the_posterior_at_an_observation_is_finite() {
    let gp = model(smooth(2), 2, 10);
    let x = gp.points().point(3);
    let (mut m, mut v) = ([0.0; 2], [0.0; 2]);
    gp.marginal_with_gradient(&x, &mut m, &mut v);
    assert!(m.iter().chain(&v).all(|g| g.is_finite()));
}

/// The kernels of networks, alone and times that of a category, of several depths.
fn networks() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for activation in [NtkActivation::Relu, NtkActivation::Erf] {
        for (depth, symmetric, lengthscale) in [(1, true, 0.4), (2, false, 1.0), (4, true, 1.0)] {
            let config = NtkConfig { depth, symmetric, ..NtkConfig::default() };
            let coordinates = Coordinates::new(vec![0, 1], vec![lengthscale]);
            let numbers = Factor::Network(InfiniteNetwork { activation, config, coordinates });
            let category = Factor::new(Form::Overlap, Coordinates::new(vec![2], vec![1.0]));
            kernels.push(Kernel { outputscale: 1.0, factors: vec![numbers.clone()] });
            kernels.push(Kernel { outputscale: 0.8, factors: vec![category, numbers] });
        }
    }
    kernels
}

#[test]
fn grams_of_networks_are_positive_definite() {
    let points = random_points(3, 40, &mut stream(20));
    for kernel in networks() {
        let gram = faer::Mat::from_fn(40, 40, |i, j| {
            let mut k = [0.0];
            kernel.column(&points.slice(i..i + 1), 0, &points.point(j), &mut k);
            k[0]
        });
        let largest = (0..40).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        for i in 0..40 {
            assert!((gram[(i, i)] - kernel.variance(&points.point(i))).abs() < 1e-13 * largest);
            (0..i).for_each(|j| assert!((gram[(i, j)] - gram[(j, i)]).abs() < 1e-13 * largest));
        }
        let eigenvalues = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        let smallest = eigenvalues.into_iter().fold(f64::INFINITY, f64::min);
        // erf gives analytic functions, whose Gram matrix has eigenvalues below its rounding errors.
        let is_relu =
            |f: &Factor| matches!(f, Factor::Network(network) if network.activation == NtkActivation::Relu);
        let bound = if kernel.factors.iter().any(is_relu) { 1e-6 } else { -1e-12 };
        assert!(smallest > bound * largest, "{smallest:e} {kernel:?}");
    }
}

/// Five points: mean and variance by Gauss-Jordan elimination of `K + tau I`.
#[test]
fn posteriors_of_networks_are_dense_solves() {
    for kernel in networks() {
        let gp = model(kernel.clone(), 3, 5);
        let k = |a: &[f64], b: &[f64]| {
            let mut out = [0.0];
            kernel.column(&Points::from_columns(3, a), 0, b, &mut out);
            out[0]
        };
        let at = [0.35, 0.6, gp.points().point(2)[2]];
        // Columns 5 and 6 become (K + tau I)^-1 of the values and of the covariances with `at`.
        let mut rows: Vec<Vec<f64>> = (0..5)
            .map(|i| {
                let x = gp.points().point(i);
                let mut row: Vec<f64> = (0..5).map(|j| k(&x, &gp.points().point(j))).collect();
                row[i] += 1e-3;
                row.extend([objective(&x), k(&x, &at)]);
                row
            })
            .collect();
        for p in 0..5 {
            let pivot = rows[p].clone();
            for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != p) {
                let times = row[p] / pivot[p];
                assert!(times.is_finite(), "{i}");
                row.iter_mut().zip(&pivot).for_each(|(r, p)| *r -= times * p);
            }
        }
        let solved = |i: usize, column: usize| rows[i][column] / rows[i][i];
        let cross: Vec<f64> = (0..5).map(|i| k(&gp.points().point(i), &at)).collect();
        let mean: f64 = (0..5).map(|i| cross[i] * solved(i, 5)).sum();
        let variance = k(&at, &at) - (0..5).map(|i| cross[i] * solved(i, 6)).sum::<f64>();
        let marginals = gp.marginals(&Points::from_columns(3, &at));
        // Conditioning is about 1e4.
        assert!((marginals.mean[0] - mean).abs() < 1e-9, "{} {mean}", marginals.mean[0]);
        assert!((marginals.variance[0] - variance).abs() < 1e-9, "{} {variance}", marginals.variance[0]);
    }
}

#[test]
fn posteriors_of_networks_have_their_gradients() {
    for kernel in networks().into_iter().filter(|kernel| kernel.factors.len() == 1) {
        let gp = model(kernel, 3, 20);
        let local = LocalGp::new(&gp, &[0.5; 3], 12).unwrap();
        // Farther than the steps of the check from every observation, where ReLU has its cusps.
        let near = |x: &[f64]| {
            (0..20).any(|i| (gp.points().point(i)[0] - x[0]).hypot(gp.points().point(i)[1] - x[1]) < 0.05)
        };
        let mut rng = stream(21);
        for _ in 0..5 {
            let x: Vec<f64> = (0..3).map(|_| rng.random_range(0.05..0.95)).collect();
            if near(&x) {
                continue;
            }
            for utility in [Utility::Mean, Utility::StandardDeviation, Utility::Ucb { beta: 2.0 }] {
                assert_gradient(&Scored { model: &gp, utility }, &x, 1e-6);
                assert_gradient(&Scored { model: &local, utility }, &x, 1e-6);
            }
        }
    }
}

/// Copies, near copies, the origin and opposite points: numbers everywhere, and the candidates follow.
#[test]
fn copies_and_corners_are_no_trouble_for_networks() {
    let columns = [
        [0.0, 0.0, 0.5],
        [0.0, 0.0, 0.5],
        [0.4, 0.7, 0.5],
        [0.4, 0.7, 0.5],
        [0.4 + 1e-16, 0.7, 0.5],
        [0.4, 0.7 + 1e-9, 0.5],
        [0.6, 0.3, 0.5],
        [1.0, 1.0, 0.5],
    ];
    let points = Points::from_columns(3, &columns.concat());
    let y = [0.0, 0.1, 1.0, 1.1, 1.0, 0.9, -1.0, 0.3];
    for mut kernel in networks() {
        for bias_sd in [0.05, 0.0] {
            for factor in &mut kernel.factors {
                if let Factor::Network(network) = factor {
                    network.config.bias_sd = bias_sd;
                }
            }
            let mut gp = Gp::new(kernel.clone(), points.clone(), &y, vec![1e-6; 8]).unwrap();
            let mut candidates = Candidates::new(&gp, points.clone());
            gp.append(&[0.4, 0.7, 0.5], 1.0, 1e-6);
            candidates.follow(&gp);
            assert!(candidates.mean().iter().chain(candidates.variance()).all(|v| v.is_finite()));
            assert!(gp.joint(&points).unwrap().draw(&mut stream(22)).iter().all(|f| f.is_finite()));
            for x in &columns {
                let (mut m, mut v) = ([0.0; 3], [0.0; 3]);
                let (mean, variance) = gp.marginal_with_gradient(x, &mut m, &mut v);
                assert!(
                    m.iter().chain(&v).chain([&mean, &variance]).all(|g| g.is_finite()),
                    "{x:?} {kernel:?}"
                );
            }
            let known = [None; 8];
            let problem = fit_problem(&kernel, &points, &y, &known);
            let mut gradient = vec![0.0; kernel.parameter_count() + 2];
            assert!(problem.log_posterior_at(&vec![0.0; gradient.len()], &mut gradient).is_finite());
            assert!(gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
        }
    }
}

/// Neighbours are those most correlated, not those farthest from the origin.
#[test]
fn neighbours_in_a_network_are_near() {
    let gp = model(networks().swap_remove(2), 3, 200);
    let center = [0.1, 0.1, 0.5];
    let at = Points::from_columns(3, &center);
    let exact = gp.marginals(&at).variance[0];
    let local = LocalGp::new(&gp, &center, 40).unwrap().marginals(&at).variance[0];
    assert!(local >= exact - 1e-12 && local < 1.5 * exact, "{local} {exact}");
}

#[test]
#[should_panic(expected = "no random features")]
fn paths_of_networks_are_refused() {
    Path::draw(&model(networks().swap_remove(0), 3, 4), 64, &mut stream(23));
}
