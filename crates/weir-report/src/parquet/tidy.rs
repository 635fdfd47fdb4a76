//! The tidy table of many runs.

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{ColumnPath, Type, TypePtr};

use weir_measure::results::{AxisValues, TABLE_VERSION, TableColumn, TextColumn, TidyTable};

use super::{AT_ONCE, io_error, metadata, present};

/// Writes a tidy table as a Parquet file of one row group, uncompressed: texts as dictionaries, values as DOUBLE, NaN and −1 as
/// null. The metadata has the version of the table under `weir.table.version`, and the units of swept keys that have one
/// under `unit.at.KEY`.
///
/// # Errors
/// Errors of `out`.
pub fn write_table(table: &TidyTable, out: &mut (impl Write + Send)) -> io::Result<()> {
    write(table, out).map_err(io_error)
}

fn write(table: &TidyTable, out: &mut (impl Write + Send)) -> Result<(), ParquetError> {
    let columns = table.columns();
    let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<_, _>>()?;
    let schema = Arc::new(Type::group_type_builder("table").with_fields(fields).build()?);
    let units: Vec<(String, String)> = table
        .axis_columns()
        .filter_map(|axis| match &axis.values {
            AxisValues::Numbers(_, unit) => unit.clone().map(|unit| (axis.name.clone(), unit)),
            AxisValues::Texts(_) => None,
        })
        .collect();
    let mut entries = vec![KeyValue::new("weir.table.version".to_owned(), TABLE_VERSION.to_string())];
    entries.extend(metadata(&units).into_iter().flatten());
    // Values hardly repeat.
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(entries))
        .set_column_dictionary_enabled(ColumnPath::from("value"), false)
        .build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties))?;
    let mut rows = file.next_row_group()?;
    for (_, column) in &columns {
        let Some(mut writer) = rows.next_column()? else { break };
        write_column(&mut writer, column)?;
        writer.close()?;
    }
    rows.close()?;
    file.close()?;
    Ok(())
}

fn field(name: &str, column: &TableColumn<'_>) -> Result<TypePtr, ParquetError> {
    let (physical, converted, repetition) = match column {
        TableColumn::Runs(_) => (Physical::INT32, ConvertedType::UINT_32, Repetition::REQUIRED),
        TableColumn::Seeds(_) => (Physical::INT64, ConvertedType::UINT_64, Repetition::REQUIRED),
        TableColumn::Values(_) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL),
        TableColumn::Text(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::OPTIONAL),
        TableColumn::Axis(axis) => match axis.values {
            AxisValues::Numbers(..) => (Physical::DOUBLE, ConvertedType::NONE, Repetition::OPTIONAL),
            AxisValues::Texts(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8, Repetition::OPTIONAL),
        },
    };
    let builder = Type::primitive_type_builder(name, physical);
    Ok(Arc::new(builder.with_repetition(repetition).with_converted_type(converted).build()?))
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    column: &TableColumn<'_>,
) -> Result<(), ParquetError> {
    match column {
        TableColumn::Runs(runs) => {
            for part in runs.chunks(AT_ONCE) {
                let bits: Vec<i32> = part.iter().map(|run| run.cast_signed()).collect();
                writer.typed::<Int32Type>().write_batch(&bits, None, None)?;
            }
            Ok(())
        }
        TableColumn::Seeds(seeds) => {
            for part in seeds.chunks(AT_ONCE) {
                let bits: Vec<i64> = part.iter().map(|seed| seed.cast_signed()).collect();
                writer.typed::<Int64Type>().write_batch(&bits, None, None)?;
            }
            Ok(())
        }
        TableColumn::Values(values) => write_numbers(writer, values),
        TableColumn::Text(column) => write_texts(writer, column),
        TableColumn::Axis(axis) => match &axis.values {
            AxisValues::Numbers(values, _) => write_numbers(writer, values),
            AxisValues::Texts(column) => write_texts(writer, column),
        },
    }
}

fn write_numbers(writer: &mut SerializedColumnWriter<'_>, values: &[f64]) -> Result<(), ParquetError> {
    for part in values.chunks(AT_ONCE) {
        let (present, defined) = present(part, |value| value.is_finite().then_some(*value));
        writer.typed::<DoubleType>().write_batch(&present, Some(&defined), None)?;
    }
    Ok(())
}

fn write_texts(writer: &mut SerializedColumnWriter<'_>, column: &TextColumn) -> Result<(), ParquetError> {
    let categories: Vec<ByteArray> = column.categories.iter().map(|text| text.as_str().into()).collect();
    for part in column.codes.chunks(AT_ONCE) {
        let text = |code: &i32| usize::try_from(*code).ok().and_then(|code| categories.get(code)).cloned();
        let (present, defined) = present(part, text);
        writer.typed::<ByteArrayType>().write_batch(&present, Some(&defined), None)?;
    }
    Ok(())
}
