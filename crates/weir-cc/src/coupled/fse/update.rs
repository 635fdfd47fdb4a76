//! Processing of an update in the Flow State Exchange, from a controller's rate to actions.

use super::Fse;
use super::config::{Algorithm, Updates};
use super::flow::{Flow, GroupSlot};
use super::passive::{self, UpdatingFlow};
use super::sum::{self, FlowUpdate};
use crate::coupled::bound::DemandBound;
use crate::coupled::frame::Members;
use crate::coupled::message::Update;
use crate::coupled::water_fill::fill;
use crate::decision::ChangeReason;
use crate::time::SendTime;

/// A rate that a controller computed, in bit/s.
#[derive(Clone, Copy, Debug)]
pub(super) struct ComputedRate {
    pub(super) rate: f64,
    pub(super) base: f64,
    pub(super) why: ChangeReason,
    /// Whether new feedback from the path was used.
    pub(super) has_feedback: bool,
}

impl Fse {
    /// Takes an update of a flow that is controlled by rates.
    pub(super) fn on_update(&mut self, now: SendTime, place: usize, update: &Update) {
        let decision = update.decision;
        let newest = self.flows.epoch(place);
        let Some(flow) = self.flows.get_mut(place) else { return };
        (flow.conversion, flow.reports_rates) = (None, true);
        flow.rtt = decision.rtt.or(flow.rtt);
        let stale = flow.is_stale(update.epoch);
        let up_to_date = flow.is_up_to_date(update.epoch, newest);
        if !stale {
            flow.awaited_epoch = 0;
        }
        let (rate, base) = (decision.rate.bps_f64(), decision.base.bps_f64());
        flow.in_force = if up_to_date { rate } else { f64::NAN };
        if self.algorithm.config.updates == Updates::OnChange
            && rate == base
            && !self.differs_from_share(place)
        {
            return;
        }
        let has_feedback = update.has_feedback && decision.why != ChangeReason::Timeout;
        self.take(now, place, &ComputedRate { rate, base, why: decision.why, has_feedback }, stale);
    }

    /// Whether a flow's rate in use differs from its share.
    fn differs_from_share(&self, place: usize) -> bool {
        let Some((flow, seat)) = self.seated(place) else { return false };
        let share = self.algorithm.groups.get(seat.group).map_or(0.0, |group| group.share(seat.claim));
        !self.algorithm.config.algorithm.is_passive() && flow.whole(share) != flow.in_force
    }

    /// Takes a computed rate. All flows get their shares, or only this flow.
    pub(super) fn take(&mut self, now: SendTime, place: usize, computed: &ComputedRate, stale: bool) {
        let missed = computed.why == ChangeReason::Timeout;
        let lost = missed && self.accepts(now, place);
        // The path is not silent: only this flow's feedback is missing.
        if missed && !lost && self.others_have_feedback(now, place) {
            self.fall_silent(now, place);
            if let Some(flow) = self.flows.get_mut(place) {
                flow.misses_feedback = true;
            }
            return;
        }
        let why = if lost { ChangeReason::Loss } else { computed.why };
        let rtt = self.round_trip(place, computed);
        let Some(flow) = self.flows.get_mut(place) else { return };
        if computed.has_feedback {
            (flow.feedback_at, flow.misses_feedback) = (now, false);
        }
        let (by, rate) = (self.flows[place].rank, self.floored(place, computed.rate));
        let flow_update = FlowUpdate { by, rate, base: computed.base, why, rtt, stale };
        self.follow_bounds(place, &flow_update);
        self.exchange(now, place, &flow_update);
    }

    fn exchange(&mut self, now: SendTime, place: usize, flow_update: &FlowUpdate) {
        let config = self.algorithm.config;
        let Some((_, GroupSlot { group, claim })) = self.seated(place) else { return };
        let Some(g) = self.algorithm.groups.get_mut(group) else { return };
        if config.algorithm == Algorithm::Rfc8699Passive {
            self.answer(place, Some(flow_update));
            return;
        }
        // RFC 8699 §5.3.1 (3) (a); coupled-rtp-2014, algorithms 1 and 2, the line of `S_CR`.
        let (before, others) = (g.sum, g.sum - g.share(claim));
        let cut = if g.claims.len() == 1 {
            sum::follow_one(g, flow_update);
            false
        } else {
            sum::follow(&config, g, claim, now, flow_update)
        };
        if cut && let Some(flow) = self.flows.get_mut(place) {
            flow.cuts.record(now, others, before / g.sum);
        }
        if config.algorithm.is_passive() {
            self.answer(place, None);
        } else if g.sum != before || g.stale {
            self.distribute(group, cut.then_some(place));
            self.lift_bound(place);
        } else {
            self.send_share(place);
        }
    }

    /// The rate, limited to the flow's least rate and above zero: a sum of zero would stay zero.
    fn floored(&self, place: usize, rate: f64) -> f64 {
        let least = self.flows.get(place).map_or(0.0, Flow::least);
        let alone = self.peers(place).next().is_none();
        match rate > 0.0 {
            true if alone => rate,
            true => rate.max(least),
            false => least.max(self.algorithm.config.least_rate.bps_f64()),
        }
    }

    /// Round-trip time for a timer that this update starts.
    fn round_trip(&self, place: usize, computed: &ComputedRate) -> weir_units::TimeDelta {
        let flow_rtt = self.flows.get(place).and_then(|flow| flow.rtt);
        if computed.rate >= computed.base {
            return flow_rtt.unwrap_or(self.algorithm.config.unknown_rtt);
        }
        flow_rtt
            .or_else(|| self.peers(place).filter_map(|flow| flow.rtt).max())
            .unwrap_or(self.algorithm.config.unknown_rtt)
    }

    /// Updates the demand bound of a flow, which is set by a lower rate without congestion and rises with the flow's
    /// own rate.
    fn follow_bounds(&mut self, place: usize, flow_update: &FlowUpdate) {
        let alone = self.peers(place).next().is_none();
        let passive = self.algorithm.config.algorithm == Algorithm::Rfc8699Passive;
        let (literal_dr, Some(flow)) = (self.algorithm.config.literal_dr, self.flows.get_mut(place)) else {
            return;
        };
        let before = flow.most();
        if literal_dr {
            flow.literal = flow_update.rate;
        }
        if alone || passive {
            flow.bound = DemandBound::NONE;
        } else {
            flow.bound.follow(flow_update.rate, flow_update.base, flow_update.why, 0.0);
        }
        if flow.most() != before {
            self.algorithm.groups.reorder(&mut self.flows, place);
        }
    }

    /// Removes a bound that is above the flow's share.
    fn lift_bound(&mut self, place: usize) {
        let Some((_, seat)) = self.seated(place) else { return };
        let share = self.algorithm.groups.get(seat.group).map_or(0.0, |group| group.share(seat.claim));
        if self.flows[place].bound.remove_above(share) {
            self.algorithm.groups.reorder(&mut self.flows, place);
        }
    }

    /// Computes the FSE share (`FSE_R`) of each flow in a group and sends it: the active algorithms. After a cut by
    /// `cut_by` the others' updates count again once they have taken their shares.
    pub(super) fn distribute(&mut self, group: usize, cut_by: Option<usize>) {
        let config = self.algorithm.config;
        let Some(g) = self.algorithm.groups.get_mut(group) else { return };
        let sum = match g.claims.as_mut_slice() {
            // A lone flow's controller has a least rate of its own.
            [alone] => {
                alone.share = g.sum.min(alone.most());
                alone.share
            }
            // RFC 8699 §5.3.1 (3) (b), (c): `S_P`, and the passes in which limited flows leave the rest to others;
            // coupled-rtp-2014: `min(DR, P · S_CR / S_P)`.
            claims => fill(claims, g.sum, config.algorithm.leftover()),
        };
        g.overloaded = sum > g.sum && g.claims.iter().all(|claim| claim.share == claim.least());
        if config.reconcile_s_cr || g.overloaded {
            g.sum = sum;
        }
        g.stale = false;
        for (claim, &member) in g.claims.iter().zip(&g.members) {
            let Some(place) = self.flows.place(member) else { continue };
            // RFC 8699 §5.3.1 (3) (d): `FSE_R(i)` goes to every flow.
            let ordered = order(&mut self.flows, place, claim.share);
            if ordered && let Some(by) = cut_by {
                self.flows[place].awaited_epoch = if by == place { 0 } else { self.flows.epoch(place) };
            }
        }
    }

    /// Answers the updating flow, in the passive algorithms.
    fn answer(&mut self, place: usize, appendix_c: Option<&FlowUpdate>) {
        let Some((flow, GroupSlot { group, claim })) = self.seated(place) else { return };
        let mut asking = UpdatingFlow { claim, desired: flow.most(), least: flow.least() };
        let Some(g) = self.algorithm.groups.get_mut(group) else { return };
        if g.claims.len() == 1 {
            asking.least = 0.0;
        }
        match appendix_c {
            Some(flow_update) => passive::appendix_c(g, flow_update, &asking),
            None => passive::by_weight(g, &asking),
        };
        g.stale = false;
        self.send_share(place);
    }

    /// Sends a flow its share, unless that is its rate in use.
    pub(super) fn send_share(&mut self, place: usize) {
        let Some((_, seat)) = self.seated(place) else { return };
        let share = self.algorithm.groups.get(seat.group).map_or(0.0, |group| group.share(seat.claim));
        order(&mut self.flows, place, share);
    }
}

/// Queues a flow's share as its next action, unless that is its rate in use. Returns whether it is queued.
fn order(flows: &mut Members<Flow>, place: usize, share: f64) -> bool {
    let follows = flows.get_mut(place).is_some_and(|flow| flow.follow(share));
    if follows {
        flows.next_epoch(place);
        flows.order(place);
    }
    follows
}
