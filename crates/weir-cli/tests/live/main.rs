//! Real packets in real time: `make test-live`, which `make test` runs last and alone. Runs of 20 s take place side by side.
//!
//! Assertions that do not depend on time hold in every run, the others in conclusive runs. A thing that the machine lacks is skipped with
//! a sentence. `WEIR_REQUIRE=tun,tcp,fifo,ipv6` makes a skip a failure, and fewer than two conclusive runs in three. On a virtual machine
//! whose host takes the processors away, no run can be conclusive: a thread without work beside the runs shows that.
#![cfg(target_os = "linux")]

mod udp_call;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use weir_live::capabilities::Capabilities;
use weir_live::conclusive::{EMULATOR_MAX, EMULATOR_P99};
use weir_live::lateness::Lateness;
use weir_live::realtime::measure_idle_lateness;

/// A command line, by scenario and further arguments.
const RUNS: [(&str, &str); 5] = [
    ("constant", "--controller gcc,nada,scream-v2 --together 3 --compare"),
    ("constant", "--controller gcc --ipv6"),
    ("cubic-alone", "--compare"),
    ("beside-cubic", "--controller gcc"),
    ("coupled", ""),
];
/// Scenarios whose runs need the kernel's TCP.
const WITH_TCP: [&str; 2] = ["cubic-alone", "beside-cubic"];
/// Scenarios that one short run can judge: those beside TCP have many outcomes.
const JUDGED: [&str; 2] = ["constant", "cubic-alone"];

fn required(what: &str) -> bool {
    env::var("WEIR_REQUIRE").is_ok_and(|all| all.split(',').any(|one| one.trim() == what))
}

/// Whether the machine has it; says why not.
fn has(what: &str, found: &Result<(), String>) -> bool {
    if let Err(reason) = found {
        assert!(!required(what), "WEIR_REQUIRE={what}: {reason}");
        println!("SKIPPED, without {what}: {reason}");
    }
    found.is_ok()
}

fn scenario(name: &str) -> String {
    format!("{}/../../tests/reality/{name}.toml", env!("CARGO_MANIFEST_DIR"))
}

fn testbed(name: &str, arguments: &str) -> (Option<i32>, Value) {
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args([
            "testbed",
            &scenario(name),
            "--duration",
            "20s",
            "--set",
            "measure.to=20s",
            "--set",
            "measure.from=5s",
        ])
        .args(["--runs", "1", "--json", "--quiet"])
        .args(arguments.split_whitespace())
        .output()
        .expect("weir runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let json = serde_json::from_slice(&output.stdout);
    (output.status.code(), json.unwrap_or_else(|error| panic!("{name}: {error}: {text}")))
}

// Other tests beside it would make its runs inconclusive: `make test` calls it last, by `make test-live`.
#[test]
#[ignore = "make test-live: alone, in real time"]
fn runs_of_twenty_seconds_agree_with_the_simulator() {
    let capabilities = Capabilities::probe(&["cubic"]);
    let _fifo = has("fifo", &capabilities.realtime);
    let tun = has("tun", &capabilities.tun);
    let tcp = tun && has("tcp", &capabilities.tcp[0].1);
    let ipv6 = has("ipv6", &capabilities.udp_ipv6);
    let wanted = RUNS.iter().filter(|(name, arguments)| {
        (tcp || !WITH_TCP.contains(name)) && (ipv6 || !arguments.contains("--ipv6"))
    });
    let runs = AtomicBool::new(true);
    let (results, control): (Vec<_>, _) = thread::scope(|scope| {
        // As long as all runs, their repetitions and simulations included.
        let control = scope.spawn(|| measure_idle_lateness(|| runs.load(Ordering::Relaxed)));
        let all = wanted.map(|&(name, arguments)| (name, scope.spawn(move || testbed(name, arguments))));
        let all: Vec<_> = all.collect();
        let results: Vec<_> = all.into_iter().map(|(name, thread)| (name, thread.join())).collect();
        // Before a panic goes on: the control must end.
        runs.store(false, Ordering::Relaxed);
        let results = results.into_iter().map(|(name, result)| (name, result.expect("no panic"))).collect();
        (results, control.join().expect("no panic"))
    });
    let (mut conclusive, mut all) = (0, 0);
    for (name, (code, printed)) in &results {
        assert!(matches!(code, Some(0 | 1 | 3)), "{name}: {code:?}");
        for run in printed["runs"].as_array().expect("runs") {
            assert!(run["packets"].as_u64() > Some(500), "{name}: {run}");
            // Every packet has a fate, and no socket or device lost one.
            let count = |key: &str| run[key].as_u64().expect(key);
            assert_eq!(
                count("packets"),
                count("delivered") + count("dropped") + count("inside"),
                "{name}: {run}"
            );
            assert_eq!((count("lost_outside"), count("unknown")), (0, 0), "{name}: {run}");
            all += 1;
            let reasons = run["inconclusive"].as_array().expect("reasons");
            conclusive += usize::from(reasons.is_empty());
            for reason in reasons {
                println!("{name}: {reason}");
            }
        }
        let controllers = printed["summary"]["controllers"].as_array().expect("controllers");
        for one in controllers {
            let counts = has_conclusive_run(printed, one["name"].as_str().expect("a name"));
            for flow in one["flows"].as_array().expect("flows") {
                let measured = |key: &str| flow[key]["mean"].as_f64();
                if !counts {
                    // A run that is inconclusive twice enters no mean.
                    assert_eq!(measured("rate_bps"), None, "{name}: {flow}");
                    continue;
                }
                assert!(measured("rate_bps") > Some(1e5), "{name}: {flow}");
                // Round-trip times come of RTCP that was read.
                assert!(flow["kind"] == "tcp" || measured("min_rtt_ms") > Some(50.0), "{name}: {flow}");
            }
        }
        if JUDGED.contains(name) {
            for run in printed["compared"].as_array().expect("compared") {
                for one in run["compared"].as_array().expect("quantities") {
                    assert_ne!(one["agreement"], "differs", "{name}: {one}");
                }
            }
        }
    }
    println!("{conclusive} of {all} runs were conclusive");
    let stalled = control.as_ref().ok().filter(|control| is_late(control));
    if let Some(control) = stalled {
        let [median, p99, max] = control.summary_ms();
        println!(
            "THE MACHINE IS LATE: a thread without work woke up late by {median:.2} ms, p99 {p99:.2} ms, at most {max:.1} ms"
        );
    }
    let enough = 3 * conclusive >= 2 * all || stalled.is_some();
    assert!(!required("fifo") || enough, "{conclusive} of {all} runs were conclusive");
}

/// Whether a run of this controller is conclusive.
fn has_conclusive_run(printed: &Value, controller: &str) -> bool {
    let is_own = |run: &&Value| {
        run["run"].as_str().is_some_and(|name| name.split('/').rev().nth(1) == Some(controller))
    };
    let runs = printed["runs"].as_array().expect("runs").iter().filter(is_own);
    runs.into_iter().any(|run| run["inconclusive"].as_array().is_some_and(Vec::is_empty))
}

/// Whether a thread without work misses the limits of a conclusive run.
fn is_late(control: &Lateness) -> bool {
    control.percentile(0.99) > EMULATOR_P99 || control.max() > EMULATOR_MAX
}

/// A row with two seeds of a small scenario.
const ROW: &str = r#"
title = "Constant traffic"
seeds = { quick = 2, full = 2 }
[scenario]
title = "Constant traffic"
duration = "3s"
[scenario.links.there]
from = "left"
to = "right"
rate = "1Mbps"
[scenario.links.back]
from = "right"
to = "left"
rate = "1Mbps"
[scenario.flows.flow]
kind = "constant"
from = "left"
to = "right"
rate = "500kbps"
[variants.plain]
[[claims]]
id = "half"
class = "NUM"
claim = "half of the link is used"
paper = 0.5
of = "plain:links.there.utilisation.bits"
accept = { min = 0.48, max = 0.52 }
"#;

#[test]
#[ignore = "make test-live: alone, in real time"]
fn a_row_is_judged_on_the_real_runs_that_count() {
    let place = tempfile::tempdir().expect("a directory");
    let row = place.path().join("row.toml");
    fs::write(&row, ROW).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["reproduce", row.to_str().expect("text"), "--live", "--jobs", "2", "--json", "--quiet"])
        .output()
        .expect("weir runs");
    let printed: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let runs = printed["runs"].as_array().expect("runs");
    let conclusive =
        runs.iter().filter(|run| run["inconclusive"].as_array().is_some_and(Vec::is_empty)).count();
    assert_eq!(output.status.code(), Some(if conclusive == 2 { 0 } else { 3 }), "{printed}");
    assert!(runs.iter().all(|run| run["packets"].as_u64() > Some(100)), "{printed}");
    let claim = &printed["claims"][0];
    let (judged, verdict) = (claim["measured"]["runs"].as_u64(), claim["verdict"].as_str());
    assert_eq!(judged, Some(conclusive as u64), "{printed}");
    assert_eq!(verdict, Some(if conclusive > 0 { "reproduced" } else { "undecided" }), "{printed}");
}

/// Network namespaces of all processes, and the devices of this one.
fn leavings() -> (BTreeSet<String>, BTreeSet<String>) {
    let processes = fs::read_dir("/proc").expect("/proc").flatten();
    let namespaces = processes.filter_map(|entry| fs::read_link(entry.path().join("ns/net")).ok());
    let namespaces = namespaces.map(|link| link.to_string_lossy().into_owned()).collect();
    let devices = fs::read_dir("/sys/class/net").expect("devices").flatten();
    (namespaces, devices.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
}

// Namespaces of tests beside it would come and go: `make test` calls it last, by `make test-live`.
#[test]
#[ignore = "make test-live: alone, in real time"]
fn a_killed_run_leaves_nothing_behind() {
    if !has("tun", &Capabilities::probe(&[]).tun) {
        return;
    }
    let before = leavings();
    let mut child = Command::new(env!("CARGO_BIN_EXE_weir"))
        .args(["testbed", &scenario("beside-cubic"), "--runs", "1", "--json", "--quiet"])
        .stdout(Stdio::null())
        .spawn()
        .expect("weir runs");
    let tasks = format!("/proc/{}/task", child.id());
    // The threads of the run are there once it has begun.
    let begun = (0..200).any(|_| {
        thread::sleep(Duration::from_millis(50));
        fs::read_dir(Path::new(&tasks)).is_ok_and(|tasks| tasks.count() > 4)
    });
    assert!(begun, "the run begins within 10 s");
    child.kill().expect("SIGKILL");
    child.wait().expect("an end");
    assert_eq!(leavings(), before);
}
