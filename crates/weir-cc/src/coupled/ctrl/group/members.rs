//! Joins, leaves and changes of parameters in the coordinated group.

use super::CtrlTcp;
use crate::coupled::ctrl::clock::MAX_TICKS;
use crate::coupled::ctrl::config::{CoordinatorSelection, Newcomer};
use crate::coupled::ctrl::flow::Flow;
use crate::coupled::ctrl::loss_event::LossEvent;
use crate::coupled::ctrl::shares::WindowShares;
use crate::coupled::frame::MemberDeparture;
use crate::coupled::message::{FlowId, FlowParameters};
use crate::time::SendTime;

/// Least weight, relative to the greatest.
const MIN_WEIGHT: f64 = 1e-9;

impl CtrlTcp {
    /// `JOIN`: a flow joins the group.
    pub(super) fn on_joined(&mut self, now: SendTime, place: usize) {
        let window = self.flows[place].window;
        let brought = window.cwnd * self.flows[place].segment;
        self.algorithm.inheriting = false;
        self.reweigh();
        // draft-welzl-tcp-ccc-00 (1): the first connection coordinates, and its window is `sum_cwnd`.
        if self.flows.len() == 1 {
            self.algorithm.coordinator = Some(self.flows.member(place));
            self.set_to_only_flow(place, window);
            self.send_window(place, window.cwnd, None);
            return;
        }
        // P1, P2: the pseudo-code, `sum_cwnd + cwnd`, adds the newcomer's window to the sum.
        if self.algorithm.config.newcomer == Newcomer::AddsWindow {
            self.set_sum(self.algorithm.shares.sum() + brought);
            self.send_window(place, f64::INFINITY, None);
            return;
        }
        // The flow may send one segment by its window.
        let segment = self.flows[place].segment;
        let clocked = self.begin_clock(now, place, segment);
        self.send_window(place, if clocked { f64::INFINITY } else { window.cwnd }, None);
    }

    /// Prepares the leave of a flow. A flow that withdraws takes its share along. A loss event of the flow ends.
    pub(super) fn prepare_leave(&mut self, now: SendTime, place: usize, departure: MemberDeparture) {
        if departure == MemberDeparture::Withdrawal {
            self.set_sum(self.algorithm.shares.sum() - self.algorithm.shares.share(&self.flows[place]));
        }
        self.settle_timeout(place);
        // P12: no other flow would end the loss event.
        self.end_loss_event_of(now, place);
    }

    /// `LEAVE`: the other flows inherit the share.
    pub(super) fn inherit(&mut self, now: SendTime, member: FlowId, left: &Flow) {
        if self.flows.is_empty() {
            self.algorithm.shares = WindowShares::default();
            self.algorithm.loss_event = LossEvent::default();
            self.algorithm.coordinator = None;
            self.algorithm.inheriting = false;
            self.algorithm.next_review = SendTime::from_nanos(i64::MIN);
            self.reweigh();
            return;
        }
        // draft-welzl-tcp-ccc-00 (2): `sum_cwnd` stays.
        let least = left.segment * self.flows.len() as f64;
        if self.algorithm.shares.sum() < least {
            self.set_sum(least);
        }
        self.reweigh();
        self.algorithm.inheriting = self.flows.len() == 1;
        if self.algorithm.coordinator == Some(member) {
            // draft-welzl-tcp-ccc-00 (2): the next connection coordinates.
            self.hand_over(now);
        }
        self.decide_for_all(now);
    }

    pub(super) fn set_parameters(&mut self, now: SendTime, place: usize, parameters: &FlowParameters) {
        let before = self.algorithm.shares.share(&self.flows[place]);
        self.flows[place].parameters = *parameters;
        self.reweigh();
        let flow = &self.flows[place];
        let rises = self.algorithm.shares.share(flow) - before > self.algorithm.config.burst * flow.segment;
        if rises && flow.clock.is_none() && !flow.is_timed_out() {
            self.begin_clock(now, place, before);
        }
    }

    /// Recomputes the weights after a change of members, parameters or round-trip times.
    pub(super) fn reweigh(&mut self) {
        let mean = self.mean_base_rtt();
        self.algorithm.tenants.clear();
        for place in 0..self.flows.len() {
            self.algorithm.tenants.add(self.flows.member(place), self.flows[place].parameters.priority);
        }
        let mut most = f64::MIN_POSITIVE;
        for place in 0..self.flows.len() {
            let member = self.flows.member(place);
            let flow = &mut self.flows[place];
            flow.weight = self.algorithm.tenants.weight(member, flow.parameters.priority);
            most = most.max(flow.weight);
        }
        self.algorithm.priorities = 0.0;
        for flow in self.flows.all_mut() {
            let priority = (flow.weight / most).max(MIN_WEIGHT);
            let round_trip =
                if self.algorithm.config.by_rates { flow.base_seconds().unwrap_or(mean) } else { 1.0 };
            self.algorithm.priorities += priority;
            flow.weight = priority * round_trip;
            flow.ticks = ticks(priority);
        }
        self.algorithm.shares.recompute(self.flows.all());
        self.count_clocks();
    }

    /// The mean of the known round-trip times, in seconds.
    fn mean_base_rtt(&self) -> f64 {
        let known = self.flows.all().iter().filter_map(Flow::base_seconds);
        let (sum, count) = known.fold((0.0, 0.0), |(sum, count), seconds| (sum + seconds, count + 1.0));
        if count > 0.0 { sum / count } else { self.algorithm.config.usual_rtt.secs_f64() }
    }

    /// Makes an active delay-based flow the coordinator.
    pub(super) fn take_lead(&mut self, member: FlowId) {
        if self.algorithm.config.lead == CoordinatorSelection::Delay && !self.delay_leads() {
            self.algorithm.coordinator = Some(member);
        }
    }
}

/// A weight in ticks; the greatest weight is 1.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and TICKS")]
fn ticks(weight: f64) -> u64 {
    (libm::round(weight * MAX_TICKS) as u64).max(1)
}
