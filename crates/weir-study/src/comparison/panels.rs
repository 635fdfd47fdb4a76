//! Converts a comparison into the input of a report.

use core::mem::take;
use std::io;

use toml::ser::Error as TomlError;
use weir_net::Time;
use weir_units::TimeDelta;
use weir_world::Side;

use super::decisions::{FlowSignals, ticks};
use super::scatter::scatter;
use super::{Comparison, RunSample};
use crate::paired::RunTable;
use weir_measure::metrics::{
    BIN_NANOS, BINS_PER_SECOND, CouplingSeries, FlowSeries, Histogram, MeasurePlan, Series, Share,
    SignalSeries,
};
use weir_measure::results::FlowKind;
use weir_measure::results::ranking::Ranking;
use weir_report::page::{
    CdfStep, ControllerPanel, CoupledCurves, CouplingCurves, DecisionTick, FlowCurves, FlowRole, PageInput,
    SignalBand,
};
use weir_scenario::registry::Registry;
use weir_scenario::scenario::Scenario;

/// Number of points of a distribution, on a page and in a file.
pub const CDF_POINTS: usize = 1000;

/// The remark on runs that are all alike.
pub const ALL_ALIKE: &str =
    "All runs are alike, as hardly anything in this scenario depends on the seed: numbers have no intervals.";

/// Errors that keep a page from being drawn.
#[derive(Debug, thiserror::Error)]
pub enum PanelsError {
    /// The scenario holds a number beyond the range of TOML; no parsed scenario does.
    #[error(transparent)]
    Scenario(#[from] TomlError),
    /// The series of a run of hours did not fit on the disk, or cannot be read from there.
    #[error("the series of a long run, in a temporary file: {0}")]
    Series(#[from] io::Error),
}

/// The input of the page on `comparison`. The time series are moved into it, as those of a long run are large. `values` is its
/// table, `ranking` that of its controllers, `verdict` a summary of both in a few sentences.
///
/// # Errors
/// As for [`PanelsError`].
pub fn report_input(
    scenario: &Scenario,
    comparison: &mut Comparison,
    values: &RunTable,
    (ranking, verdict): (Option<&Ranking>, String),
) -> Result<PageInput, PanelsError> {
    let runs = match comparison.summary.seeds.as_slice() {
        [] => "no run".to_owned(),
        [seed] => format!("one run, seed {seed}"),
        [first, .., last] => format!("{} runs, seeds {first} to {last}", comparison.summary.runs),
    };
    let behind = |text: &str| if text.is_empty() { String::new() } else { format!(" · {text}") };
    let origin = behind(&scenario.skip_rule()) + &behind(scenario.source.as_deref().unwrap_or_default());
    let mut notes = notes(comparison);
    let mut panels = Vec::new();
    for controller in &mut comparison.controllers {
        // Taken and not cloned, because the series of a long run are large.
        let Some(recording) = controller.sample.series.take() else { continue };
        let signals = FlowSignals::of(&controller.sample.plan, &scenario.registry);
        let decisions = ticks(recording.decisions(), &signals)?;
        let (series, bins) = recording.for_a_page()?;
        if bins > 1 && panels.is_empty() {
            notes.push(joined_bins_note(bins));
        }
        let RunSample { plan, delays, .. } = &controller.sample;
        let queuing_delay =
            delays.get(detailed_flow(plan)).map_or_else(Vec::new, |delays| distribution(&delays.owd_excess));
        let courses = PanelData { series, decisions, queuing_delay };
        panels.extend(panel(&controller.name, &scenario.registry, plan, &signals, courses));
    }
    Ok(PageInput {
        title: comparison.titled(&scenario.title),
        source: format!("{} · {runs} of {}{origin}", scenario.name, scenario.duration),
        verdict,
        scenario: scenario.to_toml()?,
        scatter: scatter(values, ranking),
        summary: values.summary(),
        differences: values.differences(),
        controllers: panels,
        notes,
        seed: first_of_several(&comparison.summary.seeds),
        ..PageInput::default()
    })
}

fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes: Vec<String> = comparison.fallback_notes();
    if comparison.runs_are_alike() {
        notes.push(ALL_ALIKE.to_owned());
    } else if let Some(seed) = first_of_several(&comparison.summary.seeds) {
        notes.push(format!(
            "Numbers in the table are means over all runs with the half width of their 95 % confidence interval \
             (Student's t). Curves show the run of seed {seed}."
        ));
    }
    notes
}

/// The seed of the first run, whose curves are shown, or `None` if it is the only run.
pub(super) fn first_of_several(seeds: &[u64]) -> Option<u64> {
    match seeds {
        [seed, _, ..] => Some(*seed),
        _ => None,
    }
}

/// The remark on curves that join this many bins in a point.
fn joined_bins_note(bins: usize) -> String {
    let length = TimeDelta::from_nanos(BIN_NANOS as i64 * bins as i64);
    format!(
        "Curves of so long a run have a point each {length}: means, and least and greatest values; the tables of the series have all."
    )
}

/// The flow that a panel shows in most detail: the first media flow, else the first.
pub(super) fn detailed_flow(plan: &MeasurePlan) -> usize {
    plan.flows.iter().position(|flow| flow.kind == FlowKind::Media).unwrap_or(0)
}

/// The data from which the panel of a controller is drawn.
#[derive(Debug)]
pub(super) struct PanelData {
    /// The first run.
    pub(super) series: Series,
    /// The decisions of each flow.
    pub(super) decisions: Vec<Vec<DecisionTick>>,
    /// The distribution of the subject's queuing delay.
    pub(super) queuing_delay: Vec<CdfStep>,
}

/// The panel of a controller, whose flows have these signals, or `None` if there is no flow.
pub(super) fn panel(
    controller: &str,
    registry: &Registry,
    plan: &MeasurePlan,
    signals: &FlowSignals,
    courses: PanelData,
) -> Option<ControllerPanel> {
    let PanelData { mut series, mut decisions, queuing_delay } = courses;
    let detailed_flow = detailed_flow(plan);
    let info = plan.flows.get(detailed_flow).and_then(|flow| registry.find(&flow.controller).ok());
    let couplings = series
        .couplings
        .iter()
        .map(|coupling| coupling_curves(coupling, plan, &series, &decisions))
        .collect();
    // The couplings above need whole series, so the flow gives its columns away last.
    let subject = series.flows.get_mut(detailed_flow)?;
    let bottleneck = plan
        .flows
        .get(detailed_flow)
        .and_then(|flow| flow.bottleneck)
        .and_then(|link| series.links.get_mut(link));
    Some(ControllerPanel {
        name: controller.to_owned(),
        description: info.map_or_else(String::new, |info| info.source.to_string()),
        capacity_bps: bottleneck.map_or_else(Vec::new, |link| take(&mut link.capacity_bps)),
        max_rate_bps: highest_rate(plan),
        subject: subject.name.clone(),
        limiting_factor: take(&mut subject.limiting_factor),
        decisions: decisions.get_mut(detailed_flow).map(take).unwrap_or_default(),
        frame_delay_ms: take(&mut subject.frame_delay_max_ms),
        loss_ratio: take(&mut subject.loss_ratio),
        queuing_delay,
        signals: take(&mut subject.signals)
            .into_iter()
            .map(|signal| band(signal, detailed_flow, signals))
            .collect(),
        couplings,
        flows: curves(plan, series.flows),
        time_s: series.time_s,
        other: None,
    })
}

/// The highest rate that a media flow could use at any time, or `None` if no media flow has a limit.
fn highest_rate(plan: &MeasurePlan) -> Option<f64> {
    let media = plan.flows.iter().filter(|flow| flow.kind == FlowKind::Media);
    let limits =
        media.flat_map(|flow| flow.max_rate.into_iter().chain(flow.max_rates.iter().map(|(_, rate)| *rate)));
    limits.map(weir_units::DataRate::bps_f64).reduce(f64::max)
}

/// The rates of the flows; where there are many, those of the media flows and the sum of the others.
fn curves(plan: &MeasurePlan, flows: Vec<FlowSeries>) -> Vec<FlowCurves> {
    const SHOWN: usize = 8;
    let kinds = plan.flows.iter().map(|flow| flow.kind);
    let all: Vec<FlowCurves> = flows
        .into_iter()
        .zip(kinds)
        .map(|(flow, kind)| {
            let media = kind == FlowKind::Media;
            FlowCurves {
                name: flow.name,
                role: if media { FlowRole::Media } else { FlowRole::Competitor },
                send_rate_bps: flow.send_rate_bps,
                receive_rate_bps: flow.receive_rate_bps,
                target_rate_bps: if media { flow.target_rate_bps } else { Vec::new() },
            }
        })
        .collect();
    let (mut shown, others): (Vec<_>, Vec<_>) =
        all.into_iter().partition(|flow| flow.role == FlowRole::Media);
    if shown.len() + others.len() <= SHOWN {
        shown.extend(others);
    } else if !others.is_empty() {
        shown.push(sum(&others));
    }
    shown
}

fn sum(flows: &[FlowCurves]) -> FlowCurves {
    let add = |column: fn(&FlowCurves) -> &[f64]| {
        let bins = flows.iter().map(|flow| column(flow).len()).max().unwrap_or(0);
        let finite =
            |bin: usize| flows.iter().filter_map(move |f| column(f).get(bin)).filter(|v| v.is_finite());
        (0..bins).map(|bin| finite(bin).sum()).collect()
    };
    FlowCurves {
        name: format!("{} others", flows.len()),
        role: FlowRole::Competitor,
        send_rate_bps: add(|flow| &flow.send_rate_bps),
        receive_rate_bps: add(|flow| &flow.receive_rate_bps),
        target_rate_bps: Vec::new(),
    }
}

/// The curves of the coupled flows of a coupling.
fn coupling_curves(
    coupling: &CouplingSeries,
    plan: &MeasurePlan,
    series: &Series,
    decisions: &[Vec<DecisionTick>],
) -> CouplingCurves {
    let wanted = |bin: usize| {
        let at = Time::ZERO + TimeDelta::from_secs_f64(series.time_s[bin]);
        let weight = |&flow: &usize| {
            let flow_plan = &plan.flows[flow];
            if flow_plan.may_send_at(at) { flow_plan.weight_at(at) } else { 0.0 }
        };
        coupling.flows.iter().map(weight).collect::<Vec<f64>>()
    };
    let weights: Vec<Vec<f64>> = (0..series.time_s.len()).map(wanted).collect();
    // In each bin a flow wants its weight over the weights of the flows that may send then.
    let part_wanted = |place: usize| -> Vec<f64> {
        weights.iter().map(|all| all[place] / all.iter().sum::<f64>()).collect()
    };
    let all_sent = over_a_second(&coupling.send_rate_bps);
    let curves = |(place, &flow): (usize, &usize)| {
        let flow_series = &series.flows[flow];
        let (share_bps, window) = match &flow_series.share {
            Some(Share::Rate(rates)) => (rates.clone(), Vec::new()),
            Some(Share::Window(windows)) => (Vec::new(), windows.clone()),
            None => (Vec::new(), Vec::new()),
        };
        let sent = over_a_second(&flow_series.send_rate_bps);
        CoupledCurves {
            name: flow_series.name.clone(),
            receive_rate_bps: flow_series.receive_rate_bps.clone(),
            share_bps,
            window,
            part_sent: sent.iter().zip(&all_sent).map(|(sent, all)| sent / all).collect(),
            part_wanted: part_wanted(place),
            limiting_factor: flow_series.limiting_factor.clone(),
            decisions: decisions.get(flow).cloned().unwrap_or_default(),
        }
    };
    CouplingCurves {
        name: coupling.name.clone(),
        flows: coupling.flows.iter().enumerate().map(curves).collect(),
        receive_rate_bps: coupling.receive_rate_bps.clone(),
        aggregate_bps: if coupling.windows { Vec::new() } else { coupling.aggregate.clone() },
    }
}

/// The mean over each bin and the bins of the second before it.
fn over_a_second(rates: &[f64]) -> Vec<f64> {
    let mean = |bin: usize| {
        let second = &rates[(bin + 1).saturating_sub(BINS_PER_SECOND)..=bin];
        second.iter().sum::<f64>() / second.len() as f64
    };
    (0..rates.len()).map(mean).collect()
}

fn distribution(delays: &Histogram) -> Vec<CdfStep> {
    let points = delays.cdf(CDF_POINTS);
    points.into_iter().map(|point| CdfStep { delay_ms: point.delay_ms, share: point.share }).collect()
}

/// A signal of this flow.
fn band(signal: SignalSeries, flow: usize, signals: &FlowSignals) -> SignalBand {
    let described = signals.find(flow, signal.side, &signal.name);
    let side = if signal.side == Side::Sender { "sender" } else { "receiver" };
    SignalBand {
        name: format!("{} ({side})", signal.name),
        unit: described.map_or_else(String::new, |signal| signal.unit.to_owned()),
        meaning: described.map_or_else(String::new, |signal| signal.meaning.to_owned()),
        min: signal.min,
        max: signal.max,
    }
}
