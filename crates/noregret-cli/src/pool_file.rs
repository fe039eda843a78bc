//! Candidate sets from files: CSV with a header.

use std::path::{Path, PathBuf};

use noregret::Pool;
use noregret::space::nearest;

/// Why a file is no pool.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PoolFileError {
    /// It cannot be read.
    #[error("pool {}: {problem}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: String,
    },
    /// There is no such column.
    #[error("pool {}: there is no column `{column}` (nearest: `{nearest}`)", path.display())]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// What was asked for.
        column: String,
        /// The most similar name.
        nearest: String,
    },
    /// A cell is no number.
    #[error("pool {}, line {line}, column `{column}`: {text:?} is no finite number", path.display())]
    Cell {
        /// The file.
        path: PathBuf,
        /// Its line.
        line: u64,
        /// Its column.
        column: String,
        /// What stands there.
        text: String,
    },
    /// It is a table, but no pool.
    #[error("pool {}: {problem}", path.display())]
    Pool {
        /// The file.
        path: PathBuf,
        /// Why not.
        problem: Box<noregret::SpaceError>,
    },
}

/// Reads a pool. Without `features`, every column but `id` whose first cell is a number describes a candidate.
pub(crate) fn read(path: &Path, features: &[String], id: Option<&str>) -> Result<Pool, PoolFileError> {
    let fail = |problem: String| PoolFileError::Read { path: path.into(), problem };
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase());
    if !matches!(extension.as_deref(), Some("csv")) {
        return Err(fail("only CSV files with a header are read so far; name it *.csv".into()));
    }
    let mut reader = csv::Reader::from_path(path).map_err(|error| fail(explain(&error)))?;
    let header: Vec<String> = reader
        .headers()
        .map_err(|error| fail(explain(&error)))?
        .iter()
        .map(|name| name.trim().to_owned())
        .collect();
    let column = |name: &str| {
        header.iter().position(|known| known == name).ok_or_else(|| PoolFileError::NoColumn {
            path: path.into(),
            column: name.into(),
            nearest: nearest(name, header.iter().map(String::as_str)),
        })
    };
    let id = id.map(&column).transpose()?;
    let mut columns = features.iter().map(|name| column(name)).collect::<Result<Vec<_>, _>>()?;
    let (mut cells, mut ids) = (Vec::new(), Vec::new());
    let mut record = csv::StringRecord::new();
    let mut is_first = true;
    while reader.read_record(&mut record).map_err(|error| fail(explain(&error)))? {
        if is_first && columns.is_empty() {
            let is_number = |i: &usize| record.get(*i).is_some_and(|cell| cell.trim().parse::<f64>().is_ok());
            columns = (0..header.len()).filter(|i| Some(*i) != id).filter(is_number).collect();
        }
        is_first = false;
        for &i in &columns {
            let text = record.get(i).unwrap_or_default();
            match text.trim().parse::<f64>() {
                Ok(x) if x.is_finite() => cells.push(x),
                _ => {
                    let line = record.position().map_or(0, csv::Position::line);
                    let (column, text) = (header[i].clone(), text.to_owned());
                    return Err(PoolFileError::Cell { path: path.into(), line, column, text });
                }
            }
        }
        ids.extend(id.map(|i| record.get(i).unwrap_or_default().trim().to_owned()));
    }
    let refuse = |problem| PoolFileError::Pool { path: path.into(), problem: Box::new(problem) };
    let names = columns.iter().map(|&i| header[i].clone()).collect();
    let pool = Pool::new(cells, columns.len()).and_then(|pool| pool.with_names(names)).map_err(refuse)?;
    if id.is_some() { pool.with_ids(ids).map_err(refuse) } else { Ok(pool) }
}

fn explain(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => error.to_string(),
    }
}

/// A digest of all features, the same on every machine (FNV-1a over their 32 bits).
pub(crate) fn digest(pool: &Pool) -> u64 {
    pool.features().iter().fold(0xcbf2_9ce4_8422_2325, |hash, x| {
        (hash ^ u64::from(x.to_bits())).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, features: &[&str], id: Option<&str>) -> Result<Pool, PoolFileError> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.csv");
        std::fs::write(&path, text).unwrap();
        read(&path, &features.iter().map(|&f| f.to_owned()).collect::<Vec<_>>(), id)
    }

    #[test]
    fn numeric_columns_are_features_unless_some_are_named() {
        let text = "name,a, b,note\nx,1,2,hot\ny,3,4.5,cold\n";
        let pool = parse(text, &[], Some("name")).unwrap();
        assert_eq!((pool.len(), pool.names()), (2, &["a".to_owned(), "b".to_owned()][..]));
        assert_eq!((pool.id(1).as_ref(), pool.params(1).to_string().as_str()), ("y", "a=3.0, b=4.5"));
        let pool = parse(text, &["b"], None).unwrap();
        assert_eq!((pool.dims(), pool.id(1).as_ref()), (1, "1"));
    }

    #[test]
    fn errors_say_where() {
        let message = |text: &str, features: &[&str], id| parse(text, features, id).unwrap_err().to_string();
        let cell = message("a,b\n1,2\n3,oops\n", &[], None);
        assert!(cell.contains("line 3, column `b`: \"oops\" is no finite number"), "{cell}");
        assert!(message("a,b\n1,\n", &["b"], None).contains("line 2, column `b`: \"\""));
        assert!(message("alpha,b\n1,2\n", &["alhpa"], None).contains("nearest: `alpha`"));
        assert!(message("a,b\n1,2\n3\n", &[], None).contains("record"));
        assert!(message("a\n", &[], None).contains("at least one row"));
        assert!(message("n,a\nx,1\nx,2\n", &[], Some("n")).contains("share the id"));
        let missing = read(Path::new("no.csv"), &[], None).unwrap_err().to_string();
        assert!(missing.contains("No such file"), "{missing}");
        assert!(read(Path::new("no.xlsx"), &[], None).unwrap_err().to_string().contains("only CSV"));
    }

    #[test]
    fn the_digest_sees_every_cell() {
        let of = |cells: &[f64]| digest(&Pool::new(cells.to_vec(), 1).unwrap());
        assert_eq!(of(&[1.0, 2.0]), of(&[1.0, 2.0]));
        assert_ne!(of(&[1.0, 2.0]), of(&[2.0, 1.0]));
        assert_ne!(of(&[1.0, 2.0]), of(&[1.0, 2.5]));
    }
}
