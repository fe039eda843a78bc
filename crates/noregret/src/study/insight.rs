//! Insight into a study as a whole: the remaining regret, and the importance of parameters.
//!
//! # Notation
//! | here      | shape | meaning                                                                                  |
//! |-----------|-------|------------------------------------------------------------------------------------------|
//! | `f`       | m     | the objective at the candidates and the recommended point, drawn jointly from the posterior |
//! | `f_star`  | 1     | the maximum of a draw                                                                      |
//! | `mean`    | N     | posterior mean at points of the space                                                      |
//! | `A, B`    | N x d | two independent samples of the space; `AB_j` is `B` with the j-th coordinate of `A`        |
//!
//! Remaining regret is the distribution of `f_star - f(recommended)`. Importance is the first-order index of Sobol 1993,
//! `Var(E[mean | x_j]) / Var(mean)`, by the estimator of Saltelli et al. 2010, Table 2 (b).
//!
//! # Departures
//! The maximum is taken over a thousand points of the space and some near the best evaluations, not over all of it: what
//! lies between them is missing. Importance disregards constraints, as if parameters could vary independently.

use rand::RngExt;
use serde::{Deserialize, Serialize};

use super::recommend::Posterior;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::space::Space;
use crate::strategy::history::History;
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::points::Points;

/// Points of the space over which a draw is maximized, besides those near the best evaluations.
const CANDIDATES: usize = 1_000;
/// Points near each of the best evaluations.
const NEAR: usize = 16;
/// Draws of the objective: the ends of a 90 % interval are then the 13th smallest and largest.
const DRAWS: usize = 256;
/// Points of each of the two samples behind the importances: a standard error of about 0.03.
const SAMPLES: usize = 1_024;
/// With fewer evaluations importance cannot be estimated.
const FEWEST: usize = 3;

/// Remaining regret and importance of parameters, by the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Insight {
    /// The remaining regret of the recommended point.
    pub remaining_regret: RemainingRegret,
    /// The share of the variance that each parameter explains on its own, largest first.
    pub importance: Vec<(String, f64)>,
}

/// The distribution of the remaining regret of the recommended point, in the objective's units.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemainingRegret {
    /// The median.
    pub median: f64,
    /// A 90 % interval.
    pub interval: (f64, f64),
}

/// Whether enough was told for an insight.
pub(super) fn has_enough(history: &History) -> bool {
    history.values().take(FEWEST).count() == FEWEST
}

/// Computes the remaining regret, and on request the importances.
pub(super) fn insight(
    history: &History,
    Posterior { gp, fit, best, .. }: &Posterior,
    with_importance: bool,
    rng: &mut Stream,
) -> Result<Insight, Error> {
    let best: Vec<Vec<f64>> = best.iter().map(|&place| history.points().point(place)).collect();
    let mut set = some_of(history, rng)?;
    for center in &best {
        let near = history.near(center, NEAR, rng);
        (0..near.len()).for_each(|i| set.push(&near.point(i)));
    }
    best.first().into_iter().for_each(|recommended| set.push(recommended));
    let remaining_regret = remaining_regret(gp, &set, fit.units.sd, rng)?;
    let importance = if with_importance { importance(history.space(), gp, rng) } else { Vec::new() };
    Ok(Insight { remaining_regret, importance })
}

/// The last point of `set` is the recommended one.
fn remaining_regret(gp: &Gp, set: &Points, sd: f64, rng: &mut Stream) -> Result<RemainingRegret, Error> {
    let draws = gp.joint(set)?.draws(DRAWS, rng);
    let mut regrets: Vec<f64> = draws
        .col_iter()
        .map(|f| {
            let f_star = f.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            sd * (f_star - f[set.len() - 1])
        })
        .collect();
    regrets.sort_by(f64::total_cmp);
    let tail = DRAWS / 20;
    Ok(RemainingRegret { median: regrets[DRAWS / 2], interval: (regrets[tail], regrets[DRAWS - 1 - tail]) })
}

/// [`CANDIDATES`] points of the space; of a pool all rows, or as many drawn ones.
fn some_of(history: &History, rng: &mut Stream) -> Result<Points, Error> {
    let Some(pool) = history.space().as_pool() else { return history.spread(CANDIDATES, rng) };
    if pool.len() <= CANDIDATES {
        return Ok(Points::from_columns(pool.dims(), &pool.encoded(0..pool.len())));
    }
    let mut points = Points::new(pool.dims());
    (0..CANDIDATES).for_each(|_| points.push(&pool.point(rng.random_range(0..pool.len()))));
    Ok(points)
}

fn importance(space: &Space, gp: &Gp, rng: &mut Stream) -> Vec<(String, f64)> {
    let d = space.dims();
    let (a, b) = (sample(space, rng), sample(space, rng));
    let (mean_a, mean_b) = (means(gp, &a), means(gp, &b));
    let n = SAMPLES as f64;
    let center = mean_a.iter().chain(&mean_b).sum::<f64>() / (2.0 * n);
    let variance = mean_a.iter().chain(&mean_b).map(|m| (m - center).powi(2)).sum::<f64>() / (2.0 * n);
    if !(variance > 1e-12) {
        return Vec::new(); // a flat model has no variance to share
    }
    let share = |j: usize| {
        let mut mixed = b.clone();
        for (to, from) in mixed.chunks_exact_mut(d).zip(a.chunks_exact(d)) {
            to[j] = from[j];
        }
        let mean_ab = means(gp, &mixed);
        let sum: f64 = (0..SAMPLES).map(|i| (mean_a[i] - center) * (mean_ab[i] - mean_b[i])).sum();
        (sum / n / variance).clamp(0.0, 1.0)
    };
    let mut shares: Vec<(String, f64)> = (0..d).map(|j| (space.names()[j].clone(), share(j))).collect();
    // First-order indices sum to at most 1; anything above is the error of the estimates.
    let sum = shares.iter().map(|(_, share)| share).sum::<f64>().max(1.0);
    shares.iter_mut().for_each(|(_, share)| *share /= sum);
    shares.sort_by(|x, y| y.1.total_cmp(&x.1));
    shares
}

/// Points with independent coordinates: each uniform, or distributed as in the rows of the pool.
fn sample(space: &Space, rng: &mut Stream) -> Vec<f64> {
    let d = space.dims();
    let mut points: Vec<f64> = (0..SAMPLES * d).map(|_| rng.random()).collect();
    for point in points.chunks_exact_mut(d) {
        match space.as_pool() {
            Some(pool) => {
                for (j, x) in point.iter_mut().enumerate() {
                    *x = pool.coordinate(rng.random_range(0..pool.len()), j);
                }
            }
            None => space.snap(point),
        }
    }
    points
}

fn means(gp: &Gp, columns: &[f64]) -> Vec<f64> {
    gp.means(&Points::from_columns(gp.points().dims(), columns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogate::Surrogate;
    use crate::{Algorithm, Direction, Study, Trial};

    fn study(direction: Direction, n: usize, objective: impl Fn(&Trial) -> f64) -> Study {
        let space = Space::builder().float("x", 0.0, 1.0).float("y", 0.0, 1.0).bool("idle").build().unwrap();
        let builder = Study::builder()
            .space(space)
            .direction(direction)
            .algorithm(Algorithm::Sobol(crate::strategy::algorithm::NoOptions {}));
        let mut study = builder.build().unwrap();
        for trial in study.ask(n).unwrap() {
            study.tell(trial.number, objective(&trial)).unwrap();
        }
        study
    }

    /// `4 x + y`: variances 16 / 12 and 1 / 12, so shares of 16 / 17 and 1 / 17.
    #[test]
    fn importance_is_the_share_of_variance() {
        let linear = |t: &Trial| 4.0 * t.numbers()[0] + t.numbers()[1];
        let insight = study(Direction::Minimize, 40, linear).insight().unwrap().unwrap();
        let share = |name: &str| insight.importance.iter().find(|(known, _)| known == name).unwrap().1;
        // Five standard errors of the estimator are 0.15; the model itself adds next to nothing.
        for (name, expected) in [("x", 16.0 / 17.0), ("y", 1.0 / 17.0), ("idle", 0.0)] {
            assert!((share(name) - expected).abs() < 0.15, "{name}: {:?}", insight.importance);
        }
        assert_eq!(insight.importance[0].0, "x");
        // A sum of effects is explained in full, and not in more than full: by themselves the estimates sum to as much as 1.06 here.
        for n in 20..40 {
            let importance = study(Direction::Minimize, n, linear).insight().unwrap().unwrap().importance;
            let sum: f64 = importance.iter().map(|(_, share)| share).sum();
            assert!((0.85..=1.0 + 1e-12).contains(&sum), "{n}: {importance:?}");
        }
    }

    #[test]
    fn regret_shrinks_with_knowledge_and_keeps_its_units() {
        let bowl = |t: &Trial| 100.0 * ((t.numbers()[0] - 0.4).powi(2) + (t.numbers()[1] - 0.6).powi(2));
        let regret = |n| study(Direction::Minimize, n, bowl).remaining_regret().unwrap().unwrap();
        let (few, many) = (regret(5), regret(60));
        assert!(many.interval.0 >= 0.0 && many.interval.0 <= many.median && many.median <= many.interval.1);
        assert!(many.interval.1 < few.interval.1, "{few:?} {many:?}");
        assert!(many.interval.1 < 2.0, "60 points leave little of a bowl of depth 72: {many:?}");
        let turned = study(Direction::Maximize, 60, |t| -bowl(t)).remaining_regret().unwrap().unwrap();
        assert_eq!(turned, many, "the direction changes nothing");
    }

    /// Functions drawn from the prior itself, known at a few points: the 90 % interval must hold the truth in 85 to 95 %
    /// of 400 cases. With 90 % the chance of leaving that range is one in a thousand (normal approximation, 3.3 sd).
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        use crate::math::rng::{Purpose, Seed};
        use crate::surrogate::gp::kernel::{Form, Kernel};
        let noise = 1e-4;
        let kernel = Kernel::new(Form::Matern52, vec![0.3, 0.3], 2, 1.0);
        let mut covered = 0;
        for case in 0..400 {
            let mut rng = Seed(case).stream(Purpose::Experiment, 0, 0);
            let set = Points::from_columns(2, &(0..240).map(|_| rng.random()).collect::<Vec<f64>>());
            let prior = Gp::new(kernel.clone(), Points::new(2), &[], Vec::new()).unwrap();
            let f = prior.joint(&set).unwrap().draw(&mut rng);
            let seen: Vec<usize> = (0..12).collect();
            let y: Vec<f64> = seen.iter().map(|&i| f[i]).collect();
            let gp = Gp::new(kernel.clone(), set.select(&seen), &y, vec![noise; 12]).unwrap();
            let means = gp.marginals(&set.select(&seen)).mean;
            let recommended = (0..12).max_by(|&a, &b| means[a].total_cmp(&means[b])).unwrap();
            let mut with_recommended = set.clone();
            with_recommended.push(&set.point(recommended));
            let regret = remaining_regret(&gp, &with_recommended, 1.0, &mut rng).unwrap();
            let truth = f.iter().copied().fold(f64::NEG_INFINITY, f64::max) - f[recommended];
            covered += usize::from((regret.interval.0 - 1e-9..=regret.interval.1 + 1e-9).contains(&truth));
        }
        assert!((340..=380).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn nothing_is_said_of_nothing() {
        assert_eq!(study(Direction::Minimize, 2, |_| 1.0).insight().unwrap(), None);
        let flat = study(Direction::Minimize, 9, |_| 1.0).insight().unwrap().unwrap();
        assert!(flat.remaining_regret.median.is_finite(), "{flat:?}");
        let mut all_failed = study(Direction::Minimize, 9, |_| f64::NAN);
        assert_eq!(all_failed.insight().unwrap(), None);
    }
}
