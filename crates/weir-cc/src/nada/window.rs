//! The receiver's log of the last `LOGWIN` (RFC 8698 §4.2, §5.1.2).

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use crate::time::{ApparentDelay, ArrivalTime};

/// Initial capacity in packets: 500 ms at 10 Mbit/s. The ring grows if there are more.
const INITIAL_PACKETS: usize = 512;

/// A packet in the log, which arrived in order.
#[derive(Clone, Copy, Debug)]
pub(super) struct LoggedPacket {
    pub(super) id: u64,
    pub(super) at: ArrivalTime,
    pub(super) delay: ApparentDelay,
    /// Whether it arrived with a congestion mark (CE).
    pub(super) marked: bool,
}

/// The packets of the last `LOGWIN` that arrived in order of their numbers.
#[derive(Clone, Debug)]
pub(super) struct LogWindow {
    length: TimeDelta,
    packets: VecDeque<LoggedPacket>,
    marked: usize,
}

/// The window's ratios of losses and marks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ratios {
    /// Packets in the window.
    pub(super) packets: usize,
    /// Missing numbers as a share of the numbers in the window.
    pub(super) loss: f64,
    /// Marked packets as a share of the numbers in the window.
    pub(super) mark: f64,
}

impl LogWindow {
    pub(super) fn new(length: TimeDelta) -> Self {
        Self { length, packets: VecDeque::with_capacity(INITIAL_PACKETS), marked: 0 }
    }

    /// Takes a packet with a higher number than those before, and an arrival that is not earlier.
    pub(super) fn push(&mut self, packet: LoggedPacket) {
        self.marked += usize::from(packet.marked);
        self.packets.push_back(packet);
    }

    /// Removes packets that arrived `LOGWIN` before `now` or earlier.
    pub(super) fn expire(&mut self, now: ArrivalTime) {
        let begin = now - self.length;
        while let Some(packet) = self.packets.front()
            && packet.at <= begin
        {
            self.marked -= usize::from(packet.marked);
            self.packets.pop_front();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.packets.clear();
        self.marked = 0;
    }

    /// The ratios, or `None` in an empty window. RFC 8698 §5.1.2.
    pub(super) fn ratios(&self) -> Option<Ratios> {
        let (first, last) = (self.packets.front()?, self.packets.back()?);
        let packets = self.packets.len();
        let spanned = (last.id - first.id) as f64 + 1.0;
        let loss = (spanned - packets as f64) / spanned;
        Some(Ratios { packets, loss, mark: self.marked as f64 / spanned })
    }

    /// The largest apparent delay in the window.
    pub(super) fn largest_delay(&self) -> Option<ApparentDelay> {
        self.packets.iter().map(|packet| packet.delay).max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SendTime;

    /// A packet that arrived at `at` after `delay`, both in ms.
    fn packet(id: u64, at: i64, delay: i64, marked: bool) -> LoggedPacket {
        let at = ArrivalTime::from_millis(at);
        let delay = ApparentDelay::between(SendTime::ZERO, ArrivalTime::from_millis(delay));
        LoggedPacket { id, at, delay, marked }
    }

    #[test]
    fn missing_and_marked_packets_are_shares_of_the_span() {
        let mut window = LogWindow::new(TimeDelta::from_millis(500));
        assert_eq!(window.ratios(), None);
        // Numbers 10 to 17: eight spanned, three missing (12, 15, 16), two marked.
        for (id, marked) in [(10, false), (11, true), (13, false), (14, true), (17, false)] {
            window.push(packet(id, 100, 20, marked));
        }
        assert_eq!(window.ratios(), Some(Ratios { packets: 5, loss: 0.375, mark: 0.25 }));
    }

    #[test]
    fn values_older_than_the_window_leave() {
        let mut window = LogWindow::new(TimeDelta::from_millis(500));
        window.push(packet(1, 0, 90, true));
        window.push(packet(3, 100, 20, false));
        window.push(packet(4, 200, 30, false));
        assert_eq!(window.largest_delay(), Some(packet(0, 0, 90, false).delay));
        window.expire(ArrivalTime::from_millis(499));
        assert_eq!(window.ratios().map(|r| r.packets), Some(3));
        window.expire(ArrivalTime::from_millis(500));
        assert_eq!(window.ratios(), Some(Ratios { packets: 2, loss: 0.0, mark: 0.0 }));
        assert_eq!(window.largest_delay(), Some(packet(0, 0, 30, false).delay));
        window.clear();
        assert_eq!(window.ratios(), None);
    }
}
