//! What each flow of a bottleneck could fairly have: equal and max-min shares of the capacity, piece by piece.

use weir_net::{Service, Time, TokenBucket};
use weir_units::DataRate;

use super::link::capacity;
use super::plan::{FlowPlan, LinkPlan};
use super::span::{Activity, Span};

/// A flow that shares a bottleneck.
#[derive(Clone, Debug)]
pub(super) struct Sharer {
    /// When it could send.
    pub(super) active: Activity,
    /// The highest rate it can use, in bit/s; infinite for no limit.
    pub(super) max_bps: f64,
}

/// A bottleneck and the flows on it.
#[derive(Debug)]
pub(super) struct Contention<'a> {
    plan: &'a LinkPlan,
    /// Which flows these are, by their index in the plan.
    flows: Vec<usize>,
    sharers: Vec<Sharer>,
}

impl<'a> Contention<'a> {
    pub(super) fn new(link: usize, plan: &'a LinkPlan, plans: &[FlowPlan], active: &[Activity]) -> Self {
        let on_link = |plan: &&FlowPlan| plan.bottleneck == Some(link);
        let sharer = |(plan, active): (&FlowPlan, &Activity)| Sharer {
            active: active.clone(),
            max_bps: plan.max_rate.map_or(f64::INFINITY, DataRate::bps_f64),
        };
        Self {
            plan,
            flows: (0..plans.len()).filter(|&i| plans.get(i).as_ref().is_some_and(on_link)).collect(),
            sharers: plans.iter().zip(active).filter(|(plan, _)| on_link(plan)).map(sharer).collect(),
        }
    }

    /// The flows that share the bottleneck, by their index in the plan.
    pub(super) fn flows(&self) -> &[usize] {
        &self.flows
    }

    /// The time average of capacity over number of active flows, while flow `flow` is active in `window`, in bit/s
    /// (the fair share of Chromium's `bwe_test_framework`). `None` if it never is.
    pub(super) fn mean_fair_share(&self, flow: usize, window: Span) -> Option<f64> {
        let live = self.sharer(flow)?.active.within(window);
        let seconds = live.seconds()?;
        let bits: f64 = live
            .spans()
            .iter()
            .flat_map(|&span| pieces(span, self.activity_changes()))
            .map(|piece| {
                let flows = self.sharers.iter().filter(|sharer| sharer.active.contains(piece.from)).count();
                capacity(self.plan, piece) * 8.0 / flows.max(1) as f64
            })
            .sum();
        Some(bits / seconds)
    }

    /// The pieces of `window` in which neither capacity nor the set of active flows changes and `flow` is active,
    /// each with the flow's max-min share in bit/s. Empty where the capacity changes all the time (a trace).
    pub(super) fn ideal_shares(&self, flow: usize, window: Span) -> Vec<(Span, f64)> {
        let Some(own) = self.sharer(flow) else { return Vec::new() };
        let steps = match &self.plan.service {
            Service::Constant(_) => Vec::new(),
            Service::Steps(steps) | Service::TokenBucket(TokenBucket { rates: steps, .. }) => {
                steps.iter().map(|&(at, _)| at + self.plan.delay).collect()
            }
            Service::Trace { .. } => return Vec::new(),
        };
        pieces(window, self.activity_changes().chain(steps))
            .filter(|piece| own.active.contains(piece.from))
            .filter_map(|piece| Some((piece, self.max_min_share(own, piece)?)))
            .collect()
    }

    fn max_min_share(&self, own: &Sharer, piece: Span) -> Option<f64> {
        let rate = capacity(self.plan, piece) * 8.0 / piece.seconds()?;
        let active = self.sharers.iter().filter(|sharer| sharer.active.contains(piece.from));
        let limits: Vec<f64> = active.map(|sharer| sharer.max_bps).collect();
        Some(max_min_level(rate, &limits).min(own.max_bps))
    }

    fn sharer(&self, flow: usize) -> Option<&Sharer> {
        let place = self.flows.iter().position(|&f| f == flow)?;
        self.sharers.get(place)
    }

    fn activity_changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.sharers.iter().flat_map(|sharer| sharer.active.spans()).flat_map(|span| [span.from, span.to])
    }
}

/// Cuts `span` at the given times.
fn pieces(span: Span, cuts: impl Iterator<Item = Time>) -> impl Iterator<Item = Span> {
    let mut edges: Vec<Time> = cuts.filter(|&cut| span.contains(cut)).collect();
    if span.from < span.to {
        edges.extend([span.from, span.to]);
    }
    edges.sort_unstable();
    edges.dedup();
    let ends: Vec<Time> = edges.iter().skip(1).copied().collect();
    edges.into_iter().zip(ends).map(|(from, to)| Span::new(from, to))
}

/// The level to which `capacity` fills flows with the given limits, max-min fairly: each flow gets the lesser of
/// its limit and the level (Bertsekas and Gallager, Data Networks, §6.5.2).
fn max_min_level(capacity: f64, limits: &[f64]) -> f64 {
    let mut sorted = limits.to_vec();
    sorted.sort_by(f64::total_cmp);
    let mut left = capacity;
    for (satisfied, &limit) in sorted.iter().enumerate() {
        let level = left / (sorted.len() - satisfied) as f64;
        if limit >= level {
            return level;
        }
        left -= limit;
    }
    f64::INFINITY
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limited_flows_leave_the_rest_to_the_others() {
        // 10 among limits 1, 4 and none: 1, then (10 − 1) / 2 = 4.5 > 4: 4, then 5.
        assert_eq!(max_min_level(10.0, &[f64::INFINITY, 1.0, 4.0]), 5.0);
        // 9 among three without limits: 3 each.
        assert_eq!(max_min_level(9.0, &[f64::INFINITY; 3]), 3.0);
        // More than all can use.
        assert_eq!(max_min_level(9.0, &[2.0, 3.0]), f64::INFINITY);
    }

    #[test]
    fn a_span_is_cut_where_something_changes() {
        let t = Time::from_millis;
        let cuts = [t(5), t(0), t(20), t(5), t(10), t(1)];
        let found: Vec<_> = pieces(Span::new(t(1), t(10)), cuts.into_iter()).collect();
        assert_eq!(found, [Span::new(t(1), t(5)), Span::new(t(5), t(10))]);
        assert_eq!(pieces(Span::new(t(10), t(1)), cuts.into_iter()).count(), 0);
    }
}
