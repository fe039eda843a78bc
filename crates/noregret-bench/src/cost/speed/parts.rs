//! The stages of a suggestion, each by itself.

use std::time::Instant;

use noregret::math::cholesky::Cholesky;
use noregret::math::rng::{Purpose, Seed};
use noregret::surrogate::Gradient;
use noregret::surrogate::gp::candidates::Candidates;
use noregret::surrogate::gp::kernel::{Form, Kernel};
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;
use rand::RngExt;
use serde::Serialize;

use super::machine::{fastest, milliseconds};

/// Candidates of a suggestion.
const CANDIDATES: usize = 1_000;
const DIMS: usize = 6;

/// Times of the parts, in milliseconds, and speeds.
#[derive(Clone, Debug, Serialize)]
pub struct Parts {
    /// Observations.
    pub n: usize,
    /// Kernel block of 1,000 candidates.
    pub kernel_block_ms: f64,
    /// Elements of it a second, in units of 1e9.
    pub kernel_gelems: f64,
    /// The factorisation.
    pub cholesky_ms: f64,
    /// Its speed at `n^3 / 3` multiply-adds... counted as `n^3 / 3` flops, as LAPACK does.
    pub cholesky_gflops: f64,
    /// The triangular solve of 1,000 candidates.
    pub solve_ms: f64,
    /// Its speed at `n^2` flops a candidate.
    pub solve_gflops: f64,
    /// Appending an observation, weights of the mean included.
    pub append_ms: f64,
    /// Bringing 1,000 candidates up to date with it.
    pub follow_ms: f64,
    /// Exact posterior with gradient at one point.
    pub gradient_us: f64,
    /// The same from the local stand-in.
    pub local_gradient_us: Option<f64>,
}

impl Parts {
    /// Times the stages of a model of `n` random points.
    pub(super) fn measure(n: usize) -> Self {
        let mut rng = Seed(1).stream(Purpose::Experiment, n as u64, 0);
        let mut cube = |count: usize| {
            let columns: Vec<f64> = (0..DIMS * count).map(|_| rng.random()).collect();
            Points::from_columns(DIMS, &columns)
        };
        let (points, set) = (cube(n), cube(CANDIDATES));
        let y: Vec<f64> = (0..n).map(|i| (5.0 * points.point(i)[0]).sin()).collect();
        let kernel = Kernel::new(Form::Matern52, vec![0.5; DIMS], DIMS, 1.0);

        let mut block = vec![0.0; CANDIDATES * n];
        let kernel_block_ms = fastest(|| {
            for (j, column) in block.chunks_mut(CANDIDATES).enumerate() {
                kernel.column(&set, 0, &points.point(j), column);
            }
        });
        let cholesky_ms = cholesky_ms(&kernel, &points);
        let mut gp =
            Gp::new(kernel, points, &y, vec![1e-4; n]).expect("invariant: noise keeps it positive definite");
        let mut right_hand_sides = block;
        let solve_ms = fastest(|| gp.factor().solve_lower_rows(&mut right_hand_sides, CANDIDATES));
        drop(right_hand_sides);
        let (append_ms, follow_ms) = growth_ms(&mut gp, set);
        let (gradient_us, local_gradient_us) = gradients_us(&gp);
        Self {
            n,
            kernel_block_ms,
            kernel_gelems: (CANDIDATES * n) as f64 / kernel_block_ms / 1e6,
            cholesky_ms,
            cholesky_gflops: (n as f64).powi(3) / 3.0 / cholesky_ms / 1e6,
            solve_ms,
            solve_gflops: (n as f64).powi(2) * CANDIDATES as f64 / solve_ms / 1e6,
            append_ms,
            follow_ms,
            gradient_us,
            local_gradient_us,
        }
    }
}

/// The factorisation of the kernel's matrix.
fn cholesky_ms(kernel: &Kernel, points: &Points) -> f64 {
    let n = points.len();
    let mut matrix = vec![0.0; n * n];
    for (j, column) in matrix.chunks_mut(n).enumerate() {
        kernel.column(points, 0, &points.point(j), column);
        column[j] += 1e-4;
    }
    fastest(|| Cholesky::factor(n, |j, rows| rows.copy_from_slice(&matrix[j * n + j..(j + 1) * n])))
}

/// Appending a point to the model, and bringing the candidates up to date with it.
fn growth_ms(gp: &mut Gp, set: Points) -> (f64, f64) {
    let mut candidates = Candidates::new(gp, set);
    let (mut append, mut follow) = (f64::INFINITY, f64::INFINITY);
    for i in 0..8 {
        let x = [0.1 * f64::from(i) + 0.05; DIMS];
        let start = Instant::now();
        gp.append(&x, 0.3, 1e-4);
        gp.alpha();
        append = append.min(milliseconds(start));
        let start = Instant::now();
        candidates.follow(gp);
        follow = follow.min(milliseconds(start));
    }
    (append, follow)
}

/// Posterior with gradient at one point, exact and from the local stand-in, in microseconds.
fn gradients_us(gp: &Gp) -> (f64, Option<f64>) {
    let (mut by_mean, mut by_variance) = ([0.0; DIMS], [0.0; DIMS]);
    let at = [0.3; DIMS];
    let exact = 1e3 * fastest(|| gp.marginal_with_gradient(&at, &mut by_mean, &mut by_variance));
    let local = gp
        .local(&at)
        .map(|local| 1e3 * fastest(|| local.marginal_with_gradient(&at, &mut by_mean, &mut by_variance)));
    (exact, local)
}
