//! Series as Apache Parquet: the columns of the CSV with their names and units, missing values as nulls.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};

use super::columns::Series;
use super::csv::Column;
use super::recording::Recording;

impl Recording {
    /// Writes the series as a Parquet file, uncompressed, a row group for each 32 768 bins: `time_s`, then the columns of
    /// [`Self::write_csv`] in the same order; quantities as DOUBLE, factors as strings.
    ///
    /// # Errors
    /// Those of `out`; a block of a long run cannot be read.
    pub fn write_parquet(&self, out: &mut (impl Write + Send)) -> io::Result<()> {
        let mut file = Rows::new(out, "series", &self.any_block().with_time()).map_err(io_error)?;
        self.each_block(|block| file.group(&block.with_time()).map_err(io_error))?;
        file.close().map_err(io_error)
    }
}

impl Series {
    fn with_time(&self) -> Vec<(String, Column<'_>)> {
        let mut columns = vec![("time_s".to_owned(), Column::Numbers(&self.time_s))];
        columns.extend(self.columns());
        columns
    }
}

/// Writes columns of numbers as a Parquet file of one row group, uncompressed, as DOUBLE; what is not finite is null.
///
/// # Errors
/// Those of `out`; columns of different lengths.
pub fn write_parquet<'c>(
    out: &mut (impl Write + Send),
    name: &str,
    columns: impl Iterator<Item = (String, &'c [f64])>,
) -> io::Result<()> {
    let columns: Vec<_> = columns.map(|(name, values)| (name, Column::Numbers(values))).collect();
    let mut file = Rows::new(out, name, &columns).map_err(io_error)?;
    file.group(&columns).map_err(io_error)?;
    file.close().map_err(io_error)
}

/// So many rows are copied at once: a multiple of the writer's own batches, so that a file does not depend on it.
const AT_ONCE: usize = 64 * 1024;

fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => io::Error::other(error),
        other => io::Error::other(other),
    }
}

/// A file of groups of rows.
struct Rows<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Rows<W> {
    /// With columns as `columns` are.
    fn new(out: W, name: &str, columns: &[(String, Column<'_>)]) -> Result<Self, ParquetError> {
        let fields = columns.iter().map(|(name, column)| column.field(name)).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::default())).map(Self)
    }

    fn group(&mut self, columns: &[(String, Column<'_>)]) -> Result<(), ParquetError> {
        let mut rows = self.0.next_row_group()?;
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
            }
            writer.close()?;
        }
        rows.close()?;
        Ok(())
    }

    fn close(self) -> Result<(), ParquetError> {
        self.0.close()?;
        Ok(())
    }
}

impl Column<'_> {
    fn field(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, converted) = match self {
            Self::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Self::LimitingFactors(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
        };
        let builder = Type::primitive_type_builder(name, physical);
        Ok(Arc::new(builder.with_repetition(Repetition::OPTIONAL).with_converted_type(converted).build()?))
    }
}

/// The values that are there, and for each row whether its value is (its definition level).
fn present<T, V>(values: &[T], value: impl Fn(&T) -> Option<V>) -> (Vec<V>, Vec<i16>) {
    let values: Vec<Option<V>> = values.iter().map(value).collect();
    let defined = values.iter().map(|value| i16::from(value.is_some())).collect();
    (values.into_iter().flatten().collect(), defined)
}
