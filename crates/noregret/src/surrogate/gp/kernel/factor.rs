//! One factor of a kernel: the enum of all forms, and what each of them has to compute.

use super::Form;
use super::anova::Anova;
use super::coordinates::Coordinates;
use super::infinite_network::InfiniteNetwork;
use super::linear::Linear;
use super::ntk::{NtkActivation, NtkConfig};
use super::overlap::Overlap;
use super::stationary::{Shape, Stationary};
use crate::surrogate::points::Points;

/// One kernel on a group of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub enum Factor {
    /// Squared exponential and Matérn.
    Stationary(Stationary),
    /// Planes through the origin.
    Linear(Linear),
    /// Categories.
    Overlap(Overlap),
    /// Effects of single coordinates, of pairs, triples and so on.
    Anova(Anova),
    /// Infinitely wide networks.
    Network(InfiniteNetwork),
}

/// What a free parameter of a kernel means, which decides on its prior and its bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParameterKind {
    /// The unit in which distances along a coordinate are measured.
    Lengthscale,
    /// The odds against a coordinate's part in a term of [`Anova`].
    Odds,
}

/// A point `x` paired with all `points` from `from` on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pairs<'a> {
    pub(super) points: &'a Points,
    pub(super) from: usize,
    pub(super) x: &'a [f64],
}

impl<'a> Pairs<'a> {
    /// Coordinate `k` of the points.
    #[inline(always)]
    pub(super) fn coordinate(&self, k: usize) -> &'a [f64] {
        &self.points.coordinate(k)[self.from..]
    }
}

/// The arrays of a [`Slopes`](super::Slopes) as one factor sees them. By the product rule, its own are multiplied by `dh/ds` and all
/// others by `h`.
#[derive(Debug)]
pub(super) struct FactorSlopes<'a> {
    /// Derivatives by the factor's own statistics.
    pub(super) own: &'a mut [Vec<f64>],
    /// The covariances.
    pub(super) value: &'a mut [f64],
    /// Derivatives by the statistics of the factors before this one.
    pub(super) before: &'a mut [Vec<f64>],
    /// Derivatives by the statistics of the factors after this one.
    pub(super) after: &'a mut [Vec<f64>],
}

impl FactorSlopes<'_> {
    /// Multiplies all that is not the factor's own by its covariances `h`.
    pub(super) fn multiply_others(self, h: &[f64]) {
        let slopes = self.before.iter_mut().chain(self.after).map(Vec::as_mut_slice);
        for other in slopes.chain([self.value]) {
            other.iter_mut().zip(h).for_each(|(other, h)| *other *= h);
        }
    }
}

/// What a form computes. Everything is done for many points at once, so that the loops within are over contiguous memory.
pub(super) trait FactorKernel {
    /// Number of free parameters.
    fn parameter_count(&self) -> usize;

    /// What the free parameters are, in the order of [`Self::parameters_mut`].
    fn parameter_kinds(&self) -> Vec<ParameterKind> {
        vec![ParameterKind::Lengthscale; self.parameter_count()]
    }

    /// The values of the free parameters.
    fn parameters_mut(&mut self) -> Vec<&mut f64>;

    /// Numbers per pair of points that the covariance is differentiated by.
    fn statistic_count(&self) -> usize {
        1
    }

    /// Whether the covariance is a function of the difference of two points, and then 1 at equal points.
    fn is_stationary(&self) -> bool {
        true
    }

    /// The factor's covariance of `x` with itself.
    fn variance(&self, _x: &[f64]) -> f64 {
        1.0
    }

    /// Adds `scale * dlog k(x, x) / dx` to `gradient`; nothing where `k(x, x)` vanishes.
    fn add_log_variance_gradient(&self, _x: &[f64], _scale: f64, _gradient: &mut [f64]) {}

    /// Multiplies `out` by the factor's covariances of the pairs.
    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]);

    /// Multiplies its own slopes by the derivatives of the factor's covariances, and all others by the covariances.
    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>);

    /// Adds `scale * sum_i weights[i] dk(points[i], x) / dx` to `gradient`; `slopes` are `dk/ds` by its own statistics.
    fn add_input_gradient(
        &self,
        pairs: Pairs<'_>,
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    );

    /// Adds `sum_i weights[i] dk(points[j + i], points[j]) / dlog p` to `gradient`, for each of its own parameters `p`; `slopes` are
    /// `dk/ds` by its own statistics, `t` is scratch.
    fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    );
}

/// Evaluates `$body` with `$kernel` bound to the form inside, whichever it is.
macro_rules! for_any_form {
    ($factor:expr, $kernel:ident => $body:expr) => {
        match $factor {
            Factor::Stationary($kernel) => $body,
            Factor::Linear($kernel) => $body,
            Factor::Overlap($kernel) => $body,
            Factor::Anova($kernel) => $body,
            Factor::Network($kernel) => $body,
        }
    };
}

impl Factor {
    /// A factor of this form. What the form has beyond coordinates is at its default: the network of [`NtkConfig`], and for
    /// [`Form::Anova`] even odds and no categories.
    pub fn new(form: Form, coordinates: Coordinates) -> Self {
        let stationary = |shape, coordinates| Self::Stationary(Stationary { shape, coordinates });
        let network = |activation, coordinates| {
            Self::Network(InfiniteNetwork { activation, config: NtkConfig::default(), coordinates })
        };
        match form {
            Form::SquaredExponential => stationary(Shape::SquaredExponential, coordinates),
            Form::Matern12 => stationary(Shape::Matern12, coordinates),
            Form::Matern32 => stationary(Shape::Matern32, coordinates),
            Form::Matern52 => stationary(Shape::Matern52, coordinates),
            Form::Linear => Self::Linear(Linear { coordinates }),
            Form::Overlap => Self::Overlap(Overlap { coordinates }),
            Form::Anova => {
                let categorical = Coordinates::new(Vec::new(), Vec::new());
                Self::Anova(Anova { numeric: coordinates, categorical, odds: 1.0 })
            }
            Form::NtkRelu => network(NtkActivation::Relu, coordinates),
            Form::NtkErf => network(NtkActivation::Erf, coordinates),
        }
    }

    /// The lengthscale of a point's coordinate `index`; `None` if the factor does not look at it.
    pub fn lengthscale_of(&self, index: usize) -> Option<f64> {
        match self {
            Factor::Anova(Anova { numeric, categorical, .. }) => {
                numeric.lengthscale_of(index).or_else(|| categorical.lengthscale_of(index))
            }
            Factor::Stationary(Stationary { coordinates, .. })
            | Factor::Linear(Linear { coordinates })
            | Factor::Overlap(Overlap { coordinates })
            | Factor::Network(InfiniteNetwork { coordinates, .. }) => coordinates.lengthscale_of(index),
        }
    }
}

impl FactorKernel for Factor {
    fn parameter_count(&self) -> usize {
        for_any_form!(self, kernel => kernel.parameter_count())
    }

    fn parameter_kinds(&self) -> Vec<ParameterKind> {
        for_any_form!(self, kernel => kernel.parameter_kinds())
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        for_any_form!(self, kernel => kernel.parameters_mut())
    }

    fn statistic_count(&self) -> usize {
        for_any_form!(self, kernel => kernel.statistic_count())
    }

    fn is_stationary(&self) -> bool {
        for_any_form!(self, kernel => kernel.is_stationary())
    }

    fn variance(&self, x: &[f64]) -> f64 {
        for_any_form!(self, kernel => kernel.variance(x))
    }

    fn add_log_variance_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        for_any_form!(self, kernel => kernel.add_log_variance_gradient(x, scale, gradient));
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        for_any_form!(self, kernel => kernel.multiply_column(pairs, out));
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        for_any_form!(self, kernel => kernel.multiply_slopes(pairs, slopes));
    }

    fn add_input_gradient(
        &self,
        pairs: Pairs<'_>,
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        for_any_form!(self, kernel => kernel.add_input_gradient(pairs, slopes, weights, scale, gradient));
    }

    fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        for_any_form!(self, kernel => kernel.add_log_parameter_gradient(points, j, slopes, weights, t, gradient));
    }
}
