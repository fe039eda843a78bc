//! The network against a plain twin in 64 bits, one unit at a time.

mod draws;
mod fit;
mod tangent_kernel;
mod uncertainty;
mod values_and_gradients;

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
