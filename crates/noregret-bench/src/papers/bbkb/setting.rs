//! The settings of the experiment.
//!
//! | | `paper` | `code` | `ours` |
//! |---|---|---|---|
//! | radius | Theorem 2 | `sqrt(lambda) F + xi sqrt(C sum log(1 + var) + log(1/delta))` | as `code` |
//! | an arm is in the dictionary | one coin a pull, of `qbar var` | one coin, of `qbar * pulls * var` | as `code` |
//! | coins | fresh for every batch | fresh for every batch | kept |
//! | kernel | Gaussian, bandwidth of Table 1 | the same | the same |
//! | `lambda`, `xi`, `F`, `delta`, `qbar`, `C` | not printed, 0.01, 1, 1/T, 2, not printed | `xi^2`, 0.01, 1, 1/T, 2, 2 | as `code` |
//!
//! # Departures
//! - All algorithms have the bandwidth of BBKB; Table 1 gives some rivals others.
//! - Thompson sampling draws from the posterior; the paper divides its deviation by ten to make it converge.

use noregret::Algorithm;
use noregret::strategy::arms::ArmOptions;
use noregret::strategy::arms::async_ts::AsyncTsConfig;
use noregret::strategy::arms::bbkb::{BbkbConfig, Radius};
use noregret::strategy::arms::eps_greedy::EpsGreedyConfig;
use noregret::strategy::arms::gp_bucb::GpBucbConfig;
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
        Setting::Ours => "radius and dictionary of the authors' code, coins kept from batch to batch",
        Setting::Code => "radius and dictionary of the authors' code",
        Setting::Paper => "radius and dictionary as printed",
    }
}

/// The algorithm of this name for a problem and a number of pulls.
pub(super) fn algorithm(setting: Setting, name: &str, problem: &ArmSet, rounds: usize) -> Algorithm {
    let fixed = |value| Tunable::fixed(value);
    let model = GpConfig {
        kernel: Form::SquaredExponential,
        lengthscale: fixed(1.0),
        lengthscales: lengthscales(problem),
        outputscale: fixed(1.0),
        noise: fixed(NOISE * NOISE),
        standardize: false,
        refit_growth: 1e9, // nothing is fitted
        ..GpConfig::default()
    };
    let inclusion = if setting == Setting::Paper { Inclusion::Paper } else { Inclusion::Code };
    let coins = if setting == Setting::Ours { Coins::Kept } else { Coins::Fresh };
    let sparse = SparseConfig { model, inclusion, coins, ..SparseConfig::default() };
    let radius = if setting == Setting::Paper { Radius::Paper } else { Radius::Code };
    let arms = ArmOptions { sparse, initial_points: Some(INITIAL) };
    let delta = 1.0 / rounds.max(2) as f64;
    let max_batch = rounds.max(1);
    let bbkb = || BbkbConfig { radius, delta, max_batch, arms: arms.clone(), ..BbkbConfig::default() };
    let bucb = |threshold| GpBucbConfig {
        threshold,
        radius,
        delta,
        max_batch,
        arms: arms.clone(),
        ..GpBucbConfig::default()
    };
    match name {
        "bbkb" => Algorithm::Bbkb(bbkb()),
        "bbkb-local" => Algorithm::BbkbLocal(bbkb()),
        "bkb" => Algorithm::Bkb(bbkb()),
        "gp-ucb" => Algorithm::GpBucb(bucb(1.0)),
        "gp-bucb" => Algorithm::GpBucb(bucb(2.0)),
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
fn lengthscales(problem: &ArmSet) -> Vec<f64> {
    let column = |j: usize| problem.features.iter().skip(j).step_by(problem.dims).map(|x| f64::from(*x));
    let scale = |j: usize| {
        let low = column(j).fold(f64::INFINITY, f64::min);
        let high = column(j).fold(f64::NEG_INFINITY, f64::max);
        if high > low { problem.bandwidth / (high - low) } else { 1.0 }
    };
    (0..problem.dims).map(scale).collect()
}
