//! Round-trip time and retransmission timeout (RFC 6298).

use weir_units::TimeDelta;

use crate::tcp::TcpConfig;

/// Estimates the round-trip time and derives the retransmission timeout from it.
#[derive(Clone, Copy, Debug)]
pub(super) struct RttEstimator {
    smoothed: Option<Smoothed>,
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

impl RttEstimator {
    pub(super) fn new(config: &TcpConfig) -> Self {
        let min_rto = config.min_rto.max(TimeDelta::from_nanos(1));
        let max_rto = config.max_rto.max(min_rto);
        Self {
            smoothed: None,
            latest: TimeDelta::ZERO,
            min: TimeDelta::MAX,
            rto: config.initial_rto.clamp(min_rto, max_rto),
            min_rto,
            max_rto,
            min_deviation: config.min_deviation,
        }
    }

    /// Takes a sample; a negative one is ignored.
    pub(super) fn on_sample(&mut self, rtt: TimeDelta) {
        if rtt.is_negative() {
            return;
        }
        self.latest = rtt;
        self.min = self.min.min(rtt);
        let Smoothed { mean, deviation } = *self.smoothed.insert(match self.smoothed {
            None => Smoothed { mean: rtt, deviation: rtt / 2 }, // RFC 6298 §2.2
            Some(Smoothed { mean, deviation }) => Smoothed {
                deviation: deviation + ((mean - rtt).abs() - deviation) / 4, // RFC 6298 §2.3
                mean: mean + (rtt - mean) / 8,
            },
        });
        let rto = mean + (deviation * 4).max(self.min_deviation);
        self.rto = rto.clamp(self.min_rto, self.max_rto);
    }

    /// The timer has run out (RFC 6298 §5.5).
    pub(super) fn back_off(&mut self) {
        self.rto = (self.rto * 2).min(self.max_rto);
    }

    /// The timer ran out on the SYN: data begins with a timeout of at least 3 s (RFC 6298 §5.7).
    pub(super) fn on_syn_timed_out(&mut self) {
        self.rto = self.rto.max(TimeDelta::from_secs(3)).min(self.max_rto);
    }

    /// The smoothed round-trip time; `None` before the first sample.
    pub(super) fn smoothed(&self) -> Option<TimeDelta> {
        self.smoothed.map(|smoothed| smoothed.mean)
    }

    /// The latest sample; `None` before the first.
    pub(super) fn latest(&self) -> Option<TimeDelta> {
        self.smoothed.map(|_| self.latest)
    }

    /// The smallest sample; [`TimeDelta::MAX`] before the first.
    pub(super) fn min(&self) -> TimeDelta {
        self.min
    }

    /// The retransmission timeout.
    pub(super) fn rto(&self) -> TimeDelta {
        self.rto
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(i64) -> TimeDelta = TimeDelta::from_millis;

    fn plain(min_rto: TimeDelta) -> RttEstimator {
        RttEstimator::new(&TcpConfig { min_rto, min_deviation: MS(1), ..TcpConfig::default() })
    }

    #[test]
    fn timeout_follows_rfc_6298() {
        let mut rtt = plain(MS(1));
        assert_eq!(rtt.rto(), MS(1000));
        // 100: SRTT 100, RTTVAR 50, RTO 100 + 200.
        rtt.on_sample(MS(100));
        assert_eq!((rtt.smoothed(), rtt.rto()), (Some(MS(100)), MS(300)));
        // 180: RTTVAR 0.75 · 50 + 0.25 · 80 = 57.5, SRTT 100 + 80 / 8 = 110, RTO 110 + 230.
        rtt.on_sample(MS(180));
        assert_eq!((rtt.smoothed(), rtt.rto()), (Some(MS(110)), MS(340)));
        // 110: RTTVAR 0.75 · 57.5 = 43.125, SRTT 110, RTO 110 + 172.5.
        rtt.on_sample(MS(110));
        assert_eq!(rtt.rto(), TimeDelta::from_micros(282_500));
        assert_eq!(rtt.min(), MS(100));
    }

    #[test]
    fn timeout_doubles_until_a_sample_comes_and_has_bounds() {
        let mut rtt = plain(MS(200));
        rtt.on_sample(MS(20)); // 20 + 40, raised to 200
        assert_eq!(rtt.rto(), MS(200));
        rtt.back_off();
        rtt.back_off();
        assert_eq!(rtt.rto(), MS(800));
        for _ in 0..10 {
            rtt.back_off();
        }
        assert_eq!(rtt.rto(), TimeDelta::from_secs(60));
        rtt.on_sample(MS(20));
        assert_eq!(rtt.rto(), MS(200));
    }

    #[test]
    fn default_timeout_exceeds_the_round_trip_time_by_200_ms() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        for _ in 0..100 {
            rtt.on_sample(MS(300));
        }
        assert_eq!(rtt.rto(), MS(500));
    }

    #[test]
    fn timeout_of_the_syn_raises_the_timeout_to_three_seconds() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        rtt.on_sample(MS(100));
        rtt.on_syn_timed_out();
        assert_eq!(rtt.rto(), MS(3000));
    }

    #[test]
    fn sample_from_the_future_is_ignored() {
        let mut rtt = RttEstimator::new(&TcpConfig::default());
        rtt.on_sample(MS(-5));
        assert_eq!(rtt.smoothed(), None);
    }
}
