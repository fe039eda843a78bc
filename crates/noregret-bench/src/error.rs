//! Why an experiment could not be run to its end.

use std::io;
use std::path::PathBuf;

use crate::report::PlotError;

/// What went wrong in an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// A name that the experiment does not know: a mistake of whoever called it.
    #[error("unknown {kind} `{name}`; known are: {}", known.join(", "))]
    UnknownName {
        /// Of what: problem, algorithm, setting.
        kind: &'static str,
        /// What was asked for.
        name: String,
        /// What there is.
        known: Vec<&'static str>,
    },
    /// The library refused or failed.
    #[error(transparent)]
    Study(#[from] noregret::Error),
    /// The log could not be written or read.
    #[error(transparent)]
    Store(#[from] noregret_store::StoreError),
    /// A point did not fit its space.
    #[error(transparent)]
    Space(#[from] noregret::SpaceError),
    /// Results could not be written.
    #[error("cannot write the results")]
    Write(#[from] io::Error),
    /// A file of results could not be written.
    #[error("cannot write {}", path.display())]
    File {
        /// Which file or folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A figure could not be drawn.
    #[error("cannot draw a figure")]
    Plot(#[from] PlotError),
}

impl BenchError {
    /// Whether the reader of the results has gone away, as `head` does: no failure of the experiment.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Write(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether the call itself was wrong.
    pub fn is_usage(&self) -> bool {
        matches!(self, Self::UnknownName { .. })
    }
}
