//! Shares of coupled flows in the rate of their coupling: the measured ones, and those by weight.

use super::plan::{CouplingPlan, FlowPlan};
use super::span::{Stretches, pieces};

/// The flows of a coupling.
pub(super) struct CouplingFlows<'a> {
    pub(super) coupling: &'a CouplingPlan,
    pub(super) flows: &'a [FlowPlan],
    /// The time spans in which each flow of the run could send.
    pub(super) active: &'a [Stretches],
}

impl CouplingFlows<'_> {
    /// The share of each member by weight, in the order of the members: its part of the weights of all flows that
    /// could send. Each is a mean over the time in `window` in which any of them could send. Returns `None` if there
    /// is no such time.
    pub(super) fn shares_by_weight(&self, window: &Stretches) -> Option<Vec<f64>> {
        let members = &self.coupling.flows;
        let changes = members.iter().flat_map(|&flow| {
            let weights = self.flows[flow].later_weights.iter().map(|&(at, _)| at);
            self.active[flow].changes().chain(weights)
        });
        let cuts: Vec<_> = changes.collect();
        let mut parts = vec![0.0; members.len()];
        let mut seconds = 0.0;
        let spans = window.spans().iter();
        for piece in spans.flat_map(|&span| pieces(span, cuts.iter().copied())) {
            let weight = |&flow: &usize| {
                let sends = self.active[flow].contains(piece.from);
                if sends { self.flows[flow].weight_at(piece.from) } else { 0.0 }
            };
            let weights: Vec<f64> = members.iter().map(weight).collect();
            let sum: f64 = weights.iter().sum();
            if sum > 0.0 {
                let long = piece.nanos() as f64 / 1e9;
                seconds += long;
                parts.iter_mut().zip(weights).for_each(|(part, weight)| *part += long * weight / sum);
            }
        }
        (seconds > 0.0).then(|| parts.into_iter().map(|part| part / seconds).collect())
    }
}
