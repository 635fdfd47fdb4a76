//! Processing of an acknowledgement where losses are found by time, as in Linux. The sources are RFC 8985, the window
//! of RFC 9937 in recovery, and F-RTO (RFC 5682) after a timeout.

use weir_cc::SendTime;
use weir_cc::window::Congestion;
use weir_units::TimeDelta;
use weir_world::tcp::{Acknowledgement, SackBlock};

use super::{State, TcpSender};
use crate::tcp::rack::{FoundLosses, RackUpdate};
use crate::tcp::scoreboard::Scoreboard;

/// Content of an acknowledgement.
#[derive(Clone, Copy, Debug)]
struct AckContent {
    /// Segments acknowledged cumulatively for the first time.
    acked: u32,
    /// Segments known to have arrived for the first time.
    delivered: u32,
    /// Departure of the segment whose timestamp is echoed.
    echo: SendTime,
    update: RackUpdate,
}

impl TcpSender {
    pub(super) fn on_ack_by_time(&mut self, now: SendTime, ack: &Acknowledgement) -> Option<TimeDelta> {
        let arrived_before = self.board.arrived();
        let echo = ack.stamps.sent(now);
        let min_rtt = self.rtt.min();
        let update = self.rack.as_mut().map(|rack| rack.on_ack(now, &self.board, ack, min_rtt));
        let update = update.unwrap_or_default();
        let acked = self.board.acknowledge(ack.cumulative);
        let marks = self.ecn.marks(ack);
        let echoed = (acked > 0).then(|| now - echo);
        let rtt = update.acked.first().or(update.sacked_in.first()).or(echoed);
        if let Some(sample) = rtt {
            self.rtt.on_sample(sample, ack.cumulative, self.board.next());
        }
        if acked > 0 {
            self.note_reading(now, acked);
        }
        self.board.take_blocks(&ack.sacks);
        let delivered = self.board.arrived() - arrived_before;
        if delivered > 0 {
            self.tail.due = false;
        }
        self.coupled.on_delivery(now, ack.stamps, delivered);
        self.report_delivery(
            now,
            delivered,
            marks,
            update.sacked_in.last().or(update.acked.last()).or(echoed),
        );
        let duplicate = self.possible_duplicate(ack);
        if let Some(block) = duplicate {
            self.undo.on_duplicate(block);
        }
        // A loss that a probe repaired reduces the window as any other (RFC 8985 §7.4).
        self.evaluate_probe(now, ack.cumulative, duplicate, delivered > 0);
        let content = AckContent { acked, delivered, echo, update };
        self.update_state(now, &content);
        let found = self.find_lost(now);
        if marks > 0 {
            self.on_marks(now);
        }
        self.set_window(now, &content, marks, found.lost);
        self.set_timer(now, acked > 0 || self.reports_earlier_segment(now, &content), found.recheck);
        self.note_completion(now);
        rtt
    }

    /// The D-SACK block of the acknowledgement, if it is possible: there are no more duplicates than retransmissions
    /// (`tcp_dsack_seen`).
    fn possible_duplicate(&mut self, ack: &Acknowledgement) -> Option<SackBlock> {
        let reported = Scoreboard::has_duplicate(ack.cumulative, &ack.sacks);
        let block = Some(ack.sacks[0]).filter(|_| reported)?;
        let left = block.end <= self.board.next();
        if left {
            self.counts.duplicates += u64::from(block.end - block.start);
        }
        let possible = left && self.counts.duplicates <= self.counts.retransmissions;
        self.counts.refused += u64::from(!possible);
        possible.then_some(block)
    }

    /// Whether a segment has arrived that left before the first outstanding segment, so that the latter may still be
    /// in flight.
    fn reports_earlier_segment(&self, now: SendTime, content: &AckContent) -> bool {
        let Some(rack) = self.rack.as_ref().filter(|_| self.board.flight() > 0) else { return false };
        content.update.sacked_in.first().is_some_and(|rtt| now - rtt < rack.left_at(self.board.first()))
    }

    /// Updates the state by the content of the acknowledgement, without the detection of losses.
    fn update_state(&mut self, now: SendTime, content: &AckContent) {
        let first = self.board.first();
        let recovered = self.recover.is_none_or(|recover| first >= recover);
        match self.state {
            State::Loss => self.evaluate_timeout(now, content, recovered),
            State::Recovery if recovered => {
                if (self.undo.is_original(content.echo) || self.undo.was_spurious())
                    && self.undo_reduction(now)
                {
                    self.state = State::Open;
                } else {
                    self.leave_recovery();
                }
            }
            State::Recovery => {
                let late =
                    content.acked > 0 && self.undo.is_original(content.echo) && self.board.resent() == 0;
                if late {
                    self.board.keep_all();
                }
                if (late || self.undo.was_spurious()) && self.undo_reduction(now) {
                    self.state = State::Open;
                }
            }
            State::Reducing => self.leave_reduction(),
            _ => {
                if self.undo.was_spurious() {
                    self.undo_reduction(now);
                }
            }
        }
        if content.acked > 0 {
            self.limited = 0;
        }
    }

    /// Evaluates a timeout: it was spurious if a segment that was never retransmitted arrives (RFC 5682 §3.1, the form
    /// with SACK).
    fn evaluate_timeout(&mut self, now: SendTime, content: &AckContent, recovered: bool) {
        let recover = self.recover.unwrap_or(0);
        self.suspected_timeout.new_only = false;
        let late = content.acked > 0 && (self.undo.is_original(content.echo) || self.undo.was_spurious());
        let original =
            self.suspected_timeout.frto && content.update.original.is_some_and(|number| number < recover);
        if (late || original) && self.undo_reduction(now) {
            self.board.keep_all();
            self.suspected_timeout.frto = false;
            self.state = State::Open;
            return;
        }
        if self.suspected_timeout.frto {
            if self.board.next() > recover {
                self.suspected_timeout.frto = content.acked > 0 && !content.update.sacked; // step 3.a: otherwise the loss is real
            } else if content.acked > 0 && !recovered {
                self.recover = Some(self.board.next()); // step 2.b
                if self.has_new() {
                    self.suspected_timeout.new_only = true;
                    return;
                }
                self.suspected_timeout.frto = false;
            }
        }
        if recovered {
            self.state = State::Open;
        }
    }

    /// Searches for losses, and begins to repair them.
    fn find_lost(&mut self, now: SendTime) -> FoundLosses {
        let Some(rack) = &mut self.rack else { return FoundLosses::default() };
        let recovering = matches!(self.state, State::Recovery | State::Loss);
        let srtt = self.rtt.smoothed().unwrap_or(TimeDelta::ZERO);
        let tolerance = rack.tolerance(&self.board, recovering, self.rtt.min(), srtt);
        let found = rack.find_lost(now, &mut self.board, tolerance);
        let begins = match self.state {
            State::Open | State::Reducing => self.board.lost() > 0,
            State::Loss => found.retransmitted > 0,
            _ => false,
        };
        if begins {
            self.begin_repair(now);
        }
        found
    }

    fn begin_repair(&mut self, now: SendTime) {
        self.counts.fast_recoveries += 1;
        let flight = f64::from(self.board.flight().saturating_sub(self.limited));
        self.limited = 0;
        self.tail.probe = None;
        if self.state != State::Reducing {
            self.remember_window();
            // RFC 3168 §6.1.2: once for all marks and losses of a window.
            let answered =
                self.algorithm.marks_count_as_losses() && self.ecn.was_reduced_since(self.board.first());
            let before = self.window.cwnd;
            if !answered {
                self.algorithm.on_congestion(&mut self.window, now, Congestion::Loss, flight);
            }
            self.prr.begin(self.window.cwnd, before as u32);
            self.recover = Some(self.board.next());
        }
        self.ecn.on_reduced(self.board.next());
        self.suspected_timeout.new_only = false;
        self.suspected_timeout.frto = false;
        self.state = State::Recovery;
    }

    /// Sets the window after an acknowledgement: in proportion to the arriving segments in recovery, else by the
    /// algorithm.
    fn set_window(&mut self, now: SendTime, content: &AckContent, marks: u16, lost: u32) {
        match self.state {
            State::Recovery | State::Reducing if self.config.prr => {
                if content.delivered > 0 {
                    let progress = content.acked > 0 && lost == 0;
                    self.window.cwnd =
                        self.prr.window_by_progress(content.delivered, self.board.pipe(), progress);
                }
            }
            State::Recovery | State::Reducing => {}
            _ => {
                let repairing = self.state == State::Loss;
                let opening =
                    if repairing { content.delivered } else { self.ecn.opening(content.delivered, marks) };
                if content.acked > 0 && opening > 0 {
                    self.grow(now, opening);
                }
            }
        }
    }

    /// Handles the end of the reordering window.
    pub(super) fn on_late(&mut self, now: SendTime) {
        let before = self.state;
        let found = self.find_lost(now);
        if found.lost > 0 && before != State::Recovery && self.config.prr {
            self.window.cwnd = self.prr.window_by_progress(1, self.board.pipe(), false);
        }
        self.set_remaining_timeout(now);
    }
}
