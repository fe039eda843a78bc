//! Covariance functions: products of one-factor kernels on groups of coordinates, with lengthscales by coordinate.
//!
//! Every factor first adds up numbers for a pair of points, its *statistics*, and then maps them:
//!
//! | form                | file                  | statistic `s`                 | `h(s)`, `r = sqrt(s)`                       |
//! |---------------------|-----------------------|-------------------------------|---------------------------------------------|
//! | squared exponential | `stationary.rs`       | `sum_k ((x_k - c_k) / l_k)^2` | `exp(-s / 2)`                               |
//! | Matérn 1/2          | `stationary.rs`       | the same                      | `exp(-r)`                                   |
//! | Matérn 3/2          | `stationary.rs`       | the same                      | `(1 + sqrt(3) r) exp(-sqrt(3) r)`           |
//! | Matérn 5/2          | `stationary.rs`       | the same                      | `(1 + sqrt(5) r + 5 s / 3) exp(-sqrt(5) r)` |
//! | linear              | `linear.rs`           | `sum_k x_k c_k / l_k^2`       | `s`                                         |
//! | overlap             | `overlap.rs`          | `sum_k [x_k != c_k] / l_k`    | `exp(-s)`                                   |
//! | anova               | `anova.rs`            | one for each coordinate       | `prod_k (1 - p + p h_k)`                    |
//! | infinite networks   | `infinite_network.rs` | two norms and a distance      | the recursion over the layers in `ntk.rs`   |
//!
//! (Rasmussen & Williams 2006, section 4.2; the overlap kernel is the exponential of a weighted Hamming distance.)
//! `k(x, c) = outputscale * product of h_f(s_f)`. Gradients follow the same split. By the product rule
//! `dk/ds_f = outputscale * h_f'(s_f) * product of the other h_g(s_g)`, which is what [`Slopes`] holds; each form knows its
//! `ds_f/dx_k` and `ds_f/dlog l_k`.
//!
//! # Where a new kernel goes
//! 1. A file here with a struct that has the [`Coordinates`] it looks at and all its parameters, and the trait `FactorKernel` for it.
//!    If it is a function of one sum over coordinates, implement `OneStatistic` too: `statistic.rs` has the vector loops. One that
//!    depends on the distance alone is a [`stationary::Shape`].
//! 2. A variant of [`Factor`] and an arm of `for_any_form!` in `factor.rs`; a [`ParameterKind`] if it has parameters of a new sort,
//!    with a [`Tunable`](super::hyperparameters::Tunable) in [`GpConfig`](super::GpConfig).
//! 3. A name for users in [`Form`], and an arm in [`Factor::new`]. Options of its own are passed in `GpConfig::kernel_for`.
//! 4. Random features in `gp/path.rs`, or a refusal in [`Form::has_random_features`].
//! 5. The lists of forms in the tests: values by hand, gradients, positive definiteness.

pub mod anova;
pub mod coordinates;
pub mod factor;
pub mod infinite_network;
pub mod linear;
pub mod ntk;
pub mod overlap;
pub mod stationary;
mod statistic;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

use crate::surrogate::points::Points;
pub use coordinates::Coordinates;
pub use factor::{Factor, ParameterKind};
use factor::{FactorKernel, FactorSlopes, Pairs};

/// The form of a one-factor kernel, as users name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Infinitely smooth: the Gaussian, or RBF, kernel.
    SquaredExponential,
    /// Continuous but nowhere differentiable (Ornstein-Uhlenbeck).
    #[serde(rename = "matern-12")]
    Matern12,
    /// Once differentiable.
    #[serde(rename = "matern-32")]
    Matern32,
    /// Twice differentiable: the usual choice.
    #[serde(rename = "matern-52")]
    Matern52,
    /// Effects of single coordinates, of pairs, triples and so on, each as much as the values call for; of the smoothness of Matérn 5/2.
    Anova,
    /// Straight planes through the origin.
    Linear,
    /// For categories: all differences are equally large.
    Overlap,
    /// The neural tangent kernel of an infinitely wide ReLU network: a cusp, like Matérn 1/2, and not stationary.
    NtkRelu,
    /// The same for the activation erf: infinitely smooth.
    NtkErf,
}

impl Form {
    /// Whether it is the kernel of an infinitely wide network.
    pub fn is_network(self) -> bool {
        matches!(self, Form::NtkRelu | Form::NtkErf)
    }

    /// Whether whole functions can be drawn by random features (`path.rs`). Those of a network's kernel are not known.
    pub fn has_random_features(self) -> bool {
        !self.is_network()
    }
}

/// A product of factors times the output scale.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Variance of the prior (for stationary factors).
    pub outputscale: f64,
    /// The factors; every one multiplies the others.
    pub factors: Vec<Factor>,
}

/// The covariances of one point with many, and their derivatives by each factor's statistics. Reused as scratch.
#[derive(Clone, Debug, Default)]
pub struct Slopes {
    /// `k(points[i], x)`.
    pub value: Vec<f64>,
    /// `dk/ds`, one array per statistic, factor after factor.
    pub by_statistic: Vec<Vec<f64>>,
}

impl Slopes {
    /// Each factor with the slopes by its statistics.
    fn of_factors<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = (&'a Factor, &'a [Vec<f64>])> {
        let mut rest = self.by_statistic.as_slice();
        kernel.factors.iter().map(move |factor| {
            let own;
            (own, rest) = rest.split_at(factor.statistic_count());
            (factor, own)
        })
    }
}

impl Kernel {
    /// A single factor on all `dims` coordinates.
    pub fn new(form: Form, lengthscales: Vec<f64>, dims: usize, outputscale: f64) -> Self {
        let coordinates = Coordinates::new((0..dims).collect(), lengthscales);
        Self { outputscale, factors: vec![Factor::new(form, coordinates)] }
    }

    /// Whether the variance of the prior is the same everywhere.
    pub fn is_stationary(&self) -> bool {
        self.factors.iter().all(Factor::is_stationary)
    }

    /// `k(x, x)`.
    pub fn variance(&self, x: &[f64]) -> f64 {
        self.outputscale * self.factors.iter().map(|factor| factor.variance(x)).product::<f64>()
    }

    /// Adds the gradient of `k(x, x)` by `x` to `gradient`, times `scale`.
    ///
    /// The variance is a product, so `dk = k * sum_f dlog k_f`.
    pub fn add_variance_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        let variance = self.variance(x);
        for factor in &self.factors {
            factor.add_log_variance_gradient(x, scale * variance, gradient);
        }
    }

    /// `out[i] = k(points[from + i], x)`.
    pub fn column(&self, points: &Points, from: usize, x: &[f64], out: &mut [f64]) {
        out.fill(self.outputscale);
        for factor in &self.factors {
            factor.multiply_column(Pairs { points, from, x }, out);
        }
    }

    /// The column of `x` and all points from `from` on, with the derivatives that gradients are made of.
    pub fn column_with_slopes(&self, points: &Points, from: usize, x: &[f64], out: &mut Slopes) {
        let n = points.len() - from;
        out.value.clear();
        out.value.resize(n, self.outputscale);
        let statistics = self.factors.iter().map(Factor::statistic_count);
        out.by_statistic.resize_with(statistics.sum(), Vec::new);
        for slopes in &mut out.by_statistic {
            slopes.clear();
            slopes.resize(n, self.outputscale);
        }
        let Slopes { value, by_statistic } = out;
        let mut first = 0;
        for factor in &self.factors {
            let (before, rest) = by_statistic.split_at_mut(first);
            let (own, after) = rest.split_at_mut(factor.statistic_count());
            first += own.len();
            factor.multiply_slopes(Pairs { points, from, x }, FactorSlopes { own, value, before, after });
        }
    }

    /// Adds `scale * d/dx sum_i weights[i] k(points[i], x)` to `gradient`; `slopes` is the column of `x`.
    pub fn add_input_gradient(
        &self,
        points: &Points,
        x: &[f64],
        slopes: &Slopes,
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        for (factor, slopes) in slopes.of_factors(self) {
            factor.add_input_gradient(Pairs { points, from: 0, x }, slopes, weights, scale, gradient);
        }
    }

    /// Number of free parameters over all factors: lengthscales and odds, without the output scale.
    pub fn parameter_count(&self) -> usize {
        self.factors.iter().map(Factor::parameter_count).sum()
    }

    /// What the free parameters are, factor after factor.
    pub fn parameter_kinds(&self) -> impl Iterator<Item = ParameterKind> {
        self.factors.iter().flat_map(Factor::parameter_kinds)
    }

    /// Replaces all free parameters, in the order of [`Self::parameter_kinds`].
    pub fn set_parameters(&mut self, values: impl IntoIterator<Item = f64>) {
        let slots = self.factors.iter_mut().flat_map(Factor::parameters_mut);
        slots.zip(values).for_each(|(slot, value)| *slot = value);
    }

    /// Adds, for points `j ..` and point `j`, `sum_i weights[i] * dk(points[j + i], points[j]) / dlog p` to
    /// `gradient` (one element per free parameter `p`); `slopes` is the column of point `j` from `j` on.
    pub(crate) fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &Slopes,
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        let mut rest = gradient;
        for (factor, slopes) in slopes.of_factors(self) {
            let own;
            (own, rest) = rest.split_at_mut(factor.parameter_count());
            factor.add_log_parameter_gradient(points, j, slopes, weights, t, own);
        }
    }
}
