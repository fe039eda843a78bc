//! The effect of telling a result.

/// The effect of telling a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The trial is complete with this value.
    Complete,
    /// The trial has failed.
    Failed,
    /// The trial waits for another attempt. Only a store of shared trials returns this.
    Retried,
    /// The trial had failed before and now has a value.
    AfterFailure,
    /// The trial has the same result already. Nothing changed.
    Same,
    /// The trial has another result already. This one is ignored.
    Late,
}

impl Verdict {
    /// Its name on the command line and in Python.
    pub fn word(self) -> &'static str {
        match self {
            Self::Complete | Self::AfterFailure => "complete",
            Self::Failed | Self::Retried => "failed",
            Self::Same => "same",
            Self::Late => "late",
        }
    }

    /// The one of this name; of those that share it, the usual one.
    pub fn of_word(word: &str) -> Option<Self> {
        [Self::Complete, Self::Failed, Self::Same, Self::Late]
            .into_iter()
            .find(|verdict| verdict.word() == word)
    }
}
