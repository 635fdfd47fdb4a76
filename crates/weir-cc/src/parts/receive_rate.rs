//! Receive rate over a sliding window.

use alloc::collections::VecDeque;

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::ArrivalTime;

/// Initial capacity in packets: 500 ms at 10 Mbit/s. The ring grows if there are more.
const INITIAL_PACKETS: usize = 512;

/// The rate at which data arrives: bytes within the last `window`, divided by its length.
///
/// The window is open at its old end. At the start it never reaches back beyond the first packet, which therefore
/// does not count itself. Its bytes were on their way before the measured time began. The rate is neither too low
/// at the start, nor too high.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveRate {
    window: TimeDelta,
    packets: VecDeque<(ArrivalTime, DataSize)>,
    received: DataSize,
    /// Arrival of the first packet since the meter was empty.
    first: Option<ArrivalTime>,
    newest: ArrivalTime,
    /// Packets that arrived by then have been removed.
    forgotten: ArrivalTime,
}

const LONG_AGO: ArrivalTime = ArrivalTime::from_nanos(i64::MIN);

impl ReceiveRate {
    /// A meter over the last `window`; one that is not positive is taken as a nanosecond.
    pub(crate) fn new(window: TimeDelta) -> Self {
        Self {
            window: window.max(TimeDelta::from_nanos(1)),
            packets: VecDeque::with_capacity(INITIAL_PACKETS),
            received: DataSize::ZERO,
            first: None,
            newest: ArrivalTime::ZERO,
            forgotten: LONG_AGO,
        }
    }

    /// Sets the window from now on; one that is not positive counts as a nanosecond. Packets that a shorter window
    /// has removed do not count in a longer one, nor does the time in which they arrived.
    pub(crate) fn set_window(&mut self, window: TimeDelta) {
        self.window = window.max(TimeDelta::from_nanos(1));
    }

    /// Takes `size` bytes that arrived `at`. A time before the newest one counts as the newest. A time further back
    /// than the window means that the clock was set back, and the measurement restarts.
    pub(crate) fn on_arrival(&mut self, at: ArrivalTime, size: DataSize) {
        if self.first.is_some() && self.newest - at > self.window {
            self.restart();
        }
        let at = if self.first.is_some() { at.max(self.newest) } else { at };
        self.newest = at;
        self.expire(at);
        if *self.first.get_or_insert(at) < at {
            self.packets.push_back((at, size));
            self.received += size;
        }
    }

    /// The receive rate at `now`, rounded down. Unknown before the second packet and when no packet has arrived
    /// within the window. While less than a window has passed since the first packet, the time since that packet
    /// takes the window's place. This is at least one gap between packets, and noisy as long as it is no more than
    /// that.
    pub(crate) fn rate(&mut self, now: ArrivalTime) -> Option<DataRate> {
        let first = self.first?;
        let now = now.max(self.newest);
        self.expire(now);
        if self.packets.is_empty() {
            return None;
        }
        let begin = first.max(now - self.window).max(self.forgotten);
        Some(self.received / (now - begin))
    }

    fn expire(&mut self, now: ArrivalTime) {
        let begin = now - self.window;
        self.forgotten = self.forgotten.max(begin);
        while let Some(&(at, size)) = self.packets.front()
            && at <= begin
        {
            self.packets.pop_front();
            self.received = self.received.saturating_sub(size);
        }
        if self.packets.is_empty() && self.first.is_some_and(|first| first <= begin) {
            self.restart();
        }
    }

    fn restart(&mut self) {
        self.packets.clear();
        self.received = DataSize::ZERO;
        self.first = None;
        self.forgotten = LONG_AGO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZE: DataSize = DataSize::from_bytes(1250);

    /// Receiver time of `ms` milliseconds.
    fn ms(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    /// A meter over 500 ms that has seen a packet every 10 ms from `begin` to before `end`: 1 Mbit/s.
    fn one_mbps(begin: i64, end: i64) -> ReceiveRate {
        let mut meter = ReceiveRate::new(TimeDelta::from_millis(500));
        (begin..end).step_by(10).for_each(|t| meter.on_arrival(ms(t), SIZE));
        meter
    }

    #[test]
    fn the_rate_is_unknown_before_the_second_packet() {
        let mut meter = ReceiveRate::new(TimeDelta::from_millis(500));
        assert_eq!(meter.rate(ms(0)), None);
        meter.on_arrival(ms(100), SIZE);
        assert_eq!(meter.rate(ms(100)), None);
        assert_eq!(meter.rate(ms(110)), None);
        meter.on_arrival(ms(110), SIZE);
        // One packet in one gap: 1250 · 8 bits in 10 ms.
        assert_eq!(meter.rate(ms(110)), Some(DataRate::from_mbps(1)));
    }

    #[test]
    fn the_rate_is_right_from_the_start_and_stays_so() {
        for end in [30, 100, 490, 500, 510, 520, 1000, 5000] {
            let mut meter = one_mbps(0, end);
            assert_eq!(meter.rate(ms(end - 10)), Some(DataRate::from_mbps(1)), "until {end} ms");
        }
    }

    #[test]
    fn the_window_divides_once_it_is_full() {
        let mut meter = one_mbps(0, 1000);
        // At 1090 ms the window is (590, 1090]: packets at 600 … 990, that is 40 · 10 000 bits in 0.5 s.
        assert_eq!(meter.rate(ms(1090)), Some(DataRate::from_kbps(800)));
    }

    #[test]
    fn silence_empties_the_window_and_the_next_packet_is_a_first_one() {
        let mut meter = one_mbps(0, 1000);
        assert_eq!(meter.rate(ms(1490)), None);
        meter.on_arrival(ms(3000), SIZE);
        assert_eq!(meter.rate(ms(3005)), None);
        meter.on_arrival(ms(3020), SIZE);
        assert_eq!(meter.rate(ms(3020)), Some(DataRate::from_kbps(500)));
    }

    #[test]
    fn silence_is_noticed_without_a_query() {
        let mut meter = one_mbps(0, 1000);
        meter.on_arrival(ms(3000), SIZE);
        assert_eq!(meter.rate(ms(3000)), None);
    }

    #[test]
    fn times_out_of_order_count_as_the_newest() {
        let mut meter = one_mbps(0, 1000);
        // (500, 1000]: packets at 510 … 990 are 49, one more at 1000 and one late one.
        meter.on_arrival(ms(1000), SIZE);
        meter.on_arrival(ms(905), SIZE);
        assert_eq!(meter.rate(ms(1000)), Some(DataRate::from_kbps(1020)));
        assert_eq!(
            meter.rate(ms(600)),
            Some(DataRate::from_kbps(1020)),
            "a query in the past is one for now"
        );
    }

    #[test]
    fn a_clock_set_back_begins_anew() {
        let mut meter = one_mbps(100_000, 101_000);
        (0..200).step_by(20).for_each(|t| meter.on_arrival(ms(t), SIZE));
        assert_eq!(meter.rate(ms(180)), Some(DataRate::from_kbps(500)));
    }

    #[test]
    fn a_window_that_grows_fills_again() {
        // 1 Mbit/s, and the last 20 ms hold two packets; a window of 100 ms then begins where those did.
        let mut meter = ReceiveRate::new(TimeDelta::from_millis(20));
        (0..1000).step_by(10).for_each(|t| meter.on_arrival(ms(t), SIZE));
        meter.set_window(TimeDelta::from_millis(100));
        for t in (1000..1200).step_by(10) {
            meter.on_arrival(ms(t), SIZE);
            assert_eq!(meter.rate(ms(t)), Some(DataRate::from_mbps(1)), "{t} ms");
        }
    }
}
