//! Differences between variants of one controller, run by run: below the table of results, and in the JSON of each
//! variant.

use std::io::Write;

use serde_json::{Value, json};
use weir_report::page::{Differences, Row, SummaryCell, SummaryColumn};

use crate::failure::Failure;
use crate::{markdown, table};

/// Title above the names of the variants; `place` names the place, if there are several.
fn title(place: Option<&str>, differences: &Differences) -> String {
    let place = place.map_or_else(String::new, |place| format!("{place}: "));
    place + &differences.title()
}

/// A table for each controller that has several variants.
pub(crate) fn write(
    out: &mut impl Write,
    place: Option<&str>,
    differences: &[Differences],
) -> Result<(), Failure> {
    for own in differences {
        writeln!(out, "{}", table::summary(&title(place, own), &own.table, table::terminal_width()))?;
        table::write_notes(out, &own.table)?;
    }
    Ok(())
}

/// The difference of the variant `name` from the first of its controller, as `less` of its object, or `None` for
/// others.
pub(crate) fn less(differences: &[Differences], name: &str) -> Option<(String, Value)> {
    let row = |own: &Differences| {
        let row = own.table.rows.iter().find(|row| row.name == name)?;
        let measured = Value::Object(measured(&own.table.columns, row).collect());
        Some(("less".to_owned(), json!({ own.first.clone(): measured })))
    };
    differences.iter().find_map(row)
}

/// The tables for a page.
pub(crate) fn in_markdown(place: Option<&str>, differences: &[Differences]) -> String {
    let table = |own: &Differences| format!("\n{}", markdown::numbers(&title(place, own), &own.table));
    differences.iter().map(table).collect()
}

/// The values of a row by the names of its columns.
pub(crate) fn measured(columns: &[SummaryColumn], row: &Row) -> impl Iterator<Item = (String, Value)> {
    let value = |(column, cell): (&SummaryColumn, &Option<SummaryCell>)| {
        let value = cell.map(|SummaryCell { mean, ci95, kinds, spread, .. }| {
            json!({ "mean": mean, "ci95": ci95, "kinds": kinds, "spread": spread })
        });
        (column.label.clone(), json!(value))
    };
    columns.iter().zip(&row.cells).map(value)
}
