//! What the endpoints send to each other: plain values without payload.

use weir_cc::{Ecn, SendTime};

/// A data segment, or the SYN that opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its place in the stream, counted in segments from 0.
    pub number: u32,
    /// Payload in bytes; zero for a SYN.
    pub payload: u16,
    /// Whether this opens the connection and carries no data.
    pub syn: bool,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Timestamp: when this copy was sent (RFC 7323 §3).
    pub sent_at: SendTime,
    /// The ECN field of its IP header (RFC 3168 §5).
    pub ecn: Ecn,
    /// "Congestion window reduced": the answer to an ECN-Echo (RFC 3168 §6.1.2).
    pub cwr: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The next segment expected: everything below has arrived.
    pub cumulative: u32,
    /// Whether this answers a SYN.
    pub syn: bool,
    /// What has arrived above, newest first (RFC 2018 §4); empty blocks come last.
    pub sacks: [SackBlock; 3],
    /// Echo of a segment's timestamp (RFC 7323 §4.3).
    pub echo: SendTime,
    /// ECN-Echo: a segment arrived marked and the sender has not answered yet (RFC 3168 §6.1.3).
    pub ece: bool,
    /// How many segments have arrived marked so far, modulo 2¹⁶; 0 unless exact counts are used.
    pub marked: u16,
}

/// Segments `start..end` that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first.
    pub start: u32,
    /// One beyond the last.
    pub end: u32,
}

impl SackBlock {
    /// No segments at all.
    pub const EMPTY: Self = Self { start: 0, end: 0 };

    /// Whether there is nothing in it.
    pub const fn is_empty(&self) -> bool {
        self.end <= self.start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_stay_small_values() {
        assert!(size_of::<Segment>() <= 24);
        assert!(size_of::<Acknowledgement>() <= 40);
    }
}
