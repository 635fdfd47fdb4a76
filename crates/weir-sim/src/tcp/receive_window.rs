//! How much a receiver takes: a window that begins small and grows with what is read (dynamic right-sizing, as in Linux). Once per
//! round trip the buffer grows so that it holds twice what was read, and more while that grows itself; the window follows by two
//! segments per segment that arrives.
//!
//! Acknowledgements carry no window. The receiver has one of these, to know when it grows, and the sender another, which hears by
//! acknowledgements of what is read: a receiver reads at once.

use weir_cc::{ApparentDelay, ArrivalTime, SendTime};
use weir_units::TimeDelta;
use weir_world::tcp::TcpConfig;

/// What the buffer holds beyond the first window at first, in segments (measured: 55 after 45).
const FIRST_ROOM: u32 = 10;

/// What is taken to have been read in the round trip before the first (`TCP_INIT_CWND`).
const FIRST_READ: u32 = 10;

/// A segment that arrives opens the window by so many, up to what the buffer holds.
const STEP: u32 = 2;

/// The receive window, in segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    /// What the buffer holds.
    room: u32,
    most: u32,
    /// The round trip in which is counted: since when, on whatever clock, and the first segment not read then.
    since: Option<TimeDelta>,
    from: u32,
    /// What was read in the fullest round trip before.
    read: u32,
}

impl ReceiveWindow {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let most = config.receive_window;
        let size = config.initial_receive_window.map_or(most, |initial| initial.clamp(1, most));
        let room = size.saturating_add(FIRST_ROOM).min(most);
        Self { size, room, most, since: None, from: 0, read: FIRST_READ }
    }

    /// The connection stands; `now` is the host's time.
    pub(super) fn begin(&mut self, now: TimeDelta) {
        self.since.get_or_insert(now);
    }

    /// Most segments that may be outstanding.
    #[inline]
    pub(super) fn size(&self) -> u32 {
        self.size
    }

    /// Whether it has not grown to all that it may be.
    #[inline]
    pub(super) fn may_grow(&self) -> bool {
        self.size < self.most
    }

    /// `segments` more have arrived, all below `next` in order; `now` is the host's time. Whether the window opens.
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
            self.make_room(next - self.from);
            (self.since, self.from) = (Some(now), next);
        }
        let opens = self.size < self.room;
        self.size = self.size.saturating_add(segments.saturating_mul(STEP)).min(self.room);
        opens
    }

    /// `read` segments were read in a round trip.
    fn make_room(&mut self, read: u32) {
        if read <= self.read {
            return;
        }
        let (now, before) = (u64::from(read), u64::from(self.read.max(1)));
        let room = 2 * now + 4 * now * (now - before) / before;
        self.room = self.room.max(u32::try_from(room).unwrap_or(u32::MAX)).min(self.most);
        self.read = read;
    }
}

/// The round-trip time as a receiver knows it: that of the handshake, and what delays have grown by since, smoothed
/// (`tcp_rcv_rtt_update`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PathTimes {
    begun: Option<ArrivalTime>,
    /// From the answer to the handshake to the first data, and the least delay of data.
    base: Option<(TimeDelta, ApparentDelay)>,
    smoothed: Option<TimeDelta>,
    /// When the last segment left: of several that left together the first counts.
    left: Option<SendTime>,
}

impl PathTimes {
    /// The handshake is answered.
    pub(super) fn begin(&mut self, now: ArrivalTime) {
        self.begun.get_or_insert(now);
    }

    /// The round-trip time of the handshake; [`TimeDelta::MAX`] where it is not known.
    pub(super) fn handshake(&self) -> TimeDelta {
        self.base.map_or(TimeDelta::MAX, |(handshake, _)| handshake)
    }

    /// The round-trip time by a segment that arrives now.
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
        // One way takes 25 ms, and the clocks differ by 1000 s. 75 ms: the first data; then 8 ms in a queue, an eighth of it.
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
        // 15 were read: 2 · 15 + 4 · 15 · 5 / 10 = 60.
        assert_eq!([at(200, 25, 1), at(250, 40, 1), at(260, 41, 1)], [(57, true), (59, true), (60, true)]);
        // 60 were read: more than may ever be.
        assert_eq!([at(300, 85, 1), at(301, 105, 20)], [(62, true), (100, true)]);
    }
}
