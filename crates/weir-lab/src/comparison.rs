//! A scenario run under several controllers and seeds, and what the runs amount to.

use rayon::prelude::*;
use weir_sim::{Simulation, SpecError};

use crate::error::ScenarioError;
use crate::metrics::{FlowDelays, FlowKind, Histogram, MeasurePlan, Measured, Recorder, Series};
use crate::results::{RunMetrics, Summary, UnevenRuns};
use crate::scenario::{RunOptions, Scenario, TraceUse};
use crate::traces::TraceStore;

/// What to run.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The scenario, which says what its results are called and which controllers to compare.
    pub scenario: &'a Scenario,
    /// One run of each controller per seed, at least one.
    pub seeds: &'a [u64],
    /// Threads; the results do not depend on them.
    pub jobs: usize,
    /// Whether to keep time series of the first seed.
    pub series: bool,
}

/// The runs of all controllers.
#[derive(Debug)]
pub struct Comparison {
    /// Statistics over the runs.
    pub summary: Summary,
    /// One entry per controller.
    pub controllers: Vec<ControllerRuns>,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

/// The runs of one controller.
#[derive(Debug)]
pub struct ControllerRuns {
    /// The controller.
    pub name: String,
    /// Metrics of each run, in the order of the seeds.
    pub runs: Vec<RunMetrics>,
    /// The run of the first seed in detail.
    pub sample: Sample,
}

/// One run in detail.
#[derive(Debug)]
pub struct Sample {
    /// What was measured.
    pub plan: MeasurePlan,
    /// Distributions of delays per flow.
    pub delays: Vec<FlowDelays>,
    /// Time series, if they were asked for.
    pub series: Option<Series>,
}

impl Comparison {
    /// Whether there is media to judge.
    pub fn has_media(&self) -> bool {
        self.controllers.iter().flat_map(|c| &c.sample.plan.flows).any(|flow| flow.kind == FlowKind::Media)
    }

    /// A sentence for each trace that stood in for another.
    pub fn stand_ins(&self) -> impl Iterator<Item = String> {
        self.traces.iter().filter(|t| t.used != t.wanted).map(|t| {
            format!(
                "The trace `{}` was not found; `{}` stood in for it. Give its directory with --data or WEIR_DATA.",
                t.wanted, t.used
            )
        })
    }
}

impl Sample {
    /// The queuing delay (one-way delay less propagation) of each flow, with its name.
    pub fn queuing_delays(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        self.plan
            .flows
            .iter()
            .zip(&self.delays)
            .map(|(flow, delays)| (flow.name.as_str(), &delays.owd_excess))
    }
}

/// Why a comparison cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// The scenario makes no network.
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    /// The simulator refuses it.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// No seeds.
    #[error(transparent)]
    Runs(#[from] UnevenRuns),
    /// No threads.
    #[error("cannot start {jobs} threads: {problem}")]
    Threads {
        /// How many were wanted.
        jobs: usize,
        /// Why they could not be had.
        problem: String,
    },
}

impl Request<'_> {
    /// How many runs this makes.
    pub fn runs(&self) -> usize {
        self.scenario.controllers.len().max(1) * self.seeds.len()
    }

    /// Runs everything; `done` is called after each run, from any thread.
    ///
    /// # Errors
    /// The scenario names something that is not there, or makes no sense to the simulator.
    pub fn run(&self, store: &TraceStore, done: &(dyn Fn() + Sync)) -> Result<Comparison, ComparisonError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(self.jobs)
            .build()
            .map_err(|e| ComparisonError::Threads { jobs: self.jobs, problem: e.to_string() })?;
        let choices: Vec<Option<&str>> = match self.scenario.controllers.as_slice() {
            [] => vec![None],
            some => some.iter().map(|name| Some(name.as_str())).collect(),
        };
        let tasks: Vec<_> =
            choices.iter().flat_map(|&choice| self.seeds.iter().map(move |&seed| (choice, seed))).collect();
        // Collecting keeps the order of the tasks, whatever the order in which they end.
        let outcomes = pool.install(|| {
            let one = |&(controller, seed): &(Option<&str>, u64)| {
                let outcome = self.one(controller, seed, store);
                done();
                outcome
            };
            tasks.par_iter().map(one).collect::<Result<Vec<Outcome>, ComparisonError>>()
        })?;
        self.collect(&choices, outcomes)
    }

    fn one(
        &self,
        controller: Option<&str>,
        seed: u64,
        store: &TraceStore,
    ) -> Result<Outcome, ComparisonError> {
        let first = self.seeds.first() == Some(&seed);
        let options = RunOptions { seed, controller, series: self.series && first };
        let run = self.scenario.build(&options, store)?;
        let recorder = Simulation::new(run.spec, Recorder::new(run.plan.clone()))?.run();
        let Measured { metrics, delays, series } = recorder.finish();
        let sample = first.then_some(Sample { plan: run.plan, delays, series });
        Ok(Outcome { metrics, sample, traces: run.traces })
    }

    fn collect(
        &self,
        choices: &[Option<&str>],
        outcomes: Vec<Outcome>,
    ) -> Result<Comparison, ComparisonError> {
        let traces = outcomes.first().map(|first| first.traces.clone()).unwrap_or_default();
        let mut outcomes = outcomes.into_iter();
        let mut controllers = Vec::with_capacity(choices.len());
        for choice in choices {
            let name = choice.map_or_else(|| self.scenario.controllers_in_use(), str::to_owned);
            let mut own = outcomes.by_ref().take(self.seeds.len());
            let Some(Outcome { metrics, sample: Some(sample), .. }) = own.next() else {
                return Err(UnevenRuns { controller: name, runs: 0, seeds: self.seeds.len() }.into());
            };
            let runs = std::iter::once(metrics).chain(own.map(|outcome| outcome.metrics)).collect();
            controllers.push(ControllerRuns { name, runs, sample });
        }
        let runs = controllers.iter().map(|c| (c.name.as_str(), c.runs.as_slice()));
        let summary = Summary::from_runs(&self.scenario.name, self.seeds, runs)?;
        Ok(Comparison { summary, controllers, traces })
    }
}

struct Outcome {
    metrics: RunMetrics,
    sample: Option<Sample>,
    traces: Vec<TraceUse>,
}
