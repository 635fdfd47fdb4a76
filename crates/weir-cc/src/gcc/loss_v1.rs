//! The loss-based controller of libwebrtc before 2021 ("v1"): growth by 8 % above the lowest rate of the last
//! second, decrease by half the loss ratio at most once per report and round trip.

use std::collections::VecDeque;

use weir_units::TimeDelta;

use super::loss::LossVerdict;
use super::loss_count::Loss;
use crate::time::SendTime;

/// Constants of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossV1Config {
    /// Up to this loss ratio the rate grows.
    pub low: f64,
    /// Above this loss ratio the rate falls.
    pub high: f64,
    /// Growth factor above the lowest rate of the last second …
    pub increase: f64,
    /// … and so many bit/s more.
    pub increase_offset: f64,
    /// The rate falls by this share of the loss ratio.
    pub decrease: f64,
    /// A loss ratio is told of so many packets or more.
    pub least_packets: u64,
    /// For so long after the first report a rate without loss follows the delay-based controller.
    pub start: TimeDelta,
    /// Between two decreases passes so long and a round-trip time.
    pub decrease_interval: TimeDelta,
}

impl LossV1Config {
    /// libwebrtc.
    pub const LIBWEBRTC: Self = Self {
        low: 0.02,
        high: 0.1,
        increase: 1.08,
        increase_offset: 1000.0,
        decrease: 0.5,
        least_packets: 20,
        start: TimeDelta::from_secs(2),
        decrease_interval: TimeDelta::from_millis(300),
    };
}

/// Over so long the lowest rate is sought.
const MEMORY: TimeDelta = TimeDelta::from_secs(1);
/// Rates of a second for which room is made at the beginning; there are as many as updates.
const ROOM: usize = 64;

/// The state of the controller; the rate itself belongs to the law.
#[derive(Clone, Debug)]
pub struct LossV1 {
    config: LossV1Config,
    expected: u64,
    lost: u64,
    /// The last loss ratio that was told.
    ratio: f64,
    /// Whether that ratio has lowered the rate.
    decreased: bool,
    last_decrease: Option<SendTime>,
    first_report: Option<SendTime>,
    /// Rates of the last second that no later one undercuts, lowest first.
    lowest: VecDeque<(SendTime, f64)>,
}

impl LossV1 {
    /// A controller that has heard nothing.
    pub fn new(config: LossV1Config) -> Self {
        Self {
            config,
            expected: 0,
            lost: 0,
            ratio: 0.0,
            decreased: false,
            last_decrease: None,
            first_report: None,
            lowest: VecDeque::with_capacity(ROOM),
        }
    }

    /// The last loss ratio that was told of enough packets.
    pub fn ratio(&self) -> f64 {
        self.ratio
    }

    /// Losses have been reported at `now`.
    pub fn on_report(&mut self, loss: Loss, now: SendTime) {
        self.first_report.get_or_insert(now);
        let expected = self.expected.saturating_add(loss.expected);
        let lost = self.lost.saturating_add(loss.lost);
        if expected < self.config.least_packets {
            (self.expected, self.lost) = (expected, lost);
            return;
        }
        (self.expected, self.lost) = (0, 0);
        self.ratio = Loss { expected, lost }.ratio();
        self.decreased = false;
    }

    /// The rate after `rate` (bit/s), never above `delay`, that of the delay-based controller.
    pub fn update(&mut self, rate: f64, delay: f64, rtt: TimeDelta, now: SendTime) -> (f64, LossVerdict) {
        let (wanted, verdict) = self.wanted(rate, delay, rtt, now);
        (wanted.min(delay), verdict)
    }

    fn wanted(&mut self, rate: f64, delay: f64, rtt: TimeDelta, now: SendTime) -> (f64, LossVerdict) {
        let Some(first) = self.first_report else { return (rate, LossVerdict::Hold) };
        if self.ratio == 0.0 && now - first < self.config.start && delay > rate {
            self.lowest.clear();
            self.lowest.push_back((now, rate));
            return (delay, LossVerdict::Increase);
        }
        let lowest = self.lowest_after(rate, now);
        if self.ratio <= self.config.low {
            (self.config.increase * lowest + self.config.increase_offset, LossVerdict::Increase)
        } else if self.ratio <= self.config.high {
            (rate, LossVerdict::Hold)
        } else if self.may_decrease(rtt, now) {
            self.decreased = true;
            self.last_decrease = Some(now);
            (rate * (1.0 - self.config.decrease * self.ratio), LossVerdict::Decrease)
        } else {
            (rate, LossVerdict::Decrease)
        }
    }

    /// The lowest rate of the last second, with `rate`.
    fn lowest_after(&mut self, rate: f64, now: SendTime) -> f64 {
        while self.lowest.front().is_some_and(|&(at, _)| (now - at).abs() >= MEMORY) {
            self.lowest.pop_front();
        }
        while self.lowest.back().is_some_and(|&(_, lowest)| lowest >= rate) {
            self.lowest.pop_back();
        }
        self.lowest.push_back((now, rate));
        self.lowest.front().map_or(rate, |&(_, lowest)| lowest)
    }

    fn may_decrease(&self, rtt: TimeDelta, now: SendTime) -> bool {
        let interval = self.config.decrease_interval + rtt.max(TimeDelta::ZERO);
        !self.decreased && self.last_decrease.is_none_or(|last| (now - last).abs() >= interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: TimeDelta = TimeDelta::from_millis(100);
    const NO_BOUND: f64 = f64::INFINITY;

    fn at(ms: i64) -> SendTime {
        SendTime::from_millis(ms)
    }

    /// A controller past its start, after a loss of `lost` in 20.
    fn after(lost: u64) -> LossV1 {
        let mut v1 = LossV1::new(LossV1Config::LIBWEBRTC);
        v1.on_report(Loss { expected: 1, lost: 0 }, at(-5000));
        v1.on_report(Loss { expected: 19, lost }, at(0));
        v1
    }

    #[test]
    fn little_loss_grows_above_the_lowest_rate_of_the_last_second() {
        let mut v1 = after(0);
        // 1.08·1000 + 1 = 1081 kbit/s; within the second again 1081, then from 1081: 1168.48.
        assert_eq!(v1.update(1e6, NO_BOUND, RTT, at(0)), (1.081e6, LossVerdict::Increase));
        assert_eq!(v1.update(1.081e6, NO_BOUND, RTT, at(500)).0, 1.081e6);
        assert_eq!(v1.update(1.081e6, NO_BOUND, RTT, at(1000)).0, 1_168_480.0);
        assert_eq!(v1.update(1e6, 0.9e6, RTT, at(1000)).0, 0.9e6, "never above the delay-based rate");
    }

    #[test]
    fn some_loss_holds_and_much_lowers_once_per_report_and_round_trip() {
        // 1 of 20: 12/256 = 4.7 %.
        assert_eq!(after(1).update(1e6, NO_BOUND, RTT, at(0)), (1e6, LossVerdict::Hold));
        // 5 of 20: 64/256; 1e6·(512 - 64)/512 = 875 000.
        let mut v1 = after(5);
        assert_eq!(v1.update(1e6, NO_BOUND, RTT, at(0)), (875_000.0, LossVerdict::Decrease));
        assert_eq!(v1.update(875_000.0, NO_BOUND, RTT, at(1000)).0, 875_000.0, "not twice for one report");
        v1.on_report(Loss { expected: 20, lost: 5 }, at(390));
        assert_eq!(v1.update(875_000.0, NO_BOUND, RTT, at(399)).0, 875_000.0, "300 ms and a round trip");
        assert_eq!(v1.update(875_000.0, NO_BOUND, RTT, at(400)).0, 765_625.0);
    }

    #[test]
    fn fewer_than_twenty_packets_say_nothing_yet() {
        let mut v1 = after(0);
        v1.on_report(Loss { expected: 19, lost: 19 }, at(0));
        assert_eq!(v1.ratio(), 0.0);
        // 19 of 38.
        v1.on_report(Loss { expected: 19, lost: 0 }, at(0));
        assert_eq!(v1.ratio(), 0.5);
    }

    #[test]
    fn the_start_follows_the_delay_based_rate_until_something_is_lost() {
        let mut v1 = LossV1::new(LossV1Config::LIBWEBRTC);
        assert_eq!(v1.update(1e6, 2e6, RTT, at(0)), (1e6, LossVerdict::Hold), "nothing has been reported");
        v1.on_report(Loss { expected: 20, lost: 0 }, at(0));
        assert_eq!(v1.update(1e6, 2e6, RTT, at(1999)).0, 2e6);
        assert_eq!(v1.update(2e6, 3e6, RTT, at(2000)).0, 1.08 * 1e6 + 1000.0);
        let mut lossy = LossV1::new(LossV1Config::LIBWEBRTC);
        lossy.on_report(Loss { expected: 20, lost: 1 }, at(0));
        assert_eq!(lossy.update(1e6, 2e6, RTT, at(100)).0, 1e6);
    }
}
