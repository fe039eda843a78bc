//! Why a point was chosen.

use noregret_client::views::Why;
use noregret_store::SharedStudy;

use super::ViewError;

/// Why the point of trial `number` was chosen. An error if there is no such trial.
pub fn why(shared: &mut SharedStudy, number: u64) -> Result<Why, ViewError> {
    shared.study().trial(number)?;
    Ok(Why {
        summary: "Nothing is known of why this point was chosen.".into(),
        kind: "balance".into(),
        algorithm: None,
        mean: None,
        sd: None,
        best_mean: None,
        expected_improvement: None,
        nearest: None,
        eta_hat: None,
        batch: None,
        notes: Vec::new(),
    })
}
