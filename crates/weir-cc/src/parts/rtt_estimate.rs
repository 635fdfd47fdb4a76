//! TCP's estimate of the round-trip time (RFC 6298 §2).

use weir_units::TimeDelta;

/// `alpha` and `beta`. RFC 6298 §2.3.
const RTT_GAIN: f64 = 0.125;
const VARIATION_GAIN: f64 = 0.25;
/// `K`, multiple of the variation in a timeout. RFC 6298 §2.3.
const VARIATIONS: f64 = 4.0;
/// Least and greatest sample; others come from a clock that was set.
pub(crate) const MIN_SAMPLE: TimeDelta = TimeDelta::from_millis(1);
pub(crate) const MAX_SAMPLE: TimeDelta = TimeDelta::from_secs(10);

/// Smoothed round-trip time and its variation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RttEstimate {
    /// `SRTT` in seconds.
    pub(crate) srtt: f64,
    /// `RTTVAR` in seconds.
    variation: f64,
}

impl RttEstimate {
    /// The estimate after the first sample, whose half is the variation. RFC 6298 §2.2.
    pub(crate) fn first(sample: TimeDelta) -> Self {
        let srtt = bounded(sample).secs_f64();
        Self { srtt, variation: srtt / 2.0 }
    }

    /// Takes a further sample. RFC 6298 §2.3.
    pub(crate) fn add(&mut self, sample: TimeDelta) {
        let sample = bounded(sample).secs_f64();
        let deviation = (self.srtt - sample).abs();
        self.variation = (1.0 - VARIATION_GAIN) * self.variation + VARIATION_GAIN * deviation;
        self.srtt = (1.0 - RTT_GAIN) * self.srtt + RTT_GAIN * sample;
    }

    pub(crate) fn smoothed(&self) -> TimeDelta {
        TimeDelta::from_secs_f64(self.srtt)
    }

    /// `SRTT + 4·RTTVAR` in seconds, without a least value. RFC 6298 §2.3.
    pub(crate) fn timeout(&self) -> f64 {
        self.srtt + VARIATIONS * self.variation
    }
}

/// The sample limited to its bounds.
pub(crate) fn bounded(sample: TimeDelta) -> TimeDelta {
    sample.clamp(MIN_SAMPLE, MAX_SAMPLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_is_that_of_tcp() {
        // First sample 100 ms: 100 + 4·50 = 300 ms. Then 200 ms: RTTVAR = 0.75·50 + 0.25·100 = 62.5,
        // SRTT = 112.5: 362.5 ms.
        let mut rtt = RttEstimate::first(TimeDelta::from_millis(100));
        assert!((rtt.timeout() - 0.3).abs() < 1e-12);
        rtt.add(TimeDelta::from_millis(200));
        assert!((rtt.timeout() - 0.3625).abs() < 1e-12);
        assert_eq!(rtt.smoothed(), TimeDelta::from_micros(112_500));
    }

    #[test]
    fn samples_have_bounds() {
        let smoothed = |nanos| RttEstimate::first(TimeDelta::from_nanos(nanos)).smoothed();
        assert_eq!([-5, i64::MAX].map(smoothed), [MIN_SAMPLE, MAX_SAMPLE]);
    }
}
