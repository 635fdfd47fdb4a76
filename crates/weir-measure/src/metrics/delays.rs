//! The delays of a flow, as distributions.

use super::histogram::Histogram;

/// The delays of a flow's packets and frames within the measurement window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlowDelays {
    /// The one-way delay minus the propagation delay.
    pub owd_excess: Histogram,
    /// Waiting time in the queues of bottlenecks.
    pub queue_wait: Histogram,
    /// Waiting time of media packets: in the sender from the packetiser to the wire, and in the queues of
    /// bottlenecks.
    pub whole_wait: Histogram,
    /// Round-trip time minus the least of the run.
    pub rtt_excess: Histogram,
    /// Delay from a frame's capture to the arrival of its last packet.
    pub frame_delay: Histogram,
}
