//! The receive window, which is small at first and grows with the data read (dynamic right-sizing, as in Linux). Once
//! per round trip the buffer grows to twice the data read, and by more while that amount itself grows. The window
//! opens by two segments per arriving segment.
//!
//! Acknowledgements do not carry the window in this model. Instead the sender and the receiver each have an instance.
//! The receiver's shows when the window opens; the sender's is updated by acknowledgements, as a receiver reads data
//! at once.

use weir_cc::{ApparentDelay, ArrivalTime, SendTime};
use weir_units::TimeDelta;
use weir_world::tcp::TcpConfig;

/// Initial capacity of the buffer beyond the first window, in segments. Measured with Linux: 55 with a window of 45.
const INITIAL_LIMIT: u32 = 10;

/// Number of segments assumed to be read in the round trip before the first one (`TCP_INIT_CWND`).
const FIRST_READ: u32 = 10;

/// Segments by which an arriving segment opens the window, up to the buffer's capacity.
const OPENING_STEP: u32 = 2;

/// The receive window, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    /// Capacity of the buffer.
    limit: u32,
    most: u32,
    /// Start of the present round trip on the host's clock, and the first segment that was not read at that time.
    since: Option<TimeDelta>,
    from: u32,
    /// Greatest number of segments read in one round trip so far.
    read: u32,
}

impl ReceiveWindow {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let most = config.receive_window;
        let size = config.initial_receive_window.map_or(most, |initial| initial.clamp(1, most));
        let limit = size.saturating_add(INITIAL_LIMIT).min(most);
        Self { size, limit, most, since: None, from: 0, read: FIRST_READ }
    }

    /// Starts the measurement when the connection is established; `now` is the host's time.
    pub(super) fn begin(&mut self, now: TimeDelta) {
        self.since.get_or_insert(now);
    }

    /// Maximum number of outstanding segments.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// Whether the window is below its maximum.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        self.size < self.most
    }

    /// Takes `segments` more segments that have arrived, all below `next` in order. `now` is the host's time. Returns
    /// whether the window opens.
    #[inline]
    pub(super) fn on_read(
        &mut self,
        now: TimeDelta,
        next: u32,
        segments: u32,
        round_trip: Option<TimeDelta>,
    ) -> bool {
        if !self.may_grow() {
            return false;
        }
        let since = *self.since.get_or_insert(now);
        if round_trip.is_some_and(|round_trip| now - since >= round_trip) {
            self.grow_buffer(next - self.from);
            (self.since, self.from) = (Some(now), next);
        }
        let opens = self.size < self.limit;
        self.size = self.size.saturating_add(segments.saturating_mul(OPENING_STEP)).min(self.limit);
        opens
    }

    /// Grows the buffer after a round trip in which `read` segments were read.
    fn grow_buffer(&mut self, read: u32) {
        if read <= self.read {
            return;
        }
        let (now, before) = (u64::from(read), u64::from(self.read.max(1)));
        // Twice the data read, and twice its relative growth over the fullest round trip before.
        let limit = 2 * now + 4 * now * (now - before) / before;
        self.limit = self.limit.max(u32::try_from(limit).unwrap_or(u32::MAX)).min(self.most);
        self.read = read;
    }
}

/// The receiver's estimate of the round-trip time: the round trip of the handshake plus the growth of the delay since
/// then, smoothed (`tcp_rcv_rtt_update`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathTimes {
    begun: Option<ArrivalTime>,
    /// Time from the SYN-ACK to the first data, and the least delay of data.
    base: Option<(TimeDelta, ApparentDelay)>,
    smoothed: Option<TimeDelta>,
    /// Departure of the last segment. Only the first of several segments that left at the same time is a sample.
    left: Option<SendTime>,
}

impl PathTimes {
    /// Records the time at which the SYN is answered.
    pub(super) fn begin(&mut self, now: ArrivalTime) {
        self.begun.get_or_insert(now);
    }

    /// Round-trip time of the handshake; [`TimeDelta::MAX`] if unknown.
    pub(super) fn handshake(&self) -> TimeDelta {
        self.base.map_or(TimeDelta::MAX, |(handshake, _)| handshake)
    }

    /// Round-trip time estimate at a segment that arrives now.
    #[inline]
    pub(super) fn round_trip(&mut self, now: ArrivalTime, sent: SendTime) -> TimeDelta {
        let delay = ApparentDelay::between(sent, now);
        if self.left.replace(sent) == Some(sent)
            && let Some(smoothed) = self.smoothed
        {
            return smoothed;
        }
        let begun = self.begun.unwrap_or(now);
        let (handshake, least) = self.base.get_or_insert((now - begun, delay));
        *least = delay.min(*least);
        let round_trip = *handshake + (delay - *least);
        let smoothed = self.smoothed.map_or(round_trip, |mean| mean + (round_trip - mean) / 8);
        *self.smoothed.insert(smoothed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receiver_adds_to_the_handshakes_round_trip_what_delays_have_grown_by() {
        let mut path = PathTimes::default();
        let arrival = |ms: i64| ArrivalTime::from_millis(1_000_000 + ms);
        path.begin(arrival(25));
        // The one-way delay is 25 ms, and the clocks differ by 1000 s. The first data come at 75 ms; then 8 ms are
        // spent in a queue, of which an eighth counts.
        let times = [(75, 50), (83, 50), (84, 51), (100, 75)]
            .map(|(ms, sent)| path.round_trip(arrival(ms), SendTime::from_millis(sent)));
        assert_eq!(times, [50_000, 50_000, 51_000, 50_875].map(TimeDelta::from_micros));
    }

    #[test]
    fn window_follows_the_buffer_which_grows_with_what_is_read_in_a_round_trip() {
        let config =
            TcpConfig { initial_receive_window: Some(45), receive_window: 100, ..TcpConfig::default() };
        let ms = TimeDelta::from_millis;
        for clock in [0, 1_000_000, -1_000_000] {
            let mut window = ReceiveWindow::new(&config);
            window.begin(ms(clock));
            grows(&mut |time, next, segments| {
                let opens = window.on_read(ms(clock + time), next, segments, Some(ms(100)));
                (window.size(), opens)
            });
        }
        assert_eq!(ReceiveWindow::new(&TcpConfig::default()).size(), 1 << 20);
    }

    fn grows(at: &mut dyn FnMut(i64, u32, u32) -> (u32, bool)) {
        assert_eq!([at(10, 1, 1), at(11, 4, 3), at(12, 6, 2)], [(47, true), (53, true), (55, true)]);
        assert_eq!(at(100, 10, 1), (55, false), "ten were read, as is taken for granted");
        // With 15 read: 2 · 15 + 4 · 15 · 5 / 10 = 60.
        assert_eq!([at(200, 25, 1), at(250, 40, 1), at(260, 41, 1)], [(57, true), (59, true), (60, true)]);
        // With 60 read: more than the maximum.
        assert_eq!([at(300, 85, 1), at(301, 105, 20)], [(62, true), (100, true)]);
    }
}
