//! NADA's equations at the sender, those that the variants share and those of RFC 8698 (§4.3, §5.2.2). Rates are in
//! bit/s, congestion in ms.

use weir_units::{DataRate, DataSize, TimeDelta};

use super::config::Config;
use crate::controller::RateLimits;

/// Result of a gradual update.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Gradual {
    /// `x_offset` in ms: distance from the equilibrium.
    pub(super) offset: f64,
    /// The new `r_ref`, not limited yet.
    pub(super) rate: f64,
}

/// The rates before and after the shaping buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shaped {
    /// `r_vin`, for the encoder.
    pub(super) media: DataRate,
    /// `r_send`, for the network.
    pub(super) sending: DataRate,
}

/// The gains of the gradual update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gains {
    /// `KAPPA`.
    pub(super) kappa: f64,
    /// `ETA`.
    pub(super) eta: f64,
    /// `TAU`.
    pub(super) tau: TimeDelta,
    /// Longest time since the last update that counts.
    pub(super) longest: TimeDelta,
}

impl Gains {
    /// Gradual update from `rate` above 0; `elapsed` is the time since the previous update. `equilibrium` (ms) is the
    /// congestion signal at which the rate stays. RFC 8698 eqs. (5) to (7); nada-vs-gcc-2016 eqs. (3) to (5) with `K1
    /// = κ·δ/τ²` and `K2 = κ·η/τ`.
    pub(super) fn gradual(
        &self,
        rate: f64,
        equilibrium: f64,
        elapsed: TimeDelta,
        congestion: f64,
        change: f64,
    ) -> Gradual {
        let tau = self.tau.millis_f64();
        let delta = elapsed.clamp(TimeDelta::ZERO, self.longest).millis_f64();
        let offset = congestion - equilibrium;
        let step = self.kappa * (delta / tau) * (offset / tau) + self.kappa * self.eta * change / tau;
        Gradual { offset, rate: rate * (1.0 - step) }
    }
}

/// `gamma`, the step of the ramp-up. It is at most `most`, and at most so large that the queue reaches `bound` when
/// the sender can react, `reaction` later. RFC 8698 eq. (3).
pub(super) fn gamma(most: f64, bound: TimeDelta, reaction: TimeDelta) -> f64 {
    most.min(bound.secs_f64() / reaction.secs_f64())
}

/// The rate-shaping buffer. RFC 8698 §5.2.2.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shaping {
    /// `BETA_S`.
    pub(super) sending_gain: f64,
    /// `BETA_V`.
    pub(super) media_gain: f64,
    /// `FPS`, in 1/s: at a gain of 1 the buffer would drain within one frame.
    pub(super) frame_rate: f64,
    /// Largest share by which shaping changes a rate.
    pub(super) cap: f64,
}

impl Shaping {
    /// The rates with `queued` in the buffer: the encoder's rate is lower and the sending rate higher.
    pub(super) fn shape(&self, limits: &RateLimits, rate: DataRate, queued: DataSize) -> Shaped {
        let cap = self.cap * rate.bps_f64();
        let drain = queued.bits_f64() * self.frame_rate;
        let media_cut = DataRate::from_bps_f64(cap.min(self.media_gain * drain));
        let sending_gain = DataRate::from_bps_f64(cap.min(self.sending_gain * drain));
        Shaped {
            media: rate.saturating_sub(media_cut).max(limits.min()),
            sending: (rate + sending_gain).min(limits.max()),
        }
    }
}

impl Config {
    fn gamma(&self, rtt: TimeDelta) -> f64 {
        let reaction = rtt.max(TimeDelta::ZERO) + self.feedback_interval + self.filter_delay;
        gamma(self.gamma_max, self.queue_bound, reaction)
    }

    /// Accelerated ramp-up. RFC 8698 eq. (4).
    pub(super) fn ramp_up(&self, r_ref: f64, receive_rate: f64, rtt: TimeDelta) -> f64 {
        r_ref.max((1.0 + self.gamma(rtt)) * receive_rate)
    }

    /// The congestion signal in ms at the equilibrium of `r_ref`. RFC 8698 eq. (5), divergence 1.
    pub(super) fn equilibrium(&self, r_ref: f64, max: f64) -> f64 {
        let bound = self.equilibrium_bound.map_or(f64::INFINITY, TimeDelta::millis_f64);
        (self.priority * self.reference_congestion.millis_f64() * max / r_ref).min(bound)
    }

    /// Gradual update from `r_ref` above 0; `elapsed` is the time since the previous update. RFC 8698 eqs. (5) to
    /// (7).
    pub(super) fn gradual(
        &self,
        r_ref: f64,
        equilibrium: f64,
        elapsed: TimeDelta,
        x_curr: f64,
        x_diff: f64,
    ) -> Gradual {
        let longest = if self.interval_cap { self.tau } else { TimeDelta::MAX };
        let gains = Gains { kappa: self.kappa, eta: self.eta, tau: self.tau, longest };
        gains.gradual(r_ref, equilibrium, elapsed, x_curr, x_diff)
    }

    pub(super) fn shaping(&self) -> Shaping {
        Shaping {
            sending_gain: self.sending_gain,
            media_gain: self.media_gain,
            frame_rate: self.frame_rate,
            cap: self.shaping_cap,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: f64 = 1.5e6;

    /// Checks that `value` is `expected` within 1e-6, relative.
    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-6 * expected.abs(), "{value} instead of {expected}");
    }

    fn ms(ms: i64) -> TimeDelta {
        TimeDelta::from_millis(ms)
    }

    fn kbps(rate: u64) -> DataRate {
        DataRate::from_kbps(rate)
    }

    #[test]
    fn ramp_up_bounds_the_queue_that_it_may_cause() {
        let config = Config::default();
        // 50/(0 + 100 + 120) = 0.2272727; with 80 ms of RTT 50/300 = 0.1666667.
        near(config.gamma(ms(0)), 50.0 / 220.0);
        near(config.gamma(ms(80)), 1.0 / 6.0);
        // Without filtering and with quick reports GAMMA_MAX holds: 50/(20 + 0 + 10) > 0.5.
        let quick = Config { feedback_interval: ms(10), filter_delay: ms(0), ..config };
        near(quick.gamma(ms(20)), 0.5);
        near(config.gamma(ms(-500)), 50.0 / 220.0);
    }

    #[test]
    fn ramp_up_follows_the_receive_rate_and_never_lowers_the_rate() {
        let config = Config::default();
        // (1 + 1/6) · 600 000 = 700 000.
        near(config.ramp_up(650e3, 600e3, ms(80)), 700e3);
        near(config.ramp_up(800e3, 600e3, ms(80)), 800e3);
        near(config.ramp_up(800e3, 0.0, ms(80)), 800e3);
    }

    /// With a maximum of 1.5 Mbit/s.
    fn gradual(r_ref: f64, elapsed: TimeDelta, x_curr: f64, x_diff: f64) -> Gradual {
        let config = Config::default();
        config.gradual(r_ref, config.equilibrium(r_ref, MAX), elapsed, x_curr, x_diff)
    }

    #[test]
    fn gradual_update_weighs_offset_and_change() {
        // x_offset = 40 − 10·1.5/0.5 = 10; x_diff = 40 − 15 = 25;
        // r_ref·(1 − 0.5·(100/500)·(10/500) − 0.5·2·25/500) = 500 000·(1 − 0.002 − 0.05) = 474 000.
        let update = gradual(500e3, ms(100), 40.0, 25.0);
        near(update.offset, 10.0);
        near(update.rate, 474e3);
    }

    #[test]
    fn at_equilibrium_the_rate_stands() {
        // x = 10·1.5/0.6 = 25.
        let update = gradual(600e3, ms(100), 25.0, 0.0);
        near(update.rate, 600e3);
    }

    #[test]
    fn the_equilibrium_stays_within_reach_of_the_signal() {
        // 10 · 50/0.5 = 1000 ms, which a signal of at most 500 ms never reaches: the rate would rise for ever.
        near(Config::rfc_literal().equilibrium(500e3, 50e6), 1000.0);
        let config = Config::default();
        near(config.equilibrium(500e3, 50e6), 300.0);
        near(config.equilibrium(2e6, 50e6), 250.0);
        near(Config { priority: 2.0, ..config }.equilibrium(2e6, 50e6), 300.0);
    }

    #[test]
    fn time_since_the_last_report_counts_up_to_tau() {
        // x_offset = 80 − 30 = 50: 0.5·(500/500)·(50/500) = 0.05.
        near(gradual(500e3, ms(500), 80.0, 0.0).rate, 475e3);
        near(gradual(500e3, ms(5000), 80.0, 0.0).rate, 475e3);
        near(gradual(500e3, ms(-5000), 80.0, 0.0).rate, 500e3);
        // As the RFC is printed it counts in full: 10 · 0.05.
        let literal = Config::rfc_literal();
        near(literal.gradual(500e3, literal.equilibrium(500e3, MAX), ms(5000), 80.0, 0.0).rate, 250e3);
    }

    #[test]
    fn two_thousand_bytes_in_the_buffer_shift_the_rates_by_48_kbps() {
        // 0.1 · 8 · 2000 · 30 = 48 000 bit/s (RFC 8698 §5.2.2); 5 % of 1 Mbit/s is more.
        let config = Config::default();
        let limits = RateLimits::new(kbps(150), kbps(150), kbps(1500)).unwrap();
        let shaped = config.shaping().shape(&limits, kbps(1000), DataSize::from_bytes(2000));
        assert_eq!(shaped, Shaped { media: kbps(952), sending: kbps(1048) });
        assert_eq!(
            config.shaping().shape(&limits, kbps(1000), DataSize::ZERO),
            Shaped { media: kbps(1000), sending: kbps(1000) }
        );
    }

    #[test]
    fn each_rate_is_shaped_by_its_own_gain() {
        // 8 · 1000 · 30 = 240 kbit/s, of which a twentieth is the encoder's and a tenth the network's.
        let config = Config { media_gain: 0.05, sending_gain: 0.1, ..Config::default() };
        let limits = RateLimits::new(kbps(150), kbps(150), kbps(1500)).unwrap();
        let shaped = config.shaping().shape(&limits, kbps(1000), DataSize::from_bytes(1000));
        assert_eq!(shaped, Shaped { media: kbps(988), sending: kbps(1024) });
    }

    #[test]
    fn shaping_is_capped_at_5_percent_and_by_the_limits() {
        let config = Config::default();
        let limits = RateLimits::new(kbps(150), kbps(150), kbps(1500)).unwrap();
        let full = DataSize::from_bytes(1_000_000);
        // 5 % of 1000, of 1480 (1406, 1554 → RMAX) and of 154 (146.3 → RMIN, 161.7).
        assert_eq!(
            config.shaping().shape(&limits, kbps(1000), full),
            Shaped { media: kbps(950), sending: kbps(1050) }
        );
        assert_eq!(
            config.shaping().shape(&limits, kbps(1480), full),
            Shaped { media: kbps(1406), sending: kbps(1500) }
        );
        assert_eq!(
            config.shaping().shape(&limits, kbps(154), full),
            Shaped { media: kbps(150), sending: DataRate::from_bps(161_700) }
        );
    }
}
