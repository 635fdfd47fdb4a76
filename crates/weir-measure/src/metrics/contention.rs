//! Equal shares of a bottleneck's capacity among its active flows, piece by piece.

use weir_net::Time;

use super::link::capacity;
use super::plan::{FlowPlan, LinkPlan};
use super::span::{Stretches, pieces};

/// A bottleneck and the flows on it.
#[derive(Debug)]
pub(super) struct Contention<'a> {
    plan: &'a LinkPlan,
    /// The flows, by their index in the plan.
    flows: Vec<usize>,
    /// When each of them could send.
    active: Vec<&'a Stretches>,
    /// How many of them can, from each time on at which that changes.
    counts: Vec<(Time, usize)>,
}

impl<'a> Contention<'a> {
    pub(super) fn new(link: usize, plan: &'a LinkPlan, plans: &[FlowPlan], active: &'a [Stretches]) -> Self {
        let on_link = |&(_, (plan, _)): &(usize, (&FlowPlan, &Stretches))| plan.bottleneck == Some(link);
        let sharers = plans.iter().zip(active).enumerate().filter(on_link);
        let (flows, active): (Vec<usize>, Vec<&Stretches>) =
            sharers.map(|(flow, (_, active))| (flow, active)).unzip();
        Self { plan, flows, counts: counts(&active), active }
    }

    /// The flows that share the bottleneck, by their index in the plan.
    pub(super) fn flows(&self) -> &[usize] {
        &self.flows
    }

    /// The time average of capacity over number of active flows, while flow `flow` is active in `window`, in bit/s
    /// (the fair share of Chromium's `bwe_test_framework`). Returns `None` if it never is.
    pub(super) fn mean_fair_share(&self, flow: usize, window: &Stretches) -> Option<f64> {
        let place = self.flows.iter().position(|&f| f == flow)?;
        let live = self.active.get(place)?.within(window);
        let seconds = live.seconds()?;
        let bits: f64 = live
            .spans()
            .iter()
            .flat_map(|&span| pieces(span, self.activity_changes()))
            .map(|piece| capacity(self.plan, piece) * 8.0 / self.active_at(piece.from).max(1) as f64)
            .sum();
        Some(bits / seconds)
    }

    fn activity_changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.counts.iter().map(|&(at, _)| at)
    }

    fn active_at(&self, at: Time) -> usize {
        let begun = self.counts.partition_point(|&(from, _)| from <= at);
        begun.checked_sub(1).map_or(0, |last| self.counts[last].1)
    }
}

/// How many are active, from each time on at which that changes.
fn counts(active: &[&Stretches]) -> Vec<(Time, usize)> {
    let spans = active.iter().flat_map(|active| active.spans());
    let mut edges: Vec<(Time, bool)> = spans.flat_map(|span| [(span.from, true), (span.to, false)]).collect();
    edges.sort_unstable();
    let mut counts: Vec<(Time, usize)> = Vec::new();
    let mut now = 0;
    for (at, begins) in edges {
        // Of one time the ends come first; no stretch ends before it has begun.
        now = if begins { now + 1 } else { now - 1 };
        match counts.last_mut().filter(|(last, _)| *last == at) {
            Some((_, count)) => *count = now,
            None => counts.push((at, now)),
        }
    }
    counts
}
