//! Runs of a grid with all of their metrics, for one table of all runs.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weir_form::{Varied, VariedValue};
use weir_measure::results::{
    AxisKind, AxisValue, ColumnInfo, MetricName, RunMetrics, TABLE_COLUMNS, TABLE_VERSION, TableAxis,
    TidyRun, TidyTable, table_metrics,
};

/// The columns and metrics of the table of all runs.
pub fn table_schema() -> Value {
    let column = |column: &ColumnInfo| {
        let ColumnInfo { name, kind, nullable, definition } = column;
        json!({ "name": name, "type": kind, "null": nullable, "definition": definition })
    };
    let metric = |metric: &MetricName| json!({ "name": metric.name, "unit": metric.unit });
    json!({
        "version": TABLE_VERSION,
        "columns": TABLE_COLUMNS.iter().map(column).collect::<Vec<_>>(),
        "metrics": table_metrics().iter().map(metric).collect::<Vec<_>>(),
    })
}

/// A run with its place in the grid. Runs are in the order of places, variants and seeds.
#[derive(Clone, Debug)]
pub struct TableRun<'a> {
    /// Name of its scenario, row or case.
    pub scenario: &'a str,
    /// Name under which its controller was compared.
    pub variant: &'a str,
    /// The controller.
    pub controller: &'a str,
    /// Its seed.
    pub seed: u64,
    /// Value of each swept key, in the order of the axes.
    pub at: Vec<AxisValue>,
    /// The metrics.
    pub metrics: &'a RunMetrics,
}

impl TableRun<'_> {
    /// Adds the run, whose index among all is `run`, to a table with the same axes.
    fn push(&self, run: u32, table: &mut TidyTable) {
        let &Self { scenario, variant, controller, seed, ref at, metrics } = self;
        table.push_at(TidyRun { run, scenario, variant, controller, seed, metrics }, at);
    }
}

/// The table of `runs`, whose indices among all begin at `first`, with these axes.
pub fn tidy_table<'r>(axes: &[TableAxis], first: u32, runs: impl Iterator<Item = TableRun<'r>>) -> TidyTable {
    let mut table = TidyTable::with_axes(axes);
    runs.zip(first..).for_each(|(run, index)| run.push(index, &mut table));
    table
}

/// The keys `varied`, as columns of a table.
pub fn table_axes(varied: &[Varied]) -> Vec<TableAxis> {
    let axis = |own: &Varied| {
        let kind = own.base_unit.map_or(AxisKind::Texts, |unit| AxisKind::Numbers(Some(unit.to_owned())));
        TableAxis { key: own.path.clone(), kind }
    };
    varied.iter().map(axis).collect()
}

/// A value of the key `varied` in its column, in the base unit.
pub fn axis_value(varied: &Varied, value: Option<&VariedValue>) -> AxisValue {
    match value {
        None => AxisValue::Missing,
        Some(value) if varied.base_unit.is_some() => AxisValue::Number(value.base),
        Some(value) => AxisValue::Text(value.text.clone()),
    }
}

/// The stored metrics of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredMetrics {
    /// The controllers of its media flows.
    pub controller: String,
    /// The metrics.
    pub metrics: RunMetrics,
}
