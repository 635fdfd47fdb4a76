//! Limits on a sender's trust in reports that may be forged.

use weir_cc::history::SendHistory;
use weir_cc::{RateLimits, SendTime};
use weir_units::{DataRate, TimeDelta};

use super::alarm::Alarm;

/// Degrees of trust in the receiver's reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Degree {
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

/// Trust in the receiver's reports, and the bounds of the rate that follow from it.
#[derive(Debug)]
pub(super) struct FeedbackTrust {
    degree: Degree,
    /// Bounds of the rate as configured.
    configured: RateLimits,
    /// Mean rate of the last seconds in which reports were believed.
    usual: RecentRate,
}

/// A change of the bounds of the rate, as trust in the receiver's reports has changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TrustChange {
    /// The bounds in force.
    pub(crate) limits: RateLimits,
    /// Whether reports are doubted from now on. A probe requested because of them would exceed the new maximum.
    pub(crate) doubts: bool,
    /// Whether the controller may probe because of the new bounds.
    pub(crate) may_probe: bool,
}

impl FeedbackTrust {
    pub(super) fn new(configured: RateLimits) -> Self {
        Self { degree: Degree::Whole, configured, usual: RecentRate::at(configured.start()) }
    }

    /// Replaces the configured bounds.
    pub(super) fn configure(&mut self, limits: RateLimits) {
        self.configured = limits;
    }

    /// The bounds of the rate in force.
    pub(super) fn limits(&self) -> RateLimits {
        let limits = self.configured;
        let most = match self.degree {
            Degree::Whole => limits.max(),
            Degree::UpTo { rate, .. } => limits.clamp(rate),
            Degree::None => limits.min(),
        };
        RateLimits::new(limits.min(), limits.start().min(most), most).unwrap_or(limits)
    }

    /// Weighs the reports joined with `history` while the media rate is `rate`. Returns a change with its alarm. A
    /// receiver that reports packets that were never sent gets the least rate; while reports contradict each other the
    /// rate does not rise.
    pub(super) fn weigh(
        &mut self,
        now: SendTime,
        history: &SendHistory,
        rate: DataRate,
    ) -> Option<(TrustChange, Alarm)> {
        let degree = match self.degree {
            _ if history.receiver_lies() => Degree::None,
            doubt @ Degree::UpTo { .. } if history.is_contested(now) => doubt,
            _ if history.is_contested(now) => {
                Degree::UpTo { rate: self.usual.rate(), maximum: self.configured.max() }
            }
            _ => Degree::Whole,
        };
        if degree == Degree::Whole {
            self.usual.on_rate(now, rate);
        }
        let before = core::mem::replace(&mut self.degree, degree);
        if before == degree {
            return None;
        }
        let alarm = match degree {
            Degree::None => Alarm::ReceiverLies,
            Degree::UpTo { .. } => Alarm::ReportsContradict,
            Degree::Whole => Alarm::ReportsAgree,
        };
        let doubts = degree != Degree::Whole;
        // Some controllers probe when the maximum rises. Here it is only restored, and the believed reports have just
        // shown how much the path carries.
        let regained = matches!(before, Degree::UpTo { maximum, .. } if self.configured.max() <= maximum);
        Some((TrustChange { limits: self.limits(), doubts, may_probe: !doubts && !regained }, alarm))
    }
}

/// Moving average of the rate over the last seconds.
#[derive(Clone, Copy, Debug)]
struct RecentRate {
    bps: f64,
    at: Option<SendTime>,
}

/// Time constant of the average.
const MEMORY: TimeDelta = TimeDelta::from_secs(5);

impl RecentRate {
    /// An average that begins at `rate`.
    fn at(rate: DataRate) -> Self {
        Self { bps: rate.bps_f64(), at: None }
    }

    /// Takes the present rate.
    fn on_rate(&mut self, now: SendTime, rate: DataRate) {
        let share = match self.at.replace(now) {
            None => 1.0,
            Some(at) => ((now - at).secs_f64() / MEMORY.secs_f64()).clamp(0.0, 1.0),
        };
        self.bps += (rate.bps_f64() - self.bps) * share;
    }

    fn rate(&self) -> DataRate {
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
