//! Constants of the sender-side GCC.

use weir_units::TimeDelta;

use crate::config_error::{
    ConfigError, Rule, amount, at_least_one, check, not_negative, positive, ratio, span,
};
use crate::gcc::blocks::aimd::AimdConfig;
use crate::gcc::blocks::bursts::BurstConfig;
use crate::gcc::blocks::detector::{DetectorConfig, FirstShare};
use crate::gcc::blocks::kalman::KalmanConfig;
use crate::gcc::blocks::loss::LossConfig;
use crate::gcc::blocks::loss_based_v1::LossV1Config;
use crate::gcc::blocks::loss_count::LossDefinition;
use crate::gcc::blocks::noise::{Averaging, ByTime, NoiseConfig, Outliers};
use crate::gcc::blocks::threshold::{AdaptiveThreshold, Threshold, gains};
use crate::gcc::blocks::two_state::{TwoStateConfig, TwoStateKalman};

/// Packets that form a sample of the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum SampleGrouping {
    /// Packets that leave or arrive together. draft-ietf-rmcat-gcc-02 §5.2.
    Burst,
    /// Each packet. nada-vs-gcc-2016 §II-B, as it is written.
    PerPacket,
}

/// Delay whose gradient is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum DelayOf {
    /// The one-way delay. draft-ietf-rmcat-gcc-02 §5.1.
    OneWay,
    /// The one-way delay and that of the report back, with the time for which the receiver held it: the signal that
    /// gcc-2016 §2 warns against.
    RoundTrip,
}

/// Filter that estimates the gradient.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum FilterForm {
    /// The gradient alone. draft-ietf-rmcat-gcc-02 §5.3.
    Scalar,
    /// Gradient and capacity. nada-vs-gcc-2016 eq. (7), libwebrtc until 2016.
    TwoState,
}

/// Form of the rate control after the detector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum ControlForm {
    /// The rate control of the draft. draft-ietf-rmcat-gcc-02 §5.5.
    Draft,
    /// The rate control of libwebrtc in 2016.
    #[cfg_attr(feature = "serde", serde(rename = "libwebrtc-2016"))]
    Libwebrtc2016,
}

/// Form of the loss-based controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum LossForm {
    /// A change with each report. draft-ietf-rmcat-gcc-02 §6, nada-vs-gcc-2016 eq. (6).
    Paper,
    /// Growth by 8 % per second, and at most one decrease per round trip. libwebrtc until 2021.
    LibwebrtcV1,
}

/// Pace at which packets leave.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum SendSidePacing {
    /// This multiple of `A`, at least 1.
    Factor(f64),
    /// As soon as the encoder makes them.
    Unpaced,
}

/// Constants of the sender-side form; [`Config::default`] is [`Config::draft_02`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// Interval between reports. draft-ietf-rmcat-gcc-02 §3: with each video frame, 30 to 100 ms; nada-vs-gcc-2016
    /// ran with 50 ms.
    pub feedback_interval: TimeDelta,
    /// Delay whose gradient is estimated.
    pub delay_of: DelayOf,
    /// Packets that form a sample.
    pub grouping: SampleGrouping,
    /// `burst_time` of a burst. draft-ietf-rmcat-gcc-02 table 1.
    pub burst_time: TimeDelta,
    /// Filter of the gradient.
    pub filter: FilterForm,
    /// `q`, state noise variance of `m` in ms². draft-ietf-rmcat-gcc-02 table 1.
    pub state_noise: f64,
    /// `e(0)`, initial error variance of `m` in ms². draft-ietf-rmcat-gcc-02 table 1.
    pub initial_error: f64,
    /// `1/C(0)` of the two-state filter in ms per byte. libwebrtc: 8/512, half a Mbit/s.
    pub initial_slope: f64,
    /// State noise variance of `1/C` in (ms/byte)². libwebrtc.
    pub slope_noise: f64,
    /// Initial error variance of `1/C` in (ms/byte)². libwebrtc.
    pub slope_error: f64,
    /// Multiple of the state noise of `m` by which it grows while the gradient turns back. libwebrtc.
    pub turning_noise: f64,
    /// `var_v(0)` in ms². libwebrtc; the draft has none.
    pub initial_noise: f64,
    /// Lowest `var_v` in ms². draft-ietf-rmcat-gcc-02 §5.3.
    pub noise_floor: f64,
    /// `χ` for the first samples, in [0.001, 0.1]. draft-ietf-rmcat-gcc-02 table 1; the value from libwebrtc.
    pub chi_start: f64,
    /// `χ` from then on, in [0.001, 0.1]. draft-ietf-rmcat-gcc-02 table 1; the value from libwebrtc.
    pub chi: f64,
    /// Number of samples that count as the first ones. libwebrtc.
    pub chi_start_samples: u32,
    /// `K`, samples over which `f_max` is sought, 1 to 1000. libwebrtc; the draft has none.
    pub noise_window: u32,
    /// Greatest number of samples by which the gradient is multiplied before the comparison; 1 for no factor.
    /// libwebrtc.
    pub scale_cap: u32,
    /// `del_var_th(0)` in ms. draft-ietf-rmcat-gcc-02 table 1.
    pub initial_threshold: f64,
    /// `K_u` in 1/ms. draft-ietf-rmcat-gcc-02 table 1.
    pub threshold_gain_up: f64,
    /// `K_d` in 1/ms. draft-ietf-rmcat-gcc-02 table 1.
    pub threshold_gain_down: f64,
    /// Lowest `del_var_th` in ms. draft-ietf-rmcat-gcc-02 §5.4.
    pub threshold_min: f64,
    /// Highest `del_var_th` in ms. draft-ietf-rmcat-gcc-02 §5.4.
    pub threshold_max: f64,
    /// Distance above `del_var_th` in ms from which on it ignores gradients. draft-ietf-rmcat-gcc-02 §5.4.
    pub threshold_outlier: f64,
    /// Longest time between two updates of `del_var_th` that counts. libwebrtc.
    pub threshold_gap: TimeDelta,
    /// `overuse_time_th`. draft-ietf-rmcat-gcc-02 table 1.
    pub overuse_time: TimeDelta,
    /// Least number of consecutive samples above the threshold. libwebrtc.
    pub overuse_samples: u32,
    /// Whether over-use needs a gradient that does not fall. draft-ietf-rmcat-gcc-02 §5.4.
    pub gradient_must_not_fall: bool,
    /// Rate control after the detector.
    pub control: ControlForm,
    /// `η`, growth per second, above 1. draft-ietf-rmcat-gcc-02 §5.5.
    pub increase: f64,
    /// `β`, share of `R` after over-use, in (0, 1). draft-ietf-rmcat-gcc-02 table 1.
    pub decrease: f64,
    /// Multiple of `R` up to which `A_r` grows, at least 1. draft-ietf-rmcat-gcc-02 §5.5.
    pub receive_rate_bound: f64,
    /// `T`, window of `R`. draft-ietf-rmcat-gcc-02 table 1: 0.5 to 1 s.
    pub rate_window: TimeDelta,
    /// Controller of losses.
    pub loss: LossForm,
    /// Definition of a lost packet ([`LossForm::Paper`]).
    pub lost: LossDefinition,
    /// Loss ratio below which `A_s` grows. draft-ietf-rmcat-gcc-02 §6.
    pub loss_low: f64,
    /// Loss ratio above which `A_s` falls. draft-ietf-rmcat-gcc-02 §6.
    pub loss_high: f64,
    /// Growth factor of `A_s` with each report ([`LossForm::Paper`]). draft-ietf-rmcat-gcc-02 §6.
    pub loss_increase: f64,
    /// Share of the loss ratio by which `A_s` falls. draft-ietf-rmcat-gcc-02 §6.
    pub loss_decrease: f64,
    /// Pace at which packets leave. draft-ietf-rmcat-gcc-02 §4.
    pub pacing: SendSidePacing,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 8.
    pub feedback_timeout: TimeDelta,
}

impl Config {
    /// draft-ietf-rmcat-gcc-02.
    pub fn draft_02() -> Self {
        let (threshold_gain_up, threshold_gain_down) = gains::DRAFT_02;
        Self {
            feedback_interval: TimeDelta::from_millis(50),
            delay_of: DelayOf::OneWay,
            grouping: SampleGrouping::Burst,
            burst_time: TimeDelta::from_millis(5),
            filter: FilterForm::Scalar,
            state_noise: 1e-3,
            initial_error: 0.1,
            initial_slope: 8.0 / 512.0,
            slope_noise: 1e-13,
            slope_error: 100.0,
            turning_noise: 10.0,
            initial_noise: 50.0,
            noise_floor: 1.0,
            chi_start: 0.01,
            chi: 0.002,
            chi_start_samples: 300,
            noise_window: 60,
            scale_cap: 60,
            initial_threshold: 12.5,
            threshold_gain_up,
            threshold_gain_down,
            threshold_min: 6.0,
            threshold_max: 600.0,
            threshold_outlier: 15.0,
            threshold_gap: TimeDelta::from_millis(100),
            overuse_time: TimeDelta::from_millis(10),
            overuse_samples: 2,
            gradient_must_not_fall: true,
            control: ControlForm::Draft,
            increase: 1.08,
            decrease: 0.85,
            receive_rate_bound: 1.5,
            rate_window: TimeDelta::from_millis(500),
            loss: LossForm::Paper,
            lost: LossDefinition::Reported,
            loss_low: 0.02,
            loss_high: 0.1,
            loss_increase: 1.05,
            loss_decrease: 0.5,
            pacing: SendSidePacing::Factor(1.0),
            feedback_timeout: TimeDelta::from_secs(3),
        }
    }

    /// Carlucci, De Cicco, Ilharco, Mascolo, "Congestion Control for Real-time Communications: a comparison between
    /// NADA and GCC", MED 2016 (nada-vs-gcc-2016): the two-state filter, no pacer, reports each 50 ms. The paper
    /// has no gains of the threshold. Its table I agrees better with the gains that its authors print in gcc-2016
    /// than with those of the libwebrtc of that year (0.004 and 0.00006).
    pub fn nada_vs_gcc_2016() -> Self {
        Self {
            filter: FilterForm::TwoState,
            lost: LossDefinition::Unheard,
            pacing: SendSidePacing::Unpaced,
            ..Self::draft_02()
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check(self.sampling_rules().into_iter().chain(self.rate_rules()))
    }

    /// Rules of the constants from feedback to detector: the name, whether its value is valid, and the valid range.
    fn sampling_rules(&self) -> [Rule; 22] {
        let chi = |v: f64| (0.001..=0.1).contains(&v);
        let milli = TimeDelta::from_millis(1);
        [
            ("feedback_interval", self.feedback_interval >= milli, "at least 1 ms"),
            ("burst_time", not_negative(self.burst_time), "0 or longer"),
            ("state_noise", positive(self.state_noise), "above 0"),
            ("initial_error", positive(self.initial_error), "above 0"),
            ("initial_slope", amount(self.initial_slope), "0 or above"),
            ("slope_noise", amount(self.slope_noise), "0 or above"),
            ("slope_error", amount(self.slope_error), "0 or above"),
            ("turning_noise", amount(self.turning_noise), "0 or above"),
            ("initial_noise", positive(self.initial_noise), "above 0"),
            ("noise_floor", positive(self.noise_floor), "above 0"),
            ("chi_start", chi(self.chi_start), "in [0.001, 0.1]"),
            ("chi", chi(self.chi), "in [0.001, 0.1]"),
            ("noise_window", (1..=1000).contains(&self.noise_window), "in [1, 1000]"),
            ("scale_cap", self.scale_cap >= 1, "at least 1"),
            ("initial_threshold", positive(self.initial_threshold), "above 0"),
            ("threshold_gain_up", positive(self.threshold_gain_up), "above 0"),
            ("threshold_gain_down", positive(self.threshold_gain_down), "above 0"),
            ("threshold_min", positive(self.threshold_min), "above 0"),
            ("threshold_max", self.threshold_max >= self.threshold_min, "at least `threshold_min`"),
            ("threshold_outlier", self.threshold_outlier > 0.0, "above 0"),
            ("threshold_gap", self.threshold_gap > TimeDelta::ZERO, "longer than 0"),
            ("overuse_time", not_negative(self.overuse_time), "0 or longer"),
        ]
    }

    /// Rules of the constants from rate control to pacing.
    fn rate_rules(&self) -> [Rule; 10] {
        let pacing = match self.pacing {
            SendSidePacing::Factor(factor) => at_least_one(factor),
            SendSidePacing::Unpaced => true,
        };
        [
            ("increase", self.increase > 1.0 && self.increase.is_finite(), "above 1"),
            ("decrease", self.decrease > 0.0 && self.decrease < 1.0, "in (0, 1)"),
            ("receive_rate_bound", self.receive_rate_bound >= 1.0, "at least 1"),
            ("rate_window", span(self.rate_window), "longer than 0"),
            ("loss_low", ratio(self.loss_low), "in [0, 1]"),
            ("loss_high", ratio(self.loss_high) && self.loss_high >= self.loss_low, "in [`loss_low`, 1]"),
            ("loss_increase", at_least_one(self.loss_increase), "at least 1"),
            ("loss_decrease", ratio(self.loss_decrease), "in [0, 1]"),
            ("pacing", pacing, "a factor of at least 1"),
            ("feedback_timeout", span(self.feedback_timeout), "longer than 0"),
        ]
    }

    pub(super) fn bursts(&self) -> BurstConfig {
        let burst_time = match self.grouping {
            SampleGrouping::Burst => Some(self.burst_time),
            SampleGrouping::PerPacket => None,
        };
        BurstConfig { burst_time, ..BurstConfig::DRAFT_02 }
    }

    fn noise(&self) -> NoiseConfig {
        let two_state = self.filter == FilterForm::TwoState;
        NoiseConfig {
            initial: self.initial_noise,
            floor: self.noise_floor,
            averaging: Averaging::ByTime(ByTime {
                chi_start: self.chi_start,
                start: self.chi_start_samples,
                chi: self.chi,
                window: self.noise_window as usize,
            }),
            outliers: if two_state { Outliers::Clamp } else { Outliers::ClampAbove },
            about_mean: two_state,
        }
    }

    pub(super) fn scalar(&self) -> KalmanConfig {
        let Self { state_noise, initial_error, .. } = *self;
        KalmanConfig { state_noise, initial_error, noise: self.noise() }
    }

    /// The filter that also estimates the capacity ([`FilterForm::TwoState`]), without any sample.
    pub fn two_state(&self) -> TwoStateKalman {
        TwoStateKalman::new(TwoStateConfig {
            initial_slope: self.initial_slope,
            initial_error: [self.slope_error, self.initial_error],
            state_noise: [self.slope_noise, self.state_noise],
            turning_noise: self.turning_noise,
            noise: self.noise(),
        })
    }

    pub(super) fn threshold(&self) -> Threshold {
        Threshold::adaptive(AdaptiveThreshold {
            initial: self.initial_threshold,
            gain_up: self.threshold_gain_up,
            gain_down: self.threshold_gain_down,
            min: self.threshold_min,
            max: self.threshold_max,
            outlier: self.threshold_outlier,
            max_gap: self.threshold_gap,
        })
    }

    pub(super) fn detector(&self) -> DetectorConfig {
        DetectorConfig {
            overuse_time: self.overuse_time,
            first_share: FirstShare::Half,
            min_samples: self.overuse_samples,
            gradient_must_not_fall: self.gradient_must_not_fall,
        }
    }

    pub(super) fn aimd(&self) -> AimdConfig {
        let form = match self.control {
            ControlForm::Draft => AimdConfig::draft_02(),
            ControlForm::Libwebrtc2016 => AimdConfig::libwebrtc_2016(),
        };
        let Self { increase, decrease, receive_rate_bound: bound_factor, .. } = *self;
        AimdConfig { increase, decrease, bound_factor, ..form }
    }

    pub(super) fn paper_loss(&self) -> LossConfig {
        LossConfig {
            low: self.loss_low,
            high: self.loss_high,
            increase: self.loss_increase,
            decrease: self.loss_decrease,
        }
    }

    pub(super) fn loss_v1(&self) -> LossV1Config {
        let Self { loss_low: low, loss_high: high, loss_decrease: decrease, .. } = *self;
        // The ratio is taken as soon as there are enough packets.
        LossV1Config { low, high, decrease, interval: TimeDelta::ZERO, ..LossV1Config::default() }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self::draft_02()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        for variant in [Config::draft_02(), Config::nada_vs_gcc_2016()] {
            assert_eq!(variant.validate(), Ok(()));
        }
        let error = Config { chi: 0.5, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`chi` must be in [0.001, 0.1]");
        for wrong in [
            Config { state_noise: f64::NAN, ..Config::default() },
            Config { noise_floor: 0.0, ..Config::default() },
            Config { noise_window: 0, ..Config::default() },
            Config { receive_rate_bound: f64::NAN, ..Config::default() },
            Config { loss_high: 0.01, ..Config::default() },
            Config { pacing: SendSidePacing::Factor(0.5), ..Config::default() },
            Config { feedback_interval: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn the_variants_differ_where_their_sources_do() {
        let paper = Config::nada_vs_gcc_2016();
        let draft = Config::draft_02();
        assert_eq!((draft.threshold_gain_up, draft.threshold_gain_down), (0.01, 0.000_18));
        assert_eq!((paper.threshold_gain_up, paper.threshold_gain_down), (0.01, 0.000_18));
        assert_eq!((draft.filter, paper.filter), (FilterForm::Scalar, FilterForm::TwoState));
        assert_eq!(draft.scalar().noise.outliers, Outliers::ClampAbove);
        assert!(paper.noise().about_mean);
    }
}
