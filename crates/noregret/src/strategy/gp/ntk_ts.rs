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
//! - Values are standardised, so that `noise` and `outputscale` are shares of their variance; the authors' code takes values as they are, and with
//!   `sigma` 0.1 and values of some hundreds all but interpolates them: `model.standardize = false`.
//! - Draws are joint at the candidates (at 1,024 of more of them, as in a pool) and not polished, as [`crate::strategy::gp::ts`] makes them.
//! - Categories are no one-hot inputs of the network: the kernel of the numbers is multiplied with the overlap kernel, whose
//!   correlation of different categories is `exp(-1 / lengthscale)`, 0.37 by default. What is learnt of the numbers under one
//!   category carries over to the others by that share at every point, where a network would learn how far it does.
//! - Observations have noise in the posterior, so that draws have its exact law; the loss as printed leaves it out of
//!   the targets and makes the variance a little too small.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::error::Result;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::gp::ts::{Ts, TsConfig};
use crate::strategy::gp::{GpOptions, OnGp};
use crate::strategy::limits::{Demand, Table};
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::hyperparameters::Tunable;
use crate::surrogate::gp::kernel::Form;

/// Settings of NTK-TS: those of [`super::ts`], with another model by default.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct NtkTsConfig(pub OnGp<TsConfig>);

impl Demand for NtkTsConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.0.tables(dims)
    }
}

impl Default for NtkTsConfig {
    /// The model is that of the authors' network, with nothing fitted.
    fn default() -> Self {
        let model = GpConfig {
            kernel: Form::NtkRelu,
            lengthscale: Tunable::fixed(1.0),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(0.01),
            ..GpConfig::default()
        };
        Self(OnGp { own: TsConfig {}, gp: GpOptions { model, ..GpOptions::default() } })
    }
}

impl<'de> Deserialize<'de> for NtkTsConfig {
    /// Options of the model that are not given are those of this algorithm, not of [`GpConfig`].
    fn deserialize<D: Deserializer<'de>>(given: D) -> Result<Self, D::Error> {
        let mut options = serde_json::Map::deserialize(given)?;
        let mut model = serde_json::to_value(Self::default().0.gp.model).map_err(D::Error::custom)?;
        match (model.as_object_mut(), options.remove("model")) {
            (Some(model), Some(Value::Object(given))) => model.extend(given),
            (_, Some(wrong)) => model = wrong,
            (_, None) => {}
        }
        options.insert("model".into(), model);
        OnGp::deserialize(Value::Object(options)).map(Self).map_err(D::Error::custom)
    }
}

/// The loop of [`super::ts`] on this model.
pub fn build(NtkTsConfig(config): NtkTsConfig) -> Result<Ts> {
    if !config.gp.model.kernel.is_network() {
        let problem = "model.kernel must be ntk-relu or ntk-erf; `ts` takes any kernel".into();
        return Err(AlgorithmError::Options { name: "ntk-ts".into(), problem }.into());
    }
    Ts::named("ntk-ts", config)
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
        expected.0.gp.model.ntk.depth = 3;
        assert_eq!(config, expected);
        assert_eq!(expected.0.gp.model.kernel, Form::NtkRelu);
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
            assert!(matches!(error, Error::GpConfig(GpConfigError::OutOfRange(_))), "{error}");
        }
    }
}
