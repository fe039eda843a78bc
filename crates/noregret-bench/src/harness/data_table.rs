//! Data sets as `scripts/fetch-data` leaves them: CSV with a header, all cells numbers, the target last.

use std::path::Path;
use std::{fs, io};

use crate::{BenchError, TableProblem};

/// Name of the last column.
const TARGET: &str = "target";

/// A data set.
#[derive(Debug, PartialEq)]
pub(crate) struct DataTable {
    /// Row by row.
    pub(crate) features: Vec<f64>,
    /// One a row.
    pub(crate) target: Vec<f64>,
}

/// The table of `dims` features at `path`; `None` if there is no such file.
pub(crate) fn read(path: &Path, dims: usize) -> Result<Option<DataTable>, BenchError> {
    match fs::read_to_string(path) {
        Ok(text) => parse(&text, dims).map(Some).map_err(|(line, problem)| BenchError::Table {
            path: path.to_owned(),
            line,
            problem,
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(BenchError::Read { path: path.to_owned(), source }),
    }
}

/// The table, or the line that is wrong, counted from 1.
fn parse(text: &str, dims: usize) -> Result<DataTable, (usize, TableProblem)> {
    let mut lines = text.lines().zip(1..);
    let header: Vec<&str> = lines.next().map_or("", |(header, _)| header).split(',').collect();
    let last = header[header.len() - 1];
    if header.len() != dims + 1 || last != TARGET {
        return Err((1, TableProblem::Header { dims, found: header.len(), last: last.into() }));
    }
    let mut table = DataTable { features: Vec::new(), target: Vec::new() };
    for (row, line) in lines {
        let cells: Vec<f64> =
            row.split(',').map(number).collect::<Result<_, _>>().map_err(|problem| (line, problem))?;
        if cells.len() != dims + 1 {
            return Err((line, TableProblem::Ragged { expected: dims + 1, found: cells.len() }));
        }
        table.features.extend(&cells[..dims]);
        table.target.push(cells[dims]);
    }
    if table.target.is_empty() { Err((1, TableProblem::NoRows)) } else { Ok(table) }
}

fn number(cell: &str) -> Result<f64, TableProblem> {
    let number = cell.trim().parse().ok().filter(|x: &f64| x.is_finite());
    number.ok_or_else(|| TableProblem::NotANumber { cell: cell.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read() {
        let table = parse("a,b,target\n1,2.5,3\r\n-1, 0,1e2\n", 2).unwrap();
        assert_eq!(table, DataTable { features: vec![1.0, 2.5, -1.0, 0.0], target: vec![3.0, 100.0] });
    }

    #[test]
    fn mistakes_are_found_where_they_are() {
        let error = |text: &str| parse(text, 2).unwrap_err();
        let header = |found, last: &str| (1, TableProblem::Header { dims: 2, found, last: last.into() });
        assert_eq!(error(""), header(1, ""));
        assert_eq!(error("a,target\n1,2\n"), header(2, "target"));
        assert_eq!(error("a,b,c\n1,2,3\n"), header(3, "c"));
        assert_eq!(error("a,b,target\n"), (1, TableProblem::NoRows));
        let not_a_number = |line, cell: &str| (line, TableProblem::NotANumber { cell: cell.into() });
        assert_eq!(error("a,b,target\n1,2,3\n1,M,3\n"), not_a_number(3, "M"));
        assert_eq!(error("a,b,target\n1,2,inf\n"), not_a_number(2, "inf"));
        assert_eq!(error("a,b,target\n1,2,3\n\n1,2,3\n"), not_a_number(3, ""));
        assert_eq!(error("a,b,target\n1,2\n"), (2, TableProblem::Ragged { expected: 3, found: 2 }));
    }

    #[test]
    fn a_missing_file_is_no_table_and_an_unreadable_one_an_error() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(read(&folder.path().join("none.csv"), 2).unwrap(), None);
        assert!(matches!(read(folder.path(), 2), Err(BenchError::Read { .. })));
        let path = folder.path().join("bad.csv");
        fs::write(&path, "a,b,target\n1,x,2\n").unwrap();
        let error = read(&path, 2).unwrap_err().to_string();
        assert!(error.ends_with("bad.csv, line 2: `x` is not a finite number"), "{error}");
    }
}
