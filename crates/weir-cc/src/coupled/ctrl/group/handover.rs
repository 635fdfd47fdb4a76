//! Rule H: the next coordinator.

use super::{CtrlTcp, is_open};
use crate::coupled::ctrl::config::CoordinatorSelection;
use crate::coupled::ctrl::flow::{Flow, Steered};
use crate::time::SendTime;

impl CtrlTcp {
    /// Whether a delay-based flow coordinates: losses do not take the coordination from it.
    pub(super) fn delay_leads(&self) -> bool {
        self.algorithm.config.lead == CoordinatorSelection::Delay
            && self
                .algorithm
                .coordinator
                .and_then(|member| self.flows.place(member))
                .is_some_and(|place| self.flows[place].steered == Steered::Delay)
    }

    /// Rule H: among the flows with data in flight and without loss recovery, the one acknowledged most in the last
    /// round trip coordinates; ties by number. Active delay-based flows go before others.
    pub(super) fn hand_over(&mut self, now: SendTime) {
        let rank = |flow: &Flow| {
            let sound = flow.outstanding && is_open(flow);
            let leads = self.algorithm.config.lead == CoordinatorSelection::Delay
                && flow.steered == Steered::Delay
                && !self.is_silent(now, flow);
            let uses = flow.cap == f64::INFINITY;
            (sound, sound && leads, sound && uses, flow.acked_lately())
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

    /// Whether a flow's last acknowledgement is so old that another coordinates.
    pub(super) fn is_silent(&self, now: SendTime, flow: &Flow) -> bool {
        now - flow.acknowledged_at > self.round_trip().scale(self.algorithm.config.coordinator_silence)
    }
}
