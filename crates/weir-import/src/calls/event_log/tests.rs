//! Import of RTC event logs (`calls::event_log`), by logs of Chromium.

use weir_wire::NtpTime;
use weir_wire::rtcp::{SenderInfo, SenderReport};
use weir_world::recorded::{
    ArrivalClock, DecodedFrame, OptionalInteger, PacketRow, ProbeOutcome, RateRow, RecordingSource,
    RouteChange, StreamKind,
};

use super::wire::{FieldValue, MessageFields};
use super::*;
use crate::calls::EndSelection;

/// The event log `name` of `data/calls`.
fn log(name: &str) -> Vec<u8> {
    let path = format!("{}/../../data/calls/{name}.rtclog", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn call(log: &[u8], options: &CallOptions) -> RecordedCall {
    let call = read(log, options).unwrap();
    call.check().unwrap();
    call
}

fn usual(log: &[u8]) -> RecordedCall {
    call(log, &CallOptions::default())
}

fn refusal(log: &[u8], options: &CallOptions) -> String {
    read(log, options).unwrap_err().to_string()
}

fn integer(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The field `number` with an integer.
fn with_integer(number: u64, value: u64) -> Vec<u8> {
    [integer(number << 3), integer(value)].concat()
}

/// The field `number` with bytes.
fn with_bytes(number: u64, bytes: &[u8]) -> Vec<u8> {
    [&integer(number << 3 | 2), &integer(bytes.len() as u64), bytes].concat()
}

/// The field `number` with four bytes.
fn with_four_bytes(number: u64, value: u32) -> Vec<u8> {
    [&integer(number << 3 | 5)[..], &value.to_le_bytes()].concat()
}

/// A message of the field `number` with these integers.
fn message(number: u64, fields: &[(u64, u64)]) -> Vec<u8> {
    let fields: Vec<u8> = fields.iter().flat_map(|&(number, value)| with_integer(number, value)).collect();
    with_bytes(number, &fields)
}

/// A packet of 1000 bytes of media of the stream 7, that went at `ms`: in `way` 3 it was sent, in 2 received.
fn packet(way: u64, ms: u64, number: u64) -> Vec<u8> {
    let integers = [(1, ms), (4, number), (8, 1000), (9, 24), (10, 0), (15, number)];
    let mut fields: Vec<u8> =
        integers.iter().flat_map(|&(field, value)| with_integer(field, value)).collect();
    fields.extend([with_four_bytes(5, 90 * ms as u32), with_four_bytes(6, 7)].concat());
    with_bytes(way, &fields)
}

/// The messages of a log: number of the field, and content.
fn messages(log: &[u8]) -> Vec<(u32, &[u8])> {
    let fields = MessageFields(log).map(Result::unwrap);
    fields
        .map(|(number, value)| match value {
            FieldValue::Bytes(bytes) => (number, bytes),
            FieldValue::Integer(_) => panic!("a log has messages only"),
        })
        .collect()
}

/// The log that the other end of the path would have written if packets arrived as they left.
fn mirrored(log: &[u8]) -> Vec<u8> {
    let mirror = |(number, content): (u32, &[u8])| {
        let number = match number {
            2 | 4 => number + 1,
            3 | 5 => number - 1,
            other => other,
        };
        with_bytes(number.into(), content)
    };
    messages(log).into_iter().flat_map(mirror).collect()
}

/// The sum of a column.
fn sum<T: Copy + Into<i64>>(column: &[T]) -> i64 {
    column.iter().map(|&value| value.into()).sum()
}

/// Sum of the known differences of two columns, and their number.
fn differences(from: &[OptionalInteger], to: &[OptionalInteger]) -> (i64, usize) {
    let known = from.iter().zip(to).filter_map(|(from, to)| Some(to.get()? - from.get()?));
    known.fold((0, 0), |(sum, count), difference| (sum + difference, count + 1))
}

/// Facts about a log, which another reader of it found.
struct LogFacts {
    name: &'static str,
    packets: usize,
    retransmissions: usize,
    lost: usize,
    unreported: usize,
    /// Bytes of payload, headers and padding.
    bytes: [i64; 3],
    /// Sum over all reported packets of report minus departure.
    report_delays_us: i64,
    /// Sum over all arrived packets of arrival minus first arrival.
    arrivals_us: i64,
    /// Number of delay-based estimates, their sum in bit/s, and those in underuse and overuse.
    delay_based: (usize, i64, [usize; 2]),
    /// Number of loss-based estimates, and their sum in bit/s.
    loss_based: (usize, i64),
    feedback: usize,
    receiver_reports: usize,
    probes: &'static [(u32, usize)],
    probe_outcomes: usize,
    application_limits: [i64; 2],
}

const LOGS: [LogFacts; 2] = [
    LogFacts {
        name: "c1-steps",
        packets: 7347,
        retransmissions: 182,
        lost: 121,
        unreported: 7,
        bytes: [7_502_192, 181_720, 3060],
        report_delays_us: 976_352_000,
        arrivals_us: 233_759_530_000,
        delay_based: (1010, 1_031_607_656, [7, 24]),
        loss_based: (323, 294_880_491),
        feedback: 1096,
        receiver_reports: 87,
        probes: &[(1, 5), (2, 5)],
        probe_outcomes: 5,
        application_limits: [50_901_000, 54_768_000],
    },
    LogFacts {
        name: "c2-beside-cubic",
        packets: 6154,
        retransmissions: 39,
        lost: 11,
        unreported: 4,
        bytes: [6_198_560, 152_340, 1530],
        report_delays_us: 1_110_289_000,
        arrivals_us: 113_453_450_000,
        delay_based: (831, 849_853_871, [9, 22]),
        loss_based: (339, 292_595_852),
        feedback: 958,
        receiver_reports: 98,
        probes: &[(1, 5), (2, 6), (3, 6), (4, 10)],
        probe_outcomes: 11,
        application_limits: [1_081_000, 12_041_000],
    },
];

#[test]
fn logs_of_chromium_are_read_as_another_reader_reads_them() {
    for facts in LOGS {
        let call = usual(&log(facts.name));
        let name = facts.name;
        assert_eq!(
            (call.source, call.arrival_clock),
            (RecordingSource::EventLogOfSender, ArrivalClock::Receiver)
        );
        assert_eq!(call.packet_overhead_bytes, 28, "{name}");
        let kinds: Vec<StreamKind> = call.streams.iter().map(|stream| stream.kind).collect();
        assert_eq!(kinds, [StreamKind::Retransmission, StreamKind::Video], "{name}");
        let packets = &call.packets;
        assert_eq!(packets.len(), facts.packets, "{name}");
        assert_eq!(
            packets.stream.iter().filter(|&&stream| stream == 0).count(),
            facts.retransmissions,
            "{name}"
        );
        assert_eq!(packets.rows().filter(PacketRow::is_lost).count(), facts.lost, "{name}");
        let unreported = packets.reported_us.iter().filter(|reported| !reported.is_known()).count();
        assert_eq!(unreported, facts.unreported, "{name}");
        let bytes = [sum(&packets.payload_bytes), sum(&packets.header_bytes), sum(&packets.padding_bytes)];
        assert_eq!(bytes, facts.bytes, "{name}");
        let delays = differences(&packets.sent_us, &packets.reported_us);
        assert_eq!(delays, (facts.report_delays_us, facts.packets - facts.unreported), "{name}");
        let first = vec![packets.arrived_us[0]; packets.len()];
        let arrivals = differences(&first, &packets.arrived_us);
        assert_eq!(arrivals, (facts.arrivals_us, facts.packets - facts.unreported - facts.lost), "{name}");
        let numbers: Vec<i64> = packets.number.iter().filter_map(|number| number.get()).collect();
        assert!(numbers.windows(2).all(|pair| pair[1] == pair[0] + 1), "{name}: numbers have gaps");

        let delay_based = &call.delay_estimates;
        let states = [1, 2].map(|state| delay_based.rows().filter(|row| row.state == state).count());
        let rates = |rates: &[u64]| rates.iter().sum::<u64>() as i64;
        assert_eq!((delay_based.len(), rates(&delay_based.bps), states), facts.delay_based, "{name}");
        assert_eq!((call.loss_estimates.len(), rates(&call.loss_estimates.bps)), facts.loss_based, "{name}");
        assert_eq!(call.feedback.len(), facts.feedback, "{name}");
        assert_eq!(call.receiver_reports.len(), facts.receiver_reports, "{name}");
        let of_probe = |&(id, _): &(u32, usize)| {
            let is_its = |probe: &&OptionalInteger| probe.get() == Some(id.into());
            (id, packets.probe.iter().filter(is_its).count())
        };
        assert_eq!(facts.probes.iter().map(of_probe).collect::<Vec<_>>(), facts.probes, "{name}");
        assert_eq!(call.probe_outcomes.len(), facts.probe_outcomes, "{name}");
        assert_eq!(call.application_limits.time_us, facts.application_limits, "{name}");
        assert_eq!(call.application_limits.limited, [1, 0], "{name}");
        let text = serde_json::to_string(&call).unwrap();
        for source in ["3989384239", "4173808668", "751257644", "1767150397", "1795655"] {
            assert!(!text.contains(source), "{name}: {source} is of the log");
        }
    }
}

#[test]
fn round_trips_of_a_log_are_those_of_its_link() {
    // 25 ms each way in whole milliseconds of two clocks, at most 600 ms of queue, and delays of the browsers.
    for name in ["c1-steps", "c2-beside-cubic"] {
        let call = usual(&log(name));
        let mut trips = call.round_trips.rtt_us.clone();
        trips.sort_unstable();
        assert!(
            trips.len() > 80 && trips[0] >= 44_000 && trips[trips.len() - 1] < 800_000,
            "{name}: {trips:?}"
        );
        assert!(trips[trips.len() / 2] < 350_000, "{name}: {trips:?}");
    }
}

#[test]
fn a_cut_log_gives_the_call_before_the_cut() {
    let log = log("c1-steps");
    let whole = usual(&log);
    for end in [log.len() / 2, log.len() - 1] {
        let cut = usual(&log[..end]);
        assert!(
            cut.remarks.iter().any(|remark| remark.contains("cut off within a message")),
            "{:?}",
            cut.remarks
        );
        let packets = cut.packets.len();
        assert!(packets > 2000 && packets <= whole.packets.len(), "{packets}");
        assert_eq!(cut.packets.sent_us[..2000], whole.packets.sent_us[..2000]);
    }
    let without_packets = refusal(&log[..100], &CallOptions::default());
    assert_eq!(without_packets, "the log has no RTP packet");
}

#[test]
fn every_cut_of_a_log_has_an_answer() {
    let log = log("c1-steps");
    for end in (0..6000).step_by(37) {
        let _: Result<RecordedCall, CallImportError> = read(&log[..end], &CallOptions::default());
    }
    // Spoilt bytes, too.
    for at in (0..log.len()).step_by(2999) {
        let mut spoilt = log.clone();
        spoilt[at] ^= 0x55;
        if let Ok(call) = read(&spoilt[..], &CallOptions::default()) {
            call.check().unwrap();
        }
    }
}

#[test]
fn a_log_of_the_receiver_has_arrivals_and_departures_by_send_time() {
    let log = log("c1-steps");
    let (sent, received) = (usual(&log), usual(&mirrored(&log)));
    assert_eq!(
        (received.source, received.arrival_clock),
        (RecordingSource::EventLogOfReceiver, ArrivalClock::Common)
    );
    assert_eq!(received.packets.len(), sent.packets.len());
    assert!(!received.has_feedback() && received.delay_estimates.is_empty() && received.feedback.is_empty());
    // Reports of the receiver are known where it sent them.
    assert_eq!(received.nacks.packets, sent.nacks.packets);
    let delays: Vec<i64> = received
        .packets
        .rows()
        .map(|row| row.arrived_us.get().unwrap() - row.sent_us.get().unwrap())
        .collect();
    // The browser stamps a packet within a few milliseconds of its departure, and send time begins anew after 64 s.
    assert!(delays.iter().all(|delay| (0..=10_000).contains(delay)), "{:?}", delays.iter().max());
    assert!(delays.contains(&0));
}

#[test]
fn of_a_log_with_both_directions_one_is_chosen() {
    let small = [packet(2, 2_700_000, 5), packet(2, 2_700_010, 6)].concat();
    let both = [log("c1-steps"), small].concat();
    let chosen = |direction, ssrc| {
        let call = call(&both, &CallOptions { direction, ssrc, ..CallOptions::default() });
        (call.source, call.packets.len())
    };
    let (sender, receiver) = (RecordingSource::EventLogOfSender, RecordingSource::EventLogOfReceiver);
    assert_eq!(chosen(EndSelection::Larger, None), (sender, 7347));
    assert_eq!(chosen(EndSelection::Sent, None), (sender, 7347));
    assert_eq!(chosen(EndSelection::Received, None), (receiver, 2));
    assert_eq!(chosen(EndSelection::Larger, Some(7)), (receiver, 2));
    let refused =
        |direction, ssrc| refusal(&both, &CallOptions { direction, ssrc, ..CallOptions::default() });
    assert_eq!(
        refused(EndSelection::Larger, Some(8)),
        "the log has no packet of the stream 8; streams sent: 3989384239 (182 packets), 4173808668 (7165 packets); \
         received: 7 (2 packets)"
    );
    let one_way = log("c1-steps");
    let received = CallOptions { direction: EndSelection::Received, ..CallOptions::default() };
    assert_eq!(refusal(&one_way, &received), "the log has no RTP packet that this end received");
}

#[test]
fn events_of_each_kind_are_read() {
    let log = [
        message(16, &[(1, 1000), (2, 2)]),
        message(103, &[(1, 1000), (2, 7), (3, 9), (4, 8)]),
        packet(2, 1100, 40),
        message(7, &[(1, 1150), (3, 1160), (4, 640), (5, 360), (7, 30)]),
        message(32, &[(1, 1090), (2, 1), (3, 58)]),
        message(17, &[(1, 1200)]),
    ];
    let received = usual(&log.concat());
    assert_eq!(received.streams[0].kind, StreamKind::Video);
    let frame =
        DecodedFrame { time_us: 70_000, width: 640, height: 360, quantiser: OptionalInteger::new(30) };
    assert_eq!(received.decoded_frames.rows().collect::<Vec<_>>(), [frame]);
    let route = RouteChange { time_us: 0, connected: 1, overhead_bytes: 58 };
    assert_eq!(received.route_changes.rows().collect::<Vec<_>>(), [route]);
    assert_eq!((received.packet_overhead_bytes, received.duration_us), (48, 60_000));
    assert!(received.remarks.is_empty(), "{:?}", received.remarks);

    let log = [
        packet(3, 1100, 40),
        message(23, &[(1, 1300), (2, 5), (3, 3)]),
        message(33, &[(1, 1400), (2, 200), (3, 900)]),
    ];
    let sent = usual(&log.concat());
    let outcome = ProbeOutcome { time_us: 200_000, id: 5, bps: OptionalInteger::UNKNOWN, failure: 3 };
    assert_eq!(sent.probe_outcomes.rows().collect::<Vec<_>>(), [outcome]);
    assert_eq!(sent.ceilings.rows().collect::<Vec<_>>(), [RateRow { time_us: 300_000, bps: 900_000 }]);
    assert_eq!(sent.streams[0].kind, StreamKind::Unknown);
}

#[test]
fn logs_that_cannot_be_read_are_refused_with_the_place() {
    let refused = |log: &[u8]| refusal(log, &CallOptions::default());
    let begin = message(16, &[(1, 1000)]);
    let length = begin.len();
    let old = with_bytes(1, &[8, 1]);
    assert_eq!(
        refused(&old),
        "byte 0: this event log is of the form that browsers wrote before 2019; record the call with a later one"
    );
    let huge = [&begin[..], &integer(3 << 3 | 2), &integer(1 << 60)].concat();
    assert_eq!(
        refused(&huge),
        format!("byte {length}: a message has more than 16 MiB, the most that is read")
    );
    let many = [begin.clone(), message(3, &[(1, 5), (11, 1 << 40)])].concat();
    let expected = "a message of 9 bytes claims 1099511627776 events; so many do not fit";
    assert_eq!(refused(&many), format!("byte {length}: {expected}"));
    let large = [begin, message(3, &[(1, 5), (4, 70_000)])].concat();
    assert!(refused(&large).starts_with(&format!("byte {length}: ")), "{}", refused(&large));
    assert_eq!(refused(b"GET / HTTP/1.1"), "byte 0: this is no message of an event log");
    assert_eq!(refused(b""), "the log has no RTP packet");
}

#[test]
fn no_text_of_a_log_enters_the_call() {
    const MARK: &[u8] = b"marked-text";
    let mut report = [0; 64];
    let info = SenderInfo { ntp: NtpTime(1 << 40), ..SenderInfo::default() };
    let length = SenderReport::write(7, &info, &[], &mut report).unwrap();
    // A canonical name of 11 bytes for the source 7 (RFC 3550 §6.5), and a null item that fills the word.
    let names = [&[0x81, 202, 0, 5, 0, 0, 0, 7, 1, 11][..], MARK, &[0; 3]].concat();
    let rtcp = [&report[..length], &names].concat();
    let with_rtcp = |way| with_bytes(way, &[with_integer(1, 1200), with_bytes(2, &rtcp)].concat());
    let marked = |number, fields: &[(u64, u64)]| {
        let fields = fields.iter().flat_map(|&(number, value)| with_integer(number, value));
        let texts = [4, 5, 30, 90].into_iter().flat_map(|number| with_bytes(number, MARK));
        with_bytes(number, &fields.chain(texts).collect::<Vec<_>>())
    };
    let mut log = vec![marked(16, &[(1, 1000)]), packet(3, 1100, 1), packet(2, 1150, 1)];
    log.extend([with_rtcp(4), with_rtcp(5)]);
    log.extend([101, 102, 103, 104].map(|number| marked(number, &[(1, 1000), (2, 7)])));
    log.extend([marked(25, &[(1, 1000), (2, 4)]), marked(32, &[(1, 1000), (2, 1)])]);
    log.extend([6, 8, 20, 26, 27, 28, 29, 34, 35, 99].map(|number| marked(number, &[(1, 1000)])));
    log.push(with_bytes(77, MARK));
    log.push(marked(17, &[(1, 2000)]));
    for direction in [EndSelection::Sent, EndSelection::Received] {
        let call = call(&log.concat(), &CallOptions { direction, ..CallOptions::default() });
        assert_eq!(call.packets.len(), 1);
        let text = serde_json::to_string(&call).unwrap() + &format!("{call:?}");
        assert!(!text.contains("marked"), "{text}");
        // Nor as bytes.
        assert!(!text.contains("109,97,114,107"), "{text}");
    }
}
