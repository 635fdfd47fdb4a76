//! Path of an update: from a controller's rate to actions.

use super::Fse;
use super::config::{Algorithm, Updates};
use super::passive::{self, Asking};
use super::sum::{self, Effect, FlowUpdate};
use super::table::{Flow, GroupSlot};
use crate::coupled::message::Update;
use crate::coupled::water_fill::fill;
use crate::decision::ChangeReason;
use crate::time::SendTime;

/// A rate that a controller computed, in bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct Computed {
    pub(super) rate: f64,
    pub(super) base: f64,
    pub(super) why: ChangeReason,
    /// Whether feedback came from the path.
    pub(super) has_feedback: bool,
}

impl Fse {
    /// Takes an update of a flow that is steered by rates.
    pub(super) fn on_update(&mut self, now: SendTime, slot: u32, update: &Update) {
        let decision = update.decision;
        let Some(flow) = self.table.get_mut(slot) else { return };
        (flow.steering, flow.tells_rates) = (None, true);
        flow.rtt = decision.rtt.or(flow.rtt);
        let stale = flow.is_stale(update.epoch);
        let up_to_date = flow.is_up_to_date(update.epoch);
        if !stale {
            flow.waits_for = 0;
        }
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        flow.in_force = if up_to_date { rate } else { f64::NAN };
        if self.config.updates == Updates::OnChange && rate == base && !self.differs_from_share(slot) {
            return;
        }
        let has_feedback = update.heard && decision.why != ChangeReason::Timeout;
        self.take(now, slot, &Computed { rate, base, why: decision.why, has_feedback }, stale);
    }

    /// Whether a flow's rate in use differs from its share.
    fn differs_from_share(&self, slot: u32) -> bool {
        let Some((flow, seat)) = self.seated(slot) else { return false };
        let share = self.groups.get(seat.group).map_or(0.0, |group| group.share(seat.claim));
        !self.config.algorithm.is_passive() && flow.whole(share) != flow.in_force
    }

    /// A flow computed a rate: all get their shares, or only this flow.
    pub(super) fn take(&mut self, now: SendTime, slot: u32, computed: &Computed, stale: bool) {
        let missed = computed.why == ChangeReason::Timeout;
        let lost = missed && self.accepts(now, slot);
        // The path is not silent: only this flow's feedback is missing.
        if missed && !lost && self.others_have_feedback(now, slot) {
            self.fall_silent(slot);
            if let Some(flow) = self.table.get_mut(slot) {
                flow.deaf = true;
            }
            return;
        }
        let why = if lost { ChangeReason::Loss } else { computed.why };
        let rtt = self.round_trip(slot, computed);
        let Some(flow) = self.table.get_mut(slot) else { return };
        flow.note_update(now);
        if computed.has_feedback {
            (flow.feedback_at, flow.deaf) = (now, false);
        }
        let rate = self.floored(slot, computed.rate);
        let flow_update = FlowUpdate { slot, rate, base: computed.base, why, rtt, stale };
        self.follow_bounds(slot, &flow_update);
        self.exchange(now, slot, &flow_update);
    }

    fn exchange(&mut self, now: SendTime, slot: u32, flow_update: &FlowUpdate) {
        let config = self.config;
        let Some((_, GroupSlot { group, claim })) = self.seated(slot) else { return };
        let Some(g) = self.groups.get_mut(group) else { return };
        if config.algorithm == Algorithm::Rfc8699Passive {
            self.answer(slot, Some(flow_update));
            return;
        }
        let (before, others) = (g.sum, g.sum - g.share(claim));
        let cut = if g.claims.len() == 1 {
            sum::follow_one(g, flow_update);
            false
        } else {
            sum::follow(&config, g, claim, now, flow_update)
        };
        if cut && let Some(flow) = self.table.get_mut(slot) {
            flow.cuts.note(now, others, before / g.sum);
        }
        if config.algorithm.is_passive() {
            self.answer(slot, None);
        } else if g.sum != before || g.stale {
            self.distribute(group, cut.then_some(slot));
            self.lift_bound(slot);
        } else {
            self.send_share(slot);
        }
    }

    /// Limits a rate to the flow's least rate, and above zero: a sum of zero would stay zero.
    fn floored(&self, slot: u32, rate: f64) -> f64 {
        let least = self.table.get(slot).map_or(0.0, Flow::least);
        let alone = self.peers(slot).next().is_none();
        match rate > 0.0 {
            true if alone => rate,
            true => rate.max(least),
            false => least.max(self.config.least_rate.bps_f64()),
        }
    }

    /// The round-trip time of a timer that this update starts.
    fn round_trip(&self, slot: u32, computed: &Computed) -> weir_units::TimeDelta {
        let own = self.table.get(slot).and_then(|flow| flow.rtt);
        if computed.rate >= computed.base {
            return own.unwrap_or(self.config.unknown_rtt);
        }
        own.or_else(|| self.peers(slot).filter_map(|flow| flow.rtt).max()).unwrap_or(self.config.unknown_rtt)
    }

    /// Updates the bound of a flow without congestion: it begins with a fall and rises with the flow's own rate.
    fn follow_bounds(&mut self, slot: u32, flow_update: &FlowUpdate) {
        let alone = self.peers(slot).next().is_none();
        let passive = self.config.algorithm == Algorithm::Rfc8699Passive;
        let (literal_dr, Some(flow)) = (self.config.literal_dr, self.table.get_mut(slot)) else { return };
        let before = flow.most();
        if literal_dr {
            flow.literal = flow_update.rate;
        }
        if alone || passive {
            flow.bound = f64::INFINITY;
        } else if flow_update.effect(true) == Effect::Bounds {
            flow.bound = flow_update.rate;
        } else if flow.bound.is_finite() && flow_update.rate > flow_update.base {
            flow.bound = flow.bound.max(flow_update.rate);
        }
        if flow.most() != before {
            self.groups.reseat(&mut self.table, slot);
        }
    }

    /// Lifts a bound that does not bind.
    fn lift_bound(&mut self, slot: u32) {
        let Some((flow, seat)) = self.seated(slot) else { return };
        if !flow.bound.is_finite() {
            return;
        }
        let binds = self.groups.get(seat.group).is_some_and(|group| group.share(seat.claim) >= flow.bound);
        if !binds && let Some(flow) = self.table.get_mut(slot) {
            flow.bound = f64::INFINITY;
            self.groups.reseat(&mut self.table, slot);
        }
    }

    /// The active algorithms: every flow gets its share. After a cut by `cut_by` the others' updates count again once
    /// they have taken theirs.
    pub(super) fn distribute(&mut self, group: usize, cut_by: Option<u32>) {
        let config = self.config;
        let Some(g) = self.groups.get_mut(group) else { return };
        let sum = match g.claims.as_mut_slice() {
            // A lone flow's controller has a least rate of its own.
            [alone] => {
                alone.share = g.sum.min(alone.most());
                alone.share
            }
            claims => fill(claims, g.sum, config.algorithm.leftover()),
        };
        g.overloaded = sum > g.sum && g.claims.iter().all(|claim| claim.share == claim.least());
        if config.reconcile_s_cr || g.overloaded {
            g.sum = sum;
        }
        g.stale = false;
        for claim in &g.claims {
            let Some(flow) = self.table.get_mut(claim.of) else { continue };
            let ordered = flow.follow(claim.share, &mut self.actions, claim.of);
            if ordered && let Some(by) = cut_by {
                flow.waits_for = if by == claim.of { 0 } else { flow.epoch };
            }
        }
    }

    /// The passive algorithms: the updating flow is answered.
    fn answer(&mut self, slot: u32, appendix_c: Option<&FlowUpdate>) {
        let Some((flow, GroupSlot { group, claim })) = self.seated(slot) else { return };
        let mut asking = Asking { claim, desired: flow.most(), least: flow.least() };
        let Some(g) = self.groups.get_mut(group) else { return };
        if g.claims.len() == 1 {
            asking.least = 0.0;
        }
        match appendix_c {
            Some(flow_update) => passive::appendix_c(g, flow_update, &asking),
            None => passive::by_weight(g, &asking),
        };
        g.stale = false;
        self.send_share(slot);
    }

    /// Sends a flow its share, unless that is its rate in use.
    pub(super) fn send_share(&mut self, slot: u32) {
        let Some((_, seat)) = self.seated(slot) else { return };
        let share = self.groups.get(seat.group).map_or(0.0, |group| group.share(seat.claim));
        if let Some(flow) = self.table.get_mut(slot) {
            flow.follow(share, &mut self.actions, slot);
        }
    }
}
