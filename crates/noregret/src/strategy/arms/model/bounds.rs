//! Upper confidence bounds within a batch, updated only where they may be the largest (BBKB, App. A.3).
//!
//! Within a batch the dictionary and the means are frozen and variances only fall, so an old value bounds the current one
//! from above. Arms wait in a heap; the first one that is still on top after its update is the exact maximum. After the
//! pick of `z_s`, `z^T V^-1 z` falls by `(z . w_s)^2` with `w_s = V^-1 z_s / sqrt(1 + z_s^T V^-1 z_s)`.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};

use crate::math::cholesky::Cholesky;
use crate::math::vector;
use crate::surrogate::nystrom::Nystrom;

/// An arm in the heap; among equal bounds the lowest number is on top.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    bound: f64,
    arm: usize,
}

impl Eq for Entry {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bound.total_cmp(&other.bound).then(other.arm.cmp(&self.arm))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The score of an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Score {
    /// `mean + radius * deviation`.
    Ucb {
        /// Of the confidence interval.
        radius: f64,
    },
    /// The deviation alone.
    Deviation,
}

impl Score {
    fn of(self, mean: f64, variance: f64) -> f64 {
        match self {
            Self::Ucb { radius } => mean + radius * variance.max(0.0).sqrt(),
            Self::Deviation => variance.max(0.0).sqrt(),
        }
    }
}

/// The bounds of one batch.
pub(crate) struct Bounds<'a> {
    model: &'a Nystrom,
    score: Score,
    heap: BinaryHeap<Entry>,
    /// For each arm, the number of picks in its bound, and its projected variance then.
    updated: Vec<(u32, f64)>,
    /// `w_s` of every pick.
    picks: Vec<Vec<f64>>,
    /// The factor of V after the first `folded` picks.
    v: Cholesky,
    v_matrix: Option<Mat<f64>>,
    folded: usize,
    embeddings: Vec<Vec<f64>>,
    /// Number of bounds updated.
    pub(crate) recomputed: usize,
}

/// The arm with the largest bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pick {
    pub(crate) arm: usize,
    pub(crate) bound: f64,
    /// Its variance now, over lambda.
    pub(crate) variance: f64,
}

impl<'a> Bounds<'a> {
    /// Computes the bounds of the `free` arms at the beginning of a batch.
    pub(crate) fn new(model: &'a Nystrom, score: Score, free: &[bool]) -> Self {
        let scores = model.scores(|_, mean, variance| score.of(mean, variance));
        let entries: Vec<Entry> = scores
            .iter()
            .zip(free)
            .enumerate()
            .filter(|(_, (bound, free))| **free && !bound.is_nan())
            .map(|(arm, (bound, _))| Entry { bound: *bound, arm })
            .collect();
        let updated = (0..free.len()).map(|arm| (0, model.projected(arm))).collect();
        Self {
            model,
            score,
            heap: entries.into(),
            updated,
            picks: Vec::new(),
            v: model.v_factor().clone(),
            v_matrix: None,
            folded: 0,
            embeddings: Vec::new(),
            recomputed: 0,
        }
    }

    /// Takes the arm with the largest bound from the heap.
    pub(crate) fn next(&mut self) -> Option<Pick> {
        while let Some(Entry { bound, arm }) = self.heap.pop() {
            let (known, projected) = self.updated[arm];
            // An up-to-date entry on top is the maximum: every other entry bounds its arm from above, and is not higher.
            if known as usize == self.picks.len() {
                return Some(Pick { arm, bound, variance: self.model.residual(arm) + projected });
            }
            let projected = self.projected_now(arm, known as usize, projected);
            #[expect(clippy::cast_possible_truncation, reason = "no batch has four billion picks")]
            let now = self.picks.len() as u32;
            self.updated[arm] = (now, projected);
            self.recomputed += 1;
            // Rounding must not lift a bound above its old value, on which the heap relies.
            let fresh = self.score.of(self.model.mean(arm), self.model.residual(arm) + projected).min(bound);
            self.heap.push(Entry { bound: fresh, arm });
        }
        None
    }

    /// The projected variance of an arm after all picks: by the picks since its last update, or from the factor if they are many.
    fn projected_now(&self, arm: usize, known: usize, projected: f64) -> f64 {
        let z = self.model.embedding(arm);
        // Sherman & Morrison: a pick adds z_s z_s^T to V, and V^-1 loses w_s w_s^T. So z^T V^-1 z loses (z . w_s)^2, at m flops
        // a pick. The factor V = L L^T gives |L^-1 z|^2 at m^2 flops, which is less once the arm has missed more than m picks.
        let (from, mut now) = if known >= self.folded || self.picks.len() - known <= z.len() {
            (known, projected)
        } else {
            let mut u = z.clone();
            self.v.solve_lower(&mut u);
            (self.folded, vector::dot(&u, &u))
        };
        for w in &self.picks[from..] {
            now -= vector::dot(&z, w).powi(2);
        }
        now.max(0.0)
    }

    /// Conditions all variances on a pick.
    pub(crate) fn pick(&mut self, pick: Pick) {
        let z = self.model.embedding(pick.arm);
        // t = V^-1 z = V_folded^-1 z - sum_s w_s (w_s . z), from the last factor and the picks since.
        let mut t = z.clone();
        self.v.solve(&mut t);
        for w in &self.picks[self.folded..] {
            let along = vector::dot(w, &z);
            vector::axpy(-along, w, &mut t);
        }
        // w = V^-1 z / sqrt(1 + z^T V^-1 z).
        let scale = 1.0 / (1.0 + vector::dot(&z, &t).max(0.0)).sqrt();
        t.iter_mut().for_each(|t| *t *= scale);
        self.picks.push(t);
        self.embeddings.push(z);
        // A factorisation for every m picks costs as much as the picks themselves.
        if self.picks.len() - self.folded > self.model.components().max(16) {
            self.fold();
        }
    }

    /// Factors `V` with all picks so far. If that fails, the old factor and the list of picks go on.
    fn fold(&mut self) {
        // V + Z Z^T, with a column of Z for each pick since the last factor.
        let mut v = self.v_matrix.as_ref().unwrap_or_else(|| self.model.v()).clone();
        let fresh = &self.embeddings;
        let z = Mat::from_fn(v.nrows(), fresh.len(), |i, j| fresh[j][i]);
        let mut more = Mat::zeros(v.nrows(), v.nrows());
        matmul(more.as_mut(), Accum::Replace, z.as_ref(), z.transpose(), 1.0, Par::Seq);
        v += more;
        let factored = Cholesky::factor(v.nrows(), |j, rows| rows.copy_from_slice(&v.col_as_slice(j)[j..]));
        if let Ok(factor) = factored {
            self.v = factor;
            self.folded = self.picks.len();
            self.embeddings.clear();
            self.v_matrix = Some(v);
        }
    }

    /// Puts an arm back, so that it can be picked again.
    pub(crate) fn put_back(&mut self, pick: Pick) {
        self.heap.push(Entry { bound: pick.bound, arm: pick.arm });
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::gp::kernel::{Form, Kernel};
    use crate::surrogate::nystrom::PullsByArm;
    use crate::surrogate::nystrom::arms::Arms;
    use crate::surrogate::points::Points;

    fn model(arms: usize) -> (Nystrom, PullsByArm) {
        let mut rng = Seed(2).stream(Purpose::Experiment, 0, 0);
        let points = Points::from_columns(2, &(0..2 * arms).map(|_| rng.random()).collect::<Vec<f64>>());
        let mut data = PullsByArm::new();
        for arm in 0..12 {
            let pulls = data.entry(arm * 7).or_default();
            (pulls.told, pulls.sum) = (1 + arm % 3, rng.random::<f64>());
        }
        let dictionary: Vec<usize> = data.keys().copied().collect();
        let kernel = Kernel::new(Form::SquaredExponential, vec![0.2], 2, 1.0);
        let mut model = Nystrom::new(kernel, 1e-2, Arms::of_points(points));
        model.rebuild(&data, &dictionary).unwrap();
        (model, data)
    }

    /// The heap's maximum is that of a full scan at every step, with and without repeats; the plain twin is a model whose
    /// counts are raised and which is built anew.
    #[test]
    fn the_heap_finds_the_maximum_of_a_full_scan() {
        let (model, data) = model(400);
        for repeats in [true, false] {
            let score = Score::Ucb { radius: 0.3 };
            let mut free = vec![true; 400];
            let mut bounds = Bounds::new(&model, score, &free);
            let (mut plain, mut told) = (model.clone(), data.clone());
            let means: Vec<f64> = (0..400).map(|arm| model.mean(arm)).collect();
            for step in 0..120 {
                let scan = (0..400)
                    .filter(|arm| free[*arm])
                    .map(|arm| score.of(means[arm], plain.variance(arm)))
                    .fold(f64::NEG_INFINITY, f64::max);
                let pick = bounds.next().unwrap();
                assert!((pick.bound - scan).abs() < 1e-8, "step {step}: {} {scan}", pick.bound);
                assert!((pick.variance - plain.variance(pick.arm)).abs() < 1e-6);
                bounds.pick(pick);
                if repeats {
                    bounds.put_back(pick);
                } else {
                    free[pick.arm] = false;
                }
                told.entry(pick.arm).or_default().running += 1;
                let dictionary = plain.dictionary().to_vec();
                plain.rebuild(&told, &dictionary).unwrap();
            }
            assert!(bounds.recomputed < 120 * 40, "{}", bounds.recomputed);
        }
    }

    #[test]
    fn equal_bounds_go_by_number_and_taken_arms_never() {
        let (model, _) = model(100);
        let mut free = vec![true; 100];
        free[0] = false;
        let mut bounds = Bounds::new(&model, Score::Ucb { radius: 0.0 }, &free);
        let mut seen = std::collections::BTreeSet::new();
        while let Some(pick) = bounds.next() {
            assert!(seen.insert(pick.arm) && pick.arm != 0);
        }
        assert_eq!(seen.len(), 99);
    }
}
