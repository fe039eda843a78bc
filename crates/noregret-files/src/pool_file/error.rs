//! Errors of pool files.

use std::fmt;
use std::io;
use std::path::PathBuf;

use noregret::SpaceError;

/// An invalid pool file.
#[derive(Debug, thiserror::Error)]
#[error("pool {}: {problem}", path.display())]
pub struct PoolFileError {
    /// The file.
    pub(super) path: PathBuf,
    /// The problem.
    pub(super) problem: PoolFileProblem,
}

/// The problem of a pool file, with its position.
#[derive(Debug, thiserror::Error)]
pub(super) enum PoolFileProblem {
    // Files.
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Csv(::csv::Error),
    #[error("{0}")]
    Parquet(#[from] ::parquet::errors::ParquetError),
    #[error(
        "a pool is a CSV file with a header, a Parquet or an npy file: name it *.csv, *.parquet or *.npy"
    )]
    Extension,
    #[error("{rows} rows of {columns} features are more than the memory holds")]
    OutOfMemory { rows: usize, columns: usize },

    // Columns.
    #[error("there is no column `{column}` (nearest: `{nearest}`)")]
    NoColumn { column: String, nearest: String },
    #[error("none of its columns holds numbers")]
    NoFeatures,
    #[error("column `{column}` holds {found}; {expected}")]
    ColumnType { column: String, found: String, expected: &'static str },

    // Cells.
    #[error("{place}, column `{column}`: {text:?} is no finite number")]
    NotANumber { place: CellPosition, column: String, text: String },
    #[error("{place}, column `{column}`: {text} does not fit a 32-bit float, which goes up to 3.4e38")]
    TooLarge { place: CellPosition, column: String, text: String },
    #[error("{place}, column `{column}`: the cell is empty")]
    Missing { place: CellPosition, column: String },
    #[error("{place}, column `{column}`: the id is no UTF-8 text")]
    IdNotText { place: CellPosition, column: String },

    // Parquet and npy only.
    #[error("the file is damaged: {0}")]
    Damaged(String),
    #[error("column `{column}` has {found} rows in a group of {expected}: the file is damaged")]
    RowCount { column: String, found: usize, expected: usize },
    #[error("an npy file has no column of names: leave `id` out, or use CSV or Parquet")]
    NpyId,
    #[error("it is no npy file of version 1, 2 or 3: {0}")]
    NpyHeader(&'static str),
    #[error(
        "its dtype is {0}: save numbers of 1 to 8 bytes, little-endian, such as '<f4', '<f8', '<i4' or '<i8'"
    )]
    NpyType(String),
    #[error("its shape is {0}: save an array of two dimensions, rows and features")]
    NpyShape(String),
    #[error(
        "{rows} rows of {columns} numbers need {expected} bytes, and there are {found}: the file is damaged"
    )]
    NpySize { rows: usize, columns: usize, expected: u128, found: u64 },

    /// The table is valid, but not as a pool.
    #[error("{0}")]
    Pool(Box<SpaceError>),
}

/// The position of a cell: the line in a text file, from 1, else the row, from 0.
#[derive(Clone, Copy, Debug)]
pub(super) enum CellPosition {
    Line(u64),
    Row(usize),
}

impl fmt::Display for CellPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row} (from 0)"),
        }
    }
}

impl From<::csv::Error> for PoolFileProblem {
    fn from(error: ::csv::Error) -> Self {
        if !error.is_io_error() {
            return Self::Csv(error);
        }
        match error.into_kind() {
            ::csv::ErrorKind::Io(error) => Self::Io(error),
            _ => unreachable!("invariant: it is an error of input"),
        }
    }
}

impl From<SpaceError> for PoolFileProblem {
    fn from(error: SpaceError) -> Self {
        Self::Pool(Box::new(error))
    }
}
