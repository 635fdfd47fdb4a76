//! The fair share of each flow on a bottleneck: the capacity over the number of active flows, averaged over time.

use weir_net::Time;

use super::link::capacity;
use super::plan::{FlowPlan, LinkPlan};
use super::span::{Stretches, pieces};

/// A bottleneck and the flows whose plan names it as theirs.
#[derive(Debug)]
pub(super) struct Contention<'a> {
    plan: &'a LinkPlan,
    /// The flows, by their index in the plan.
    flows: Vec<usize>,
    /// The time spans in which each of these flows could send.
    active: Vec<&'a Stretches>,
    /// Number of active flows from each of these times on, in increasing order.
    active_counts: Vec<(Time, usize)>,
}

impl<'a> Contention<'a> {
    /// The flows of `plans` on link `link`; `active` has the time spans in which each flow could send.
    pub(super) fn new(link: usize, plan: &'a LinkPlan, plans: &[FlowPlan], active: &'a [Stretches]) -> Self {
        let on_link = |&(_, (plan, _)): &(usize, (&FlowPlan, &Stretches))| plan.bottleneck == Some(link);
        let sharers = plans.iter().zip(active).enumerate().filter(on_link);
        let (flows, active): (Vec<usize>, Vec<&Stretches>) =
            sharers.map(|(flow, (_, active))| (flow, active)).unzip();
        Self { plan, flows, active_counts: active_counts(&active), active }
    }

    /// The flows that share the bottleneck, by their index in the plan.
    pub(super) fn flows(&self) -> &[usize] {
        &self.flows
    }

    /// The fair share of flow `flow`, in bit/s: the capacity over the number of active flows, averaged over the time
    /// in `window` in which the flow is active. Returns `None` if it never is. Source: `bwe_test_framework` of Chromium.
    pub(super) fn mean_fair_share(&self, flow: usize, window: &Stretches) -> Option<f64> {
        let place = self.flows.iter().position(|&f| f == flow)?;
        let active = self.active.get(place)?.within(window);
        let seconds = active.seconds()?;
        let bits: f64 = active
            .spans()
            .iter()
            .flat_map(|&span| pieces(span, self.activity_changes()))
            .map(|piece| capacity(self.plan, piece) * 8.0 / self.active_at(piece.from).max(1) as f64)
            .sum();
        Some(bits / seconds)
    }

    /// Times at which the number of active flows changes.
    fn activity_changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.active_counts.iter().map(|&(at, _)| at)
    }

    /// Number of flows that are active at `at`.
    fn active_at(&self, at: Time) -> usize {
        let begun = self.active_counts.partition_point(|&(from, _)| from <= at);
        begun.checked_sub(1).map_or(0, |last| self.active_counts[last].1)
    }
}

/// Number of active flows from each time on at which it changes, in increasing order.
fn active_counts(active: &[&Stretches]) -> Vec<(Time, usize)> {
    let spans = active.iter().flat_map(|active| active.spans());
    let mut edges: Vec<(Time, bool)> = spans.flat_map(|span| [(span.from, true), (span.to, false)]).collect();
    edges.sort_unstable();
    let mut counts: Vec<(Time, usize)> = Vec::new();
    let mut now = 0;
    for (at, begins) in edges {
        // At equal times ends precede begins, so that the count is never negative: each span begins before it ends.
        now = if begins { now + 1 } else { now - 1 };
        match counts.last_mut().filter(|(last, _)| *last == at) {
            Some((_, count)) => *count = now,
            None => counts.push((at, now)),
        }
    }
    counts
}
