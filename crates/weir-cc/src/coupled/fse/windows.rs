//! Flows of the Flow State Exchange that are controlled by windows.

use super::Fse;
use super::flow::Flow;
use super::update::ComputedRate;
use crate::coupled::conversion::RateUpdate;
use crate::coupled::message::{CouplerAction, CwndUpdate, WindowEvent};
use crate::decision::ChangeReason;
use crate::time::SendTime;

impl Fse {
    /// Takes a window event of a flow.
    pub(super) fn on_window(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let alone = self.peers(place).next().is_none();
        let Some(flow) = self.flows.get_mut(place) else { return };
        let Some(conversion) = &mut flow.conversion else {
            if cwnd_update.event == WindowEvent::TimedOut {
                self.reduce(place);
            }
            return;
        };
        flow.rtt = cwnd_update.srtt.or(flow.rtt);
        let another = conversion.on_base_rtt(cwnd_update.base_rtt);
        let present = conversion.rate(cwnd_update.before.cwnd);
        let effect = conversion.on_window(cwnd_update);
        if another && let Some(present) = present {
            self.recompute_rate(place, present);
        }
        if !matches!(cwnd_update.event, WindowEvent::TimedOut | WindowEvent::Reduced | WindowEvent::Idle)
            && let Some(flow) = self.flows.get_mut(place)
        {
            flow.feedback_at = now;
        }
        // A flow that is alone keeps its own rate, whatever it did in between.
        let believed = self.flows.get(place).map_or(0.0, Flow::present);
        let from = |base: f64| if alone { believed } else { base };
        match effect {
            RateUpdate::Update { base, rate, why } => {
                self.set_rate(place, rate);
                self.take(
                    now,
                    place,
                    &ComputedRate { rate, base: from(base), why, has_feedback: why != ChangeReason::Timeout },
                    false,
                );
            }
            RateUpdate::Recovered { rate } => {
                self.set_rate(place, rate);
                let computed =
                    ComputedRate { rate, base: from(rate), why: ChangeReason::Growth, has_feedback: true };
                self.take(now, place, &computed, false);
            }
            RateUpdate::TimedOut { base, rate } => self.on_timer(now, place, base, rate),
            RateUpdate::NoEffect if cwnd_update.event == WindowEvent::TimedOut => self.reduce(place),
            RateUpdate::NoEffect => {}
        }
    }

    fn set_rate(&mut self, place: usize, rate: f64) {
        if let Some(flow) = self.flows.get_mut(place) {
            flow.in_force = rate;
        }
    }

    /// Recomputes a flow's rate after a change of its smallest round-trip time. `present` is its new part of the sum.
    fn recompute_rate(&mut self, place: usize, present: f64) {
        let Some((_, seat)) = self.seated(place) else { return };
        let Some(group) = self.algorithm.groups.get_mut(seat.group) else { return };
        let share = group.share(seat.claim);
        group.sum = if group.claims.len() == 1 { present } else { (present + (group.sum - share)).max(0.0) };
        group.set_share(seat.claim, present);
        group.stale = true;
        self.set_rate(place, present);
    }

    /// Handles a retransmission timeout. While other flows are acknowledged it is a loss: the flow only retransmits,
    /// and its window is its share. Otherwise no acknowledgement is known to arrive, and the window is reduced.
    fn on_timer(&mut self, now: SendTime, place: usize, base: f64, rate: f64) {
        if !self.others_have_feedback(now, place) {
            self.reduce(place);
            return;
        }
        let feedback_at = self.flows.get(place).map(|flow| flow.feedback_at);
        self.set_rate(place, f64::NAN);
        self.take(
            now,
            place,
            &ComputedRate { rate, base, why: ChangeReason::Loss, has_feedback: true },
            false,
        );
        if let (Some(flow), Some(feedback_at)) = (self.flows.get_mut(place), feedback_at) {
            flow.feedback_at = feedback_at;
        }
        self.send_share(place);
    }

    fn reduce(&mut self, place: usize) {
        self.flows.push(place, CouplerAction::Reduce);
    }
}
