//! A store that writes nothing more once its user has lost patience.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use noregret_store::{Entry, Store, StoreError};

/// Whether what goes on now is still wanted.
#[derive(Clone, Default)]
pub(crate) struct Patience(Arc<AtomicBool>);

impl Patience {
    pub(crate) fn lose(&self) {
        self.0.store(true, Ordering::SeqCst);
    }

    fn is_lost(&self) -> bool {
        self.0.load(Ordering::SeqCst)
    }
}

/// A store whose writes need patience. A suggestion that was interrupted is thought to its end and then dropped here, so
/// that no trial is registered which nobody has heard of.
pub(crate) struct Interruptible {
    store: Arc<dyn Store>,
    patience: Mutex<Patience>,
}

impl Interruptible {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, patience: Mutex::default() }
    }

    /// From now on, writes are those of whoever has this patience.
    pub(crate) fn begin(&self, patience: Patience) {
        *self.patience.lock().unwrap_or_else(PoisonError::into_inner) = patience;
    }
}

impl Store for Interruptible {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        if self.patience.lock().unwrap_or_else(PoisonError::into_inner).is_lost() {
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
}
