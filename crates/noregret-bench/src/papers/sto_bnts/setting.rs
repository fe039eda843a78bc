//! The settings of the experiment, and the variants of the methods.
//!
//! | | `paper` | `code` | `ours` |
//! |---|---|---|---|
//! | first weights | drawn anew | the same in every iteration, for all methods that draw them | drawn anew |
//! | network | `synthetic`: 8 layers of 64, erf; `images`: a convolution and a layer of 64, `ReLU`; `rover-20d`: 2 of 256, `ReLU` | the same | the same |
//! | pooling of images | maximum, windows apart | mean, windows overlap | maximum |
//! | deviation of first weights, biases | 1.5, 0.05 | 1.5, 0.05 | the default |
//! | noise of the model, `beta` | 0.1, 1 | 0.1, 1 | the default |
//! | values | as they are | as they are | standardised |
//! | targets | not perturbed | not perturbed | the default |
//! | deep ensemble | STO-BNTS without the second term of line 6: held to its start | not held to its start | the default |
//! | search on a box, of `sto-bnts`, `linear` and `deep-ensemble` | 10,000 points and 100 climbs | the same | the default |
//! | `gp-ts` | squared exponential, else the default; on `rover-20d` by 1,024 random features | the same, always by 1,024 random features | the default: Matérn 5/2 |
//! | `gp-ucb` | squared exponential, `beta` 1, else the default | the same | the default |
//! | lengthscales of both on images | one for all pixels | the same | the same |
//! | `neural-ucb`, `neural-ts` | the published code: `PyTorch`'s start and scaling, 100 steps from the last weights, gradients added up as they were, the diagonal; `lambda` 0.001, `nu` 1 | the same | the default |
//!
//! Deviations, noise and targets of `paper` are the authors' code for another of their problems, and of the code on which it
//! is built; the paper refers to that one for "all default parameters".
//!
//! # Departures
//! - Training of the draws is the library's own in all settings, `code` too: Gauss-Newton steps to convergence. The published script
//!   takes a fixed number of plain descent steps, 10,000 on the lunar lander; how many were taken for these problems is not known.
//!   Without a penalty the ensemble keeps a ridge of 1e-4.
//! - The authors' key is the same in every run, too; here every run has one of its own.
//! - Climbs start from the best candidates, not from 100 further random points. The paper's rivals climb, too. Here they search as the
//!   library does: on `rover-20d` `neural-ts` takes the best of 10,000 candidates, `neural-ucb` looks around the best one, Gaussian
//!   processes have 1,000 candidates and a few climbs, and `ntk-ts` does not climb.
//! - `gp-ts` and `gp-ucb` have in all settings our model but for the kernel: standardised values, fitted noise, priors of
//!   hyperparameters, a fit whenever the evaluations have grown by an eighth. The authors' code has values as they are, a fit by maximum
//!   likelihood with 10 restarts every 20 points, and a lengthscale for each coordinate. Its 1,000 features become 1,024 here.
//! - On `rover-20d` the paper's GP-UCB has random features, too; here it has the exact model.
//! - The authors' features are normalised to unit length, ours are not. Frequencies are drawn anew for every point.

use noregret::Algorithm;
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::kernel::Form;
use noregret::surrogate::neural::NetworkConfig;
use serde_json::{Map, Value, json};

use crate::{BenchError, Setting};

/// Deviation of the noise that the methods assume.
const NOISE: f64 = 0.1;
/// Random features of Gaussian processes (App. F.3).
const FEATURES: usize = 1_000;

/// A method with its width and batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Variant {
    pub(super) name: &'static str,
    pub(super) algorithm: &'static str,
    /// In place of the problem's.
    pub(super) width: Option<usize>,
    pub(super) batch: usize,
}

const fn of(name: &'static str, algorithm: &'static str, width: Option<usize>, batch: usize) -> Variant {
    Variant { name, algorithm, width, batch }
}

/// All variants.
pub(super) const VARIANTS: [Variant; 13] = [
    of("sto-bnts", "sto-bnts", None, 1),
    of("sto-bnts-w16", "sto-bnts", Some(16), 1),
    of("sto-bnts-b4", "sto-bnts", None, 4),
    of("linear", "sto-bnts-linear", None, 1),
    of("linear-w16", "sto-bnts-linear", Some(16), 1),
    of("linear-w512", "sto-bnts-linear", Some(512), 1),
    of("linear-b4", "sto-bnts-linear", None, 4),
    of("deep-ensemble", "deep-ensemble", None, 1),
    of("gp-ts", "gp-ts", None, 1),
    of("gp-ucb", "gp-ucb", None, 1),
    of("neural-ucb", "neural-ucb", None, 1),
    of("neural-ts", "neural-ts", None, 1),
    of("ntk-ts", "ntk-ts", None, 1),
];

/// The variant of this name, which must be one of [`VARIANTS`].
pub(super) fn variant(name: &str) -> Variant {
    let found = VARIANTS.into_iter().find(|variant| variant.name == name);
    found.expect("invariant: names are checked before")
}

/// The curves of the figure that shows a problem.
pub(super) fn default_variants(problem: &str) -> Vec<&'static str> {
    match problem {
        "images" => {
            vec![
                "sto-bnts",
                "linear",
                "linear-w512",
                "deep-ensemble",
                "neural-ucb",
                "neural-ts",
                "gp-ucb",
                "gp-ts",
            ]
        }
        "rover-20d" => {
            vec![
                "sto-bnts",
                "sto-bnts-b4",
                "linear",
                "linear-b4",
                "neural-ucb",
                "neural-ts",
                "gp-ucb",
                "gp-ts",
            ]
        }
        _ => vec![
            "sto-bnts",
            "sto-bnts-w16",
            "linear",
            "linear-w16",
            "linear-w512",
            "linear-b4",
            "deep-ensemble",
            "gp-ts",
        ],
    }
}

/// What it is, in a line.
pub(super) fn describe(setting: Setting) -> &'static str {
    match setting {
        Setting::Paper => "as printed; first weights, noise and targets as the authors' code",
        Setting::Code => {
            "as the authors' code, but with our training: the same first weights in every iteration, ensembles without a penalty"
        }
        Setting::Ours => "networks as printed, the rest as users get it",
    }
}

/// The network of a method for a problem.
fn network(setting: Setting, variant: Variant, problem: &str) -> Value {
    let (depth, width, activation) = match problem {
        "images" => (2, 64, "relu"), // the convolution and the layer after it
        "rover-20d" => (2, 256, "relu"),
        _ => (8, 64, "erf"),
    };
    let width = variant.width.unwrap_or(width);
    let mut network = json!({ "depth": depth, "width": width, "activation": activation });
    if problem == "images" {
        let pool = if setting == Setting::Code { "average" } else { "max" };
        network["image"] = json!({ "height": 28, "width": 28, "pool": pool });
    }
    if setting != Setting::Ours {
        network["weight_sd"] = 1.5.into();
        network["bias_sd"] = 0.05.into();
        network["inputs"] = "unit".into();
    }
    network
}

/// The algorithm of a variant for a problem, on the initial points that all share.
pub(super) fn algorithm(setting: Setting, variant: Variant, problem: &str) -> Result<Algorithm, BenchError> {
    let by_features = setting == Setting::Code || setting == Setting::Paper && problem == "rover-20d";
    let name = if variant.algorithm == "gp-ts" && by_features { "rff-ts" } else { variant.algorithm };
    let mut options = match (variant.algorithm, setting) {
        ("gp-ts" | "gp-ucb", _) => {
            let kernel =
                if setting == Setting::Ours { GpConfig::default().kernel } else { Form::SquaredExponential };
            let isotropic = problem == "images"; // not 784 lengthscales
            let model = GpConfig { kernel, isotropic, features: FEATURES, ..GpConfig::default() };
            match (variant.algorithm, setting) {
                ("gp-ucb", Setting::Paper | Setting::Code) => {
                    json!({ "model": model, "beta": { "name": "constant", "value": 1.0 } })
                }
                _ => json!({ "model": model }),
            }
        }
        ("ntk-ts", _) => {
            let network = network(setting, variant, problem);
            let of = |name: &str, default: f64| network.get(name).and_then(Value::as_f64).unwrap_or(default);
            let defaults = NetworkConfig::default();
            let kernel = if network["activation"] == "erf" { "ntk-erf" } else { "ntk-relu" };
            let ntk = json!({
                "depth": network["depth"],
                "weight_sd": of("weight_sd", defaults.weight_sd),
                "bias_sd": of("bias_sd", defaults.bias_sd),
                "symmetric": setting == Setting::Ours,
            });
            json!({ "model": { "kernel": kernel, "ntk": ntk, "standardize": setting == Setting::Ours } })
        }
        ("sto-bnts" | "sto-bnts-linear", Setting::Paper | Setting::Code) => json!({
            "network": network(setting, variant, problem),
            "redraw": setting == Setting::Paper,
            "noise": NOISE,
            "beta": 1.0,
            "perturb": false,
            "standardize": false,
            "candidates": 10_000,
            "polished": 100,
        }),
        // The published code of NeuralTS, which has both.
        ("neural-ucb" | "neural-ts", Setting::Paper | Setting::Code) => json!({
            "network": network(setting, variant, problem),
            "start": "pytorch",
            "variance": "accumulated",
            "training": {
                "name": "epochs", "method": "sgd", "rate": 0.01, "epochs": 100, "decay": 0.001,
                "loss": "mean-shared-decay", "toward": "zero", "warm": true, "shorten": false,
            },
            "lambda": 0.001,
            "nu": 1.0,
            "standardize": false,
            "candidates": 10_000,
        }),
        ("deep-ensemble", Setting::Paper | Setting::Code) => json!({
            "network": network(setting, variant, problem),
            "redraw": setting == Setting::Paper,
            "regularize": setting == Setting::Paper,
            "noise": NOISE,
            "perturb": false,
            "standardize": false,
            "candidates": 10_000,
            "polished": 100,
        }),
        _ => json!({ "network": network(setting, variant, problem) }),
    };
    options["initial_points"] = 0.into();
    let options: Map<String, Value> = options.as_object().cloned().unwrap_or_default();
    Ok(Algorithm::with_options(name, options).map_err(noregret::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::super::problem::PROBLEMS;
    use super::*;

    #[test]
    fn curves_are_of_known_variants() {
        for problem in PROBLEMS {
            for name in default_variants(problem) {
                assert_eq!(variant(name).name, name);
            }
        }
    }

    #[test]
    fn every_variant_has_settings() {
        for setting in Setting::ALL {
            for problem in PROBLEMS {
                for variant in VARIANTS {
                    algorithm(setting, variant, problem).unwrap().build().unwrap();
                }
            }
        }
    }

    fn options(setting: Setting, name: &str, problem: &str) -> Value {
        serde_json::to_value(algorithm(setting, variant(name), problem).unwrap()).unwrap()
    }

    /// What the authors' code does to one method it does to all: draws are constant, and the ensemble has no penalty.
    #[test]
    fn constant_draws_are_those_of_every_method() {
        for (setting, redraw) in [(Setting::Paper, true), (Setting::Code, false)] {
            for name in ["sto-bnts", "linear", "deep-ensemble"] {
                assert_eq!(options(setting, name, "synthetic")["redraw"], redraw, "{name}");
            }
            assert_eq!(options(setting, "deep-ensemble", "synthetic")["regularize"], redraw);
        }
        assert_eq!(options(Setting::Code, "sto-bnts", "images")["network"]["image"]["pool"], "average");
    }

    #[test]
    fn rivals_are_the_published_ones() {
        let of = |name, problem| options(Setting::Paper, name, problem);
        assert_eq!(
            (&of("gp-ts", "rover-20d")["name"], &of("gp-ts", "synthetic")["name"]),
            (&"rff-ts".into(), &"gp-ts".into())
        );
        assert_eq!(of("gp-ts", "rover-20d")["model"]["features"], 1_000);
        for name in ["neural-ucb", "neural-ts"] {
            let options = of(name, "synthetic");
            assert_eq!((&options["variance"], &options["start"]), (&"accumulated".into(), &"pytorch".into()));
            assert_eq!(
                (&options["training"]["warm"], &options["training"]["epochs"]),
                (&true.into(), &100.into())
            );
        }
    }

    #[test]
    fn widths_replace_those_of_the_problem() {
        let width = |name, problem| network(Setting::Paper, variant(name), problem)["width"].clone();
        assert_eq!(
            (width("linear", "synthetic"), width("linear-w512", "synthetic")),
            (64.into(), 512.into())
        );
        assert_eq!(width("sto-bnts", "rover-20d"), 256);
        assert_eq!(network(Setting::Ours, variant("sto-bnts"), "images")["image"]["pool"], "max");
    }
}
