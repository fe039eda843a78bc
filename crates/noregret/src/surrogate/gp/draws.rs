//! Several functions drawn from the posterior, at many points: the covariances with the data are computed once for all of them.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use super::path::Path;
use super::posterior::Gp;
use crate::math::rng::Stream;
use crate::surrogate::points::Points;

/// Points at a time: bounds the memory to `n` times this.
const PANEL: usize = 1_024;

impl Gp {
    /// The values of `count` drawn functions at every point of a set, one function after the other. Costs `count (n^2 + (n + m) F d)` for
    /// the draws of the prior, with `F` random features, and `m n (d + count)` for their corrections.
    ///
    /// # Panics
    /// If the kernel is that of a network.
    pub(crate) fn draws(
        &self,
        set: &Points,
        count: usize,
        features: usize,
        rng: &mut Stream,
    ) -> Vec<Vec<f64>> {
        let n = self.observed();
        let paths: Vec<Path<'_>> = (0..count).map(|_| Path::draw(self, features, rng)).collect();
        let mut values: Vec<Vec<f64>> = paths.iter().map(|path| path.prior_values(set)).collect();
        let corrections: Vec<f64> = paths.iter().flat_map(Path::correction).copied().collect();
        let corrections = MatRef::from_column_major_slice(&corrections, n, count);
        for begin in (0..set.len()).step_by(PANEL) {
            let end = (begin + PANEL).min(set.len());
            let m = end - begin;
            let k = self.cross_covariance(&set.slice(begin..end));
            let k = MatRef::from_column_major_slice(&k, m, self.len()).subcols(0, n);
            let mut product = vec![0.0; m * count];
            let out = MatMut::from_column_major_slice_mut(&mut product, m, count);
            matmul(out, Accum::Replace, k, corrections, 1.0, Par::Seq);
            for (values, product) in values.iter_mut().zip(product.chunks_exact(m)) {
                values[begin..end].iter_mut().zip(product).for_each(|(value, more)| *value += more);
            }
        }
        values
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::gp::kernel::{Form, Kernel};

    /// An equivalence, across the border of a panel: the same functions one by one.
    #[test]
    fn functions_drawn_together_are_those_drawn_one_by_one() {
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        let mut random = |count: usize| -> Vec<f64> { (0..count).map(|_| rng.random()).collect() };
        let points = Points::from_columns(2, &random(60));
        let set = Points::from_columns(2, &random(2 * (PANEL + 7)));
        let kernel = Kernel::new(Form::Matern52, vec![0.3, 0.5], 2, 1.0);
        let gp = Gp::new(kernel, points, &random(30), vec![1e-2; 30]).unwrap();
        let stream = || Seed(2).stream(Purpose::Path, 0, 0);
        let together = gp.draws(&set, 3, 64, &mut stream());
        let mut rng = stream();
        for function in &together {
            let alone = Path::draw(&gp, 64, &mut rng).values(&set);
            let gap = function.iter().zip(&alone).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            // Weights of up to about 100 at a noise of 1e-2, times rounding.
            assert!(gap < 1e-10, "{gap}");
        }
    }
}
