//! Constants of the receiver-side GCC (gcc-2016).

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, at_least_one, check, positive, ratio, span};
use crate::gcc::blocks::detector::DetectorConfig;
use crate::gcc::blocks::kalman::KalmanConfig;
use crate::gcc::blocks::loss::LossConfig;
use crate::gcc::blocks::noise::{Averaging, NoiseConfig, Outliers};
use crate::gcc::blocks::rate_control::{IncreasePer, RateControlConfig};
use crate::gcc::blocks::threshold::{AdaptiveThreshold, Threshold};

/// Messages on which `A_s` may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum GrowOn {
    /// On receiver reports only.
    Report,
    /// On receiver reports and on REMB, with the last known loss ratio.
    ReportAndRemb,
}

/// Constants of gcc-2016; [`Config::default`] is the variant `gcc-2016`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `Q`, state noise variance of the Kalman filter in ms². gcc-2016 eq. (15).
    pub state_noise: f64,
    /// `β`, weight of the old noise variance, in [0, 1]. gcc-2016 §4.1.2.
    pub noise_averaging: f64,
    /// `P(0)` in ms². gcc-2016 §4.1.2.
    pub initial_error: f64,
    /// `σ²_n(0)` in ms². libwebrtc; not in the paper.
    pub initial_noise: f64,
    /// Lowest `σ²_n` in ms². draft-ietf-rmcat-gcc-02.
    pub noise_floor: f64,
    /// Greatest number of samples by which the gradient is multiplied before the comparison with γ; 1 for no factor.
    /// libwebrtc.
    pub scale_cap: u32,
    /// A fixed γ in ms (as compared, i.e. scaled) instead of the adaptive one. gcc-2016 fig. 9a.
    pub static_threshold: Option<f64>,
    /// `γ(0)` in ms. draft-ietf-rmcat-gcc-02.
    pub initial_threshold: f64,
    /// `k_u` in 1/ms. gcc-2016 §4.2.
    pub threshold_gain_up: f64,
    /// `k_d` in 1/ms. gcc-2016 §4.2.
    pub threshold_gain_down: f64,
    /// Lowest γ in ms. draft-ietf-rmcat-gcc-02.
    pub threshold_min: f64,
    /// Highest γ in ms. draft-ietf-rmcat-gcc-02.
    pub threshold_max: f64,
    /// Distance above γ in ms from which on it ignores gradients. draft-ietf-rmcat-gcc-02.
    pub threshold_outlier: f64,
    /// The time above γ after which over-use is signalled. gcc-2016 §3.3.
    pub overuse_time: TimeDelta,
    /// `η`, increase factor, above 1. gcc-2016 §3.3.
    pub increase: f64,
    /// Period to which `η` applies. gcc-2016 eq. (3) reads per frame.
    pub increase_per: IncreasePer,
    /// `α`, decrease factor, in (0, 1). gcc-2016 §3.3.
    pub decrease: f64,
    /// Multiple of the receive rate that bounds `A_r`. gcc-2016 §3.3.
    pub receive_rate_bound: f64,
    /// Window of the receive rate `R`. gcc-2016 §3.3.
    pub rate_window: TimeDelta,
    /// Interval between REMBs. gcc-2016 §3.3.
    pub remb_interval: TimeDelta,
    /// Share of the value sent last, below which a lower `A_r` is sent in a REMB at once. gcc-2016 §3.3.
    pub remb_drop: f64,
    /// Loss ratio below which `A_s` grows. gcc-2016 eq. (5).
    pub loss_low: f64,
    /// Loss ratio above which `A_s` falls. gcc-2016 eq. (5).
    pub loss_high: f64,
    /// Growth factor of `A_s`. gcc-2016 eq. (5).
    pub loss_increase: f64,
    /// Share of the loss ratio by which `A_s` falls. gcc-2016 eq. (5).
    pub loss_decrease: f64,
    /// Messages on which `A_s` may grow. The paper names both; divergence 5.
    pub grow_on: GrowOn,
    /// Whether `A` follows `A_r` until the first decrease. Divergence 6.
    pub fast_start: bool,
    /// Multiple of `A` at which the pacer sends. gcc-2016 §3.5.
    pub pacing_factor: f64,
    /// Whether padding fills up the part of `A` that the encoder leaves free. gcc-2016 §3.5; divergence 12.
    pub padding: bool,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 7.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            state_noise: 1e-3,
            noise_averaging: 0.95,
            initial_error: 0.1,
            initial_noise: 50.0,
            noise_floor: 1.0,
            scale_cap: 60,
            static_threshold: None,
            initial_threshold: 12.5,
            threshold_gain_up: 0.01,
            threshold_gain_down: 0.000_18,
            threshold_min: 6.0,
            threshold_max: 600.0,
            threshold_outlier: 15.0,
            overuse_time: TimeDelta::from_millis(100),
            increase: 1.05,
            increase_per: IncreasePer::Frame,
            decrease: 0.85,
            receive_rate_bound: 1.5,
            rate_window: TimeDelta::from_millis(500),
            remb_interval: TimeDelta::from_secs(1),
            remb_drop: 0.97,
            loss_low: 0.02,
            loss_high: 0.1,
            loss_increase: 1.05,
            loss_decrease: 0.5,
            grow_on: GrowOn::Report,
            fast_start: true,
            pacing_factor: 1.5,
            padding: false,
            feedback_timeout: TimeDelta::from_secs(3),
        }
    }
}

impl Config {
    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let rules = [
            ("state_noise", positive(self.state_noise), "above 0"),
            ("noise_averaging", ratio(self.noise_averaging), "in [0, 1]"),
            ("initial_error", positive(self.initial_error), "above 0"),
            ("initial_noise", positive(self.initial_noise), "above 0"),
            ("noise_floor", amount(self.noise_floor), "0 or above"),
            ("scale_cap", self.scale_cap >= 1, "at least 1"),
            ("static_threshold", self.static_threshold.is_none_or(positive), "above 0"),
            ("initial_threshold", positive(self.initial_threshold), "above 0"),
            ("threshold_gain_up", positive(self.threshold_gain_up), "above 0"),
            ("threshold_gain_down", positive(self.threshold_gain_down), "above 0"),
            ("threshold_min", positive(self.threshold_min), "above 0"),
            ("threshold_max", self.threshold_max >= self.threshold_min, "at least `threshold_min`"),
            ("threshold_outlier", self.threshold_outlier > 0.0, "above 0"),
            ("overuse_time", self.overuse_time >= TimeDelta::ZERO, "0 or longer"),
            ("increase", self.increase > 1.0 && self.increase.is_finite(), "above 1"),
            ("decrease", self.decrease > 0.0 && self.decrease < 1.0, "in (0, 1)"),
            ("receive_rate_bound", self.receive_rate_bound >= 1.0, "at least 1"),
            ("rate_window", span(self.rate_window), "longer than 0"),
            ("remb_interval", self.remb_interval >= TimeDelta::from_millis(1), "at least 1 ms"),
            ("remb_drop", ratio(self.remb_drop), "in [0, 1]"),
            ("loss_low", ratio(self.loss_low), "in [0, 1]"),
            ("loss_high", ratio(self.loss_high) && self.loss_high >= self.loss_low, "in [`loss_low`, 1]"),
            ("loss_increase", at_least_one(self.loss_increase), "at least 1"),
            ("loss_decrease", ratio(self.loss_decrease), "in [0, 1]"),
            ("pacing_factor", self.pacing_factor >= 1.0, "at least 1"),
            ("feedback_timeout", span(self.feedback_timeout), "longer than 0"),
        ];
        check(rules)
    }

    pub(super) fn kalman(&self) -> KalmanConfig {
        let noise = NoiseConfig {
            initial: self.initial_noise,
            floor: self.noise_floor,
            averaging: Averaging::Fixed(self.noise_averaging),
            outliers: Outliers::Keep,
            about_mean: false,
        };
        KalmanConfig { state_noise: self.state_noise, initial_error: self.initial_error, noise }
    }

    pub(super) fn threshold(&self) -> Threshold {
        match self.static_threshold {
            Some(gamma) => Threshold::Static(gamma),
            None => Threshold::adaptive(AdaptiveThreshold {
                initial: self.initial_threshold,
                gain_up: self.threshold_gain_up,
                gain_down: self.threshold_gain_down,
                min: self.threshold_min,
                max: self.threshold_max,
                outlier: self.threshold_outlier,
                max_gap: TimeDelta::from_millis(100),
            }),
        }
    }

    pub(super) fn detector(&self) -> DetectorConfig {
        DetectorConfig { overuse_time: self.overuse_time, ..DetectorConfig::GCC_2016 }
    }

    pub(super) fn rate_control(&self) -> RateControlConfig {
        RateControlConfig {
            increase: self.increase,
            increase_per: self.increase_per,
            decrease: self.decrease,
            bound: self.receive_rate_bound,
            strict_under: false,
        }
    }

    pub(super) fn loss(&self) -> LossConfig {
        LossConfig {
            low: self.loss_low,
            high: self.loss_high,
            increase: self.loss_increase,
            decrease: self.loss_decrease,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let error = Config { decrease: 1.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`decrease` must be in (0, 1)");
        for wrong in [
            Config { state_noise: f64::NAN, ..Config::default() },
            Config { scale_cap: 0, ..Config::default() },
            Config { increase: 1.0, ..Config::default() },
            Config { static_threshold: Some(0.0), ..Config::default() },
            Config { loss_high: 0.01, ..Config::default() },
            Config { rate_window: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
