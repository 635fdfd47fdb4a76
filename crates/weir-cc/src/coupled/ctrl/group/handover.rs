//! Rule H of ctrlTCP: the choice of the next coordinator.

use super::{CtrlTcp, is_open};
use crate::coupled::ctrl::config::CoordinatorSelection;
use crate::coupled::ctrl::flow::{CongestionSignal, Flow};
use crate::time::SendTime;

impl CtrlTcp {
    /// Whether a delay-based flow coordinates, which losses do not change.
    pub(super) fn delay_leads(&self) -> bool {
        self.algorithm.config.lead == CoordinatorSelection::Delay
            && self
                .algorithm
                .coordinator
                .and_then(|member| self.flows.place(member))
                .is_some_and(|place| self.flows[place].congestion_signal == CongestionSignal::Delay)
    }

    /// Applies rule H. Of the flows with data in flight and outside of loss recovery, the one with most acknowledged
    /// data in the last round trip coordinates; the lowest number decides ties. Active delay-based flows precede
    /// others.
    pub(super) fn hand_over(&mut self, now: SendTime) {
        let rank = |flow: &Flow| {
            let sound = flow.outstanding && is_open(flow);
            let leads = self.algorithm.config.lead == CoordinatorSelection::Delay
                && flow.congestion_signal == CongestionSignal::Delay
                && !self.is_silent(now, flow);
            let uses = flow.cap == f64::INFINITY;
            (sound, sound && leads, sound && uses, flow.recently_acked())
        };
        let mut best = None;
        for (place, flow) in self.flows.all().iter().enumerate() {
            let ranked = rank(flow);
            if best.is_none_or(|(_, most)| ranked > most) {
                best = Some((place, ranked));
            }
        }
        self.algorithm.coordinator = best.map(|(place, _)| self.flows.member(place));
    }

    /// Whether the last acknowledgement of a flow is so old that another flow coordinates.
    pub(super) fn is_silent(&self, now: SendTime, flow: &Flow) -> bool {
        now - flow.acknowledged_at > self.round_trip().scale(self.algorithm.config.coordinator_silence)
    }
}
