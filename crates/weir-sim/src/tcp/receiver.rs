//! The receiving endpoint: what has arrived, and when to acknowledge it.

use weir_cc::{ArrivalTime, SendTime};
use weir_units::DataSize;
use weir_world::tcp::{Acknowledgement, SackBlock, Segment, TcpConfig, Timestamps};

use crate::tcp::bits::BitRing;
use crate::tcp::ecn::EcnReceiver;
use crate::tcp::receive_window::{PathTimes, ReceiveWindow};

/// Ranges remembered for SACK blocks, one more than an acknowledgement carries, so that there are still three
/// when one is filled up.
const REMEMBERED: usize = 4;

/// Receives segments and says when to acknowledge them.
#[derive(Clone, Debug)]
pub struct TcpReceiver {
    config: TcpConfig,
    /// The next segment expected in order.
    next: u32,
    /// Segments that arrived out of order; all are above `next`.
    held: BitRing,
    held_count: u32,
    /// One beyond the highest segment that arrived out of order.
    held_end: u32,
    /// The runs of held segments that grew last, latest first; empty ones come last.
    recent: [SackBlock; REMEMBERED],
    /// `TS.Recent` (RFC 7323 §4.3).
    echo: SendTime,
    /// When the segment arrived that it is of.
    arrived: ArrivalTime,
    /// Whether what arrives out of order is told of with timestamps of its own.
    tells_delays: bool,
    /// Those of the segment out of order that has just arrived.
    out_of_order: Option<Timestamps>,
    /// `Last.ACK.sent` (RFC 7323 §4.3).
    last_acknowledged: u32,
    /// Segments that arrived in order since the last acknowledgement.
    unacknowledged: u32,
    /// So many more acknowledgements leave one by one.
    quick: u32,
    window: ReceiveWindow,
    path: PathTimes,
    /// A segment that has arrived again, where that is told.
    duplicate: Option<u32>,
    /// What has to be sent at once.
    due: Due,
    /// When the delayed acknowledgement has to be sent.
    deadline: Option<ArrivalTime>,
    /// The last segment of the transfer, if it is not full: its number and what it lacks, in bytes.
    short: Option<(u32, u16)>,
    ecn: EcnReceiver,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Nothing,
    SynAck,
    Acknowledgement,
}

impl TcpReceiver {
    /// A receiver that waits for a connection.
    pub fn new(config: TcpConfig) -> Self {
        Self::with_ring(config, BitRing::new())
    }

    /// Waits for another connection, as when it was made.
    pub fn reset(&mut self) {
        let held = core::mem::take(&mut self.held).emptied();
        let tells_delays = self.tells_delays;
        *self = Self { tells_delays, ..Self::with_ring(self.config, held) };
    }

    /// From now on an acknowledgement that a segment out of order sets off bears that segment's timestamps: while a loss is
    /// repaired `TS.Recent`, which it repeats by RFC 7323 §4.3, tells no delay. Only one that acknowledges nothing new does, so
    /// that round trips are measured by it only where the acknowledgement before it is lost.
    pub fn tell_delays(&mut self) {
        self.tells_delays = true;
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
            tells_delays: false,
            out_of_order: None,
            last_acknowledged: 0,
            unacknowledged: 0,
            quick: 0,
            window: ReceiveWindow::new(&config.in_range()),
            path: PathTimes::default(),
            duplicate: None,
            due: Due::Nothing,
            deadline: None,
            short: None,
            ecn: EcnReceiver::new(config.ecn),
        }
    }

    /// A segment has arrived. Call [`Self::poll_ack`] after each.
    pub fn on_segment(&mut self, now: ArrivalTime, segment: &Segment) {
        if segment.syn {
            (self.echo, self.arrived) = (segment.sent_at, now);
            self.due = Due::SynAck;
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
            self.due = Due::Acknowledgement;
        }
        if segment.number == self.next {
            self.take_in_order(now);
        } else {
            self.due = Due::Acknowledgement; // RFC 5681 §4.2
            self.quick = self.quick.max(self.config.quick_acks_again);
            if self.config.sack && self.config.dsack && self.has(segment.number) {
                self.duplicate = Some(segment.number);
            }
            self.out_of_order = self.tells_delays.then(|| Timestamps::new(segment.sent_at, now));
            if segment.number > self.next {
                self.hold(segment.number);
            }
        }
    }

    /// The receive window may open for a segment that has just arrived, and then tells so at once.
    fn open_window(&mut self, now: ArrivalTime, sent_at: SendTime) {
        if self.window.may_grow() {
            let round_trip = self.path.round_trip(now, sent_at);
            let opens = self.window.on_read(now - ArrivalTime::ZERO, self.next, 1, Some(round_trip));
            self.quick |= u32::from(opens);
        }
    }

    /// Whether a segment has arrived.
    pub fn has(&self, number: u32) -> bool {
        number < self.next || (self.held_count > 0 && number < self.held_end && self.held.contains(number))
    }

    fn take_in_order(&mut self, now: ArrivalTime) {
        self.next += 1;
        self.unacknowledged += 1;
        if self.held_count > 0 {
            self.take_held();
            self.due = Due::Acknowledgement;
        } else if self.unacknowledged >= self.config.ack_every || self.is_quick() {
            self.due = Due::Acknowledgement;
        } else if self.deadline.is_none() {
            self.deadline = Some(now + self.config.ack_delay);
        }
    }

    /// Whether each segment is acknowledged by itself now.
    fn is_quick(&self) -> bool {
        self.quick > 0 || self.next <= self.config.quick_acks
    }

    /// Takes over the held segments that the one just arrived has brought into order.
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

    /// Puts the run around `number` in front of the remembered ones (RFC 2018 §4).
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

    /// `run` together with held segments on either side that belong to no remembered run.
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
        if self.due == Due::Nothing && !delayed {
            return None;
        }
        let syn = self.due == Due::SynAck;
        self.due = Due::Nothing;
        self.deadline = None;
        self.unacknowledged = 0;
        let repeats = self.next == self.last_acknowledged;
        self.last_acknowledged = self.next;
        self.quick -= u32::from(self.quick > 0 && !syn);
        let [first, second, third, ..] = self.recent;
        let (ece, marked) = self.ecn.feedback();
        let sacks = match self.duplicate.take() {
            // RFC 2883 §4: it comes before the others, of which each acknowledgement has at least one.
            Some(number) => [SackBlock { start: number, end: number.saturating_add(1) }, first, second],
            None => [first, second, third],
        };
        let of_echo = || Timestamps::new(self.echo, self.arrived);
        let stamps = self.out_of_order.take().filter(|_| repeats).unwrap_or_else(of_echo);
        Some(Acknowledgement { cumulative: self.next, syn, sacks, stamps, ece, marked })
    }

    /// When [`Self::poll_ack`] wants to be called next.
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
mod tests {
    use proptest::prelude::*;
    use weir_cc::Ecn;

    use super::*;

    fn segment(number: u32) -> Segment {
        let sent_at = SendTime::from_millis(i64::from(number));
        let ecn = Ecn::NotEct;
        Segment { number, payload: 1448, syn: false, retransmission: false, sent_at, ecn, cwr: false }
    }

    fn at(ms: i64) -> ArrivalTime {
        ArrivalTime::from_millis(ms)
    }

    fn block(start: u32, end: u32) -> SackBlock {
        SackBlock { start, end }
    }

    /// The acknowledgement right after the arrival of `number`.
    fn arrive(receiver: &mut TcpReceiver, number: u32) -> Option<Acknowledgement> {
        receiver.on_segment(at(0), &segment(number));
        receiver.poll_ack(at(0))
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_single_one_after_40_ms() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        assert_eq!(arrive(&mut receiver, 0), None);
        assert_eq!(arrive(&mut receiver, 1).map(|ack| ack.cumulative), Some(2));
        assert_eq!(receiver.next_timeout(), None);
        assert_eq!(arrive(&mut receiver, 2), None);
        assert_eq!(receiver.next_timeout(), Some(at(40)));
        assert_eq!(receiver.poll_ack(at(39)), None);
        assert_eq!(receiver.poll_ack(at(40)).map(|ack| ack.cumulative), Some(3));
        assert_eq!(receiver.poll_ack(at(40)), None);
    }

    #[test]
    fn delayed_acknowledgement_echoes_the_earlier_segment() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        arrive(&mut receiver, 0);
        let ack = arrive(&mut receiver, 1).expect("the second segment is acknowledged at once");
        assert_eq!(ack.stamps.sent(SendTime::ZERO), SendTime::from_millis(0));
    }

    #[test]
    fn segments_around_a_hole_are_acknowledged_at_once_newest_block_first() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        let mut sacks = |number| arrive(&mut receiver, number).map(|ack| (ack.cumulative, ack.sacks));
        let none = SackBlock::EMPTY;
        assert_eq!(sacks(2), Some((0, [block(2, 3), none, none])));
        assert_eq!(sacks(4), Some((0, [block(4, 5), block(2, 3), none])));
        assert_eq!(sacks(6), Some((0, [block(6, 7), block(4, 5), block(2, 3)])));
        assert_eq!(sacks(8), Some((0, [block(8, 9), block(6, 7), block(4, 5)])));
        assert_eq!(sacks(10), Some((0, [block(10, 11), block(8, 9), block(6, 7)])));
        // 3 joins the forgotten 2 with the remembered 4; 0 and 1 bring everything up to 5 into order.
        assert_eq!(sacks(3), Some((0, [block(2, 5), block(10, 11), block(8, 9)])));
        assert_eq!(sacks(0), Some((1, [block(2, 5), block(10, 11), block(8, 9)])));
        assert_eq!(sacks(1), Some((5, [block(10, 11), block(8, 9), block(6, 7)])));
    }

    #[test]
    fn a_segment_that_arrives_again_is_told_of_in_the_first_block() {
        let mut receiver = TcpReceiver::new(TcpConfig { dsack: true, ..TcpConfig::default() });
        let mut sacks = |number| arrive(&mut receiver, number).map(|ack| ack.sacks);
        let none = SackBlock::EMPTY;
        assert_eq!([sacks(0), sacks(1)], [None, Some([none; 3])]);
        assert_eq!(sacks(0), Some([block(0, 1), none, none]));
        assert_eq!(sacks(4), Some([block(4, 5), none, none]));
        assert_eq!(sacks(5), Some([block(4, 6), none, none]));
        assert_eq!(sacks(4), Some([block(4, 5), block(4, 6), none]));
        assert_eq!(sacks(2), Some([block(4, 6), none, none]));
    }

    #[test]
    fn acknowledgements_come_one_by_one_for_a_while_after_a_segment_out_of_order() {
        let mut receiver = TcpReceiver::new(TcpConfig { quick_acks_again: 3, ..TcpConfig::default() });
        let at_once = [0, 1, 3, 2, 4, 5, 6, 7].map(|number| arrive(&mut receiver, number).is_some());
        // 3 is out of order: its acknowledgement is the first of three, that of 2 the second, that of 4 the third.
        assert_eq!(at_once, [false, true, true, true, true, false, true, false]);
    }

    #[test]
    fn syn_is_answered_at_once_with_its_timestamp() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        let syn = Segment { syn: true, payload: 0, sent_at: SendTime::from_millis(7), ..segment(0) };
        receiver.on_segment(at(1), &syn);
        let ack = receiver.poll_ack(at(1)).expect("a SYN-ACK is due");
        assert!(ack.syn);
        assert_eq!((ack.cumulative, ack.stamps.sent(SendTime::ZERO)), (0, SendTime::from_millis(7)));
    }

    #[test]
    fn timestamps_are_of_one_segment_the_earlier_of_two_or_if_wanted_the_one_out_of_order() {
        let told = |tells_delays: bool| {
            let mut receiver = TcpReceiver::new(TcpConfig::default());
            if tells_delays {
                receiver.tell_delays();
            }
            // Segment n was sent at n ms; 2 is lost and comes when it is sent again, at 60 ms.
            let again = Segment { sent_at: SendTime::from_millis(60), ..segment(2) };
            let arrivals =
                [(100, segment(0)), (108, segment(1)), (116, segment(3)), (120, segment(4)), (160, again)];
            let acks = arrivals.into_iter().filter_map(|(ms, segment)| {
                receiver.on_segment(at(ms), &segment);
                let stamps = receiver.poll_ack(at(ms))?.stamps;
                let (sent, arrived) = (stamps.sent(SendTime::ZERO), stamps.arrived(ArrivalTime::ZERO));
                Some((sent.nanos() / 1_000_000, arrived.nanos() / 1_000_000))
            });
            acks.collect::<Vec<_>>()
        };
        assert_eq!(told(false), [(0, 100), (0, 100), (0, 100), (60, 160)]);
        assert_eq!(told(true), [(0, 100), (3, 116), (4, 120), (60, 160)]);
    }

    #[test]
    fn what_acknowledges_something_new_bears_the_timestamps_of_what_it_acknowledges() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        receiver.tell_delays();
        receiver.on_segment(at(100), &segment(0));
        assert_eq!(receiver.poll_ack(at(100)), None, "it is delayed");
        // 1 is lost.
        receiver.on_segment(at(102), &segment(2));
        let ack = receiver.poll_ack(at(102)).expect("2 is out of order");
        assert_eq!((ack.cumulative, ack.stamps.sent(SendTime::ZERO)), (1, SendTime::ZERO));
    }

    #[test]
    fn segment_far_outside_the_window_is_not_held() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        let ack = arrive(&mut receiver, u32::MAX).expect("it is acknowledged like any other out of order");
        assert_eq!(ack.sacks, [SackBlock::EMPTY; 3]);
    }

    #[test]
    fn last_segment_may_be_short() {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        receiver.on_segment(at(0), &Segment { payload: 100, ..segment(1) });
        assert_eq!(receiver.delivered(), DataSize::ZERO);
        arrive(&mut receiver, 0);
        assert_eq!(receiver.delivered(), DataSize::from_bytes(1548));
    }

    proptest! {
        #[test]
        fn blocks_are_whole_runs_and_the_first_holds_what_just_came(
            numbers in proptest::collection::vec(0u32..200, 1..400),
        ) {
            let mut receiver = TcpReceiver::new(TcpConfig::default());
            let mut arrived = [false; 201];
            for number in numbers {
                arrived[number as usize] = true;
                receiver.on_segment(at(0), &segment(number));
                let ack = receiver.poll_ack(at(50)).expect("an acknowledgement is due after the delay");
                let cumulative = arrived.iter().position(|&there| !there).unwrap_or(200) as u32;
                prop_assert_eq!(ack.cumulative, cumulative);
                for run in ack.sacks.iter().filter(|run| !run.is_empty()) {
                    prop_assert!(run.start > cumulative);
                    prop_assert!((run.start..run.end).all(|n| arrived[n as usize]));
                    prop_assert!(!arrived[run.start as usize - 1] && !arrived[run.end as usize]);
                }
                let fresh_and_held = number > cumulative;
                prop_assert!(!fresh_and_held || (ack.sacks[0].start..ack.sacks[0].end).contains(&number));
            }
        }
    }
}
