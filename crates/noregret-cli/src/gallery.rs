//! Studies of several storages, to be looked at together: nothing can be written.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use noregret_store::{Entry, Store, StoreError};

/// Studies, each with the storage that it is in.
pub(crate) struct Gallery(Vec<(String, Arc<dyn Store>)>);

impl Gallery {
    /// These studies, under their names.
    pub(crate) fn new(studies: Vec<(String, Arc<dyn Store>)>) -> Self {
        Self(studies)
    }

    fn of(&self, study: &str) -> Option<&dyn Store> {
        self.0.iter().find(|(name, _)| name == study).map(|(_, store)| &**store)
    }
}

impl Store for Gallery {
    fn append(&self, study: &str, _: u64, _: &[Entry]) -> Result<u64, StoreError> {
        let problem = "it is only looked at".into();
        Err(StoreError::Refused { place: format!("study `{study}`"), problem })
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        self.of(study).map_or(Ok(Vec::new()), |store| store.read(study, after, limit))
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        self.of(study).map_or(Ok(Vec::new()), |store| store.read_trials(study, numbers))
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let mut studies: Vec<(String, u64)> = self
            .0
            .iter()
            .map(|(name, store)| Ok((name.clone(), store.last(name)?)))
            .collect::<Result<_, StoreError>>()?;
        studies.sort();
        Ok(studies)
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        self.of(study).map_or(Ok(0), |store| store.last(study))
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        self.of(study).map_or(Ok(()), |store| store.wait(study, after, most))
    }
}
