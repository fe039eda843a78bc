//! Functions drawn from the posterior by fitting a network from random parameters: sample, then optimize.
//!
//! # Notation
//! (Dai et al. 2022, Algorithms 1 and 2.)
//!
//! | paper                            | here                | meaning                                                   |
//! |----------------------------------|---------------------|-----------------------------------------------------------|
//! | `theta_0`                        | start               | where the fit begins and what it is held to               |
//! | `theta_0'`                       | `at` or `along`     | the second draw: a direction (Alg. 1) or the features' place (Alg. 2) |
//! | `<grad f(x; theta_0), theta_0'>` | `Tangent`           | constant during the fit, so subtracted from the targets   |
//! | `sigma`                          | `noise`             | deviation of the noise                                    |
//! | `beta_t`                         | `beta`              | factor of the network's output                            |
//!
//! With `beta f` in place of `f`, eq. (1) is `beta^2` times the loss of `f` against `y / beta`: only the targets change.
//!
//! The printed loss lets the sample's variance fall short of the posterior's by `sigma^2 k^T (K + sigma^2 I)^-2 k`. Adding noise of
//! deviation `sigma` to the targets makes it exact (Matthews et al. 2017); `perturb` chooses.

use faer::Mat;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use super::inputs::Encoder;
use super::model::{AtPoints, TangentModel};
use super::network::{Network, Signals, Trace};
use super::regression::{FittedNetwork, ParametricModel, Targets, Training};
use crate::math::cholesky::NotPositiveDefinite;
use crate::math::rng::Stream;
use crate::surrogate::points::Points;

/// The data that a network is fitted to.
#[derive(Clone, Debug)]
pub struct TrainingData {
    /// Inputs, a point a column.
    pub x: Mat<f32>,
    /// Values.
    pub y: Vec<f32>,
    /// 1 for values of the usual noise, less for noisier ones.
    pub weights: Vec<f32>,
    /// Deviation of the usual noise.
    pub noise: f32,
}

impl TrainingData {
    /// The targets of one draw: the values, over `beta`, with noise if they are perturbed.
    fn targets(&self, beta: f32, perturb: bool, rng: &mut Stream) -> Vec<f32> {
        let target = |(y, w): (&f32, &f32)| {
            // Drawn in any case, so that both forms start from the same parameters.
            let z: f32 = StandardNormal.sample(rng);
            let sd = if perturb && *w > 0.0 { self.noise / w.sqrt() } else { 0.0 };
            y / beta + sd * z
        };
        self.y.iter().zip(&self.weights).map(target).collect()
    }

    fn fitted_to<'a>(&'a self, y: &'a [f32]) -> Targets<'a> {
        Targets { y, weights: &self.weights, ridge: self.noise * self.noise }
    }
}

/// The network, its inputs, and how it is fitted.
#[derive(Clone, Debug)]
pub struct Sampler {
    /// The network.
    pub network: Network,
    /// Its inputs.
    pub encoder: Encoder,
    /// How it is fitted.
    pub training: Training,
    /// Factor of its output.
    pub beta: f32,
    /// Whether targets are perturbed by noise.
    pub perturb: bool,
}

/// `x -> <grad f(x; at), along>`.
#[derive(Clone, Debug)]
struct Tangent {
    at: Vec<f32>,
    along: Vec<f32>,
}

/// A function, drawn and fitted.
#[derive(Clone, Debug)]
pub struct Draw {
    network: Network,
    encoder: Encoder,
    scale: f64,
    trained: Option<Vec<f32>>,
    tangent: Option<Tangent>,
    /// How the fit ended.
    pub fitted: FittedNetwork,
}

impl Sampler {
    fn draw(&self, trained: bool, tangent: Option<Tangent>, mut fitted: FittedNetwork) -> Draw {
        let theta = std::mem::take(&mut fitted.theta);
        Draw {
            network: self.network.clone(),
            encoder: self.encoder.clone(),
            scale: f64::from(self.beta),
            trained: trained.then_some(theta),
            tangent,
            fitted,
        }
    }

    /// STO-BNTS: lines 4 to 7 of Algorithm 1.
    pub fn sto_bnts(&self, data: &TrainingData, rng: &mut Stream) -> Result<Draw, NotPositiveDefinite> {
        let start = self.network.init(rng);
        let mut along = self.network.init(rng);
        along[self.network.last_layer()].fill(0.0);
        let mut y = data.targets(self.beta, self.perturb, rng);
        let mut model = AtPoints::new(&self.network, data.x.as_ref());
        model.move_to(&start);
        model.linearize();
        let constant = model.push_forward(&along);
        y.iter_mut().zip(&constant).for_each(|(y, c)| *y -= c);
        let fitted = self.training.fit(&mut model, data.fitted_to(&y), &start)?;
        Ok(self.draw(true, Some(Tangent { at: start, along }), fitted))
    }

    /// STO-BNTS-Linear: lines 4 to 6 of Algorithm 2.
    pub fn sto_bnts_linear(
        &self,
        data: &TrainingData,
        rng: &mut Stream,
    ) -> Result<Draw, NotPositiveDefinite> {
        let at = self.network.init(rng);
        self.sto_bnts_linear_at(at, data, rng)
    }

    /// The same with given features: a sample from the posterior of their empirical tangent kernel.
    pub fn sto_bnts_linear_at(
        &self,
        at: Vec<f32>,
        data: &TrainingData,
        rng: &mut Stream,
    ) -> Result<Draw, NotPositiveDefinite> {
        let start = self.network.init(rng);
        let y = data.targets(self.beta, self.perturb, rng);
        let mut model = TangentModel::new(&self.network, data.x.as_ref(), &at);
        let mut fitted = self.training.fit(&mut model, data.fitted_to(&y), &start)?;
        let along = std::mem::take(&mut fitted.theta);
        Ok(self.draw(false, Some(Tangent { at, along }), fitted))
    }

    /// A member of a deep ensemble (Lakshminarayanan et al. 2017): Algorithm 1 without the second term of line 6.
    pub fn ensemble_member(
        &self,
        data: &TrainingData,
        regularize: bool,
        rng: &mut Stream,
    ) -> Result<Draw, NotPositiveDefinite> {
        /// Without a regulariser the ridge keeps the equations solvable in 32 bits, and no more.
        const NO_RIDGE: f32 = 1e-4;
        let start = self.network.init(rng);
        let y = data.targets(self.beta, self.perturb, rng);
        let mut targets = data.fitted_to(&y);
        if !regularize {
            targets.ridge = targets.ridge.min(NO_RIDGE);
        }
        let mut model = AtPoints::new(&self.network, data.x.as_ref());
        let fitted = self.training.fit(&mut model, targets, &start)?;
        Ok(self.draw(true, None, fitted))
    }
}

impl Draw {
    /// A trained network as a function.
    pub fn of_network(network: Network, encoder: Encoder, theta: Vec<f32>) -> Self {
        let fitted =
            FittedNetwork { theta: Vec::new(), steps: 0, gradient: 0.0, converged: true, jitter: 0.0 };
        Self { network, encoder, scale: 1.0, trained: Some(theta), tangent: None, fitted }
    }

    /// Whether [`Self::value_and_gradient`] is implemented.
    pub fn is_differentiable(&self) -> bool {
        !self.network.is_convolutional()
    }

    /// The function at some points, in units of the values it was fitted to.
    pub fn values(&self, points: &Points) -> Vec<f64> {
        let panel = self.network.panel();
        let panels: Vec<Vec<f64>> = (0..points.len().div_ceil(panel))
            .into_par_iter()
            .map_init(
                || (Trace::default(), Signals::default(), Mat::new()),
                |(trace, signals, scratch), i| {
                    let range = i * panel..((i + 1) * panel).min(points.len());
                    let x = self.encoder.encode(points, range);
                    let mut values = vec![0.0; x.ncols()];
                    if let Some(theta) = &self.trained {
                        self.network.forward(theta, x.as_ref(), trace);
                        add(trace.output(), &mut values);
                    }
                    if let Some(Tangent { at, along }) = &self.tangent {
                        self.network.forward(at, x.as_ref(), trace);
                        self.network.signals(at, trace, signals);
                        add(&self.network.push_forward(trace, signals, along, scratch), &mut values);
                    }
                    values.iter_mut().for_each(|v| *v *= self.scale);
                    values
                },
            )
            .collect();
        panels.concat()
    }

    /// The function and its gradient at one point. A linearised network of ReLUs jumps where a unit switches, so a climb must
    /// accept improvements only.
    pub fn value_and_gradient(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let points = Points::from_columns(point.len(), point);
        let x = self.encoder.encode(&points, 0..1);
        let mut by_input = vec![0.0_f32; self.encoder.inputs()];
        let mut value = 0.0;
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        let mut add_gradient = |own: &Mat<f32>| {
            by_input.iter_mut().zip(own.col_as_slice(0)).for_each(|(g, own)| *g += own);
        };
        if let Some(theta) = &self.trained {
            self.network.forward(theta, x.as_ref(), &mut trace);
            self.network.signals(theta, &trace, &mut signals);
            value += f64::from(trace.output()[0]);
            add_gradient(&self.network.input_gradients(theta, &signals, 1));
        }
        if let Some(Tangent { at, along }) = &self.tangent {
            self.network.forward(at, x.as_ref(), &mut trace);
            self.network.signals(at, &trace, &mut signals);
            let (values, own) = self.network.push_forward_with_input_gradients(at, along, &trace, &signals);
            value += f64::from(values[0]);
            add_gradient(&own);
        }
        self.encoder.gradient(&by_input, gradient);
        gradient.iter_mut().for_each(|g| *g *= self.scale);
        self.scale * value
    }
}

fn add(more: &[f32], values: &mut [f64]) {
    values.iter_mut().zip(more).for_each(|(v, m)| *v += f64::from(*m));
}
