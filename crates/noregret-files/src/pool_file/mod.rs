//! Candidate sets from files. A file is read in one pass; memory is that of the pool and one batch of rows.

mod csv;
mod error;
mod foreign;
mod npy;
mod parquet;

use std::path::Path;

use noregret::Pool;
use noregret::space::{Ids, nearest};

pub use error::PoolFileError;
use error::{CellPosition, PoolFileProblem};

/// Columns that were asked for.
struct Wanted<'a> {
    /// Columns of features; if empty, all numeric columns.
    features: &'a [String],
    /// The column of ids.
    id: Option<&'a str>,
}

/// Columns by their index in the file.
struct Columns {
    features: Vec<usize>,
    id: Option<usize>,
}

/// The contents of a file.
struct Table {
    names: Vec<String>,
    /// Features row by row.
    cells: Vec<f32>,
    ids: Option<Ids>,
}

/// Reads a pool. Without `features`, all numeric columns but `id` are features. A column of a CSV file is numeric if its
/// first cell is.
pub fn read(path: &Path, features: &[String], id: Option<&str>) -> Result<Pool, PoolFileError> {
    let wanted = Wanted { features, id };
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    let table = match extension.as_deref() {
        Some("csv") => csv::read(path, &wanted),
        Some("parquet") => parquet::read(path, &wanted),
        Some("npy") => npy::read(path, &wanted),
        _ => Err(PoolFileProblem::Extension),
    };
    table.and_then(Table::into_pool).map_err(|problem| PoolFileError { path: path.into(), problem })
}

impl Wanted<'_> {
    /// Finds the columns; returns no features if none were named.
    fn find(&self, header: &[String]) -> Result<Columns, PoolFileProblem> {
        let column = |name: &str| {
            header.iter().position(|known| known == name).ok_or_else(|| PoolFileProblem::NoColumn {
                column: name.into(),
                nearest: nearest(name, header.iter().map(String::as_str)),
            })
        };
        let features = self.features.iter().map(|name| column(name)).collect::<Result<_, _>>()?;
        Ok(Columns { features, id: self.id.map(column).transpose()? })
    }
}

impl Table {
    fn into_pool(mut self) -> Result<Pool, PoolFileProblem> {
        self.cells.shrink_to_fit();
        let pool = Pool::from_f32(self.cells, self.names.len())?.with_names(self.names)?;
        Ok(match self.ids {
            Some(ids) => pool.with_ids(ids)?,
            None => pool,
        })
    }
}

/// Allocates all cells; returns an error if a header promises more than fits into memory.
fn zeros(rows: usize, columns: usize) -> Result<Vec<f32>, PoolFileProblem> {
    let mut cells = Vec::new();
    let count = rows.checked_mul(columns).filter(|&count| cells.try_reserve_exact(count).is_ok());
    cells.resize(count.ok_or(PoolFileProblem::OutOfMemory { rows, columns })?, 0.0);
    Ok(cells)
}

/// Converts a number to the 32 bits of a pool.
#[expect(clippy::cast_possible_truncation, reason = "rounds, as wanted here")]
fn narrow(x: f64, row: usize, column: &str) -> Result<f32, PoolFileProblem> {
    let narrow = x as f32;
    if narrow.is_finite() {
        return Ok(narrow);
    }
    let (place, column) = (CellPosition::Row(row), column.to_owned());
    Err(if x.is_finite() {
        PoolFileProblem::TooLarge { place, column, text: format!("{x:e}") }
    } else {
        PoolFileProblem::NotANumber { place, column, text: x.to_string() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a file of this name and content.
    pub(super) fn parse(
        name: &str,
        bytes: &[u8],
        features: &[&str],
        id: Option<&str>,
    ) -> Result<Pool, PoolFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        read(&path, &features.iter().map(|&f| f.to_owned()).collect::<Vec<_>>(), id)
    }

    #[test]
    fn files_are_known_by_their_ending() {
        for name in ["no.csv", "no.CSV", "no.parquet", "no.npy"] {
            let missing = read(Path::new(name), &[], None).unwrap_err().to_string();
            assert!(missing.starts_with(&format!("pool {name}: No such file")), "{missing}");
        }
        for name in ["no.xlsx", "no"] {
            let unknown = read(Path::new(name), &[], None).unwrap_err().to_string();
            assert!(unknown.contains("*.csv, *.parquet or *.npy"), "{unknown}");
        }
    }
}
