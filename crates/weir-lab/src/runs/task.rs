//! One run.

#[cfg(test)]
mod tests;

use weir_sim::Simulation;

use super::capture::Capture;
use super::error::RunError;
use crate::build::{Run, RunOptions, TraceUse};
use crate::metrics::{MeasurePlan, Measured, Recorder};
use crate::scenario::Scenario;
use crate::traces::TraceStore;

/// A run to be made.
#[derive(Clone, Debug)]
pub struct Task<'a> {
    /// What a store keeps its result under: the same key promises the same result, so it has to name everything that
    /// the result depends on.
    pub key: String,
    /// What is run.
    pub scenario: &'a Scenario,
    /// Which of its runs.
    pub options: RunOptions<'a>,
    /// How the run is watched, where that is to be other than the scenario says.
    pub replan: Option<fn(&mut MeasurePlan)>,
    /// Which packets are captured on the way.
    pub capture: Option<Capture<'a>>,
}

/// A run that was made.
#[derive(Debug)]
pub struct Ran {
    /// What was to be measured.
    pub plan: MeasurePlan,
    /// What was measured.
    pub measured: Measured,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

impl<'a> Task<'a> {
    /// A run that is watched as `scenario` says and of which no packets are captured.
    pub fn new(key: String, scenario: &'a Scenario, options: RunOptions<'a>) -> Self {
        Self { key, scenario, options, replan: None, capture: None }
    }

    /// Makes the run.
    ///
    /// # Errors
    /// The scenario names something that is not there, or makes no sense to the simulator; packets cannot be captured.
    pub fn run(&self, traces: &TraceStore) -> Result<Ran, RunError> {
        let Run { spec, mut plan, traces } = self.scenario.build(&self.options, traces)?;
        if let Some(replan) = self.replan {
            replan(&mut plan);
        }
        let recorder = Recorder::new(plan.clone());
        let recorder = match self.capture {
            Some(capture) => capture.simulate(spec, recorder)?,
            None => Simulation::new(spec, recorder)?.run(),
        };
        Ok(Ran { plan, measured: recorder.finish(), traces })
    }
}
