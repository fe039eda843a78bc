//! Joint posterior draws at the most promising candidates: one factorisation for any number of draws.
//!
//! Running points have no values yet: draws are conditioned on the observed points alone, as `f | F_t` in the papers.

use rand::RngExt;

use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::climb::Climber;
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::{MaximizeError, Maximum, Region, Taken, Work};
use crate::space::Pool;
use crate::strategy::gp::model::GpState;
use crate::strategy::history::{Choice, Duplicates, History};
use crate::strategy::turn::Turn;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::posterior::Joint;
use crate::surrogate::points::Points;

/// Candidates of a draw: all that a solver keeps by default, and of more, as in a pool, those with the highest bounds. Where the posterior
/// is near the prior, any candidate may be the maximum: that of 1,024 among 20,000 like ones is about 0.8 deviations too low.
const LOOKED_AT: usize = 1_024;
/// The bound that selects them, in deviations: a value exceeds it with probability 0.001 at each point.
const BOUND: f64 = 3.0;
/// Rows of a pool that are considered instead if the pool is too large to keep.
const SAMPLED_ROWS: usize = 2_000;
/// Points of a space whose solver keeps no candidates.
const POINTS: usize = 1_000;
/// Climbs on the posterior mean, from the evaluations with the best means.
const CLIMBS: usize = 2;
/// Draws made at once.
const BLOCK: usize = 64;
/// Draws for each maximum wanted, in a budget that all of them share, before stand-ins are taken (App. C of TS-RSR draws on without
/// end).
const MAX_DRAWS: usize = 50;
/// The stand-in exceeds the largest mean by this share of the largest deviation.
const STAND_IN: f64 = 0.1;

/// The joint posterior of the most promising candidates.
pub(crate) struct Draws {
    joint: Joint,
    points: Points,
    /// Their rows, if the space is a pool.
    rows: Vec<Option<usize>>,
    largest_mean: f64,
    largest_sd: f64,
}

/// Maxima of functions drawn from the posterior.
pub(crate) struct Maxima {
    /// One for each function that was wanted.
    pub(crate) f_star: Vec<f64>,
    /// Draws that were made again since they did not exceed the largest mean.
    pub(crate) redrawn: usize,
    /// Maxima that were replaced by a stand-in after the last draw, which did not exceed it either.
    pub(crate) stand_ins: usize,
}

impl Draws {
    /// Factors the covariance of the most promising candidates of a model.
    pub(crate) fn new(gp: &mut GpState, turn: &mut Turn<'_>) -> Result<Self> {
        Self::of(gp, turn.history, turn.rng)
    }

    /// The same outside a turn.
    pub(crate) fn of(gp: &mut GpState, history: &History, rng: &mut Stream) -> Result<Self> {
        if let Some(pool) = history.space().as_pool() {
            if !gp.kept().is_empty() {
                return Self::among(gp, gp.kept(), Some);
            }
            // The pool is too large to keep.
            let (rows, points) = random_rows(pool, rng);
            return Self::among(gp, &Candidates::new(gp.gp(), points), |i| Some(rows[i]));
        }
        // The maximum of the mean is seldom at a candidate.
        gp.add_fresh(&summit(gp, history));
        if gp.kept().is_empty() {
            // The solver makes its own candidates, anew for each point; a draw is joint at one set.
            let points = Region::whole(history.space()).sobol(POINTS, rng).map_err(MaximizeError::from)?;
            return Self::among(gp, &Candidates::new(gp.gp(), points), |_| None);
        }
        Self::among(gp, gp.kept(), |_| None)
    }

    /// The most promising of these candidates, whose rows are `row`; without rows, also of the fresh ones.
    fn among(gp: &GpState, set: &Candidates, row: impl Fn(usize) -> Option<usize>) -> Result<Self> {
        let chosen = top(&bounds(set), LOOKED_AT);
        let mut rows: Vec<Option<usize>> = chosen.iter().map(|i| row(*i)).collect();
        let fresh: Vec<usize> =
            if rows.iter().any(Option::is_some) { Vec::new() } else { (0..gp.fresh().len()).collect() };
        let (joint, points) = Candidates::joint(gp.gp(), &[(set, &chosen), (gp.fresh(), &fresh)])?;
        rows.resize(points.len(), None);
        let means = set.mean().iter().chain(gp.fresh().mean()).copied();
        let largest_mean = means.chain(gp.means_at_data()).fold(f64::NEG_INFINITY, f64::max);
        let variances = set.observed_variance().iter().chain(gp.fresh().observed_variance());
        let largest_sd = variances.copied().fold(0.0, f64::max).sqrt();
        Ok(Self { joint, points, rows, largest_mean, largest_sd })
    }

    /// The posterior itself.
    pub(crate) fn joint(&self) -> &Joint {
        &self.joint
    }

    /// The candidate at place `i`.
    pub(crate) fn choice(&self, i: usize) -> Choice {
        Choice { x: self.points.point(i), row: self.rows[i] }
    }

    /// Number of candidates.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Maxima of `q` independent draws, each above the largest posterior mean (App. C).
    pub(crate) fn maxima(&self, q: usize, rng: &mut Stream) -> Maxima {
        let mut f_star = Vec::with_capacity(q);
        let (mut left, mut drawn) = (q * MAX_DRAWS, 0);
        while f_star.len() < q && left > 0 {
            let block = (q - f_star.len()).min(left).clamp(1, BLOCK);
            left -= block;
            drawn += block;
            let draws = self.joint.draws(block, rng);
            let largest = draws.col_iter().map(|draw| draw.iter().copied().fold(f64::NEG_INFINITY, f64::max));
            f_star.extend(largest.filter(|largest| *largest > self.largest_mean));
        }
        let stand_ins = q - f_star.len();
        f_star.resize(q, self.largest_mean + STAND_IN * self.largest_sd);
        // Each maximum was drawn once; all further draws were made in place of another.
        Maxima { f_star, redrawn: drawn - q, stand_ins }
    }

    /// Candidates in the order of a fresh draw, the largest value first.
    pub(crate) fn ranking(&self, rng: &mut Stream) -> Vec<usize> {
        let draw = self.joint.draw(rng);
        let mut order: Vec<usize> = (0..draw.len()).collect();
        order.sort_by(|&a, &b| draw[b].total_cmp(&draw[a]).then(a.cmp(&b)));
        order
    }

    /// The first candidate of `order` that may be suggested.
    pub(crate) fn first_free(&self, order: &[usize], region: &Region<'_>) -> Result<Maximum, MaximizeError> {
        let nothing = MaximizeError::NothingLeft { tried: order.len() };
        self.place_of_first_free(order, region).map(|i| self.maximum(i)).ok_or(nothing)
    }

    /// Its place among the candidates.
    pub(crate) fn place_of_first_free(&self, order: &[usize], region: &Region<'_>) -> Option<usize> {
        let is_free = |i: &&usize| {
            let choice = self.choice(**i);
            !region.is_taken(&choice.x, choice.row)
        };
        order.iter().find(is_free).copied()
    }

    /// Marks the candidate at place `i` as part of the batch, unless repeats are allowed.
    pub(crate) fn take(&self, i: usize, history: &History, taken: &mut Taken) {
        if history.duplicates() != Duplicates::Replicate {
            let choice = self.choice(i);
            taken.insert(&choice.x, choice.row);
        }
    }

    /// The candidate at place `i` as the result of a search.
    pub(crate) fn maximum(&self, i: usize) -> Maximum {
        let choice = self.choice(i);
        let work = Work { values: self.len(), ..Work::default() };
        Maximum { x: choice.x, row: choice.row, value: f64::NAN, work }
    }
}

/// Upper bounds of the values at candidates, given the observed points alone.
fn bounds(set: &Candidates) -> Vec<f64> {
    let marginals = set.mean().iter().zip(set.observed_variance());
    marginals.map(|(mean, variance)| mean + BOUND * variance.max(0.0).sqrt()).collect()
}

/// Random rows of a pool that is too large to keep, and their points.
pub(crate) fn random_rows(pool: &Pool, rng: &mut Stream) -> (Vec<usize>, Points) {
    let rows: Vec<usize> =
        (0..SAMPLED_ROWS.min(pool.len())).map(|_| rng.random_range(0..pool.len())).collect();
    let mut points = Points::new(pool.dims());
    rows.iter().for_each(|&row| points.push(&pool.point(row)));
    (rows, points)
}

/// A climb on the posterior mean from the best points known.
pub(crate) fn summit(gp: &GpState, history: &History) -> Points {
    let means = gp.means_at_data();
    let mut starts = gp.gp().points().select(&top(&means, CLIMBS));
    for set in [gp.kept(), gp.fresh()] {
        top(set.mean(), 1).into_iter().for_each(|i| starts.push(&set.points().point(i)));
    }
    let region = Region::whole(history.space());
    let climbs =
        MultiStart { starts: starts.len(), grid: 0, climber: Climber::default(), only_converged: false };
    let mut summit = Points::new(history.space().dims());
    // Without one, the candidates suffice.
    if let Ok(found) = climbs.climb_from(&gp.scored(Utility::Mean), &region, &starts) {
        summit.push(&found.x);
    }
    summit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::space::Space;
    use crate::strategy::gp::model::GpModel;
    use crate::strategy::history::Outcome;
    use crate::strategy::memo::Memo;
    use crate::strategy::testing::random_history;
    use crate::surrogate::gp::GpConfig;

    fn history(space: Space, n: usize) -> History {
        random_history(space, n, 3, |x| -x.iter().map(|x| (x - 0.4).powi(2)).sum::<f64>())
    }

    fn with_draws(history: &History, check: impl FnOnce(&GpState, &Draws, &mut Stream)) {
        let mut model = GpModel::new(GpConfig::default(), 300);
        let mut rng = Seed(4).stream(Purpose::Experiment, 0, 0);
        let (state, _) = model.update(history, &mut Memo::default(), &mut rng).unwrap();
        let draws = Draws::of(state, history, &mut rng).unwrap();
        check(state, &draws, &mut rng);
    }

    #[test]
    fn maxima_exceed_every_mean() {
        with_draws(&history(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), 12), |state, draws, rng| {
            let maxima = draws.maxima(20, rng);
            let best = state.means_at_data().into_iter().fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(maxima.f_star.len(), 20);
            assert!(maxima.f_star.iter().all(|f| *f > best), "{:?} {best}", maxima.f_star);
        });
    }

    /// Of 150 draws for three maxima none exceeds a mean far above all values: 147 were made again, three are replaced.
    #[test]
    fn stand_ins_take_the_place_of_what_cannot_be_drawn() {
        let history = history(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), 12);
        let mut model = GpModel::new(GpConfig::default(), 300);
        let mut rng = Seed(4).stream(Purpose::Experiment, 0, 0);
        let (state, _) = model.update(&history, &mut Memo::default(), &mut rng).unwrap();
        let draws = Draws { largest_mean: 1e6, ..Draws::of(state, &history, &mut rng).unwrap() };
        let Maxima { f_star, redrawn, stand_ins } = draws.maxima(3, &mut rng);
        assert_eq!((redrawn, stand_ins), (147, 3));
        let expected = 1e6 + STAND_IN * draws.largest_sd;
        assert!(f_star.len() == 3 && f_star.iter().all(|f| (f - expected).abs() < 1e-9), "{f_star:?}");
        let sure = Draws { largest_mean: -1e6, ..draws }.maxima(3, &mut rng);
        assert_eq!((sure.f_star.len(), sure.redrawn, sure.stand_ins), (3, 0, 0));
    }

    #[test]
    fn what_runs_does_not_lower_the_deviation_of_draws() {
        let mut history = history(Space::bounds(&[(0.0, 1.0); 2]).unwrap(), 6);
        let spread = |history: &History| {
            let mut variance = 0.0;
            with_draws(history, |_, draws, _| {
                variance = (0..draws.len()).map(|i| draws.joint().covariance(i, i)).sum();
            });
            variance
        };
        let before = spread(&history);
        history.proposed([(0, Choice { x: vec![0.9, 0.9], row: None })], Memo::default());
        assert!((spread(&history) - before).abs() < 1e-9 * before, "{before}");
    }

    /// Mean and covariance of the draws are those of the posterior: five standard errors.
    #[test]
    fn draws_have_the_moments_of_the_posterior() {
        with_draws(&history(Space::bounds(&[(0.0, 1.0)]).unwrap(), 4), |state, draws, rng| {
            let n = 20_000;
            let all = draws.joint().draws(n, rng);
            let exact = state.gp().joint(&draws.points).unwrap();
            for i in (0..draws.len()).step_by(37) {
                let mean = all.row(i).iter().sum::<f64>() / n as f64;
                let variance = all.row(i).iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n as f64;
                let expected = exact.covariance(i, i);
                // The floor is the jitter that near copies among the candidates need.
                let floor = 1e-5;
                assert!((mean - exact.mean()[i]).abs() < 5.0 * (expected / n as f64).sqrt() + floor);
                assert!((variance - expected).abs() < 5.0 * expected * (2.0 / n as f64).sqrt() + floor);
            }
        });
    }

    #[test]
    fn rows_of_pools_stay_rows() {
        let features: Vec<f64> = (0..60_000).map(|i| f64::from(i) * 0.618 % 1.0).collect();
        for rows in [50, 60_000] {
            let pool = Pool::new(features[..rows].to_vec(), 1).unwrap();
            let mut history = History::new(Space::pool(pool.clone()), Duplicates::Avoid);
            for row in 0..5 {
                let choice = Choice { x: pool.point(row), row: Some(row) };
                history.add(&choice, Outcome::Value { y: pool.point(row)[0], noise_variance: None });
            }
            with_draws(&history, |_, draws, _| {
                for i in 0..draws.len() {
                    let choice = draws.choice(i);
                    assert_eq!(choice.x, pool.point(choice.row.unwrap()));
                }
            });
        }
    }
}
