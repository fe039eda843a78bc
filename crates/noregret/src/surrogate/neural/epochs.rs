//! Training as the papers' code does it: a number of passes over the data by SGD or Adam, with weight decay, from the first
//! parameters or from where the last training ended.
//!
//! What a step goes along, for a batch `B` of `n` points, is a named choice, [`Loss`].

use faer::Mat;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::draw::TrainingData;
use super::network::{Network, Signals, Trace};
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

/// The direction of a step, for a batch `B` of `n` points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// `2 / |B| sum_B (f - y) grad f + decay (theta - toward)`: the mean of squares, with the weight decay of common libraries.
    #[default]
    Mean,
    /// `2 / |B| sum_B (f - y) grad f + decay / n (theta - toward)`: the published code of NeuralTS.
    MeanSharedDecay,
    /// `sum_B (f - y) grad f + |B| / n decay (theta - toward)`: a batch's share of the gradient of
    /// `1/2 sum (f - y)^2 + 1/2 decay |theta - toward|^2` (Phan-Trong et al. 2023, Algorithm 2).
    Sum,
}

impl Loss {
    /// Factors of `sum_B (f - y) grad f` and of `decay (theta - toward)`.
    fn factors(self, batch: usize, n: usize) -> (f64, f64) {
        let (batch, n) = (batch as f64, n as f64);
        match self {
            Self::Mean => (2.0 / batch, 1.0),
            Self::MeanSharedDecay => (2.0 / batch, 1.0 / n),
            Self::Sum => (1.0, batch / n),
        }
    }
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
    /// What a step goes along.
    #[serde(default)]
    pub loss: Loss,
    /// Shorten the steps of SGD until none overshoots by the curvature where the training begins; `false` takes the rate as it is.
    #[serde(default = "shorten")]
    pub shorten: bool,
}

fn shorten() -> bool {
    true
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

    /// Trains `learner`; noisier values than usual have less weight. Steps of SGD that would overshoot where it begins are
    /// shortened; returns the factor by which.
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
        let shortened = if self.method == Optimizer::Sgd && self.shorten {
            self.stable(network, x, size, &learner.theta)
        } else {
            1.0
        };
        let rate = (self.rate * shortened) as f32;
        // Whole batches, and the last one, which is smaller as a rule.
        let mut passes = [Pass::default(), Pass::default()];
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
                let Pass { trace, signals, scratch } = &mut passes[usize::from(chunk.len() < size)];
                network.forward(&learner.theta, columns, trace);
                network.signals(&learner.theta, trace, signals);
                let (scale, share) = self.loss.factors(chunk.len(), n);
                let (scale, decay) = (scale as f32, (self.decay * share) as f32);
                let residuals: Vec<f32> = trace
                    .output()
                    .iter()
                    .zip(chunk)
                    .map(|(f, &i)| scale * weights[i].min(1.0) * (f - y[i]))
                    .collect();
                network.pull_back(trace, signals, &residuals, scratch, &mut gradient);
                for ((g, t), s) in gradient.iter_mut().zip(&learner.theta).zip(start) {
                    *g += decay * (t - if self.toward == Toward::Start { *s } else { 0.0 });
                }
                learner.step(self.method, rate, &gradient);
            }
        }
        shortened
    }

    /// The factor of the rate with which no step overshoots at these parameters, where the training begins. Gradient descent diverges for
    /// steps longer than `2 / curvature`, and the largest gradient bounds the curvature of any batch of `size` points. Where values are
    /// large, the curvature grows in the training, tenfold and more on Levy's function in 50 and 100 dimensions with few points: later
    /// steps may still overshoot, without diverging.
    fn stable(&self, network: &Network, x: &Mat<f32>, size: usize, theta: &[f32]) -> f64 {
        let Pass { mut trace, mut signals, .. } = Pass::default();
        network.forward(theta, x.as_ref(), &mut trace);
        network.signals(theta, &trace, &mut signals);
        let largest = network.squared_norms(&trace, &signals).into_iter().fold(0.0, f32::max);
        let (scale, share) = self.loss.factors(size, x.ncols());
        let curvature = scale * size as f64 * f64::from(largest) + share * self.decay;
        (1.0 / (self.rate * curvature)).min(1.0)
    }
}

/// What a pass over a batch needs.
struct Pass {
    trace: Trace,
    signals: Signals,
    scratch: Mat<f32>,
}

impl Default for Pass {
    fn default() -> Self {
        Self { trace: Trace::default(), signals: Signals::default(), scratch: Mat::new() }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;
    use crate::surrogate::neural::Activation;

    const DECAY: f64 = 0.3;
    /// Steps so short that the batches of an epoch all see the first parameters, but for one in a thousand.
    const RATE: f64 = 1e-4;
    /// Of differences.
    const STEP: f32 = 1e-2;

    fn data(n: usize) -> TrainingData {
        let mut rng = Stream::seed_from_u64(7);
        let x = Mat::from_fn(2, n, |_, _| rng.random_range(-1.0_f32..1.0));
        let y = (0..n).map(|j| x[(0, j)] - 2.0 * x[(1, j)] + 1.0).collect();
        TrainingData { x, y, weights: vec![1.0; n], noise: 0.1 }
    }

    fn epochs(loss: Loss, batch: Option<usize>, rate: f64) -> Epochs {
        Epochs {
            method: Optimizer::Sgd,
            rate,
            epochs: 1,
            batch,
            decay: DECAY,
            toward: Toward::Start,
            warm: false,
            loss,
            shorten: false,
        }
    }

    /// A gradient by differences of the loss as each paper or code has it, at parameters away from the start.
    #[test]
    fn an_epoch_goes_along_the_gradient_of_the_named_loss() {
        let n = 10;
        let data = data(n);
        let network =
            Network::new(2, None, &[6], Activation::Erf, |_, fan_in| (1.0 / (fan_in as f32).sqrt(), 0.0));
        let mut rng = Stream::seed_from_u64(3);
        let start = network.init(&mut rng);
        let theta: Vec<f32> = start.iter().zip(network.init(&mut rng)).map(|(s, z)| s + 0.3 * z).collect();
        let squares = |theta: &[f32]| -> f64 {
            let mut trace = Trace::default();
            network.forward(theta, data.x.as_ref(), &mut trace);
            trace.output().iter().zip(&data.y).map(|(f, y)| f64::from(f - y).powi(2)).sum()
        };
        let distance =
            |theta: &[f32]| -> f64 { theta.iter().zip(&start).map(|(t, s)| f64::from(t - s).powi(2)).sum() };
        for (loss, batch, steps) in [
            (Loss::Sum, None, 1.0),
            (Loss::Sum, Some(4), 1.0),
            (Loss::Mean, None, 1.0),
            (Loss::MeanSharedDecay, None, 1.0),
            (Loss::MeanSharedDecay, Some(5), 2.0),
        ] {
            let printed = |theta: &[f32]| match loss {
                // Algorithm 2 of Phan-Trong et al. 2023, whatever the batches.
                Loss::Sum => 0.5 * squares(theta) + 0.5 * DECAY * distance(theta),
                Loss::Mean => squares(theta) / n as f64 + 0.5 * DECAY * distance(theta),
                Loss::MeanSharedDecay => (squares(theta) + 0.5 * DECAY * distance(theta)) / n as f64,
            };
            let mut learner = Learner::new(theta.clone());
            epochs(loss, batch, RATE).run(
                &network,
                &data,
                &start,
                &mut learner,
                &mut Stream::seed_from_u64(1),
            );
            for k in 0..theta.len() {
                let at = |by: f32| {
                    let mut moved = theta.clone();
                    moved[k] += by;
                    printed(&moved)
                };
                let slope = steps * (at(STEP) - at(-STEP)) / f64::from(2.0 * STEP);
                let gone = f64::from(theta[k] - learner.theta[k]) / RATE;
                // Rounding of parameters of size 1 to 32 bits, over the rate; and differences of order STEP^2.
                assert!(
                    (gone - slope).abs() < 3e-3 * (1.0 + slope.abs()),
                    "{loss:?} {batch:?}: {gone} {slope}"
                );
            }
        }
    }

    /// The bound holds for any batch: no shortened step makes the linearised loss of its batch larger.
    #[test]
    fn shortened_steps_do_not_overshoot_and_others_do() {
        let data = data(20);
        let network =
            Network::new(2, None, &[50], Activation::Relu, |l, _| (if l == 0 { 3.0 } else { 0.4 }, 0.0));
        let start = network.init(&mut Stream::seed_from_u64(3));
        let after = |loss: Loss, shorten: bool| {
            let mut learner = Learner::new(start.clone());
            let how = Epochs { epochs: 30, shorten, ..epochs(loss, Some(5), 0.5) };
            let factor = how.run(&network, &data, &start, &mut learner, &mut Stream::seed_from_u64(1));
            let mut trace = Trace::default();
            network.forward(&learner.theta, data.x.as_ref(), &mut trace);
            let squares: f32 = trace.output().iter().zip(&data.y).map(|(f, y)| (f - y).powi(2)).sum();
            (factor, squares)
        };
        let before: f32 = data.y.iter().map(|y| y * y).sum();
        for loss in [Loss::Sum, Loss::Mean] {
            let ((factor, squares), (whole, overshot)) = (after(loss, true), after(loss, false));
            assert!(factor < 0.5 && squares < before, "{factor} {squares} {before}");
            assert!((whole - 1.0).abs() < 1e-15 && !(overshot < squares), "{overshot} {squares}");
        }
        // The two losses differ by a factor, which shortening undoes.
        assert!((after(Loss::Sum, true).0 * 2.5 / after(Loss::Mean, true).0 - 1.0).abs() < 0.05);
    }
}
