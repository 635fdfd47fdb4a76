//! Growth of the aggregate by acknowledgements: it follows the coordinating flow.

use super::{CtrlTcp, is_open};
use crate::coupled::ctrl::config::CoordinatorSelection;
use crate::coupled::ctrl::flow::{CongestionSignal, Phase};
use crate::coupled::message::CwndUpdate;
use crate::time::SendTime;
use crate::window::Window;

impl CtrlTcp {
    pub(super) fn on_acknowledged(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let resumes = !self.flows[place].outstanding;
        let place = self.count_acknowledgement(now, place, cwnd_update);
        self.flows[place].phase = Phase::Open;
        // P8: an acknowledgement outside of recovery clears `ssbits`.
        self.end_loss_event_of(now, place);
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
            return;
        }
        if resumes {
            self.on_active_again(now, place, cwnd_update);
        }
        // draft-welzl-tcp-ccc-00 (4), (5): the coordinator moves the sum, and the others have their shares of it.
        if self.coordinates(place) {
            self.grow(now, place, cwnd_update);
        } else if self.may_grow(now) && cwnd_update.window_limited {
            self.grow_beside_coordinator(place, cwnd_update);
        }
        self.answer(place, cwnd_update);
    }

    /// Adds the growth of flows other than the coordinator. In slow start every flow's acknowledgements open the
    /// aggregate, as they would open one connection's window.
    fn grow_beside_coordinator(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        if self.algorithm.config.lead == CoordinatorSelection::All {
            self.grow_by_part(place, cwnd_update);
        } else if cwnd_update.before.in_slow_start()
            && self.algorithm.shares.in_slow_start()
            && !self.delay_leads()
        {
            self.add(
                (cwnd_update.after.cwnd - cwnd_update.before.cwnd).max(0.0) * self.bytes_of_aggregate(place),
            );
        }
    }

    /// Handles acknowledgements of new data in recovery, or after a timeout before all data sent by then is
    /// acknowledged.
    pub(super) fn on_repairing(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        let place = self.count_acknowledgement(now, place, cwnd_update);
        if self.flows[place].phase == Phase::Recovery {
            return;
        }
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
            return;
        }
        if self.coordinates(place) && is_open(&self.flows[place]) {
            self.grow(now, place, cwnd_update);
        }
        self.answer(place, cwnd_update);
    }

    /// Common handling of every acknowledgement. Returns the place of the flow, which changes if other flows leave.
    fn count_acknowledgement(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) -> usize {
        self.flows[place].on_acknowledged(now, cwnd_update);
        let place = if self.algorithm.undecided > 0 { self.decide_for_isolation(now, place) } else { place };
        if self.algorithm.clocks.are_running() {
            self.tick_clocks(now, place, cwnd_update.acked);
        }
        if now >= self.algorithm.next_review {
            self.review(now);
        }
        place
    }

    /// Sets the aggregate to the window of the only flow.
    pub(super) fn set_to_only_flow(&mut self, place: usize, window: Window) {
        let flow = &mut self.flows[place];
        flow.window = window;
        let segment = flow.segment;
        self.algorithm.shares.set_to_only_flow(
            window.cwnd * segment,
            window.ssthresh * segment,
            self.flows.all(),
        );
    }

    /// Whether growth counts. It does not in a loss event, nor while a share is being released.
    pub(super) fn may_grow(&self, now: SendTime) -> bool {
        !self.algorithm.clocks.are_running() && !self.algorithm.loss_event.is_in_progress(now)
    }

    fn grow(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        if !self.may_grow(now) || !cwnd_update.window_limited {
            return;
        }
        let (before, after) = (cwnd_update.before, cwnd_update.after);
        if !before.in_slow_start() && self.algorithm.shares.in_slow_start() {
            // The coordinator's controller has ended slow start by itself.
            self.algorithm.shares.set_threshold(self.algorithm.shares.sum());
        }
        match (before.in_slow_start(), self.algorithm.shares.in_slow_start()) {
            (true, false) => self.hand_over(now),
            // P5: in slow start the sum grows as well.
            (true, true) => {
                self.add((after.cwnd - before.cwnd) * self.bytes_of_aggregate(place));
                if !after.in_slow_start() {
                    let sum = self.algorithm.shares.sum();
                    self.algorithm.shares.set_threshold(
                        self.algorithm.shares.threshold().map_or(sum, |threshold| threshold.min(sum)),
                    );
                }
            }
            // draft-welzl-tcp-ccc-00 (5): an increase is added in congestion avoidance, …
            _ if after.cwnd >= before.cwnd => {
                self.add((after.cwnd - before.cwnd) * self.bytes_of_aggregate(place));
            }
            // … and a decrease is in proportion.
            _ => self.scale(before, after),
        }
    }

    /// `sum_all`: the aggregate grows by the additive growth of every flow, divided by `N`.
    pub(super) fn grow_by_part(&mut self, place: usize, cwnd_update: &CwndUpdate) {
        let by = cwnd_update.after.cwnd - cwnd_update.before.cwnd;
        let additive = !cwnd_update.before.in_slow_start()
            || self.flows[place].congestion_signal == CongestionSignal::Delay;
        if additive {
            self.add(by * self.bytes_of_aggregate(place) / self.flows.len() as f64);
        }
    }

    /// Scales the aggregate in the proportion of one flow's window.
    pub(super) fn scale(&mut self, before: Window, after: Window) {
        if before.cwnd > 0.0 {
            self.set_sum(after.cwnd * (self.algorithm.shares.sum() / before.cwnd));
        }
    }

    pub(super) fn add(&mut self, bytes: f64) {
        self.set_sum(self.algorithm.shares.sum() + bytes);
    }

    /// Number of bytes by which one segment of this flow's window changes the aggregate. By windows it is the size of
    /// the segment. By rates it is the amount of the flow's rate in the round-trip times of all flows.
    pub(super) fn bytes_of_aggregate(&self, place: usize) -> f64 {
        let flow = &self.flows[place];
        match flow.base_seconds() {
            Some(own) if self.algorithm.config.by_rates => {
                flow.segment * (self.algorithm.shares.weights() / self.algorithm.priorities) / own
            }
            _ => flow.segment,
        }
    }
}
