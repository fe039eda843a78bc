//! What may be wrong with a wish to see something.

use noregret_store::StoreError;

/// A view that cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// The space has no such parameter.
    #[error("there is no parameter `{name}`{}", meant(.nearest.as_deref(), .known))]
    UnknownParameter {
        /// What was asked for.
        name: String,
        /// The most similar name.
        nearest: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// Both axes show the same parameter.
    #[error("both axes are `{name}`: choose two different parameters, or leave out `y` for a curve")]
    SameAxes {
        /// The parameter.
        name: String,
    },
    /// A parameter is along an axis and has a fixed value.
    #[error("`{name}` is along an axis: it cannot be fixed at a value as well")]
    FixedAxis {
        /// The parameter.
        name: String,
    },
    /// Too few or too many points along an axis.
    #[error("`resolution` must be from {least} to {most}, not {found}", least = .range.0, most = .range.1)]
    Resolution {
        /// What was asked for.
        found: usize,
        /// What is possible.
        range: (usize, usize),
    },
    /// Another word for what the other parameters are.
    #[error(
        "`others` must be `best` (as at the recommended point) or `average` (over all their values), not `{found}`"
    )]
    Others {
        /// The word.
        found: String,
    },
    /// The model cannot be asked.
    #[error(transparent)]
    Study(#[from] noregret::Error),
    /// The log cannot be read.
    #[error(transparent)]
    Store(StoreError),
}

impl From<StoreError> for ViewError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Study(error) => Self::Study(error),
            other => Self::Store(other),
        }
    }
}

impl From<noregret::SpaceError> for ViewError {
    fn from(error: noregret::SpaceError) -> Self {
        Self::Study(error.into())
    }
}

impl ViewError {
    /// Whether the one who asks can mend it by asking otherwise.
    pub fn is_of_the_request(&self) -> bool {
        match self {
            Self::UnknownParameter { .. }
            | Self::SameAxes { .. }
            | Self::FixedAxis { .. }
            | Self::Resolution { .. }
            | Self::Others { .. } => true,
            Self::Study(error) => matches!(error, noregret::Error::Space(_) | noregret::Error::Study(_)),
            Self::Store(_) => false,
        }
    }
}

/// How many names an error lists.
const LISTED: usize = 20;

fn meant(nearest: Option<&str>, known: &[String]) -> String {
    match nearest {
        Some(nearest) => format!(" (did you mean `{nearest}`?)"),
        None if known.len() > LISTED => format!("; there are {}, from `{}` on", known.len(), known[0]),
        None => format!("; there are {}", known.join(", ")),
    }
}
