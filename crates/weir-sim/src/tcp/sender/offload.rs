//! What leaves together where a sender hands bursts to its device (segmentation offload, as in Linux 6.18): a burst is of what is sent in
//! a millisecond, of two segments at least; where the window leaves room for less, that waits for an acknowledgement that is due
//! at any moment. Who receives it whole is told so (PSH), and acknowledges it at once.

use weir_cc::SendTime;
use weir_units::TimeDelta;

use super::{State, TcpSender};
use crate::tcp::pacing::per_round_trip;

/// A burst is never of less, if the window allows (`tcp_min_tso_segs`).
const LEAST: u32 = 2;

/// A burst is of what is sent in this part of a second (`sk_pacing_shift`).
const PER_SECOND: f64 = 1024.0;

/// Most bytes that are handed over at once (`gso_max_size`).
const MOST_BYTES: u32 = 65_536;

/// The base of the round-trip time's unit, in µs and to the power of two, for which half as much is added to a burst (`tcp_tso_rtt_log`).
const ROUND_TRIP_LOG: u32 = 9;

/// So much of the window need not wait to be more (`tcp_tso_win_divisor`).
const WORTH_SENDING: u32 = 3;

/// What is sent so long after the segment before waits for nothing, and so long at most is an acknowledgement waited for.
const PATIENCE: TimeDelta = TimeDelta::from_millis(1);

/// The burst that is leaving.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Burst {
    /// Segments of it that have not left.
    left: u32,
    /// Whether its last one says so: it is none that leaves alone.
    pushes: bool,
    /// The next one waits for news.
    waits: bool,
}

impl Burst {
    /// A segment leaves; whether it says that it is the last of a burst. One that leaves `again` ends it unsaid.
    pub(super) fn take(&mut self, again: bool) -> bool {
        if again {
            self.end();
        }
        let last = self.left == 1;
        self.left = self.left.saturating_sub(1);
        last && self.pushes
    }

    /// Something has happened for which the next burst may have waited.
    pub(super) fn wake(&mut self) {
        self.waits = false;
    }

    /// What has not left will belong to another.
    pub(super) fn end(&mut self) {
        self.left = 0;
    }
}

impl TcpSender {
    /// Whether a new segment may leave, for which there is room in the window: one of the burst that is leaving, or the first
    /// of another.
    pub(super) fn may_burst(&mut self, now: SendTime) -> bool {
        if !self.config.offload || self.burst.left > 0 {
            return true;
        }
        if self.burst.waits {
            return false;
        }
        let cwnd = self.window.cwnd as u32;
        let receivable = self.receive_window.size().saturating_sub(self.board.flight());
        let unsent = (self.transfer.end() - self.board.next()).min(receivable);
        let room = cwnd.saturating_sub(self.board.pipe()).max(1);
        let full = self.full_burst();
        let wanted = unsent.min(full);
        if room < wanted && self.waits_for_more(now, room, cwnd) {
            self.burst.waits = true;
            return false;
        }
        let left = room.min((cwnd / 2).max(1)).min(wanted);
        self.burst = Burst { left, pushes: left > 1, waits: false };
        true
    }

    /// Segments that leave together if there is room (`tcp_tso_autosize`).
    fn full_burst(&self) -> u32 {
        let Some(srtt) = self.rtt.smoothed() else { return LEAST };
        let mss = f64::from(self.config.mss);
        let rate = mss * per_round_trip(&self.window, self.board.flight()) / srtt.secs_f64();
        let micros = (self.rtt.min().nanos() / 1000).max(0) as u64;
        let near = u32::try_from(micros >> ROUND_TRIP_LOG).unwrap_or(u32::MAX);
        let bytes = rate / PER_SECOND + f64::from(MOST_BYTES.checked_shr(near).unwrap_or(0));
        let segments = bytes.min(f64::from(MOST_BYTES)) / mss;
        (segments as u32).max(LEAST)
    }

    /// Whether `room` in a window of `cwnd` segments is not worth a burst yet (`tcp_tso_should_defer`).
    fn waits_for_more(&self, now: SendTime, room: u32, cwnd: u32) -> bool {
        let calm = matches!(self.state, State::Open | State::Reducing);
        let recent = self.sent_at.is_some_and(|sent_at| now - sent_at <= PATIENCE);
        if !calm || !recent || room * WORTH_SENDING >= cwnd.min(self.receive_window.size()) {
            return false;
        }
        let (Some(rack), Some(srtt)) = (&self.rack, self.rtt.smoothed()) else { return false };
        let expected = rack.left_at(self.board.first()) + srtt;
        self.board.flight() > 0 && expected - now <= PATIENCE.min(srtt / 2)
    }
}
