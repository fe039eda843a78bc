//! Everything that can go wrong, under one roof.

use crate::math::cholesky::NotPositiveDefinite;
use crate::math::range::OutOfRange;
use crate::maximize::MaximizeError;
use crate::space::SpaceError;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::limits::TooMuchMemory;
use crate::study::StudyError;
use crate::surrogate::gp::GpConfigError;
use crate::surrogate::neural::NetworkError;

/// A result whose error is by default that of the whole library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// In the search space, or in a point of it.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// In the choice of an algorithm.
    #[error(transparent)]
    Algorithm(#[from] AlgorithmError),
    /// In the settings of a Gaussian process.
    #[error(transparent)]
    GpConfig(#[from] GpConfigError),
    /// In the settings of a network.
    #[error(transparent)]
    Network(#[from] NetworkError),
    /// In the choice of a number.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// In the memory that a configuration needs.
    #[error(transparent)]
    Memory(#[from] TooMuchMemory),
    /// In fitting a model.
    #[error("the model could not be fitted")]
    Fit(#[from] NotPositiveDefinite),
    /// In maximizing an acquisition function.
    #[error(transparent)]
    Maximize(#[from] MaximizeError),
    /// In the use of a study.
    #[error(transparent)]
    Study(#[from] StudyError),
}

impl Error {
    /// Whether there is simply nothing left to suggest.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Error::Maximize(MaximizeError::NothingLeft { .. }))
    }
}
