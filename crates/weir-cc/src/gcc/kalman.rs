//! The Kalman filter that estimates the queuing delay gradient (gcc-2016 §4.1).

/// Scalar Kalman filter: state `m`, the gradient in ms per frame; measurement `d` with noise of unknown variance.
/// gcc-2016 eqs (10)-(16).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ScalarKalman {
    config: KalmanConfig,
    /// `m`, the gradient estimate in ms.
    m: f64,
    /// `P`, the estimate's error variance in ms².
    p: f64,
    /// `σ²_n`, the measurement noise variance in ms².
    noise: f64,
    gain: f64,
}

/// Constants of the filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KalmanConfig {
    /// `Q`, the state noise variance in ms². gcc-2016 eq. (15).
    pub state_noise: f64,
    /// `P(0)`, the initial error variance in ms². gcc-2016 §4.1.2.
    pub initial_error: f64,
    /// `β`, weight of the old noise variance. gcc-2016 eq. (16).
    pub noise_averaging: f64,
    /// `σ²_n(0)` in ms².
    pub initial_noise: f64,
    /// Lower bound of `σ²_n` in ms²; zero for none.
    pub noise_floor: f64,
}

impl ScalarKalman {
    /// A filter that knows nothing yet: `m(0) = 0`.
    pub fn new(config: KalmanConfig) -> Self {
        Self { config, m: 0.0, p: config.initial_error, noise: config.initial_noise, gain: 0.0 }
    }

    /// Takes a measurement `d` in ms and returns the new estimate `m` in ms.
    pub fn update(&mut self, d: f64) -> f64 {
        let innovation = d - self.m;
        let beta = self.config.noise_averaging;
        self.noise = beta * self.noise + (1.0 - beta) * innovation * innovation; // eq. (16)
        self.noise = self.noise.max(self.config.noise_floor);
        let predicted = self.p + self.config.state_noise;
        self.gain = predicted / (predicted + self.noise); // eq. (12)
        self.m = (1.0 - self.gain) * self.m + self.gain * d; // eq. (11)
        self.p = (1.0 - self.gain) * predicted; // eq. (14)
        self.m
    }

    /// Forgets the gradient but not what was learnt of the noise.
    pub fn restart(&mut self) {
        self.m = 0.0;
        self.p = self.config.initial_error;
    }

    /// `m`, the gradient estimate in ms.
    pub fn estimate(&self) -> f64 {
        self.m
    }

    /// `K`, the gain of the last update.
    pub fn gain(&self) -> f64 {
        self.gain
    }

    /// `σ²_n`, the measurement noise variance in ms².
    pub fn noise_variance(&self) -> f64 {
        self.noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAPER: KalmanConfig = KalmanConfig {
        state_noise: 1e-3,
        initial_error: 0.1,
        noise_averaging: 0.95,
        initial_noise: 50.0,
        noise_floor: 0.0,
    };

    #[test]
    fn five_steps_by_hand() {
        // d = 5, -2, 3, 3, 0. Step 1: z = 5; σ² = 0.95·50 + 0.05·25 = 48.75; P+Q = 0.101;
        // K = 0.101 / 48.851 = 0.0020675114; m = 0.010337557; P = 0.101·(1 - K) = 0.10079118.
        // Step 2: z = -2.010337557; σ² = 46.3125 + 0.05·4.04145709 = 46.51457285; P+Q = 0.10179118;
        // K = 0.10179118 / 46.61636404 = 0.00218359; m = 0.010337557 - K·2.010337557 = 0.00594780.
        let mut filter = ScalarKalman::new(PAPER);
        assert!((filter.update(5.0) - 0.010_337_557_1).abs() < 1e-9);
        assert!((filter.gain() - 0.002_067_511_4).abs() < 1e-9);
        assert!((filter.update(-2.0) - 0.005_947_797).abs() < 1e-8);
        // Steps 3 to 5 in the information form, which shares no line with the filter's update:
        // 1/P' = 1/(P+Q) + 1/σ²;  m' = P'·(m/(P+Q) + d/σ²).
        let (mut m, mut p, mut v) = (filter.m, filter.p, filter.noise);
        for d in [3.0, 3.0, 0.0] {
            v = 0.95 * v + 0.05 * (d - m) * (d - m);
            let prior = p + 1e-3;
            p = 1.0 / (1.0 / prior + 1.0 / v);
            m = p * (m / prior + d / v);
            assert!((filter.update(d) - m).abs() < 1e-9);
        }
    }

    #[test]
    fn without_noise_the_filter_follows_and_without_uncertainty_it_ignores() {
        let mut sure =
            ScalarKalman::new(KalmanConfig { initial_noise: 1e-12, noise_averaging: 1.0, ..PAPER });
        sure.update(4.0);
        assert!(sure.gain() > 0.999_999);
        let certain = KalmanConfig { state_noise: 0.0, initial_error: 1e-15, noise_averaging: 1.0, ..PAPER };
        let mut stubborn = ScalarKalman::new(certain);
        stubborn.update(4.0);
        assert!(stubborn.gain() < 1e-12);
    }

    #[test]
    fn the_floor_keeps_the_gain_below_one_on_a_path_without_noise() {
        let mut filter = ScalarKalman::new(KalmanConfig { noise_floor: 1.0, ..PAPER });
        for _ in 0..10_000 {
            filter.update(0.0);
        }
        assert_eq!(filter.noise_variance(), 1.0);
        assert!(filter.gain() < 0.04);
    }
}
