//! Trials as a Parquet file: one typed, nullable column each.

use std::io::Write;
use std::sync::Arc;

use anyhow::Error;
use noregret::{Param, Params, Space, Value};
use noregret_client::api::Trial as TrialJson;
use noregret_store::{Ledger, Timestamp, TrialRecord};
use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use super::parameter_column;

/// A column before it is written.
enum ColumnData {
    Integers(Vec<Option<i64>>),
    /// Milliseconds since 1970, UTC.
    Times(Vec<Option<i64>>),
    Floats(Vec<Option<f64>>),
    Bools(Vec<Option<bool>>),
    Texts(Vec<Option<ByteArray>>),
}

pub(super) fn write(ledger: &Ledger, space: &Space, out: &mut dyn Write) -> Result<(), Error> {
    let columns = columns(ledger.records(), space);
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("trials").with_fields(fields).build()?);
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema, Arc::new(WriterProperties::builder().build()))?;
    let mut group = writer.next_row_group()?;
    for (_, column) in &columns {
        match column {
            ColumnData::Integers(cells) | ColumnData::Times(cells) => put::<Int64Type>(&mut group, cells)?,
            ColumnData::Floats(cells) => put::<DoubleType>(&mut group, cells)?,
            ColumnData::Bools(cells) => put::<BoolType>(&mut group, cells)?,
            ColumnData::Texts(cells) => put::<ByteArrayType>(&mut group, cells)?,
        }
    }
    group.close()?;
    writer.close()?;
    out.write_all(&bytes)?;
    Ok(())
}

fn field(name: &str, column: &ColumnData) -> Result<Arc<Type>, Error> {
    let (physical, converted) = match column {
        ColumnData::Integers(_) => (Physical::INT64, ConvertedType::NONE),
        ColumnData::Times(_) => (Physical::INT64, ConvertedType::TIMESTAMP_MILLIS),
        ColumnData::Floats(_) => (Physical::DOUBLE, ConvertedType::NONE),
        ColumnData::Bools(_) => (Physical::BOOLEAN, ConvertedType::NONE),
        ColumnData::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let builder = Type::primitive_type_builder(name, physical).with_repetition(Repetition::OPTIONAL);
    Ok(Arc::new(builder.with_converted_type(converted).build()?))
}

fn put<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, &mut Vec<u8>>,
    cells: &[Option<T::T>],
) -> Result<(), Error> {
    let values: Vec<T::T> = cells.iter().flatten().cloned().collect();
    let levels: Vec<i16> = cells.iter().map(|cell| i16::from(cell.is_some())).collect();
    if let Some(mut column) = group.next_column()? {
        column.typed::<T>().write_batch(&values, Some(&levels), None)?;
        column.close()?;
    }
    Ok(())
}

fn columns(records: &[TrialRecord], space: &Space) -> Vec<(String, ColumnData)> {
    let trials: Vec<TrialJson> = records.iter().map(|record| record.described(space)).collect();
    let text = |text: &str| Some(ByteArray::from(text));
    let time = |time: Timestamp| Some(time.0);
    let count = |n: u64| i64::try_from(n).ok();
    let attrs = |t: &TrialJson| text(&serde_json::to_string(&t.attrs).ok().filter(|_| !t.attrs.is_empty())?);
    let mut columns = vec![
        ("number".to_owned(), ColumnData::Integers(trials.iter().map(|t| count(t.number)).collect())),
        ("state".to_owned(), ColumnData::Texts(trials.iter().map(|t| text(&t.state)).collect())),
    ];
    if space.as_pool().is_some() {
        let ids = trials.iter().map(|t| t.id.as_deref().and_then(text)).collect();
        columns.push(("id".into(), ColumnData::Texts(ids)));
    }
    let params: Vec<Params> = records.iter().map(|record| record.params(space)).collect();
    let declared: Vec<Option<&Param>> = if space.as_pool().is_some() {
        vec![None; space.names().len()]
    } else {
        space.params().map(|(_, param)| Some(param)).collect()
    };
    for (name, param) in space.names().iter().zip(declared) {
        columns.push((parameter_column(name), parameter(name, param, &params)));
    }
    let more = [
        ("value", ColumnData::Floats(trials.iter().map(|t| t.value).collect())),
        ("noise_var", ColumnData::Floats(trials.iter().map(|t| t.noise_var).collect())),
        ("reason", ColumnData::Texts(trials.iter().map(|t| t.reason.as_deref().and_then(text)).collect())),
        ("attempts", ColumnData::Integers(trials.iter().map(|t| count(t.attempts.into())).collect())),
        ("asked", ColumnData::Times(records.iter().map(|r| time(r.asked)).collect())),
        ("started", ColumnData::Times(records.iter().map(|r| r.started.and_then(time)).collect())),
        ("ended", ColumnData::Times(records.iter().map(|r| r.ended.and_then(time)).collect())),
        ("seconds", ColumnData::Floats(trials.iter().map(|t| t.seconds).collect())),
        ("attrs", ColumnData::Texts(trials.iter().map(attrs).collect())),
    ];
    columns.extend(more.map(|(name, column)| (name.to_owned(), column)));
    columns
}

/// A parameter in the narrowest type that holds all of its values.
fn parameter(name: &str, param: Option<&Param>, params: &[Params]) -> ColumnData {
    let cells = || params.iter().map(|params| params.get(name));
    let choices = match param {
        Some(Param::Categorical { choices } | Param::Ordinal { values: choices }) => choices.as_slice(),
        Some(Param::Bool {}) => return ColumnData::Bools(cells().map(|v| v?.as_bool()).collect()),
        Some(Param::Int { .. }) => return ColumnData::Integers(cells().map(|v| v?.as_i64()).collect()),
        Some(Param::Float { .. }) | None => {
            return ColumnData::Floats(cells().map(|v| v?.as_f64()).collect());
        }
    };
    if choices.iter().all(|choice| matches!(choice, Value::Int(_))) {
        ColumnData::Integers(cells().map(|v| v?.as_i64()).collect())
    } else if choices.iter().all(|choice| choice.as_f64().is_some()) {
        ColumnData::Floats(cells().map(|v| v?.as_f64()).collect())
    } else if choices.iter().all(|choice| choice.as_bool().is_some()) {
        ColumnData::Bools(cells().map(|v| v?.as_bool()).collect())
    } else {
        ColumnData::Texts(cells().map(|v| v.map(|v| ByteArray::from(v.to_string().as_str()))).collect())
    }
}
