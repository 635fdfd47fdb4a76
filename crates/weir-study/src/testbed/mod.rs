//! Scenarios over real sockets: a world of runs beside the simulator, and the comparison of both.

mod agreement;
mod distribution;
mod noise;

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::sync::mpsc::SyncSender;
use std::sync::{Condvar, Mutex, PoisonError};

use schemars::{JsonSchema, Schema, schema_for};
use serde::Serialize;
use weir_import::traces::TraceStore;
use weir_live::capture::{CapturedPacket, captured_links};
use weir_live::run::{FaceKind, LiveOptions, LiveReport};
use weir_measure::metrics::Recorder;
use weir_measure::results::{RunMetrics, Summary};
use weir_net::Time;
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_world::RunSpec;

use crate::runs::{Plan, RunError, RunWorld, Task, WorldRun};

pub use agreement::{Agreement, Compared, compare};
pub use distribution::{DistributionBeside, LEAST_RUNS, compare_distributions};
pub use noise::{HostNoise, LatenessDistribution};

/// Processor time of emulators that may be used, as a share of one core.
const MOST_CPU: f64 = 0.5;
/// Most runs at a time.
pub const MOST_TOGETHER: u32 = 16;
/// Simulated runs beside a real one.
pub const SIMULATED_RUNS: u64 = 20;

/// Record of a real run, beside its metrics.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LiveRun {
    /// Name of the run: scenario, controller and seed.
    pub run: String,
    /// The face: `udp` or `tun`.
    pub face: &'static str,
    /// Why the run is inconclusive; empty for a conclusive run.
    pub inconclusive: Vec<String>,
    /// Whether it is the repetition of an inconclusive run.
    pub repeated: bool,
    /// Lateness of the emulator's deliveries in ms: median, 99th percentile, maximum.
    pub emulator_late_ms: [f64; 3],
    /// The same of the senders' timers.
    pub senders_late_ms: [f64; 3],
    /// Processor time of the emulator over the duration of the run.
    pub emulator_cpu: f64,
    /// The same of the receivers' timers.
    pub receivers_late_ms: [f64; 3],
    /// Packets that entered the emulator.
    pub packets: u64,
    /// Packets that were handed to a host.
    pub delivered: u64,
    /// Packets that links dropped.
    pub dropped: u64,
    /// Packets that were still inside at the end.
    pub inside: u64,
    /// Packets lost outside of the links.
    pub lost_outside: u64,
    /// Packets between hosts that fit no flow; they count as lost outside.
    pub unknown: u64,
    /// Steps of the wall clock.
    pub clock_steps: u64,
    /// Receive stamps that were discarded in favour of the time of reading.
    pub stamps_discarded: u64,
    /// Packets that the capture lacks; 0 without one.
    pub not_captured: u64,
    /// Why threads had no real-time priority.
    pub not_realtime: Option<String>,
    /// Segments that the kernel's TCP sent again, by flow.
    pub retransmitted: Vec<(usize, u32)>,
    /// How late hosts and emulator were.
    #[serde(skip)]
    #[schemars(skip)]
    pub noise: HostNoise,
}

/// A real run beside the simulated ones of its seed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct RunBeside {
    /// Name of the run: scenario, controller and seed.
    pub run: String,
    /// The seed.
    pub seed: u64,
    /// The quantities of each flow.
    pub compared: Vec<Compared>,
}

/// The results of real runs, as `weir testbed --json` prints them.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct LiveResults {
    /// The metrics, as of simulated runs.
    pub summary: Summary,
    /// The record of each run.
    pub runs: Vec<LiveRun>,
    /// Conclusive runs beside simulated ones; empty without a comparison.
    pub compared: Vec<RunBeside>,
    /// Distributions of quantities that are a spread; empty for fewer than twelve runs.
    pub distributions: Vec<DistributionBeside>,
}

/// The JSON Schema of [`LiveResults`].
pub fn live_schema() -> Schema {
    schema_for!(LiveResults)
}

/// Receivers of the packets of real runs.
pub trait RunCaptures: Debug + Sync {
    /// Begins the capture of the run `name` at the links of these names. Of a repeated run the repetition takes the place of the
    /// first one.
    ///
    /// # Errors
    /// [`RunError::Capture`]: the packets cannot be written.
    fn begin(&self, name: &str, links: &[&str]) -> Result<SyncSender<CapturedPacket>, RunError>;
}

/// Real sockets as a world of runs.
pub struct Testbed<'a, P> {
    options: LiveOptions,
    captures: Option<&'a dyn RunCaptures>,
    /// Runs at a time; `None` as many as the processor bears.
    together: Option<u32>,
    progress: P,
    gate: Gate,
    runs: Mutex<Vec<LiveRun>>,
}

/// Lets a number of runs take place at a time.
#[derive(Debug)]
struct Gate {
    /// Runs at present, and most of them; one until the first has been measured.
    state: Mutex<(u32, u32)>,
    changed: Condvar,
}

/// A place among the runs that take place, which ends with this value.
struct GatePass<'a>(&'a Gate);

impl Gate {
    /// Waits for a place.
    fn enter(&self) -> GatePass<'_> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let entered = self.changed.wait_while(state, |(running, most)| running >= most);
        entered.unwrap_or_else(PoisonError::into_inner).0 += 1;
        GatePass(self)
    }

    /// Changes the number of places.
    fn widen(&self, most: u32) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).1 = most;
    }
}

impl Drop for GatePass<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).0 -= 1;
        self.0.changed.notify_all();
    }
}

/// State of a run that is shown while it lasts.
#[derive(Clone, Copy, Debug)]
pub struct Progress<'a> {
    /// Name of the run.
    pub run: &'a str,
    /// Time of the run.
    pub at: Time,
    /// Its end.
    pub end: Time,
}

impl<P> Debug for Testbed<'_, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Testbed").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<'a, P: Fn(Progress<'_>) -> bool + Sync> Testbed<'a, P> {
    /// A testbed that makes `together` runs at a time. Without a number it measures the first run, and then makes as many as
    /// keep the emulators below half of a core. `progress` is called ten times a second; if it returns `false`, the runs end.
    pub fn new(options: LiveOptions, together: Option<u32>, progress: P) -> Self {
        let gate = Gate { state: Mutex::new((0, together.unwrap_or(1))), changed: Condvar::new() };
        Self { options, captures: None, together, progress, gate, runs: Mutex::default() }
    }

    /// The same with captures of each run's packets, at either side of the [captured links](captured_links).
    pub fn capturing(self, captures: Option<&'a dyn RunCaptures>) -> Self {
        Self { captures, ..self }
    }

    /// The runs so far, by their names. Of a repeated run both are there.
    pub fn runs(&self) -> Vec<LiveRun> {
        let mut runs = self.runs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        runs.sort_by(|a, b| (&a.run, a.repeated).cmp(&(&b.run, b.repeated)));
        runs
    }

    /// Makes a run, and keeps its record.
    fn once(
        &self,
        name: &str,
        spec: RunSpec,
        recorder: Recorder,
        repeated: bool,
    ) -> Result<WorldRun, RunError> {
        let end = spec.end;
        let place = self.gate.enter();
        let goes_on = |at| (self.progress)(Progress { run: name, at, end });
        if !goes_on(Time::ZERO) {
            return Err(RunError::Interrupted);
        }
        let names = || captured_links(&spec).into_iter().map(|link| spec.links[link].name.as_str());
        let capture = |captures: &dyn RunCaptures| captures.begin(name, &names().collect::<Vec<_>>());
        let options =
            LiveOptions { capture: self.captures.map(capture).transpose()?, ..self.options.clone() };
        let report = weir_live::run::run(spec, options, recorder, goes_on)
            .map_err(|error| RunError::World { run: name.to_owned(), problem: Box::new(error) })?;
        if report.ended < end {
            return Err(RunError::Interrupted);
        }
        if self.together.is_none() {
            let share = report.emulator_cpu.secs_f64() / end.secs_f64().max(1e-3);
            self.gate.widen(((MOST_CPU / share.max(1e-3)) as u32).clamp(1, MOST_TOGETHER));
        }
        drop(place);
        let record = record(name, &report, end, repeated);
        let conclusive = record.inconclusive.is_empty();
        self.runs.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        Ok(WorldRun { recorder: report.monitor, counts: conclusive })
    }
}

fn record(name: &str, report: &LiveReport<Recorder>, end: Time, repeated: bool) -> LiveRun {
    let mut sent_again = BTreeMap::new();
    for trace in &report.tcp {
        // A connection that was never made has no state.
        let segments = trace.states.last().map_or(0, |(_, info)| info.retransmitted);
        *sent_again.entry(trace.flow).or_insert(0) += segments;
    }
    LiveRun {
        run: name.to_owned(),
        face: report.face.name(),
        inconclusive: report.reasons.iter().map(ToString::to_string).collect(),
        repeated,
        emulator_late_ms: report.emulator.summary_ms(),
        senders_late_ms: report.senders.summary_ms(),
        emulator_cpu: report.emulator_cpu.secs_f64() / end.secs_f64().max(1e-3),
        receivers_late_ms: report.receivers.summary_ms(),
        packets: report.packets.entered,
        delivered: report.packets.delivered,
        dropped: report.packets.dropped,
        inside: report.packets.inside,
        lost_outside: report.packets.lost_outside,
        unknown: report.packets.unknown,
        clock_steps: report.clock_steps,
        stamps_discarded: report.stamps_discarded,
        not_captured: report.not_captured,
        not_realtime: report.not_realtime.clone(),
        retransmitted: sent_again.into_iter().collect(),
        noise: HostNoise::of(&report.senders, &report.receivers, &report.emulator),
    }
}

impl<P: Fn(Progress<'_>) -> bool + Sync> RunWorld for Testbed<'_, P> {
    fn run(&self, name: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        let (spec, recorder) = plan()?;
        let first = self.once(name, spec, recorder, false)?;
        if first.counts {
            return Ok(first);
        }
        let (spec, recorder) = plan()?;
        self.once(name, spec, recorder, true)
    }
}

/// The simulator, with hosts and an emulator that are late as real ones were.
#[derive(Debug)]
pub struct NoisySimulator<'a> {
    /// How late they were.
    pub noise: &'a HostNoise,
    /// Number of the draw, which distinguishes simulations of one seed.
    pub draw: u64,
}

impl RunWorld for NoisySimulator<'_> {
    fn run(&self, _: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        let (mut spec, recorder) = plan()?;
        self.noise.add_to(&mut spec, self.draw);
        Ok(WorldRun { recorder: weir_measure::simulate(spec, recorder)?, counts: true })
    }
}

/// The face that a scenario needs.
///
/// # Errors
/// As [`Scenario::build`].
pub fn needed_face(scenario: &Scenario, traces: &TraceStore) -> Result<FaceKind, RunError> {
    let options = RunOptions::new(scenario.seeds().first().copied().unwrap_or(1));
    Ok(FaceKind::needed(&scenario.build(&options, traces)?.spec))
}

/// Simulates a scenario [`SIMULATED_RUNS`] times with one seed, each time with other draws of `noise`.
///
/// # Errors
/// As [`Scenario::build`], or the simulator refuses the run.
pub fn simulate_with(
    scenario: &Scenario,
    seed: u64,
    noise: &HostNoise,
    traces: &TraceStore,
) -> Result<Vec<RunMetrics>, RunError> {
    let one = |draw| {
        let world = NoisySimulator { noise, draw };
        let task = Task::new(format!("{}/{seed}", scenario.name), scenario, RunOptions::new(seed));
        Ok(Task { world: Some(&world), ..task }.run(traces)?.measured.metrics)
    };
    (1..=SIMULATED_RUNS).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_fails_leaves_its_place_to_others() {
        let gate = Gate { state: Mutex::new((0, 1)), changed: Condvar::new() };
        let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _place = gate.enter();
            panic!("a run that fails");
        }));
        assert!(failed.is_err());
        let place = gate.enter();
        assert_eq!(gate.state.lock().unwrap().0, 1);
        gate.widen(3);
        drop((gate.enter(), place));
        assert_eq!(*gate.state.lock().unwrap(), (0, 3));
    }
}
