//! The study and its store, behind the lock of a [`Study`](crate::study::Study).

use std::sync::Arc;

use noregret::Space;
use noregret_store::{
    Definition, Entry, Event, SharedStudy, SpaceDefinition, StorageUrl, Store, StoreError, Timestamp,
};

use crate::interruptible::{Attention, Interruptible, Patience};

/// The study and its store.
pub(crate) struct State {
    pub(crate) shared: SharedStudy,
    pub(crate) store: Arc<Interruptible>,
    attention: Attention,
    process: u32,
    space: Space,
    url: StorageUrl,
}

impl State {
    pub(crate) fn open(
        name: String,
        url: StorageUrl,
        definition: &Definition,
        space: Space,
        attention: Attention,
        log: Option<&str>,
    ) -> Result<Self, StoreError> {
        let store = Arc::new(Interruptible::new(url.open()?, attention.clone()));
        if let Some(log) = log {
            let corrupt = |error: serde_json::Error| StoreError::Corrupt {
                study: name.clone(),
                position: 0,
                problem: error.to_string(),
            };
            let pairs: Vec<(Timestamp, Event)> = serde_json::from_str(log).map_err(corrupt)?;
            let entries: Vec<Entry> = pairs.into_iter().map(|(time, event)| Entry { time, event }).collect();
            store.append(&name, 0, &entries)?;
        }
        let mut shared =
            SharedStudy::open(Arc::clone(&store) as Arc<dyn Store>, &name, definition, space.clone())?;
        if let Some(trials) = definition.trials {
            shared.plan(trials, Timestamp::now())?;
        }
        Ok(Self { shared, store, attention, process: std::process::id(), space, url })
    }

    /// What is to be done before anything is done.
    pub(crate) fn begin(&mut self, patience: Patience) -> Result<(), StoreError> {
        if self.process != std::process::id() {
            self.settle()?;
        }
        self.attention.turn_to(patience);
        Ok(())
    }

    /// In a forked child: a connection to a database must not be shared with the parent, nor closed.
    fn settle(&mut self) -> Result<(), StoreError> {
        if self.url != StorageUrl::Memory {
            let store = Arc::new(Interruptible::new(self.url.open()?, self.attention.clone()));
            let (name, definition) = (self.shared.name().to_owned(), self.shared.definition().clone());
            let shared = SharedStudy::resume(
                Arc::clone(&store) as Arc<dyn Store>,
                &name,
                definition,
                self.space.clone(),
            )?;
            std::mem::forget(std::mem::replace(&mut self.shared, shared));
            std::mem::forget(std::mem::replace(&mut self.store, store));
        }
        self.process = std::process::id();
        Ok(())
    }
}

/// How a study in a storage is defined now, as JSON; nothing is written.
pub(crate) fn defined(name: &str, storage: &str) -> Result<String, StoreError> {
    let url: StorageUrl = storage.parse()?;
    let store = url.open_existing()?;
    let first = SharedStudy::first_definition(&*store, name, &url.to_string())?;
    let definition = match &first.space {
        SpaceDefinition::Parameters { parameters, .. } => {
            let space = Space::from_params(parameters.clone(), []).map_err(noregret::Error::from)?;
            SharedStudy::resume(store, name, first, space)?.definition().clone()
        }
        SpaceDefinition::Pool { .. } => first,
    };
    Ok(serde_json::to_string(&definition).unwrap_or_default())
}
