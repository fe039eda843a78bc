//! The studies that are held in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use noregret_client::api::Problem;
use noregret_store::Store;

use crate::desk::Desk;
use crate::problem::no_such_study;

/// Studies that are held at once; beyond, those that nobody has used for longest are forgotten, and read again when they are wanted.
const MOST: usize = 256;

/// Opens studies when they are wanted.
pub(crate) struct Desks {
    store: Arc<dyn Store>,
    pools: Vec<PathBuf>,
    known: Mutex<BTreeMap<String, Place>>,
    uses: AtomicU64,
}

#[derive(Clone, Default)]
struct Place {
    /// Locked while the study is being read, so that it is read once.
    desk: Arc<Mutex<Option<Arc<Desk>>>>,
    last_use: u64,
}

impl Desks {
    pub(crate) fn new(store: Arc<dyn Store>, pools: Vec<PathBuf>) -> Self {
        Self { store, pools, known: Mutex::default(), uses: AtomicU64::new(0) }
    }

    /// The desk of a study; an error if there is none of this name.
    pub(crate) fn of(&self, name: &str) -> Result<Arc<Desk>, Problem> {
        let place = {
            let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            let place = known.entry(name.to_owned()).or_default();
            place.last_use = self.uses.fetch_add(1, Ordering::Relaxed);
            Arc::clone(&place.desk)
        };
        let found = {
            let mut place = place.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(desk) = &*place {
                return Ok(Arc::clone(desk));
            }
            let opened = Desk::open(&self.store, name, &self.pools);
            if let Ok(Some(desk)) = opened {
                let desk = Arc::new(desk);
                *place = Some(Arc::clone(&desk));
                self.forget_some();
                return Ok(desk);
            }
            opened.map(drop)
        };
        self.drop_desk(name);
        found.and_then(|()| Err(no_such_study(name)))
    }

    /// Why no more than its log can be said of a study, if it was opened and that is so.
    pub(crate) fn problem_of(&self, name: &str) -> Option<String> {
        let place = {
            let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(&known.get(name)?.desk)
        };
        let desk = place.try_lock().ok()?.clone()?;
        desk.problem()
    }

    /// Forgets a study: it is read again when it is wanted.
    pub(crate) fn drop_desk(&self, name: &str) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
    }

    pub(crate) fn len(&self) -> usize {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn forget_some(&self) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        while known.len() > MOST {
            let oldest = known.iter().min_by_key(|(_, place)| place.last_use).map(|(name, _)| name.clone());
            let Some(oldest) = oldest else { return };
            known.remove(&oldest);
        }
    }
}
