//! Several who work on one log, and a log that is not the one that was read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use noregret::{Algorithm, Direction, Duplicates, Space};

use super::{Draft, Evaluation, HandOut, Next, SharedStudy};
use crate::{Definition, Entry, MemoryStore, SpaceDefinition, Store, StoreError, Timestamp};

const NOW: Timestamp = Timestamp(0);

/// A store whose file may be replaced under the feet of those who have it open.
#[derive(Default)]
struct Replaceable(Mutex<Arc<MemoryStore>>);

impl Replaceable {
    fn now(&self) -> Arc<MemoryStore> {
        Arc::clone(&self.0.lock().unwrap())
    }

    /// Puts back a copy of the first `entries`.
    fn restore(&self, entries: usize) {
        let copy = MemoryStore::default();
        copy.append("s", 0, &self.now().read("s", 0, entries).unwrap()).unwrap();
        *self.0.lock().unwrap() = Arc::new(copy);
    }
}

impl Store for Replaceable {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        self.now().append(study, after, entries)
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.now().read(study, after, limit)
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        self.now().read_trials(study, numbers)
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.now().studies()
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        self.now().last(study)
    }
}

fn open(store: &Arc<Replaceable>) -> SharedStudy {
    opened(Arc::clone(store) as Arc<dyn Store>)
}

/// A study of one number by random search.
pub(super) fn opened(store: Arc<dyn Store>) -> SharedStudy {
    let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
    let parameters = space.params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
    let definition = Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 0,
        algorithm: Algorithm::by_name("random").unwrap(),
        duplicates: Duplicates::Avoid,
        trials: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into_iter().collect() },
        assignment: None,
    };
    SharedStudy::open(store, "s", &definition, space).unwrap()
}

/// Once this was an endless loop: nothing new to read, so nothing new to decide, and the same conflict again.
#[test]
fn a_log_that_was_replaced_by_an_older_copy_is_an_error() {
    let store = Arc::new(Replaceable::default());
    let mut shared = open(&store);
    let order = HandOut {
        wanted: 2,
        batch: Some(2),
        budget: None,
        worker: "somebody".into(),
        lease: None,
        request: None,
    };
    let trials = shared.hand_out(&order, NOW).unwrap();
    let (known, told) = (shared.position(), [(trials[0].number, Evaluation::value(0.5))]);
    store.restore(2);
    let is_named = |error: StoreError| {
        let text = error.to_string();
        assert!(text.contains("has 2 entries where this process knows 4"), "{text}");
        assert!(matches!(error, StoreError::Replaced { found: 2, known: k, .. } if k == known));
    };
    is_named(shared.tell(&told, None, NOW).unwrap_err());
    is_named(shared.hand_out(&order, NOW).unwrap_err());
    is_named(shared.plan(9, NOW).unwrap_err());
    // Who opens the study again goes on with what is there.
    let mut again = open(&store);
    assert_eq!(again.tell(&told, None, NOW).unwrap().len(), 1);
}

fn order(wanted: usize, worker: &str) -> HandOut {
    let lease = Some(std::time::Duration::from_mins(2));
    HandOut { wanted, batch: Some(1), budget: None, worker: worker.into(), lease, request: None }
}

/// Thinks as far as the log allows.
fn think(shared: &mut SharedStudy, order: &HandOut) -> Draft {
    match shared.next(order, NOW).unwrap() {
        Next::Think(task) => shared.think(task).unwrap(),
        other => panic!("{other:?}"),
    }
}

/// Once any commit of somebody else made a process think again.
#[test]
fn results_that_arrive_while_one_thinks_do_not_void_the_thought() {
    let store = Arc::new(Replaceable::default());
    let (mut one, mut other) = (open(&store), open(&store));
    let running = other.hand_out(&order(2, "other"), NOW).unwrap();
    one.catch_up().unwrap();
    let draft = think(&mut one, &order(1, "one"));
    other.tell(&[(running[0].number, Evaluation::value(0.5))], None, NOW).unwrap();
    other.renew("other", std::time::Duration::from_mins(2), NOW).unwrap();
    let own = noregret::Params::from_iter([("x0", 0.123)]);
    other.enqueue(&[own], NOW).unwrap();
    let trials = one.take(&order(2, "one"), Some(&draft), NOW).unwrap().expect("it stands");
    // The point that waits, and the one that was thought of, under the next number.
    assert_eq!(trials.iter().map(|trial| trial.number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(one.study().trials()[3].params, trials[1].params);
}

#[test]
fn points_of_somebody_else_void_a_thought_and_so_does_the_same_point() {
    let store = Arc::new(Replaceable::default());
    let (mut one, mut other) = (open(&store), open(&store));
    let draft = think(&mut one, &order(1, "one"));
    other.hand_out(&order(1, "other"), NOW).unwrap();
    assert_eq!(one.take(&order(1, "one"), Some(&draft), NOW).unwrap(), None);
    let draft = think(&mut one, &order(1, "one"));
    let same = draft.proposed.asked.choices[0].params(one.study().space());
    other.enqueue(&[same], NOW).unwrap();
    assert_eq!(one.take(&order(1, "one"), Some(&draft), NOW).unwrap(), None);
}

/// The second in the queue thinks for all who wait.
#[test]
fn who_would_think_at_the_same_time_take_turns() {
    let store = Arc::new(Replaceable::default());
    let mut all: Vec<SharedStudy> = (0..4).map(|_| open(&store)).collect();
    let names = ["0", "1", "2", "3"];
    let drafts: Vec<Draft> = (0..2).map(|i| think(&mut all[i], &order(2, names[i]))).collect();
    assert!(all[0].take(&order(2, "0"), Some(&drafts[0]), NOW).unwrap().is_some());
    assert!(all[1].take(&order(2, "1"), Some(&drafts[1]), NOW).unwrap().is_none(), "it was too late");
    // Once bitten: it claims to think, and the others wait for it.
    let claimed = think(&mut all[1], &order(2, "1"));
    for i in [2, 3, 0] {
        all[i].catch_up().unwrap();
        assert_eq!(all[i].next(&order(2, names[i]), NOW).unwrap(), Next::Wait);
        assert_eq!(all[i].next(&order(2, names[i]), NOW).unwrap(), Next::Wait, "and keeps its place");
    }
    assert_eq!(all[1].take(&order(2, "1"), Some(&claimed), NOW).unwrap().unwrap().len(), 2);
    // The first of those who wait thinks for all three.
    for i in [3, 2] {
        all[i].catch_up().unwrap();
        let next = all[i].next(&order(2, names[i]), NOW).unwrap();
        assert_eq!(matches!(next, Next::Think(_)), i == 2, "{next:?}");
    }
    let draft = think(&mut all[2], &order(2, "2"));
    assert_eq!(draft.proposed.asked.choices.len(), 6);
    assert_eq!(all[2].take(&order(2, "2"), Some(&draft), NOW).unwrap().unwrap().len(), 2);
    for i in [3, 0] {
        all[i].catch_up().unwrap();
        assert_eq!(all[i].next(&order(2, names[i]), NOW).unwrap(), Next::Take);
        assert_eq!(all[i].take(&order(2, names[i]), None, NOW).unwrap().unwrap().len(), 2);
    }
    assert!(all[0].ledger.claims().is_empty());
}

/// A claim ends by its deadline, whoever made it; nobody waits for ever.
#[test]
fn a_claim_ends() {
    let store = Arc::new(Replaceable::default());
    let (mut one, mut other) = (open(&store), open(&store));
    one.has_raced = true;
    let draft = think(&mut one, &order(1, "one"));
    other.catch_up_at(NOW).unwrap();
    assert_eq!(other.next(&order(1, "other"), NOW).unwrap(), Next::Wait);
    let later = NOW.after(std::time::Duration::from_secs(31));
    assert!(matches!(other.next(&order(1, "other"), later).unwrap(), Next::Think(_)));
    // Both think now; who is first wins, and the other hears of it.
    assert_eq!(one.take(&order(1, "one"), Some(&draft), later).unwrap().unwrap().len(), 1);
    one.withdraw(later).unwrap();
    assert!(one.ledger.claims().iter().all(|claim| claim.worker != one.claimant));
}

/// Once clocks that were ten minutes apart made two processes take each other's trials, over and over.
#[test]
#[cfg(target_os = "linux")]
fn a_process_that_lives_keeps_its_trials_whatever_the_clocks_say() {
    let store = Arc::new(Replaceable::default());
    let (mut one, mut other) = (open(&store), open(&store));
    let number = one.hand_out(&order(1, &crate::this_worker()), NOW).unwrap()[0].number;
    let in_ten_minutes = NOW.after(std::time::Duration::from_mins(10));
    other.catch_up_at(NOW).unwrap();
    assert_ne!(other.hand_out(&order(1, "other@elsewhere"), in_ten_minutes).unwrap()[0].number, number);
    // One elsewhere, of whose life nothing is known, loses its trial by the clock.
    let mut third = open(&store);
    let late = in_ten_minutes.after(std::time::Duration::from_mins(3));
    assert_eq!(third.hand_out(&order(1, "third@elsewhere"), late).unwrap()[0].number, 1);
}
