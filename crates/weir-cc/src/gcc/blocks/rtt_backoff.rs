//! Back-off while the round-trip time is far too long, or no feedback comes (libwebrtc's `RttBasedBackoff`).

use weir_units::TimeDelta;

use crate::controller::LimitingFactor;
use crate::time::SendTime;

/// Constants of the back-off.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct RttBackoffConfig {
    /// Round-trip time above which the rate is lowered. libwebrtc.
    pub limit: TimeDelta,
    /// Share of the rate that remains after a step, in (0, 1). libwebrtc.
    pub factor: f64,
    /// That share while only missing feedback makes the round-trip time long, so that a long silence halves the rate.
    /// In libwebrtc it is 0.8, too.
    pub silence_factor: f64,
    /// Interval between two steps. libwebrtc.
    pub interval: TimeDelta,
}

impl Default for RttBackoffConfig {
    fn default() -> Self {
        Self {
            limit: TimeDelta::from_secs(3),
            factor: 0.8,
            silence_factor: 0.5,
            interval: TimeDelta::from_secs(1),
        }
    }
}

impl RttBackoffConfig {
    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 4] {
        let share = |v: f64| v > 0.0 && v < 1.0;
        [
            ("limit", self.limit > TimeDelta::ZERO, "longer than 0"),
            ("factor", share(self.factor), "in (0, 1)"),
            ("silence_factor", share(self.silence_factor), "in (0, 1)"),
            ("interval", self.interval >= TimeDelta::from_millis(1), "at least 1 ms"),
        ]
    }
}

/// The round-trip time of the last feedback, grown by the time without feedback on packets sent since.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct RttBackoff {
    config: RttBackoffConfig,
    rtt: TimeDelta,
    /// Departure of the first packet after the last measurement, since when feedback is awaited.
    waiting: Option<SendTime>,
    sent: Option<SendTime>,
    lowered: Option<SendTime>,
    /// Whether the rate has been lowered since the last measurement. Only another measurement resets it, not a change
    /// of the clock.
    lowered_since_feedback: bool,
}

impl RttBackoff {
    /// A back-off without any measurement.
    pub(crate) fn new(config: RttBackoffConfig) -> Self {
        Self {
            config,
            rtt: TimeDelta::ZERO,
            waiting: None,
            sent: None,
            lowered: None,
            lowered_since_feedback: false,
        }
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.config);
    }

    /// Takes a packet that left at `at`.
    pub(crate) fn on_sent(&mut self, at: SendTime) {
        self.sent = Some(at);
        // The wait began in the past; else the clock was set back.
        self.waiting = Some(self.waiting.map_or(at, |since| since.min(at)));
    }

    /// Takes a round-trip time measured by feedback, without the time that packets waited at the receiver.
    pub(crate) fn on_rtt(&mut self, rtt: TimeDelta) {
        self.rtt = rtt.max(TimeDelta::ZERO);
        self.waiting = None;
        self.lowered_since_feedback = false;
    }

    /// The round-trip time, plus the time from the first packet sent since its measurement to the last one.
    pub(crate) fn corrected_rtt(&self) -> TimeDelta {
        self.waited() + self.rtt
    }

    fn waited(&self) -> TimeDelta {
        let waiting = self.sent.zip(self.waiting).map_or(TimeDelta::ZERO, |(sent, since)| sent - since);
        waiting.max(TimeDelta::ZERO)
    }

    /// Whether the round-trip time is above the limit. Then only the back-off changes the rate.
    pub(crate) fn is_above_limit(&self) -> bool {
        self.lowered_since_feedback || self.corrected_rtt() > self.config.limit
    }

    /// The factor by which to lower the rate at `now`, if a step is due, and the reason: delay or missing feedback.
    /// Call it while above the limit.
    pub(crate) fn step(&mut self, now: SendTime) -> Option<(f64, LimitingFactor)> {
        // A clock that was set back must not stop the back-off.
        let due = self.lowered.is_none_or(|lowered| (now - lowered).abs() >= self.config.interval);
        due.then(|| {
            self.lowered = Some(now);
            self.lowered_since_feedback = true;
            if self.rtt > self.config.limit && self.waited() <= self.config.limit {
                (self.config.factor, LimitingFactor::Delay)
            } else {
                (self.config.silence_factor, LimitingFactor::Silence)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    #[test]
    fn time_without_feedback_adds_to_the_round_trip_time() {
        let mut backoff = RttBackoff::new(RttBackoffConfig::default());
        backoff.on_sent(at(1000));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::ZERO);
        backoff.on_sent(at(1150));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::from_millis(150));
        backoff.on_rtt(TimeDelta::from_millis(200));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::from_millis(200), "nothing was sent since");
        backoff.on_sent(at(1200));
        backoff.on_sent(at(4000));
        assert!(!backoff.is_above_limit(), "2.8 + 0.2 s");
        backoff.on_sent(at(4001));
        assert!(backoff.is_above_limit());
        backoff.on_rtt(TimeDelta::from_millis(3001));
        assert!(backoff.is_above_limit(), "a long round trip alone");
    }

    #[test]
    fn a_source_without_data_waits_for_nothing() {
        let mut backoff = RttBackoff::new(RttBackoffConfig::default());
        backoff.on_sent(at(0));
        backoff.on_rtt(TimeDelta::from_millis(50));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::from_millis(50), "however late it is asked");
        // An hour later it has data again: no feedback was missing meanwhile.
        backoff.on_sent(at(3_600_000));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::from_millis(50));
        assert!(!backoff.is_above_limit());
    }

    #[test]
    fn steps_are_a_second_apart_and_larger_in_silence() {
        let mut backoff = RttBackoff::new(RttBackoffConfig::default());
        assert_eq!(backoff.step(at(-2000)), Some((0.5, LimitingFactor::Silence)));
        backoff.on_rtt(TimeDelta::from_secs(4));
        assert_eq!(backoff.step(at(0)), Some((0.8, LimitingFactor::Delay)));
        assert_eq!(backoff.step(at(999)), None);
        assert_eq!(backoff.step(at(1000)), Some((0.8, LimitingFactor::Delay)));
        assert_eq!(backoff.step(at(-5000)), Some((0.8, LimitingFactor::Delay)), "the clock was set back");
    }

    #[test]
    fn a_long_round_trip_with_a_long_wait_is_silence_and_only_feedback_ends_it() {
        let mut backoff = RttBackoff::new(RttBackoffConfig::default());
        backoff.on_rtt(TimeDelta::from_secs(4));
        backoff.on_sent(at(0));
        backoff.on_sent(at(3000));
        assert_eq!(
            backoff.step(at(3000)),
            Some((0.8, LimitingFactor::Delay)),
            "3 s of waiting are within the limit"
        );
        backoff.on_sent(at(4000));
        assert_eq!(backoff.step(at(4000)), Some((0.5, LimitingFactor::Silence)));
        // 3 s alone are not above the limit either.
        backoff.on_rtt(TimeDelta::from_secs(3));
        assert!(!backoff.is_above_limit());
        // The wait of 4 s is above; the clock is set back, and the wait is zero, but the rate stays down.
        backoff.on_sent(at(5000));
        backoff.on_sent(at(9000));
        assert_eq!(backoff.step(at(9000)), Some((0.5, LimitingFactor::Silence)));
        backoff.on_sent(at(-3_600_000));
        assert_eq!(backoff.corrected_rtt(), TimeDelta::from_secs(3));
        assert!(backoff.is_above_limit());
        backoff.on_rtt(TimeDelta::from_millis(50));
        assert!(!backoff.is_above_limit());
    }
}
