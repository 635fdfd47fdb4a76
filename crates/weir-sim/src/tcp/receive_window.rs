//! How much the receiver takes: a window that begins small and grows to twice what is read in a round trip (dynamic right-sizing,
//! as in Linux).
//!
//! It is worked out where the segments are sent, from what is acknowledged: who reads at once has read just that.

use weir_cc::SendTime;
use weir_units::TimeDelta;
use weir_world::tcp::TcpConfig;

/// The receive window, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    most: u32,
    /// The round trip in which is counted: since when, and the first segment not yet read then.
    since: SendTime,
    from: u32,
}

impl ReceiveWindow {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let most = config.receive_window;
        let size = config.initial_receive_window.map_or(most, |initial| initial.clamp(1, most));
        Self { size, most, since: SendTime::ZERO, from: 0 }
    }

    /// Most segments that may be outstanding.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// All below `next` has been read.
    #[inline]
    pub(super) fn on_read(&mut self, now: SendTime, next: u32, round_trip: Option<TimeDelta>) {
        if self.size == self.most || round_trip.is_none_or(|round_trip| now - self.since < round_trip) {
            return;
        }
        let read = next - self.from;
        self.size = self.size.max(read.saturating_mul(2)).min(self.most);
        (self.since, self.from) = (now, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_grows_to_twice_what_was_read_in_a_round_trip_and_never_shrinks() {
        let config =
            TcpConfig { initial_receive_window: Some(45), receive_window: 100, ..TcpConfig::default() };
        let mut window = ReceiveWindow::new(&config);
        let rtt = Some(TimeDelta::from_millis(100));
        let mut at = |ms, next| {
            window.on_read(SendTime::from_millis(ms), next, rtt);
            window.size()
        };
        assert_eq!(at(0, 10), 45, "the first round trip is not over");
        assert_eq!(at(100, 30), 60);
        assert_eq!(at(150, 80), 60);
        assert_eq!(at(200, 40), 60);
        assert_eq!(at(300, 200), 100);
        assert_eq!(ReceiveWindow::new(&TcpConfig::default()).size(), 1 << 20);
    }
}
