//! BUCB: upper confidence bounds whose deviation knows of the batch so far.
//! Desautels, Krause & Burdick 2014, "Parallelizing exploration-exploitation tradeoffs", eq. (8); a rival in Ren & Li.
//!
//! # Notation
//! | paper       | here   | meaning                                                        |
//! |-------------|--------|----------------------------------------------------------------|
//! | `beta_t`    | `beta` | weight of the deviation (its square root, in the paper)        |
//! | `fb[t]`     |        | the last round with feedback: the mean is that of then         |
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`. Beyond 256 points climbs follow a local model, see `gp_ucb`.
//! - The weight is not enlarged by `exp(C)` for the hallucinated observations, as nobody does in practice. By default it is
//!   that of the code behind Ren & Li, counted from round 1 (there the first weight is minus infinity): `0.2 ln(|X| t^2
//!   pi^2 / 0.06)` for 1,001 candidates, 2.4 in round 1 and 4.0 in round 50.
//! - All points of a batch share a weight. Its `t` counts rounds, as in that code, where Desautels et al. count the points with
//!   feedback: ours grows more slowly. What a round is, where points are asked for one by one, says `Rounds` of the memo. Their
//!   initialisation phase is absent.
//! - No point that was told or is running is chosen (`duplicates = "avoid"`), where the paper allows repeats. On a box this changes
//!   little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured again: see `replicate`.

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::error::Result;
use crate::strategy::gp::OnGp;
use crate::strategy::gp::gp_ucb::{GpUcb, GpUcbConfig};

/// Settings of BUCB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct BucbConfig {
    /// Weight of the deviation.
    pub beta: BetaSchedule,
}

impl Default for BucbConfig {
    fn default() -> Self {
        Self { beta: BetaSchedule::RenLi { candidates: 1_001 } }
    }
}

/// The loop of GP-UCB, whose deviation is conditioned on the batch so far, with another weight.
pub fn build(OnGp { own: BucbConfig { beta }, gp }: OnGp<BucbConfig>) -> Result<GpUcb> {
    GpUcb::named("bucb", OnGp { own: GpUcbConfig { beta }, gp })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::beta::Round;
    use crate::space::Space;
    use crate::strategy::Strategy;
    use crate::strategy::gp::GpOptions;
    use crate::strategy::history::History;
    use crate::strategy::testing::{random_history, stream, value};
    use std::num::NonZeroUsize;

    fn propose(history: &History, beta: BetaSchedule, q: usize, t: u64) -> crate::strategy::Proposal {
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        let mut strategy = build(OnGp { own: BucbConfig { beta }, gp }).unwrap();
        strategy.propose(history, NonZeroUsize::new(q), &mut stream(1, t)).unwrap()
    }

    /// Rounds of four points, some of them asked for one by one: the weight is that of the round. Every proposal is by a strategy
    /// that knows nothing but the history, as after a restart.
    #[test]
    fn the_weight_goes_by_rounds() {
        let square = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut history = random_history(square, 5, 5, |x| -(x[0] - 0.3).powi(2) - (x[1] - 0.6).powi(2));
        let schedule = BucbConfig::default().beta;
        let mut number = 5;
        for t in 0..6 {
            let sizes: &[usize] = if t % 2 == 0 { &[4] } else { &[1, 2, 1] };
            for &q in sizes {
                let weight = schedule.value(&Round { t, dims: 2, candidates: None, information_gain: 0.0 });
                let ours = propose(&history, schedule, q, t as u64);
                let fixed = propose(&history, BetaSchedule::Constant { value: weight }, q, t as u64);
                assert_eq!(ours.choices, fixed.choices, "round {t}");
                assert_eq!(ours.memo.rounds.unwrap().begun, t + 1);
                history.proposed((number..).zip(ours.choices.clone()), ours.memo);
                number += ours.choices.len() as u64;
            }
            for told in number - 4..number {
                history.told(told, value(0.1 * told as f64)).unwrap();
            }
        }
    }

    /// "BUCB's weight at round 50": 0.2 ln(1001 * 50^2 * pi^2 / 0.06) = 4.
    #[test]
    fn the_weight_of_round_50_is_near_4() {
        let round = Round { t: 49, dims: 2, candidates: None, information_gain: 0.0 };
        assert!((BucbConfig::default().beta.value(&round) - 3.967).abs() < 1e-3);
    }
}
