//! The columns of a run.

use weir_cc::LimitingFactor;
use weir_world::Side;

/// The time series of a run, in bins of 100 ms. Each column has one entry per bin, NaN without a value.
///
/// A bin begins with the measurement window, so that the first one may be shortened by the start of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Beginning of each bin, in seconds of the run.
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
    /// The factor that limited the rate for the longest part of the bin.
    pub limiting_factor: Vec<Option<LimitingFactor>>,
    /// Packets lost over packets lost and received, by the time of loss or reception.
    pub loss_ratio: Vec<f64>,
    /// Mean over the packets received of one-way delay less propagation.
    pub owd_excess_mean_ms: Vec<f64>,
    /// The largest excess of the one-way delay over the propagation delay.
    pub owd_excess_max_ms: Vec<f64>,
    /// The longest delay from capture to completion, of the frames completed in the bin.
    pub frame_delay_max_ms: Vec<f64>,
    /// The controller's signals, the sender half's first.
    pub signals: Vec<SignalSeries>,
    /// The last allocation of its coupler, for a flow in a coupling: a rate in bit/s, or a window in segments.
    pub share: Option<Share>,
}

/// The last allocation to a flow, over time.
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
    /// Sum of their sending rates.
    pub send_rate_bps: Vec<f64>,
    /// Sum of their receive rates.
    pub receive_rate_bps: Vec<f64>,
    /// The coupler's aggregate for all groups together: `S_CR` in bit/s, or a sum of windows in bytes.
    pub aggregate: Vec<f64>,
    /// Whether the aggregate is a sum of windows.
    pub windows: bool,
    /// Number of their groups, as far as their members know; 1 if all of these are coupled.
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
    /// Capacity of the link.
    pub capacity_bps: Vec<f64>,
    /// Rate of the packets that came out.
    pub rate_bps: Vec<f64>,
    /// Mean waiting time in the queue, over the packets that left the link.
    pub queue_mean_ms: Vec<f64>,
    /// The longest waiting time in the queue.
    pub queue_max_ms: Vec<f64>,
}
