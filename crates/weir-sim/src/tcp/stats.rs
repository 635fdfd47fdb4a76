//! What a sender counts.

use weir_units::TimeDelta;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    pub(super) segments: u64,
    pub(super) retransmissions: u64,
    pub(super) timeouts: u64,
    pub(super) fast_recoveries: u64,
    pub(super) ecn_reductions: u64,
    pub(super) undone: u64,
    pub(super) probes: u64,
    /// Segments of which D-SACKs have told.
    pub(super) duplicates: u64,
    pub(super) refused: u64,
}

/// What a sender has been through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpStats {
    /// Data segments sent, retransmissions included.
    pub segments: u64,
    /// Data segments sent again.
    pub retransmissions: u64,
    /// Times the retransmission timer ran out, the SYN's included.
    pub timeouts: u64,
    /// Times fast recovery was entered.
    pub fast_recoveries: u64,
    /// Times the window was reduced because of ECN.
    pub ecn_reductions: u64,
    /// Reductions that were undone, as what was taken for lost had only been late.
    pub undone: u64,
    /// Probes of the tail that were sent.
    pub probes: u64,
    /// Acknowledgements of what never left, and D-SACKs of more than was sent again: they are not heeded.
    pub refused: u64,
    /// Smoothed round-trip time; `None` before the first sample.
    pub srtt: Option<TimeDelta>,
    /// Retransmission timeout.
    pub rto: TimeDelta,
}
