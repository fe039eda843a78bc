//! What can go wrong with a log.

/// What went wrong, and what would help.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the variants and their fields mean")]
pub enum StoreError {
    #[error("study `{study}` has gone on to entry {found} while this was written after entry {expected}")]
    Conflict { study: String, expected: u64, found: u64 },
    #[error(
        "the log of study `{study}` has {found} entries where this process knows {known}: the storage was replaced, or an older \
             copy of it restored; nothing was written, and running the command again goes on with what is there"
    )]
    Replaced { study: String, known: u64, found: u64 },
    #[error("there is no study `{study}` in {place}{}", listed(.known))]
    NoSuchStudy { study: String, place: String, known: Vec<String> },
    #[error(
        "study `{study}` is another search than the one in the storage: {difference}; give it another name or \
             another storage (`noregret export --study {study} --storage URL` and `noregret tell --from` carry results over)"
    )]
    AnotherStudy { study: String, difference: String },
    #[error("entry {position} of study `{study}` cannot be read: {problem}")]
    Corrupt { study: String, position: u64, problem: String },
    #[error("{url:?} is not a storage: {problem}")]
    Url { url: String, problem: String },
    #[error("{place} was written by a newer noregret (schema {found}, this one knows {known}): use that one")]
    Newer { place: String, found: i64, known: i64 },
    #[error("{place} is not a database of noregret")]
    Foreign { place: String },
    #[error("{place} cannot be opened: {problem}")]
    Open { place: String, problem: String },
    #[error("{place} cannot be written: {problem}")]
    Write { place: String, problem: String },
    #[error("{place} cannot be read: {problem}")]
    Read { place: String, problem: String },
    #[error("{place} refuses: {problem}")]
    Refused { place: String, problem: String },
    #[error(
        "{place} is no longer the database that was opened: {problem}; what was written to it may be gone"
    )]
    Lost { place: String, problem: String },
    #[error("interrupted; nothing was recorded")]
    Interrupted,
    #[error(transparent)]
    Study(#[from] noregret::Error),
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "; it is empty".into() } else { format!("; it has {}", names.join(", ")) }
}

impl StoreError {
    /// Whether somebody else was faster: catch up and try again.
    pub fn is_conflict(&self) -> bool {
        matches!(self, Self::Conflict { .. })
    }

    /// Whether waiting may help: a full disk, a lost mount, a lock held for long.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Write { .. } | Self::Read { .. })
    }

    /// Whether there is simply nothing left to suggest.
    pub fn is_exhausted(&self) -> bool {
        matches!(self, Self::Study(error) if error.is_exhausted())
    }
}

/// An error with its causes, each said once.
pub fn explained(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}
