//! Training as the papers' code does it: a number of passes over the data by SGD or Adam, with weight decay, from the first
//! parameters or from where the last training ended.
//!
//! The loss is the mean of squares, as in the libraries that the authors used: a step goes along
//! `2 / |B| sum_B (f - y) grad f + decay (theta - toward)`.

use faer::Mat;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::draw::TrainingData;
use super::model::AtPoints;
use super::network::Network;
use super::regression::ParametricModel;
use crate::math::range::{OutOfRange, Range};
use crate::math::rng::Stream;

/// How a step is computed from the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Optimizer {
    /// The gradient.
    Sgd,
    /// Its moments (Kingma & Ba 2015).
    Adam,
}

/// The point that decay pulls the parameters to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Toward {
    /// Where they started.
    Start,
    /// Zero.
    Zero,
}

const RATE: Range = Range::new(1e-12, 1_000.0);
/// A pass takes milliseconds.
const EPOCHS: Range = Range::new(1.0, 1e6);
const BATCH: Range = Range::new(1.0, 1e6);
const DECAY: Range = Range::new(0.0, 1e6);

/// Passes over the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Epochs {
    /// How a step is computed from the gradient.
    pub method: Optimizer,
    /// Its length; parameters are of order 1. From 1e-12 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = RATE.stated()))]
    pub rate: f64,
    /// How many passes. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = EPOCHS.stated()))]
    pub epochs: usize,
    /// Points a step; without it all of them. From 1 to 1e6.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = BATCH.stated()))]
    pub batch: Option<usize>,
    /// Strength of the pull. From 0 to 1e6.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(transform = DECAY.stated()))]
    pub decay: f64,
    /// What it pulls to.
    #[serde(default = "start")]
    pub toward: Toward,
    /// Go on from where the last training ended.
    #[serde(default)]
    pub warm: bool,
}

fn start() -> Toward {
    Toward::Start
}

/// Parameters in training, with the moments of Adam.
#[derive(Clone, Debug, PartialEq)]
pub struct Learner {
    /// The parameters.
    pub theta: Vec<f32>,
    mean: Vec<f32>,
    square: Vec<f32>,
    steps: i32,
}

impl Learner {
    /// Before the first step.
    pub fn new(theta: Vec<f32>) -> Self {
        let zeros = vec![0.0; theta.len()];
        Self { mean: zeros.clone(), square: zeros, steps: 0, theta }
    }

    /// Goes one step along the gradient.
    fn step(&mut self, method: Optimizer, rate: f32, gradient: &[f32]) {
        const BETA: (f32, f32) = (0.9, 0.999);
        self.steps += 1;
        match method {
            Optimizer::Sgd => {
                self.theta.iter_mut().zip(gradient).for_each(|(t, g)| *t -= rate * g);
            }
            Optimizer::Adam => {
                // Kingma & Ba 2015, Algorithm 1: moments that start at 0 are divided by the weight of the gradients in them.
                let unbiased = (1.0 - BETA.0.powi(self.steps), 1.0 - BETA.1.powi(self.steps));
                let moments = self.mean.iter_mut().zip(&mut self.square);
                for ((t, g), (m, s)) in self.theta.iter_mut().zip(gradient).zip(moments) {
                    *m = BETA.0 * *m + (1.0 - BETA.0) * g;
                    *s = BETA.1 * *s + (1.0 - BETA.1) * g * g;
                    *t -= rate * (*m / unbiased.0) / ((*s / unbiased.1).sqrt() + 1e-8);
                }
            }
        }
    }
}

impl Epochs {
    /// Returns an error that names the first setting out of its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        RATE.check("training.rate", self.rate)?;
        EPOCHS.check("training.epochs", self.epochs)?;
        BATCH.check("training.batch", self.batch)?;
        DECAY.check("training.decay", self.decay)
    }

    /// Trains `learner`; noisier values than usual have less weight. Steps of SGD that would overshoot are shortened; returns the
    /// factor by which.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub fn run(
        &self,
        network: &Network,
        data: &TrainingData,
        start: &[f32],
        learner: &mut Learner,
        rng: &mut Stream,
    ) -> f64 {
        let TrainingData { x, y, weights, .. } = data;
        let n = y.len();
        let size = self.batch.unwrap_or(n).clamp(1, n.max(1));
        let mut order: Vec<usize> = (0..n).collect();
        let mut gradient = vec![0.0_f32; learner.theta.len()];
        let shortened =
            if self.method == Optimizer::Sgd { self.stable(network, x, &learner.theta) } else { 1.0 };
        let (rate, decay) = ((self.rate * shortened) as f32, self.decay as f32);
        for _ in 0..self.epochs {
            if size < n {
                for i in (1..n).rev() {
                    order.swap(i, rng.random_range(0..=i));
                }
            }
            for chunk in order.chunks(size) {
                let part; // the batch, if it is not the whole set
                let columns = if size < n {
                    part = Mat::from_fn(x.nrows(), chunk.len(), |i, j| x[(i, chunk[j])]);
                    part.as_ref()
                } else {
                    x.as_ref()
                };
                let mut model = AtPoints::new(network, columns);
                model.move_to(&learner.theta);
                model.linearize();
                let scale = 2.0 / chunk.len() as f32;
                let residuals: Vec<f32> = model
                    .outputs()
                    .iter()
                    .zip(chunk)
                    .map(|(f, &i)| scale * weights[i].min(1.0) * (f - y[i]))
                    .collect();
                model.pull_back(&residuals, &mut gradient);
                for ((g, t), s) in gradient.iter_mut().zip(&learner.theta).zip(start) {
                    *g += decay * (t - if self.toward == Toward::Start { *s } else { 0.0 });
                }
                learner.step(self.method, rate, &gradient);
            }
        }
        shortened
    }

    /// The factor of the rate with which no step overshoots. Gradient descent diverges for steps longer than `2 / curvature`, and
    /// the largest gradient bounds the curvature of any batch.
    fn stable(&self, network: &Network, x: &Mat<f32>, theta: &[f32]) -> f64 {
        let mut model = AtPoints::new(network, x.as_ref());
        model.move_to(theta);
        model.linearize();
        let norms = network.squared_norms(model.trace(), model.signals());
        let curvature = 2.0 * f64::from(norms.into_iter().fold(0.0, f32::max)) + self.decay;
        (1.0 / (self.rate * curvature)).min(1.0)
    }
}
