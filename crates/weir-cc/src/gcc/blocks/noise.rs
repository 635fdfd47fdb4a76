//! The variance of the measurement noise, which sets a Kalman filter's gain (gcc-2016 eq. (16),
//! draft-ietf-rmcat-gcc-02 §5.3).

use weir_units::TimeDelta;

use crate::parts::filters::WindowedMin;

/// Frames per second for which the averaging weights of [`Averaging::ByTime`] are meant.
const FRAMES_PER_SECOND: f64 = 30.0;
/// Number of standard deviations above which an innovation is an outlier. draft-ietf-rmcat-gcc-02 §5.3.
const OUTLIER_DEVIATIONS: f64 = 3.0;

/// Weight of the old variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Averaging {
    /// `β`, the same for each sample. gcc-2016 eq. (16).
    Fixed(f64),
    /// `(1 − χ)^(30·ΔT_min)`: the more frequent the samples, the less each of them weighs. draft-ietf-rmcat-gcc-02
    /// §5.3.
    ByTime(ByTime),
}

/// Constants of [`Averaging::ByTime`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ByTime {
    /// `χ` at the start, in [0.001, 0.1]. libwebrtc: 0.01.
    pub chi_start: f64,
    /// Number of samples for which `χ` is the start value. libwebrtc: 300.
    pub start: u32,
    /// `χ` after the start. libwebrtc: 0.002.
    pub chi: f64,
    /// `K`: number of samples whose smallest inter-departure time is `ΔT_min`. libwebrtc: 60.
    pub window: usize,
}

#[cfg(test)]
impl ByTime {
    /// `χ` and `K` of libwebrtc, within the range that the draft gives for `χ`; the draft leaves `K` open.
    pub(crate) const LIBWEBRTC: Self = Self { chi_start: 0.01, start: 300, chi: 0.002, window: 60 };
}

/// Treatment of outliers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outliers {
    /// An outlier counts in full. gcc-2016.
    Keep,
    /// A positive outlier counts as three standard deviations. draft-ietf-rmcat-gcc-02 §5.3.
    ClampAbove,
    /// An outlier counts as three standard deviations, whatever its sign. libwebrtc.
    Clamp,
}

/// Rules for the estimation of the noise variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoiseConfig {
    /// `σ²_n(0)` in ms².
    pub initial: f64,
    /// Lower bound of `σ²_n` in ms²; zero for none.
    pub floor: f64,
    /// Weight of the old variance.
    pub averaging: Averaging,
    /// Treatment of outliers.
    pub outliers: Outliers,
    /// Whether the mean of the noise is estimated and subtracted (libwebrtc).
    pub about_mean: bool,
}

/// The noise variance `σ²_n`.
#[derive(Clone, Debug)]
pub(crate) struct NoiseVariance {
    config: NoiseConfig,
    variance: f64,
    mean: f64,
    /// Number of samples so far, at most that of the start.
    samples: u32,
    /// Inter-departure times of the last samples, without those that left together.
    periods: WindowedMin<TimeDelta>,
    /// Inputs of the last weight, and the weight.
    weight: Option<(TimeDelta, bool, f64)>,
}

impl NoiseVariance {
    /// An estimate without any sample.
    pub(crate) fn new(config: NoiseConfig) -> Self {
        let window = match config.averaging {
            Averaging::Fixed(_) => 1,
            Averaging::ByTime(by_time) => by_time.window,
        };
        Self {
            config,
            variance: config.initial,
            mean: 0.0,
            samples: 0,
            periods: WindowedMin::new(window),
            weight: None,
        }
    }

    /// `σ²_n` in ms².
    pub(crate) fn variance(&self) -> f64 {
        self.variance
    }

    /// Takes a sample that left `inter_departure` after the previous one. A sample that left together with the
    /// previous one does not count for the frequency of samples.
    pub(crate) fn on_sample(&mut self, inter_departure: TimeDelta) {
        self.samples = self.samples.saturating_add(1);
        if inter_departure > TimeDelta::ZERO {
            self.periods.push(inter_departure);
        }
    }

    /// Takes the innovation of that sample, in ms.
    pub(crate) fn on_innovation(&mut self, innovation: f64) {
        let beta = self.weight();
        let z = self.without_outlier(innovation);
        if self.config.about_mean {
            self.mean = beta * self.mean + (1.0 - beta) * z;
        }
        let deviation = z - self.mean;
        let variance = beta * self.variance + (1.0 - beta) * deviation * deviation; // eq. (16)
        self.variance = variance.max(self.config.floor);
    }

    /// Forgets everything.
    pub(crate) fn reset(&mut self) {
        self.variance = self.config.initial;
        self.mean = 0.0;
        self.samples = 0;
        self.periods.clear();
    }

    fn without_outlier(&self, innovation: f64) -> f64 {
        let bound = OUTLIER_DEVIATIONS * libm::sqrt(self.variance);
        match self.config.outliers {
            Outliers::Keep => innovation,
            Outliers::ClampAbove => innovation.min(bound),
            Outliers::Clamp => innovation.clamp(-bound, bound),
        }
    }

    fn weight(&mut self) -> f64 {
        let by_time = match self.config.averaging {
            Averaging::Fixed(beta) => return beta,
            Averaging::ByTime(by_time) => by_time,
        };
        let period = self.periods.min().unwrap_or(TimeDelta::ZERO);
        let starting = self.samples <= by_time.start;
        match self.weight {
            Some((of_period, of_start, weight)) if (of_period, of_start) == (period, starting) => weight,
            _ => {
                let chi = if starting { by_time.chi_start } else { by_time.chi };
                // α(i) of draft-ietf-rmcat-gcc-02 §5.3
                let weight = libm::pow(1.0 - chi, FRAMES_PER_SECOND * period.secs_f64());
                self.weight = Some((period, starting, weight));
                weight
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAFT: NoiseConfig = NoiseConfig {
        initial: 50.0,
        floor: 1.0,
        averaging: Averaging::ByTime(ByTime::LIBWEBRTC),
        outliers: Outliers::ClampAbove,
        about_mean: false,
    };

    /// The variance after one sample of this innovation in ms.
    fn after(config: NoiseConfig, innovation: f64, period_ms: i64) -> f64 {
        let mut noise = NoiseVariance::new(config);
        noise.on_sample(TimeDelta::from_millis(period_ms));
        noise.on_innovation(innovation);
        noise.variance()
    }

    #[test]
    fn the_weight_follows_the_time_between_samples() {
        // 100 ms: α = 0.99^(30·0.1) = 0.99³ = 0.970299; 0.970299·50 + 0.029701·100 = 51.48505.
        assert!((after(DRAFT, 10.0, 100) - 51.485_05).abs() < 1e-9);
        // 200 ms: α = 0.99⁶ = 0.941480149…; 0.941480149·50 + 0.058519851·100 = 52.92599.
        assert!((after(DRAFT, 10.0, 200) - 52.925_992_5).abs() < 1e-6);
    }

    #[test]
    fn the_shortest_of_the_last_periods_counts_and_none_of_no_length() {
        let mut noise = NoiseVariance::new(DRAFT);
        for ms in [300, 100, 0, 200] {
            noise.on_sample(TimeDelta::from_millis(ms));
        }
        noise.on_innovation(10.0);
        assert!((noise.variance() - 51.485_05).abs() < 1e-9);
        // 60 samples later the 100 ms are forgotten: α = 0.99⁶.
        (0..60).for_each(|_| noise.on_sample(TimeDelta::from_millis(200)));
        let before = noise.variance();
        noise.on_innovation(0.0);
        assert!((noise.variance() - 0.941_480_149 * before).abs() < 1e-6);
    }

    #[test]
    fn the_start_is_three_hundred_samples() {
        let mut noise = NoiseVariance::new(DRAFT);
        (0..300).for_each(|_| noise.on_sample(TimeDelta::from_millis(100)));
        // 0.99³ as for the first one.
        noise.on_innovation(10.0);
        assert!((noise.variance() - 51.485_05).abs() < 1e-9);
    }

    #[test]
    fn a_reset_state_equals_a_new_one() {
        let config = NoiseConfig { about_mean: true, ..DRAFT };
        let mut noise = NoiseVariance::new(config);
        (0..400).for_each(|_| noise.on_sample(TimeDelta::from_millis(10)));
        noise.on_innovation(30.0);
        noise.reset();
        noise.on_sample(TimeDelta::from_millis(100));
        noise.on_innovation(10.0);
        assert_eq!(noise.variance(), after(config, 10.0, 100));
    }

    #[test]
    fn after_the_start_the_average_is_slower() {
        let mut noise = NoiseVariance::new(DRAFT);
        (0..301).for_each(|_| noise.on_sample(TimeDelta::from_millis(100)));
        // 0.998³ = 0.994011992; ·50 + 0.005988008·100 = 50.2994004.
        noise.on_innovation(10.0);
        assert!((noise.variance() - 50.299_400_4).abs() < 1e-6);
    }

    #[test]
    fn outliers_count_three_standard_deviations_above_or_on_both_sides() {
        let both = NoiseConfig { outliers: Outliers::Clamp, ..DRAFT };
        let none = NoiseConfig { outliers: Outliers::Keep, ..DRAFT };
        // (3σ)² = 450: 0.970299·50 + 0.029701·450 = 61.8804. As it is, 100² : 48.51495 + 297.01 = 345.52495.
        for (config, above, below) in
            [(DRAFT, 61.8804, 345.524_95), (both, 61.8804, 61.8804), (none, 345.524_95, 345.524_95)]
        {
            assert!((after(config, 100.0, 100) - above).abs() < 1e-9);
            assert!((after(config, -100.0, 100) - below).abs() < 1e-9);
        }
    }

    #[test]
    fn the_mean_of_the_noise_is_taken_off_where_asked() {
        // mean = 0.029701·10 = 0.29701; 0.970299·50 + 0.029701·(0.29701 - 10)² = 48.51495 + 2.7962902 = 51.3112402.
        let config = NoiseConfig { about_mean: true, ..DRAFT };
        assert!((after(config, 10.0, 100) - 51.311_240_2).abs() < 1e-6);
    }

    #[test]
    fn a_fixed_weight_and_the_floor() {
        // 0.95·50 + 0.05·25 = 48.75.
        let fixed = NoiseConfig { averaging: Averaging::Fixed(0.95), ..DRAFT };
        assert!((after(fixed, 5.0, 7) - 48.75).abs() < 1e-12);
        assert_eq!(after(NoiseConfig { initial: 1.01, ..fixed }, 0.0, 7), 1.0);
    }
}
