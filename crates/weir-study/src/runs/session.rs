//! Runs in steps.

use weir_measure::MeasuredRun;
use weir_measure::metrics::{MeasurePlan, Measured, Recorder};
use weir_net::Time;
use weir_scenario::compile::TraceUse;
use weir_sim::SpecError;
use weir_world::RunSpec;

/// A completed run.
#[derive(Debug)]
pub struct Ran {
    /// The plan of the measurement.
    pub plan: MeasurePlan,
    /// The measured results.
    pub measured: Measured,
    /// Whether the run counts in means and rankings.
    pub counts: bool,
    /// The traces in use.
    pub traces: Vec<TraceUse>,
}

/// A run that has begun in the simulator. It goes on as far as the caller says, and its number of steps does not change its
/// result.
#[derive(Debug)]
pub struct RunSession {
    run: MeasuredRun,
    plan: MeasurePlan,
    traces: Vec<TraceUse>,
}

impl RunSession {
    pub(super) fn new(
        spec: RunSpec,
        recorder: Recorder,
        plan: MeasurePlan,
        traces: Vec<TraceUse>,
    ) -> Result<Self, SpecError> {
        Ok(Self { run: MeasuredRun::new(spec, recorder)?, plan, traces })
    }

    /// Runs all events up to and including `until`, but not past the end of the run.
    pub fn run_until(&mut self, until: Time) {
        self.run.run_until(until);
    }

    /// The plan of the measurement, with the times of the run and its flows.
    pub const fn plan(&self) -> &MeasurePlan {
        &self.plan
    }

    /// The recorder, during the run.
    pub fn monitor(&self) -> &Recorder {
        self.run.recorder()
    }

    /// Runs to the end, and returns the results.
    pub fn finish(self) -> Ran {
        let Self { run, plan, traces } = self;
        Ran { plan, measured: run.finish().finish(), counts: true, traces }
    }
}
