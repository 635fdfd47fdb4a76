//! Calls that are over, and their metrics.

use std::sync::Arc;

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use weir_cc::DataRate;
use weir_measure::results::{FlowMeasures, Value};

use crate::scenario::{Scenario, ScenarioState};

use super::call::{CallPlan, span};

/// A call that is over. Its metrics are those of another simulation with the same rates, so that a call whose metrics are not
/// read needs no measurement.
#[pyclass(frozen, module = "weir._weir")]
pub(super) struct PlayedCall {
    /// The plan of the call, unless it comes from another process.
    plan: Option<Arc<CallPlan>>,
    state: PlayedState,
}

/// Scenario, flow, interval of steps and of reports, seed, own settings, and the rate of each step in bit/s.
type PlayedState = (ScenarioState, Option<String>, String, String, u64, Vec<String>, Vec<u64>);

impl PlayedCall {
    /// The call of a plan with this seed, its own settings and its rates.
    pub(super) fn of(plan: &Arc<CallPlan>, seed: u64, own: Vec<String>, rates: &[DataRate]) -> Self {
        let CallPlan { scenario, flow, interval, reports } = &**plan;
        let [interval, reports] = [interval, reports].map(|time| format!("{}ns", time.nanos()));
        let rates = rates.iter().map(|rate| rate.bps()).collect();
        let state = (scenario.state(), flow.clone(), interval, reports, seed, own, rates);
        Self { plan: Some(Arc::clone(plan)), state }
    }
}

#[pymethods]
impl PlayedCall {
    /// The call of a state.
    #[new]
    fn new(state: PlayedState) -> Self {
        Self { plan: None, state }
    }

    /// The state, for another process.
    fn __getnewargs__(&self) -> (PlayedState,) {
        (self.state.clone(),)
    }

    /// Simulates the call once more: the metrics of the flow.
    fn metrics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (scenario, flow, interval, reports, seed, own, rates) = &self.state;
        let flow = py.detach(|| {
            let plan = match &self.plan {
                Some(plan) => Arc::clone(plan),
                None => Arc::new(CallPlan {
                    scenario: Scenario::of_state(scenario.clone())?,
                    flow: flow.clone(),
                    interval: span("interval", interval)?,
                    reports: span("reports", reports)?,
                }),
            };
            let mut call = plan.scenario(own)?.begin(&plan, *seed, true)?;
            for &rate in rates {
                call.advance(DataRate::from_bps(rate))?;
            }
            call.finish()
        })?;
        let flow = flow.ok_or_else(|| PyRuntimeError::new_err("the call has no metrics of its flow"))?;
        of_flow(py, &flow)
    }
}

/// The metrics of a flow as values of Python.
pub(super) fn of_flow<'py>(py: Python<'py>, flow: &FlowMeasures<Value>) -> PyResult<Bound<'py, PyAny>> {
    let value = serde_json::to_value(flow).map_err(|error| PyRuntimeError::new_err(error.to_string()))?;
    crate::values::from_json(py, &value)
}
