//! The detector of application-limited regions (ALR): phases in which the source sends so little that the rate shows
//! nothing about the path.
//!
//! Source: libwebrtc's `AlrDetector`, June 2025.

use weir_units::{DataRate, DataSize, TimeDelta};

use crate::time::SendTime;

/// Thresholds of an application-limited region.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct AlrConfig {
    /// The share of the estimate that a source has to fill.
    pub usage: f64,
    /// Time span of the budget: it holds, as a surplus or as a debt, the amount of this share of the estimate in that
    /// time.
    pub window: TimeDelta,
    /// A region begins when more than this share of the budget is left over.
    pub start: f64,
    /// A region ends when less than this share is left over.
    pub stop: f64,
}

impl Default for AlrConfig {
    fn default() -> Self {
        Self::LIBWEBRTC_2025
    }
}

impl AlrConfig {
    /// 65 % of the estimate over 500 ms; 80 % and 50 % of the budget. libwebrtc of June 2025.
    pub const LIBWEBRTC_2025: Self =
        Self { usage: 0.65, window: TimeDelta::from_millis(500), start: 0.8, stop: 0.5 };
}

/// Budget of bytes that time fills and packets use.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct AlrDetector {
    config: AlrConfig,
    /// Bytes per second that the source has to send.
    rate: f64,
    /// Capacity of the budget, in bytes.
    capacity: f64,
    /// The budget in bytes; negative after more was sent.
    budget: f64,
    sent: Option<SendTime>,
    since: Option<SendTime>,
}

impl AlrDetector {
    /// A detector for an estimate of `estimate`.
    pub(crate) fn new(config: AlrConfig, estimate: DataRate) -> Self {
        let mut detector = Self { config, rate: 0.0, capacity: 0.0, budget: 0.0, sent: None, since: None };
        detector.set_estimate(estimate);
        detector
    }

    /// Resets everything for the estimate `estimate`.
    pub(crate) fn restart(&mut self, estimate: DataRate) {
        *self = Self::new(self.config, estimate);
    }

    /// Replaces the estimate. The share of it that a source has to fill counts in whole kbit/s.
    pub(crate) fn set_estimate(&mut self, estimate: DataRate) {
        let kbps = libm::trunc(self.config.usage * estimate.bps_f64() / 1e3);
        self.set_rate(kbps * 1e3 / 8.0);
        self.budget = self.budget.clamp(-self.capacity, self.capacity);
    }

    /// Scales the estimate by `factor` for coupling, and with it the threshold of an application-limited region.
    pub(crate) fn scale(&mut self, factor: f64) {
        self.set_rate(self.rate * factor);
        self.budget *= factor;
    }

    /// Takes a packet of `size` that left at `at`. The first packet starts the budget.
    pub(crate) fn on_sent(&mut self, at: SendTime, size: DataSize) {
        let Some(before) = self.sent.replace(at) else { return };
        // The region began in the past; else the clock was set back.
        self.since = self.since.map(|since| since.min(at));
        let capacity = self.capacity;
        let elapsed = (at - before).max(TimeDelta::ZERO).secs_f64();
        self.budget = (self.budget - size.bytes_f64()).max(-capacity);
        self.budget = (self.budget + self.rate * elapsed).min(capacity);
        if self.budget > self.config.start * capacity {
            self.since.get_or_insert(at);
        } else if self.budget < self.config.stop * capacity {
            self.since = None;
        }
    }

    /// Start of the present application-limited region, if there is one.
    pub(crate) fn since(&self) -> Option<SendTime> {
        self.since
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate;
        self.capacity = rate * self.config.window.secs_f64();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PACKET: DataSize = DataSize::from_bytes(1000);

    fn detector() -> AlrDetector {
        // 0.65 · 800 kbit/s = 65 bytes per ms; a budget of at most 32 500 bytes.
        AlrDetector::new(AlrConfig::LIBWEBRTC_2025, DataRate::from_kbps(800))
    }

    /// Packets of 1000 bytes each `gap_ms` from `from_ms` on; whether the source is limited after each.
    fn send(alr: &mut AlrDetector, from_ms: i64, gap_ms: i64, packets: i64) -> Vec<bool> {
        (0..packets)
            .map(|n| {
                alr.on_sent(SendTime::from_millis(from_ms + n * gap_ms), PACKET);
                alr.since().is_some()
            })
            .collect()
    }

    #[test]
    fn a_region_begins_above_80_percent_of_the_budget_and_ends_below_50() {
        let mut alr = detector();
        // Each 100 ms: 6500 - 1000 = 5500 bytes more; 26 000 are 80 %. 4 · 5500 = 22 000, 5 · 5500 = 27 500.
        let limited = send(&mut alr, 0, 100, 6);
        assert_eq!(limited, [false, false, false, false, false, true]);
        assert_eq!(alr.since(), Some(SendTime::from_millis(500)));
        // Each 10 ms: 350 bytes less; 16 250 are 50 %: (27 500 - 16 250) / 350 = 32.1, so the 33rd is below.
        let limited = send(&mut alr, 510, 10, 40);
        assert_eq!(limited.iter().position(|&limited| !limited), Some(32));
    }

    #[test]
    fn a_source_that_fills_its_share_is_never_limited() {
        let mut alr = detector();
        // 66.7 bytes per ms where 65 are asked for.
        assert!(send(&mut alr, 0, 15, 1000).iter().all(|&limited| !limited));
    }

    #[test]
    fn the_excess_sent_counts_for_half_a_second() {
        let mut alr = detector();
        send(&mut alr, 0, 1, 1000);
        // From -32 500: 5500 a packet, 26 000 after (58 500 / 5500 = 10.6) the 11th.
        let limited = send(&mut alr, 1099, 100, 20);
        assert_eq!(limited.iter().position(|&limited| limited), Some(10));
    }

    #[test]
    fn a_lower_estimate_shrinks_what_is_left_over() {
        let mut alr = detector();
        send(&mut alr, 0, 100, 6);
        alr.set_estimate(DataRate::from_kbps(80));
        // A budget of 3250 bytes, all left over; 1000 bytes less 650 of 100 ms leave 2900, still above 50 %.
        assert_eq!(send(&mut alr, 600, 100, 1), [true]);
    }

    #[test]
    fn a_region_does_not_begin_in_the_future_where_the_clock_was_set_back() {
        let mut alr = detector();
        send(&mut alr, 3_600_000, 100, 6);
        assert_eq!(alr.since(), Some(SendTime::from_millis(3_600_500)));
        // 27 500 - 1000 bytes are left over: it lasts.
        assert_eq!(send(&mut alr, 0, 0, 1), [true]);
        assert_eq!(alr.since(), Some(SendTime::ZERO));
    }

    #[test]
    fn time_that_goes_backwards_earns_nothing() {
        let mut alr = detector();
        send(&mut alr, 1000, 1, 1);
        assert_eq!(send(&mut alr, 0, 0, 3), [false, false, false]);
    }
}
