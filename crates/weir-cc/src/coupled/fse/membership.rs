//! Membership of groups: joins, leaves, pauses and changes of grouping.

use alloc::vec::Vec;

use super::cuts::Cuts;
use super::table::{Flow, GroupSlot, Pending, Presence};
use super::{Fse, Grouping};
use crate::coupled::conversion::Steering;
use crate::coupled::coupler::{Grouped, Refusal};
use crate::coupled::message::{FlowId, FlowParameters, Join};
use crate::time::SendTime;

/// Rates with which a flow takes a seat, in bit/s.
#[derive(Clone, Copy, Debug)]
struct Brings {
    /// Into a group of others.
    start: f64,
    /// Into an empty group.
    present: f64,
}

impl Fse {
    pub(super) fn on_join(&mut self, now: SendTime, member: FlowId, join: &Join) -> Result<(), Refusal> {
        check_priority(member, &join.parameters)?;
        if join.start.is_zero() || join.present.is_zero() {
            return Err(Refusal::Amount(member));
        }
        let steering = join.window.map(|window| Steering::new(&window).ok_or(Refusal::Amount(member)));
        let steering = steering.transpose()?;
        let known = self.table.find(member).and_then(|slot| self.table.get(slot));
        let label = known.map_or_else(|| self.first_label(), |flow| flow.label);
        let (epoch, ordered) = known.map_or((self.epochs, false), |flow| (flow.epoch, flow.ordered));
        let tells_rates = known.is_some_and(|flow| flow.tells_rates);
        let brings = Brings { start: join.start.bps_f64(), present: join.present.bps_f64() };
        let mut flow = Flow::new(now, member, label, join.parameters, self.config.least_rate);
        (flow.start, flow.in_force) = (brings.start, brings.present);
        (flow.steering, flow.epoch, flow.joined_at, flow.ordered) =
            (steering.filter(|_| !tells_rates), epoch, epoch, ordered);
        flow.tells_rates = tells_rates;
        if self.config.literal_dr {
            flow.literal = brings.start;
        }
        let slot = self.table.insert(&flow);
        self.expect_silence(slot);
        self.register(slot, brings);
        Ok(())
    }

    fn first_label(&self) -> Option<u32> {
        match self.grouping {
            Grouping::Together => Some(0),
            Grouping::Apart => None,
        }
    }

    /// Seats a flow in its group. Beside others it begins with its start rate; alone it goes on with its present rate.
    fn register(&mut self, slot: u32, brings: Brings) {
        let Some(label) = self.table.get(slot).and_then(|flow| flow.label) else { return };
        let group = self.groups.find_or_begin(label);
        let Some(alone) = self.groups.get(group).map(|group| group.claims.is_empty()) else { return };
        let rate = if alone { brings.present } else { brings.start };
        let most = self.table.get(slot).map_or(f64::INFINITY, Flow::most);
        self.groups.seat(&mut self.table, group, slot, rate);
        let Some(g) = self.groups.get_mut(group) else { return };
        g.sum += rate;
        if alone {
            // A flow that goes on with more than its desired rate is answered at the next update.
            g.stale = rate > most;
        } else if self.config.distribute_on_join && !self.config.algorithm.is_passive() {
            self.distribute(group, None);
        } else {
            self.send_share(slot);
        }
    }

    /// A silent flow has sent an update: it joins again, with no more than its start rate.
    pub(super) fn resume(&mut self, now: SendTime, slot: u32, present: f64) {
        let Some(flow) = self.table.get_mut(slot) else { return };
        flow.presence = Presence::Active;
        (flow.feedback_at, flow.message_at) = (now, now);
        (flow.bound, flow.waits_for, flow.in_force) = (f64::INFINITY, 0, present);
        let start = flow.start.min(present);
        self.expect_silence(slot);
        self.register(slot, Brings { start, present });
    }

    /// Removes a flow's entry; its share stays in the sum, so that the others inherit it.
    pub(super) fn leave(&mut self, slot: u32, presence: Option<Presence>) {
        if let Some((seat, share)) = self.groups.unseat(&mut self.table, slot)
            && let Some(group) = self.groups.get_mut(seat.group)
        {
            group.gone += share;
        }
        let Some(flow) = self.table.get_mut(slot) else { return };
        let (member, epoch) = (flow.member, flow.epoch);
        if let Some(presence) = presence {
            (flow.presence, flow.cuts) = (presence, Cuts::default());
            return;
        }
        if core::mem::replace(&mut flow.ordered, false) {
            self.actions.retain(|action| action.member() != member);
        }
        self.table.remove(member);
        // A later flow of this number may still receive these actions, and must take its own for newer ones.
        if self.epochs == 0 || epoch.wrapping_sub(self.epochs).cast_signed() > 0 {
            self.epochs = epoch;
        }
    }

    /// Removes a flow's entry with its share, which the flow goes on sending. Its reports are not trusted: the others
    /// get back the rate from before its last cuts of the sum, and the timer of the last one ends.
    pub(super) fn withdraw(&mut self, now: SendTime, slot: u32) {
        let place = self.seated(slot).map(|(flow, seat)| (seat.group, flow.cuts));
        self.give_up_seat(slot);
        if let Some((group, cuts)) = place
            && let Some(group) = self.groups.get_mut(group)
        {
            group.sum = cuts.taken_back(now, group.sum);
            group.timer = group.timer.filter(|timer| timer.by != slot);
        }
        self.leave(slot, None);
    }

    /// Unseats a flow, which takes its share along. Returns the share.
    fn give_up_seat(&mut self, slot: u32) -> Option<f64> {
        let (seat, share) = self.groups.unseat(&mut self.table, slot)?;
        if let Some(group) = self.groups.get_mut(seat.group) {
            group.sum = (group.sum - share).max(group.shares());
        }
        if let Some(flow) = self.table.get_mut(slot) {
            // The sum of another group was not cut.
            flow.cuts = Cuts::default();
        }
        Some(share)
    }

    /// Pauses a flow that misses feedback while others get theirs, or that sent no message for long.
    pub(super) fn fall_silent(&mut self, slot: u32) {
        self.leave(slot, Some(Presence::Silent));
    }

    pub(super) fn on_parameters(
        &mut self,
        member: FlowId,
        slot: u32,
        parameters: &FlowParameters,
    ) -> Result<(), Refusal> {
        check_priority(member, parameters)?;
        let Some(flow) = self.table.get_mut(slot) else { return Err(Refusal::UnknownFlow(member)) };
        if flow.parameters == *parameters {
            return Ok(());
        }
        if flow.parameters.desired != parameters.desired {
            flow.bound = f64::INFINITY;
        }
        flow.parameters = *parameters;
        let group = flow.seat.map(|seat| seat.group);
        self.groups.reseat(&mut self.table, slot);
        if let Some(group) =
            group.filter(|_| self.config.distribute_on_change && !self.config.algorithm.is_passive())
        {
            self.distribute(group, None);
        }
        Ok(())
    }

    /// Puts a flow into the group with label `label`, or into none. Unlike a leaving flow it takes its rate along,
    /// which never was load of the other bottleneck. A timer stays with the group that it runs for. Called by the
    /// detection of shared bottlenecks.
    /// out which flows share a bottleneck.
    ///
    /// # Errors
    /// A flow that has not joined.
    pub fn set_group(&mut self, member: FlowId, label: Option<u32>) -> Result<(), Refusal> {
        let slot = self.table.find(member).ok_or(Refusal::UnknownFlow(member))?;
        let Some(flow) = self.table.get_mut(slot) else { return Err(Refusal::UnknownFlow(member)) };
        if core::mem::replace(&mut flow.label, label) == label {
            return Ok(());
        }
        if flow.presence == Presence::Active {
            self.take_along(slot, label);
        }
        Ok(())
    }

    fn take_along(&mut self, slot: u32, label: Option<u32>) {
        let present = self.table.get(slot).map_or(0.0, Flow::present);
        let rate = self.give_up_seat(slot).unwrap_or(present);
        let Some(label) = label else {
            self.uncouple(slot);
            return;
        };
        let group = self.groups.find_or_begin(label);
        self.groups.seat(&mut self.table, group, slot, rate);
        if let Some(group) = self.groups.get_mut(group) {
            group.sum += rate;
        }
    }

    fn uncouple(&mut self, slot: u32) {
        let Some(flow) = self.table.get(slot) else { return };
        self.actions.push_back(Pending::Uncoupled(flow.member));
    }

    /// Merges two groups whose flows share one bottleneck: all flows of `from` move to `into`. `S_CR` is the sum of
    /// both, and the later of their timers counts.
    pub fn merge(&mut self, into: u32, from: u32) {
        if into == from {
            return;
        }
        let Some(old) = self.groups.find(from) else {
            self.relabel(from, into, |_| true);
            return;
        };
        let Some((sum, timer)) = self.groups.get(old).map(|group| (group.sum, group.timer)) else { return };
        let group = self.groups.find_or_begin(into);
        self.relabel(from, into, |_| true);
        self.move_seats(old, group, |_| true);
        let Some(g) = self.groups.get_mut(group) else { return };
        g.sum += sum;
        g.left_over = 0.0;
        g.timer = [g.timer, timer].into_iter().flatten().max_by_key(|timer| timer.expiry);
    }

    /// Splits the flows for which `belongs` holds from the group `from`, as they have a bottleneck of their own: they
    /// form group `into`. `S_CR` of each part is the sum of its flows' rates; a timer runs on for both.
    pub fn split(&mut self, from: u32, into: u32, belongs: impl Fn(FlowId) -> bool) {
        let (Some(old), None) = (self.groups.find(from), self.groups.find(into)) else { return };
        let (timer, threshold) =
            self.groups.get(old).map_or((None, None), |group| (group.timer, group.threshold));
        let group = self.groups.find_or_begin(into);
        self.relabel(from, into, &belongs);
        self.move_seats(old, group, &belongs);
        for part in [old, group] {
            let Some(g) = self.groups.get_mut(part) else { continue };
            (g.sum, g.timer, g.gone, g.left_over) = (g.shares(), timer, 0.0, 0.0);
            g.threshold = threshold.map(|threshold| threshold.min(g.sum));
        }
    }

    fn relabel(&mut self, from: u32, into: u32, belongs: impl Fn(FlowId) -> bool) {
        for place in 0..self.table.len() {
            if let Some(slot) = self.table.slot(place)
                && let Some(flow) = self.table.get_mut(slot)
                && flow.label == Some(from)
                && belongs(flow.member)
            {
                flow.label = Some(into);
            }
        }
    }

    fn move_seats(&mut self, from: usize, into: usize, belongs: impl Fn(FlowId) -> bool) {
        let seated = self.groups.get(from).into_iter().flat_map(|group| &group.claims);
        let slots: Vec<u32> = seated.map(|claim| claim.of).collect();
        for slot in slots {
            if self.table.get(slot).is_some_and(|flow| belongs(flow.member))
                && let Some((_, share)) = self.groups.unseat(&mut self.table, slot)
            {
                self.groups.seat(&mut self.table, into, slot, share);
            }
        }
    }

    /// The other flows of a flow's group.
    pub(super) fn peers(&self, slot: u32) -> impl Iterator<Item = &Flow> {
        let group = self.seated(slot).and_then(|(_, seat)| self.groups.get(seat.group));
        let claims = group.into_iter().flat_map(|group| &group.claims);
        claims.filter(move |claim| claim.of != slot).filter_map(|claim| self.table.get(claim.of))
    }

    /// Whether another flow of the group had feedback in the newer half of the time in which this one had none. If so,
    /// the path is not silent.
    pub(super) fn others_have_feedback(&self, now: SendTime, slot: u32) -> bool {
        let Some(flow) = self.table.get(slot) else { return false };
        let half = flow.feedback_at + (now - flow.feedback_at) / 2;
        self.peers(slot).any(|peer| peer.feedback_at > half)
    }

    /// Whether a flow had feedback within its last round trip. Feedback has gaps, so a timeout of this flow means lost
    /// packets.
    pub(super) fn accepts(&self, now: SendTime, slot: u32) -> bool {
        let flow = self.table.get(slot);
        flow.and_then(|flow| Some(now - flow.feedback_at < flow.rtt?)).unwrap_or(false)
    }

    pub(super) fn seated(&self, slot: u32) -> Option<(&Flow, GroupSlot)> {
        let flow = self.table.get(slot)?;
        Some((flow, flow.seat?))
    }
}

fn check_priority(member: FlowId, parameters: &FlowParameters) -> Result<(), Refusal> {
    let sound = parameters.priority > 0.0 && parameters.priority.is_finite();
    if sound { Ok(()) } else { Err(Refusal::Priority(member)) }
}

impl Grouped for Fse {
    fn set_group(&mut self, _: SendTime, member: FlowId, group: u32) {
        // A flow that has not joined is in no group.
        let _ = Self::set_group(self, member, Some(group));
    }
}
