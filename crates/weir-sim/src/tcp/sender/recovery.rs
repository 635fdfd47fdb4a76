//! What the sender does about losses, marks and its timer running out.

use weir_cc::SendTime;
use weir_cc::window::Congestion;

use super::undo::Undo;
use super::{State, TcpSender};
use crate::tcp::scoreboard::DUP_THRESHOLD;

impl TcpSender {
    /// Segments have arrived marked. Recovery and what follows a timeout have reduced the window already.
    pub(super) fn on_marks(&mut self, now: SendTime) {
        if self.state != State::Open || !self.ecn.may_reduce(self.board.first()) {
            return;
        }
        self.counts.ecn_reductions += 1;
        let flight = f64::from(self.board.flight() - self.limited);
        self.undo = Undo::default();
        let before = self.window.cwnd;
        self.law.on_congestion(&mut self.window, now, Congestion::Ecn, flight);
        self.ecn.on_reduced(self.board.next());
        if self.config.sack && self.config.prr {
            let base = if self.rack.is_some() { before as u32 } else { self.board.flight() };
            self.prr.begin(self.window.cwnd, base);
            self.state = State::Reducing;
            self.recover = Some(self.board.next());
        }
    }

    /// The window has come down for a mark once the answer to it is acknowledged.
    pub(super) fn leave_reduction(&mut self) {
        if self.recover.is_none_or(|recover| self.board.first() > recover) {
            self.leave_recovery();
        }
    }

    pub(super) fn on_duplicate(&mut self, now: SendTime) {
        match self.state {
            State::Recovery => self.window.cwnd += 1.0, // RFC 5681 §3.2 step 4
            State::Open => {
                self.duplicates += 1;
                // RFC 6582 §3.2 step 2: only what was sent after the last recovery is news.
                let first = self.board.first();
                let beyond =
                    self.recover.is_none_or(|end| first > end || (first == end && self.config.ns3_recovery));
                if self.duplicates >= DUP_THRESHOLD && beyond {
                    self.enter_recovery(now);
                }
            }
            _ => {}
        }
    }

    pub(super) fn enter_recovery(&mut self, now: SendTime) {
        self.counts.fast_recoveries += 1;
        let flight = f64::from(self.flight_at_loss());
        self.limited = 0;
        if self.state == State::Reducing {
            self.window.cwnd = self.prr.target();
        }
        // RFC 3168 §6.1.2: once for all marks and losses of a window.
        let answered = self.law.marks_count_as_losses() && self.ecn.has_answered_for(self.board.first());
        if !answered {
            self.law.on_congestion(&mut self.window, now, Congestion::Loss, flight);
        }
        self.ecn.on_reduced(self.board.next());
        if !self.config.sack {
            self.window.cwnd += f64::from(DUP_THRESHOLD); // RFC 5681 §3.2 step 3
        }
        self.prr.begin(self.window.cwnd, self.board.flight());
        self.state = State::Recovery;
        self.recover = Some(self.board.next());
        self.rescue_after = self.board.first();
        self.partial_seen = false;
        self.fast_retransmit = !self.board.first_is_resent();
    }

    /// What a loss found outside of recovery is taken from.
    fn flight_at_loss(&self) -> u32 {
        let extra = if self.config.ns3_recovery { self.told_early } else { self.limited };
        self.board.flight().saturating_sub(extra)
    }

    /// Part of what was outstanding at the loss is acknowledged: the next segment is lost, too (RFC 6582 §3.2
    /// step 3).
    pub(super) fn on_partial_ack(&mut self, acked: u32) {
        self.partial_seen = true;
        self.window.cwnd = (self.window.cwnd - f64::from(acked)).max(0.0) + 1.0;
        self.fast_retransmit = true;
    }

    pub(super) fn leave_recovery(&mut self) {
        if !self.config.sack {
            let flight = f64::from(self.board.flight().max(1));
            self.window.cwnd = self.window.ssthresh.min(flight + 1.0); // RFC 6582 §3.2 step 3
        } else if self.config.prr {
            self.window.cwnd = self.prr.target();
        }
        self.state = State::Open;
        self.duplicates = 0;
        self.limited = 0;
        self.fast_retransmit = false;
    }

    /// What the timer that has run out asks for: `ssthresh` is kept if it runs out for the same segment again (RFC 5681
    /// §3.1), in ns-3 all through the repair.
    pub(super) fn timeout_reduction(&mut self) -> Reduction {
        let first = Some(self.board.first());
        let again = self.timed_out == first || (self.state == State::Loss && self.config.ns3_recovery);
        self.timed_out = first;
        if again {
            return Reduction::Again;
        }
        let reduced = match self.state {
            State::Recovery => true,
            State::Reducing => self.recover.is_some_and(|recover| self.board.first() < recover),
            _ => false,
        };
        if reduced && self.rack.is_some() {
            return Reduction::Before(self.board.pipe());
        }
        let flight = match self.state {
            // What a timeout declared lost, or SACK told of, is not in flight any more.
            State::Loss => self.board.pipe(),
            State::Recovery if self.config.sack => self.board.pipe(),
            State::Recovery => self.board.flight().saturating_sub(self.told_early),
            _ => self.flight_at_loss(),
        };
        if matches!(self.state, State::Recovery | State::Reducing) {
            // What recovery was to end with, without the inflation by duplicates.
            let prr = self.config.sack && self.config.prr;
            self.window.cwnd = if prr { self.prr.target() } else { self.window.ssthresh };
        }
        Reduction::Of(flight)
    }

    /// The window is reduced for a timeout, which left `rest` of it.
    pub(super) fn reduce_by_timeout(&mut self, now: SendTime, reduction: Reduction, rest: f64) {
        match reduction {
            Reduction::Again => {}
            Reduction::Before(flight) => {
                let mut unheeded = self.window;
                self.law.on_congestion(&mut unheeded, now, Congestion::Timeout, f64::from(flight));
            }
            Reduction::Of(flight) => {
                self.law.on_congestion(&mut self.window, now, Congestion::Timeout, f64::from(flight));
            }
        }
        self.window.cwnd = rest;
    }

    /// What the timer leaves of the window: room for one segment, as nothing else is taken to be in the network, or by time what
    /// may have been late only.
    pub(super) fn window_after_timeout(&self) -> f64 {
        if self.rack.is_some() { f64::from(self.board.pipe()) + 1.0 } else { 1.0 }
    }

    /// The timer has run out: what is outstanding is lost, or by time what would have been told of by now.
    pub(super) fn lose_outstanding(&mut self, now: SendTime) {
        match &mut self.rack {
            Some(rack) => rack.on_timeout(now, &mut self.board),
            None => self.board.lose_all(),
        }
    }

    /// The timer has run out where losses are found by time: it may have been for nothing, unless something else was being
    /// repaired (RFC 5682 §3.1 step 1).
    pub(super) fn suspect_the_timeout(&mut self, reduction: Reduction) {
        if self.rack.is_none() {
            return;
        }
        self.tail.probe = None;
        self.tail.due = false;
        self.doubt.new_only = false;
        let calm = matches!(self.state, State::Open | State::Reducing);
        if matches!(reduction, Reduction::Of(_)) {
            self.remember_window();
        }
        let undone = self.config.undo && !self.coupled.is_on();
        self.doubt.frto = undone && (calm || reduction == Reduction::Again);
    }
}

/// What a timeout reduces by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    /// It has reduced before, for the same segment.
    Again,
    /// Recovery has reduced before, with so many segments in flight now.
    Before(u32),
    /// So many segments were in flight.
    Of(u32),
}
