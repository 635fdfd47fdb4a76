//! `weir import`: recordings of calls.

use std::fs;

use serde_json::Value;

use crate::support::{Place, data};

/// A place with the event log of a call of 70 s as `call.rtclog`.
fn place() -> Place {
    let place = Place::new();
    fs::copy(data().join("calls/c1-steps.rtclog"), place.path().join("call.rtclog")).unwrap();
    place
}

#[test]
fn an_event_log_is_imported_with_its_uses() {
    let place = place();
    let printed = place.weir("import call.rtclog").stdout;
    let expected = [
        "call.rtclog",
        "source     RTC event log of the sender",
        "length     69.0 s",
        "streams    2: retransmissions, video",
        "packets    7347 sent, 7219 arrived, 121 lost, 7 without a report",
        "reports    1096 of feedback (0 missed), 87 of receivers",
        "estimates  1010 by delay, 323 by loss, 2 probe clusters",
        "replay     yes: every controller",
        "infer      yes: from departures and arrivals",
        "explain    yes: full",
    ];
    assert_eq!(printed.lines().take(expected.len()).collect::<Vec<_>>(), expected);
    assert!(printed.contains("note       The log has no end event"), "{printed}");
    assert!(printed.ends_with("\nThe call is written to call.call.json.\n"), "{printed}");
    let call: Value = serde_json::from_str(&place.read("call.call.json")).unwrap();
    assert_eq!(call["packets"]["number"].as_array().map(Vec::len), Some(7347));
    assert_eq!(call["source"], "event-log-of-sender");

    let again = place.weir("import call.call.json -o again.json --json").stdout;
    let facts: Value = serde_json::from_str(&again).unwrap();
    assert_eq!(facts["packets"], serde_json::json!({ "sent": 7347, "arrived": 7219, "lost": 121 }));
    assert_eq!(facts["uses"]["replay"]["possible"], true);
    assert_eq!(facts["written"], "again.json");
    assert_eq!(place.read("again.json"), place.read("call.call.json"));
}

#[test]
fn a_receiver_s_capture_has_gaps_and_statistics_have_series() {
    let place = Place::new();
    for name in ["srtp-receiver.pcap", "internals.json"] {
        fs::copy(data().join("calls").join(name), place.path().join(name)).unwrap();
    }
    let printed = place.weir("import srtp-receiver.pcap").stdout;
    assert!(printed.contains("\npackets    800 arrived, 23 lost by gaps of their numbers\n"), "{printed}");
    assert!(printed.contains("\nexplain    yes: rate, loss by gaps, stalls\n"), "{printed}");
    let printed = place.weir("import internals.json").stdout;
    let names: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names[..6], ["internals.json", "source", "length", "series", "replay", "infer"], "{printed}");
    assert!(printed.contains("\nseries     21, the longest with 12 values over 11.0 s\n"), "{printed}");
}

#[test]
fn other_files_are_refused_with_one_sentence() {
    let place = place();
    let log = fs::read(place.path().join("call.rtclog")).unwrap();
    let call = place.weir("import call.rtclog").stdout;
    assert!(!call.is_empty());
    let json = place.read("call.call.json");
    place.write("cut.json", &json[..json.len() / 3]);
    fs::write(place.path().join("cut.rtclog"), &log[..100]).unwrap();
    place.write("empty.rtclog", "");
    place.write("drive.csv", "seconds,bits_per_second\n0,1e6\n1,0\n");
    fs::write(place.path().join("old.rtclog"), [0x0A, 4, 8, 1, 16, 3]).unwrap();
    for name in ["srtp-sender.pcap", "srtp-receiver.pcap"] {
        fs::copy(data().join("calls").join(name), place.path().join(name)).unwrap();
    }
    let capture = fs::read(place.path().join("srtp-sender.pcap")).unwrap();
    fs::write(place.path().join("cut.pcap"), &capture[..100]).unwrap();
    fs::write(place.path().join("head.pcap"), &capture[..20]).unwrap();
    let before = place.tree("");
    for (line, message) in [
        ("import nowhere.rtclog", "nowhere.rtclog: cannot be read: No such file"),
        ("import empty.rtclog", "empty.rtclog: the file is empty"),
        ("import drive.csv", "drive.csv: "),
        ("import cut.rtclog", "cut.rtclog: the log has no RTP packet\n"),
        ("import cut.json", "cut.json: line 1, column "),
        (
            "import old.rtclog",
            "old.rtclog: byte 0: this event log is of the form that browsers wrote before 2019",
        ),
        (
            "import call.rtclog --direction received",
            "call.rtclog: the log has no RTP packet that this end received",
        ),
        (
            "import call.rtclog --ssrc 5",
            "call.rtclog: the log has no packet of the stream 5; streams sent: 39",
        ),
        ("import call.rtclog cut.rtclog", "call.rtclog: "),
        ("import call.rtclog --out call.rtclog", "--out call.rtclog: this is the file that is read"),
        (
            "import srtp-sender.pcap srtp-receiver.pcap --out ./srtp-receiver.pcap",
            "--out ./srtp-receiver.pcap: this is the file that is read; name another one",
        ),
        ("import empty.rtclog srtp-receiver.pcap", "error: empty.rtclog: this is no capture"),
        ("import srtp-sender.pcap call.rtclog", "error: call.rtclog: this is no capture"),
        ("import cut.pcap srtp-receiver.pcap", "cut.pcap: the file has no RTP stream"),
        ("import head.pcap", "head.pcap: the header of the capture is cut off or damaged"),
        (
            "import srtp-sender.pcap --extension-id transport-cc=5",
            "srtp-sender.pcap: no packet of the media has a header extension 5 as --extension-id transport-cc=5 says",
        ),
        ("import srtp-receiver.pcap srtp-sender.pcap", "srtp-receiver.pcap: the media came to the end"),
        (
            "import call.call.json",
            "--out: the usual name call.call.json is that of a file that is read; name another one",
        ),
        ("import call.rtclog --extension-id transport-cc=3", "--extension-id does not apply to an event log"),
        ("import call.rtclog --extension-id mid=3", "there is no extension `mid` here"),
        ("import call.rtclog --feedback-interval 0s", "must be positive"),
    ] {
        let outcome = place.try_weir(line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
        assert_eq!(place.tree(""), before, "{line}");
    }
}

#[test]
fn both_imports_name_each_other() {
    let place = Place::new();
    assert!(place.weir("import --help").stdout.contains("`weir trace import`"));
    assert!(place.weir("trace --help").stdout.contains("`weir import`"));
    let schema: Value = serde_json::from_str(&place.weir("schema call").stdout).unwrap();
    assert_eq!(schema["title"], "RecordedCall");
    assert!(schema["properties"]["packets"].is_object());
}
