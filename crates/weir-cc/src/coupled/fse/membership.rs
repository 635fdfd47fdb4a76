//! Membership in the groups of the Flow State Exchange: joins, leaves, pauses and changes of grouping.

use alloc::vec::Vec;

use super::cuts::Cuts;
use super::flow::{Flow, GroupSlot};
use super::{Fse, InitialGrouping};
use crate::coupled::bound::DemandBound;
use crate::coupled::conversion::WindowConversion;
use crate::coupled::coupler::{Grouped, Refusal};
use crate::coupled::frame::MemberDeparture;
use crate::coupled::message::{CouplerAction, FlowId, FlowParameters, Join};
use crate::time::SendTime;

/// Rates with which a flow enters a group, in bit/s.
#[derive(Clone, Copy, Debug)]
struct EntryRates {
    /// Rate for a group of other flows.
    start: f64,
    /// Rate for an empty group.
    present: f64,
}

impl Fse {
    /// The entry of a flow that registers.
    pub(super) fn entry(&mut self, now: SendTime, member: FlowId, join: &Join) -> Flow {
        let known = self.flows.place(member).and_then(|place| self.flows.get(place));
        let label = known.map_or_else(|| self.first_label(), |flow| flow.label);
        let reports_rates = known.is_some_and(|flow| flow.reports_rates);
        let rank = known.map_or_else(|| self.algorithm.groups.take_rank(), |flow| flow.rank);
        let mut flow = Flow::new(now, rank, label, join.parameters, self.algorithm.config.least_rate);
        (flow.start, flow.in_force) = (join.start.bps_f64(), join.present.bps_f64());
        flow.conversion = join.window.as_ref().filter(|_| !reports_rates).and_then(WindowConversion::new);
        flow.reports_rates = reports_rates;
        if self.algorithm.config.literal_dr {
            flow.literal = flow.start;
        }
        flow
    }

    pub(super) fn seat_new(&mut self, place: usize) {
        let epoch = self.flows.epoch(place);
        let Some(flow) = self.flows.get_mut(place) else { return };
        flow.joined_at = epoch;
        let brings = EntryRates { start: flow.start, present: flow.in_force };
        self.register(place, brings);
    }

    fn first_label(&self) -> Option<u32> {
        match self.algorithm.grouping {
            InitialGrouping::Together => Some(0),
            InitialGrouping::Apart => None,
        }
    }

    /// Adds a flow to its group. Beside other flows it starts with its start rate; alone it continues with its
    /// present rate.
    fn register(&mut self, place: usize, brings: EntryRates) {
        let Some(label) = self.flows.get(place).and_then(|flow| flow.label) else { return };
        let group = self.algorithm.groups.find_or_begin(label);
        let Some(alone) = self.algorithm.groups.get(group).map(|group| group.claims.is_empty()) else {
            return;
        };
        let rate = if alone { brings.present } else { brings.start };
        let most = self.flows.get(place).map_or(f64::INFINITY, Flow::most);
        // RFC 8699 §5.3.1 (1): `FSE_R(f)` begins with the initial rate and is added to `S_CR`.
        self.algorithm.groups.add(&mut self.flows, group, place, rate);
        let Some(g) = self.algorithm.groups.get_mut(group) else { return };
        g.sum += rate;
        if alone {
            // A flow that goes on with more than its desired rate is answered at the next update.
            g.stale = rate > most;
        } else if self.algorithm.config.distribute_on_join && !self.algorithm.config.algorithm.is_passive() {
            self.distribute(group, None);
        } else {
            self.send_share(place);
        }
    }

    /// Handles an update of a silent flow, which joins again with at most its start rate.
    pub(super) fn rejoin(&mut self, now: SendTime, place: usize, present: f64) {
        let Some(flow) = self.flows.get_mut(place) else { return };
        flow.feedback_at = now;
        (flow.bound, flow.awaited_epoch, flow.in_force) = (DemandBound::NONE, 0, present);
        let start = flow.start.min(present);
        self.resume(place);
        self.register(place, EntryRates { start, present });
    }

    /// Removes a flow that departs. Its share stays in the sum, so that the others inherit it, unless the flow
    /// withdraws.
    pub(super) fn leave(&mut self, now: SendTime, place: usize, departure: MemberDeparture) {
        if departure == MemberDeparture::Withdrawal {
            self.withdraw(now, place);
        }
        // RFC 8699 §5.3.1 (2): the entry goes and `S_CR` stays. Appendix C still counts its rate once.
        if let Some((seat, share)) = self.algorithm.groups.remove(&mut self.flows, place)
            && let Some(group) = self.algorithm.groups.get_mut(seat.group)
        {
            group.gone += share;
        }
        if let Some(flow) = self.flows.get_mut(place) {
            flow.cuts = Cuts::default();
        }
    }

    /// Removes a flow together with its share, which the flow continues to send. Its reports are not trusted: the
    /// others get back the rate before its last cuts of the sum, and the timer of the last cut ends.
    fn withdraw(&mut self, now: SendTime, place: usize) {
        let seat = self.seated(place).map(|(flow, seat)| (seat.group, flow.cuts));
        self.remove_with_share(place);
        let rank = self.flows[place].rank;
        if let Some((group, cuts)) = seat
            && let Some(group) = self.algorithm.groups.get_mut(group)
        {
            group.sum = cuts.undone(now, group.sum);
            group.timer = group.timer.filter(|timer| timer.by != rank);
        }
    }

    /// Removes a flow together with its share. Returns the share.
    fn remove_with_share(&mut self, place: usize) -> Option<f64> {
        let (seat, share) = self.algorithm.groups.remove(&mut self.flows, place)?;
        if let Some(group) = self.algorithm.groups.get_mut(seat.group) {
            group.sum = (group.sum - share).max(group.shares());
        }
        if let Some(flow) = self.flows.get_mut(place) {
            // The sum of another group was not cut.
            flow.cuts = Cuts::default();
        }
        Some(share)
    }

    pub(super) fn set_parameters(&mut self, place: usize, parameters: &FlowParameters) {
        let Some(flow) = self.flows.get_mut(place) else { return };
        if flow.parameters == *parameters {
            return;
        }
        if flow.parameters.desired != parameters.desired {
            flow.bound = DemandBound::NONE;
        }
        flow.parameters = *parameters;
        let group = flow.slot.map(|seat| seat.group);
        self.algorithm.groups.reorder(&mut self.flows, place);
        if let Some(group) = group.filter(|_| {
            self.algorithm.config.distribute_on_change && !self.algorithm.config.algorithm.is_passive()
        }) {
            self.distribute(group, None);
        }
    }

    /// Puts a flow into the group with label `label`, or into none. In contrast to a leaving flow it takes its rate
    /// along, which was not load of the other bottleneck. A timer stays with its group. The detection of shared
    /// bottlenecks calls it.
    ///
    /// # Errors
    /// A flow that has not joined.
    pub fn set_group(&mut self, member: FlowId, label: Option<u32>) -> Result<(), Refusal> {
        let place = self.flows.place(member).ok_or(Refusal::UnknownFlow(member))?;
        let Some(flow) = self.flows.get_mut(place) else { return Err(Refusal::UnknownFlow(member)) };
        if core::mem::replace(&mut flow.label, label) == label {
            return Ok(());
        }
        if self.flows.is_present(place) {
            self.take_along(place, label);
        }
        Ok(())
    }

    fn take_along(&mut self, place: usize, label: Option<u32>) {
        let present = self.flows.get(place).map_or(0.0, Flow::present);
        let rate = self.remove_with_share(place).unwrap_or(present);
        let Some(label) = label else {
            self.flows.push(place, CouplerAction::Uncoupled);
            return;
        };
        let group = self.algorithm.groups.find_or_begin(label);
        self.algorithm.groups.add(&mut self.flows, group, place, rate);
        if let Some(group) = self.algorithm.groups.get_mut(group) {
            group.sum += rate;
        }
    }

    /// Merges two groups whose flows share one bottleneck: all flows of `from` move to `into`. `S_CR` is the sum of
    /// both, and the later of their timers counts.
    pub fn merge(&mut self, into: u32, from: u32) {
        if into == from {
            return;
        }
        let Some(old) = self.algorithm.groups.find(from) else {
            self.relabel(from, into, |_| true);
            return;
        };
        let Some((sum, timer)) = self.algorithm.groups.get(old).map(|group| (group.sum, group.timer)) else {
            return;
        };
        let group = self.algorithm.groups.find_or_begin(into);
        self.relabel(from, into, |_| true);
        self.move_seats(old, group, |_| true);
        let Some(g) = self.algorithm.groups.get_mut(group) else { return };
        g.sum += sum;
        g.left_over = 0.0;
        g.timer = [g.timer, timer].into_iter().flatten().max_by_key(|timer| timer.expiry);
    }

    /// Splits the flows for which `belongs` holds from the group `from`, because they have another bottleneck. They
    /// form the group `into`. `S_CR` of each part is the sum of its flows' rates; a timer continues for both.
    pub fn split(&mut self, from: u32, into: u32, belongs: impl Fn(FlowId) -> bool) {
        let (Some(old), None) = (self.algorithm.groups.find(from), self.algorithm.groups.find(into)) else {
            return;
        };
        let (timer, threshold) =
            self.algorithm.groups.get(old).map_or((None, None), |group| (group.timer, group.threshold));
        let group = self.algorithm.groups.find_or_begin(into);
        self.relabel(from, into, &belongs);
        self.move_seats(old, group, &belongs);
        for part in [old, group] {
            let Some(g) = self.algorithm.groups.get_mut(part) else { continue };
            (g.sum, g.timer, g.gone, g.left_over) = (g.shares(), timer, 0.0, 0.0);
            g.threshold = threshold.map(|threshold| threshold.min(g.sum));
        }
    }

    fn relabel(&mut self, from: u32, into: u32, belongs: impl Fn(FlowId) -> bool) {
        for place in 0..self.flows.len() {
            let member = self.flows.member(place);
            let flow = &mut self.flows[place];
            if flow.label == Some(from) && belongs(member) {
                flow.label = Some(into);
            }
        }
    }

    fn move_seats(&mut self, from: usize, into: usize, belongs: impl Fn(FlowId) -> bool) {
        let seated = self.algorithm.groups.get(from).into_iter().flat_map(|group| &group.members);
        let members: Vec<FlowId> = seated.copied().collect();
        for member in members.into_iter().filter(|&member| belongs(member)) {
            if let Some(place) = self.flows.place(member)
                && let Some((_, share)) = self.algorithm.groups.remove(&mut self.flows, place)
            {
                self.algorithm.groups.add(&mut self.flows, into, place, share);
            }
        }
    }

    /// The other flows of a flow's group.
    pub(super) fn peers(&self, place: usize) -> impl Iterator<Item = &Flow> {
        let group = self.seated(place).and_then(|(_, seat)| self.algorithm.groups.get(seat.group));
        let members = group.into_iter().flat_map(|group| &group.members);
        let peers = members.filter_map(|&member| self.flows.place(member));
        peers.filter(move |&peer| peer != place).map(|peer| &self.flows[peer])
    }

    /// Whether another flow of the group had feedback in the newer half of the time in which this flow had none. If
    /// so, the path still works.
    pub(super) fn others_have_feedback(&self, now: SendTime, place: usize) -> bool {
        let Some(flow) = self.flows.get(place) else { return false };
        let half = flow.feedback_at + (now - flow.feedback_at) / 2;
        self.peers(place).any(|peer| peer.feedback_at > half)
    }

    /// Whether a flow had feedback within its last round trip. Feedback has gaps, so that a timeout of this flow
    /// means lost packets.
    pub(super) fn accepts(&self, now: SendTime, place: usize) -> bool {
        let flow = self.flows.get(place);
        flow.and_then(|flow| Some(now - flow.feedback_at < flow.rtt?)).unwrap_or(false)
    }

    pub(super) fn seated(&self, place: usize) -> Option<(&Flow, GroupSlot)> {
        let flow = self.flows.get(place)?;
        Some((flow, flow.slot?))
    }
}

impl Grouped for Fse {
    fn set_group(&mut self, _: SendTime, member: FlowId, group: u32) {
        // A flow that has not joined is in no group.
        let _ = Self::set_group(self, member, Some(group));
    }
}
