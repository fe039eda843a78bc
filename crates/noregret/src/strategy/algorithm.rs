//! The algorithms by name, with their settings. Study files, the command line and Python use the same names.

use serde::{Deserialize, Serialize};

use super::limits::{Demand, Table, TooMuchMemory};
use super::{Strategy, arms, auto, gp, model_free, networks, trees};
use crate::error::Result;
use crate::space::nearest;

/// Generates from one list the enum of all algorithms, their names, descriptions and constructors.
macro_rules! algorithms {
    ($($(#[$doc:meta])* $variant:ident($config:ty) = $name:literal, $build:expr, $paper:literal, $purpose:literal;)*) => {
        /// An algorithm and its settings, in files a table, `{ name = "gp-ucb", ... }`. (A study file also takes the bare name.)
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
        pub enum Algorithm {
            $($(#[$doc])* $variant($config),)*
        }

        /// Name, paper and purpose of every algorithm.
        const DESCRIPTIONS: &[(&str, &str, &str)] = &[$(($name, $paper, $purpose)),*];

        impl Algorithm {
            /// Its name.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                }
            }

            /// The largest tables that it keeps in memory over a space of `dims` coordinates.
            fn tables(&self, dims: usize) -> Vec<Table> {
                match self {
                    $(Self::$variant(config) => config.tables(dims),)*
                }
            }

            /// Builds the strategy; returns an error if a setting is invalid.
            pub fn build(&self) -> Result<Box<dyn Strategy>> {
                fn boxed<C, S: Strategy + 'static>(
                    build: impl Fn(C) -> Result<S>,
                    config: C,
                ) -> Result<Box<dyn Strategy>> {
                    Ok(Box::new(build(config)?))
                }
                let strategy = match self.clone() {
                    $(Self::$variant(config) => boxed::<$config, _>($build, config),)*
                }?;
                // By the options alone; over a space there are more coordinates.
                self.check_memory(1)?;
                Ok(strategy)
            }
        }
    };
}

/// An algorithm without options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct NoOptions {}

impl Demand for NoOptions {}

// Variant and options, name, how it is built, where it was published, what it is for.
algorithms! {
    /// The best default we know.
    Auto(auto::AutoConfig) = "auto", auto::Auto::new,
        "",
        "the default: chooses for you, and says what it chose and why";

    /// Uniform points.
    Random(NoOptions) = "random", |_| Ok(model_free::random::Random),
        "",
        "uniform random points: the baseline";

    /// Scrambled Sobol points.
    Sobol(NoOptions) = "sobol", |_| Ok(model_free::sobol::SobolSearch),
        "Sobol 1967; Owen 1995 (scrambling)",
        "points spread evenly: for looking around, without a model";

    /// Upper confidence bound.
    GpUcb(gp::OnGp<gp::gp_ucb::GpUcbConfig>) = "gp-ucb", gp::GpStrategy::new,
        "Srinivas et al. 2010; Kim et al. 2025, Alg. 1 (random grid: Thm. 7)",
        "optimism by a confidence bound: up to a few thousand evaluations, one at a time or in batches";

    /// Thompson sampling.
    GpTs(gp::OnGp<gp::gp_ts::GpTsConfig>) = "gp-ts", gp::GpStrategy::new,
        "Chowdhury & Gopalan 2017; Kim et al. 2025, Alg. 2 and Thm. 4",
        "Thompson sampling: batches of independent draws, many workers";

    /// Expected improvement.
    GpEi(gp::OnGp<gp::gp_ei::GpEiConfig>) = "gp-ei", gp::GpStrategy::new,
        "Jones et al. 1998; Ament et al. 2023 (log EI)",
        "expected improvement: the usual choice for one evaluation at a time";

    /// Thompson sampling on random Fourier features.
    RffTs(gp::OnGp<gp::rff_ts::RffTsConfig>) = "rff-ts", gp::GpStrategy::new,
        "Dai et al. 2022, App. F.3",
        "Thompson sampling on random Fourier features, as a rival in published comparisons";

    /// Thompson regret over uncertainty.
    TsRsr(gp::OnGp<gp::ts_rsr::TsRsrConfig>) = "ts-rsr", gp::GpStrategy::new,
        "Ren & Li 2024, Alg. 4.1",
        "batches: sampled regret over uncertainty, each point aware of those before it";

    /// Batches by confidence bounds.
    Bucb(gp::OnGp<gp::bucb::BucbConfig>) = "bucb", gp::bucb::build,
        "Desautels et al. 2014",
        "batches by confidence bounds whose deviation knows of the batch so far";

    /// A confidence bound, then pure exploration.
    UcbPe(gp::OnGp<gp::ucb_pe::UcbPeConfig>) = "ucb-pe", gp::GpStrategy::new,
        "Contal et al. 2013",
        "one point by its confidence bound, the rest by pure exploration";

    /// Stochastic policies.
    Sp(gp::OnGp<gp::sp::SpConfig>) = "sp", gp::GpStrategy::new,
        "Garcia-Barcos & Martinez-Cantin 2019",
        "independent draws, the likelier the better the mean: needs no coordination";

    /// Parallel Thompson sampling over candidates.
    Ts(gp::OnGp<gp::ts::TsConfig>) = "ts", gp::GpStrategy::new,
        "Hernández-Lobato et al. 2017",
        "Thompson sampling over candidates, as a rival in published comparisons";

    /// Thompson sampling of infinitely wide networks.
    NtkTs(gp::ntk_ts::NtkTsConfig) = "ntk-ts", gp::ntk_ts::build,
        "Dai et al. 2022 (STO-BNTS) at infinite width; Jacot et al. 2018",
        "Thompson sampling of infinitely wide neural networks: what neural Thompson sampling approaches";

    /// Expected improvement of a batch.
    Qei(gp::OnGp<gp::qei::QeiConfig>) = "qei", gp::GpStrategy::new,
        "Ginsbourger et al. 2008; Ament et al. 2023",
        "expected improvement of a batch, by kriging believer or by Monte Carlo";

    /// Thompson sampling, diversified.
    DppTs(gp::OnGp<gp::dpp_ts::DppTsConfig>) = "dpp-ts", gp::GpStrategy::new,
        "Nava et al. 2022",
        "Thompson sampling made more diverse by a determinantal point process";

    /// Sparse confidence bounds over large pools, in batches of the size it deems safe.
    Bbkb(arms::bbkb::BbkbConfig) = "bbkb", arms::bbkb::Bbkb::global,
        "Calandriello et al. 2020, Alg. 1",
        "large pools, up to a million rows and tens of thousands of evaluations; says how many may run at once";

    /// The same by the local rule.
    BbkbLocal(arms::bbkb::BbkbConfig) = "bbkb-local", arms::bbkb::Bbkb::local,
        "Calandriello et al. 2020, Lemma 3",
        "the same with larger batches, by a rule that looks at every arm";

    /// The same, one at a time.
    Bkb(arms::bbkb::BbkbConfig) = "bkb", arms::bbkb::Bbkb::bkb,
        "Calandriello et al. 2019",
        "the same, one evaluation at a time";

    /// Adaptive batches by confidence bounds.
    GpBucb(arms::gp_bucb::GpBucbConfig) = "gp-bucb", arms::gp_bucb::GpBucbConfig::build,
        "Desautels et al. 2014",
        "adaptive batches by confidence bounds over a pool, with the exact model: a rival of bbkb";

    /// Thompson sampling over pools.
    AsyncTs(arms::async_ts::AsyncTsConfig) = "async-ts", arms::async_ts::AsyncTs::new,
        "Kandasamy et al. 2018",
        "Thompson sampling over a large pool, for many workers that do not wait for each other";

    /// The best mean, or any arm.
    EpsGreedy(arms::eps_greedy::EpsGreedyConfig) = "eps-greedy", arms::eps_greedy::EpsGreedy::new,
        "Sutton & Barto 2018, section 2.2",
        "the best mean, and now and then any arm: a rival in published comparisons";

    /// Evolution in which the oldest dies.
    RegEvolution(model_free::reg_evolution::RegEvolutionConfig) = "reg-evolution", model_free::reg_evolution::RegEvolution::new,
        "Real et al. 2019, Alg. 1",
        "mutates the best of a sample of the last evaluations, without a model: thousands of cheap evaluations";

    /// Thompson sampling by fitting networks.
    StoBnts(networks::sto_bnts::StoBntsConfig) = "sto-bnts", networks::sto_bnts::StoBnts::network,
        "Dai et al. 2022, Alg. 1",
        "Thompson sampling by fitting a network for each point: many parameters, categories, images; any batch";

    /// The same by the tangent features of networks.
    StoBntsLinear(networks::sto_bnts::StoBntsConfig) = "sto-bnts-linear", networks::sto_bnts::StoBnts::linear,
        "Dai et al. 2022, Alg. 2",
        "the same with the tangent features of a network, in closed form: exact samples, and faster";

    /// Networks fitted from different starts.
    DeepEnsemble(networks::sto_bnts::DeepEnsembleConfig) = "deep-ensemble", networks::sto_bnts::StoBnts::ensemble,
        "Lakshminarayanan et al. 2017",
        "networks fitted from different starts, as a rival in published comparisons";

    /// A confidence bound by a network's gradients.
    NeuralUcb(networks::neural_bo::NeuralBanditConfig) = "neural-ucb", networks::neural_bo::NeuralBo::neural_ucb,
        "Zhou et al. 2020",
        "a confidence bound by a network and its gradients, as a rival in published comparisons";

    /// Thompson sampling by a network's gradients.
    NeuralTs(networks::neural_bo::NeuralBanditConfig) = "neural-ts", networks::neural_bo::NeuralBo::neural_ts,
        "Zhang et al. 2021",
        "Thompson sampling by a network and its gradients, as a rival in published comparisons";

    /// Thompson sampling by the gradients of a network as it began.
    NeuralBo(networks::neural_bo::NeuralBoConfig) = "neural-bo", networks::neural_bo::NeuralBo::published,
        "Phan-Trong et al. 2023, Alg. 1",
        "Thompson sampling by a network and the gradients it began with: many parameters, thousands of evaluations";

    /// The maximum of a network fitted to perturbed values.
    NeuralGreedy(networks::neural_greedy::NeuralGreedyConfig) = "neural-greedy", networks::neural_greedy::NeuralGreedy::new,
        "Paria et al. 2022",
        "the maximum of a network fitted to perturbed values, as a rival in published comparisons";

    /// Expected improvement on the last layer of a network.
    Dngo(networks::dngo::DngoConfig) = "dngo", networks::dngo::Dngo::new,
        "Snoek et al. 2015",
        "expected improvement on the last layer of a network, as a rival in published comparisons";

    /// Expected improvement on a random forest.
    RandomForest(trees::random_forest::RandomForestConfig) = "random-forest", trees::random_forest::RandomForest::new,
        "Hutter et al. 2011 (SMAC); Breiman 2001",
        "expected improvement on regression trees: many categories, jumps, and no lengthscales to fit";
}

/// The description of an algorithm, for users who choose one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Description {
    /// Its name.
    pub name: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// What it is for.
    pub purpose: &'static str,
    /// Its options with their defaults.
    pub options: serde_json::Value,
}

/// An invalid algorithm or option.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AlgorithmError {
    /// No algorithm has this name.
    #[error("unknown algorithm `{name}` (did you mean `{nearest}`?); `noregret algorithms` lists them all")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The most similar name.
        nearest: String,
    },
    /// An option is invalid.
    #[error("algorithm `{name}`: {problem}")]
    Options {
        /// The algorithm.
        name: String,
        /// The reason, in words.
        problem: String,
    },
}

impl Default for Algorithm {
    fn default() -> Self {
        Algorithm::Auto(auto::AutoConfig::default())
    }
}

impl Algorithm {
    /// All algorithms.
    pub fn all() -> Vec<Description> {
        let describe = |&(name, paper, purpose)| {
            let algorithm = Algorithm::by_name(name).expect("invariant: every described algorithm exists");
            Description { name, paper, purpose, options: algorithm.options().into() }
        };
        DESCRIPTIONS.iter().map(describe).collect()
    }

    /// Returns the algorithm of this name with default settings.
    pub fn by_name(name: &str) -> Result<Self, AlgorithmError> {
        Self::with_options(name, serde_json::Map::new())
    }

    /// Returns the algorithm of this name with the given settings, and defaults for the others.
    pub fn with_options(
        name: &str,
        options: serde_json::Map<String, serde_json::Value>,
    ) -> Result<Self, AlgorithmError> {
        let names = DESCRIPTIONS.iter().map(|(name, ..)| *name);
        if !names.clone().any(|known| known == name) {
            return Err(AlgorithmError::Unknown { name: name.into(), nearest: nearest(name, names) });
        }
        let parse = |mut options: serde_json::Map<String, serde_json::Value>| -> serde_json::Result<Self> {
            options.insert("name".into(), name.into());
            serde_json::from_value(options.into())
        };
        let refuse = |problem| AlgorithmError::Options { name: name.into(), problem };
        // With flattened structs, serde does not list the options it knows.
        if !options.is_empty() {
            let default = parse(serde_json::Map::new()).map_err(|e| refuse(e.to_string()))?.options();
            if let Some(unknown) = options.keys().find(|key| !default.contains_key(*key)) {
                let known: Vec<String> = default.keys().map(|key| format!("`{key}`")).collect();
                let known = known.join(", ");
                return Err(refuse(format!("unknown field `{unknown}`, expected one of {known}")));
            }
        }
        parse(options).map_err(|e| refuse(e.to_string()))
    }

    /// Returns an error if it would need too much memory over a space of `dims` coordinates.
    pub fn check_memory(&self, dims: usize) -> Result<(), TooMuchMemory> {
        self.tables(dims).iter().try_for_each(Table::check)
    }

    /// Its options by name.
    fn options(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut options = match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(options)) => options,
            _ => serde_json::Map::new(),
        };
        options.remove("name");
        options
    }
}
