//! Results of a session at one end, as printed with `--json`: a line for each session.

use schemars::JsonSchema;
use serde::Serialize;

/// Results of a session at one end: a line of JSON for each session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct PeerResults {
    /// Address of the other end; absent without a session.
    pub peer: Option<String>,
    /// Whether both ends had a common key. Without one only the return path is proved.
    pub keyed: bool,
    /// Duration of the flows in seconds.
    pub seconds: f64,
    /// Round-trip time in ms, measured twice a second beside the flows: median and 95th percentile.
    pub rtt_ms: Option<[f64; 2]>,
    /// Cause of the end.
    pub outcome: String,
    /// The flows, those of the caller first.
    pub flows: Vec<FlowResults>,
    /// Datagrams that were dropped.
    pub dropped: DroppedResults,
    /// Lateness of this end's timers in ms: median, 99th percentile, most.
    pub timers_late_ms: [f64; 3],
    /// Packets that the system did not take, or dropped at this end's socket.
    pub lost_at_socket: u64,
    /// Reasons why this end was disturbed, or the session is incomplete.
    pub inconclusive: Vec<String>,
    /// Requirements of the command line that are not met.
    pub failed: Vec<String>,
}

/// A flow at one end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct FlowResults {
    /// Its index in the session.
    pub flow: usize,
    /// Name of its controller; `constant` without one.
    pub controller: String,
    /// Whether this end sends the flow; it receives it if not.
    pub sent_here: bool,
    /// Mean target in bit/s; only where the flow is sent.
    pub target_rate_bps: Option<u64>,
    /// Sent bits per second, headers included; only where the flow is sent.
    pub sent_rate_bps: Option<u64>,
    /// Received bits per second, headers included. The sender has them from the receiver.
    pub received_rate_bps: Option<u64>,
    /// Received bits of media per second.
    pub media_rate_bps: Option<u64>,
    /// Share of the packets that did not arrive.
    pub loss_ratio: Option<f64>,
    /// Packets marked with "congestion experienced".
    pub marked: Option<u64>,
    /// One-way delay above its least value in ms: median and 95th percentile.
    pub delay_ms: Option<[f64; 2]>,
    /// Frames that were encoded, and those that were skipped.
    pub frames: Option<[u64; 2]>,
    /// The circuit breaker that stopped the flow.
    pub stopped: Option<String>,
}

/// Datagrams that an end dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct DroppedResults {
    /// Wrong tags, and packets without a session.
    pub forged: u64,
    /// Packets that came before, or are too old.
    pub replayed: u64,
    /// Packets of other addresses than the peer's.
    pub foreign: u64,
    /// Valid packets without meaning.
    pub unreadable: u64,
}

/// JSON Schema of the results.
pub fn results_schema() -> serde_json::Value {
    schemars::schema_for!(PeerResults).to_value()
}
