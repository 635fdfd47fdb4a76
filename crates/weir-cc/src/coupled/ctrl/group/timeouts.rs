//! Retransmission timeouts: of all flows, of one flow while others are acknowledged, and not yet decided.

use super::CtrlTcp;
use crate::coupled::ctrl::flow::Phase;
use crate::coupled::frame::Departure;
use crate::coupled::message::{CouplerAction, CwndUpdate};
use crate::time::SendTime;

impl CtrlTcp {
    /// The retransmission timer of a flow ran out, and the flow sends one segment again.
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
        } else if self.nobody_is_left() {
            self.time_out_all(now, place);
        }
    }

    /// Where no flow is left that could be acknowledged, undecided timeouts are those of all.
    pub(super) fn decide_for_all(&mut self, now: SendTime) {
        let undecided = self.flows.all().iter().rposition(|flow| flow.phase == Phase::Undecided);
        if let Some(place) = undecided.filter(|_| self.nobody_is_left()) {
            self.time_out_all(now, place);
        }
    }

    fn nobody_is_left(&self) -> bool {
        self.flows.all().iter().all(|flow| flow.is_timed_out() || !flow.outstanding)
    }

    /// Whether another flow was acknowledged in the RTO interval of this one, for data sent in it. An acknowledgement
    /// within a round trip of this flow's last one is for earlier data, and is no evidence of the path since.
    fn others_are_acknowledged_since(&self, place: usize) -> bool {
        let since = self.flows[place].acknowledged_at + self.round_trip();
        let others = self.flows.all().iter().enumerate().filter(|&(other, _)| other != place);
        others.into_iter().any(|(_, flow)| flow.acknowledged_at > since)
    }

    /// *Isolated*: the flow only retransmits. Its losses are one loss event of all.
    fn isolate(&mut self, now: SendTime, place: usize) {
        self.settle_timeout(place);
        self.flows[place].phase = Phase::Isolated;
        if self.algorithm.episode.is_of(self.flows.member(place)) {
            self.end_episode(now);
        } else if self.algorithm.config.rto_counts_as_loss
            && self.flows.len() > 1
            && self.algorithm.episode.begins_event(now)
        {
            // P10: the timeout of one flow is a loss event of all.
            let reduced = self.reduced(place, self.algorithm.config.least_kept);
            self.algorithm.shares.set_threshold(reduced);
            self.set_sum(reduced.min(self.algorithm.shares.sum()));
            self.algorithm.episode.end(now + self.round_trip());
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

    /// The flow's path is another one: it goes on without coupling, with its share of the aggregate.
    fn release(&mut self, now: SendTime, place: usize) {
        self.flows.push(place, CouplerAction::Uncoupled);
        self.depart(now, place, Departure::Withdrawal);
    }

    /// The path delivers to the flow at `acknowledged`: undecided timeouts are those of single flows. Returns that flow's
    /// place, as other flows may have left.
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

    /// *Group timeout*: no data arrives at all.
    fn time_out_all(&mut self, now: SendTime, place: usize) {
        let flow = &self.flows[place];
        let kept = (flow.segment / self.algorithm.shares.share(flow)).min(1.0);
        // P6: the threshold is taken before the sum collapses.
        self.algorithm.shares.set_threshold(self.reduced(place, self.algorithm.config.least_kept));
        // draft-welzl-tcp-ccc-00 (5), all `ssbits` set: the sum falls as the window of the flow does.
        self.set_sum(self.algorithm.shares.sum() * kept);
        self.algorithm.episode.forget();
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

    /// A flow's window was reduced after the action, by its own controller.
    pub(super) fn on_reduced(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        if self.flows.len() == 1 {
            self.algorithm.inheriting = false;
            self.adopt(place, cwnd_update.after);
        } else {
            self.answer(place, cwnd_update);
        }
    }

    /// An undecided timeout waits no longer.
    pub(super) fn settle_timeout(&mut self, place: usize) {
        if self.flows[place].phase == Phase::Undecided {
            self.algorithm.undecided = self.algorithm.undecided.saturating_sub(1);
            self.flows[place].phase = Phase::Open;
        }
    }
}
