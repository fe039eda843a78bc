//! What algorithms with a network share: `opening` (the first points), `encoded_history` (the data as it takes them), `learning` and
//! `learned` (a network that learns along with a study), `belief` and `field` (its uncertainty, and where that is searched),
//! `search` (the best point of a drawn function).

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

/// An error unless there are candidates, and not so many that they fill the memory.
pub(crate) fn check_candidates(count: usize) -> Result<(), AlgorithmError> {
    let fits = (1..=10_000_000).contains(&count);
    AlgorithmError::check("candidates", count as f64, fits, "from 1 to 10 million")
}

/// A stream of its own for each member, whatever runs beside it.
pub(crate) fn streams(count: usize, rng: &mut Stream) -> Vec<Stream> {
    (0..count).map(|_| Stream::seed_from_u64(rng.next_u64())).collect()
}

/// Columns of one matrix after those of another.
pub(crate) fn joined(left: &Mat<f32>, right: &Mat<f32>) -> Mat<f32> {
    let n = left.ncols();
    let at = |i, j| if j < n { left[(i, j)] } else { right[(i, j - n)] };
    Mat::from_fn(right.nrows(), n + right.ncols(), at)
}
