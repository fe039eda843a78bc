//! A study in a few words: settings, counts, what to use.

use noregret_client::api::{Best, Counts, Study};
use noregret_store::SharedStudy;
use serde_json::json;

/// A study: settings, counts, best value. `is_satisfied`: whether it stops although trials are left.
pub fn study(shared: &mut SharedStudy, is_satisfied: bool) -> Result<Study, serde_json::Error> {
    let space = shared.study().space().clone();
    let best = shared.study().best_observed().map(|trial| trial.number);
    let definition = shared.definition().clone();
    let ledger = shared.ledger();
    let counts = Counts {
        waiting: ledger.waiting().len() as u64,
        running: ledger.running().count() as u64,
        complete: ledger.complete(),
        failed: ledger.failed(),
    };
    let is_spent = definition.trials.is_some_and(|trials| ledger.asked() >= trials as u64);
    let best = best.and_then(|number| ledger.record(number)).map(|record| record.described(&space));
    Ok(Study {
        name: shared.name().to_owned(),
        direction: definition.direction,
        algorithm: serde_json::to_value(&definition.algorithm)?,
        seed: definition.seed,
        trials: definition.trials,
        space: serde_json::value::to_raw_value(&definition.space)?,
        archived: ledger.is_archived(),
        paused: ledger.is_paused(),
        tags: ledger.tags().to_vec(),
        note: ledger.note().to_owned(),
        counts,
        best_observed: best,
        done: (is_spent || is_satisfied) && counts.waiting == 0 && counts.running == 0,
        objective: definition.assignment.as_ref().map(|known| known.objective.clone()),
        position: shared.position(),
    })
}

/// What to use: the best trial observed, and the recommended one.
pub fn best(shared: &mut SharedStudy) -> Result<Best, noregret::Error> {
    let recommended = shared.study().recommended()?;
    let regret = shared.study().remaining_regret()?;
    let space = shared.study().space().clone();
    let number = shared.study().best_observed().map(|trial| trial.number);
    let record = |number: u64| shared.ledger().record(number);
    let recommended_id = recommended.as_ref().and_then(|point| record(point.number)?.id(&space));
    Ok(Best {
        observed: number.and_then(record).map(|record| record.described(&space)),
        recommended: recommended.and_then(|point| serde_json::value::to_raw_value(&point).ok()),
        recommended_id,
        remaining_regret: regret.map(|regret| json!(regret)),
    })
}
