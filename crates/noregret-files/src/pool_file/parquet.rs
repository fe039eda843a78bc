//! Pools as Apache Parquet: columns of integers, floats and truth values are features.

use std::fs::File;
use std::path::Path;

use noregret::space::Ids;
use parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::reader::{FileReader, RowGroupReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;

use super::error::{CellPosition, PoolFileProblem};
use super::foreign::caught;
use super::{Table, Wanted, narrow, zeros};

/// Cells of a column decoded at a time.
const BATCH: usize = 4096;

const FEATURES: &str = "features are integers, floats or truth values, one to a row";
const IDS: &str = "ids are text or integers, one to a row";

/// Rows that one byte of a file may stand for: a column whose cells are not all equal has at least a bit for each, before it is
/// compressed.
const ROWS_OF_A_BYTE: u64 = 1_000;
/// Rows of a file whose columns are all constant. They take next to nothing, in the file and here.
const ROWS_OF_NOTHING: u64 = 1_000_000;

/// The reader of the crate panics at some files that it finds out to be damaged.
pub(super) fn read(path: &Path, wanted: &Wanted<'_>) -> Result<Table, PoolFileProblem> {
    caught(|| read_unguarded(path, wanted)).unwrap_or_else(|words| Err(PoolFileProblem::Damaged(words)))
}

/// Checks what the reader trusts before it allocates: lengths against the size of the file, which has `bytes`.
fn check(metadata: &ParquetMetaData, bytes: u64) -> Result<(), PoolFileProblem> {
    let damaged = |problem: String| Err(PoolFileProblem::Damaged(problem));
    let mut rows: u64 = 0;
    for group in metadata.row_groups() {
        let Ok(length) = u64::try_from(group.num_rows()) else {
            return damaged(format!("a group of {} rows", group.num_rows()));
        };
        rows = rows.saturating_add(length);
        for column in group.columns() {
            let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
            let length = column.compressed_size();
            let ends = |start, length| u64::try_from(start).ok()?.checked_add(u64::try_from(length).ok()?);
            if ends(start, length).is_none_or(|end| end > bytes) {
                return damaged(format!(
                    "column `{}` is not where it should be",
                    column.column_path().string()
                ));
            }
        }
    }
    if rows > ROWS_OF_NOTHING.saturating_add(bytes.saturating_mul(ROWS_OF_A_BYTE)) {
        return damaged(format!("{rows} rows in {bytes} bytes"));
    }
    Ok(())
}

fn read_unguarded(path: &Path, wanted: &Wanted<'_>) -> Result<Table, PoolFileProblem> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let reader = SerializedFileReader::new(file)?;
    check(reader.metadata(), bytes)?;
    let schema = reader.metadata().file_metadata().schema_descr();
    let columns: Vec<Column> = schema.columns().iter().map(|column| Column::new(column)).collect();
    let header: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut chosen = wanted.find(&header)?;
    if chosen.features.is_empty() {
        let is_feature = |i: &usize| columns[*i].is_numeric() && !columns[*i].is_index();
        chosen.features = (0..columns.len()).filter(|i| Some(*i) != chosen.id).filter(is_feature).collect();
        if chosen.features.is_empty() {
            return Err(PoolFileProblem::NoFeatures);
        }
    }
    if let Some(column) = chosen.features.iter().map(|&i| &columns[i]).find(|column| !column.is_numeric()) {
        return Err(column.mistyped(FEATURES));
    }
    if let Some(column) = chosen.id.map(|i| &columns[i]).filter(|column| !column.is_name()) {
        return Err(column.mistyped(IDS));
    }

    let dims = chosen.features.len();
    let groups = reader.metadata().row_groups();
    let lengths: Vec<usize> = groups.iter().map(|g| usize::try_from(g.num_rows()).unwrap_or(0)).collect();
    let mut cells = zeros(lengths.iter().sum(), dims)?;
    let mut ids = chosen.id.map(|_| Ids::new());
    let mut first = 0;
    for (g, &rows) in lengths.iter().enumerate() {
        let group = reader.get_row_group(g)?;
        let group = Group { reader: &*group, first, rows };
        let cells = &mut cells[first * dims..(first + rows) * dims];
        for (j, &i) in chosen.features.iter().enumerate() {
            group.numbers(i, &columns[i], |row, x| cells[row * dims + j] = x)?;
        }
        if let (Some(ids), Some(i)) = (&mut ids, chosen.id) {
            group.names(i, &columns[i], |name| ids.push(name))?;
        }
        first += rows;
    }
    let names = chosen.features.iter().map(|&i| header[i].clone()).collect();
    Ok(Table { names, cells, ids })
}

/// A column of the schema.
struct Column {
    name: String,
    kind: ColumnKind,
    /// The definition level of a cell that is not null.
    present: i16,
}

enum ColumnKind {
    Float,
    Bool,
    Integer {
        is_signed: bool,
    },
    Text,
    /// Dates, decimals, lists and other types, by name.
    Other(String),
}

impl Column {
    fn new(column: &ColumnDescriptor) -> Self {
        Self { name: column.path().string(), kind: ColumnKind::of(column), present: column.max_def_level() }
    }

    fn is_numeric(&self) -> bool {
        matches!(self.kind, ColumnKind::Float | ColumnKind::Bool | ColumnKind::Integer { .. })
    }

    fn is_name(&self) -> bool {
        matches!(self.kind, ColumnKind::Text | ColumnKind::Integer { .. })
    }

    /// Row labels that pandas adds: they are not features.
    fn is_index(&self) -> bool {
        self.name.starts_with("__index_level_") && self.name.ends_with("__")
    }

    fn mistyped(&self, expected: &'static str) -> PoolFileProblem {
        let found = match &self.kind {
            ColumnKind::Float => "floats",
            ColumnKind::Bool => "truth values",
            ColumnKind::Integer { .. } => "integers",
            ColumnKind::Text => "text",
            ColumnKind::Other(name) => name,
        };
        PoolFileProblem::ColumnType { column: self.name.clone(), found: found.to_owned(), expected }
    }
}

impl ColumnKind {
    fn of(column: &ColumnDescriptor) -> Self {
        if column.max_rep_level() > 0 {
            return Self::Other("lists".into());
        }
        let (physical, logical) = (column.physical_type(), column.logical_type_ref());
        let converted = column.converted_type();
        match (physical, logical, converted) {
            (Physical::FLOAT | Physical::DOUBLE, ..) => Self::Float,
            (Physical::BOOLEAN, ..) => Self::Bool,
            (Physical::INT32 | Physical::INT64, Some(LogicalType::Integer(int)), _) => {
                Self::Integer { is_signed: int.is_signed }
            }
            // Files of old writers have no logical types.
            (Physical::INT32 | Physical::INT64, None, converted) => match converted {
                ConvertedType::NONE
                | ConvertedType::INT_8
                | ConvertedType::INT_16
                | ConvertedType::INT_32
                | ConvertedType::INT_64 => Self::Integer { is_signed: true },
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64 => Self::Integer { is_signed: false },
                other => Self::Other(format!("values of type {other}")),
            },
            (Physical::BYTE_ARRAY, Some(LogicalType::String | LogicalType::Enum), _)
            | (Physical::BYTE_ARRAY, None, ConvertedType::NONE | ConvertedType::UTF8 | ConvertedType::ENUM) => {
                Self::Text
            }
            (_, Some(logical), _) => Self::Other(format!("values of type {logical:?}")),
            (physical, None, ConvertedType::NONE) => Self::Other(format!("values of type {physical}")),
            (_, None, converted) => Self::Other(format!("values of type {converted}")),
        }
    }
}

/// Rows of a file that are stored together.
struct Group<'a> {
    reader: &'a dyn RowGroupReader,
    /// Rows before them.
    first: usize,
    rows: usize,
}

impl Group<'_> {
    /// Calls `put` with each row of the group, from 0, and its number in a column.
    fn numbers(
        &self,
        i: usize,
        column: &Column,
        mut put: impl FnMut(usize, f32),
    ) -> Result<(), PoolFileProblem> {
        let mut put = |row: usize, x: f64| {
            put(row, narrow(x, self.first + row, &column.name)?);
            Ok(())
        };
        match (self.reader.get_column_reader(i)?, &column.kind) {
            (ColumnReader::FloatColumnReader(r), _) => self.walk(r, column, |row, x| put(row, (*x).into())),
            (ColumnReader::DoubleColumnReader(r), _) => self.walk(r, column, |row, x| put(row, *x)),
            (ColumnReader::BoolColumnReader(r), _) => {
                self.walk(r, column, |row, x| put(row, u8::from(*x).into()))
            }
            (ColumnReader::Int32ColumnReader(r), ColumnKind::Integer { is_signed: false }) => {
                self.walk(r, column, |row, x| put(row, x.cast_unsigned().into()))
            }
            (ColumnReader::Int32ColumnReader(r), _) => self.walk(r, column, |row, x| put(row, (*x).into())),
            (ColumnReader::Int64ColumnReader(r), ColumnKind::Integer { is_signed: false }) => {
                self.walk(r, column, |row, x| put(row, x.cast_unsigned() as f64))
            }
            (ColumnReader::Int64ColumnReader(r), _) => self.walk(r, column, |row, x| put(row, *x as f64)),
            _ => Err(column.mistyped(FEATURES)),
        }
    }

    /// Calls `push` with the names in a column, row by row.
    fn names(&self, i: usize, column: &Column, mut push: impl FnMut(&str)) -> Result<(), PoolFileProblem> {
        let is_signed = !matches!(column.kind, ColumnKind::Integer { is_signed: false });
        let mut number = |x: &dyn ToString| {
            push(&x.to_string());
            Ok(())
        };
        match self.reader.get_column_reader(i)? {
            ColumnReader::Int32ColumnReader(r) if is_signed => self.walk(r, column, |_, x| number(x)),
            ColumnReader::Int32ColumnReader(r) => self.walk(r, column, |_, x| number(&x.cast_unsigned())),
            ColumnReader::Int64ColumnReader(r) if is_signed => self.walk(r, column, |_, x| number(x)),
            ColumnReader::Int64ColumnReader(r) => self.walk(r, column, |_, x| number(&x.cast_unsigned())),
            ColumnReader::ByteArrayColumnReader(r) => self.walk(r, column, |row, bytes| {
                let (place, column) = (CellPosition::Row(self.first + row), &column.name);
                match std::str::from_utf8(bytes.data()) {
                    Ok("") => Err(PoolFileProblem::Missing { place, column: column.clone() }),
                    Ok(name) => {
                        push(name);
                        Ok(())
                    }
                    Err(_) => Err(PoolFileProblem::IdNotText { place, column: column.clone() }),
                }
            }),
            _ => Err(column.mistyped(IDS)),
        }
    }

    /// Calls `visit` with each row of the group, from 0, and its cell, none of which may be null.
    fn walk<T: DataType>(
        &self,
        mut reader: ColumnReaderImpl<T>,
        column: &Column,
        mut visit: impl FnMut(usize, &T::T) -> Result<(), PoolFileProblem>,
    ) -> Result<(), PoolFileProblem> {
        let (mut cells, mut levels) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        let mut row = 0;
        loop {
            cells.clear();
            levels.clear();
            let (records, ..) = reader.read_records(BATCH, Some(&mut levels), None, &mut cells)?;
            if let Some(null) = levels.iter().position(|&level| level < column.present) {
                let place = CellPosition::Row(self.first + row + null);
                return Err(PoolFileProblem::Missing { place, column: column.name.clone() });
            }
            // Fewer rows would leave zeros in the pool that are not data.
            if cells.len() != records || row + records > self.rows || (records == 0 && row < self.rows) {
                let (column, found) = (column.name.clone(), row + cells.len());
                return Err(PoolFileProblem::RowCount { column, found, expected: self.rows });
            }
            if records == 0 {
                return Ok(());
            }
            for cell in &cells {
                visit(row, cell)?;
                row += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::sync::Arc;

    use noregret::Pool;
    use parquet::basic::{Compression, GzipLevel, Repetition, ZstdLevel};
    use parquet::data_type::{
        BoolType, ByteArray, ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type,
    };
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::types::Type;

    use super::*;
    use crate::pool_file::PoolFileError;
    use crate::pool_file::tests::parse as parse_file;

    enum Cells {
        Float(Vec<Option<f32>>),
        Double(Vec<Option<f64>>),
        Bool(Vec<Option<bool>>),
        Int32(Vec<Option<i32>>, ConvertedType),
        Int64(Vec<Option<i64>>, ConvertedType),
        Text(Vec<Option<&'static str>>),
    }

    fn some<T: Clone>(cells: &[T]) -> Vec<Option<T>> {
        cells.iter().cloned().map(Some).collect()
    }

    /// A file with these columns, in groups of `group` rows.
    fn file(columns: &[(&str, Cells)], group: usize, compression: Compression) -> Vec<u8> {
        let field = |(name, cells): &(&str, Cells)| {
            let (physical, converted) = match cells {
                Cells::Float(_) => (Physical::FLOAT, ConvertedType::NONE),
                Cells::Double(_) => (Physical::DOUBLE, ConvertedType::NONE),
                Cells::Bool(_) => (Physical::BOOLEAN, ConvertedType::NONE),
                Cells::Int32(_, converted) => (Physical::INT32, *converted),
                Cells::Int64(_, converted) => (Physical::INT64, *converted),
                Cells::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
            };
            let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
            Arc::new(builder.with_converted_type(converted).build().unwrap())
        };
        let fields = columns.iter().map(field).collect();
        let schema = Arc::new(Type::group_type_builder("pool").with_fields(fields).build().unwrap());
        let properties = Arc::new(WriterProperties::builder().set_compression(compression).build());
        let mut bytes = Vec::new();
        let mut writer = SerializedFileWriter::new(&mut bytes, schema, properties).unwrap();
        let rows = match &columns[0].1 {
            Cells::Float(cells) => cells.len(),
            Cells::Double(cells) => cells.len(),
            Cells::Bool(cells) => cells.len(),
            Cells::Int32(cells, _) => cells.len(),
            Cells::Int64(cells, _) => cells.len(),
            Cells::Text(cells) => cells.len(),
        };
        for first in (0..rows).step_by(group) {
            let rows = first..(first + group).min(rows);
            let mut group = writer.next_row_group().unwrap();
            for (_, cells) in columns {
                let mut column = group.next_column().unwrap().unwrap();
                macro_rules! write {
                    ($type:ty, $cells:expr) => {{
                        let cells = &$cells[rows.clone()];
                        let values: Vec<_> = cells.iter().flatten().cloned().collect();
                        let levels: Vec<i16> = cells.iter().map(|cell| cell.is_some().into()).collect();
                        column.typed::<$type>().write_batch(&values, Some(&levels), None).unwrap();
                    }};
                }
                match cells {
                    Cells::Float(cells) => write!(FloatType, cells),
                    Cells::Double(cells) => write!(DoubleType, cells),
                    Cells::Bool(cells) => write!(BoolType, cells),
                    Cells::Int32(cells, _) => write!(Int32Type, cells),
                    Cells::Int64(cells, _) => write!(Int64Type, cells),
                    Cells::Text(cells) => {
                        let cells: Vec<Option<ByteArray>> =
                            cells.iter().map(|cell| cell.map(ByteArray::from)).collect();
                        write!(ByteArrayType, cells);
                    }
                }
                column.close().unwrap();
            }
            group.close().unwrap();
        }
        writer.close().unwrap();
        bytes
    }

    fn parse(bytes: &[u8], features: &[&str], id: Option<&str>) -> Result<Pool, PoolFileError> {
        parse_file("pool.parquet", bytes, features, id)
    }

    fn mixed() -> Vec<(&'static str, Cells)> {
        vec![
            ("name", Cells::Text(some(&["a", "b", "c"]))),
            ("float", Cells::Float(some(&[0.5, 1.5, -2.5]))),
            ("double", Cells::Double(some(&[0.1, 0.2, 3.0]))),
            ("is_hot", Cells::Bool(some(&[true, false, true]))),
            ("int", Cells::Int32(some(&[-1, 0, 7]), ConvertedType::NONE)),
            ("byte", Cells::Int32(some(&[0, 255, 3]), ConvertedType::UINT_8)),
            ("word", Cells::Int32(some(&[-1, 0, 1]), ConvertedType::UINT_32)),
            ("long", Cells::Int64(some(&[-1, 1 << 40, 1]), ConvertedType::NONE)),
            ("count", Cells::Int64(some(&[-1, 0, 1]), ConvertedType::UINT_64)),
            ("day", Cells::Int32(some(&[1, 2, 3]), ConvertedType::DATE)),
            ("__index_level_0__", Cells::Int64(some(&[5, 6, 7]), ConvertedType::NONE)),
        ]
    }

    #[test]
    fn numbers_of_every_width_are_features() {
        let codecs = [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::GZIP(GzipLevel::default()),
            Compression::ZSTD(ZstdLevel::default()),
            Compression::LZ4_RAW,
        ];
        for (codec, group) in codecs.into_iter().zip([1, 2, 3, 10, 2]) {
            let pool = parse(&file(&mixed(), group, codec), &[], Some("name")).unwrap();
            assert_eq!(pool.names(), ["float", "double", "is_hot", "int", "byte", "word", "long", "count"]);
            #[rustfmt::skip]
            let expected = [
                0.5,  0.1, 1.0, -1.0, 0.0,   4_294_967_295.0, -1.0,                1.844_674_4e19,
                1.5,  0.2, 0.0, 0.0,  255.0, 0.0,             1_099_511_627_776.0, 0.0,
                -2.5, 3.0, 1.0, 7.0,  3.0,   1.0,             1.0,                 1.0,
            ];
            assert_eq!(pool.features(), expected, "{codec}");
            assert_eq!((pool.id(2).as_ref(), pool.row_of_id("b")), ("c", Some(1)));
        }
    }

    #[test]
    fn integers_may_be_names() {
        let bytes = file(&mixed(), 2, Compression::UNCOMPRESSED);
        for (id, last) in [("int", "7"), ("long", "1"), ("count", "1"), ("word", "1")] {
            let pool = parse(&bytes, &["double"], Some(id)).unwrap();
            assert_eq!((pool.params(0).to_string().as_str(), pool.id(2).as_ref()), ("double=0.1", last));
        }
        assert_eq!(parse(&bytes, &["double"], Some("int")).unwrap().id(0), "-1");
        assert_eq!(parse(&bytes, &["double"], Some("count")).unwrap().id(0), u64::MAX.to_string());
        let names = parse(&bytes, &[], Some("int")).unwrap().names().join(" ");
        assert_eq!(names, "float double is_hot byte word long count");
    }

    #[test]
    fn many_batches_keep_their_rows() {
        let rows = 3 * BATCH + 17;
        let cells = |column: usize| (0..rows).map(|row| Some((row * 2 + column) as f32)).collect();
        let columns = [("a", Cells::Float(cells(0))), ("b", Cells::Float(cells(1)))];
        let pool = parse(&file(&columns, 2 * BATCH + 5, Compression::SNAPPY), &[], None).unwrap();
        assert_eq!(pool.features(), (0..2 * rows).map(|i| i as f32).collect::<Vec<_>>());
    }

    #[test]
    fn errors_say_where() {
        let message = |columns: Vec<(&str, Cells)>, features: &[&str], id| {
            let bytes = file(&columns, 2, Compression::UNCOMPRESSED);
            parse(&bytes, features, id).unwrap_err().to_string()
        };
        let cells = || Cells::Double(vec![Some(1.0), Some(2.0), None]);
        assert!(
            message(vec![("a", cells())], &[], None)
                .contains("row 2 (from 0), column `a`: the cell is empty")
        );
        let cells = |x| Cells::Double(some(&[1.0, 2.0, 3.0, x]));
        assert!(
            message(vec![("a", cells(f64::NAN))], &[], None).contains("row 3 (from 0), column `a`: \"NaN\"")
        );
        assert!(message(vec![("a", cells(-1e39))], &[], None).contains("column `a`: -1e39 does not fit"));
        let ids = || Cells::Text(vec![Some("x"), Some("y"), None, Some("z")]);
        let empty = message(vec![("a", cells(4.0)), ("n", ids())], &[], Some("n"));
        assert!(empty.contains("row 2 (from 0), column `n`: the cell is empty"), "{empty}");
        let ids = || Cells::Text(some(&["x", "y", "z", "y"]));
        assert!(
            message(vec![("a", cells(4.0)), ("n", ids())], &[], Some("n")).contains("share the id \"y\"")
        );
        assert!(message(mixed(), &["name"], None).contains("column `name` holds text; features are"));
        assert!(message(mixed(), &["day"], None).contains("column `day` holds values of type D"));
        assert!(message(mixed(), &[], Some("double")).contains("column `double` holds floats; ids are"));
        assert!(message(mixed(), &["flaot"], None).contains("nearest: `float`"));
        assert!(message(vec![("n", ids())], &[], None).contains("none of its columns holds numbers"));
        assert!(message(vec![("a", Cells::Double(vec![]))], &[], None).contains("at least one row"));
    }

    #[test]
    fn damaged_files_are_refused() {
        let whole = file(&mixed(), 2, Compression::SNAPPY);
        for cut in [0, 3, 8, whole.len() / 2, whole.len() - 1] {
            assert!(parse(&whole[..cut], &[], None).is_err(), "{cut}");
        }
        assert!(parse(b"a,b\n1,2\n", &[], None).is_err());
    }

    /// "column start and length should not be negative", said the crate, and the process ended.
    #[test]
    fn no_changed_byte_panics() {
        let whole = file(&mixed(), 2, Compression::SNAPPY);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pool.parquet");
        std::fs::write(&path, &whole).unwrap();
        let kept = File::options().write(true).open(&path).unwrap();
        let mut refused = 0;
        for (i, byte) in whole.iter().enumerate() {
            for change in [0x01, 0x40, 0x80, 0xff] {
                kept.write_all_at(&[byte ^ change], i as u64).unwrap();
                refused += usize::from(crate::pool_file::read(&path, &[], Some("name")).is_err());
            }
            kept.write_all_at(&[*byte], i as u64).unwrap();
        }
        assert!(refused > whole.len(), "{refused} of {}", 4 * whole.len());
    }

    /// Lengths were believed before they were compared with the file.
    #[test]
    fn lengths_beyond_the_file_are_refused() {
        let columns = [("a", Cells::Double(some(&[1.0, 2.0, 3.0])))];
        let whole = file(&columns, 3, Compression::UNCOMPRESSED);
        let mut kept = tempfile::tempfile().unwrap();
        std::io::Write::write_all(&mut kept, &whole).unwrap();
        let metadata = SerializedFileReader::new(kept).unwrap().metadata().clone();
        assert!(check(&metadata, whole.len() as u64).is_ok());
        let group = metadata.row_group(0);
        let with = |rows: i64, size: i64, start: i64| {
            let column = group.column(0).clone().into_builder();
            let column = column.set_total_compressed_size(size).set_data_page_offset(start);
            let column = column.set_dictionary_page_offset(None).build().unwrap();
            let group = group.clone().into_builder().set_num_rows(rows).set_column_metadata(vec![column]);
            let mut built = metadata.clone().into_builder();
            built = built.set_row_groups(vec![group.build().unwrap()]);
            check(&built.build(), whole.len() as u64).map_err(|problem| problem.to_string())
        };
        assert_eq!(with(3, 10, 4), Ok(()));
        for (rows, size, start) in
            [(1 << 60, 10, 4), (-1, 10, 4), (3, -1, 4), (3, 1 << 60, 4), (3, 10, -4), (3, i64::MAX, i64::MAX)]
        {
            assert!(with(rows, size, start).unwrap_err().contains("damaged"), "{rows}, {size}, {start}");
        }
    }
}
