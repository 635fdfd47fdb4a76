//! Actions of the group for a flow.

use super::CtrlTcp;
use crate::coupled::ctrl::flow::{Flow, Phase};
use crate::coupled::message::{CouplerAction, CwndUpdate};
use crate::window::Window;

impl CtrlTcp {
    /// The window of a flow in bytes: its share less the part that its ACK clock has not released. While other flows'
    /// clocks have unreleased parts, it is more than the share. All these windows add up to the aggregate.
    pub(super) fn effective_window(&self, flow: &Flow) -> f64 {
        let share = self.algorithm.shares.share(flow);
        match &flow.clock {
            _ if !self.algorithm.clocks.are_running() => share,
            Some(clock) => share - f64::from(clock.left) * flow.segment,
            None => share + self.algorithm.clocks.held_back_for(flow),
        }
    }

    /// Answers a flow whose own next window is `after`.
    pub(super) fn answer(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        if self.is_alone() {
            let after = cwnd_update.after;
            self.flows[place].window = after;
            return;
        }
        let rise = self.algorithm.config.burst.max(cwnd_update.acked);
        let present = cwnd_update.before.cwnd.max(cwnd_update.flight + cwnd_update.acked);
        self.send_window(place, present + rise, Some(cwnd_update.after));
    }

    /// Sends a flow the window of its share, up to `most` segments. A window equal to its own next one,
    /// `else_window`, is not sent.
    pub(super) fn send_window(&mut self, place: usize, most: f64, else_window: Option<Window>) {
        let flow = &self.flows[place];
        // draft-welzl-tcp-ccc-00 (6): not in fast recovery.
        if flow.phase == Phase::Recovery {
            return;
        }
        if self.is_alone() {
            let Window { cwnd, ssthresh } = flow.window;
            if else_window != Some(flow.window) {
                let own = Window { cwnd: cwnd.max(1.0), ssthresh: ssthresh.max(f64::MIN_POSITIVE) };
                self.flows.push(place, CouplerAction::Window(own));
            }
            return;
        }
        let segment = flow.segment;
        // P1: the share is `P · sum_cwnd / sum_p`. P3: it is evaluated at each message; draft-welzl-tcp-ccc-00 (6) gives it to the flow.
        let target = self.effective_window(flow) / segment;
        let cwnd = target.min(most).max(1.0);
        let own = else_window.unwrap_or(flow.window).ssthresh;
        let threshold =
            self.algorithm.shares.threshold_share(flow).map_or(own, |threshold| threshold / segment);
        // A flow that is held back only by the burst limit is not in slow start.
        let ssthresh = if self.algorithm.shares.in_slow_start() { threshold } else { threshold.min(cwnd) };
        let window = Window { cwnd, ssthresh: ssthresh.max(f64::MIN_POSITIVE) };
        self.algorithm.inheriting &= cwnd < target;
        self.flows[place].window = window;
        if else_window != Some(window) {
            self.flows.push(place, CouplerAction::Window(window));
        }
    }
}
