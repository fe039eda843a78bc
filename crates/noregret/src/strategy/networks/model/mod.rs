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

use crate::math::range::Range;
use crate::math::rng::Stream;
use crate::strategy::limits::{PARAMETERS, Table};
pub use belief::Features;
pub use learning::{Learning, Start};
pub use opening::Initial;

/// Candidates: with a thousand evaluations a million of them take 4 GB.
pub(crate) const CANDIDATES: Range = Range::new(1.0, 1e6);

/// The candidates themselves.
pub(crate) fn candidate_tables(candidates: usize, dims: usize) -> Vec<Table> {
    vec![Table::of([("candidates", candidates), (PARAMETERS, dims)])]
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
