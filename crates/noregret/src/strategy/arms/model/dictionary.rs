//! The choice of atoms: coins weighted by variances, and the first dictionary of existing data (Rudi et al. 2018, BLESS).

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::SparseConfig;
use super::state::ArmsState;
use crate::math::cholesky::NotPositiveDefinite;
use crate::surrogate::nystrom::arms::Arms;
use crate::surrogate::nystrom::{Nystrom, Pulls, PullsByArm};

/// Up to this many distinct arms, the first dictionary takes them all.
const SMALL: usize = 64;

/// A `qbar` that makes every arm an atom, and the model exact.
pub(crate) const EVERYTHING: f64 = f64::MAX;

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

/// How `qbar` grows with the pulls `t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum QbarSchedule {
    /// It is `sparse.qbar` at every step, as in the paper's experiments.
    #[default]
    #[serde(rename = "fixed")]
    Fixed,
    /// `8 log(4 t / delta)`, Theorem 1; `sparse.qbar` does not count.
    #[serde(rename = "theorem-1")]
    Theorem1,
    /// `72 C log(4 t / delta)`, Theorem 2; `sparse.qbar` does not count.
    #[serde(rename = "theorem-2")]
    Theorem2,
}

impl QbarSchedule {
    /// The schedule for a factor `C` and a probability `delta`.
    pub(crate) fn growth(self, c: f64, delta: f64) -> Option<QbarGrowth> {
        let factor = match self {
            Self::Fixed => return None,
            Self::Theorem1 => 8.0,
            Self::Theorem2 => 72.0 * c,
        };
        Some(QbarGrowth { factor, delta })
    }
}

/// `factor * log(4 t / delta)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QbarGrowth {
    factor: f64,
    delta: f64,
}

impl QbarGrowth {
    pub(super) fn at(self, t: usize) -> f64 {
        self.factor * (4.0 * t.max(1) as f64 / self.delta).ln()
    }
}

/// Atoms that coins chose, and those that there was room for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Shortfall {
    /// How many won their coins.
    pub(super) wanted: usize,
    /// The dictionary is that of `qbar` times this.
    pub(super) scale: f64,
}

impl SparseConfig {
    /// The share of `qbar` above which an arm of this many pulls and this variance is an atom, if its coin shows `u`. So an arm is one
    /// if its share is below 1, and with `s qbar` in place of `qbar` if it is below `s`.
    pub(super) fn share(&self, u: f64, pulls: usize, variance: f64) -> f64 {
        let n = pulls as f64;
        match self.inclusion {
            // u < s qbar n variance.
            Inclusion::Code => u / (self.qbar * (n * variance)),
            // At least one of n coins of p = s qbar variance wins with probability 1 - (1 - p)^n: u < 1 - (1 - p)^n.
            Inclusion::Paper => -((-u).ln_1p() / n).exp_m1() / (self.qbar * variance),
        }
    }
}

/// A number in [0, 1) that depends on the seed, the arm and the toss (splitmix64).
pub(super) fn coin(seed: u64, arm: usize, toss: u64) -> f64 {
    let mut x =
        seed ^ (arm as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ toss.wrapping_mul(0xD1B5_4A32_D192_ED03);
    for multiplier in [0xBF58_476D_1CE4_E5B9_u64, 0x94D0_49BB_1331_11EB] {
        x = (x ^ (x >> 30)).wrapping_mul(multiplier);
        x ^= x >> 27;
    }
    (x >> 11) as f64 / (1_u64 << 53) as f64
}

impl ArmsState {
    /// Samples a dictionary of pulled arms by coins (Alg. 1, l. 11 to 16); atoms of `before` stay in order. Notes whether
    /// `max_atoms` cut it.
    pub(super) fn sample(
        &mut self,
        config: &SparseConfig,
        variance: impl Fn(&Nystrom, usize) -> f64,
        before: &[usize],
    ) -> Vec<usize> {
        let toss = if config.coins == Coins::Kept { 0 } else { self.sparse.batches };
        let used: HashMap<usize, f64> = self
            .data
            .iter()
            .map(|(arm, pulls)| {
                let u = coin(self.sparse.seed, *arm, toss);
                (*arm, config.share(u, pulls.count(), variance(&self.model, *arm)))
            })
            .collect();
        // Too many atoms: keep the `max_atoms` smallest shares, as a smaller `qbar` does with the same coins.
        let mut limit = 1.0;
        let mut shares: Vec<f64> = used.values().copied().filter(|share| *share < 1.0).collect();
        self.shortfall = None;
        if shares.len() > config.max_atoms {
            shares.sort_by(f64::total_cmp);
            limit = shares[config.max_atoms];
            self.shortfall = Some(Shortfall { wanted: shares.len(), scale: limit });
        }
        let is_atom = |arm: &&usize| used.get(*arm).is_some_and(|share| *share < limit);
        let mut atoms: Vec<usize> = before.iter().filter(is_atom).copied().collect();
        let known: HashSet<usize> = before.iter().copied().collect();
        atoms.extend(self.data.keys().filter(|arm| is_atom(arm) && !known.contains(arm)));
        if atoms.is_empty() {
            // No coin won: take the arm that came closest.
            let closest = used.iter().min_by(|a, b| a.1.total_cmp(b.1).then(a.0.cmp(b.0)));
            atoms.extend(closest.map(|(arm, _)| *arm));
        }
        atoms
    }

    /// Samples a dictionary for data without one, by a falling ridge (BLESS). With one of another kernel or of fewer arms, only its
    /// last step: variances by that dictionary are never below the exact ones, so what it misses is likely to become an atom.
    pub(super) fn bless(
        &mut self,
        config: &SparseConfig,
        before: Vec<usize>,
    ) -> Result<Vec<usize>, NotPositiveDefinite> {
        let everything = config.qbar == EVERYTHING;
        if everything || before.is_empty() && self.data.len() <= SMALL.min(config.max_atoms) {
            self.shortfall = None;
            return Ok(self.data.keys().copied().collect());
        }
        let pulled: Vec<usize> = self.data.keys().copied().collect();
        let place: HashMap<usize, usize> = pulled.iter().enumerate().map(|(i, arm)| (*arm, i)).collect();
        let points = self.model.arms().select(&pulled);
        let data: PullsByArm = self.data.values().enumerate().map(|(i, pulls)| (i, *pulls)).collect();
        let pulls: usize = self.data.values().map(Pulls::count).sum();
        let kernel = self.model.kernel().clone();
        let mut ridge = self.model.lambda();
        let mut atoms = before;
        if atoms.is_empty() {
            // The effective dimension tr K (K + ridge I)^-1 is at most tr K / ridge, which is 1 here for stationary kernels: one
            // atom will do.
            ridge = pulls as f64 * kernel.outputscale;
            atoms.push(pulled[0]);
        }
        // The variance of a pulled arm, over the ridge, is its leverage score (K (K + ridge I)^-1)_ii. It grows at most
        // fourfold when the ridge falls to a quarter, so the dictionary of one step is good enough to sample the next.
        loop {
            let mut small = Nystrom::new(kernel.clone(), ridge, Arms::of_points(points.clone()));
            let known: Vec<usize> = atoms.iter().filter_map(|atom| place.get(atom).copied()).collect();
            small.rebuild(&data, &known)?;
            atoms = self.sample(config, |_, arm| small.variance(place[&arm]), &[]);
            if ridge <= self.model.lambda() {
                return Ok(atoms);
            }
            ridge = (ridge / 4.0).max(self.model.lambda());
        }
    }
}
