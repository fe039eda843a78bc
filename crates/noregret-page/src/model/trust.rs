//! Whether the model can be trusted, and how the study is.

use noregret::Study;
use noregret::strategy::diagnostics::Diagnostics;
use noregret_client::views::Trust;
use noregret_store::Ledger;

/// The state of the study in sentences, its model, and how well the model predicts. `diagnostics` are those of the last proposal.
pub fn trust(
    _study: &mut Study,
    _ledger: &Ledger,
    _diagnostics: Option<&Diagnostics>,
) -> Result<Trust, noregret::Error> {
    Ok(Trust { health: Vec::new(), model: None, left_out: None })
}
