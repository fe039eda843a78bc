//! The network against a plain twin in 64 bits, one unit at a time.

use faer::Mat;
use noregret_testkit::gradient_gap;
use rand::{RngExt, SeedableRng};

use super::*;
use crate::math::rng::Stream;
use draw::{Sampler, TrainingData};
use model::{AtPoints, TangentModel};
use network::{Signals, Trace};
use regression::{ParametricModel, Targets};

/// Shapes worth checking: both smooth activations, the kinked one, without biases, and images with either pooling.
fn configs() -> Vec<NetworkConfig> {
    let base = NetworkConfig { depth: 2, width: 5, bias_sd: 0.3, ..NetworkConfig::default() };
    let image = |pool| Some(Image { height: 5, width: 4, pool });
    vec![
        NetworkConfig { activation: Activation::Erf, ..base.clone() },
        NetworkConfig { activation: Activation::Tanh, depth: 3, ..base.clone() },
        NetworkConfig { activation: Activation::Relu, ..base.clone() },
        NetworkConfig { activation: Activation::Erf, depth: 1, bias_sd: 0.0, ..base.clone() },
        NetworkConfig { activation: Activation::Erf, image: image(Pooling::Average), ..base.clone() },
        NetworkConfig { activation: Activation::Relu, image: image(Pooling::Max), depth: 3, ..base },
    ]
}

fn inputs(config: &NetworkConfig) -> usize {
    config.image.map_or(3, |image| image.pixels())
}

/// The network in 64 bits, written as in a textbook.
fn plain(config: &NetworkConfig, theta: &[f64], x: &[f64]) -> f64 {
    let phi = |z: f64| match config.activation {
        Activation::Relu => z.max(0.0),
        Activation::Erf => 2.0 * crate::math::normal::cdf(z * std::f64::consts::SQRT_2) - 1.0,
        Activation::Tanh => z.tanh(),
    };
    let mut at = 0;
    let mut affine = |outputs: usize, patches: &[Vec<f64>]| -> Vec<Vec<f64>> {
        let fan_in = patches[0].len();
        let weights = &theta[at..at + outputs * fan_in];
        at += outputs * fan_in;
        let biases = if config.bias_sd > 0.0 { theta[at..at + outputs].to_vec() } else { vec![0.0; outputs] };
        at += if config.bias_sd > 0.0 { outputs } else { 0 };
        let unit = |patch: &Vec<f64>, i: usize| {
            let sum: f64 = (0..fan_in).map(|j| weights[j * outputs + i] * patch[j]).sum();
            config.weight_sd / (fan_in as f64).sqrt() * sum + config.bias_sd * biases[i]
        };
        patches.iter().map(|patch| (0..outputs).map(|i| unit(patch, i)).collect()).collect()
    };
    let mut a = x.to_vec();
    let mut dense = config.depth;
    if let Some(Image { height, width, pool }) = config.image {
        dense -= 1;
        let pixel = |r: usize, c: usize| {
            let inside = r >= 1 && c >= 1 && r <= height && c <= width;
            if inside { x[(r - 1) * width + c - 1] } else { 0.0 }
        };
        let patch = |i: usize| (0..9).map(|k| pixel(i / width + k / 3, i % width + k % 3)).collect();
        let patches: Vec<Vec<f64>> = (0..height * width).map(patch).collect();
        let maps = affine(config.width, &patches);
        let stride = if pool == Pooling::Max { 3 } else { 2 };
        a = Vec::new();
        for top in (0..=height - 3).step_by(stride) {
            for left in (0..=width - 3).step_by(stride) {
                for c in 0..config.width {
                    let window = (0..9).map(|k| phi(maps[(top + k / 3) * width + left + k % 3][c]));
                    a.push(match pool {
                        Pooling::Max => window.fold(f64::NEG_INFINITY, f64::max),
                        Pooling::Average => window.sum::<f64>() / 9.0,
                    });
                }
            }
        }
    }
    for _ in 0..dense {
        a = affine(config.width, &[a]).remove(0).into_iter().map(phi).collect();
    }
    affine(1, &[a])[0][0]
}

struct Fixture {
    config: NetworkConfig,
    network: Network,
    theta: Vec<f32>,
    x: Mat<f32>,
    trace: Trace,
    signals: Signals,
}

fn fixtures(points: usize) -> Vec<Fixture> {
    let fixture = |(seed, config): (u64, NetworkConfig)| {
        let mut rng = Stream::seed_from_u64(seed);
        let network = config.network(inputs(&config));
        let theta = network.init(&mut rng);
        let x = Mat::from_fn(network.inputs(), points, |_, _| rng.random_range(-1.0_f32..1.0));
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        network.forward(&theta, x.as_ref(), &mut trace);
        network.signals(&theta, &trace, &mut signals);
        Fixture { config, network, theta, x, trace, signals }
    };
    (0..).zip(configs()).map(fixture).collect()
}

impl Fixture {
    fn point(&self, j: usize) -> Vec<f64> {
        wide(self.x.col_as_slice(j))
    }

    /// The gradient by the parameters at point `j`: a pull-back of a unit vector.
    fn gradient(&self, j: usize) -> Vec<f32> {
        let mut unit = vec![0.0; self.x.ncols()];
        unit[j] = 1.0;
        let mut out = vec![f32::NAN; self.theta.len()];
        self.network.pull_back(&self.trace, &self.signals, &unit, &mut Mat::new(), &mut out);
        out
    }
}

fn wide(x: &[f32]) -> Vec<f64> {
    x.iter().map(|x| f64::from(*x)).collect()
}

/// Whether two numbers agree to the 32 bits that a sum of some dozen products leaves.
fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 2e-5 * (1.0 + a.abs().max(b.abs()))
}

#[test]
fn values_are_those_of_the_plain_network() {
    for f in fixtures(7) {
        for j in 0..7 {
            let (ours, plain) =
                (f64::from(f.trace.output()[j]), plain(&f.config, &wide(&f.theta), &f.point(j)));
            assert!(close(ours, plain), "{:?}: {ours} {plain}", f.config);
        }
    }
}

#[test]
fn gradients_by_parameters_are_difference_quotients() {
    for f in fixtures(3) {
        for j in 0..3 {
            let x = f.point(j);
            let ours = wide(&f.gradient(j));
            let gap =
                gradient_gap(|t| plain(&f.config, t, &x), |_, g| g.copy_from_slice(&ours), &wide(&f.theta));
            // Kinks lie within the differences of a ReLU now and then: there the quotient is no derivative.
            let tolerance = if f.config.activation == Activation::Relu { 0.2 } else { 2e-5 };
            assert!(gap < tolerance, "{:?}: {gap}", f.config);
        }
    }
}

#[test]
fn derivatives_along_a_direction_are_products_with_the_gradient() {
    for f in fixtures(4) {
        let direction = f.network.init(&mut Stream::seed_from_u64(9));
        let along = f.network.push_forward(&f.trace, &f.signals, &direction, &mut Mat::new());
        for (j, along) in along.iter().enumerate() {
            let product: f64 = wide(&f.gradient(j)).iter().zip(&wide(&direction)).map(|(g, d)| g * d).sum();
            assert!(close(f64::from(*along), product), "{:?}: {along} {product}", f.config);
        }
    }
}

#[test]
fn the_tangent_kernel_is_the_product_of_jacobians() {
    for f in fixtures(4) {
        let gram = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
        let norms = f.network.squared_norms(&f.trace, &f.signals);
        let rows: Vec<Vec<f64>> = (0..4).map(|j| wide(&f.gradient(j))).collect();
        for i in 0..4 {
            for j in 0..4 {
                let product: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                assert!(close(f64::from(gram[(i, j)]), product), "{:?}: {i} {j}", f.config);
            }
            assert!(close(f64::from(norms[i]), f64::from(gram[(i, i)])));
        }
    }
}

#[test]
fn the_kernel_of_a_set_with_itself_is_the_same_in_panels() {
    let f = &fixtures(600)[0];
    let whole = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
    let panels = f.network.gram_of_itself(&f.trace, &f.signals);
    for j in 0..600 {
        for i in 0..600 {
            assert!((whole[(i, j)] - panels[(i, j)]).abs() <= 1e-5 * (1.0 + whole[(i, j)].abs()), "{i} {j}");
        }
    }
}

#[test]
fn squares_of_gradients_are_added_up_by_layers() {
    for f in fixtures(3) {
        let mut sums = vec![0.5_f32; f.theta.len()];
        f.network.add_squared_gradients(&f.trace, &f.signals, &mut sums);
        let rows: Vec<Vec<f64>> = (0..3).map(|j| wide(&f.gradient(j))).collect();
        for (k, sum) in sums.iter().enumerate() {
            let plain: f64 = 0.5 + rows.iter().map(|g| g[k] * g[k]).sum::<f64>();
            assert!(close(f64::from(*sum), plain), "{:?}: {k}", f.config);
        }
        let inverse: Vec<f32> = sums.iter().map(|u| 1.0 / u).collect();
        for (j, norm) in f.network.weighted_squared_norms(&f.trace, &f.signals, &inverse).iter().enumerate() {
            let plain: f64 = rows[j].iter().zip(&sums).map(|(g, u)| g * g / f64::from(*u)).sum();
            assert!(close(f64::from(*norm), plain), "{:?}: {j}", f.config);
        }
    }
}

#[test]
fn gradients_by_inputs_are_difference_quotients() {
    const STEP: f64 = 1e-4;
    for f in fixtures(3).into_iter().filter(|f| !f.network.is_convolutional()) {
        let (theta, direction) = (wide(&f.theta), f.network.init(&mut Stream::seed_from_u64(9)));
        let along = wide(&direction);
        // The derivative along the direction, as a difference in 64 bits.
        let tangent = |x: &[f64]| {
            let at = |s: f64| {
                let moved: Vec<f64> = theta.iter().zip(&along).map(|(t, d)| t + s * d).collect();
                plain(&f.config, &moved, x)
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        let by_value = f.network.input_gradients(&f.theta, &f.signals, 3);
        let (values, by_tangent) =
            f.network.push_forward_with_input_gradients(&f.theta, &direction, &f.trace, &f.signals);
        let kinked = f.config.activation == Activation::Relu;
        for j in 0..3 {
            let x = f.point(j);
            let ours = wide(by_value.col_as_slice(j));
            let gap = gradient_gap(|x| plain(&f.config, &theta, x), |_, g| g.copy_from_slice(&ours), &x);
            assert!(gap < if kinked { 0.3 } else { 2e-5 }, "{:?}: {gap}", f.config);
            assert!((f64::from(values[j]) - tangent(&x)).abs() < 1e-3 * (1.0 + tangent(&x).abs()));
            if !kinked {
                let ours = wide(by_tangent.col_as_slice(j));
                // Differences of differences: an error of STEP^2 and of 1e-16 / STEP, over the steps of the outer ones.
                let gap = gradient_gap(tangent, |_, g| g.copy_from_slice(&ours), &x);
                assert!(gap < 1e-4, "{:?}: {gap}", f.config);
            }
        }
    }
}

/// Near no kink the linearised network of ReLUs is smooth: its gradient by small differences.
#[test]
fn gradients_of_linearised_relus_are_right_between_kinks() {
    const STEP: f32 = 1e-3;
    let f = &fixtures(3)[2];
    assert_eq!(f.config.activation, Activation::Relu);
    let direction = f.network.init(&mut Stream::seed_from_u64(9));
    let (_, ours) = f.network.push_forward_with_input_gradients(&f.theta, &direction, &f.trace, &f.signals);
    let (_, by_value) = (0, f.network.input_gradients(&f.theta, &f.signals, 3));
    // The derivative along the direction of the input gradient is the input gradient of the derivative.
    let moved = |s: f32| {
        let theta: Vec<f32> = f.theta.iter().zip(&direction).map(|(t, d)| t + s * d).collect();
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        f.network.forward(&theta, f.x.as_ref(), &mut trace);
        f.network.signals(&theta, &trace, &mut signals);
        f.network.input_gradients(&theta, &signals, 3)
    };
    let (above, below) = (moved(STEP), moved(-STEP));
    for j in 0..3 {
        for i in 0..3 {
            let quotient = (above[(i, j)] - below[(i, j)]) / (2.0 * STEP);
            let size = 1.0 + by_value[(i, j)].abs() + quotient.abs();
            assert!((quotient - ours[(i, j)]).abs() < 1e-2 * size, "{i} {j}: {quotient} {}", ours[(i, j)]);
        }
    }
}

fn smooth_targets(x: &Mat<f32>) -> Vec<f32> {
    (0..x.ncols()).map(|j| (2.0 * x[(0, j)]).sin() + 0.5 * x[(1, j)]).collect()
}

fn problem(width: usize, n: usize, activation: Activation) -> (Network, Mat<f32>, Vec<f32>) {
    let config = NetworkConfig { width, activation, bias_sd: 0.3, ..NetworkConfig::default() };
    let network = config.network(3);
    let mut rng = Stream::seed_from_u64(3);
    let x = Mat::from_fn(3, n, |_, _| rng.random_range(-1.0_f32..1.0));
    let y = smooth_targets(&x);
    (network, x, y)
}

/// The three methods find the same function, and its gradient is as small as promised.
#[test]
fn all_trainings_agree() {
    let (network, x, y) = problem(32, 20, Activation::Erf);
    let start = network.init(&mut Stream::seed_from_u64(5));
    let weights = vec![1.0; 20];
    let targets = Targets { y: &y, weights: &weights, ridge: 0.05 };
    let fit = |training: Training| {
        let mut model = AtPoints::new(&network, x.as_ref());
        let fitted = training.fit(&mut model, targets, &start).unwrap();
        assert!(fitted.converged, "{training:?}: {} after {}", fitted.gradient, fitted.steps);
        model.move_to(&fitted.theta);
        (model.outputs().to_vec(), fitted.steps)
    };
    let (newton, newton_steps) = fit(Training::GaussNewton { tolerance: 1e-4, steps: 50 });
    let (descent, descent_steps) =
        fit(Training::Descent { rate: 1.0, momentum: 0.9, tolerance: 1e-3, steps: 20_000 });
    let (adam, _) = fit(Training::Adam { rate: 0.01, tolerance: 2e-3, steps: 20_000 });
    for j in 0..20 {
        // A gradient of a thousandth leaves this much along the smallest eigenvalues, which are the ridge.
        assert!((newton[j] - descent[j]).abs() < 0.05, "{j}: {} {}", newton[j], descent[j]);
        assert!((newton[j] - adam[j]).abs() < 0.05, "{j}: {} {}", newton[j], adam[j]);
    }
    assert!(4 * newton_steps < descent_steps, "{newton_steps} {descent_steps}");
}

/// The closed form is the minimum: one step, and descent comes to the same place.
#[test]
fn a_linear_model_takes_one_step() {
    let (network, x, y) = problem(32, 20, Activation::Relu);
    let mut rng = Stream::seed_from_u64(5);
    let (at, start) = (network.init(&mut rng), network.init(&mut rng));
    let weights: Vec<f32> = (0..20).map(|i| if i % 3 == 0 { 0.2 } else { 1.0 }).collect();
    let targets = Targets { y: &y, weights: &weights, ridge: 0.05 };
    let mut model = TangentModel::new(&network, x.as_ref(), &at);
    let newton = Training::default().fit(&mut model, targets, &start).unwrap();
    assert!(newton.converged && newton.steps == 1, "{newton:?}");
    let slow = Training::Descent { rate: 1.0, momentum: 0.95, tolerance: 1e-4, steps: 50_000 };
    let descent = slow.fit(&mut model, targets, &start).unwrap();
    assert!(descent.converged, "{}", descent.gradient);
    let gap = newton.theta.iter().zip(&descent.theta).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(gap < 0.02, "{gap}"); // of parameters of order 1, along the smallest eigenvalues
}

fn sampler(width: usize, activation: Activation, depth: usize) -> Sampler {
    let config = NetworkConfig { width, depth, activation, bias_sd: 0.3, ..NetworkConfig::default() };
    let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
    let encoder = config.encoder(&space).unwrap();
    let network = config.network(encoder.inputs());
    Sampler { network, encoder, training: Training::default(), beta: 1.0, perturb: true }
}

fn data(sampler: &Sampler, n: usize) -> (TrainingData, crate::surrogate::points::Points) {
    let mut rng = Stream::seed_from_u64(11);
    let columns: Vec<f64> = (0..2 * n).map(|_| rng.random()).collect();
    let points = crate::surrogate::points::Points::from_columns(2, &columns);
    let x = sampler.encoder.encode(&points, 0..n);
    let y = (0..n).map(|j| (3.0 * x[(0, j)]).sin() - x[(1, j)]).collect();
    (TrainingData { x, y, weights: vec![1.0; n], noise: 0.3 }, points)
}

/// The slope of drawn functions, through the encoding of the space.
#[test]
fn drawn_functions_have_their_gradient() {
    let sampler = sampler(24, Activation::Erf, 2);
    let (data, _) = data(&sampler, 12);
    let mut rng = Stream::seed_from_u64(1);
    let draws = [
        sampler.sto_bnts(&data, &mut rng).unwrap(),
        sampler.sto_bnts_linear(&data, &mut rng).unwrap(),
        sampler.ensemble_member(&data, true, &mut rng).unwrap(),
    ];
    for draw in draws {
        let x = [0.3, 0.6];
        let mut gradient = [0.0; 2];
        let value = draw.value_and_gradient(&x, &mut gradient);
        let at = |x: [f64; 2]| draw.values(&crate::surrogate::points::Points::from_columns(2, &x))[0];
        assert!((value - at(x)).abs() < 1e-5 * (1.0 + value.abs()));
        for k in 0..2 {
            let step = 1e-2;
            let (mut above, mut below) = (x, x);
            above[k] += step;
            below[k] -= step;
            let quotient = (at(above) - at(below)) / (2.0 * step);
            // Rounding of 1e-6 / step and curvature of step^2.
            assert!(
                (quotient - gradient[k]).abs() < 0.02 * (1.0 + quotient.abs()),
                "{quotient} {}",
                gradient[k]
            );
        }
    }
}

/// The dual variance is the one with the p x p inverse, and its diagonal form that with the diagonal.
#[test]
fn variances_are_those_of_the_matrix_in_the_parameters() {
    const LAMBDA: f64 = 0.3;
    for f in fixtures(6) {
        let p = f.theta.len();
        let rows: Vec<Vec<f64>> = (0..6).map(|j| wide(&f.gradient(j))).collect();
        // U = lambda I + sum over the first four points, inverted by solving for each gradient.
        let u = |i: usize, j: usize| {
            let own: f64 = rows[..4].iter().map(|g| g[i] * g[j]).sum();
            own + if i == j { LAMBDA } else { 0.0 }
        };
        let factor = crate::math::cholesky::Cholesky::factor(p, |j, out| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = u(j + i, j));
        })
        .unwrap();
        let seen = f.x.as_ref().subcols(0, 4);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        f.network.forward(&f.theta, seen, &mut trace);
        f.network.signals(&f.theta, &trace, &mut signals);
        for variance in [posterior::Variance::Exact, posterior::Variance::Diagonal] {
            let (uncertainty, _) = posterior::Uncertainty::new(
                variance,
                &f.network,
                trace.clone(),
                signals.clone(),
                &[1.0; 4],
                LAMBDA,
            )
            .unwrap();
            let ours = uncertainty.variances(&f.network, &f.trace, &f.signals);
            for (j, ours) in ours.iter().enumerate() {
                let plain = match variance {
                    posterior::Variance::Exact => {
                        let mut solved = rows[j].clone();
                        factor.solve(&mut solved);
                        LAMBDA * rows[j].iter().zip(&solved).map(|(g, s)| g * s).sum::<f64>()
                    }
                    posterior::Variance::Diagonal => {
                        LAMBDA * rows[j].iter().enumerate().map(|(i, g)| g * g / u(i, i)).sum::<f64>()
                    }
                };
                // A difference of kernels of this size, each with seven digits.
                let size: f64 = rows[j].iter().map(|g| g * g).sum();
                assert!(
                    (f64::from(*ours) - plain).abs() < 1e-5 * (1.0 + size),
                    "{:?} {variance:?}: {ours} {plain}",
                    f.config
                );
            }
        }
    }
}

/// Greedy choices by the definition: each time the variance of every candidate, from scratch.
#[test]
fn uncertainty_sampling_takes_the_largest_variance() {
    let f = &fixtures(14)[0];
    let (known, candidates) = (f.x.as_ref().subcols(0, 3), f.x.as_ref().subcols(3, 11));
    let noise = 0.2;
    let ours = uncertainty_sampling::most_uncertain(&f.network, &f.theta, known, candidates, 4, noise);
    let kernel = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
    let mut given: Vec<usize> = vec![0, 1, 2];
    for place in ours {
        let variance = |j: usize| {
            let factor = crate::math::cholesky::Cholesky::factor(given.len(), |c, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = f64::from(kernel[(given[c + i], given[c])]) + if i == 0 { noise } else { 0.0 };
                }
            })
            .unwrap();
            let mut k: Vec<f64> = given.iter().map(|&i| f64::from(kernel[(i, j)])).collect();
            let before = k.clone();
            factor.solve(&mut k);
            f64::from(kernel[(j, j)]) - k.iter().zip(&before).map(|(a, b)| a * b).sum::<f64>()
        };
        let best =
            (3..14).filter(|j| !given.contains(j)).max_by(|a, b| variance(*a).total_cmp(&variance(*b)));
        assert_eq!(best, Some(place + 3));
        given.push(place + 3);
    }
}

/// Mean and covariance of the posterior of a Gaussian process with kernel `k` at the points after the first `n`, and by how much the
/// variance falls short without noise on the targets.
fn posterior(
    k: &(dyn Fn(usize, usize) -> f64 + Sync),
    y: &[f64],
    n: usize,
    m: usize,
    noise: f64,
) -> (Vec<f64>, Vec<Vec<f64>>, Vec<f64>) {
    let factor = crate::math::cholesky::Cholesky::factor(n, |j, out| {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = k(j + i, j) + if i == 0 { noise } else { 0.0 });
    })
    .unwrap();
    let solved: Vec<Vec<f64>> = (0..m)
        .map(|a| {
            let mut column: Vec<f64> = (0..n).map(|i| k(i, n + a)).collect();
            factor.solve(&mut column);
            column
        })
        .collect();
    let mean = solved.iter().map(|s| s.iter().zip(y).map(|(s, y)| s * y).sum()).collect();
    let covariance = (0..m)
        .map(|a| {
            let explained = |b: usize| (0..n).map(|i| k(i, n + a) * solved[b][i]).sum::<f64>();
            (0..m).map(|b| k(n + a, n + b) - explained(b)).collect()
        })
        .collect();
    let shortfall = solved.iter().map(|s| noise * s.iter().map(|s| s * s).sum::<f64>()).collect();
    (mean, covariance, shortfall)
}

/// Means and covariances of draws at `m` points, against those expected, at 5 standard errors: a right program fails one of the
/// comparisons once in a hundred thousand runs, and the seeds are fixed.
fn check_moments(draws: &[Vec<f64>], mean: &[f64], covariance: &[Vec<f64>]) {
    let n = draws.len() as f64;
    for a in 0..mean.len() {
        let average = draws.iter().map(|d| d[a] / n).sum::<f64>();
        let error = (covariance[a][a] / n).sqrt();
        assert!((average - mean[a]).abs() < 5.0 * error, "mean {a}: {average} {} +- {error}", mean[a]);
        for b in 0..=a {
            let products = draws.iter().map(|d| (d[a] - mean[a]) * (d[b] - mean[b]) / n).sum::<f64>();
            // Of products of two normal variables.
            let spread = covariance[a][a] * covariance[b][b] + covariance[a][b].powi(2);
            let error = (spread / n).sqrt();
            assert!(
                (products - covariance[a][b]).abs() < 5.0 * error,
                "covariance {a} {b}: {products} {} +- {error}",
                covariance[a][b]
            );
        }
    }
}

/// Linear draws are exact samples from the posterior of the empirical tangent kernel; with the printed loss their variance is short by
/// exactly what the documents say.
#[test]
fn linear_draws_are_samples_of_the_posterior() {
    const DRAWS: usize = 4_000;
    for perturb in [true, false] {
        let sampler = Sampler { perturb, ..sampler(12, Activation::Relu, 2) };
        let (data, points) = data(&sampler, 6);
        let at = sampler.network.init(&mut Stream::seed_from_u64(77));
        let mut all = points.clone();
        [[0.2, 0.9], [0.5, 0.5], [1.0, 0.1]].iter().for_each(|x| all.push(x));
        let x = sampler.encoder.encode(&all, 0..9);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        sampler.network.forward(&at, x.as_ref(), &mut trace);
        sampler.network.signals(&at, &trace, &mut signals);
        let gram = sampler.network.gram((&trace, &signals), (&trace, &signals));
        let k = |i: usize, j: usize| f64::from(gram[(i, j)]);
        let y: Vec<f64> = data.y.iter().map(|y| f64::from(*y)).collect();
        let noise = f64::from(data.noise * data.noise);
        let (mean, mut covariance, shortfall) = posterior(&k, &y, 6, 3, noise);
        let draws: Vec<Vec<f64>> = (0..DRAWS)
            .map(|i| {
                let mut rng = Stream::seed_from_u64(i as u64);
                let draw = sampler.sto_bnts_linear_at(at.clone(), &data, &mut rng).unwrap();
                draw.values(&all.slice(6..9))
            })
            .collect();
        if perturb {
            check_moments(&draws, &mean, &covariance);
        } else {
            // Only the variances are checked then, with what is missing: 5 errors apart from the exact ones.
            for a in 0..3 {
                let variance = draws.iter().map(|d| (d[a] - mean[a]).powi(2) / DRAWS as f64).sum::<f64>();
                covariance[a][a] -= shortfall[a];
                let error = covariance[a][a] * (2.0 / DRAWS as f64).sqrt();
                assert!(
                    (variance - covariance[a][a]).abs() < 5.0 * error,
                    "{a}: {variance} {}",
                    covariance[a][a]
                );
            }
        }
    }
}

/// The kernel of an infinitely wide network, between columns of `x`.
fn infinite(activation: Activation, depth: usize, x: &Mat<f32>) -> impl Fn(usize, usize) -> f64 + use<> {
    use crate::surrogate::gp::kernel::ntk;
    let config = ntk::NtkConfig { depth, weight_sd: 1.5, bias_sd: 0.3, symmetric: false };
    let activation = match activation {
        Activation::Relu => ntk::NtkActivation::Relu,
        _ => ntk::NtkActivation::Erf,
    };
    let kernel = ntk::Ntk::new(activation, &config, x.nrows());
    let points: Vec<Vec<f64>> = (0..x.ncols()).map(|j| wide(x.col_as_slice(j))).collect();
    move |i, j| {
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let gap: f64 = points[i].iter().zip(&points[j]).map(|(a, b)| (a - b).powi(2)).sum();
        kernel.value(square(&points[i]), square(&points[j]), gap)
    }
}

/// The tangent kernel of a finite network approaches that of an infinite one as the root of its width: sixteen times the width, a
/// quarter of the error.
#[test]
fn wide_networks_have_the_infinite_kernel() {
    const NETWORKS: u64 = 30;
    for activation in [Activation::Relu, Activation::Erf] {
        let error = |width: usize| {
            let config = NetworkConfig { width, activation, bias_sd: 0.3, ..NetworkConfig::default() };
            let network = config.network(3);
            let mut rng = Stream::seed_from_u64(2);
            let x = Mat::from_fn(3, 5, |_, _| rng.random_range(-1.0_f32..1.0));
            let exact = infinite(activation, 2, &x);
            let mut squares = 0.0;
            for seed in 0..NETWORKS {
                let theta = network.init(&mut Stream::seed_from_u64(seed));
                let mut model = AtPoints::new(&network, x.as_ref());
                model.move_to(&theta);
                model.linearize();
                let gram = model.gram();
                for i in 0..5 {
                    squares += (0..5).map(|j| (f64::from(gram[(i, j)]) - exact(i, j)).powi(2)).sum::<f64>();
                }
            }
            (squares / (25 * NETWORKS) as f64).sqrt()
        };
        let (narrow, broad) = (error(32), error(512));
        // Both are estimated from 30 networks, each to about a sixth of itself: within a factor of two of 4.
        assert!((2.0..8.0).contains(&(narrow / broad)), "{activation:?}: {narrow} {broad}");
        assert!(broad < 0.5, "{activation:?}: {broad}");
    }
}

/// Draws of a wide network have the moments of the infinite posterior, up to what the finite width leaves.
#[test]
fn draws_of_wide_networks_approach_the_infinite_posterior() {
    const DRAWS: usize = 400;
    let sampler = sampler(512, Activation::Erf, 1);
    let (data, points) = data(&sampler, 5);
    let mut all = points.clone();
    [[0.2, 0.9], [0.5, 0.5]].iter().for_each(|x| all.push(x));
    let kernel = infinite(Activation::Erf, 1, &sampler.encoder.encode(&all, 0..7));
    let y: Vec<f64> = data.y.iter().map(|y| f64::from(*y)).collect();
    let (mean, covariance, _) = posterior(&kernel, &y, 5, 2, f64::from(data.noise * data.noise));
    let draws: Vec<Vec<f64>> = (0..DRAWS)
        .map(|i| {
            sampler.sto_bnts(&data, &mut Stream::seed_from_u64(i as u64)).unwrap().values(&all.slice(5..7))
        })
        .collect();
    for a in 0..2 {
        let average = draws.iter().map(|d| d[a] / DRAWS as f64).sum::<f64>();
        let variance = draws.iter().map(|d| (d[a] - average).powi(2) / DRAWS as f64).sum::<f64>();
        let sd = covariance[a][a].sqrt();
        // Four standard errors, and a twentieth for the width.
        assert!((average - mean[a]).abs() < (4.0 / 20.0 + 0.05) * sd, "{a}: {average} {}", mean[a]);
        let error = 4.0 * (2.0 / DRAWS as f64).sqrt() + 0.05;
        assert!((variance / covariance[a][a] - 1.0).abs() < error, "{a}: {variance} {}", covariance[a][a]);
    }
}
