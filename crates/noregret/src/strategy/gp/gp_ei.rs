//! GP-EI: the point with the highest expected improvement, by its logarithm.
//! Jones, Schonlau & Welch 1998; Ament et al. 2023 for the logarithm, which has a gradient where the improvement itself
//! has vanished to rounding.
//!
//! # Departures
//! The incumbent is the best posterior mean at an evaluated point, so that noise does not raise the bar (for exact values
//! it is the best value). Points that run, and those of a batch, lower the variance for those after them, leave the mean
//! alone, and raise the incumbent to their own mean (kriging believer): an improvement that is already on its way is none.
//! With a trust region, points that need not stay inside may be chosen by an upper confidence bound (`elsewhere`): where the
//! best point is refined by some, the others had better explore. The `t` of its weight counts points, those of a batch one by one.
//! No point that was told or is running is chosen (`duplicates = "avoid"`), nor one within `apart` of it, where the papers allow repeats.
//! On a box this changes little, since a neighbour is as good; in a pool with noise much, since a promising row cannot be measured
//! again: see `replicate`.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::solver::Solver;
use crate::strategy::gp::search::trust_region::TrustRegion;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Which improvement is maximized.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Improvement {
    /// The logarithm of the expected improvement.
    #[default]
    LogExpected,
    /// The expected improvement itself.
    Expected,
    /// The probability of any improvement.
    Probability,
}

/// At 1 any two points would be repeats.
const APART: Range = Range::new(0.0, 0.99);

/// Settings of GP-EI.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct GpEiConfig {
    /// Which improvement.
    pub improvement: Improvement,
    /// Stay near the best point, as is wise in many dimensions. It takes the solver `auto`; in a pool it is without effect.
    pub trust_region: Option<TrustRegion>,
    /// Points count as repeats of each other where no number differs by more than this share of its range; by default only
    /// where nothing differs. Without effect where repeats are welcome. From 0 to 0.99.
    #[cfg_attr(feature = "schema", schemars(transform = APART.stated()))]
    pub apart: f64,
}

/// GP-EI.
pub type GpEi = GpStrategy<GpEiConfig>;

impl OwnOptions for GpEiConfig {
    const NAME: &'static str = "gp-ei";

    fn check(&self) -> Result<()> {
        if let Some(trust_region) = &self.trust_region {
            trust_region.validate()?;
        }
        Ok(APART.check("apart", self.apart)?)
    }

    fn refuses(&self, solver: &Solver) -> Option<String> {
        let ignored = self.trust_region.is_some() && !matches!(solver, Solver::Auto { .. });
        ignored.then(|| {
            format!(
                "trust_region takes solver `auto`; `{}` searches the whole space, so leave one of them out",
                solver.name()
            )
        })
    }
}

impl Strategy for GpEi {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let GpEiConfig { improvement, trust_region, apart, .. } = self.own;
        let search = self.gp.search(gp, &turn).apart(apart);
        let mut search = search.near_the_best(trust_region, gp, &mut turn);
        while turn.wants_more() {
            let best = gp.believed_incumbent();
            let utility = match (search.elsewhere(&turn), improvement) {
                (Some(bound), _) => {
                    let t = turn.memo.ledger.rounds; // points, each a round of its own
                    Utility::Ucb { beta: bound.value(&gp.round(t, &turn)) }
                }
                (None, Improvement::LogExpected) => Utility::LogExpectedImprovement { best },
                (None, Improvement::Expected) => Utility::ExpectedImprovement { best },
                (None, Improvement::Probability) => Utility::ProbabilityOfImprovement { best },
            };
            let found = search.maximize(&gp.scored(utility), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::super::gp_ucb::{GpUcb, GpUcbConfig};
    use super::*;
    use serde_json::json;

    use crate::acquisition::beta::BetaSchedule;
    use crate::error::Error;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::algorithm::{Algorithm, AlgorithmError};
    use crate::strategy::history::{Choice, Duplicates, Outcome};

    fn chosen(strategy: &mut dyn Strategy, history: &History) -> Vec<f64> {
        let mut rng = Seed(2).stream(Purpose::Propose, 0, 0);
        strategy.propose(history, NonZeroUsize::new(1), &mut rng).unwrap().choices.remove(0).x
    }

    /// No other solver stays in the box, and none but the adaptive grid needs measuring.
    #[test]
    fn solvers_that_would_ignore_an_option_are_refused() {
        let built = |options: serde_json::Value| {
            let options = options.as_object().unwrap().clone();
            Algorithm::with_options("gp-ei", options).unwrap().build().map(|_| ())
        };
        for name in ["random-grid", "sobol-grid", "adaptive-grid", "lbfgsb", "nelder-mead", "cg"] {
            let error = built(json!({"trust_region": {}, "solver": {"name": name}})).unwrap_err();
            assert!(matches!(error, Error::Algorithm(AlgorithmError::Options { .. })), "{error}");
            let error = error.to_string();
            assert!(error.contains("trust_region takes solver `auto`") && error.contains(name), "{error}");
            let never = built(json!({"measure": "never", "solver": {"name": name}}));
            assert_eq!(never.is_err(), name == "adaptive-grid");
            if let Err(error) = never {
                assert!(error.to_string().contains("choose measure `always`"), "{error}");
            }
            assert!(built(json!({"solver": {"name": name}})).is_ok());
        }
        assert!(built(json!({"trust_region": {}, "measure": "never"})).is_ok());
    }

    /// With `elsewhere` it is GP-EI in the trust region and in pools, and GP-UCB otherwise.
    #[test]
    fn outside_the_trust_region_the_bound_decides() {
        let bounds = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        let rows = (0..200).flat_map(|_| bounds.sample(&mut rng).unwrap()).collect();
        let pool = Space::pool(Pool::new(rows, 2).unwrap());
        for space in [bounds, pool] {
            let is_pool = space.as_pool().is_some();
            let mut history = History::new(space.clone(), Duplicates::Replicate);
            for _ in 0..12 {
                let x = space.sample(&mut rng).unwrap();
                let y = (9.0 * x[0]).sin() + x[1];
                history.add(&Choice { x, row: None }, Outcome::Value { y, noise_variance: None });
            }
            // Every second point is inside: the first one, and not the one after it.
            for rounds in 0..2 {
                let mut memo = history.memo().clone();
                memo.ledger.rounds = rounds;
                history.proposed([], memo);
                let by = |elsewhere| {
                    let trust_region = Some(TrustRegion { every: 2, elsewhere, ..TrustRegion::default() });
                    let config = GpEiConfig { trust_region, ..GpEiConfig::default() };
                    chosen(&mut GpEi::new(config.into()).unwrap(), &history)
                };
                let (improvement, bound) = (by(None), by(Some(BetaSchedule::SqrtLog)));
                if rounds == 0 || is_pool {
                    assert_eq!(improvement, bound);
                } else {
                    assert_ne!(improvement, bound);
                    assert_eq!(
                        chosen(&mut GpUcb::new(GpUcbConfig::default().into()).unwrap(), &history),
                        bound
                    );
                }
            }
        }
    }
}
