//! Undo of spurious reductions, once the segments taken for lost prove to have been late only. The proofs are the
//! echoed timestamp (Eifel, RFC 3522), D-SACK (RFC 3708), and F-RTO after a timeout (RFC 5682 §3.1): an acknowledgement
//! of segments that were never retransmitted. As in Linux.

use weir_cc::SendTime;
use weir_cc::window::Window;
use weir_world::tcp::SackBlock;

use super::{State, TcpSender};

/// State after a timeout that may be spurious (F-RTO).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SuspectedTimeout {
    /// Whether the timeout may be spurious.
    pub(super) frto: bool,
    /// Whether, until the next acknowledgement, only new segments leave and no lost ones.
    pub(super) new_only: bool,
}

/// The last reduction, which is undone after a spurious timeout or a spurious fast recovery.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The window before it (`prior_cwnd`, `prior_ssthresh`).
    before: Option<Window>,
    /// The first segment outstanding then (`undo_marker`).
    from: u32,
    /// Time of the first retransmission since (`retrans_stamp`).
    again_since: Option<SendTime>,
    /// Number of retransmissions since without a D-SACK, if there were any (`undo_retrans`).
    unproven: Option<u32>,
}

impl Undo {
    /// The window is reduced from `before`, with `from` as the first outstanding segment and `again` retransmissions in
    /// flight.
    fn begin(&mut self, before: Window, from: u32, again: u32) {
        let unproven = (again > 0).then_some(again);
        *self = Self { before: Some(before), from, again_since: None, unproven };
    }

    /// Takes a retransmission.
    pub(super) fn on_sent_again(&mut self, now: SendTime) {
        self.again_since.get_or_insert(now);
        self.unproven = Some(self.unproven.map_or(1, |count| count.saturating_add(1)));
    }

    /// Takes a D-SACK block: these segments have arrived twice.
    pub(super) fn on_duplicate(&mut self, block: SackBlock) {
        let proven = block.end.saturating_sub(block.start.max(self.from));
        self.unproven = self.unproven.map(|count| count.saturating_sub(proven));
    }

    /// Whether the echo is of a copy that left before the first retransmission, if there was one.
    pub(super) fn is_late(&self, echo: SendTime) -> bool {
        self.before.is_some() && self.again_since.is_none_or(|since| echo < since)
    }

    /// Whether all retransmitted segments had arrived before.
    pub(super) fn was_needless(&self) -> bool {
        self.before.is_some() && self.unproven == Some(0)
    }
}

impl TcpSender {
    /// Stores the window before it is reduced for a loss.
    pub(super) fn remember_window(&mut self) {
        if !self.config.undo || self.coupled.is_on() {
            return;
        }
        let Window { cwnd, ssthresh } = self.window;
        let ssthresh = match self.state {
            State::Recovery | State::Reducing => ssthresh,
            _ => ssthresh.max((cwnd / 2.0).trunc() + (cwnd / 4.0).trunc()), // `tcp_current_ssthresh`
        };
        let again = self.board.resent();
        self.undo.begin(Window { cwnd, ssthresh }, self.board.first(), again);
    }

    /// Undoes the last reduction; returns whether there was one.
    pub(super) fn take_back(&mut self, now: SendTime) -> bool {
        let Some(before) = self.undo.before.take() else { return false };
        self.counts.undone += 1;
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.law.on_undo(&mut self.window, now);
        true
    }
}
