//! `weir send` and `weir recv` as two processes.
#![cfg(target_os = "linux")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use weir_live::capabilities::Capabilities;

use crate::support::{Outcome, Place};

/// A command in the background, once it listens.
struct Listening {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    address: String,
}

fn start(place: &Place, arguments: &str) -> Listening {
    let mut command = place.command(&arguments.split(' ').collect::<Vec<_>>());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let stderr = BufReader::new(child.stderr.take().unwrap());
    let mut listening = Listening { child, stderr, address: String::new() };
    let mut line = String::new();
    while listening.address.is_empty() {
        line.clear();
        assert!(listening.stderr.read_line(&mut line).unwrap() > 0, "{arguments} ended");
        listening.address.push_str(line.trim().strip_prefix("listening at ").unwrap_or_default());
    }
    listening
}

impl Listening {
    fn end(mut self) -> Outcome {
        let (mut stdout, mut stderr) = (String::new(), String::new());
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        self.stderr.read_to_string(&mut stderr).unwrap();
        Outcome { code: self.child.wait().unwrap().code(), stdout, stderr }
    }

    fn signal(&self) {
        let sent = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _waited = self.child.wait();
    }
}

fn json(outcome: &Outcome) -> Value {
    serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:#?}"))
}

/// The keys of an object that the schema does not have.
fn unknown_keys(schema: &Value, value: &Value) -> Vec<String> {
    let properties = schema["properties"].as_object().unwrap();
    value.as_object().unwrap().keys().filter(|key| !properties.contains_key(*key)).cloned().collect()
}

#[test]
fn two_processes_send_and_receive_and_the_recorded_call_is_read() {
    let place = Place::new();
    place.weir("keygen key");
    let receiver = start(&place, "recv 127.0.0.1:0 --key key --once --json");
    let arguments = format!(
        "send {} --key key --duration 3s --max-rate 1Mbps --json --record call.json --pcap sent.pcapng --priority normal",
        receiver.address
    );
    let sender = place.try_weir(&arguments);
    let [sent, received] = [json(&sender), json(&receiver.end())];
    // On a busy machine timers are late, which makes the session inconclusive.
    let busy = sent["inconclusive"]
        .as_array()
        .unwrap()
        .iter()
        .all(|why| why.as_str().unwrap().starts_with("timers were late"));
    let expected = if sent["inconclusive"].as_array().unwrap().is_empty() { Some(0) } else { Some(3) };
    assert!(busy && sender.code == expected, "{sender:#?}");
    assert_eq!(received["inconclusive"].as_array().map(Vec::len), Some(0), "{received:#}");
    assert!(!sender.stderr.contains("no key"), "{}", sender.stderr);

    let schema: Value = serde_json::from_str(&place.weir("schema peer").stdout).unwrap();
    for results in [&sent, &received] {
        assert_eq!(unknown_keys(&schema, results), Vec::<String>::new());
        assert_eq!((&results["outcome"], &results["keyed"]), (&Value::from("done"), &Value::from(true)));
        let rate = results["flows"][0]["received_rate_bps"].as_f64().unwrap();
        // It climbs from 300 kbit/s to 1 Mbit/s, and headers come on top.
        assert!((400e3..1200e3).contains(&rate), "{results:#}");
        let seconds = results["seconds"].as_f64().unwrap();
        assert!((2.9..3.5).contains(&seconds), "{seconds}");
    }
    let [told, own] =
        [&sent, &received].map(|results| results["flows"][0]["received_rate_bps"].as_f64().unwrap());
    assert!((told / own - 1.0).abs() < 0.05, "{told} and {own}");
    assert_eq!(sent["flows"][0]["loss_ratio"].as_f64(), Some(0.0));

    let replayed = place.weir("replay call.json --controller nada --json");
    assert!(replayed.stdout.contains("nada"), "{}", replayed.stdout);
    let inferred = place.weir("infer call.json -o path.toml");
    assert!(place.path().join("path.toml").is_file(), "{inferred:#?}");
    let packets = fs::read(place.path().join("sent.pcapng")).unwrap();
    assert!(packets.len() > 100_000, "{} bytes", packets.len());
    let imported = place.try_weir("import sent.pcapng -o again.call.json");
    assert_eq!(imported.code, Some(0), "{imported:#?}");
}

#[test]
fn several_coupled_flows_run_both_ways_and_in_reverse() {
    let place = Place::new();
    let receiver =
        start(&place, "recv 127.0.0.1:0 --once --json --bidir --controller nada --priority normal");
    let arguments = format!(
        "send {} --duration 2s --flows 2 --coupler rfc8699-2 --bidir --json --priority normal",
        receiver.address
    );
    let sender = place.try_weir(&arguments);
    assert!(sender.stderr.contains("no key: only the return path is proved"), "{}", sender.stderr);
    let results = json(&sender);
    let receiver = receiver.end();
    let flows = results["flows"].as_array().unwrap();
    let sent: Vec<_> =
        flows.iter().map(|flow| (flow["controller"].as_str(), flow["sent_here"].as_bool())).collect();
    assert_eq!(sent, [(Some("gcc"), Some(true)), (Some("gcc"), Some(true)), (Some("nada"), Some(false))]);
    assert!(flows.iter().all(|flow| flow["received_rate_bps"].as_u64() > Some(50_000)), "{results:#}");
    assert!(matches!(receiver.code, Some(0 | 3)), "{receiver:#?}");

    let own = if UdpSocket::bind("[::1]:0").is_ok() { "[::1]:0" } else { "127.0.0.1:0" };
    let arguments = "--reverse --duration 2s --json --controller scream-v2 --priority normal";
    let sender = start(&place, &format!("send {own} {arguments}"));
    let receiver = place.try_weir(&format!("recv {} --reverse --json --priority normal", sender.address));
    let sender = sender.end();
    assert!(json(&receiver)["flows"][0]["received_rate_bps"].as_u64() > Some(100_000), "{receiver:#?}");
    assert!(json(&sender)["flows"][0]["sent_here"].as_bool().unwrap(), "{sender:#?}");
}

/// Times of the packets in a capture of one interface, in ns.
fn packet_times(capture: &[u8]) -> Vec<u64> {
    let word = |block: &[u8], place: usize| u32::from_le_bytes(block[place..place + 4].try_into().unwrap());
    let (mut times, mut rest) = (Vec::new(), capture);
    while !rest.is_empty() {
        let (block, behind) = rest.split_at(word(rest, 4) as usize);
        // An enhanced packet block.
        if word(block, 0) == 6 {
            times.push(u64::from(word(block, 12)) << 32 | u64::from(word(block, 16)));
        }
        rest = behind;
    }
    times
}

#[test]
fn a_receiver_of_several_sessions_prints_a_line_and_records_calls_for_each() {
    let place = Place::new();
    let options = "--bidir --json --priority normal --record own.call.json --pcap all.pcapng";
    let receiver = start(&place, &format!("recv 127.0.0.1:0 {options}"));
    for _ in 0..2 {
        let arguments = "--duration 1s --bidir --json --priority normal";
        let sender = place.try_weir(&format!("send {} {arguments}", receiver.address));
        assert_eq!(json(&sender)["outcome"], "done", "{sender:#?}");
        // The receiver answers goodbyes for a second.
        thread::sleep(Duration::from_millis(1500));
        assert!(!place.path().join("all.pcapng").exists());
    }
    receiver.signal();
    let receiver = receiver.end();
    let lines: Vec<Value> = receiver.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{receiver:#?}");
    assert!(lines.iter().all(|results| results["flows"][1]["sent_here"] == true), "{lines:#?}");
    for name in ["own.call.json", "own-2.call.json"] {
        let inferred = place.try_weir(&format!("replay {name} --controller nada --json"));
        assert_eq!(inferred.code, Some(0), "{name}: {inferred:#?}");
    }
    let times = packet_times(&fs::read(place.path().join("all.pcapng")).unwrap());
    assert!(times.is_sorted(), "times of the second session are those after the first");
    assert!(times[times.len() - 1] - times[0] > 3_000_000_000, "{:?}", [times[0], times[times.len() - 1]]);
}

#[test]
fn a_receiver_without_a_session_leaves_files_as_they_were() {
    let place = Place::new();
    place.write("all.pcapng", "old");
    place.write("own.json", "old");
    let before = place.tree("");
    let receiver =
        start(&place, "recv 127.0.0.1:0 --bidir --record own.json --pcap all.pcapng --priority normal");
    receiver.signal();
    assert_eq!(receiver.end().code, Some(2));
    assert_eq!(place.tree(""), before);
}

#[test]
fn each_address_of_a_name_is_called() {
    let place = Place::new();
    place.write("hosts", "::1 two\n127.0.0.1 two\n");
    let hosts = place.path().join("hosts").display().to_string();
    let inside = |script: &str| {
        let script = format!("mount --bind {hosts} /etc/hosts && ip link set lo up && {script}");
        Outcome::of(Command::new("unshare").args(["-rmn", "sh", "-c", &script]))
    };
    let names = inside("getent ahosts two");
    if names.code != Some(0) || !names.stdout.contains("::1") || !names.stdout.contains("127.0.0.1") {
        println!("SKIPPED, without a namespace in which a name has two addresses");
        return;
    }
    let weir = env!("CARGO_BIN_EXE_weir");
    let outcome = inside(&format!(
        "{{ {weir} recv 127.0.0.1 --once --quiet --priority normal > /dev/null & \
         {weir} send two:5005 --quiet & unanswered=$!; \
         {weir} send two --duration 1s --json --quiet --priority normal; wait $unanswered; }}"
    ));
    assert_eq!(json(&outcome)["peer"], "127.0.0.1:5004", "{outcome:#?}");
    let unanswered = "[::1]:5005, 127.0.0.1:5005: there is no answer";
    assert!(outcome.code == Some(2) && outcome.stderr.contains(unanswered), "{outcome:#?}");
}

#[test]
fn requirements_and_ceilings_decide_the_exit_code() {
    let place = Place::new();
    let receiver =
        start(&place, "recv 127.0.0.1:0 --max-rate 400kbps --max-duration 1s --quiet --priority normal");
    let outcome = place.try_weir(&format!(
        "send {} --duration 9s --at-least 5Mbps --quiet --priority normal",
        receiver.address
    ));
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    assert!(outcome.stdout.contains("and --at-least is 5Mbps"), "{}", outcome.stdout);
    let refused = place.try_weir(&format!("send {} --source constant --quiet", receiver.address));
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    assert!(refused.stderr.contains("weir recv --allow-unresponsive"), "{}", refused.stderr);
    receiver.signal();
    assert_eq!(receiver.end().code, Some(2));

    let receiver = start(&place, "recv 127.0.0.1:0 --once --allow-unresponsive --quiet --priority normal");
    let outcome = place.try_weir(&format!(
        "send {} --bytes 100kB --source constant --start-rate 400kbps --json --quiet --priority normal",
        receiver.address
    ));
    let rate = json(&outcome)["flows"][0]["received_rate_bps"].as_f64().unwrap();
    assert!((380e3..420e3).contains(&rate), "{outcome:#?}");
    assert!(matches!(receiver.end().code, Some(0 | 3)));
}

#[test]
fn metrics_are_served_while_a_session_runs() {
    let place = Place::new();
    let receiver = start(&place, "recv 127.0.0.1:0 --once --quiet --priority normal");
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let arguments =
        format!("send {} --duration 3s --metrics {port} --quiet --priority normal", receiver.address);
    let get = thread::spawn(move || {
        thread::sleep(Duration::from_millis(1500));
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    });
    place.try_weir(&arguments);
    let text = get.join().unwrap();
    for metric in [
        "weir_sent_bits_per_second{flow=\"0\"",
        "weir_received_bits_per_second{flow=\"0\"",
        "weir_session_seconds",
    ] {
        assert!(text.contains(metric), "{text}");
    }
    receiver.end();
}

#[test]
fn bad_input_is_a_sentence_and_leaves_no_file() {
    let place = Place::new();
    place.weir("keygen key");
    place.weir("keygen other");
    let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap();
    let receiver = start(&place, "recv 127.0.0.1:0 --key other --quiet");
    fs::copy(place.path().join("key"), place.path().join("readable")).unwrap();
    fs::set_permissions(place.path().join("readable"), fs::Permissions::from_mode(0o644)).unwrap();
    place.write("old.json", "old");
    place.write("old.pcapng", "old");
    let before = place.tree("");
    let same_port = format!("recv {}", receiver.address);
    let other_key = format!("send {} --key key --record call.json --pcap p.pcapng", receiver.address);
    let over_old = format!("send {} --key key --record old.json --pcap old.pcapng", receiver.address);
    let in_use = format!("recv {port}");
    for (arguments, sentence) in [
        ("recv 0.0.0.0:0", "beyond this machine a key is needed"),
        ("send 192.0.2.1:5004", "beyond this machine a key is needed"),
        (&*in_use, "the port is in use"),
        (&*same_port, "the port is in use"),
        ("send 127.0.0.1:5004 --key readable", "others may read or write the key (mode 644)"),
        ("send 127.0.0.1:5004 --key absent", "absent: No such file"),
        ("keygen key", "key: File exists"),
        (&*other_key, "the keys of the two ends differ"),
        (&*over_old, "the keys of the two ends differ"),
        ("recv 127.0.0.1:0 --record call.json", "--bidir"),
        ("recv 127.0.0.1:0 --bidir --record no/call.json", "no/call.json: cannot be written"),
        ("send nowhere.invalid:5004 --open", "nowhere.invalid:5004: "),
        ("send 127.0.0.1:5004 --controller gcc,nada", "a session has one controller"),
        ("send 127.0.0.1:5004 --controller gccc", "there is no controller `gccc`"),
        ("send 127.0.0.1:5004 --source webcam", "webcam"),
        ("send 127.0.0.1:5004 --scenario tcp/newreno", "no scenario ships under this name"),
        ("send 127.0.0.1:5004 --flows 2 --record no/call.json", "no/call.json: cannot be written"),
        ("send 127.0.0.1:5004 --min-rate 3Mbps", "min"),
    ] {
        let outcome = place.try_weir(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}: {outcome:#?}");
        assert!(outcome.stderr.contains(sentence), "{arguments}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, "", "{arguments}");
    }
    assert_eq!(place.tree(""), before);
    receiver.signal();
    assert_eq!(receiver.end().code, Some(2));
}

#[test]
fn ctrl_c_ends_a_session_in_order_and_twice_at_once() {
    let place = Place::new();
    for signals in [1, 2] {
        let receiver = start(&place, "recv 127.0.0.1:0 --once --quiet --priority normal");
        let arguments =
            format!("send {} --duration 60s --quiet --pcap p.pcapng --record call.json", receiver.address);
        let mut command = place.command(&arguments.split(' ').collect::<Vec<_>>());
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        thread::sleep(Duration::from_millis(1500));
        let process = child.id().to_string();
        if signals == 2 {
            // The other end is gone, so that the goodbye has no answer.
            let stopped = Command::new("kill").args(["-STOP", &receiver.child.id().to_string()]).status();
            assert!(stopped.unwrap().success());
        }
        for _ in 0..signals {
            assert!(Command::new("kill").args(["-INT", &process]).status().unwrap().success());
            thread::sleep(Duration::from_millis(300));
        }
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let kept = place.path().join("call.json").is_file();
        assert_eq!(kept, signals == 1, "{output:?}");
        if signals == 2 {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(text.contains("interrupted twice"), "{text}");
            assert!(!place.path().join("p.pcapng").exists());
            let id = receiver.child.id().to_string();
            assert!(Command::new("kill").args(["-CONT", &id]).status().unwrap().success());
            receiver.signal();
        }
        for file in ["call.json", "p.pcapng"] {
            let _absent = fs::remove_file(place.path().join(file));
        }
        // Another one interrupted it, or its own signal did.
        assert_eq!(receiver.end().code, Some(if signals == 1 { 3 } else { 2 }));
    }
}

#[test]
fn a_session_behind_an_emulated_path_has_the_rate_of_its_link() {
    if let Err(reason) = Capabilities::probe(&[]).tun {
        println!("SKIPPED, without TUN: {reason}");
        return;
    }
    let place = Place::new();
    let weir = env!("CARGO_BIN_EXE_weir");
    let far = format!("{weir} recv 0.0.0.0 --open --once --quiet --priority normal");
    let command = ["emulate", "--rate", "1Mbps", "--quiet", "--far", &far, "--", weir, "send", "10.84.2.1"];
    let options = ["--open", "--duration", "8s", "--start-rate", "600kbps", "--json", "--priority", "normal"];
    let outcome = place.call(&[&command[..], &options[..]].concat());
    // The report of the far end follows.
    let reports: Vec<Value> = serde_json::Deserializer::from_str(&outcome.stdout)
        .into_iter()
        .map_while(Result::<Value, _>::ok)
        .collect();
    let sent =
        reports.iter().find(|report| report["keyed"].is_boolean()).unwrap_or_else(|| panic!("{outcome:#?}"));
    let flow = &sent["flows"][0];
    let rate = flow["received_rate_bps"].as_f64().unwrap();
    assert!((650e3..1e6).contains(&rate), "{sent:#}");
    // 25 ms each way, and the queue.
    let rtt = sent["rtt_ms"][0].as_f64().unwrap();
    assert!((50.0..250.0).contains(&rtt), "{sent:#}");
    let delay = flow["delay_ms"][0].as_f64().unwrap();
    assert!((1.0..200.0).contains(&delay), "{sent:#}");
}

#[test]
fn an_interface_with_a_small_mtu_is_a_sentence_and_a_learned_mtu_is_ignored() {
    let inside = |script: &str| Outcome::of(Command::new("unshare").args(["-rn", "sh", "-c", script]));
    let can = Command::new("unshare").args(["-rn", "ip", "link", "set", "lo", "up", "mtu", "1000"]).output();
    if !can.is_ok_and(|output| output.status.success()) {
        println!("SKIPPED, without a network namespace");
        return;
    }
    let weir = env!("CARGO_BIN_EXE_weir");
    let outcome = inside(&format!("ip link set lo up mtu 1000; {weir} send 127.0.0.1 --quiet"));
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert!(
        outcome.stderr.contains("does not carry a packet of 1152 bytes without fragments (EMSGSIZE)"),
        "{outcome:#?}"
    );
    // A route with an MTU stands for one that ICMP, perhaps forged, has told the kernel.
    let route = "ip link set lo up; ip route add local 192.0.2.1 dev lo table local mtu 1000";
    let outcome = inside(&format!("{route}; {weir} send 192.0.2.1 --open --quiet"));
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert!(outcome.stderr.contains("there is no answer"), "{outcome:#?}");
}
