//! Pools as CSV: a header, then one candidate per line.

use std::path::Path;

use csv::{ByteRecord, Position, ReaderBuilder};
use noregret::space::Ids;

use super::error::{CellPosition, PoolFileProblem};
use super::{Table, Wanted};
use crate::shortened;

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;
/// Characters of a cell that an error shows.
const SHOWN: usize = 80;

pub(super) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Table, PoolFileProblem> {
    let mut reader = ReaderBuilder::new().buffer_capacity(BUFFER).from_path(path)?;
    let header: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
    let mut columns = wanted.find(&header)?;
    let mut cells = Vec::new();
    let mut ids = wanted.id.map(|_| Ids::new());
    let mut record = ByteRecord::new();
    let mut is_first = true;
    while reader.read_byte_record(&mut record)? {
        if is_first && columns.features.is_empty() {
            let is_number = |i: &usize| text(&record, *i).is_some_and(|cell| cell.parse::<f32>().is_ok());
            columns.features =
                (0..header.len()).filter(|i| Some(*i) != columns.id).filter(is_number).collect();
            if columns.features.is_empty() {
                return Err(PoolFileProblem::NoFeatures);
            }
        }
        is_first = false;
        for &i in &columns.features {
            match text(&record, i).and_then(|cell| cell.parse::<f32>().ok()).filter(|x| x.is_finite()) {
                Some(x) => cells.push(x),
                None => return Err(no_number(&record, i, &header[i])),
            }
        }
        if let (Some(ids), Some(i)) = (&mut ids, columns.id) {
            match text(&record, i) {
                Some("") => {
                    return Err(PoolFileProblem::Missing {
                        place: place(&record),
                        column: header[i].clone(),
                    });
                }
                Some(id) => ids.push(id),
                None => {
                    return Err(PoolFileProblem::IdNotText {
                        place: place(&record),
                        column: header[i].clone(),
                    });
                }
            }
        }
    }
    let names = columns.features.iter().map(|&i| header[i].clone()).collect();
    Ok(Table { names, cells, ids })
}

/// A cell without the blanks around it, if it is text.
fn text(record: &ByteRecord, i: usize) -> Option<&str> {
    std::str::from_utf8(record.get(i)?).ok().map(str::trim)
}

fn place(record: &ByteRecord) -> CellPosition {
    CellPosition::Line(record.position().map_or(0, Position::line))
}

/// The problem of a cell that is not a number.
fn no_number(record: &ByteRecord, i: usize, column: &str) -> PoolFileProblem {
    let text = String::from_utf8_lossy(record.get(i).unwrap_or_default()).trim().to_owned();
    let (place, column) = (place(record), column.to_owned());
    let is_large = text.parse::<f64>().is_ok_and(f64::is_finite);
    let text = shortened(&text, SHOWN);
    if text.is_empty() {
        PoolFileProblem::Missing { place, column }
    } else if is_large {
        PoolFileProblem::TooLarge { place, column, text }
    } else {
        PoolFileProblem::NotANumber { place, column, text }
    }
}

#[cfg(test)]
mod tests {
    use noregret::Pool;

    use crate::pool_file::PoolFileError;
    use crate::pool_file::tests::parse as parse_file;

    fn parse(text: &str, features: &[&str], id: Option<&str>) -> Result<Pool, PoolFileError> {
        parse_file("pool.csv", text.as_bytes(), features, id)
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
    fn quoted_cells_and_windows_lines_are_understood() {
        let pool =
            parse("\u{feff}\"na,me\",a\r\n\"x \"\"1\"\"\", 0.1\r\ny,2e3\r\n", &[], Some("na,me")).unwrap();
        assert_eq!((pool.id(0).as_ref(), pool.features()), ("x \"1\"", &[0.1, 2e3][..]));
        assert_eq!(pool.params(0).to_string(), "a=0.1");
    }

    /// Ragged lines, NULs, text that is none, a line without end: an error each, and no panic.
    #[test]
    fn damaged_files_are_refused() {
        let long = [b"a,b\n1,".as_slice(), &vec![b'7'; 20_000_000]].concat();
        let quoted = [b"a,b\n1,\"".as_slice(), &vec![b'\n'; 5_000_000]].concat();
        let files: [&[u8]; 9] = [
            b"",
            b"\0",
            b"a,b\n1,2,3\n",
            b"a,b\n1,2\n3\n",
            b"a,b\n1,2\n\0,3\n",
            b"a,b\n\xff,2\n1,\xfe\n",
            b"\xff\xfe,b\n1,2\n",
            &long,
            &quoted,
        ];
        for bytes in files {
            let error = parse_file("pool.csv", bytes, &["a", "b"], None).unwrap_err().to_string();
            assert!(error.len() < 500, "{} bytes of error", error.len());
        }
        let named = parse_file("pool.csv", b"n,a\nx\0y,1\n", &[], Some("n")).unwrap_err().to_string();
        assert!(named.contains("NUL"), "{named}");
    }

    #[test]
    fn errors_say_where() {
        let message = |text: &str, features: &[&str], id| parse(text, features, id).unwrap_err().to_string();
        let cell = message("a,b\n1,2\n3,oops\n", &[], None);
        assert!(cell.contains("line 3, column `b`: \"oops\" is no finite number"), "{cell}");
        assert!(message("a,b\n1,2\n3,inf\n", &[], None).contains("\"inf\" is no finite number"));
        assert!(message("a,b\n1,2\n3,1e39\n", &[], None).contains("line 3, column `b`: 1e39 does not fit"));
        assert!(message("a,b\n1,\n", &["b"], None).contains("line 2, column `b`: the cell is empty"));
        assert!(message("alpha,b\n1,2\n", &["alhpa"], None).contains("nearest: `alpha`"));
        assert!(message("a,b\n1,2\n3\n", &[], None).contains("line: 3"));
        assert!(message("a\n", &[], None).contains("at least one row"));
        assert!(message("a,b\nx,y\n", &[], None).contains("none of its columns holds numbers"));
        assert!(message("n,a\nx,1\nx,2\n", &[], Some("n")).contains("share the id"));
        assert!(message("n,a\nx,1\n ,2\n", &[], Some("n")).contains("line 3, column `n`: the cell is empty"));
    }
}
