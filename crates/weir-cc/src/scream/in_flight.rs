//! Bytes in flight as SCReAM counts them: the bytes sent after the highest acknowledged packet (RFC 8298 §4.1.2).

use alloc::collections::VecDeque;

use super::scaled;

/// Largest number of packets that reports can distinguish, as they carry 16 bits of a packet's number.
const MAX_PACKETS: usize = 1 << 16;
const INITIAL_CAPACITY: usize = 1024;

/// Bytes sent, as a sequence that acknowledgements cut from below.
///
/// A packet without a reported fate (its report was lost) is not in flight once a later packet is acknowledged.
#[derive(Debug)]
pub(super) struct InFlight {
    /// Number of each packet above the acknowledged ones, and all bytes sent up to its end.
    sent: VecDeque<(u64, u64)>,
    /// All bytes sent, modulo 2^64.
    total: u64,
    /// All bytes up to the end of the highest acknowledged packet.
    acked: u64,
}

impl InFlight {
    pub(super) fn new() -> Self {
        Self { sent: VecDeque::with_capacity(INITIAL_CAPACITY), total: 0, acked: 0 }
    }

    /// Takes in that the packet `id` of `size` bytes has left.
    pub(super) fn on_sent(&mut self, id: u64, size: u64) {
        if self.sent.len() == MAX_PACKETS {
            self.sent.pop_front();
        }
        self.total = self.total.wrapping_add(size);
        self.sent.push_back((id, self.total));
    }

    /// Takes in the arrival of the packet `id`. Returns `bytes_newly_acked`: the bytes between the highest
    /// acknowledged packet before and this one, lost packets included. Returns `None` if the packet is not above
    /// that, or was never sent.
    pub(super) fn acknowledge(&mut self, id: u64) -> Option<u64> {
        if self.sent.back().is_none_or(|&(newest, _)| newest < id) {
            return None;
        }
        let before = self.acked;
        let mut advanced = false;
        while let Some(&(_, end)) = self.sent.front().filter(|(front, _)| *front <= id) {
            self.acked = end;
            advanced = true;
            self.sent.pop_front();
        }
        advanced.then(|| self.acked.wrapping_sub(before))
    }

    /// Scales the bytes in flight by `factor` for coupling.
    pub(super) fn scale(&mut self, factor: f64) {
        let acked = self.acked;
        let end = |end: u64| acked.wrapping_add(scaled(end.wrapping_sub(acked), factor));
        self.sent.iter_mut().for_each(|(_, sent)| *sent = end(*sent));
        self.total = end(self.total);
    }

    /// Bytes in flight.
    pub(super) fn bytes(&self) -> u64 {
        self.total.wrapping_sub(self.acked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 1 to 5 of 100 to 500 bytes in flight.
    fn five_packets() -> InFlight {
        let mut in_flight = InFlight::new();
        (1..=5).for_each(|id| in_flight.on_sent(id, id * 100));
        in_flight
    }

    #[test]
    fn an_acknowledgement_takes_what_came_before_with_it() {
        let mut in_flight = five_packets();
        assert_eq!(in_flight.bytes(), 1500);
        // 1 to 3, whatever the fates of 1 and 2: 100 + 200 + 300.
        assert_eq!(in_flight.acknowledge(3), Some(600));
        assert_eq!(in_flight.bytes(), 900);
        assert_eq!(in_flight.acknowledge(5), Some(900));
        assert_eq!(in_flight.bytes(), 0);
    }

    #[test]
    fn an_allocation_scales_the_bytes_in_flight_alone() {
        let mut in_flight = five_packets();
        in_flight.acknowledge(2);
        in_flight.scale(0.5);
        assert_eq!(in_flight.bytes(), 600);
        in_flight.on_sent(6, 100);
        assert_eq!(in_flight.acknowledge(3), Some(150));
        assert_eq!(in_flight.acknowledge(6), Some(550));
    }

    #[test]
    fn late_and_unknown_packets_acknowledge_nothing() {
        let mut in_flight = five_packets();
        assert_eq!(in_flight.acknowledge(6), None, "never sent");
        in_flight.acknowledge(3);
        assert_eq!(in_flight.acknowledge(2), None);
        assert_eq!(in_flight.acknowledge(3), None);
        assert_eq!(in_flight.bytes(), 900);
    }

    #[test]
    fn the_count_of_bytes_may_wrap() {
        let mut in_flight = InFlight::new();
        (1..=3).for_each(|id| in_flight.on_sent(id, 1 << 63));
        assert_eq!(in_flight.acknowledge(2), Some(0), "2 · 2^63");
        assert_eq!(in_flight.bytes(), 1 << 63);
        in_flight.on_sent(4, 10);
        assert_eq!(in_flight.acknowledge(3), Some(1 << 63));
        assert_eq!(in_flight.bytes(), 10);
    }

    #[test]
    fn more_packets_than_numbers_stay_in_flight() {
        let mut in_flight = InFlight::new();
        (0..70_000).for_each(|id| in_flight.on_sent(id, 10));
        assert_eq!((in_flight.sent.len(), in_flight.bytes()), (MAX_PACKETS, 700_000));
        assert_eq!(in_flight.acknowledge(69_999), Some(700_000));
    }
}
