//! The columns of a run.

use weir_cc::LimitingFactor;
use weir_world::Side;

/// A run over time, in bins of 100 ms. All columns have one entry per bin; NaN where there is no value.
///
/// Bins begin with the measurement window, so the first one may be cut off by the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// When each bin begins, in seconds of the run.
    pub time_s: Vec<f64>,
    /// The flows, in the plan's order.
    pub flows: Vec<FlowSeries>,
    /// The links, in the plan's order.
    pub links: Vec<LinkSeries>,
    /// The couplings, in the plan's order.
    pub couplings: Vec<CouplingSeries>,
}

/// A flow over time.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSeries {
    /// Its name.
    pub name: String,
    /// Rate of the data sent, on the wire.
    pub send_rate_bps: Vec<f64>,
    /// Rate of the data received, on the wire.
    pub receive_rate_bps: Vec<f64>,
    /// Time average of the target sending rate.
    pub target_rate_bps: Vec<f64>,
    /// What limited the rate for the longest part of the bin.
    pub limiting_factor: Vec<Option<LimitingFactor>>,
    /// Packets lost over packets lost and received, by the time of loss or reception.
    pub loss_ratio: Vec<f64>,
    /// Mean over the packets received of one-way delay less propagation.
    pub owd_excess_mean_ms: Vec<f64>,
    /// The largest of the same.
    pub owd_excess_max_ms: Vec<f64>,
    /// The longest time from capture to completion of the frames completed.
    pub frame_delay_max_ms: Vec<f64>,
    /// The controller's signals, the sender half's first.
    pub signals: Vec<SignalSeries>,
    /// What its coupler ordered last, for a flow in a coupling: a rate in bit/s, or a window in segments.
    pub share: Option<Share>,
}

/// What a flow was last ordered to, over time.
#[derive(Clone, Debug, PartialEq)]
pub enum Share {
    /// A rate in bit/s.
    Rate(Vec<f64>),
    /// A window in segments.
    Window(Vec<f64>),
}

/// The flows of a coupling together, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct CouplingSeries {
    /// Its name.
    pub name: String,
    /// The flows, by their index in the plan.
    pub flows: Vec<usize>,
    /// What they sent together.
    pub send_rate_bps: Vec<f64>,
    /// What they received together.
    pub receive_rate_bps: Vec<f64>,
    /// What their coupler had for them together, all groups: `S_CR` in bit/s, or a sum of windows in bytes.
    pub aggregate: Vec<f64>,
    /// Whether the aggregate is one of windows.
    pub windows: bool,
    /// In how many groups they are, as the flows know that were told of one; 1 if all of these are coupled.
    pub groups: Vec<f64>,
}

/// A controller's signal over time.
#[derive(Clone, Debug, PartialEq)]
pub struct SignalSeries {
    /// Its name.
    pub name: String,
    /// The half of the controller that it belongs to.
    pub side: Side,
    /// The least value in the bin.
    pub min: Vec<f64>,
    /// The greatest value in the bin.
    pub max: Vec<f64>,
}

/// A link over time.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkSeries {
    /// Its name.
    pub name: String,
    /// What it could carry.
    pub capacity_bps: Vec<f64>,
    /// What came out of it.
    pub rate_bps: Vec<f64>,
    /// Mean over the packets that came out of how long they had waited in the queue.
    pub queue_mean_ms: Vec<f64>,
    /// The largest of the same.
    pub queue_max_ms: Vec<f64>,
}
