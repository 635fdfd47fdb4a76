//! Request for a comparison: a scenario run under several controllers and seeds.

use super::outcome::{Comparison, ControllerRuns, RecordedFlowCall, RunSample};
use crate::runs::{Capture, CaptureFile, NoStore, Ran, RunError, RunWorld, Runner, Task, check_links};
use weir_form::ScenarioError;
use weir_import::traces::TraceStore;
use weir_measure::metrics::Measured;
use weir_measure::results::{OverRuns as _, RunMetrics, Summary, UnevenRuns};
use weir_scenario::compile::{RunOptions, TraceUse};
use weir_scenario::scenario::Scenario;
use weir_world::recorded::RecordedCall;

/// A comparison to run.
#[derive(Clone, Copy, Debug)]
pub struct ComparisonRequest<'a> {
    /// The scenario, which names its results and lists the controllers to compare.
    pub scenario: &'a Scenario,
    /// Seeds, at least one; each controller runs once per seed.
    pub seeds: &'a [u64],
    /// Threads; the results do not depend on them.
    pub jobs: usize,
    /// Whether to keep time series of the first seed.
    pub series: bool,
}

/// The packets of a comparison to capture, and the files to write them to.
#[derive(Clone, Copy, Debug)]
pub struct Captures<'a> {
    /// The names of the links, in the order of the interfaces in the files.
    pub links: &'a [String],
    /// A file for each controller, in their order: the run of its first seed.
    pub files: &'a [CaptureFile],
}

/// The runs whose media flows are recorded as calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RecordedRuns {
    /// No run.
    #[default]
    None,
    /// The run of the first seed, of each controller.
    First,
    /// All runs.
    All,
}

/// Options of a comparison besides its runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct ComparisonOptions<'a> {
    /// Packets to capture.
    pub captures: Option<Captures<'a>>,
    /// Another world than the simulator.
    pub world: Option<&'a dyn RunWorld>,
    /// Runs to record.
    pub record: RecordedRuns,
}

/// Reasons for which a comparison fails.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The request has no seeds.
    #[error(transparent)]
    Runs(#[from] UnevenRuns),
}

impl From<ScenarioError> for ComparisonError {
    fn from(error: ScenarioError) -> Self {
        Self::Run(error.into())
    }
}

impl ComparisonRequest<'_> {
    /// Number of runs of this request.
    pub fn runs(&self) -> usize {
        self.scenario.controllers.len().max(1) * self.seeds.len()
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// The scenario names something that does not exist, or the simulator refuses it.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<Comparison, ComparisonError> {
        self.run_with(store, done, ComparisonOptions::default())
    }

    /// [`Self::run`] with these options. A capture that fails leaves the packets written so far in its file.
    ///
    /// # Errors
    /// As [`Self::run`], and the errors of another world. Also: a named link does not exist, found before any run, or a file
    /// cannot be written.
    pub fn run_with(
        &self,
        store: &TraceStore,
        done: &(dyn Fn() + Sync),
        options: ComparisonOptions<'_>,
    ) -> Result<Comparison, ComparisonError> {
        let ComparisonOptions { captures, world, record } = options;
        let trials = self.trials()?;
        if let (Some(captures), Some(first), Some(&seed)) = (captures, trials.first(), self.seeds.first()) {
            let options = RunOptions { seed, ..RunOptions::default() };
            check_links(captures.links, &first.scenario.build(&options, store)?.spec)?;
        }
        let tasks: Vec<Task<'_>> = trials
            .iter()
            .enumerate()
            .flat_map(|(index, trial)| {
                let capture = captures.and_then(|captures| captures.of(index));
                self.seeds
                    .iter()
                    .enumerate()
                    .map(move |(run, &seed)| self.task(trial, (seed, run), capture, (world, record)))
            })
            .collect();
        let fold = |index, ran| TrialOutcome::of(ran, self.is_first(index));
        let outcomes = Runner { jobs: self.jobs, done }.run(&tasks, store, &NoStore, fold)?;
        self.collect(&trials, outcomes)
    }

    /// The scenario under each controller.
    fn trials(&self) -> Result<Vec<ScenarioTrial>, ScenarioError> {
        let scenario = self.scenario;
        if scenario.controllers.is_empty() {
            let (name, scenario) = (scenario.controllers_in_use(), scenario.clone());
            return Ok(vec![ScenarioTrial { controller: name.clone(), name, scenario }]);
        }
        let under = |name: &String| {
            let mut scenario = scenario.clone();
            scenario.use_controller(name)?;
            let controller = scenario.controller_of(name).to_owned();
            Ok(ScenarioTrial { name: name.clone(), controller, scenario })
        };
        scenario.controllers.iter().map(under).collect()
    }

    fn task<'a>(
        &self,
        trial: &'a ScenarioTrial,
        (seed, run): (u64, usize),
        capture: Option<Capture<'a>>,
        (world, record): (Option<&'a dyn RunWorld>, RecordedRuns),
    ) -> Task<'a> {
        let ScenarioTrial { name, scenario, .. } = trial;
        let options = RunOptions { seed, controller: None, series: self.series && run == 0 };
        let task = Task::new(format!("{}/{name}/{seed}", scenario.name), scenario, options);
        let folding = if run == 0 { WITH_SAMPLE } else { "" }.to_owned();
        let record = match record {
            RecordedRuns::None => false,
            RecordedRuns::First => run == 0,
            RecordedRuns::All => true,
        };
        Task { folding, capture: capture.filter(|_| run == 0), world, record, ..task }
    }

    /// Whether the run at `index` of all is the first of its controller.
    fn is_first(&self, index: usize) -> bool {
        index.is_multiple_of(self.seeds.len())
    }

    fn collect(
        &self,
        trials: &[ScenarioTrial],
        outcomes: Vec<TrialOutcome>,
    ) -> Result<Comparison, ComparisonError> {
        let traces = outcomes.first().map(|first| first.traces.clone()).unwrap_or_default();
        let mut outcomes = outcomes.into_iter();
        let mut controllers = Vec::with_capacity(trials.len());
        for ScenarioTrial { name, controller, .. } in trials {
            let (name, controller) = (name.clone(), controller.clone());
            let (mut runs, mut calls, mut first) = (Vec::new(), Vec::new(), None);
            for (&seed, outcome) in self.seeds.iter().zip(outcomes.by_ref()) {
                let flow = |(flow, call)| RecordedFlowCall { seed, flow, call };
                runs.push(outcome.metrics);
                calls.extend(outcome.calls.into_iter().map(flow));
                first = first.or(outcome.sample);
            }
            let Some(sample) = first else {
                return Err(UnevenRuns { controller: name, runs: 0, seeds: self.seeds.len() }.into());
            };
            controllers.push(ControllerRuns { name, controller, runs, calls, sample });
        }
        let runs = controllers.iter().map(|c| (c.name.as_str(), c.runs.as_slice()));
        let summary = Summary::from_runs(&self.scenario.name, self.seeds, runs)?;
        Ok(Comparison::new(summary, controllers, traces))
    }
}

impl<'a> Captures<'a> {
    /// The capture for the controller at `index`.
    fn of(self, index: usize) -> Option<Capture<'a>> {
        self.files.get(index).map(|file| Capture { links: self.links, file })
    }
}

/// Key of the stored result of a controller's first run, which includes details.
const WITH_SAMPLE: &str = "with sample";

/// A scenario under one controller.
struct ScenarioTrial {
    name: String,
    /// The controller that the name stands for.
    controller: String,
    scenario: Scenario,
}

struct TrialOutcome {
    metrics: RunMetrics,
    sample: Option<RunSample>,
    calls: Vec<(usize, RecordedCall)>,
    traces: Vec<TraceUse>,
}

impl TrialOutcome {
    /// The results that are kept of a run; of a controller's first run everything is kept.
    fn of(ran: Ran, first: bool) -> Self {
        let Ran { plan, measured: Measured { mut metrics, delays, series, calls, .. }, counts, traces } = ran;
        if !counts {
            metrics.clear_values();
        }
        Self { metrics, sample: first.then_some(RunSample { plan, delays, series }), calls, traces }
    }
}
