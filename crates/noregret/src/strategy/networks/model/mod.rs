//! Shared parts of the algorithms on networks: `opening` (the first points), `encoded_history` (the training data), `learning` and
//! `learned` (a network that learns along with a study), `belief` and `field` (its uncertainty, and the candidates for it),
//! `search` (the maximum of a drawn function).

pub(crate) mod belief;
pub(crate) mod encoded_history;
pub(crate) mod field;
pub(crate) mod learned;
pub(crate) mod learning;
pub(crate) mod opening;
pub(crate) mod search;

use faer::Mat;
use rand::{Rng, SeedableRng};

use crate::math::rng::Stream;
use crate::strategy::algorithm::AlgorithmError;
pub use belief::Features;
pub use learning::{Learning, Start};
pub use opening::Initial;

/// Returns an error if there are no candidates, or more than fit into memory.
pub(crate) fn check_candidates(count: usize) -> Result<(), AlgorithmError> {
    let fits = (1..=10_000_000).contains(&count);
    AlgorithmError::check("candidates", count as f64, fits, "from 1 to 10 million")
}

/// One stream for each member, so that results do not depend on threads.
pub(crate) fn streams(count: usize, rng: &mut Stream) -> Vec<Stream> {
    (0..count).map(|_| Stream::seed_from_u64(rng.next_u64())).collect()
}

/// Columns of one matrix after those of another.
pub(crate) fn joined(left: &Mat<f32>, right: &Mat<f32>) -> Mat<f32> {
    let n = left.ncols();
    let at = |i, j| if j < n { left[(i, j)] } else { right[(i, j - n)] };
    Mat::from_fn(right.nrows(), n + right.ncols(), at)
}
