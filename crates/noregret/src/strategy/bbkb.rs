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
//! - The radius of the authors' code by default: the printed one is up to four times as large (see docs/reproduction.md).
//! - What is running lowers the variances. More points asked for than a batch has: the batch counts as running, the
//!   dictionary is sampled anew, and the next batch begins.
//! - A space that is no pool is represented by all of its points if they are few, else by Sobol points.
//! - The sum in the radius counts what the model chose and what was there when it began, and survives new fits.
//! - `bkb` has the radius of BBKB, which adds up logarithms, not that of its own paper.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::algorithm::AlgorithmError;
use super::bounds::{Bounds, Pick, Score};
use super::choose::Batch;
use super::diagnostics::Diagnostics;
use super::history::{Choice, Duplicates, History};
use super::initial;
use super::memo::Memo;
use super::sparse::{SparseConfig, SparseModel, State};
use super::{Proposal, Strategy};
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
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

/// Settings of BBKB, of its local rule and of BKB.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct BbkbConfig {
    /// The factor `C`: by default 2, and 1 (batches of one) for `bkb`.
    pub threshold: Option<f64>,
    /// Which radius.
    pub radius: Radius,
    /// Bound of the function's norm, in units of the kernel's.
    pub norm: f64,
    /// Chance that an interval misses.
    pub delta: f64,
    /// Explore by largest variance until batches of about this size are safe (Alg. 3).
    pub parallel: Option<usize>,
    /// Points of a batch at most.
    pub max_batch: usize,
    /// The model.
    pub sparse: SparseConfig,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
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
            sparse: SparseConfig::default(),
            initial_points: None,
        }
    }
}

/// When a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// Lemma 1.
    Global,
    /// Lemma 1 until it trips, then Lemma 3.
    GlobalLocal,
    /// The product of GP-BUCB (Desautels et al. 2014, Prop. 1), by variances of each step.
    Product,
}

/// BBKB.
#[derive(Debug)]
pub struct Bbkb {
    name: &'static str,
    rule: Rule,
    threshold: f64,
    /// Whether every pick becomes an atom at once, which makes the model exact.
    exact: bool,
    config: BbkbConfig,
    model: SparseModel,
    /// Time spent on bounds so far.
    bounding: Duration,
}

impl Bbkb {
    /// BBKB by its global rule.
    pub fn global(config: BbkbConfig) -> Result<Self, Error> {
        Self::new("bbkb", Rule::Global, 2.0, config)
    }

    /// BBKB by the local rule.
    pub fn local(config: BbkbConfig) -> Result<Self, Error> {
        Self::new("bbkb-local", Rule::GlobalLocal, 2.0, config)
    }

    /// BKB: batches of one.
    pub fn bkb(config: BbkbConfig) -> Result<Self, Error> {
        Self::new("bkb", Rule::Global, 1.0, config)
    }

    pub(super) fn new(
        name: &'static str,
        rule: Rule,
        threshold: f64,
        config: BbkbConfig,
    ) -> Result<Self, Error> {
        config.sparse.validate()?;
        let threshold = config.threshold.unwrap_or(threshold);
        let check = |option, value: f64, fits: bool, range| {
            if fits { Ok(()) } else { Err(AlgorithmError::OutOfRange { option, range, value }) }
        };
        check("threshold", threshold, threshold >= 1.0 && threshold.is_finite(), "1 or more")?;
        check("norm", config.norm, config.norm > 0.0 && config.norm.is_finite(), "positive and finite")?;
        check("delta", config.delta, config.delta > 0.0 && config.delta < 1.0, "between 0 and 1")?;
        check("max_batch", config.max_batch as f64, config.max_batch > 0, "1 or more")?;
        if let Some(parallel) = config.parallel {
            check("parallel", parallel as f64, parallel > 0, "1 or more")?;
        }
        let model = SparseModel::new(config.sparse.clone(), true);
        Ok(Self { name, rule, threshold, exact: false, config, model, bounding: Duration::ZERO })
    }

    pub(super) fn exact(self, exact: bool) -> Self {
        Self { exact, ..self }
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

    /// What a choice of this variance adds to the sum.
    fn surprise(&self, variance: f64) -> f64 {
        match self.config.radius {
            Radius::Code => variance.ln_1p(),
            Radius::Paper => (3.0 * variance).ln_1p(),
        }
    }

    /// The sum before the first batch: as the authors' code, by the points that were there before.
    fn first_gain(&self, state: &State) -> f64 {
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

/// Numbers of Lemma 3 that are kept for picks that come again: 256 MB.
const REMEMBERED: usize = 1 << 25;

/// How far the variances of a batch may have shrunk.
struct Shrinkage<'a> {
    rule: Rule,
    threshold: f64,
    state: &'a State,
    global: f64,
    product: f64,
    /// Lemma 3 for every arm, once Lemma 1 has tripped.
    local: Option<Vec<f64>>,
    picks: Vec<usize>,
    /// The terms of Lemma 3 by pick.
    terms: HashMap<usize, Vec<f64>>,
}

impl Shrinkage<'_> {
    /// Notes a pick; whether the batch ends with it.
    fn ends_with(&mut self, pick: Pick) -> bool {
        let start = self.state.model().variance(pick.arm);
        self.global += start;
        self.product *= 1.0 + pick.variance;
        self.picks.push(pick.arm);
        match self.rule {
            Rule::Global => self.global > self.threshold,
            Rule::Product => self.product > self.threshold,
            Rule::GlobalLocal if self.threshold <= 1.0 => true,
            Rule::GlobalLocal => {
                if let Some(mut local) = self.local.take() {
                    self.add(pick.arm, &mut local);
                    let largest = local.iter().copied().fold(1.0, f64::max);
                    self.local = Some(local);
                    return largest > self.threshold;
                }
                if self.global > self.threshold {
                    let mut local = vec![1.0; self.state.model().arms().len()];
                    for arm in std::mem::take(&mut self.picks) {
                        self.add(arm, &mut local);
                    }
                    self.local = Some(local);
                }
                false
            }
        }
    }

    /// Adds `k^2(x, x_s) / sigma^2(x)` of one pick to all arms.
    fn add(&mut self, pick: usize, local: &mut [f64]) {
        let model = self.state.model();
        let terms = |arm: usize| {
            let mut terms = model.covariances(arm);
            for (x, term) in terms.iter_mut().enumerate() {
                let variance = model.variance(x);
                *term = if variance > 0.0 { *term * *term / variance } else { 0.0 };
            }
            terms
        };
        // Large batches pull few arms over and over.
        let fresh;
        let terms = if self.terms.contains_key(&pick) || self.terms.len() * local.len() < REMEMBERED {
            &*self.terms.entry(pick).or_insert_with(|| terms(pick))
        } else {
            fresh = terms(pick);
            &fresh
        };
        local.iter_mut().zip(terms).for_each(|(local, term)| *local += term);
    }
}

impl Strategy for Bbkb {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let mut memo = history.memo().clone();
        let mut batch = Batch::new(history);
        let mut diagnostics = Diagnostics { algorithm: self.name.into(), ..Diagnostics::default() };
        let done = design(&mut batch, history, q, self.config.initial_points, &mut memo, rng)?;
        diagnostics.design_points = batch.choices.len();
        if !done {
            self.fill(&mut batch, history, q, &mut memo, &mut diagnostics, rng)?;
        }
        diagnostics.duplicates_avoided = batch.duplicates_avoided;
        Ok(Proposal { choices: batch.choices, memo, diagnostics })
    }
}

impl Bbkb {
    /// Adds what the model chooses.
    fn fill(
        &mut self,
        batch: &mut Batch<'_>,
        history: &History,
        q: Option<NonZeroUsize>,
        memo: &mut Memo,
        diagnostics: &mut Diagnostics,
        rng: &mut Stream,
    ) -> Result<(), Error> {
        let most = q.map_or(self.config.max_batch, NonZeroUsize::get);
        let repeats = history.duplicates() == Duplicates::Replicate;
        self.model.prepare(history, memo, rng)?;
        let mut recomputed = 0;
        let mut product = 1.0;
        while batch.choices.len() < most {
            if !batch.choices.is_empty() {
                self.model.again(history, memo, &batch.choices)?;
            }
            let clock = Instant::now();
            let state = self.model.state().expect("invariant: prepared");
            let gain = memo.sparse.as_ref().and_then(|s| s.gain).unwrap_or_else(|| self.first_gain(state));
            let free = state.free(&history.region(&batch.taken));
            let explores = self.config.parallel.is_some_and(|parallel| {
                let largest = state.model().scores(|_, _, variance| variance);
                largest.iter().zip(&free).any(|(v, free)| *free && *v > 1.0 / parallel as f64)
            });
            let score = if explores {
                Score::Deviation
            } else {
                Score::Ucb { radius: self.radius(gain, state.model().lambda()) }
            };
            let mut bounds = Bounds::new(state.model(), score, &free);
            let mut shrinkage = Shrinkage {
                rule: self.rule,
                threshold: self.threshold,
                state,
                global: 1.0,
                product,
                local: None,
                picks: Vec::new(),
                terms: HashMap::new(),
            };
            let mut chosen: Vec<Choice> = Vec::new();
            let (mut gained, mut ended) = (gain, !self.exact);
            while batch.choices.len() + chosen.len() < most {
                let Some(pick) = bounds.next() else { break };
                gained += self.surprise(state.model().variance(pick.arm));
                chosen.push(state.choice(pick.arm, history));
                bounds.pick(pick);
                if repeats {
                    bounds.put_back(pick);
                }
                ended = shrinkage.ends_with(pick);
                if ended || self.exact {
                    break;
                }
            }
            product = if ended { 1.0 } else { shrinkage.product };
            recomputed += bounds.recomputed;
            let (nothing, arms) = (chosen.is_empty(), free.len());
            let atoms = state.model().dictionary().len();
            let work = state.model().work;
            self.bounding += clock.elapsed();
            for choice in chosen {
                batch.push(choice, rng)?;
            }
            diagnostics.notes = vec![format!(
                "{atoms} atoms for {arms} arms; {recomputed} bounds recomputed; {} by {}",
                batch.choices.len(),
                if explores { "largest variance" } else { "confidence bounds" }
            )];
            diagnostics.counters = [
                ("atoms", atoms as f64),
                ("recomputed", recomputed as f64),
                ("seconds_bounds", self.bounding.as_secs_f64()),
                ("gflops", 1e-9 * work.flops),
                ("rebuilds", work.rebuilds as f64),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .into();
            self.model.set_gain(memo, gained);
            if nothing {
                if q.is_some() || batch.choices.is_empty() {
                    // The arms are used up, but the space may not be.
                    if history.space().as_pool().is_some() {
                        return Err(MaximizeError::NothingLeft { tried: arms }.into());
                    }
                    let choice = batch.random(rng)?;
                    batch.push(choice, rng)?;
                    continue;
                }
                break;
            }
            if q.is_none() && !explores && ended {
                break;
            }
        }
        Ok(())
    }
}

/// The initial design of the strategies on arms; whether it is all that is wanted.
pub(super) fn design(
    batch: &mut Batch<'_>,
    history: &History,
    q: Option<NonZeroUsize>,
    initial_points: Option<usize>,
    memo: &mut Memo,
    rng: &mut Stream,
) -> Result<bool, Error> {
    let wanted = initial_points.unwrap_or_else(|| initial::default_size(history.space().dims()));
    let missing = wanted.saturating_sub(history.len() + history.pending().len());
    let q = q.map(NonZeroUsize::get);
    let blind = history.values().next().is_none();
    let count = match q {
        Some(q) if blind => q,
        Some(q) => q.min(missing),
        // All that is missing at once; then their results are waited for.
        None if blind => missing.max(1),
        None => missing,
    };
    let count =
        history.left(count).map_or(count, |left| if q.is_none() { count.min(left.max(1)) } else { count });
    initial::fill(batch, history, count, memo, rng)?;
    Ok(q.map_or(count > 0, |q| count == q))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
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
        BbkbConfig { sparse, initial_points: Some(3), ..BbkbConfig::default() }
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
            refused(BbkbConfig { threshold: Some(0.5), ..config() }).contains("threshold must be 1 or more")
        );
        assert!(refused(BbkbConfig { delta: 1.0, ..config() }).contains("delta must be between 0 and 1"));
        assert!(refused(BbkbConfig { max_batch: 0, ..config() }).contains("max_batch"));
        let sparse = SparseConfig { qbar: -1.0, ..SparseConfig::default() };
        assert!(refused(BbkbConfig { sparse, ..config() }).contains("qbar must be positive"));
    }
}
