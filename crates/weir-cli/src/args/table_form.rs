//! Form of the table of all runs.

use clap::ValueEnum;

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
    /// End of the names of its files, or `None` without a table.
    pub(crate) fn end(self) -> Option<&'static str> {
        match self {
            Self::Parquet => Some("parquet"),
            Self::Csv => Some("csv"),
            Self::None => None,
        }
    }
}
