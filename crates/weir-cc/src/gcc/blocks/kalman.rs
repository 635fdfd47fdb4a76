//! The Kalman filter that estimates the gradient of the queuing delay.
//!
//! Source: Carlucci, De Cicco, Holmer, Mascolo, "Analysis and Design of the Google Congestion Control for Web Real-time
//! Communication (WebRTC)", MMSys 2016 ("gcc-2016") §4.1, and draft-ietf-rmcat-gcc-02 §5.3.

use weir_units::TimeDelta;

use super::noise::{NoiseConfig, NoiseVariance};

/// Scalar Kalman filter. Its state `m` is the gradient in ms per frame, and its measurement `d` has noise of unknown
/// variance. gcc-2016 eqs (10)-(16); the draft's filter differs in its estimate of the noise.
#[derive(Clone, Debug)]
pub(crate) struct ScalarKalman {
    config: KalmanConfig,
    /// `m`, the gradient estimate in ms.
    m: f64,
    /// `P`, the estimate's error variance in ms².
    p: f64,
    /// `σ²_n`, the variance of the measurement noise.
    noise: NoiseVariance,
    /// `K`, the gain of the last update.
    gain: f64,
}

/// Constants of the filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct KalmanConfig {
    /// `Q`, the state noise variance in ms². gcc-2016 eq. (15).
    pub state_noise: f64,
    /// `P(0)`, the initial error variance in ms². gcc-2016 §4.1.2.
    pub initial_error: f64,
    /// Estimation of the measurement noise variance.
    pub noise: NoiseConfig,
}

impl ScalarKalman {
    /// A filter without any measurement: `m(0) = 0`.
    pub(crate) fn new(config: KalmanConfig) -> Self {
        Self { config, m: 0.0, p: config.initial_error, noise: NoiseVariance::new(config.noise), gain: 0.0 }
    }

    /// Takes a measurement `d` in ms of a sample that left `inter_departure` after the one before; returns the new
    /// estimate `m` in ms.
    pub(crate) fn update(&mut self, d: f64, inter_departure: TimeDelta) -> f64 {
        self.noise.on_sample(inter_departure);
        self.noise.on_innovation(d - self.m); // eq. (16)
        let predicted = self.p + self.config.state_noise;
        self.gain = predicted / (predicted + self.noise.variance()); // eq. (12)
        self.m = (1.0 - self.gain) * self.m + self.gain * d; // eq. (11)
        self.p = (1.0 - self.gain) * predicted; // eq. (14)
        self.m
    }

    /// Forgets the gradient but keeps the noise variance.
    pub(crate) fn restart(&mut self) {
        self.m = 0.0;
        self.p = self.config.initial_error;
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.restart();
        self.gain = 0.0;
        self.noise.reset();
    }

    /// `K`, the gain of the last update.
    pub(crate) fn gain(&self) -> f64 {
        self.gain
    }

    /// `σ²_n`, the measurement noise variance in ms².
    pub(crate) fn noise_variance(&self) -> f64 {
        self.noise.variance()
    }
}

#[cfg(test)]
mod tests {
    use super::super::noise::{Averaging, ByTime, Outliers};
    use super::*;

    const NOISE: NoiseConfig = NoiseConfig {
        initial: 50.0,
        floor: 0.0,
        averaging: Averaging::Fixed(0.95),
        outliers: Outliers::Keep,
        about_mean: false,
    };
    const PAPER: KalmanConfig = KalmanConfig { state_noise: 1e-3, initial_error: 0.1, noise: NOISE };
    const FRAME: TimeDelta = TimeDelta::from_millis(33);

    #[test]
    fn five_steps_by_hand() {
        // d = 5, -2, 3, 3, 0. Step 1: z = 5; σ² = 0.95·50 + 0.05·25 = 48.75; P+Q = 0.101;
        // K = 0.101 / 48.851 = 0.0020675114; m = 0.010337557; P = 0.101·(1 - K) = 0.10079118.
        // Step 2: z = -2.010337557; σ² = 46.3125 + 0.05·4.04145709 = 46.51457285; P+Q = 0.10179118;
        // K = 0.10179118 / 46.61636404 = 0.00218359; m = 0.010337557 - K·2.010337557 = 0.00594780.
        let mut filter = ScalarKalman::new(PAPER);
        assert!((filter.update(5.0, FRAME) - 0.010_337_557_1).abs() < 1e-9);
        assert!((filter.gain() - 0.002_067_511_4).abs() < 1e-9);
        assert!((filter.update(-2.0, FRAME) - 0.005_947_797).abs() < 1e-8);
        // Steps 3 to 5 in the information form, which shares no line with the filter's update:
        // 1/P' = 1/(P+Q) + 1/σ²;  m' = P'·(m/(P+Q) + d/σ²).
        let (mut m, mut p, mut v) = (filter.m, filter.p, filter.noise_variance());
        for d in [3.0, 3.0, 0.0] {
            v = 0.95 * v + 0.05 * (d - m) * (d - m);
            let prior = p + 1e-3;
            p = 1.0 / (1.0 / prior + 1.0 / v);
            m = p * (m / prior + d / v);
            assert!((filter.update(d, FRAME) - m).abs() < 1e-9);
        }
    }

    #[test]
    fn five_steps_to_nine_digits() {
        // Eqs (16), (12), (11) and (14) in fractions, by none of the code here: d, σ², K and m of each step.
        let steps = [
            (4.0, 48.3, 0.002_086_733_745_171, 0.008_346_934_980_682),
            (-3.0, 46.337_507_564_060, 0.002_191_877_287_063, 0.001_753_007_662_294),
            (6.0, 45.819_580_534_912, 0.002_233_478_567_898, 0.015_149_963_764_636),
            (2.0, 43.725_582_991_483, 0.002_357_736_650_010, 0.019_829_717_439_841),
            (-5.0, 42.799_238_361_514, 0.002_426_231_373_300, 0.007_650_449_090_767),
        ];
        let mut filter = ScalarKalman::new(PAPER);
        for (d, variance, gain, m) in steps {
            let ours = (filter.update(d, FRAME), filter.gain(), filter.noise_variance());
            for (ours, by_hand) in [(ours.0, m), (ours.1, gain), (ours.2, variance)] {
                assert!((ours - by_hand).abs() < 1e-9, "{ours}, {by_hand} at d = {d}");
            }
        }
        // P = (1 − K)·(P + Q) of the last step.
        assert!((filter.p - 0.103_840_854_866_030).abs() < 1e-9);
    }

    #[test]
    fn without_noise_the_filter_follows_and_without_uncertainty_it_ignores() {
        let fixed = NoiseConfig { averaging: Averaging::Fixed(1.0), ..NOISE };
        let noiseless = NoiseConfig { initial: 1e-12, ..fixed };
        let mut sure = ScalarKalman::new(KalmanConfig { noise: noiseless, ..PAPER });
        sure.update(4.0, FRAME);
        assert!(sure.gain() > 0.999_999);
        let certain = KalmanConfig { state_noise: 0.0, initial_error: 1e-15, noise: fixed };
        let mut stubborn = ScalarKalman::new(certain);
        stubborn.update(4.0, FRAME);
        assert!(stubborn.gain() < 1e-12);
    }

    #[test]
    fn the_floor_keeps_the_gain_below_one_on_a_path_without_noise() {
        let mut filter =
            ScalarKalman::new(KalmanConfig { noise: NoiseConfig { floor: 1.0, ..NOISE }, ..PAPER });
        for _ in 0..10_000 {
            filter.update(0.0, FRAME);
        }
        assert_eq!(filter.noise_variance(), 1.0);
        assert!(filter.gain() < 0.04);
    }

    #[test]
    fn the_drafts_form_bounds_outliers_and_weighs_by_time() {
        let noise = NoiseConfig {
            floor: 1.0,
            averaging: Averaging::ByTime(ByTime::LIBWEBRTC),
            outliers: Outliers::ClampAbove,
            ..NOISE
        };
        let mut filter = ScalarKalman::new(KalmanConfig { noise, ..PAPER });
        // ΔT = 100 ms, d = 100: z' = 3·√50, σ² = 0.99³·50 + (1 - 0.99³)·450 = 61.8804; K = 0.101/61.9814 =
        // 0.00162952; m = 0.162952 by the whole d; P = 0.101·(1 - K) = 0.10083542.
        assert!((filter.update(100.0, TimeDelta::from_millis(100)) - 0.162_952).abs() < 1e-6);
        assert!((filter.noise_variance() - 61.8804).abs() < 1e-9);
        // d = -3: z = -3.162952, σ² = 0.970299·61.8804 + 0.029701·10.0042654 = 60.3396276; P+Q = 0.10183542;
        // K = 0.10183542/60.441463 = 0.00168486; m = 0.162952 - K·3.162952 = 0.1576229.
        assert!((filter.update(-3.0, TimeDelta::from_millis(100)) - 0.157_622_9).abs() < 1e-6);
        assert!((filter.noise_variance() - 60.339_628).abs() < 1e-5);
    }
}
