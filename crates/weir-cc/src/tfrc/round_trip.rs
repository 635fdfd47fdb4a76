//! The round-trip time `R` and the sender's values from it (RFC 5348 §4.3, §4.5; RFC 6298 §2).

use weir_units::TimeDelta;

use super::config::{Config, RetransmissionTimeout};
use super::tick_estimate::TickEstimate;
use crate::parts::rtt_estimate::bounded;

/// Averages of a connection's round-trip time, in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// `R`, the smoothed round-trip time.
    pub(super) r: f64,
    /// The newest sample.
    pub(super) latest: TimeDelta,
    /// `R_sqmean`, average of √`R_sample`. NaN after [`Self::settle`]: the next sample begins the average anew.
    sqrt_mean: f64,
    /// √`R_sample`.
    sqrt_latest: f64,
    /// TCP's estimate of the timeout, where `t_RTO` is measured.
    tcp: Option<TickEstimate>,
}

impl RoundTrip {
    /// Averages after the first sample.
    pub(super) fn first(sample: TimeDelta, config: &Config) -> Self {
        let latest = bounded(sample);
        let r = latest.secs_f64();
        let tcp = match config.retransmission_timeout {
            RetransmissionTimeout::FourRoundTrips => None,
            RetransmissionTimeout::MeasuredInTicks(tick) => Some(TickEstimate::first(latest, tick)),
        };
        Self { r, latest, sqrt_mean: libm::sqrt(r), sqrt_latest: libm::sqrt(r), tcp }
    }

    /// Takes in a further sample.
    pub(super) fn add(&mut self, sample: TimeDelta, config: &Config) {
        self.latest = bounded(sample);
        let r_sample = self.latest.secs_f64();
        let (q, q2) = (config.rtt_filter, config.sqrt_rtt_filter);
        self.r = q * self.r + (1.0 - q) * r_sample; // RFC 5348 §4.3 step 2
        self.sqrt_latest = libm::sqrt(r_sample);
        if self.sqrt_mean.is_nan() {
            self.sqrt_mean = self.sqrt_latest;
        }
        self.sqrt_mean = q2 * self.sqrt_mean + (1.0 - q2) * self.sqrt_latest; // RFC 5348 §4.5
        if let Some(tcp) = &mut self.tcp {
            tcp.add(self.latest);
        }
    }

    pub(super) fn smoothed(&self) -> TimeDelta {
        TimeDelta::from_secs_f64(self.r)
    }

    /// `t_RTO` over `R`. RFC 5348 §3.1.
    pub(super) fn timeout_in_round_trips(&self) -> f64 {
        self.tcp.map_or(4.0, |tcp| tcp.timeout() / self.r)
    }

    /// `X_inst/X` = `R_sqmean`/√`R_sample`. RFC 5348 §4.5.
    pub(super) fn oscillation_factor(&self) -> f64 {
        if self.sqrt_mean.is_nan() { 1.0 } else { self.sqrt_mean / self.sqrt_latest }
    }

    /// Resets the averages of √R at the next sample, so that the newest one no longer adjusts the rate.
    pub(super) fn settle(&mut self) {
        self.sqrt_mean = f64::NAN;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    fn first(sample: i64) -> RoundTrip {
        RoundTrip::first(ms(sample), &Config::default())
    }

    #[test]
    fn the_average_keeps_nine_tenths_of_the_past() {
        let mut rtt = first(100);
        assert_eq!(rtt.smoothed(), ms(100));
        // 0.9·100 + 0.1·200 = 110.
        rtt.add(ms(200), &Config::default());
        assert_eq!(rtt.smoothed(), ms(110));
        // ns-2: 0.95·100 + 0.05·200 = 105.
        let mut slow = first(100);
        slow.add(ms(200), &Config::ns2());
        assert_eq!(slow.smoothed(), ms(105));
    }

    #[test]
    fn the_timeout_of_ns2_has_whole_ticks_of_100_ms() {
        assert_eq!(first(20).timeout_in_round_trips(), 4.0);
        // One tick: 1 + 4·0.5 = 3 ticks, fifteen round trips.
        let rtt = RoundTrip::first(ms(20), &Config::ns2());
        assert!((rtt.timeout_in_round_trips() - 15.0).abs() < 1e-9);
    }

    #[test]
    fn a_longer_round_trip_lowers_the_rate_for_the_moment() {
        let mut rtt = first(100);
        assert_eq!(rtt.oscillation_factor(), 1.0);
        // √0.1 = 0.316228, √0.4 = 0.632456: (0.9·0.316228 + 0.1·0.632456)/0.632456 = 0.55.
        rtt.add(ms(400), &Config::default());
        assert!((rtt.oscillation_factor() - 0.55).abs() < 1e-9);
        rtt.settle();
        assert_eq!(rtt.oscillation_factor(), 1.0);
        rtt.add(ms(50), &Config::default());
        assert!((rtt.oscillation_factor() - 1.0).abs() < 1e-12, "a first sample again");
    }
}
