//! What the machine can do, and how calls are timed.

use std::time::Instant;

use pulp::{Arch, Simd, WithSimd};

/// Milliseconds since a moment.
pub(super) fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e3
}

/// The fastest of as many calls as fit into about a second, at least two.
pub(super) fn fastest<T>(mut f: impl FnMut() -> T) -> f64 {
    let (mut best, mut total, mut calls) = (f64::INFINITY, 0.0, 0);
    while calls < 2 || (total < 500.0 && calls < 200) {
        let start = Instant::now();
        std::hint::black_box(f());
        let elapsed = milliseconds(start);
        best = best.min(elapsed);
        total += elapsed;
        calls += 1;
    }
    best
}

/// Multiply-adds in registers and nothing else, counted as two flops each.
pub(super) fn peak_gflops() -> f64 {
    const CHAINS: usize = 12;
    const STEPS: usize = 200_000;
    struct Loop;
    impl WithSimd for Loop {
        type Output = (f64, usize);
        #[inline(always)]
        fn with_simd<S: Simd>(self, simd: S) -> (f64, usize) {
            let [a, b, start] = std::hint::black_box([0.999, 0.001, 1.0]).map(|v| simd.splat_f64s(v));
            let mut chains = [start; CHAINS];
            for _ in 0..STEPS {
                for chain in &mut chains {
                    *chain = simd.mul_add_f64s(*chain, a, b);
                }
            }
            let sum = chains.into_iter().map(|c| simd.reduce_sum_f64s(c)).sum();
            (sum, S::F64_LANES)
        }
    }
    let mut lanes = 1;
    let best = fastest(|| {
        let (sum, width) = Arch::new().dispatch(Loop);
        lanes = width;
        sum
    });
    (2 * CHAINS * STEPS * lanes) as f64 / best / 1e6
}

/// Speed of a product of large matrices on this many threads: what dense work is compared with.
pub(crate) fn product_gflops(threads: usize) -> f64 {
    const N: usize = 1_024;
    let a = faer::Mat::from_fn(N, N, |i, j| ((i * 7 + j * 3) % 11) as f64);
    let mut c = faer::Mat::zeros(N, N);
    let par = if threads > 1 { faer::Par::rayon(threads) } else { faer::Par::Seq };
    let ms = fastest(|| {
        faer::linalg::matmul::matmul(c.as_mut(), faer::Accum::Replace, a.as_ref(), a.as_ref(), 1.0, par);
    });
    2.0 * (N as f64).powi(3) / ms / 1e6
}
