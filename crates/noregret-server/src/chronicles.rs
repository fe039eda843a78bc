//! Logs that somebody looks at: each is followed on its own, so that looking keeps nobody who asks or tells waiting.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use noregret_client::api::Problem;
use noregret_client::views::StudyCard;
use noregret_page::log::Chronicle;
use noregret_store::Store;

use crate::problem::{no_such_study, of_store};

/// Logs that are followed at once; beyond, those that nobody has looked at for longest are forgotten.
const MOST: usize = 64;

/// Follows logs when somebody looks at them.
pub(crate) struct Chronicles {
    store: Arc<dyn Store>,
    known: Mutex<BTreeMap<String, Place>>,
    /// Studies at a glance, as of their positions.
    cards: Mutex<BTreeMap<String, StudyCard>>,
    uses: AtomicU64,
}

#[derive(Default)]
struct Place {
    chronicle: Arc<Mutex<Chronicle>>,
    last_use: u64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic leaves behind is forgotten: see `Chronicles::forget`.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Chronicles {
    pub(crate) fn new(store: Arc<dyn Store>) -> Self {
        Self { store, known: Mutex::default(), cards: Mutex::default(), uses: AtomicU64::new(0) }
    }

    /// Looks at the log of a study, with all that is in it by now.
    pub(crate) fn look<T>(
        &self,
        name: &str,
        look: impl FnOnce(&Chronicle) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let chronicle = {
            let mut known = lock(&self.known);
            let place = known.entry(name.to_owned()).or_default();
            place.last_use = self.uses.fetch_add(1, Ordering::Relaxed);
            let chronicle = Arc::clone(&place.chronicle);
            if known.len() > MOST {
                let oldest =
                    known.iter().min_by_key(|(_, place)| place.last_use).map(|(name, _)| name.clone());
                oldest.and_then(|oldest| known.remove(&oldest));
            }
            chronicle
        };
        let mut chronicle = lock(&chronicle);
        chronicle.catch_up(&*self.store, name).map_err(of_store)?;
        if chronicle.position() == 0 {
            drop(chronicle);
            self.forget(name);
            return Err(no_such_study(name));
        }
        look(&chronicle)
    }

    /// A study at a glance, if its log ends at this position; else it is looked at.
    pub(crate) fn card(
        &self,
        name: &str,
        position: u64,
        problem: impl FnOnce() -> Option<String>,
    ) -> Result<StudyCard, Problem> {
        if let Some(card) = lock(&self.cards).get(name).filter(|card| card.position == position) {
            return Ok(card.clone());
        }
        let card = self.look(name, |chronicle| Ok(chronicle.card(name, problem())))?;
        lock(&self.cards).insert(name.to_owned(), card.clone());
        Ok(card)
    }

    /// Forgets a study: it is read again when somebody looks.
    pub(crate) fn forget(&self, name: &str) {
        lock(&self.known).remove(name);
        lock(&self.cards).remove(name);
    }
}
