//! Values over time, thinned for a plot.

use noregret_client::views::History;
use noregret_store::{TrialRecord, rfc3339};

use super::Chronicle;
use super::chronicle::value_of;

/// Trials in a history at most.
pub const MOST_POINTS: usize = 20_000;
/// Trials in a history at least: a plot of fewer shows nothing.
const FEWEST_POINTS: usize = 20;

impl Chronicle {
    /// Values in the order in which they came, of `points` trials or so.
    pub fn history(&self, points: usize) -> History {
        let points = points.clamp(FEWEST_POINTS, MOST_POINTS);
        let improvements = self.improvements();
        let ended = self.ended();
        let n = ended.len();
        let kept = (n > points).then(|| {
            let changes: Vec<usize> = improvements.iter().map(|(place, ..)| *place).collect();
            thinned(&ended.clone().map(value_of).collect::<Vec<_>>(), &changes, points)
        });
        let mut history = History {
            position: self.position(),
            begun: self.begun().map(rfc3339),
            counts: self.counts(),
            planned: self.definition().and_then(|definition| definition.trials).map(|n| n as u64),
            thinned: kept.is_some(),
            number: Vec::new(),
            place: Vec::new(),
            value: Vec::new(),
            ended: Vec::new(),
            best: improvements
                .iter()
                .map(|(place, record, value)| (*place as u64, self.ended_at(record), *value))
                .collect(),
            running: Vec::new(),
        };
        for (place, record) in ended.enumerate() {
            if kept.as_ref().is_some_and(|kept| !kept[place]) {
                continue;
            }
            history.number.push(record.number);
            history.place.push(place as u64);
            history.value.push(value_of(record));
            history.ended.push(self.ended_at(record));
        }
        history.running = self
            .ledger()
            .running()
            .filter_map(|(number, lease)| {
                let started = self.ledger().record(number)?.started?;
                Some((number, self.seconds(started), lease.worker.clone()))
            })
            .collect();
        history
    }

    fn ended_at(&self, record: &TrialRecord) -> f64 {
        record.ended.map_or(0.0, |time| self.seconds(time))
    }
}

/// Which of the values to keep: the first and the last, those at which the best changed, and of each stretch of the rest its extremes and
/// one failure, so that a plot of what is kept looks like one of everything.
fn thinned(values: &[Option<f64>], changes: &[usize], points: usize) -> Vec<bool> {
    let mut kept = vec![false; values.len()];
    let (Some(last), first) = (values.len().checked_sub(1), 0) else { return kept };
    (kept[first], kept[last]) = (true, true);
    // So many changes that they would leave no place for others are thinned, too: the curve of the best has all of them.
    let step = changes.len().div_ceil((points / 2).max(1)).max(1);
    changes.iter().step_by(step).for_each(|place| kept[*place] = true);
    let left = points.saturating_sub(kept.iter().filter(|kept| **kept).count());
    let buckets = (left / 3).max(1);
    let n = values.len();
    for bucket in 0..buckets {
        let places = bucket * n / buckets..(bucket + 1) * n / buckets;
        let known = || places.clone().filter_map(|place| Some((place, values[place]?)));
        let low = known().min_by(|(_, a), (_, b)| a.total_cmp(b));
        let high = known().max_by(|(_, a), (_, b)| a.total_cmp(b));
        let failure = places.clone().find(|place| values[*place].is_none());
        let places = [low.map(|(place, _)| place), high.map(|(place, _)| place), failure];
        places.into_iter().flatten().for_each(|place| kept[place] = true);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_kept() {
        let mut values: Vec<Option<f64>> = (0..10_000).map(|i| Some(f64::from(i % 97))).collect();
        values[5_003] = Some(-7.0);
        values[7_001] = Some(1e6);
        values[8_888] = None;
        let kept = thinned(&values, &[0, 5_003], 300);
        for place in [0, 5_003, 7_001, 8_888, 9_999] {
            assert!(kept[place], "{place}");
        }
        let n = kept.iter().filter(|kept| **kept).count();
        assert!((150..=300).contains(&n), "{n}");
    }

    #[test]
    fn many_improvements_leave_a_place_for_others() {
        let values: Vec<Option<f64>> = (0..10_000).map(|i| Some(-f64::from(i))).collect();
        let changes: Vec<usize> = (0..10_000).collect();
        let n = thinned(&values, &changes, 300).iter().filter(|kept| **kept).count();
        assert!((150..=310).contains(&n), "{n}");
    }

    #[test]
    fn nothing_and_one_are_no_trouble() {
        assert!(thinned(&[], &[], 20).is_empty());
        assert_eq!(thinned(&[None], &[], 20), [true]);
    }
}
