//! Cost of coupling per run: `bench/tcp`, ten NewReno flows, coupled by ctrlTCP beside the same uncoupled.
//!
//! The two are run in turn, so that other load of the machine affects both. The minimum of each counts. Both measure queues,
//! which a report of coupled flows always does.
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::hint::black_box;
use std::process::ExitCode;
use std::time::Instant;

use weir_import::traces::TraceStore;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::runs::Task;

const ROUNDS: usize = 15;
/// Limit of the coupled run's time, in times of the uncoupled run.
const MOST: f64 = 1.1;

/// Nanoseconds per packet that was delivered.
fn run(scenario: &Scenario, store: &TraceStore) -> f64 {
    let began = Instant::now();
    let options = RunOptions { seed: 1, ..RunOptions::default() };
    let measured = Task::new(String::new(), scenario, options).run(store).expect("it ships").measured;
    let seconds = began.elapsed().as_secs_f64();
    let packets: f64 = measured.metrics.flows.iter().filter_map(|flow| flow.received.packets).sum();
    black_box(measured);
    seconds * 1e9 / packets
}

fn main() -> ExitCode {
    let store = TraceStore::at(None);
    let scenarios = ["none", "ctrltcp"].map(|algorithm| {
        let coupling = format!("coupling={{ all = {{ flows = [\"bulk\"], algorithm = \"{algorithm}\" }} }}");
        Scenario::open("bench/tcp", &[coupling, "measure.queues=true".to_owned()]).expect("it ships")
    });
    let mut least = [f64::INFINITY; 2];
    for _ in 0..ROUNDS {
        for (least, scenario) in least.iter_mut().zip(&scenarios) {
            *least = least.min(run(scenario, &store));
        }
    }
    let [alone, coupled] = least;
    let ratio = coupled / alone;
    let over = ratio > MOST;
    println!(
        "bench/tcp coupled by ctrltcp: {coupled:.0} ns/packet, uncoupled {alone:.0}, {ratio:.3} times (bar {MOST}){}",
        if over { "  over its bar" } else { "" }
    );
    if over { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
