//! Least squares in the parameters, to convergence: `sum_i w_i (y_i - f_i(theta))^2 + ridge |theta - theta_0|^2`.
//!
//! Gauss-Newton in the dual: linearised at `theta_k`, the minimum is `theta_0 + J^T alpha` with
//! `alpha = (J J^T + ridge / w)^-1 (y - f + J (theta_k - theta_0))`, an n x n system made from the tangent kernel. One step
//! costs about three of plain descent and gains what hundreds of those do: descent is slow along the small eigenvalues of
//! `J J^T`. Steps are damped as by Levenberg and Marquardt, since a network is linear in a neighbourhood only. A model that is linear in
//! its parameters is done after one step without damping, which is the closed form.

use faer::Mat;
use serde::{Deserialize, Serialize};

use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::range::{OutOfRange, Range};

/// Values at fixed points as a function of the parameters.
pub trait ParametricModel {
    /// Moves to these parameters.
    fn move_to(&mut self, theta: &[f32]);
    /// The values there.
    fn outputs(&self) -> &[f32];
    /// Prepares for the three below.
    fn linearize(&mut self);
    /// `J^T weights`.
    fn pull_back(&mut self, weights: &[f32], out: &mut [f32]);
    /// `J direction`.
    fn push_forward(&mut self, direction: &[f32]) -> Vec<f32>;
    /// `J J^T`.
    fn gram(&self) -> Mat<f32>;
}

pub(crate) const TOLERANCE: Range = Range::new(0.0, 1.0);
/// A step solves a system of as many equations as there are evaluations.
pub(crate) const NEWTON_STEPS: Range = Range::new(1.0, 10_000.0);
/// A step takes milliseconds.
const STEPS: Range = Range::new(1.0, 1e6);
const RATE: Range = Range::new(1e-12, 1_000.0);
const MOMENTUM: Range = Range::new(0.0, 0.999_9);

/// How parameters are fitted. All but the first are first-order methods on the whole of the data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Training {
    /// Gauss-Newton steps in the dual; for a linear model the closed form.
    GaussNewton {
        /// Stop when the gradient has shrunk to this share of what it was at the start. From 0 to 1.
        #[serde(default = "tolerance")]
        #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
        tolerance: f64,
        /// ... or after this many steps. From 1 to 10000.
        #[serde(default = "newton_steps")]
        #[cfg_attr(feature = "schema", schemars(transform = NEWTON_STEPS.stated()))]
        steps: usize,
    },
    /// Gradient descent with Nesterov's momentum.
    Descent {
        /// Length of a step, in units of 1 over the curvature at the start; plain descent is stable up to 2. From 1e-12 to 1000.
        #[serde(default = "whole")]
        #[cfg_attr(feature = "schema", schemars(transform = RATE.stated()))]
        rate: f64,
        /// Share of the last step that is added; 0 is plain descent. From 0 to 0.9999.
        #[serde(default = "momentum")]
        #[cfg_attr(feature = "schema", schemars(transform = MOMENTUM.stated()))]
        momentum: f64,
        /// Stop when the gradient has shrunk to this share of what it was at the start. From 0 to 1.
        #[serde(default = "tolerance")]
        #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
        tolerance: f64,
        /// ... or after this many steps. From 1 to 1e6.
        #[serde(default = "descent_steps")]
        #[cfg_attr(feature = "schema", schemars(transform = STEPS.stated()))]
        steps: usize,
    },
    /// Adam (Kingma & Ba 2015).
    Adam {
        /// Length of a step in every parameter, whose scale is 1. From 1e-12 to 1000.
        #[serde(default = "adam_rate")]
        #[cfg_attr(feature = "schema", schemars(transform = RATE.stated()))]
        rate: f64,
        /// Stop when the gradient has shrunk to this share of what it was at the start. From 0 to 1.
        #[serde(default = "tolerance")]
        #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
        tolerance: f64,
        /// ... or after this many steps. From 1 to 1e6.
        #[serde(default = "descent_steps")]
        #[cfg_attr(feature = "schema", schemars(transform = STEPS.stated()))]
        steps: usize,
    },
}

fn tolerance() -> f64 {
    1e-3
}

fn newton_steps() -> usize {
    60
}

fn descent_steps() -> usize {
    10_000
}

fn whole() -> f64 {
    1.0
}

fn momentum() -> f64 {
    0.9
}

fn adam_rate() -> f64 {
    0.01
}

impl Default for Training {
    fn default() -> Self {
        Training::GaussNewton { tolerance: tolerance(), steps: newton_steps() }
    }
}

/// The targets of a fit.
#[derive(Clone, Copy, Debug)]
pub struct Targets<'a> {
    /// One for each point.
    pub y: &'a [f32],
    /// Weights of the points, 1 for the usual noise; those of more noise count less.
    pub weights: &'a [f32],
    /// Weight of the distance to the start.
    pub ridge: f32,
}

/// Where the parameters ended.
#[derive(Clone, Debug, PartialEq)]
pub struct FittedNetwork {
    /// The parameters.
    pub theta: Vec<f32>,
    /// Steps taken.
    pub steps: usize,
    /// Size of the gradient as a share of what it was at the start.
    pub gradient: f64,
    /// Whether that met the tolerance, or the loss is as low as 32 bits can tell.
    pub converged: bool,
    /// The largest that had to be added to a kernel's diagonal to factor it.
    pub jitter: f64,
}

/// The first damping, as a share of the kernel's mean diagonal.
const FIRST_DAMPING: f64 = 0.03;
/// Factor by which damping changes.
const DAMPING_STEP: f64 = 3.0;
/// A predicted decrease below this share of the loss is rounding.
const ROUNDING: f64 = 1e-6;

impl Training {
    /// Returns an error that names the first setting out of its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match *self {
            Training::GaussNewton { tolerance, steps } => {
                TOLERANCE.check("training.tolerance", tolerance)?;
                NEWTON_STEPS.check("training.steps", steps)
            }
            Training::Descent { rate, momentum, tolerance, steps } => {
                RATE.check("training.rate", rate)?;
                MOMENTUM.check("training.momentum", momentum)?;
                TOLERANCE.check("training.tolerance", tolerance)?;
                STEPS.check("training.steps", steps)
            }
            Training::Adam { rate, tolerance, steps } => {
                RATE.check("training.rate", rate)?;
                TOLERANCE.check("training.tolerance", tolerance)?;
                STEPS.check("training.steps", steps)
            }
        }
    }

    /// Fits `model` from `start`.
    pub fn fit(
        &self,
        model: &mut dyn ParametricModel,
        targets: Targets<'_>,
        start: &[f32],
    ) -> Result<FittedNetwork, NotPositiveDefinite> {
        let mut problem = LeastSquares::new(model, targets, start);
        match *self {
            Training::GaussNewton { tolerance, steps } => problem.gauss_newton(tolerance, steps),
            Training::Descent { rate, momentum, tolerance, steps } => {
                Ok(problem.descent(rate, momentum, tolerance, steps))
            }
            Training::Adam { rate, tolerance, steps } => Ok(problem.adam(rate, tolerance, steps)),
        }
    }
}

struct LeastSquares<'a> {
    model: &'a mut dyn ParametricModel,
    targets: Targets<'a>,
    start: &'a [f32],
    theta: Vec<f32>,
    gradient: Vec<f32>,
}

fn norm(x: &[f32]) -> f64 {
    x.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt()
}

impl<'a> LeastSquares<'a> {
    fn new(model: &'a mut dyn ParametricModel, targets: Targets<'a>, start: &'a [f32]) -> Self {
        Self { model, targets, start, theta: start.to_vec(), gradient: vec![0.0; start.len()] }
    }

    fn residuals(&self) -> impl Iterator<Item = f32> {
        self.targets.y.iter().zip(self.model.outputs()).map(|(y, f)| y - f)
    }

    /// The loss at the model's parameters, `theta`.
    fn loss(&self, theta: &[f32]) -> f64 {
        let data = self.residuals().zip(self.targets.weights).map(|(r, w)| f64::from(*w * r * r));
        let distance = theta.iter().zip(self.start).map(|(t, s)| f64::from((t - s) * (t - s)));
        data.sum::<f64>() + f64::from(self.targets.ridge) * distance.sum::<f64>()
    }

    /// Half the gradient of the loss at `theta`, where the model is linearized; its norm.
    fn set_gradient(&mut self) -> f64 {
        let weighted: Vec<f32> = self.residuals().zip(self.targets.weights).map(|(r, w)| -w * r).collect();
        self.model.pull_back(&weighted, &mut self.gradient);
        let ridge = self.targets.ridge;
        for ((g, t), s) in self.gradient.iter_mut().zip(&self.theta).zip(self.start) {
            *g += ridge * (t - s);
        }
        norm(&self.gradient)
    }

    /// Levenberg-Marquardt: Gauss-Newton steps whose damping is adapted by the ratio of actual to predicted decrease.
    fn gauss_newton(&mut self, tolerance: f64, most: usize) -> Result<FittedNetwork, NotPositiveDefinite> {
        let (n, p) = (self.targets.y.len(), self.theta.len());
        self.model.move_to(&self.theta);
        self.model.linearize();
        let first = self.set_gradient();
        let mut size = first;
        let mut loss = self.loss(&self.theta);
        let (mut steps, mut damping, mut usual) = (0, 0.0, 0.0);
        let (mut center, mut step) = (vec![0.0_f32; p], vec![0.0_f32; p]);
        let (mut gram, mut exhausted, mut jitter) = (None, false, 0.0_f64);
        while steps < most && size > tolerance * first {
            steps += 1;
            let gram = gram.get_or_insert_with(|| self.model.gram());
            if usual == 0.0 {
                usual = FIRST_DAMPING * (0..n).map(|j| f64::from(gram[(j, j)])).sum::<f64>() / n as f64;
            }
            jitter = jitter.max(self.set_damped_step(gram, damping, &mut center, &mut step)?);
            let at: Vec<f32> = self.theta.iter().zip(&step).map(|(t, d)| t + d).collect();
            let promised = loss - self.linearized_loss(&at, &step);
            self.model.move_to(&at);
            let there = self.loss(&at);
            let gain = (loss - there) / promised;
            if !(there < loss) {
                if !(promised > ROUNDING * loss) {
                    // As low as 32 bits can tell.
                    self.model.move_to(&self.theta);
                    exhausted = true;
                    break;
                }
                damping = if damping == 0.0 { usual } else { damping * DAMPING_STEP };
                self.model.move_to(&self.theta);
                continue;
            }
            loss = there;
            self.theta = at;
            self.model.linearize();
            size = self.set_gradient();
            if gain < 0.25 {
                damping = if damping == 0.0 { usual } else { damping * DAMPING_STEP };
            } else if gain > 0.75 {
                damping /= DAMPING_STEP;
            }
            *gram = self.model.gram();
        }
        let mut fitted = self.fitted(steps, size, first, tolerance);
        fitted.converged |= exhausted && fitted.gradient.is_finite();
        fitted.jitter = jitter;
        Ok(fitted)
    }

    /// A damped step minimises the linearised loss plus `damping |step|^2`. With `c = -ridge (theta - theta_0) / (ridge + damping)`
    /// that is `c + J^T alpha`, `alpha = (J J^T + (ridge + damping) / w)^-1 (r - J c)`.
    ///
    /// The loss of a step `d` is `sum w (r - J d)^2 + ridge |theta - theta_0 + d|^2 + damping |d|^2`. Its gradient vanishes where
    /// `J^T W (r - J d) = ridge (theta - theta_0) + (ridge + damping) d`, so `d = c + J^T alpha` with
    /// `(ridge + damping) alpha = W (r - J d)`; inserting `d` gives the equation of `alpha`.
    ///
    /// `gram` is `J J^T`; `center` becomes `c`, `step` the step. Returns the jitter that the factor needed.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    fn set_damped_step(
        &mut self,
        gram: &Mat<f32>,
        damping: f64,
        center: &mut [f32],
        step: &mut [f32],
    ) -> Result<f64, NotPositiveDefinite> {
        let Targets { weights, ridge, .. } = self.targets;
        let stiffness = f64::from(ridge) + damping;
        // A point of no weight has a variance that no observation outweighs.
        let noise = |j: usize| stiffness / f64::from(weights[j].max(1e-12));
        let factor = Cholesky::factor(weights.len(), |j, rows| {
            for (row, k) in rows.iter_mut().zip(&gram.col_as_slice(j)[j..]) {
                *row = f64::from(*k);
            }
            rows[0] += noise(j);
        })?;
        let pull = (f64::from(ridge) / stiffness) as f32;
        for ((c, t), s) in center.iter_mut().zip(&self.theta).zip(self.start) {
            *c = -pull * (t - s);
        }
        let moved = self.model.push_forward(center);
        let mut alpha: Vec<f64> =
            self.residuals().zip(&moved).map(|(r, m)| f64::from(r) - f64::from(*m)).collect();
        factor.solve(&mut alpha);
        let alpha: Vec<f32> = alpha.into_iter().map(|a| a as f32).collect();
        self.model.pull_back(&alpha, step);
        step.iter_mut().zip(&*center).for_each(|(d, c)| *d += c);
        Ok(factor.repairs().jitter)
    }

    /// What the loss would be at `at`, a step away, if the model were linear.
    fn linearized_loss(&mut self, at: &[f32], step: &[f32]) -> f64 {
        let moved = self.model.push_forward(step);
        let data = self.residuals().zip(&moved).zip(self.targets.weights);
        let data: f64 = data.map(|((r, m), w)| f64::from(w * (r - m) * (r - m))).sum();
        let distance = at.iter().zip(self.start).map(|(t, s)| f64::from((t - s) * (t - s)));
        data + f64::from(self.targets.ridge) * distance.sum::<f64>()
    }

    /// The largest eigenvalue of `J^T W J + ridge`, by the power method from below; a few steps will do.
    fn curvature(&mut self) -> f64 {
        let mut x = self.gradient.clone();
        let mut largest = 0.0;
        for _ in 0..20 {
            let size = norm(&x);
            if !(size > 0.0) {
                break;
            }
            #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
            x.iter_mut().for_each(|x| *x = (f64::from(*x) / size) as f32);
            let moved = self.model.push_forward(&x);
            let weighted: Vec<f32> = moved.iter().zip(self.targets.weights).map(|(m, w)| m * w).collect();
            self.model.pull_back(&weighted, &mut x);
            largest = norm(&x);
        }
        largest + f64::from(self.targets.ridge)
    }

    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    fn descent(&mut self, rate: f64, momentum: f64, tolerance: f64, most: usize) -> FittedNetwork {
        self.model.move_to(&self.theta);
        self.model.linearize();
        let first = self.set_gradient();
        let curvature = self.curvature();
        let first_rate = if curvature > 0.0 { rate / curvature } else { 0.0 };
        let (mut rate, momentum) = (first_rate as f32, momentum as f32);
        let mut velocity = vec![0.0_f32; self.theta.len()];
        let (mut size, mut steps) = (first, 0);
        let mut best = (self.loss(&self.theta), self.theta.clone(), first);
        while steps < most && size > tolerance * first {
            steps += 1;
            for ((t, v), g) in self.theta.iter_mut().zip(&mut velocity).zip(&self.gradient) {
                // Nesterov: the gradient is taken where the last step would lead.
                let step = momentum * *v - rate * g;
                *t += momentum * (step - *v) + step;
                *v = step;
            }
            self.model.move_to(&self.theta);
            self.model.linearize();
            size = self.set_gradient();
            let loss = self.loss(&self.theta);
            // The point that met the tolerance is the one to keep.
            if loss < best.0 || size <= tolerance * first {
                best.0 = loss;
                best.1.copy_from_slice(&self.theta);
                best.2 = size;
            } else if !(loss <= 4.0 * best.0) {
                // The curvature has grown since the start: back to the best point, more slowly.
                rate *= 0.5;
                self.theta.copy_from_slice(&best.1);
                velocity.fill(0.0);
                self.model.move_to(&self.theta);
                self.model.linearize();
                size = self.set_gradient();
            }
        }
        self.theta.copy_from_slice(&best.1);
        self.fitted(steps, best.2, first, tolerance)
    }

    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    fn adam(&mut self, rate: f64, tolerance: f64, most: usize) -> FittedNetwork {
        const BETA: (f32, f32) = (0.9, 0.999);
        self.model.move_to(&self.theta);
        self.model.linearize();
        let first = self.set_gradient();
        let (mut mean, mut square) = (vec![0.0_f32; self.theta.len()], vec![0.0_f32; self.theta.len()]);
        let (mut size, mut steps) = (first, 0);
        let mut powers = (1.0_f32, 1.0_f32);
        while steps < most && size > tolerance * first {
            steps += 1;
            powers = (powers.0 * BETA.0, powers.1 * BETA.1);
            let moments = mean.iter_mut().zip(&mut square);
            for ((t, g), (m, s)) in self.theta.iter_mut().zip(&self.gradient).zip(moments) {
                *m = BETA.0 * *m + (1.0 - BETA.0) * g;
                *s = BETA.1 * *s + (1.0 - BETA.1) * g * g;
                let spread = (*s / (1.0 - powers.1)).sqrt() + 1e-8;
                *t -= rate as f32 * (*m / (1.0 - powers.0)) / spread;
            }
            self.model.move_to(&self.theta);
            self.model.linearize();
            size = self.set_gradient();
        }
        self.fitted(steps, size, first, tolerance)
    }

    fn fitted(&mut self, steps: usize, size: f64, first: f64, tolerance: f64) -> FittedNetwork {
        let gradient = if first == 0.0 { 0.0 } else { size / first };
        let theta = std::mem::take(&mut self.theta);
        FittedNetwork { theta, steps, gradient, converged: gradient <= tolerance, jitter: 0.0 }
    }
}
