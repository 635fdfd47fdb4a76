//! The simulator, under the supervision of a call from Python.

use std::sync::Arc;

use pyo3::prelude::*;
use weir_cc::TimeDelta;
use weir_measure::MeasuredRun;
use weir_net::Time;
use weir_study::runs::{Plan, RunError, RunWorld, WorldRun};

use crate::controller::{FailureSlot, bind};
use crate::waiting::{CallProgress, CallState, attend, wait};

/// Simulated time between two looks at the call.
const PART: TimeDelta = TimeDelta::from_millis(500);

/// The simulator, which ends with the call.
#[derive(Debug)]
pub(crate) struct SupervisedSimulator {
    state: CallState,
    /// Whether a class takes part in the call: runs are made on the thread of the call, which has the interpreter's lock.
    with_class: bool,
}

impl SupervisedSimulator {
    /// The simulator of a call in which a class takes part, or none.
    pub(crate) fn new(with_class: bool) -> Self {
        Self { state: CallState::default(), with_class }
    }

    /// The number of threads out of `jobs` that can make runs.
    pub(crate) fn jobs(&self, jobs: usize) -> usize {
        if self.with_class { 1 } else { jobs }
    }

    /// The result of `work`, which makes runs here, and counts them by the function that it gets.
    pub(crate) fn supervise<T: Send>(
        &self,
        py: Python<'_>,
        progress: &CallProgress<'_>,
        work: impl FnOnce(&(dyn Fn() + Sync)) -> T + Send,
    ) -> PyResult<T> {
        if self.with_class {
            attend(&self.state, progress, work)
        } else {
            wait(py, &self.state, progress, || work(&|| self.state.count()))
        }
    }

    /// Simulates a part of a run in which a class takes part, or none. Without one other threads have the interpreter meanwhile.
    fn simulate(&self, run: &mut MeasuredRun, until: Time, has_class: bool) {
        if !self.with_class {
            run.run_until(until);
            return;
        }
        Python::attach(|py| {
            if has_class {
                run.run_until(until);
            } else {
                py.detach(|| run.run_until(until));
            }
            self.state.look(py);
        });
    }
}

impl RunWorld for SupervisedSimulator {
    fn run(&self, name: &str, plan: &mut Plan<'_>) -> Result<WorldRun, RunError> {
        if self.state.is_ended() {
            return Err(RunError::Interrupted);
        }
        let (spec, recorder) = plan()?;
        let failure = Arc::new(FailureSlot::default());
        let has_class = bind(&spec, &failure);
        let end = spec.end;
        let mut run = MeasuredRun::new(spec, recorder)?;
        let mut until = Time::ZERO;
        while until < end {
            until += PART;
            self.simulate(&mut run, until, has_class);
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
