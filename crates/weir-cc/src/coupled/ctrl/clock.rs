//! The ACK clock of a newcomer: acknowledgements of other flows release its first segments.
//!
//! Source: draft-welzl-tcp-ccc-00 §3; Islam, Welzl, "Start Me Up: Determining and Sharing TCP's Initial Congestion
//! Window", ANRW 2016. Counts are whole numbers, because sums of fractions such as `10 · 0.1` would miss an
//! acknowledgement.

use crate::time::SendTime;

/// The greatest weight in ticks, the whole numbers in which weights are counted.
pub(super) const MAX_TICKS: f64 = 16_777_216.0;

/// The ACK clock of one newcomer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AckClock {
    /// `k`, number of segments that are not released yet.
    pub(super) left: u32,
    /// Number of segments released.
    pub(super) sent: u32,
    /// Credit from others' acknowledgements, in ticks.
    credit: u64,
    /// Time of another flow's last acknowledgement.
    pub(super) acknowledged_at: SendTime,
}

impl AckClock {
    /// A clock for `left` segments in a group of `total` ticks. The first acknowledgement releases a segment.
    pub(super) const fn new(now: SendTime, left: u32, total: u64) -> Self {
        Self { left, sent: 0, credit: total, acknowledged_at: now }
    }

    /// Whether the next acknowledgement releases a segment, in a group of `total` ticks.
    pub(super) const fn is_due(&self, total: u64) -> bool {
        self.left > 0 && self.credit >= total
    }

    /// Releases a segment by an acknowledgement of another flow.
    pub(super) const fn send(&mut self, total: u64) {
        self.left = self.left.saturating_sub(1);
        self.sent = self.sent.saturating_add(1);
        self.credit = self.credit.saturating_sub(total);
    }

    /// Counts `segments` acknowledged segments of another flow. The newcomer has `ticks` of the total weight.
    pub(super) const fn add_credit(&mut self, now: SendTime, segments: u64, ticks: u64) {
        self.acknowledged_at = now;
        self.credit = self.credit.saturating_add(segments.saturating_mul(ticks));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the acknowledgements, of `per_ack` segments each, that send.
    fn sends(left: u32, ticks: u64, total: u64, per_ack: u64, acks: u32) -> Vec<u32> {
        let mut clock = AckClock::new(SendTime::ZERO, left, total);
        let mut sends = Vec::new();
        for number in 0..acks {
            if clock.is_due(total) {
                clock.send(total);
                sends.push(number);
            }
            clock.add_credit(SendTime::ZERO, per_ack, ticks);
        }
        sends
    }

    #[test]
    fn of_n_equal_flows_every_nth_acknowledgement_sends() {
        assert_eq!(sends(100, 1, 3, 1, 10), [0, 3, 6, 9]);
        assert_eq!(sends(100, 10, 100, 1, 31), [0, 10, 20, 30]);
    }

    #[test]
    fn a_weight_of_three_tenths_sends_three_segments_for_ten() {
        // Credit 10: send, 0 + 3, 6, 9, 12: send at 4, 2 + 3, 5, 8, 11: send at 7, 1 + 3, 4, 7, 10: send at 10.
        assert_eq!(sends(100, 3, 10, 1, 11), [0, 4, 7, 10]);
    }

    #[test]
    fn acknowledged_segments_count_and_not_acknowledgements() {
        assert_eq!(sends(100, 1, 4, 2, 5), [0, 2, 4]);
        // At most one segment for an acknowledgement.
        assert_eq!(sends(100, 1, 2, 8, 4), [0, 1, 2, 3]);
    }

    #[test]
    fn the_clock_ends_with_the_share() {
        assert_eq!(sends(2, 1, 2, 1, 10), [0, 2]);
    }
}
