//! Series, decisions and tables as Apache Parquet. No file depends on the time, the machine or its own name.

mod tidy;

use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{ConvertedType, Repetition, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::{Type, TypePtr};

use weir_measure::metrics::{Column, DECISION_COLUMNS, Decisions, Recording, SignalUnit};

pub use tidy::write_table;

/// Writes the series of a run as a Parquet file, uncompressed, a row group for each 32 768 bins: `time_s`, then the columns of
/// [`Recording::write_csv`] in the same order; quantities as DOUBLE, factors as strings, missing values as nulls. The metadata
/// has the unit of each column, a UCUM code, under `unit.COLUMN`; `of_signal` has those of the controllers' signals.
///
/// # Errors
/// Errors of `out`, or a block of a long run that cannot be read.
pub fn write_series(
    series: &Recording,
    of_signal: &SignalUnit<'_>,
    out: &mut (impl Write + Send),
) -> io::Result<()> {
    let mut file = RowGroups::new(out, "series");
    file.units = series.column_units(of_signal);
    series.each_table(|columns| file.group(columns).map_err(io_error))?;
    file.close().map_err(io_error)
}

/// Writes decisions as a Parquet file, uncompressed: numbers as DOUBLE, words as strings, in the columns of [`Decisions::write_csv`].
/// The metadata has the units of times and rates under `unit.COLUMN`; values have the unit of their signal.
///
/// # Errors
/// Errors of `out`, or a part of a long run that cannot be read.
pub fn write_decisions(decisions: &Decisions, out: &mut (impl Write + Send)) -> io::Result<()> {
    let mut file = RowGroups::new(out, "decisions");
    let columns = DECISION_COLUMNS.iter().filter(|column| !column.unit.is_empty());
    file.units = columns.map(|column| (column.name.to_owned(), column.unit.to_owned())).collect();
    decisions.each_table(|columns| file.group(columns).map_err(io_error))?;
    file.close().map_err(io_error)
}

/// Writes columns of numbers as a Parquet file of one row group, uncompressed, as DOUBLE; a number that is not finite is null.
///
/// # Errors
/// Errors of `out`, or columns of different lengths.
pub fn write_columns<'c>(
    out: &mut (impl Write + Send),
    name: &str,
    columns: impl Iterator<Item = (String, &'c [f64])>,
) -> io::Result<()> {
    let columns: Vec<_> = columns.map(|(name, values)| (name, Column::Numbers(values))).collect();
    let mut file = RowGroups::new(out, name);
    file.group(&columns).map_err(io_error)?;
    file.close().map_err(io_error)
}

/// This many rows are copied at once: a multiple of the writer's own batches, so that a file does not depend on it.
const AT_ONCE: usize = 64 * 1024;

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => io::Error::other(error),
        other => io::Error::other(other),
    }
}

/// A file of groups of rows, all with the names and kinds of the first group's columns.
struct RowGroups<'n, W: Write + Send> {
    name: &'n str,
    /// Taken by the first group.
    out: Option<W>,
    file: Option<SerializedFileWriter<W>>,
    /// The unit of each column that has one.
    units: Vec<(String, String)>,
}

impl<'n, W: Write + Send> RowGroups<'n, W> {
    fn new(out: W, name: &'n str) -> Self {
        Self { name, out: Some(out), file: None, units: Vec::new() }
    }

    fn begin(&mut self, columns: &[(String, Column<'_>)]) -> Result<(), ParquetError> {
        let Some(out) = self.out.take() else { return Ok(()) };
        let fields = columns.iter().map(|(name, column)| field(name, column)).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder(self.name).with_fields(fields).build()?);
        let properties = WriterProperties::builder().set_key_value_metadata(metadata(&self.units));
        self.file = Some(SerializedFileWriter::new(out, schema, Arc::new(properties.build()))?);
        Ok(())
    }

    fn group(&mut self, columns: &[(String, Column<'_>)]) -> Result<(), ParquetError> {
        self.begin(columns)?;
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut rows = file.next_row_group()?;
        for (_, column) in columns {
            let Some(mut writer) = rows.next_column()? else { break };
            match column {
                Column::Numbers(values) => {
                    for part in values.chunks(AT_ONCE) {
                        let (present, defined) = present(part, |value| value.is_finite().then_some(*value));
                        writer.typed::<DoubleType>().write_batch(&present, Some(&defined), None)?;
                    }
                }
                Column::LimitingFactors(factors) => {
                    for part in factors.chunks(AT_ONCE) {
                        let (present, defined) =
                            present(part, |factor| factor.map(|factor| ByteArray::from(factor.name())));
                        writer.typed::<ByteArrayType>().write_batch(&present, Some(&defined), None)?;
                    }
                }
                Column::Words(words) => {
                    for part in words.chunks(AT_ONCE) {
                        let (present, defined) = present(part, |word| word.map(ByteArray::from));
                        writer.typed::<ByteArrayType>().write_batch(&present, Some(&defined), None)?;
                    }
                }
            }
            writer.close()?;
        }
        rows.close()?;
        Ok(())
    }

    fn close(self) -> Result<(), ParquetError> {
        if let Some(file) = self.file {
            file.close()?;
        }
        Ok(())
    }
}

/// The units of columns, as a file keeps them.
fn metadata(units: &[(String, String)]) -> Option<Vec<KeyValue>> {
    let entry = |(name, unit): &(String, String)| KeyValue::new(format!("unit.{name}"), unit.clone());
    (!units.is_empty()).then(|| units.iter().map(entry).collect())
}

fn field(name: &str, column: &Column<'_>) -> Result<TypePtr, ParquetError> {
    let (physical, converted) = match column {
        Column::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
        Column::LimitingFactors(_) | Column::Words(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
    };
    let builder = Type::primitive_type_builder(name, physical);
    Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build()?))
}

/// The values that are there, and for each row whether its value is (its definition level).
fn present<T, V>(values: &[T], value: impl Fn(&T) -> Option<V>) -> (Vec<V>, Vec<i16>) {
    let values: Vec<Option<V>> = values.iter().map(value).collect();
    let defined = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.into_iter().flatten().collect(), defined)
}
