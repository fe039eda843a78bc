//! Faults on demand: a store that fails, stalls or loses its answer at a chosen call, and clocks that jump. Every store must come
//! through them with nothing lost and nothing counted twice.
#![expect(clippy::unwrap_used, reason = "a suite of tests: whatever goes wrong should panic")]

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use noregret_store::{
    Entry, Evaluation, HandOut, SharedStudy, Store, StoreError, Timestamp, TrialStatus, Verdict,
};

use crate::store::open_quick;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The call does nothing, and says so: a full disk, a lost connection.
    Fails,
    /// The call does its work, and its answer is lost: the caller cannot know.
    LosesItsAnswer,
    /// The call takes this long.
    Stalls(Duration),
}

/// A store in which one call goes wrong.
pub struct Faulty {
    store: Arc<dyn Store>,
    fault: Fault,
    at: usize,
    calls: AtomicUsize,
}

impl Faulty {
    /// Call number `at`, counted from 0 on, goes wrong.
    pub fn new(store: Arc<dyn Store>, fault: Fault, at: usize) -> Self {
        Self { store, fault, at, calls: AtomicUsize::new(0) }
    }

    /// How many calls there were.
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn call<T>(&self, call: impl FnOnce() -> Result<T, StoreError>) -> Result<T, StoreError> {
        let is_faulty = self.calls.fetch_add(1, Ordering::SeqCst) == self.at;
        let failure = || {
            let problem = "a fault on demand".to_owned();
            Err(StoreError::Write { place: "faulty".into(), problem })
        };
        match self.fault {
            Fault::Fails if is_faulty => failure(),
            Fault::LosesItsAnswer if is_faulty => {
                call()?;
                failure()
            }
            Fault::Stalls(span) if is_faulty => {
                thread::sleep(span);
                call()
            }
            _ => call(),
        }
    }
}

impl Store for Faulty {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        self.call(|| self.store.append(study, after, entries))
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.call(|| self.store.read(study, after, limit))
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        self.call(|| self.store.read_trials(study, numbers))
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.call(|| self.store.studies())
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        self.call(|| self.store.last(study))
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        self.call(|| self.store.wait(study, after, most))
    }

    fn is_told(&self) -> bool {
        self.store.is_told()
    }
}

/// Trials of a study in these suites.
const TRIALS: u64 = 12;
const LEASE: Duration = Duration::from_mins(1);
/// Rounds after which a study should have ended long ago.
const MANY: usize = 200;

/// Every call of a small study goes wrong once, in every way.
pub fn survives_faults(make: &dyn Fn() -> Arc<dyn Store>) {
    for fault in [Fault::Fails, Fault::LosesItsAnswer, Fault::Stalls(Duration::from_millis(1))] {
        let mut at = 0;
        loop {
            let store = make();
            let faulty = Arc::new(Faulty::new(Arc::clone(&store), fault, at));
            study_of_two(&(Arc::clone(&faulty) as Arc<dyn Store>), &store, &|round| minutes(round, 2));
            if faulty.calls() <= at {
                break;
            }
            at += 1;
        }
        assert!(at > 20, "a study has more calls than {at}");
    }
}

/// Clocks that stand still, run backwards, and jump by hours, in one of two processes.
pub fn survives_clocks(make: &dyn Fn() -> Arc<dyn Store>) {
    let jumps: [&dyn Fn(usize) -> Timestamp; 4] = [
        &|_| minutes(0, 0),
        &|round| minutes(MANY - round, 2),
        &|round| minutes(if round.is_multiple_of(3) { 0 } else { 60 * 24 }, 1),
        &|round| Timestamp(if round.is_multiple_of(2) { i64::MIN / 2 } else { i64::MAX / 2 }),
    ];
    for jump in jumps {
        let store = make();
        study_of_two(&store, &store, jump);
    }
}

fn minutes(round: usize, each: i64) -> Timestamp {
    Timestamp(1_000_000_000 + 60_000 * each * i64::try_from(round).unwrap())
}

/// Two workers go through a study, the first by `bad` and by `clock`, the second without a fault and on time. Whatever an error
/// leaves unsaid is said again. In the end all trials have the value that was told first.
fn study_of_two(bad: &Arc<dyn Store>, good: &Arc<dyn Store>, clock: &dyn Fn(usize) -> Timestamp) {
    let mut told: BTreeMap<u64, f64> = BTreeMap::new();
    let mut study: Option<SharedStudy> = None;
    let mut other = open_quick(good).unwrap();
    let mut untold: Vec<(u64, Evaluation)> = Vec::new();
    for round in 0..MANY {
        let now = clock(round);
        // The first, with its fault.
        let one = match study.take().map_or_else(|| open_quick(bad), Ok) {
            Ok(one) => study.insert(one),
            Err(error) => {
                assert!(error.is_temporary(), "{error}");
                continue;
            }
        };
        match one.hand_out(&order("one"), now) {
            Ok(trials) => {
                untold.extend(trials.iter().map(|t| (t.number, Evaluation::value(t.numbers()[0]))));
            }
            Err(error) => assert!(error.is_temporary(), "{error}"),
        }
        match one.tell(&untold, Some("one"), now) {
            Ok(verdicts) => {
                for ((number, evaluation), verdict) in untold.drain(..).zip(verdicts) {
                    note(&mut told, number, &evaluation, verdict);
                }
            }
            Err(error) => assert!(error.is_temporary(), "{error}"),
        }
        // The second, by a clock that is right.
        let now = minutes(round, 2);
        other.catch_up().unwrap();
        for trial in other.hand_out(&order("other"), now).unwrap() {
            let evaluation = Evaluation::value(trial.numbers()[0]);
            let verdict = other.tell(&[(trial.number, evaluation.clone())], Some("other"), now).unwrap()[0];
            note(&mut told, trial.number, &evaluation, verdict);
        }
        if other.ledger().complete() == TRIALS && untold.is_empty() {
            break;
        }
    }
    let after = open_quick(good).unwrap();
    let records = after.ledger().records();
    assert_eq!((records.len() as u64, after.ledger().complete()), (TRIALS, TRIALS), "{records:#?}");
    for (number, record) in (0..).zip(records) {
        assert_eq!(record.number, number);
        let TrialStatus::Complete { value, .. } = record.status else { panic!("{record:?}") };
        // To the last bit: nothing was computed with them.
        assert!(told.get(&number).is_none_or(|first| first.to_bits() == value.to_bits()), "trial {number}");
        assert_eq!(value.to_bits(), record.choice.x[0].to_bits(), "a value of another trial");
    }
}

/// A first result counts; a second one is late, or the same.
fn note(told: &mut BTreeMap<u64, f64>, number: u64, evaluation: &Evaluation, verdict: Verdict) {
    let Evaluation::Value { value, .. } = evaluation else { panic!("{evaluation:?}") };
    if verdict == Verdict::Complete {
        assert_eq!(told.insert(number, *value), None, "trial {number} was complete before");
    }
}

fn order(worker: &str) -> HandOut {
    HandOut {
        wanted: 1,
        batch: Some(1),
        budget: Some(TRIALS),
        worker: worker.into(),
        lease: Some(LEASE),
        request: None,
    }
}
