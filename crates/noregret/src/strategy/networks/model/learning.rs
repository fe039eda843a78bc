//! How a network learns, and from which parameters it starts.
//!
//! # Notation
//! (Phan-Trong et al. 2023, Algorithms 1 and 2.)
//!
//! | paper                        | here                    | meaning                                                    |
//! |------------------------------|-------------------------|------------------------------------------------------------|
//! | `h(x; theta) = sqrt(m) W_L phi(... W_1 x)` | the network | with `W_l = v_l / sqrt(m)` and a homogeneous `phi` this is `v_L phi(... v_1 x) / sqrt(m)`, `v` of scale 1 |
//! | `theta_0`                    | `start`                 | parameters at first                                        |
//! | `g(x; theta) / sqrt(m)`      |                         | the gradient by `v`                                        |
//! | `m lambda \|theta - theta_0\|^2` | `ridge`             | `lambda \|v - v_0\|^2`                                     |
//! | `eta`                        | `rate`                  | `eta m` for `v`, and `eta sqrt(m)` with Adam               |

use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::OutOfRange;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::neural::epochs::{Epochs, Learner};
use crate::surrogate::neural::model::AtPoints;
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
    pub(super) fn is_warm(&self) -> bool {
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
        if learner.theta.iter().any(|t| !t.is_finite()) {
            diagnostics.notes.push("training diverged: the network is used as it was at first".into());
            *learner = Learner::new(start.to_vec());
        }
        Ok(())
    }
}

impl Start {
    /// The network with its initial parameters.
    pub(crate) fn network(
        self,
        config: &NetworkConfig,
        inputs: usize,
        rng: &mut Stream,
    ) -> (Network, Vec<f32>) {
        let hidden = 1.0 / (config.width as f32).sqrt();
        let last = config.depth;
        let network = match self {
            Self::Scaled => config.network(inputs),
            Self::Printed => config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 0.0)),
            Self::ZeroLast => config.network_with(inputs, |l, _| {
                let two = if l == last { 1.0 } else { 2.0_f32.sqrt() };
                (two * if l == 0 { 1.0 } else { hidden }, 0.0)
            }),
            Self::Library => config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 1.0)),
        };
        let mut theta = network.init(rng);
        match self {
            Self::ZeroLast => theta[network.last_layer()].fill(0.0),
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
            Self::Scaled | Self::Printed => {}
        }
        (network, theta)
    }
}
