//! What is drawn instead of measured: arms, and smooth functions of them.
//!
//! A function is `f(x) = sqrt(2 / F) sum_i w_i cos(omega_i . x + b_i)` with `w` normal, `omega` normal over the lengthscale
//! and `b` uniform: nearly a draw from the Gaussian process with the squared exponential kernel (Rahimi & Recht 2007).
//!
//! Everything depends on the seed alone. Arms are drawn in blocks, each from a stream of its own, and so in parallel.

use std::collections::BTreeSet;
use std::f64::consts::TAU;

use noregret::math::rng::{Purpose, Seed, Stream};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::*;

/// Features of a function.
const FEATURES: usize = 256;
/// Arms to a block.
const BLOCK: usize = 4096;
/// Common causes behind correlated arms: fewer than features, as in tables of measurements.
const FACTORS: usize = 3;

/// What a stream is for; the item of its key.
const FUNCTION: u16 = 0;
const ARMS: u16 = 1;
const MIXING: u16 = 2;
const ROUGHNESS: u16 = 3;

fn normals(n: usize, rng: &mut Stream) -> Vec<f64> {
    (0..n).map(|_| StandardNormal.sample(rng)).collect()
}

/// A smooth function of arms.
pub(super) struct RandomFunction {
    dims: usize,
    /// `F x d`, row by row.
    frequencies: Vec<f64>,
    phases: Vec<f64>,
    /// Scaled by `sqrt(2 / F)`.
    weights: Vec<f64>,
}

impl RandomFunction {
    /// The function of this seed.
    pub(super) fn new(dims: usize, lengthscale: f64, seed: Seed) -> Self {
        let mut rng = seed.stream(Purpose::Experiment, 0, FUNCTION);
        let frequencies = normals(FEATURES * dims, &mut rng).iter().map(|z| z / lengthscale).collect();
        let phases = (0..FEATURES).map(|_| rng.random_range(0.0..TAU)).collect();
        let scale = (2.0 / FEATURES as f64).sqrt();
        let weights = normals(FEATURES, &mut rng).iter().map(|w| scale * w).collect();
        Self { dims, frequencies, phases, weights }
    }

    /// The value at one arm.
    pub(super) fn value(&self, x: &[f32]) -> f64 {
        let waves = self.frequencies.chunks_exact(self.dims).zip(&self.phases).zip(&self.weights);
        let wave = |((omega, phase), weight): ((&[f64], &f64), &f64)| {
            let angle: f64 = omega.iter().zip(x).map(|(w, x)| w * f64::from(*x)).sum();
            weight * (angle + phase).cos()
        };
        waves.map(wave).sum()
    }

    /// The values at all arms, given row by row.
    pub(super) fn values(&self, features: &[f32]) -> Vec<f64> {
        features.par_chunks_exact(self.dims).with_min_len(256).map(|x| self.value(x)).collect()
    }
}

/// Arms of independent standard normal features, row by row.
pub(super) fn normal_arms(arms: usize, dims: usize, seed: Seed) -> Vec<f32> {
    let mut features = vec![0.0_f32; arms * dims];
    features.par_chunks_mut(BLOCK * dims).enumerate().for_each(|(block, features)| {
        let mut rng = seed.stream(Purpose::Experiment, block as u64, ARMS);
        features.fill_with(|| StandardNormal.sample(&mut rng));
    });
    features
}

/// Arms of correlated normal features: each a mixture of a few common factors, and as much of its own as of one factor.
pub(super) fn correlated_arms(arms: usize, dims: usize, seed: Seed) -> Vec<f64> {
    let mixing = normals(dims * FACTORS, &mut seed.stream(Purpose::Experiment, 0, MIXING));
    let drawn = normal_arms(arms, FACTORS + dims, seed);
    let arm = |z: &[f32]| -> Vec<f64> {
        let (factors, own) = z.split_at(FACTORS);
        let shared = |row: &[f64]| -> f64 { row.iter().zip(factors).map(|(w, z)| w * f64::from(*z)).sum() };
        mixing.chunks_exact(FACTORS).zip(own).map(|(row, z)| shared(row) + f64::from(*z)).collect()
    };
    drawn.chunks_exact(FACTORS + dims).flat_map(arm).collect()
}

/// Distinct arms of zeros and ones, `arms <= 2^dims`, in the order of the binary numbers that they are.
pub(super) fn binary_arms(arms: usize, dims: usize, seed: Seed) -> Vec<f64> {
    let mut rng = seed.stream(Purpose::Experiment, 0, ARMS);
    let mut words = BTreeSet::new();
    while words.len() < arms {
        words.insert(rng.random_range(0..1_u64 << dims));
    }
    words.iter().flat_map(|word| (0..dims).rev().map(move |bit| (word >> bit & 1) as f64)).collect()
}

/// Adds to each value what no smooth function explains: a normal number of `share` of the values' deviation.
pub(super) fn roughen(values: &mut [f64], share: f64, seed: Seed) {
    let sd = crate::report::statistics::standard_deviation(values);
    let mut rng = seed.stream(Purpose::Experiment, 0, ROUGHNESS);
    for value in values {
        let z: f64 = StandardNormal.sample(&mut rng);
        *value += share * sd * z;
    }
}

#[cfg(test)]
mod tests {
    use crate::report::statistics::{mean, standard_deviation};

    use super::*;

    #[test]
    fn threads_change_nothing() {
        let draw = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let arms = normal_arms(2 * BLOCK + 10, 3, Seed(1));
                let values = RandomFunction::new(3, 2.0, Seed(1)).values(&arms);
                (arms, values)
            })
        };
        assert_eq!(draw(1), draw(3));
    }

    /// More arms are the same arms and further ones.
    #[test]
    fn the_first_arms_do_not_depend_on_how_many_there_are() {
        let few = normal_arms(100, 4, Seed(2));
        assert_eq!(few, normal_arms(BLOCK + 1, 4, Seed(2))[..400]);
        assert_ne!(few, normal_arms(100, 4, Seed(3)));
    }

    #[test]
    fn normal_arms_are_normal() {
        let arms: Vec<f64> = normal_arms(50_000, 2, Seed(4)).into_iter().map(f64::from).collect();
        // n = 100,000: five standard errors of the mean, and of the deviation.
        assert!(mean(&arms).abs() < 5.0 / 316.0);
        assert!((standard_deviation(&arms) - 1.0).abs() < 5.0 / 447.0);
    }

    /// Over many functions, values at two arms covary as the kernel says.
    #[test]
    fn functions_have_the_kernel() {
        let (lengthscale, n) = (2.0, 2000);
        let (a, b) = ([0.3_f32, -1.0], [1.5_f32, 0.6]);
        let products: Vec<f64> = (0..n)
            .map(|seed| {
                let function = RandomFunction::new(2, lengthscale, Seed(seed));
                function.value(&a) * function.value(&b)
            })
            .collect();
        let squared = (1.2_f64.powi(2) + 1.6_f64.powi(2)) / (lengthscale * lengthscale);
        let kernel = (-0.5 * squared).exp();
        let error = standard_deviation(&products) / (n as f64).sqrt();
        assert!((mean(&products) - kernel).abs() < 5.0 * error, "{} {kernel}", mean(&products));
    }

    #[test]
    fn correlated_arms_are_correlated() {
        let arms = correlated_arms(5000, 4, Seed(5));
        let column = |k: usize| -> Vec<f64> { arms.iter().skip(k).step_by(4).copied().collect() };
        let correlation = |j: usize, k: usize| {
            let (a, b) = (column(j), column(k));
            let product: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
            (mean(&product) - mean(&a) * mean(&b)) / (standard_deviation(&a) * standard_deviation(&b))
        };
        let largest = (0..4).flat_map(|j| (0..j).map(move |k| (j, k))).map(|(j, k)| correlation(j, k).abs());
        assert!(largest.fold(0.0, f64::max) > 0.3);
    }

    #[test]
    fn binary_arms_are_distinct() {
        let arms = binary_arms(16, 4, Seed(6));
        let rows: BTreeSet<Vec<u64>> =
            arms.chunks_exact(4).map(|row| row.iter().map(|x| x.to_bits()).collect()).collect();
        assert_eq!((rows.len(), arms.iter().filter(|x| **x > 0.5).count()), (16, 32));
    }
}
