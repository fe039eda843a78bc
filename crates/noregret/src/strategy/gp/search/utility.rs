//! Utilities on a Gaussian process, at candidates whose posterior is known.

use crate::acquisition::thompson::EnlargedPath;
use crate::acquisition::utility::Utility;
use crate::acquisition::{Acquisition, Scored};
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::path::{FeaturePath, Path};
use crate::surrogate::gp::posterior::Gp;

/// A utility that can be computed from the known posterior at candidates.
pub trait CandidateUtility: Acquisition {
    /// The utility at candidates whose posterior is known.
    fn values_at(&self, candidates: &Candidates) -> Vec<f64>;

    /// The utility as a function of mean and deviation, if it depends on nothing else.
    fn of_marginals(&self) -> Option<Utility> {
        None
    }
}

impl CandidateUtility for Scored<'_, Gp> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        let mut values = vec![0.0; candidates.len()];
        self.utility.values(candidates.mean(), candidates.variance(), &mut values);
        values
    }

    fn of_marginals(&self) -> Option<Utility> {
        Some(self.utility)
    }
}

impl CandidateUtility for Path<'_> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        Path::values_at(self, candidates)
    }
}

impl CandidateUtility for EnlargedPath<'_> {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        EnlargedPath::values_at(self, candidates)
    }
}

impl CandidateUtility for FeaturePath {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        FeaturePath::values(self, candidates.points())
    }
}
