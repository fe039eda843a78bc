//! Training data for models: failures take the worst value, long histories are subsampled.

use rand::{RngExt, SeedableRng};

use crate::math::rng::Stream;
pub(crate) use crate::maximize::multi_start::top;
use crate::strategy::history::{History, Outcome};
use crate::strategy::memo::Units;
use crate::surrogate::points::Points;

/// Separates the stream of the subset of a long history from others that share its seed.
const SUBSET: u64 = 0x5EED_0F5B_5E70_0000;

/// Training data for a model.
pub(crate) struct Dataset {
    pub(crate) points: Points,
    pub(crate) values: Vec<f64>,
    pub(crate) known_noise: Vec<Option<f64>>,
    pub(crate) failed: Vec<bool>,
    /// The worst value, in the user's units.
    pub(crate) worst: f64,
    /// The number of all evaluations, if these are a subset.
    pub(crate) subset_of: Option<usize>,
}

impl Dataset {
    /// The first `n` evaluations of `history`; if they are more than `max_points`, half as many of them, so that there is room for
    /// more to come.
    pub(crate) fn new(max_points: usize, history: &History, n: usize, seed: u64) -> Self {
        Self::at_most(if n > max_points { max_points / 2 } else { n }, history, n, seed)
    }

    /// The first `n` evaluations of `history`, or a subset of `most` of them.
    pub(crate) fn at_most(most: usize, history: &History, n: usize, seed: u64) -> Self {
        let outcomes = &history.outcomes()[..n];
        let (values, worst) = values_with_worst(outcomes);
        let known = |o: &Outcome| match o {
            Outcome::Value { noise_variance, .. } => *noise_variance,
            Outcome::Failed => None,
        };
        let rows = if n > most { subset(&values, most, seed) } else { (0..n).collect() };
        Self {
            points: history.points().select(&rows),
            values: rows.iter().map(|&i| values[i]).collect(),
            known_noise: rows.iter().map(|&i| known(&outcomes[i])).collect(),
            failed: rows.iter().map(|&i| outcomes[i] == Outcome::Failed).collect(),
            worst,
            subset_of: (rows.len() < n).then_some(n),
        }
    }

    /// Converts values and noise variances to these units.
    pub(crate) fn standardized(mut self, units: &Units) -> Self {
        for (y, noise) in self.values.iter_mut().zip(&mut self.known_noise) {
            *noise = noise.map(|v| units.standardized_variance(v, *y));
            *y = units.standardized(*y);
        }
        self
    }

    /// Removes failures.
    pub(crate) fn without_failures(self) -> Self {
        let rows: Vec<usize> = (0..self.failed.len()).filter(|&i| !self.failed[i]).collect();
        let (points, values, known_noise) = self.select(&rows);
        Self { points, values, known_noise, failed: vec![false; rows.len()], ..self }
    }

    /// Points, values and noise variances of some rows.
    pub(crate) fn select(&self, rows: &[usize]) -> (Points, Vec<f64>, Vec<Option<f64>>) {
        let y = rows.iter().map(|&i| self.values[i]).collect();
        let known = rows.iter().map(|&i| self.known_noise[i]).collect();
        (self.points.select(rows), y, known)
    }
}

/// The values, with the worst of them in place of failures, and that worst value.
pub(crate) fn values_with_worst(outcomes: &[Outcome]) -> (Vec<f64>, f64) {
    let value = |outcome: &Outcome| match outcome {
        Outcome::Value { y, .. } => Some(*y),
        Outcome::Failed => None,
    };
    let worst = outcomes.iter().filter_map(value).fold(f64::INFINITY, f64::min);
    (outcomes.iter().map(|outcome| value(outcome).unwrap_or(worst)).collect(), worst)
}

/// Mean and deviation of the values, without overflow; a deviation of 0 becomes 1.
pub(crate) fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    // The rounded mean of equal values may differ from them in the last bit; that is not a deviation.
    if let Some((first, rest)) = values.split_first()
        && rest.iter().all(|y| y.to_bits() == first.to_bits())
    {
        return (*first, 1.0);
    }
    let n = values.len().max(1) as f64;
    let mean: f64 = values.iter().map(|y| y / n).sum();
    let largest = values.iter().map(|y| (y / 2.0 - mean / 2.0).abs()).fold(0.0, f64::max);
    if largest == 0.0 {
        return (mean, 1.0);
    }
    let squares: f64 = values.iter().map(|y| ((y / 2.0 - mean / 2.0) / largest).powi(2) / n).sum();
    let sd = 2.0 * (largest * squares.sqrt());
    (mean, if sd.is_normal() { sd } else { 1.0 })
}

/// `size` rows of a long history: half of them the best, and a random sample of the rest.
///
/// The model must be accurate near the optimum, and elsewhere just good enough to avoid it. With a quarter for the best, regrets are
/// larger for exact values, and smaller for noisy ones, of which the best are partly lucky (docs/notebook/many-evaluations.md).
fn subset(values: &[f64], size: usize, seed: u64) -> Vec<usize> {
    let mut rows = top(values, size / 2);
    let best: std::collections::BTreeSet<usize> = rows.iter().copied().collect();
    let mut rest: Vec<usize> = (0..values.len()).filter(|i| !best.contains(i)).collect();
    shuffle(&mut rest, &mut Stream::seed_from_u64(seed ^ SUBSET));
    rows.extend(rest.into_iter().take(size - best.len()));
    rows.sort_unstable();
    rows
}

/// Fisher and Yates' shuffle.
pub(crate) fn shuffle(order: &mut [usize], rng: &mut Stream) {
    for i in (1..order.len()).rev() {
        order.swap(i, rng.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subset_holds_the_best_and_some_of_the_others() {
        let values: Vec<f64> = (0..1_000).map(|i| f64::from(i * 7 % 1_000)).collect();
        let rows = subset(&values, 100, 3);
        assert!(rows.len() == 100 && rows.is_sorted_by(|a, b| a < b), "{rows:?}");
        let best = rows.iter().filter(|i| values[**i] >= 950.0).count();
        let worse_half = rows.iter().filter(|i| values[**i] < 500.0).count();
        // 50 of the 950 others, about 26 of them from the worse half: 10 are four deviations fewer.
        assert!(best == 50 && worse_half > 10, "{best} {worse_half}");
        assert!(rows == subset(&values, 100, 3) && rows != subset(&values, 100, 4));
    }
}
