//! The metrics of a run: rates, losses, delays, frames, fairness, utilisation, all computed in one pass.
//!
//! A [`Recorder`] observes a simulation and keeps counters, [histograms](Histogram) and 100-ms bins, never
//! packets. A [`MeasurePlan`] selects the metrics before the run; the result is a
//! [`RunMetrics`](crate::results::RunMetrics) and, on request, a [`Series`] for plots. Definitions, units and
//! sources of all metrics are in `docs/metrics.md`.

mod bins;
mod contention;
mod convergence;
mod coupling;
mod delay_bins;
mod delays;
mod evaluate;
mod fairness;
mod flow;
mod frames;
mod histogram;
mod limiting_factors;
mod link;
mod max_min;
mod network_observer;
mod pictures;
mod plan;
mod queue;
mod recorder;
mod series;
mod span;
mod view;
mod window;

pub use bins::{BIN_NANOS, BINS_PER_SECOND};
pub use delays::FlowDelays;
pub use fairness::jain;
pub use histogram::{CdfPoint, Histogram};
pub use max_min::{FairShares, max_min_shares, max_min_shares_every};
pub use network_observer::{BacklogReader, NetworkObserver};
pub use plan::{CouplingPlan, ExtraWindow, FlowPlan, LinkPlan, MeasurePlan};
pub use recorder::{Measured, Recorder};
pub use series::{
    BlockStorage, Column, CouplingSeries, DECISION_COLUMNS, DecidingSignal, DecisionColumn, DecisionReason,
    Decisions, FlowSeries, LinkSeries, NewBlockStorage, ReadSeriesError, RecordedDecision, Recording,
    SERIES_COLUMNS, Series, SeriesColumn, Share, SignalSeries, SignalUnit, in_memory, read_cdf_csv,
    write_cdf_csv,
};
pub use view::View;
