//! The functions of the tables, each with its box and its minimum.

use std::f64::consts::TAU;

use noregret::math::rng::{Purpose, Seed, Stream};
use noregret_problems::Problem;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

use crate::Setting;

/// From a point in raw units to a value.
type ValueAt = Box<dyn Fn(&[f64]) -> f64 + Sync>;

/// A function to minimize.
pub(super) struct Target {
    pub(super) bounds: Vec<(f64, f64)>,
    pub(super) minimum: f64,
    value: ValueAt,
}

impl Target {
    /// The function of this name. Those drawn from a prior are numbered.
    pub(super) fn new(name: &str, setting: Setting, number: u64) -> Self {
        match name {
            "gp-2d" => random_features(number, setting, (0.25, 5.0)),
            "gp-noisy-2d" => random_features(number, Setting::Paper, (0.5, 0.5)),
            "gp-3d" => on_a_grid(number),
            // The paper names Griewank's function; its code divides by `i` in place of the root.
            "griewank-8d" if setting == Setting::Code => known("griewank-over-i-8d", &[(-1.0, 4.0); 8]),
            "griewank-8d" => known(name, &[(-1.0, 4.0); 8]),
            "ackley-2d" => known(name, &[(-5.0, 5.0); 2]),
            "ackley-3d" => known(name, &[(-5.0, 5.0); 3]),
            "rosenbrock-2d" => known(name, &[(-2.0, 2.0), (-1.0, 3.0)]),
            "bird-2d" | "bird-2d-150" => known("bird-2d", &[(-TAU, TAU); 2]),
            "michalewicz-10d" => known(name, &[(0.0, std::f64::consts::PI); 10]),
            _ => known(name, &[(0.0, 1.0); 6]),
        }
    }

    /// How far the value at `x` is from the minimum.
    pub(super) fn regret(&self, x: &[f64]) -> f64 {
        (self.value)(x) - self.minimum
    }
}

fn known(name: &str, bounds: &[(f64, f64)]) -> Target {
    let problem = Problem::by_name(name).expect("invariant: all of these are known, see the test");
    let problem = problem.on(bounds.to_vec());
    Target { bounds: bounds.to_vec(), minimum: problem.minimum, value: Box::new(move |x| problem.value(x)) }
}

/// Features of the functions in two dimensions.
const FEATURES: usize = 256;
/// Points a side of the grid on which their minimum is looked for.
const GRID: usize = 500;
/// Points a side of the grid that the functions in three dimensions live on.
const SIDE: usize = 26;

fn normals(n: usize, rng: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

/// A function of 256 random features for the squared exponential kernel of this lengthscale on `[-half, half]^2`. The authors'
/// weights are uniform, not normal. The minimum is that of a fine grid, as theirs.
fn random_features(number: u64, setting: Setting, (lengthscale, half): (f64, f64)) -> Target {
    let mut rng = Seed(number).stream(Purpose::Experiment, 2, 0);
    let frequencies: Vec<f64> =
        normals(2 * FEATURES, &mut rng).into_iter().map(|w| w / lengthscale).collect();
    let phases: Vec<f64> = (0..FEATURES).map(|_| rng.random_range(0.0..TAU)).collect();
    let weights: Vec<f64> = match setting {
        Setting::Code => (0..FEATURES).map(|_| rng.random()).collect(),
        _ => normals(FEATURES, &mut rng),
    };
    let scale = (2.0 / FEATURES as f64).sqrt();
    let value = move |x: &[f64]| {
        let feature =
            |i: usize| (frequencies[2 * i] * x[0] + frequencies[2 * i + 1] * x[1] + phases[i]).cos();
        scale * (0..FEATURES).map(|i| weights[i] * feature(i)).sum::<f64>()
    };
    let at = |i: usize| half * (2.0 * i as f64 / (GRID - 1) as f64 - 1.0);
    let row = |i: usize| (0..GRID).map(|j| value(&[at(i), at(j)])).fold(f64::INFINITY, f64::min);
    let minimum = (0..GRID).into_par_iter().map(row).reduce(|| f64::INFINITY, f64::min);
    Target { bounds: vec![(-half, half); 2], minimum, value: Box::new(value) }
}

/// A draw from the squared exponential prior of lengthscale 0.15 and variance 10 on a grid of `26^3` points, constant
/// around each of them. The covariance is a product over the axes, and so is its factor.
fn on_a_grid(number: u64) -> Target {
    let step = 1.0 / (SIDE - 1) as f64;
    let kernel = |i: usize, j: usize| (-0.5 * (i.abs_diff(j) as f64 * step / 0.15).powi(2)).exp();
    let factor = cholesky(SIDE, |i, j| kernel(i, j) + if i == j { 1e-9 } else { 0.0 });
    let mut rng = Seed(number).stream(Purpose::Experiment, 3, 0);
    let mut values = normals(SIDE * SIDE * SIDE, &mut rng);
    for axis in 0..3 {
        let stride = SIDE.pow(axis);
        for start in (0..values.len()).filter(|i| (i / stride) % SIDE == 0) {
            let line: Vec<f64> = (0..SIDE).map(|k| values[start + k * stride]).collect();
            for i in 0..SIDE {
                values[start + i * stride] = (0..=i).map(|k| factor[i * SIDE + k] * line[k]).sum();
            }
        }
    }
    values.iter_mut().for_each(|v| *v *= 10.0_f64.sqrt());
    let minimum = values.iter().copied().fold(f64::INFINITY, f64::min);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 25")]
    let index = move |x: f64| ((x / step).round() as usize).min(SIDE - 1);
    let value = move |x: &[f64]| values[index(x[0]) + SIDE * (index(x[1]) + SIDE * index(x[2]))];
    Target { bounds: vec![(0.0, 1.0); 3], minimum, value: Box::new(value) }
}

/// A small, plain factorisation, row by row.
fn cholesky(n: usize, entry: impl Fn(usize, usize) -> f64) -> Vec<f64> {
    let mut l = vec![0.0; n * n];
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum();
            let rest = entry(i, j) - sum;
            l[i * n + j] = if i == j { rest.max(0.0).sqrt() } else { rest / l[j * n + j] };
        }
    }
    l
}

#[cfg(test)]
mod tests {
    use super::super::tables::ROWS;
    use super::*;

    #[test]
    fn every_case_has_a_target_whose_regret_is_never_negative() {
        for row in &ROWS {
            for setting in Setting::ALL {
                let target = Target::new(row.problem, setting, 1);
                let mut rng = Seed(0).stream(Purpose::Experiment, 0, 0);
                for _ in 0..200 {
                    let x: Vec<f64> =
                        target.bounds.iter().map(|(low, high)| rng.random_range(*low..*high)).collect();
                    // Between the points of the grid a function may be a little lower than on them.
                    let below = if row.problem == "gp-2d" { -1e-2 } else { -1e-4 };
                    assert!(target.regret(&x) > below, "{} {:?}", row.problem, target.regret(&x));
                }
            }
        }
    }

    /// Over many draws the variance at a point is 10, and neighbours of a lengthscale correlate by `exp(-1/2)`.
    #[test]
    fn draws_on_the_grid_have_the_prior_s_moments() {
        let n = 400;
        let pairs: Vec<(f64, f64)> = (0..n)
            .map(|i| {
                let target = on_a_grid(i);
                ((target.value)(&[0.4, 0.4, 0.4]), (target.value)(&[0.4, 0.4, 0.56]))
            })
            .collect();
        let variance = pairs.iter().map(|p| p.0 * p.0).sum::<f64>() / n as f64;
        let covariance = pairs.iter().map(|p| p.0 * p.1).sum::<f64>() / n as f64;
        let expected = 10.0 * (-0.5 * (0.16_f64 / 0.15).powi(2)).exp();
        // Five standard errors: 10 sqrt(2 / 400) = 0.71 for the variance, and no more for the covariance.
        assert!(
            (variance - 10.0).abs() < 3.6 && (covariance - expected).abs() < 3.6,
            "{variance} {covariance}"
        );
    }
}
