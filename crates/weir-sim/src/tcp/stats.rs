//! Counters of a TCP sender.

use weir_units::TimeDelta;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SegmentCounts {
    pub(super) segments: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    pub(super) fast_recoveries: u64,
    pub(super) ecn_reductions: u64,
    pub(super) undone: u64,
    pub(super) probes: u64,
    /// Segments reported by D-SACKs.
    pub(super) duplicates: u64,
    pub(super) refused: u64,
}

/// Counts and estimates of a sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpStats {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Number of retransmission timeouts, including those of the SYN.
    pub timeouts: u64,
    /// Number of fast recoveries.
    pub fast_recoveries: u64,
    /// Number of window reductions because of ECN.
    pub ecn_reductions: u64,
    /// Reductions that were undone, as segments taken for lost had only been late.
    pub undone: u64,
    /// Tail loss probes that were sent.
    pub probes: u64,
    /// Ignored acknowledgements of segments that never left, and ignored D-SACKs of more than the retransmissions.
    pub refused: u64,
    /// Smoothed round-trip time, if there was a sample.
    pub srtt: Option<TimeDelta>,
    /// Retransmission timeout.
    pub rto: TimeDelta,
}
