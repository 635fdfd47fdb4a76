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
    assert!(keys.clone().count() == 4 && keys.clone().all(|key| properties.contains_key(key)), "{schema}");
}

/// The pcapng file with the packets of one interface alone, and their number.
fn of_interface(file: &[u8], interface: u32) -> (Vec<u8>, u64) {
    let (mut kept, mut count, mut rest) = (Vec::new(), 0, file);
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    while !rest.is_empty() {
        let (block, behind) = rest.split_at(word(rest, 4) as usize);
        let is_packet = word(block, 0) == 6;
        if !is_packet || word(block, 8) == interface {
            kept.extend(block);
            count += u64::from(is_packet);
        }
        rest = behind;
    }
    (kept, count)
}

#[test]
fn a_capture_has_every_packet_and_reads_as_a_call() {
    let place = Place::new();
    let run = place.try_weir(
        "testbed quality/steady --controller gcc --duration 3s --runs 1 --json --quiet --pcap run.pcapng",
    );
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    let printed: Value = serde_json::from_str(&run.stdout).unwrap();
    let record = printed["runs"].as_array().unwrap().last().unwrap();
    let count = |key: &str| record[key].as_u64().unwrap();
    let file = std::fs::read(place.path().join("run.pcapng")).unwrap();
    let [before, behind, back_before, back_behind] = [0, 1, 2, 3].map(|number| of_interface(&file, number));
    assert_eq!((before.1 + back_before.1, count("not_captured")), (count("packets"), 0));
    let left = behind.1 + back_behind.1;
    let gone = count("dropped") + count("inside");
    assert!((count("delivered")..=count("delivered") + gone).contains(&left), "{left} of {record}");

    // Either side as a capture of its own: the departures and arrivals of the call.
    let options = weir_import::calls::CallOptions::default();
    let call =
        weir_import::calls::packets::read_two(before.0.as_slice(), behind.0.as_slice(), &options).unwrap();
    call.check().unwrap();
    let arrived = call.packets.rows().filter(|packet| packet.arrived_us.is_known()).count() as u64;
    let sent = call.packets.len() as u64;
    assert!(
        sent > 50 && sent <= before.1 && arrived <= behind.1 && arrived + gone >= sent,
        "{arrived} of {sent}"
    );
}

#[test]
fn a_capture_that_cannot_be_written_is_refused_and_none_is_left_of_runs_that_fail() {
    let place = Place::new();
    for (path, sentence) in [(".", "this is a directory"), ("no/such/run.pcapng", "cannot be written")] {
        let refused = place.try_weir(&format!(
            "testbed quality/steady --controller gcc --runs 1 --json --quiet --pcap {path}"
        ));
        assert!(refused.code == Some(2) && refused.stderr.contains(sentence), "{path}: {refused:?}");
    }
    let failed =
        place.try_weir("testbed gaming/wifi --controller gcc --runs 2 --json --quiet --pcap run.pcapng");
    assert_eq!(failed.code, Some(2), "{failed:?}");
    assert!(std::fs::read_dir(place.path()).unwrap().next().is_none(), "{:?}", place.tree("").keys());
}

#[test]
fn impossible_real_runs_are_refused_with_one_sentence() {
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
    let distribution = |late: &str| format!("{{\"late_us\": [{late}], \"count\": [3]}}");
    let noise = |late: &str| {
        let (bad, good) = (distribution(late), distribution("3.0"));
        format!("{{\"senders\": {bad}, \"receivers\": {good}, \"emulator\": {good}}}")
    };
    place.write("noise.json", &noise("-1.0"));
    let refused = place.try_weir("run quality/steady --host-noise noise.json");
    assert!(refused.code == Some(2) && refused.stderr.contains("within 0 to 10 s"), "{refused:?}");
}

#[test]
fn hosts_that_are_late_change_a_simulated_run_a_little() {
    let place = Place::new();
    let hosts = "{\"late_us\": [30.0, 60.0, 200.0], \"count\": [5, 3, 1]}";
    let emulator = "{\"late_us\": [30.0, 100.0], \"count\": [1, 1]}";
    let noise = format!("{{\"senders\": {hosts}, \"receivers\": {hosts}, \"emulator\": {emulator}}}");
    place.write("noise.json", &noise);
    let rate = |arguments: &str| {
        let printed: Value = serde_json::from_str(&place.weir(arguments).stdout).unwrap();
        printed["controllers"][0]["media"]["rate_bps"]["mean"].as_f64().unwrap()
    };
    let plain = rate("run quality/steady --controller nada --runs 1 --json");
    let noisy = rate("run quality/steady --controller nada --runs 1 --json --host-noise noise.json");
    assert!(noisy != plain && (noisy / plain - 1.0).abs() < 0.1, "{noisy} of {plain}");
}

/// Starts `weir testbed` of a run that lasts long, with its output in `place`, and sends it SIGINT `times` times once it runs.
fn interrupted(place: &Place, times: u32) -> (Option<i32>, String) {
    use std::io::Read as _;
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["testbed", "quality/steady", "--controller", "gcc", "--duration", "50s", "--runs", "3"])
        .args(["--together", "2", "--priority", "normal", "--out", "kept", "--pcap", "run.pcapng"])
        .current_dir(place.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let tasks = format!("/proc/{}/task", child.id());
    let threads = || std::fs::read_dir(&tasks).map_or(0, Iterator::count);
    let begun = (0..300).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        threads() > 5
    });
    assert!(begun, "the runs begin within 15 s");
    for _ in 0..times {
        let sent = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(sent.unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (child.wait().unwrap().code(), text)
}

#[test]
fn an_interrupt_ends_the_runs_with_a_sentence_and_leaves_no_file() {
    for times in [1, 2] {
        let place = Place::new();
        let clock = weir_live::clock::RunClock::start();
        let (code, text) = interrupted(&place, times);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains("interrupted: the runs were ended"), "{text}");
        // The runs would last 50 s and more.
        assert!(clock.now() < weir_net::Time::from_millis(40_000), "{:?}", clock.now());
        assert!(place.tree("").is_empty(), "{:?}", place.tree("").keys());
    }
}

#[test]
fn a_run_is_recorded_where_it_has_a_place() {
    let place = Place::new();
    let refused = place.try_weir("testbed quality/steady --controller gcc --runs 1 --json --record");
    assert!(refused.code == Some(2) && refused.stderr.contains("--record: with --json"), "{refused:?}");
    let run = place.try_weir(
        "testbed quality/steady --controller gcc --duration 2s --runs 1 --quiet --record --out kept",
    );
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    let text = std::fs::read(place.path().join("kept/call-gcc-video.call.json")).unwrap();
    let call: weir_world::RecordedCall = serde_json::from_slice(&text).unwrap();
    call.check().unwrap();
    assert!(call.packets.len() > 20 && call.feedback.len() > 5, "{} packets", call.packets.len());
}

#[test]
fn files_belong_to_the_user_who_called() {
    use std::os::unix::fs::MetadataExt as _;
    let place = Place::new();
    let owner = |path: &str| std::fs::metadata(place.path().join(path)).unwrap().uid();
    if owner("") != 0 {
        println!("SKIPPED: root alone can give files to others");
        return;
    }
    let arguments = ["testbed", "quality/steady", "--controller", "gcc", "--duration", "2s", "--runs", "1"];
    let rest = ["--quiet", "--out", "deep/kept", "--pcap", "run.pcapng"];
    let mut command = place.command(&[&arguments[..], &rest].concat());
    let run = crate::support::Outcome::of(command.env("SUDO_UID", "65534").env("SUDO_GID", "65534"));
    assert!(matches!(run.code, Some(0 | 3)), "{run:?}");
    for path in ["deep", "deep/kept", "run.pcapng"] {
        assert_eq!(owner(path), 65534, "{path}");
    }
    for name in ["live.json", "report.html", "series-gcc.csv"] {
        assert_eq!(owner(&format!("deep/kept/{name}")), 65534, "{name}");
    }
    assert_eq!(owner(""), 0);
}
