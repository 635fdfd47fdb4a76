//! The example of a call over UDP with an embedder's packets, over emulated links in real time.

use std::fs;
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use weir_cc::{DataRate, RateLimits};
use weir_registry::Registry;

#[path = "../../../weir-media/examples/udp_call.rs"]
#[expect(dead_code, reason = "its `main` prints")]
mod example;

/// Seconds of the call: 20 with the first capacity, then the second.
const SECONDS: usize = 50;
/// Second from which the picture does not move.
const STILL: usize = 40;
/// Pictures in a second.
const PICTURES: usize = 30;
/// Bytes of the RTP, UDP and IP headers.
const HEADERS: usize = 24 + 28;
/// Most bytes of a packet, with a payload of 1200 and an original sequence number.
const LONGEST_PACKET: usize = 1200 + 2 + HEADERS;
/// Capacities in kbit/s.
const CAPACITIES: [usize; 2] = [2500, 800];
const LINKS: &str = r#"
title = "2.5 Mbit/s, and 0.8 Mbit/s from 20 s on"
duration = "60s"

[links.forward]
from = "near"
to = "far"
delay = "25ms"
steps = [{ at = "0s", rate = "2500kbps" }, { at = "20s", rate = "800kbps" }]
queue = { time = "300ms" }

[links.back]
from = "far"
to = "near"
delay = "25ms"
rate = "100Mbps"
queue = { time = "300ms" }

[flows.call]
kind = "media"
from = "near"
to = "far"
controller = "gcc"
"#;

/// Whether a socket on 127.0.0.1 has the port.
fn is_bound(port: u16) -> bool {
    let sockets = fs::read_to_string("/proc/net/udp").unwrap();
    sockets.contains(&format!(" 0100007F:{port:04X} "))
}

/// Bytes that arrive in each second under the controller.
fn call(name: &str) -> Vec<usize> {
    let kbps = DataRate::from_kbps;
    let limits = RateLimits::new(kbps(50), kbps(1000), kbps(5000)).unwrap();
    let controller = Registry::standard().build_by_packets(name, None, limits, 1.0).unwrap();
    let far = UdpSocket::bind("127.0.0.1:0").unwrap();
    let near = UdpSocket::bind("127.0.0.1:0").unwrap();
    let listen = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let links = std::env::temp_dir().join(format!("udp-call-{name}-{}.toml", std::process::id()));
    fs::write(&links, LINKS).unwrap();
    let udp = format!("{listen}={}", far.local_addr().unwrap());
    let mut emulator = Command::new(env!("CARGO_BIN_EXE_weir"))
        .arg("emulate")
        .arg(&links)
        .args(["--quiet", "--udp", &udp])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("weir runs");
    while !is_bound(listen.port()) {
        assert_eq!(emulator.try_wait().unwrap(), None, "the emulator ends");
        thread::sleep(Duration::from_millis(1));
    }
    near.connect(listen).unwrap();
    let sender =
        thread::spawn(move || example::send(&near, controller, limits, SECONDS as u64 + 1, STILL as u64));
    let received = example::receive(&far, SECONDS).unwrap();
    sender.join().expect("no panic").unwrap();
    emulator.kill().unwrap();
    emulator.wait().unwrap();
    fs::remove_file(&links).unwrap();
    received
}

// In real time and alone: the runs of another test beside it would be inconclusive.
#[test]
#[ignore = "make test-live: in real time"]
fn an_embedders_call_over_udp_takes_most_of_the_link_and_no_more() {
    let names = ["gcc", "nada-at-sender", "scream-v2"];
    let calls: Vec<_> = names.map(|name| (name, thread::spawn(move || call(name)))).into_iter().collect();
    for (name, call) in calls {
        let seconds = call.join().expect("no panic");
        for (capacity, from) in CAPACITIES.into_iter().zip([10, 30]) {
            let bytes: usize = seconds[from..from + 10].iter().sum();
            let carried = capacity * 10 * 1000 / 8;
            println!("udp_call, {name}: {:.3} of {capacity} kbit/s", bytes as f64 / carried as f64);
            assert!(10 * bytes >= 8 * carried, "{name}: {bytes} of {carried} bytes: {seconds:?}");
            // A packet that began before the ten seconds may end in them.
            assert!(bytes <= carried + LONGEST_PACKET, "{name}: {bytes} of {carried} bytes: {seconds:?}");
        }
        // Frames are a twentieth of the target then, and neither padding nor probes take the place of the rest.
        let still: usize = seconds[STILL + 5..].iter().sum();
        let (least, carried) = ((SECONDS - STILL - 5) * PICTURES * HEADERS, CAPACITIES[1] * 5 * 1000 / 8);
        println!("udp_call, {name}: {:.3} of 800 kbit/s with a still picture", still as f64 / carried as f64);
        assert!((least..=carried / 8).contains(&still), "{name}: {still} of {carried} bytes: {seconds:?}");
    }
}
