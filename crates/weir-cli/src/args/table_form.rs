//! Form of the table of all runs.

use clap::ValueEnum;
use weir_study::output::TableFormat;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableForm {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
    /// No table.
    None,
}

impl TableForm {
    /// Format of its files, or `None` without a table.
    pub(crate) fn format(self) -> Option<TableFormat> {
        match self {
            Self::Parquet => Some(TableFormat::Parquet),
            Self::Csv => Some(TableFormat::Csv),
            Self::None => None,
        }
    }
}
