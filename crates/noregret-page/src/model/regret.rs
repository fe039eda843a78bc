//! Whether the study is done: what could still be gained, over time.

use noregret::Study;
use noregret_client::views::Regret;

/// Remaining regret at some moments of the study, the last one now; `None` before three values are told.
pub fn regret(study: &mut Study) -> Result<Option<Regret>, noregret::Error> {
    let found = study.regrets()?;
    if found.is_empty() {
        return Ok(None);
    }
    Ok(Some(Regret {
        place: found.iter().map(|(evaluations, _)| *evaluations as u64).collect(),
        median: found.iter().map(|(_, regret)| regret.median).collect(),
        low: found.iter().map(|(_, regret)| regret.interval.0).collect(),
        high: found.iter().map(|(_, regret)| regret.interval.1).collect(),
    }))
}
