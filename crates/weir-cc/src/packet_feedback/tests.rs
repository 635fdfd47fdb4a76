//! The receiver half that reports the fates of single packets (`packet_feedback::PacketFeedback`).

use alloc::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::packet::Stamp;
use crate::time::SendTime;

const INTERVAL: TimeDelta = TimeDelta::from_millis(50);

/// Packet `id` arrives at `ms`.
fn arrive(receiver: &mut PacketFeedback, id: u64, ms: i64, ecn: Ecn) {
    receiver.on_arrival(&Arrival {
        id,
        departure: SendTime::ZERO,
        at: at(ms),
        size: DataSize::from_bytes(1200),
        ecn,
        media_time: 0,
        marker: false,
        stamp: Stamp::default(),
    });
}

/// Receiver time of `ms` milliseconds.
fn at(ms: i64) -> ArrivalTime {
    ArrivalTime::from_millis(ms)
}

/// Number and time of arrival in ms of each record.
fn reported(receiver: &mut PacketFeedback, ms: i64) -> Vec<(u16, Option<i64>)> {
    match receiver.poll_report(at(ms)) {
        Some(Report::Packets { records, .. }) => records
            .iter()
            .map(|r| (r.sequence, r.reception.time().map(|at| at.nanos() / 1_000_000)))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn a_report_covers_what_came_and_what_is_missing_in_between() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 65_534, 10, Ecn::NotEct);
    arrive(&mut receiver, 65_537, 20, Ecn::NotEct);
    assert_eq!(receiver.next_timeout(), Some(at(60)));
    assert_eq!(reported(&mut receiver, 59), []);
    assert_eq!(reported(&mut receiver, 60), [(65_534, Some(10)), (65_535, None), (0, None), (1, Some(20))]);
    assert_eq!(receiver.next_timeout(), None, "nothing has come since");
    arrive(&mut receiver, 65_540, 70, Ecn::NotEct);
    assert_eq!(receiver.next_timeout(), Some(at(110)));
    assert_eq!(reported(&mut receiver, 110), [(2, None), (3, None), (4, Some(70))]);
}

#[test]
fn the_next_report_contains_a_late_packet() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 1, 0, Ecn::NotEct);
    arrive(&mut receiver, 3, 10, Ecn::NotEct);
    reported(&mut receiver, 50);
    arrive(&mut receiver, 2, 60, Ecn::NotEct);
    arrive(&mut receiver, 4, 70, Ecn::NotEct);
    // The report on 3 stays as it was.
    assert_eq!(reported(&mut receiver, 100), [(2, Some(60)), (3, Some(10)), (4, Some(70))]);
}

#[test]
fn the_first_of_two_copies_counts_and_a_mark_on_either() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 7, 0, Ecn::Ect1);
    arrive(&mut receiver, 7, 5, Ecn::Ce);
    let Some(Report::Packets { records, .. }) = receiver.poll_report(at(50)) else { panic!("it is due") };
    assert_eq!(records, [Record { ecn: Ecn::Ce, ..Record::new(7, Some(at(0))) }]);
}

#[test]
fn a_copy_of_a_reported_packet_is_not_reported_again() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 7, 0, Ecn::Ect1);
    assert_eq!(reported(&mut receiver, 50), [(7, Some(0))]);
    arrive(&mut receiver, 7, 60, Ecn::Ect1);
    assert_eq!(receiver.next_timeout(), Some(at(100)));
    assert_eq!(reported(&mut receiver, 100), [], "there is nothing to report");
    arrive(&mut receiver, 8, 110, Ecn::Ect1);
    let Some(Report::Packets { records, number, .. }) = receiver.poll_report(at(160)) else { panic!("due") };
    assert_eq!((records.len(), number), (1, 1), "a report that was not made has no number");
}

#[test]
fn a_leap_of_numbers_does_not_make_an_endless_report() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 7, 0, Ecn::NotEct);
    arrive(&mut receiver, u64::MAX, 5, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 50).len() as u64, MOST_RECORDS);
}

#[test]
fn a_late_packet_is_reported_only_within_the_memory() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for id in (0..=3000).filter(|id| ![1976, 1977].contains(id)) {
        arrive(&mut receiver, id, 0, Ecn::NotEct);
    }
    assert_eq!(reported(&mut receiver, 50).len() as u64, MOST_RECORDS);
    // 3001 - 1024 = 1977 is the last one remembered.
    arrive(&mut receiver, 1976, 60, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 100), []);
    arrive(&mut receiver, 1977, 110, Ecn::NotEct);
    let reported = reported(&mut receiver, 160);
    assert_eq!((reported[0], reported.len() as u64), ((1977, Some(110)), MOST_RECORDS));
    assert!(reported[1..].iter().all(|(_, arrival)| *arrival == Some(0)), "reported as before");
}

#[test]
fn reported_arrivals_are_remembered_for_half_a_second() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for id in (100..110).filter(|id| ![102, 106].contains(id)) {
        arrive(&mut receiver, id, 100 * id as i64, Ecn::NotEct);
        assert!(!reported(&mut receiver, 100 * id as i64 + 50).is_empty());
    }
    // 102 has been missed since 103 came at 10 300 ms.
    assert_eq!(receiver.memory.seen.len(), 6, "from 104 on");
    for forgotten in [102, 103] {
        arrive(&mut receiver, forgotten, 10_960, Ecn::NotEct);
        assert_eq!(reported(&mut receiver, 11_010), [], "{forgotten}");
    }
    arrive(&mut receiver, 106, 11_020, Ecn::NotEct);
    let with_it = [(106, 11_020), (107, 10_700), (108, 10_800), (109, 10_900)];
    assert_eq!(reported(&mut receiver, 11_070), with_it.map(|(id, ms)| (id, Some(ms))));
    for id in 110..1000 {
        arrive(&mut receiver, id, 11_100 + 10 * id as i64, Ecn::NotEct);
        reported(&mut receiver, 11_100 + 10 * id as i64);
    }
    assert!(receiver.memory.seen.capacity() <= 64, "{}", receiver.memory.seen.capacity());
}

#[test]
fn unreported_arrivals_are_not_forgotten() {
    let mut receiver = PacketFeedback::new(TimeDelta::from_secs(2));
    for id in (0..20).filter(|id| *id != 2) {
        arrive(&mut receiver, id, 100 * id as i64, Ecn::NotEct);
    }
    let all = reported(&mut receiver, 2000);
    assert_eq!((all.len(), all[2], all[0]), (20, (2, None), (0, Some(0))));
    // 20 comes late, and 22 before that is reported: the numbers that the report repeats are kept for it.
    arrive(&mut receiver, 21, 2010, Ecn::NotEct);
    reported(&mut receiver, 4000);
    arrive(&mut receiver, 20, 4300, Ecn::NotEct);
    arrive(&mut receiver, 22, 4900, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 6000), [(20, Some(4300)), (21, Some(2010)), (22, Some(4900))]);
}

#[test]
fn neither_leaps_nor_clocks_make_it_hold_more() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for leap in 0..3 {
        for id in 0..100 {
            arrive(&mut receiver, 40_000 * leap + id, 10 * id as i64, Ecn::NotEct);
            reported(&mut receiver, 10 * id as i64);
        }
    }
    assert!(receiver.memory.seen.capacity() as u64 <= MOST_RECORDS);
    // The clock is set back by an hour.
    reported(&mut receiver, 5000);
    arrive(&mut receiver, 80_100, -3_600_000, Ecn::NotEct);
    assert_eq!(receiver.memory.seen.len(), 1);
}

#[test]
fn numbers_begin_anew_only_where_nothing_comes_between() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for (ms, id) in [50_000, 10, 50_001, 11, 50_002].into_iter().enumerate() {
        arrive(&mut receiver, id, ms as i64, Ecn::NotEct);
    }
    let numbers: Vec<u16> = reported(&mut receiver, 50).into_iter().map(|(sequence, _)| sequence).collect();
    assert_eq!(numbers, [50_000, 50_001, 50_002]);
}

#[test]
fn after_a_restart_of_numbers_no_arrival_is_forgotten_yet() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for id in 50_000..50_021 {
        arrive(&mut receiver, id, 100 * (id as i64 - 50_000), Ecn::NotEct);
        reported(&mut receiver, 100 * (id as i64 - 50_000) + 50);
    }
    for (id, ms) in [(10, 2100), (11, 2101), (9, 2102)] {
        arrive(&mut receiver, id, ms, Ecn::NotEct);
    }
    assert_eq!(reported(&mut receiver, 2160), [(9, Some(2102)), (10, None), (11, Some(2101))]);
}

#[test]
fn packets_sent_before_the_first_arrival_are_reported_when_they_arrive() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 100, 0, Ecn::NotEct);
    reported(&mut receiver, 50);
    arrive(&mut receiver, 98, 60, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 110), [(98, Some(60)), (99, None), (100, Some(0))]);
}

#[test]
fn numbers_that_begin_anew_are_reported_from_the_second_packet_on() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    arrive(&mut receiver, 50_000, 0, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 50).len(), 1);
    arrive(&mut receiver, 10, 60, Ecn::NotEct);
    arrive(&mut receiver, 11, 61, Ecn::NotEct);
    arrive(&mut receiver, 13, 62, Ecn::NotEct);
    assert_eq!(reported(&mut receiver, 110), [(11, Some(61)), (12, None), (13, Some(62))]);
}

#[test]
fn a_stray_packet_changes_nothing() {
    let mut receiver = PacketFeedback::new(INTERVAL);
    for (id, ms) in [(50_000, 0), (10, 1), (50_001, 2), (12, 3)] {
        arrive(&mut receiver, id, ms, Ecn::NotEct);
    }
    assert_eq!(reported(&mut receiver, 50), [(50_000, Some(0)), (50_001, Some(2))]);
}

#[test]
fn reports_take_a_twentieth_of_the_receive_rate() {
    let ms = |kbps| adaptive_interval(Some(DataRate::from_kbps(kbps))).nanos() as f64 / 1e6;
    // 68 · 8 / 0.05 = 10 880 bits: at 50 kbit/s 217.6 ms.
    assert_eq!([ms(40), ms(50), ms(100), ms(217), ms(218)], [250.0, 217.6, 108.8, 50.138_249, 50.0]);
    assert_eq!(adaptive_interval(Some(DataRate::ZERO)), MAX_INTERVAL);
    assert_eq!(adaptive_interval(None), DEFAULT);
}

/// The gaps between reports on packets of 1200 bytes that come each `gap` ms for 3 s.
fn gaps(receiver: &mut PacketFeedback, gap: i64) -> Vec<i64> {
    let mut reports = Vec::new();
    for ms in 0..3000 {
        if ms % gap == 0 {
            arrive(receiver, (ms / gap) as u64, ms, Ecn::NotEct);
        }
        if !reported(receiver, ms).is_empty() {
            reports.push(ms);
        }
    }
    reports.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

#[test]
fn an_adaptive_receiver_reports_more_often_what_comes_faster() {
    // 9600 bits each 96 ms: 5 or 6 packets within 500 ms, 96 or 115.2 kbit/s, 113.3 or 94.4 ms, which a clock of
    // whole ms rounds up.
    let slow = gaps(&mut PacketFeedback::adaptive(), 96);
    assert!(slow[5..].iter().all(|gap| (95..=114).contains(gap)), "{slow:?}");
    // 960 kbit/s.
    let fast = gaps(&mut PacketFeedback::adaptive(), 10);
    assert!(fast[5..].iter().all(|gap| *gap == 50), "{fast:?}");
}

proptest! {
    /// Compares with a receiver that remembers everything. Each report is exact on the arrivals so far. Each packet
    /// that arrives within half a second of the first above it is reported.
    #[test]
    fn reports_are_true_and_complete(
        steps in prop::collection::vec((prop_oneof![20 => 0..20_i64, 1 => 400..700_i64], -30..40_i64), 1..300)
    ) {
        let mut receiver = PacketFeedback::new(INTERVAL);
        // Arrival time, and whether the packet needs no report any more.
        let mut model: BTreeMap<u64, (i64, bool)> = BTreeMap::new();
        let (mut ms, mut newest) = (0, 1000_i64);
        for (later, ahead) in steps {
            ms += later;
            let id = newest + ahead;
            newest = newest.max(id);
            let above = model.range(id as u64 + 1..).map(|(_, known)| known.0).min();
            let late = above.is_some_and(|above| ms - above > 500);
            arrive(&mut receiver, id as u64, ms, Ecn::NotEct);
            model.entry(id as u64).or_insert((ms, late));
            for (sequence, arrival) in reported(&mut receiver, ms) {
                let known = model.get_mut(&u64::from(sequence));
                prop_assert_eq!(arrival, known.as_ref().map(|known| known.0));
                if let Some(known) = known {
                    known.1 = true;
                }
            }
            if receiver.next_timeout().is_none() {
                prop_assert!(model.values().all(|known| known.1), "something was left out");
            }
        }
    }
}
