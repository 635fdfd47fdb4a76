//! `weir testbed`: what it prints and refuses. Whole runs in real time are in `tests/live`.
#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::support::Place;

#[test]
fn a_short_run_prints_summary_and_record() {
    let place = Place::new();
    let run = place.try_weir("testbed quality/steady --controller gcc --duration 2s --runs 1 --json --quiet");
    // A busy machine makes it inconclusive, and the record is there all the same.
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(printed["runs"][0]["face"], "udp");
    assert_eq!(printed["runs"][0]["run"], "quality/steady/gcc/1");
    assert!(
        printed["summary"]["controllers"][0]["flows"][0]["rate_bps"]["mean"].as_f64() > Some(5e4),
        "{printed}"
    );
    assert_eq!(printed["compared"], Value::Array(Vec::new()));
    let schema: Value = serde_json::from_str(&place.weir("schema live").stdout).unwrap();
    let properties = schema["properties"].as_object().unwrap();
    let keys = printed.as_object().unwrap().keys();
    assert!(keys.clone().count() == 3 && keys.clone().all(|key| properties.contains_key(key)), "{schema}");
}

#[test]
fn what_cannot_be_real_is_refused_with_one_sentence() {
    let place = Place::new();
    for (arguments, sentence) in [
        ("testbed gaming/wifi --runs 1", "the Wi-Fi cell"),
        ("testbed quality/beside-cubic --runs 1 --face udp", "needs the TUN face"),
        ("testbed quality/steady --face tap", "--face"),
        ("testbed no/such-scenario", "no/such-scenario"),
        ("run quality/steady --host-noise nowhere.json", "nowhere.json"),
    ] {
        let refused = place.try_weir(arguments);
        assert_eq!(refused.code, Some(2), "{arguments}: {refused:?}");
        assert!(refused.stderr.contains(sentence), "{arguments}: {refused:?}");
    }
    place.write("noise.json", "{\"hosts_us\": [-1.0], \"emulator_us\": [3.0]}");
    let refused = place.try_weir("run quality/steady --host-noise noise.json");
    assert!(refused.code == Some(2) && refused.stderr.contains("within 0 to 10 s"), "{refused:?}");
}

#[test]
fn hosts_that_are_late_change_a_simulated_run_a_little() {
    let place = Place::new();
    place.write("noise.json", "{\"hosts_us\": [30.0, 60.0, 200.0], \"emulator_us\": [30.0, 100.0]}");
    let rate = |arguments: &str| {
        let printed: Value = serde_json::from_str(&place.weir(arguments).stdout).unwrap();
        printed["controllers"][0]["media"]["rate_bps"]["mean"].as_f64().unwrap()
    };
    let plain = rate("run quality/steady --controller nada --runs 1 --json");
    let noisy = rate("run quality/steady --controller nada --runs 1 --json --host-noise noise.json");
    assert!(noisy != plain && (noisy / plain - 1.0).abs() < 0.1, "{noisy} of {plain}");
}
