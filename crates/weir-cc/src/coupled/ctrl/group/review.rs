//! Review of the group once per round trip: flows that do not use their shares, and the state of the coordinator.

use super::{CtrlTcp, is_open};
use crate::coupled::ctrl::flow::{CongestionSignal, Flow};
use crate::coupled::message::CwndUpdate;
use crate::time::SendTime;

impl CtrlTcp {
    pub(super) fn review(&mut self, now: SendTime) {
        self.algorithm.next_review = now + self.round_trip();
        let mut changed = false;
        for place in 0..self.flows.len() {
            let cap = self.cap(place);
            let flow = &mut self.flows[place];
            changed |= cap != flow.cap;
            flow.cap = cap;
            flow.begin_round();
        }
        if changed {
            self.algorithm.shares.recompute(self.flows.all());
        }
        let coordinator = self.algorithm.coordinator.and_then(|member| self.flows.place(member));
        // P11: an idle, silent or application-limited coordinator hands over.
        let fails = coordinator.is_none_or(|place| {
            let flow = &self.flows[place];
            let idle = !flow.outstanding || flow.cap < f64::INFINITY;
            idle || (!is_open(flow) && !self.algorithm.loss_event.is_in_progress(now))
                || self.is_silent(now, flow)
        });
        if fails {
            self.hand_over(now);
        }
    }

    /// `DW`: greatest number of bytes that a flow can use if it uses less than half of its share; infinite if it uses
    /// the share.
    fn cap(&self, place: usize) -> f64 {
        let flow = &self.flows[place];
        let fair = self.algorithm.shares.fair_share(flow);
        let modest = flow.usage.peak < self.algorithm.config.limited_share * fair;
        if flow.usage.limited || flow.clock.is_some() || !is_open(flow) || !modest {
            let desired = self.desired(flow);
            return if desired < fair { desired } else { f64::INFINITY };
        }
        let desired = self.algorithm.config.desired_headroom * flow.usage.peak;
        desired.max(self.algorithm.config.initial_window * flow.segment).min(self.desired(flow))
    }

    /// The window of the desired rate of a rate-based controller, in bytes.
    fn desired(&self, flow: &Flow) -> f64 {
        match (flow.parameters.desired, flow.congestion_signal) {
            (Some(rate), CongestionSignal::Delay) => {
                (rate.bps_f64() / 8.0 * self.round_trip().secs_f64()).max(flow.segment)
            }
            _ => f64::INFINITY,
        }
    }

    /// Handles a flow without outstanding or waiting data.
    pub(super) fn on_idle(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.settle_timeout(place);
        self.stop_clock(place);
        self.end_loss_event_of(now, place);
        let flow = &mut self.flows[place];
        flow.outstanding = false;
        flow.window = cwnd_update.after;
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
        }
        if self.coordinates(place) {
            self.hand_over(now);
        }
        self.decide_for_all(now);
    }

    /// Handles the first acknowledgement of a flow that was idle. Acknowledgements of other flows release its share
    /// again.
    pub(super) fn on_active_again(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let flow = &mut self.flows[place];
        flow.usage.limited = true;
        if flow.cap < f64::INFINITY {
            flow.cap = f64::INFINITY;
            self.algorithm.shares.recompute(self.flows.all());
        }
        let flow = &self.flows[place];
        let present = cwnd_update.before.cwnd * flow.segment;
        if self.algorithm.shares.share(flow) - present > self.algorithm.config.burst * flow.segment {
            self.begin_clock(now, place, present);
        }
    }
}
