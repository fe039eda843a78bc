//! The hyperparameters of a Gaussian process, their bounds and their priors.

use serde::{Deserialize, Serialize};

use crate::math::range::{OutOfRange, Range};

/// Products of such numbers with kernels of many factors are far from the ends of the floats.
pub(crate) const VALUES: Range = Range::new(1e-15, 1e15);
/// Logarithms of all positive floats are within 750 of 0.
const LOCATIONS: Range = Range::new(-100.0, 100.0);
const SCALES: Range = Range::new(0.001, 1_000.0);

/// One positive hyperparameter (or one per coordinate): where it starts, its bounds and its prior.
/// Equal bounds fix it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Tunable {
    /// First value of the first fit. From 1e-15 to 1e15.
    #[cfg_attr(feature = "schema", schemars(transform = VALUES.stated()))]
    pub start: f64,
    /// Smallest value. From 1e-15 to 1e15.
    #[cfg_attr(feature = "schema", schemars(transform = VALUES.stated()))]
    pub low: f64,
    /// Largest value. From 1e-15 to 1e15.
    #[cfg_attr(feature = "schema", schemars(transform = VALUES.stated()))]
    pub high: f64,
    /// Prior density.
    #[serde(default)]
    pub prior: Prior,
}

impl Tunable {
    /// A hyperparameter that is not fitted.
    pub fn fixed(value: f64) -> Self {
        Self { start: value, low: value, high: value, prior: Prior::Flat }
    }

    /// A hyperparameter free between bounds, without a prior.
    pub fn free(start: f64, low: f64, high: f64) -> Self {
        Self { start, low, high, prior: Prior::Flat }
    }

    /// Whether the start is within the bounds.
    pub(crate) fn is_in_order(&self) -> bool {
        self.low <= self.start && self.start <= self.high
    }

    /// Returns an error that names the first number out of its range.
    pub(crate) fn validate(&self) -> Result<(), OutOfRange> {
        for (option, value) in [("start", self.start), ("low", self.low), ("high", self.high)] {
            VALUES.check(option, value)?;
        }
        match self.prior {
            Prior::Flat | Prior::DimensionScaled => Ok(()),
            Prior::LogNormal { location, scale } | Prior::Log { location, scale } => {
                LOCATIONS.check("prior.location", location)?;
                SCALES.check("prior.scale", scale)
            }
        }
    }
}

/// A prior density of a positive hyperparameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Prior {
    /// None: maximum likelihood.
    #[default]
    Flat,
    /// `log value ~ N(location, scale^2)`.
    LogNormal {
        /// Mean of the logarithm. From -100 to 100.
        #[cfg_attr(feature = "schema", schemars(transform = LOCATIONS.stated()))]
        location: f64,
        /// Standard deviation of the logarithm. From 0.001 to 1000.
        #[cfg_attr(feature = "schema", schemars(transform = SCALES.stated()))]
        scale: f64,
    },
    /// The same, as a density of the logarithm: the most probable value is `exp(location)`.
    Log {
        /// Mean of the logarithm. From -100 to 100.
        #[cfg_attr(feature = "schema", schemars(transform = LOCATIONS.stated()))]
        location: f64,
        /// Standard deviation of the logarithm. From 0.001 to 1000.
        #[cfg_attr(feature = "schema", schemars(transform = SCALES.stated()))]
        scale: f64,
    },
    /// `log l ~ N(sqrt(2) + log(d) / 2, 3)`: typical distances in the cube grow with `sqrt(d)`, and so does what counts as
    /// smooth (Hvarfner, Hellsten & Nardi 2024, "Vanilla Bayesian optimization performs great in high dimensions").
    DimensionScaled,
}

impl Prior {
    /// Log density (up to a constant) of the value `exp(log)` and its derivative by `log`.
    ///
    /// The density is that of the value itself, not of its logarithm (hence `- log`), as in the paper's experiments.
    pub(crate) fn log_density(self, log: f64, dims: usize) -> (f64, f64) {
        let (location, scale) = match self {
            Prior::Flat => return (0.0, 0.0),
            Prior::Log { location, scale } => {
                let z = (log - location) / scale;
                return (-0.5 * z * z, -z / scale);
            }
            Prior::LogNormal { location, scale } => (location, scale),
            Prior::DimensionScaled => {
                (std::f64::consts::SQRT_2 + 0.5 * (dims.max(1) as f64).ln(), 3.0_f64.sqrt())
            }
        };
        let z = (log - location) / scale;
        (-0.5 * z * z - log, -z / scale - 1.0)
    }
}

/// Fitted or given values, in the units of the unit cube and the standardised outputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Hyperparameters {
    /// The free parameters of the kernel, as [`Kernel::parameter_kinds`](super::kernel::Kernel::parameter_kinds) lists them. Logs of
    /// studies have them under the name `lengthscales`, which they are for all kernels but `anova`.
    #[serde(rename = "lengthscales")]
    pub kernel_parameters: Vec<f64>,
    /// Variance of the prior.
    pub outputscale: f64,
    /// Variance of the noise of observations that come without their own.
    pub noise_variance: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Logs of studies from before the odds had a name of their own must stay readable.
    #[test]
    fn the_json_of_old_logs_is_read_and_written() {
        let json = r#"{"lengthscales":[0.5,0.25,3.0],"outputscale":1.5,"noise_variance":0.001}"#;
        let values: Hyperparameters = serde_json::from_str(json).unwrap();
        assert_eq!(values.kernel_parameters, [0.5, 0.25, 3.0]);
        assert_eq!(serde_json::to_string(&values).unwrap(), json);
    }
}
