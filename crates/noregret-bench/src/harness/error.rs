//! Why an experiment could not be run to its end.

use std::io;
use std::path::PathBuf;

use crate::report::{PlotError, ReadError};

/// What went wrong in an experiment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BenchError {
    /// An algorithm given on the command line that is none.
    #[error("variant `{name}` needs an algorithm's table as JSON, such as {{\"name\":\"gp-ei\"}}: {problem}")]
    Variant {
        /// Its name.
        name: String,
        /// What is wrong, in words.
        problem: String,
    },
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
    /// A file could not be read.
    #[error("cannot read {}", path.display())]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file of earlier results is not one.
    #[error("cannot go on from {}", path.display())]
    Records {
        /// Which file.
        path: PathBuf,
        /// Why not.
        source: ReadError,
    },
    /// A data set that the experiment cannot do without is missing.
    #[error("{} is missing; scripts/fetch-data {name} gets it", path.display())]
    NoData {
        /// Which data set.
        name: &'static str,
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A program in Python, without which the experiment cannot be run, could not be started.
    #[error(
        "no Python environment .venv-{environment} at {}; benchmarks/peers/make_environments.sh FOLDER {environment} makes it, \
         --environments FOLDER names it",
        python.as_ref().map_or("hand".into(), |python| python.display().to_string())
    )]
    NoEnvironment {
        /// Its name.
        environment: &'static str,
        /// Where its interpreter was looked for, if a folder was named.
        python: Option<PathBuf>,
        /// Why it could not be started.
        source: Option<io::Error>,
    },
    /// A program in Python failed.
    #[error("{script}: {problem}")]
    Adapter {
        /// Which one.
        script: &'static str,
        /// What it said.
        problem: String,
    },
    /// The library cannot do yet what the experiment needs.
    #[error("{what} is not available yet")]
    NotAvailable {
        /// What it cannot do.
        what: String,
    },
    /// A data set is not what it should be.
    #[error("{}, line {line}: {problem}", path.display())]
    Table {
        /// Which file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
        /// What is wrong there.
        problem: TableProblem,
    },
    /// A figure could not be drawn.
    #[error("cannot draw a figure")]
    Plot(#[from] PlotError),
}

/// What is wrong with a line of a data set.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TableProblem {
    /// The header promises another table.
    #[error("{found} columns, the last called `{last}`, in place of {dims} features and `target`")]
    Header {
        /// Features that the problem has.
        dims: usize,
        /// Columns that the file has.
        found: usize,
        /// Name of the last one.
        last: String,
    },
    /// There is nothing but a header.
    #[error("no rows follow")]
    NoRows,
    /// A row is too short or too long.
    #[error("{found} cells in place of {expected}")]
    Ragged {
        /// Columns of the header.
        expected: usize,
        /// Cells of the row.
        found: usize,
    },
    /// A cell is no number.
    #[error("`{cell}` is not a finite number")]
    NotANumber {
        /// What it is.
        cell: String,
    },
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
