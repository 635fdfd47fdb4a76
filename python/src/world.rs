//! The simulator, under the supervision of a call from Python.

use std::sync::Arc;

use weir_study::runs::{Plan, RunError, RunWorld, WorldRun};

use crate::controller::{FailureSlot, bind, collecting};
use crate::waiting::CallState;

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
        let (bindings, planned) = collecting(plan);
        let (spec, recorder) = planned?;
        let failure = Arc::new(FailureSlot::default());
        bind(&bindings, &spec, &failure);
        let is_ended = || self.state.is_ended() || failure.is_set();
        let recorder = weir_measure::simulate_unless(spec, recorder, is_ended)?;
        match (failure.take(), recorder) {
            (Some(failure), _) => Err(RunError::World { run: name.to_owned(), problem: Box::new(failure) }),
            (None, Some(recorder)) => Ok(WorldRun { recorder, counts: true }),
            (None, None) => Err(RunError::Interrupted),
        }
    }

    fn is_simulator(&self) -> bool {
        true
    }
}
