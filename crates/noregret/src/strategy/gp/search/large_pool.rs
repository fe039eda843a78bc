//! The posterior at the rows of a large pool, for the points of one batch.
//!
//! While a batch is chosen, no mean changes and no variance grows. So an old variance of a row bounds its utility from above,
//! and only rows whose bound exceeds the best value must be evaluated again (lazy greedy, Minoux 1978). The result is the same
//! as that of a full scan; a batch costs little more than its first point.

use crate::acquisition::utility::Utility;
use crate::maximize::grid::panels;
use crate::maximize::multi_start::top;
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::space::Pool;
use crate::surrogate::Surrogate;
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::points::Points;

/// Rows that are evaluated again at first; four times as many each time that this was not enough ...
const FEW: usize = 256;
/// ... up to this many.
const MANY: usize = 16_384;

/// The rows with their means and variances.
pub(crate) struct LargePool<'a> {
    pool: &'a Pool,
    mean: Vec<f64>,
    /// Given the first `asked_at` points of the model; with more points, an upper bound.
    variance: Vec<f64>,
    asked_at: Vec<usize>,
    /// Rows evaluated since the last maximum.
    asked: usize,
}

impl<'a> LargePool<'a> {
    /// Takes the rows of a pool; nothing is evaluated yet.
    pub(crate) fn new(pool: &'a Pool) -> Self {
        Self { pool, mean: Vec::new(), variance: Vec::new(), asked_at: Vec::new(), asked: 0 }
    }

    /// Evaluates every row.
    fn ask_all(&mut self, gp: &Gp) {
        for rows in panels(self.pool) {
            let marginals = gp.marginals(&rows);
            self.mean.extend(marginals.mean);
            self.variance.extend(marginals.variance);
        }
        self.asked_at = vec![gp.len(); self.pool.len()];
        self.asked = self.pool.len();
    }

    /// Evaluates these rows again.
    fn ask(&mut self, gp: &Gp, rows: &[usize]) {
        let mut points = Points::new(self.pool.dims());
        rows.iter().for_each(|&row| points.push(&self.pool.point(row)));
        for (&row, variance) in rows.iter().zip(gp.marginals(&points).variance) {
            self.variance[row] = variance;
            self.asked_at[row] = gp.len();
        }
        self.asked += rows.len();
    }

    /// Returns the free row with the highest utility under `gp`, which may have been conditioned on more points of the batch since
    /// the last call; ties go to the lowest row. The utility must rise with the deviation.
    pub(crate) fn best(
        &mut self,
        gp: &Gp,
        utility: Utility,
        region: &Region<'_>,
    ) -> Result<Maximum, MaximizeError> {
        if self.mean.is_empty() {
            self.ask_all(gp);
        }
        // The mean is exact and the variance v_old of an earlier evaluation is at least the variance v now. The utility u rises with
        // the deviation, so u(mean, sqrt(v_old)) >= u(mean, sqrt(v)): a bound.
        let mut bounds = vec![0.0; self.pool.len()];
        utility.values(&self.mean, &self.variance, &mut bounds);
        let is_number = bounds.iter().any(|bound| !bound.is_nan());
        let mut count = FEW;
        loop {
            let highest = top(&bounds, count);
            if highest.is_empty() {
                let tried = self.pool.len();
                return Err(if is_number {
                    MaximizeError::NothingLeft { tried }
                } else {
                    MaximizeError::NotFinite { tried }
                });
            }
            // A row is identified by its number, without coordinates.
            let (taken, free): (Vec<usize>, Vec<usize>) =
                highest.into_iter().partition(|&row| region.is_taken(&[], Some(row)));
            taken.into_iter().for_each(|row| bounds[row] = f64::NAN);
            // The highest bound belongs to a row that is up to date: it is a value, and no other row can exceed it.
            if let Some(&row) = free.first()
                && self.asked_at[row] == gp.len()
            {
                let work = Work { values: std::mem::take(&mut self.asked), gradients: 0 };
                return Ok(Maximum { x: self.pool.point(row), row: Some(row), value: bounds[row], work });
            }
            // Bounds of the others are brought up to date, from the highest down.
            let stale: Vec<usize> = free.into_iter().filter(|&row| self.asked_at[row] < gp.len()).collect();
            self.ask(gp, &stale);
            for row in stale {
                bounds[row] = utility.value(self.mean[row], self.variance[row].sqrt());
            }
            count = (4 * count).min(MANY);
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};

    use super::*;
    use crate::acquisition::Scored;
    use crate::math::rng::Stream;
    use crate::maximize::grid::Exhaustive;
    use crate::maximize::{Maximize, Taken};
    use crate::space::Space;
    use crate::surrogate::gp::kernel::{Form, Kernel};

    const ROWS: usize = 20_000;
    const BATCH: usize = 12;

    /// A pool, and a model of a few of its rows.
    fn problem(seed: u64) -> (Space, Gp) {
        let mut rng = Stream::seed_from_u64(seed);
        let space = Space::pool(Pool::new((0..3 * ROWS).map(|_| rng.random()).collect(), 3).unwrap());
        let pool = space.as_pool().unwrap();
        let mut points = Points::new(3);
        (0..30).for_each(|row| points.push(&pool.point(row)));
        let y: Vec<f64> = (0..30).map(|row| pool.point(row).iter().map(|x| (9.0 * x).sin()).sum()).collect();
        let kernel = Kernel::new(Form::Matern52, vec![0.3; 3], 3, 1.0);
        let gp = Gp::new(kernel, points, &y, vec![1e-4; 30]).unwrap();
        (space, gp)
    }

    /// Rows of a batch with their utilities, and how many rows were asked for them.
    fn batch(seed: u64, lazily: bool, utility: impl Fn(usize) -> Utility) -> (Vec<(usize, f64)>, usize) {
        let (space, mut gp) = problem(seed);
        let (mut told, mut chosen) = (Taken::default(), Taken::default());
        (0..30).for_each(|row| told.insert(&[], Some(row)));
        let mut rows = LargePool::new(space.as_pool().unwrap());
        let (mut found, mut asked) = (Vec::new(), 0);
        for i in 0..BATCH {
            let region = Region { space: &space, taken: &told, batch: &chosen, apart: 0.0 };
            let best = if lazily {
                rows.best(&gp, utility(i), &region)
            } else {
                let target = Scored { model: &gp, utility: utility(i) };
                Exhaustive.maximize(&target, &region, &mut Stream::seed_from_u64(0))
            };
            let best = best.unwrap();
            chosen.insert(&[], best.row);
            gp.condition(&best.x, 1e-4);
            asked += best.work.values;
            found.push((best.row.unwrap(), best.value));
        }
        (found, asked)
    }

    /// The plain twin asks every row for every point. Parameters of utilities may change from point to point.
    #[test]
    fn the_rows_are_those_of_asking_all_of_them() {
        let utilities: [fn(usize) -> Utility; 4] = [
            |i| Utility::LogExpectedImprovement { best: 1.5 + 0.05 * i as f64 },
            |i| Utility::Ucb { beta: 1.0 + (i % 3) as f64 },
            |i| Utility::RegretToUncertainty { f_star: 2.5 + (i % 2) as f64 },
            |_| Utility::StandardDeviation,
        ];
        for seed in 0..3 {
            for utility in utilities {
                let ((lazily, asked), (plainly, all)) =
                    (batch(seed, true, utility), batch(seed, false, utility));
                for (a, b) in lazily.iter().zip(&plainly) {
                    // Rows are solved for in other company, which may round differently.
                    assert_eq!(a.0, b.0, "{:?}", utility(0));
                    assert!((a.1 - b.1).abs() <= 1e-9 * b.1.abs().max(1.0), "{a:?} {b:?}");
                }
                assert_eq!(all, BATCH * ROWS);
                assert!((ROWS..3 * ROWS).contains(&asked), "{asked} asked for {:?}", utility(0));
            }
        }
    }

    #[test]
    fn a_pool_may_run_out() {
        let space = Space::pool(Pool::new(vec![0.1, 0.2, 0.3], 1).unwrap());
        let kernel = Kernel::new(Form::Matern52, vec![0.3], 1, 1.0);
        let gp = Gp::new(kernel, Points::from_columns(1, &[0.5]), &[0.0], vec![0.1]).unwrap();
        let (mut taken, none) = (Taken::default(), Taken::default());
        let mut rows = LargePool::new(space.as_pool().unwrap());
        for expected in [Some(0), Some(1), Some(2), None] {
            let region = Region { space: &space, taken: &taken, batch: &none, apart: 0.0 };
            match rows.best(&gp, Utility::Mean, &region) {
                Ok(best) => {
                    assert!(best.row.is_some() && expected.is_some());
                    taken.insert(&[], best.row);
                }
                Err(error) => assert_eq!((error, expected), (MaximizeError::NothingLeft { tried: 3 }, None)),
            }
        }
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let nowhere = rows.best(&gp, Utility::Ucb { beta: f64::NAN }, &region);
        assert_eq!(nowhere, Err(MaximizeError::NotFinite { tried: 3 }));
    }
}
