//! Checks of a controller in a case, and the measurement of a run for them.

mod against_tcp;
mod served;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};

use weir_measure::metrics::{
    ExtraWindow, FairShares, FlowPlan, Histogram, MeasurePlan, Measured, View, jain, max_min_shares,
};
use weir_measure::results::{Convergence, FlowKind, Value};

use super::quantity::Quantity;
use crate::judge::formula::Formula;
pub(super) use against_tcp::AgainstTcp;
use against_tcp::{bins, bits_of_bins};
pub(super) use served::{
    Served, excess_delay, is_applicable, least_useful, served, useful_bytes, worst_frame_delay,
};

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

    /// Text of the formula, if the check has one.
    pub fn formula(&self) -> Option<&str> {
        if let JudgedValue::Formula(text, _) = &self.subject { Some(text) } else { None }
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

/// Value of a quantity as far as a single run determines it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Alone {
    /// Value, or `None` if there is nothing to measure.
    value: Value,
    /// Whether there is anything to measure, even without a value.
    is_measurable: bool,
    /// Whether the value is a lower bound: the time until the next change or the end, for a flow that never converges.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_least: bool,
}

impl Alone {
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

    /// Value of `subject` in this run.
    pub(super) fn alone(&self, subject: &JudgedValue) -> Alone {
        let JudgedValue::Quantity(quantity, at) = *subject else { return Alone::default() };
        let value = self.quantity(quantity, at);
        match quantity {
            Quantity::Reconvergence => Alone {
                value,
                is_measurable: self.comebacks(at).next().is_some(),
                is_least: self.comebacks(at).any(|event| event.not_converged == Some(1.0)),
            },
            _ => Alone { value, is_measurable: value.is_some(), is_least: false },
        }
    }

    /// Value of `quantity`, or `None` if there is nothing to measure or a single run does not determine it.
    fn quantity(&self, quantity: Quantity, at: u32) -> Option<f64> {
        let media = self.judged_flows();
        match quantity {
            Quantity::Rate => self.least_share(&media, &[(self.from, self.plan.end)]),
            Quantity::RateBefore => self.least_share(&media, &[(START_UP, self.from)]),
            Quantity::RateAfterEachStep => self.least_share(&media, &self.between_steps()),
            Quantity::RateBesideTransfers => self.least_of_what_is_left(&media),
            Quantity::QueueWait => {
                let mut waits = Histogram::new();
                for &flow in &media {
                    // One percentile over the packets of all media flows.
                    waits.merge(&self.measured.delays_within.get(SETTLED)?.get(flow)?.whole_wait);
                }
                waits.quantile_ms(0.95)
            }
            Quantity::Loss => {
                let loss = |&flow: &usize| {
                    let View { packets, lost_packets, .. } = self.measured.views[flow];
                    let sent = packets + lost_packets;
                    (sent > 0).then(|| 100.0 * lost_packets as f64 / sent as f64)
                };
                media.iter().filter_map(loss).reduce(f64::max)
            }
            Quantity::OffPriority => self.beside_priorities(&media),
            Quantity::Jain => self.fairness(&media),
            Quantity::Coexistence => {
                let adaptive = self.flows(|kind| matches!(kind, FlowKind::Media | FlowKind::Tcp));
                self.least_share(&adaptive, &[(self.from, self.plan.end)])
            }
            Quantity::Reconvergence => {
                let seconds = self.comebacks(at).map(|event| event.seconds);
                seconds.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
            }
            Quantity::FrameDelay => {
                let worst = |&flow: &usize| self.measured.delays[flow].frame_delay.quantile_ms(0.99);
                media.iter().filter_map(worst).reduce(f64::max)
            }
            Quantity::Neighbour => {
                let mut others = self.flows(|kind| matches!(kind, FlowKind::Media | FlowKind::Tcp));
                others.retain(|&flow| !self.plan.flows[flow].is_judged());
                self.least_share(&others, &[(self.from, self.plan.end)])
            }
            Quantity::RateAgainstTcp | Quantity::Useful | Quantity::ExcessFrameDelay => None,
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

    /// Least ratio of rate and share, in per cent, over flows and windows.
    fn least_share(&self, flows: &[usize], windows: &[(Time, Time)]) -> Option<f64> {
        let each = flows.iter().flat_map(|&flow| windows.iter().map(move |&window| (flow, window)));
        each.filter_map(|(flow, window)| self.rate_over_share(flow, window))
            .reduce(f64::min)
            .map(|share| 100.0 * share)
    }

    /// Bits received over the bits that the share allows, within the part of `window` in which the flow was active.
    fn rate_over_share(&self, flow: usize, window: (Time, Time)) -> Option<f64> {
        let ideal = self.ideal_bits(flow, window);
        (ideal > 0.0 && ideal.is_finite()).then(|| self.bits(flow, self.active(flow, window)) / ideal)
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

    /// Ratio as in [`Self::least_share`], with the capacity that the transfers left as the share. Transfers have no
    /// share of their own, as they are not always active.
    fn least_of_what_is_left(&self, media: &[usize]) -> Option<f64> {
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
        // The highest rate of a call caps its share.
        let share = |&flow: &usize| self.bits(flow, self.active(flow, window)) / left.min(most(flow));
        (left > 0.0).then(|| media.iter().map(share).reduce(f64::min).map(|share| 100.0 * share))?
    }

    fn fairness(&self, media: &[usize]) -> Option<f64> {
        let (_, to) = self.window_of(media, Time::ZERO)?;
        let from = Time::from_nanos(to.nanos().saturating_sub(FAIRNESS_SECONDS * 1_000_000_000));
        let shares: Option<Vec<f64>> =
            media.iter().map(|&flow| self.rate_over_share(flow, (from, to))).collect();
        jain(&shares?)
    }

    fn beside_priorities(&self, media: &[usize]) -> Option<f64> {
        let (_, to) = self.window_of(media, Time::ZERO)?;
        let from = Time::from_nanos(to.nanos().saturating_sub(FAIRNESS_SECONDS * 1_000_000_000));
        let received = |&flow: &usize| self.bits(flow, (from, to));
        let weight = |&flow: &usize| self.plan.flows[flow].weight;
        let (all, weights): (f64, f64) = (media.iter().map(received).sum(), media.iter().map(weight).sum());
        // The deviation is relative to the part of the priority, so that small and large priorities are judged alike.
        let beside = |flow: &usize| (received(flow) / all / (weight(flow) / weights) - 1.0).abs();
        (all > 0.0).then(|| media.iter().map(beside).reduce(f64::max).map(|worst| 100.0 * worst))?
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
