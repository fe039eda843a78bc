//! The algorithms by name, with their settings: the same words in study files, on the command line and in Python.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::space::nearest;
use crate::strategy::Strategy;
use crate::strategy::arms::async_ts::{AsyncTs, AsyncTsConfig};
use crate::strategy::arms::bbkb::{Bbkb, BbkbConfig};
use crate::strategy::arms::eps_greedy::{EpsGreedy, EpsGreedyConfig};
use crate::strategy::arms::gp_bucb::GpBucbConfig;
use crate::strategy::auto::{Auto, AutoConfig};
use crate::strategy::gp::bucb::{Bucb, BucbConfig};
use crate::strategy::gp::dpp_ts::{DppTs, DppTsConfig};
use crate::strategy::gp::gp_ei::{GpEi, GpEiConfig};
use crate::strategy::gp::gp_ts::{GpTs, GpTsConfig};
use crate::strategy::gp::gp_ucb::{GpUcb, GpUcbConfig};
use crate::strategy::gp::ntk_ts::{NtkTs, NtkTsConfig};
use crate::strategy::gp::qei::{Qei, QeiConfig};
use crate::strategy::gp::rff_ts::{RffTs, RffTsConfig};
use crate::strategy::gp::sp::{Sp, SpConfig};
use crate::strategy::gp::ts::{Ts, TsConfig};
use crate::strategy::gp::ts_rsr::{TsRsr, TsRsrConfig};
use crate::strategy::gp::ucb_pe::{UcbPe, UcbPeConfig};
use crate::strategy::model_free::random::Random;
use crate::strategy::model_free::reg_evolution::{RegEvolution, RegEvolutionConfig};
use crate::strategy::model_free::sobol::Sobol;
use crate::strategy::networks::dngo::{Dngo, DngoConfig};
use crate::strategy::networks::neural_bo::{NeuralBanditConfig, NeuralBo, NeuralBoConfig};
use crate::strategy::networks::neural_greedy::{NeuralGreedy, NeuralGreedyConfig};
use crate::strategy::networks::sto_bnts::{DeepEnsembleConfig, StoBnts, StoBntsConfig};
use crate::strategy::trees::random_forest::{RandomForest, RandomForestConfig};

/// An algorithm and its settings, in files a table, `{ name = "gp-ucb", ... }`. (A study file also takes the bare name.)
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Algorithm {
    /// The best default we know.
    Auto(AutoConfig),
    /// Uniform points.
    Random {},
    /// Scrambled Sobol points.
    Sobol {},
    /// Upper confidence bound.
    GpUcb(GpUcbConfig),
    /// Thompson sampling.
    GpTs(GpTsConfig),
    /// Expected improvement.
    GpEi(GpEiConfig),
    /// Thompson sampling on random Fourier features.
    RffTs(RffTsConfig),
    /// Thompson regret over uncertainty.
    TsRsr(TsRsrConfig),
    /// Batches by confidence bounds.
    Bucb(BucbConfig),
    /// A confidence bound, then pure exploration.
    UcbPe(UcbPeConfig),
    /// Stochastic policies.
    Sp(SpConfig),
    /// Parallel Thompson sampling over candidates.
    Ts(TsConfig),
    /// Thompson sampling of infinitely wide networks.
    NtkTs(NtkTsConfig),
    /// Expected improvement of a batch.
    Qei(QeiConfig),
    /// Thompson sampling, diversified.
    DppTs(DppTsConfig),
    /// Sparse confidence bounds over large pools, in batches of the size it deems safe.
    Bbkb(BbkbConfig),
    /// The same by the local rule.
    BbkbLocal(BbkbConfig),
    /// The same, one at a time.
    Bkb(BbkbConfig),
    /// Adaptive batches by confidence bounds.
    GpBucb(GpBucbConfig),
    /// Thompson sampling over pools.
    AsyncTs(AsyncTsConfig),
    /// The best mean, or any arm.
    EpsGreedy(EpsGreedyConfig),
    /// Evolution in which the oldest dies.
    RegEvolution(RegEvolutionConfig),
    /// Thompson sampling by fitting networks.
    StoBnts(StoBntsConfig),
    /// The same by the tangent features of networks.
    StoBntsLinear(StoBntsConfig),
    /// Networks fitted from different starts.
    DeepEnsemble(DeepEnsembleConfig),
    /// A confidence bound by a network's gradients.
    NeuralUcb(NeuralBanditConfig),
    /// Thompson sampling by a network's gradients.
    NeuralTs(NeuralBanditConfig),
    /// Thompson sampling by the gradients of a network as it began.
    NeuralBo(NeuralBoConfig),
    /// The maximum of a network fitted to perturbed values.
    NeuralGreedy(NeuralGreedyConfig),
    /// Expected improvement on the last layer of a network.
    Dngo(DngoConfig),
    /// Expected improvement on a random forest.
    RandomForest(RandomForestConfig),
}

/// What is said of an algorithm to someone who chooses one.
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

/// Name, paper and purpose of every algorithm.
const DESCRIPTIONS: [(&str, &str, &str); 31] = [
    ("auto", "", "the default: chooses for you, and says what it chose and why"),
    ("random", "", "uniform random points: the baseline"),
    (
        "sobol",
        "Sobol 1967; Owen 1995 (scrambling)",
        "points spread evenly: for looking around, without a model",
    ),
    (
        "gp-ucb",
        "Srinivas et al. 2010; Kim et al. 2025, Alg. 1 (random grid: Thm. 7)",
        "optimism by a confidence bound: up to a few thousand evaluations, one at a time or in batches",
    ),
    (
        "gp-ts",
        "Chowdhury & Gopalan 2017; Kim et al. 2025, Alg. 2 and Thm. 4",
        "Thompson sampling: batches of independent draws, many workers",
    ),
    (
        "gp-ei",
        "Jones et al. 1998; Ament et al. 2023 (log EI)",
        "expected improvement: the usual choice for one evaluation at a time",
    ),
    (
        "rff-ts",
        "Dai et al. 2022, App. F.3",
        "Thompson sampling on random Fourier features, as a rival in published comparisons",
    ),
    (
        "ts-rsr",
        "Ren & Li 2024, Alg. 4.1",
        "batches: sampled regret over uncertainty, each point aware of those before it",
    ),
    (
        "bucb",
        "Desautels et al. 2014",
        "batches by confidence bounds whose deviation knows of the batch so far",
    ),
    ("ucb-pe", "Contal et al. 2013", "one point by its confidence bound, the rest by pure exploration"),
    (
        "sp",
        "Garcia-Barcos & Martinez-Cantin 2019",
        "independent draws, the likelier the better the mean: needs no coordination",
    ),
    (
        "ts",
        "Hernández-Lobato et al. 2017",
        "Thompson sampling over candidates, as a rival in published comparisons",
    ),
    (
        "ntk-ts",
        "Dai et al. 2022 (STO-BNTS) at infinite width; Jacot et al. 2018",
        "Thompson sampling of infinitely wide neural networks: what neural Thompson sampling approaches",
    ),
    (
        "qei",
        "Ginsbourger et al. 2008; Ament et al. 2023",
        "expected improvement of a batch, by kriging believer or by Monte Carlo",
    ),
    ("dpp-ts", "Nava et al. 2022", "Thompson sampling made more diverse by a determinantal point process"),
    (
        "bbkb",
        "Calandriello et al. 2020, Alg. 1",
        "large pools, up to a million rows and tens of thousands of evaluations; says how many may run at once",
    ),
    (
        "bbkb-local",
        "Calandriello et al. 2020, Lemma 3",
        "the same with larger batches, by a rule that looks at every arm",
    ),
    ("bkb", "Calandriello et al. 2019", "the same, one evaluation at a time"),
    (
        "gp-bucb",
        "Desautels et al. 2014",
        "adaptive batches by confidence bounds over a pool, with the exact model: a rival of bbkb",
    ),
    (
        "async-ts",
        "Kandasamy et al. 2018",
        "Thompson sampling over a large pool, for many workers that do not wait for each other",
    ),
    (
        "eps-greedy",
        "Sutton & Barto 2018, section 2.2",
        "the best mean, and now and then any arm: a rival in published comparisons",
    ),
    (
        "reg-evolution",
        "Real et al. 2019, Alg. 1",
        "mutates the best of a sample of the last evaluations, without a model: thousands of cheap evaluations",
    ),
    (
        "sto-bnts",
        "Dai et al. 2022, Alg. 1",
        "Thompson sampling by fitting a network for each point: many parameters, categories, images; any batch",
    ),
    (
        "sto-bnts-linear",
        "Dai et al. 2022, Alg. 2",
        "the same with the tangent features of a network, in closed form: exact samples, and faster",
    ),
    (
        "deep-ensemble",
        "Lakshminarayanan et al. 2017",
        "networks fitted from different starts, as a rival in published comparisons",
    ),
    (
        "neural-ucb",
        "Zhou et al. 2020",
        "a confidence bound by a network and its gradients, as a rival in published comparisons",
    ),
    (
        "neural-ts",
        "Zhang et al. 2021",
        "Thompson sampling by a network and its gradients, as a rival in published comparisons",
    ),
    (
        "neural-bo",
        "Phan-Trong et al. 2023, Alg. 1",
        "Thompson sampling by a network and the gradients it began with: many parameters, thousands of evaluations",
    ),
    (
        "neural-greedy",
        "Paria et al. 2022",
        "the maximum of a network fitted to perturbed values, as a rival in published comparisons",
    ),
    (
        "dngo",
        "Snoek et al. 2015",
        "expected improvement on the last layer of a network, as a rival in published comparisons",
    ),
    (
        "random-forest",
        "Hutter et al. 2011 (SMAC); Breiman 2001",
        "expected improvement on regression trees: many categories, jumps, and no lengthscales to fit",
    ),
];

/// A choice of algorithm that cannot be meant.
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
    /// An option does not fit.
    #[error("algorithm `{name}`: {problem}")]
    Options {
        /// The algorithm.
        name: String,
        /// What is wrong, in words.
        problem: String,
    },
    /// An option is out of its range.
    #[error("{option} must be {range}, not {value}")]
    OutOfRange {
        /// Which option.
        option: &'static str,
        /// What would be right.
        range: &'static str,
        /// What was given.
        value: f64,
    },
}

impl AlgorithmError {
    /// An error unless the option `fits` its range.
    pub(crate) fn check(
        option: &'static str,
        value: f64,
        fits: bool,
        range: &'static str,
    ) -> Result<(), Self> {
        if fits { Ok(()) } else { Err(Self::OutOfRange { option, range, value }) }
    }

    /// An error unless the option is a positive number.
    pub(crate) fn check_positive(option: &'static str, value: f64) -> Result<(), Self> {
        Self::check(option, value, value > 0.0 && value.is_finite(), "positive and finite")
    }

    /// An error unless the option is at least 1.
    pub(crate) fn check_count(option: &'static str, count: usize) -> Result<(), Self> {
        Self::check(option, count as f64, count > 0, "at least 1")
    }
}

impl Default for Algorithm {
    fn default() -> Self {
        Algorithm::Auto(AutoConfig::default())
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

    /// The algorithm of this name with its default settings.
    pub fn by_name(name: &str) -> Result<Self, AlgorithmError> {
        Self::with_options(name, serde_json::Map::new())
    }

    /// The algorithm of this name with some settings given.
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
        // Where options of several structs are read together, serde does not say which ones it knows.
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

    /// Its options by name.
    fn options(&self) -> serde_json::Map<String, serde_json::Value> {
        let mut options = match serde_json::to_value(self) {
            Ok(serde_json::Value::Object(options)) => options,
            _ => serde_json::Map::new(),
        };
        options.remove("name");
        options
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Algorithm::Auto(_) => "auto",
            Algorithm::Random {} => "random",
            Algorithm::Sobol {} => "sobol",
            Algorithm::GpUcb(_) => "gp-ucb",
            Algorithm::GpTs(_) => "gp-ts",
            Algorithm::GpEi(_) => "gp-ei",
            Algorithm::RffTs(_) => "rff-ts",
            Algorithm::TsRsr(_) => "ts-rsr",
            Algorithm::Bucb(_) => "bucb",
            Algorithm::UcbPe(_) => "ucb-pe",
            Algorithm::Sp(_) => "sp",
            Algorithm::Ts(_) => "ts",
            Algorithm::NtkTs(_) => "ntk-ts",
            Algorithm::Qei(_) => "qei",
            Algorithm::DppTs(_) => "dpp-ts",
            Algorithm::Bbkb(_) => "bbkb",
            Algorithm::BbkbLocal(_) => "bbkb-local",
            Algorithm::Bkb(_) => "bkb",
            Algorithm::GpBucb(_) => "gp-bucb",
            Algorithm::AsyncTs(_) => "async-ts",
            Algorithm::EpsGreedy(_) => "eps-greedy",
            Algorithm::RegEvolution(_) => "reg-evolution",
            Algorithm::StoBnts(_) => "sto-bnts",
            Algorithm::StoBntsLinear(_) => "sto-bnts-linear",
            Algorithm::DeepEnsemble(_) => "deep-ensemble",
            Algorithm::NeuralUcb(_) => "neural-ucb",
            Algorithm::NeuralTs(_) => "neural-ts",
            Algorithm::NeuralBo(_) => "neural-bo",
            Algorithm::NeuralGreedy(_) => "neural-greedy",
            Algorithm::Dngo(_) => "dngo",
            Algorithm::RandomForest(_) => "random-forest",
        }
    }

    /// The strategy itself, its settings checked.
    pub fn build(&self) -> Result<Box<dyn Strategy>> {
        Ok(match self.clone() {
            Algorithm::Auto(config) => Box::new(Auto::try_from(config)?),
            Algorithm::Random {} => Box::new(Random),
            Algorithm::Sobol {} => Box::new(Sobol),
            Algorithm::GpUcb(config) => Box::new(GpUcb::try_from(config)?),
            Algorithm::GpTs(config) => Box::new(GpTs::try_from(config)?),
            Algorithm::GpEi(config) => Box::new(GpEi::try_from(config)?),
            Algorithm::RffTs(config) => Box::new(RffTs::try_from(config)?),
            Algorithm::TsRsr(config) => Box::new(TsRsr::try_from(config)?),
            Algorithm::Bucb(config) => Box::new(Bucb::try_from(config)?),
            Algorithm::UcbPe(config) => Box::new(UcbPe::try_from(config)?),
            Algorithm::Sp(config) => Box::new(Sp::try_from(config)?),
            Algorithm::Ts(config) => Box::new(Ts::try_from(config)?),
            Algorithm::NtkTs(config) => Box::new(NtkTs::try_from(config)?),
            Algorithm::Qei(config) => Box::new(Qei::try_from(config)?),
            Algorithm::DppTs(config) => Box::new(DppTs::try_from(config)?),
            Algorithm::Bbkb(config) => Box::new(Bbkb::global(config)?),
            Algorithm::BbkbLocal(config) => Box::new(Bbkb::local(config)?),
            Algorithm::Bkb(config) => Box::new(Bbkb::bkb(config)?),
            Algorithm::GpBucb(config) => Box::new(config.build()?),
            Algorithm::AsyncTs(config) => Box::new(AsyncTs::try_from(config)?),
            Algorithm::EpsGreedy(config) => Box::new(EpsGreedy::try_from(config)?),
            Algorithm::RegEvolution(config) => Box::new(RegEvolution::try_from(config)?),
            Algorithm::StoBnts(config) => Box::new(StoBnts::network(config)?),
            Algorithm::StoBntsLinear(config) => Box::new(StoBnts::linear(config)?),
            Algorithm::DeepEnsemble(config) => Box::new(StoBnts::ensemble(config)?),
            Algorithm::NeuralUcb(config) => Box::new(NeuralBo::neural_ucb(config)?),
            Algorithm::NeuralTs(config) => Box::new(NeuralBo::neural_ts(config)?),
            Algorithm::NeuralBo(config) => Box::new(NeuralBo::published(config)?),
            Algorithm::NeuralGreedy(config) => Box::new(NeuralGreedy::try_from(config)?),
            Algorithm::Dngo(config) => Box::new(Dngo::try_from(config)?),
            Algorithm::RandomForest(config) => Box::new(RandomForest::try_from(config)?),
        })
    }
}
