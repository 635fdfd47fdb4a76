//! Import of tables of packets and of statistics (`calls::table`).

use weir_world::recorded::{ArrivalClock, PacketRow, RecordingSource};

use super::*;

const PACKETS: &[u8] = include_bytes!("../../../../../data/calls/packets.csv");
const STATISTICS: &[u8] = include_bytes!("../../../../../data/calls/c1-steps-stats.csv");

fn call(bytes: &[u8]) -> RecordedCall {
    assert!(sniff(bytes));
    let call = read(bytes, &CallOptions::default()).unwrap();
    call.check().unwrap();
    call
}

fn error(text: &str) -> String {
    read(text.as_bytes(), &CallOptions::default()).unwrap_err().to_string()
}

#[test]
fn a_table_of_packets_becomes_packets_and_reports() {
    let call = call(PACKETS);
    assert_eq!((call.source, call.arrival_clock), (RecordingSource::Table, ArrivalClock::Common));
    let rows: Vec<PacketRow> = call.packets.rows().collect();
    assert_eq!(rows.len(), 60);
    assert_eq!((rows[0].sent_us.get(), rows[0].arrived_us.get()), (Some(0), Some(30_400)));
    assert_eq!((rows[0].sequence, rows[10].sequence), (65_530, 65_540));
    assert_eq!(rows.iter().filter(|row| row.is_lost()).count(), 2);
    let reports: Vec<_> = call.feedback.rows().collect();
    assert_eq!(reports.iter().map(|report| report.packets).sum::<u32>(), 60);
    assert_eq!(reports.iter().map(|report| report.lost).sum::<u32>(), 2);
}

#[test]
fn units_and_streams_are_those_of_the_columns() {
    let table = "sent_s,arrived_us,bytes,stream,number\n5.5,100,1200,1,65535\n5.6,,900,0,0\n";
    let call = call(table.as_bytes());
    let rows: Vec<PacketRow> = call.packets.rows().collect();
    // Arrivals before departures are of another clock and stay as they are.
    assert_eq!(call.arrival_clock, ArrivalClock::Receiver);
    assert_eq!((rows[0].arrived_us.get(), rows[1].arrived_us.get()), (Some(100), None));
    assert_eq!(rows[1].sent_us.get().unwrap() - rows[0].sent_us.get().unwrap(), 100_000);
    assert_eq!((rows[0].stream, rows[1].stream, call.streams.len()), (1, 0, 2));
    assert_eq!((rows[0].number.get(), rows[1].number.get()), (Some(65_535), Some(65_536)));
}

#[test]
fn a_table_of_statistics_becomes_counters() {
    let call = call(STATISTICS);
    assert_eq!(call.source, RecordingSource::Counters);
    let find = |name: &str, object: u32| {
        let mut series = call.counters.iter().filter(|own| own.name == name && own.object == object);
        series.next().unwrap_or_else(|| panic!("no {name}"))
    };
    let sent = find("outbound-rtp.bytesSent", 0);
    assert_eq!((sent.time_us[0], sent.time_us[1]), (0, 811_000));
    assert_eq!((sent.values[0], sent.values[1], sent.values.len()), (Some(0.0), Some(54_882.0), 70));
    // The pair of the receiver is the second.
    assert_eq!(find("candidate-pair.currentRoundTripTime", 1).values[0], Some(0.083));
    assert_eq!(find("inbound-rtp.freezeCount", 0).values.len(), 69);
    let names: Vec<&str> = call.labels.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["outbound-rtp.encoderImplementation", "outbound-rtp.qualityLimitationReason"]);
    assert_eq!(call.labels[0].labels, ["libvpx"]);
}

#[test]
fn texts_of_a_table_do_not_enter_the_call() {
    let table = "t_s,A.SECRET.out.bytesSent,A.out.encoderImplementation,A.pair.state\n1,5,SECRET,SECRET\n";
    let written = serde_json::to_string(&call(table.as_bytes())).unwrap();
    assert!(!written.contains("SECRET"), "{written}");
    // Nor does an error quote a value.
    assert!(!error("sent_ms,bytes\nSECRET,5\n").contains("SECRET"));
}

#[test]
fn cut_empty_and_foreign_tables_are_refused_with_a_sentence() {
    assert_eq!(error(""), "the file is empty");
    assert_eq!(error("sent_ms,bytes\n"), "the table has no row under its first line");
    assert_eq!(
        error("sent_ms,bytes,color\n1,2,3\n"),
        "line 1: the column `color` is unknown; allowed are sent, arrived and reported with _us, _ms or _s, bytes or \
         payload_bytes, header_bytes, padding_bytes, stream, sequence, number, timestamp, marker, ecn, probe"
    );
    assert_eq!(error("sent_ms,sent_s,bytes\n1,2,3\n"), "line 1: the column `sent_s` repeats another one");
    assert_eq!(
        error("bytes\n1\n"),
        "line 1: no column has departures or arrivals, such as sent_ms or arrived_ms"
    );
    assert_eq!(error("sent_ms\n1\n"), "line 1: no column has sizes: bytes or payload_bytes");
    assert_eq!(
        error("sent_ms,bytes\n1,2\nx,2\n"),
        "line 3, column `sent_ms`: this is not a number; an unknown value is left empty"
    );
    assert_eq!(
        error("sent_ms,bytes\n1,-2\n"),
        "line 2, column `bytes`: an integer from 0 to 65535 is needed"
    );
    assert_eq!(
        error("sent_ms,bytes\n,2\n"),
        "line 2, column `sent_ms`: the packet has neither a departure nor an arrival"
    );
    assert_eq!(error("sent_s,bytes\n1e300,2\n"), "line 2, column `sent_s`: this time is out of range");
    assert_eq!(
        error("t_s,A.out.address\n1,2\n"),
        "line 1: the column `A.out.address` is unknown; allowed are one of t_us, t_ms and t_s, and numbers of W3C \
         webrtc-stats such as outbound-rtp.bytesSent or A.pair.currentRoundTripTime"
    );
    assert_eq!(error("t_s,out.bytesSent\n,2\n"), "line 2, column `t_s`: each row needs a time");
    let long = format!("sent_ms,bytes\n{}", "1".repeat(1 << 21));
    assert_eq!(error(&long), "cannot be read: a line is longer than 1 MB, which no line of a table is");
    assert!(
        error("sent_ms,bytes\n\u{0}\u{1}\n").starts_with("line 2, column `sent_ms`: this is not a number")
    );
    assert_eq!(
        read(&b"sent_ms,bytes\n\xFF\xFE,1\n"[..], &CallOptions::default()).unwrap_err().to_string(),
        "line 2: this is no text in UTF-8, separated by commas"
    );
    for foreign in ["seconds,bits_per_second\n", "{", "", "RTCStatsDump\n", "t_s,rate\n"] {
        assert!(!sniff(foreign.as_bytes()), "{foreign}");
    }
}

#[test]
fn a_table_that_ends_within_a_line_has_a_remark() {
    let read = |text: &str| {
        let call = call(text.as_bytes());
        (call.packets.len(), call.remarks)
    };
    let ended = |line: u32| {
        vec![format!("The file ends within line {line}; the call is read up to the line before.")]
    };
    let begin = "sent_ms,arrived_ms,bytes\n10,30,1200\n";
    assert_eq!(read(&format!("{begin}20,40,1200\n")), (2, Vec::new()));
    assert_eq!(read(&format!("{begin}20,40,1200")), (2, Vec::new()));
    assert_eq!(read(&format!("{begin}20,4\n")), (2, Vec::new()));
    let shorter =
        "Line 3 is the last, has no end and is shorter than the line before: its last value may be cut off.";
    for end in ["\n", "\r\n", "\n\n"] {
        let begin = begin.replace('\n', end);
        let line = if end == "\n\n" { 5 } else { 3 };
        assert_eq!(read(&format!("{begin}20,40")), (1, ended(line)));
    }
    assert_eq!(read(&format!("{begin}20,40,12")), (2, vec![shorter.to_owned()]));
    assert_eq!(read(&format!("{begin}2")), (1, ended(3)));
    assert_eq!(error("sent_ms,bytes\n1"), "the table has no row under its first line");
    let statistics = call(b"t_s,A.out.bytesSent,A.out.packetsSent\n1,5,6\n2,7");
    assert_eq!((statistics.counters[0].values.len(), statistics.remarks), (1, ended(3)));
}

#[test]
fn arrivals_of_a_far_clock_do_not_lengthen_the_call() {
    for (sent, arrived) in [(1000, 1_700_000_000_000_i64), (1_700_000_000_000, 1000)] {
        let rows: Vec<String> =
            (0..10).map(|row| format!("{},{},100\n", sent + 20 * row, arrived + 20 * row)).collect();
        let call = call(format!("sent_ms,arrived_ms,bytes\n{}", rows.concat()).as_bytes());
        call.check().unwrap();
        assert_eq!((call.duration_us, call.arrival_clock), (180_000, ArrivalClock::Receiver));
    }
}
