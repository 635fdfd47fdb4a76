//! The receiving end of a TCP connection: it records the segments that have arrived and decides when to acknowledge
//! them.

use weir_cc::{ArrivalTime, SendTime};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{Acknowledgement, SackBlock, Segment, TcpConfig, Timestamps};

use crate::tcp::bits::BitRing;
use crate::tcp::ecn::EcnReceiver;
use crate::tcp::receive_window::{PathTimes, ReceiveWindow};
use crate::tcp::ticks::expiry;

/// Number of ranges remembered for SACK blocks. It is one more than an acknowledgement carries, so that three remain
/// when one is filled.
const REMEMBERED: usize = 4;

/// Number of duplicate acknowledgements that are sent without compression, as many as indicate a loss
/// (`TCP_FASTRETRANS_THRESH`).
const SINGLE_REPEATS: u32 = 3;

/// Greatest time for which duplicate acknowledgements are delayed (`tcp_comp_sack_delay_ns`).
const MAX_COMPRESSION: TimeDelta = TimeDelta::from_millis(1);

/// Receives segments and acknowledges them.
#[derive(Clone, Debug)]
pub struct TcpReceiver {
    config: TcpConfig,
    /// Receiver of segments, which acknowledges them.
    next: u32,
    /// Segments that arrived out of order; all are above `next`.
    held: BitRing,
    held_count: u32,
    /// End of the segments that arrived out of order, exclusive.
    held_end: u32,
    /// The ranges of out-of-order segments that grew last, the latest first; empty ranges come last.
    recent: [SackBlock; REMEMBERED],
    /// `TS.Recent` (RFC 7323 §4.3).
    echo: SendTime,
    /// Arrival of the segment that the echo is of.
    arrived: ArrivalTime,
    /// Whether acknowledgements of out-of-order segments carry the timestamps of those segments.
    reports_delays: bool,
    /// Timestamps of the segment out of order that has just arrived.
    out_of_order: Option<Timestamps>,
    /// `Last.ACK.sent` (RFC 7323 §4.3).
    last_acknowledged: u32,
    /// Segments that arrived in order since the last acknowledgement.
    unacknowledged: u32,
    /// Number of further acknowledgements that leave one by one.
    quick: u32,
    /// Number of acknowledgements of segments out of order since `repeats_of` became the next expected one.
    repeats: u32,
    repeats_of: u32,
    window: ReceiveWindow,
    path: PathTimes,
    /// A segment that has arrived a second time, if D-SACK is on.
    duplicate: Option<u32>,
    /// Acknowledgement that is due at once.
    due: DueAcknowledgement,
    /// Time at which the delayed acknowledgement is due.
    deadline: Option<ArrivalTime>,
    /// The last segment of the transfer, if it is not full: its number and the bytes it lacks.
    short: Option<(u32, u16)>,
    ecn: EcnReceiver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DueAcknowledgement {
    NotDue,
    SynAck,
    Acknowledgement,
}

impl TcpReceiver {
    /// A receiver that waits for a connection.
    pub fn new(config: TcpConfig) -> Self {
        Self::with_ring(config, BitRing::new())
    }

    /// Resets the receiver to wait for another connection.
    pub fn reset(&mut self) {
        let held = core::mem::take(&mut self.held).emptied();
        let reports_delays = self.reports_delays;
        *self = Self { reports_delays, ..Self::with_ring(self.config, held) };
    }

    /// Makes the acknowledgement of an out-of-order segment carry the timestamps of that segment. RFC 7323 §4.3
    /// repeats `TS.Recent` instead, which shows no delay while a loss is repaired. The change concerns
    /// acknowledgements of no new data only, so that they are round-trip samples only where the acknowledgement
    /// before was lost.
    pub fn report_delays(&mut self) {
        self.reports_delays = true;
    }

    fn with_ring(config: TcpConfig, held: BitRing) -> Self {
        Self {
            config: config.in_range(),
            next: 0,
            held,
            held_count: 0,
            held_end: 0,
            recent: [SackBlock::EMPTY; REMEMBERED],
            echo: SendTime::ZERO,
            arrived: ArrivalTime::ZERO,
            reports_delays: false,
            out_of_order: None,
            last_acknowledged: 0,
            unacknowledged: 0,
            quick: 0,
            repeats: 0,
            repeats_of: 0,
            window: ReceiveWindow::new(&config.in_range()),
            path: PathTimes::default(),
            duplicate: None,
            due: DueAcknowledgement::NotDue,
            deadline: None,
            short: None,
            ecn: EcnReceiver::new(config.ecn),
        }
    }

    /// Takes a segment. Call [`Self::poll_ack`] after each.
    pub fn on_segment(&mut self, now: ArrivalTime, segment: &Segment) {
        if segment.syn {
            (self.echo, self.arrived) = (segment.sent_at, now);
            self.due = DueAcknowledgement::SynAck;
            self.path.begin(now);
            self.window.begin(now - ArrivalTime::ZERO);
            return;
        }
        self.open_window(now, segment.sent_at);
        if segment.number <= self.last_acknowledged && segment.sent_at >= self.echo {
            (self.echo, self.arrived) = (segment.sent_at, now);
        }
        if segment.payload < self.config.mss {
            self.short = Some((segment.number, self.config.mss - segment.payload));
        }
        if self.ecn.on_segment(segment) {
            self.due = DueAcknowledgement::Acknowledgement;
        }
        if segment.number == self.next {
            self.take_in_order(now, segment.push);
        } else {
            if self.has_received(segment.number) {
                self.quick = self.quick.max(self.config.quick_acks_again);
                self.duplicate = (self.config.sack && self.config.dsack).then_some(segment.number);
            }
            self.acknowledge_out_of_order(now);
            self.out_of_order = self.reports_delays.then(|| Timestamps::new(segment.sent_at, now));
            if segment.number > self.next {
                self.hold(segment.number);
            }
        }
    }

    /// Opens the receive window, if it may grow, for a segment that has just arrived. An opening window is acknowledged
    /// at once.
    fn open_window(&mut self, now: ArrivalTime, sent_at: SendTime) {
        if self.window.may_grow() {
            let round_trip = self.path.round_trip(now, sent_at);
            let opens = self.window.on_read(now - ArrivalTime::ZERO, self.next, 1, Some(round_trip));
            self.quick |= u32::from(opens);
        }
    }

    /// Whether a segment has arrived.
    pub fn has_received(&self, number: u32) -> bool {
        number < self.next || (self.held_count > 0 && number < self.held_end && self.held.contains(number))
    }

    fn take_in_order(&mut self, now: ArrivalTime, push: bool) {
        self.next += 1;
        self.unacknowledged += 1;
        if self.held_count > 0 {
            self.take_held();
            self.due = DueAcknowledgement::Acknowledgement;
        } else if push || self.unacknowledged >= self.config.ack_every || self.is_quick() {
            self.due = DueAcknowledgement::Acknowledgement;
        } else if self.deadline.is_none() {
            let delay = self.config.ack_delay;
            let end = expiry(now - ArrivalTime::ZERO, delay, self.config.tick);
            self.deadline = Some(ArrivalTime::ZERO + end);
        }
    }

    /// Handles a segment that is not the next expected one. The acknowledgement is due at once (RFC 5681 §4.2), or
    /// after a short time together with others.
    fn acknowledge_out_of_order(&mut self, now: ArrivalTime) {
        if self.repeats_of != self.next {
            (self.repeats_of, self.repeats) = (self.next, 0);
        }
        if !self.config.sack || !self.config.compress_sacks || self.quick > 0 || self.repeats < SINGLE_REPEATS
        {
            self.due = DueAcknowledgement::Acknowledgement;
            self.repeats = self.repeats.saturating_add(1);
        } else {
            let delay = (self.path.handshake() / 20).min(MAX_COMPRESSION);
            self.deadline.get_or_insert(now + delay);
        }
    }

    /// Whether each segment is acknowledged at once at present.
    fn is_quick(&self) -> bool {
        self.quick > 0 || self.next <= self.config.quick_acks
    }

    /// Delivers the out-of-order segments that are in order now.
    fn take_held(&mut self) {
        if !self.held.contains(self.next) {
            return;
        }
        let end = self.held.first_absent(self.next, self.held_end).unwrap_or(self.held_end);
        self.held_count -= self.held.remove_range(self.next, end);
        self.next = end;
        let mut kept = [SackBlock::EMPTY; REMEMBERED];
        let above = self.recent.into_iter().filter(|block| block.start > end);
        for (slot, block) in kept.iter_mut().zip(above) {
            *slot = block;
        }
        self.recent = kept;
    }

    fn hold(&mut self, number: u32) {
        if number - self.next >= self.config.receive_window {
            return;
        }
        let end = number.saturating_add(1);
        self.held.reserve(self.next, end);
        self.held_count += u32::from(self.held.insert(number));
        self.held_end = self.held_end.max(end);
        if self.config.sack {
            self.remember(number);
        }
    }

    /// Puts the range around `number` before the other remembered ranges (RFC 2018 §4).
    fn remember(&mut self, number: u32) {
        let mut run = SackBlock { start: number, end: number.saturating_add(1) };
        let mut kept = [SackBlock::EMPTY; REMEMBERED];
        let mut count = 1;
        for block in self.recent {
            if block.start <= run.end && run.start <= block.end && !block.is_empty() {
                run = SackBlock { start: run.start.min(block.start), end: run.end.max(block.end) };
            } else if count < REMEMBERED {
                kept[count] = block;
                count += 1;
            }
        }
        kept[0] = self.with_forgotten_neighbours(run);
        self.recent = kept;
    }

    /// The range `run` extended by adjacent out-of-order segments that are in no remembered range.
    fn with_forgotten_neighbours(&self, run: SackBlock) -> SackBlock {
        let SackBlock { mut start, mut end } = run;
        if self.held.contains(start - 1) {
            start = self.held.last_absent(self.next, start).map_or(start, |absent| absent + 1);
        }
        if end < self.held_end && self.held.contains(end) {
            end = self.held.first_absent(end, self.held_end).unwrap_or(self.held_end);
        }
        SackBlock { start, end }
    }

    /// The acknowledgement that is due at `now`, if any.
    pub fn poll_ack(&mut self, now: ArrivalTime) -> Option<Acknowledgement> {
        let delayed = self.deadline.is_some_and(|deadline| now >= deadline);
        if self.due == DueAcknowledgement::NotDue && !delayed {
            return None;
        }
        let syn = self.due == DueAcknowledgement::SynAck;
        self.due = DueAcknowledgement::NotDue;
        self.deadline = None;
        self.unacknowledged = 0;
        let repeats = self.next == self.last_acknowledged;
        self.last_acknowledged = self.next;
        self.quick -= u32::from(self.quick > 0 && !syn);
        let [first, second, third, ..] = self.recent;
        let (ece, marked) = self.ecn.feedback();
        let sacks = match self.duplicate.take() {
            // RFC 2883 §4: the D-SACK block comes before the others, of which each acknowledgement has at least one.
            Some(number) => [SackBlock { start: number, end: number.saturating_add(1) }, first, second],
            None => [first, second, third],
        };
        let of_echo = || Timestamps::new(self.echo, self.arrived);
        let stamps = self.out_of_order.take().filter(|_| repeats).unwrap_or_else(of_echo);
        Some(Acknowledgement { cumulative: self.next, syn, sacks, stamps, ece, marked })
    }

    /// Time of the next call of [`Self::poll_ack`].
    pub fn next_timeout(&self) -> Option<ArrivalTime> {
        self.deadline
    }

    /// Payload that has arrived in order.
    pub fn delivered(&self) -> DataSize {
        let full = u64::from(self.next) * u64::from(self.config.mss);
        let lacking = self.short.filter(|&(number, _)| number < self.next).map_or(0, |(_, lacking)| lacking);
        DataSize::from_bytes(full.saturating_sub(u64::from(lacking)))
    }
}

#[cfg(test)]
mod tests;
