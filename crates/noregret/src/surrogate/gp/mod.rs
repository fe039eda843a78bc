//! Exact Gaussian processes: kernels, posterior, hyperparameters, functions drawn from the posterior.

mod averages;
pub mod candidates;
mod draws;
pub mod fit;
pub mod hyperparameters;
pub mod kernel;
pub(crate) mod left_out;
pub mod local;
pub mod path;
pub mod posterior;
#[cfg(test)]
mod tests;
pub mod warp;

use serde::{Deserialize, Serialize};

use crate::math::range::{OutOfRange, Range};
use crate::space::Kind;
use hyperparameters::{Hyperparameters, Prior, Tunable, VALUES};
use kernel::anova::Anova;
use kernel::ntk::NtkConfig;
use kernel::{Coordinates, Factor, Form, Kernel, ParameterKind};
use warp::Transform;

/// One matrix of 20,000 points takes 3.2 GB.
const POINTS: Range = Range::new(2.0, 20_000.0);
/// The largest stands for never.
const GROWTH: Range = Range::new(0.0, 1e9);
/// Each costs about as much as the fit without them.
const RESTARTS: Range = Range::new(0.0, 100.0);
/// `rff-ts` has a matrix of features by features.
const FEATURES: Range = Range::new(1.0, 20_000.0);

/// Settings of a Gaussian process. The defaults suit objectives of which nothing is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct GpConfig {
    /// Kernel of the numeric parameters; categories always use the overlap kernel, multiplied with it (within the terms of `anova`).
    pub kernel: Form,
    /// Odds against a parameter's part in a term of the kernel `anova`: large for sums of effects of single parameters, small for effects
    /// of all at once.
    pub odds: Tunable,
    /// The network, if the kernel is `ntk-relu` or `ntk-erf`.
    pub ntk: NtkConfig,
    /// One lengthscale for all numeric parameters instead of one each.
    pub isotropic: bool,
    /// Lengthscales, in units of the unit cube.
    pub lengthscale: Tunable,
    /// Where each lengthscale starts, in place of `lengthscale.start` for all; they stay there if nothing is fitted.
    /// From 1e-15 to 1e15.
    #[cfg_attr(feature = "schema", schemars(transform = VALUES.stated()))]
    pub lengthscales: Vec<f64>,
    /// Variance of the prior, in units of the standardised values.
    pub outputscale: Tunable,
    /// Noise variance of values told without their own, in units of the standardised values.
    pub noise: Tunable,
    /// Shift and scale the values to mean 0 and deviation 1 before modelling them.
    pub standardize: bool,
    /// A transformation of the values before that, fitted to them.
    pub transform: Transform,
    /// Beyond this many observations the model uses a subset of half as many. From 2 to 20000.
    #[cfg_attr(feature = "schema", schemars(transform = POINTS.stated()))]
    pub max_points: usize,
    /// Hyperparameters are fitted on a random subset of at most this many observations, and of four fifths of them
    /// once they are more than three fifths of this number. From 2 to 20000.
    #[cfg_attr(feature = "schema", schemars(transform = POINTS.stated()))]
    pub fit_points: usize,
    /// Hyperparameters are fitted anew when the evaluations have grown by this share since the last fit; 0 fits with
    /// every evaluation. From 0 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = GROWTH.stated()))]
    pub refit_growth: f64,
    /// Start a fit where the last one ended.
    pub warm_start: bool,
    /// Further starts of a fit from scratch, uniform between the bounds on a logarithmic scale. From 0 to 100.
    #[cfg_attr(feature = "schema", schemars(transform = RESTARTS.stated()))]
    pub restarts: usize,
    /// Noise of the values that points which run, and those of a batch, are going to have.
    pub pending: Pending,
    /// Random features of a posterior sample. From 1 to 20000.
    #[cfg_attr(feature = "schema", schemars(transform = FEATURES.stated()))]
    pub features: usize,
}

impl Default for GpConfig {
    fn default() -> Self {
        Self {
            kernel: Form::Matern52,
            odds: Tunable {
                start: 1.0,
                low: 1e-2,
                high: 1e3,
                prior: Prior::LogNormal { location: 4.0, scale: 2.0 },
            },
            ntk: NtkConfig::default(),
            isotropic: false,
            lengthscale: Tunable { start: 0.5, low: 5e-3, high: 1e2, prior: Prior::DimensionScaled },
            lengthscales: Vec::new(),
            // Mode 1: standardised values have variance 1.
            outputscale: Tunable {
                start: 1.0,
                low: 1e-2,
                high: 1e2,
                prior: Prior::LogNormal { location: 1.0, scale: 1.0 },
            },
            // Small noise is likelier than large, but the data decide: the mode e^-7 is 1e-3, one deviation is a factor
            // of 20. The mode of the value's density is `location - scale^2`.
            noise: Tunable {
                start: 1e-4,
                low: 1e-6,
                high: 1.0,
                prior: Prior::LogNormal { location: 2.0, scale: 3.0 },
            },
            standardize: true,
            transform: Transform::None,
            max_points: 8_000,
            fit_points: 500,
            refit_growth: 0.125,
            warm_start: true,
            restarts: 0,
            pending: Pending::Noisy,
            features: 1_024,
        }
    }
}

/// What noise the values of running points are going to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Pending {
    /// That of all values.
    #[default]
    Noisy,
    /// None: nothing more is to be learnt where a point runs, which keeps the points of a batch apart.
    Exact,
}

/// An invalid setting of the Gaussian process.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GpConfigError {
    /// A number out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Bounds of a hyperparameter are not in order around its start.
    #[error("model.{name} needs low <= start <= high, but has low {low}, start {start}, high {high}")]
    Bounds {
        /// Which hyperparameter.
        name: &'static str,
        /// Its lower bound.
        low: f64,
        /// Its start.
        start: f64,
        /// Its upper bound.
        high: f64,
    },
    /// A kernel that is not for numeric parameters.
    #[error(
        "kernel `overlap` is for categories; choose matern-52, matern-32, matern-12, squared-exponential, linear, ntk-relu or ntk-erf"
    )]
    OverlapForNumbers,
    /// A kernel that whole functions cannot be drawn from.
    #[error(
        "the kernel of a network has no random features, which drawing whole functions takes; algorithms `ntk-ts` and `ts` draw at candidates"
    )]
    NoFeatures,
}

impl GpConfigError {
    /// The same for the model in the table `owner`.
    #[must_use]
    pub fn of(self, owner: &str) -> Self {
        match self {
            Self::OutOfRange(error) => Self::OutOfRange(error.of(owner)),
            other => other,
        }
    }
}

impl GpConfig {
    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<(), GpConfigError> {
        let tunables = [
            ("lengthscale", self.lengthscale),
            ("outputscale", self.outputscale),
            ("noise", self.noise),
            ("odds", self.odds),
        ];
        for (name, t) in tunables {
            t.validate().map_err(|e| e.of(name).of("model"))?;
            if !t.is_in_order() {
                return Err(GpConfigError::Bounds { name, low: t.low, start: t.start, high: t.high });
            }
        }
        VALUES.check("model.lengthscales", self.lengthscales.as_slice())?;
        if self.kernel == Form::Overlap {
            return Err(GpConfigError::OverlapForNumbers);
        }
        self.ntk.validate().map_err(|e| e.of("model.ntk"))?;
        GROWTH.check("model.refit_growth", self.refit_growth)?;
        POINTS.check("model.max_points", self.max_points)?;
        POINTS.check("model.fit_points", self.fit_points)?;
        RESTARTS.check("model.restarts", self.restarts)?;
        Ok(FEATURES.check("model.features", self.features)?)
    }

    /// The same, for algorithms that draw whole functions by random features.
    pub fn validate_for_paths(&self) -> Result<(), GpConfigError> {
        self.validate()?;
        if self.kernel.has_random_features() { Ok(()) } else { Err(GpConfigError::NoFeatures) }
    }

    /// The kernel's structure for coordinates of these kinds: numbers and categories apart, constants left out.
    pub fn kernel_for(&self, kinds: &[Kind]) -> Kernel {
        let dims = |wanted: fn(&Kind) -> bool| -> Vec<usize> {
            kinds.iter().enumerate().filter(|(_, kind)| wanted(kind)).map(|(k, _)| k).collect()
        };
        let numeric = dims(|kind| !matches!(kind, Kind::Category(_) | Kind::Levels(1)));
        let categories = dims(|kind| matches!(kind, Kind::Category(k) if *k > 1));
        let factors = if self.kernel == Form::Anova {
            self.anova_factor(numeric, categories).into_iter().collect()
        } else {
            self.numeric_factor(numeric).into_iter().chain(self.category_factor(categories)).collect()
        };
        Kernel { outputscale: self.outputscale.start, factors }
    }

    /// One factor for numbers and categories together.
    fn anova_factor(&self, numeric: Vec<usize>, categories: Vec<usize>) -> Option<Factor> {
        let mut lengthscales = self.starts(numeric.len() + categories.len());
        let of_categories = lengthscales.split_off(numeric.len());
        (!numeric.is_empty() || !categories.is_empty()).then(|| {
            Factor::Anova(Anova {
                numeric: Coordinates::new(numeric, lengthscales),
                categorical: Coordinates::new(categories, of_categories),
                odds: self.odds.start,
            })
        })
    }

    fn numeric_factor(&self, numeric: Vec<usize>) -> Option<Factor> {
        let count = if self.isotropic { 1 } else { numeric.len() };
        (!numeric.is_empty()).then(|| {
            let mut factor = Factor::new(self.kernel, Coordinates::new(numeric, self.starts(count)));
            if let Factor::Network(network) = &mut factor {
                network.config = self.ntk;
            }
            factor
        })
    }

    fn category_factor(&self, categories: Vec<usize>) -> Option<Factor> {
        let lengthscales = vec![self.lengthscale.start; categories.len()];
        (!categories.is_empty())
            .then(|| Factor::new(Form::Overlap, Coordinates::new(categories, lengthscales)))
    }

    /// The kernel for coordinates of these kinds with these values.
    pub fn fitted_kernel(&self, kinds: &[Kind], values: &Hyperparameters) -> Kernel {
        let mut kernel = self.kernel_for(kinds);
        kernel.set_parameters(values.kernel_parameters.iter().copied());
        kernel.outputscale = values.outputscale;
        kernel
    }

    /// Starts of `count` lengthscales; where fewer are given, the common one.
    fn starts(&self, count: usize) -> Vec<f64> {
        let given = self.lengthscales.iter().copied();
        given.chain(std::iter::repeat(self.lengthscale.start)).take(count).collect()
    }

    /// Where the first fit starts.
    pub fn start(&self, kernel: &Kernel) -> Hyperparameters {
        Hyperparameters {
            kernel_parameters: kernel
                .parameter_kinds()
                .zip(self.starts(kernel.parameter_count()))
                .map(|(kind, start)| match kind {
                    ParameterKind::Lengthscale => start,
                    ParameterKind::Odds => self.odds.start,
                })
                .collect(),
            outputscale: self.outputscale.start,
            noise_variance: self.noise.start,
        }
    }

    /// Whether any hyperparameter is fitted.
    pub fn is_fitted(&self) -> bool {
        let odds = (self.kernel == Form::Anova).then_some(self.odds);
        [self.lengthscale, self.outputscale, self.noise].into_iter().chain(odds).any(|t| t.low < t.high)
    }
}
