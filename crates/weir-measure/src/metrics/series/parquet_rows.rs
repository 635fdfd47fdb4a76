//! Tables as Apache Parquet.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::SerializedFileWriter;
use ::parquet::schema::types::{Type, TypePtr};

use super::table::Column;

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

pub(super) fn io_error(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(error) => io::Error::other(error),
        other => io::Error::other(other),
    }
}

/// A file of groups of rows.
pub(super) struct Rows<W: Write + Send>(SerializedFileWriter<W>);

impl<W: Write + Send> Rows<W> {
    /// With columns as `columns` are.
    pub(super) fn new(out: W, name: &str, columns: &[(String, Column<'_>)]) -> Result<Self, ParquetError> {
        let fields = columns.iter().map(|(name, column)| column.field(name)).collect::<Result<_, _>>()?;
        let schema = Arc::new(Type::group_type_builder(name).with_fields(fields).build()?);
        SerializedFileWriter::new(out, schema, Arc::new(WriterProperties::default())).map(Self)
    }

    pub(super) fn group(&mut self, columns: &[(String, Column<'_>)]) -> Result<(), ParquetError> {
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

    pub(super) fn close(self) -> Result<(), ParquetError> {
        self.0.close()?;
        Ok(())
    }
}

impl Column<'_> {
    fn field(&self, name: &str) -> Result<TypePtr, ParquetError> {
        let (physical, converted) = match self {
            Self::Numbers(_) => (Physical::DOUBLE, ConvertedType::NONE),
            Self::LimitingFactors(_) | Self::Words(_) => (Physical::BYTE_ARRAY, ConvertedType::UTF8),
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
