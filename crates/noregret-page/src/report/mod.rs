//! Studies in one file, for others: the page with its data inside, or a text for a pull request.

mod data;
mod markdown;
mod notebook;
mod number;

use std::fmt;
use std::sync::Arc;

use noregret_store::{SharedStudy, Store, StoreError};

use crate::log::Chronicle;

pub use data::data;
pub use markdown::markdown;
pub use notebook::notebook;

/// A study to be reported on.
pub struct Reported<'a> {
    shared: &'a mut SharedStudy,
    chronicle: Chronicle,
    store: Arc<dyn Store>,
}

/// What keeps a report from being made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The log cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The model cannot be asked.
    #[error(transparent)]
    View(#[from] crate::model::ViewError),
    /// It cannot be written down.
    #[error("the report cannot be written down: {0}")]
    Json(#[from] serde_json::Error),
    /// There is nothing to put the data into.
    #[error(
        "this noregret was built without the page, which an HTML report is made of: `npm install && npm run build` in dashboard/, and build \
         noregret again; a report in Markdown needs none"
    )]
    NoPage,
}

impl From<noregret::Error> for ReportError {
    fn from(error: noregret::Error) -> Self {
        Self::View(error.into())
    }
}

impl fmt::Debug for Reported<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reported").field("study", &self.name()).finish_non_exhaustive()
    }
}

impl<'a> Reported<'a> {
    /// A study that is in this store.
    pub fn new(shared: &'a mut SharedStudy, store: Arc<dyn Store>) -> Result<Self, StoreError> {
        let mut chronicle = Chronicle::default();
        chronicle.catch_up(&*store, shared.name())?;
        Ok(Self { shared, chronicle, store })
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.shared.name()
    }
}

/// A report as one HTML file, which needs nothing else and no network. `made` is when, as text.
pub fn html(studies: &mut [Reported<'_>], made: &str) -> Result<String, ReportError> {
    if !crate::bundle::is_built() {
        return Err(ReportError::NoPage);
    }
    crate::bundle::report(&data(studies, made)?).ok_or(ReportError::NoPage)
}
