//! The Nyström model of a running study: its dictionary sampled anew with every batch, its embeddings kept in between.
//! Calandriello et al. 2020 (BBKB), Alg. 1; the dictionary of existing data after Rudi et al. 2018 (BLESS).
//!
//! Like the Gaussian process of [`super::model`] it is a cache. The memo has the dictionaries of all batches since the model
//! was last built from nothing, and building it again takes the same steps, to the same bits.
//!
//! # Departures
//! - *Coins.* The paper draws a fresh coin for every arm at every batch, so that half of the dictionary changes although the
//!   probabilities hardly do. By default an arm keeps its coin: the chance to be in the dictionary is the same at every
//!   batch, and from one batch to the next only what the data changed is changed (`coins = "fresh"` draws anew).
//! - Values that came with a noise variance of their own are taken to have the common one.
//! - BLESS looks at all data at every ridge of its path, not at a growing sample of them.

use std::collections::{HashMap, HashSet};

use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::algorithm::AlgorithmError;
use super::history::{Choice, History, Outcome};
use super::memo::{Fit, Memo, Sparse, Start};
use super::model::GpModel;
use crate::error::Error;
use crate::math::cholesky::NotPositiveDefinite;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Region, Taken};
use crate::space::Space;
use crate::surrogate::gp::GpConfig;
use crate::surrogate::nystrom::arms::Arms;
use crate::surrogate::nystrom::{Nystrom, Pulls, PullsByArm};
use crate::surrogate::points::Points;

/// Batches after which embeddings are computed from nothing, so that rounding does not add up.
const REBUILD: usize = 64;
/// Distinct arms that a first dictionary takes whole.
const SMALL: usize = 64;

/// A `qbar` that makes every arm an atom, and the model exact.
pub(super) const EVERYTHING: f64 = f64::MAX;

/// How likely an arm is to be in the dictionary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// `min(1, qbar * count * variance)`, as in the authors' code.
    #[default]
    Code,
    /// A coin of `min(1, qbar * variance)` for each pull, as printed.
    Paper,
}

/// Whether coins are kept from batch to batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Coins {
    /// Each arm has one.
    #[default]
    Kept,
    /// New ones for every batch, as in the paper.
    Fresh,
}

/// Settings of a sparse model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SparseConfig {
    /// Kernel and noise, fitted on a subset of the evaluations unless they are fixed.
    pub model: GpConfig,
    /// Size of the dictionary: about this many atoms for each effective dimension.
    pub qbar: f64,
    /// How likely an arm is to be an atom.
    pub inclusion: Inclusion,
    /// Whether coins are kept.
    pub coins: Coins,
    /// Points that stand for a space that is no pool.
    pub arms: usize,
    /// Atoms at most: memory is 8 bytes times arms times atoms.
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
    pub fn validate(&self) -> Result<(), Error> {
        self.model.validate()?;
        let positive = |option, value: f64| {
            let range = "positive and finite";
            let wrong = AlgorithmError::OutOfRange { option, range, value };
            if value > 0.0 && value.is_finite() { Ok(()) } else { Err(wrong) }
        };
        positive("qbar", self.qbar)?;
        positive("arms", self.arms as f64)?;
        Ok(positive("max_atoms", self.max_atoms as f64)?)
    }

    /// The probability that an arm of this many pulls and this variance becomes an atom.
    fn probability(&self, pulls: usize, variance: f64) -> f64 {
        match self.inclusion {
            Inclusion::Code => (self.qbar * pulls as f64 * variance).min(1.0),
            Inclusion::Paper => {
                let misses = (1.0 - (self.qbar * variance).min(1.0)).ln() * pulls as f64;
                1.0 - misses.exp()
            }
        }
    }
}

/// The model and its cache.
#[derive(Debug)]
pub struct SparseModel {
    config: SparseConfig,
    gp: GpModel,
    /// Whether points that are running count in the variance.
    counts_running: bool,
    state: Option<State>,
}

/// The model for one history.
#[derive(Debug)]
pub struct State {
    model: Nystrom,
    data: PullsByArm,
    told: usize,
    sparse: Sparse,
    fit: Fit,
    /// Arms that may be suggested come first.
    choices: usize,
    /// Stands in for failures.
    worst: f64,
    /// Arms of a space that is no pool, by their bits.
    lookup: HashMap<Vec<u64>, usize>,
}

/// Points that stand for a space that is no pool: all of it if it is small, else feasible points of a Sobol sequence.
fn stand_ins(config: &SparseConfig, space: &Space, seed: u64) -> Result<Points, Error> {
    if let Some(all) = space.points() {
        let mut points = Points::new(space.dims());
        all.take(config.arms + 1).for_each(|x| points.push(&x));
        if points.len() <= config.arms {
            return Ok(points);
        }
    }
    let none = Taken::default();
    let region = Region { space, taken: &none, batch: &none, apart: 0.0 };
    Ok(region.sobol(config.arms, &mut Stream::seed_from_u64(seed)).map_err(MaximizeError::from)?)
}

/// Those of `these` that are not among `those`.
fn without(these: &[usize], those: &[usize]) -> Vec<usize> {
    let those: HashSet<usize> = those.iter().copied().collect();
    these.iter().copied().filter(|one| !those.contains(one)).collect()
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

/// A number in [0, 1) that depends on the seed, the arm and the toss (splitmix64).
fn coin(seed: u64, arm: usize, toss: u64) -> f64 {
    let mut x =
        seed ^ (arm as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ toss.wrapping_mul(0xD1B5_4A32_D192_ED03);
    for multiplier in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
        x = (x ^ (x >> 30)).wrapping_mul(multiplier);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

impl SparseModel {
    /// A model of this configuration, which must be valid. `counts_running` conditions variances on what is running.
    pub fn new(config: SparseConfig, counts_running: bool) -> Self {
        Self { gp: GpModel::new(config.model.clone()), config, counts_running, state: None }
    }

    /// Begins a batch: the model with all that was told, and variances also given what is running. There must be a value
    /// in the history.
    pub fn prepare(
        &mut self,
        history: &History,
        memo: &mut Memo,
        rng: &mut Stream,
    ) -> Result<&mut State, Error> {
        let fit = self.gp.fit_if_due(history, memo, rng);
        let same =
            |sparse: &Sparse| sparse.evaluations == fit.evaluations && sparse.revision == history.revision();
        let before = memo.sparse.take();
        let cached = self.state.take();
        let state = match before {
            Some(sparse) if same(&sparse) => match cached.filter(|state| state.sparse == sparse) {
                Some(state) => state,
                None => State::replayed(&self.config, history, fit, sparse)?,
            },
            before => {
                let (seed, batches, gain) = before
                    .as_ref()
                    .map_or_else(|| (rng.next_u64(), 0, None), |s| (s.seed, s.batches, s.gain));
                let sparse = Sparse {
                    seed,
                    evaluations: fit.evaluations,
                    revision: history.revision(),
                    batches,
                    gain,
                    extras: Vec::new(),
                    starts: Vec::new(),
                };
                let running: Vec<Choice> = self.running(history).cloned().collect();
                State::new(&self.config, history, fit, sparse, history.len(), Some(&running))?
            }
        };
        let running: Vec<Choice> = self.running(history).cloned().collect();
        let state = self.state.insert(state);
        state.begin(&self.config, history, &running)?;
        memo.sparse = Some(state.sparse.clone());
        Ok(state)
    }

    /// The model of the batch that was begun last.
    pub fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Keeps the sum on which the radius depends.
    pub fn set_gain(&mut self, memo: &mut Memo, gain: f64) {
        if let Some(state) = &mut self.state {
            state.sparse.gain = Some(gain);
            memo.sparse = Some(state.sparse.clone());
        }
    }

    /// What is running, if it counts.
    fn running<'a>(&self, history: &'a History) -> impl Iterator<Item = &'a Choice> + use<'a> {
        let counts = self.counts_running;
        history.pending().filter(move |_| counts)
    }

    /// Begins another batch in the same proposal: `picked` are running, too.
    pub fn again(
        &mut self,
        history: &History,
        memo: &mut Memo,
        picked: &[Choice],
    ) -> Result<&mut State, Error> {
        let running: Vec<Choice> = self.running(history).chain(picked).cloned().collect();
        let state = self.state.as_mut().expect("invariant: prepared before");
        state.begin(&self.config, history, &running)?;
        memo.sparse = Some(state.sparse.clone());
        Ok(state)
    }
}

impl State {
    /// The model without any batch. Arms are those of the space and the points among the first `told` evaluations that are not
    /// among them; then the strangers among `running`, or if it is not given those that the memo has.
    fn new(
        config: &SparseConfig,
        history: &History,
        fit: Fit,
        mut sparse: Sparse,
        told: usize,
        running: Option<&[Choice]>,
    ) -> Result<Self, Error> {
        let space = history.space();
        let kernel = config.model.fitted_kernel(space.kinds(), &fit.hyperparameters);
        let mut lookup = HashMap::new();
        let mut arms = match space.as_pool() {
            Some(pool) => Arms::of_pool(pool.clone()),
            None => Arms::of_points(Points::new(space.dims())),
        };
        let mut add = |arms: &mut Arms, x: &[f64]| {
            let stranger = !lookup.contains_key(&bits(x));
            if stranger {
                lookup.insert(bits(x), arms.len());
                arms.push(x);
            }
            stranger
        };
        if space.as_pool().is_none() {
            let points = stand_ins(config, space, sparse.seed)?;
            for i in 0..points.len() {
                add(&mut arms, &points.point(i));
            }
        }
        let choices = arms.len();
        for i in (0..told).filter(|i| history.rows()[*i].is_none()) {
            add(&mut arms, &history.points().point(i));
        }
        if let Some(running) = running {
            let strangers = running.iter().filter(|choice| choice.row.is_none() && add(&mut arms, &choice.x));
            sparse.extras = strangers.map(|choice| choice.x.clone()).collect();
        } else {
            for x in &sparse.extras {
                add(&mut arms, x);
            }
        }
        let values = history.outcomes()[..fit.evaluations].iter().filter_map(|outcome| match outcome {
            Outcome::Value { y, .. } => Some(*y),
            Outcome::Failed => None,
        });
        let worst = fit.units.standardized(values.fold(f64::INFINITY, f64::min));
        let model = Nystrom::new(kernel, fit.hyperparameters.noise_variance, arms);
        Ok(Self { model, data: PullsByArm::new(), told: 0, sparse, fit, choices, worst, lookup })
    }

    /// The model as it was after the batches of `sparse`.
    fn replayed(
        config: &SparseConfig,
        history: &History,
        fit: Fit,
        mut sparse: Sparse,
    ) -> Result<Self, Error> {
        let starts = std::mem::take(&mut sparse.starts);
        let told = starts.first().map_or(0, |start| start.told);
        let mut state = Self::new(config, history, fit, sparse, told, None)?;
        for start in starts {
            state.apply(history, start)?;
        }
        Ok(state)
    }

    /// The next batch: what was told and is running now, and a dictionary sampled by the variances of the batch before.
    fn begin(&mut self, config: &SparseConfig, history: &History, running: &[Choice]) -> Result<(), Error> {
        let told = history.len();
        let is_new = |i: &usize| self.arm(history.rows()[*i], &history.points().point(*i)).is_none();
        let strangers = (self.told..told).filter(is_new).count()
            + running.iter().filter(|choice| self.arm(choice.row, &choice.x).is_none()).count();
        self.sparse.batches += 1;
        let fresh = self.sparse.starts.is_empty();
        let before = self.model.dictionary().to_vec();
        if fresh || strangers > 0 || self.sparse.starts.len() >= REBUILD {
            // From nothing. The dictionary goes on by its variances, which the model of the data alone has.
            if strangers > 0 {
                let sparse = Sparse { starts: Vec::new(), ..self.sparse.clone() };
                *self = Self::new(config, history, self.fit.clone(), sparse, told, Some(running))?;
            }
            self.sparse.starts.clear();
            let start = Start { running: self.arms_of(running), told, ..Start::default() };
            self.collect(history, &start);
            let dictionary = if self.model.dictionary().is_empty() {
                self.bless(config, before)?
            } else {
                self.sample(config, |arm| self.model.variance(arm), &before)
            };
            (self.told, self.data) = (0, PullsByArm::new());
            self.apply(history, Start { added: dictionary, ..start })?;
            return Ok(());
        }
        let mut start = Start { running: self.arms_of(running), told, ..Start::default() };
        let (told, data) = (self.told, self.data.clone());
        self.collect(history, &start);
        let wanted = self.sample(config, |arm| self.model.variance(arm), &before);
        (self.told, self.data) = (told, data);
        start.removed = without(&before, &wanted);
        start.added = without(&wanted, &before);
        // What the dictionary spans would be left out again and again.
        start.added.retain(|arm| !self.model.is_spanned(*arm));
        self.apply(history, start)?;
        Ok(())
    }

    fn arms_of(&self, running: &[Choice]) -> Vec<usize> {
        running.iter().filter_map(|choice| self.arm(choice.row, &choice.x)).collect()
    }

    /// The arm of a point, if it is one.
    fn arm(&self, row: Option<usize>, x: &[f64]) -> Option<usize> {
        row.or_else(|| self.lookup.get(&bits(x)).copied())
    }

    /// Brings the data to the beginning of a batch.
    fn collect(&mut self, history: &History, start: &Start) {
        for i in self.told..start.told {
            let x = history.points().point(i);
            let Some(arm) = self.arm(history.rows()[i], &x) else { continue };
            let y = match history.outcomes()[i] {
                Outcome::Value { y, .. } => self.fit.units.standardized(y),
                Outcome::Failed => self.worst,
            };
            let pulls = self.data.entry(arm).or_default();
            pulls.told += 1;
            pulls.sum += y;
        }
        self.told = start.told;
        self.data.values_mut().for_each(|pulls| pulls.running = 0);
        for arm in &start.running {
            self.data.entry(*arm).or_default().running += 1;
        }
        self.data.retain(|_, pulls| pulls.count() > 0);
    }

    /// Brings data and model to the beginning of a batch.
    fn apply(&mut self, history: &History, start: Start) -> Result<(), NotPositiveDefinite> {
        self.collect(history, &start);
        if self.sparse.starts.is_empty() {
            self.model.rebuild(&self.data, &start.added)?;
        } else {
            let kept = self.model.dictionary().iter().copied().filter(|atom| !start.removed.contains(atom));
            let dictionary: Vec<usize> = kept.chain(start.added.iter().copied()).collect();
            let rebuilt = self.model.advance(&self.data, &dictionary)?;
            if rebuilt && self.sparse.extras.is_empty() {
                // What came before is no longer needed to get here.
                self.sparse.starts = vec![Start { removed: Vec::new(), added: dictionary, ..start }];
                return Ok(());
            }
        }
        self.sparse.starts.push(start);
        Ok(())
    }

    /// A dictionary of pulled arms by coins; atoms of `before` stay in order.
    fn sample(&self, config: &SparseConfig, variance: impl Fn(usize) -> f64, before: &[usize]) -> Vec<usize> {
        let toss = if config.coins == Coins::Kept { 0 } else { self.sparse.batches };
        // The share of its probability that the coin of an arm used up: below 1 it is an atom.
        let used: HashMap<usize, f64> = self
            .data
            .iter()
            .map(|(arm, pulls)| {
                (*arm, coin(self.sparse.seed, *arm, toss) / config.probability(pulls.count(), variance(*arm)))
            })
            .collect();
        let mut limit = 1.0;
        let mut shares: Vec<f64> = used.values().copied().filter(|share| *share < 1.0).collect();
        if shares.len() > config.max_atoms {
            shares.sort_by(f64::total_cmp);
            limit = shares[config.max_atoms];
        }
        let is_atom = |arm: &&usize| used.get(*arm).is_some_and(|share| *share < limit);
        let mut atoms: Vec<usize> = before.iter().filter(is_atom).copied().collect();
        let known: HashSet<usize> = before.iter().copied().collect();
        atoms.extend(self.data.keys().filter(|arm| is_atom(arm) && !known.contains(arm)));
        if atoms.is_empty() {
            // None was lucky: the one that came closest.
            let closest = used.iter().min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(b.0)));
            atoms.extend(closest.map(|(arm, _)| *arm));
        }
        atoms
    }

    /// A dictionary for data without one, by a falling ridge (BLESS); with an old one, its last step.
    fn bless(&self, config: &SparseConfig, before: Vec<usize>) -> Result<Vec<usize>, NotPositiveDefinite> {
        let everything = config.qbar == EVERYTHING;
        if everything || self.data.len() <= SMALL.min(config.max_atoms) {
            return Ok(self.data.keys().copied().collect());
        }
        let pulled: Vec<usize> = self.data.keys().copied().collect();
        let place: HashMap<usize, usize> = pulled.iter().enumerate().map(|(i, arm)| (*arm, i)).collect();
        let points = self.model.arms().select(&pulled);
        let data: PullsByArm = self.data.values().enumerate().map(|(i, pulls)| (i, *pulls)).collect();
        let pulls: usize = self.data.values().map(Pulls::count).sum();
        let kernel = self.model.kernel();
        let mut ridge = self.model.lambda();
        let mut atoms = before;
        if atoms.is_empty() {
            ridge = pulls as f64 * kernel.outputscale;
            atoms.push(pulled[0]);
        }
        loop {
            let mut small = Nystrom::new(kernel.clone(), ridge, Arms::of_points(points.clone()));
            let known: Vec<usize> = atoms.iter().filter_map(|atom| place.get(atom).copied()).collect();
            small.rebuild(&data, &known)?;
            atoms = self.sample(config, |arm| small.variance(place[&arm]), &[]);
            if ridge <= self.model.lambda() {
                return Ok(atoms);
            }
            ridge = (ridge / 4.0).max(self.model.lambda());
        }
    }

    /// The model.
    pub fn model(&self) -> &Nystrom {
        &self.model
    }

    /// Pulls at the beginning of the batch.
    pub fn data(&self) -> &PullsByArm {
        &self.data
    }

    /// Arms that may be suggested, if they are not taken: the first ones.
    pub fn choices(&self) -> usize {
        self.choices
    }

    /// An arm as a point of the study.
    pub fn choice(&self, arm: usize, history: &History) -> Choice {
        let row = history.space().as_pool().map(|_| arm);
        Choice { x: self.model.arms().point(arm), row }
    }

    /// Which arms may be suggested now.
    pub fn free(&self, region: &Region<'_>) -> Vec<bool> {
        let is_pool = region.space.as_pool().is_some();
        let free = |arm: usize| {
            if is_pool {
                !region.is_taken(&[], Some(arm))
            } else {
                !region.is_taken(&self.model.arms().point(arm), None)
            }
        };
        if region.taken.is_empty() && region.batch.is_empty() {
            return vec![true; self.choices];
        }
        (0..self.choices).map(free).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::{Pool, Space};
    use crate::strategy::history::Duplicates;
    use crate::surrogate::gp::hyperparameters::Tunable;
    use crate::surrogate::gp::kernel::Form;

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
        model.prepare(history, memo, &mut rng).unwrap();
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
            let before = memo.clone();
            prepared(&mut sparse, &history, &mut memo);
            let mut again = before;
            let mut anew = SparseModel::new(config(), true);
            prepared(&mut anew, &history, &mut again);
            assert_eq!(again, memo);
            let (a, b) = (sparse.state().unwrap(), anew.state().unwrap());
            assert_eq!(a.model().arms().len(), b.model().arms().len());
            assert_eq!(a.data().values().map(Pulls::count).sum::<usize>(), 2 * (number + 1));
            for arm in 0..a.model().arms().len() {
                assert_eq!(a.model().variance(arm).to_bits(), b.model().variance(arm).to_bits());
            }
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
        assert!((paper.probability(3, 0.1) - (1.0 - 0.8_f64.powi(3))).abs() < 1e-12);
        assert!((config().probability(3, 0.1) - 0.6).abs() < 1e-12);
        assert!((config().probability(30, 0.1) - 1.0).abs() < 1e-12);
    }

    /// Without its cache the model is built again from the memo, to the same bits.
    #[test]
    fn a_memo_is_enough() {
        let mut history = history();
        let pool = history.space().as_pool().unwrap().clone();
        let (mut kept, mut memo) = (SparseModel::new(config(), true), Memo::default());
        for row in 0..12 {
            tell(&mut history, &pool, 5 * row);
            let before = memo.clone();
            prepared(&mut kept, &history, &mut memo);
            let mut again = before;
            let mut anew = SparseModel::new(config(), true);
            prepared(&mut anew, &history, &mut again);
            assert_eq!(again, memo);
            let (a, b) = (kept.state().unwrap().model(), anew.state().unwrap().model());
            let bits = |model: &Nystrom, arm| (model.mean(arm).to_bits(), model.variance(arm).to_bits());
            (0..1_000).for_each(|arm| assert_eq!(bits(a, arm), bits(b, arm), "{row} {arm}"));
        }
    }
}
