//! The state that a proposal passes to the next: everything that history and seed alone do not determine.
//!
//! The fields of a strategy are caches. The memo is logged with every proposal, so that a resumed study continues exactly
//! where the interrupted one stopped.

use serde::{Deserialize, Serialize};

use crate::maximize::inexact::Ledger;
use crate::surrogate::gp::hyperparameters::Hyperparameters;
use crate::surrogate::gp::warp::Warp;

/// The state of a study between proposals.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Memo {
    /// Seed of the initial design and how much of it was used.
    pub design: Design,
    /// The last fit of a Gaussian process.
    pub fit: Option<Fit>,
    /// The accumulated inexactness.
    pub ledger: Ledger,
    /// The dictionary of a sparse model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Sparse>,
    /// A network that learns along with the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neural: Option<Neural>,
}

/// Everything needed to compute the parameters of a network again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Neural {
    /// Seed of its first parameters.
    pub seed: u64,
    /// Corrections of the history when it was first trained.
    pub revision: u64,
    /// When it was trained, if trainings start where the last one ended.
    pub trainings: Trainings,
}

/// Numbers of evaluations, in ascending order, mostly at equal steps: (first, step, count) each.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trainings(Vec<(usize, usize, usize)>);

impl Trainings {
    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        self.0.iter().flat_map(|&(first, step, count)| (0..count).map(move |k| first + k * step))
    }

    /// Their number.
    pub fn count(&self) -> usize {
        self.0.iter().map(|(.., count)| count).sum()
    }

    /// The last one.
    pub fn last(&self) -> Option<usize> {
        self.0.last().map(|&(first, step, count)| first + count.saturating_sub(1) * step)
    }

    /// Adds one, larger than the last.
    pub fn push(&mut self, n: usize) {
        match self.0.last_mut() {
            Some((first, step, count)) if *count == 1 => (*step, *count) = (n - *first, 2),
            Some((first, step, count)) if *first + *count * *step == n => *count += 1,
            _ => self.0.push((n, 1, 1)),
        }
    }
}

/// Everything needed to build a sparse model again, bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sparse {
    /// Seed of the arms, if the space is not a pool, and of the coins that choose atoms.
    pub seed: u64,
    /// Evaluations that the hyperparameters were fitted to.
    pub evaluations: usize,
    /// Corrections of the history when the model was last built from scratch.
    pub revision: u64,
    /// Batches so far.
    pub batches: u64,
    /// `sum log(1 + variance)` over the model's choices, on which the radius depends.
    pub gain: Option<f64>,
    /// Points outside the arms that were running when the model was last built from scratch.
    pub extras: Vec<Vec<f64>>,
    /// The batches since the model was last built from scratch.
    pub starts: Vec<BatchStart>,
}

/// The state at the start of a batch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BatchStart {
    /// Evaluations told.
    pub told: usize,
    /// Arms that were running, each as often as it was.
    pub running: Vec<usize>,
    /// Atoms that the dictionary lost ...
    pub removed: Vec<usize>,
    /// ... and gained.
    pub added: Vec<usize>,
}

/// The initial design.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Design {
    /// Seed of its points, drawn with the first proposal.
    pub seed: Option<u64>,
    /// Points proposed from it.
    pub used: usize,
}

/// A fit of a Gaussian process: everything needed to build the model again, bit by bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fit {
    /// Number of evaluations told.
    pub evaluations: usize,
    /// The units of the values.
    #[serde(flatten)]
    pub units: Units,
    /// The hyperparameters.
    pub hyperparameters: Hyperparameters,
    /// Seed of the candidates of this fit, and of its subset if there is one.
    pub seed: u64,
    /// Evaluations of the likelihood that the fit took.
    pub likelihoods: usize,
}

/// Noise of a variance beyond this, in units of the values' variance, counts as that much: such an observation says nothing
/// either way, and sums of larger ones overflow.
const MOST_NOISE: f64 = 1e12;

/// How a model transforms values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Units {
    /// Their transformation, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp: Option<Warp>,
    /// Subtracted from the values ...
    pub mean: f64,
    /// ... which are then divided by this.
    pub sd: f64,
}

impl Units {
    /// A value as the model sees it: transformed, mean 0, deviation 1.
    pub fn standardized(&self, y: f64) -> f64 {
        let y = self.warp.map_or(y, |warp| warp.value(y));
        // In halves, which round alike: the difference of two large values may overflow.
        2.0 * ((0.5 * y - 0.5 * self.mean) / self.sd)
    }

    /// The variance of the noise of a value as the model sees it.
    pub fn standardized_variance(&self, variance: f64, y: f64) -> f64 {
        let slope = self.warp.map_or(1.0, |warp| warp.slope(y) / warp.scale);
        (variance * slope * slope / self.sd / self.sd).min(MOST_NOISE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trainings_are_kept_as_runs() {
        let all = [5, 6, 7, 8, 12, 16, 20, 21, 23, 24, 25];
        let mut trainings = Trainings::default();
        for (i, n) in all.into_iter().enumerate() {
            assert_eq!(trainings.count(), i);
            trainings.push(n);
            assert_eq!(trainings.last(), Some(n));
        }
        assert!(trainings.iter().eq(all));
        assert_eq!(trainings.0.len(), 4, "{trainings:?}");
    }
}
