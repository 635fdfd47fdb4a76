//! `weir infer`: the path behind a recorded call.

use weir_world::RecordedCall;
use weir_world::recorded::{FORMAT_VERSION, OptionalInteger, PacketRow, RecordedStream};

use crate::support::{Place, data};

/// A call of ten seconds over 1.5 Mbit/s and 20 ms, of 30 frames/s in four packets of 1250 bytes.
fn call() -> String {
    let mut call =
        RecordedCall { version: FORMAT_VERSION, duration_us: 10_000_000, ..RecordedCall::default() };
    call.streams.push(RecordedStream::default());
    let mut free_us = 0.0f64;
    for packet in 0..1200i64 {
        let sent_us = packet / 4 * 1_000_000 / 30;
        free_us = free_us.max(sent_us as f64) + 1250.0 * 8e6 / 1.5e6;
        call.packets.push(PacketRow {
            sequence: packet,
            sent_us: OptionalInteger::new(sent_us),
            arrived_us: OptionalInteger::new(free_us as i64 + 20_000),
            payload_bytes: 1250,
            ..PacketRow::default()
        });
    }
    serde_json::to_string(&call).unwrap()
}

#[test]
fn the_scenario_runs_and_the_findings_are_printed() {
    let place = Place::new();
    place.write("call.json", &call());
    let outcome = place.weir("infer call.json -o path.toml");
    for part in [
        "Capacity: 1500 kbit/s in the median, 1500 to 1500 in 90 % of the figures. 100 % of 10 seconds have a figure",
        "Delay: 20 ms forward",
        "weir run path.toml",
    ] {
        assert!(outcome.stdout.contains(part), "{part}: {}", outcome.stdout);
    }
    assert!(place.read("path.toml").contains("capacity known in 100 % of the seconds"));
    place.weir("run path.toml --controller gcc,nada --quiet --out run");
    // The same on standard output, and as JSON.
    assert_eq!(place.weir("infer call.json").stdout, place.read("path.toml"));
    let json: serde_json::Value = serde_json::from_str(&place.weir("infer call.json --json").stdout).unwrap();
    assert_eq!(json["seconds"].as_array().unwrap().len(), 10);
}

#[test]
fn both_ends_are_checked() {
    let place = Place::new();
    place.write("call.json", &call());
    let outcome = place.weir("infer call.json -o path.toml --check");
    assert!(
        outcome.stdout.contains("Of gcc, nada, scream-v2, both ends of the band recommend "),
        "{}",
        outcome.stdout
    );
}

#[test]
fn a_path_beside_other_traffic_decides_nothing() {
    let place = Place::new();
    std::fs::copy(data().join("calls/c2-beside-cubic.rtclog"), place.path().join("call.rtclog")).unwrap();
    let printed = place.weir("infer call.rtclog -o path.toml --check").stdout;
    assert!(printed.contains("Undecided: other traffic is not in the scenario."), "{printed}");
    let printed = place.weir("infer call.rtclog -o path.toml").stdout;
    assert!(printed.contains("It decides nothing for this call: other traffic"), "{printed}");
}

#[test]
fn counters_give_bounds_and_no_scenario() {
    let place = Place::new();
    std::fs::copy(data().join("calls/c1-steps-stats.csv"), place.path().join("stats.csv")).unwrap();
    let printed = place.weir("infer stats.csv").stdout;
    assert!(printed.starts_with("Capacity: at least about "), "{printed}");
    assert!(printed.contains("[inbound-rtp.bytesReceived 0–") && printed.contains("each way"), "{printed}");
    let refused = place.try_weir("infer stats.csv -o path.toml");
    assert!(refused.code == Some(2) && refused.stderr.contains("bounds and no scenario"), "{refused:?}");
    assert!(!place.path().join("path.toml").exists());
}

#[test]
fn other_files_than_calls_are_refused_with_a_sentence() {
    let place = Place::new();
    place.write("empty.json", "");
    place.write("foreign.json", "{\"title\": 1}");
    place.write("cut.json", &call()[..200]);
    place.write("none.json", "{\"version\": 1, \"source\": \"weir\", \"duration_us\": 0}");
    place.write("old.json", "{\"version\": 99, \"source\": \"weir\", \"duration_us\": 0}");
    for (file, part) in [
        ("empty.json", "the file is empty"),
        ("foreign.json", ""),
        ("cut.json", "the file is cut off"),
        ("none.json", "the recording has no packets"),
        ("old.json", "version is 99"),
        ("missing.json", "cannot be read"),
    ] {
        let outcome = place.try_weir(&format!("infer {file} -o path.toml"));
        assert_eq!(outcome.code, Some(2), "{file}: {outcome:?}");
        assert!(outcome.stderr.contains(file) && outcome.stderr.contains(part), "{file}: {}", outcome.stderr);
        assert!(!place.path().join("path.toml").exists());
    }
}
