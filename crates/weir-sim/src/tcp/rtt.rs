//! Estimator of the round-trip time and of the retransmission timeout (RFC 6298), with Linux's deviation term as an
//! option.

use weir_units::TimeDelta;
use weir_world::tcp::TcpConfig;

/// Estimator of the round-trip time, from which the retransmission timeout follows.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    smoothed: Option<Smoothed>,
    /// Linux's deviation term, if it is used instead of four times the deviation.
    linux_deviation: Option<LinuxDeviation>,
    latest: TimeDelta,
    min: TimeDelta,
    rto: TimeDelta,
    min_rto: TimeDelta,
    max_rto: TimeDelta,
    min_deviation: TimeDelta,
}

/// `SRTT` and `RTTVAR`.
#[derive(Clone, Copy, Debug)]
struct Smoothed {
    mean: TimeDelta,
    deviation: TimeDelta,
}

/// Linux's deviation term (`tcp_rtt_estimator`).
#[derive(Clone, Copy, Debug)]
struct LinuxDeviation {
    /// Four times the mean deviation (`mdev`).
    deviation: TimeDelta,
    /// The highest `deviation` of this round trip, not below the least term (`mdev_max`).
    highest: TimeDelta,
    /// Term added to the mean (`rttvar`).
    term: TimeDelta,
    /// The round trip ends once an acknowledgement covers more than this segment (`rtt_seq`).
    round_end: u32,
}

impl LinuxDeviation {
    const NONE: Self =
        Self { deviation: TimeDelta::ZERO, highest: TimeDelta::ZERO, term: TimeDelta::ZERO, round_end: 0 };

    /// Takes a sample; `mean` is the mean before it, if there was a sample.
    fn on_sample(
        &mut self,
        rtt: TimeDelta,
        mean: Option<TimeDelta>,
        least: TimeDelta,
        acked: u32,
        next: u32,
    ) {
        let Some(mean) = mean else {
            self.deviation = rtt * 2;
            self.highest = self.deviation.max(least);
            self.term = self.highest;
            self.round_end = next;
            return;
        };
        let mut change = (rtt - mean).abs() - self.deviation / 4;
        // A sample below the mean counts an eighth, so that a falling round-trip time hardly raises the timeout.
        if rtt < mean && change > TimeDelta::ZERO {
            change = change / 8;
        }
        self.deviation += change;
        self.highest = self.highest.max(self.deviation);
        self.term = self.term.max(self.highest);
        // Once per round trip the term falls by a quarter of its distance to the highest deviation in it.
        if acked > self.round_end {
            self.term -= (self.term - self.highest) / 4;
            self.highest = least;
            self.round_end = next;
        }
    }
}

impl RttEstimator {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let min_rto = config.min_rto.max(TimeDelta::from_nanos(1));
        let max_rto = config.max_rto.max(min_rto);
        Self {
            smoothed: None,
            linux_deviation: config.linux_deviation.then_some(LinuxDeviation::NONE),
            latest: TimeDelta::ZERO,
            min: TimeDelta::MAX,
            rto: config.initial_rto.clamp(min_rto, max_rto),
            min_rto,
            max_rto,
            min_deviation: config.min_deviation,
        }
    }

    /// Takes a sample from an acknowledgement of everything below `acked`, when `next` is the next new segment; a
    /// negative sample is ignored.
    pub(super) fn on_sample(&mut self, rtt: TimeDelta, acked: u32, next: u32) {
        if rtt.is_negative() {
            return;
        }
        let before = self.smoothed();
        self.latest = rtt;
        self.min = self.min.min(rtt);
        let Smoothed { mean, deviation } = *self.smoothed.insert(match self.smoothed {
            None => Smoothed { mean: rtt, deviation: rtt / 2 }, // RFC 6298 §2.2
            Some(Smoothed { mean, deviation }) => Smoothed {
                deviation: deviation + ((mean - rtt).abs() - deviation) / 4, // RFC 6298 §2.3
                mean: mean + (rtt - mean) / 8,
            },
        });
        let term = match &mut self.linux_deviation {
            Some(linux_deviation) => {
                linux_deviation.on_sample(rtt, before, self.min_deviation, acked, next);
                linux_deviation.term
            }
            None => (deviation * 4).max(self.min_deviation),
        };
        let rto = mean + term;
        self.rto = rto.clamp(self.min_rto, self.max_rto);
    }

    /// Doubles the timeout when the timer has expired (RFC 6298 §5.5).
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
    }

    /// Handles a timeout of the SYN: data begins with a timeout of at least 3 s (RFC 6298 §5.7).
    pub(super) fn on_syn_timed_out(&mut self) {
        self.rto = self.rto.max(TimeDelta::from_secs(3)).min(self.max_rto);
    }

    /// The smoothed round-trip time, if there was a sample.
    pub(super) fn smoothed(&self) -> Option<TimeDelta> {
        self.smoothed.map(|smoothed| smoothed.mean)
    }

    /// The latest sample, if there was any.
    pub(super) fn latest(&self) -> Option<TimeDelta> {
        self.smoothed.map(|_| self.latest)
    }

    /// The smallest sample; [`TimeDelta::MAX`] before the first.
    pub(super) fn min(&self) -> TimeDelta {
        self.min
    }

    /// The retransmission timeout (RTO, RFC 6298 §2).
    pub(super) fn rto(&self) -> TimeDelta {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    fn sample(rtt: &mut RttEstimator, ms: i64) {
        rtt.on_sample(MS(ms), 0, 0);
    }

    fn plain(min_rto: TimeDelta) -> RttEstimator {
        RttEstimator::new(&TcpConfig { min_rto, min_deviation: MS(1), ..TcpConfig::default() })
    }

    #[test]
    fn timeout_follows_rfc_6298() {
        let mut rtt = plain(MS(1));
        assert_eq!(rtt.rto(), MS(1000));
        // 100: SRTT 100, RTTVAR 50, RTO 100 + 200.
        sample(&mut rtt, 100);
        assert_eq!((rtt.smoothed(), rtt.rto()), (Some(MS(100)), MS(300)));
        // 180: RTTVAR 0.75 · 50 + 0.25 · 80 = 57.5, SRTT 100 + 80 / 8 = 110, RTO 110 + 230.
        sample(&mut rtt, 180);
        assert_eq!((rtt.smoothed(), rtt.rto()), (Some(MS(110)), MS(340)));
        // 110: RTTVAR 0.75 · 57.5 = 43.125, SRTT 110, RTO 110 + 172.5.
        sample(&mut rtt, 110);
        assert_eq!(rtt.rto(), TimeDelta::from_micros(282_500));
        assert_eq!(rtt.min(), MS(100));
    }

    #[test]
    fn timeout_doubles_until_a_sample_comes_and_has_bounds() {
        let mut rtt = plain(MS(200));
        sample(&mut rtt, 20); // 20 + 40, raised to 200
        assert_eq!(rtt.rto(), MS(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), MS(800));
        for _ in 0..10 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), TimeDelta::from_secs(60));
        sample(&mut rtt, 20);
        assert_eq!(rtt.rto(), MS(200));
    }

    #[test]
    fn default_timeout_exceeds_the_round_trip_time_by_200_ms() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        for _ in 0..100 {
            sample(&mut rtt, 300);
        }
        assert_eq!(rtt.rto(), MS(500));
    }

    #[test]
    fn linux_holds_the_deviation_and_lets_it_down_once_per_round_trip() {
        let linux = TcpConfig { linux_deviation: true, ..TcpConfig::default() };
        let mut rtt = RttEstimator::new(&linux);
        let mut round = 0;
        let mut after = |ms: i64, next_round: bool| {
            round += u32::from(next_round);
            rtt.on_sample(MS(ms), round, round);
            rtt.rto() - rtt.smoothed().unwrap()
        };
        // 200: the term is twice that.
        assert_eq!(after(200, false), MS(400));
        // 600: |600 - 200| - 100 = 300 makes 700, and the term follows at once; the mean becomes 250.
        assert_eq!(after(600, false), MS(700));
        // 250: the deviation comes down to 525, the term not before the round trip is over.
        assert_eq!(after(250, false), MS(700));
        assert_eq!(after(250, true), MS(700), "the highest of the round trip was 700");
        // 525 · 9/16 = 295.3, the only sample of this round trip: 700 - (700 - 295.3) / 4 = 598.8.
        let term = after(250, true);
        assert_eq!(term.nanos() / 100_000, 5988);
    }

    #[test]
    fn linux_takes_a_fall_of_the_round_trip_time_for_an_eighth_of_a_rise() {
        let linux = TcpConfig { linux_deviation: true, min_deviation: MS(1), ..TcpConfig::default() };
        let term = |ms| {
            let mut rtt = RttEstimator::new(&linux);
            // The mean stays at 1000 ms, the deviation falls by a quarter each time.
            for round in 0..30 {
                rtt.on_sample(MS(1000), round, round);
            }
            let before = rtt.linux_deviation.unwrap().deviation;
            rtt.on_sample(MS(ms), 30, 30);
            rtt.linux_deviation.unwrap().deviation - before
        };
        let (up, down) = (term(1400), term(600));
        assert_eq!(up / 8, down);
        assert!(up > MS(399), "{up}");
    }

    #[test]
    fn timeout_of_the_syn_raises_the_timeout_to_three_seconds() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        sample(&mut rtt, 100);
        rtt.on_syn_timed_out();
        assert_eq!(rtt.rto(), MS(3000));
    }

    #[test]
    fn sample_from_the_future_is_ignored() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        sample(&mut rtt, -5);
        assert_eq!(rtt.smoothed(), None);
    }
}
