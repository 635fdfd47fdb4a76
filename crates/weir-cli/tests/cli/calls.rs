//! `weir replay` and `weir explain-call`: recorded calls.

use std::fs;

use serde_json::Value;

use crate::support::{Place, data};

/// A place with the event log of a call of 70 s as `call.rtclog`, and its counters.
fn place() -> Place {
    let place = Place::new();
    fs::copy(data().join("calls/c1-steps.rtclog"), place.path().join("call.rtclog")).unwrap();
    fs::copy(data().join("calls/c1-steps-stats.csv"), place.path().join("stats.csv")).unwrap();
    place
}

#[test]
fn a_call_is_replayed_under_each_controller() {
    let place = place();
    let printed = place.weir("replay call.rtclog --controller gcc,nada,scream-v2 --out replayed").stdout;
    let line = |name: &str| {
        let line = printed.lines().find(|line| line.trim_start().starts_with(name));
        line.unwrap_or_else(|| panic!("{name}: {printed}")).to_owned()
    };
    assert!(line("gcc ").contains("1.00"), "{printed}");
    assert!(line("nada-at-sender ").contains('%'), "{printed}");
    assert!(line("scream-v2 ").contains('–'), "{printed}");
    assert!(printed.contains("nada measures at the receiver"), "{printed}");
    let page = place.read("replayed/replay.html");
    assert!(
        page.contains("Replay of call") && page.contains("class=\"l grey d3\""),
        "a window's curve ends grey"
    );
    assert!(page.contains("after its first difference of 20 %") && page.contains("diverged at"));
    assert!(
        printed.contains("The loop is open") && printed.contains("scream-v2: It has no statistic"),
        "{printed}"
    );
    assert!(printed.contains("(aggregate congestion signal"), "{printed}");

    let json: Value =
        serde_json::from_str(&place.weir("replay call.rtclog --controller gcc --json").stdout).unwrap();
    let agreement = &json["replays"][0]["agreement"];
    assert!(agreement["within_10_percent"].as_f64() > Some(0.95), "{agreement}");
}

#[test]
fn a_call_is_explained_from_packets_and_from_counters() {
    let place = place();
    let printed = place.weir("explain-call call.rtclog").stdout;
    assert!(printed.contains("Main cause of the falls: growing queue (6 of 7)."), "{printed}");
    assert!(printed.contains("A queue stood from 45.2 s on and grew to 542 ms. [packets "), "{printed}");
    assert!(printed.contains("weir-out/call-explained/explanation.html"), "{printed}");
    assert!(place.read("weir-out/call-explained/explanation.html").contains("Moments to look at"));

    let counted = place.weir("explain-call stats.csv --json").stdout;
    let json: Value = serde_json::from_str(&counted).unwrap();
    let findings = json["explanation"]["counted"].as_array().unwrap();
    assert!(findings.len() >= 5, "{counted}");
    let sentences = findings.iter().map(|finding| finding["sentence"].as_str().unwrap().to_lowercase());
    assert!(sentences.into_iter().all(|sentence| sentence.contains("about")), "{counted}");
    assert_eq!(json["explanation"]["main_cause"], Value::Null);
}

#[test]
fn a_call_is_replayed_where_its_import_says_so() {
    let place = Place::new();
    let mut possible = Vec::new();
    for (name, options) in [
        ("packets.csv", ""),
        ("internals.json", ""),
        ("clear.pcap", ""),
        ("clear.pcap", " --extension-id transport-cc=3"),
        ("srtp-sender.pcap", ""),
        ("srtp-receiver.pcap", ""),
    ] {
        fs::copy(data().join("calls").join(name), place.path().join(name)).unwrap();
        let imported = place.weir(&format!("import {name}{options} --out call.json --json")).stdout;
        let facts: Value = serde_json::from_str(&imported).unwrap();
        let says = facts["uses"]["replay"]["possible"] == true;
        let replayed = place.try_weir(&format!("replay {name}{options} --controller gcc --json"));
        assert_eq!(replayed.code, Some(if says { 0 } else { 2 }), "{name}{options}: {}", replayed.stderr);
        possible.push(says);
    }
    assert_eq!(possible, [true, false, false, true, false, false]);
}

#[test]
fn a_recording_that_lacks_something_is_refused_with_one_sentence() {
    let place = place();
    place.write("empty.rtclog", "");
    for (line, message) in [
        ("replay stats.csv --controller gcc", "stats.csv: the recording has counters and no packets"),
        ("replay call.rtclog --controller gccc", "gccc"),
        ("replay call.rtclog --controller gcc --start 20Mbps --max 1Mbps", "--start, --max"),
        ("explain-call empty.rtclog", "empty.rtclog: the file is empty"),
        ("explain-call nowhere.json", "nowhere.json: cannot be read"),
        ("replay call.rtclog --controller gcc --json --open", "give a directory"),
    ] {
        let outcome = place.try_weir(line);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(2), ""), "{line}: {}", outcome.stderr);
        assert!(outcome.stderr.contains(message), "{line}: {}", outcome.stderr);
    }
}
