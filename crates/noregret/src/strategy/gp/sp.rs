//! SP: stochastic policies; every point of a batch is drawn independently, the likelier the better its mean.
//! Garcia-Barcos & Martinez-Cantin 2019, "Fully distributed Bayesian optimization with stochastic policies"; a rival in Ren & Li.
//!
//! # Notation
//! | code of Ren & Li | here      | shape | meaning                                                       |
//! |------------------|-----------|-------|---------------------------------------------------------------|
//! | `x`              | `points`  | N     | uniform points of the space, and the maximum of the mean      |
//! | `acq`            | `mean`    | N     | posterior mean, of standardised values                        |
//! | `C`              | `range`   | 1     | largest less smallest mean                                    |
//! | `beta`           | `inverse` | 1     | inverse temperature, `3 ln(n + 15 + 1) / C`                   |
//! | `n`              | `t`       | 1     | rounds finished                                               |
//! | `15`             | `initial` | 1     | evaluations before the first round                            |
//!
//! # Departures
//! - The model is fitted, see `ts_rsr`.
//! - As in the code of Ren & Li the softmax is over the posterior mean, where the original takes an acquisition function.
//! - The maximum of the mean is the end of the best of a few climbs. The code's is that of one short climb from the best uniform point,
//!   and now and then others from evaluated points join it.
//! - A point is drawn once, and none that was told (`avoid`) or is running, unless repeats are welcome (`duplicates = "replicate"`), as
//!   they are in the code. On a box this changes little; in a pool with noise much, since a promising row cannot be measured again.
//! - In a pool the rows are the points: all of them, or 2,000 of a large one.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::strategy::gp::model::GpState;
use crate::strategy::gp::search::draws::{random_rows, summit};
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::memo::Rounds;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::points::Points;
use rand::RngExt;

const SHARPNESS: Range = Range::new(1e-9, 1e9);
/// Means that differ by no more than this, in deviations of the values, count as equal: so in the code of Ren & Li.
const FLAT: f64 = 1e-2;
/// Uniform points if the solver keeps no candidates: as many as it keeps by default.
const POINTS: usize = 1_000;

/// Settings of SP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct SpConfig {
    /// Factor of the inverse temperature. From 1e-9 to 1e9.
    #[cfg_attr(feature = "schema", schemars(transform = SHARPNESS.stated()))]
    pub sharpness: f64,
}

impl Default for SpConfig {
    fn default() -> Self {
        Self { sharpness: 3.0 }
    }
}

/// SP.
pub type Sp = GpStrategy<SpConfig>;

impl OwnOptions for SpConfig {
    const NAME: &'static str = "sp";

    fn check(&self) -> Result<()> {
        Ok(SHARPNESS.check("sharpness", self.sharpness)?)
    }
}

impl Strategy for Sp {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let (Rounds { begun, initial, .. }, _) = turn.round();
        let set = Policy::over(gp, &mut turn)?;
        let inverse = self.own.inverse_temperature(&set.mean, begun - 1, initial);
        while turn.wants_more() {
            let found = set.draw(inverse, &mut turn);
            turn.push(found)?;
        }
        turn.finish()
    }
}

impl SpConfig {
    /// `sharpness ln(t + initial + 1) / C`; 0, a uniform draw, where the means hardly differ.
    fn inverse_temperature(&self, mean: &[f64], t: usize, initial: usize) -> f64 {
        let extremes = |(low, high): (f64, f64), &m: &f64| (low.min(m), high.max(m));
        let (low, high) = mean.iter().fold((f64::INFINITY, f64::NEG_INFINITY), extremes);
        let range = high - low;
        if range > FLAT { self.sharpness * ((t + initial) as f64).ln_1p() / range } else { 0.0 }
    }
}

/// The points that a softmax draws from.
struct Policy {
    points: Points,
    /// Their rows, if the space is a pool.
    rows: Option<Vec<usize>>,
    mean: Vec<f64>,
}

impl Policy {
    /// Fresh uniform points and the maximum of the mean; in a pool, its rows.
    fn over(gp: &GpState, turn: &mut Turn<'_>) -> Result<Self> {
        if let Some(pool) = turn.history.space().as_pool() {
            if !gp.kept().is_empty() {
                let rows = Some((0..pool.len()).collect());
                return Ok(Self {
                    points: gp.kept().points().clone(),
                    rows,
                    mean: gp.kept().mean().to_vec(),
                });
            }
            let (rows, points) = random_rows(pool, turn.rng);
            let mean = gp.gp().means(&points);
            return Ok(Self { points, rows: Some(rows), mean });
        }
        let count = if gp.kept().is_empty() { POINTS } else { gp.kept().len() };
        let region = Region::whole(turn.history.space());
        let mut points = region.uniform(count, turn.rng).map_err(MaximizeError::from)?;
        let summit = summit(gp, turn.history);
        (0..summit.len()).for_each(|i| points.push(&summit.point(i)));
        let mean = gp.gp().means(&points);
        Ok(Self { points, rows: None, mean })
    }

    /// A draw from the softmax, among the points that may be suggested.
    fn draw(&self, inverse: f64, turn: &mut Turn<'_>) -> Result<Maximum, MaximizeError> {
        let order = order(&self.mean, inverse, turn.rng);
        let region = turn.region();
        let row = |i: usize| self.rows.as_ref().map(|rows| rows[i]);
        let free = order.into_iter().find(|&i| !region.is_taken(&self.points.point(i), row(i)));
        let i = free.ok_or(MaximizeError::NothingLeft { tried: self.mean.len() })?;
        let work = Work { values: self.mean.len(), ..Work::default() };
        Ok(Maximum { x: self.points.point(i), row: row(i), value: self.mean[i], work })
    }
}

/// A draw without replacement from the softmax of `inverse * mean`.
///
/// The order of `inverse * mean + Gumbel noise` is such a draw (Gumbel-max trick), whose noise is `-ln(-ln u)`.
fn order(mean: &[f64], inverse: f64, rng: &mut Stream) -> Vec<usize> {
    let high = mean.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut keys: Vec<(f64, usize)> = (0..mean.len())
        .map(|i| {
            let u: f64 = rng.random_range(f64::MIN_POSITIVE..1.0);
            ((mean[i] - high) * inverse - (-u.ln()).ln(), i)
        })
        .collect();
    keys.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    keys.into_iter().map(|(_, i)| i).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Space;
    use crate::strategy::gp::GpOptions;
    use crate::strategy::gp::OnGp;
    use crate::strategy::testing::{random_history, random_pool, stream, value};

    /// How often each point is the first of a draw: five standard errors of the softmax's own probabilities.
    #[test]
    fn draws_have_the_frequencies_of_the_softmax() {
        let (mean, inverse) = ([0.3, -0.2, 1.0, 0.9], 1.7);
        let weights = mean.map(|m: f64| (inverse * m).exp());
        let n = 40_000;
        let mut rng = stream(1, 0);
        let mut counts = [0_u32; 4];
        (0..n).for_each(|_| counts[order(&mean, inverse, &mut rng)[0]] += 1);
        for (count, weight) in counts.into_iter().zip(weights) {
            let p = weight / weights.iter().sum::<f64>();
            let error = 5.0 * (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((f64::from(count) / f64::from(n) - p).abs() < error, "{counts:?} {weights:?}");
        }
    }

    /// Ren & Li's code, by hand: 3 ln(n + 15 + 1) / C, and 0 where C is not above 0.01.
    #[test]
    fn the_temperature_falls_by_round_and_is_infinite_where_means_are_flat() {
        let sp = SpConfig::default();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-14 * b, "{a} {b}");
        close(sp.inverse_temperature(&[0.5, -1.5, 0.0], 0, 15), 3.0 * 16.0_f64.ln() / 2.0);
        close(sp.inverse_temperature(&[0.5, -1.5, 0.0], 50, 15), 3.0 * 66.0_f64.ln() / 2.0);
        assert!(sp.inverse_temperature(&[0.0, 0.01], 50, 15).abs() < f64::MIN_POSITIVE);
        assert!(sp.inverse_temperature(&[0.0, 0.010_1], 50, 15) > 0.0);
    }

    fn strategy(sharpness: f64) -> Sp {
        let gp = GpOptions { initial_points: Some(0), ..GpOptions::default() };
        Sp::new(OnGp { own: SpConfig { sharpness }, gp }).unwrap()
    }

    /// At a high temperature a point is a uniform one, not one near the best: the moments of a uniform law within five standard
    /// errors. (With candidates around the best points, every twentieth would be one of those.)
    #[test]
    fn hot_draws_are_uniform_on_the_space() {
        let history = random_history(Space::bounds(&[(0.0, 1.0)]).unwrap(), 6, 2, |x| -(x[0] - 0.05).powi(2));
        let q = NonZeroUsize::new(400).unwrap();
        let choices = strategy(1e-9).propose(&history, Some(q), &mut stream(5, 0)).unwrap().choices;
        let n = choices.len() as f64;
        let near = choices.iter().filter(|choice| (choice.x[0] - 0.05).abs() < 0.01).count() as f64 / n;
        let mean = choices.iter().map(|choice| choice.x[0]).sum::<f64>() / n;
        assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n).sqrt(), "{mean}");
        assert!((near - 0.02).abs() < 5.0 * (0.02 * 0.98 / n).sqrt(), "{near}");
    }

    /// At a low temperature it is the maximum of the mean, which no uniform point is: no point of a fine grid has a larger one.
    #[test]
    fn cold_draws_are_the_maximum_of_the_mean() {
        let history = random_history(Space::bounds(&[(0.0, 1.0)]).unwrap(), 9, 2, |x| -(x[0] - 0.4).powi(2));
        let mut sp = strategy(1e9);
        let proposal = sp.propose(&history, NonZeroUsize::new(1), &mut stream(5, 0)).unwrap();
        let mut memo = proposal.memo;
        let (gp, _) = sp.model.update(&history, &mut memo, &mut stream(5, 1)).unwrap();
        let mean = |columns: &[f64]| gp.gp().means(&Points::from_columns(1, columns));
        let grid: Vec<f64> = (0..=100_000).map(|i| f64::from(i) / 1e5).collect();
        let largest = mean(&grid).into_iter().fold(f64::NEG_INFINITY, f64::max);
        let chosen = mean(&proposal.choices[0].x)[0];
        // The climb stops where the gradient is below 1e-5 or so.
        assert!(chosen >= largest - 1e-8, "{chosen} {largest}");
    }

    /// A batch asked for at once or one by one has the temperature of its round, and the initial data count.
    #[test]
    fn rounds_are_those_of_the_log() {
        let mut history = random_history(random_pool(50, 2), 15, 2, |x| x[0]);
        for (t, sizes) in [&[3_usize][..], &[1, 1, 1], &[2, 1]].into_iter().enumerate() {
            let mut number = 3 * t as u64;
            for &q in sizes {
                let proposal =
                    strategy(3.0).propose(&history, NonZeroUsize::new(q), &mut stream(5, number)).unwrap();
                let rounds = proposal.memo.rounds.unwrap();
                assert_eq!((rounds.begun, rounds.initial, rounds.told), (t + 1, 15, 15 + 3 * t));
                history.proposed((number..).zip(proposal.choices), proposal.memo);
                number += q as u64;
            }
            for told in number - 3..number {
                history.told(told, value(0.5)).unwrap();
            }
        }
    }
}
