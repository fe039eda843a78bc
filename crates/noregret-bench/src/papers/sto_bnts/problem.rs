//! The objectives, all to be maximised.

use noregret::math::cholesky::Cholesky;
use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::{Params, Pool, Space, Trial};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::digits::Digits;
use super::rover;
use crate::BenchError;

/// The problems by name; `acquisition` has no runs.
pub(super) const PROBLEMS: [&str; 4] = ["synthetic", "acquisition", "images", "rover-20d"];
/// What is run unless others are named.
pub(super) const DEFAULT_PROBLEM: &str = "synthetic";

/// Points of the grid of Figure 1.
pub(super) const GRID: usize = 1_000;
/// Lengthscale of the function of Figure 1.
const LENGTHSCALE: f64 = 0.1;
/// Added to the kernel's diagonal: a factor needs it, and a value moves by 1e-4 of its deviation.
const JITTER: f64 = 1e-8;
/// Deviation of the noise on values of a pool, as the methods assume it.
const NOISE: f64 = 0.1;

/// Iterations of a problem.
pub(super) fn rounds(problem: &str) -> usize {
    match problem {
        "images" => 100,
        "rover-20d" => 500,
        _ => 50,
    }
}

/// A function to maximise.
pub(super) struct Objective {
    pub(super) name: &'static str,
    pub(super) space: Space,
    /// Initial points.
    pub(super) initial: usize,
    /// The largest value; 0 for the rover, whose cost is never negative.
    pub(super) maximum: f64,
    /// The value of each row; `None` for the rover.
    values: Option<Vec<f64>>,
    noise: f64,
}

impl Objective {
    /// The objective of this name, for the run of this seed; the images, if there are any, whatever the name.
    pub(super) fn new(name: &str, seed: u64, digits: Option<&Digits>) -> Result<Self, BenchError> {
        match (name, digits) {
            ("rover-20d", _) => Ok(Self {
                name: "rover-20d",
                space: Space::bounds(&[(0.0, 1.0); rover::DIMS])?,
                initial: 20,
                maximum: 0.0,
                values: None,
                noise: rover::NOISE,
            }),
            (_, Some(digits)) => {
                let pool = Pool::from_f32(digits.images.clone(), digits.pixels)?;
                Ok(Self::pool("images", pool, digits.scores.clone(), 3, 0.0))
            }
            _ => {
                let pool = Pool::new(grid(), 1)?;
                Ok(Self::pool("synthetic", pool, drawn(seed), 3, NOISE))
            }
        }
    }

    fn pool(name: &'static str, pool: Pool, values: Vec<f64>, initial: usize, noise: f64) -> Self {
        let maximum = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Self { name, space: Space::pool(pool), initial, maximum, values: Some(values), noise }
    }

    /// A uniform point, with its row if it has one, its value, and what is observed of it.
    pub(super) fn random(&self, design: &mut Stream, noise: &mut Stream) -> (Start, f64, f64) {
        if let Some(values) = &self.values {
            let row = design.random_range(0..values.len());
            return (Start::Row(row), values[row], self.noisy(values[row], noise));
        }
        let u: Vec<f64> = (0..self.space.dims()).map(|_| design.random()).collect();
        let (value, observed) = self.drive(&u, noise);
        (Start::Params(self.space.decode(&u)), value, observed)
    }

    /// The value of a proposed point, and what is observed of it.
    pub(super) fn evaluate(&self, trial: &Trial, noise: &mut Stream) -> (f64, f64) {
        match (&self.values, trial.row) {
            (Some(values), Some(row)) => (values[row], self.noisy(values[row], noise)),
            _ => self.drive(&trial.numbers(), noise),
        }
    }

    fn noisy(&self, value: f64, noise: &mut Stream) -> f64 {
        let z: f64 = StandardNormal.sample(noise);
        value + self.noise * z
    }

    /// The rover's noise is on its way, here in the unit cube, not on the value.
    fn drive(&self, u: &[f64], noise: &mut Stream) -> (f64, f64) {
        let moved: Vec<f64> = u.iter().map(|u| self.noisy(*u, noise)).collect();
        (rover::value(u), rover::value(&moved))
    }
}

/// An initial point.
pub(super) enum Start {
    /// Of a pool.
    Row(usize),
    /// Of a box.
    Params(Params),
}

/// The points of Figure 1.
pub(super) fn grid() -> Vec<f64> {
    (0..GRID).map(|i| i as f64 / (GRID - 1) as f64).collect()
}

/// A draw from the Gaussian process with the squared exponential kernel on the grid.
pub(super) fn drawn(seed: u64) -> Vec<f64> {
    draw(&prior(), seed)
}

/// The factor of the kernel's matrix on the grid.
fn prior() -> Cholesky {
    let step = 1.0 / (GRID - 1) as f64;
    let kernel = |lag: usize| (-0.5 * (lag as f64 * step / LENGTHSCALE).powi(2)).exp();
    let factor = Cholesky::factor(GRID, |_, rows| {
        rows.iter_mut().enumerate().for_each(|(lag, entry)| *entry = kernel(lag));
        rows[0] += JITTER;
    });
    factor.expect("invariant: positive definite by its jitter, and always the same")
}

fn draw(prior: &Cholesky, seed: u64) -> Vec<f64> {
    let mut rng = Seed(seed).stream(Purpose::Experiment, 1, 0);
    let z: Vec<f64> = (0..GRID).map(|_| StandardNormal.sample(&mut rng)).collect();
    let mut row = Vec::new();
    let value = |i: usize| {
        prior.row(i, &mut row);
        row.push(prior.diagonal(i));
        row.iter().zip(&z).map(|(l, z)| l * z).sum()
    };
    (0..GRID).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Over 200 draws the variance at a point is 1, and values of a lengthscale's distance correlate by `exp(-1/2)`.
    #[test]
    fn draws_have_the_prior_s_moments_and_are_smooth() {
        let prior = prior();
        let draws: Vec<Vec<f64>> = (0..200).map(|seed| draw(&prior, seed)).collect();
        let moment = |i: usize, j: usize| draws.iter().map(|f| f[i] * f[j]).sum::<f64>() / 200.0;
        // Five standard errors: sqrt(2 / 200) = 0.1 each.
        assert!((moment(500, 500) - 1.0).abs() < 0.5, "{}", moment(500, 500));
        assert!((moment(300, 400) - (-0.5_f64).exp()).abs() < 0.5, "{}", moment(300, 400));
        let steps = draws[0].windows(2).map(|pair| (pair[1] - pair[0]).abs());
        assert!(steps.fold(0.0, f64::max) < 0.1, "the slope's deviation is 10, a step 0.001, jitter 1e-4");
    }

    #[test]
    fn objectives_have_their_sizes() {
        let synthetic = Objective::new("synthetic", 1, None).unwrap();
        assert_eq!((synthetic.space.dims(), synthetic.initial), (1, 3));
        let rover = Objective::new("rover-20d", 1, None).unwrap();
        let stream = |purpose| Seed(1).stream(purpose, 0, 0);
        let (start, value, observed) =
            rover.random(&mut stream(Purpose::Design), &mut stream(Purpose::Noise));
        assert!(matches!(start, Start::Params(_)) && value < 0.0 && (value - observed).abs() < 5.0);
    }
}
