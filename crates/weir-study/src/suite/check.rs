//! Checks of a controller in a case, and the measurement of a run for them.

mod against_tcp;
mod served;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use weir_net::Time;
use weir_units::{DataRate, TimeDelta};

use weir_measure::metrics::{
    FairShares, FlowPlan, Histogram, MeasurePlan, Measured, View, Window, jain, max_min_shares,
};
use weir_measure::results::{Convergence, FlowKind, Value};

pub(super) use against_tcp::AgainstTcp;
use against_tcp::{bins, bits_of_bins};
pub(super) use served::{
    Served, excess_delay, is_asked, least_useful, served, useful_bytes, worst_frame_delay,
};

/// Start of the time over which rates count unless a case sets another; a call may start up until then.
pub(super) const START_UP: Time = Time::from_millis(20_000);
/// Time after an event in which the queue is not judged.
pub(super) const SETTLING: TimeDelta = TimeDelta::from_secs(5);
/// Name of the check of [`Quantity::QueueWait`].
pub(super) const QUEUE_WAIT: &str = "queue wait p95";
/// Name of the window outside those times.
const SETTLED: &str = "settled";
/// Length of the time at the end of a run over which fairness is measured, in seconds.
const FAIRNESS_SECONDS: u64 = 30;

/// Requirement: a quantity and its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Check {
    /// Name of the check, as in `docs/suites.md`.
    pub name: &'static str,
    /// Unit of value and limit; empty for a ratio.
    pub unit: &'static str,
    /// Measured quantity.
    pub quantity: Quantity,
    /// Limit of the quantity.
    pub limit: Limit,
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
}

/// Quantity of a run. "Media" are the flows under the candidate. Their rate is the payload of frames: padding and
/// headers are load and of no use to a viewer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// Mean rate over mean max-min share from 20 s on, in per cent, of the media flow with the least ratio.
    Rate,
    /// Ratio of [`Self::Rate`] for each stretch between changes of the capacity; the least counts.
    RateAfterEachStep,
    /// Ratio of [`Self::Rate`] with the share of the capacity that the short transfers left.
    RateBesideTransfers,
    /// Mean rate over mean max-min share from 20 s on until the case starts to count, in per cent. The media flow with
    /// the least ratio counts.
    RateBefore,
    /// Rate of all media flows while all TCP flows are active, over that of as many TCP flows in their place, in per
    /// cent. The rate of each of these is capped at the highest rate of the call.
    RateAgainstTcp,
    /// 95th percentile of the media packets' waits, at the sender and at bottlenecks, outside 5 s after each event, in
    /// ms.
    QueueWait,
    /// Lost packets of frames, in per cent of all of them, of the media flow with the greatest loss.
    Loss,
    /// Jain's index of rate over share of the media flows, over the last 30 s in which all of them are active.
    Jain,
    /// Mean rate over mean share from 20 s on, in per cent, of the flow with the least ratio, TCP included.
    Coexistence,
    /// Seconds from a time of the run until each media flow whose share changes then has reached it and stays there.
    Reconvergence {
        /// The time, in seconds.
        at: u32,
    },
    /// Deviation of a flow's part of the received media from the part that its priority gives it, in per cent. The
    /// largest deviation counts, over the last 30 s in which all media flows are active.
    PriorityShares,
    /// 99th percentile of the frame delay, from capture to the arrival of the last packet, in ms, of the worst media
    /// flow.
    FrameDelay,
    /// Payload of the frames captured from 20 s on that are complete within 150 ms, over the omniscient sender's, in
    /// per cent. The least flow counts, of those of which the omniscient sender delivers enough in time.
    Useful,
    /// Excess of the 95th percentile of the frame delay over the omniscient sender's, in ms, of the media flow with the
    /// largest excess. Frames count that were captured from 20 s on; their delay lasts from capture to the arrival of
    /// the last packet.
    ExcessFrameDelay,
    /// Mean rate over mean max-min share from 20 s on, in per cent, of the TCP flow or competitor with the least ratio.
    Neighbour,
}

impl Quantity {
    /// Whether it applies only to flows of which the omniscient sender delivers enough in time.
    pub(super) const fn needs_asking(self) -> bool {
        matches!(self, Self::Useful)
    }

    /// Whether it is a rate of the calls, shown and not judged in a case with the check `useful`.
    pub(super) const fn is_rate(self) -> bool {
        matches!(
            self,
            Self::Rate | Self::RateAfterEachStep | Self::RateBesideTransfers | Self::RateAgainstTcp
        )
    }

    /// Whether it requires a rate, a short wait or little loss, which may be beyond physics.
    pub(super) const fn is_bound_by_physics(self) -> bool {
        match self {
            Self::Rate
            | Self::RateAfterEachStep
            | Self::RateBesideTransfers
            | Self::RateAgainstTcp
            | Self::QueueWait
            | Self::Loss => true,
            Self::Jain
            | Self::Coexistence
            | Self::Reconvergence { .. }
            | Self::PriorityShares
            | Self::RateBefore
            | Self::FrameDelay
            | Self::Useful
            | Self::ExcessFrameDelay
            | Self::Neighbour => false,
        }
    }
}

/// Value of a quantity as far as a single run determines it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// value: the time left was too short to tell.
    pub(super) fn beside(self, limit: Limit) -> (Value, bool) {
        let Self { value, is_measurable, is_least } = self;
        (value.filter(|&value| !is_least || limit.slack(value) < 0.0), is_measurable)
    }
}

/// Run that is judged by itself, without the results of other runs.
#[derive(Debug)]
pub(super) struct Judged<'a> {
    plan: &'a MeasurePlan,
    measured: &'a Measured,
    shares: Vec<FairShares>,
    /// Start of the time over which rates count.
    from: Time,
}

impl<'a> Judged<'a> {
    pub(super) fn new(plan: &'a MeasurePlan, measured: &'a Measured, from: Time) -> Self {
        Self { plan, measured, shares: max_min_shares(plan), from }
    }

    /// Value of `quantity` in this run.
    pub(super) fn alone(&self, quantity: Quantity) -> Alone {
        let value = self.quantity(quantity);
        match quantity {
            Quantity::Reconvergence { at } => Alone {
                value,
                is_measurable: self.comebacks(at).next().is_some(),
                is_least: self.comebacks(at).any(|event| event.not_converged == Some(1.0)),
            },
            _ => Alone { value, is_measurable: value.is_some(), is_least: false },
        }
    }

    /// Value of `quantity`, or `None` if there is nothing to measure or a single run does not determine it.
    fn quantity(&self, quantity: Quantity) -> Option<f64> {
        let media = self.judged_flows();
        match quantity {
            Quantity::Rate => self.least_share(&media, &[(self.from, self.plan.end)]),
            Quantity::RateBefore => self.least_share(&media, &[(START_UP, self.from)]),
            Quantity::RateAfterEachStep => self.least_share(&media, &self.between_steps()),
            Quantity::RateBesideTransfers => self.least_of_what_is_left(&media),
            Quantity::QueueWait => {
                let mut waits = Histogram::new();
                for &flow in &media {
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
            Quantity::PriorityShares => self.beside_priorities(&media),
            Quantity::Jain => self.fairness(&media),
            Quantity::Coexistence => {
                let adaptive = self.flows(|kind| matches!(kind, FlowKind::Media | FlowKind::Tcp));
                self.least_share(&adaptive, &[(self.from, self.plan.end)])
            }
            Quantity::Reconvergence { at } => {
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
pub(super) fn settled(plan: &MeasurePlan) -> Window {
    let unsettled = unsettled(plan);
    let begins = core::iter::once(Time::ZERO).chain(unsettled.iter().map(|&(_, to)| to));
    let ends = unsettled.iter().map(|&(from, _)| from).chain([plan.end]);
    Window { name: SETTLED.to_owned(), spans: begins.zip(ends).collect(), delays_only: true }
}

/// Window in which the queue is judged in a case that counts from `from` on.
pub(super) fn all_from(plan: &MeasurePlan, from: Time) -> Window {
    Window { name: SETTLED.to_owned(), spans: vec![(from, plan.end)], delays_only: true }
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
