//! Duration and memory of whole scenarios, metrics included: the figures of `docs/performance.md`.
//!
//! Each is run 15 times, a long one 3 times, on one thread. The minimum is the best that the machine can do, the median its usual
//! duration. An argument selects those whose name contains it.
#![expect(unsafe_code, reason = "a global allocator that counts is an unsafe trait")]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Instant;

use weir_import::traces::TraceStore;
use weir_measure::metrics::Measured;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_study::runs::Task;

/// Runs of each benchmark but long ones.
const ROUNDS: usize = 15;

/// A benchmark and its limits.
struct Benchmark {
    label: &'static str,
    scenario: &'static str,
    /// Changes to the shipped scenario.
    set: &'static str,
    /// The controller, unless it is the scenario's own.
    controller: Option<&'static str>,
    series: bool,
    rounds: usize,
    most_ms: f64,
    most_mb: f64,
}

/// A benchmark of `scenario` that may take `most_ms` ms and 10 MB.
const fn benchmark(label: &'static str, scenario: &'static str, most_ms: f64) -> Benchmark {
    Benchmark {
        label,
        scenario,
        set: "",
        controller: None,
        series: false,
        rounds: ROUNDS,
        most_ms,
        most_mb: 10.0,
    }
}

/// `bench/cbr` with another queue at the bottleneck.
const fn queue(label: &'static str, set: &'static str) -> Benchmark {
    Benchmark { set, ..benchmark(label, "bench/cbr", f64::INFINITY) }
}

const CALL: &str = "gcc-2016/variable-capacity";

const BENCHMARKS: [Benchmark; 12] = [
    benchmark("bench/cbr", "bench/cbr", 12.0),
    benchmark("bench/tcp", "bench/tcp", 350.0),
    benchmark("one call, 200 s", CALL, 12.0),
    Benchmark { series: true, most_mb: f64::INFINITY, ..benchmark("one call, 200 s, series", CALL, 25.0) },
    Benchmark { controller: Some("nada"), ..benchmark("one NADA call, 200 s", CALL, f64::INFINITY) },
    benchmark("gcc-2016/tcp-99", "gcc-2016/tcp-99", 1200.0),
    Benchmark { rounds: 3, most_mb: 85.0, ..benchmark("bench/calls-1000", "bench/calls-1000", 25_000.0) },
    queue("bench/cbr, CoDel", "dumbbell.bottleneck.queue={ discipline = \"codel\" }"),
    queue("bench/cbr, FQ-CoDel", "dumbbell.bottleneck.queue={ discipline = \"fq-codel\" }"),
    queue("bench/cbr, PIE", "dumbbell.bottleneck.queue={ discipline = \"pie\" }"),
    queue("bench/cbr, RED", "dumbbell.bottleneck.queue={ discipline = \"red\" }"),
    queue("bench/cbr, DualPI2", "dumbbell.bottleneck.queue={ discipline = \"dualpi2\" }"),
];

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is handed to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Seconds, delivered packets, and bytes of heap above those at the start.
fn run(scenario: &Scenario, store: &TraceStore, benchmark: &Benchmark) -> (f64, f64, usize) {
    let &Benchmark { controller, series, .. } = benchmark;
    let start = NOW.load(Relaxed);
    PEAK.store(start, Relaxed);
    let began = Instant::now();
    let task = Task::new(String::new(), scenario, RunOptions { seed: 1, controller, series });
    let Measured { metrics, series, .. } = task.run(store).expect("it ships").measured;
    let seconds = began.elapsed().as_secs_f64();
    black_box(series);
    let packets = metrics.flows.iter().filter_map(|flow| flow.received.packets).sum();
    (seconds, packets, PEAK.load(Relaxed) - start)
}

fn main() -> ExitCode {
    let mut exit = ExitCode::SUCCESS;
    println!(
        "{:<26}{:>12}{:>12}{:>14}{:>12}{:>10}",
        "", "minimum ms", "median ms", "packets", "ns/packet", "heap MB"
    );
    let store = TraceStore::at(None);
    let wanted = std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default();
    for benchmark in BENCHMARKS.iter().filter(|benchmark| benchmark.label.contains(&wanted)) {
        let &Benchmark { label, set, most_ms, most_mb, .. } = benchmark;
        let set: Vec<String> =
            Some(set).filter(|set| !set.is_empty()).map(str::to_owned).into_iter().collect();
        let scenario = Scenario::open(benchmark.scenario, &set).expect("it ships");
        let mut rounds: Vec<_> = (0..benchmark.rounds).map(|_| run(&scenario, &store, benchmark)).collect();
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (minimum, packets, _) = rounds[0];
        let median = rounds[rounds.len() / 2].0;
        let heap = rounds.iter().map(|round| round.2).max().unwrap_or(0) as f64 / 1e6;
        let over = minimum * 1e3 > most_ms || heap > most_mb;
        if over {
            exit = ExitCode::FAILURE;
        }
        let over = if over { "  over its bar" } else { "" };
        println!(
            "{label:<26}{:>12.2}{:>12.2}{packets:>14.0}{:>12.0}{heap:>10.2}{over}",
            minimum * 1e3,
            median * 1e3,
            minimum * 1e9 / packets
        );
    }
    exit
}
