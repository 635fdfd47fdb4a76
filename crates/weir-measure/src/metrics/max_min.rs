//! Max-min fair shares of all flows, the reference for convergence and for the suites.

use std::collections::BTreeMap;

use weir_net::{Service, Time};
use weir_units::{DataRate, TimeDelta};

use super::link::capacity;
use super::plan::{FlowPlan, LinkPlan, MeasurePlan};
use super::span::{ActiveSpan, Stretches, pieces};
use crate::results::FlowKind;

/// The links and flows of a run, with the time spans in which each flow could send.
#[derive(Clone, Copy, Debug)]
pub(super) struct SharedNetwork<'a> {
    pub(super) links: &'a [LinkPlan],
    pub(super) flows: &'a [FlowPlan],
    /// The time spans in which each flow could send.
    pub(super) active: &'a [Stretches],
}

impl SharedNetwork<'_> {
    /// The bottlenecks on the path of a flow.
    fn bottlenecks(&self, flow: &FlowPlan) -> Vec<usize> {
        flow.route.iter().copied().filter(|&link| self.links[link].bottleneck).collect()
    }

    /// The pieces of `window` in which neither the capacities of the links `bottlenecks` nor the set of flows over them
    /// change. There are none if a capacity changes all the time (a trace), or if short transfers start and end.
    fn steady_pieces(&self, bottlenecks: &[usize], window: &Stretches) -> Vec<ActiveSpan> {
        let meets = |other: &FlowPlan| other.route.iter().any(|link| bottlenecks.contains(link));
        let traced =
            bottlenecks.iter().any(|&link| matches!(self.links[link].service, Service::Trace { .. }));
        if traced || self.flows.iter().any(|other| other.kind == FlowKind::Downloads && meets(other)) {
            return Vec::new();
        }
        let met = self.flows.iter().zip(self.active).filter(|(other, _)| meets(other));
        let changes = met.flat_map(|(other, active)| changes(other, active));
        let steps = bottlenecks.iter().flat_map(|&link| steps(&self.links[link]));
        let cuts: Vec<Time> = changes.chain(steps).collect();
        window.spans().iter().flat_map(|&span| pieces(span, cuts.iter().copied())).collect()
    }

    /// The share of each flow in bit/s over `piece`, with the flows that are active at its beginning; zero for the
    /// others. A flow that does not adapt takes its sending rate, up to the capacity. Adaptive flows share the
    /// remainder. Short transfers are left out.
    fn shares(&self, piece: ActiveSpan) -> Vec<f64> {
        let Some(seconds) = piece.seconds() else { return vec![0.0; self.flows.len()] };
        let rate = |link: &LinkPlan| {
            if link.bottleneck { capacity(link, piece) * 8.0 / seconds } else { f64::INFINITY }
        };
        let mut left: Vec<f64> = self.links.iter().map(rate).collect();
        let mut taken = vec![0.0; self.flows.len()];
        let flows =
            || self.flows.iter().zip(self.active).map(|(flow, active)| (flow, active.contains(piece.from)));
        for ((flow, active), taken) in flows().zip(&mut taken) {
            if let Some(rate) = flow.rate_at(piece.from).filter(|_| active) {
                *taken = flow.route.iter().map(|&link| left[link]).fold(rate.bps_f64(), f64::min);
                flow.route.iter().for_each(|&link| left[link] -= *taken);
            }
        }
        let limit = |flow: &FlowPlan, active: bool| {
            let shares = active && flow.sends.is_empty() && flow.kind != FlowKind::Downloads;
            let most = flow.max_rate_at(piece.from);
            if shares { most.map_or(f64::INFINITY, DataRate::bps_f64) } else { 0.0 }
        };
        let sharers: Vec<Sharer<'_>> = flows()
            .map(|(flow, active)| Sharer {
                route: &flow.route,
                weight: flow.weight_at(piece.from),
                limit: limit(flow, active),
            })
            .collect();
        max_min(&left, &sharers).iter().zip(taken).map(|(share, taken)| share + taken).collect()
    }
}

/// Pieces of a window in which the shares are constant, and the shares in them. Pieces are computed once for all
/// flows over the same bottlenecks, and shares once for each piece.
#[derive(Debug)]
pub(super) struct SteadyShares<'a> {
    network: SharedNetwork<'a>,
    window: &'a Stretches,
    /// Least length of a piece, in ns.
    least: u64,
    /// Pieces by the set of bottlenecks on a path.
    pieces: BTreeMap<Vec<usize>, Vec<ActiveSpan>>,
    shares: BTreeMap<(Time, Time), Vec<f64>>,
}

impl<'a> SteadyShares<'a> {
    /// The shares in the pieces of `window` that last `least` ns or longer.
    pub(super) fn new(network: SharedNetwork<'a>, window: &'a Stretches, least: u64) -> Self {
        Self { network, window, least, pieces: BTreeMap::new(), shares: BTreeMap::new() }
    }

    /// The pieces of the window in which `flow` is active and its share is constant, each with the share in bit/s.
    /// Neither the capacities on its path nor the set of flows there changes within a piece. There are none if a
    /// capacity changes all the time (a trace), or if short transfers start and end on the path.
    pub(super) fn of(&mut self, flow: usize) -> Vec<(ActiveSpan, f64)> {
        let Self { network, window, least, pieces, shares } = self;
        let pieces =
            pieces.entry(network.bottlenecks(&network.flows[flow])).or_insert_with_key(|bottlenecks| {
                let mut pieces = network.steady_pieces(bottlenecks, window);
                pieces.retain(|piece| piece.nanos() >= *least);
                pieces
            });
        let active = pieces.iter().filter(|piece| network.active[flow].contains(piece.from));
        let mut share = |piece: ActiveSpan| {
            shares.entry((piece.from, piece.to)).or_insert_with(|| network.shares(piece))[flow]
        };
        active.map(|&piece| (piece, share(piece))).collect()
    }
}

impl FlowPlan {
    /// Sending rate at `at` of a flow that does not adapt; `None` for an adaptive flow.
    fn rate_at(&self, at: Time) -> Option<DataRate> {
        let begun = self.sends.partition_point(|&(from, _)| from <= at);
        let rate = begun.checked_sub(1).map_or(DataRate::ZERO, |step| self.sends[step].1);
        (!self.sends.is_empty()).then_some(rate)
    }
}

/// Times at which a flow starts or stops being active, and at which its sending rate, maximum rate or weight changes.
fn changes(flow: &FlowPlan, active: &Stretches) -> impl Iterator<Item = Time> {
    let rates = flow.sends.iter().map(|&(from, _)| from);
    let weights = flow.later_weights.iter().map(|&(from, _)| from);
    let limits = flow.max_rates.iter().map(|&(from, _)| from);
    active.changes().chain(rates.chain(weights).chain(limits).filter(|&from| active.contains(from)))
}

/// Max-min shares over a span of time in which the capacities and the set of active flows are constant.
#[derive(Clone, Debug, PartialEq)]
pub struct FairShares {
    /// Beginning of the span.
    pub from: Time,
    /// End of the span.
    pub to: Time,
    /// The max-min share of each flow on the wire, in bit/s; zero for one that is not active.
    pub bps: Vec<f64>,
}

/// The max-min shares of all flows over a whole run, span by span. The capacity of a trace is its mean rate over the
/// span, which then lasts at most a second, because unused capacity does not carry over.
pub fn max_min_shares(plan: &MeasurePlan) -> Vec<FairShares> {
    max_min_shares_every(plan, TimeDelta::from_secs(1))
}

/// [`max_min_shares`] with spans of at most `step` where a trace is on the path of a flow.
pub fn max_min_shares_every(plan: &MeasurePlan, step: TimeDelta) -> Vec<FairShares> {
    let whole = |flow: &FlowPlan| ActiveSpan::new(flow.start, flow.stop.min(plan.end));
    let active: Vec<Stretches> =
        plan.flows.iter().map(|flow| Stretches::new(whole(flow), &flow.pauses)).collect();
    let network = SharedNetwork { links: &plan.links, flows: &plan.flows, active: &active };
    let changes = plan.flows.iter().zip(&active).flat_map(|(flow, active)| changes(flow, active));
    let steps = plan.links.iter().filter(|link| link.bottleneck).flat_map(steps);
    let traced =
        plan.links.iter().any(|link| link.bottleneck && matches!(link.service, Service::Trace { .. }));
    let step = step.nanos().max(1) as u64;
    let cuts = (1..=if traced { plan.end.nanos() / step } else { 0 }).map(|cut| Time::from_nanos(cut * step));
    pieces(ActiveSpan::new(Time::ZERO, plan.end), changes.chain(steps).chain(cuts))
        .map(|piece| FairShares { from: piece.from, to: piece.to, bps: network.shares(piece) })
        .collect()
}

/// Times at which the capacity of a link changes, as observed at its far end.
fn steps(link: &LinkPlan) -> impl Iterator<Item = Time> + '_ {
    link.service.steps().iter().map(|&(at, _)| at + link.delay)
}

/// A flow in the computation of max-min fair rates.
#[derive(Clone, Copy, Debug)]
struct Sharer<'a> {
    route: &'a [usize],
    /// Weight relative to the other flows.
    weight: f64,
    /// The highest rate that it can use.
    limit: f64,
}

/// The max-min fair rates (Bertsekas and Gallager, Data Networks, §6.5.2): all rates rise together, in proportion
/// to the weights. A flow stops at its limit, or when a link on its path is full.
fn max_min(capacities: &[f64], sharers: &[Sharer<'_>]) -> Vec<f64> {
    let mut left = capacities.to_vec();
    let mut rates = vec![0.0; sharers.len()];
    let mut open: Vec<usize> = (0..sharers.len()).collect();
    while !open.is_empty() {
        let mut rising = vec![0.0; left.len()];
        for &flow in &open {
            sharers[flow].route.iter().for_each(|&link| rising[link] += sharers[flow].weight);
        }
        let full_at = |link: usize| left[link].max(0.0) / rising[link];
        let stops_at = |flow: usize| {
            let ways = sharers[flow].route.iter().map(|&link| full_at(link));
            ways.fold(sharers[flow].limit / sharers[flow].weight, f64::min)
        };
        let level = open.iter().map(|&flow| stops_at(flow)).fold(f64::INFINITY, f64::min);
        let (done, still): (Vec<usize>, Vec<usize>) = open.iter().partition(|&&flow| stops_at(flow) <= level);
        for flow in done {
            rates[flow] = level * sharers[flow].weight;
            sharers[flow].route.iter().for_each(|&link| left[link] -= rates[flow]);
        }
        open = still;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: f64 = f64::INFINITY;

    fn rates(capacities: &[f64], flows: &[(&[usize], f64)]) -> Vec<f64> {
        let sharer = |&(route, limit)| Sharer { route, weight: 1.0, limit };
        max_min(capacities, &flows.iter().map(sharer).collect::<Vec<_>>())
    }

    #[test]
    fn shares_are_computed_once_a_piece_however_many_flows_there_are() {
        let t = |ms: u64| Time::from_millis(ms);
        let count = 200;
        // They start 5 ms apart, and half of them stop at 30 s: with the end of the window 201 pieces, two of them long.
        let flow = |number: u64| FlowPlan {
            start: t(5 * number),
            stop: if number < 100 { t(30_000) } else { Time::MAX },
            ..FlowPlan::new("call", FlowKind::Media)
        };
        let flows: Vec<FlowPlan> = (0..count).map(flow).collect();
        let links = [LinkPlan::bottleneck("link", Service::Constant(DataRate::from_mbps(200)))];
        let active: Vec<Stretches> =
            flows.iter().map(|flow| Stretches::new(ActiveSpan::new(flow.start, flow.stop), &[])).collect();
        let network = SharedNetwork { links: &links, flows: &flows, active: &active };
        let window = Stretches::of([ActiveSpan::new(Time::ZERO, t(60_000))]);
        let mut steady = SteadyShares::new(network, &window, 5_000_000_000);
        let of: Vec<_> = (0..flows.len()).map(|flow| steady.of(flow)).collect();
        let (early, late) = (ActiveSpan::new(t(995), t(30_000)), ActiveSpan::new(t(30_000), t(60_000)));
        assert!(of[..100].iter().all(|own| *own == [(early, 1e6)]));
        assert!(of[100..].iter().all(|own| *own == [(early, 1e6), (late, 2e6)]));
        assert_eq!((steady.pieces.len(), steady.shares.len()), (1, 2));
        let every = SteadyShares::new(network, &window, 0).of(150);
        assert_eq!((every.len(), every[0]), (51, (ActiveSpan::new(t(750), t(755)), 200e6 / 151.0)));
    }

    #[test]
    fn limited_flows_leave_the_rest_to_the_others() {
        // 10 among limits 1, 4 and none: 1, then (10 − 1) / 2 = 4.5 > 4: 4, then 5.
        assert_eq!(rates(&[10.0], &[(&[0], FREE), (&[0], 1.0), (&[0], 4.0)]), [5.0, 1.0, 4.0]);
        // 9 among three without limits: 3 each.
        assert_eq!(rates(&[9.0], &[(&[0], FREE), (&[0], FREE), (&[0], FREE)]), [3.0; 3]);
        // More than all can use.
        assert_eq!(rates(&[9.0], &[(&[0], 2.0), (&[0], 3.0)]), [2.0, 3.0]);
    }

    #[test]
    fn a_flow_that_is_held_back_elsewhere_leaves_room() {
        // RFC 8867 §6.3: flow 1 over both links, flow 2 over the first (2.0), flow 3 over the second (1.5): the second
        // fills first, at 0.75 each; flow 2 gets 2.0 − 0.75.
        assert_eq!(rates(&[2.0, 1.5], &[(&[0, 1], FREE), (&[0], FREE), (&[1], FREE)]), [0.75, 1.25, 0.75]);
    }

    #[test]
    fn shares_are_in_proportion_to_the_weights_until_a_limit_is_reached() {
        let among = |capacity: f64, limit| {
            let sharer = |weight| Sharer { route: &[0], weight, limit };
            max_min(&[capacity], &[sharer(2.0), sharer(1.0), sharer(1.0)])
        };
        // RFC 8867 §6.1: 3.0 by 2 : 1 : 1. Of 3.5 the first would have 1.75, but uses 1.5 at most; 1.0 each are left.
        assert_eq!(among(3.0, 1.5), [1.5, 0.75, 0.75]);
        assert_eq!(among(3.5, 1.5), [1.5, 1.0, 1.0]);
    }

    #[test]
    fn absent_flows_take_nothing_and_without_a_limit_the_level_is_infinite() {
        assert_eq!(rates(&[2.0], &[(&[0], 0.0), (&[0], FREE)]), [0.0, 2.0]);
        assert_eq!(rates(&[FREE], &[(&[0], FREE), (&[0], 3.0)]), [FREE, 3.0]);
        assert!(rates(&[1.0], &[]).is_empty());
    }
}
