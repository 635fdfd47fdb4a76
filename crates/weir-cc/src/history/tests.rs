//! The send history (`history::SendHistory`), which joins sent packets with reports on them.

use proptest::prelude::*;

mod forged;
mod given;
mod skipped_numbers;
mod two_reporters;
mod untimed;

use super::*;
use crate::report::{NadaReport, NativeReport, ReceptionReport};
use crate::time::ArrivalTime;

const SIZE: DataSize = DataSize::from_bytes(1000);

/// Sender time of `ms` milliseconds.
fn at(ms: i64) -> SendTime {
    SendTime::from_millis(ms)
}

fn record(sequence: u16, arrival_ms: Option<i64>) -> Record {
    Record::new(sequence, arrival_ms.map(ArrivalTime::from_millis))
}

fn history_of(packets: u64, interval_ms: i64) -> SendHistory {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    for i in 0..packets {
        history.on_media_sent(at(i as i64 * interval_ms), DataSize::ZERO, SIZE);
    }
    history
}

/// The numbers of the packets in `feedback`, with their fates.
fn fates(feedback: Option<Feedback<'_>>) -> Vec<(u64, &'static str)> {
    let Some(Feedback::Packets { results, .. }) = feedback else { panic!("not per packet") };
    results
        .iter()
        .map(|r| {
            let fate = match r.fate {
                PacketFate::Arrived { .. } => "arrived",
                PacketFate::Missing => "missing",
                PacketFate::Recovered { .. } => "recovered",
            };
            (r.sent.id, fate)
        })
        .collect()
}

fn rtt(feedback: Option<Feedback<'_>>) -> Option<TimeDelta> {
    feedback.and_then(|feedback| feedback.rtt())
}

fn packets(records: &[Record], number: u8, made_ms: i64) -> Report<'_> {
    Report::Packets { records, number, at: Some(ArrivalTime::from_millis(made_ms)) }
}

#[test]
fn a_remembered_packet_is_small_and_whole() {
    assert_eq!(size_of::<Entry>(), 16);
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    let (header, payload) = (DataSize::from_bytes(24), DataSize::from_bytes(u64::MAX));
    let probe = ProbeId::new(7);
    let sent = history.on_sent(at(0), header, payload, true, probe);
    assert_eq!((sent.padding, sent.probe, sent.size.bytes()), (true, probe, (1 << 14) - 1));
    assert_eq!(sent.size.saturating_sub(sent.payload), header);
    let sent = history.on_media_sent(at(0), header, SIZE);
    assert_eq!((sent.padding, sent.probe, sent.payload), (false, None, SIZE));
}

#[test]
fn each_fate_is_reported_once_and_a_late_packet_recovers() {
    let mut history = history_of(4, 10);
    assert_eq!(history.in_flight(), DataSize::from_bytes(4000));
    let first = [record(0, Some(1000)), record(1, None), record(2, Some(1020))];
    assert_eq!(
        fates(history.join(at(60), &packets(&first, 0, 1025))),
        [(0, "arrived"), (1, "missing"), (2, "arrived")]
    );
    assert_eq!(history.in_flight(), SIZE);
    let second = [record(1, Some(1030)), record(2, Some(1020)), record(3, Some(1031))];
    assert_eq!(fates(history.join(at(70), &packets(&second, 1, 1031))), [(1, "recovered"), (3, "arrived")]);
    assert_eq!(history.in_flight(), DataSize::ZERO);
}

#[test]
fn round_trip_time_leaves_out_the_receivers_holding_time() {
    let mut history = history_of(3, 10);
    // The newest packet left at 20 ms, arrived at 1030, reported at 1042, feedback at 80: 80 - 20 - 12 = 48 ms.
    let records = [record(1, Some(1025)), record(2, Some(1030))];
    let feedback = history.join(at(80), &packets(&records, 0, 1042));
    assert_eq!(rtt(feedback), Some(TimeDelta::from_millis(48)));
    // Where the format has no time of the report, the holding time is included: 80 - 20 = 60 ms.
    let mut history = history_of(3, 10);
    let report = Report::Packets { records: &records, number: 0, at: None };
    assert_eq!(rtt(history.join(at(80), &report)), Some(TimeDelta::from_millis(60)));
}

#[test]
fn numbers_wrap_and_unknown_ones_are_ignored() {
    let mut history = history_of(65_540, 1);
    let records = [record(65_535, Some(0)), record(3, Some(1)), record(4, Some(2))];
    // 65 535 and 65 539 are known; …4 would be 65 540, not sent yet, or 4, long forgotten.
    assert_eq!(
        fates(history.join(at(65_540), &packets(&records, 0, 2))),
        [(65_535, "arrived"), (65_539, "arrived")]
    );
}

#[test]
fn lost_reports_are_counted_and_repeated_ones_are_not() {
    let mut history = history_of(1, 1);
    let mut missed = |number| match history.join(at(1), &packets(&[], number, 0)) {
        Some(Feedback::Packets { missed_reports, .. }) => missed_reports,
        _ => unreachable!(),
    };
    assert_eq!(
        [missed(250), missed(251), missed(251), missed(254), missed(253), missed(1)],
        [0, 0, 0, 2, 0, 2]
    );
}

#[test]
fn after_a_native_report_single_packets_still_get_their_fates() {
    let mut history = history_of(10, 10);
    let report = NativeReport::Nada(NadaReport {
        ramp_up: false,
        congestion: TimeDelta::ZERO,
        receive_rate: weir_units::DataRate::ZERO,
    });
    let own = |sequence| Report::Native { report, echo: Echo { sequence, held: TimeDelta::ZERO } };
    assert_eq!(rtt(history.join(at(100), &own(9))), Some(TimeDelta::from_millis(10)));
    assert_eq!(history.in_flight(), DataSize::ZERO, "the echo settles them");
    let records: Vec<Record> =
        (0..10).map(|n| record(n, (n != 4).then_some(5 + 10 * i64::from(n)))).collect();
    let reported = fates(history.join(at(105), &packets(&records, 0, 100)));
    assert_eq!(reported.len(), 10);
    assert!(
        reported.iter().all(|&(id, fate)| fate == if id == 4 { "missing" } else { "arrived" }),
        "{reported:?}"
    );
    assert_eq!(fates(history.join(at(106), &packets(&records, 1, 101))), [], "once");
    // An overtaken echo gives no round-trip time; beyond the horizon there are no results.
    assert_eq!(rtt(history.join(at(107), &own(3))), None);
    let mut history = history_of(10, 10);
    history.join(at(100), &own(9));
    assert_eq!(fates(history.join(at(2085), &packets(&records, 0, 100))), [(9, "arrived")]);
}

#[test]
fn packets_never_acknowledged_leave_flight_at_the_horizon() {
    let mut history = history_of(10, 1);
    history.on_media_sent(at(2_004), DataSize::ZERO, SIZE);
    // Older than 2 s at 2004 ms: those sent at 0 to 3 ms. Six and the new one are left.
    assert_eq!(history.in_flight(), DataSize::from_bytes(7000));
    let late = [record(0, Some(1)), record(4, Some(5))];
    assert_eq!(fates(history.join(at(2_004), &packets(&late, 0, 5))), [(4, "arrived")]);
}

#[test]
fn packets_of_a_lost_report_leave_flight_with_the_next_one() {
    let mut history = history_of(6, 10);
    history.join(at(60), &packets(&[record(0, Some(1000))], 0, 1005));
    assert_eq!(history.in_flight(), DataSize::from_bytes(5000));
    // Report 1, on packets 1 to 3, is lost.
    let third = [record(4, Some(1040))];
    assert_eq!(fates(history.join(at(90), &packets(&third, 2, 1045))), [(4, "arrived")]);
    assert_eq!(history.in_flight(), SIZE);
}

#[test]
fn a_late_report_is_used_and_settles_no_packet_twice() {
    let mut history = history_of(6, 10);
    history.join(at(90), &packets(&[record(4, Some(1040))], 1, 1045));
    assert_eq!(history.in_flight(), SIZE);
    let late = [record(0, Some(1000)), record(1, None), record(2, Some(1020)), record(3, Some(1030))];
    assert_eq!(
        fates(history.join(at(91), &packets(&late, 0, 1031))),
        [(0, "arrived"), (1, "missing"), (2, "arrived"), (3, "arrived")]
    );
    assert_eq!(history.in_flight(), SIZE);
    // A late report on a settled packet takes no bytes of later packets.
    history.on_media_sent(at(92), DataSize::ZERO, SIZE);
    assert_eq!(fates(history.join(at(95), &packets(&[record(1, Some(1050))], 2, 1051))), [(1, "recovered")]);
    assert_eq!(history.in_flight(), DataSize::from_bytes(2000));
}

#[test]
fn an_echo_settles_what_came_before_it() {
    let mut history = history_of(5, 10);
    let report = NativeReport::Nada(NadaReport {
        ramp_up: true,
        congestion: TimeDelta::ZERO,
        receive_rate: weir_units::DataRate::ZERO,
    });
    let echo = Echo { sequence: 2, held: TimeDelta::from_millis(5) };
    // 75 - 20 - 5 = 50 ms.
    let feedback = history.join(at(75), &Report::Native { report, echo });
    assert_eq!(rtt(feedback), Some(TimeDelta::from_millis(50)));
    assert_eq!(history.in_flight(), DataSize::from_bytes(2000));
}

#[test]
fn a_report_walks_over_what_left_since_the_one_before() {
    let mut history = history_of(5, 10);
    let report = NativeReport::Nada(NadaReport {
        ramp_up: true,
        congestion: TimeDelta::ZERO,
        receive_rate: weir_units::DataRate::ZERO,
    });
    let walks = |history: &SendHistory| history.next - history.settled.max(history.oldest);
    assert_eq!(walks(&history), 5);
    for n in 0..50_i64 {
        let (now, sequence) = (75 + 10 * n, (2 + n) as u16);
        let echo = Echo { sequence, held: TimeDelta::ZERO };
        assert!(history.join(at(now), &Report::Native { report, echo }).is_some());
        assert_eq!(walks(&history), 2, "what left after the echoed packet");
        history.on_media_sent(at(now), DataSize::ZERO, SIZE);
    }
}

#[test]
fn sender_report_round_trip_time_follows_the_example_of_rfc_3550() {
    // RFC 3550 §6.4.1: A = 0xb7108000, LSR = 0xb7052000, DLSR = 0x00054000 (5.25 s): 6.125 s.
    // A's sender time: 0xb7108000 / 65536 = 46 864.5 s.
    let report = ReceptionReport {
        last_sender_report: 0xb705_2000,
        delay_since_last_sender_report: 0x0005_4000,
        ..ReceptionReport::default()
    };
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    let feedback = history.join(SendTime::from_millis(46_864_500), &Report::Reception(report));
    assert_eq!(rtt(feedback), Some(TimeDelta::from_millis(6125)));
    let none = Report::Reception(ReceptionReport::default());
    assert_eq!(rtt(history.join(SendTime::from_millis(46_864_500), &none)), None);
}

#[test]
fn a_round_trip_that_ends_before_it_begins_is_refused_and_counted() {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    let mut rtt = |sent: i64, held: u32| {
        let report = ReceptionReport {
            last_sender_report: compact_ntp(at(sent)),
            delay_since_last_sender_report: held,
            ..ReceptionReport::default()
        };
        let rtt = rtt(history.join(at(100_000), &Report::Reception(report)));
        (rtt.map(|rtt| rtt.micros() / 1000), history.refused().negative)
    };
    // A second is 65 536 ticks; up to 66 below zero may be rounding.
    assert_eq!(rtt(98_000, 65_536), (Some(1000), 0));
    assert_eq!(rtt(98_000, 2 * 65_536 + 66), (Some(0), 0));
    assert_eq!(rtt(98_000, 2 * 65_536 + 67), (None, 1));
    assert_eq!(rtt(98_000, u32::MAX), (None, 2), "a delay of 18 hours");
    assert_eq!(rtt(101_000, 0), (None, 3), "the sender report leaves in a second");
    // As if it had left a day ahead of now: whatever the wait, the report is never accepted.
    assert_eq!(rtt(101_000, u32::MAX - 2 * 65_536), (None, 4));
}

#[test]
fn more_packets_than_numbers_forget_the_oldest() {
    let mut history = SendHistory::new(TimeDelta::from_secs(1000));
    for _ in 0..70_000 {
        history.on_media_sent(at(0), DataSize::ZERO, SIZE);
    }
    assert_eq!(history.in_flight(), DataSize::from_bytes(65_536_000));
    assert_eq!(history.entries.len(), MAX_PACKETS);
}

#[test]
fn packets_sent_before_a_change_of_route_are_no_evidence_of_the_new_one() {
    let mut history = history_of(6, 10);
    history.join(at(60), &packets(&[record(0, Some(1000)), record(1, None)], 0, 1005));
    history.change_route(at(65));
    assert_eq!((history.in_flight(), history.next_expiry()), (DataSize::ZERO, None));
    let late = [record(1, Some(1030)), record(2, None), record(3, Some(1031))];
    let feedback = history.join(at(70), &packets(&late, 1, 1035));
    assert_eq!((fates(feedback), rtt(feedback)), (vec![], None));
    history.on_media_sent(at(80), DataSize::ZERO, SIZE);
    let both = [record(4, Some(1050)), record(5, None), record(6, Some(1100))];
    let feedback = history.join(at(140), &packets(&both, 2, 1110));
    // 140 - 80 - 10 = 50 ms.
    assert_eq!(rtt(feedback), Some(TimeDelta::from_millis(50)));
    assert_eq!(fates(feedback), [(6, "arrived")]);
    assert_eq!(history.in_flight(), DataSize::ZERO);
}

#[test]
fn a_report_from_before_the_new_route_is_recognised() {
    let mut history = history_of(6, 10);
    let native = |sequence| Report::Native {
        report: NativeReport::Nada(NadaReport {
            ramp_up: true,
            congestion: TimeDelta::ZERO,
            receive_rate: weir_units::DataRate::ZERO,
        }),
        echo: Echo { sequence, held: TimeDelta::ZERO },
    };
    assert!(history.join(at(55), &native(5)).is_some());
    history.change_route(at(60));
    assert_eq!(history.join(at(61), &native(5)), None);
    history.on_media_sent(at(70), DataSize::ZERO, SIZE);
    assert_eq!(history.join(at(75), &native(5)), None);
    assert_eq!(rtt(history.join(at(75), &native(6))), Some(TimeDelta::from_millis(5)));
    assert!(history.join(at(75), &Report::Ceiling(weir_units::DataRate::ZERO)).is_some());
    assert_eq!(history.refused(), ImpossibleReports::default(), "old reports are not refused");
}

#[test]
fn a_sender_report_that_went_by_the_other_route_measures_no_round_trip() {
    let mut history = SendHistory::new(TimeDelta::from_secs(2));
    history.change_route(at(2000));
    let mut rtt = |sent: i64, now: i64| {
        let report =
            ReceptionReport { last_sender_report: compact_ntp(at(sent)), ..ReceptionReport::default() };
        rtt(history.join(at(now), &Report::Reception(report)))
    };
    assert_eq!((rtt(1000, 2500), rtt(1999, 2500)), (None, None));
    // Seconds have no rounding.
    assert_eq!(rtt(2000, 2500), Some(TimeDelta::from_millis(500)));
    assert_eq!(rtt(3000, 3500), Some(TimeDelta::from_millis(500)));
}

proptest! {
    #[test]
    fn bytes_in_flight_are_those_above_all_reported_packets(
        steps in prop::collection::vec((0u8..4, 0u16..40, any::<bool>()), 1..300)
    ) {
        let mut history = SendHistory::new(TimeDelta::from_millis(500));
        let mut model: Vec<(u64, i64, bool)> = vec![];
        for (step, (kind, back, arrived)) in steps.into_iter().enumerate() {
            let now = step as i64 * 10;
            if kind < 2 {
                let sent = history.on_media_sent(at(now), DataSize::ZERO, SIZE);
                model.push((sent.id, now, true));
            } else if let Some(target) = history.next_number().checked_sub(1 + u64::from(back)) {
                let records = [record(target as u16, arrived.then_some(now))];
                let before = history.refused();
                history.join(at(now), &packets(&records, 0, now));
                let (early, short) =
                    (history.refused().early > before.early, history.refused().impossible > before.impossible);
                if !early && model.iter().any(|p| p.0 == target && now - p.1 <= 500) {
                    let reported = |p: &&mut (u64, i64, bool)| p.0 < target + u64::from(!short);
                    model.iter_mut().filter(reported).for_each(|p| p.2 = false);
                }
            } else {
                history.join(at(now), &packets(&[], 0, now));
            }
            let open = model.iter().filter(|p| p.2 && now - p.1 <= 500).count() as u64;
            prop_assert_eq!(history.in_flight().bytes(), open * 1000);
        }
    }
}
