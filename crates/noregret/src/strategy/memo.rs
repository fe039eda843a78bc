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
    /// The rounds of an algorithm whose weights depend on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounds: Option<Rounds>,
    /// The initial exploration of TS-RSR.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explored: Option<Explored>,
    /// The dictionary of a sparse model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<Sparse>,
    /// A network that learns along with the study.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neural: Option<Neural>,
}

/// Rounds, batches and corrections beyond any study's, far from where sums of them overflow.
const MOST: u64 = 1 << 48;
/// Points of the initial design that may have been drawn and not proposed.
const MOST_UNUSED: usize = 1_000;

impl Memo {
    /// Returns what is wrong with a memo of a log: the model that it describes could not be built in a space of `dims` coordinates
    /// after `evaluations` of `trials`.
    pub(crate) fn check(&self, dims: usize, evaluations: usize, trials: usize) -> Result<(), &'static str> {
        if self.design.used > trials.saturating_add(MOST_UNUSED) {
            return Err("more points of the initial design were used than there are trials");
        }
        if self.fit.as_ref().is_some_and(|fit| !fit.is_sound()) {
            return Err("a hyperparameter is not positive");
        }
        let Ledger { rounds, measured, next, .. } = self.ledger;
        if [rounds, measured, next].iter().any(|count| *count as u64 > MOST) {
            return Err("there were too many rounds");
        }
        if self.rounds.is_some_and(|rounds| rounds.begun as u64 > MOST || rounds.told > evaluations) {
            return Err("a round of the model knows what was not told");
        }
        if self.explored.is_some_and(|explored| !explored.is_sound(trials)) {
            return Err("more was explored than there are trials");
        }
        if self.sparse.as_ref().is_some_and(|sparse| !sparse.is_sound(dims, evaluations)) {
            return Err("a batch of the sparse model knows what was not told");
        }
        if self.neural.as_ref().is_some_and(|neural| !neural.trainings.are_up_to(evaluations)) {
            return Err("the network was trained on what was not told");
        }
        Ok(())
    }
}

/// The rounds of a study, as its log tells them: a proposal of the model begins a round if a result was told since the last one, and
/// continues that one if none was. So a round is a batch, whether its points were asked for at once or one by one; with workers that
/// ask for a point whenever a result arrives, every point is a round of its own. The initial design does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rounds {
    /// Rounds begun, the present one included.
    pub begun: usize,
    /// Evaluations told when the first one began: the initial data.
    pub initial: usize,
    /// Evaluations told when the present one began.
    pub told: usize,
}

/// The initial exploration of TS-RSR: the points that were chosen by their deviation alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Explored {
    /// Their number.
    pub points: usize,
    /// The information gained by them, given everything before each.
    pub gain: f64,
}

impl Explored {
    fn is_sound(self, trials: usize) -> bool {
        self.points <= trials && self.gain.is_finite() && self.gain >= 0.0
    }
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

    /// Whether they ascend, and the last is at most `n`.
    fn are_up_to(&self, n: usize) -> bool {
        let mut least = 0;
        self.0.iter().all(|&(first, step, count)| {
            let last = count.checked_sub(1).and_then(|k| k.checked_mul(step)?.checked_add(first));
            let ascends = first >= least && (step > 0 || count == 1) && last.is_some_and(|last| last <= n);
            least = last.map_or(usize::MAX, |last| last.saturating_add(1));
            ascends
        })
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

impl Sparse {
    fn is_sound(&self, dims: usize, evaluations: usize) -> bool {
        let ascends = |pair: &[BatchStart]| pair[0].told <= pair[1].told;
        self.batches <= MOST
            && self.extras.iter().all(|x| x.len() == dims)
            && self.starts.windows(2).all(ascends)
            && self.starts.last().is_none_or(|last| last.told <= evaluations)
    }
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
    /// Values that had been replaced by then, because they were wrong.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub replacements: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(n: &u64) -> bool {
    *n == 0
}

impl Fit {
    fn is_sound(&self) -> bool {
        let Hyperparameters { kernel_parameters, outputscale, noise_variance } = &self.hyperparameters;
        let positive = |x: &f64| *x > 0.0 && x.is_finite();
        kernel_parameters.iter().chain([outputscale, &self.units.sd]).all(positive) && *noise_variance >= 0.0
    }
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

    /// Numbers that no study writes, and that would hang or end the next proposal.
    #[test]
    fn memos_that_no_model_could_be_built_of_are_refused() {
        let check = |json: &str| serde_json::from_str::<Memo>(json).unwrap().check(1, 3, 5);
        let neural = |trainings: &str| {
            check(&format!(r#"{{"neural":{{"seed":1,"revision":0,"trainings":{trainings}}}}}"#))
        };
        let sparse = |extras: &str, starts: &str| {
            check(&format!(
                r#"{{"sparse":{{"seed":1,"evaluations":3,"revision":0,"batches":1,"gain":null,"extras":{extras},"starts":{starts}}}}}"#
            ))
        };
        let fit = |lengthscale: f64, sd: f64| {
            check(&format!(
                r#"{{"fit":{{"evaluations":3,"mean":0,"sd":{sd},"seed":1,"likelihoods":1,
                "hyperparameters":{{"lengthscales":[{lengthscale}],"outputscale":1,"noise_variance":0}}}}}}"#
            ))
        };
        let start = |told: usize| format!(r#"{{"told":{told},"running":[],"removed":[],"added":[]}}"#);
        for sound in [
            check("{}"),
            neural("[]"),
            neural("[[1,1,1],[2,1,2]]"),
            sparse("[[0.5]]", &format!("[{},{}]", start(1), start(3))),
            fit(0.5, 1.0),
            check(r#"{"design":{"seed":1,"used":5}}"#),
            check(r#"{"rounds":{"begun":9,"initial":1,"told":3}}"#),
            check(r#"{"explored":{"points":5,"gain":0.5}}"#),
        ] {
            assert_eq!(sound, Ok(()));
        }
        for unsound in [
            neural("[[0,0,1152921504606846976]]"),
            neural("[[2,1,3]]"),
            neural("[[2,1,2],[1,1,1]]"),
            neural("[[1,18446744073709551615,3]]"),
            sparse("[[0.5,0.5]]", "[]"),
            sparse("[]", &format!("[{}]", start(4))),
            sparse("[]", &format!("[{},{}]", start(3), start(1))),
            fit(0.0, 1.0),
            fit(0.5, -1.0),
            check(r#"{"design":{"seed":1,"used":4611686018427387904}}"#),
            check(r#"{"rounds":{"begun":9,"initial":1,"told":4}}"#),
            check(r#"{"rounds":{"begun":18446744073709551615,"initial":1,"told":3}}"#),
            check(r#"{"explored":{"points":6,"gain":0.5}}"#),
            check(r#"{"explored":{"points":5,"gain":-0.5}}"#),
            check(
                r#"{"ledger":{"rounds":18446744073709551615,"measured":0,"eta_hat":null,"m_hat":0,"next":0,"grid":null}}"#,
            ),
        ] {
            assert!(unsound.is_err());
        }
    }

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
