//! Bursts of a TCP sender with segmentation offload, as in Linux 6.18. A burst has the data of one millisecond at the
//! pacing rate, but at least two segments. If the window allows less, the burst waits for an acknowledgement that is
//! due soon. The last segment of a burst has PSH set and is acknowledged at once.

use weir_cc::SendTime;
use weir_units::TimeDelta;

use super::{State, TcpSender};
use crate::tcp::pacing::per_round_trip;

/// Minimum number of segments of a burst, if the window allows (`tcp_min_tso_segs`).
const MIN_BURST: u32 = 2;

/// Number of bursts per second at the pacing rate (`sk_pacing_shift`).
const BURSTS_PER_SECOND: f64 = 1024.0;

/// Maximum number of bytes of a burst (`gso_max_size`).
const MAX_BYTES: u32 = 65_536;

/// Logarithm to base 2 of a unit of round-trip time, in µs. For each unit the addition to a burst is halved
/// (`tcp_tso_rtt_log`).
const ROUND_TRIP_LOG: u32 = 9;

/// Divisor of the window: a burst of that share of the window does not wait for more (`tcp_tso_win_divisor`).
const WINDOW_DIVISOR: u32 = 3;

/// Time since the last segment after which a burst does not wait, and the longest wait for an acknowledgement.
const MAX_WAIT: TimeDelta = TimeDelta::from_millis(1);

/// The present burst.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OffloadBurst {
    /// Number of segments of the burst that have not left.
    left: u32,
    /// Whether the last segment of the burst has PSH set; a single segment does not.
    has_push: bool,
    /// Whether the next burst waits for an event.
    is_deferred: bool,
}

impl OffloadBurst {
    /// Takes a segment that leaves. Returns whether it has PSH set, as the last segment of a burst. A retransmission
    /// ends the burst without PSH.
    pub(super) fn take(&mut self, retransmitted: bool) -> bool {
        if retransmitted {
            self.end();
        }
        let last = self.left == 1;
        self.left = self.left.saturating_sub(1);
        last && self.has_push
    }

    /// Ends the wait of the next burst, after an event.
    pub(super) fn wake(&mut self) {
        self.is_deferred = false;
    }

    /// Ends the burst. Its remaining segments belong to the next burst.
    pub(super) fn end(&mut self) {
        self.left = 0;
    }
}

impl TcpSender {
    /// Whether a new segment that fits the window may leave, as part of the present burst or as the first of another.
    pub(super) fn may_burst(&mut self, now: SendTime) -> bool {
        if !self.config.offload || self.burst.left > 0 {
            return true;
        }
        if self.burst.is_deferred {
            return false;
        }
        let cwnd = self.window.cwnd as u32;
        let receivable = self.receive_window.size().saturating_sub(self.board.flight());
        let unsent = (self.transfer.end() - self.board.next()).min(receivable);
        let free = cwnd.saturating_sub(self.board.pipe()).max(1);
        let full = self.full_burst();
        let wanted = unsent.min(full);
        if free < wanted && self.waits_for_burst(now, free, cwnd) {
            self.burst.is_deferred = true;
            return false;
        }
        let left = free.min((cwnd / 2).max(1)).min(wanted);
        self.burst = OffloadBurst { left, has_push: left > 1, is_deferred: false };
        true
    }

    /// Number of segments of a burst that the window does not limit (`tcp_tso_autosize`).
    fn full_burst(&self) -> u32 {
        let Some(srtt) = self.rtt.smoothed() else { return MIN_BURST };
        let mss = f64::from(self.config.mss);
        let rate = mss * per_round_trip(&self.window, self.board.flight()) / srtt.secs_f64();
        let micros = (self.rtt.min().nanos() / 1000).max(0) as u64;
        let near = u32::try_from(micros >> ROUND_TRIP_LOG).unwrap_or(u32::MAX);
        let bytes = rate / BURSTS_PER_SECOND + f64::from(MAX_BYTES.checked_shr(near).unwrap_or(0));
        let segments = bytes.min(f64::from(MAX_BYTES)) / mss;
        (segments as u32).max(MIN_BURST)
    }

    /// Whether `free` in a window of `cwnd` segments is too little for a burst yet (`tcp_tso_should_defer`).
    fn waits_for_burst(&self, now: SendTime, free: u32, cwnd: u32) -> bool {
        let calm = matches!(self.state, State::Open | State::Reducing);
        let recent = self.sent_at.is_some_and(|sent_at| now - sent_at <= MAX_WAIT);
        if !calm || !recent || free * WINDOW_DIVISOR >= cwnd.min(self.receive_window.size()) {
            return false;
        }
        let (Some(rack), Some(srtt)) = (&self.rack, self.rtt.smoothed()) else { return false };
        let expected = rack.left_at(self.board.first()) + srtt;
        self.board.flight() > 0 && expected - now <= MAX_WAIT.min(srtt / 2)
    }
}
