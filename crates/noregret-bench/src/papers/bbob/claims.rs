//! What Phan-Trong et al. claim of COCO's suite, and what our records say of it.

use super::findings::BbobRecords;
use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Verdict};

/// Figure 2, by the records of the setting `paper` or, without them, of `ours`.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let (place, claim) =
        ("Figure 2", "on COCO's suite NeuralBO outperforms its rivals in 2, 3, 5 and 10 dimensions");
    for (stem, command) in [
        ("bbob-paper", "noregret bench bbob --setting paper --environments DIR"),
        ("bbob", "noregret bench bbob --environments DIR"),
    ] {
        let records = match shelf.records(stem) {
            Ok(records) => records,
            Err(BenchError::Read { .. }) => continue, // not among the kept ones
            Err(other) => return Err(other),
        };
        let runs = BbobRecords::of(&records);
        let ranks: Vec<(u32, usize, usize)> =
            runs.dimensions.iter().filter_map(|d| runs.rank(*d).map(|(rank, of)| (*d, rank, of))).collect();
        if ranks.is_empty() {
            continue;
        }
        let first = ranks.iter().filter(|(_, rank, _)| *rank == 1).count();
        let each = ranks.iter().map(|(d, rank, of)| format!("{rank} of {of} in {d} dimensions"));
        return Ok(vec![Claim {
            place,
            claim,
            verdict: Verdict::count(first, ranks.len()),
            ours: each.collect::<Vec<_>>().join(", "),
            theirs: "1 of 7 in each".into(),
            command: command.into(),
        }]);
    }
    Ok(vec![Claim::not_run(place, claim, "the records are not kept")])
}
