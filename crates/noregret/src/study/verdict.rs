//! What became of something told.

/// What became of something told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the trial's value.
    Complete,
    /// The trial has failed.
    Failed,
    /// The trial waits for another attempt. Only a store of shared trials says so.
    Retried,
    /// The trial had failed before; now it has a value after all.
    AfterFailure,
    /// The trial has this very result already; nothing changed.
    Same,
    /// The trial has another result already; this one is not counted.
    Late,
}

impl Verdict {
    /// The word for it on the command line and in Python.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete | Self::AfterFailure => "complete",
            Self::Failed | Self::Retried => "failed",
            Self::Same => "same",
            Self::Late => "late",
        }
    }
}
