//! Handover of shares to newcomers by the acknowledgements of other flows.

use super::{CtrlTcp, is_open};
use crate::coupled::ctrl::clock::AckClock;
use crate::coupled::ctrl::config::Newcomer;
use crate::coupled::ctrl::flow::Flow;
use crate::coupled::message::CouplerAction;
use crate::time::SendTime;

/// The unreleased amounts of all newcomers' ACK clocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NewcomerClocks {
    running: bool,
    /// Number of bytes that are not released yet.
    waiting: f64,
    /// Sum of the weights of the flows that use these bytes until then.
    holder_weights: f64,
    /// All weights, in ticks.
    pub(super) ticks: u64,
    /// Place of the flow whose clock is served next.
    next_place: usize,
}

impl NewcomerClocks {
    pub(super) const fn are_running(&self) -> bool {
        self.running
    }

    /// The part of the newcomers' unreleased shares that this flow, which has no clock, may use.
    pub(super) fn held_back_for(&self, flow: &Flow) -> f64 {
        self.waiting * (flow.weight / self.holder_weights)
    }
}

impl CtrlTcp {
    /// Starts an ACK clock for the part of the flow's share above `present` bytes, if another flow can be
    /// acknowledged. Returns whether it runs.
    pub(super) fn begin_clock(&mut self, now: SendTime, place: usize, present: f64) -> bool {
        let flow = &self.flows[place];
        let rise = whole((self.algorithm.shares.share(flow) - present) / flow.segment);
        let others = self.flows.all().iter().enumerate().filter(|&(other, _)| other != place);
        // Only acknowledgements of flows without a clock can run one.
        let clocked = others.into_iter().any(|(_, flow)| flow.outstanding && flow.clock.is_none());
        if self.algorithm.config.newcomer != Newcomer::Clocked
            || self.algorithm.srtt.is_none()
            || rise == 0
            || !clocked
        {
            return false;
        }
        self.flows[place].clock = Some(AckClock::new(now, rise, self.algorithm.clocks.ticks));
        self.count_clocks();
        true
    }

    /// Counts acknowledged segments of a flow that is no newcomer.
    pub(super) fn tick_clocks(&mut self, now: SendTime, acked: usize, segments: f64) {
        let (total, count) = (self.algorithm.clocks.ticks, self.flows.len());
        let (mut sent, first) = (None, self.algorithm.clocks.next_place);
        for step in 0..count {
            let place = (first + step) % count;
            let flow = &mut self.flows[place];
            let (open, ticks) = (is_open(flow), flow.ticks);
            let Some(clock) = flow.clock.as_mut().filter(|_| place != acked) else { continue };
            if sent.is_none() && open && clock.is_due(total) {
                clock.send(total);
                sent = Some(place);
            }
            clock.add_credit(now, u64::from(whole(segments)), ticks);
            if clock.left == 0 {
                flow.clock = None;
            }
        }
        if let Some(place) = sent {
            self.algorithm.clocks.next_place = (place + 1) % count;
            self.flows.push(place, CouplerAction::Segment);
            self.count_clocks();
        }
    }

    /// Shortens the clocks after a reduction, because a reduced part is not released.
    pub(super) fn shorten_clocks(&mut self) {
        for place in 0..self.flows.len() {
            let flow = &self.flows[place];
            let share = whole(self.algorithm.shares.share(flow) / flow.segment);
            if let Some(clock) = &mut self.flows[place].clock {
                clock.left = clock.left.min(share.saturating_sub(clock.sent));
                if clock.left == 0 {
                    self.flows[place].clock = None;
                }
            }
        }
        self.count_clocks();
    }

    /// Stops a clock. The remaining share is available at once.
    pub(super) fn stop_clock(&mut self, place: usize) {
        if self.flows[place].clock.take().is_some() {
            self.count_clocks();
        }
    }

    /// Time at which the first clock ends if no other flow is acknowledged.
    pub(super) fn next_silence(&self) -> Option<SendTime> {
        let clocks = self.flows.all().iter().filter_map(|flow| flow.clock);
        clocks.map(|clock| clock.acknowledged_at + self.round_trip()).min()
    }

    /// Ends the clocks of newcomers that have seen no acknowledgement of other flows for a round trip. They continue
    /// as if they were alone.
    pub(super) fn end_silent_clocks(&mut self, now: SendTime) {
        let patience = self.round_trip();
        self.end_clocks(|clock| now - clock.acknowledged_at >= patience);
    }

    fn end_clocks(&mut self, ends: impl Fn(&AckClock) -> bool) {
        for place in 0..self.flows.len() {
            let flow = &mut self.flows[place];
            let Some(clock) = flow.clock.filter(&ends) else { continue };
            flow.clock = None;
            let most = self.algorithm.config.initial_window.max(flow.window.cwnd).max(f64::from(clock.sent));
            self.count_clocks();
            let held = self.flows[place].window;
            self.send_window(place, most, Some(held));
        }
    }

    /// Recomputes the amounts after a change of weights or clocks.
    pub(super) fn count_clocks(&mut self) {
        let (mut waiting, mut holder_weights, mut running) = (0.0, 0.0, false);
        let mut ticks: u64 = 0;
        for flow in self.flows.all() {
            ticks = ticks.saturating_add(flow.ticks);
            match &flow.clock {
                Some(clock) => {
                    running = true;
                    waiting += f64::from(clock.left) * flow.segment;
                }
                None => holder_weights += flow.weight,
            }
        }
        let next_place = self.algorithm.clocks.next_place.min(self.flows.len().saturating_sub(1));
        self.algorithm.clocks = NewcomerClocks { running, waiting, holder_weights, ticks, next_place };
        if running && holder_weights <= 0.0 {
            self.end_clocks(|_| true);
        }
    }
}

/// The number of whole segments.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
fn whole(segments: f64) -> u32 {
    segments as u32
}
