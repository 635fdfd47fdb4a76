//! Responses of a TCP sender to losses, ECN marks and timeouts.

use weir_cc::SendTime;
use weir_cc::window::Congestion;

use super::undo::Undo;
use super::{State, TcpSender};
use crate::tcp::scoreboard::DUP_THRESHOLD;

impl TcpSender {
    /// Handles marks. In recovery, and after a timeout, the window is reduced already.
    pub(super) fn on_marks(&mut self, now: SendTime) {
        if self.state != State::Open || !self.ecn.may_reduce(self.board.first()) {
            return;
        }
        self.counts.ecn_reductions += 1;
        let flight = f64::from(self.board.flight() - self.limited);
        self.undo = Undo::default();
        let before = self.window.cwnd;
        self.algorithm.on_congestion(&mut self.window, now, Congestion::Ecn, flight);
        self.ecn.on_reduced(self.board.next());
        if self.config.sack && self.config.prr {
            let base = if self.rack.is_some() { before as u32 } else { self.board.flight() };
            self.prr.begin(self.window.cwnd, base);
            self.state = State::Reducing;
            self.recover = Some(self.board.next());
        }
    }

    /// Ends the reduction for a mark once the segment with CWR is acknowledged.
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
                // RFC 6582 §3.2 step 2: only segments sent after the last recovery may begin another.
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
        // RFC 3168 §6.1.2: one reduction for all marks and losses of a window.
        let answered =
            self.algorithm.marks_count_as_losses() && self.ecn.was_reduced_since(self.board.first());
        if !answered {
            self.algorithm.on_congestion(&mut self.window, now, Congestion::Loss, flight);
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

    /// Flight size from which `ssthresh` is computed at a loss outside of recovery.
    fn flight_at_loss(&self) -> u32 {
        let extra = if self.config.ns3_recovery { self.reported_early } else { self.limited };
        self.board.flight().saturating_sub(extra)
    }

    /// Handles an acknowledgement of part of the data outstanding at the loss: the next segment is lost, too (RFC 6582
    /// §3.2 step 3).
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

    /// The reduction for a timeout. `ssthresh` stays at another timeout of the same segment (RFC 5681 §3.1), and in
    /// ns-3 throughout the repair.
    pub(super) fn timeout_reduction(&mut self) -> TimeoutReduction {
        let first = Some(self.board.first());
        let retransmitted =
            self.timed_out == first || (self.state == State::Loss && self.config.ns3_recovery);
        self.timed_out = first;
        if retransmitted {
            return TimeoutReduction::SameSegment;
        }
        let reduced = match self.state {
            State::Recovery => true,
            State::Reducing => self.recover.is_some_and(|recover| self.board.first() < recover),
            _ => false,
        };
        if reduced && self.rack.is_some() {
            return TimeoutReduction::AfterRecovery(self.board.pipe());
        }
        let flight = match self.state {
            // Segments declared lost by a timeout, or SACKed, are not in flight any more.
            State::Loss => self.board.pipe(),
            State::Recovery if self.config.sack => self.board.pipe(),
            State::Recovery => self.board.flight().saturating_sub(self.reported_early),
            _ => self.flight_at_loss(),
        };
        if matches!(self.state, State::Recovery | State::Reducing) {
            // The window at the end of recovery, without the inflation by duplicates.
            let prr = self.config.sack && self.config.prr;
            self.window.cwnd = if prr { self.prr.target() } else { self.window.ssthresh };
        }
        TimeoutReduction::FromFlight(flight)
    }

    /// Reduces the window for a timeout, to `window`.
    pub(super) fn reduce_by_timeout(&mut self, now: SendTime, reduction: TimeoutReduction, rest: f64) {
        match reduction {
            TimeoutReduction::SameSegment => {}
            TimeoutReduction::AfterRecovery(flight) => {
                // The algorithm takes note of the timeout, but its reduction is dropped.
                let mut unheeded = self.window;
                self.algorithm.on_congestion(&mut unheeded, now, Congestion::Timeout, f64::from(flight));
            }
            TimeoutReduction::FromFlight(flight) => {
                self.algorithm.on_congestion(&mut self.window, now, Congestion::Timeout, f64::from(flight));
            }
        }
        self.window.cwnd = rest;
    }

    /// The window after a timeout: one segment, as no other data are assumed to be in flight. With losses found by
    /// time, plus the segments that may only be late.
    pub(super) fn window_after_timeout(&self) -> f64 {
        if self.rack.is_some() { f64::from(self.board.pipe()) + 1.0 } else { 1.0 }
    }

    /// Handles a retransmission timeout: all outstanding segments are lost. With losses found by time, only those are
    /// that should have been acknowledged.
    pub(super) fn mark_outstanding_lost(&mut self, now: SendTime) {
        match &mut self.rack {
            Some(rack) => rack.on_timeout(now, &mut self.board),
            None => self.board.lose_all(),
        }
    }

    /// Suspects a spurious timeout, where losses are found by time, unless another loss was being repaired (RFC 5682
    /// §3.1 step 1).
    pub(super) fn suspect_spurious_timeout(&mut self, reduction: TimeoutReduction) {
        if self.rack.is_none() {
            return;
        }
        self.tail.probe = None;
        self.tail.due = false;
        self.suspected_timeout.new_only = false;
        let calm = matches!(self.state, State::Open | State::Reducing);
        if matches!(reduction, TimeoutReduction::FromFlight(_)) {
            self.remember_window();
        }
        let undone = self.config.undo && !self.coupled.is_coupled();
        self.suspected_timeout.frto = undone && (calm || reduction == TimeoutReduction::SameSegment);
    }
}

/// Reduction of the window for a timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimeoutReduction {
    /// No reduction: an earlier timeout of the same segment has reduced the window.
    SameSegment,
    /// No reduction: recovery has reduced the window. The value is the number of segments in flight now.
    AfterRecovery(u32),
    /// A reduction. The value is the number of segments that were in flight.
    FromFlight(u32),
}
