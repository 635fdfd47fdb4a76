//! Loss events and marks: one reaction of the aggregate to all losses of a round trip.

use super::CtrlTcp;
use crate::coupled::ctrl::flow::Phase;
use crate::coupled::message::CwndUpdate;
use crate::time::SendTime;

impl CtrlTcp {
    /// `ENTER_FR`.
    pub(super) fn on_recovery_entered(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.settle_timeout(place);
        self.stop_clock(place);
        let member = self.flows.member(place);
        let flow = &mut self.flows[place];
        flow.phase = Phase::Recovery;
        flow.outstanding = true;
        if !self.algorithm.episode.begins_event(now) {
            return;
        }
        self.algorithm.episode.begin(member);
        // P4: the flow that sees the loss coordinates.
        if !self.delay_leads() {
            self.algorithm.coordinator = Some(member);
        }
        // draft-welzl-tcp-ccc-00 (5), fast recovery: only `sum_ssthresh` changes now: the reduction takes effect at the end of recovery (divergence 11).
        let kept = self.kept(cwnd_update.after.ssthresh, cwnd_update.before.cwnd);
        self.algorithm.shares.set_threshold(self.reduced(place, kept));
    }

    /// `EXIT_FR`.
    pub(super) fn on_recovery_left(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.flows[place].phase = Phase::Open;
        self.flows[place].acknowledged_at = now;
        // The first flow to leave recovery ends the event. A flow that went on with its part of an unreduced sum would
        // refill the queue, which holds others' retransmissions.
        if self.algorithm.episode.is_recovery() {
            self.end_episode(now);
        }
        if self.is_alone() {
            self.adopt(place, cwnd_update.after);
        } else {
            // In recovery the window was inflated by segments that had left the network.
            self.answer(place, &CwndUpdate { before: cwnd_update.after, ..*cwnd_update });
        }
    }

    /// Ends the loss event: its reduction takes effect.
    pub(super) fn end_episode(&mut self, now: SendTime) {
        let sum = self.algorithm.shares.sum();
        let reduced = self.algorithm.shares.threshold().map_or(sum, |threshold| sum.min(threshold));
        self.set_sum(reduced);
        self.algorithm.episode.end(now + self.round_trip());
    }

    /// Ends the loss event of a flow that is no longer in recovery, whether it reported the end or not.
    pub(super) fn end_episode_of(&mut self, now: SendTime, place: usize) {
        if self.algorithm.episode.is_of(self.flows.member(place)) {
            self.end_episode(now);
        }
    }

    /// The flow reacted to a mark: the next round trip is a loss event without recovery.
    pub(super) fn on_marked(&mut self, now: SendTime, place: usize, cwnd_update: &CwndUpdate) {
        self.flows[place].on_acknowledged(now, cwnd_update);
        if self.is_alone() {
            self.adopt(place, cwnd_update.after);
            return;
        }
        self.reduce_once(now, place, self.kept(cwnd_update.after.cwnd, cwnd_update.before.cwnd));
        self.answer(place, cwnd_update);
    }

    /// Reduces the aggregate to this part of it at once, unless the loss event is an old one.
    pub(super) fn reduce_once(&mut self, now: SendTime, place: usize, kept: f64) {
        if !self.algorithm.episode.begins_event(now) {
            return;
        }
        let reduced = self.reduced(place, kept);
        self.algorithm.shares.set_threshold(reduced);
        self.set_sum(reduced.min(self.algorithm.shares.sum()));
        self.algorithm.episode.last_until(now + self.round_trip());
    }

    /// The part of its window that a controller keeps, as far as a loss event of one flow counts for all.
    pub(super) fn kept(&self, after: f64, before: f64) -> f64 {
        let kept = after / before;
        if kept.is_nan() { 1.0 } else { kept.clamp(self.algorithm.config.least_kept, 1.0) }
    }

    /// `sum_ssthresh` for a loss event, in bytes.
    pub(super) fn reduced(&self, place: usize, kept: f64) -> f64 {
        (kept * self.algorithm.shares.sum())
            .max(self.algorithm.config.least_threshold * self.flows[place].segment)
    }
}
