//! The model of one history: the arms, their data, and the dictionary of the current batch.

use std::collections::{HashMap, HashSet};

use rand::SeedableRng;

use super::SparseConfig;
use super::dictionary::Shortfall;
use crate::error::Result;
use crate::math::cholesky::NotPositiveDefinite;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Region};
use crate::space::Space;
use crate::strategy::history::{Choice, History, Outcome};
use crate::strategy::memo::{BatchStart, Fit, Sparse};
use crate::surrogate::nystrom::arms::Arms;
use crate::surrogate::nystrom::{Nystrom, PullsByArm};
use crate::surrogate::points::Points;

/// Batches after which embeddings are computed from scratch, so that rounding errors do not accumulate.
const REBUILD: usize = 64;

/// What a new fit makes obsolete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stale {
    Nothing,
    /// The sums of the arms.
    Values,
    /// Embeddings and variances, too.
    Kernel,
}

/// The model for one history.
#[derive(Debug)]
pub struct ArmsState {
    pub(super) model: Nystrom,
    pub(super) data: PullsByArm,
    told: usize,
    pub(super) sparse: Sparse,
    pub(super) fit: Fit,
    /// Arms that may be suggested come first.
    choices: usize,
    /// Used in place of failures.
    worst: f64,
    /// What `max_atoms` left out of the dictionary of this batch.
    pub(super) shortfall: Option<Shortfall>,
    /// Arms by their bits, if the space is not a pool.
    lookup: HashMap<Vec<u64>, usize>,
}

/// The arms of a space that is not a pool: all of its points if they are few, else feasible points of a Sobol sequence.
fn stand_ins(config: &SparseConfig, space: &Space, seed: u64) -> Result<Points> {
    if let Some(all) = space.points() {
        let mut points = Points::new(space.dims());
        all.take(config.arms + 1).for_each(|x| points.push(&x));
        if points.len() <= config.arms {
            return Ok(points);
        }
    }
    Ok(Region::whole(space)
        .sobol(config.arms, &mut Stream::seed_from_u64(seed))
        .map_err(MaximizeError::from)?)
}

/// Those of `these` that are not among `those`.
fn without(these: &[usize], those: &[usize]) -> Vec<usize> {
    let those: HashSet<usize> = those.iter().copied().collect();
    these.iter().copied().filter(|one| !those.contains(one)).collect()
}

/// The worst value known at the fit, in its units.
fn worst(history: &History, fit: &Fit) -> f64 {
    let values = history.outcomes()[..fit.evaluations].iter().filter_map(|outcome| match outcome {
        Outcome::Value { y, .. } => Some(*y),
        Outcome::Failed => None,
    });
    fit.units.standardized(values.fold(f64::INFINITY, f64::min))
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|x| x.to_bits()).collect()
}

impl ArmsState {
    /// Builds the model without any batch. The arms are those of the space, then other points of the first `told` evaluations,
    /// then other points of `running`, or if it is not given those of the memo.
    pub(super) fn new(
        config: &SparseConfig,
        history: &History,
        fit: Fit,
        mut sparse: Sparse,
        told: usize,
        running: Option<&[Choice]>,
    ) -> Result<Self> {
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
        let worst = worst(history, &fit);
        let model = Nystrom::new(kernel, fit.hyperparameters.noise_variance, arms);
        let data = PullsByArm::new();
        Ok(Self { model, data, told: 0, sparse, fit, choices, worst, shortfall: None, lookup })
    }

    /// Rebuilds the model after the batches of `sparse`; `None` if they speak of arms that there are not, as when the number of arms
    /// was changed in between.
    pub(super) fn replayed(
        config: &SparseConfig,
        history: &History,
        fit: Fit,
        mut sparse: Sparse,
    ) -> Result<Option<Self>> {
        let starts = std::mem::take(&mut sparse.starts);
        let told = starts.first().map_or(0, |start| start.told);
        let mut state = Self::new(config, history, fit, sparse, told, None)?;
        for start in starts {
            let arms = state.model.arms().len();
            let named = start.running.iter().chain(&start.removed).chain(&start.added);
            if named.into_iter().any(|arm| *arm >= arms) {
                return Ok(None);
            }
            state.apply(history, start)?;
        }
        Ok(Some(state))
    }

    /// Takes over a new fit. Returns what has to be computed anew.
    fn refit(&mut self, history: &History, fit: Fit) -> Stale {
        let worst = worst(history, &fit);
        let has_failures = history.outcomes()[..self.told].contains(&Outcome::Failed);
        let stale = if fit.hyperparameters != self.fit.hyperparameters {
            Stale::Kernel
        } else if fit.units != self.fit.units || has_failures && worst.to_bits() != self.worst.to_bits() {
            Stale::Values
        } else {
            Stale::Nothing
        };
        self.sparse.evaluations = fit.evaluations;
        (self.fit, self.worst) = (fit, worst);
        stale
    }

    /// Begins the next batch: adds the new data and running points, and samples a dictionary by the variances of the last batch. A fit
    /// that left the kernel as it was changes nothing of that, only the units of the values.
    pub(super) fn begin(
        &mut self,
        config: &SparseConfig,
        history: &History,
        running: &[Choice],
        fit: Fit,
    ) -> Result<()> {
        let stale = self.refit(history, fit);
        let told = history.len();
        let is_new = |i: &usize| self.arm(history.rows()[*i], &history.points().point(*i)).is_none();
        let strangers = (self.told..told).filter(is_new).count()
            + running.iter().filter(|choice| self.arm(choice.row, &choice.x).is_none()).count();
        self.sparse.batches += 1;
        let fresh = self.sparse.starts.is_empty();
        let mut before = self.model.dictionary().to_vec();
        let is_long = self.sparse.starts.len() >= REBUILD;
        if fresh || strangers > 0 || is_long || stale != Stale::Nothing {
            // From scratch. The dictionary continues by the variances of the last batch, or if there are other arms or another
            // kernel by those of the data alone. Extras that were told meanwhile come in another order when the memo is replayed.
            let renumbered = strangers > 0 || !fresh && !self.sparse.extras.is_empty();
            if renumbered || stale == Stale::Kernel {
                let atoms: Vec<Vec<f64>> = before.iter().map(|atom| self.model.arms().point(*atom)).collect();
                let sparse = Sparse { starts: Vec::new(), ..self.sparse.clone() };
                *self = Self::new(config, history, self.fit.clone(), sparse, told, Some(running))?;
                if history.space().as_pool().is_none() {
                    before = atoms.iter().filter_map(|x| self.arm(None, x)).collect();
                }
            }
            self.sparse.starts.clear();
            let start = BatchStart { running: self.arms_of(running), told, ..BatchStart::default() };
            self.collect(history, &start);
            let dictionary = if self.model.dictionary().is_empty() {
                self.bless(config, before)?
            } else {
                self.sample(config, Nystrom::variance, &before)
            };
            (self.told, self.data) = (0, PullsByArm::new());
            self.apply(history, BatchStart { added: dictionary, ..start })?;
            return Ok(());
        }
        let mut start = BatchStart { running: self.arms_of(running), told, ..BatchStart::default() };
        let (told, data) = (self.told, self.data.clone());
        self.collect(history, &start);
        let wanted = self.sample(config, Nystrom::variance, &before);
        (self.told, self.data) = (told, data);
        start.removed = without(&before, &wanted);
        start.added = without(&wanted, &before);
        // Atoms in the span of the others would be left out every time; but not by others that go.
        if start.removed.is_empty() {
            start.added.retain(|arm| !self.model.is_spanned(*arm));
        }
        self.apply(history, start)?;
        Ok(())
    }

    fn arms_of(&self, running: &[Choice]) -> Vec<usize> {
        running.iter().filter_map(|choice| self.arm(choice.row, &choice.x)).collect()
    }

    /// The arm of a point, if there is one.
    fn arm(&self, row: Option<usize>, x: &[f64]) -> Option<usize> {
        row.or_else(|| self.lookup.get(&bits(x)).copied())
    }

    /// Brings the data to the beginning of a batch.
    fn collect(&mut self, history: &History, start: &BatchStart) {
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
    fn apply(&mut self, history: &History, start: BatchStart) -> Result<(), NotPositiveDefinite> {
        self.collect(history, &start);
        if self.sparse.starts.is_empty() {
            self.model.rebuild(&self.data, &start.added)?;
        } else {
            let kept = self.model.dictionary().iter().copied().filter(|atom| !start.removed.contains(atom));
            let dictionary: Vec<usize> = kept.chain(start.added.iter().copied()).collect();
            let rebuilt = self.model.advance(&self.data, &dictionary)?;
            if rebuilt && self.sparse.extras.is_empty() {
                // Earlier batches are no longer needed to rebuild this one.
                self.sparse.starts = vec![BatchStart { removed: Vec::new(), added: dictionary, ..start }];
                return Ok(());
            }
        }
        self.sparse.starts.push(start);
        Ok(())
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
