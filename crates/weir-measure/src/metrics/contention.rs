//! What each flow of a bottleneck could have if all had the same: equal shares of the capacity, piece by piece.

use weir_net::Time;

use super::link::capacity;
use super::plan::{FlowPlan, LinkPlan};
use super::span::{Stretches, pieces};

/// A bottleneck and the flows on it.
#[derive(Debug)]
pub(super) struct Contention<'a> {
    plan: &'a LinkPlan,
    /// Which flows these are, by their index in the plan.
    flows: Vec<usize>,
    /// When each of them could send.
    active: Vec<&'a Stretches>,
}

impl<'a> Contention<'a> {
    pub(super) fn new(link: usize, plan: &'a LinkPlan, plans: &[FlowPlan], active: &'a [Stretches]) -> Self {
        let on_link = |&(_, (plan, _)): &(usize, (&FlowPlan, &Stretches))| plan.bottleneck == Some(link);
        let sharers = plans.iter().zip(active).enumerate().filter(on_link);
        let (flows, active) = sharers.map(|(flow, (_, active))| (flow, active)).unzip();
        Self { plan, flows, active }
    }

    /// The flows that share the bottleneck, by their index in the plan.
    pub(super) fn flows(&self) -> &[usize] {
        &self.flows
    }

    /// The time average of capacity over number of active flows, while flow `flow` is active in `window`, in bit/s
    /// (the fair share of Chromium's `bwe_test_framework`). `None` if it never is.
    pub(super) fn mean_fair_share(&self, flow: usize, window: &Stretches) -> Option<f64> {
        let place = self.flows.iter().position(|&f| f == flow)?;
        let live = self.active.get(place)?.within(window);
        let seconds = live.seconds()?;
        let bits: f64 = live
            .spans()
            .iter()
            .flat_map(|&span| pieces(span, self.activity_changes()))
            .map(|piece| {
                let flows = self.active.iter().filter(|active| active.contains(piece.from)).count();
                capacity(self.plan, piece) * 8.0 / flows.max(1) as f64
            })
            .sum();
        Some(bits / seconds)
    }

    fn activity_changes(&self) -> impl Iterator<Item = Time> + '_ {
        self.active.iter().flat_map(|active| active.changes())
    }
}
