//! `auto`: the default. It chooses by the problem, and gives the choice and its reason in the diagnostics.
//!
//! | problem                            | choice                                                                                     |
//! |------------------------------------|--------------------------------------------------------------------------------------------|
//! | few values yet                     | a scrambled Sobol design (in pools random rows) of twice as many points as parameters, from 5 to 20 (or as many as parameters up to 50), but at most a third of all trials, rounded up, if their number is known; all that is asked for before the first value is told belongs to it, however large the batch |
//! | numbers, categories, pools         | `gp-ei` with the kernel `anova`, every third point near the best one (in pools none)       |
//! | the last 35 % of all trials, if their number is known | the first two points of every batch, to which running points belong, are near the best one, too (not in pools) |
//! | points that need not be near the best one | by an upper confidence bound in place of the expected improvement (not in pools)   |
//! | more than 15 parameters            | the same with the kernel `matern-52`, lengthscales that differ less, and every second point near the best one |
//!
//! The experiment `noregret bench auto` tests each of these choices by undoing it; see docs/notebook/auto.md.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::beta::BetaSchedule;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::gp_ei::{GpEi, GpEiConfig};
use crate::strategy::gp::search::trust_region::TrustRegion;
use crate::strategy::gp::{GpOptions, OnGp};
use crate::strategy::history::History;
use crate::strategy::limits::{Demand, INITIAL_POINTS};
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::hyperparameters::{Prior, Tunable};
use crate::surrogate::gp::kernel::Form;
use crate::surrogate::gp::warp::Transform;
use crate::surrogate::gp::{GpConfig, Pending};

/// With more parameters than this, no realistic number of evaluations identifies their lengthscales.
const MANY_DIMENSIONS: usize = 15;
/// Points closer than this teach nothing new: the gain left between them is below about one part in 10^8.
pub const APART: f64 = 1e-5;
/// After this share of all trials, told or running, if their number is known, the first points of each batch stay near the best one.
const FINISH: f64 = 0.65;

/// Settings of `auto`: none but the size of the initial design.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AutoConfig {
    /// Points before the model is asked; by default twice as many as parameters, from 5 to 20, or as many as parameters up to 50;
    /// at most a third of all trials, rounded up. A batch asked for before the first value belongs to it as a whole. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
    pub initial_points: Option<usize>,
}

impl Demand for AutoConfig {}

/// The default strategy.
#[derive(Debug)]
pub struct Auto {
    config: AutoConfig,
    /// The choice, its reason, and the budget it was made for. The space of a study never changes.
    chosen: Option<(GpEi, String, Option<usize>)>,
}

impl Auto {
    /// Builds the algorithm; returns an error if an option is invalid.
    pub fn new(config: AutoConfig) -> Result<Self> {
        INITIAL_POINTS.check("initial_points", config.initial_points)?;
        Ok(Self { config, chosen: None })
    }
}

impl AutoConfig {
    /// Returns the algorithm for a problem, as a user would configure it, and the reason.
    pub(crate) fn choose(&self, history: &History) -> (OnGp<GpEiConfig>, String) {
        let space = history.space();
        let is_pool = space.as_pool().is_some();
        let kernel = kernel(space.dims());
        let why = match kernel {
            Form::Anova => "the kernel anova, which is additive where the values are".to_owned(),
            _ => format!("the kernel matern-52, for there are {} parameters", space.dims()),
        };
        let trust_region = trust_region(space.dims());
        let config = OnGp {
            own: GpEiConfig {
                trust_region: (!is_pool).then_some(trust_region),
                apart: APART,
                ..GpEiConfig::default()
            },
            gp: GpOptions {
                model: model(kernel, space.dims()),
                initial_points: self.initial_points.or(Some(design(space.dims(), history.budget()))),
                ..GpOptions::default()
            },
        };
        let near = match trust_region.every {
            _ if is_pool => "",
            2 => "; every second point stays near the best one",
            _ => "; every third point stays near the best one",
        };
        let finish = match history.budget() {
            Some(budget) if !is_pool => {
                format!(
                    ", and towards the end of {budget} trials the first two of every batch, running points counted"
                )
            }
            _ => String::new(),
        };
        let elsewhere = if is_pool { "" } else { "; the others are chosen by an upper confidence bound" };
        let why = format!(
            "auto chose gp-ei: the logarithm of the expected improvement under a Gaussian process with {why}{near}{finish}{elsewhere}"
        );
        (config, why)
    }
}

/// Size of the initial design, given the total number of evaluations if known: at most a third of it, rounded up.
pub fn design(dims: usize, budget: Option<usize>) -> usize {
    let most = budget.map_or(usize::MAX, |budget| budget.div_ceil(3));
    (2 * dims).clamp(5, 20).max(dims.min(50)).min(most)
}

/// The kernel.
pub fn kernel(dims: usize) -> Form {
    if dims > MANY_DIMENSIONS { Form::Matern52 } else { Form::Anova }
}

/// The Gaussian process of `auto`: a transformation shortens long tails of the values, and the priors expect lengthscales of the
/// order of the range and little noise.
pub fn model(kernel: Form, dims: usize) -> GpConfig {
    let plain = GpConfig::default();
    let scale = if dims > MANY_DIMENSIONS { 0.5 } else { 1.0 };
    GpConfig {
        kernel,
        lengthscale: Tunable { prior: Prior::Log { location: -0.7, scale }, ..plain.lengthscale },
        noise: Tunable { low: 1e-8, prior: Prior::Log { location: -13.0, scale: 3.0 }, ..plain.noise },
        transform: Transform::YeoJohnson,
        pending: Pending::Exact,
        refit_growth: 0.05,
        ..plain
    }
}

/// The trust region of `auto`.
pub fn trust_region(dims: usize) -> TrustRegion {
    TrustRegion {
        every: if dims > MANY_DIMENSIONS { 2 } else { 3 },
        finish: FINISH,
        elsewhere: Some(BetaSchedule::SqrtLog),
        ..TrustRegion::default()
    }
}

impl Strategy for Auto {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let (mut inner, why, _) = match self.chosen.take() {
            Some(chosen) if chosen.2 == history.budget() => chosen,
            _ => {
                let (config, why) = self.config.choose(history);
                (GpEi::new(config)?, why, history.budget())
            }
        };
        let proposal = inner.propose(history, q, rng);
        let (_, why, _) = self.chosen.insert((inner, why, history.budget()));
        let mut proposal = proposal?;
        let d = &mut proposal.diagnostics;
        d.algorithm = "auto".into();
        d.notes.push(if d.model.is_some() {
            why.clone()
        } else if history.space().as_pool().is_some() {
            "auto chose random rows: there are too few values for a model".into()
        } else {
            "auto chose an initial Sobol design: there are too few values for a model".into()
        });
        Ok(proposal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::history::{Choice, Duplicates, Outcome};

    fn chosen(space: Space) -> (OnGp<GpEiConfig>, String) {
        AutoConfig::default().choose(&History::new(space, Duplicates::Avoid))
    }

    #[test]
    fn the_problem_decides() {
        let (config, why) = chosen(Space::bounds(&[(0.0, 1.0); 3]).unwrap());
        assert_eq!((config.gp.model.kernel, config.gp.initial_points), (Form::Anova, Some(6)));
        assert!(config.own.trust_region.is_some() && why.contains("near the best"), "{why}");
        let (many, why) = chosen(Space::bounds(&[(0.0, 1.0); 80]).unwrap());
        assert_eq!(
            (many.gp.initial_points, many.own.trust_region.map(|region| region.every)),
            (Some(50), Some(2))
        );
        assert_eq!(chosen(Space::bounds(&[(0.0, 1.0); 30]).unwrap()).0.gp.initial_points, Some(30));
        assert_eq!(many.gp.model.kernel, Form::Matern52);
        assert!(
            many.gp.model.lengthscale != config.gp.model.lengthscale && why.contains("80 parameters"),
            "{why}"
        );
        assert_eq!(chosen(Space::bounds(&[(0.0, 1.0)]).unwrap()).0.gp.initial_points, Some(5));

        let pool = Space::pool(Pool::new((0..100).map(f64::from).collect(), 1).unwrap());
        let (config, why) = chosen(pool);
        assert_eq!((config.gp.model.kernel, config.own.trust_region), (Form::Anova, None));
        assert!(!why.contains("near the best"), "{why}");

        let own = AutoConfig { initial_points: Some(9) };
        let mut history = History::new(Space::bounds(&[(0.0, 1.0); 10]).unwrap(), Duplicates::Avoid);
        assert_eq!(own.choose(&history).0.gp.initial_points, Some(9));
        for (budget, design) in [(1_000, 20), (60, 20), (15, 5), (1, 1), (0, 0)] {
            history.set_budget(Some(budget));
            let (config, why) = AutoConfig::default().choose(&history);
            assert_eq!(config.gp.initial_points, Some(design), "{budget}");
            assert!(
                why.contains(&format!("the end of {budget} trials the first two of every batch, running")),
                "{why}"
            );
            assert_eq!(own.choose(&history).0.gp.initial_points, Some(9));
        }
    }

    /// With fifteen trials in ten dimensions the model has most of them, also if it hears of their number late.
    #[test]
    fn few_trials_are_not_all_spent_on_the_design() {
        let space = Space::bounds(&[(0.0, 1.0); 10]).unwrap();
        let mut history = History::new(space, Duplicates::Avoid);
        let mut auto = Auto::new(AutoConfig::default()).unwrap();
        let mut rng = Seed(7).stream(Purpose::Experiment, 0, 0);
        let mut by_model = Vec::new();
        for i in 0..8 {
            if i == 2 {
                history.set_budget(Some(15));
            }
            let mut proposal = auto.propose(&history, NonZeroUsize::new(1), &mut rng).unwrap();
            by_model.push(proposal.diagnostics.model.is_some());
            let choice = proposal.choices.remove(0);
            let y = -choice.x.iter().sum::<f64>();
            history.add(&choice, Outcome::Value { y, noise_variance: None });
            history.proposed([], proposal.memo);
        }
        assert_eq!(by_model, [false, false, false, false, false, true, true, true]);
    }

    /// Where values are noisy, the expected improvement is largest in one place for all points of a batch, unless what runs counts.
    #[test]
    fn points_of_a_batch_stay_apart_on_noisy_values() {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut history = History::new(space.clone(), Duplicates::Replicate);
        let mut rng = Seed(5).stream(Purpose::Experiment, 0, 0);
        for i in 0..40 {
            let x = space.sample(&mut rng).unwrap();
            let noise = 0.3 * (f64::from(i * 7919 % 13) / 6.0 - 1.0);
            let y = -x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>() + noise;
            history.add(&Choice { x, row: None }, Outcome::Value { y, noise_variance: None });
        }
        let mut auto = Auto::new(AutoConfig::default()).unwrap();
        let proposal = auto.propose(&history, NonZeroUsize::new(8), &mut rng).unwrap();
        assert!(proposal.diagnostics.notes.iter().any(|note| note.starts_with("auto chose gp-ei")));
        for (i, a) in proposal.choices.iter().enumerate() {
            for b in &proposal.choices[..i] {
                let distance = a.x.iter().zip(&b.x).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
                assert!(distance > 1e-3, "{a:?} {b:?}");
            }
        }
    }

    /// One value near the end of the range, the others near each other: found by the test of all histories.
    #[test]
    fn one_huge_value_leaves_numbers_to_choose_by() {
        let space = Space::bounds(&[(0.0, 1e-3)]).unwrap();
        for huge in [1e300, -1e300, 1e308, -1e308] {
            for at in [0.1, 0.5, 0.9] {
                let mut history = History::new(space.clone(), Duplicates::Avoid);
                let mut auto = Auto::new(AutoConfig::default()).unwrap();
                let mut rng = Seed(8).stream(Purpose::Experiment, 0, 0);
                let told = [(0.0, 0.0), (0.0, 0.0), (at, huge), (0.0, -7.374), (0.375_733, -5.714)];
                for (x, y) in told {
                    let choice = Choice { x: vec![x], row: None };
                    history.add(&choice, Outcome::Value { y, noise_variance: None });
                }
                let proposal = auto.propose(&history, NonZeroUsize::new(1), &mut rng);
                assert!(proposal.is_ok(), "{huge} at {at}: {proposal:?}");
            }
        }
    }

    /// Without any improvement the box shrinks until it holds no other level of whole numbers.
    #[test]
    fn whole_numbers_do_not_run_out_in_a_small_box() {
        let names = ["a", "b", "c", "d", "e", "f"];
        let space =
            names.iter().fold(Space::builder(), |space, name| space.int(*name, 0, 8)).build().unwrap();
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        let mut auto = Auto::new(AutoConfig::default()).unwrap();
        let mut rng = Seed(6).stream(Purpose::Experiment, 0, 0);
        for i in 0..60 {
            let mut proposal = auto.propose(&history, NonZeroUsize::new(1), &mut rng).unwrap();
            history
                .add(&proposal.choices.remove(0), Outcome::Value { y: -f64::from(i), noise_variance: None });
            history.proposed([], proposal.memo);
        }
    }
}
