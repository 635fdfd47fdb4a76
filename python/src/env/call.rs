//! A call in steps.

use std::sync::{Arc, LazyLock};

use pyo3::prelude::*;
use weir_cc::{DataRate, TimeDelta};
use weir_import::traces::TraceStore;
use weir_measure::MeasuredRun;
use weir_measure::metrics::{MeasurePlan, Recorder};
use weir_measure::results::{FlowMeasures, Value};
use weir_net::Time;
use weir_scenario::compile::{Run, RunOptions};
use weir_scenario::scenario::{FlowTraffic, Media, Scenario as CompiledScenario};

use crate::controller::{FailureSlot, bind};
use crate::error;
use crate::scenario::{Scenario, classes_in};

use super::account::StepView;
use super::observation::{RateScale, RewardWeights, StepObserver};
use super::sender::{EnvironmentFactory, NAME, SharedExchange, lock};

static TRACES: LazyLock<TraceStore> = LazyLock::new(|| TraceStore::find(&[]));

/// The shortest step and interval of reports.
const LEAST_INTERVAL: TimeDelta = TimeDelta::from_millis(1);

/// The time of the setting `name`.
pub(super) fn span(name: &str, text: &str) -> PyResult<TimeDelta> {
    let time: TimeDelta = text.parse().map_err(|error| error::setting(format!("{name}: {error}")))?;
    if time < LEAST_INTERVAL {
        return Err(error::setting(format!("{name}: {time} is shorter than {LEAST_INTERVAL}")));
    }
    Ok(time)
}

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
        let has_classes = !classes_in(&scenario).is_empty();
        Ok(CallScenario { scenario, flow, has_classes })
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
    /// Whether Python classes control other flows.
    has_classes: bool,
}

impl CallScenario {
    /// The run of `seed` before its first step. Unless it `is_measured`, it has no metrics.
    pub(super) fn begin(&self, plan: &CallPlan, seed: u64, is_measured: bool) -> PyResult<SteppedCall> {
        let Self { scenario, flow, .. } = self;
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
        let measures = if is_measured { times } else { MeasurePlan::new(times.end, Vec::new(), Vec::new()) };
        let run = MeasuredRun::new(spec, Recorder::new(measures).beside(observer));
        let run = run.map_err(|error| error::run(error.into()))?;
        let observer = StepObserver::new(scale, plan.interval);
        let (name, interval) = (format!("{}/{NAME}/{seed}", scenario.name), plan.interval);
        Ok(SteppedCall {
            name,
            exchange,
            run,
            is_measured,
            failure,
            observer,
            index,
            start,
            interval,
            steps,
            rates: Vec::new(),
        })
    }
}

/// A call that has begun.
#[derive(Debug)]
pub(super) struct SteppedCall {
    /// Name of the run.
    name: String,
    exchange: SharedExchange,
    run: MeasuredRun,
    /// Whether it has metrics.
    is_measured: bool,
    /// The failure of a class that controls another flow.
    failure: Arc<FailureSlot>,
    observer: StepObserver,
    /// The flow's place in the run.
    index: usize,
    start: Time,
    interval: TimeDelta,
    /// Number of steps of the call.
    steps: u64,
    /// The rate of each step that has been taken.
    rates: Vec<DataRate>,
}

impl SteppedCall {
    /// Takes a step at `rate`: the view at its end.
    pub(super) fn advance(&mut self, rate: DataRate) -> PyResult<StepView> {
        lock(&self.exchange).rate = Some(rate);
        self.rates.push(rate);
        let end = self.start.nanos() + self.rates.len() as u64 * self.interval.nanos() as u64;
        self.run.run_until(Time::from_nanos(end - 1));
        if let Some(failure) = self.failure.take() {
            return Err(failure.raised_in(&self.name));
        }
        Ok(lock(&self.exchange).view.take().unwrap_or_default())
    }

    /// Takes a step at the rate of `action`.
    fn step(&mut self, action: f32) -> PyResult<()> {
        let rate = self.observer.scale().rate(action);
        let view = self.advance(rate)?;
        self.observer.take(rate, &view);
        Ok(())
    }

    /// Whether all steps have been taken.
    fn is_over(&self) -> bool {
        self.rates.len() as u64 >= self.steps
    }

    /// Runs to the end of the scenario: the metrics of the flow, if the call is measured.
    pub(super) fn finish(self) -> PyResult<Option<FlowMeasures<Value>>> {
        let mut flows = self.run.finish().finish().metrics.flows;
        match self.failure.take() {
            Some(failure) => Err(failure.raised_in(&self.name)),
            None => Ok((self.index < flows.len()).then(|| flows.swap_remove(self.index))),
        }
    }
}

/// The end of a call.
#[derive(Debug)]
pub(super) enum CallEnd {
    /// The metrics of the flow, of a call in which classes have taken part: they may not do the same again.
    Measured(Box<FlowMeasures<Value>>),
    /// The seed, own settings, and the rate of each step, of a call that another simulation can measure.
    Played(u64, Vec<String>, Vec<DataRate>),
}

/// One of the calls of an environment: it begins, takes steps, ends, and begins again.
#[derive(Debug)]
pub(super) struct CallSlot {
    base: Arc<CallScenario>,
    call: Option<SteppedCall>,
    /// Seed and own settings of the call.
    seed: u64,
    own: Vec<String>,
}

impl CallSlot {
    pub(super) const fn new(base: Arc<CallScenario>) -> Self {
        Self { base, call: None, seed: 0, own: Vec::new() }
    }

    /// Begins the run of `seed`, with settings of its own.
    pub(super) fn begin(&mut self, plan: &CallPlan, seed: u64, own: Vec<String>) -> PyResult<()> {
        self.call = None;
        let begin = |scenario: &CallScenario| scenario.begin(plan, seed, scenario.has_classes);
        self.call = Some(if own.is_empty() { begin(&self.base)? } else { begin(&plan.scenario(&own)?)? });
        (self.seed, self.own) = (seed, own);
        Ok(())
    }

    /// The observation and the measures of the last step; `None` before a call has begun.
    pub(super) fn observer(&self) -> Option<&StepObserver> {
        self.call.as_ref().map(|call| &call.observer)
    }

    /// Takes a step: its reward, and whether it was the last. `None` if no call has begun, or the last step is over. A call in which a
    /// class has failed is over.
    pub(super) fn step(&mut self, action: f32, weights: RewardWeights) -> PyResult<Option<(f64, bool)>> {
        let Some(call) = self.call.as_mut().filter(|call| !call.is_over()) else { return Ok(None) };
        match call.step(action) {
            Ok(()) => Ok(Some((call.observer.reward(weights), call.is_over()))),
            Err(error) => {
                self.call = None;
                Err(error)
            }
        }
    }

    /// Ends the call. `None` if no call has begun since the last end.
    pub(super) fn finish(&mut self) -> PyResult<Option<CallEnd>> {
        let Some(mut call) = self.call.take() else { return Ok(None) };
        if call.is_measured {
            return Ok(call.finish()?.map(|metrics| CallEnd::Measured(Box::new(metrics))));
        }
        let (own, rates) = (std::mem::take(&mut self.own), std::mem::take(&mut call.rates));
        Ok(Some(CallEnd::Played(self.seed, own, rates)))
    }
}
