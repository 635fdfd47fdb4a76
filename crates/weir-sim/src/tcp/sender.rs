//! The sending endpoint: the state machine of RFC 5681, RFC 6582 and RFC 6675.

use weir_cc::window::{Ack, Congestion, Delivery, Window, WindowLaw};
use weir_cc::{Ecn, SendTime};
use weir_units::{DataSize, TimeDelta};

use crate::tcp::TcpConfig;
use crate::tcp::ecn::EcnSender;
use crate::tcp::pacing::Pacing;
use crate::tcp::packet::{Acknowledgement, Segment};
use crate::tcp::prr::Prr;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::scoreboard::{DUP_THRESHOLD, Scoreboard};
use crate::tcp::stats::{Counts, TcpStats};
use crate::tcp::transfer::Transfer;

/// Sends a stream of segments under a window law.
#[derive(Debug)]
pub struct TcpSender {
    config: TcpConfig,
    law: Box<dyn WindowLaw>,
    window: Window,
    state: State,
    board: Scoreboard,
    rtt: RttEstimator,
    /// When the retransmission timer runs out.
    deadline: Option<SendTime>,
    transfer: Transfer,
    /// Recovery lasts until everything below is acknowledged; `None` before the first congestion.
    recover: Option<u32>,
    /// Whether the first outstanding segment is to be sent again whatever the window says.
    fast_retransmit: bool,
    /// Duplicate acknowledgements since the last that was none; counted without SACK only.
    duplicates: u32,
    /// Segments that limited transmit let out since the last cumulative acknowledgement.
    limited: u32,
    /// `RescueRxt`: a rescue retransmission is allowed once the segment after this one is acknowledged.
    rescue_after: u32,
    /// Whether this recovery has seen a partial acknowledgement.
    partial_seen: bool,
    /// The segment the timer was last set off by.
    timed_out: Option<u32>,
    /// Whether the window was what kept the last poll from sending.
    window_limited: bool,
    ecn: EcnSender,
    prr: Prr,
    pacing: Pacing,
    /// Segments that duplicate acknowledgements have told of and no cumulative one yet; counted without SACK only.
    told_early: u32,
    /// When the last data segment left.
    sent_at: Option<SendTime>,
    /// When the last acknowledgement came.
    acked_at: Option<SendTime>,
    counts: Counts,
    finished_at: Option<SendTime>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not started, or stopped before the connection stood.
    Closed,
    /// The SYN is to be sent.
    SynDue,
    /// The SYN is on its way.
    SynSent,
    /// No loss is being repaired.
    Open,
    /// Fast recovery.
    Recovery,
    /// The timer ran out and what was outstanding is being sent again.
    Loss,
}

impl TcpSender {
    /// A sender of `size` bytes, or without end. Nothing happens before [`Self::start`].
    pub fn new(config: TcpConfig, law: Box<dyn WindowLaw>, size: Option<DataSize>) -> Self {
        let config = config.in_range();
        Self {
            law,
            window: Window { cwnd: f64::from(config.initial_window), ssthresh: f64::INFINITY },
            state: State::Closed,
            board: Scoreboard::new(),
            rtt: RttEstimator::new(&config),
            deadline: None,
            transfer: Transfer::new(size, config.mss),
            recover: None,
            fast_retransmit: false,
            duplicates: 0,
            limited: 0,
            rescue_after: 0,
            partial_seen: false,
            timed_out: None,
            window_limited: false,
            ecn: EcnSender::new(config.ecn),
            prr: Prr::default(),
            pacing: Pacing::new(config.pacing),
            told_early: 0,
            sent_at: None,
            acked_at: None,
            counts: Counts::default(),
            finished_at: None,
            config,
        }
    }

    /// Opens the connection; poll for the SYN. Does nothing the second time.
    pub fn start(&mut self, _now: SendTime) {
        if self.state == State::Closed && self.finished_at.is_none() {
            self.state = State::SynDue;
        }
    }

    /// Ends the transfer here: what was sent is still repaired, nothing new follows.
    pub fn stop(&mut self, now: SendTime) {
        self.transfer.stop_at(self.board.next());
        if matches!(self.state, State::Closed | State::SynDue | State::SynSent) {
            self.state = State::Closed;
            self.deadline = None;
        }
        self.note_completion(now);
    }

    /// An acknowledgement has come; poll for segments afterwards. Returns the round-trip time it measured.
    pub fn on_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> Option<TimeDelta> {
        self.acked_at = Some(now);
        match self.state {
            State::Closed | State::SynDue => None,
            State::SynSent if ack.syn => Some(self.on_syn_ack(now, ack)),
            _ if ack.syn || self.state == State::SynSent => None,
            _ => self.on_data_ack(now, ack),
        }
    }

    fn on_syn_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> TimeDelta {
        let rtt = now - ack.echo;
        self.rtt.on_sample(rtt, 0, 0);
        if self.counts.timeouts > 0 {
            self.window.cwnd = 1.0; // RFC 5681 §3.1
            self.rtt.on_syn_timed_out();
        }
        self.state = State::Open;
        self.deadline = None;
        self.note_completion(now);
        rtt
    }

    fn on_data_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> Option<TimeDelta> {
        let arrived_before = self.board.arrived();
        let acked = self.board.acknowledge(ack.cumulative);
        let marks = self.ecn.marks(ack);
        let rtt = (acked > 0).then(|| now - ack.echo);
        if let Some(sample) = rtt {
            self.rtt.on_sample(sample, ack.cumulative, self.board.next());
        }
        if self.config.sack {
            self.board.sack(&ack.sacks);
            let delivered = self.board.arrived() - arrived_before;
            self.tell_of_delivery(now, delivered, marks, rtt);
            if acked > 0 {
                self.on_progress(now, acked, marks);
            }
            if self.state == State::Open && self.board.first_is_lost() {
                self.enter_recovery(now);
            }
            if self.state == State::Recovery && self.config.prr {
                self.window.cwnd = self.prr.window(delivered, self.board.pipe());
            }
        } else {
            let duplicate = acked == 0 && ack.cumulative == self.board.first() && self.board.flight() > 0;
            let delivered = self.delivered_without_sack(acked, duplicate);
            self.tell_of_delivery(now, delivered, marks, rtt);
            if acked > 0 {
                self.on_progress(now, acked, marks);
            } else if duplicate {
                self.on_duplicate(now);
            }
        }
        if marks > 0 {
            self.on_marks(now);
        }
        rtt
    }

    /// Segments that an acknowledgement tells of. Without SACK a duplicate stands for one, and a cumulative one for those
    /// that no duplicate has told of before.
    fn delivered_without_sack(&mut self, acked: u32, duplicate: bool) -> u32 {
        if duplicate {
            self.told_early = self.told_early.saturating_add(1);
            return 1;
        }
        let told = self.told_early.min(acked);
        self.told_early = if self.board.flight() == 0 { 0 } else { self.told_early - told };
        acked - told
    }

    fn tell_of_delivery(&mut self, now: SendTime, delivered: u32, marks: u16, rtt: Option<TimeDelta>) {
        let delivery = Delivery {
            now,
            delivered: f64::from(delivered),
            marked: f64::from(marks),
            outstanding: f64::from(self.board.outstanding()),
            rtt: rtt.filter(|rtt| !rtt.is_negative()),
            min_rtt: self.rtt.min(),
            recovering: self.state == State::Recovery,
        };
        self.law.on_delivery(&mut self.window, &delivery);
    }

    /// Segments have arrived marked. Recovery and what follows a timeout have reduced the window already.
    fn on_marks(&mut self, now: SendTime) {
        if self.state != State::Open || !self.ecn.may_reduce(self.board.first()) {
            return;
        }
        self.counts.ecn_reductions += 1;
        let flight = f64::from(self.board.flight() - self.limited);
        self.law.on_congestion(&mut self.window, now, Congestion::Ecn, flight);
        self.ecn.on_reduced(self.board.next());
    }

    /// `acked` segments are cumulatively acknowledged, and so many more marks are known. An acknowledgement that tells of
    /// marks does not open the window (RFC 3168 §6.1.2), but after a timeout: the answer that ends the echo cannot leave
    /// before new data does.
    fn on_progress(&mut self, now: SendTime, acked: u32, marks: u16) {
        let recovered = self.recover.is_none_or(|recover| self.board.first() >= recover);
        let mut restart_timer = true;
        match self.state {
            State::Recovery if recovered => self.leave_recovery(),
            State::Recovery if !self.config.sack => {
                restart_timer = !self.partial_seen; // RFC 6582 §3.2 step 3
                self.on_partial_ack(acked);
            }
            State::Recovery => {}
            _ => {
                self.duplicates = 0;
                self.limited = 0;
                let repairing = self.state == State::Loss;
                let opening = if repairing { acked } else { self.ecn.opening(acked, marks) };
                if opening > 0 {
                    self.grow(now, opening);
                }
                if recovered {
                    self.state = State::Open;
                }
            }
        }
        if self.board.flight() == 0 {
            self.deadline = None;
        } else if restart_timer {
            self.restart_timer(now);
        }
        self.note_completion(now);
    }

    fn grow(&mut self, now: SendTime, acked: u32) {
        let Some(srtt) = self.rtt.smoothed() else { return };
        let ack = Ack {
            now,
            acked: f64::from(acked),
            srtt,
            min_rtt: self.rtt.min(),
            window_limited: self.window_limited,
        };
        self.law.on_ack(&mut self.window, &ack);
    }

    fn on_duplicate(&mut self, now: SendTime) {
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

    fn enter_recovery(&mut self, now: SendTime) {
        self.counts.fast_recoveries += 1;
        let flight = f64::from(self.flight_at_loss());
        self.limited = 0;
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
    fn on_partial_ack(&mut self, acked: u32) {
        self.partial_seen = true;
        self.window.cwnd = (self.window.cwnd - f64::from(acked)).max(0.0) + 1.0;
        self.fast_retransmit = true;
    }

    fn leave_recovery(&mut self) {
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

    /// When [`Self::on_timeout`] wants to be called.
    pub fn next_timeout(&self) -> Option<SendTime> {
        match (self.deadline, self.pacing.release()) {
            (Some(deadline), Some(release)) => Some(deadline.min(release)),
            (deadline, release) => deadline.or(release),
        }
    }

    /// The time of [`Self::next_timeout`] has come; poll for segments afterwards. Early or twice is harmless.
    pub fn on_timeout(&mut self, now: SendTime) {
        self.pacing.clear();
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        self.counts.timeouts += 1;
        self.rtt.back_off();
        if self.state == State::SynSent {
            self.state = State::SynDue;
            self.deadline = None;
            return;
        }
        self.reduce_by_timeout(now);
        self.state = State::Loss;
        self.recover = Some(self.board.next());
        self.fast_retransmit = false;
        self.duplicates = 0;
        self.limited = 0;
        self.board.lose_all();
        self.ecn.on_reduced(self.board.next());
        self.restart_timer(now);
    }

    /// `ssthresh` is kept if the timer runs out for the same segment again (RFC 5681 §3.1), in ns-3 all through the
    /// repair.
    fn reduce_by_timeout(&mut self, now: SendTime) {
        let first = Some(self.board.first());
        let again = self.timed_out == first || (self.state == State::Loss && self.config.ns3_recovery);
        self.timed_out = first;
        if !again {
            let flight = match self.state {
                // What a timeout declared lost, or SACK told of, is not in flight any more.
                State::Loss => self.board.pipe(),
                State::Recovery if self.config.sack => self.board.pipe(),
                State::Recovery => self.board.flight().saturating_sub(self.told_early),
                _ => self.flight_at_loss(),
            };
            if self.state == State::Recovery {
                // What recovery was to end with, without the inflation by duplicates.
                let prr = self.config.sack && self.config.prr;
                self.window.cwnd = if prr { self.prr.target() } else { self.window.ssthresh };
            }
            self.law.on_congestion(&mut self.window, now, Congestion::Timeout, f64::from(flight));
        }
        self.window.cwnd = 1.0;
    }

    fn restart_timer(&mut self, now: SendTime) {
        self.deadline = Some(now + self.rtt.rto());
    }

    fn note_completion(&mut self, now: SendTime) {
        let established = matches!(self.state, State::Open | State::Recovery | State::Loss);
        if established && self.board.first() >= self.transfer.end() && self.finished_at.is_none() {
            self.finished_at = Some(now);
        }
    }

    /// The next segment that may leave now; call until `None`.
    pub fn poll_segment(&mut self, now: SendTime) -> Option<Segment> {
        let segment = match self.state {
            State::Closed | State::SynSent => return None,
            State::SynDue => self.send_syn(now),
            _ if self.pacing.holds(now) => {
                // The window sets the pace, so it is the window that limits.
                self.window_limited |= self.state == State::Loss || self.has_new();
                return None;
            }
            _ => self.next_data(now)?,
        };
        if self.deadline.is_none() {
            self.restart_timer(now);
        }
        Some(segment)
    }

    fn send_syn(&mut self, now: SendTime) -> Segment {
        self.state = State::SynSent;
        let retransmission = self.counts.timeouts > 0;
        let ecn = Ecn::NotEct; // RFC 3168 §6.1.1
        Segment { number: 0, payload: 0, syn: true, retransmission, sent_at: now, ecn, cwr: false }
    }

    fn next_data(&mut self, now: SendTime) -> Option<Segment> {
        if self.fast_retransmit {
            self.fast_retransmit = false;
            return Some(self.resend(now, self.board.first()));
        }
        self.restart_after_idle(now);
        if !self.window_has_room() {
            self.window_limited = self.state == State::Loss || self.has_new();
            return None;
        }
        self.window_limited = false;
        match self.state {
            State::Open => self.send_new(now),
            State::Loss => self.resend_lost(now, self.recover.unwrap_or(0)).or_else(|| self.send_new(now)),
            _ if self.config.sack => self.next_in_sack_recovery(now),
            _ => self.send_new(now),
        }
    }

    /// Who has sent nothing for longer than the timeout has lost the clock of acknowledgements, and begins with no more
    /// than the initial window (RFC 5681 §4.1).
    fn restart_after_idle(&mut self, now: SendTime) {
        let Some(sent_at) = self.sent_at else { return };
        let idle = now - sent_at;
        // Growth counts from the last acknowledgement: only what passed since then is idle to the law.
        let quiet = now - self.acked_at.map_or(sent_at, |acked_at| acked_at.max(sent_at));
        if self.state == State::Open && self.board.flight() == 0 && idle > self.rtt.rto() && self.has_new() {
            self.window.cwnd = self.window.cwnd.min(f64::from(self.config.initial_window));
            self.law.on_idle(&mut self.window, quiet);
            self.sent_at = Some(now);
        }
    }

    fn window_has_room(&self) -> bool {
        let limited_transmit = self.config.limited_transmit;
        let (outstanding, extra) = match self.state {
            State::Open if self.config.sack && limited_transmit => (self.board.pipe(), 0),
            State::Open if limited_transmit => (self.board.flight(), self.duplicates.min(2)), // RFC 3042 §2
            State::Loss => (self.board.pipe(), 0),
            State::Recovery if self.config.sack => (self.board.pipe(), 0),
            _ => (self.board.flight(), 0),
        };
        f64::from(outstanding) + 1.0 <= self.window.cwnd + f64::from(extra)
    }

    /// `NextSeg()` (RFC 6675 §4).
    fn next_in_sack_recovery(&mut self, now: SendTime) -> Option<Segment> {
        self.resend_lost(now, u32::MAX)
            .or_else(|| self.send_new(now))
            .or_else(|| self.board.next_hole().map(|number| self.resend(now, number)))
            .or_else(|| self.rescue(now))
    }

    fn resend_lost(&mut self, now: SendTime, limit: u32) -> Option<Segment> {
        self.board.next_lost(limit).map(|number| self.resend(now, number))
    }

    /// The last outstanding segment may have been lost without anything above it telling; once per recovery.
    fn rescue(&mut self, now: SendTime) -> Option<Segment> {
        if self.board.first() <= self.rescue_after.saturating_add(1) {
            return None;
        }
        let number = self.board.last_hole()?;
        self.rescue_after = self.recover.unwrap_or(u32::MAX);
        self.counts.retransmissions += 1;
        Some(self.segment(now, number, true))
    }

    fn resend(&mut self, now: SendTime, number: u32) -> Segment {
        self.board.resend(number);
        self.counts.retransmissions += 1;
        self.segment(now, number, true)
    }

    fn has_new(&self) -> bool {
        self.board.next() < self.transfer.end() && self.board.flight() < self.config.receive_window
    }

    fn send_new(&mut self, now: SendTime) -> Option<Segment> {
        if !self.has_new() {
            return None;
        }
        if self.state == State::Open && (self.duplicates > 0 || self.board.has_sacked()) {
            self.limited += 1;
        }
        let number = self.board.send_new();
        Some(self.segment(now, number, false))
    }

    fn segment(&mut self, now: SendTime, number: u32, retransmission: bool) -> Segment {
        self.counts.segments += 1;
        self.sent_at = Some(now);
        self.prr.on_sent();
        self.pacing.on_sent(now, &self.window, self.board.flight(), self.rtt.smoothed());
        let payload = self.transfer.payload(number);
        let (ecn, cwr) = self.ecn.stamp(retransmission);
        Segment { number, payload, syn: false, retransmission, sent_at: now, ecn, cwr }
    }

    /// The congestion window.
    pub fn window(&self) -> Window {
        self.window
    }

    /// Segments believed to be in the network (RFC 6675 §4).
    pub fn pipe(&self) -> u32 {
        self.board.pipe()
    }

    /// Data acknowledged in order.
    pub fn acknowledged(&self) -> DataSize {
        self.transfer.size_before(self.board.first())
    }

    /// The latest sample of the round-trip time; `None` before the first.
    pub fn last_rtt(&self) -> Option<TimeDelta> {
        self.rtt.latest()
    }

    /// When all that was to be sent, up to a stop, was acknowledged.
    pub fn finished_at(&self) -> Option<SendTime> {
        self.finished_at
    }

    /// Whether all of the transfer is acknowledged; never if a stop left part of it out.
    pub fn is_complete(&self) -> bool {
        self.finished_at.is_some() && !self.transfer.is_cut_short()
    }

    /// Counts so far, and the present estimates.
    pub fn stats(&self) -> TcpStats {
        TcpStats {
            segments: self.counts.segments,
            retransmissions: self.counts.retransmissions,
            timeouts: self.counts.timeouts,
            fast_recoveries: self.counts.fast_recoveries,
            ecn_reductions: self.counts.ecn_reductions,
            srtt: self.rtt.smoothed(),
            rto: self.rtt.rto(),
        }
    }
}
