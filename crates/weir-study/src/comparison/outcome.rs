//! The results of a comparison.

use crate::runs::TableRun;
use weir_measure::metrics::{FlowDelays, Histogram, MeasurePlan, Recording};
use weir_measure::results::{FlowKind, RunMetrics, Summary};
use weir_scenario::compile::{TraceUse, fallback_notes, names_of_fallbacks, titled};
use weir_scenario::scenario::Scenario;
use weir_world::recorded::RecordedCall;

/// The runs of all controllers.
#[derive(Debug)]
pub struct Comparison {
    /// Statistics over the runs.
    pub summary: Summary,
    /// The runs of each controller.
    pub controllers: Vec<ControllerRuns>,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

/// The runs of one controller.
#[derive(Debug)]
pub struct ControllerRuns {
    /// The name under which it was compared.
    pub name: String,
    /// The controller that this name stands for.
    pub controller: String,
    /// Metrics of each run, in the order of the seeds.
    pub runs: Vec<RunMetrics>,
    /// The recorded calls, in the order of the seeds and of the flows.
    pub calls: Vec<RecordedFlowCall>,
    /// The run of the first seed in detail.
    pub sample: RunSample,
}

/// The recorded call of a media flow.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedFlowCall {
    /// Seed of the run.
    pub seed: u64,
    /// Index of the flow.
    pub flow: usize,
    /// The call.
    pub call: RecordedCall,
}

/// The details of one run.
#[derive(Debug)]
pub struct RunSample {
    /// The flows, links and queues that were measured.
    pub plan: MeasurePlan,
    /// Distributions of delays per flow.
    pub delays: Vec<FlowDelays>,
    /// Time series, if they were asked for.
    pub series: Option<Recording>,
}

impl Comparison {
    /// The results of `controllers` over `traces`. `summary` has the statistics over these runs, and their ranking.
    pub fn new(summary: Summary, controllers: Vec<ControllerRuns>, traces: Vec<TraceUse>) -> Self {
        let mut comparison = Self { summary, controllers, traces };
        comparison.summary.ranking = comparison.ranking_beside(&comparison);
        comparison
    }

    /// The runs with their metrics, controller by controller.
    pub fn table_runs(&self) -> impl Iterator<Item = TableRun<'_>> {
        let Summary { scenario, seeds, .. } = &self.summary;
        self.controllers.iter().flat_map(move |own| {
            own.runs.iter().zip(seeds).map(move |(metrics, &seed)| TableRun {
                scenario,
                variant: &own.name,
                controller: &own.controller,
                seed,
                at: Vec::new(),
                metrics,
            })
        })
    }

    /// Whether there is media to judge.
    pub fn has_media(&self) -> bool {
        self.controllers.iter().flat_map(|c| &c.sample.plan.flows).any(|flow| flow.kind == FlowKind::Media)
    }

    /// A sentence for each trace that was replaced by a stand-in.
    pub fn fallback_notes(&self) -> Vec<String> {
        fallback_notes(&self.traces)
    }

    /// The names of the traces that replaced others, or `None` if no trace was replaced.
    pub(super) fn names_of_fallbacks(&self) -> Option<String> {
        names_of_fallbacks(&self.traces)
    }

    /// Name of the scenario, number and duration of the runs, their seeds and the media, in a line.
    pub fn extent(&self, scenario: &Scenario) -> String {
        let Scenario { name, runs, duration, seed, .. } = scenario;
        let seeds = match scenario.seeds().last() {
            Some(last) if last != seed && self.runs_are_alike() => {
                format!("seeds {seed} to {last}, all alike: hardly anything here depends on the seed")
            }
            Some(last) if last != seed => format!("seeds {seed} to {last}, mean ± 95 % interval"),
            _ => format!("seed {seed}"),
        };
        let plural = if *runs == 1 { "" } else { "s" };
        let media = match scenario.skip_rule().as_str() {
            "" => String::new(),
            rule => format!(", {rule}"),
        };
        format!("{name}: {runs} run{plural} of {duration}, {seeds}{media}")
    }

    /// `title`, with a remark where a trace was replaced by another.
    pub fn titled(&self, title: &str) -> String {
        titled(title, &self.traces)
    }
}

impl RunSample {
    /// The queuing delay (one-way delay less propagation) of each flow, with its name.
    pub fn queuing_delays(&self) -> impl Iterator<Item = (&str, &Histogram)> {
        self.plan
            .flows
            .iter()
            .zip(&self.delays)
            .map(|(flow, delays)| (flow.name.as_str(), &delays.owd_excess))
    }
}
