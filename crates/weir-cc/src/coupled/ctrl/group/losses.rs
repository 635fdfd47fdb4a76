//! Loss events and marks: the aggregate is reduced once for all losses within a round trip.

use super::CtrlTcp;
use crate::coupled::ctrl::flow::Phase;
use crate::coupled::message::CwndUpdate;
use crate::time::SendTime;

impl CtrlTcp {
    /// `ENTER_FR`: a flow enters fast recovery.
    pub(super) fn on_recovery_entered(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.settle_timeout(place);
        self.stop_clock(place);
        let member = self.flows.member(place);
        let flow = &mut self.flows[place];
        flow.phase = Phase::Recovery;
        flow.outstanding = true;
        if !self.algorithm.loss_event.begins_event(now) {
            return;
        }
        self.algorithm.loss_event.begin(member);
        // P4: the flow that sees the loss coordinates.
        if !self.delay_leads() {
            self.algorithm.coordinator = Some(member);
        }
        // draft-welzl-tcp-ccc-00 (5), fast recovery: only `sum_ssthresh` changes now: the reduction takes effect at the end of recovery (divergence 11).
        let kept_share = self.kept_share(cwnd_update.after.ssthresh, cwnd_update.before.cwnd);
        self.algorithm.shares.set_threshold(self.reduced(place, kept_share));
    }

    /// `EXIT_FR`: a flow leaves fast recovery.
    pub(super) fn on_recovery_left(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.flows[place].phase = Phase::Open;
        self.flows[place].acknowledged_at = now;
        // The first flow to leave recovery ends the event. A flow that went on with its part of an unreduced sum would
        // refill the queue, which holds others' retransmissions.
        if self.algorithm.loss_event.is_recovery() {
            self.end_loss_event(now);
        }
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
        } else {
            // In recovery the window was inflated by segments that had left the network.
            self.answer(place, &CwndUpdate { before: cwnd_update.after, ..*cwnd_update });
        }
    }

    /// Ends the loss event, whose reduction takes effect.
    pub(super) fn end_loss_event(&mut self, now: SendTime) {
        let sum = self.algorithm.shares.sum();
        let reduced = self.algorithm.shares.threshold().map_or(sum, |threshold| sum.min(threshold));
        self.set_sum(reduced);
        self.algorithm.loss_event.end(now + self.round_trip());
    }

    /// Ends the loss event of a flow that is no longer in recovery, even if it did not report the end.
    pub(super) fn end_loss_event_of(&mut self, now: SendTime, place: usize) {
        if self.algorithm.loss_event.is_of(self.flows.member(place)) {
            self.end_loss_event(now);
        }
    }

    /// Handles a flow's reduction for a mark: the next round trip is a loss event without recovery.
    pub(super) fn on_marked(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.flows[place].on_acknowledged(now, cwnd_update);
        if self.is_alone() {
            self.set_to_only_flow(place, cwnd_update.after);
            return;
        }
        self.reduce_once(now, place, self.kept_share(cwnd_update.after.cwnd, cwnd_update.before.cwnd));
        self.answer(place, cwnd_update);
    }

    /// Reduces the aggregate to the part `kept_share` at once, unless the loss belongs to an earlier event.
    pub(super) fn reduce_once(&mut self, now: SendTime, place: usize, kept_share: f64) {
        if !self.algorithm.loss_event.begins_event(now) {
            return;
        }
        let reduced = self.reduced(place, kept_share);
        self.algorithm.shares.set_threshold(reduced);
        self.set_sum(reduced.min(self.algorithm.shares.sum()));
        self.algorithm.loss_event.begin_until(now + self.round_trip());
    }

    /// The part of its window that a controller keeps, limited for a loss event of one flow that counts for all.
    pub(super) fn kept_share(&self, after: f64, before: f64) -> f64 {
        let kept_share = after / before;
        if kept_share.is_nan() { 1.0 } else { kept_share.clamp(self.algorithm.config.least_kept, 1.0) }
    }

    /// `sum_ssthresh` for a loss event, in bytes.
    pub(super) fn reduced(&self, place: usize, kept_share: f64) -> f64 {
        (kept_share * self.algorithm.shares.sum())
            .max(self.algorithm.config.least_threshold * self.flows[place].segment)
    }
}
