//! Invalid calls of a study.

use super::NOISE_VARIANCES;
use crate::math::range::OutOfRange;
use crate::space::Params;

/// An invalid call of a study.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyError {
    /// No trial has this number.
    #[error("there is no trial {number}: {asked} trials were asked for, numbered from 0")]
    UnknownTrial {
        /// The number.
        number: u64,
        /// Trials so far.
        asked: usize,
    },
    /// An invalid noise variance.
    #[error("trial {number}: a noise variance must be from {NOISE_VARIANCES}, not {value}")]
    NoiseVariance {
        /// The trial.
        number: u64,
        /// What was told.
        value: f64,
    },
    /// A number out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// No points were asked for.
    #[error("ask for at least one point")]
    AskedForNothing,
    /// A study without a space.
    #[error("a study needs a space: call `space` on its builder")]
    NoSpace,
    /// A row was given for a space that is not a pool.
    #[error("row {row} was given, but the space is not a pool")]
    NotAPool {
        /// The row.
        row: usize,
    },
    /// The row is out of range.
    #[error("the pool has no row {row}: it has {rows}, numbered from 0")]
    UnknownRow {
        /// The row.
        row: usize,
        /// Rows of the pool.
        rows: usize,
    },
    /// An event of the log does not fit this study.
    #[error("event {position} of the log does not fit this study")]
    ForeignLog {
        /// Index of the event, from 0.
        position: usize,
        /// The reason.
        #[source]
        problem: Box<StudyError>,
    },
    /// A point with the wrong number of dimensions.
    #[error("a point of {found} coordinates in a space of {expected}")]
    Coordinates {
        /// Dimensions of the point.
        found: usize,
        /// Dimensions of the space.
        expected: usize,
    },
    /// A coordinate outside the unit cube.
    #[error("a coordinate is {value}, not between 0 and 1")]
    Coordinate {
        /// The coordinate.
        value: f64,
    },
    /// A proposal whose model cannot be built again.
    #[error("the memo of a proposal makes no sense: {problem}")]
    Memo {
        /// The reason.
        problem: &'static str,
    },
    /// A trial without a result was to get another one.
    #[error("trial {number} has no result to replace: tell it")]
    NothingToReplace {
        /// The trial.
        number: u64,
    },
    /// The point violates a constraint.
    #[error("{params} violates the constraint `{constraint}`")]
    Infeasible {
        /// The point.
        params: Params,
        /// The constraint it violates.
        constraint: String,
    },
}

/// Returns an error unless the noise variance of trial `number` is in [`NOISE_VARIANCES`]. A log may have others: they count as the largest
/// that a model takes.
pub fn check_noise_var(number: u64, noise_var: Option<f64>) -> Result<(), StudyError> {
    match noise_var {
        Some(value) if !NOISE_VARIANCES.contains(value) => Err(StudyError::NoiseVariance { number, value }),
        _ => Ok(()),
    }
}
