//! How much the deviation weighs in an upper confidence bound, by round: the schedules of the papers, each by its name.
//!
//! All give the factor of the standard deviation. Srinivas et al. call its square `beta_t`.
//! # Notation
//! | paper         | here               | meaning                                                        |
//! |---------------|--------------------|----------------------------------------------------------------|
//! | `t`           | `t` or `t + 1`     | round; ours counts from 0, see each schedule                   |
//! | `B`           | `norm_bound`       | bound on the RKHS norm of the objective                        |
//! | `R`           | `noise`            | sub-Gaussian constant of the noise                             |
//! | `gamma_{t-1}` | `information_gain` | `1/2 logdet(I + K/tau)` of the data so far                     |
//! | `delta`       | `delta`            | probability with which the bound may fail                      |
//! | `\|D\|`       | `candidates`       | size of a finite set of points                                 |
//! | `d`           | `dims`             | dimensions of the box                                          |
//! # Departures
//! [`BetaSchedule::Chowdhury`] takes the information gain realised by the data at hand, initial design included, in place of the
//! largest that as many points could bring, which nobody can compute: never more than that, and the step of the proof which bounds
//! the one by the other is not needed. (The paper's `gamma_{t-1}` leaves the initial points out: with many of them ours can be
//! larger.) Chowdhury & Gopalan prove this weight for the regulariser `tau = 1 + 2/T`; Kim et al. quote it for any `tau`, and so do we,
//! with the model's noise variance. For `tau` below 1 a valid bound has `R / sqrt(tau)` in place of `R`: ours is smaller.
//!
//! [`BetaSchedule::Srinivas`] on a box sets the constants of the kernel that Theorem 2 leaves open, `a = b = 1`, on the unit cube, `r = 1`.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

use crate::math::range::{OutOfRange, Range};

/// What a schedule may depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Round {
    /// Rounds finished before this one, first design not counted: 0 in the first round.
    pub t: usize,
    /// Dimensions of the search space.
    pub dims: usize,
    /// How many points there are to choose from, if the set is finite.
    pub candidates: Option<usize>,
    /// `1/2 logdet(I + K/tau)` of the observations so far.
    pub information_gain: f64,
}

/// A larger weight is pure exploration.
const WEIGHTS: Range = Range::new(0.0, 1e6);
/// Strictly between 0 and 1, by a margin that logarithms can tell.
const PROBABILITIES: Range = Range::new(1e-15, 0.999_999);
const EVENTS: Range = Range::new(1.0, 3.0);
/// Only its logarithm counts.
const SET_SIZES: Range = Range::new(1.0, 1e15);

/// The weight of the standard deviation in an upper confidence bound, by round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BetaSchedule {
    /// The same weight in every round.
    Constant {
        /// The weight. From 0 to 1e6.
        #[cfg_attr(feature = "schema", schemars(transform = WEIGHTS.stated()))]
        value: f64,
    },
    /// `sqrt(ln(t + 2))`, Kim et al. (2025), section 5.1, where `t` is 0 in the first round after the initial design
    /// (so in the authors' code; the paper's own loop counts from 1): 0.83, 1.05, 1.18 and so on.
    #[default]
    SqrtLog,
    /// `B + R sqrt(2 (gamma + 1 + ln(events / delta)))`, Chowdhury & Gopalan (2017), as in Kim et al. (2025).
    Chowdhury {
        /// `B`: bound on the objective's norm in the kernel's space. From 0 to 1e6.
        #[cfg_attr(feature = "schema", schemars(transform = WEIGHTS.stated()))]
        norm_bound: f64,
        /// `R`: sub-Gaussian constant of the noise, its standard deviation if it is Gaussian. From 0 to 1e6.
        #[cfg_attr(feature = "schema", schemars(transform = WEIGHTS.stated()))]
        noise: f64,
        /// Probability with which the confidence bound may fail, from 1e-15 to 0.999999.
        #[cfg_attr(feature = "schema", schemars(transform = PROBABILITIES.stated()))]
        delta: f64,
        /// Among how many events `delta` is shared: 1 for GP-UCB (Alg. 1), 2 for GP-TS (Alg. 2) and for UCB over a
        /// random grid (Theorem 7), 3 for Thompson sampling over a random grid (Theorem 8). From 1 to 3.
        #[serde(default = "one")]
        #[cfg_attr(feature = "schema", schemars(transform = EVENTS.stated()))]
        events: u8,
    },
    /// `0.2 ln(|X| t^2 pi^2 / 0.06)`, as the code behind Ren & Li, "TS-RSR", weighs its confidence bounds, with `t`
    /// counted from 1 (there from 0, which makes the first weight minus infinity).
    RenLi {
        /// `|X|`: candidates to choose from. From 1 to 1e15.
        #[cfg_attr(feature = "schema", schemars(transform = SET_SIZES.stated()))]
        candidates: usize,
    },
    /// Srinivas et al. (2010): with `t` counted from 1, over a finite set Theorem 1,
    /// `sqrt(2 ln(|D| t^2 pi^2 / (6 delta)))`; over the unit cube Theorem 2,
    /// `sqrt(2 ln(2 t^2 pi^2 / (3 delta)) + 2 d ln(t^2 d b sqrt(ln(4 d a / delta))))` with `a = b = 1`.
    ///
    /// Their experiments divide the square by 5; this is the printed form.
    Srinivas {
        /// Probability with which the confidence bound may fail, from 1e-15 to 0.999999.
        #[cfg_attr(feature = "schema", schemars(transform = PROBABILITIES.stated()))]
        delta: f64,
    },
}

impl BetaSchedule {
    /// The weight in this round; finite and not negative if the schedule is [valid](Self::validate).
    pub fn value(&self, round: &Round) -> f64 {
        match *self {
            Self::Constant { value } => value,
            Self::SqrtLog => (round.t as f64 + 2.0).ln().sqrt(),
            Self::RenLi { candidates } => {
                let t = round.t as f64 + 1.0;
                (0.2 * (candidates as f64 * t * t * PI * PI / 0.06).ln()).max(0.0)
            }
            Self::Chowdhury { norm_bound, noise, delta, events } => {
                let gamma = round.information_gain;
                norm_bound + noise * (2.0 * (gamma + 1.0 + f64::from(events).ln() - delta.ln())).sqrt()
            }
            Self::Srinivas { delta } => {
                let ln_t2 = 2.0 * (round.t as f64).ln_1p();
                match round.candidates {
                    Some(n) => finite_set(n.max(1) as f64, ln_t2, delta),
                    None => unit_cube(round.dims.max(1) as f64, ln_t2, delta),
                }
                .sqrt()
            }
        }
    }

    /// Returns an error that names the first field out of its range.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match *self {
            Self::Constant { value } => WEIGHTS.check("value", value),
            Self::SqrtLog => Ok(()),
            Self::RenLi { candidates } => SET_SIZES.check("candidates", candidates),
            Self::Chowdhury { norm_bound, noise, delta, events } => {
                WEIGHTS.check("norm_bound", norm_bound)?;
                WEIGHTS.check("noise", noise)?;
                PROBABILITIES.check("delta", delta)?;
                EVENTS.check("events", f64::from(events))
            }
            Self::Srinivas { delta } => PROBABILITIES.check("delta", delta),
        }
    }
}

/// Theorem 1 of Srinivas et al.: `2 ln(|D| t^2 pi^2 / (6 delta))`, factor by factor lest it overflow.
fn finite_set(size: f64, ln_t2: f64, delta: f64) -> f64 {
    2.0 * (size.ln() + ln_t2 + (PI * PI / 6.0).ln() - delta.ln())
}

/// Theorem 2 of Srinivas et al. with `a = b = r = 1`.
fn unit_cube(d: f64, ln_t2: f64, delta: f64) -> f64 {
    let ln_grid = ln_t2 + (d * ((4.0 * d).ln() - delta.ln()).sqrt()).ln();
    2.0 * (ln_t2 + (2.0 * PI * PI / 3.0).ln() - delta.ln()) + 2.0 * d * ln_grid
}

fn one() -> u8 {
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Round = Round { t: 0, dims: 2, candidates: None, information_gain: 0.0 };

    fn assert_close(value: f64, exact: f64) {
        assert!((value - exact).abs() < 1e-14 * exact.abs(), "{value}, not {exact}");
    }

    #[test]
    fn sqrt_log_counts_from_zero() {
        let at = |t| BetaSchedule::SqrtLog.value(&Round { t, ..ROUND });
        assert_close(at(0), 2.0_f64.ln().sqrt());
        assert_close(at(98), 100.0_f64.ln().sqrt());
    }

    #[test]
    fn chowdhury_in_closed_form() {
        let schedule = |events| BetaSchedule::Chowdhury { norm_bound: 2.0, noise: 0.5, delta: 0.1, events };
        let round = Round { information_gain: 3.0, ..ROUND };
        assert_close(schedule(1).value(&round), 2.0 + 0.5 * (2.0 * (4.0 + 10.0_f64.ln())).sqrt());
        assert_close(schedule(2).value(&round), 2.0 + 0.5 * (2.0 * (4.0 + 20.0_f64.ln())).sqrt());
        assert_close(schedule(3).value(&round), 2.0 + 0.5 * (2.0 * (4.0 + 30.0_f64.ln())).sqrt());
    }

    #[test]
    fn srinivas_in_closed_form() {
        let schedule = BetaSchedule::Srinivas { delta: 0.1 };
        let pi2 = PI * PI;
        // Third round, t = 3.
        let finite = Round { t: 2, candidates: Some(1_000), ..ROUND };
        assert_close(schedule.value(&finite), (2.0 * (1_000.0 * 9.0 * pi2 / 0.6).ln()).sqrt());
        let cube = Round { t: 2, ..ROUND };
        let exact = 2.0 * (9.0 * 2.0 * pi2 / 0.3).ln() + 4.0 * (9.0 * 2.0 * 80.0_f64.ln().sqrt()).ln();
        assert_close(schedule.value(&cube), exact.sqrt());
    }

    #[test]
    fn a_valid_schedule_gives_a_finite_weight_at_the_edges() {
        let edges = [
            Round { dims: 0, ..ROUND },
            Round { candidates: Some(0), ..ROUND },
            Round { candidates: Some(usize::MAX), t: usize::MAX, ..ROUND },
            Round { dims: 10_000, t: usize::MAX, information_gain: 1e300, ..ROUND },
        ];
        for delta in [PROBABILITIES.least, 0.5, PROBABILITIES.most] {
            for schedule in [
                BetaSchedule::Constant { value: 0.0 },
                BetaSchedule::SqrtLog,
                BetaSchedule::Chowdhury { norm_bound: 1.0, noise: 0.0, delta, events: 1 },
                BetaSchedule::Srinivas { delta },
            ] {
                assert_eq!(schedule.validate(), Ok(()));
                for round in edges {
                    let value = schedule.value(&round);
                    assert!(value.is_finite() && value >= 0.0, "{schedule:?}, {round:?}: {value}");
                }
            }
        }
    }

    #[test]
    fn fields_out_of_range_are_named() {
        for delta in [0.0, 1.0, -0.1, 1.5, f64::NAN] {
            let chowdhury = BetaSchedule::Chowdhury { norm_bound: 1.0, noise: 1.0, delta, events: 1 };
            for schedule in [chowdhury, BetaSchedule::Srinivas { delta }] {
                assert_eq!(schedule.validate().unwrap_err().option, "delta", "{schedule:?}");
            }
        }
        for bad in [-1.0, f64::NAN, f64::INFINITY] {
            let field = |schedule: BetaSchedule| schedule.validate().unwrap_err().option;
            assert_eq!(field(BetaSchedule::Constant { value: bad }), "value");
            let chowdhury =
                |norm_bound, noise| BetaSchedule::Chowdhury { norm_bound, noise, delta: 0.1, events: 1 };
            assert_eq!(field(chowdhury(bad, 1.0)), "norm_bound");
            assert_eq!(field(chowdhury(1.0, bad)), "noise");
        }
        for events in [0, 4] {
            let schedule = BetaSchedule::Chowdhury { norm_bound: 1.0, noise: 1.0, delta: 0.1, events };
            assert_eq!(schedule.validate().unwrap_err().option, "events");
        }
        let error = BetaSchedule::Srinivas { delta: 2.0 }.validate().unwrap_err();
        assert_eq!(error.to_string(), "delta must be from 1e-15 to 0.999999, not 2");
    }

    #[test]
    fn read_by_name() {
        let read = serde_json::from_str::<BetaSchedule>;
        assert_eq!(read(r#"{"name": "sqrt-log"}"#).unwrap(), BetaSchedule::SqrtLog);
        assert_eq!(
            read(r#"{"name": "chowdhury", "norm_bound": 1, "noise": 0.1, "delta": 0.05}"#).unwrap(),
            BetaSchedule::Chowdhury { norm_bound: 1.0, noise: 0.1, delta: 0.05, events: 1 }
        );
        assert!(read(r#"{"name": "constant", "value": 2, "delta": 0.1}"#).is_err());
        let written = serde_json::to_string(&BetaSchedule::Srinivas { delta: 0.5 }).unwrap();
        assert_eq!(written, r#"{"name":"srinivas","delta":0.5}"#);
    }
}
