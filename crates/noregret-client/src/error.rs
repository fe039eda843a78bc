//! What can go wrong between a client and its server.

use crate::api::Problem;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// An address that is none.
    #[error("{url:?} is not the address of a server: {problem}")]
    Url {
        /// The address.
        url: String,
        /// What is wrong with it.
        problem: String,
    },
    /// No answer, or none that could be understood.
    #[error("{place} cannot be reached: {problem}")]
    Connection {
        /// The server.
        place: String,
        /// What happened.
        problem: String,
    },
    /// The server says no.
    #[error("{}", .0.detail)]
    Refused(Box<Problem>),
}

impl ClientError {
    /// The problem, if the server has answered.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::Refused(problem) => Some(problem),
            _ => None,
        }
    }

    /// Whether waiting may help.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Url { .. } => false,
            Self::Connection { .. } => true,
            Self::Refused(problem) => is_passing(problem.status),
        }
    }
}

/// Statuses that may be others next time: too many requests, and what a server or a proxy says while it starts or is busy.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 429 | 502 | 503 | 504)
}
