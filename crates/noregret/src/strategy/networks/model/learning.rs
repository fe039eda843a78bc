//! How a network learns, and from which parameters it starts.
//!
//! # Notation
//! (Phan-Trong et al. 2023, Algorithms 1 and 2.)
//!
//! | paper                        | here                    | meaning                                                    |
//! |------------------------------|-------------------------|------------------------------------------------------------|
//! | `h(x; theta) = sqrt(m) W_L phi(... W_1 x)` | the network | with `W_l = v_l / sqrt(m)` and a homogeneous `phi` this is `v_L phi(... v_1 x) / sqrt(m)^(L-1)`, `v` of scale 1 |
//! | `theta_0`                    | `start`                 | parameters at first                                        |
//! | `g(x; theta) / sqrt(m)`      |                         | the gradient by `v`                                        |
//! | `m lambda \|theta - theta_0\|^2` | `ridge`             | `lambda \|v - v_0\|^2`                                     |
//! | `eta`                        | `rate`                  | `eta m` for `v`, and `eta sqrt(m)` with Adam               |
//!
//! With `v` the gradient of Algorithm 2's loss is `sqrt(m) (sum_i (h - y_i) grad_v h + lambda (v - v_0))`, which is
//! [`Loss::Sum`](crate::surrogate::neural::epochs::Loss) with `decay = lambda`. Numbers have 32 bits here, 64 in the authors' code.

use faer::MatRef;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::OutOfRange;
use crate::math::rng::Stream;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::diagnostics::Diagnostics;
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::neural::epochs::{Epochs, Learner};
use crate::surrogate::neural::model::AtPoints;
use crate::surrogate::neural::network::Trace;
use crate::surrogate::neural::regression::Targets;
#[cfg(feature = "schema")]
use crate::surrogate::neural::regression::{NEWTON_STEPS, TOLERANCE};
use crate::surrogate::neural::{Network, NetworkConfig, Training};

/// The initial parameters, and the scale of each layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Normal, with the network's own `weight_sd` and `bias_sd`.
    #[default]
    Scaled,
    /// Weights `N(0, 1/m)`, no biases (Phan-Trong et al. 2023, section 7).
    Printed,
    /// Weights `N(0, 2/m)`, the last layer 0, no biases (section 4): only the last layer has gradients at first.
    ZeroLast,
    /// Hidden weights `N(0, 1/m)`, the rest uniform as the authors' library has it (their code).
    Library,
    /// Weights and biases uniform within `1 / sqrt(fan in)`, and gradients by them as they are: `PyTorch`'s own, as in the published code of
    /// NeuralTS and NeuralUCB.
    Pytorch,
}

/// How the network is trained.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Learning {
    /// To the minimum of `sum (y - h)^2 + lambda |theta - theta_0|^2`, by Gauss-Newton steps in the dual.
    GaussNewton {
        /// Stop when the gradient has shrunk to this share of what it was at the start. From 0 to 1.
        #[serde(default = "tolerance")]
        #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
        tolerance: f64,
        /// ... or after this many steps. From 1 to 10000.
        #[serde(default = "steps")]
        #[cfg_attr(feature = "schema", schemars(transform = NEWTON_STEPS.stated()))]
        steps: usize,
    },
    /// A number of passes by SGD or Adam.
    Epochs(Epochs),
}

/// A training problem.
#[derive(Clone, Copy)]
pub(crate) struct Assignment<'a> {
    pub(crate) network: &'a Network,
    pub(crate) data: &'a TrainingData,
    /// Weight of the distance to the start.
    pub(crate) ridge: f64,
    /// Initial parameters.
    pub(crate) start: &'a [f32],
}

fn tolerance() -> f64 {
    1e-3
}

fn steps() -> usize {
    60
}

impl Default for Learning {
    fn default() -> Self {
        Self::GaussNewton { tolerance: tolerance(), steps: steps() }
    }
}

impl Learning {
    /// Returns an error that names the first setting out of its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match *self {
            Self::GaussNewton { tolerance, steps } => Training::GaussNewton { tolerance, steps }.validate(),
            Self::Epochs(epochs) => epochs.validate(),
        }
    }

    /// Whether it starts where the last training ended.
    pub(crate) fn is_warm(&self) -> bool {
        matches!(self, Self::Epochs(Epochs { warm: true, .. }))
    }

    /// Trains `learner`.
    pub(crate) fn teach(
        &self,
        task: Assignment<'_>,
        learner: &mut Learner,
        rng: &mut Stream,
        diagnostics: &mut Diagnostics,
    ) -> Result<()> {
        let Assignment { network, data, ridge, start } = task;
        match *self {
            Self::GaussNewton { tolerance, steps } => {
                let mut model = AtPoints::new(network, data.x.as_ref());
                #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
                let targets = Targets { y: &data.y, weights: &data.weights, ridge: ridge as f32 };
                let fitted = Training::GaussNewton { tolerance, steps }.fit(&mut model, targets, start)?;
                diagnostics.counters.insert("training_steps".into(), fitted.steps as f64);
                diagnostics.counters.insert("gradient_left".into(), fitted.gradient);
                if fitted.jitter > 0.0 {
                    diagnostics.counters.insert("jitter".into(), fitted.jitter);
                }
                *learner = Learner::new(fitted.theta);
            }
            Self::Epochs(epochs) => {
                let shortened = epochs.run(network, data, start, learner, rng);
                if shortened < 1.0 {
                    diagnostics.counters.insert("rate_shortened_to".into(), shortened);
                }
            }
        }
        if has_diverged(network, data.x.as_ref(), &learner.theta) {
            diagnostics.notes.push("training diverged: the network is used as it was at first".into());
            *learner = Learner::new(start.to_vec());
        }
        Ok(())
    }
}

/// Outputs beyond this are no predictions, and their squares, which variances have, are infinite in 32 bits.
const MOST: f32 = 1e18;

/// Whether a training has ended nowhere: parameters that are not finite, or outputs at the data that are next to it.
fn has_diverged(network: &Network, x: MatRef<'_, f32>, theta: &[f32]) -> bool {
    if theta.iter().any(|t| !t.is_finite()) {
        return true;
    }
    let mut trace = Trace::default();
    network.forward(theta, x, &mut trace);
    trace.output().iter().any(|h| h.is_nan() || h.abs() > MOST)
}

impl Start {
    /// Returns an error if the network cannot begin so.
    pub(crate) fn check(self, name: &str, network: &NetworkConfig) -> Result<()> {
        if network.image.is_some() && !matches!(self, Self::Scaled | Self::Pytorch) {
            return Err(AlgorithmError::Options {
                name: name.into(),
                problem: "images need start = \"scaled\" or \"pytorch\": the others are for fully connected networks".into(),
            }
            .into());
        }
        Ok(())
    }

    /// The network with its initial parameters.
    pub(crate) fn network(
        self,
        config: &NetworkConfig,
        inputs: usize,
        rng: &mut Stream,
    ) -> (Network, Vec<f32>) {
        let hidden = 1.0 / (config.width as f32).sqrt();
        let network = match self {
            Self::Scaled => config.network(inputs),
            Self::Printed | Self::ZeroLast => {
                config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 0.0))
            }
            Self::Library => config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 1.0)),
            Self::Pytorch => config.network_with(inputs, |_, _| (1.0, 1.0)),
        };
        let mut theta = network.init(rng);
        match self {
            Self::ZeroLast => {
                // W = v / sqrt(m) in every layer, as the penalty and the features have it: the 2 is the variance of v.
                theta.iter_mut().for_each(|v| *v *= 2.0_f32.sqrt());
                theta[network.last_layer()].fill(0.0);
            }
            Self::Library => {
                let mut uniform = |range: std::ops::Range<usize>, bound: f32| {
                    theta[range].iter_mut().for_each(|t| *t = rng.random_range(-bound..=bound));
                };
                // b = v / sqrt(m) is uniform within 1 / sqrt(fan in), which is m but for the first layer.
                let first = (config.width as f32 / inputs as f32).sqrt();
                for (l, biases) in network.biases().enumerate() {
                    uniform(biases, if l == 0 { first } else { 1.0 });
                }
                uniform(network.last_layer(), 1.0);
            }
            Self::Pytorch => {
                for (layer, fan_in) in network.layers() {
                    let bound = 1.0 / (fan_in as f32).sqrt();
                    theta[layer].iter_mut().for_each(|t| *t = rng.random_range(-bound..=bound));
                }
            }
            Self::Scaled | Self::Printed => {}
        }
        (network, theta)
    }
}

#[cfg(test)]
mod tests {
    use faer::Mat;
    use rand::SeedableRng;

    use super::*;
    use crate::surrogate::neural::network::Signals;

    /// `h = sqrt(m) W_2 relu(W_1 x)` of Phan-Trong et al. 2023, with `W = v / sqrt(m)`.
    fn printed(v: &[f64], x: &[f64], m: usize) -> f64 {
        let scale = 1.0 / (m as f64).sqrt();
        let unit = |i: usize| -> f64 { x.iter().enumerate().map(|(k, x)| scale * v[k * m + i] * x).sum() };
        (0..m).map(|i| v[m * x.len() + i] * unit(i).max(0.0)).sum()
    }

    /// Parameters may be finite and worth nothing: of COCO's f18 in three dimensions a training ended so, all predictions were infinite or
    /// not a number, and the study with them.
    #[test]
    fn a_training_that_ends_next_to_infinity_has_diverged() {
        let config = NetworkConfig { depth: 2, width: 20, ..NetworkConfig::default() };
        let (network, theta) = Start::Printed.network(&config, 3, &mut Stream::seed_from_u64(5));
        let x = Mat::from_fn(3, 4, |i, j| 0.2 * i as f32 + 0.1 * j as f32);
        let times = |factor: f32| -> Vec<f32> { theta.iter().map(|t| factor * t).collect() };
        assert!(!has_diverged(&network, x.as_ref(), &theta));
        assert!(!has_diverged(&network, x.as_ref(), &times(1e3)));
        for factor in [1e9, 1e20, f32::INFINITY] {
            assert!(has_diverged(&network, x.as_ref(), &times(factor)), "{factor}");
        }
    }

    #[test]
    fn pytorch_draws_uniform_weights_and_takes_gradients_as_they_are() {
        let config = NetworkConfig { depth: 2, width: 100, ..NetworkConfig::default() };
        let (network, theta) = Start::Pytorch.network(&config, 3, &mut Stream::seed_from_u64(5));
        for (layer, fan_in) in network.layers() {
            let bound = 1.0 / (fan_in as f64).sqrt();
            let own: Vec<f64> = theta[layer].iter().map(|t| f64::from(*t)).collect();
            assert!(own.iter().all(|t| t.abs() <= bound * 1.000_001));
            // The variance of a uniform number is a third of the bound's square, and its estimate exact to 0.9 / sqrt(n) of itself.
            let variance = own.iter().map(|t| t * t).sum::<f64>() / own.len() as f64;
            let error = 5.0 * 0.9 / (own.len() as f64).sqrt();
            assert!((3.0 * variance / (bound * bound) - 1.0).abs() < error, "{fan_in}: {variance}");
        }
        // Of the last layer, the gradient is the activations and a 1, without a scale.
        let x = Mat::from_fn(3, 1, |i, _| 0.2 * i as f32);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        network.forward(&theta, x.as_ref(), &mut trace);
        network.signals(&theta, &trace, &mut signals);
        let mut gradient = vec![0.0; theta.len()];
        network.pull_back(&trace, &signals, &[1.0], &mut Mat::new(), &mut gradient);
        let top: Vec<f32> = network.last_hidden(&trace).col(0).iter().copied().chain([1.0]).collect();
        assert_eq!(gradient[network.last_layer()], top);
    }

    /// Of both starts: parameters are `sqrt(m)` times the printed ones, in every layer. Then `|v - v_0|^2` is the printed
    /// `m |theta - theta_0|^2` and gradients by `v` are the printed `g / sqrt(m)`, at any parameters.
    #[test]
    fn parameters_are_those_of_the_paper_times_the_root_of_the_width() {
        let (m, x) = (400, [0.25_f32, -0.75, 0.5]);
        let config = NetworkConfig { depth: 1, width: m, ..NetworkConfig::default() };
        for (start, variance) in [(Start::Printed, 1.0), (Start::ZeroLast, 2.0)] {
            let (network, v) = start.network(&config, x.len(), &mut Stream::seed_from_u64(5));
            assert_eq!(v.len(), m * (x.len() + 1));
            let first = &v[..m * x.len()];
            let found: f64 =
                first.iter().map(|v| f64::from(v * v)).sum::<f64>() / first.len() as f64 / variance;
            // The variance of 1,200 squares of normal numbers is 2, so their mean is exact to 0.041; five of those.
            assert!((found - 1.0).abs() < 0.21, "{start:?}: {found}");
            assert_eq!(v[m * x.len()..].iter().all(|v| *v == 0.0), start == Start::ZeroLast);
            // Away from the start, so that hidden layers have gradients too.
            let moved: Vec<f32> = v.iter().enumerate().map(|(k, v)| v + 0.1 * (k as f32).sin()).collect();
            let at = Mat::from_fn(x.len(), 1, |i, _| x[i]);
            let x = x.map(f64::from);
            let (mut trace, mut signals) = (Trace::default(), Signals::default());
            network.forward(&moved, at.as_ref(), &mut trace);
            network.signals(&moved, &trace, &mut signals);
            let wide: Vec<f64> = moved.iter().map(|v| f64::from(*v)).collect();
            let exact = printed(&wide, &x, m);
            assert!((f64::from(trace.output()[0]) - exact).abs() < 1e-4, "{start:?}");
            let slope = |k: usize| {
                let mut to = wide.clone();
                to[k] += 1e-6;
                (printed(&to, &x, m) - exact) / 1e-6
            };
            // The gradient by v is that by W over sqrt(m): its square is the printed kernel.
            let square: f64 = (0..wide.len()).map(|k| slope(k).powi(2)).sum();
            let ours = f64::from(network.squared_norms(&trace, &signals)[0]);
            assert!((ours / square - 1.0).abs() < 1e-3, "{start:?}: {ours} {square}");
        }
    }
}
