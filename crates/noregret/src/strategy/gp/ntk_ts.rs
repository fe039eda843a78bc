//! NTK-TS: Thompson sampling of infinitely wide neural networks.
//! Dai et al. 2022, "Sample-then-optimize batch neural Thompson sampling" (STO-BNTS), at infinite width: there a network
//! trained as in Algorithm 1 or 2 is a draw from the posterior of the Gaussian process whose kernel is the network's tangent
//! kernel (section 3 and App. A). Here that draw is made directly.
//!
//! # Notation
//! | paper         | here                    | default         | meaning                                                |
//! |---------------|-------------------------|-----------------|--------------------------------------------------------|
//! | `Theta`       | `model.kernel`          | `ntk-relu`      | the tangent kernel, by activation                      |
//! | `L`           | `model.ntk.depth`       | 2               | hidden layers                                          |
//! |               | `model.ntk.weight_sd`, `model.ntk.bias_sd` | 1.5, 0.05 | deviations of the authors' networks       |
//! | `beta_t`      |                         | 1               | its square would multiply `outputscale` and `noise`    |
//! |               | `model.outputscale`     | 1, fixed        | multiplies the kernel                                  |
//! | `sigma^2`     | `model.noise`           | 0.01, fixed     | noise variance, of standardised values                 |
//! |               | `model.lengthscale`     | 1, fixed        | inputs of the network are divided by it                |
//!
//! # Departures
//! - Draws are joint at the candidates with the highest bounds and not polished, as [`crate::strategy::gp::ts`] makes them.
//! - Categories are no one-hot inputs of the network: the kernel of the numbers is multiplied with the overlap kernel, whose
//!   correlation of different categories is `exp(-1 / lengthscale)`, 0.37 by default. What is learnt of the numbers under one
//!   category carries over to the others by that share at every point, where a network would learn how far it does.
//! - Observations have noise in the posterior, so that draws have its exact law; the loss as printed leaves it out of
//!   the targets and makes the variance a little too small.

use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Result;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::gp::ts::{Ts, TsConfig};
use crate::strategy::gp::{GpOptions, OnGp};
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::hyperparameters::Tunable;
use crate::surrogate::gp::kernel::Form;

/// Settings of NTK-TS.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NtkTsConfig {
    /// The Gaussian process; by default that of the authors' network, with nothing fitted.
    #[serde(deserialize_with = "over_the_default")]
    pub model: GpConfig,
    /// How candidates are made.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for NtkTsConfig {
    fn default() -> Self {
        let model = GpConfig {
            kernel: Form::NtkRelu,
            lengthscale: Tunable::fixed(1.0),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(0.01),
            ..GpConfig::default()
        };
        Self { model, solver: Solver::default(), measure: Measure::default(), initial_points: None }
    }
}

/// Reads some options of the model; the others are those of this algorithm, not of [`GpConfig`].
fn over_the_default<'de, D: Deserializer<'de>>(given: D) -> Result<GpConfig, D::Error> {
    let given = serde_json::Map::deserialize(given)?;
    let mut model = serde_json::to_value(NtkTsConfig::default().model).map_err(serde::de::Error::custom)?;
    if let Some(options) = model.as_object_mut() {
        options.extend(given);
    }
    serde_json::from_value(model).map_err(serde::de::Error::custom)
}

impl NtkTsConfig {
    /// The strategy: the loop of [`super::ts`] on this model.
    pub fn build(self) -> Result<Ts> {
        let NtkTsConfig { model, solver, measure, initial_points } = self;
        if !model.kernel.is_network() {
            let problem = "model.kernel must be ntk-relu or ntk-erf; `ts` takes any kernel".into();
            return Err(AlgorithmError::Options { name: "ntk-ts".into(), problem }.into());
        }
        let gp = GpOptions { model, solver, measure, initial_points };
        Ts::named("ntk-ts", OnGp { own: TsConfig {}, gp })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::gp::GpConfigError;
    use crate::{Algorithm, Error};
    use serde_json::json;

    fn algorithm(name: &str, model: &serde_json::Value) -> Result<Algorithm, AlgorithmError> {
        Algorithm::with_options(name, json!({ "model": model }).as_object().unwrap().clone())
    }

    #[test]
    fn one_option_leaves_the_others_as_they_are() {
        let Algorithm::NtkTs(config) = algorithm("ntk-ts", &json!({"ntk": {"depth": 3}})).unwrap() else {
            panic!("another algorithm");
        };
        let mut expected = NtkTsConfig::default();
        expected.model.ntk.depth = 3;
        assert_eq!(config, expected);
        assert_eq!(expected.model.kernel, Form::NtkRelu);
        let again: NtkTsConfig = serde_json::from_value(serde_json::to_value(&config).unwrap()).unwrap();
        assert_eq!(again, config);
        assert!(algorithm("ntk-ts", &json!({"kernle": "ntk-erf"})).is_err());
    }

    #[test]
    fn only_kernels_of_networks_are_taken() {
        assert!(algorithm("ntk-ts", &json!({"kernel": "ntk-erf"})).unwrap().build().is_ok());
        let error = algorithm("ntk-ts", &json!({"kernel": "matern-52"})).unwrap().build().err().unwrap();
        assert!(matches!(error, Error::Algorithm(AlgorithmError::Options { .. })), "{error}");
    }

    /// Whole functions cannot be drawn from the kernel of a network; everyone else can use it.
    #[test]
    fn kernels_of_networks_are_refused_where_paths_are_drawn() {
        let model = json!({"kernel": "ntk-erf"});
        for description in Algorithm::all() {
            if !description.options.as_object().unwrap().contains_key("model") {
                continue;
            }
            let built = algorithm(description.name, &model).unwrap().build();
            if matches!(description.name, "gp-ts" | "rff-ts") {
                let error = built.err().unwrap();
                assert_eq!(error, Error::GpConfig(GpConfigError::NoFeatures));
                assert!(error.to_string().contains("`ntk-ts`"), "{error}");
            } else {
                assert!(built.is_ok(), "{}", description.name);
            }
        }
        for ntk in
            [json!({"depth": 0}), json!({"depth": 33}), json!({"weight_sd": 0.0}), json!({"bias_sd": -0.1})]
        {
            let error = algorithm("ts", &json!({ "ntk": ntk })).unwrap().build().err().unwrap();
            assert!(matches!(error, Error::GpConfig(GpConfigError::Ntk(_))), "{error}");
        }
    }
}
