//! From a utility to the point that maximizes it, and how inexactly that was done.

pub mod climb;
#[cfg(test)]
mod function;
pub mod grid;
pub mod inexact;
pub mod multi_start;
pub mod region;
pub mod solver;

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::acquisition::Acquisition;
use crate::math::rng::Stream;
use crate::space::SpaceError;
pub use region::{Region, Taken};

/// The evaluations of a maximization.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Utilities evaluated.
    pub values: usize,
    /// Utilities evaluated with their gradient.
    pub gradients: usize,
}

impl AddAssign for Work {
    fn add_assign(&mut self, other: Self) {
        self.values += other.values;
        self.gradients += other.gradients;
    }
}

/// The best point found, its utility, and the work spent.
#[derive(Clone, Debug, PartialEq)]
pub struct Maximum {
    /// A point of the space.
    pub x: Vec<f64>,
    /// Its row, if the space is a pool.
    pub row: Option<usize>,
    /// Its utility.
    pub value: f64,
    /// The evaluations it took.
    pub work: Work,
}

/// Why no point could be found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MaximizeError {
    /// Every point has been proposed or evaluated already.
    #[error(
        "nothing is left to suggest: all {tried} points looked at were tried before (duplicates = \"allow\" would repeat them)"
    )]
    NothingLeft {
        /// Points tried.
        tried: usize,
    },
    /// The utility is NaN wherever it was evaluated.
    #[error("the utility is not a number at any of the {tried} points tried")]
    NotFinite {
        /// Points tried.
        tried: usize,
    },
    /// No feasible point could be drawn.
    #[error(transparent)]
    Space(#[from] SpaceError),
}

/// Finds a point of high utility.
pub trait Maximize: Send + Sync {
    /// Maximizes `utility` over `region`.
    fn maximize(
        &self,
        utility: &dyn Acquisition,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError>;
}
