//! The two models that are fitted: a network, and the linear model of its tangent features.

use faer::{Mat, MatRef};

use super::network::{Network, Signals, Trace};
use super::regression::ParametricModel;

/// A network at fixed points, as a function of its parameters.
#[derive(Debug)]
pub struct AtPoints<'a> {
    network: &'a Network,
    x: MatRef<'a, f32>,
    theta: Vec<f32>,
    trace: Trace,
    signals: Signals,
    scratch: Mat<f32>,
}

impl<'a> AtPoints<'a> {
    /// At the columns of `x`.
    pub fn new(network: &'a Network, x: MatRef<'a, f32>) -> Self {
        let scratch = Mat::new();
        Self {
            network,
            x,
            theta: vec![0.0; network.parameters()],
            trace: Trace::default(),
            signals: Signals::default(),
            scratch,
        }
    }

    /// The forward pass at the current parameters.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The signals at the current parameters, if it is linearized.
    pub fn signals(&self) -> &Signals {
        &self.signals
    }
}

impl ParametricModel for AtPoints<'_> {
    fn move_to(&mut self, theta: &[f32]) {
        self.theta.copy_from_slice(theta);
        self.network.forward(&self.theta, self.x, &mut self.trace);
    }

    fn outputs(&self) -> &[f32] {
        self.trace.output()
    }

    fn linearize(&mut self) {
        self.network.signals(&self.theta, &self.trace, &mut self.signals);
    }

    fn pull_back(&mut self, weights: &[f32], out: &mut [f32]) {
        self.network.pull_back(&self.trace, &self.signals, weights, &mut self.scratch, out);
    }

    fn push_forward(&mut self, direction: &[f32]) -> Vec<f32> {
        self.network.push_forward(&self.trace, &self.signals, direction, &mut self.scratch)
    }

    fn gram(&self) -> Mat<f32> {
        self.network.gram_of_itself(&self.trace, &self.signals)
    }
}

/// The linear model `<grad f(x; at), theta>` at fixed points.
#[derive(Debug)]
pub struct TangentModel<'a> {
    tangent: AtPoints<'a>,
    outputs: Vec<f32>,
}

impl<'a> TangentModel<'a> {
    /// The tangent features of `network` at the parameters `at`.
    pub fn new(network: &'a Network, x: MatRef<'a, f32>, at: &[f32]) -> Self {
        let mut tangent = AtPoints::new(network, x);
        tangent.move_to(at);
        tangent.linearize();
        Self { tangent, outputs: Vec::new() }
    }
}

impl ParametricModel for TangentModel<'_> {
    fn move_to(&mut self, theta: &[f32]) {
        self.outputs = self.tangent.push_forward(theta);
    }

    fn outputs(&self) -> &[f32] {
        &self.outputs
    }

    fn linearize(&mut self) {}

    fn pull_back(&mut self, weights: &[f32], out: &mut [f32]) {
        self.tangent.pull_back(weights, out);
    }

    fn push_forward(&mut self, direction: &[f32]) -> Vec<f32> {
        self.tangent.push_forward(direction)
    }

    fn gram(&self) -> Mat<f32> {
        self.tangent.gram()
    }
}
