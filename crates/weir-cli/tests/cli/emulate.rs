//! `weir emulate`: real programs behind an emulated path. Each test says aloud what the machine does not allow.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::fs;
use std::net::UdpSocket;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use weir_live::capabilities::{Availability, Capabilities};
use weir_live::clock::RunClock;
use weir_net::Time;

use crate::support::{GOOD, Outcome, Place};

/// Time within which anything in a test must happen.
const LIMIT: Duration = Duration::from_secs(20);
/// Parts of this time in which something is looked for.
const STEPS: u32 = 2000;

/// Server that counts the bytes of one connection and answers with the number.
const SERVER: &str = "import socket
s = socket.create_server(('', 5000))
s.settimeout(20)
c, _ = s.accept()
c.settimeout(20)
n = 0
while b := c.recv(65536):
    n += len(b)
c.sendall(str(n).encode())
";
/// Client that prints the time of the handshake, and that of a transfer with its answer.
const CLIENT: &str = "import os, socket, time
def now(): return time.monotonic()
t = now()
c = socket.create_connection((os.environ['WEIR_FAR'], 5000), 20)
shake = now() - t
t = now()
c.sendall(bytes(250000))
c.shutdown(socket.SHUT_WR)
n = int(c.recv(100))
print(shake, now() - t, n)
";

/// Whether something that is needed is there; if not, the reason is printed.
fn has(what: &str, availability: &Availability) -> bool {
    if let Err(reason) = availability {
        println!("SKIPPED, without {what}: {reason}");
    }
    availability.is_ok()
}

fn has_tun() -> bool {
    has("TUN", &Capabilities::probe(&[]).tun)
}

fn has_python() -> bool {
    let found = Command::new("python3").arg("--version").output().map(drop);
    has("python3", &found.map_err(|error| error.to_string()))
}

/// The report of `--json`, the last line.
fn report(outcome: &Outcome) -> Value {
    serde_json::from_str(outcome.last_line()).unwrap_or_else(|error| panic!("{error}: {outcome:#?}"))
}

#[test]
fn a_transfer_takes_the_delay_and_the_rate_of_the_path() {
    if !(has_tun() && has_python()) {
        return;
    }
    let place = Place::new();
    place.write("server.py", SERVER);
    place.write("client.py", CLIENT);
    let options = ["emulate", "--rate", "2Mbps", "--delay", "30ms", "--far", "python3 server.py", "--json"];
    let rest = ["--pcap", "path.pcapng", "--", "python3", "client.py"];
    let outcome = place.call(&[&options[..], &rest].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
    let first = outcome.stdout.lines().next().unwrap();
    let times: Vec<f64> = first.split(' ').map(|number| number.parse().unwrap()).collect();
    let [shake, transfer, bytes] = times[..] else { panic!("{first}") };
    assert!(shake >= 0.06, "the handshake took {shake} s, and the round trip has 60 ms");
    // 250 kB at 2 Mbit/s.
    assert!(transfer >= 1.0 && bytes == 250_000.0, "{first}");
    let report = report(&outcome);
    let [forward, back] = ["forward", "back"].map(|name| &report[name]);
    assert!(forward["packets"].as_u64() > Some(170) && back["packets"].as_u64() > Some(10), "{report}");
    assert!(forward["queue_p95_ms"].as_f64() > forward["queue_p50_ms"].as_f64(), "{report}");
    // The last packets may still be inside.
    let count = |key: &str| forward[key].as_u64().unwrap();
    let gone = count("delivered") + count("dropped") + count("lost");
    assert!((gone..gone + 5).contains(&count("packets")), "{report}");
    assert_eq!(report["not_captured"], 0, "{report}");
    let capture = fs::read(place.path().join("path.pcapng")).unwrap();
    assert!(capture.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]));
    // Both sides of the bottleneck have the 250 kB.
    assert!(capture.len() > 500_000, "{}", capture.len());
}

#[test]
fn the_exit_code_is_that_of_the_program() {
    if !has_tun() {
        return;
    }
    let place = Place::new();
    place.write("call.toml", GOOD);
    for (script, code) in [("exit 7", 7), ("true", 0), ("kill -9 $$", 137)] {
        let outcome = place.call(&["emulate", "--rate", "1Mbps", "--quiet", "--", "sh", "-c", script]);
        assert_eq!(outcome.code, Some(code), "{script}: {outcome:#?}");
    }
    let script = "echo $WEIR_NEAR $WEIR_FAR; exit 3";
    let outcome = place.call(&["emulate", "call.toml", "--", "sh", "-c", script]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(3), "10.84.1.1 10.84.2.1\n"), "{outcome:#?}");
    assert!(outcome.stderr.contains("queue p50") && outcome.stderr.contains("emulator late"), "{outcome:#?}");
    place.write("up.mahi", "1\n2\n3\n");
    let outcome = place.call(&["emulate", "up.mahi", "up.mahi", "--quiet", "--", "true"]);
    assert_eq!(outcome.code, Some(0), "{outcome:#?}");
}

#[test]
fn the_program_runs_as_the_user_who_called_sudo_and_reaches_nothing_else() {
    if !has_tun() {
        return;
    }
    let place = Place::new();
    let script = "id -u; id -g; id -G; grep -E 'Cap(Prm|Eff|Inh|Amb)' /proc/self/status; cat /proc/net/route";
    let arguments = ["emulate", "--rate", "1Mbps", "--quiet", "--", "sh", "-c", script];
    let mut command = place.command(&arguments);
    let outcome = Outcome::of(command.env("SUDO_UID", "65534").env("SUDO_GID", "65534"));
    // Without root, as in a user namespace, there is no other user.
    if outcome.stderr.contains("Operation not permitted") || outcome.stderr.contains("Invalid argument") {
        println!("SKIPPED, without the right to change the user: {}", outcome.stderr);
        return;
    }
    let lines: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!(lines[..3], ["65534"; 3], "{outcome:#?}");
    let capabilities = lines.iter().filter(|line| line.starts_with("Cap"));
    assert_eq!(capabilities.filter(|line| line.ends_with("\t0000000000000000")).count(), 4, "{outcome:#?}");
    let routes: Vec<&&str> = lines.iter().filter(|line| line.starts_with("weir0")).collect();
    assert!(routes.len() == 1 && !routes[0].contains("\t00000000\t00000000\t0003"), "{outcome:#?}");
}

/// Processes of the command and of these tests' programs, links, named namespaces and ports of the machine.
fn left_behind(marker: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir("/proc").unwrap().filter_map(Result::ok) {
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(marker) {
            found.insert(format!("process {line}"));
        }
    }
    let names = |place: &str| {
        let entries = fs::read_dir(place).into_iter().flatten().filter_map(Result::ok);
        entries.map(|entry| format!("{place}/{}", entry.file_name().to_string_lossy())).collect::<Vec<_>>()
    };
    found.extend(names("/sys/class/net"));
    found.extend(names("/run/netns"));
    found
}

fn wait_until(what: &str, is: impl Fn() -> bool) {
    let happened = (0..STEPS).any(|_| {
        thread::sleep(LIMIT / STEPS);
        is()
    });
    assert!(happened, "{what}");
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("sh").args(["-c", "kill -$0 $1", signal, &pid]).status().unwrap().success());
}

/// Whether SIGINT or SIGTERM waits to be read by the child.
fn has_pending_signals(child: &Child) -> bool {
    const READ: u64 = 1 << (2 - 1) | 1 << (15 - 1);
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
    let mut masks = status.lines().filter_map(|line| line.strip_prefix("ShdPnd:"));
    masks.any(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & READ != 0)
}

/// The exit code of a child that ends in time.
fn ended(mut child: Child) -> Option<i32> {
    for _ in 0..STEPS {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code();
        }
        thread::sleep(LIMIT / STEPS);
    }
    child.kill().unwrap();
    panic!("the command does not end");
}

/// The command is stopped by these signals while it has programs in the background at both ends.
fn leaves_nothing(seconds: &str, trap: &str, signals: &[&str], code: Option<i32>) {
    let marker = format!("sleep {seconds}");
    let before = left_behind(&marker);
    let place = Place::new();
    let far = format!("{marker} & {marker}; true");
    let near = format!("{trap} echo > started; {marker} & {marker}; true");
    let arguments = ["emulate", "--rate", "1Mbps", "-q", "--far", &far, "--", "sh", "-c", &near];
    let weir = place.command(&arguments);
    // Programs that a shell starts in the background ignore SIGINT, and so would all that these tests start.
    let mut command = Command::new("env");
    command.arg("--default-signal=INT").arg(weir.get_program()).args(weir.get_args());
    command.envs(weir.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(place.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the program starts", || place.path().join("started").exists());
    for signal in signals {
        send(signal, &child);
        // Two signals of one kind are one while neither has been read.
        wait_until("the signal is read", || !has_pending_signals(&child));
    }
    assert_eq!(ended(child), code, "{signals:?}");
    wait_until("something is left", || left_behind(&marker) == before);
}

#[test]
fn interfaces_are_removed_however_it_ends() {
    if !has_tun() {
        return;
    }
    let cases: [(&str, &str, &[&str], Option<i32>); 4] = [
        ("98761", "", &["INT"], Some(130)),
        ("98762", "", &["TERM"], Some(143)),
        ("98763", "trap '' INT;", &["INT", "INT"], Some(137)),
        ("98764", "", &["KILL"], None),
    ];
    thread::scope(|scope| {
        for (seconds, trap, signals, code) in cases {
            scope.spawn(move || leaves_nothing(seconds, trap, signals, code));
        }
    });
}

#[test]
fn a_forwarder_of_datagrams_delays_both_ways_and_frees_its_port() {
    let place = Place::new();
    let peer = UdpSocket::bind("127.0.0.1:0").unwrap();
    let client = UdpSocket::bind("127.0.0.1:0").unwrap();
    for socket in [&peer, &client] {
        socket.set_read_timeout(Some(LIMIT)).unwrap();
    }
    // A port that was free just now.
    let listen = UdpSocket::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let udp = format!("{listen}={}", peer.local_addr().unwrap());
    let arguments = ["emulate", "--rate", "1Mbps", "--delay", "30ms", "--json", "--udp", &udp];
    let child = place.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    wait_until("the forwarder listens", || UdpSocket::bind(listen).is_err());
    let in_use = place.call(&arguments);
    assert_eq!(in_use.code, Some(2), "{in_use:#?}");
    assert_eq!(in_use.stderr.lines().count(), 1, "{in_use:#?}");
    let mut bytes = [0; 2000];
    let clock = RunClock::start();
    client.send_to(&[1; 1000], listen).unwrap();
    let (length, from) = peer.recv_from(&mut bytes).unwrap();
    let there = clock.now();
    peer.send_to(&[2; 10], from).unwrap();
    let (answer, back_from) = client.recv_from(&mut bytes).unwrap();
    let both = clock.now();
    assert_eq!((length, answer, back_from), (1000, 10, listen));
    // 1028 bytes at 1 Mbit/s take 8 ms.
    assert!(there >= Time::from_millis(38) && both >= Time::from_millis(68), "{there:?}, {both:?}");
    send("INT", &child);
    let output = child.wait_with_output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!((&report["forward"]["delivered"], &report["back"]["delivered"]), (&1.into(), &1.into()));
    drop(UdpSocket::bind(listen).unwrap());
}

#[test]
fn wrong_arguments_are_one_sentence() {
    let place = Place::new();
    place.write("call.toml", GOOD);
    let refused = |arguments: &[&str], said: &str| {
        let before = place.tree("");
        let outcome = place.call(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments:?}: {outcome:#?}");
        assert!(outcome.stderr.contains(said) && outcome.stdout.is_empty(), "{arguments:?}: {outcome:#?}");
        assert_eq!(place.tree(""), before);
    };
    refused(&["emulate", "--", "true"], "there are no links");
    refused(&["emulate", "--rate", "1Mbps"], "there is no program");
    refused(&["emulate", "--rate", "0bps", "--", "true"], "must be above zero");
    refused(&["emulate", "--rate", "1Mbps", "--delay", "-5ms", "--", "true"], "--delay");
    refused(&["emulate", "--rate", "1Mbps", "--delay", "1000s", "--", "true"], "must be from 0s to 10min");
    refused(&["emulate", "--rate", "1Mbps", "--loss", "101%", "--", "true"], "a share from 0% to 100%");
    refused(&["emulate", "--rate", "1Mbps", "--loss", "NaN", "--", "true"], "a share from 0% to 100%");
    refused(&["emulate", "./no.mahi", "./no.mahi", "--", "true"], "no.mahi");
    refused(&["emulate", "no-scenario", "--", "true"], "no-scenario");
    refused(&["emulate", "call.toml", "--delay", "5ms", "--", "true"], "change the scenario");
    refused(&["emulate", "call.toml", "--rate", "5Mbps", "--", "true"], "rates of their own");
    refused(&["emulate", "--rate", "1Mbps", "--udp", "5000"], "LISTEN=PEER");
    refused(&["emulate", "--rate", "1Mbps", "--udp", "127.0.0.1:0=nowhere"], "no address with a port");
    if has_tun() {
        refused(&["emulate", "--rate", "1Mbps", "--", "no-such-program"], "cannot be started");
        refused(&["emulate", "--rate", "1Mbps", "--far", "no-such-program", "--", "true"], "cannot start it");
    }
}

#[test]
fn once_the_program_runs_weir_is_a_process_of_the_caller() {
    if !has_tun() {
        return;
    }
    let place = Place::new();
    let mut command =
        place.command(&["emulate", "--rate", "1Mbps", "--quiet", "--pcap", "a.pcapng", "--", "sleep", "30"]);
    let mut child = command.env("SUDO_UID", "65534").env("SUDO_GID", "65534").spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let has = |line: &str| fs::read_to_string(&status).is_ok_and(|text| text.lines().any(|one| one == line));
    let dropped = (0..200).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        has("Uid:\t65534\t65534\t65534\t65534") || child.try_wait().unwrap().is_some()
    });
    let gone = child.try_wait().unwrap();
    let capabilities = has("CapPrm:\t0000000000000000") && has("CapEff:\t0000000000000000");
    let groups = has("Gid:\t65534\t65534\t65534\t65534");
    // Ends the program by the way it has to.
    let ended = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap();
    if gone.is_some() {
        println!("SKIPPED, without the right to change the user");
        return;
    }
    assert!(dropped && capabilities && groups && ended.success(), "{code:?}");
    assert_eq!(code.code(), Some(143));
    let owner = std::os::unix::fs::MetadataExt::uid(&fs::metadata(place.path().join("a.pcapng")).unwrap());
    assert_eq!(owner, 65534);
}

#[test]
fn emulations_that_cannot_start_leave_no_capture() {
    if !has_tun() {
        return;
    }
    let place = Place::new();
    let outcome = place.call(&["emulate", "--rate", "1Mbps", "--pcap", "a.pcapng", "--", "no-such-program"]);
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    assert!(!place.path().join("a.pcapng").exists());
}

#[test]
fn a_forwarder_needs_a_peer_with_an_address() {
    let place = Place::new();
    for udp in ["127.0.0.1:0=:5000", "127.0.0.1:0=0.0.0.0:5000", "127.0.0.1:0=127.0.0.1:0"] {
        let outcome = place.call(&["emulate", "--rate", "1Mbps", "--udp", udp]);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.stderr.contains("it needs an address and a port"), "{outcome:?}");
    }
}
