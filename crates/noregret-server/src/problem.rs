//! Errors as answers: the one place where they become statuses.

use noregret_client::api::Problem;
use noregret_store::{StoreError, explained};

/// The request is understood, and wrong.
pub(crate) fn invalid(detail: impl Into<String>) -> Problem {
    Problem::new(422, "invalid", detail)
}

/// Come again later.
pub(crate) fn busy(detail: impl Into<String>) -> Problem {
    Problem::new(503, "busy", detail)
}

pub(crate) fn no_such_study(name: &str) -> Problem {
    Problem::new(404, "no-such-study", format!("there is no study `{name}`"))
}

/// An error of a store or a study.
pub(crate) fn of_store(error: StoreError) -> Problem {
    use noregret::study::StudyError;
    let text = explained(&error);
    match error {
        StoreError::Conflict { found, .. } => {
            Problem { position: Some(found), ..Problem::new(409, "conflict", text) }
        }
        // Who else is here is nobody's business.
        StoreError::NoSuchStudy { study, .. } => no_such_study(&study),
        StoreError::AnotherStudy { .. } => Problem::new(409, "another-study", text),
        StoreError::Study(noregret::Error::Study(StudyError::UnknownTrial { .. })) => {
            Problem::new(404, "no-such-trial", text)
        }
        StoreError::Study(error) if error.is_exhausted() => Problem::new(409, "nothing-left", text),
        StoreError::Study(_) => invalid(text),
        StoreError::Write { .. } | StoreError::Read { .. } => {
            tracing::error!("{text}");
            Problem::new(503, "storage", "the storage cannot be reached for now")
        }
        _ => {
            tracing::error!("{text}");
            Problem::new(500, "storage", "the storage has failed: the server's log says why")
        }
    }
}
