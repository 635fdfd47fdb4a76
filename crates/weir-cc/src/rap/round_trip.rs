//! RAP's averages of the round-trip time, and its timeout.

use weir_units::TimeDelta;

use super::config::Config;
use crate::parts::rtt_estimate::bounded;

/// Round-trip times in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// `SRTT`.
    pub(super) srtt: f64,
    /// `VAR`.
    variation: f64,
    /// `FRTT` and `XRTT`, over a short and a long term, or `None` before the first sample.
    terms: Option<(f64, f64)>,
}

impl RoundTrip {
    pub(super) fn new(config: &Config) -> Self {
        Self { srtt: config.initial_rtt.secs_f64(), variation: 0.0, terms: None }
    }

    /// Whether there was a sample.
    pub(super) fn is_known(&self) -> bool {
        self.terms.is_some()
    }

    /// ns-2's `UpdateTimeValues`.
    pub(super) fn add(&mut self, sample: TimeDelta, config: &Config) {
        let m = bounded(sample).secs_f64();
        let Some((short, long)) = self.terms else {
            *self = Self { srtt: m, variation: 0.0, terms: Some((m, m)) };
            return;
        };
        let d = m - self.srtt;
        self.srtt += config.delta * d;
        self.variation += config.delta * (d.abs() - self.variation);
        let (kf, kx) = (config.short_term_gain, config.long_term_gain);
        self.terms = Some(((1.0 - kf) * short + kf * m, (1.0 - kx) * long + kx * m));
    }

    pub(super) fn smoothed(&self) -> TimeDelta {
        TimeDelta::from_secs_f64(self.srtt)
    }

    /// `mu·SRTT + phi·VAR`, and the time that a report may wait.
    pub(super) fn timeout(&self, config: &Config) -> TimeDelta {
        if !self.is_known() {
            return config.initial_rtt.min(config.max_timeout);
        }
        let timeout = TimeDelta::from_secs_f64(config.mu * self.srtt + config.phi * self.variation);
        (timeout + config.feedback_interval).min(config.max_timeout)
    }

    /// `XRTT/FRTT`, by which the fine-grained rate differs.
    pub(super) fn fine_grain_factor(&self) -> f64 {
        self.terms.map_or(1.0, |(short, long)| long / short)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The round-trip time after these samples in ms.
    fn after(samples: &[i64]) -> (RoundTrip, Config) {
        let config = Config::default();
        let mut rtt = RoundTrip::new(&config);
        for &ms in samples {
            rtt.add(TimeDelta::from_millis(ms), &config);
        }
        (rtt, config)
    }

    #[test]
    fn before_the_first_sample_two_seconds_stand_for_everything() {
        let (rtt, config) = after(&[]);
        assert_eq!((rtt.smoothed(), rtt.timeout(&config)), (config.initial_rtt, TimeDelta::from_secs(2)));
        assert_eq!(rtt.fine_grain_factor(), 1.0);
    }

    #[test]
    fn both_filters_take_half_of_the_new() {
        // First sample: VAR 0, timeout 1.2·100 = 120 ms, and 10 ms that a report waits.
        let (rtt, config) = after(&[100]);
        assert_eq!(
            (rtt.smoothed(), rtt.timeout(&config)),
            (TimeDelta::from_millis(100), TimeDelta::from_millis(130))
        );
        // d = 60: SRTT = 130, VAR = 30: 1.2·130 + 4·30 + 10 = 286 ms.
        let (rtt, config) = after(&[100, 160]);
        assert_eq!(
            (rtt.smoothed(), rtt.timeout(&config)),
            (TimeDelta::from_millis(130), TimeDelta::from_millis(286))
        );
    }

    #[test]
    fn the_timeout_has_an_end() {
        let (rtt, config) = after(&[5000]);
        assert_eq!(rtt.timeout(&config), TimeDelta::from_millis(2400));
    }

    #[test]
    fn packets_in_a_queue_of_two_seconds_are_not_lost() {
        // 1.2·2050 + 10 ms are above the longest timeout, and that is above the round trip with its wait for a
        // report.
        let (rtt, config) = after(&[2050, 2050]);
        assert!(rtt.timeout(&config) > TimeDelta::from_millis(2100));
    }

    #[test]
    fn the_short_term_is_nearly_the_last_sample() {
        // FRTT = 0.1·100 + 0.9·200 = 190; XRTT = 0.99·100 + 0.01·200 = 101.
        let (rtt, _) = after(&[100, 200]);
        assert!((rtt.fine_grain_factor() - 101.0 / 190.0).abs() < 1e-12);
    }
}
