//! Figures of a call, since the figures before.

use weir_cc::{DataRate, DataSize, LimitingFactor, TimeDelta};
use weir_net::Time;

use crate::path::PathCounts;

/// Figures of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallStatus {
    /// Time since the begin of the session.
    pub at: Time,
    /// The controller's target for media, and what keeps it from rising; `None` without a browser.
    pub target: Option<(DataRate, LimitingFactor)>,
    /// Rate of RTP payload that left, retransmissions included.
    pub sent: DataRate,
    /// Rate of RTP payload that came to the browser's end.
    pub arrived: DataRate,
    /// Mean delay of the frames that became whole, from their capture on; `None` if none did.
    pub frame_delay: Option<TimeDelta>,
    /// Payload bytes in front of the pacer.
    pub waiting: DataSize,
    /// Time that the queue of the path takes to drain.
    pub queue: TimeDelta,
    /// Packets on the path to the browser, from the begin on.
    pub counts: PathCounts,
    /// Retransmissions, from the begin on.
    pub retransmissions: u64,
    /// Requests of a key frame, from the begin on.
    pub key_frame_requests: u64,
    /// Reports that cannot be true, from the begin on.
    pub refused_reports: u64,
    /// Datagrams of others than the browser, from the begin on.
    pub foreign: u64,
}

/// Collects the figures.
#[derive(Debug, Default)]
pub(crate) struct StatusMeter {
    since: Time,
    sent: u64,
    arrived: u64,
    delays: (TimeDelta, i64),
    retransmissions: u64,
    pub(crate) key_frame_requests: u64,
    pub(crate) refused_reports: u64,
}

impl StatusMeter {
    /// Takes an RTP packet that leaves.
    pub(crate) fn on_sent(&mut self, payload: usize, again: bool) {
        self.sent += payload as u64;
        self.retransmissions += u64::from(again);
    }

    /// Takes an RTP packet at the browser's end, and the delay of a frame that is whole with it.
    pub(crate) fn on_arrived(&mut self, payload: u32, delay: Option<TimeDelta>) {
        self.arrived += u64::from(payload);
        if let Some(delay) = delay {
            self.delays = (self.delays.0 + delay, self.delays.1 + 1);
        }
    }

    /// The figures until `now`.
    pub(crate) fn take(
        &mut self,
        now: Time,
        target: Option<(DataRate, LimitingFactor)>,
        waiting: DataSize,
        queue: TimeDelta,
        counts: PathCounts,
        foreign: u64,
    ) -> CallStatus {
        let span = now - std::mem::replace(&mut self.since, now);
        let rate = |bytes: &mut u64| {
            let bits = std::mem::take(bytes) as f64 * 8.0;
            if span > TimeDelta::ZERO {
                DataRate::from_bps_f64(bits / span.secs_f64())
            } else {
                DataRate::ZERO
            }
        };
        let (delay, frames) = std::mem::take(&mut self.delays);
        CallStatus {
            at: now,
            target,
            sent: rate(&mut self.sent),
            arrived: rate(&mut self.arrived),
            frame_delay: (frames > 0).then(|| delay / frames),
            waiting,
            queue,
            counts,
            retransmissions: self.retransmissions,
            key_frame_requests: self.key_frame_requests,
            refused_reports: self.refused_reports,
            foreign,
        }
    }
}
