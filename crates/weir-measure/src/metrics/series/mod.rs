//! A run as columns over a grid of 100 ms, for plots and files.

mod columns;
mod coupling;
mod csv;
mod decisions;
mod glossary;
mod read;
mod recorder;
mod recording;
mod spool;
mod table;
mod values;

pub use columns::{CouplingSeries, FlowSeries, LinkSeries, Series, Share, SignalSeries};
pub use csv::{SignalUnit, write_cdf_csv};
pub use decisions::{
    DECISION_COLUMNS, DecidingSignal, DecisionColumn, DecisionReason, Decisions, RecordedDecision,
};
pub use glossary::{SERIES_COLUMNS, SeriesColumn};
pub use read::{ReadSeriesError, read_cdf_csv};
pub(super) use recorder::SeriesRecorder;
pub use recording::Recording;
pub use spool::{BlockStorage, NewBlockStorage, in_memory};
pub use table::Column;
