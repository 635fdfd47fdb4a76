//! Definitions of the columns of time series.

/// A column of the time series, except those of the controllers' own signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SeriesColumn {
    /// Its name; `FLOW`, `LINK` and `COUPLING` stand for the name of a flow, link or coupling.
    pub name: &'static str,
    /// Its unit; empty for ratios, numbers and text.
    pub unit: &'static str,
    /// Meaning of its values, for each bin.
    pub definition: &'static str,
}

const fn column(name: &'static str, unit: &'static str, definition: &'static str) -> SeriesColumn {
    SeriesColumn { name, unit, definition }
}

/// The columns of series, in their order.
pub const SERIES_COLUMNS: [SeriesColumn; 20] = [
    column("time_s", "s", "when the bin of 100 ms begins"),
    column("FLOW.send_rate_bps", "bit/s", "data sent, on the wire"),
    column("FLOW.receive_rate_bps", "bit/s", "data received, on the wire"),
    column("FLOW.target_rate_bps", "bit/s", "time average of the target sending rate"),
    column(
        "FLOW.loss_ratio",
        "",
        "packets lost over packets lost and received, by the time of loss or reception",
    ),
    column("FLOW.owd_excess_mean_ms", "ms", "one-way delay less propagation, mean over the packets received"),
    column(
        "FLOW.owd_excess_max_ms",
        "ms",
        "one-way delay less propagation, the largest of the packets received",
    ),
    column(
        "FLOW.frame_delay_max_ms",
        "ms",
        "the longest time from capture to completion of the frames completed",
    ),
    column(
        "FLOW.limiting_factor",
        "",
        "the limiting factor of the longest part of the bin: what keeps the rate from rising",
    ),
    column("FLOW.share_bps", "bit/s", "the rate that its coupler ordered last"),
    column("FLOW.share_segments", "segments", "the window that its coupler ordered last"),
    column("LINK.capacity_bps", "bit/s", "what the link could carry"),
    column("LINK.rate_bps", "bit/s", "what came out of the link"),
    column("LINK.queue_mean_ms", "ms", "wait in the queue, mean over the packets that came out"),
    column("LINK.queue_max_ms", "ms", "wait in the queue, the longest of the packets that came out"),
    column("COUPLING.send_rate_bps", "bit/s", "what its flows sent together"),
    column("COUPLING.receive_rate_bps", "bit/s", "what its flows received together"),
    column(
        "COUPLING.aggregate_bps",
        "bit/s",
        "the rate that its coupler had for its flows together, all groups",
    ),
    column(
        "COUPLING.aggregate_bytes",
        "B",
        "the windows that its coupler had for its flows together, all groups",
    ),
    column("COUPLING.groups", "", "number of groups, over the flows whose group is known"),
];

/// The unit of a column by its name, without those of signals; `None` for an unknown one.
pub(super) fn unit_of_column(name: &str) -> Option<&'static str> {
    let quantity = |name: &str| name.rsplit('.').next().map(str::to_owned);
    SERIES_COLUMNS.iter().find(|column| quantity(column.name) == quantity(name)).map(|column| column.unit)
}
