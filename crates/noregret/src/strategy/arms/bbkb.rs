//! BBKB: confidence bounds over large sets of arms, in batches as large as the model allows, with a sparse model.
//! Calandriello et al. 2020, Alg. 1; `bbkb-local` after Lemma 3, `bkb` with batches of one (Calandriello et al. 2019).
//!
//! # Notation
//! | paper                    | here        | meaning                                                                  |
//! |--------------------------|-------------|--------------------------------------------------------------------------|
//! | `C`                      | `threshold` | a batch ends when variances may have shrunk by more than this factor     |
//! | `alpha_t`, `beta_t`      | radius      | of the confidence interval, `model/radius.rs`                            |
//! | `sigma^2_fb(t)(x)`       | `start`     | variance at the beginning of the batch                                   |
//! | `1 + sum sigma^2_fb`     | `global`    | Lemma 1: bounds the shrinking everywhere, `model/shrinkage.rs`           |
//! | `1 + sum k^2 / sigma^2`  | `local`     | Lemma 3: bounds it at each arm                                           |
//! | `qbar_t`                 | `qbar`      | size of the dictionary, `model/dictionary.rs`                            |
//! | `P`                      | `parallel`  | App. A.5: batches of at least `P (C - 1)`, a third of it by sparse variances |
//!
//! # Departures
//! - The formula of the authors' code for the radius by default, for BBKB and for BKB. That of Theorem 2 is 2.8 to 4.9 times as large at
//!   `C = 2` and up to 10.6 times at `C = 5`, that of BKB 2.1 to 3.5 times (`delta` and `norm` by default).
//!   `radius` has them all by name; what differs in each is said in `model/radius.rs`.
//! - The sum in the radius begins with the determinant of the first points by default, not with what the authors' code has, and
//!   `C` multiplies it from the first batch on. For ten distant arms and `lambda = 1e-4` the first radius is 1.8 times as large
//!   as with the code's sum (1.3 times for `lambda = 0.01`); this fades as the sum grows (`first_gain`).
//! - Kernel and `lambda` are fitted by default, which the theorems do not cover: see `model/mod.rs`, also for the dictionary, spaces
//!   without a pool and repeats.
//! - `qbar` is 2 at every step, as in the paper's experiments (App. D.1). Theorems 1 and 2 ask for `8 log(4 t / delta)` and
//!   `72 C log(4 t / delta)`: `qbar_schedule` has both by name.
//! - Alg. 1 begins with one uniform arm. Here `initial_points` come first, by default a few more than dimensions.
//! - Alg. 3 prints `while sigma >= 1/P`. What App. A.5 needs, and what is tested here, is `sigma^2 > 1/P`. The variances are
//!   those of the sparse model. The arm that passes the test is not pulled. Exploring begins if a variance is above `3/P`, at
//!   first or by a later dictionary, and goes on to `1/P` within one proposal. What a given number of points or `max_batch`
//!   cuts off goes on in the next proposal only while a variance is above `3/P`; below, batches have `P (C - 1) / 3` points.
//! - The first batch by confidence bounds waits for what the exploration found, if its size is left to the algorithm and the exploration
//!   has at least `P` points. Else it follows in the same proposal.
//! - `max_batch` ends a batch that no rule has ended; the paper has no such bound.
//! - What is running lowers the variances. The rules count from the beginning of the batch, on variances that running points have
//!   lowered already: while others run, variances may have shrunk by more than `C` since the last value, and the intervals of the
//!   theorems need not hold. More points asked for than a batch has: the batch counts as running, the dictionary is sampled
//!   anew, and the next batch begins.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::arms::ArmOptions;
use crate::strategy::arms::model::bounds::{Bounds, Score};
use crate::strategy::arms::model::radius::{Confidence, FirstGain, Radius};
use crate::strategy::arms::model::shrinkage::{LocalRule, Rule, Shrinkage};
use crate::strategy::arms::model::{ArmsState, EVERYTHING, QbarSchedule, SparseModel};
use crate::strategy::history::{Choice, Duplicates, History};
use crate::strategy::limits::{Demand, Table};
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

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
    /// Which radius: by default that of the authors' code, `code` for `bbkb` and `bbkb-local`, `bkb` for `bkb`.
    pub radius: Option<Radius>,
    /// The sum in the radius for points that were there before the first batch.
    pub first_gain: FirstGain,
    /// Which sums end a batch of `bbkb-local`; the others have none.
    pub local_rule: LocalRule,
    /// How `sparse.qbar` grows.
    pub qbar_schedule: QbarSchedule,
    /// Bound of the function's norm, in units of the kernel's. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = NORM.stated()))]
    pub norm: f64,
    /// Probability that an interval misses. From 1e-15 to 0.999999.
    #[cfg_attr(feature = "schema", schemars(transform = DELTA.stated()))]
    pub delta: f64,
    /// Explore by largest variance: begun if that is above three times the inverse of this number, until it is at most the inverse, so
    /// that batches of about this size are safe (Alg. 3). From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = PARALLEL.stated()))]
    pub parallel: Option<usize>,
    /// Points of a batch at most; the paper has no such bound. From 1 to 1e5.
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
            radius: None,
            first_gain: FirstGain::default(),
            local_rule: LocalRule::default(),
            qbar_schedule: QbarSchedule::default(),
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
    confidence: Confidence,
    /// Whether every pick becomes an atom at once, so that the model is exact.
    exact: bool,
    config: BbkbConfig,
    model: SparseModel,
}

impl Bbkb {
    /// BBKB by its global rule.
    pub fn global(config: BbkbConfig) -> Result<Self> {
        Self::new("bbkb", Rule::Global, (2.0, Radius::Code), config)
    }

    /// BBKB by the local rule.
    pub fn local(config: BbkbConfig) -> Result<Self> {
        Self::new("bbkb-local", Rule::GlobalLocal(config.local_rule), (2.0, Radius::Code), config)
    }

    /// BKB: batches of one.
    pub fn bkb(config: BbkbConfig) -> Result<Self> {
        Self::new("bkb", Rule::Global, (1.0, Radius::Bkb), config)
    }

    /// With a default threshold and radius.
    pub(crate) fn new(
        name: &'static str,
        rule: Rule,
        (threshold, radius): (f64, Radius),
        config: BbkbConfig,
    ) -> Result<Self> {
        config.arms.validate()?;
        let threshold = config.threshold.unwrap_or(threshold);
        THRESHOLD.check("threshold", threshold)?;
        NORM.check("norm", config.norm)?;
        DELTA.check("delta", config.delta)?;
        MAX_BATCH.check("max_batch", config.max_batch)?;
        PARALLEL.check("parallel", config.parallel)?;
        let BbkbConfig { first_gain, norm, delta, .. } = config;
        let radius = config.radius.unwrap_or(radius);
        let confidence = Confidence { radius, first_gain, threshold, norm, delta };
        let growth = config.qbar_schedule.growth(threshold, delta);
        let model = SparseModel::new(config.arms.sparse.clone(), true).growing(growth);
        Ok(Self { name, rule, confidence, exact: false, config, model })
    }

    pub(crate) fn exact(mut self) -> Self {
        let sparse = &mut self.config.arms.sparse;
        (sparse.qbar, sparse.max_atoms) = (EVERYTHING, usize::MAX);
        let model = SparseModel::new(sparse.clone(), true);
        Self { exact: true, model, ..self }
    }
}

impl Strategy for Bbkb {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let (initial_points, max_batch) = (self.config.arms.initial_points, self.config.max_batch);
        let mut turn = Turn::open_adaptive(self.name, history, q, (initial_points, max_batch), rng)?;
        if self.model.prepare(&mut turn)?.is_none() {
            return turn.finish();
        }
        let (mut ongoing, mut recomputed, mut explored) = (None, 0, false);
        while turn.wants_more() {
            if !turn.choices().is_empty() {
                self.model.again(&mut turn)?;
            }
            let state = self.model.state().expect("invariant: prepared");
            let free = state.free(&turn.region());
            let explores = self.explores(state, &free, explored);
            let enough = self.config.parallel.is_some_and(|parallel| turn.choices().len() >= parallel);
            if explored && !explores && enough && turn.is_adaptive() {
                // Alg. 3 has ended: its results are waited for, unless they are too few to keep all workers busy.
                turn.close();
                break;
            }
            explored |= explores;
            let picked = self.pick_batch(&turn, &free, explores, ongoing);
            ongoing = picked.ongoing;
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
            self.report(&mut turn, explores, recomputed);
            if turn.is_adaptive() && ongoing.is_none() && !explores {
                turn.close();
            }
        }
        turn.finish()
    }
}

/// A batch that goes on although the model has changed, as the exact one does with every pick.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Ongoing {
    /// `alpha_fb(t)`, the same for all of the batch (Alg. 2).
    radius: f64,
    /// The product of GP-BUCB's rule.
    product: f64,
}

/// One batch of the algorithm, or a pick of one that goes on.
struct PickedBatch {
    choices: Vec<Choice>,
    /// The sum in the radius, after these choices.
    gain: f64,
    /// What goes on, if the model is exact and no rule ended the batch.
    ongoing: Option<Ongoing>,
    arms: usize,
    /// Bounds recomputed.
    recomputed: usize,
}

impl Bbkb {
    /// Picks arms until the rule ends the batch (Alg. 1), or by largest variance until all are small enough (Alg. 3).
    fn pick_batch(
        &self,
        turn: &Turn<'_>,
        free: &[bool],
        explores: bool,
        ongoing: Option<Ongoing>,
    ) -> PickedBatch {
        let state = self.model.state().expect("invariant: prepared");
        let known = turn.memo.sparse.as_ref().and_then(|sparse| sparse.gain);
        let mut gain = known.unwrap_or_else(|| self.confidence.first_gain(state));
        let Ongoing { radius, product } =
            ongoing.unwrap_or_else(|| Ongoing { radius: self.confidence.radius(gain, state), product: 1.0 });
        let score = if explores { Score::Deviation } else { Score::Ucb { radius } };
        let mut bounds = Bounds::new(state.model(), score, free);
        let mut shrinkage = Shrinkage::new(self.rule, self.confidence.threshold, state.model(), product);
        let (mut choices, mut ended) = (Vec::new(), !self.exact);
        while choices.len() < turn.missing() {
            let Some(pick) = bounds.next() else { break };
            if explores && !self.is_uncertain(pick.variance) {
                break;
            }
            gain += self.confidence.surprise(state.model().variance(pick.arm));
            choices.push(state.choice(pick.arm, turn.history));
            bounds.pick(pick);
            if turn.history.duplicates() == Duplicates::Replicate {
                bounds.put_back(pick);
            }
            // What the dictionary does not explain, no pull makes smaller: exploring needs another one.
            ended =
                shrinkage.ends_with(pick) || explores && self.is_uncertain(state.model().residual(pick.arm));
            if ended || self.exact {
                break;
            }
        }
        // A sparse batch ends where its model does: the next one has a radius of its own, by all choices before it.
        let goes_on = self.exact && !ended;
        let ongoing = goes_on.then_some(Ongoing { radius, product: shrinkage.product });
        PickedBatch { choices, gain, ongoing, arms: free.len(), recomputed: bounds.recomputed }
    }

    /// Whether variances are too large for batches of the wanted size. What has `begun` in this proposal goes on until none is above
    /// `1/P` (Alg. 3). It begins above `3/P` only: so much a new dictionary may make of it (Lemma 2), and with so much batches
    /// have `P (C - 1) / 3` points, as App. A.5 has it.
    fn explores(&self, state: &ArmsState, free: &[bool], begun: bool) -> bool {
        self.config.parallel.is_some() && {
            let slack = if begun { 1.0 } else { 3.0 };
            let variances = state.model().scores(|_, _, variance| variance / slack);
            variances.iter().zip(free).any(|(variance, free)| *free && self.is_uncertain(*variance))
        }
    }

    fn is_uncertain(&self, variance: f64) -> bool {
        self.config.parallel.is_some_and(|parallel| variance > 1.0 / parallel as f64)
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
        self.model.remark(&mut turn.diagnostics);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::arms::gp_bucb::GpBucbConfig;
    use crate::strategy::arms::model::SparseConfig;
    use crate::strategy::history::Outcome;
    use crate::surrogate::Surrogate;
    use crate::surrogate::gp::GpConfig;
    use crate::surrogate::gp::hyperparameters::Tunable;
    use crate::surrogate::gp::kernel::{Form, Kernel};
    use crate::surrogate::gp::posterior::Gp;
    use crate::surrogate::points::Points;

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

    /// A line of arms.
    fn line() -> Pool {
        Pool::new((0..ROWS).map(|i| i as f64 / (ROWS - 1) as f64).collect(), 1).unwrap()
    }

    /// The rows of `batches` batches of the strategy's own size, each told before the next.
    fn play(strategy: &mut Bbkb, batches: usize) -> Vec<Vec<usize>> {
        let mut history = History::new(Space::pool(line()), Duplicates::Replicate);
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
        let improved = BbkbConfig { radius: Some(Radius::Code), ..config() };
        assert_eq!(bbkb, play(&mut Bbkb::bkb(improved).unwrap(), 20));
        // By default BKB has the radius of its authors' code, and chooses otherwise.
        assert_ne!(bbkb, play(&mut Bbkb::bkb(config()).unwrap(), 20));
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

    /// Alg. 3 tests every pick: exploring ends when all variances are small, however many picks the threshold would allow. What
    /// it found is told before the first choice by confidence bounds.
    #[test]
    fn exploring_ends_with_the_last_large_variance() {
        let explored = BbkbConfig { parallel: Some(12), threshold: Some(1e6), max_batch: 400, ..config() };
        let sizes: Vec<usize> = play(&mut Bbkb::global(explored).unwrap(), 3).iter().map(Vec::len).collect();
        // The prior has some 10 independent arms on this line, each to be pulled about P times.
        assert!(sizes[1] > 50 && sizes[1] < 350, "{sizes:?}");
        assert_eq!(sizes[2], 400);
    }

    /// What follows an exploration in the same proposal has a radius that counts it: only the exact model carries a radius over.
    #[test]
    fn the_radius_after_an_exploration_counts_it() {
        let pool = line();
        let mut history = History::new(Space::pool(pool.clone()), Duplicates::Replicate);
        for row in (4..ROWS).step_by(10) {
            let x = pool.point(row);
            let y = value(x[0]);
            history.add(&Choice { x, row: Some(row) }, Outcome::Value { y, noise_variance: None });
        }
        let explored = BbkbConfig { parallel: Some(12), threshold: Some(1e6), ..config() };
        let mut bbkb = Bbkb::global(explored).unwrap();
        let (q, mut rng) = (NonZeroUsize::new(400), Seed(1).stream(Purpose::Propose, 0, 0));
        let mut turn = Turn::open_adaptive("bbkb", &history, q, (Some(0), 1_000), &mut rng).unwrap();
        assert!(bbkb.model.prepare(&mut turn).unwrap().is_some());
        let picked = bbkb.pick_batch(&turn, &[true; ROWS], true, None);
        // The first dictionary has the 30 arms that were told, which span the line: the last large variance ends it, and no rule.
        assert!((50..350).contains(&picked.choices.len()), "{}", picked.choices.len());
        let state = bbkb.model.state().unwrap();
        let gains = [bbkb.confidence.first_gain(state), picked.gain];
        let [before, after] = gains.map(|gain| bbkb.confidence.radius(gain, state));
        assert!(after > 1.2 * before, "{before} {after}");
        assert_eq!(picked.ongoing, None);
    }

    /// The radius of GP-BUCB is that of the batch's beginning, `C beta_fb(t)`: its choices are those of the formulas of Alg. 2 on
    /// the exact Gaussian process.
    #[test]
    fn the_radius_of_gp_bucb_stays_the_same_within_a_batch() {
        let BbkbConfig { delta, norm, arms, .. } = config();
        let (c, lambda) = (3.0, 1e-2_f64);
        let bucb = GpBucbConfig { threshold: c, arms, ..GpBucbConfig::default() };
        let batches = play(&mut bucb.build().unwrap(), 40);
        assert!(batches[1..].iter().any(|batch| batch.len() > 3), "{batches:?}");
        let x = |row: usize| row as f64 / (ROWS - 1) as f64;
        let kernel = Kernel::new(Form::SquaredExponential, vec![0.1], 1, 1.0);
        let all = Points::from_columns(1, &(0..ROWS).map(x).collect::<Vec<f64>>());
        let posterior = |rows: &[usize]| {
            let points = Points::from_columns(1, &rows.iter().map(|row| x(*row)).collect::<Vec<f64>>());
            let y: Vec<f64> = rows.iter().map(|row| value(x(*row))).collect();
            let gp = Gp::new(kernel.clone(), points, &y, vec![lambda; rows.len()]).unwrap();
            gp.marginals(&all)
        };
        let mut told = batches[0].clone();
        // log det(K / lambda + I) = sum log(1 + sigma_{s-1}^2 / lambda), from the first pull on.
        let mut gain: f64 = (0..told.len())
            .map(|s| {
                let variance = if s == 0 { 1.0 } else { posterior(&told[..s]).variance[told[s]] };
                (variance / lambda).ln_1p()
            })
            .sum();
        for batch in &batches[1..] {
            let alpha = c * (lambda.sqrt() * norm + (lambda * (gain + 2.0 - 2.0 * delta.ln())).sqrt());
            let mean = posterior(&told).mean;
            let mut product = 1.0;
            for (i, pick) in batch.iter().enumerate() {
                // Values do not change variances.
                let variance = posterior(&told).variance;
                let bound = |row: usize| mean[row] + alpha * (variance[row] / lambda).sqrt();
                let best = (0..ROWS).map(bound).fold(f64::NEG_INFINITY, f64::max);
                // Rounding; neighbouring arms differ by more where the radius is not this one.
                assert!(bound(*pick) > best - 1e-6, "{i}: {} {best}", bound(*pick));
                product *= 1.0 + variance[*pick] / lambda;
                assert_eq!(product > c, i + 1 == batch.len(), "{i} of {batch:?}: {product}");
                gain += (variance[*pick] / lambda).ln_1p();
                told.push(*pick);
            }
        }
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
