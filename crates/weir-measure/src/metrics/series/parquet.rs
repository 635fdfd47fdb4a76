//! Series as Apache Parquet: the columns of the CSV with their names and units, missing values as nulls.

use std::io::{self, Write};

use super::columns::Series;
use super::parquet_rows::{Rows, io_error};
use super::recording::Recording;
use super::table::Column;

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
