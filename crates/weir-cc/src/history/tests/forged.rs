//! Reports that no honest receiver sends, and honest ones that look like them.

use super::*;

/// A call: a packet each 10 ms by default, a report each 50 ms on the arrivals since the one before.
struct HonestCall {
    history: SendHistory,
    /// The first number, if another part of the stack gives numbers. Two in three of these leave elsewhere.
    first: Option<u16>,
    /// When each packet left and when it arrives, in ms by the sender's clock.
    sent: Vec<(i64, i64, u16)>,
    ms: i64,
    /// Delay in each of the two directions.
    way_ms: i64,
    /// Offset of the receiver's clock ahead of the sender's.
    clock_ms: i64,
    /// Intervals between packets and between reports.
    gap_ms: i64,
    every_ms: i64,
}

impl HonestCall {
    fn new() -> Self {
        let history = SendHistory::new(TimeDelta::from_secs(5));
        Self { history, first: None, sent: vec![], ms: 0, way_ms: 40, clock_ms: 0, gap_ms: 10, every_ms: 50 }
    }

    /// Passes `reports` reports; returns for each whether it had results. After each ms `forge` may send some of its
    /// own.
    fn run_reports(&mut self, reports: i64, mut forge: impl FnMut(&mut SendHistory, i64)) -> Vec<bool> {
        let mut had_results = vec![];
        while had_results.len() < reports as usize {
            let Self { history, first, sent, ms, way_ms, clock_ms, gap_ms, every_ms } = self;
            let (ms, way_ms, clock_ms, every_ms) = (*ms, *way_ms, *clock_ms, *every_ms);
            // At 10 ms and each 150 from then on, or each 10.
            if (ms + 140) % *gap_ms == 0 {
                let number = match *first {
                    Some(first) => first.wrapping_add(3 * sent.len() as u16),
                    None => history.next_number() as u16,
                };
                sent.push((ms, ms + way_ms, number));
                let sent = match first {
                    Some(_) => history.on_sent_as(number, at(ms), DataSize::ZERO, SIZE, false, None),
                    None => Ok(history.on_media_sent(at(ms), DataSize::ZERO, SIZE)),
                };
                assert!(sent.is_ok());
            }
            if ms % every_ms == 0 {
                let made = ms - way_ms;
                let since = |&&(_, arrives, _): &&(i64, i64, u16)| (made - every_ms..made).contains(&arrives);
                let arrived = sent.iter().filter(since);
                let records: Vec<Record> =
                    arrived.map(|&(_, at, number)| record(number, Some(at + clock_ms))).collect();
                let report = Report::packets(&records, (ms / 50) as u8);
                let joined = history.join(at(ms), &report);
                // A receiver without arrivals since the last report sends none.
                if !records.is_empty() || every_ms < 100 {
                    had_results.push(joined.is_some() && !fates(joined).is_empty());
                }
            }
            forge(history, ms);
            self.ms += 1;
        }
        had_results
    }
}

fn honest(_: &mut SendHistory, _: i64) {}

#[test]
fn a_path_that_has_become_shorter_costs_two_reports() {
    let mut call = HonestCall::new();
    // The first packet arrives at 40 ms, and is in the report that comes at 100 ms.
    assert_eq!(call.run_reports(4, honest), [false, false, true, true]);
    call.run_reports(20, honest);
    call.way_ms = 10;
    // From 80 ms to 20 and a wait of up to 10 for a packet: less than half.
    assert_eq!(call.run_reports(5, honest), [false, false, true, true, true]);
    assert_eq!(call.history.refused(), ImpossibleReports { early: 2, ..ImpossibleReports::default() });
}

/// A packet each 150 ms, a report each 100, and no empty report: one packet is held for 10 ms, the next for 60.
fn sparse() -> HonestCall {
    HonestCall { gap_ms: 150, every_ms: 100, ..HonestCall::new() }
}

#[test]
fn a_shorter_path_is_accepted_within_a_second_where_packets_are_sparse() {
    // The apparent round trip is 90 and 140 ms, then 40 and 90: none of the latter denies the former.
    let mut call = sparse();
    call.run_reports(40, honest);
    call.way_ms = 10;
    let had_results = call.run_reports(40, honest);
    assert_eq!(had_results.iter().filter(|had_results| !**had_results).count(), 4, "{had_results:?}");
    assert!(had_results[10..].iter().all(|had_results| *had_results));
}

#[test]
fn early_claims_on_a_few_packets_are_refused() {
    for mut call in [sparse(), HonestCall { first: Some(65_000), ..sparse() }] {
        call.run_reports(40, honest);
        let had_results = call.run_reports(100, |history, ms| {
            if (ms + 140) % 150 == 1 {
                let newest = (history.next_number() - 1) as u16;
                let lie = [record(newest, Some(ms))];
                assert_eq!(history.join(at(ms), &Report::packets(&lie, 0)), None, "{ms}");
            }
        });
        assert!(had_results.into_iter().all(|had_results| had_results));
    }
}

/// The newest packet of `call` that left at least `ms` ago, and when.
fn left_before(call: &HonestCall, ms: i64) -> (u16, i64) {
    let (left, _, number) = call.sent.iter().rev().find(|(left, ..)| *left <= call.ms - ms).unwrap();
    (*number, *left)
}

#[test]
fn round_trips_each_just_possible_after_the_one_before_get_nowhere() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    // The smallest round trip is 90 ms: half of it is possible, and half of that, and no less.
    let mut deliver = |ms| {
        let (number, left) = left_before(&call, ms);
        let lie = [record(number, Some(left + 40))];
        call.history.join(at(call.ms), &Report::packets(&lie, 0)).is_some()
    };
    assert_eq!([45, 45, 30, 20, 10].map(&mut deliver), [true, true, true, false, false]);
}

#[test]
fn arrivals_each_a_round_trip_before_the_last_stop_at_one() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    let mut records: Vec<Record> = vec![];
    for (place, early) in [90, 180, 270].into_iter().enumerate() {
        let (number, left) = left_before(&call, 80 - 10 * place as i64);
        records.push(record(number, Some(left + 40 - early)));
    }
    assert_eq!(fates(call.history.join(at(call.ms), &Report::packets(&records, 0))).len(), 1);
    assert_eq!(call.history.refused(), ImpossibleReports { impossible: 2, ..ImpossibleReports::default() });
}

#[test]
fn the_newest_packet_decides_whether_a_report_is_early() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    let newest = (call.history.next_number() - 1) as u16;
    let mut join = |records: &[Record]| {
        let report = packets(records, 0, call.ms);
        call.history.join(at(call.ms), &report).is_some()
    };
    let arrived = Some(call.ms - 1);
    assert!(
        !join(&[record(newest, arrived), record(newest + 1, arrived)]),
        "of one that has not left nothing"
    );
    assert!(!join(&[record(newest, arrived), record(newest - 30, arrived)]), "in whatever order");
    assert!(!join(&[record(newest - 30, arrived), record(newest, None)]), "nor can it be missed so soon");
}

#[test]
fn a_new_route_may_be_as_short_as_it_likes() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    call.history.change_route(at(call.ms));
    call.way_ms = 10;
    assert_eq!(call.run_reports(3, honest), [true, true, true]);
    assert_eq!(call.history.refused(), ImpossibleReports::default());
}

#[test]
fn a_claim_of_an_early_arrival_is_refused_while_others_deny_it() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    // Each 10 ms a forged report claims the arrival of the packet that has just left, whatever the honest reports have
    // of it later.
    let had_results = call.run_reports(200, |history, ms| {
        if ms % 10 == 1 {
            let newest = (history.next_number() - 1) as u16;
            let lie = [record(newest, Some(ms))];
            assert_eq!(history.join(at(ms), &Report::packets(&lie, 0)), None, "{ms}");
        }
    });
    assert!(had_results.into_iter().all(|had_results| had_results));
    assert_eq!(call.history.refused(), ImpossibleReports { early: 1000, ..ImpossibleReports::default() });
}

#[test]
fn an_arrival_that_makes_the_way_shorter_than_a_round_trip_is_none() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    let newest = (call.history.next_number() - 1) as u16;
    let mut deliver = |arrival_ms: i64| {
        let lie = [record(newest, Some(arrival_ms))];
        fates(call.history.join(at(1050), &Report::packets(&lie, 0))).len()
    };
    // It left at 950 ms and takes 40. The smallest round trip is 90 ms, a wait of 10 in it: it cannot have arrived
    // before 900, and 2 ms are for rounding.
    assert_eq!((deliver(897), deliver(-3_600_000)), (0, 0));
    assert_eq!((deliver(898), deliver(990)), (1, 0), "what is possible is believed, and once");
    assert_eq!(call.history.refused(), ImpossibleReports { impossible: 2, ..ImpossibleReports::default() });
}

#[test]
fn a_receivers_clock_that_is_set_back_costs_two_reports() {
    let mut call = HonestCall::new();
    call.run_reports(20, honest);
    call.clock_ms = -250;
    assert_eq!(call.run_reports(5, honest), [false, false, true, true, true]);
    assert_eq!(
        call.history.refused(),
        ImpossibleReports { impossible: 10, ..ImpossibleReports::default() },
        "five packets each"
    );
}

#[test]
fn a_late_packet_and_overlapping_reports_are_no_contradiction() {
    let mut history = history_of(5, 10);
    history.join(at(60), &Report::packets(&[record(1, Some(1010)), record(3, Some(1030))], 0));
    // Packet 2 comes late; transport-wide feedback reports packet 3 only once, and the other form of report repeats it.
    let late = [record(2, Some(1050)), record(3, None), record(4, Some(1040))];
    assert_eq!(fates(history.join(at(110), &Report::packets(&late, 1))).len(), 2);
    history.join(at(111), &packets(&[record(3, Some(1032)), record(4, Some(1036))], 2, 1060));
    assert!(!history.is_contested(at(111)), "each rounds, and an earlier time is no reason to slow down");
    history.join(at(112), &packets(&[record(4, Some(1045))], 3, 1060));
    assert!(
        history.is_contested(at(112)) && history.is_contested(at(2112)) && !history.is_contested(at(2113))
    );
}

#[test]
fn a_report_cannot_name_packets_that_have_not_left() {
    let mut history = history_of(0, 10);
    assert!(!history.may_cover(0, 1) && history.may_cover(0, 0));
    history = history_of(70_000, 0);
    // Sent were 0 to 69 999, of which the last ends in 4463.
    assert!(history.may_cover(4463, 1) && !history.may_cover(4463, 2));
    assert!(history.may_cover(4464, u16::MAX), "they have all left");
    let mut history = history_of(100, 10);
    assert!(history.may_cover(0, 100) && !history.may_cover(0, 101) && !history.may_cover(200, 1));
    history.expire(at(100_000));
    assert!(history.may_cover(0, 100), "they did leave");
}

/// When reports contradict each other, in ms, in a call with NADA reports. A receiver reports `honest(ms)` each 100 ms,
/// for the packet that left 60 ms before. Each `every` ms another sender reports `forged` ms of congestion for one that
/// left 40 ms before.
fn own_reports(seconds: i64, every: Option<i64>, forged: i64, honest: impl Fn(i64) -> i64) -> Vec<i64> {
    let mut history = SendHistory::new(TimeDelta::from_secs(5));
    let mut contested = vec![];
    for ms in 0..1000 * seconds {
        if ms % 10 == 0 {
            history.on_media_sent(at(ms), DataSize::ZERO, SIZE);
        }
        let mut report = |congestion: i64, ago: i64| {
            let report = NativeReport::Nada(NadaReport {
                ramp_up: false,
                congestion: TimeDelta::from_millis(congestion),
                receive_rate: weir_units::DataRate::ZERO,
            });
            let echo = Echo { sequence: ((ms - ago) / 10) as u16, held: TimeDelta::ZERO };
            history.join(at(ms), &Report::Native { report, echo });
        };
        if ms % 100 == 0 && ms >= 100 {
            report(honest(ms), 60);
        }
        if every.is_some_and(|every| ms % every == 30) && ms >= 2000 {
            report(forged, 40);
        }
        if history.is_contested(at(ms)) {
            contested.push(ms);
        }
    }
    contested
}

#[test]
fn own_reports_of_two_contradict_each_other_with_the_second_that_differs() {
    // More congestion shows when the receiver denies it, less at once where it was reported shortly before.
    for (every, more, less) in [(100, 2200, 2130), (1000, 3100, 3030), (5000, 10_100, 10_100)] {
        for (forged, honest, first) in [(3276, 20, more), (600, 20, more), (0, 800, less)] {
            let contested = own_reports(20, Some(every), forged, |_| honest);
            assert_eq!(contested.first(), Some(&first), "{forged} beside {honest} each {every}");
        }
    }
    // Eleven seconds apart, or alike, or within what a path may do.
    assert_eq!(own_reports(60, Some(11_000), 3276, |_| 20), [0; 0]);
    assert_eq!(own_reports(20, Some(1000), 45, |_| 20), [0; 0]);
    assert_eq!(own_reports(20, Some(1000), 900, |_| 600), [0; 0]);
    assert_eq!(own_reports(20, Some(1000), 490, |_| 20), [0; 0]);
}

#[test]
fn queues_and_losses_of_one_path_are_no_contradiction() {
    let none = [0; 0];
    // A queue that fills at once, by 500 ms, and drains as fast as time passes; every second.
    assert_eq!(own_reports(60, None, 0, |ms| (500 - ms % 1000).max(0)), none);
    // A queue of 300 ms that counts for 5 after each loss, every five seconds.
    assert_eq!(own_reports(60, None, 0, |ms| if ms % 5000 < 2500 { 300 } else { 5 }), none);
    // Losses whose penalty falls by a fifth with each report.
    let penalty = |ms: i64| {
        let course = [250, 900, 1600, 1296, 1050, 850, 689, 558, 452, 366, 296, 240, 194, 157, 127, 103];
        course[(ms / 100 % 16) as usize]
    };
    assert_eq!(own_reports(60, None, 0, penalty), none);
}

/// Whether a base delay is refuted in the first four seconds of a call, and in the four after that. An arrival of the
/// first half second was reported `early` ms before its time.
fn refuted(early: Option<i64>) -> [bool; 2] {
    let mut call = HonestCall::new();
    let mut seconds = || {
        let mut refuted = false;
        call.run_reports(80, |history, ms| {
            if ms == 200
                && let Some(early) = early
            {
                let number = (history.next_number() - 8) as u16;
                history.join(at(ms), &Report::packets(&[record(number, Some(ms - 40 - early))], 200));
            }
            refuted |= history.take_refuted_delay();
        });
        refuted
    };
    [seconds(), seconds()]
}

#[test]
fn an_arrival_before_the_round_trip_was_known_is_refuted_once_it_is() {
    assert_eq!(refuted(None), [false; 2]);
    assert_eq!(refuted(Some(250)), [true, false], "once");
    assert_eq!(refuted(Some(20)), [false; 2], "a way that is possible");
}
