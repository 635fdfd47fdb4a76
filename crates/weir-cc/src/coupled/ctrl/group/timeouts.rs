//! Retransmission timeouts of coupled flows: of all flows, of one flow while others are acknowledged, and those not
//! decided yet.

use super::CtrlTcp;
use crate::coupled::ctrl::flow::Phase;
use crate::coupled::frame::MemberDeparture;
use crate::coupled::message::{CouplerAction, CwndUpdate};
use crate::time::SendTime;

impl CtrlTcp {
    /// Handles a flow whose retransmission timer has expired, and which retransmits one segment.
    pub(super) fn on_timed_out(&mut self, now: SendTime, place: usize) {
        self.stop_clock(place);
        self.settle_timeout(place);
        let flow = &mut self.flows[place];
        // P9: any flow's timeout sets `ssbits`.
        flow.phase = Phase::Undecided;
        flow.outstanding = true;
        flow.timeouts = flow.timeouts.saturating_add(1);
        self.algorithm.undecided += 1;
        if self.others_are_acknowledged_since(place) {
            self.isolate(now, place);
        } else if self.no_other_flow() {
            self.time_out_all(now, place);
        }
    }

    /// Treats undecided timeouts as a timeout of all flows if no other flow can be acknowledged.
    pub(super) fn decide_for_all(&mut self, now: SendTime) {
        let undecided = self.flows.all().iter().rposition(|flow| flow.phase == Phase::Undecided);
        if let Some(place) = undecided.filter(|_| self.no_other_flow()) {
            self.time_out_all(now, place);
        }
    }

    fn no_other_flow(&self) -> bool {
        self.flows.all().iter().all(|flow| flow.is_timed_out() || !flow.outstanding)
    }

    /// Whether another flow was acknowledged in the RTO interval of this flow, for data sent in it. An
    /// acknowledgement within a round trip of this flow's last one is for earlier data, and says nothing about the
    /// path since then.
    fn others_are_acknowledged_since(&self, place: usize) -> bool {
        let since = self.flows[place].acknowledged_at + self.round_trip();
        let others = self.flows.all().iter().enumerate().filter(|&(other, _)| other != place);
        others.into_iter().any(|(_, flow)| flow.acknowledged_at > since)
    }

    /// *Isolated timeout*: the flow only retransmits. Its losses are one loss event of all flows.
    fn isolate(&mut self, now: SendTime, place: usize) {
        self.settle_timeout(place);
        self.flows[place].phase = Phase::Isolated;
        if self.algorithm.loss_event.is_of(self.flows.member(place)) {
            self.end_loss_event(now);
        } else if self.algorithm.config.rto_counts_as_loss
            && self.flows.len() > 1
            && self.algorithm.loss_event.begins_event(now)
        {
            // P10: the timeout of one flow is a loss event of all.
            let reduced = self.reduced(place, self.algorithm.config.least_kept);
            self.algorithm.shares.set_threshold(reduced);
            self.set_sum(reduced.min(self.algorithm.shares.sum()));
            self.algorithm.loss_event.end(now + self.round_trip());
        }
        if self.flows[place].timeouts >= self.algorithm.config.most_timeouts && self.flows.len() > 1 {
            self.release(now, place);
            return;
        }
        // P7: the next coordinator is one without a timeout.
        if self.coordinates(place) {
            self.hand_over(now);
        }
        self.send_window(place, self.algorithm.config.burst, None);
    }

    /// Releases a flow that has another path. It continues without coupling, with its share of the aggregate.
    fn release(&mut self, now: SendTime, place: usize) {
        self.flows.push(place, CouplerAction::Uncoupled);
        self.depart(now, place, MemberDeparture::Withdrawal);
    }

    /// Treats undecided timeouts as isolated, because the path still delivers data of the flow at `acknowledged`.
    /// Returns the place of that flow, which changes if other flows leave.
    pub(super) fn decide_for_isolation(&mut self, now: SendTime, acknowledged: usize) -> usize {
        let member = self.flows.member(acknowledged);
        let mut place = 0;
        while place < self.flows.len() {
            let present = self.flows.len();
            if self.flows[place].phase == Phase::Undecided {
                self.isolate(now, place);
            }
            // A released flow has left its place to the next.
            place += usize::from(self.flows.len() == present);
        }
        self.flows.place(member).unwrap_or(0)
    }

    /// *Group timeout*: no data arrives.
    fn time_out_all(&mut self, now: SendTime, place: usize) {
        let flow = &self.flows[place];
        let kept = (flow.segment / self.algorithm.shares.share(flow)).min(1.0);
        // P6: the threshold is taken before the sum collapses.
        self.algorithm.shares.set_threshold(self.reduced(place, self.algorithm.config.least_kept));
        // draft-welzl-tcp-ccc-00 (5), all `ssbits` set: the sum falls as the window of the flow does.
        self.set_sum(self.algorithm.shares.sum() * kept);
        self.algorithm.loss_event.reset();
        for place in 0..self.flows.len() {
            let flow = &mut self.flows[place];
            // A group timeout is no evidence of this flow's path against the others'.
            flow.timeouts = 0;
            let phase = core::mem::replace(&mut flow.phase, Phase::Open);
            match phase {
                Phase::Undecided => self.flows.push(place, CouplerAction::Reduce),
                Phase::Isolated => self.send_window(place, 1.0, None),
                Phase::Open | Phase::Recovery => {}
            }
        }
        self.algorithm.undecided = 0;
        if self.algorithm.coordinator.is_none() {
            self.hand_over(now);
        }
    }

    /// Handles a window that the flow's own controller reduced after the action.
    pub(super) fn on_reduced(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        if self.flows.len() == 1 {
            self.algorithm.inheriting = false;
            self.set_to_only_flow(place, cwnd_update.after);
        } else {
            self.answer(place, cwnd_update);
        }
    }

    /// Ends the wait for the kind of a timeout.
    pub(super) fn settle_timeout(&mut self, place: usize) {
        if self.flows[place].phase == Phase::Undecided {
            self.algorithm.undecided = self.algorithm.undecided.saturating_sub(1);
            self.flows[place].phase = Phase::Open;
        }
    }
}
