//! How far a sender goes by reports that somebody may have forged.

use weir_cc::SendTime;
use weir_units::{DataRate, TimeDelta};

/// How far reports are believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedbackTrust {
    /// What they say holds.
    Whole,
    /// They contradict each other.
    UpTo {
        /// The rate does not rise above this one.
        rate: DataRate,
        /// The maximum when that began.
        maximum: DataRate,
    },
    /// The receiver lies.
    None,
}

/// When the embedder is to hear that reports were refused.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refusals {
    /// How many he was told of, and when.
    told: u64,
    at: Option<SendTime>,
    /// Whether he is to hear of more.
    pub(crate) to_tell: bool,
}

/// Who sends what is refused does not have the embedder called more often.
const BETWEEN_ALARMS: TimeDelta = TimeDelta::from_secs(1);

impl Refusals {
    /// So many there were until now.
    pub(crate) fn on_count(&mut self, now: SendTime, count: u64) {
        if count > self.told && self.at.is_none_or(|at| now - at >= BETWEEN_ALARMS) {
            *self = Self { told: count, at: Some(now), to_tell: true };
        }
    }
}

/// The rate of the last seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentRate {
    bps: f64,
    at: Option<SendTime>,
}

/// So long it takes to follow.
const MEMORY: TimeDelta = TimeDelta::from_secs(5);

impl RecentRate {
    /// It begins at `rate`.
    pub(crate) fn at(rate: DataRate) -> Self {
        Self { bps: rate.bps_f64(), at: None }
    }

    /// The rate is this now.
    pub(crate) fn on_rate(&mut self, now: SendTime, rate: DataRate) {
        let share = match self.at.replace(now) {
            None => 1.0,
            Some(at) => ((now - at).secs_f64() / MEMORY.secs_f64()).clamp(0.0, 1.0),
        };
        self.bps += (rate.bps_f64() - self.bps) * share;
    }

    pub(crate) fn rate(&self) -> DataRate {
        DataRate::from_bps_f64(self.bps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_rate_follows_within_five_seconds() {
        let kbps = DataRate::from_kbps;
        let mut usual = RecentRate::at(kbps(300));
        assert_eq!(usual.rate(), kbps(300));
        let mut after = |ms, rate| {
            usual.on_rate(SendTime::from_millis(ms), kbps(rate));
            usual.rate()
        };
        // The first is taken as it is; then a fifth of the way in a second, and all of it in five or more.
        assert_eq!(
            (after(0, 1000), after(1000, 2000), after(1500, 700)),
            (kbps(1000), kbps(1200), kbps(1150))
        );
        assert_eq!((after(6500, 400), after(60_000, 900)), (kbps(400), kbps(900)));
    }
}
