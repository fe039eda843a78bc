//! The solver `auto`: climbs from the most promising of the candidates kept from round to round and of fresh ones around the
//! best points.

use super::CandidateUtility;
use crate::maximize::climb::{Climber, Within};
use crate::maximize::grid::best_of;
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::strategy::gp::model::GpState;
use crate::surrogate::gp::candidates::Candidates;

/// A utility, the model whose candidates it is evaluated at, and where its maximum may be.
pub(super) struct OnCandidates<'a> {
    pub(super) target: &'a dyn CandidateUtility,
    /// Candidates that are climbed from.
    pub(super) polished: usize,
    pub(super) gp: &'a GpState,
    pub(super) region: &'a Region<'a>,
}

impl OnCandidates<'_> {
    /// The best point found, in a box if there is one.
    pub(super) fn maximize(&self, within: Option<&Within>) -> Result<Maximum, MaximizeError> {
        let found = self.maximize_within(within);
        // All integer points of a small box may have been tried: then search everywhere.
        if found.is_err() && within.is_some() { self.maximize_within(None) } else { found }
    }

    fn maximize_within(&self, within: Option<&Within>) -> Result<Maximum, MaximizeError> {
        let Self { target, polished, gp, region } = *self;
        let kept = values_within(target, gp.kept(), within);
        let fresh = values_within(target, gp.fresh(), within);
        if polished == 0 {
            return self.best_candidate(&kept, &fresh);
        }
        let mut starts = gp.kept().points().select(&top(&kept, polished.max(1)));
        for i in top(&fresh, polished.div_ceil(2).max(1)) {
            starts.push(&gp.fresh().points().point(i));
        }
        let climbs = MultiStart {
            starts: starts.len(),
            grid: 0,
            climber: Climber { within: within.cloned(), ..Climber::default() },
            only_converged: false,
        };
        let mut best = match climbs.climb_from(target, region, &starts) {
            Ok(best) => best,
            // All of these were tried: take the best of the rest.
            Err(MaximizeError::NothingLeft { .. }) => self.best_candidate(&kept, &fresh)?,
            Err(error) => return Err(error),
        };
        best.work.values += kept.len() + fresh.len();
        Ok(best)
    }

    /// The best of the kept and of the fresh candidates, without a climb.
    fn best_candidate(&self, kept: &[f64], fresh: &[f64]) -> Result<Maximum, MaximizeError> {
        let of_kept = best_of(kept, self.gp.kept().points(), self.region);
        match (of_kept, best_of(fresh, self.gp.fresh().points(), self.region)) {
            (Ok(a), Ok(b)) => {
                let mut work = a.work;
                work += b.work;
                Ok(Maximum { work, ..if b.value > a.value { b } else { a } })
            }
            (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
            (Err(error), Err(_)) => Err(error),
        }
    }
}

/// The utility at candidates, without those outside the box.
fn values_within(
    target: &dyn CandidateUtility,
    candidates: &Candidates,
    within: Option<&Within>,
) -> Vec<f64> {
    let mut values = target.values_at(candidates);
    if let Some(within) = within {
        for (i, value) in values.iter_mut().enumerate() {
            if !within.contains(&candidates.points().point(i)) {
                *value = f64::NAN;
            }
        }
    }
    values
}
