//! Results of runs as values that serialise with stable keys. `docs/metrics.md` defines each of them.

mod flow_kind;
mod measures;
mod over_runs;
pub mod ranking;
pub mod spread;
pub mod stats;
mod summary;
mod tidy;
mod units;

pub use flow_kind::FlowKind;
pub use measures::{
    CompletedTransfers, Convergence, DelayStatistics, FlowMeasures, Jain, LinkMeasures, Measures,
    PerLimitingFactor, Pictures, Pooled, QueuePackets, Stopped, Tally, Utilisation,
};
pub use over_runs::{OverRuns, Statistic, Value};
pub use summary::{ControllerSummary, Summary, UnevenRuns, results_schema};
pub use tidy::{
    AxisColumn, AxisKind, AxisValue, AxisValues, ColumnInfo, MetricName, TABLE_COLUMNS, TABLE_VERSION,
    TableAxis, TableColumn, TextColumn, TidyRun, TidyTable, table_metrics,
};
pub use units::{NO_UNIT, UNIT_ENDS, metric_unit, ucum};

/// The metrics of one run.
pub type RunMetrics = Measures<Value>;
