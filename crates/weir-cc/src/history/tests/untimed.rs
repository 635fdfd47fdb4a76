//! Arrivals without reported times, and marks.

use super::*;
use crate::packet::Ecn;
use crate::report::Reception;

fn untimed(sequence: u16, ecn: Ecn) -> Record {
    Record { sequence, reception: Reception::Untimed, ecn }
}

fn timed(sequence: u16, arrival_ms: i64, ecn: Ecn) -> Record {
    Record { ecn, ..record(sequence, Some(arrival_ms)) }
}

/// Ten packets, 10 ms apart, that left with this ECN field.
fn history_with(ecn: Ecn) -> SendHistory {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    history.set_ecn(ecn);
    (0..10).for_each(|n| _ = history.on_media_sent(at(10 * n), DataSize::ZERO, SIZE));
    history
}

/// Fates of the packets in a report of `records`, which comes 100 ms after the first packet left.
fn reported_fates(history: &mut SendHistory, records: &[Record]) -> Vec<PacketFate> {
    let Some(Feedback::Packets { results, .. }) = history.join(at(100), &packets(records, 0, 1100)) else {
        panic!("not per packet")
    };
    results.iter().map(|result| result.fate).collect()
}

#[test]
fn it_leaves_flight_and_measures_nothing() {
    let mut history = history_with(Ecn::NotEct);
    let records = [untimed(0, Ecn::NotEct), record(1, None), untimed(2, Ecn::NotEct)];
    let feedback = history.join(at(100), &packets(&records, 0, 1100));
    assert_eq!(rtt(feedback), None);
    assert_eq!(fates(feedback), [(0, "arrived"), (1, "missing"), (2, "arrived")]);
    assert_eq!(history.in_flight(), DataSize::from_bytes(7000));
    // The time of packet 3 is reported: 100 - 30 - (1100 - 1050) = 20 ms. Packet 1 was only late.
    let records = [untimed(1, Ecn::NotEct), timed(3, 1050, Ecn::NotEct), untimed(4, Ecn::NotEct)];
    let feedback = history.join(at(100), &packets(&records, 1, 1100));
    assert_eq!(rtt(feedback), Some(TimeDelta::from_millis(20)));
    assert_eq!(fates(feedback), [(1, "recovered"), (3, "arrived"), (4, "arrived")]);
}

#[test]
fn a_time_reported_later_is_no_second_arrival() {
    let mut history = history_with(Ecn::NotEct);
    let arrived = PacketFate::Arrived { at: None, ecn: Ecn::NotEct };
    assert_eq!(reported_fates(&mut history, &[untimed(0, Ecn::NotEct)]), [arrived]);
    assert_eq!(reported_fates(&mut history, &[timed(0, 1020, Ecn::NotEct)]), []);
    assert_eq!(reported_fates(&mut history, &[untimed(0, Ecn::Ce), record(0, None)]), []);
    assert!(!history.is_contested(at(100)));
}

#[test]
fn a_mark_is_reported_without_a_time_too() {
    for ecn in [Ecn::Ect0, Ecn::Ect1] {
        let mut history = history_with(ecn);
        let marked = |at| PacketFate::Arrived { at, ecn: Ecn::Ce };
        let at = ArrivalTime::from_millis(1020);
        let records = [untimed(0, Ecn::Ce), timed(1, 1020, Ecn::Ce)];
        assert_eq!(reported_fates(&mut history, &records), [marked(None), marked(Some(at))]);
        assert_eq!(history.refused(), ImpossibleReports::default());
    }
}

#[test]
fn a_mark_on_what_another_report_has_unmarked_is_none() {
    let mut history = history_with(Ecn::Ect0);
    assert_eq!(reported_fates(&mut history, &[timed(0, 1020, Ecn::Ect0), untimed(1, Ecn::Ect0)]).len(), 2);
    assert_eq!(reported_fates(&mut history, &[untimed(0, Ecn::Ce), untimed(1, Ecn::Ce)]), []);
}

#[test]
fn a_mark_on_a_packet_that_left_without_ecn_is_refused_and_its_arrival_is_not() {
    let mut history = history_with(Ecn::NotEct);
    let unmarked = |at| PacketFate::Arrived { at, ecn: Ecn::NotEct };
    let at_1020 = Some(ArrivalTime::from_millis(1020));
    let records = [untimed(0, Ecn::Ce), timed(1, 1020, Ecn::Ce), Record { ecn: Ecn::Ce, ..record(2, None) }];
    assert_eq!(
        reported_fates(&mut history, &records),
        [unmarked(None), unmarked(at_1020), PacketFate::Missing]
    );
    assert_eq!(history.refused(), ImpossibleReports { marks: 2, ..ImpossibleReports::default() });
    // Packets that leave from now on may be marked, and those that left before may not.
    history.set_ecn(Ecn::Ect1);
    history.on_media_sent(at(100), DataSize::ZERO, SIZE);
    let marked = PacketFate::Arrived { at: None, ecn: Ecn::Ce };
    assert_eq!(
        reported_fates(&mut history, &[untimed(9, Ecn::Ce), untimed(10, Ecn::Ce)]),
        [unmarked(None), marked]
    );
    assert_eq!(history.refused(), ImpossibleReports { marks: 3, ..ImpossibleReports::default() });
}

/// Whether the reports ever contradicted each other, and the share of the arrivals whose times were reported with them.
/// A packet leaves each 10 ms for ten seconds, and a report each 50 ms has the times of those that left 100 to 150 ms
/// ago. Before it a report comes from a second sender, with the `early(packet)` ones as arrived without a time.
fn course(early: impl Fn(i64) -> bool) -> (bool, f64) {
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    let (mut contested, mut arrived, mut timed) = (false, 0, 0);
    for n in 0..1000_i64 {
        let now = at(10 * n);
        history.on_media_sent(now, DataSize::ZERO, SIZE);
        if n % 5 == 0 && n >= 20 {
            let window = n - 15..n - 10;
            let without: Vec<_> =
                window.clone().filter(|&n| early(n)).map(|n| untimed(n as u16, Ecn::NotEct)).collect();
            arrived += fates(history.join(now, &Report::packets(&without, n as u8))).len();
            let with: Vec<_> = window.map(|n| record(n as u16, Some(10 * n + 50))).collect();
            timed += fates(history.join(now, &packets(&with, n as u8, 10 * n - 50))).len();
            contested |= history.is_contested(now);
        }
    }
    (contested, f64::from(timed as u32) / f64::from((timed + arrived) as u32))
}

#[test]
fn early_reports_on_most_arrivals_contradict_the_receiver() {
    assert_eq!(course(|_| false), (false, 1.0));
    // A receiver that knows the time of the newest packets with its next report.
    assert_eq!(course(|n| n % 5 == 4), (false, 0.8));
    assert_eq!(course(|n| n % 5 >= 3), (false, 0.6));
    let (contested, timed) = course(|n| n % 5 >= 2);
    assert!(contested && timed > 0.8, "{timed}");
    let (contested, timed) = course(|_| true);
    assert!(contested && timed > 0.8, "{timed}");
    // Early arrivals for a second alone.
    assert!(course(|n| (400..500).contains(&n)).0);
}

#[test]
fn an_arrival_without_a_time_is_refused_before_one_round_trip() {
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    for n in 0..40_i64 {
        history.on_media_sent(at(50 * n), DataSize::ZERO, SIZE);
        let Ok(sequence) = u16::try_from(n - 2) else { continue };
        // A round trip of 80 ms, and 20 ms that the receiver held it.
        let records = [record(sequence, Some(50 * (n - 2) + 40))];
        assert!(history.join(at(50 * n), &packets(&records, n as u8, 50 * n - 40)).is_some());
    }
    // Packet 39 left at 1950 ms.
    assert_eq!(history.join(at(1980), &packets(&[untimed(39, Ecn::NotEct)], 0, 1970)), None);
    assert_eq!(history.refused().early, 1);
    assert!(history.join(at(2000), &packets(&[untimed(39, Ecn::NotEct)], 0, 1970)).is_some());
}
