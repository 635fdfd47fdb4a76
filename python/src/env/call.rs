//! A call in steps.

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use weir_cc::TimeDelta;
use weir_import::traces::TraceStore;
use weir_measure::MeasuredRun;
use weir_measure::metrics::Recorder;
use weir_measure::results::{FlowMeasures, Value};
use weir_net::Time;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::{FlowTraffic, Media, Scenario as CompiledScenario};

use crate::controller::{FailureSlot, bind};
use crate::error;
use crate::scenario::Scenario;

use super::observation::{RateScale, RewardWeights, StepObserver};
use super::sender::{EnvironmentFactory, NAME, SharedExchange, lock};

static TRACES: LazyLock<TraceStore> = LazyLock::new(|| TraceStore::find(&[]));

/// The scenario of an environment, and its settings.
#[derive(Clone, Debug)]
pub(super) struct CallPlan {
    /// The scenario, before the settings of a call.
    pub(super) scenario: Scenario,
    /// The flow that the environment controls; the only one that can be unless given.
    pub(super) flow: Option<String>,
    /// Length of a step.
    pub(super) interval: TimeDelta,
    /// Interval of the receiver's reports.
    pub(super) reports: TimeDelta,
}

impl CallPlan {
    /// The scenario with the settings of a call.
    pub(super) fn scenario(&self, own: &[String]) -> PyResult<CallScenario> {
        let scenario = self.scenario.with(own.to_vec(), None, None)?;
        let flow = self.flow_of(&scenario)?;
        Ok(CallScenario { scenario, flow })
    }

    /// The name of the flow that the environment controls.
    fn flow_of(&self, scenario: &CompiledScenario) -> PyResult<String> {
        let media =
            |carried: &FlowTraffic| matches!(carried, FlowTraffic::Media(media) if self.can_control(media));
        let names: Vec<&str> =
            scenario.flows.iter().filter(|(_, flow)| media(&flow.carried)).map(|(name, _)| name).collect();
        let list = || names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
        let problem = match (&self.flow, &names[..]) {
            (Some(wanted), _) if names.contains(&wanted.as_str()) => return Ok(wanted.clone()),
            (Some(wanted), []) => format!("there is no media flow `{wanted}`, nor any other"),
            (Some(wanted), _) => format!("there is no media flow `{wanted}`; use {}", list()),
            (None, [only]) => return Ok((*only).to_owned()),
            (None, []) => "there is no media flow to control".to_owned(),
            (None, _) => format!("there are several media flows: set flow to one of {}", list()),
        };
        Err(error::setting(format_args!("{}: {problem}", scenario.name)))
    }

    /// Whether the environment may control the flow: a competitor only if it is named.
    fn can_control(&self, media: &Media) -> bool {
        self.flow.is_some() || !media.competitor
    }
}

/// A scenario, and the name of the flow that the environment controls.
#[derive(Clone, Debug)]
pub(super) struct CallScenario {
    scenario: CompiledScenario,
    flow: String,
}

impl CallScenario {
    /// The run of `seed` before its first step.
    fn begin(&self, plan: &CallPlan, seed: u64) -> PyResult<SteppedCall> {
        let Self { scenario, flow } = self;
        let exchange = SharedExchange::default();
        let factory = EnvironmentFactory::new(Arc::clone(&exchange), plan.interval, plan.reports);
        let mut own = scenario.clone();
        own.registry = own.registry.with_factory(Arc::new(factory));
        let setting = |problem: String| error::setting(format_args!("{}: {problem}", scenario.name));
        let mut limits = None;
        for (name, other) in own.flows.iter_mut() {
            if let FlowTraffic::Media(media) = &mut other.carried
                && name == flow
            {
                NAME.clone_into(&mut media.controller);
                media.options = None;
                limits = media.limits().ok();
            }
        }
        let scale = limits.and_then(RateScale::new);
        let scale = scale.ok_or_else(|| {
            setting(format!("the rates of flow `{flow}` leave no choice: set max above min"))
        })?;
        let built = own.build(&RunOptions::new(seed), &TRACES).map_err(|error| error::scenario(&error))?;
        let Run { spec, plan: times, observer, .. } = built;
        let mut flows = times.flows.iter().enumerate().filter(|(_, flow)| flow.controller == NAME);
        let (Some((index, planned)), None) = (flows.next(), flows.next()) else {
            return Err(setting(format!("flow `{flow}` must be one flow, without copies")));
        };
        let (start, end) = (planned.start, times.end.min(planned.stop));
        let steps = (end.nanos().saturating_sub(start.nanos()) as i64 / plan.interval.nanos()) as u64;
        if steps == 0 {
            return Err(setting(format!("flow `{flow}` ends within its first step of {}", plan.interval)));
        }
        // Classes may control other flows.
        let failure = Arc::new(FailureSlot::default());
        bind(&spec, &failure);
        let run = MeasuredRun::new(spec, Recorder::new(times).beside(observer));
        let run = run.map_err(|error| error::run(error.into()))?;
        let observer = StepObserver::new(scale, plan.interval);
        let (name, interval) = (format!("{}/{NAME}/{seed}", scenario.name), plan.interval);
        Ok(SteppedCall { name, exchange, run, failure, observer, index, start, interval, steps, taken: 0 })
    }
}

/// A call that has begun.
#[derive(Debug)]
struct SteppedCall {
    /// Name of the run.
    name: String,
    exchange: SharedExchange,
    run: MeasuredRun,
    /// The failure of a class that controls another flow.
    failure: Arc<FailureSlot>,
    observer: StepObserver,
    /// The flow's place in the run.
    index: usize,
    start: Time,
    interval: TimeDelta,
    /// Number of steps of the call, and of those taken.
    steps: u64,
    taken: u64,
}

impl SteppedCall {
    /// Takes a step; returns whether it was the last.
    fn step(&mut self, action: f32) -> PyResult<bool> {
        let rate = self.observer.scale().rate(action);
        lock(&self.exchange).rate = Some(rate);
        self.taken += 1;
        let end = self.start.nanos() + self.taken * self.interval.nanos() as u64;
        self.run.run_until(Time::from_nanos(end - 1));
        if let Some(failure) = self.failure.take() {
            return Err(failure.raised_in(&self.name));
        }
        let view = lock(&self.exchange).view.take().unwrap_or_default();
        self.observer.take(rate, &view);
        Ok(self.taken == self.steps)
    }
}

/// One of the calls of an environment: it begins, takes steps, ends, and begins again.
#[derive(Debug)]
pub(super) struct CallSlot {
    base: Arc<CallScenario>,
    call: Option<SteppedCall>,
}

impl CallSlot {
    pub(super) const fn new(base: Arc<CallScenario>) -> Self {
        Self { base, call: None }
    }

    /// Begins the run of `seed`, with settings of its own.
    pub(super) fn begin(&mut self, plan: &CallPlan, seed: u64, own: &[String]) -> PyResult<()> {
        self.call = None;
        let call =
            if own.is_empty() { self.base.begin(plan, seed) } else { plan.scenario(own)?.begin(plan, seed) };
        self.call = Some(call?);
        Ok(())
    }

    /// The observation and the measures of the last step; `None` before a call has begun.
    pub(super) fn observer(&self) -> Option<&StepObserver> {
        self.call.as_ref().map(|call| &call.observer)
    }

    /// Takes a step: its reward, and whether it was the last. `None` if no call has begun, or the last step is over. A call in which a
    /// class has failed is over.
    pub(super) fn step(&mut self, action: f32, weights: RewardWeights) -> PyResult<Option<(f64, bool)>> {
        let Some(call) = self.call.as_mut().filter(|call| call.taken < call.steps) else { return Ok(None) };
        match call.step(action) {
            Ok(is_last) => Ok(Some((call.observer.reward(weights), is_last))),
            Err(error) => {
                self.call = None;
                Err(error)
            }
        }
    }

    /// Results of the flow, after the run has gone to its end. `None` if no call has begun since the last results.
    pub(super) fn finish(&mut self) -> PyResult<Option<FlowMeasures<Value>>> {
        let Some(SteppedCall { name, run, failure, index, .. }) = self.call.take() else { return Ok(None) };
        let mut flows = run.finish().finish().metrics.flows;
        match failure.take() {
            Some(failure) => Err(failure.raised_in(&name)),
            None => Ok((index < flows.len()).then(|| flows.swap_remove(index))),
        }
    }
}
