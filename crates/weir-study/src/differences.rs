//! Measured values of controllers as JSON, and the differences between variants of one controller.

use serde_json::{Value, json};
use weir_report::page::{Differences, Row, SummaryCell, SummaryColumn};

/// The difference of the variant `name` from the first of its controller, as `less` of its object, or `None` for
/// others.
pub fn less(differences: &[Differences], name: &str) -> Option<(String, Value)> {
    let row = |own: &Differences| {
        let row = own.table.rows.iter().find(|row| row.name == name)?;
        let measured = Value::Object(measured(&own.table.columns, row).collect());
        Some(("less".to_owned(), json!({ own.first.clone(): measured })))
    };
    differences.iter().find_map(row)
}

/// The values of a row by the names of its columns.
pub fn measured(columns: &[SummaryColumn], row: &Row) -> impl Iterator<Item = (String, Value)> {
    let value = |(column, cell): (&SummaryColumn, &Option<SummaryCell>)| {
        let value = cell.map(|SummaryCell { mean, ci95, kinds, spread, .. }| {
            json!({ "mean": mean, "ci95": ci95, "kinds": kinds, "spread": spread })
        });
        (column.label.clone(), json!(value))
    };
    columns.iter().zip(&row.cells).map(value)
}
