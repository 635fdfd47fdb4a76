//! Acknowledgements of a receiver, and their times.

use proptest::prelude::*;
use weir_cc::Ecn;

use super::*;

/// Segment `number`, sent at as many ms.
fn segment(number: u32) -> Segment {
    let sent_at = SendTime::from_millis(i64::from(number));
    let ecn = Ecn::NotEct;
    Segment {
        number,
        payload: 1448,
        syn: false,
        retransmission: false,
        sent_at,
        ecn,
        cwr: false,
        push: false,
    }
}

/// Receiver time of `ms` milliseconds.
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
fn a_repeated_segment_is_reported_in_the_first_block() {
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
fn acknowledgements_come_one_by_one_for_a_while_after_a_segment_that_arrives_again() {
    let mut receiver = TcpReceiver::new(TcpConfig { quick_acks_again: 3, ..TcpConfig::default() });
    let at_once = [0, 1, 3, 2, 4, 5, 5, 6, 7, 8, 9].map(|number| arrive(&mut receiver, number).is_some());
    // 3 is out of order, which has no such effect. 5 arrives again: its acknowledgement is the first of three.
    assert_eq!(at_once, [false, true, true, true, false, true, true, true, true, false, true]);
}

#[test]
fn a_pushed_segment_is_acknowledged_at_once() {
    let mut receiver = TcpReceiver::new(TcpConfig::default());
    let mut at_once = |number, push| {
        receiver.on_segment(at(0), &Segment { push, ..segment(number) });
        receiver.poll_ack(at(0)).is_some()
    };
    assert_eq!(
        [at_once(0, true), at_once(1, false), at_once(2, true), at_once(3, true)],
        [true, false, true, true]
    );
}

#[test]
fn from_the_fourth_on_repeated_acknowledgements_wait_for_each_other() {
    let mut receiver = TcpReceiver::new(TcpConfig { compress_sacks: true, ..TcpConfig::default() });
    let acknowledged = [1, 2, 3, 4, 5].map(|number| arrive(&mut receiver, number).is_some());
    assert_eq!(acknowledged, [true, true, true, false, false]);
    assert_eq!(receiver.next_timeout(), Some(at(1)));
    let both = receiver.poll_ack(at(1)).expect("their time has come");
    assert_eq!((both.cumulative, both.sacks[0]), (0, block(1, 6)));
    // The segment that repairs the gap is acknowledged at once, and so are three of the next one.
    let acknowledged = [0, 7, 8, 9, 10].map(|number| arrive(&mut receiver, number).is_some());
    assert_eq!(acknowledged, [true, true, true, true, false]);
}

#[test]
fn a_delayed_acknowledgement_goes_by_ticks() {
    let tick = TimeDelta::from_millis(4);
    let mut receiver = TcpReceiver::new(TcpConfig { tick, ..TcpConfig::default() });
    receiver.on_segment(at(9), &segment(0));
    assert_eq!(receiver.poll_ack(at(9)), None);
    assert_eq!(
        receiver.next_timeout(),
        Some(at(52)),
        "ten ticks after the one of 8 ms, and the rest of that"
    );
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
    let timestamps = |report_delays: bool| {
        let mut receiver = TcpReceiver::new(TcpConfig::default());
        if report_delays {
            receiver.report_delays();
        }
        // Segment n was sent at n ms; 2 is lost, and its retransmission leaves at 60 ms.
        let retransmitted = Segment { sent_at: SendTime::from_millis(60), ..segment(2) };
        let arrivals = [
            (100, segment(0)),
            (108, segment(1)),
            (116, segment(3)),
            (120, segment(4)),
            (160, retransmitted),
        ];
        let acks = arrivals.into_iter().filter_map(|(ms, segment)| {
            receiver.on_segment(at(ms), &segment);
            let stamps = receiver.poll_ack(at(ms))?.stamps;
            let (sent, arrived) = (stamps.sent(SendTime::ZERO), stamps.arrived(ArrivalTime::ZERO));
            Some((sent.nanos() / 1_000_000, arrived.nanos() / 1_000_000))
        });
        acks.collect::<Vec<_>>()
    };
    assert_eq!(timestamps(false), [(0, 100), (0, 100), (0, 100), (60, 160)]);
    assert_eq!(timestamps(true), [(0, 100), (3, 116), (4, 120), (60, 160)]);
}

#[test]
fn acknowledgements_of_new_data_bear_the_timestamps_of_these_data() {
    let mut receiver = TcpReceiver::new(TcpConfig::default());
    receiver.report_delays();
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
