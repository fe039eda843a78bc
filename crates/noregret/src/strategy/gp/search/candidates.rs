//! The solver `auto`: candidates kept from round to round and fresh ones around the best points, the most promising of
//! which are climbed from.

use super::CandidateUtility;
use crate::maximize::climb::{Climber, Within};
use crate::maximize::grid::best_of;
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::{MaximizeError, Maximum, Region};
use crate::strategy::gp::model::GpState;
use crate::surrogate::gp::candidates::Candidates;

/// The best point found from the candidates, in a box if there is one.
pub(super) fn maximize(
    target: &dyn CandidateUtility,
    polished: usize,
    within: Option<&Within>,
    gp: &GpState,
    region: &Region<'_>,
) -> Result<Maximum, MaximizeError> {
    let found = maximize_within(target, polished, within, gp, region);
    // A small box may hold no level of whole numbers but those that were tried: then look everywhere.
    if found.is_err() && within.is_some() {
        return maximize_within(target, polished, None, gp, region);
    }
    found
}

fn maximize_within(
    target: &dyn CandidateUtility,
    polished: usize,
    within: Option<&Within>,
    gp: &GpState,
    region: &Region<'_>,
) -> Result<Maximum, MaximizeError> {
    let kept = values_within(target, gp.kept(), within);
    let fresh = values_within(target, gp.fresh(), within);
    if polished == 0 {
        return best_candidate(&kept, &fresh, gp, region);
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
        // All of these were tried before: take the best of the rest.
        Err(MaximizeError::NothingLeft { .. }) => best_candidate(&kept, &fresh, gp, region)?,
        Err(error) => return Err(error),
    };
    best.work.values += kept.len() + fresh.len();
    Ok(best)
}

/// The utility at candidates; those outside the box have none.
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

/// The best of the kept and of the fresh candidates, as it is.
fn best_candidate(
    kept: &[f64],
    fresh: &[f64],
    gp: &GpState,
    region: &Region<'_>,
) -> Result<Maximum, MaximizeError> {
    let of_kept = best_of(kept, gp.kept().points(), region);
    match (of_kept, best_of(fresh, gp.fresh().points(), region)) {
        (Ok(a), Ok(b)) => {
            let mut work = a.work;
            work += b.work;
            Ok(Maximum { work, ..if b.value > a.value { b } else { a } })
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(error), Err(_)) => Err(error),
    }
}
