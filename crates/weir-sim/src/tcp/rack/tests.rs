//! Losses found by time, with values computed by hand.

use weir_cc::ArrivalTime;
use weir_world::tcp::Timestamps;

use super::*;

const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

fn ack(cumulative: u32, sacked: core::ops::Range<u32>) -> Acknowledgement {
    ack_of(cumulative, [sacked, 0..0, 0..0])
}

/// An acknowledgement up to `cumulative`, with SACK blocks.
fn ack_of(cumulative: u32, sacked: [core::ops::Range<u32>; 3]) -> Acknowledgement {
    let stamps = Timestamps::new(SendTime::ZERO, ArrivalTime::ZERO);
    let sacks = sacked.map(|run| SackBlock { start: run.start, end: run.end });
    Acknowledgement { cumulative, syn: false, sacks, stamps, ece: false, marked: 0 }
}

/// A sender's scoreboard and its transmission times.
struct RackSender(Scoreboard, Rack);

impl RackSender {
    /// Ten segments, 1 ms apart from 0 ms on.
    fn ten() -> Self {
        let mut both = Self(Scoreboard::new(), Rack::new());
        for ms in 0..10 {
            let number = both.0.send_new();
            both.1.on_sent(at(ms), number, 0, number);
        }
        both
    }

    fn on_ack(&mut self, ms: i64, ack: &Acknowledgement) -> RackUpdate {
        let update = self.1.on_ack(at(ms), &self.0, ack, MS(100));
        self.0.acknowledge(ack.cumulative);
        self.0.take_blocks(&ack.sacks);
        update
    }

    fn find(&mut self, ms: i64, recovering: bool) -> FoundLosses {
        let tolerance = self.1.tolerance(&self.0, recovering, MS(100), MS(120));
        self.1.find_lost(at(ms), &mut self.0, tolerance)
    }

    /// Retransmits the next lost segment at `ms`. Returns its number.
    fn resend(&mut self, ms: i64) -> u32 {
        let number = self.0.next_lost(u32::MAX).expect("one is lost");
        self.0.resend(number);
        self.1.on_sent(at(ms), number, self.0.first(), self.0.next());
        number
    }
}

#[test]
fn segments_sent_before_an_arrived_one_are_lost_once_late_or_overtaken_by_three() {
    // 0 is lost. 1 arrives after 100 ms. min(100 / 4, 120) = 25 ms later than it would have come 0 is late: at 0 + 100 + 25 ms.
    let mut both = RackSender::ten();
    let update = both.on_ack(101, &ack(0, 1..2));
    assert_eq!((update.sacked_in.last(), update.original, update.sacked), (Some(MS(100)), Some(1), true));
    let found = both.find(101, false);
    assert_eq!((found.lost, found.recheck), (0, Some(at(125))));
    let found = both.find(125, false);
    assert_eq!((found.lost, found.retransmitted, both.0.pipe()), (1, 0, 8));

    let mut both = RackSender::ten();
    both.on_ack(102, &ack(0, 1..3));
    assert_eq!(both.find(102, false).lost, 0);
    both.on_ack(103, &ack(0, 1..4));
    assert_eq!(both.find(103, false).lost, 1);
}

#[test]
fn a_retransmission_is_lost_if_what_left_after_it_arrives() {
    let mut both = RackSender::ten();
    both.on_ack(103, &ack(0, 1..4));
    both.find(103, true);
    assert_eq!(both.resend(103), 0);
    let next = both.0.send_new();
    both.1.on_sent(at(104), next, 0, next);
    // A segment that left before the retransmission proves nothing about it.
    both.on_ack(109, &ack(0, 1..10));
    assert_eq!(both.find(109, true).lost, 0);
    both.on_ack(204, &ack(0, 1..11));
    let found = both.find(204, true);
    assert_eq!((found.lost, found.retransmitted), (1, 1));
    assert_eq!((both.0.pipe(), both.resend(204), both.0.pipe()), (0, 0, 1));
}

#[test]
fn an_early_answer_to_a_retransmission_gives_no_round_trip_sample() {
    let mut both = RackSender::ten();
    both.on_ack(103, &ack(0, 1..4));
    both.find(103, true);
    both.resend(103);
    // 20 ms after it left: that was the original.
    let update = both.on_ack(123, &ack(4, 0..0));
    assert_eq!((update.acked, update.original), (RttSpan::default(), None));
    assert_eq!(both.find(123, true).lost, 0);
}

#[test]
fn an_echo_of_what_left_before_a_retransmission_is_no_answer_to_it() {
    for (echo, lost) in [(0, 0), (103, 5)] {
        let mut both = RackSender::ten();
        both.on_ack(103, &ack(0, 1..4));
        both.find(103, true);
        both.resend(103);
        let stamps = Timestamps::new(at(echo), ArrivalTime::ZERO);
        both.on_ack(250, &Acknowledgement { stamps, ..ack(5, 0..0) });
        // 4 has taken 246 ms. Only the retransmission, if it has arrived, left after 5 to 9.
        assert_eq!(both.find(260, true).lost, lost, "{echo}");
    }
}

#[test]
fn with_reordering_time_alone_shows_losses() {
    let mut both = RackSender::ten();
    both.on_ack(100, &ack(1, 0..0));
    both.on_ack(102, &ack(1, 2..3));
    both.on_ack(103, &ack(3, 0..0));
    both.on_ack(107, &ack(3, 5..8));
    assert_eq!(both.find(107, true).lost, 0, "1 came after 2");
    // 7 has taken 100 ms: segments that left before may take 25 ms more, which for 3 is until 128 ms.
    assert_eq!([127, 128, 129].map(|ms| both.find(ms, true).lost), [0, 1, 1]);
}

#[test]
fn times_outlive_a_window_that_grows_beyond_the_room() {
    let mut both = RackSender::ten();
    both.on_ack(100, &ack(3, 0..0));
    for ms in 10..500 {
        let number = both.0.send_new();
        both.1.on_sent(at(ms), number, both.0.first(), number);
    }
    for number in 3..500 {
        assert_eq!(both.1.left_at(number), at(i64::from(number)));
    }
}

#[test]
fn a_lost_acknowledgement_is_not_taken_for_reordering() {
    // 0, 2 and 4 are lost, and so are the acknowledgements of 1 and 3. The acknowledgement of 5 has all three, newest
    // first.
    let mut both = RackSender::ten();
    let update = both.on_ack(105, &ack_of(0, [5..6, 3..4, 1..2]));
    assert_eq!((update.sacked_in.last(), update.original), (Some(MS(100)), Some(1)));
    assert_eq!(both.find(105, false).lost, 3, "three are overtaken by three: none waits");
}

#[test]
fn a_segment_reported_twice_counts_once() {
    let mut both = RackSender::ten();
    let update = both.on_ack(106, &ack_of(0, [3..4, 1..7, 0..0]));
    assert_eq!((update.sacked_in.last(), update.original), (Some(MS(100)), Some(1)));
    assert_eq!(both.find(106, false).lost, 1);
    let mut overlapping = RackSender::ten();
    overlapping.on_ack(106, &ack_of(0, [4..7, 1..5, 2..3]));
    assert_eq!(overlapping.find(106, false).lost, 1);
}

#[test]
fn a_probe_that_is_lost_is_sent_again_once_something_later_has_arrived() {
    let mut both = RackSender::ten();
    both.on_ack(109, &ack(9, 0..0));
    both.0.resend_early(9);
    both.1.on_sent(at(320), 9, 9, 10);
    let next = both.0.send_new();
    both.1.on_sent(at(330), next, 9, next);
    both.on_ack(430, &ack(9, 10..11));
    let found = both.find(430, false);
    assert_eq!((found.lost, found.recheck), (0, Some(at(320 + 125))));
    assert!(both.find(445, false).lost > 0);
    assert_eq!((both.0.lost(), both.0.pipe(), both.resend(445)), (1, 0, 9));
}

#[test]
fn a_sacked_segment_is_processed_once() {
    let mut both = RackSender::ten();
    both.on_ack(103, &ack(0, 1..4));
    both.find(103, true);
    assert_eq!((both.0.lost(), both.0.loss_boundary()), (1, 4));
    both.on_ack(108, &ack(0, 1..9));
    both.find(108, true);
    assert_eq!((both.0.lost(), both.0.loss_boundary(), both.0.pipe()), (1, 9, 1));
}

#[test]
fn a_timeout_spares_what_left_less_than_a_round_trip_ago_but_for_the_first() {
    // 0 has taken 100 ms. At 105 ms 1 to 5 are late, 6 to 9 may come; of the two retransmitted segments 1 is the first
    // outstanding one.
    let mut both = RackSender::ten();
    both.on_ack(100, &ack(1, 0..0));
    for (ms, number) in [(60, 1), (61, 3)] {
        both.0.resend_early(number);
        both.1.on_sent(at(ms), number, 1, 10);
    }
    both.1.on_timeout(at(105), &mut both.0);
    assert_eq!((both.0.lost(), both.0.resent(), both.0.pipe()), (5, 1, 5));
    let mut resent = Vec::new();
    while let Some(number) = both.0.next_lost(u32::MAX) {
        both.0.resend(number);
        resent.push(number);
    }
    assert_eq!(resent, [1, 2, 4, 5]);
}
