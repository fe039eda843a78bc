//! The settings of the experiment.
//!
//! | | `paper` | `code` | `ours` |
//! |---|---|---|---|
//! | radius of BBKB | Theorem 2 | `sqrt(lambda) F + xi sqrt(C sum log(1 + var) + log(1/delta))` | as `code` |
//! | sum of the first arms | by their prior variance | `log(t) sum var`, no bound | `log det(K / lambda + I)` |
//! | radius of BKB | Calandriello et al. 2019 | `sqrt(lambda) F + xi sqrt(log(t) sum var + log(1/delta))` | as `code` |
//! | radius of GP-UCB, GP-BUCB | `C` times that of Chowdhury & Gopalan | the same | the same |
//! | local rule | Lemma 3 as printed | the same, one pick not tested | the larger of both sums |
//! | an arm is in the dictionary | one coin a pull, of `qbar var` | one coin, of `qbar * pulls * var` | as `code` |
//! | coins | fresh for every batch | fresh for every batch | kept |
//! | kernel | Gaussian, bandwidths of Table 1 | the same | the same |
//! | `lambda`, `xi`, `F`, `delta`, `qbar`, `C` | not printed, 0.01, 1, 1/T, 2, not printed | `xi^2`, 0.01, 1, 1/T, 2, 2 | as `code` |
//!
//! The authors' code has no GP-UCB and no GP-BUCB. `bkb-same`, `gp-ucb-same` and `gp-bucb-same` have bandwidth and formula of the radius
//! of BBKB, the first two with their own `C`, which is 1: the model, the rule and that `C` are all that differs.
//!
//! # Departures
//! - Two random arms come first: the authors' code cannot begin with one, as Alg. 1 does.
//! - The authors' code leaves `C` out of the radius of the first batch. Here it is in.
//! - Thompson sampling draws from the posterior, as Kandasamy et al. do. The paper multiplies deviations by a `beta_t` over
//!   ten, and does not say which: with BBKB's it would explore from 0.4 times as far at first to three times late in a run.
//! - The `epsilon` of epsilon-greedy is not printed: 0.1. It is not in Table 1 either, and has the bandwidth of BBKB.
//! - Sampled dictionaries have at most 1,000 atoms, in all settings.

use noregret::Algorithm;
use noregret::strategy::arms::ArmOptions;
use noregret::strategy::arms::async_ts::AsyncTsConfig;
use noregret::strategy::arms::bbkb::BbkbConfig;
use noregret::strategy::arms::eps_greedy::EpsGreedyConfig;
use noregret::strategy::arms::gp_bucb::GpBucbConfig;
use noregret::strategy::arms::model::radius::{FirstGain, Radius};
use noregret::strategy::arms::model::shrinkage::LocalRule;
use noregret::strategy::arms::model::{Coins, Inclusion, SparseConfig};
use noregret::strategy::model_free::reg_evolution::RegEvolutionConfig;
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::hyperparameters::Tunable;
use noregret::surrogate::gp::kernel::Form;

use super::problem::ArmSet;
use super::{INITIAL, NOISE};
use crate::Setting;

/// What it is, in a line.
pub(super) fn describe(setting: Setting) -> &'static str {
    match setting {
        Setting::Ours => {
            "radius and dictionary of the authors' code, rules that hold, coins kept from batch to batch"
        }
        Setting::Code => "radius, rules and dictionary of the authors' code",
        Setting::Paper => "radius, rules and dictionary as printed",
    }
}

/// The algorithm of this name for a problem and a number of pulls.
pub(super) fn algorithm(setting: Setting, name: &str, problem: &ArmSet, rounds: usize) -> Algorithm {
    let fixed = |value| Tunable::fixed(value);
    let model = GpConfig {
        kernel: Form::SquaredExponential,
        lengthscale: fixed(1.0),
        lengthscales: lengthscales(problem, problem.bandwidth_of(name)),
        outputscale: fixed(1.0),
        noise: fixed(NOISE * NOISE),
        standardize: false,
        refit_growth: 1e9, // nothing is fitted
        ..GpConfig::default()
    };
    let inclusion = if setting == Setting::Paper { Inclusion::Paper } else { Inclusion::Code };
    let coins = if setting == Setting::Ours { Coins::Kept } else { Coins::Fresh };
    let sparse = SparseConfig { model, inclusion, coins, ..SparseConfig::default() };
    let (radius, of_bkb, first_gain, local_rule) = match setting {
        Setting::Paper => (Radius::Paper, Radius::BkbPaper, FirstGain::Printed, LocalRule::Printed),
        Setting::Code => (Radius::Code, Radius::Bkb, FirstGain::Code, LocalRule::Code),
        Setting::Ours => (Radius::Code, Radius::Bkb, FirstGain::Determinant, LocalRule::Both),
    };
    let arms = ArmOptions { sparse, initial_points: Some(INITIAL) };
    let delta = 1.0 / rounds.max(2) as f64;
    let max_batch = rounds.max(1);
    let bbkb = |radius| BbkbConfig {
        radius: Some(radius),
        first_gain,
        local_rule,
        delta,
        max_batch,
        arms: arms.clone(),
        ..BbkbConfig::default()
    };
    let bucb = |threshold, radius| GpBucbConfig {
        threshold,
        radius,
        first_gain,
        delta,
        max_batch,
        arms: arms.clone(),
        ..GpBucbConfig::default()
    };
    match name {
        "bbkb" => Algorithm::Bbkb(bbkb(radius)),
        "bbkb-local" => Algorithm::BbkbLocal(bbkb(radius)),
        "bkb" => Algorithm::Bkb(bbkb(of_bkb)),
        "bkb-same" => Algorithm::Bkb(bbkb(radius)),
        "gp-ucb" => Algorithm::GpBucb(bucb(1.0, Radius::GpBucb)),
        "gp-ucb-same" => Algorithm::GpBucb(bucb(1.0, radius)),
        "gp-bucb" => Algorithm::GpBucb(bucb(2.0, Radius::GpBucb)),
        "gp-bucb-same" => Algorithm::GpBucb(bucb(2.0, radius)),
        "async-ts" => Algorithm::AsyncTs(AsyncTsConfig { arms }),
        "eps-greedy" => Algorithm::EpsGreedy(EpsGreedyConfig { arms, ..EpsGreedyConfig::default() }),
        // The sample size of the scripts that the authors took.
        "reg-evolution" => {
            Algorithm::RegEvolution(RegEvolutionConfig { sample: 10, ..RegEvolutionConfig::default() })
        }
        _ => Algorithm::Random(noregret::strategy::algorithm::NoOptions {}),
    }
}

/// The bandwidth in units of the pool's coordinates, which run from the smallest to the largest value of each feature.
fn lengthscales(problem: &ArmSet, bandwidth: f64) -> Vec<f64> {
    let column = |j: usize| problem.features.iter().skip(j).step_by(problem.dims).map(|x| f64::from(*x));
    let scale = |j: usize| {
        let low = column(j).fold(f64::INFINITY, f64::min);
        let high = column(j).fold(f64::NEG_INFINITY, f64::max);
        if high > low { bandwidth / (high - low) } else { 1.0 }
    };
    (0..problem.dims).map(scale).collect()
}
