use std::io::Read;

use weir_world::RecordedCall;

use crate::calls::{self, CallForm, CallImportError, CallOptions};

fn read(source: impl Read) -> Result<RecordedCall, CallImportError> {
    calls::read(source, CallForm::Recorded, &CallOptions::default())
}

const BEGIN: &str = r#"{"version":1,"source":"weir","duration_us":0,"#;

/// The refusal of a call with `begin`, and then `part` again and again.
fn refusal(begin: &str, part: &str) -> String {
    let begin = format!("{BEGIN}{begin}");
    let rest = part.repeat(30_000_000 / part.len());
    read(begin.as_bytes().chain(rest.as_bytes())).unwrap_err().to_string()
}

#[test]
fn longer_calls_than_any_are_refused_before_they_fill_the_memory() {
    let token = "byte 10058: a text or number of a call has 10 kB at most";
    assert_eq!(refusal(r#""remarks":[""#, "a"), token);
    assert_eq!(refusal(r#""remarks":[""#, r#"\""#), token);
    assert!(
        refusal(r#""packet_overhead_bytes":"#, "1").ends_with("a text or number of a call has 10 kB at most")
    );
    let packets = "a call has 2000000 packets at most";
    assert!(refusal(r#""packets":{"number":["#, "0,").ends_with(packets));
    assert!(refusal(r#""packets":{"number":[1],"stream":["#, "0,").ends_with(packets));
    let rows = "a call has 750000 rows beside its packets at most";
    assert!(refusal(r#""targets":{"time_us":["#, "0,").ends_with(rows));
    assert!(refusal(r#""packets":{"number":[]},"remarks":["#, r#""","#).ends_with(rows));
    let values = "the statistics of a call have 2000000 values at most";
    let series = r#""counters":[{"name":"outbound-rtp.bytesSent","object":0,"time_us":[],"values":["#;
    assert!(refusal(series, "0,").ends_with(values));
    assert!(refusal(r#""labels":[{"labels":["#, r#""","#).ends_with(values));
}

#[test]
fn the_longest_columns_are_read() {
    let zeros = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
    let column = zeros(weir_world::recorded::MOST_PACKETS);
    // The columns differ in length: that is a fault of the table, and not of its size.
    let json = format!(r#"{BEGIN}"packets":{{"stream":{column},"marker":{column}}}}}"#);
    let fault = read(json.as_bytes()).unwrap_err().to_string();
    assert!(fault.contains("all columns of a table have as many"), "{fault}");
    let rows = zeros(weir_world::recorded::MOST_EVENTS);
    let json = format!(r#"{BEGIN}"targets":{{"time_us":{rows},"bps":{rows}}},"remarks":["a \" b"]}}"#);
    let call = read(json.as_bytes()).unwrap();
    let left_out = "Left out: 1 of the remarks, as no import of this version makes them.".to_owned();
    assert_eq!((call.targets.len(), &call.remarks[..]), (750_000, &[left_out][..]));
}

#[test]
fn no_text_of_another_program_enters_the_call() {
    let known = "The log is cut off within a message; the call ends before it.";
    let json = format!(
        r#"{BEGIN}"remarks":["limited by <b>SECRET</b> 10.9.8.7","{known}"],
        "counters":[
            {{"name":"outbound-rtp.bytesSent","object":0,"time_us":[0],"values":[1]}},
            {{"name":"outbound-rtp.qualityLimitationDurations.cpu","object":0,"time_us":[0],"values":[2]}},
            {{"name":"outbound-rtp.SECRET","object":0,"time_us":[0],"values":[3]}},
            {{"name":"outbound-rtp.kind","object":0,"time_us":[0],"values":[4]}}
        ],
        "labels":[
            {{"name":"outbound-rtp.qualityLimitationReason","object":0,"time_us":[0,1],"values":[0,1],
                "labels":["cpu","SECRET"]}},
            {{"name":"SECRET","object":0,"time_us":[0],"values":[0],"labels":["cpu"]}}
        ]}}"#
    );
    let call = read(json.as_bytes()).unwrap();
    let values: Vec<_> = call.counters.iter().map(|series| series.values[0]).collect();
    assert_eq!(values, [Some(1.0), Some(2.0)]);
    assert_eq!(call.labels.iter().map(|series| &series.labels[..]).collect::<Vec<_>>(), [["cpu", "other"]]);
    let left_out = [
        known,
        "Left out: 3 series of statistics with unknown names.",
        "Left out: 1 of the remarks, as no import of this version makes them.",
    ];
    assert_eq!(call.remarks, left_out);
}
