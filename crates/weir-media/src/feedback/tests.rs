//! Per-packet feedback as RTCP bytes and back (`feedback`): transport-wide feedback, and RFC 8888 §3.1.

use weir_cc::history::SendHistory;
use weir_cc::{ArrivalTime, Ecn, PacketFormat, Reception, Record, Report, SendTime};
use weir_units::{DataSize, TimeDelta};
use weir_wire::rtcp::{self, Ccfb, MetricBlock};

use super::*;

const HOURS: TimeDelta = TimeDelta::from_secs(5 * 3600);
const ROOM: usize = 1472;

/// Time of 5 h and `micros` on the receiver's clock.
fn at(micros: i64) -> ArrivalTime {
    ArrivalTime::ZERO + HOURS + TimeDelta::from_micros(micros)
}

fn record(sequence: u16, micros: Option<i64>) -> Record {
    Record::new(sequence, micros.map(at))
}

/// The RTCP packets of a report.
fn packets(
    writer: &mut FeedbackWriter,
    records: &[Record],
    number: u8,
    made: i64,
    room: usize,
) -> Vec<Vec<u8>> {
    let mut out = vec![0; room];
    let mut packets = Vec::new();
    let report = Report::Packets { records, number, at: Some(at(made)) };
    let mut length = writer.write(&report, &mut out);
    while let Some(written) = length {
        packets.push(out[..written].to_vec());
        length = writer.write_rest(&mut out);
    }
    packets
}

#[derive(Debug, PartialEq)]
struct ReadReport {
    records: Vec<Record>,
    number: u8,
    at: Option<ArrivalTime>,
}

/// A history in which each number has left, those below 30 000 twice.
fn all_sent() -> SendHistory {
    let mut history = SendHistory::new(TimeDelta::MAX);
    (0..65_536 + 30_000)
        .for_each(|_| _ = history.on_media_sent(SendTime::ZERO, DataSize::ZERO, DataSize::ZERO));
    history
}

/// The report in the message `bytes`.
fn read(reader: &mut FeedbackReader, now: SendTime, bytes: &[u8]) -> ReadReport {
    let message = rtcp::messages(bytes).next().unwrap().unwrap();
    let report = reader.read(now, &message, &StreamNumbers::same_as_history(1), &all_sent()).unwrap();
    let Report::Packets { records, number, at } = report else { panic!("{report:?}") };
    ReadReport { records: records.to_vec(), number, at }
}

fn made_at(at: ArrivalTime, records: &[Record]) -> Report<'_> {
    Report::Packets { records, number: 0, at: Some(at) }
}

/// A writer of this format.
fn writer(format: PacketFormat) -> FeedbackWriter {
    match format {
        PacketFormat::TransportWide => FeedbackWriter::transport_wide(2, 1),
        PacketFormat::Rfc8888 => FeedbackWriter::rfc_8888(2, 1),
    }
}

/// Error of the time between the first packet and `packet`, which is `span` µs, in ns.
fn error(read_back: &ReadReport, packet: usize, span: i64) -> i64 {
    let seen =
        read_back.records[packet].reception.time().unwrap() - read_back.records[0].reception.time().unwrap();
    seen.nanos() - span * 1000
}

#[test]
fn transport_wide_feedback_carries_differences_in_250_us() {
    let records =
        [record(65_534, Some(100)), record(65_535, None), record(0, Some(30_300)), record(1, Some(12_345))];
    let mut writer = writer(PacketFormat::TransportWide);
    let bytes = packets(&mut writer, &records, 9, 40_000, ROOM);
    assert_eq!(bytes.len(), 1);
    let read_back = read(&mut FeedbackReader::new(), SendTime::ZERO, &bytes[0]);
    assert_eq!((read_back.number, read_back.at), (9, None));
    let seen: Vec<_> = read_back.records.iter().map(|r| (r.sequence, r.reception.is_arrival())).collect();
    assert_eq!(seen, [(65_534, true), (65_535, false), (0, true), (1, true)]);
    assert!(error(&read_back, 2, 30_200).abs() <= 250_000 && error(&read_back, 3, 12_245).abs() <= 250_000);
}

#[test]
fn rfc_8888_carries_times_in_1_1024_s_marks_and_its_own_time() {
    let mut records =
        [record(65_534, Some(100)), record(65_535, None), record(0, Some(30_300)), record(1, Some(12_345))];
    let ecns = [Ecn::Ect0, Ecn::NotEct, Ecn::Ce, Ecn::Ect1];
    for (record, ecn) in records.iter_mut().zip(ecns) {
        record.ecn = ecn;
    }
    let mut writer = writer(PacketFormat::Rfc8888);
    let bytes = packets(&mut writer, &records, 9, 40_000, ROOM);
    assert_eq!(bytes.len(), 1);
    let read_back = read(&mut FeedbackReader::new(), SendTime::ZERO + HOURS, &bytes[0]);
    assert_eq!(read_back.records.iter().map(|r| r.ecn).collect::<Vec<_>>(), ecns);
    // The sender's clock is about the same, so even the absolute time is right, to 1/65536 s rounded down.
    let made = read_back.at.unwrap();
    assert!((0..15_260).contains(&(at(40_000) - made).nanos()));
    for (read_back, record) in read_back.records.iter().zip(&records) {
        assert_eq!(read_back.sequence, record.sequence);
        let late = read_back
            .reception
            .time()
            .zip(record.reception.time())
            .map(|(read_back, record)| (read_back - record).nanos());
        assert!(late.is_none_or(|late| (-15_260..976_563).contains(&late)), "{late:?} ns");
        assert_eq!(read_back.reception.is_arrival(), record.reception.is_arrival());
    }
}

#[test]
fn times_go_on_where_the_wire_wraps() {
    // 2^24 · 64 ms and 65 536 s.
    for (format, period) in [
        (PacketFormat::TransportWide, TimeDelta::from_micros(1_073_741_824_000)),
        (PacketFormat::Rfc8888, TimeDelta::from_secs(65_536)),
    ] {
        let (mut writer, mut reader) = (writer(format), FeedbackReader::new());
        let mut seen = Vec::new();
        for n in 0..20 {
            // From a second before the wrap to a second after it.
            let arrival =
                ArrivalTime::ZERO + period - TimeDelta::from_secs(1) + TimeDelta::from_millis(100 * n);
            let records = [Record::new(n as u16, Some(arrival))];
            let mut out = [0; 100];
            let length = writer.write(&made_at(arrival, &records), &mut out).unwrap();
            seen.extend(read(&mut reader, SendTime::ZERO, &out[..length]).records[0].reception.time());
        }
        for pair in seen.windows(2) {
            let error = (pair[1] - pair[0]).nanos() - 100_000_000;
            assert!(error.abs() <= 976_563, "{format:?}: {error} ns");
        }
    }
}

#[test]
fn the_first_time_is_the_one_nearest_to_the_senders_clock() {
    for (format, unit) in [(PacketFormat::TransportWide, 250_000), (PacketFormat::Rfc8888, 1_000_000)] {
        // 100 days: both formats have wrapped by then.
        let now = SendTime::ZERO + TimeDelta::from_secs(100 * 86_400);
        let arrival = ArrivalTime::from_nanos(now.nanos() + 7_000_000_000);
        let records = [Record::new(0, Some(arrival))];
        let mut out = [0; 100];
        let length = writer(format).write(&made_at(arrival, &records), &mut out).unwrap();
        let read_back = read(&mut FeedbackReader::new(), now, &out[..length]);
        assert!((read_back.records[0].reception.time().unwrap() - arrival).nanos().abs() <= unit);
    }
}

#[test]
fn a_long_report_goes_on_in_further_packets_each_with_a_number_of_its_own() {
    let records: Vec<_> = (0..900_u16)
        .map(|n| record(n.wrapping_sub(100), (n % 7 != 6).then_some(i64::from(n) * 8000)))
        .collect();
    for (format, room) in [(PacketFormat::TransportWide, 600), (PacketFormat::Rfc8888, ROOM)] {
        let (mut writer, mut reader) = (writer(format), FeedbackReader::new());
        let bytes = packets(&mut writer, &records, 254, 7_200_000, room);
        assert!(bytes.len() > 1 && bytes.iter().all(|bytes| bytes.len() <= room.min(1200)));
        let read_back: Vec<_> = bytes.iter().map(|bytes| read(&mut reader, SendTime::ZERO, bytes)).collect();
        let seen = read_back
            .iter()
            .flat_map(|read_back| &read_back.records)
            .map(|r| (r.sequence, r.reception.is_arrival()));
        assert!(seen.eq(records.iter().map(|r| (r.sequence, r.reception.is_arrival()))));
        if format == PacketFormat::TransportWide {
            let numbers: Vec<_> = read_back.iter().map(|read_back| read_back.number).collect();
            assert_eq!(numbers, (0..bytes.len()).map(|n| 254_u8.wrapping_add(n as u8)).collect::<Vec<_>>());
            let next = packets(&mut writer, &[record(900, Some(1))], 255, 2, room);
            let next = read(&mut reader, SendTime::ZERO, &next[0]).number;
            assert_eq!(next, numbers[numbers.len() - 1].wrapping_add(1), "the next report goes on counting");
        }
    }
}

#[test]
fn times_too_far_apart_for_a_message_need_two() {
    let records = [record(0, Some(0)), record(1, None), record(2, Some(9_000_000))];
    let bytes = packets(&mut writer(PacketFormat::TransportWide), &records, 0, 9_000_000, ROOM);
    let mut reader = FeedbackReader::new();
    let read_back: Vec<_> =
        bytes.iter().flat_map(|bytes| read(&mut reader, SendTime::ZERO, bytes).records).collect();
    assert_eq!((bytes.len(), read_back.len()), (2, 3));
    let span = read_back[2].reception.time().unwrap() - read_back[0].reception.time().unwrap();
    assert_eq!(span, TimeDelta::from_secs(9));
}

#[test]
fn overlapping_reports_repeat_an_arrival_in_rfc_8888_alone() {
    let first = [record(1, Some(0)), record(2, None), record(3, Some(10_000))];
    let second = [record(2, Some(50_000)), record(3, Some(10_000)), record(4, Some(51_000))];
    for (format, again) in [(PacketFormat::TransportWide, false), (PacketFormat::Rfc8888, true)] {
        let (mut writer, mut reader) = (writer(format), FeedbackReader::new());
        packets(&mut writer, &first, 0, 20_000, ROOM);
        let bytes = packets(&mut writer, &second, 1, 60_000, ROOM);
        let read_back = read(&mut reader, SendTime::ZERO, &bytes[0]);
        let seen: Vec<_> = read_back.records.iter().map(|r| r.reception.is_arrival()).collect();
        assert_eq!(seen, [true, again, true]);
    }
}

#[test]
fn numbers_with_a_gap_are_reported_in_two_messages() {
    let records = [record(5, Some(0)), record(7, Some(1000))];
    for format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        let mut reader = FeedbackReader::new();
        let bytes = packets(&mut writer(format), &records, 0, 2000, ROOM);
        let read_back = bytes.iter().flat_map(|bytes| read(&mut reader, SendTime::ZERO, bytes).records);
        assert_eq!(read_back.map(|r| r.sequence).collect::<Vec<_>>(), [5, 7]);
    }
}

#[test]
fn no_report_and_no_room_are_no_packet() {
    for format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
        let (mut writer, one) = (writer(format), [record(0, Some(0))]);
        assert_eq!(writer.write(&Report::packets(&[], 0), &mut [0; 100]), None);
        assert_eq!(writer.write(&Report::packets(&one, 0), &mut [0; 23]), None);
        assert_eq!(writer.write(&Report::Ceiling(weir_units::DataRate::ZERO), &mut [0; 100]), None);
        assert_eq!(writer.write_rest(&mut [0; 100]), None);
        assert!(writer.write(&Report::packets(&one, 0), &mut [0; 24]).is_some());
        let records: Vec<_> = (0..300).map(|n| record(n, Some(i64::from(n)))).collect();
        assert!(writer.write(&Report::packets(&records, 0), &mut [0; 100]).is_some());
        assert_eq!(writer.write_rest(&mut [0; 20]), None);
        assert_eq!(writer.write_rest(&mut [0; 1000]), None, "what had no room is dropped");
    }
}

#[test]
fn rfc_8888_counts_reports_by_their_times() {
    let (mut writer, mut reader) = (writer(PacketFormat::Rfc8888), FeedbackReader::new());
    let mut number = |made| {
        let bytes = packets(&mut writer, &[record(0, Some(0))], 77, made, ROOM);
        read(&mut reader, SendTime::ZERO, &bytes[0]).number
    };
    let first = number(1000);
    assert_eq!([number(1000), number(2000), number(90_000)].map(|n| n.wrapping_sub(first)), [0, 1, 2]);
}

#[test]
fn an_arrival_without_a_time_is_read_with_its_mark() {
    let untimed = |ecn, offset| Some(MetricBlock { ecn, offset });
    let metrics = [
        untimed(3, MetricBlock::UNAVAILABLE),
        None,
        untimed(1, MetricBlock::OVER_RANGE),
        Some(MetricBlock::default()),
    ];
    let mut out = [0; 100];
    let length = Ccfb::write(2, 0, 1, 10, metrics.into_iter(), &mut out).unwrap();
    let read_back = read(&mut FeedbackReader::new(), SendTime::ZERO, &out[..length]);
    let records: Vec<_> = read_back.records.iter().map(|r| (r.sequence, r.reception, r.ecn)).collect();
    let expected = [
        (10, Reception::Untimed, Ecn::Ce),
        (11, Reception::Missing, Ecn::NotEct),
        (12, Reception::Untimed, Ecn::Ect1),
        (13, Reception::At(read_back.at.unwrap()), Ecn::NotEct),
    ];
    assert_eq!(records, expected);
    // In RFC 8888 form the report is written again as it was read; transport-wide feedback has only arrivals with
    // times.
    let report = Report::Packets { records: &read_back.records, number: 0, at: read_back.at };
    let length = writer(PacketFormat::Rfc8888).write(&report, &mut out).unwrap();
    let again = read(&mut FeedbackReader::new(), SendTime::ZERO, &out[..length]);
    assert!(again.records.iter().map(|r| (r.sequence, r.reception, r.ecn)).eq(expected));
    let length = writer(PacketFormat::TransportWide).write(&report, &mut out).unwrap();
    let again = read(&mut FeedbackReader::new(), SendTime::ZERO, &out[..length]);
    let arrived: Vec<_> = again.records.iter().map(|r| r.reception.is_arrival()).collect();
    assert_eq!(arrived, [false, false, false, true]);
}

#[test]
fn transport_wide_feedback_without_times_reports_arrivals() {
    // Symbols of two bits from number 7 on: not received, received without a delta, received after 1 ms; no fourth.
    let bytes = [0x8F, 205, 0, 5, 0, 0, 0, 2, 0, 0, 0, 1, 0, 7, 0, 3, 0, 0, 1, 0, 0b1100_1101, 0, 4, 0];
    let read_back = read(&mut FeedbackReader::new(), SendTime::ZERO, &bytes);
    let records: Vec<_> = read_back
        .records
        .iter()
        .map(|r| (r.sequence, r.reception.is_arrival(), r.reception.time().is_some()))
        .collect();
    assert_eq!(records, [(7, false, false), (8, true, false), (9, true, true)]);
}

#[test]
fn numbers_that_begin_anew_are_reported_again() {
    let mut read_back = super::writer::ReportedArrivals::default();
    let remember = |read_back: &mut super::writer::ReportedArrivals, sequence| {
        let known = read_back.contains(sequence);
        read_back.insert(sequence);
        known
    };
    assert!(!remember(&mut read_back, 65_000) && remember(&mut read_back, 65_000));
    // 1023 further on the number is still remembered; 1024 further on not any more.
    assert!(!remember(&mut read_back, 487) && read_back.contains(65_000));
    assert!(!remember(&mut read_back, 488) && !read_back.contains(65_000));
    assert!(!remember(&mut read_back, 30_000) && !read_back.contains(488));
    assert!(!remember(&mut read_back, 488) && !read_back.contains(30_000));
}

proptest::proptest! {
    #[test]
    fn bytes_that_were_changed_on_the_way_make_no_panic_and_cut_ones_an_error(
        changes in proptest::collection::vec((0_usize..256, 0_u8..), 0..8),
        cut in 1_usize..8,
        hours in 0_i64..2000,
    ) {
        let records: Vec<_> =
            (0..60_u16).map(|n| record(n.wrapping_sub(9), (n % 3 != 0).then_some(i64::from(n) * 7000))).collect();
        for format in [PacketFormat::TransportWide, PacketFormat::Rfc8888] {
            let mut bytes = packets(&mut writer(format), &records, 9, 500_000, ROOM).remove(0);
            let cut = &bytes[..bytes.len() - cut];
            proptest::prop_assert!(rtcp::messages(cut).any(|message| message.is_err()));
            for &(place, value) in &changes {
                let length = bytes.len();
                bytes[place % length] = value;
            }
            let (mut reader, mut numbers) = (FeedbackReader::new(), StreamNumbers::new());
            let mut history = SendHistory::new(TimeDelta::from_secs(5));
            let now = SendTime::ZERO + TimeDelta::from_secs(hours * 3600);
            for n in 0..100 {
                let size = DataSize::from_bytes(1200);
                numbers.on_sent(1, 65_500_u16.wrapping_add(n), history.on_media_sent(now, size, size).id);
            }
            for message in rtcp::messages(&bytes).flatten() {
                if let Some(report) = reader.read(now, &message, &numbers, &history) {
                    history.join(now, &report);
                }
            }
        }
    }
}

#[test]
fn a_report_that_says_not_when_it_was_made_was_made_with_its_newest_arrival() {
    let records =
        [record(0, Some(100_000)), record(1, Some(130_000)), record(2, None), record(3, Some(120_000))];
    let mut out = [0; ROOM];
    let report = Report::Packets { records: &records, number: 0, at: None };
    let length = writer(PacketFormat::Rfc8888).write(&report, &mut out).unwrap();
    let read_back = read(&mut FeedbackReader::new(), SendTime::ZERO + HOURS, &out[..length]);
    // Exact to 1/65536 s, rounded down.
    assert!((0..15_260).contains(&(at(130_000) - read_back.at.unwrap()).nanos()));
    assert!(error(&read_back, 1, 30_000).abs() <= 976_563 && error(&read_back, 3, 20_000).abs() <= 976_563);
}

#[test]
fn codepoints_of_ecn_go_through_a_report_of_rfc_8888() {
    for ecn in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
        let records = [Record { ecn, ..record(0, Some(0)) }];
        let bytes = packets(&mut writer(PacketFormat::Rfc8888), &records, 0, 0, ROOM);
        assert_eq!(read(&mut FeedbackReader::new(), SendTime::ZERO + HOURS, &bytes[0]).records[0].ecn, ecn);
    }
}
