//! A store that writes nothing more once its user has lost patience.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use noregret_store::{Entry, Store, StoreError};

/// Whether what one call computes is still wanted.
#[derive(Clone, Default)]
pub(crate) struct Patience(Arc<AtomicBool>);

impl Patience {
    pub(crate) fn lose(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The patience of whoever is served now: one at a time, since a study computes one thing at a time.
#[derive(Clone, Default)]
pub(crate) struct Attention(Arc<Mutex<Patience>>);

impl Attention {
    /// From now on, what happens is for whoever has this patience.
    pub(crate) fn turn_to(&self, patience: Patience) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = patience;
    }

    /// Whether nobody waits for the result any more.
    pub(crate) fn is_lost(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).0.load(Ordering::SeqCst)
    }
}

/// A store that writes only while somebody waits for it. A suggestion that was interrupted is thought to its end and then dropped
/// here, so that no trial is registered which nobody has heard of.
pub(crate) struct Interruptible {
    store: Arc<dyn Store>,
    attention: Attention,
}

impl Interruptible {
    pub(crate) fn new(store: Arc<dyn Store>, attention: Attention) -> Self {
        Self { store, attention }
    }
}

impl Store for Interruptible {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        if self.attention.is_lost() {
            return Err(StoreError::Interrupted);
        }
        self.store.append(study, after, entries)
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.store.read(study, after, limit)
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        self.store.read_trials(study, numbers)
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        self.store.studies()
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        self.store.last(study)
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        self.store.wait(study, after, most)
    }

    fn is_told(&self) -> bool {
        self.store.is_told()
    }
}
