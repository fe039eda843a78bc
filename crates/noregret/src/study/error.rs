//! A wrong use of a study.

use crate::space::Params;

/// A wrong use of a study.
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
    #[error("trial {number}: a noise variance must be finite and not negative, not {value}")]
    NoiseVariance {
        /// The trial.
        number: u64,
        /// What was told.
        value: f64,
    },
    /// No points were asked for.
    #[error("ask for at least one point")]
    AskedForNothing,
    /// A study without a space.
    #[error("a study needs a space: call `space` on its builder")]
    NoSpace,
    /// A row of a space that has none.
    #[error("row {row} was given, but the space is not a pool")]
    NotAPool {
        /// The row.
        row: usize,
    },
    /// A pool has no such row.
    #[error("the pool has no row {row}: it has {rows}, numbered from 0")]
    UnknownRow {
        /// The row.
        row: usize,
        /// How many there are.
        rows: usize,
    },
    /// A log of another study.
    #[error("event {position} of the log does not fit this study")]
    ForeignLog {
        /// Its place, from 0 on.
        position: usize,
        /// Why not.
        #[source]
        problem: Box<StudyError>,
    },
    /// A point of another space.
    #[error("a point of {found} coordinates in a space of {expected}")]
    Coordinates {
        /// Its coordinates.
        found: usize,
        /// The space's.
        expected: usize,
    },
    /// A point that the constraints rule out was to be tried.
    #[error("{params} violates the constraint `{constraint}`")]
    Infeasible {
        /// The point.
        params: Params,
        /// What does not hold of it.
        constraint: String,
    },
}

/// An error unless the noise variance told for trial `number` is finite and not negative.
pub fn check_noise_var(number: u64, noise_var: Option<f64>) -> Result<(), StudyError> {
    match noise_var {
        Some(value) if !(value >= 0.0 && value.is_finite()) => {
            Err(StudyError::NoiseVariance { number, value })
        }
        _ => Ok(()),
    }
}
