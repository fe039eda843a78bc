//! The Nyström model of a running study. Its dictionary is resampled with every batch; its embeddings are kept in between.
//! Calandriello et al. 2020 (BBKB), Alg. 1; the dictionary of existing data after Rudi et al. 2018 (BLESS).
//!
//! Like the Gaussian process of [`crate::strategy::gp::model`] it is a cache. The memo has the dictionaries of all batches since the model
//! was last built from scratch. Rebuilding takes the same steps and gives the same bits.
//!
//! # Departures
//! - *Arms.* A space that is no pool is represented by all of its points if they are few, else by Sobol points. Arms are pulled again only
//!   where duplicates are allowed, as they are in the papers: those that are running with `replicate` alone, others with `allow`, too.
//! - *Probabilities.* The paper tosses a coin of `qbar sigma^2` for every pull. By default an arm of `n` pulls has one coin of
//!   `qbar n sigma^2`, as in the authors' code: never less likely (`inclusion = "paper"` is as printed).
//! - *The kernel.* The paper's is given, and so is its `lambda`. By default both are fitted to the data: Matérn 5/2 with a lengthscale
//!   for each parameter, the variance of the noise as `lambda`, values standardised anew with every fit. The theorems do not
//!   cover that: intervals hold at best for the kernel at hand, and the sum in the radius has terms of several kernels. Fixed
//!   `lengthscale`, `outputscale` and `noise` with `standardize = false` in `sparse.model` are the paper's case.
//! - Where a fit changed the kernel, or where points outside the arms came in, the variances of the last batch say nothing about the
//!   next dictionary. It is sampled by those of the data with the old dictionary, the last step of BLESS. A fit that leaves
//!   the kernel as it was leaves the dictionary to Alg. 1. A correction of what was told begins as before the first batch.
//! - The dictionary is never empty: if no coin wins, the arm that came closest is an atom. It has at most `max_atoms`; if that
//!   cuts it, it is that of a smaller `qbar`, and the diagnostics say of which. Up to 64 distinct arms known before the first
//!   batch are all atoms.
//! - *Coins.* The paper draws a fresh coin for every arm at every batch, so that half of the dictionary changes although the
//!   probabilities hardly do. By default an arm keeps its coin, and from one batch to the next only what the data changed is
//!   changed (`coins = "fresh"` draws anew). Lemma 2 is not proved for kept coins: the probability of an arm depends on
//!   earlier dictionaries, and so on the coin that it is compared with. Either way all ridges of one path of BLESS share
//!   their coins.
//! - Values that came with a noise variance of their own are taken to have the common one. Failures, of which the paper has none, count
//!   as pulls whose value is the worst one known at the last fit: bounds near them fall.
//! - BLESS looks at all data at every ridge of its path, not at a growing sample of them. Its atoms are weighted in Rudi et al., here
//!   none are, and `qbar` and a factor of 4 between ridges stand for its constants.

pub(crate) mod bounds;
mod dictionary;
pub mod radius;
pub mod shrinkage;
mod state;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::gp::model::fit_if_due;
use crate::strategy::history::{Choice, History};
use crate::strategy::memo::{Memo, Sparse};
use crate::strategy::turn::Turn;
use crate::surrogate::gp::GpConfig;
use crate::surrogate::nystrom::Pulls;
pub use dictionary::{Coins, Inclusion, QbarSchedule};
pub(crate) use dictionary::{EVERYTHING, QbarGrowth};
pub use state::ArmsState;

const QBAR: Range = Range::new(1e-9, 1e12);
const ARMS: Range = Range::new(1.0, 1e6);
/// One matrix of 20,000 atoms takes 3.2 GB.
const ATOMS: Range = Range::new(1.0, 20_000.0);

/// Settings of a sparse model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SparseConfig {
    /// Kernel and noise, fitted on a subset of the evaluations unless they are fixed.
    pub model: GpConfig,
    /// Size of the dictionary: about this many atoms for each effective dimension. From 1e-9 to 1e12.
    #[cfg_attr(feature = "schema", schemars(transform = QBAR.stated()))]
    pub qbar: f64,
    /// How likely an arm is to be an atom.
    pub inclusion: Inclusion,
    /// Whether coins are kept.
    pub coins: Coins,
    /// Number of arms, if the space is not a pool. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = ARMS.stated()))]
    pub arms: usize,
    /// Maximum number of atoms: memory is 8 bytes times arms times atoms. From 1 to 20000.
    #[cfg_attr(feature = "schema", schemars(transform = ATOMS.stated()))]
    pub max_atoms: usize,
}

impl Default for SparseConfig {
    fn default() -> Self {
        Self {
            model: GpConfig::default(),
            qbar: 2.0,
            inclusion: Inclusion::default(),
            coins: Coins::default(),
            arms: 4_096,
            max_atoms: 1_000,
        }
    }
}

impl SparseConfig {
    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<()> {
        self.model.validate().map_err(|e| e.of("sparse"))?;
        QBAR.check("sparse.qbar", self.qbar)?;
        ARMS.check("sparse.arms", self.arms)?;
        Ok(ATOMS.check("sparse.max_atoms", self.max_atoms)?)
    }
}

/// The model and its cache.
#[derive(Debug)]
pub struct SparseModel {
    config: SparseConfig,
    /// Whether points that are running count in the variance.
    counts_running: bool,
    /// How `qbar` grows, if it does.
    growth: Option<QbarGrowth>,
    state: Option<ArmsState>,
}

impl SparseModel {
    /// Takes a valid configuration. `counts_running` conditions variances on running points.
    pub fn new(config: SparseConfig, counts_running: bool) -> Self {
        Self { config, counts_running, growth: None, state: None }
    }

    /// With a `qbar` that grows with the pulls.
    pub(crate) fn growing(self, growth: Option<QbarGrowth>) -> Self {
        Self { growth, ..self }
    }

    /// The configuration after `t` pulls (Alg. 1, l. 13).
    fn config_at(&self, t: usize) -> SparseConfig {
        let qbar = self.growth.map_or(self.config.qbar, |growth| growth.at(t));
        SparseConfig { qbar, ..self.config.clone() }
    }

    /// Begins a batch: the model has all data, and variances are also conditioned on running points. `None` if the turn
    /// wants no more points.
    pub(crate) fn prepare(&mut self, turn: &mut Turn<'_>) -> Result<Option<&mut ArmsState>> {
        if !turn.wants_more() {
            return Ok(None);
        }
        self.update(turn.history, &mut turn.memo, turn.rng)?;
        self.remark(&mut turn.diagnostics);
        Ok(self.state.as_mut())
    }

    /// Says so if `max_atoms` cut the dictionary: its accuracy is then that of a smaller `qbar`.
    pub(crate) fn remark(&self, diagnostics: &mut Diagnostics) {
        let Some(state) = &self.state else { return };
        let Some(shortfall) = state.shortfall else { return };
        let pulls: usize = state.data.values().map(Pulls::count).sum();
        let asked = self.config_at(pulls).qbar;
        let (wanted, qbar, most) = (shortfall.wanted, shortfall.scale * asked, self.config.max_atoms);
        diagnostics.counters.insert("atoms_wanted".into(), wanted as f64);
        diagnostics.counters.insert("qbar".into(), qbar);
        diagnostics.notes.push(format!(
            "max_atoms = {most} is less than the {wanted} atoms of qbar {asked}: as if it were {qbar:.3}"
        ));
    }

    /// The same outside a turn. The history must have a value.
    fn update(&mut self, history: &History, memo: &mut Memo, rng: &mut Stream) -> Result<&mut ArmsState> {
        let last = memo.fit.clone();
        let fit = fit_if_due(&self.config.model, history, memo, rng);
        let running: Vec<Choice> = self.running(history).cloned().collect();
        let cached = self.state.take();
        let before = memo.sparse.take();
        // The model of the last batch, by the fit that it had.
        let known = match before.as_ref().zip(last) {
            Some((sparse, last))
                if sparse.evaluations == last.evaluations
                    && last.evaluations <= history.len()
                    && sparse.revision == history.revision() =>
            {
                match cached.filter(|state| state.sparse == *sparse && state.fit == last) {
                    Some(state) => Some(state),
                    None => ArmsState::replayed(&self.config, history, last, sparse.clone())?,
                }
            }
            _ => None,
        };
        let state = if let Some(state) = known {
            state
        } else {
            let (seed, batches, gain) =
                before.map_or_else(|| (rng.next_u64(), 0, None), |s| (s.seed, s.batches, s.gain));
            let sparse = Sparse {
                seed,
                evaluations: fit.evaluations,
                revision: history.revision(),
                batches,
                gain,
                extras: Vec::new(),
                starts: Vec::new(),
            };
            ArmsState::new(&self.config, history, fit.clone(), sparse, history.len(), Some(&running))?
        };
        let config = self.config_at(history.len() + running.len());
        let state = self.state.insert(state);
        state.begin(&config, history, &running, fit)?;
        memo.sparse = Some(state.sparse.clone());
        Ok(state)
    }

    /// The model of the batch that was begun last.
    pub fn state(&self) -> Option<&ArmsState> {
        self.state.as_ref()
    }

    /// Keeps the sum on which the radius depends.
    pub fn set_gain(&mut self, memo: &mut Memo, gain: f64) {
        if let Some(state) = &mut self.state {
            state.sparse.gain = Some(gain);
            memo.sparse = Some(state.sparse.clone());
        }
    }

    /// Running points, if they count.
    fn running<'a>(&self, history: &'a History) -> impl Iterator<Item = &'a Choice> + use<'a> {
        let counts = self.counts_running;
        history.pending().filter(move |_| counts)
    }

    /// Begins another batch in the same turn. Its points so far count as running.
    pub(crate) fn again(&mut self, turn: &mut Turn<'_>) -> Result<()> {
        let running: Vec<Choice> = self.running(turn.history).chain(turn.choices()).cloned().collect();
        let config = self.config_at(turn.history.len() + running.len());
        let state = self.state.as_mut().expect("invariant: prepared before");
        state.begin(&config, turn.history, &running, state.fit.clone())?;
        turn.memo.sparse = Some(state.sparse.clone());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::bounds::Pick;
    use super::dictionary::coin;
    use super::shrinkage::{LocalRule, Rule, Shrinkage};
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::history::{Duplicates, Outcome};
    use crate::surrogate::gp::hyperparameters::Tunable;
    use crate::surrogate::gp::kernel::Form;
    use crate::surrogate::nystrom::Nystrom;

    fn config() -> SparseConfig {
        let model = GpConfig {
            kernel: Form::SquaredExponential,
            lengthscale: Tunable::fixed(0.4),
            outputscale: Tunable::fixed(1.0),
            noise: Tunable::fixed(1e-2),
            refit_growth: 1e9,
            ..GpConfig::default()
        };
        SparseConfig { model, ..SparseConfig::default() }
    }

    /// A pool of 1,000 rows, of which every third was told.
    fn history() -> History {
        let mut rng = Seed(8).stream(Purpose::Experiment, 0, 0);
        let pool = Pool::new((0..2_000).map(|_| coin(rng.next_u64(), 0, 0)).collect(), 2).unwrap();
        let mut history = History::new(Space::pool(pool.clone()), Duplicates::Replicate);
        for row in (0..1_000).step_by(3) {
            tell(&mut history, &pool, row);
        }
        history
    }

    fn tell(history: &mut History, pool: &Pool, row: usize) {
        let x = pool.point(row);
        let outcome = Outcome::Value { y: x[0] - x[1], noise_variance: None };
        history.add(&Choice { x, row: Some(row) }, outcome);
    }

    fn prepared(model: &mut SparseModel, history: &History, memo: &mut Memo) {
        let mut rng = Seed(9).stream(Purpose::Propose, history.len() as u64, 0);
        model.update(history, memo, &mut rng).unwrap();
    }

    /// Prepares a model, and another one from the memo alone, which leaves the same memo.
    fn prepared_twice(model: &mut SparseModel, history: &History, memo: &mut Memo) -> SparseModel {
        let mut again = memo.clone();
        prepared(model, history, memo);
        let mut anew = SparseModel::new(model.config.clone(), true);
        prepared(&mut anew, history, &mut again);
        assert_eq!(again, *memo);
        anew
    }

    /// Lemma 2: with a dictionary of the right size, variances are those of the exact model up to a factor of 3.
    #[test]
    fn the_dictionary_of_existing_data_is_small_and_accurate() {
        let history = history();
        let mut sparse = SparseModel::new(SparseConfig { qbar: 4.0, ..config() }, true);
        prepared(&mut sparse, &history, &mut Memo::default());
        let state = sparse.state().unwrap();
        let all: Vec<usize> = state.data().keys().copied().collect();
        let mut exact = state.model().clone();
        exact.rebuild(state.data(), &all).unwrap();
        let atoms = state.model().dictionary().len();
        assert!(atoms > 10 && atoms < all.len() / 2, "{atoms} of {}", all.len());
        for arm in 0..1_000 {
            let ratio = state.model().variance(arm) / exact.variance(arm);
            assert!((1.0 / 3.0..=3.0).contains(&ratio), "arm {arm}: {ratio}");
        }
    }

    /// Kept coins change the dictionary where the data did; fresh ones change it everywhere.
    #[test]
    fn kept_coins_keep_the_dictionary() {
        let changes = |coins| {
            let mut history = history();
            let pool = history.space().as_pool().unwrap().clone();
            let mut sparse = SparseModel::new(SparseConfig { coins, ..config() }, true);
            let mut memo = Memo::default();
            prepared(&mut sparse, &history, &mut memo);
            let mut changed = 0;
            for row in [1, 4, 7, 10] {
                tell(&mut history, &pool, row);
                prepared(&mut sparse, &history, &mut memo);
                let start = memo.sparse.as_ref().unwrap().starts.last().unwrap().clone();
                changed += start.added.len() + start.removed.len();
            }
            changed
        };
        let (kept, fresh) = (changes(Coins::Kept), changes(Coins::Fresh));
        assert!(3 * kept < fresh, "{kept} {fresh}");
    }

    /// A fit that leaves the kernel as it was leaves the dictionary to Alg. 1, also where it changes the units of the values; one
    /// that changes the kernel does not take all arms either. The memo tells it all.
    #[test]
    fn a_new_fit_does_not_begin_anew() {
        let pool = history().space().as_pool().unwrap().clone();
        // With `falling`, the worst value falls after a failure, too.
        let play = |model: GpConfig, falling: bool| {
            let mut history = History::new(Space::pool(pool.clone()), Duplicates::Replicate);
            let mut sparse = SparseModel::new(SparseConfig { model, qbar: 1.0, ..config() }, true);
            let mut memo = Memo::default();
            let batch = |t: usize| {
                for i in 0..6 {
                    tell(&mut history, &pool, (37 * (6 * t + i)) % 1_000);
                }
                let choice = Choice { x: pool.point(t), row: Some(t) };
                if t == 4 {
                    history.add(&choice, Outcome::Failed);
                } else if falling {
                    history.add(&choice, Outcome::Value { y: -(t as f64), noise_variance: None });
                }
                let anew = prepared_twice(&mut sparse, &history, &mut memo);
                let (a, b) = (sparse.state().unwrap().model(), anew.state().unwrap().model());
                (0..1_000).for_each(|arm| assert_eq!(a.mean(arm).to_bits(), b.mean(arm).to_bits()));
                let mut atoms = a.dictionary().to_vec();
                atoms.sort_unstable();
                atoms
            };
            (0..9).map(batch).collect::<Vec<_>>()
        };
        let fixed = GpConfig { standardize: false, ..config().model };
        let once = play(fixed.clone(), true);
        assert!(once[8].len() < 40, "{once:?}");
        let often = GpConfig { refit_growth: 0.0, ..fixed };
        assert_eq!(once, play(often.clone(), true));
        assert_eq!(once, play(GpConfig { standardize: true, ..often.clone() }, true));
        let GpConfig { kernel, lengthscale, .. } = GpConfig::default();
        let fitted = play(GpConfig { kernel, lengthscale, ..often }, false);
        assert!(fitted[8].len() < 45, "{fitted:?}");
    }

    /// Small discrete spaces are taken whole, and points that are no arms become some.
    #[test]
    fn every_point_is_an_arm_once() {
        let discrete = Space::builder().int("n", 1, 3).bool("b").build().unwrap();
        let mut history = History::new(discrete.clone(), Duplicates::Avoid);
        let first = discrete.points().unwrap().next().unwrap();
        let outcome = Outcome::Value { y: 1.0, noise_variance: None };
        history.add(&Choice { x: first, row: None }, outcome);
        let mut sparse = SparseModel::new(config(), true);
        prepared(&mut sparse, &history, &mut Memo::default());
        assert_eq!(sparse.state().unwrap().choices(), 6);

        let mut history = History::new(Space::bounds(&[(0.0, 1.0)]).unwrap(), Duplicates::Replicate);
        let mut memo = Memo::default();
        for (number, x) in [0.111, 0.222, 0.111, 0.333].into_iter().enumerate() {
            history.add(&Choice { x: vec![x], row: None }, outcome);
            history.proposed([(number as u64, Choice { x: vec![x / 2.0], row: None })], memo.clone());
            let anew = prepared_twice(&mut sparse, &history, &mut memo);
            let (a, b) = (sparse.state().unwrap(), anew.state().unwrap());
            assert_eq!(a.model().arms().len(), b.model().arms().len());
            assert_eq!(a.data().values().map(Pulls::count).sum::<usize>(), 2 * (number + 1));
            for arm in 0..a.model().arms().len() {
                assert_eq!(a.model().variance(arm).to_bits(), b.model().variance(arm).to_bits());
            }
        }
    }

    /// A model of 20 pulls whose dictionary, drawn for its second batch, leaves some of them out.
    fn coarse(seed: u64) -> SparseModel {
        let mut rng = Seed(seed).stream(Purpose::Experiment, 3, 0);
        let pool = Pool::new((0..300).map(|_| coin(rng.next_u64(), 0, 0)).collect(), 2).unwrap();
        let mut history = History::new(Space::pool(pool.clone()), Duplicates::Replicate);
        let mut model = SparseModel::new(SparseConfig { qbar: 0.1, ..config() }, true);
        let mut memo = Memo::default();
        for round in 0..2 {
            (0..10).for_each(|i| tell(&mut history, &pool, 7 * (10 * round + i)));
            prepared(&mut model, &history, &mut memo);
        }
        model
    }

    /// No variance shrinks by more than the threshold before the pick with which a rule ends the batch: for Lemma 1, and for
    /// Lemma 3 by the larger of both sums.
    #[test]
    fn batches_end_before_variances_shrink_too_far() {
        let threshold = 1.5;
        let violations = |rule: Rule| {
            let mut violations = 0;
            for seed in 0..60 {
                let model = coarse(seed);
                let state = model.state().unwrap();
                let mut rng = Seed(seed).stream(Purpose::Experiment, 4, 0);
                let mut shrinkage = Shrinkage::new(rule, threshold, state.model(), 1.0);
                let (mut after, mut data) = (state.model().clone(), state.data().clone());
                loop {
                    let arm = (rng.next_u64() % 150) as usize;
                    let pick = Pick { arm, bound: 0.0, variance: after.variance(arm) };
                    if shrinkage.ends_with(pick) {
                        break;
                    }
                    data.entry(arm).or_default().running += 1;
                    after.rebuild(&data, state.model().dictionary()).unwrap();
                }
                let shrunk = |arm| state.model().variance(arm) / after.variance(arm);
                // Rounding of two solves.
                violations += usize::from((0..150).any(|arm| shrunk(arm) > threshold * (1.0 + 1e-7)));
            }
            violations
        };
        assert_eq!(violations(Rule::Global), 0);
        assert_eq!(violations(Rule::GlobalLocal(LocalRule::Both)), 0);
        assert_eq!(LocalRule::default(), LocalRule::Both);
    }

    /// Pulls of one arm alone shrink it by as much as Lemma 1 says, so both rules end the batch with the same pick; the authors'
    /// code takes one more.
    #[test]
    fn the_pick_at_which_the_local_rule_takes_over_is_tested() {
        let model = coarse(1);
        let state = model.state().unwrap();
        let arm = (0..150).max_by(|a, b| state.model().variance(*a).total_cmp(&state.model().variance(*b)));
        let pick = Pick { arm: arm.unwrap(), bound: 0.0, variance: 1.0 };
        let picks = |rule| {
            // The threshold lies between the bounds after two pulls and after three.
            let threshold = 1.0 + 2.5 * state.model().variance(pick.arm);
            let mut shrinkage = Shrinkage::new(rule, threshold, state.model(), 1.0);
            (1..10).find(|_| shrinkage.ends_with(pick)).unwrap()
        };
        let local = |rule| picks(Rule::GlobalLocal(rule));
        assert_eq!(picks(Rule::Global), 3);
        assert_eq!((local(LocalRule::Both), local(LocalRule::Printed), local(LocalRule::Code)), (3, 3, 4));
    }

    /// Theorems 1 and 2 by their numbers, and a dictionary that they make larger.
    #[test]
    fn qbar_grows_as_the_theorems_ask() {
        let at = |schedule: QbarSchedule, t| schedule.growth(2.0, 0.01).map(|growth| growth.at(t));
        assert_eq!(at(QbarSchedule::Fixed, 10), None);
        assert!((at(QbarSchedule::Theorem1, 100).unwrap() - 8.0 * 4e4_f64.ln()).abs() < 1e-9);
        assert!((at(QbarSchedule::Theorem2, 100).unwrap() - 144.0 * 4e4_f64.ln()).abs() < 1e-9);
        let history = history();
        let atoms = |growth| {
            let mut model = SparseModel::new(config(), true).growing(growth);
            prepared(&mut model, &history, &mut Memo::default());
            model.state().unwrap().model().dictionary().len()
        };
        let (fixed, grown) = (atoms(None), atoms(QbarSchedule::Theorem1.growth(2.0, 0.01)));
        // Atoms that the others span are left out, which is why it is not five times as large.
        assert!(grown > fixed, "{fixed} {grown}");
    }

    #[test]
    fn a_dictionary_that_is_cut_is_reported() {
        let history = history();
        let remarks = |max_atoms| {
            let mut model = SparseModel::new(SparseConfig { max_atoms, ..config() }, true);
            prepared(&mut model, &history, &mut Memo::default());
            let mut diagnostics = Diagnostics::default();
            model.remark(&mut diagnostics);
            (model.state().unwrap().model().dictionary().len(), diagnostics)
        };
        let (wanted, silent) = remarks(1_000);
        assert_eq!(silent, Diagnostics::default());
        let (atoms, loud) = remarks(10);
        assert!(atoms <= 10 && wanted > 10, "{atoms} {wanted}");
        assert!(loud.counters["atoms_wanted"] > 10.0 && loud.counters["qbar"] < config().qbar, "{loud:?}");
        assert!(loud.notes[0].starts_with("max_atoms = 10 is less than the"), "{loud:?}");
    }

    /// Also arms that are atoms for certain lose their place if `qbar` is so much smaller.
    #[test]
    fn a_dictionary_that_is_cut_is_that_of_a_smaller_qbar() {
        let history = history();
        for inclusion in [Inclusion::Code, Inclusion::Paper] {
            let config = SparseConfig { inclusion, max_atoms: 10, ..config() };
            let mut model = SparseModel::new(config.clone(), true);
            prepared(&mut model, &history, &mut Memo::default());
            let state = model.state.as_mut().unwrap();
            let variance = |_: &Nystrom, arm: usize| 1.0 / (1.0 + arm as f64 / 40.0);
            let cut = state.sample(&config, variance, &[]);
            let scale = state.shortfall.unwrap().scale;
            // Rounding: the share of the first arm that is left out is the scale itself.
            let qbar = config.qbar * scale * (1.0 - 1e-12);
            let smaller = state.sample(&SparseConfig { qbar, max_atoms: 1_000, ..config }, variance, &[]);
            assert_eq!((cut.len(), &cut, state.shortfall), (10, &smaller, None));
        }
    }

    /// The chance of an atom is the same with either sort of coins, and that of the formula.
    #[test]
    fn coins_are_uniform() {
        let n = 100_000;
        for (seed, toss) in [(1, 0), (1, 5), (77, 0)] {
            let below = |p: f64| (0..n).filter(|arm| coin(seed, *arm, toss) < p).count() as f64 / n as f64;
            for p in [0.01, 0.3, 0.5, 0.9] {
                let error = (p * (1.0 - p) / n as f64).sqrt();
                assert!((below(p) - p).abs() < 5.0 * error, "{seed} {toss} {p}: {}", below(p));
            }
        }
        let paper = SparseConfig { inclusion: Inclusion::Paper, ..config() };
        // A share of 1 is a coin that shows the probability itself.
        assert!((paper.share(1.0 - 0.8_f64.powi(3), 3, 0.1) - 1.0).abs() < 1e-12);
        assert!((config().share(0.6, 3, 0.1) - 1.0).abs() < 1e-12);
        assert!(config().share(0.999, 30, 0.1) < 1.0 && paper.share(0.999, 1, 0.5) < 1.0);
    }

    /// Without its cache the model is built again from the memo, to the same bits.
    #[test]
    fn a_memo_is_enough() {
        let mut history = history();
        let pool = history.space().as_pool().unwrap().clone();
        let (mut kept, mut memo) = (SparseModel::new(config(), true), Memo::default());
        for row in 0..12 {
            tell(&mut history, &pool, 5 * row);
            let anew = prepared_twice(&mut kept, &history, &mut memo);
            let (a, b) = (kept.state().unwrap().model(), anew.state().unwrap().model());
            let bits = |model: &Nystrom, arm| (model.mean(arm).to_bits(), model.variance(arm).to_bits());
            (0..1_000).for_each(|arm| assert_eq!(bits(a, arm), bits(b, arm), "{row} {arm}"));
        }
    }
}
