//! BBKB: confidence bounds over large sets of arms, in batches as large as the model allows, with a sparse model.
//! Calandriello et al. 2020, Alg. 1; `bbkb-local` after Lemma 3, `bkb` with batches of one (Calandriello et al. 2019).
//!
//! # Notation
//! | paper                    | here        | meaning                                                                  |
//! |--------------------------|-------------|--------------------------------------------------------------------------|
//! | `C`                      | `threshold` | a batch ends when variances may have shrunk by more than this factor     |
//! | `alpha_t`, `beta_t`      | radius      | of the confidence interval, Theorem 2                                    |
//! | `sigma^2_fb(t)(x)`       | `start`     | variance at the beginning of the batch                                   |
//! | `F`, `delta`             | the same    | bound of the function's norm, chance to err                              |
//! | `1 + sum sigma^2_fb`     | `global`    | Lemma 1: bounds the shrinking everywhere                                 |
//! | `1 + sum k^2 / sigma^2`  | `local`     | Lemma 3: bounds it at each arm                                           |
//! | `P`                      | `parallel`  | App. A.5: batches of at least `P (C - 1)`                                |
//!
//! # Departures
//! - The noise variance is the ridge `lambda`, as the authors' code advises.
//! - The radius of the authors' code by default: the printed one is up to four times as large (see docs/reproduction/bbkb.md).
//! - What is running lowers the variances. More points asked for than a batch has: the batch counts as running, the
//!   dictionary is sampled anew, and the next batch begins.
//! - A space that is no pool is represented by all of its points if they are few, else by Sobol points.
//! - The sum in the radius counts what the model chose and what was there when it began, and survives new fits.
//! - `bkb` has the radius of BBKB, which adds up logarithms, not that of its own paper.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::model::bounds::{Bounds, Score};
use crate::strategy::arms::model::shrinkage::{Rule, Shrinkage};
use crate::strategy::arms::model::{ArmsState, EVERYTHING, SparseModel};
use crate::strategy::history::{Choice, Duplicates, History};
use crate::strategy::limits::{Demand, Table};
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::nystrom::Pulls;

/// The radius of confidence intervals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Radius {
    /// `sqrt(lambda) F + xi sqrt(C sum log(1 + var) + log(1/delta))`, of the authors' code.
    #[default]
    Code,
    /// `C (2 xi sqrt(sum log(1 + 3 var) + log(1/delta)) + (1 + sqrt 2) sqrt(lambda) F)`, Theorem 2.
    Paper,
}

pub(crate) const THRESHOLD: Range = Range::new(1.0, 1e9);
pub(crate) const NORM: Range = Range::new(1e-9, 1e9);
/// Strictly between 0 and 1.
pub(crate) const DELTA: Range = Range::new(1e-15, 0.999_999);
const PARALLEL: Range = Range::new(1.0, 1e5);
pub(crate) const MAX_BATCH: Range = Range::new(1.0, 1e5);

/// Settings of BBKB, of its local rule and of BKB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BbkbConfig {
    /// The factor `C`: by default 2, and 1 (batches of one) for `bkb`. From 1 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = THRESHOLD.stated()))]
    pub threshold: Option<f64>,
    /// Which radius.
    pub radius: Radius,
    /// Bound of the function's norm, in units of the kernel's. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = NORM.stated()))]
    pub norm: f64,
    /// Probability that an interval misses. From 1e-15 to 0.999999.
    #[cfg_attr(feature = "schema", schemars(transform = DELTA.stated()))]
    pub delta: f64,
    /// Explore by largest variance until batches of about this size are safe (Alg. 3). From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = PARALLEL.stated()))]
    pub parallel: Option<usize>,
    /// Points of a batch at most. From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = MAX_BATCH.stated()))]
    pub max_batch: usize,
    /// Model and first points.
    #[serde(flatten)]
    pub arms: ArmOptions,
}

impl Demand for BbkbConfig {
    fn tables(&self, dims: usize) -> Vec<Table> {
        self.arms.tables(Some(self.arms.sparse.max_atoms), dims)
    }
}

impl Default for BbkbConfig {
    fn default() -> Self {
        Self {
            threshold: None,
            radius: Radius::default(),
            norm: 1.0,
            delta: 1e-3,
            parallel: None,
            max_batch: 1_000,
            arms: ArmOptions::default(),
        }
    }
}

/// BBKB.
#[derive(Debug)]
pub struct Bbkb {
    name: &'static str,
    rule: Rule,
    threshold: f64,
    /// Whether every pick becomes an atom at once, so that the model is exact.
    exact: bool,
    config: BbkbConfig,
    model: SparseModel,
}

impl Bbkb {
    /// BBKB by its global rule.
    pub fn global(config: BbkbConfig) -> Result<Self> {
        Self::new("bbkb", Rule::Global, 2.0, config)
    }

    /// BBKB by the local rule.
    pub fn local(config: BbkbConfig) -> Result<Self> {
        Self::new("bbkb-local", Rule::GlobalLocal, 2.0, config)
    }

    /// BKB: batches of one.
    pub fn bkb(config: BbkbConfig) -> Result<Self> {
        Self::new("bkb", Rule::Global, 1.0, config)
    }

    pub(crate) fn new(name: &'static str, rule: Rule, threshold: f64, config: BbkbConfig) -> Result<Self> {
        config.arms.validate()?;
        let threshold = config.threshold.unwrap_or(threshold);
        THRESHOLD.check("threshold", threshold)?;
        NORM.check("norm", config.norm)?;
        DELTA.check("delta", config.delta)?;
        MAX_BATCH.check("max_batch", config.max_batch)?;
        PARALLEL.check("parallel", config.parallel)?;
        let model = SparseModel::new(config.arms.sparse.clone(), true);
        Ok(Self { name, rule, threshold, exact: false, config, model })
    }

    pub(crate) fn exact(mut self) -> Self {
        let sparse = &mut self.config.arms.sparse;
        (sparse.qbar, sparse.max_atoms) = (EVERYTHING, usize::MAX);
        let model = SparseModel::new(sparse.clone(), true);
        Self { exact: true, model, ..self }
    }

    /// The radius, by the sum of logarithms so far.
    fn radius(&self, gain: f64, lambda: f64) -> f64 {
        let BbkbConfig { norm, delta, radius, .. } = &self.config;
        let (c, xi) = (self.threshold, lambda.sqrt());
        let surprise = -delta.ln();
        match radius {
            Radius::Code => lambda.sqrt() * norm + xi * (c * gain + surprise).sqrt(),
            Radius::Paper => {
                c * (2.0 * xi * (gain + surprise).sqrt() + (1.0 + 2_f64.sqrt()) * lambda.sqrt() * norm)
            }
        }
    }

    /// The term that a choice of this variance adds to the sum.
    fn surprise(&self, variance: f64) -> f64 {
        match self.config.radius {
            Radius::Code => variance.ln_1p(),
            Radius::Paper => (3.0 * variance).ln_1p(),
        }
    }

    /// The sum before the first batch: as the authors' code, by the points that were there before.
    fn first_gain(&self, state: &ArmsState) -> f64 {
        let pulls = state.data().iter();
        match self.config.radius {
            Radius::Code => {
                let t: usize = state.data().values().map(Pulls::count).sum();
                let leverage =
                    pulls.map(|(arm, p)| p.told as f64 * state.model().variance(*arm)).sum::<f64>();
                leverage * (t.max(1) as f64).ln()
            }
            Radius::Paper => {
                pulls.map(|(arm, p)| p.count() as f64 * self.surprise(state.model().variance(*arm))).sum()
            }
        }
    }
}

impl Strategy for Bbkb {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let (initial_points, max_batch) = (self.config.arms.initial_points, self.config.max_batch);
        let mut turn = Turn::open_adaptive(self.name, history, q, (initial_points, max_batch), rng)?;
        if self.model.prepare(&mut turn)?.is_none() {
            return turn.finish();
        }
        let (mut product, mut recomputed) = (1.0, 0);
        while turn.wants_more() {
            if !turn.choices().is_empty() {
                self.model.again(&mut turn)?;
            }
            let picked = self.pick_batch(&turn, product);
            product = if picked.ended { 1.0 } else { picked.product };
            recomputed += picked.recomputed;
            self.model.set_gain(&mut turn.memo, picked.gain);
            if picked.choices.is_empty() {
                if turn.is_adaptive() && !turn.choices().is_empty() {
                    turn.close();
                } else {
                    turn.push(Err(MaximizeError::NothingLeft { tried: picked.arms }))?;
                }
            }
            for choice in picked.choices {
                turn.push_choice(choice)?;
            }
            self.report(&mut turn, picked.explores, recomputed);
            if turn.is_adaptive() && picked.ended && !picked.explores {
                turn.close();
            }
        }
        turn.finish()
    }
}

/// One batch of the algorithm.
struct PickedBatch {
    choices: Vec<Choice>,
    /// The sum in the radius, after these choices.
    gain: f64,
    /// The product of GP-BUCB's rule.
    product: f64,
    /// Whether its rule ended it, and not the number of points wanted.
    ended: bool,
    /// Whether it explores by largest variance (Alg. 3).
    explores: bool,
    arms: usize,
    /// Bounds recomputed.
    recomputed: usize,
}

impl Bbkb {
    /// Picks arms until the rule ends the batch (Alg. 1).
    fn pick_batch(&self, turn: &Turn<'_>, product: f64) -> PickedBatch {
        let state = self.model.state().expect("invariant: prepared");
        let known = turn.memo.sparse.as_ref().and_then(|sparse| sparse.gain);
        let mut gain = known.unwrap_or_else(|| self.first_gain(state));
        let free = state.free(&turn.region());
        let explores = self.explores(state, &free);
        let score = if explores {
            Score::Deviation
        } else {
            Score::Ucb { radius: self.radius(gain, state.model().lambda()) }
        };
        let mut bounds = Bounds::new(state.model(), score, &free);
        let mut shrinkage = Shrinkage::new(self.rule, self.threshold, state, product);
        let (mut choices, mut ended) = (Vec::new(), !self.exact);
        while choices.len() < turn.missing() {
            let Some(pick) = bounds.next() else { break };
            gain += self.surprise(state.model().variance(pick.arm));
            choices.push(state.choice(pick.arm, turn.history));
            bounds.pick(pick);
            if turn.history.duplicates() == Duplicates::Replicate {
                bounds.put_back(pick);
            }
            ended = shrinkage.ends_with(pick);
            if ended || self.exact {
                break;
            }
        }
        let (product, recomputed) = (shrinkage.product, bounds.recomputed);
        PickedBatch { choices, gain, product, ended, explores, arms: free.len(), recomputed }
    }

    /// Whether variances are still too large for batches of the wanted size (Alg. 3).
    fn explores(&self, state: &ArmsState, free: &[bool]) -> bool {
        self.config.parallel.is_some_and(|parallel| {
            let variances = state.model().scores(|_, _, variance| variance);
            variances.iter().zip(free).any(|(v, free)| *free && *v > 1.0 / parallel as f64)
        })
    }

    fn report(&self, turn: &mut Turn<'_>, explores: bool, recomputed: usize) {
        let state = self.model.state().expect("invariant: prepared");
        let (atoms, arms) = (state.model().dictionary().len(), state.choices());
        let by = if explores { "largest variance" } else { "confidence bounds" };
        let points = turn.choices().len();
        turn.diagnostics.notes =
            vec![format!("{atoms} atoms for {arms} arms; {recomputed} bounds recomputed; {points} by {by}")];
        let work = state.model().work;
        turn.diagnostics.counters = [
            ("atoms", atoms as f64),
            ("recomputed", recomputed as f64),
            ("gflops", 1e-9 * work.flops),
            ("rebuilds", work.rebuilds as f64),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::arms::model::SparseConfig;
    use crate::strategy::history::Outcome;
    use crate::surrogate::gp::GpConfig;
    use crate::surrogate::gp::hyperparameters::Tunable;
    use crate::surrogate::gp::kernel::Form;

    const ROWS: usize = 300;

    fn config() -> BbkbConfig {
        let model = GpConfig {
            kernel: Form::SquaredExponential,
            lengthscale: Tunable::fixed(0.1),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(1e-2),
            standardize: false,
            refit_growth: 1e9,
            ..GpConfig::default()
        };
        let sparse = SparseConfig { model, ..SparseConfig::default() };
        BbkbConfig { arms: ArmOptions { sparse, initial_points: Some(3) }, ..BbkbConfig::default() }
    }

    fn value(x: f64) -> f64 {
        (9.0 * x).sin() * x
    }

    /// The rows of `batches` batches of the strategy's own size, each told before the next.
    fn play(strategy: &mut Bbkb, batches: usize) -> Vec<Vec<usize>> {
        let features: Vec<f64> = (0..ROWS).map(|i| i as f64 / (ROWS - 1) as f64).collect();
        let space = Space::pool(Pool::new(features, 1).unwrap());
        let mut history = History::new(space, Duplicates::Replicate);
        let mut number = 0;
        (0..batches as u64)
            .map(|t| {
                let mut rng = Seed(1).stream(Purpose::Propose, t, 0);
                let Proposal { choices, memo, .. } = strategy.propose(&history, None, &mut rng).unwrap();
                let first = number;
                number += choices.len() as u64;
                history.proposed((first..).zip(choices.clone()), memo);
                for (number, choice) in (first..).zip(&choices) {
                    let y = value(choice.x[0]);
                    history.told(number, Outcome::Value { y, noise_variance: None });
                }
                choices.iter().map(|choice| choice.row.unwrap()).collect()
            })
            .collect()
    }

    #[test]
    fn a_threshold_of_one_is_bkb() {
        let one = BbkbConfig { threshold: Some(1.0), ..config() };
        let bbkb = play(&mut Bbkb::global(one).unwrap(), 20);
        assert!(bbkb[1..].iter().all(|batch| batch.len() == 1));
        assert_eq!(bbkb, play(&mut Bbkb::bkb(config()).unwrap(), 20));
        let adaptive = play(&mut Bbkb::global(config()).unwrap(), 20);
        assert!(adaptive.iter().any(|batch| batch.len() > 3), "{adaptive:?}");
    }

    /// App. A.5: once the largest variance is 1/P, batches have P (C - 1) points, a third of it by approximate variances.
    #[test]
    fn exploring_first_guarantees_a_batch() {
        let parallel = 12;
        let explored = BbkbConfig { parallel: Some(parallel), ..config() };
        let batches = play(&mut Bbkb::global(explored).unwrap(), 12);
        let sizes: Vec<usize> = batches.iter().map(Vec::len).collect();
        // The design, the exploration, and then what is guaranteed.
        assert!(sizes[1] > 3 && sizes[2..].iter().all(|size| *size >= parallel / 3), "{sizes:?}");
        let unexplored = play(&mut Bbkb::global(config()).unwrap(), 12);
        assert!(unexplored[2].len() < parallel / 3, "{unexplored:?}");
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let refused = |config: BbkbConfig| Bbkb::global(config).unwrap_err().to_string();
        assert!(
            refused(BbkbConfig { threshold: Some(0.5), ..config() })
                .contains("threshold must be from 1 to 1e9")
        );
        assert!(refused(BbkbConfig { delta: 1.0, ..config() }).contains("delta must be from 1e-15"));
        assert!(refused(BbkbConfig { max_batch: 0, ..config() }).contains("max_batch"));
        let sparse = SparseConfig { qbar: -1.0, ..SparseConfig::default() };
        assert!(
            refused(BbkbConfig { arms: ArmOptions { sparse, initial_points: None }, ..config() })
                .contains("sparse.qbar must be from 1e-9")
        );
    }
}
