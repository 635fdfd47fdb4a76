//! Comparisons whose numbers are known.

use weir_measure::metrics::{FlowDelays, FlowPlan, LinkPlan, MeasurePlan, Recorder};
use weir_measure::results::{FlowKind, FlowMeasures, RunMetrics, Summary, Value};
use weir_net::{Service, Time};
use weir_study::comparison::{Comparison, ControllerRuns, RunSample};
use weir_units::DataRate;

/// Ten seconds over the bottleneck `forward`.
pub(crate) fn plan(flows: &[(&str, FlowKind)]) -> MeasurePlan {
    let end = Time::from_millis(10_000);
    let flow = |&(name, kind): &(&str, FlowKind)| FlowPlan::new(name, kind);
    let service = Service::Constant(DataRate::from_mbps(1));
    let links = vec![LinkPlan::bottleneck("forward", service)];
    MeasurePlan::new(end, flows.iter().map(flow).collect(), links)
}

/// A run without any traffic.
pub(crate) fn empty_run(flows: &[(&str, FlowKind)]) -> RunMetrics {
    Recorder::new(plan(flows)).finish().metrics
}

/// A run of one call whose frames came in time at `kbps`.
pub(crate) fn call(kbps: f64) -> RunMetrics {
    let mut run = empty_run(&[("video", FlowKind::Media)]);
    flow(&mut run, "video").useful_rate_bps = Some(kbps * 1e3);
    run.media.rate_bps = Some(kbps * 1e3);
    run
}

/// The flow `name` of `run`.
pub(crate) fn flow<'a>(run: &'a mut RunMetrics, name: &str) -> &'a mut FlowMeasures<Value> {
    run.flows.iter_mut().find(|flow| flow.name == name).unwrap()
}

/// The comparison of these runs; seeds count from 1.
pub(crate) fn comparison(controllers: &[(&str, Vec<RunMetrics>)]) -> Comparison {
    let seeds: Vec<u64> = (1..=controllers.first().map_or(0, |(_, runs)| runs.len() as u64)).collect();
    let runs = controllers.iter().map(|(name, runs)| (*name, runs.as_slice()));
    let entry = |(name, runs): &(&str, Vec<RunMetrics>)| {
        let flows: Vec<(&str, FlowKind)> = runs[0].flows.iter().map(|f| (f.name.as_str(), f.kind)).collect();
        let delays = vec![FlowDelays::default(); flows.len()];
        let mut plan = plan(&flows);
        for flow in plan.flows.iter_mut().filter(|flow| flow.kind == FlowKind::Media) {
            (*name).clone_into(&mut flow.controller);
        }
        let sample = RunSample { plan, delays, series: None };
        let (name, calls) = ((*name).to_owned(), Vec::new());
        ControllerRuns { controller: name.clone(), name, runs: runs.clone(), calls, sample }
    };
    let summary = Summary::from_runs("hand/made", &seeds, runs).unwrap();
    Comparison::new(summary, controllers.iter().map(entry).collect(), Vec::new())
}

/// Calls at these useful rates in kbit/s, one run each.
pub(crate) fn calls(controllers: &[(&str, &[f64])]) -> Comparison {
    let runs: Vec<(&str, Vec<RunMetrics>)> = controllers
        .iter()
        .map(|(name, rates)| (*name, rates.iter().map(|&kbps| call(kbps)).collect()))
        .collect();
    comparison(&runs)
}
