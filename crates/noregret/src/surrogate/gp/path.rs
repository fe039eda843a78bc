//! Functions drawn from the posterior, whole: pathwise (Matheron) sampling.
//!
//! Wilson et al. 2020, "Efficiently sampling functions from Gaussian process posteriors", eq. (13), and Rahimi & Recht
//! 2007 for the features: a draw of the prior is corrected by what it gets wrong at the data,
//! `f~(x) = phi(x) . w + k(x)^T (K + tau I)^-1 (y - Phi w - eps)`.
//!
//! # Notation
//! | paper      | here         | shape | meaning                                                            |
//! |------------|--------------|-------|--------------------------------------------------------------------|
//! | `omega, b` | `frequencies`, `phases` | F x d, F | random frequencies and phases of the stationary factors  |
//! | `w`        | `weights`    | F     | standard normal, times `sqrt(2 outputscale / F)`                   |
//! | `eps`      | (drawn)      | n     | noise of the observations                                          |
//! | `v`        | `correction` | n     | `(K + tau I)^-1 (y - Phi w - eps)`                                 |
//!
//! Frequencies are drawn anew for every path: with fixed ones the covariance is biased, with fresh ones it is exact in
//! expectation. A Matérn kernel has Student-t frequencies with `2 nu` degrees of freedom; an overlap factor is a random
//! sign per category, shared by all categories with probability `exp(-1 / l)`; a linear factor is a random plane. The kernel
//! of a network has no such features: `GpConfig::validate_for_paths` refuses it.
//!
//! # Departures
//! Features come in words of 64 signs, so their number is rounded up to a multiple of 64: 1,000 become 1,024.

use rand::{Rng, RngExt};
use rand_distr::{ChiSquared, Distribution, StandardNormal};
use rayon::prelude::*;

use super::candidates::Candidates;
use super::kernel::anova::Anova;
use super::kernel::stationary::{Shape, Stationary};
use super::kernel::{Factor, Kernel, Slopes};
use super::posterior::Gp;
use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::rng::Stream;
use crate::math::vector;
use crate::surrogate::points::Points;

/// Features of a path come in words of this many signs.
const WORD: usize = 64;

/// One function drawn from the prior.
#[derive(Clone, Debug)]
struct PriorDraw {
    /// By coordinate: the frequencies of all features. Empty where no stationary factor looks.
    frequencies: Vec<Vec<f64>>,
    /// Empty if no factor is stationary in the usual sense; then features are products of signs and planes only.
    phases: Vec<f64>,
    planes: Vec<Plane>,
    signs: Vec<Signs>,
    weights: Vec<f64>,
}

/// A linear factor's features: `sum_k slopes[k] x_k`.
#[derive(Clone, Debug)]
struct Plane {
    slopes: Vec<(usize, Vec<f64>)>,
}

/// An overlap factor's features on one coordinate: one random sign per category and feature.
///
/// With probability `rho` all categories share their sign, else signs are independent: the expected product of the signs of two
/// different categories is `rho = exp(-1 / l)`, and that of equal ones 1.
#[derive(Clone, Debug)]
struct Signs {
    dim: usize,
    /// Features for which all categories share their sign.
    shared: Vec<u64>,
    /// That sign.
    common: Vec<u64>,
    seed: u64,
}

impl Signs {
    /// Signs for coordinate `dim`, shared by all categories with probability `rho`.
    fn draw(dim: usize, rho: f64, features: usize, rng: &mut Stream) -> Self {
        let mut shared = vec![0_u64; features / WORD];
        for f in 0..features {
            shared[f / WORD] |= u64::from(rng.random::<f64>() < rho) << (f % WORD);
        }
        let common = (0..features / WORD).map(|_| rng.next_u64()).collect();
        Self { dim, shared, common, seed: rng.next_u64() }
    }

    /// Flips the signs of `values` as the category `u` asks.
    fn apply(&self, u: f64, values: &mut [f64]) {
        for (word, values) in values.chunks_mut(WORD).enumerate() {
            let own = mix(self.seed ^ mix(u.to_bits() ^ (word as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)));
            let bits = (self.shared[word] & self.common[word]) | (!self.shared[word] & own);
            for (i, value) in values.iter_mut().enumerate() {
                *value = f64::from_bits(value.to_bits() ^ (((bits >> i) & 1) << 63));
            }
        }
    }
}

/// The finalizer of splitmix64: every input bit reaches every output bit.
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl PriorDraw {
    fn new(kernel: &Kernel, dims: usize, features: usize, rng: &mut Stream) -> Self {
        let features = features.div_ceil(WORD).max(1) * WORD;
        let mut draw = Self {
            frequencies: vec![Vec::new(); dims],
            phases: Vec::new(),
            planes: Vec::new(),
            signs: Vec::new(),
            weights: Vec::new(),
        };
        for factor in &kernel.factors {
            match factor {
                Factor::Stationary(stationary) => draw.add_stationary(stationary, features, rng),
                Factor::Linear(linear) => {
                    let slopes = linear
                        .coordinates
                        .iter()
                        .map(|k| (k.index, normals(features, rng).map(|z| z / k.lengthscale).collect()));
                    draw.planes.push(Plane { slopes: slopes.collect() });
                }
                Factor::Overlap(overlap) => {
                    for k in overlap.coordinates.iter() {
                        draw.signs.push(Signs::draw(k.index, (-1.0 / k.lengthscale).exp(), features, rng));
                    }
                }
                Factor::Anova(anova) => draw.add_anova(anova, features, rng),
                Factor::Network(_) => panic!("the kernel of a network has no random features"),
            }
        }
        // With uniform phases E[cos(w.x + b) cos(w.c + b)] = 1/2 E[cos(w.(x - c))], half of the covariance (Bochner): hence the 2.
        let waves = if draw.phases.is_empty() { 1.0 } else { 2.0 };
        let amplitude = (waves * kernel.outputscale / features as f64).sqrt();
        draw.weights = normals(features, rng).map(|w| amplitude * w).collect();
        draw
    }

    /// Features of a stationary factor: waves whose frequencies have its spectral density.
    ///
    /// That of a Matérn kernel is a Student-t with `2 nu` degrees of freedom (Rasmussen & Williams 2006, eq. (4.15)): a normal over
    /// the root of a scaled chi-squared, the same root for all coordinates.
    fn add_stationary(&mut self, factor: &Stationary, features: usize, rng: &mut Stream) {
        let stretch: Vec<f64> = match factor.shape.degrees_of_freedom() {
            None => vec![1.0; features],
            Some(nu2) => {
                let chi = ChiSquared::new(nu2).expect("invariant: 2 nu is positive");
                (0..features).map(|_| (nu2 / chi.sample(rng)).sqrt()).collect()
            }
        };
        for k in factor.coordinates.iter() {
            self.frequencies[k.index] = normals(features, rng)
                .zip(&stretch)
                .map(|(z, stretch)| z * stretch / k.lengthscale)
                .collect();
        }
        self.add_phases(features, rng);
    }

    /// Features of an [`Anova`] factor: each looks at the coordinates that its coins choose.
    ///
    /// A coordinate with frequency 0 contributes the factor 1, so in expectation over the coin `1 - p + p h_i`; signs alike, with the
    /// probability `1 - p + p exp(-1 / l)` of being shared.
    fn add_anova(&mut self, factor: &Anova, features: usize, rng: &mut Stream) {
        let p = factor.probability();
        let nu2 = Shape::Matern52.degrees_of_freedom().expect("invariant: it has them");
        let chi = ChiSquared::new(nu2).expect("invariant: 2 nu is positive");
        for k in factor.numeric.iter() {
            let frequency = |_| {
                let (coin, z): (f64, f64) = (rng.random(), StandardNormal.sample(rng));
                if coin < p { z * (nu2 / chi.sample(rng)).sqrt() / k.lengthscale } else { 0.0 }
            };
            self.frequencies[k.index] = (0..features).map(frequency).collect();
        }
        for k in factor.categorical.iter() {
            let unmoved = 1.0 - p + p * (-1.0 / k.lengthscale).exp();
            self.signs.push(Signs::draw(k.index, unmoved, features, rng));
        }
        if !factor.numeric.is_empty() {
            self.add_phases(features, rng);
        }
    }

    /// Phases of the waves, one for all factors.
    fn add_phases(&mut self, features: usize, rng: &mut Stream) {
        if self.phases.is_empty() {
            self.phases = (0..features).map(|_| rng.random::<f64>() * std::f64::consts::TAU).collect();
        }
    }

    /// All features at `x` times their weights, without the wave itself; `waves` receives the waves' arguments.
    fn prepare(&self, x: &[f64], waves: &mut Vec<f64>, weights: &mut Vec<f64>) {
        weights.clear();
        weights.extend_from_slice(&self.weights);
        for signs in &self.signs {
            signs.apply(x[signs.dim], weights);
        }
        waves.clear();
        waves.extend_from_slice(&self.phases);
        if !waves.is_empty() {
            for (frequencies, x) in self.frequencies.iter().zip(x).filter(|(f, _)| !f.is_empty()) {
                vector::axpy(*x, frequencies, waves);
            }
        }
    }

    /// Every feature at `x` times its weight.
    fn features(&self, x: &[f64]) -> Vec<f64> {
        let (mut waves, mut weights) = (Vec::new(), Vec::new());
        self.prepare(x, &mut waves, &mut weights);
        for plane in &self.planes {
            plane.scale(x, &mut weights);
        }
        vector::cos(&mut waves);
        for (weight, wave) in weights.iter_mut().zip(&waves) {
            *weight *= wave;
        }
        weights
    }

    /// The drawn function's value at `x`.
    fn value(&self, x: &[f64], waves: &mut Vec<f64>, weights: &mut Vec<f64>) -> f64 {
        self.prepare(x, waves, weights);
        for plane in &self.planes {
            plane.scale(x, weights);
        }
        if waves.is_empty() {
            return weights.iter().sum();
        }
        vector::cos(waves);
        vector::dot(weights, waves)
    }

    /// Adds the gradient at `x` to `gradient` and returns the value.
    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let (mut waves, mut weights) = (Vec::new(), Vec::new());
        self.prepare(x, &mut waves, &mut weights);
        let signed = weights.clone();
        for plane in &self.planes {
            plane.scale(x, &mut weights);
        }
        if waves.is_empty() {
            waves = vec![0.0; weights.len()];
        }
        // d/dx_k cos(a) = -sin(a) omega_k
        let mut sines = vec![0.0; waves.len()];
        vector::cos_and_slope(&mut waves, &weights, &mut sines);
        for (frequencies, gradient) in self.frequencies.iter().zip(gradient.iter_mut()) {
            if !frequencies.is_empty() {
                *gradient += vector::dot(frequencies, &sines);
            }
        }
        for (p, plane) in self.planes.iter().enumerate() {
            let mut others = signed.clone();
            for (_, other) in self.planes.iter().enumerate().filter(|(q, _)| *q != p) {
                other.scale(x, &mut others);
            }
            for (i, wave) in waves.iter().enumerate() {
                others[i] *= wave;
            }
            for (k, slopes) in &plane.slopes {
                gradient[*k] += vector::dot(&others, slopes);
            }
        }
        vector::dot(&weights, &waves)
    }
}

impl Plane {
    fn scale(&self, x: &[f64], weights: &mut [f64]) {
        for (i, weight) in weights.iter_mut().enumerate() {
            *weight *= self.slopes.iter().map(|(k, slopes)| slopes[i] * x[*k]).sum::<f64>();
        }
    }
}

/// `count` draws from the standard normal distribution.
fn normals(count: usize, rng: &mut Stream) -> impl Iterator<Item = f64> {
    (0..count).map(|_| StandardNormal.sample(rng))
}

/// One function drawn from the posterior. Evaluating it costs `O((n + F) d)`, gradients included.
#[derive(Clone, Debug)]
pub struct Path<'a> {
    gp: &'a Gp,
    prior: PriorDraw,
    white: Vec<f64>,
    correction: Vec<f64>,
}

impl<'a> Path<'a> {
    /// Draws a function from the posterior of `gp` (pending points play no part: a sample's own value there is what it
    /// imputes). `O(n^2)` for the correction.
    ///
    /// # Panics
    /// If the kernel is that of a network.
    pub fn draw(gp: &'a Gp, features: usize, rng: &mut Stream) -> Self {
        let n = gp.observed();
        let prior = PriorDraw::new(gp.kernel(), gp.points().dims(), features, rng);
        let noise: Vec<f64> = (0..n)
            .map(|i| {
                let z: f64 = StandardNormal.sample(rng);
                gp.noise(i).sqrt() * z
            })
            .collect();
        // Matheron's rule. Let f be a draw of the prior, y' = f(X) + eps what it would have given as observations, and
        // C = k(x, X), K = k(X, X) + tau I = L L^T. Then f(x) + C K^-1 (y - y') has mean C K^-1 y and covariance
        // k(x, x) - C K^-1 C^T, since Cov(f(x), y') = C and Cov(y') = K: those of the posterior.
        let at_data = evaluate(&prior, gp.points(), n);
        let mut white: Vec<f64> = at_data.iter().zip(&noise).map(|(f, e)| f + e).collect();
        gp.factor().solve_lower(&mut white);
        for (white, y) in white.iter_mut().zip(gp.white()) {
            *white = y - *white;
        }
        // white = L^-1 (y - y'), correction = L^-T white = K^-1 (y - y').
        let mut correction = white.clone();
        gp.factor().solve_upper(&mut correction);
        Self { gp, prior, white, correction }
    }

    /// The function at one point.
    pub fn value(&self, x: &[f64]) -> f64 {
        let mut k = vec![0.0; self.correction.len()];
        self.gp.kernel().column(self.gp.points(), 0, x, &mut k);
        self.prior.value(x, &mut Vec::new(), &mut Vec::new()) + vector::dot(&k, &self.correction)
    }

    /// The function and its gradient at one point.
    pub fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        let mut slopes = Slopes::default();
        let (kernel, points) = (self.gp.kernel(), self.gp.points());
        gradient.fill(0.0);
        let prior = self.prior.value_and_gradient(x, gradient);
        kernel.column_with_slopes(points, 0, x, &mut slopes);
        kernel.add_input_gradient(points, x, &slopes, &self.correction, 1.0, gradient);
        prior + vector::dot(&slopes.value[..self.correction.len()], &self.correction)
    }

    /// The function at every point of a set.
    pub fn values(&self, points: &Points) -> Vec<f64> {
        (0..points.len()).into_par_iter().map(|i| self.value(&points.point(i))).collect()
    }

    /// The draw of the prior alone at every point of a set.
    pub(super) fn prior_values(&self, points: &Points) -> Vec<f64> {
        evaluate(&self.prior, points, points.len())
    }

    /// The weights of the data in the correction of that draw.
    pub(super) fn correction(&self) -> &[f64] {
        &self.correction
    }

    /// The function at the candidates, without any kernel evaluation.
    pub fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let mut values = evaluate(&self.prior, candidates.points(), candidates.len());
        for (value, correction) in values.iter_mut().zip(candidates.weigh(&self.white)) {
            *value += correction;
        }
        values
    }
}

/// The prior draw at the first `n` points.
fn evaluate(prior: &PriorDraw, points: &Points, n: usize) -> Vec<f64> {
    (0..n)
        .into_par_iter()
        .map_init(
            || (Vec::new(), Vec::new(), vec![0.0; points.dims()]),
            |(waves, weights, x), i| {
                points.copy_point(i, x);
                prior.value(x, waves, weights)
            },
        )
        .collect()
}

/// A function drawn from the prior, divided by its deviation: variance 1 everywhere, correlations of the kernel.
#[derive(Clone, Debug)]
pub struct UnitPath {
    draw: PriorDraw,
    kernel: Kernel,
}

impl UnitPath {
    /// Draws a function of `dims` coordinates.
    ///
    /// # Panics
    /// If the kernel is that of a network.
    pub fn draw(kernel: &Kernel, dims: usize, features: usize, rng: &mut Stream) -> Self {
        Self { draw: PriorDraw::new(kernel, dims, features, rng), kernel: kernel.clone() }
    }

    /// The function at every point of a set; 0 where the prior has no variance (a linear kernel's origin).
    pub fn values(&self, points: &Points) -> Vec<f64> {
        let mut values = evaluate(&self.draw, points, points.len());
        for (i, value) in values.iter_mut().enumerate() {
            let variance = self.kernel.variance(&points.point(i));
            *value = if variance > 0.0 { *value / variance.sqrt() } else { 0.0 };
        }
        values
    }

    /// The function and its gradient at one point.
    pub fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        let variance = self.kernel.variance(x);
        if variance <= 0.0 {
            return 0.0;
        }
        let draw = self.draw.value_and_gradient(x, gradient);
        // d(f / sqrt(k)) = df / sqrt(k) - f / (2 k sqrt(k)) dk
        let root = variance.sqrt();
        gradient.iter_mut().for_each(|g| *g /= root);
        self.kernel.add_variance_gradient(x, -0.5 * draw / (variance * root), gradient);
        draw / root
    }
}

/// A function drawn from the Bayesian linear regression on random features, as used in Dai et al. 2022, App. F.3.
#[derive(Clone, Debug)]
pub struct FeaturePath {
    draw: PriorDraw,
}

impl FeaturePath {
    /// Draws features of `gp`'s kernel and weights from their posterior given the values `y` of its observed points:
    /// `O(n F^2 + F^3)`.
    ///
    /// With `A = Phi^T D^-1 Phi + I = L L^T`, a draw is `A^-1 Phi^T D^-1 y + L^-T z`.
    ///
    /// # Panics
    /// If the kernel is that of a network.
    pub fn draw(gp: &Gp, y: &[f64], features: usize, rng: &mut Stream) -> Result<Self, NotPositiveDefinite> {
        let n = gp.observed();
        let mut draw = PriorDraw::new(gp.kernel(), gp.points().dims(), features, rng);
        let f = draw.weights.len();
        let waves = if draw.phases.is_empty() { 1.0 } else { 2.0 };
        let amplitude = (waves * gp.kernel().outputscale / f as f64).sqrt();
        let z: Vec<f64> = draw.weights.iter().map(|w| w / amplitude).collect();
        draw.weights.fill(amplitude);
        // Rows of D^-1/2 Phi, one per observation (column-major F x n).
        let rows: Vec<Vec<f64>> = (0..n)
            .into_par_iter()
            .map(|i| {
                let inverse_sd = gp.noise(i).sqrt().recip();
                let mut row = draw.features(&gp.points().point(i));
                row.iter_mut().for_each(|phi| *phi *= inverse_sd);
                row
            })
            .collect();
        let phi = rows.concat();
        let mut gram = vec![0.0; f * f];
        if n > 0 {
            let phi = faer::MatRef::from_column_major_slice(&phi, f, n);
            let out = faer::MatMut::from_column_major_slice_mut(&mut gram, f, f);
            faer::linalg::matmul::matmul(
                out,
                faer::Accum::Replace,
                phi,
                phi.transpose(),
                1.0,
                faer::Par::Seq,
            );
        }
        let a = Cholesky::factor(f, |j, rows| {
            rows.copy_from_slice(&gram[j * f + j..(j + 1) * f]);
            rows[0] += 1.0;
        })?;
        let mut mean = vec![0.0; f];
        for (i, row) in rows.iter().enumerate() {
            vector::axpy(y[i] / gp.noise(i).sqrt(), row, &mut mean);
        }
        a.solve(&mut mean);
        let mut spread = z;
        a.solve_upper(&mut spread);
        draw.weights = mean.iter().zip(&spread).map(|(m, s)| amplitude * (m + s)).collect();
        Ok(Self { draw })
    }

    /// The function at every point of a set.
    pub fn values(&self, points: &Points) -> Vec<f64> {
        evaluate(&self.draw, points, points.len())
    }

    /// The function and its gradient at one point.
    pub fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        self.draw.value_and_gradient(x, gradient)
    }
}
