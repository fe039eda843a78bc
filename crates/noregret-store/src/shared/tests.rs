//! A log that is not the one that was read.

use std::ops::Range;
use std::sync::{Arc, Mutex};

use noregret::{Algorithm, Direction, Duplicates, Space};

use super::{Evaluation, HandOut, SharedStudy};
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
    };
    SharedStudy::open(Arc::clone(store) as Arc<dyn Store>, "s", &definition, space).unwrap()
}

/// Once this was an endless loop: nothing new to read, so nothing new to decide, and the same conflict again.
#[test]
fn a_log_that_was_replaced_by_an_older_copy_is_an_error() {
    let store = Arc::new(Replaceable::default());
    let mut shared = open(&store);
    let order = HandOut { wanted: 2, batch: Some(2), budget: None, worker: "somebody".into(), lease: None };
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
