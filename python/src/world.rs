//! The simulator, under the supervision of a call from Python.

use std::sync::Arc;

use weir_cc::TimeDelta;
use weir_measure::MeasuredRun;
use weir_net::Time;
use weir_study::runs::{Plan, RunError, RunWorld, WorldRun};

use crate::controller::{FailureSlot, bind};
use crate::waiting::CallState;

/// Simulated time between two looks at the call.
const PART: TimeDelta = TimeDelta::from_millis(500);

/// The simulator, which ends with the call.
#[derive(Debug)]
pub(crate) struct SupervisedSimulator<'a> {
    pub(crate) state: &'a CallState,
}

impl RunWorld for SupervisedSimulator<'_> {
    fn run(&self, name: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        if self.state.is_ended() {
            return Err(RunError::Interrupted);
        }
        let (spec, recorder) = plan()?;
        let failure = Arc::new(FailureSlot::default());
        bind(&spec, &failure);
        let end = spec.end;
        let mut run = MeasuredRun::new(spec, recorder)?;
        let mut until = Time::ZERO;
        while until < end {
            until += PART;
            run.run_until(until);
            if let Some(failure) = failure.take() {
                return Err(RunError::World { run: name.to_owned(), problem: Box::new(failure) });
            }
            if self.state.is_ended() {
                return Err(RunError::Interrupted);
            }
        }
        Ok(WorldRun { recorder: run.finish(), counts: true })
    }

    fn is_simulator(&self) -> bool {
        true
    }
}
