//! Pools as NumPy's npy: one array of numbers. Its columns are called `x0`, `x1`, ...
//!
//! The format is NumPy's NEP 1: the magic text, a version, the length of the header (2 bytes in version 1, 4 in 2 and 3),
//! a Python dictionary with `descr`, `fortran_order` and `shape`, and the cells.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use noregret::SpaceError;

use super::error::PoolFileProblem;
use super::{Table, Wanted, narrow, zeros};

/// Bytes read at a time.
const BUFFER: usize = 1 << 16;
/// A header has about a hundred bytes. A longer one belongs to a structured array, or is invalid.
const LONGEST_HEADER: u32 = 1 << 16;

pub(super) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Table, PoolFileProblem> {
    if wanted.id.is_some() {
        return Err(PoolFileProblem::NpyId);
    }
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let header = Header::read(&mut reader)?;
    let Header { dtype, rows, columns, .. } = header;
    let found = bytes.saturating_sub(header.bytes);
    let expected = rows as u128 * columns as u128 * dtype.size as u128;
    if expected != u128::from(found) {
        return Err(PoolFileProblem::NpySize { rows, columns, expected, found });
    }
    if expected == 0 {
        return Err(SpaceError::EmptyPool { rows, dims: columns }.into());
    }
    let all: Vec<String> = (0..columns).map(|i| format!("x{i}")).collect();
    let mut features = wanted.find(&all)?.features;
    if features.is_empty() {
        features = (0..columns).collect();
    }
    let names = features.iter().map(|&column| all[column].clone()).collect();
    let mut cells = zeros(rows, features.len())?;
    let mut place = vec![None; columns];
    features.iter().enumerate().for_each(|(j, &column)| place[column] = Some(j));
    // In the order of the file: row by row in C, column by column in Fortran.
    let (outer, inner) = if header.is_fortran { (columns, rows) } else { (rows, columns) };
    for i in 0..outer {
        for j in 0..inner {
            let (row, column) = if header.is_fortran { (j, i) } else { (i, j) };
            let x = dtype.next(&mut reader)?;
            if let Some(j) = place[column] {
                cells[row * features.len() + j] = narrow(x, row, &all[column])?;
            }
        }
    }
    Ok(Table { names, cells, ids: None })
}

struct Header {
    dtype: Dtype,
    is_fortran: bool,
    rows: usize,
    columns: usize,
    /// The offset of the cells.
    bytes: u64,
}

impl Header {
    fn read(reader: &mut impl Read) -> Result<Self, PoolFileProblem> {
        let mut start = [0; 8];
        reader.read_exact(&mut start).map_err(|_| PoolFileProblem::NpyHeader("it is too short"))?;
        let [magic @ .., major, _minor] = start;
        if &magic != b"\x93NUMPY" {
            return Err(PoolFileProblem::NpyHeader("it does not begin like one"));
        }
        let too_short = |_| PoolFileProblem::NpyHeader("its header is cut off");
        let (length, length_bytes) = match major {
            1 => {
                let mut length = [0; 2];
                reader.read_exact(&mut length).map_err(too_short)?;
                (u32::from(u16::from_le_bytes(length)), 2)
            }
            2 | 3 => {
                let mut length = [0; 4];
                reader.read_exact(&mut length).map_err(too_short)?;
                (u32::from_le_bytes(length), 4)
            }
            _ => return Err(PoolFileProblem::NpyHeader("its version is another one")),
        };
        if length > LONGEST_HEADER {
            return Err(PoolFileProblem::NpyHeader("its header is too long"));
        }
        let mut text = Vec::new();
        reader.take(length.into()).read_to_end(&mut text)?;
        if text.len() as u64 != u64::from(length) {
            return Err(PoolFileProblem::NpyHeader("its header is cut off"));
        }
        let text =
            std::str::from_utf8(&text).map_err(|_| PoolFileProblem::NpyHeader("its header is no text"))?;
        Self::parse(text, start.len() as u64 + length_bytes + u64::from(length))
    }

    /// From a dictionary such as `{'descr': '<f8', 'fortran_order': False, 'shape': (1000, 16), }`.
    fn parse(text: &str, bytes: u64) -> Result<Self, PoolFileProblem> {
        let value = |key: &str| Some(text.split_once(&format!("'{key}':"))?.1.trim_start());
        let descr = value("descr").ok_or(PoolFileProblem::NpyHeader("its header has no descr"))?;
        let dtype = Dtype::parse(descr)?;
        let order =
            value("fortran_order").ok_or(PoolFileProblem::NpyHeader("its header has no fortran_order"))?;
        let shape = value("shape")
            .and_then(|shape| shape.strip_prefix('(')?.split_once(')'))
            .ok_or(PoolFileProblem::NpyHeader("its header has no shape"))?
            .0;
        let lengths: Vec<&str> = shape.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        let wrong = || PoolFileProblem::NpyShape(format!("({shape})"));
        let [rows, columns] = lengths[..] else { return Err(wrong()) };
        let length = |text: &str| text.parse::<usize>().map_err(|_| wrong());
        let (rows, columns) = (length(rows)?, length(columns)?);
        Ok(Self { dtype, is_fortran: order.starts_with("True"), rows, columns, bytes })
    }
}

/// The type of a cell.
#[derive(Clone, Copy)]
struct Dtype {
    kind: NumberKind,
    /// Bytes of a cell.
    size: usize,
}

#[derive(Clone, Copy)]
enum NumberKind {
    Float,
    Signed,
    /// Also booleans, which are 0 and 1.
    Unsigned,
}

impl Dtype {
    fn parse(descr: &str) -> Result<Self, PoolFileProblem> {
        let quoted = descr.strip_prefix('\'').and_then(|rest| rest.split_once('\''));
        let Some((descr, _)) = quoted else {
            return Err(PoolFileProblem::NpyType("a structured one".into())); // a list of fields
        };
        let (kind, size) = match descr {
            "<f4" => (NumberKind::Float, 4),
            "<f8" => (NumberKind::Float, 8),
            "|i1" => (NumberKind::Signed, 1),
            "<i2" => (NumberKind::Signed, 2),
            "<i4" => (NumberKind::Signed, 4),
            "<i8" => (NumberKind::Signed, 8),
            "|b1" | "|u1" => (NumberKind::Unsigned, 1),
            "<u2" => (NumberKind::Unsigned, 2),
            "<u4" => (NumberKind::Unsigned, 4),
            "<u8" => (NumberKind::Unsigned, 8),
            other => return Err(PoolFileProblem::NpyType(format!("'{other}'"))),
        };
        Ok(Self { kind, size })
    }

    /// Reads the next cell.
    fn next(self, reader: &mut impl Read) -> Result<f64, PoolFileProblem> {
        let mut bytes = [0; 8];
        reader.read_exact(&mut bytes[..self.size])?;
        let bits = u64::from_le_bytes(bytes);
        Ok(match self.kind {
            NumberKind::Float if self.size == 4 => {
                let [a, b, c, d, ..] = bytes;
                f32::from_le_bytes([a, b, c, d]).into()
            }
            NumberKind::Float => f64::from_bits(bits),
            NumberKind::Unsigned => bits as f64,
            NumberKind::Signed => {
                let unused = 64 - 8 * self.size; // shifted out and in again, with the sign
                ((bits << unused).cast_signed() >> unused) as f64
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::pool_file::tests::parse;

    /// A file as NumPy writes it.
    fn npy(version: u8, descr: &str, fortran: &str, shape: &str, cells: &[u8]) -> Vec<u8> {
        let mut header = format!("{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}");
        let prefix = if version == 1 { 10 } else { 12 };
        while (prefix + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let mut bytes = b"\x93NUMPY".to_vec();
        bytes.extend([version, 0]);
        let length = u32::try_from(header.len()).unwrap().to_le_bytes();
        bytes.extend(&length[..if version == 1 { 2 } else { 4 }]);
        bytes.extend(header.as_bytes());
        bytes.extend(cells);
        bytes
    }

    /// The features read from cells of a type, two to a row.
    fn features(version: u8, descr: &str, cells: &[u8], size: usize) -> Vec<f32> {
        let shape = format!("({}, 2)", cells.len() / size / 2);
        let bytes = npy(version, &format!("'{descr}'"), "False", &shape, cells);
        parse("pool.npy", &bytes, &[], None).unwrap().features().to_vec()
    }

    #[test]
    fn every_type_and_version_reads_back() {
        macro_rules! check {
            ($type:ty, $descr:expr, $cells:expr) => {
                let cells: Vec<$type> = $cells.to_vec();
                let bytes: Vec<u8> = cells.iter().flat_map(|x| x.to_le_bytes()).collect();
                let expected: Vec<f32> = cells.iter().map(|x| x.to_string().parse().unwrap()).collect();
                for version in [1, 2, 3] {
                    assert_eq!(features(version, $descr, &bytes, size_of::<$type>()), expected, $descr);
                }
            };
        }
        check!(f32, "<f4", [0.1, -2.5, 1e-30, 3e38]);
        check!(f64, "<f8", [0.1, -2.5, 1e-30, 3e38]);
        check!(i8, "|i1", [-128, 127]);
        check!(i16, "<i2", [-32768, 1]);
        check!(i32, "<i4", [-3, i32::MIN, 70_000, 0]);
        check!(i64, "<i8", [-3, i64::MIN, 1 << 40, 0]);
        check!(u8, "|u1", [0, 255]);
        check!(u8, "|b1", [0, 1]);
        check!(u16, "<u2", [65_535, 3]);
        check!(u32, "<u4", [u32::MAX, 5]);
        check!(u64, "<u8", [u64::MAX, 7]);
    }

    #[test]
    fn rows_are_rows_in_either_order() {
        let floats = |cells: [f32; 6]| cells.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let c = npy(1, "'<f4'", "False", "(2, 3)", &floats([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]));
        let fortran = npy(1, "'<f4'", "True", "(2, 3)", &floats([1.0, 4.0, 2.0, 5.0, 3.0, 6.0]));
        for bytes in [c, fortran] {
            let pool = parse("pool.npy", &bytes, &[], None).unwrap();
            assert_eq!((pool.len(), pool.features()), (2, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0][..]));
            let pool = parse("pool.npy", &bytes, &["x2", "x0"], None).unwrap();
            assert_eq!(pool.params(1).to_string(), "x2=6.0, x0=4.0");
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let message = |bytes: &[u8]| parse("pool.npy", bytes, &[], None).unwrap_err().to_string();
        let of = |descr: &str, shape: &str, cells: &[u8]| message(&npy(1, descr, "False", shape, cells));
        assert!(of("'>f8'", "(1, 1)", &[0; 8]).contains("its dtype is '>f8': save"));
        assert!(of("'<c16'", "(1, 1)", &[0; 16]).contains("'<c16'"));
        assert!(of("[('a', '<f4')]", "(1,)", &[0; 4]).contains("structured"));
        assert!(of("'<f4'", "(4,)", &[0; 16]).contains("its shape is (4,): save an array of two dimensions"));
        assert!(of("'<f4'", "(2, 2, 1)", &[0; 16]).contains("two dimensions"));
        assert!(
            of("'<f4'", "(2, 2)", &[0; 12]).contains("2 rows of 2 numbers need 16 bytes, and there are 12")
        );
        assert!(of("'<f4'", "(2, 2)", &[0; 20]).contains("and there are 20"));
        assert!(of("'<f4'", "(9999999999999, 9999999999999)", &[0; 20]).contains("and there are 20"));
        assert!(of("'<f4'", "(0, 3)", &[]).contains("at least one row"));
        assert!(of("'<f4'", "(9999999999999, 0)", &[]).contains("not 9999999999999 rows of 0 features"));
        let cells: Vec<u8> = [1.0, 2.0, 3.0, f64::NAN].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert!(of("'<f8'", "(2, 2)", &cells).contains("row 1 (from 0), column `x1`: \"NaN\" is no finite"));
        let cells: Vec<u8> = [1.0, 2.0, 1e300_f64, 3.0].iter().flat_map(|x| x.to_le_bytes()).collect();
        assert!(of("'<f8'", "(2, 2)", &cells).contains("row 1 (from 0), column `x0`: 1e300 does not fit"));
        assert!(message(b"").contains("too short"));
        assert!(message(b"a,b\n1,2\n3,4\n").contains("no npy file of version 1, 2 or 3"));
        let whole = npy(1, "'<f4'", "False", "(1, 1)", &[0; 4]);
        assert!(message(&whole[..9]).contains("cut off") && message(&whole[..30]).contains("cut off"));
        assert!(message(&npy(4, "'<f4'", "False", "(1, 1)", &[0; 4])).contains("version"));
        assert!(message(&npy(1, "'<f4'", "False", "", &[0; 4])).contains("no shape"));
        let id = parse("pool.npy", &whole, &[], Some("name")).unwrap_err().to_string();
        assert!(id.contains("leave `id` out, or use CSV or Parquet"), "{id}");
        let column = parse("pool.npy", &whole, &["x7"], None).unwrap_err().to_string();
        assert!(column.contains("no column `x7` (nearest: `x0`)"), "{column}");
    }
}
