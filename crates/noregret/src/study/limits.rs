//! Ranges of the numbers that a study is given.

use crate::math::range::Range;

/// Points of one proposal. Models grow by every point of it: more of them belong into several.
pub const BATCHES: Range = Range::new(1.0, 1e5);
/// Trials of a study in all; 0 for none yet. A log of more would fill any disk.
pub const TRIALS: Range = Range::new(0.0, 1e9);
/// Variances of noise. Squares and sums of such numbers are still finite.
pub const NOISE_VARIANCES: Range = Range::new(0.0, 1e150);
