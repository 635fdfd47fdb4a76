//! The two-state Kalman filter of libwebrtc and draft-alvestrand-rmcat-congestion-03: capacity and gradient.

use super::bursts::BurstSample;
use super::detector::BandwidthUsage;
use super::noise::{NoiseConfig, NoiseVariance};

/// Constants of the filter. State noise and error variances belong to `1/C` in (ms/byte)² and `m` in ms².
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TwoStateConfig {
    /// `1/C(0)` in ms per byte.
    pub initial_slope: f64,
    /// Diagonal of `E(0)`.
    pub initial_error: [f64; 2],
    /// Diagonal of `Q`.
    pub state_noise: [f64; 2],
    /// Multiple of the state noise of `m` by which it grows while the gradient turns back from over- or under-use.
    pub turning_noise: f64,
    /// Estimation of the noise variance, while usage is normal.
    pub noise: NoiseConfig,
}

/// Model: `d = ΔL/C + m + n`. nada-vs-gcc-2016 eq. (7).
#[derive(Clone, Debug)]
pub struct TwoStateKalman {
    config: TwoStateConfig,
    /// `1/C` in ms per byte.
    slope: f64,
    /// `m`, the gradient in ms.
    m: f64,
    previous_m: f64,
    /// `E`, symmetric: `[e00, e01, e11]`.
    error: [f64; 3],
    noise: NoiseVariance,
    gain: f64,
}

impl TwoStateKalman {
    /// A filter without any sample: `m(0) = 0`.
    pub(crate) fn new(config: TwoStateConfig) -> Self {
        let [e00, e11] = config.initial_error;
        Self {
            config,
            slope: config.initial_slope,
            m: 0.0,
            previous_m: 0.0,
            error: [e00, 0.0, e11],
            noise: NoiseVariance::new(config.noise),
            gain: 0.0,
        }
    }

    /// Takes a sample, and the detector's state before it; returns the new estimate `m` in ms.
    pub fn update(&mut self, sample: &BurstSample, usage: BandwidthUsage) -> f64 {
        let size = sample.size_delta;
        let [mut e00, e01, mut e11] = self.error;
        let [q_slope, q_m] = self.config.state_noise;
        e00 += q_slope;
        e11 += if self.turns_back(usage) { (1.0 + self.config.turning_noise) * q_m } else { q_m };
        let innovation = sample.gradient().millis_f64() - size * self.slope - self.m;
        self.noise.on_sample(sample.inter_departure);
        if usage == BandwidthUsage::Normal {
            self.noise.on_innovation(innovation);
        }
        // E·h with h = [ΔL, 1].
        let eh = [e00 * size + e01, e01 * size + e11];
        let total = self.noise.variance() + (eh[0] * size + eh[1]).max(0.0);
        let gain = eh.map(|eh| eh / total);
        // E ← (I − k·hᵀ)·E = E − k·(E·h)ᵀ.
        self.error = [e00 - gain[0] * eh[0], e01 - gain[0] * eh[1], e11 - gain[1] * eh[1]];
        self.previous_m = self.m;
        self.slope += gain[0] * innovation;
        self.m += gain[1] * innovation;
        self.gain = gain[1];
        if !self.is_sound() {
            self.reset();
        }
        self.m
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        let [e00, e11] = self.config.initial_error;
        (self.slope, self.m, self.previous_m, self.gain) = (self.config.initial_slope, 0.0, 0.0, 0.0);
        self.error = [e00, 0.0, e11];
        self.noise.reset();
    }

    /// `m`, the gradient estimate in ms.
    pub fn estimate(&self) -> f64 {
        self.m
    }

    /// The gain of `m` at the last update.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// `σ²_n`, the measurement noise variance in ms².
    pub fn noise_variance(&self) -> f64 {
        self.noise.variance()
    }

    /// `1/C` in ms per byte.
    pub fn slope(&self) -> f64 {
        self.slope
    }

    fn turns_back(&self, usage: BandwidthUsage) -> bool {
        match usage {
            BandwidthUsage::Over => self.m < self.previous_m,
            BandwidthUsage::Under => self.m > self.previous_m,
            BandwidthUsage::Normal => false,
        }
    }

    /// Whether all numbers are finite and variances positive, as on any real path; even extreme input must not
    /// spoil later estimates.
    fn is_sound(&self) -> bool {
        let [e00, e01, e11] = self.error;
        let finite = [self.slope, self.m, e00, e01, e11, self.noise.variance()].iter().all(|v| v.is_finite());
        finite && e00 >= 0.0 && e11 >= 0.0
    }
}

#[cfg(test)]
mod tests {
    use weir_units::TimeDelta;

    use super::super::noise::{Averaging, ByTime, Outliers};
    use super::*;
    use crate::time::ArrivalTime;

    const LIBWEBRTC: TwoStateConfig = TwoStateConfig {
        initial_slope: 8.0 / 512.0,
        initial_error: [100.0, 0.1],
        state_noise: [1e-13, 1e-3],
        turning_noise: 10.0,
        noise: NoiseConfig {
            initial: 50.0,
            floor: 1.0,
            averaging: Averaging::ByTime(ByTime::LIBWEBRTC),
            outliers: Outliers::Clamp,
            about_mean: true,
        },
    };

    /// A sample whose delay grows by `gradient` ms in `inter_departure` ms.
    fn sample(inter_departure: i64, gradient: i64, size_delta: f64) -> BurstSample {
        let ms = TimeDelta::from_millis;
        BurstSample {
            inter_departure: ms(inter_departure),
            inter_arrival: ms(inter_departure + gradient),
            size_delta,
            arrival: ArrivalTime::ZERO,
        }
    }

    #[test]
    fn two_steps_by_hand() {
        let mut filter = TwoStateKalman::new(LIBWEBRTC);
        // d = 10, ΔL = 0, ΔT = 100 ms: z = 10; σ² = 51.3112402 (see the noise's test); h = [0, 1]: E·h = [0, 0.101];
        // K = 0.101/(51.3112402 + 0.101) = 0.00196451; m = 0.0196451; e11 = 0.101·(1 - K) = 0.10080158.
        assert!((filter.update(&sample(100, 10, 0.0), BandwidthUsage::Normal) - 0.019_645_1).abs() < 1e-7);
        assert!((filter.gain() - 0.001_964_51).abs() < 1e-8);
        assert_eq!(filter.slope(), 8.0 / 512.0);
        assert!((filter.error[2] - 0.100_801_584).abs() < 1e-8);
        // Not normal, so the noise stays: d = 5, ΔL = 1: z = 5 - 0.015625 - 0.0196451 = 4.9647299;
        // e00 = 100, e11 = 0.10180158, E·h = [100, 0.10180158]; total = 51.3112402 + 100 + 0.1018016 = 151.4130418;
        // k = [0.66044507, 0.00067234]; 1/C = 0.015625 + 3.2789314 = 3.2945564; m = 0.0196451 + 0.0033380 = 0.0229831.
        let m = filter.update(&sample(100, 5, 1.0), BandwidthUsage::Over);
        assert!((filter.slope() - 3.294_556).abs() < 1e-5, "{}", filter.slope());
        assert!((m - 0.022_983_1).abs() < 1e-6, "{m}");
        // E' = E − k·(E·h)ᵀ: e00 = 100 - 66.044507, e01 = -0.66044507·0.10180158 = -0.06723435.
        assert!((filter.error[0] - 33.955_493).abs() < 1e-5);
        assert!((filter.error[1] + 0.067_234_35).abs() < 1e-6);
    }

    #[test]
    fn a_gradient_that_turns_back_is_followed_faster() {
        let mut filter = TwoStateKalman::new(LIBWEBRTC);
        filter.update(&sample(100, 10, 0.0), BandwidthUsage::Normal);
        filter.update(&sample(100, -10, 0.0), BandwidthUsage::Normal);
        let (before, mut steady) = (filter.error[2], filter.clone());
        // m fell. Over-use: e11 grows by 11·0.001 before the update, otherwise by 0.001.
        steady.update(&sample(100, 0, 0.0), BandwidthUsage::Under);
        filter.update(&sample(100, 0, 0.0), BandwidthUsage::Over);
        let v = filter.noise_variance();
        let posterior = |prior: f64| 1.0 / (1.0 / prior + 1.0 / v);
        assert!((filter.error[2] - posterior(before + 0.011)).abs() < 1e-12);
        assert!((steady.error[2] - posterior(before + 0.001)).abs() < 1e-12);
    }

    #[test]
    fn one_that_turns_back_from_under_use_is_too_and_one_that_stands_is_not() {
        let grown = |gradient: i64, usage: BandwidthUsage| {
            let mut filter = TwoStateKalman::new(LIBWEBRTC);
            filter.update(&sample(100, gradient, 0.0), BandwidthUsage::Normal);
            let before = filter.error[2];
            filter.update(&sample(100, 0, 0.0), usage);
            // The state noise that the posterior shows.
            1.0 / (1.0 / filter.error[2] - 1.0 / filter.noise_variance()) - before
        };
        for (gradient, usage, noise) in [
            (10, BandwidthUsage::Under, 0.011),
            (10, BandwidthUsage::Over, 0.001),
            (-10, BandwidthUsage::Under, 0.001),
            (-10, BandwidthUsage::Over, 0.011),
            (0, BandwidthUsage::Under, 0.001),
            (0, BandwidthUsage::Over, 0.001),
        ] {
            assert!((grown(gradient, usage) - noise).abs() < 1e-9, "{gradient} {usage:?}");
        }
    }

    #[test]
    fn sizes_explain_their_share_of_the_delay() {
        // 1 Mbit/s: 0.008 ms per byte, no queue: d = 0.008·ΔL, sizes ±500 in turn.
        let mut filter = TwoStateKalman::new(LIBWEBRTC);
        for n in 0..2000 {
            let sign = if n % 2 == 0 { 1 } else { -1 };
            filter.update(&sample(33, 4 * sign, 500.0 * sign as f64), BandwidthUsage::Normal);
        }
        assert!((filter.slope() - 0.008).abs() < 1e-4, "{}", filter.slope());
        assert!(filter.estimate().abs() < 0.05, "{}", filter.estimate());
    }

    #[test]
    fn sizes_that_change_by_the_same_hide_the_capacity() {
        // 1 Mbit/s, 0.008 ms per byte, and a queue that grows by 2 ms a sample. By +500 and −500 bytes in turn d =
        // ±4 + 2; by +500 each time d = 6, whose share of capacity cannot be determined (gcc-2016, proposition 1).
        let run = |size_of: fn(u32) -> i64| {
            let mut filter = TwoStateKalman::new(LIBWEBRTC);
            for n in 0..4000 {
                let sign = size_of(n);
                filter.update(&sample(33, 4 * sign + 2, 500.0 * sign as f64), BandwidthUsage::Normal);
            }
            (filter.slope(), filter.estimate())
        };
        let (slope, gradient) = run(|n| if n % 2 == 0 { 1 } else { -1 });
        assert!((slope - 0.008).abs() < 1e-4 && (gradient - 2.0).abs() < 0.05, "{slope} {gradient}");
        let (slope, gradient) = run(|_| 1);
        assert!((500.0 * slope + gradient - 6.0).abs() < 0.05, "{slope} {gradient}");
        assert!((slope - 0.008).abs() > 0.002, "the capacity is found by chance: {slope}");
    }

    #[test]
    fn the_wildest_samples_leave_the_filter_sound() {
        let mut filter = TwoStateKalman::new(LIBWEBRTC);
        for (n, size_delta) in [1e19, -1e19, 1.0, 1e19, 0.0, -1e19].into_iter().cycle().take(600).enumerate()
        {
            let extreme = BurstSample {
                inter_departure: TimeDelta::from_nanos(if n % 2 == 0 { i64::MAX } else { i64::MIN }),
                inter_arrival: TimeDelta::from_nanos(if n % 3 == 0 { i64::MIN } else { i64::MAX }),
                size_delta,
                arrival: ArrivalTime::ZERO,
            };
            assert!(filter.update(&extreme, BandwidthUsage::Normal).is_finite());
            assert!(filter.is_sound());
        }
    }
}
