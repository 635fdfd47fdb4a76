//! Checks of a controller in a case, and the measurement of a run for them.

mod against_tcp;
mod measures;
mod served;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, to_value};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};

use weir_measure::metrics::{
    ExtraWindow, FairShares, FlowPlan, Histogram, MeasurePlan, Measured, View, max_min_shares,
};
use weir_measure::results::{Convergence, FlowKind, Value};

use super::quantity::Quantity;
use crate::judge::formula::Formula;
pub(super) use against_tcp::AgainstTcp;
use against_tcp::{bins, bits_of_bins};
use measures::{FlowMeasure, RateOfShare, SettledWaits, add_sections};
pub(super) use served::{Served, is_applicable, served, useful_bytes, worst_frame_delay};

/// Start of the time over which rates count unless a case sets another; a call may start up until then.
pub(super) const START_UP: Time = Time::from_millis(20_000);
/// Time after an event in which the queue is not judged.
pub(super) const SETTLING: TimeDelta = TimeDelta::from_secs(5);
/// Name of the window outside those times.
const SETTLED: &str = "settled";
/// Length of the time at the end of a run over which fairness is measured, in seconds.
const FAIRNESS_SECONDS: u64 = 30;

/// Requirement: a value of each run and its limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Name of the check, as in `docs/suites.md`.
    pub name: Cow<'static, str>,
    /// Unit of value and limit; empty for a ratio.
    pub unit: Cow<'static, str>,
    /// Judged value.
    pub(super) subject: JudgedValue,
    /// Limit of the value.
    pub limit: Limit,
}

/// Judged value of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum JudgedValue {
    /// Named quantity, and the time in seconds from which on `re-convergence` counts; 0 for others.
    Quantity(Quantity, u32),
    /// Formula over the results of the run and of the omniscient sender's, with its text.
    Formula(String, Formula),
}

impl Check {
    /// Check of a quantity.
    pub const fn of(quantity: Quantity, limit: f64) -> Self {
        Self::named(quantity.name(), quantity, 0, limit)
    }

    /// Check of a quantity under another name; `at` is that of [`JudgedValue::Quantity`].
    pub(super) const fn named(name: &'static str, quantity: Quantity, at: u32, limit: f64) -> Self {
        Self {
            name: Cow::Borrowed(name),
            unit: Cow::Borrowed(quantity.unit()),
            subject: JudgedValue::Quantity(quantity, at),
            limit: Limit::new(limit, quantity.higher_is_better()),
        }
    }

    /// Whether the check is of this quantity.
    pub(super) fn is_of(&self, quantity: Quantity) -> bool {
        self.quantity() == Some(quantity)
    }

    /// Quantity of the check, or `None` for a formula.
    pub(super) fn quantity(&self) -> Option<Quantity> {
        if let JudgedValue::Quantity(quantity, _) = self.subject { Some(quantity) } else { None }
    }

    /// Text of the formula that a file gives, or `None` for a quantity.
    pub fn formula(&self) -> Option<&str> {
        if let JudgedValue::Formula(text, _) = &self.subject { Some(text) } else { None }
    }

    /// Formula of the values, given or named; `None` for a quantity that is none.
    pub(super) fn evaluated(&self) -> Option<&Formula> {
        match &self.subject {
            JudgedValue::Formula(_, formula) => Some(formula),
            JudgedValue::Quantity(quantity, _) => quantity.formula(),
        }
    }

    /// Time in seconds from which on the check counts, if it is of `re-convergence`.
    pub(super) fn counts_from(&self) -> Option<u32> {
        match self.subject {
            JudgedValue::Quantity(Quantity::Reconvergence, at) => Some(at),
            _ => None,
        }
    }
}

/// Limit of a value; a value exactly at the limit keeps to it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Limit {
    /// Lower limit.
    AtLeast(f64),
    /// Upper limit.
    AtMost(f64),
}

impl Limit {
    /// Lower limit if higher values are better, else an upper one.
    pub(super) const fn new(limit: f64, higher_is_better: bool) -> Self {
        if higher_is_better { Self::AtLeast(limit) } else { Self::AtMost(limit) }
    }

    /// The number of the limit.
    pub const fn value(self) -> f64 {
        match self {
            Self::AtLeast(limit) | Self::AtMost(limit) => limit,
        }
    }

    /// Whether higher values are better.
    pub const fn higher_is_better(self) -> bool {
        matches!(self, Self::AtLeast(_))
    }

    /// Distance by which `value` keeps to the limit, as a share of the limit; negative if it does not.
    pub fn slack(self, value: f64) -> f64 {
        let ratio = value / self.value();
        if self.higher_is_better() { ratio - 1.0 } else { 1.0 - ratio }
    }

    /// The value over the limit where more is better, the limit over the value where less is better; at most 1.
    pub fn margin(self, value: f64) -> f64 {
        if self.slack(value) >= 0.0 {
            return 1.0;
        }
        let ratio = value / self.value();
        if self.higher_is_better() { ratio.max(0.0) } else { 1.0 / ratio }
    }

    /// Limit in words, as in `at least 80 %`; `unit` is empty for a ratio.
    pub(super) fn in_words(self, unit: &str) -> String {
        let sense = if self.higher_is_better() { "at least" } else { "at most" };
        let space = if unit.is_empty() { "" } else { " " };
        format!("{sense} {}{space}{unit}", self.value())
    }
}

/// Time until the media flows are back at their shares after a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct ReturnTime {
    /// Seconds, or `None` if there is nothing to measure.
    value: Value,
    /// Whether there is anything to measure, even without a value.
    is_measurable: bool,
    /// Whether the value is a lower bound: the time until the next change or the end, for a flow that never converges.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_least: bool,
}

impl ReturnTime {
    /// Value beside `limit`, and whether there is anything to measure. A lower bound that keeps to the limit is no
    /// value: the time left was too short for a verdict.
    pub(super) fn beside(self, limit: Limit) -> (Value, bool) {
        let Self { value, is_measurable, is_least } = self;
        (value.filter(|&value| !is_least || limit.slack(value) < 0.0), is_measurable)
    }
}

/// Run that is judged by itself, without the results of other runs.
#[derive(Debug)]
pub(super) struct JudgedRun<'a> {
    plan: &'a MeasurePlan,
    measured: &'a Measured,
    shares: Vec<FairShares>,
    /// Start of the time over which rates count.
    from: Time,
}

impl<'a> JudgedRun<'a> {
    pub(super) fn new(plan: &'a MeasurePlan, measured: &'a Measured, from: Time) -> Self {
        Self { plan, measured, shares: max_min_shares(plan), from }
    }

    /// Adds to the printed `results` of the run the measurements that `paths` of formulas name.
    pub(super) fn add_measures(
        &self,
        results: &mut Json,
        paths: &BTreeSet<String>,
    ) -> serde_json::Result<()> {
        add_sections(results, paths, |section| self.section(section))
    }

    /// Section of this name ([`measures`]), or null if there is none.
    fn section(&self, name: &str) -> serde_json::Result<Json> {
        let media = self.judged_flows();
        let counted = &[(self.from, self.plan.end)];
        let adaptive = self.flows(|kind| matches!(kind, FlowKind::Media | FlowKind::Tcp));
        let last = self.last_seconds(&media);
        match name {
            "counted" => to_value(self.rates(&media, counted)),
            "before" => to_value(self.rates(&media, &[(START_UP, self.from)])),
            "stretches" => to_value(self.rates(&media, &self.between_steps())),
            "last" => to_value(last.map(|last| self.rates(&media, &[last]))),
            "beside_transfers" => to_value(self.rates_of_what_is_left(&media)),
            "adaptive" => to_value(self.rates(&adaptive, counted)),
            "neighbours" => {
                let others: Vec<usize> =
                    adaptive.into_iter().filter(|&flow| !self.plan.flows[flow].is_judged()).collect();
                to_value(self.rates(&others, counted))
            }
            "flows" => to_value(media.iter().map(|&flow| self.flow_measure(flow, last)).collect::<Vec<_>>()),
            "frames" => {
                to_value(media.iter().map(|&flow| Served::of(&self.measured.views[flow])).collect::<Vec<_>>())
            }
            "settled" => to_value(SettledWaits { wait_p95_ms: self.waits(&media) }),
            _ => Ok(Json::Null),
        }
    }

    fn flow_measure(&self, flow: usize, last: Option<(Time, Time)>) -> FlowMeasure {
        let View { packets, lost_packets, .. } = self.measured.views[flow];
        FlowMeasure {
            packets: packets + lost_packets,
            lost_packets,
            frame_delay_p99_ms: self.measured.delays[flow].frame_delay.quantile_ms(0.99),
            last_bits: last.map_or(0.0, |last| self.bits(flow, last)),
            weight: self.plan.flows[flow].weight,
        }
    }

    /// 95th percentile over the packets of all these flows, in ms.
    fn waits(&self, flows: &[usize]) -> Value {
        let mut waits = Histogram::new();
        for &flow in flows {
            waits.merge(&self.measured.delays_within.get(SETTLED)?.get(flow)?.whole_wait);
        }
        waits.quantile_ms(0.95)
    }

    /// Time from the change at `at` seconds until each media flow is back at its share; the slowest one counts.
    pub(super) fn return_time(&self, at: u32) -> ReturnTime {
        let seconds: Option<Vec<f64>> = self.comebacks(at).map(|event| event.seconds).collect();
        ReturnTime {
            value: seconds.and_then(|seconds| seconds.into_iter().reduce(f64::max)),
            is_measurable: self.comebacks(at).next().is_some(),
            is_least: self.comebacks(at).any(|event| event.not_converged == Some(1.0)),
        }
    }

    /// Media flows under the candidate.
    fn judged_flows(&self) -> Vec<usize> {
        (0..self.plan.flows.len()).filter(|&flow| self.plan.flows[flow].is_judged()).collect()
    }

    /// Headers and padding that the judged flows received, in per cent of the payload of their frames.
    pub(super) fn overhead(&self) -> Value {
        let window = bins((self.from, self.plan.end));
        let sum = |of: &[Vec<u32>]| -> f64 {
            self.judged_flows().iter().map(|&flow| bits_of_bins(&of[flow], window)).sum()
        };
        let payload = sum(&self.measured.media_receipts);
        (payload > 0.0).then(|| 100.0 * (sum(&self.measured.receipts) / payload - 1.0))
    }

    fn flows(&self, of: impl Fn(FlowKind) -> bool) -> Vec<usize> {
        (0..self.plan.flows.len()).filter(|&flow| of(self.plan.flows[flow].kind)).collect()
    }

    /// Stretches of the counted time without a change of capacity, be it by itself or by cross traffic.
    fn between_steps(&self) -> Vec<(Time, Time)> {
        let cross = self.plan.flows.iter().filter(|flow| flow.kind == FlowKind::Constant);
        let mut edges: Vec<Time> = steps(self.plan)
            .chain(cross.flat_map(activity))
            .filter(|&at| at > self.from && at < self.plan.end)
            .chain([self.from, self.plan.end])
            .collect();
        edges.sort_unstable();
        edges.dedup();
        edges.windows(2).map(|pair| (pair[0], pair[1])).collect()
    }

    /// Rate of each flow in each window.
    fn rates(&self, flows: &[usize], windows: &[(Time, Time)]) -> Vec<RateOfShare> {
        let each = flows.iter().flat_map(|&flow| windows.iter().map(move |&window| (flow, window)));
        each.map(|(flow, window)| self.rate(flow, window)).collect()
    }

    /// Bits received and bits that the share allows within the part of `window` in which the flow was active.
    fn rate(&self, flow: usize, window: (Time, Time)) -> RateOfShare {
        let ideal = self.ideal_bits(flow, window);
        RateOfShare {
            bits: self.bits(flow, self.active(flow, window)),
            share_bits: Some(ideal).filter(|ideal| *ideal > 0.0 && ideal.is_finite()),
        }
    }

    /// Bits that the flow's share allows within `window`.
    fn ideal_bits(&self, flow: usize, (from, to): (Time, Time)) -> f64 {
        let piece = |shares: &FairShares| {
            let nanos = shares.to.min(to).nanos().saturating_sub(shares.from.max(from).nanos());
            shares.bps[flow] * nanos as f64 / 1e9
        };
        self.shares.iter().map(piece).sum()
    }

    fn active(&self, flow: usize, (from, to): (Time, Time)) -> (Time, Time) {
        let plan = &self.plan.flows[flow];
        (plan.start.max(from), plan.stop.min(to))
    }

    /// Bits that count for a flow: for media the payload of frames, for others all received bits.
    fn bits(&self, flow: usize, window: (Time, Time)) -> f64 {
        let measured = self.measured;
        let of = match self.plan.flows[flow].kind {
            FlowKind::Media => &measured.media_receipts,
            _ => &measured.receipts,
        };
        bits_of_bins(&of[flow], bins(window))
    }

    /// Measurement for [`Quantity::RateAgainstTcp`].
    pub(super) fn against_tcp(&self) -> AgainstTcp {
        let media = self.judged_flows();
        let tcp = self.flows(|kind| kind == FlowKind::Tcp);
        let whole = (Time::ZERO, self.plan.end);
        let window = tcp.iter().fold(whole, |window, &flow| self.active(flow, window));
        let seconds = (window.1 - window.0).secs_f64();
        let most = |flow: usize| self.plan.flows[flow].max_rate.map(|rate| rate.bps_f64() * seconds);
        let carried = media.iter().map(|&flow| self.bits(flow, window)).sum();
        let media = media.into_iter().map(|flow| (flow, most(flow))).collect();
        AgainstTcp { carried, bins: bins(window), media }
    }

    /// Rates with the capacity that the transfers left as the share. Transfers have no share of their own, as they are
    /// not always active.
    fn rates_of_what_is_left(&self, media: &[usize]) -> Option<Vec<RateOfShare>> {
        let window = self.window_of(media, self.from)?;
        let mut others = self.flows(|kind| kind != FlowKind::Audio);
        others.retain(|&flow| !self.plan.flows[flow].is_judged());
        let taken: f64 = others.iter().map(|&flow| self.bits(flow, window)).sum();
        let audio: f64 =
            self.flows(|kind| kind == FlowKind::Audio).iter().map(|&flow| self.bits(flow, window)).sum();
        let link = &self.plan.links[self.plan.flows[*media.first()?].bottleneck?];
        let left = (link.service.capacity(window.0, window.1).bytes_f64() * 8.0 - taken - audio)
            / media.len() as f64;
        let seconds = (window.1 - window.0).secs_f64();
        let most =
            |flow: usize| self.plan.flows[flow].max_rate.map_or(f64::INFINITY, DataRate::bps_f64) * seconds;
        let rate = |&flow: &usize| RateOfShare {
            bits: self.bits(flow, self.active(flow, window)),
            // The highest rate of a call caps its share.
            share_bits: (left > 0.0).then(|| left.min(most(flow))),
        };
        Some(media.iter().map(rate).collect())
    }

    /// Last 30 s in which all of these flows are active.
    fn last_seconds(&self, flows: &[usize]) -> Option<(Time, Time)> {
        let (_, to) = self.window_of(flows, Time::ZERO)?;
        Some((Time::from_nanos(to.nanos().saturating_sub(FAIRNESS_SECONDS * 1_000_000_000)), to))
    }

    /// Window from `from` until the first of these flows stops.
    fn window_of(&self, flows: &[usize], from: Time) -> Option<(Time, Time)> {
        let stop = flows.iter().map(|&flow| self.plan.flows[flow].stop).min()?;
        Some((from, stop.min(self.plan.end)))
    }

    /// Convergence of each media flow whose share changes at `at`.
    fn comebacks(&self, at: u32) -> impl Iterator<Item = &Convergence<Value>> {
        let flows = self.judged_flows().into_iter();
        flows.filter_map(move |flow| {
            let mut events = self.measured.metrics.flows[flow].convergence.iter();
            events.find(|event| event.at_seconds.is_some_and(|time| is_at(time, at)))
        })
    }
}

/// Whether a change seen at `seconds` is the one at `at`; the far end of the link sees it a propagation delay later.
pub(super) fn is_at(seconds: f64, at: u32) -> bool {
    (seconds - f64::from(at)).abs() < 1.0
}

/// Window in which the queue is judged.
pub(super) fn settled(plan: &MeasurePlan) -> ExtraWindow {
    let unsettled = unsettled(plan);
    let begins = core::iter::once(Time::ZERO).chain(unsettled.iter().map(|&(_, to)| to));
    let ends = unsettled.iter().map(|&(from, _)| from).chain([plan.end]);
    ExtraWindow { name: SETTLED.to_owned(), spans: begins.zip(ends).collect(), delays_only: true }
}

/// Window in which the queue is judged in a case that counts from `from` on.
pub(super) fn all_from(plan: &MeasurePlan, from: Time) -> ExtraWindow {
    ExtraWindow { name: SETTLED.to_owned(), spans: vec![(from, plan.end)], delays_only: true }
}

/// Times of [`SETTLING`] after each event of a call, in order and without overlap. Events are changes of a capacity,
/// and starts, stops, pauses and returns of flows.
fn unsettled(plan: &MeasurePlan) -> Vec<(Time, Time)> {
    let flows = plan
        .flows
        .iter()
        .filter(|flow| !matches!(flow.kind, FlowKind::Audio | FlowKind::Downloads | FlowKind::Web));
    let mut events: Vec<Time> =
        steps(plan).chain(flows.flat_map(activity)).filter(|&at| at < plan.end).collect();
    events.sort_unstable();
    let mut stretches: Vec<(Time, Time)> = Vec::new();
    for at in events {
        // An event within the settling time of another one extends that time.
        match stretches.last_mut().filter(|(_, to)| at <= *to) {
            Some((_, to)) => *to = at + SETTLING,
            None => stretches.push((at, at + SETTLING)),
        }
    }
    stretches
}

/// Times at which a capacity changes by itself.
fn steps(plan: &MeasurePlan) -> impl Iterator<Item = Time> {
    let narrow = plan.links.iter().filter(|link| link.bottleneck);
    narrow.flat_map(|link| link.service.steps().iter().map(|&(at, _)| at))
}

/// Times at which a flow starts, stops, pauses, returns, or changes a rate that does not adapt.
fn activity(flow: &FlowPlan) -> impl Iterator<Item = Time> {
    let pauses = flow.pauses.iter().flat_map(|&(from, to)| [from, to]);
    let rates = flow.sends.iter().map(|&(at, _)| at).filter(|&at| at > flow.start && at < flow.stop);
    [flow.start, flow.stop].into_iter().chain(pauses).chain(rates)
}
