//! Import of counters (`calls::counters`): dumps of webrtc-internals, `RTCStatsDump` lines and reports of `getStats`.

use weir_world::recorded::{CounterSeries, RecordingSource};

use super::*;

const INTERNALS: &[u8] = include_bytes!("../../../../../data/calls/internals.json");
const GOOG: &[u8] = include_bytes!("../../../../../data/calls/internals-goog.json");
const REPORTS: &[u8] = include_bytes!("../../../../../data/calls/getstats.json");
const LINES: &[u8] = include_bytes!("../../../../../data/calls/rtcstats.txt");

fn call(bytes: &[u8]) -> RecordedCall {
    assert!(sniff(&bytes[..bytes.len().min(4096)]));
    let call = read(bytes, &CallOptions::default()).unwrap();
    call.check().unwrap();
    assert_eq!(call.source, RecordingSource::Counters);
    call
}

fn series<'a>(call: &'a RecordedCall, name: &str) -> &'a CounterSeries {
    let mut found = call.counters.iter().filter(|series| series.name == name);
    let series = found.next().unwrap_or_else(|| panic!("no {name}"));
    assert!(found.next().is_none(), "two {name}");
    series
}

fn labels(call: &RecordedCall, name: &str) -> Vec<String> {
    let series = call.labels.iter().find(|series| series.name == name).unwrap();
    series.values.iter().map(|&value| series.labels[usize::from(value)].clone()).collect()
}

/// Bytes that the four samples have in common.
const BYTES: [f64; 12] = [
    37_500.0,
    112_500.0,
    225_000.0,
    343_750.0,
    463_750.0,
    581_250.0,
    643_750.0,
    700_000.0,
    760_000.0,
    825_000.0,
    912_500.0,
    1_025_000.0,
];

#[test]
fn all_four_forms_give_the_same_bytes_and_estimates() {
    for sample in [INTERNALS, GOOG, REPORTS, LINES] {
        let call = call(sample);
        let sent: Vec<f64> = call
            .counters
            .iter()
            .find(|series| series.name == "outbound-rtp.bytesSent")
            .unwrap()
            .values
            .iter()
            .flatten()
            .copied()
            .collect();
        assert_eq!(sent, BYTES);
        let estimate = series(&call, "candidate-pair.availableOutgoingBitrate");
        assert_eq!((estimate.values[0], estimate.values[11]), (Some(315_000.0), Some(945_000.0)));
        // The samples' times differ from whole seconds by at most 9 ms.
        for (place, time) in estimate.time_us.iter().enumerate() {
            let off = time - 1_000_000 * place as i64;
            assert!(off.abs() <= 9000, "{place}: {time}");
        }
        assert!((call.duration_us - 11_000_000).abs() <= 9000, "{}", call.duration_us);
    }
}

#[test]
fn series_of_a_dump_end_together_and_computed_ones_are_skipped() {
    let call = call(INTERNALS);
    let loss = series(&call, "remote-inbound-rtp.packetsLost");
    let sent = series(&call, "outbound-rtp.bytesSent");
    assert_eq!(loss.values.len(), 9);
    assert_eq!(loss.time_us, sent.time_us[3..]);
    let target = series(&call, "outbound-rtp.targetBitrate");
    assert_eq!((target.time_us.len(), target.time_us.last()), (9, sent.time_us.last()));
    assert_eq!(target.values[0], Some(950_000.0));
    let unit = call.counters.iter().find(|series| series.name.contains('['));
    assert_eq!(unit, None);
    let limited = series(&call, "outbound-rtp.qualityLimitationDurations.bandwidth");
    assert_eq!(limited.values[11], Some(10.0));
    assert_eq!(labels(&call, "outbound-rtp.encoderImplementation"), ["libvpx"; 12]);
    assert_eq!(
        call.remarks,
        [
            "The file has 2 peer connections. Connection 1 is taken.",
            "Connection 1 has 1.0 MB of video sent and 0.0 MB received.",
            "Connection 2 has 0.0 MB of video sent and 0.1 MB received."
        ]
    );
}

#[test]
fn options_choose_the_connection() {
    let options = CallOptions { direction: crate::calls::EndSelection::Received, ..CallOptions::default() };
    let received = read(INTERNALS, &options).unwrap();
    assert_eq!(series(&received, "inbound-rtp.totalFreezesDuration").values[11], Some(0.7));
    let options = CallOptions { ssrc: Some(202), ..CallOptions::default() };
    assert_eq!(read(INTERNALS, &options).unwrap().counters, received.counters);
    let options = CallOptions { ssrc: Some(9), ..CallOptions::default() };
    assert_eq!(
        read(INTERNALS, &options).unwrap_err().to_string(),
        "no stream has the source identifier 9 of --ssrc; the file has 1: 1.0 MB of video sent, 0.0 MB received, \
         --ssrc 101; 2: 0.0 MB of video sent, 0.1 MB received, --ssrc 202"
    );
    // Two senders with as much video.
    let twice = String::from_utf8(INTERNALS.to_vec()).unwrap().replace("inbound-rtp", "outbound-rtp");
    let twice = twice.replace("bytesReceived", "bytesSent").replace("[3750,", "[1000000,");
    assert_eq!(
        read(twice.as_bytes(), &CallOptions::default()).unwrap_err().to_string(),
        "the file has several calls; choose one by --ssrc: 1: 1.0 MB of video sent, 0.0 MB received, --ssrc 101; \
         2: 1.0 MB of video sent, 0.0 MB received, --ssrc 202"
    );
}

#[test]
fn goog_statistics_become_those_of_w3c() {
    let call = call(GOOG);
    let trip = series(&call, "remote-inbound-rtp.roundTripTime");
    assert_eq!((trip.values.len(), trip.values[4]), (9, Some(0.3)));
    assert_eq!(trip.time_us.last(), Some(&call.duration_us));
    let reasons = labels(&call, "outbound-rtp.qualityLimitationReason");
    assert_eq!(reasons[7..], ["bandwidth", "cpu", "bandwidth", "none", "none"]);
    assert_eq!(call.counters.iter().filter(|own| own.name == "outbound-rtp.targetBitrate").count(), 1);
}

#[test]
fn unchanged_statistics_of_lines_are_repeated() {
    let call = call(LINES);
    assert_eq!(series(&call, "candidate-pair.currentRoundTripTime").values, [Some(0.05); 12]);
    assert_eq!(labels(&call, "outbound-rtp.qualityLimitationReason")[9..], ["bandwidth", "none", "none"]);
}

#[test]
fn no_text_of_a_file_enters_the_call() {
    for sample in [INTERNALS, GOOG, REPORTS, LINES] {
        let text = String::from_utf8(sample.to_vec()).unwrap();
        // Every empty or address text, every identifier and every label becomes a mark.
        let marked = text
            .replace("\"\"", "\"SECRET empty\"")
            .replace("0.0.0.0", "SECRET.address")
            .replace("libvpx", "SECRET encoder")
            .replace("V101", "SECRETid")
            .replace("succeeded", "SECRET state")
            .replace("\"cpu\":", "\"SECRET reason\":")
            .replace("7-1", "SECRET connection")
            .replace("1_send", "SECRET_send")
            .replace("\"{}\"", "\"SECRET configuration\"")
            .replace(",{},", ",{\"SECRET key\":{\"SECRET\":[\"SECRET\"]}},");
        assert!(marked.matches("SECRET").count() > 3);
        let call = read(marked.as_bytes(), &CallOptions::default()).unwrap();
        assert!(!call.counters.is_empty());
        let written = serde_json::to_string(&call).unwrap();
        assert!(!written.contains("SECRET"), "{written}");
        // An error of a cut file quotes none of it either.
        for end in (0..marked.len()).step_by(97) {
            if let Err(error) = read(&marked.as_bytes()[..end], &CallOptions::default()) {
                assert!(!error.to_string().contains("SECRET"), "{error}");
            }
        }
    }
}

#[test]
fn cut_empty_and_foreign_files_are_refused_with_a_sentence() {
    let error = |bytes: &[u8]| read(bytes, &CallOptions::default()).unwrap_err().to_string();
    assert_eq!(error(b""), "the file is empty");
    assert_eq!(
        error(&INTERNALS[..1000]),
        "line 27, column 83: the file ends here, within a value; it is cut: save the dump again"
    );
    assert_eq!(error(b"{\"PeerConnections\": nonsense}"), "line 1, column 22: this is no JSON");
    let lacking = "the file has no statistic of an RTP stream, a transport or a candidate pair";
    for empty in
        [&b"{}"[..], b"[]", b"RTCStatsDump\n{}\n", b"{\"PeerConnections\": {\"1\": {\"stats\": {}}}}"]
    {
        assert_eq!(error(empty), lacking);
    }
    assert_eq!(
        error(b"RTCStatsDump\n{}\nnonsense\n[]"),
        "line 3: this is no JSON; each line after the first is a JSON array"
    );
    assert_eq!(
        error(b"{\"PeerConnections\": {\"1\": {\"stats\": {\"OT1-bytesSent\": {\"statsType\": \"outbound-rtp\", \
                 \"values\": \"nonsense\"}}}}}"),
        "line 1, column 104: a value has another type here than in a dump of webrtc-internals or getStats"
    );
    for foreign in [&b"seconds,rate\n"[..], b"\x0a\x10", b"", b"{\"links\": []}", b"[1, 2]", b"#!rtpplay1.0 "]
    {
        assert!(!sniff(foreign));
    }
}

#[test]
fn a_dump_of_lines_that_is_cut_gives_what_came_before() {
    let call = read(&LINES[..LINES.len() - 100], &CallOptions::default()).unwrap();
    assert_eq!(series(&call, "outbound-rtp.bytesSent").values.len(), 11);
    assert_eq!(call.remarks, ["The file ends within line 15; the call is read up to the line before."]);
}

#[test]
fn memory_does_not_grow_with_the_file() {
    // 3 million values in series, of which 2 million are kept.
    let values = "1,".repeat(299_999) + "1";
    let series: Vec<String> = (0..10)
        .map(|object| {
            format!(
                "\"O{object}-bytesSent\": {{\"statsType\": \"outbound-rtp\", \"values\": \"[{values}]\"}}"
            )
        })
        .collect();
    let dump = format!("{{\"PeerConnections\": {{\"1\": {{\"stats\": {{{}}}}}}}}}", series.join(","));
    let call = read(dump.as_bytes(), &CallOptions::default()).unwrap();
    let kept: usize = call.counters.iter().map(|series| series.values.len()).sum();
    assert!(kept <= collect::MOST_VALUES, "{kept}");
    assert_eq!(kept, 1_800_000, "whole series that fit");
    assert!(call.remarks[0].ends_with("are left out."), "{:?}", call.remarks);
}

#[test]
fn lines_that_enter_many_objects_again_and_again_come_to_an_end() {
    let objects: Vec<String> =
        (0..2000).map(|object| format!("\"o{object}\":{{\"type\":\"transport\"}}")).collect();
    let first =
        format!("RTCStatsDump\n[\"g\",\"c\",{{\"a\":{{\"type\":2,\"80\":5}},{}}},7]\n", objects.join(","));
    let remarks = |lines: usize| {
        let dump = first.clone() + &"[\"g\",\"c\",{},1]\n".repeat(lines);
        read(dump.as_bytes(), &CallOptions::default()).unwrap().remarks
    };
    assert!(remarks(10).is_empty());
    assert_eq!(remarks(1000), ["Values after the first 2000000, or of too many objects, are left out."]);
}

#[test]
fn identifiers_longer_than_any_take_no_memory() {
    let long = "x".repeat(300);
    let dump = format!("RTCStatsDump\n[\"g\",\"c\",{{\"{long}\":{{\"type\":2,\"80\":5}}}},7]\n");
    assert!(read(dump.as_bytes(), &CallOptions::default()).is_err());
    let series =
        |name: &str| format!("\"{name}-bytesSent\":{{\"statsType\":\"outbound-rtp\",\"values\":\"[5]\"}}");
    let dump =
        format!("{{\"PeerConnections\":{{\"1\":{{\"stats\":{{{},{}}}}}}}}}", series(&long), series("O"));
    assert_eq!(read(dump.as_bytes(), &CallOptions::default()).unwrap().counters.len(), 1);
}
