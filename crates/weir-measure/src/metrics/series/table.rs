//! Columns of a table.

use std::io::{self, Write};

use weir_cc::LimitingFactor;

use crate::csv_fields::quoted;

/// The values of a column, one for each row.
#[derive(Clone, Copy, Debug)]
pub enum Column<'a> {
    /// Quantities; NaN where there is no value.
    Numbers(&'a [f64]),
    /// Limiting factors of a rate.
    LimitingFactors(&'a [Option<LimitingFactor>]),
    /// Texts.
    Words(&'a [Option<&'a str>]),
}

impl Column<'_> {
    pub(super) fn write_cell(&self, out: &mut impl Write, row: usize) -> io::Result<()> {
        match self {
            Self::Numbers(values) => match values.get(row) {
                Some(value) if value.is_finite() => write!(out, ",{value}"),
                _ => write!(out, ","),
            },
            Self::LimitingFactors(factors) => {
                write!(out, ",{}", factors.get(row).copied().flatten().map_or("", LimitingFactor::name))
            }
            Self::Words(words) => {
                write!(out, ",{}", quoted(words.get(row).copied().flatten().unwrap_or_default()))
            }
        }
    }
}
