//! Limits on a sender's trust in reports that may be forged.

use weir_cc::SendTime;
use weir_units::{DataRate, TimeDelta};

/// Trust in the receiver's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FeedbackTrust {
    /// Reports are believed.
    Whole,
    /// Reports contradict each other.
    UpTo {
        /// Upper bound of the rate meanwhile.
        rate: DataRate,
        /// The maximum rate when that began.
        maximum: DataRate,
    },
    /// The receiver reports packets that were never sent.
    None,
}

/// Alarms to the embedder on refused reports.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Refusals {
    /// Number of refused reports at the last alarm, and its time.
    alarmed: u64,
    at: Option<SendTime>,
    /// Whether an alarm is due.
    pub(crate) alarm_due: bool,
}

/// Minimum time between alarms, so that a flood of refused reports makes no flood of alarms.
const BETWEEN_ALARMS: TimeDelta = TimeDelta::from_secs(1);

impl Refusals {
    /// Takes the number of reports refused until now.
    pub(crate) fn on_count(&mut self, now: SendTime, count: u64) {
        if count > self.alarmed && self.at.is_none_or(|at| now - at >= BETWEEN_ALARMS) {
            *self = Self { alarmed: count, at: Some(now), alarm_due: true };
        }
    }
}

/// Moving average of the rate over the last seconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RecentRate {
    bps: f64,
    at: Option<SendTime>,
}

/// Time constant of the average.
const MEMORY: TimeDelta = TimeDelta::from_secs(5);

impl RecentRate {
    /// An average that begins at `rate`.
    pub(crate) fn at(rate: DataRate) -> Self {
        Self { bps: rate.bps_f64(), at: None }
    }

    /// Takes the present rate.
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
        // The first is taken as it is. Then the average moves by a fifth of the difference in a second, and by all of
        // it in five or more.
        assert_eq!(
            (after(0, 1000), after(1000, 2000), after(1500, 700)),
            (kbps(1000), kbps(1200), kbps(1150))
        );
        assert_eq!((after(6500, 400), after(60_000, 900)), (kbps(400), kbps(900)));
    }
}
