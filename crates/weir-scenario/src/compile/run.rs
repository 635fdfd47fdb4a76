//! From a scenario and a seed to a simulation.

use std::sync::Arc;

use weir_world::RunSpec;

use super::context::Context;
use super::couplings::CompiledCouplings;
use super::measuring::measure_plan;
use super::omniscient::show;
use super::topology::network;
use super::trace_use::TraceUse;
use crate::scenario::Scenario;
use weir_form::{Problem, ScenarioError};
use weir_import::traces::TraceStore;
use weir_measure::metrics::{MeasurePlan, NetworkObserver};

/// The options of one run of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions<'a> {
    /// Seed of all randomness. Runs of the same seed have the same network and the same video, whatever the controller.
    pub seed: u64,
    /// Controller of all media flows in place of those that the scenario names.
    pub controller: Option<&'a str>,
    /// Whether to record time series.
    pub series: bool,
}

impl RunOptions<'_> {
    /// The run of this seed, under the controllers that the scenario names, without series.
    pub const fn new(seed: u64) -> Self {
        Self { seed, controller: None, series: false }
    }
}

/// A run, ready to go.
#[derive(Debug)]
pub struct Run {
    /// The simulation.
    pub spec: RunSpec,
    /// The measurement plan.
    pub plan: MeasurePlan,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
    /// The observer of the run, where some flow depends on one.
    pub observer: Option<Arc<NetworkObserver>>,
}

impl Scenario {
    /// Builds a run under each controller, to find the errors that only building detects, such as a missing trace.
    ///
    /// # Errors
    /// As for [`Self::build`].
    pub fn try_to_build(&self, store: &TraceStore) -> Result<(), ScenarioError> {
        let chosen = self.controllers.iter().map(|name| Some(name.as_str()));
        for controller in chosen.chain([None]) {
            self.build(&RunOptions { seed: self.seed, controller, series: false }, store)?;
        }
        Ok(())
    }

    /// Builds a run of the scenario.
    ///
    /// # Errors
    /// A trace that does not exist, a controller that is unknown or refuses its options, an invalid network. A scenario from a
    /// file has only the first of these problems left.
    pub fn build(&self, run: &RunOptions<'_>, store: &TraceStore) -> Result<Run, ScenarioError> {
        match run.controller {
            Some(controller) => {
                let mut other = self.clone();
                other.use_controller(controller)?;
                build(&other, run, store)
            }
            None => build(self, run, store),
        }
        .map_err(|problem| self.origin.error(problem))
    }
}

fn build(scenario: &Scenario, run: &RunOptions<'_>, store: &TraceStore) -> Result<Run, Problem> {
    let context = Context { scenario, seed: run.seed, store };
    let network = network(scenario, run.seed)?;
    let links = context.links(&network)?;
    let CompiledCouplings { specs: couplings, plans, places } = context.couplings(&network)?;
    let flows = network.flows.iter().zip(places).map(|(flow, place)| context.flow_spec(flow, place));
    let mut flows = flows.collect::<Result<Vec<_>, _>>()?;
    let plan = MeasurePlan {
        series: run.series,
        queues: !plans.is_empty() || scenario.measure.as_ref().is_some_and(|measure| measure.queues),
        couplings: plans,
        ..measure_plan(scenario, &network, &links, &flows)
    };
    let observer = show(&network, &plan, &mut flows)?;
    let spec = RunSpec {
        seed: run.seed,
        end: context.end(),
        links: links.specs,
        cells: links.cells,
        couplings,
        flows,
    };
    Ok(Run { spec, plan, traces: links.traces, observer })
}
