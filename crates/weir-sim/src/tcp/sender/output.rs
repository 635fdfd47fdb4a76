//! Choice of the next segment of a TCP sender: new data, retransmissions (RFC 6675 §4), probes and the SYN.

use weir_cc::{Ecn, SendTime};
use weir_world::tcp::Segment;

use super::{State, TcpSender};

impl TcpSender {
    /// The next segment that may leave now; call until `None`.
    pub fn poll_segment(&mut self, now: SendTime) -> Option<Segment> {
        let segment = match self.state {
            State::Closed | State::SynSent => return None,
            State::SynDue => self.send_syn(now),
            _ if self.pacing.holds(now) => {
                // The pace is set by the window, so the window counts as the limit.
                if self.state == State::Loss || self.has_new() {
                    self.record_window_use(true);
                }
                return None;
            }
            _ if self.tail.due && self.board.flight() > 0 => return self.send_probe(now),
            _ => self.next_data(now)?,
        };
        if self.rack.is_some() && !segment.syn {
            self.set_timer_after(now, &segment);
        } else if self.deadline.is_none() {
            self.restart_timer(now);
        }
        Some(segment)
    }

    fn send_syn(&mut self, now: SendTime) -> Segment {
        self.state = State::SynSent;
        let retransmission = self.counts.timeouts > 0;
        let ecn = Ecn::NotEct; // RFC 3168 §6.1.1
        let sent_at = now;
        Segment { number: 0, payload: 0, syn: true, retransmission, sent_at, ecn, cwr: false, push: false }
    }

    fn next_data(&mut self, now: SendTime) -> Option<Segment> {
        if self.fast_retransmit {
            self.fast_retransmit = false;
            return Some(self.resend(now, self.board.first()));
        }
        self.restart_after_idle(now);
        if !self.window_is_open() {
            self.burst.end();
            if self.coupled.take_clocked() {
                return self.send_new(now);
            }
            self.record_window_use(self.rack.is_some() || self.state == State::Loss || self.has_new());
            return None;
        }
        let next = self.next_in_window(now);
        if next.is_none() || self.rack.is_none() {
            self.record_window_use(false);
        }
        next
    }

    /// Records whether the window limits the sender. With losses found by time, one poll that it limits counts for
    /// the whole window of data (`tcp_cwnd_validate`).
    fn record_window_use(&mut self, limited: bool) {
        let flight = self.board.flight();
        let more = limited || (!self.window_limited && flight > self.most_out);
        if self.rack.is_none() || more || self.board.first() >= self.use_end {
            (self.window_limited, self.most_out, self.use_end) = (limited, flight, self.board.next());
        }
    }

    fn next_in_window(&mut self, now: SendTime) -> Option<Segment> {
        match self.state {
            State::Open | State::Reducing => self.send_burst(now),
            // RFC 5682 §3.1 step 2.b: new segments show whether the timeout was spurious.
            State::Loss if self.suspected_timeout.new_only => self.send_burst(now),
            _ if self.rack.is_some() => self.resend_lost(now, u32::MAX).or_else(|| self.send_burst(now)),
            State::Loss => self.resend_lost(now, self.recover.unwrap_or(0)).or_else(|| self.send_new(now)),
            _ if self.config.sack => self.next_in_sack_recovery(now),
            _ => self.send_new(now),
        }
    }

    /// Restarts after idle time (RFC 5681 §4.1). A sender that has sent no data for longer than the timeout has lost
    /// its ACK clock, and begins with at most the initial window.
    fn restart_after_idle(&mut self, now: SendTime) {
        let Some(sent_at) = self.sent_at else { return };
        let idle = now - sent_at;
        // Growth counts from the last acknowledgement: only the time since then is idle to the algorithm.
        let quiet = now - self.acked_at.map_or(sent_at, |acked_at| acked_at.max(sent_at));
        if self.state == State::Open && self.board.flight() == 0 && idle > self.rtt.rto() && self.has_new() {
            self.window.cwnd = self.window.cwnd.min(f64::from(self.config.initial_window));
            self.algorithm.on_idle(&mut self.window, quiet);
            self.sent_at = Some(now);
        }
    }

    fn window_is_open(&self) -> bool {
        let limited_transmit = self.config.limited_transmit;
        let (outstanding, extra) = match self.state {
            State::Open if self.config.sack && limited_transmit => (self.board.pipe(), 0),
            State::Open if limited_transmit => (self.board.flight(), self.duplicates.min(2)), // RFC 3042 §2
            State::Loss | State::Reducing => (self.board.pipe(), 0),
            State::Recovery if self.config.sack => (self.board.pipe(), 0),
            _ => (self.board.flight(), 0),
        };
        f64::from(outstanding) + 1.0 <= self.coupled.limit(self.window.cwnd) + f64::from(extra)
    }

    /// `NextSeg()` (RFC 6675 §4).
    fn next_in_sack_recovery(&mut self, now: SendTime) -> Option<Segment> {
        self.resend_lost(now, u32::MAX)
            .or_else(|| self.send_new(now))
            .or_else(|| self.board.next_hole().map(|number| self.resend(now, number)))
            .or_else(|| self.rescue_retransmission(now))
    }

    fn resend_lost(&mut self, now: SendTime, limit: u32) -> Option<Segment> {
        self.board.next_lost(limit).map(|number| self.resend(now, number))
    }

    /// Rescue retransmission, once per recovery: the last outstanding segment may be lost without any SACKed one above
    /// it.
    fn rescue_retransmission(&mut self, now: SendTime) -> Option<Segment> {
        if self.board.first() <= self.rescue_after.saturating_add(1) {
            return None;
        }
        let number = self.board.last_hole()?;
        self.rescue_after = self.recover.unwrap_or(u32::MAX);
        Some(self.retransmit(now, number))
    }

    fn resend(&mut self, now: SendTime, number: u32) -> Segment {
        self.board.resend(number);
        self.retransmit(now, number)
    }

    pub(super) fn retransmit(&mut self, now: SendTime, number: u32) -> Segment {
        self.counts.retransmissions += 1;
        self.coupled.on_retransmission();
        self.undo.on_retransmission(now);
        self.segment(now, number, true)
    }

    pub(super) fn has_new(&self) -> bool {
        self.board.next() < self.transfer.end() && self.board.flight() < self.receive_window.size()
    }

    /// The next new segment, unless it waits for a larger burst.
    fn send_burst(&mut self, now: SendTime) -> Option<Segment> {
        if self.has_new() && !self.may_burst(now) {
            self.window_limited = true;
            return None;
        }
        self.send_new(now)
    }

    pub(super) fn send_new(&mut self, now: SendTime) -> Option<Segment> {
        if !self.has_new() {
            return None;
        }
        if self.state == State::Open && (self.duplicates > 0 || self.board.has_sacked()) {
            self.limited += 1;
        }
        let number = self.board.send_new();
        Some(self.segment(now, number, false))
    }

    /// Whether the segment is the last of the transfer, which has PSH set.
    fn ends_transfer(&self, number: u32) -> bool {
        self.config.offload && number + 1 == self.transfer.end()
    }

    fn segment(&mut self, now: SendTime, number: u32, retransmission: bool) -> Segment {
        self.counts.segments += 1;
        self.sent_at = Some(now);
        self.prr.on_sent();
        if let Some(rack) = &mut self.rack {
            let next = if retransmission { self.board.next() } else { number };
            rack.on_sent(now, number, self.board.first(), next);
        }
        self.pacing.on_sent(now, &self.window, self.board.flight(), self.rtt.smoothed());
        let payload = self.transfer.payload(number);
        let (ecn, cwr) = self.ecn.stamp(retransmission);
        let push = self.burst.take(retransmission) || self.ends_transfer(number);
        Segment { number, payload, syn: false, retransmission, sent_at: now, ecn, cwr, push }
    }
}
