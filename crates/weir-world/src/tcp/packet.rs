//! Packets of the endpoints: plain values without payload.

use weir_cc::{ArrivalTime, Ecn, SendTime};

/// A data segment, or the SYN that opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "flags of a header, as on the wire")]
pub struct Segment {
    /// Its place in the stream, counted in segments from 0.
    pub number: u32,
    /// Payload in bytes; zero for a SYN.
    pub payload: u16,
    /// Whether this opens the connection and carries no data.
    pub syn: bool,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Timestamp: departure of this copy (RFC 7323 §3).
    pub sent_at: SendTime,
    /// The ECN field of its IP header (RFC 3168 §5).
    pub ecn: Ecn,
    /// "Congestion window reduced": the answer to an ECN-Echo (RFC 3168 §6.1.2).
    pub cwr: bool,
    /// "Push" (PSH): the last segment of a burst, which the receiver should acknowledge without delay.
    pub push: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgement {
    /// The next segment expected: all segments below have arrived.
    pub cumulative: u32,
    /// Whether this answers a SYN.
    pub syn: bool,
    /// Segments that have arrived above, newest first (RFC 2018 §4); empty blocks come last.
    pub sacks: [SackBlock; 3],
    /// Echo of a segment's timestamp, and the arrival time of that segment.
    pub stamps: Timestamps,
    /// ECN-Echo: a segment arrived marked and the sender has not answered yet (RFC 3168 §6.1.3).
    pub ece: bool,
    /// Number of marked segments so far, modulo 2¹⁶; 0 unless exact counts are used.
    pub marked: u16,
}

/// The two timestamps of an acknowledgement (RFC 7323 §3.2). The first is a segment's departure on its sender's clock,
/// the second its arrival on its receiver's. The latter is `TSval`, but of the arrival: a delayed acknowledgement
/// leaves later.
///
/// As on the wire they take eight bytes. They wrap around, and are unwrapped with the reader's approximate time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps(u64);

/// Bits of the departure time, in nanoseconds: it may be 9 minutes away from the reader's approximate time.
const SENT_BITS: u32 = 40;
/// Bits of the arrival time, in units of 16 µs: it may be 134 s away.
const ARRIVED_BITS: u32 = 64 - SENT_BITS;
const ARRIVED_UNIT: i64 = 16_000;

impl Timestamps {
    /// Timestamps of a segment that was `sent` and `arrived` at these times.
    pub const fn new(sent: SendTime, arrived: ArrivalTime) -> Self {
        let sent = sent.nanos() as u64 & (u64::MAX >> ARRIVED_BITS);
        Self(sent | (arrived.nanos().div_euclid(ARRIVED_UNIT) as u64) << SENT_BITS)
    }

    /// Departure time, which is near `about`.
    #[inline]
    pub const fn sent(self, about: SendTime) -> SendTime {
        let about = about.nanos();
        let distance = (self.0 << ARRIVED_BITS).wrapping_sub((about as u64) << ARRIVED_BITS) as i64;
        SendTime::from_nanos(about.wrapping_add(distance >> ARRIVED_BITS))
    }

    /// Arrival time, which is near `about`, to 16 µs.
    pub const fn arrived(self, about: ArrivalTime) -> ArrivalTime {
        let about = about.nanos().div_euclid(ARRIVED_UNIT);
        let distance = (self.0 >> SENT_BITS << SENT_BITS).wrapping_sub((about as u64) << SENT_BITS) as i64;
        ArrivalTime::from_nanos(about.wrapping_add(distance >> SENT_BITS).saturating_mul(ARRIVED_UNIT))
    }
}

/// Segments `start..end` that have arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlock {
    /// The first segment.
    pub start: u32,
    /// End of the segments, exclusive.
    pub end: u32,
}

impl SackBlock {
    /// A block without segments.
    pub const EMPTY: Self = Self { start: 0, end: 0 };

    /// Whether it has no segments.
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

    #[test]
    fn timestamps_wrap_around_and_are_understood_all_the_same() {
        let span = 1_i64 << SENT_BITS;
        for sent in [0, 1, -1, span - 1, span, 3 * span + 77, i64::MIN / 2, i64::MAX / 2] {
            for away in [0, 1, -1, span / 2 - 1, 1 - span / 2] {
                let stamps = Timestamps::new(SendTime::from_nanos(sent), ArrivalTime::from_nanos(-sent));
                assert_eq!(stamps.sent(SendTime::from_nanos(sent + away)), SendTime::from_nanos(sent));
            }
        }
        let span = 16_000 * (1_i64 << ARRIVED_BITS);
        for units in [0, 1, -1, 1 << 23, 1 << 24, 5 << 30] {
            for away in [0, 1, -1, span / 2 - 16_000, 16_000 - span / 2] {
                let arrived = ArrivalTime::from_nanos(16_000 * units);
                let stamps = Timestamps::new(
                    SendTime::from_nanos(-9),
                    ArrivalTime::from_nanos(16_000 * units + 15_999),
                );
                assert_eq!(stamps.arrived(ArrivalTime::from_nanos(16_000 * units + away)), arrived);
            }
        }
    }
}
