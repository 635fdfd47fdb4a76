//! The sending end of a TCP connection: the state machine of RFC 5681, RFC 6582 and RFC 6675.

mod alarms;
mod by_time;
mod coupled;
mod offload;
mod output;
mod recovery;
mod undo;

use weir_cc::SendTime;
use weir_cc::window::{Ack, Congestion, Delivery, Window, WindowAlgorithm};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, TcpConfig};

use crate::tcp::ecn::EcnSender;
use crate::tcp::pacing::SegmentPacer;
use crate::tcp::prr::Prr;
use crate::tcp::rack::Rack;
use crate::tcp::receive_window::ReceiveWindow;
use crate::tcp::rtt::RttEstimator;
use crate::tcp::scoreboard::Scoreboard;
use crate::tcp::stats::{SegmentCounts, TcpStats};
use crate::tcp::ticks::expiry;
use crate::tcp::transfer::SegmentStream;

pub use coupled::AckResult;

use alarms::{ProbeState, SenderDeadline};
use coupled::SenderCoupling;
use offload::OffloadBurst;
use undo::{SuspectedTimeout, Undo};

/// Sender of a stream of segments under a congestion control algorithm for windows.
#[derive(Debug)]
pub struct TcpSender {
    config: TcpConfig,
    algorithm: Box<dyn WindowAlgorithm>,
    window: Window,
    state: State,
    board: Scoreboard,
    rtt: RttEstimator,
    /// Time of the retransmission timer, or of another purpose of the alarm.
    deadline: Option<SendTime>,
    alarm: SenderDeadline,
    transfer: SegmentStream,
    /// Recovery lasts until all segments below this number are acknowledged; `None` before the first congestion.
    recover: Option<u32>,
    /// Whether the first outstanding segment is retransmitted regardless of the window.
    fast_retransmit: bool,
    /// Duplicate acknowledgements in a row; counted without SACK only.
    duplicates: u32,
    /// Segments that limited transmit let out since the last cumulative acknowledgement.
    limited: u32,
    /// `RescueRxt`: a rescue retransmission is allowed once the segment after this one is acknowledged.
    rescue_after: u32,
    /// Whether this recovery has seen a partial acknowledgement.
    partial_seen: bool,
    /// The first outstanding segment at the last timeout.
    timed_out: Option<u32>,
    /// Whether the window kept the sender from sending at the last poll. With losses found by time, at any poll of
    /// the present window of data.
    window_limited: bool,
    /// Greatest number of outstanding segments in the present window of data (`max_packets_out`).
    most_out: u32,
    /// End of that window of data (`cwnd_usage_seq`).
    use_end: u32,
    ecn: EcnSender,
    prr: Prr,
    pacing: SegmentPacer,
    burst: OffloadBurst,
    /// Transmission times; `None` unless losses are found by time.
    rack: Option<Rack>,
    undo: Undo,
    suspected_timeout: SuspectedTimeout,
    tail: ProbeState,
    receive_window: ReceiveWindow,
    /// Number of segments reported by duplicate acknowledgements and not yet by a cumulative one; counted without
    /// SACK only.
    reported_early: u32,
    /// Departure of the last data segment.
    sent_at: Option<SendTime>,
    /// Arrival of the last acknowledgement.
    acked_at: Option<SendTime>,
    counts: SegmentCounts,
    finished_at: Option<SendTime>,
    coupled: SenderCoupling,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Not started, or stopped before the connection was established.
    Closed,
    /// The SYN is due.
    SynDue,
    /// The SYN is in flight.
    SynSent,
    /// No loss is being repaired.
    Open,
    /// The window is reduced for a mark, in proportion to the arriving segments.
    Reducing,
    /// Fast recovery.
    Recovery,
    /// Recovery from a retransmission timeout: outstanding segments are retransmitted.
    Loss,
}

impl TcpSender {
    /// A sender of `size` bytes, or without end. The sender is idle until [`Self::start`].
    pub fn new(config: TcpConfig, algorithm: Box<dyn WindowAlgorithm>, size: Option<DataSize>) -> Self {
        Self::assemble(config, algorithm, (Scoreboard::new(), None), size)
    }

    /// Replaces this connection with another one, of `size` bytes or without end, as if it were made anew.
    pub fn reset(&mut self, size: Option<DataSize>) {
        // An algorithm without state needs no allocation.
        let mut algorithm = core::mem::replace(&mut self.algorithm, Box::new(NoAlgorithm));
        algorithm.reset();
        let board = core::mem::take(&mut self.board).emptied();
        let rack = self.rack.take().map(Rack::emptied);
        *self = Self::assemble(self.config, algorithm, (board, rack), size);
    }

    fn assemble(
        config: TcpConfig,
        algorithm: Box<dyn WindowAlgorithm>,
        (board, rack): (Scoreboard, Option<Rack>),
        size: Option<DataSize>,
    ) -> Self {
        let config = config.in_range();
        // RACK needs SACK blocks (RFC 8985 §4).
        let by_time = config.sack && config.rack;
        Self {
            algorithm,
            window: Window { cwnd: f64::from(config.initial_window), ssthresh: f64::INFINITY },
            state: State::Closed,
            board,
            rtt: RttEstimator::new(&config),
            deadline: None,
            alarm: SenderDeadline::default(),
            transfer: SegmentStream::new(size, config.mss),
            recover: None,
            fast_retransmit: false,
            duplicates: 0,
            limited: 0,
            rescue_after: 0,
            partial_seen: false,
            timed_out: None,
            window_limited: false,
            most_out: 0,
            use_end: 0,
            ecn: EcnSender::new(config.ecn),
            prr: Prr::default(),
            pacing: SegmentPacer::new(config.pacing),
            burst: OffloadBurst::default(),
            rack: rack.or_else(|| by_time.then(Rack::new)),
            undo: Undo::default(),
            suspected_timeout: SuspectedTimeout::default(),
            tail: ProbeState::default(),
            receive_window: ReceiveWindow::new(&config),
            reported_early: 0,
            sent_at: None,
            acked_at: None,
            counts: SegmentCounts::default(),
            finished_at: None,
            coupled: SenderCoupling::default(),
            config,
        }
    }

    /// Opens the connection; poll for the SYN afterwards. A repeated call has no effect.
    pub fn start(&mut self, _now: SendTime) {
        if self.state == State::Closed && self.finished_at.is_none() {
            self.state = State::SynDue;
        }
    }

    /// Ends the transfer: sent segments are still repaired, but no new ones follow.
    pub fn stop(&mut self, now: SendTime) {
        self.transfer.stop_at(self.board.next());
        if matches!(self.state, State::Closed | State::SynDue | State::SynSent) {
            self.state = State::Closed;
            self.deadline = None;
        }
        self.note_completion(now);
    }

    /// Takes an acknowledgement; poll for segments afterwards. Returns the round-trip time it measured.
    pub fn on_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> Option<TimeDelta> {
        if ack.cumulative > self.board.next() {
            self.counts.refused += 1;
            return None;
        }
        self.acked_at = Some(now);
        self.burst.wake();
        match self.state {
            State::Closed | State::SynDue => None,
            State::SynSent if ack.syn => Some(self.on_syn_ack(now, ack)),
            _ if ack.syn || self.state == State::SynSent => None,
            _ if self.rack.is_some() => self.on_ack_by_time(now, ack),
            _ => self.on_data_ack(now, ack),
        }
    }

    fn on_syn_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> TimeDelta {
        let rtt = now - ack.stamps.sent(now);
        self.rtt.on_sample(rtt, 0, 0);
        if self.counts.timeouts > 0 {
            self.window.cwnd = 1.0; // RFC 5681 §3.1
            self.rtt.on_syn_timed_out();
        }
        self.receive_window.begin(now - SendTime::ZERO);
        self.state = State::Open;
        self.deadline = None;
        self.note_completion(now);
        rtt
    }

    fn on_data_ack(&mut self, now: SendTime, ack: &Acknowledgement) -> Option<TimeDelta> {
        let arrived_before = self.board.arrived();
        let acked = self.board.acknowledge(ack.cumulative);
        let marks = self.ecn.marks(ack);
        let rtt = (acked > 0).then(|| now - ack.stamps.sent(now));
        if let Some(sample) = rtt {
            self.rtt.on_sample(sample, ack.cumulative, self.board.next());
            self.note_reading(now, acked);
        }
        if self.config.sack {
            self.board.sack(&ack.sacks);
            let delivered = self.board.arrived() - arrived_before;
            self.coupled.on_delivery(now, ack.stamps, delivered);
            self.report_delivery(now, delivered, marks, rtt);
            if acked > 0 {
                self.on_progress(now, acked, marks);
            }
            if matches!(self.state, State::Open | State::Reducing) && self.board.first_is_lost() {
                self.enter_recovery(now);
            }
            if matches!(self.state, State::Recovery | State::Reducing) && self.config.prr {
                self.window.cwnd = self.prr.window(delivered, self.board.pipe());
            }
        } else {
            let duplicate = acked == 0 && ack.cumulative == self.board.first() && self.board.flight() > 0;
            let delivered = self.delivered_without_sack(acked, duplicate);
            self.coupled.on_delivery(now, ack.stamps, delivered);
            self.report_delivery(now, delivered, marks, rtt);
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

    /// Records that the receiver has read `segments` more segments in order.
    fn note_reading(&mut self, now: SendTime, segments: u32) {
        let now = now - SendTime::ZERO;
        self.receive_window.on_read(now, self.board.first(), segments, self.rtt.smoothed());
    }

    /// Number of segments that an acknowledgement reports as delivered. Without SACK a duplicate stands for one, and a
    /// cumulative one for those not reported by duplicates before.
    fn delivered_without_sack(&mut self, acked: u32, duplicate: bool) -> u32 {
        if duplicate {
            self.reported_early = self.reported_early.saturating_add(1);
            return 1;
        }
        let reported = self.reported_early.min(acked);
        self.reported_early = if self.board.flight() == 0 { 0 } else { self.reported_early - reported };
        acked - reported
    }

    fn report_delivery(&mut self, now: SendTime, delivered: u32, marks: u16, rtt: Option<TimeDelta>) {
        let delivery = Delivery {
            now,
            delivered: f64::from(delivered),
            marked: f64::from(marks),
            outstanding: f64::from(self.board.outstanding()),
            rtt: rtt.filter(|rtt| !rtt.is_negative()),
            min_rtt: self.rtt.min(),
            recovering: matches!(self.state, State::Recovery | State::Reducing),
        };
        self.algorithm.on_delivery(&mut self.window, &delivery);
    }

    /// Processes an acknowledgement of `acked` segments with `marks` newly reported marks. With marks the window does
    /// not open (RFC 3168 §6.1.2), except after a timeout: the segment with CWR, which ends the echo, cannot leave
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
            State::Reducing => self.leave_reduction(),
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
            window_limited: self.window_limited || self.may_outgrow(),
        };
        self.algorithm.on_ack(&mut self.window, &ack);
    }

    /// Whether the window may grow although it does not limit the sender. As in Linux, that is so in slow start, up
    /// to twice the greatest number of outstanding segments.
    fn may_outgrow(&self) -> bool {
        self.rack.is_some()
            && self.window.in_slow_start()
            && self.window.cwnd < 2.0 * f64::from(self.most_out)
    }

    /// Time of the next call of [`Self::on_timeout`].
    pub fn next_timeout(&self) -> Option<SendTime> {
        match (self.deadline, self.pacing.release()) {
            (Some(deadline), Some(release)) => Some(deadline.min(release)),
            (deadline, release) => deadline.or(release),
        }
    }

    /// Serves the timer of [`Self::next_timeout`]; poll for segments afterwards. An early or repeated call is harmless.
    pub fn on_timeout(&mut self, now: SendTime) {
        self.pacing.clear();
        self.burst.wake();
        if self.deadline.is_none_or(|deadline| now < deadline) {
            return;
        }
        match self.alarm {
            SenderDeadline::Retransmission => self.on_retransmission_timeout(now),
            SenderDeadline::Probe => self.on_probe_timer(now),
            SenderDeadline::Reordering => self.on_late(now),
        }
    }

    fn on_retransmission_timeout(&mut self, now: SendTime) {
        self.counts.timeouts += 1;
        self.rtt.back_off();
        if self.state == State::SynSent {
            self.state = State::SynDue;
            self.deadline = None;
            return;
        }
        let reduction = self.timeout_reduction();
        self.mark_outstanding_lost(now);
        self.suspect_spurious_timeout(reduction);
        let rest = self.window_after_timeout();
        if self.coupled.is_coupled() {
            self.coupled.await_decision(reduction, rest);
        } else {
            self.reduce_by_timeout(now, reduction, rest);
        }
        self.state = State::Loss;
        self.recover = Some(self.board.next());
        self.fast_retransmit = false;
        self.duplicates = 0;
        self.limited = 0;
        self.ecn.on_reduced(self.board.next());
        self.restart_timer(now);
    }

    fn restart_timer(&mut self, now: SendTime) {
        self.deadline = Some(self.expiry(now, self.rtt.rto()));
    }

    /// The time at which a timer set now for `delay` expires.
    fn expiry(&self, now: SendTime, delay: TimeDelta) -> SendTime {
        SendTime::ZERO + expiry(now - SendTime::ZERO, delay, self.config.tick)
    }

    fn note_completion(&mut self, now: SendTime) {
        let established = !matches!(self.state, State::Closed | State::SynDue | State::SynSent);
        if established && self.board.first() >= self.transfer.end() && self.finished_at.is_none() {
            self.finished_at = Some(now);
        }
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

    /// The latest sample of the round-trip time, if there was any.
    pub fn last_rtt(&self) -> Option<TimeDelta> {
        self.rtt.latest()
    }

    /// Time at which all data was acknowledged, or all data sent before a stop.
    pub fn finished_at(&self) -> Option<SendTime> {
        self.finished_at
    }

    /// Whether all of the transfer is acknowledged. It never is if a stop cut the transfer short.
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
            undone: self.counts.undone,
            probes: self.counts.probes,
            refused: self.counts.refused,
            srtt: self.rtt.smoothed(),
            rto: self.rtt.rto(),
        }
    }
}

/// Placeholder for the algorithm while the sender is reset.
#[derive(Debug)]
struct NoAlgorithm;

impl WindowAlgorithm for NoAlgorithm {
    fn reset(&mut self) {}

    fn on_ack(&mut self, _: &mut Window, _: &Ack) {}

    fn on_congestion(&mut self, _: &mut Window, _: SendTime, _: Congestion, _: f64) {}
}
