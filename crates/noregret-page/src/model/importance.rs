//! What matters: shares of the objective's variation over the space.

use noregret::Study;
use noregret::study::Estimate;
use noregret_client::views::{Importance, ImportanceOf, Share};

/// Importance of the parameters; `None` before three values are told, if the model is flat, or with more than 128 parameters.
pub fn importance(study: &mut Study) -> Result<Option<Importance>, noregret::Error> {
    let Some(found) = study.importance()? else { return Ok(None) };
    let parameters = found.parameters.into_iter().map(|parameter| ImportanceOf {
        name: parameter.name,
        first: share(parameter.first),
        total: share(parameter.total),
    });
    Ok(Some(Importance {
        evaluations: found.evaluations as u64,
        parameters: parameters.collect(),
        interactions: found.interactions.median,
    }))
}

fn share(Estimate { median, interval: (low, high) }: Estimate) -> Share {
    Share { share: median, low, high }
}
