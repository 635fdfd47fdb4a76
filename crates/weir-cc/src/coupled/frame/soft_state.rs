//! Soft state of a coupler's members: a member that sends no message for a long time is silent.

use weir_units::TimeDelta;

use crate::time::SendTime;

/// Gain of the mean interval between a member's messages.
const INTERVAL_GAIN: i64 = 8;

/// Time without messages after which a member is silent: the longer of two times.
#[derive(Clone, Copy, Debug)]
pub struct SoftState {
    /// The least time.
    pub least: TimeDelta,
    /// Number of the member's own mean intervals between [messages that count](super::CouplingAlgorithm::counts).
    pub intervals: f64,
}

/// Times of a member's messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct MessageClock {
    last: SendTime,
    /// The last message that counts for the mean interval.
    counted: SendTime,
    /// Mean interval between these messages.
    interval: TimeDelta,
}

impl MessageClock {
    pub(super) const fn new(now: SendTime) -> Self {
        Self { last: now, counted: now, interval: TimeDelta::ZERO }
    }

    /// Records the time of a message, which counts for the mean interval or not.
    pub(super) fn note(&mut self, now: SendTime, counts: bool) {
        self.last = now;
        if counts {
            self.interval += ((now - self.counted) - self.interval) / INTERVAL_GAIN;
            self.counted = now;
        }
    }

    /// Time at which the member becomes silent unless it sends a message before.
    pub(super) fn expiry(&self, soft_state: &SoftState) -> SendTime {
        self.last + soft_state.least.max(self.interval.scale(soft_state.intervals))
    }
}
