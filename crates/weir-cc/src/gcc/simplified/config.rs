//! Constants of the simplified GCC.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, at_least_one, check, positive, ratio, span, weight};
use crate::gcc::blocks::detector::{DetectorConfig, FirstShare};
use crate::gcc::blocks::rate_control::{IncreasePer, RateControlConfig};

/// Times at which the rate is computed. Divergence 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum UpdateTimes {
    /// With each packet; growth is spread over time.
    Continuous,
    /// Once per REMB interval, by the newest packet.
    Tick,
}

/// Constants of the simplified GCC; [`Config::default`] is dccc-2017, appendix C-B.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `η`, increase factor per second, above 1. dccc-2017 appendix C-B.
    pub increase: f64,
    /// `α`, decrease factor, in (0, 1). dccc-2017 appendix C-B.
    pub decrease: f64,
    /// `γ`, threshold of the gradient in ms per packet, above 0. dccc-2017 appendix C-B.
    pub threshold: f64,
    /// Greatest difference of the sizes of two packets with a gradient, as a share, in [0, 1]. Divergence 5.
    pub size_tolerance: f64,
    /// Interval between REMBs, at least 1 ms. dccc-2017 appendix C-B.
    pub remb_interval: TimeDelta,
    /// Share of the value sent last, in (0, 1], below which a lower rate is sent in a REMB at once; `None` for never.
    /// Divergence 2.
    pub remb_drop: Option<f64>,
    /// Times at which the rate is computed. Divergence 1.
    pub update: UpdateTimes,
    /// Whether a decrease continues until under-use. Divergence 3.
    pub strict_under: bool,
    /// Window of the receive rate `R`, longer than 0. Divergence 4.
    pub rate_window: TimeDelta,
    /// Multiple of `R` that bounds the rate, at least 1. Divergence 4.
    pub receive_rate_bound: f64,
    /// Feedback timeout without a REMB, after which the rate is halved, and then each second; longer than 0.
    /// Divergence 7.
    pub feedback_timeout: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            increase: 1.2,
            decrease: 0.9,
            threshold: 0.4,
            size_tolerance: 0.01,
            remb_interval: TimeDelta::from_secs(1),
            remb_drop: Some(0.97),
            update: UpdateTimes::Continuous,
            strict_under: false,
            rate_window: TimeDelta::from_millis(500),
            receive_rate_bound: 1.5,
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
            ("increase", self.increase > 1.0 && self.increase.is_finite(), "above 1"),
            ("decrease", self.decrease > 0.0 && self.decrease < 1.0, "in (0, 1)"),
            ("threshold", positive(self.threshold), "above 0"),
            ("size_tolerance", ratio(self.size_tolerance), "in [0, 1]"),
            ("remb_interval", self.remb_interval >= TimeDelta::from_millis(1), "at least 1 ms"),
            ("remb_drop", self.remb_drop.is_none_or(weight), "in (0, 1]"),
            ("rate_window", span(self.rate_window), "longer than 0"),
            ("receive_rate_bound", at_least_one(self.receive_rate_bound), "at least 1"),
            ("feedback_timeout", span(self.feedback_timeout), "longer than 0"),
        ];
        check(rules)
    }

    /// A detector that signals over-use as soon as a gradient is above the threshold.
    pub(super) const fn detector() -> DetectorConfig {
        DetectorConfig {
            overuse_time: TimeDelta::ZERO,
            first_share: FirstShare::All,
            min_samples: 1,
            gradient_must_not_fall: false,
        }
    }

    pub(super) fn rate_control(&self) -> RateControlConfig {
        RateControlConfig {
            increase: self.increase,
            increase_per: IncreasePer::Second,
            decrease: self.decrease,
            bound: self.receive_rate_bound,
            strict_under: self.strict_under,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let error = Config { threshold: 0.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`threshold` must be above 0");
        for wrong in [
            Config { increase: 1.0, ..Config::default() },
            Config { decrease: f64::NAN, ..Config::default() },
            Config { decrease: 1.0, ..Config::default() },
            Config { size_tolerance: -0.1, ..Config::default() },
            Config { remb_drop: Some(0.0), ..Config::default() },
            Config { remb_interval: TimeDelta::ZERO, ..Config::default() },
            Config { receive_rate_bound: 0.5, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
