//! The loss-based controller of gcc-2016 as libwebrtc has it: growth from the lowest rate of the last second, and a
//! pause after each fall (`SendSideBandwidthEstimation`, since 2013; today where the newer one is off or not ready).

use alloc::collections::VecDeque;

use weir_units::TimeDelta;

use super::loss::{LossConfig, LossVerdict};
use crate::packet::{PacketFate, PacketResult};
use crate::time::SendTime;

/// Constants of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct LossV1Config {
    /// Loss ratio up to which the rate grows. gcc-2016 eq. (5).
    pub low: f64,
    /// Loss ratio above which the rate falls. gcc-2016 eq. (5).
    pub high: f64,
    /// Growth factor. libwebrtc; 1.05 in the paper.
    pub increase: f64,
    /// Bit/s added to that. libwebrtc.
    pub increase_step: f64,
    /// The rate falls by this share of the loss ratio. gcc-2016 eq. (5).
    pub decrease: f64,
    /// Time span of the lowest rate from which growth starts. libwebrtc.
    pub memory: TimeDelta,
    /// Interval between decreases, in addition to a round-trip time. libwebrtc.
    pub decrease_interval: TimeDelta,
    /// Least interval between two loss ratios. libwebrtc.
    pub interval: TimeDelta,
    /// Least number of packets of a loss ratio. libwebrtc.
    pub min_packets: u32,
    /// Age above which a loss ratio is ignored. libwebrtc: 1.2 times 5 s.
    pub max_age: TimeDelta,
    /// Time after the first feedback for which the delay-based estimate is trusted, while no packet is lost.
    /// libwebrtc.
    pub start_phase: TimeDelta,
}

impl Default for LossV1Config {
    fn default() -> Self {
        Self {
            low: 0.02,
            high: 0.1,
            increase: 1.08,
            increase_step: 1000.0,
            decrease: 0.5,
            memory: TimeDelta::from_secs(1),
            decrease_interval: TimeDelta::from_millis(300),
            interval: TimeDelta::from_secs(1),
            min_packets: 20,
            max_age: TimeDelta::from_secs(6),
            start_phase: TimeDelta::from_secs(2),
        }
    }
}

impl LossV1Config {
    /// Rules of all constants: the name, whether its value is valid, and the valid range.
    pub fn rules(&self) -> [(&'static str, bool, &'static str); 9] {
        let ratio = |v: f64| (0.0..=1.0).contains(&v);
        let times = [self.memory, self.decrease_interval, self.interval, self.max_age, self.start_phase];
        [
            ("low", ratio(self.low), "in [0, 1]"),
            ("high", ratio(self.high) && self.high >= self.low, "in [`low`, 1]"),
            ("increase", self.increase >= 1.0 && self.increase.is_finite(), "at least 1"),
            ("increase_step", self.increase_step >= 0.0 && self.increase_step.is_finite(), "0 or above"),
            ("decrease", ratio(self.decrease), "in [0, 1]"),
            ("memory", times[0] > TimeDelta::ZERO, "longer than 0"),
            ("decrease_interval", !times[1].is_negative(), "0 or longer"),
            ("interval", !times[2].is_negative(), "0 or longer"),
            ("max_age", !times[3].is_negative() && !times[4].is_negative(), "0 or longer"),
        ]
    }
}

/// Greatest number of rates of the last second that are remembered.
const MAX_RATES: usize = 128;
/// Initial capacity for remembered rates.
const INITIAL_RATES: usize = 16;
/// Resolution in time of the remembered rates.
const RESOLUTION: TimeDelta = TimeDelta::from_millis(1);

/// The older loss-based controller, which counts losses and remembers the lowest rate of the last second.
#[derive(Clone, Debug)]
pub(crate) struct LossBasedV1 {
    config: LossV1Config,
    loss: LossConfig,
    expected: u64,
    /// Number of lost packets, less those that arrived late.
    lost: i64,
    /// Time from which the next loss ratio may be taken.
    due: Option<SendTime>,
    first_report: Option<SendTime>,
    last_report: Option<SendTime>,
    /// `f` in 1/256, as in receiver reports.
    fraction_lost: u8,
    /// Whether the rate has fallen for this loss ratio.
    has_fallen: bool,
    decreased_at: Option<SendTime>,
    /// The lowest rates of the last second, in order of time; the first is the lowest.
    lowest: VecDeque<(SendTime, f64)>,
}

impl LossBasedV1 {
    /// A controller without any report.
    pub(crate) fn new(config: LossV1Config) -> Self {
        let LossV1Config { low, high, increase, decrease, .. } = config;
        Self {
            config,
            loss: LossConfig { low, high, increase, decrease },
            expected: 0,
            lost: 0,
            due: None,
            first_report: None,
            last_report: None,
            fraction_lost: 0,
            has_fallen: false,
            decreased_at: None,
            lowest: VecDeque::with_capacity(INITIAL_RATES),
        }
    }

    /// Forgets everything.
    pub(crate) fn restart(&mut self) {
        *self = Self::new(self.config);
    }

    /// Takes packet fates reported at `now`. Returns true if there is a new loss ratio.
    pub(crate) fn on_results(&mut self, results: &[PacketResult], now: SendTime) -> bool {
        let missing = results.iter().filter(|result| result.fate == PacketFate::Missing).count();
        self.count(missing as i64, results.len() as u64);
        // A clock that was set back must not stop the controller.
        if self.due.is_some_and(|due| now <= due && due - now <= self.config.interval) {
            return false;
        }
        self.due = Some(now + self.config.interval);
        self.take_ratio(now)
    }

    /// Takes a receiver report at `now`: `lost` more packets of `expected`, negative if more arrived late than were
    /// lost. Returns whether there is a new loss ratio.
    pub(crate) fn on_report(&mut self, lost: i64, expected: u64, now: SendTime) -> bool {
        self.count(lost, expected);
        self.take_ratio(now)
    }

    fn count(&mut self, lost: i64, expected: u64) {
        self.lost = self.lost.saturating_add(lost);
        self.expected = self.expected.saturating_add(expected);
    }

    /// The loss ratio of the packets counted, if there are enough.
    fn take_ratio(&mut self, now: SendTime) -> bool {
        self.first_report.get_or_insert(now);
        if self.expected < u64::from(self.config.min_packets) {
            return false;
        }
        let lost = self.lost.max(0).unsigned_abs();
        self.fraction_lost = (lost.saturating_mul(256) / self.expected.max(1)).min(255) as u8;
        (self.expected, self.lost, self.has_fallen) = (0, 0, false);
        self.last_report = Some(now);
        true
    }

    /// `f_l`, the last loss ratio.
    pub(crate) fn loss_ratio(&self) -> f64 {
        f64::from(self.fraction_lost) / 256.0
    }

    /// Threshold of the loss ratio.
    pub(crate) fn threshold(&self) -> f64 {
        self.loss.threshold(self.loss_ratio())
    }

    /// Whether the start phase lasts and no packet was lost in it.
    pub(crate) fn is_starting(&self, now: SendTime) -> bool {
        let young = self.first_report.is_none_or(|first| (now - first).abs() < self.config.start_phase);
        young && self.fraction_lost == 0
    }

    /// Whether any loss ratio is known.
    pub(crate) fn has_report(&self) -> bool {
        self.last_report.is_some()
    }

    /// Removes the rates of the last second, so that growth starts from the present rate.
    pub(crate) fn forget_rates(&mut self) {
        self.lowest.clear();
    }

    /// Scales the rates of the last second by `factor` for coupling.
    pub(crate) fn scale_rates(&mut self, factor: f64) {
        self.lowest.iter_mut().for_each(|(_, rate)| *rate *= factor);
    }

    /// Records that the rate at `now` is `rate` (bit/s).
    pub(crate) fn remember(&mut self, rate: f64, now: SendTime) {
        if self.lowest.back().is_some_and(|&(at, _)| at > now) {
            // The clock was set back.
            self.lowest.clear();
        }
        while self.lowest.front().is_some_and(|&(at, _)| now - at + RESOLUTION > self.config.memory) {
            self.lowest.pop_front();
        }
        // Later and lower rates replace earlier ones: the front stays the lowest.
        while self.lowest.back().is_some_and(|&(_, lowest)| rate <= lowest) {
            self.lowest.pop_back();
        }
        if self.lowest.len() == MAX_RATES {
            self.lowest.pop_back();
        }
        self.lowest.push_back((now, rate));
    }

    /// The rate after `rate` (bit/s), computed from the last loss ratio.
    pub(crate) fn update(&mut self, rate: f64, rtt: TimeDelta, now: SendTime) -> (f64, LossVerdict) {
        let age = self.last_report.map(|last| (now - last).abs());
        if age.is_none_or(|age| age >= self.config.max_age) {
            return (rate, LossVerdict::Hold);
        }
        let (lowered, verdict) = self.loss.update(rate, self.loss_ratio());
        match verdict {
            LossVerdict::Increase => {
                // Growth from the lowest rate of the last second is 8 % per second, however often it is computed.
                let lowest = self.lowest.front().map_or(rate, |&(_, lowest)| lowest);
                (self.config.increase * lowest + self.config.increase_step, verdict)
            }
            LossVerdict::Decrease if self.may_fall(rtt, now) => {
                self.decreased_at = Some(now);
                self.has_fallen = true;
                (lowered, verdict)
            }
            LossVerdict::Hold | LossVerdict::Decrease => (rate, LossVerdict::Hold),
        }
    }

    /// Whether the rate may fall: once for each loss ratio, and not too soon after the previous decrease.
    fn may_fall(&self, rtt: TimeDelta, now: SendTime) -> bool {
        let pause = self.config.decrease_interval + rtt.max(TimeDelta::ZERO);
        !self.has_fallen && self.decreased_at.is_none_or(|decreased_at| (now - decreased_at).abs() >= pause)
    }
}

#[cfg(test)]
mod tests {
    use weir_units::DataSize;

    use super::*;
    use crate::packet::{Ecn, SentPacket};
    use crate::time::ArrivalTime;

    const RTT: TimeDelta = TimeDelta::from_millis(100);

    /// Sender time of `ms` milliseconds.
    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// Results of `packets` packets of 1000 bytes, of which the first `lost` are missing.
    fn results(packets: u64, lost: u64) -> Vec<PacketResult> {
        let size = DataSize::from_bytes(1000);
        (0..packets)
            .map(|id| {
                let arrived = PacketFate::Arrived { at: Some(ArrivalTime::ZERO), ecn: Ecn::NotEct };
                PacketResult {
                    sent: SentPacket::new(id, at(0), size),
                    fate: if id < lost { PacketFate::Missing } else { arrived },
                }
            })
            .collect()
    }

    #[test]
    fn a_loss_ratio_takes_a_second_and_twenty_packets() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        assert!(!loss.on_results(&results(19, 0), at(0)), "19 packets");
        assert!(!loss.on_results(&results(30, 5), at(1000)), "not more than a second");
        // 10 of 50: 51/256.
        assert!(loss.on_results(&results(1, 5), at(1001)));
        assert_eq!(loss.loss_ratio(), 30.0 / 256.0);
        assert!(!loss.on_results(&results(100, 0), at(1500)));
    }

    #[test]
    fn a_receiver_report_counts_at_once() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        assert!(!loss.on_report(1, 19, at(0)), "19 packets");
        assert!(loss.on_report(0, 1, at(10)));
        assert_eq!(loss.loss_ratio(), 12.0 / 256.0);
        assert!(loss.on_report(20, 20, at(20)));
        assert_eq!(loss.loss_ratio(), 255.0 / 256.0);
        // Late packets take back losses before the twenty: 2·256/20.
        assert!(!loss.on_report(5, 10, at(30)));
        assert!(loss.on_report(-3, 10, at(40)));
        assert_eq!(loss.loss_ratio(), 25.0 / 256.0);
        assert!(loss.on_report(-3, 20, at(50)));
        assert_eq!(loss.loss_ratio(), 0.0);
    }

    #[test]
    fn growth_starts_from_the_lowest_rate_of_the_last_second() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        loss.on_results(&results(20, 0), at(0));
        loss.remember(500e3, at(0));
        loss.remember(400e3, at(100));
        loss.remember(600e3, at(200));
        // 1.08·400 + 1 = 433.
        assert_eq!(loss.update(600e3, RTT, at(200)), (433_000.0, LossVerdict::Increase));
        loss.remember(700e3, at(1099));
        assert_eq!(loss.update(700e3, RTT, at(1099)).0, 433_000.0);
        loss.remember(700e3, at(1100));
        assert_eq!(loss.update(700e3, RTT, at(1100)).0, 649_000.0);
        loss.forget_rates();
        assert_eq!(loss.update(700e3, RTT, at(1100)).0, 757_000.0);
    }

    #[test]
    fn the_rate_falls_once_per_loss_ratio_and_not_too_soon() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        loss.on_results(&results(100, 20), at(0));
        // f = 51/256: 1000·(512 − 51)/512 = 900.39.
        let (rate, verdict) = loss.update(1e6, RTT, at(0));
        assert!((rate - 900_390.625).abs() < 1e-6 && verdict == LossVerdict::Decrease);
        assert_eq!(loss.update(rate, RTT, at(5000)).0, rate, "this loss ratio is used up");
        loss.on_results(&results(100, 20), at(5001));
        assert!(loss.update(rate, RTT, at(5001)).0 < rate);
        loss.config.interval = TimeDelta::ZERO;
        loss.on_results(&results(100, 20), at(5200));
        assert_eq!(loss.update(rate, RTT, at(5400)).0, rate, "399 ms after the fall");
        assert!(loss.update(rate, RTT, at(5401)).0 < rate);
    }

    #[test]
    fn some_loss_holds_and_an_old_loss_ratio_says_nothing() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        assert_eq!(loss.update(1e6, RTT, at(0)), (1e6, LossVerdict::Hold));
        loss.on_results(&results(100, 5), at(0));
        assert_eq!(loss.update(1e6, RTT, at(0)), (1e6, LossVerdict::Hold));
        loss.on_results(&results(100, 0), at(2000));
        assert_eq!(loss.update(1e6, RTT, at(7999)).1, LossVerdict::Increase);
        assert_eq!(loss.update(1e6, RTT, at(8000)).1, LossVerdict::Hold);
    }

    #[test]
    fn the_start_ends_with_time_or_loss() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        assert!(loss.is_starting(at(50_000)), "no feedback yet");
        loss.on_results(&results(20, 0), at(50_000));
        assert!(loss.is_starting(at(51_999)) && !loss.is_starting(at(52_000)));
        loss.on_results(&results(100, 1), at(51_100));
        assert!(!loss.is_starting(at(51_200)));
    }

    #[test]
    fn a_clock_set_back_by_an_hour_ends_the_start_and_the_loss_ratio() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        loss.on_results(&results(20, 0), at(3_600_000));
        assert!(!loss.is_starting(at(0)));
        // The ratio is older than 6 s; the next one counts.
        assert_eq!(loss.update(1e6, RTT, at(0)), (1e6, LossVerdict::Hold));
        assert!(loss.on_results(&results(20, 0), at(100)));
        assert_eq!(loss.update(1e6, RTT, at(100)).1, LossVerdict::Increase);
    }

    #[test]
    fn rates_from_before_the_clock_was_set_back_are_forgotten() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        loss.on_results(&results(20, 0), at(0));
        loss.remember(400e3, at(3_600_000));
        loss.remember(700e3, at(0));
        // 1.08·700 + 1 = 757.
        assert_eq!(loss.update(700e3, RTT, at(0)).0, 757_000.0);
        // At the same time again the lower one counts: 1.08·600 + 1 = 649.
        loss.remember(600e3, at(0));
        assert_eq!(loss.update(700e3, RTT, at(0)).0, 649_000.0);
    }

    #[test]
    fn two_reports_at_once_make_one_loss_ratio() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        assert!(loss.on_results(&results(20, 2), at(0)));
        assert!(!loss.on_results(&results(20, 10), at(0)));
        // 2·256/20 = 25.6.
        assert_eq!(loss.loss_ratio(), 25.0 / 256.0);
    }

    #[test]
    fn the_lowest_rate_is_known_however_many_there_were() {
        let mut loss = LossBasedV1::new(LossV1Config::default());
        loss.on_results(&results(20, 0), at(0));
        // Rising: each is remembered until a second later, 128 of them at most, and the first is the lowest.
        (0..300).for_each(|ms| loss.remember(500e3 + 1e3 * ms as f64, at(ms)));
        assert_eq!(loss.lowest.len(), MAX_RATES);
        // 1.08·500 + 1 = 541.
        assert_eq!(loss.update(800e3, RTT, at(300)).0, 541_000.0);
        (300..600).for_each(|ms| loss.remember(499e3 - 1e3 * (ms - 300) as f64, at(ms)));
        // 499 − 299 = 200: 1.08·200 + 1 = 217.
        assert_eq!((loss.lowest.len(), loss.update(800e3, RTT, at(600)).0), (1, 217_000.0));
    }
}
