//! A study among others.

use std::collections::BTreeSet;

use noregret_client::views::StudyCard;
use noregret_store::rfc3339;

use super::Chronicle;

/// Moments of a sparkline.
const SPARK: usize = 40;

impl Chronicle {
    /// The study at a glance. `problem`: why no more can be said of it.
    pub fn card(&self, name: &str, problem: Option<String>) -> StudyCard {
        let workers: BTreeSet<String> =
            self.ledger().running().map(|(_, lease)| lease.worker.clone()).collect();
        let improvements = self.improvements();
        let ended = self.ended().len();
        let changes: Vec<(usize, f64)> =
            improvements.iter().map(|(place, _, value)| (*place, *value)).collect();
        StudyCard {
            name: name.into(),
            problem,
            archived: self.ledger().is_archived(),
            paused: self.ledger().is_paused(),
            tags: self.ledger().tags().to_vec(),
            direction: self.direction(),
            algorithm: self.definition().map_or("", |definition| definition.algorithm.name()).into(),
            counts: self.counts(),
            trials: self.definition().and_then(|definition| definition.trials).map(|n| n as u64),
            done: self.is_done(),
            best: changes.last().map(|(_, value)| *value),
            spark: spark(&changes, ended),
            workers: workers.into_iter().collect(),
            last: self.last().map(rfc3339),
            position: self.position(),
        }
    }
}

/// The best so far at even steps from the first value to the last trial.
fn spark(changes: &[(usize, f64)], ended: usize) -> Vec<f64> {
    let Some((first, _)) = changes.first() else { return Vec::new() };
    let span = ended - 1 - first;
    let steps = SPARK.min(span + 1);
    let mut next = 0;
    (0..steps)
        .map(|step| {
            let place = if steps == 1 { *first } else { first + step * span / (steps - 1) };
            while changes.get(next + 1).is_some_and(|(at, _)| *at <= place) {
                next += 1;
            }
            changes[next].1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparks_go_from_first_to_last() {
        assert!(spark(&[], 0).is_empty());
        assert_eq!(spark(&[(0, 3.0)], 1), [3.0]);
        assert_eq!(spark(&[(1, 3.0), (3, 2.0)], 5), [3.0, 3.0, 2.0, 2.0]);
        let long = spark(&[(0, 9.0), (999, 1.0)], 1_000);
        assert_eq!((long.len(), long[0], long[39], long[38]), (40, 9.0, 1.0, 9.0));
    }
}
