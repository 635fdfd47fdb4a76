//! Requirements on every controller of the registry over a whole path. The cases are two hours alone, clocks that drift apart or
//! are set, and changing paths. Others are lost reports, a range of rates far above the path, and short round trips.
//!
//! `make test` runs a short form, `make test-long` (`WEIR_LONG=1`) the bounds' own times and every path.

mod climb;
mod large_range;
mod lost_reports;
mod short_trips;
mod skew;
mod steps;
mod two_hours;
mod verdict;

use std::sync::LazyLock;

use weir_import::traces::TraceStore;
use weir_measure::results::{FlowMeasures, RunMetrics, Value};
use weir_scenario::compile::RunOptions;
use weir_scenario::registry::Registry;
use weir_scenario::scenario::{Clocks, Scenario};
use weir_study::runs::{NoStore, Runner, Task};

/// Ratios of one-way delays mean nothing between clocks that are hours apart; this controller reports so.
pub(crate) const NEEDS_SYNCHRONISED_CLOCKS: &[&str] = &["nada-dccc"];

/// A flow alone on 3 Mbit/s, 25 ms each way; the long runs use the same path with a longer queue.
const ALONE: &str = r#"
title = "One flow alone"
duration = "120s"

[links.forward]
from = "here"
to = "there"
delay = "25ms"
rate = "3Mbps"
queue = { time = "300ms" }

[links.back]
from = "there"
to = "here"
delay = "25ms"
rate = "10Mbps"
queue = { time = "300ms" }

[flows.video]
kind = "media"
from = "here"
to = "there"
controller = "gcc"
encoder = { preset = "papers", min_rate = "50kbps", max_rate = "10Mbps" }
rates = { min = "50kbps", start = "300kbps", max = "10Mbps" }
"#;

/// The capacity of [`ALONE`] in bit/s.
const CAPACITY: f64 = 3e6;

/// Whether the long form is asked for.
pub(super) fn long() -> bool {
    std::env::var_os("WEIR_LONG").is_some_and(|value| value == "1")
}

/// The runs of a controller, one for each variant of the path.
struct Runs {
    controller: &'static str,
    metrics: Vec<RunMetrics>,
}

/// [`ALONE`] under every controller, with the settings of each variant.
fn of_every_controller(variants: &[Vec<String>]) -> Vec<Runs> {
    static REGISTRY: LazyLock<Registry> = LazyLock::new(Registry::standard);
    let controllers: Vec<&str> = REGISTRY.controller_names().collect();
    let mut metrics = simulate(&controllers, variants).into_iter();
    controllers
        .iter()
        .map(|&controller| Runs { controller, metrics: metrics.by_ref().take(variants.len()).collect() })
        .collect()
}

/// Controller by controller, the run of each variant.
fn simulate(controllers: &[&str], variants: &[Vec<String>]) -> Vec<RunMetrics> {
    let parsed = |sets: &Vec<String>| Scenario::parse("alone", ALONE, sets).unwrap_or_else(|e| panic!("{e}"));
    let apart: Vec<Scenario> = variants.iter().map(parsed).collect();
    let synchronised: Vec<Scenario> = apart.iter().map(synchronised).collect();
    let tasks = controllers.iter().flat_map(|&controller| {
        let scenarios = if NEEDS_SYNCHRONISED_CLOCKS.contains(&controller) { &synchronised } else { &apart };
        let options = RunOptions { seed: 1, controller: Some(controller), series: false };
        scenarios.iter().map(move |scenario| Task::new(controller.to_owned(), scenario, options))
    });
    let jobs = std::thread::available_parallelism().map_or(1, usize::from);
    let runner = Runner { jobs, done: &|| () };
    let tasks: Vec<Task<'_>> = tasks.collect();
    runner
        .run(&tasks, &TraceStore::at(None), &NoStore, |_, ran| ran.measured.metrics)
        .unwrap_or_else(|e| panic!("{e}"))
}

/// The same scenario with synchronised clocks.
fn synchronised(apart: &Scenario) -> Scenario {
    let mut scenario = apart.clone();
    scenario.clocks = Clocks::Synchronised;
    scenario
}

fn set(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Rate received on the wire, in bit/s; 0 without any data.
fn rate(run: &RunMetrics) -> f64 {
    run.flows[0].rate_bps.unwrap_or(0.0)
}

/// The median queuing delay at the bottleneck, in ms.
fn median_queue(run: &RunMetrics) -> f64 {
    let FlowMeasures { queue_wait_ms, .. }: &FlowMeasures<Value> = &run.flows[0];
    queue_wait_ms.p50.unwrap_or(f64::INFINITY)
}
