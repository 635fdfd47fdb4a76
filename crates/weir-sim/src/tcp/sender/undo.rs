//! Undo of spurious reductions of the congestion window. A reduction is spurious if the segments taken for lost were
//! only delayed.
//!
//! Three signs of that, as in Linux: an echoed timestamp from before the retransmission (Eifel, RFC 3522), D-SACK
//! blocks for all retransmissions (RFC 3708), and after a timeout F-RTO (RFC 5682 §3.1), the acknowledgement of segments
//! that were not retransmitted.

use weir_cc::SendTime;
use weir_cc::window::Window;
use weir_world::tcp::SackBlock;

use super::{State, TcpSender};

/// State after a timeout that may be spurious (F-RTO).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SuspectedTimeout {
    /// Whether F-RTO still decides if the timeout was spurious.
    pub(super) frto: bool,
    /// Whether only new segments, and no retransmissions, leave until the next acknowledgement.
    pub(super) new_only: bool,
}

/// State to undo the last reduction; it is undone after a spurious timeout or a spurious fast recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The window before the reduction (`prior_cwnd`, `prior_ssthresh`), or `None` if there is nothing to undo.
    before: Option<Window>,
    /// The first outstanding segment at the reduction (`undo_marker`).
    from: u32,
    /// Time of the first retransmission after the reduction (`retrans_stamp`).
    first_retransmission: Option<SendTime>,
    /// Number of retransmissions without a D-SACK, or `None` before the first retransmission (`undo_retrans`).
    unproven: Option<u32>,
}

impl Undo {
    /// Stores the window `before` a reduction. `from` is the first outstanding segment, `retransmitted` the number of
    /// retransmissions in flight.
    fn begin(&mut self, before: Window, from: u32, retransmitted: u32) {
        let unproven = (retransmitted > 0).then_some(retransmitted);
        *self = Self { before: Some(before), from, first_retransmission: None, unproven };
    }

    /// Counts a retransmission sent at `now`.
    pub(super) fn on_retransmission(&mut self, now: SendTime) {
        self.first_retransmission.get_or_insert(now);
        self.unproven = Some(self.unproven.map_or(1, |count| count.saturating_add(1)));
    }

    /// Takes a D-SACK block, whose segments have arrived twice.
    pub(super) fn on_duplicate(&mut self, block: SackBlock) {
        let proven = block.end.saturating_sub(block.start.max(self.from));
        self.unproven = self.unproven.map(|count| count.saturating_sub(proven));
    }

    /// Whether the echoed timestamp is earlier than the first retransmission, so that the original segment has arrived.
    pub(super) fn is_original(&self, echo: SendTime) -> bool {
        self.before.is_some() && self.first_retransmission.is_none_or(|since| echo < since)
    }

    /// Whether D-SACK blocks show that all retransmissions were spurious.
    pub(super) fn was_spurious(&self) -> bool {
        self.before.is_some() && self.unproven == Some(0)
    }
}

impl TcpSender {
    /// Stores the window before it is reduced for a loss.
    pub(super) fn remember_window(&mut self) {
        if !self.config.undo || self.coupled.is_coupled() {
            return;
        }
        let Window { cwnd, ssthresh } = self.window;
        let ssthresh = match self.state {
            State::Recovery | State::Reducing => ssthresh,
            _ => ssthresh.max((cwnd / 2.0).trunc() + (cwnd / 4.0).trunc()), // `tcp_current_ssthresh`
        };
        let retransmitted = self.board.resent();
        self.undo.begin(Window { cwnd, ssthresh }, self.board.first(), retransmitted);
    }

    /// Undoes the last reduction. Returns whether there was one to undo.
    pub(super) fn undo_reduction(&mut self, now: SendTime) -> bool {
        let Some(before) = self.undo.before.take() else { return false };
        self.counts.undone += 1;
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.algorithm.on_undo(&mut self.window, now);
        true
    }
}
