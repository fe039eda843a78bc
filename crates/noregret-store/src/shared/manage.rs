//! What people say of a study as a whole, and corrections: paused, archived, tagged, noted, replaced.

use noregret::study::Verdict;

use super::SharedStudy;
use crate::clock::Clock;
use crate::{Event, StoreError, Timestamp};

impl SharedStudy {
    /// Puts the study away, or takes it out again. Nothing else changes: it can be read and continued.
    pub fn archive(&mut self, archived: bool, now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        while self.ledger.is_archived() != archived {
            self.append(clock.time(), vec![Event::Archived { archived }])?;
        }
        Ok(())
    }

    /// Hands out nothing from now on, or goes on. What runs is evaluated and told as always.
    pub fn pause(&mut self, paused: bool, now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        while self.ledger.is_paused() != paused {
            self.append(clock.time(), vec![Event::Paused { paused }])?;
        }
        Ok(())
    }

    /// Notes something about a trial, or about the study, in place of what was noted before.
    pub fn note(&mut self, number: Option<u64>, note: &str, now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        loop {
            let known = match number {
                Some(number) => {
                    self.study.trial(number)?;
                    self.ledger.record(number).map_or("", |record| &record.note)
                }
                None => self.ledger.note(),
            };
            if known == note || self.append(clock.time(), vec![Event::Noted { number, note: note.into() }])? {
                return Ok(());
            }
        }
    }

    /// Groups the study by these words, in place of those that it had.
    pub fn tag(&mut self, tags: &[String], now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        while self.ledger.tags() != tags {
            self.append(clock.time(), vec![Event::Tagged { tags: tags.to_vec() }])?;
        }
        Ok(())
    }

    /// Replaces the result of a trial, which turned out to be wrong. A value that is not finite makes a failure of it. What was
    /// suggested meanwhile stays; everything that is said and suggested from now on is as if it had been told so.
    pub fn replace(
        &mut self,
        number: u64,
        value: f64,
        noise_var: Option<f64>,
        reason: &str,
        now: Timestamp,
    ) -> Result<Verdict, StoreError> {
        let clock = Clock::start(now);
        loop {
            let Some(replaced) = self.study.draft_replace(number, value, noise_var)? else {
                return Ok(Verdict::Same);
            };
            let verdict = if value.is_finite() { Verdict::Complete } else { Verdict::Failed };
            if self.append(clock.time(), vec![Event::Replaced { replaced, reason: reason.into() }])? {
                return Ok(verdict);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use noregret::Error;
    use noregret::study::StudyError;

    use super::*;
    use crate::shared::tests::opened;
    use crate::{Evaluation, HandOut, MemoryStore, TrialStatus};

    fn shared() -> SharedStudy {
        opened(Arc::new(MemoryStore::default()))
    }

    fn tell(shared: &mut SharedStudy, number: u64, value: f64) -> Verdict {
        shared.tell(&[(number, Evaluation::value(value))], None, NOW).unwrap()[0]
    }

    const NOW: Timestamp = Timestamp(1_000);

    fn order(wanted: usize) -> HandOut {
        HandOut { wanted, batch: Some(1), budget: None, worker: "me".into(), lease: None, request: None }
    }

    #[test]
    fn a_paused_study_hands_out_nothing_and_takes_results() {
        let mut shared = shared();
        let running = shared.hand_out(&order(1), NOW).unwrap();
        shared.pause(true, NOW).unwrap();
        shared.pause(true, NOW).unwrap();
        let before = shared.position();
        assert!(shared.hand_out(&order(2), NOW).unwrap().is_empty());
        assert_eq!(shared.position(), before, "nothing is written for nothing");
        assert_eq!(tell(&mut shared, running[0].number, 0.5), Verdict::Complete);
        let mut other = shared.twin().unwrap();
        other.catch_up().unwrap();
        assert!(other.ledger().is_paused());
        shared.pause(false, NOW).unwrap();
        assert_eq!(shared.hand_out(&order(2), NOW).unwrap().len(), 2);
    }

    #[test]
    fn what_was_thought_of_before_a_pause_waits_until_its_end() {
        let mut shared = shared();
        let crate::Next::Think(task) = shared.next(&order(2), NOW).unwrap() else { panic!("it must think") };
        let draft = shared.think(task).unwrap();
        shared.pause(true, NOW).unwrap();
        assert_eq!(shared.take(&order(2), Some(&draft), NOW).unwrap().unwrap().len(), 0);
        assert_eq!(shared.ledger().waiting().len(), 2);
        shared.pause(false, NOW).unwrap();
        assert_eq!(shared.take(&order(2), None, NOW).unwrap().unwrap().len(), 2);
    }

    #[test]
    fn a_replaced_result_is_the_one_that_counts() {
        let mut shared = shared();
        let number = shared.hand_out(&order(1), NOW).unwrap()[0].number;
        let nothing_yet = shared.replace(number, 1.0, None, "", NOW).unwrap_err();
        assert!(matches!(nothing_yet, StoreError::Study(Error::Study(StudyError::NothingToReplace { .. }))));
        tell(&mut shared, number, 1e9);
        assert_eq!(shared.replace(number, 0.5, Some(0.1), "a typo", NOW).unwrap(), Verdict::Complete);
        assert_eq!(shared.replace(number, 0.5, Some(0.1), "a typo", NOW).unwrap(), Verdict::Same);
        let mut twin = shared.twin().unwrap();
        twin.catch_up().unwrap();
        let complete = TrialStatus::Complete { value: 0.5, noise_var: Some(0.1) };
        assert_eq!(twin.ledger().record(number).unwrap().status, complete);
        assert_eq!(twin.study().best_observed().unwrap().value(), Some(0.5));
        assert_eq!(shared.replace(number, f64::NAN, None, "", NOW).unwrap(), Verdict::Failed);
        assert_eq!((shared.ledger().complete(), shared.ledger().failed()), (0, 1));
        // The wrong value once more, by a worker that repeats itself: kept, and not counted.
        assert_eq!(shared.replace(number, 0.5, None, "", NOW).unwrap(), Verdict::Complete);
        assert_eq!(tell(&mut shared, number, 1e9), Verdict::Late);
    }

    #[test]
    fn notes_and_tags_take_the_place_of_earlier_ones() {
        let mut shared = shared();
        let number = shared.hand_out(&order(1), NOW).unwrap()[0].number;
        for note in ["odd", "odd", "fine after all"] {
            shared.note(Some(number), note, NOW).unwrap();
        }
        shared.note(None, "the second plate", NOW).unwrap();
        shared.tag(&["plate".into(), "2".into()], NOW).unwrap();
        shared.tag(&["plate".into()], NOW).unwrap();
        assert!(shared.note(Some(99), "?", NOW).is_err());
        let mut twin = shared.twin().unwrap();
        twin.catch_up().unwrap();
        assert_eq!(twin.ledger().record(number).unwrap().note, "fine after all");
        assert_eq!(
            (twin.ledger().note(), twin.ledger().tags()),
            ("the second plate", &["plate".to_owned()][..])
        );
    }
}
