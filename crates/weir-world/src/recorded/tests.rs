//! A recorded call (`recorded`): columns of packets, feedback and round trips.

use weir_wire::NtpTime;
use weir_wire::rtcp::{CcfbWriter, ReceiverReport, ReportBlock, SenderInfo, SenderReport};

use super::*;

fn packet(sequence: u16, transport_number: u16) -> RtpDeparture {
    RtpDeparture {
        ssrc: 77,
        sequence,
        transport_number: Some(transport_number),
        header_bytes: 24,
        payload_bytes: 1000,
        ..RtpDeparture::default()
    }
}

/// A transport-wide feedback message about packets 10, 11 and 12 with number `number`: received 1 ms after the reference time
/// of 64 ms, lost, received 2.5 ms after that.
fn feedback(number: u8) -> Vec<u8> {
    let mut bytes = vec![0x8F, 205, 0, 5];
    bytes.extend(1_u32.to_be_bytes());
    bytes.extend(77_u32.to_be_bytes());
    bytes.extend([0, 10, 0, 3, 0, 0, 1, number]);
    // Symbols of two bits: 01, 00, 01; then the deltas 4 and 10 in units of 250 µs.
    bytes.extend([0b1101_0001, 0, 4, 10]);
    bytes
}

#[test]
fn reports_are_joined_with_the_packets_they_cover() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    builder.set_arrival_clock(ArrivalClock::Receiver);
    builder.declare_stream(77, StreamKind::Video, 90_000);
    for number in 0..3 {
        builder.on_sent(5_000_000 + 1000 * i64::from(number), &packet(100 + number, 10 + number));
    }
    builder.on_rtcp(5_050_000, &feedback(3));
    builder.on_rtcp(5_100_000, &feedback(6));
    let call = builder.finish();
    call.check().unwrap();
    let rows: Vec<PacketRow> = call.packets.rows().collect();
    assert_eq!([rows[0].sent_us.get(), rows[2].sent_us.get()], [Some(0), Some(2000)]);
    let fates: Vec<_> =
        rows.iter().map(|row| (row.arrived_us.get(), row.reported_us.get(), row.is_lost())).collect();
    // The second message says the same and changes nothing.
    assert_eq!(
        fates,
        [
            (Some(65_000), Some(50_000), false),
            (None, Some(50_000), true),
            (Some(67_500), Some(50_000), false)
        ]
    );
    let reports: Vec<_> =
        call.feedback.rows().map(|report| (report.packets, report.lost, report.missed)).collect();
    assert_eq!(reports, [(3, 1, 0), (3, 1, 2)]);
    assert_eq!(call.duration_us, 100_000);
}

#[test]
fn packets_of_one_millisecond_leave_in_the_order_of_their_numbers() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    for number in [65_535, 1, 0] {
        builder.on_sent(7000, &packet(number, number));
    }
    let call = builder.finish();
    let numbers: Vec<_> = call.packets.rows().map(|row| row.number.get().unwrap() & 0xFFFF).collect();
    assert_eq!(numbers, [65_535, 0, 1]);
}

#[test]
fn round_trips_need_the_sender_report_that_they_echo() {
    let mut builder = CallBuilder::new(RecordingSource::ReadableRtp);
    builder.declare_stream(77, StreamKind::Video, 90_000);
    let mut buffer = [0; 128];
    let ntp = NtpTime(0x0123_4567_89AB_CDEF);
    let length =
        SenderReport::write(77, &SenderInfo { ntp, ..SenderInfo::default() }, &[], &mut buffer).unwrap();
    builder.on_rtcp_sent(1_000_000, &buffer[..length]);
    let block = ReportBlock {
        ssrc: 77,
        fraction_lost: 12,
        last_sender_report: ntp.middle(),
        // 62.5 ms.
        delay_since_last_sender_report: 0x1000,
        ..ReportBlock::default()
    };
    let unknown = ReportBlock { last_sender_report: 5, ..block };
    for block in [block, unknown, ReportBlock { ssrc: 78, ..block }] {
        let length = ReceiverReport::write(9, &[block], &mut buffer).unwrap();
        builder.on_rtcp(1_100_000, &buffer[..length]);
    }
    let call = builder.finish();
    assert_eq!(call.round_trips.rows().collect::<Vec<_>>(), [RoundTrip { time_us: 100_000, rtt_us: 37_500 }]);
    let losses: Vec<_> =
        call.receiver_reports.rows().map(|report| (report.stream, report.fraction_lost)).collect();
    assert_eq!(losses, [(0, 12), (0, 12)]);
}

#[test]
fn rfc_8888_reports_carry_marks() {
    let mut builder = CallBuilder::new(RecordingSource::ReadableRtp);
    builder.set_arrival_clock(ArrivalClock::Receiver);
    builder.on_sent(0, &packet(500, 0));
    let mut buffer = [0; 64];
    let metric = weir_wire::rtcp::MetricBlock { ecn: 3, offset: 512 };
    let mut writer = CcfbWriter::new(&mut buffer);
    writer.stream(77, 500, [Some(metric)].into_iter()).unwrap();
    // Two seconds, in 1/65536 s.
    let length = writer.finish(9, 2 << 16).unwrap();
    builder.on_rtcp(60_000, &buffer[..length]);
    let row = builder.finish().packets.row(0);
    assert_eq!((row.ecn, row.arrived_us.get(), row.reported_us.get()), (3, Some(1_500_000), Some(60_000)));
}

#[test]
fn requests_of_the_receiver_are_kept() {
    let mut builder = CallBuilder::new(RecordingSource::ReadableRtp);
    builder.declare_stream(77, StreamKind::Video, 90_000);
    let source = 77_u32.to_be_bytes();
    // A generic NACK of a packet and the two after it, and a full intra request.
    let nack = [&[0x81, 205, 0, 3, 0, 0, 0, 9], &source[..], &[0, 5, 0, 3]].concat();
    let intra = [&[0x84, 206, 0, 4, 0, 0, 0, 9, 0, 0, 0, 0], &source[..], &[1, 0, 0, 0]].concat();
    builder.on_rtcp(10, &nack);
    builder.on_rtcp(20, &intra);
    let call = builder.finish();
    assert_eq!(call.nacks.rows().collect::<Vec<_>>(), [Nack { time_us: 10, stream: 0, packets: 3 }]);
    assert_eq!(
        call.key_frame_requests.rows().collect::<Vec<_>>(),
        [KeyFrameRequest { time_us: 20, stream: 0 }]
    );
}

#[test]
fn a_call_survives_its_file_and_faults_are_named() {
    let mut builder = CallBuilder::new(RecordingSource::Weir);
    builder.on_sent(0, &packet(1, 1));
    builder.on_sent(5, &packet(2, 2));
    let call = builder.finish();
    let text = serde_json::to_string(&call).unwrap();
    assert!(text.contains(r#""arrived_us":[null,null]"#), "{text}");
    let read: RecordedCall = serde_json::from_str(&text).unwrap();
    assert_eq!(read, call);

    let fault = |change: fn(&mut RecordedCall)| {
        let mut call = call.clone();
        change(&mut call);
        call.check().unwrap_err().to_string()
    };
    assert_eq!(fault(|call| call.version = 2), "version is 2; this build reads version 1");
    assert_eq!(
        fault(|call| call.packets.ecn.truncate(1)),
        "packets.number has 2 rows and packets.ecn has 1; all columns of a table have as many"
    );
    assert_eq!(
        fault(|call| call.packets.stream[1] = 4),
        "packets.stream[1] is 4; there are 1 streams, from 0"
    );
    assert_eq!(
        fault(|call| call.packets.payload_bytes[1] = 70_000),
        "packets.payload_bytes[1] is 70000; a packet has 65535 at most"
    );
    let number = "packets.sequence[1] is -140737488355329; it is 140737488355328 at most";
    assert_eq!(fault(|call| call.packets.sequence[1] = -(1 << 47) - 1), number);
    assert!(
        fault(|call| call.packets.number[1] = OptionalInteger::new(i64::MAX))
            .starts_with("packets.number[1] is ")
    );
    assert_eq!(
        fault(|call| call.packets.sent_us[0] = OptionalInteger::new(9)),
        "packets row 1 is earlier than the row before it"
    );
}

#[test]
fn times_far_from_the_call_and_impossible_numbers_are_refused() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    builder.set_arrival_clock(ArrivalClock::Receiver);
    builder.on_sent(0, &packet(1, 1));
    builder.on_sent(7000, &packet(2, 2));
    let call = builder.finish();
    let change = |change: fn(&mut RecordedCall)| {
        let mut call = call.clone();
        change(&mut call);
        call.check().map_err(|fault| fault.to_string())
    };
    let hour = 3_600_000_000_i64;
    let far = |column: &str, time: i64| {
        Err(format!("{column} is {time}; the call lasts 7000 µs, and its times are within an hour of it"))
    };
    let report = |time_us| ReceiverReportRow { time_us, ..ReceiverReportRow::default() };
    let mut wild = call.clone();
    wild.receiver_reports.push(report(hour + 7000));
    assert_eq!(wild.check(), Ok(()));
    wild.receiver_reports.time_us[0] += 1;
    let fault = wild.check().map_err(|fault| fault.to_string());
    assert_eq!(fault, far("receiver_reports.time_us[0]", hour + 7001));
    assert_eq!(
        change(|call| call.targets.push(RateRow { time_us: i64::MIN, bps: 1 })),
        far("targets.time_us[0]", i64::MIN)
    );
    assert!(change(|call| call.packets.reported_us[1] = OptionalInteger::new(1 << 50)).is_err());
    let series = CounterSeries { time_us: vec![1 << 50], values: vec![None], ..CounterSeries::default() };
    wild = RecordedCall { counters: vec![series], ..call.clone() };
    assert!(wild.check().unwrap_err().to_string().starts_with("time_us of statistics[0] is "));
    // Arrivals of another clock have any offset; their span is bounded.
    let arrivals = |call: &mut RecordedCall, times: [i64; 2]| {
        call.packets.arrived_us = times.into_iter().map(OptionalInteger::new).collect();
    };
    wild = call.clone();
    arrivals(&mut wild, [1 << 55, (1 << 55) + hour]);
    assert_eq!(wild.check(), Ok(()));
    arrivals(&mut wild, [1 << 55, 0]);
    assert!(wild.check().unwrap_err().to_string().starts_with("packets.arrived_us span "));
    wild.arrival_clock = ArrivalClock::Common;
    assert!(wild.check().unwrap_err().to_string().starts_with("packets.arrived_us[0] is "));
    assert_eq!(
        change(|call| call.round_trips.push(RoundTrip { time_us: 0, rtt_us: -1 })),
        Err("round_trips.rtt_us[0] is -1; a round trip takes 0 to 3600000000 µs".to_owned())
    );
    assert_eq!(
        change(|call| call
            .receiver_reports
            .push(ReceiverReportRow { cumulative_lost: 1 << 23, ..ReceiverReportRow::default() })),
        Err("receiver_reports.cumulative_lost[0] is 8388608; it is from -8388608 to 8388607".to_owned())
    );
    assert!(
        change(|call| call.feedback.push(FeedbackReport { missed: 256, ..FeedbackReport::default() }))
            .is_err()
    );
}

#[test]
fn a_report_that_comes_late_is_not_missed() {
    let missed = |numbers: &[u8]| {
        let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
        for &number in numbers {
            builder.on_rtcp(0, &feedback(number));
        }
        builder.finish().feedback.missed
    };
    assert_eq!(missed(&[5, 7, 6, 8]), [0, 0, 0, 0]);
    // 255 comes late, 1 never, and 0 twice.
    assert_eq!(missed(&[254, 0, 255, 0, 2]), [0, 0, 0, 0, 1]);
    // Seven seconds without reports, of which none comes late.
    assert_eq!(missed(&[10, 160, 161]), [0, 149, 0]);
}

#[test]
fn packets_of_too_many_streams_are_left_out_and_a_remark_says_so() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    for ssrc in 0..300 {
        let declared = builder.declare_stream(ssrc, StreamKind::Video, ssrc);
        assert_eq!(declared, ssrc < 256);
        builder.on_sent(i64::from(ssrc), &RtpDeparture { ssrc, ..packet(1, ssrc as u16) });
    }
    let call = builder.finish();
    assert_eq!((call.packets.len(), call.streams.len(), call.streams[255].clock_hz), (256, 256, 255));
    let remark =
        "The call has more RTP streams than the 256 that are kept; 44 packets of the others are left out.";
    assert_eq!(call.remarks, [remark]);
}

#[test]
fn arrivals_go_on_where_another_receiver_with_another_clock_takes_over() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    builder.set_arrival_clock(ArrivalClock::Receiver);
    let at = |number: u16| 1_000_000 * i64::from(number);
    for number in 0..3 {
        builder.on_sent(at(number), &packet(number, 10 + number));
    }
    builder.on_rtcp(at(3), &feedback(3));
    // Reference times of two days later, and of 64 ms after that.
    for (number, ticks) in [(4, 2_700_001_u32), (5, 2_700_002)] {
        let first = u16::from(number) * 3 - 2;
        for number in first..first + 3 {
            builder.on_sent(at(number), &packet(number, number));
        }
        let mut message = feedback(number);
        message[12..14].copy_from_slice(&first.to_be_bytes());
        message[16..19].copy_from_slice(&ticks.to_be_bytes()[1..]);
        builder.on_rtcp(at(u16::from(number)), &message);
    }
    let call = builder.finish();
    let arrivals: Vec<i64> = call.packets.arrived_us.iter().filter_map(|time| time.get()).collect();
    // The first report of the other receiver is a second after the one before it, as it came.
    assert_eq!(arrivals[2..4], [1_065_000, 1_067_500]);
    assert_eq!(arrivals[4..], [1_129_000, 1_131_500]);
}

#[test]
fn send_times_give_departures_on_the_clock_of_the_arrivals() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfReceiver);
    // Stamps of 2⁻¹⁸ s: 63.5 s, then 0.5 s after the wrap at 64 s, then 100 s later.
    let stamp = |quarters: u32| quarters << 16;
    builder.on_received_stamped(1_000_000, &packet(1, 1), stamp(254));
    builder.on_received_stamped(2_030_000, &packet(2, 2), stamp(2));
    builder.on_received_stamped(102_020_000, &packet(3, 3), stamp(146));
    let call = builder.finish();
    call.check().unwrap();
    let times: Vec<_> =
        call.packets.rows().map(|row| (row.sent_us.get().unwrap(), row.arrived_us.get().unwrap())).collect();
    assert_eq!(times, [(0, 0), (1_000_000, 1_030_000), (101_000_000, 101_020_000)]);
}

#[test]
fn a_recording_of_the_receiver_has_its_reports_and_no_fates() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfReceiver);
    builder.on_received(0, &packet(100, 10));
    builder.on_rtcp_of_receiver(10_000, &feedback(3));
    let nack = [&[0x81, 205, 0, 3, 0, 0, 0, 9], &77_u32.to_be_bytes()[..], &[0, 5, 0, 0]].concat();
    builder.on_rtcp_of_receiver(20_000, &nack);
    let call = builder.finish();
    assert!(!call.has_feedback() && call.feedback.is_empty());
    assert_eq!(call.nacks.rows().collect::<Vec<_>>(), [Nack { time_us: 20_000, stream: 0, packets: 1 }]);
}

#[test]
fn numbers_that_are_missing_are_counted_in_each_stream() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfReceiver);
    // 65535 and 1 are missing of the first stream, 8 and 9 of the second; one packet comes twice, one late.
    for (time, ssrc, sequence) in [(0, 1, 65_534), (1, 2, 7), (2, 1, 2), (3, 1, 0), (4, 2, 10), (5, 2, 10)] {
        builder.on_received(time, &RtpDeparture { ssrc, ..packet(sequence, 0) });
    }
    assert_eq!(builder.finish().missing_numbers(), 4);
    let mut far = RecordedCall { streams: vec![RecordedStream::default()], ..RecordedCall::default() };
    assert_eq!(far.missing_numbers(), 0);
    for sequence in [i64::MIN, i64::MAX] {
        far.packets.push(PacketRow { sequence, ..PacketRow::default() });
    }
    assert_eq!(far.missing_numbers(), usize::MAX - 1);
}

#[test]
fn rows_beyond_the_most_are_left_out_and_a_remark_says_so() {
    let mut builder = CallBuilder::new(RecordingSource::EventLogOfSender);
    builder.on_sent(0, &packet(100, 10));
    while builder.has_room() {
        builder.call_mut().targets.push(RateRow { time_us: 0, bps: 1 });
    }
    builder.on_rtcp(10_000, &feedback(3));
    let call = builder.finish();
    assert_eq!((call.targets.len(), call.feedback.len()), (MOST_EVENTS, 0));
    assert_eq!(
        call.remarks,
        [
            "The call has more reports, estimates and frames than the 750000 that are kept; later ones are left out."
        ]
    );
}
