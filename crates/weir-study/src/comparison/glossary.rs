//! Definitions of the columns of the tables.

use super::tables::{ColumnMetric, breaker_metrics, flow_metrics, media_metrics, network_metrics};
use super::{demo, portrait};
use weir_report::page::SummaryColumn;

/// Every column of the tables of `weir run` and `weir compare`, with a description of where it stands. A column of several tables
/// is listed once for each of its definitions.
pub fn columns() -> Vec<(SummaryColumn, String)> {
    let run = media_metrics().into_iter().chain(network_metrics()).chain(breaker_metrics());
    let demo = demo::columns().into_iter().map(|(_, metric)| metric);
    let tables: [(&str, Vec<ColumnMetric<'static>>); 4] = [
        ("`weir run SCENARIO`", run.collect()),
        ("`weir run SCENARIO`, for each flow", flow_metrics("")),
        ("`weir run`, the demo", demo.collect()),
        ("`weir compare`", portrait::metrics()),
    ];
    let mut columns: Vec<(SummaryColumn, String)> = Vec::new();
    for (table, metrics) in tables {
        for ColumnMetric { column, .. } in metrics {
            let same = |(known, _): &&mut (SummaryColumn, String)| {
                (&known.label, &known.definition) == (&column.label, &column.definition)
            };
            match columns.iter_mut().find(same) {
                Some((_, tables)) => tables.extend(["; ", table]),
                None => columns.push((column, table.to_owned())),
            }
        }
    }
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_is_defined_and_comes_once() {
        let columns = columns();
        for (index, (column, tables)) in columns.iter().enumerate() {
            assert!(!column.definition.is_empty() && tables.starts_with("`weir "), "{column:?}");
            let again = columns[..index]
                .iter()
                .find(|(other, _)| (&other.label, &other.definition) == (&column.label, &column.definition));
            assert!(again.is_none(), "{column:?}");
        }
        let terms_of = |label: &str| -> Vec<&str> {
            let named = columns.iter().filter(|(column, _)| column.label == label);
            named.map(|(_, tables)| tables.as_str()).collect()
        };
        assert_eq!(terms_of("useful rate"), ["`weir run SCENARIO`; `weir run`, the demo; `weir compare`"]);
        assert_eq!(terms_of("start-up"), ["`weir compare`"]);
    }
}
