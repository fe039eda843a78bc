//! Which parameters matter, and how sure that is: Sobol' indices of functions drawn from the posterior.
//!
//! # Notation
//! | paper     | here        | shape | meaning                                                                       |
//! |-----------|-------------|-------|-------------------------------------------------------------------------------|
//! | `A, B`    | columns of the set | d x N | two independent samples of the space                                   |
//! | `A_B^(j)` | the same    | d x N | `A` with the `j`-th coordinate of `B`                                         |
//! | `f(A)`    | `a`, `b`, `mixed` | N | a drawn function there                                                     |
//! | `S_j`     | `first`     | d     | `Var(E[f \| x_j]) / Var(f)`, by Saltelli et al. 2010, Table 2 (b)             |
//! | `S_Tj`    | `total`     | d     | `E[Var(f \| all but x_j)] / Var(f)`, by Jansen 1999: the same table, (f)      |
//!
//! The model does not know the objective; it knows which functions are possible. Each function drawn from the posterior has indices of its
//! own, and their quantiles over the draws are the intervals. With few evaluations the draws differ wildly, and the intervals say so.
//! The
//! hyperparameters are those of the fit: their own uncertainty is not in the intervals, which are too narrow where few values of a rugged
//! objective are known. What the model takes for noise is no part of the draws. Draws share the samples, so the error of the estimates (about 0.02 at the most
//! points) is common to all and not in the intervals.
//!
//! # Departures
//! Points are a scrambled Sobol sequence in `2 d` dimensions rather than independent: the estimates are more precise. Shares that add up to
//! more than 1, or exceed their totals, by the error of the estimates, are shortened. Constraints are disregarded, as if parameters
//! could vary independently; the coordinates of a pool are drawn from those of its rows, each by itself.

use super::recommend::Posterior;
use crate::math::rng::Stream;
use crate::math::sobol;
use crate::space::Space;
use crate::surrogate::gp::posterior::Gp;
use crate::surrogate::points::Points;

/// Functions drawn: the ends of a 90 % interval are then between the first and the third of them.
const DRAWS: usize = 32;
/// Random features of each: enough for an interval, of which nobody reads a second digit.
const FEATURES: usize = 128;
/// Points of each of the two samples, at most and at least; powers of 2 are spread best.
const MOST_POINTS: usize = 1_024;
const FEWEST_POINTS: usize = 32;
/// Multiplications that the draws may take, about half a second's: they are `N (d + 2)` points with `d` coordinates each, compared with
/// all evaluations and all features of all draws.
const WORK: usize = 500_000_000;
/// Of more parameters nothing is said: with the fewest points it would take seconds.
const MOST_PARAMETERS: usize = 128;
/// Less variance than this, in units of the values', is rounding.
const FLAT: f64 = 1e-12;

/// The importance of all parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Importance {
    /// Evaluations that the model has.
    pub evaluations: usize,
    /// One a parameter, the most important in total first.
    pub parameters: Vec<ParameterImportance>,
    /// The share of the variance that single parameters leave to interactions.
    pub interactions: Estimate,
    /// The standard deviation of the objective over the space, without noise, in the user's units.
    pub deviation: Estimate,
}

/// The importance of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterImportance {
    /// Its name.
    pub name: String,
    /// The share of the variance that it explains on its own.
    pub first: Estimate,
    /// The same together with all its interactions.
    pub total: Estimate,
}

/// A number that the model knows up to an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The median.
    pub median: f64,
    /// A 90 % interval.
    pub interval: (f64, f64),
}

impl Estimate {
    /// Median and interval of draws.
    fn of(draws: impl Iterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = draws.collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let quantile = |p: f64| {
            let place = p * (sorted.len() - 1) as f64;
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an index")]
            let below = place.floor() as usize;
            let above = (below + 1).min(sorted.len() - 1);
            sorted[below] + (place - below as f64) * (sorted[above] - sorted[below])
        };
        Self { median: quantile(0.5), interval: (quantile(0.05), quantile(0.95)) }
    }
}

/// The indices of one function.
#[derive(Debug)]
struct Indices {
    first: Vec<f64>,
    total: Vec<f64>,
    deviation: f64,
}

/// Computes the importances; `None` if the model is flat or has too many parameters.
pub(super) fn importance(space: &Space, posterior: &Posterior, rng: &mut Stream) -> Option<Importance> {
    let Posterior { gp, fit, places, .. } = posterior;
    let d = space.dims();
    if d > MOST_PARAMETERS {
        return None;
    }
    let n = sample_size(d, places.len());
    let set = samples(space, n, rng);
    let (_, variance) = mean_and_variance(&gp.means(&set.slice(0..2 * n)));
    if !(variance > FLAT) {
        return None;
    }
    let draws = of_draws(gp, &set, n, rng);
    if draws.is_empty() {
        return None;
    }
    let of = |number: &dyn Fn(&Indices) -> f64| Estimate::of(draws.iter().map(number));
    let of_parameter = |j: usize| ParameterImportance {
        name: space.names()[j].clone(),
        first: of(&|draw| draw.first[j]),
        total: of(&|draw| draw.total[j]),
    };
    let mut parameters: Vec<ParameterImportance> = (0..d).map(of_parameter).collect();
    parameters.sort_by(|a, b| b.total.median.total_cmp(&a.total.median));
    Some(Importance {
        evaluations: places.len(),
        parameters,
        interactions: of(&|draw| (1.0 - draw.first.iter().sum::<f64>()).max(0.0)),
        deviation: of(&|draw| fit.units.sd * draw.deviation),
    })
}

/// The indices of drawn functions, each at [`samples`] of `n` points.
fn of_draws(gp: &Gp, set: &Points, n: usize, rng: &mut Stream) -> Vec<Indices> {
    gp.draws(set, DRAWS, FEATURES, rng).iter().filter_map(|f| indices(f, n, set.dims())).collect()
}

/// Points of each sample: the largest power of 2 within the work allowed.
fn sample_size(d: usize, evaluations: usize) -> usize {
    let a_point = (d + 2) * d.max(1) * (evaluations + DRAWS * FEATURES);
    let within = (WORK / a_point).clamp(FEWEST_POINTS, MOST_POINTS);
    1 << within.ilog2()
}

/// `A`, `B`, and `A_B^(j)` for every `j`, one after the other, `n` points each.
fn samples(space: &Space, n: usize, rng: &mut Stream) -> Points {
    let d = space.dims();
    let raw = sobol::points(2 * d, n, rng);
    let half = |from: usize| -> Vec<Vec<f64>> {
        raw.chunks_exact(2 * d).map(|point| on_levels(space, &point[from..from + d])).collect()
    };
    let (a, b) = (half(0), half(d));
    let mut set = Points::new(d);
    a.iter().chain(&b).for_each(|x| set.push(x));
    for j in 0..d {
        for (a, b) in a.iter().zip(&b) {
            let mut mixed = a.clone();
            mixed[j] = b[j];
            set.push(&mixed);
        }
    }
    set
}

/// A point of the cube as one of the space: on its levels, or with coordinates of rows of the pool.
fn on_levels(space: &Space, u: &[f64]) -> Vec<f64> {
    let mut x = u.to_vec();
    match space.as_pool() {
        Some(pool) => {
            for (j, x) in x.iter_mut().enumerate() {
                *x = pool.coordinate(row_at(*x, pool.len()), j);
            }
        }
        None => space.snap(&mut x),
    }
    x
}

/// The row at a share of all rows.
pub(super) fn row_at(share: f64, rows: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the rows")]
    let row = (share * rows as f64) as usize;
    row.min(rows - 1)
}

fn mean_and_variance(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|f| (f - mean).powi(2)).sum::<f64>() / n)
}

/// The indices of a function with these values at [`samples`]; `None` if it is flat.
fn indices(f: &[f64], n: usize, d: usize) -> Option<Indices> {
    // Indices do not change with a constant, and the estimates are the more precise the smaller it is.
    let (mean, variance) = mean_and_variance(&f[..2 * n]);
    if !(variance > FLAT) {
        return None;
    }
    let (a, b) = (&f[..n], &f[n..2 * n]);
    let mixed = |j: usize| &f[(2 + j) * n..(3 + j) * n];
    let share = |sum: f64| (sum / n as f64 / variance).clamp(0.0, 1.0);
    let total: Vec<f64> = (0..d)
        .map(|j| share(0.5 * a.iter().zip(mixed(j)).map(|(a, mixed)| (a - mixed).powi(2)).sum::<f64>()))
        .collect();
    let alone = |j: usize| (0..n).map(|i| (b[i] - mean) * (mixed(j)[i] - a[i])).sum::<f64>();
    let mut first: Vec<f64> = (0..d).map(|j| share(alone(j)).min(total[j])).collect();
    let sum = first.iter().sum::<f64>().max(1.0);
    first.iter_mut().for_each(|share| *share /= sum);
    Some(Indices { first, total, deviation: variance.sqrt() })
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::strategy::algorithm::NoOptions;
    use crate::{Algorithm, Study};

    /// `x1, x2, x3` from -pi to pi, `a = 7`, `b = 0.1`: Ishigami & Homma 1990.
    fn ishigami(x: &[f64]) -> f64 {
        x[0].sin() + 7.0 * x[1].sin().powi(2) + 0.1 * x[2].powi(4) * x[0].sin()
    }

    /// Its first and total indices: `V1 = (1 + b pi^4 / 5)^2 / 2`, `V2 = a^2 / 8`, `V13 = b^2 pi^8 (1/18 - 1/50)`.
    fn of_ishigami() -> ([f64; 3], [f64; 3]) {
        let (a, b) = (7.0_f64, 0.1_f64);
        let first = 0.5 * (1.0 + b * PI.powi(4) / 5.0).powi(2);
        let second = a * a / 8.0;
        let both = b * b * PI.powi(8) * (1.0 / 18.0 - 1.0 / 50.0);
        let all = first + second + both;
        ([first / all, second / all, 0.0], [(first + both) / all, second / all, both / all])
    }

    fn values(f: impl Fn(&[f64]) -> f64, d: usize, low: f64, high: f64) -> (Vec<f64>, usize) {
        let space = Space::bounds(&vec![(0.0, 1.0); d]).unwrap();
        let set = samples(&space, MOST_POINTS, &mut Seed(1).stream(Purpose::Experiment, 0, 0));
        let at = |i: usize| set.point(i).iter().map(|u| low + (high - low) * u).collect::<Vec<f64>>();
        ((0..set.len()).map(|i| f(&at(i))).collect(), MOST_POINTS)
    }

    /// Closed forms: the estimates themselves, without a model. At 1,024 scrambled Sobol points they are within 0.03.
    #[test]
    fn indices_of_known_functions() {
        let close = |found: &[f64], expected: &[f64]| {
            let gaps = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
            assert!(gaps.fold(0.0, f64::max) < 0.03, "{found:?}, not {expected:?}");
        };
        let linear = |x: &[f64]| 4.0 * x[0] + 2.0 * x[1] + 100.0;
        let (f, n) = values(linear, 3, 0.0, 1.0);
        let found = indices(&f, n, 3).unwrap();
        close(&found.first, &[0.8, 0.2, 0.0]);
        close(&found.total, &[0.8, 0.2, 0.0]);
        // Variance (16 + 4) / 12.
        assert!((found.deviation - (20.0_f64 / 12.0).sqrt()).abs() < 0.01, "{found:?}");

        // x y on [-1, 1]^2 is interaction alone; on [0, 1]^2 it has 3/7 for each and 1/7 for both.
        let product = |x: &[f64]| x[0] * x[1];
        let (f, n) = values(product, 2, -1.0, 1.0);
        let found = indices(&f, n, 2).unwrap();
        close(&found.first, &[0.0, 0.0]);
        close(&found.total, &[1.0, 1.0]);
        let (f, n) = values(product, 2, 0.0, 1.0);
        let found = indices(&f, n, 2).unwrap();
        close(&found.first, &[3.0 / 7.0, 3.0 / 7.0]);
        close(&found.total, &[4.0 / 7.0, 4.0 / 7.0]);

        let (f, n) = values(ishigami, 3, -PI, PI);
        let found = indices(&f, n, 3).unwrap();
        let (first, total) = of_ishigami();
        close(&found.first, &first);
        close(&found.total, &total);

        let (f, n) = values(|_| 3.0, 2, 0.0, 1.0);
        assert!(indices(&f, n, 2).is_none());
    }

    /// A study of `n` values at Sobol points of a cube.
    fn study(n: usize, seed: u64, bounds: &[(f64, f64)], f: impl Fn(&[f64]) -> f64) -> Study {
        let builder = Study::builder().space(Space::bounds(bounds).unwrap()).seed(seed);
        let mut study = builder.algorithm(Algorithm::Sobol(NoOptions {})).build().unwrap();
        for trial in study.ask(n).unwrap() {
            study.tell(trial.number, f(&trial.numbers())).unwrap();
        }
        study
    }

    fn of<'a>(found: &'a Importance, name: &str) -> &'a ParameterImportance {
        found.parameters.iter().find(|parameter| parameter.name == name).unwrap()
    }

    /// Functions drawn from the prior itself, known at a few points: of their indices the intervals must hold as many as they say, 80 to
    /// 97 % of those of 100 functions. With 90 % and four indices that go together a deviation is 3 %.
    #[test]
    fn intervals_hold_the_truth_as_often_as_they_say() {
        use crate::surrogate::gp::kernel::{Form, Kernel};
        use crate::surrogate::gp::path::Path;
        let n = 256;
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let kernel = Kernel::new(Form::Matern52, vec![0.3, 0.6], 2, 1.0);
        let prior = Gp::new(kernel.clone(), Points::new(2), &[], Vec::new()).unwrap();
        let (mut held, mut asked) = (0, 0);
        for case in 0..100 {
            let mut rng = Seed(case).stream(Purpose::Experiment, 0, 0);
            let set = samples(&space, n, &mut rng);
            let truth = Path::draw(&prior, 1_024, &mut rng);
            let known = Points::from_columns(2, &sobol::points(2, 12, &mut rng));
            let gp = Gp::new(kernel.clone(), known.clone(), &truth.values(&known), vec![1e-6; 12]).unwrap();
            let draws = of_draws(&gp, &set, n, &mut rng);
            let truth = indices(&truth.values(&set), n, 2).unwrap();
            for j in 0..2 {
                let estimates = [
                    (Estimate::of(draws.iter().map(|draw| draw.first[j])), truth.first[j]),
                    (Estimate::of(draws.iter().map(|draw| draw.total[j])), truth.total[j]),
                ];
                for (estimate, truth) in estimates {
                    held += u32::from((estimate.interval.0..=estimate.interval.1).contains(&truth));
                    asked += 1;
                }
            }
        }
        assert!((80..=97).contains(&(100 * held / asked)), "{held} of {asked}");
    }

    /// A whole study: more evaluations narrow the intervals, down to the truth.
    #[test]
    fn intervals_shrink_onto_the_truth() {
        let bounds = [(-PI, PI); 3];
        let (first, total) = of_ishigami();
        let mut widths = Vec::new();
        for n in [40, 300] {
            let found = study(n, 1, &bounds, ishigami).importance().unwrap().unwrap();
            assert_eq!(found.evaluations, n);
            let one = |j: usize| of(&found, &format!("x{j}")).clone();
            let both = (0..3).flat_map(|j| [(one(j).first, first[j]), (one(j).total, total[j])]);
            for (estimate, truth) in both.clone() {
                let (low, high) = estimate.interval;
                assert!(
                    (0.0..=1.0).contains(&low)
                        && low <= estimate.median
                        && estimate.median <= high
                        && high <= 1.0
                );
                // 300 values of a function that moves as fast as this leave some doubt of a share.
                assert!(n == 40 || (estimate.median - truth).abs() < 0.1, "{found:#?}");
            }
            assert!((0..3).all(|j| one(j).first.median <= one(j).total.median));
            widths.push(both.map(|(estimate, _)| estimate.interval.1 - estimate.interval.0).sum::<f64>());
        }
        assert!(widths[1] < 0.6 * widths[0], "{widths:?}");
    }

    #[test]
    fn a_sum_has_no_interactions_and_a_product_on_both_sides_of_zero_little_else() {
        let found = study(40, 1, &[(0.0, 1.0); 2], |x| 4.0 * x[0] + x[1]).importance().unwrap().unwrap();
        assert_eq!(found.parameters[0].name, "x0");
        // Smooth and without noise: the model knows it to the error of the estimates.
        for (name, share) in [("x0", 16.0 / 17.0), ("x1", 1.0 / 17.0)] {
            let one = of(&found, name);
            assert!(
                (one.first.median - share).abs() < 0.05 && (one.total.median - share).abs() < 0.05,
                "{one:?}"
            );
        }
        assert!(found.interactions.median < 0.05, "{found:?}");
        assert!((found.deviation.median - (17.0_f64 / 12.0).sqrt()).abs() < 0.05, "{found:?}");
        let found = study(60, 1, &[(-1.0, 1.0); 2], |x| x[0] * x[1]).importance().unwrap().unwrap();
        assert!(found.interactions.median > 0.9, "{found:?}");
        assert!(of(&found, "x0").total.median > 0.9 && of(&found, "x1").total.median > 0.9, "{found:?}");
    }

    #[test]
    fn nothing_is_made_of_nothing() {
        let bounds = [(0.0, 1.0); 2];
        assert_eq!(study(2, 1, &bounds, |x| x[0]).importance().unwrap(), None);
        assert_eq!(study(9, 1, &bounds, |_| 1.0).importance().unwrap(), None);
        assert_eq!(study(9, 1, &bounds, |_| f64::NAN).importance().unwrap(), None);
        let many = [(0.0, 1.0); MOST_PARAMETERS + 1];
        assert_eq!(study(9, 1, &many, |x| x[0]).importance().unwrap(), None);
    }

    #[test]
    fn asking_again_gives_the_same_and_a_new_value_something_else() {
        let mut study = study(20, 1, &[(0.0, 1.0); 2], |x| x[0] * x[0] + x[1]);
        let (first, again) = (study.importance().unwrap(), study.importance().unwrap());
        assert_eq!(first, again);
        study.add(&crate::Params::from_iter([("x0", 0.5), ("x1", 0.5)]), 0.75, None).unwrap();
        assert_ne!(study.importance().unwrap(), first);
    }

    /// The work stays bounded however many parameters and evaluations there are.
    #[test]
    fn samples_shrink_with_the_size_of_the_model() {
        assert_eq!((sample_size(2, 50), sample_size(8, 2_000)), (1_024, 1_024));
        assert!(sample_size(20, 4_000) < 256 && sample_size(128, 4_000) == FEWEST_POINTS);
    }
}
