//! What a reduction took is given back once what was taken for lost proves to have been late only: by the timestamp that an
//! acknowledgement echoes (Eifel, RFC 3522), by D-SACK (RFC 3708), and after a timeout by what is acknowledged although it was
//! never sent again (F-RTO, RFC 5682 §3.1). As in Linux.

use weir_cc::SendTime;
use weir_cc::window::Window;
use weir_world::tcp::SackBlock;

use super::{State, TcpSender};

/// What a timeout leaves open (F-RTO).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Doubt {
    /// The timer ran out, perhaps for nothing.
    pub(super) frto: bool,
    /// Until the next acknowledgement new segments leave and no lost ones.
    pub(super) new_only: bool,
}

/// The last reduction, as long as it may be undone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// The window before it (`prior_cwnd`, `prior_ssthresh`).
    before: Option<Window>,
    /// The first segment outstanding then (`undo_marker`).
    from: u32,
    /// When the first segment was sent again since (`retrans_stamp`).
    again_since: Option<SendTime>,
    /// Segments sent again since that no D-SACK has told of; `None` while there were none (`undo_retrans`).
    unproven: Option<u32>,
}

impl Undo {
    /// The window is reduced from `before`, with `from` as the first outstanding segment and `again` retransmissions on
    /// their way.
    fn begin(&mut self, before: Window, from: u32, again: u32) {
        let unproven = (again > 0).then_some(again);
        *self = Self { before: Some(before), from, again_since: None, unproven };
    }

    /// A segment is sent again.
    pub(super) fn on_sent_again(&mut self, now: SendTime) {
        self.again_since.get_or_insert(now);
        self.unproven = Some(self.unproven.map_or(1, |count| count.saturating_add(1)));
    }

    /// These segments have arrived twice.
    pub(super) fn on_duplicate(&mut self, block: SackBlock) {
        let news = block.end.saturating_sub(block.start.max(self.from));
        self.unproven = self.unproven.map(|count| count.saturating_sub(news));
    }

    /// Whether the echo tells of a copy that left before anything was sent again, if anything was.
    pub(super) fn is_late(&self, echo: SendTime) -> bool {
        self.before.is_some() && self.again_since.is_none_or(|since| echo < since)
    }

    /// Whether all that was sent again had arrived before.
    pub(super) fn was_needless(&self) -> bool {
        self.before.is_some() && self.unproven == Some(0)
    }
}

impl TcpSender {
    /// The window is about to be reduced for a loss.
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

    /// The last reduction was for nothing. Whether there is one.
    pub(super) fn take_back(&mut self, now: SendTime) -> bool {
        let Some(before) = self.undo.before.take() else { return false };
        self.counts.undone += 1;
        self.window.cwnd = self.window.cwnd.max(before.cwnd);
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh);
        self.law.on_undo(&mut self.window, now);
        true
    }
}
