//! Every constant of nada-2016.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, check, not_negative, positive, span};
use crate::nada::config::{NadaPacing, log_rules};

/// Origin of rates in the gradual update. Divergence 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum OffsetForm {
    /// From 0: at equilibrium `R·x = R_max·x_ref`. nada-vs-gcc-2016 eqs. (4), (9).
    Paper,
    /// From `R_min`: at equilibrium `(R − R_min)·x = w·(R_max − R_min)·x_ref`. zhu-06 eqs. (5) to (7).
    Zhu06,
}

/// Constants of nada-2016; [`Config::default`] is [`Config::nada_2016`]. `R_min` and `R_max` are the rate limits.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `w`, weight of the flow's priority, above 0. zhu-06 eq. (6); ietf-01.
    pub priority: f64,
    /// `x_ref`, reference congestion signal. nada-vs-gcc-2016 §II-A; divergence 3.
    pub reference_congestion: TimeDelta,
    /// `κ`, gain of the gradual update, above 0. ietf-01; divergence 2.
    pub kappa: f64,
    /// `η`, weight of the change against the offset, 0 or above. ietf-01; divergence 2.
    pub eta: f64,
    /// `τ`, upper bound of the round-trip time. zhu-06.
    pub tau: TimeDelta,
    /// `Δ`, interval between reports. nada-vs-gcc-2016 §II-A.
    pub feedback_interval: TimeDelta,
    /// Window of loss and receive rate. nada-vs-gcc-2016 §II-A.
    pub log_window: TimeDelta,
    /// Samples of which the median is taken, 1 to 1000. nada-vs-gcc-2016 §II-A.
    pub median_filter: u32,
    /// `α`, weight of the old value in the exponential filter, in [0, 1). nada-vs-gcc-2016 §II-A.
    pub smoothing: f64,
    /// `QTH`, delay from which warping begins. nada-vs-gcc-2016 fig. 2, zhu-06 §4.3.
    pub warp_threshold: TimeDelta,
    /// `QMAX`, delay that is warped to zero, above `QTH`. nada-vs-gcc-2016 fig. 2, zhu-06 §4.3.
    pub warp_end: TimeDelta,
    /// `D_loss`, delay penalty at a loss ratio of 1. nada-vs-gcc-2016 §II-A.
    pub loss_penalty: TimeDelta,
    /// `D_mark`, delay penalty at a marking ratio of 1. zhu-06 §4.4.
    pub mark_penalty: TimeDelta,
    /// Congestion signal below which the rate ramps up. nada-vs-gcc-2016 §II-A.
    pub ramp_threshold: TimeDelta,
    /// Ramp up only while the filtered delay is below `ramp_threshold` too. Divergence 6.
    pub ramp_guard: bool,
    /// Upper bound of `γ`, largest step of the ramp-up as a ratio. nada-vs-gcc-2016 §II-A.
    pub gamma_max: f64,
    /// `Q̄`, bound on the queue that ramp-up itself may cause. nada-vs-gcc-2016 §II-A.
    pub queue_bound: TimeDelta,
    /// Origin of rates in the gradual update. Divergence 4.
    pub offset_form: OffsetForm,
    /// The rules of the framework's code: delays in whole ms and rates in whole kbit/s; ramp-up only without loss;
    /// no change of `x_n` in the first report. `γ` follows from the least round-trip time (at most 100 ms) and the
    /// least interval between reports (at most 200 ms). Its bound on the slope, `x'_n < 10 ms/δ_min`, needs no
    /// rule: it follows from `0 ≤ x_n < 10 ms`.
    pub framework: bool,
    /// `1/τ_v`, rate at which the shaping buffer is drained at a gain of 1, in 1/s. ietf-01; divergence 5.
    pub frame_rate: f64,
    /// `β`, gain of the shaping buffer on both rates, 0 or above. nada-vs-gcc-2016 §II-A.
    pub shaping_gain: f64,
    /// Raw queuing delay from which on it means that a clock was set. Divergence 9.
    pub clock_step: TimeDelta,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 9.
    pub feedback_timeout: TimeDelta,
    /// How packets leave. nada-vs-gcc-2016 §II-A.
    pub pacing: NadaPacing,
}

impl Default for Config {
    fn default() -> Self {
        Self::nada_2016()
    }
}

impl Config {
    /// The values printed in the paper; the others are those of the drafts it builds on.
    pub fn nada_2016() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            priority: 1.0,
            reference_congestion: ms(20),
            kappa: 0.5,
            eta: 2.0,
            tau: ms(500),
            feedback_interval: ms(100),
            log_window: ms(500),
            median_filter: 5,
            smoothing: 0.9,
            warp_threshold: ms(50),
            warp_end: ms(400),
            loss_penalty: ms(1000),
            mark_penalty: ms(200),
            ramp_threshold: ms(10),
            ramp_guard: false,
            gamma_max: 0.2,
            queue_bound: ms(50),
            offset_form: OffsetForm::Paper,
            framework: false,
            frame_rate: 30.0,
            shaping_gain: 0.1,
            clock_step: TimeDelta::from_secs(10),
            feedback_timeout: TimeDelta::from_secs(1),
            pacing: NadaPacing::Shaped,
        }
    }

    /// The configuration that fits the paper's tables: `x_ref` 10 ms and κ 1, as in the framework's code, and
    /// packets that leave as the encoder makes them.
    pub fn reproduction() -> Self {
        Self {
            reference_congestion: TimeDelta::from_millis(10),
            kappa: 1.0,
            pacing: NadaPacing::Unpaced,
            ..Self::nada_2016()
        }
    }

    /// The code of the WebRTC simulation framework: its rules, its constants, its pacer.
    pub fn framework() -> Self {
        Self {
            reference_congestion: TimeDelta::from_millis(10),
            kappa: 1.0,
            gamma_max: 0.5,
            offset_form: OffsetForm::Zhu06,
            framework: true,
            pacing: NadaPacing::Factor(2.5),
            ..Self::nada_2016()
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let rules = [
            ("priority", positive(self.priority), "above 0"),
            ("reference_congestion", span(self.reference_congestion), "longer than 0"),
            ("kappa", positive(self.kappa), "above 0"),
            ("eta", amount(self.eta), "0 or above"),
            ("tau", span(self.tau), "longer than 0"),
            ("median_filter", (1..=1000).contains(&self.median_filter), "1 to 1000"),
            ("smoothing", (0.0..1.0).contains(&self.smoothing), "in [0, 1)"),
            ("warp_threshold", span(self.warp_threshold), "longer than 0"),
            ("warp_end", self.warp_end > self.warp_threshold, "longer than `warp_threshold`"),
            ("loss_penalty", not_negative(self.loss_penalty), "0 or longer"),
            ("mark_penalty", not_negative(self.mark_penalty), "0 or longer"),
            ("ramp_threshold", span(self.ramp_threshold), "longer than 0"),
            ("gamma_max", positive(self.gamma_max), "above 0"),
            ("queue_bound", span(self.queue_bound), "longer than 0"),
            ("frame_rate", positive(self.frame_rate), "above 0"),
            ("shaping_gain", amount(self.shaping_gain), "0 or above"),
            ("pacing", self.pacing.is_sound(), "a factor of at least 1"),
        ];
        check(rules.into_iter().chain(log_rules([
            self.feedback_interval,
            self.log_window,
            self.clock_step,
            self.feedback_timeout,
        ])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rejected(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.validate().unwrap_err().to_string()
    }

    #[test]
    fn the_frameworks_code_differs_from_the_paper() {
        let (paper, framework) = (Config::nada_2016(), Config::framework());
        assert_eq!((paper.offset_form, framework.offset_form), (OffsetForm::Paper, OffsetForm::Zhu06));
        assert_eq!((paper.framework, framework.framework), (false, true));
        assert_eq!((framework.gamma_max, paper.gamma_max), (0.5, 0.2));
        assert_eq!((framework.pacing, paper.pacing), (NadaPacing::Factor(2.5), NadaPacing::Shaped));
    }

    #[test]
    fn the_tables_are_reproduced_with_half_the_reference_and_without_a_pacer() {
        let (paper, reproduction) = (Config::nada_2016(), Config::reproduction());
        let reference =
            [&paper, &reproduction, &Config::framework()].map(|config| config.reference_congestion);
        assert_eq!(reference.map(TimeDelta::micros), [20_000, 10_000, 10_000]);
        assert_eq!((reproduction.kappa, reproduction.pacing), (1.0, NadaPacing::Unpaced));
    }

    #[test]
    fn every_configuration_is_within_its_ranges() {
        for config in [Config::nada_2016(), Config::reproduction(), Config::framework()] {
            assert_eq!(config.validate(), Ok(()));
        }
        assert_eq!(Config::default(), Config::nada_2016());
    }

    #[test]
    fn constants_out_of_range_are_named() {
        let zero = TimeDelta::ZERO;
        let negative = TimeDelta::from_nanos(-1);
        assert_eq!(rejected(|c| c.priority = 0.0), "`priority` must be above 0");
        assert_eq!(
            rejected(|c| c.reference_congestion = zero),
            "`reference_congestion` must be longer than 0"
        );
        assert_eq!(rejected(|c| c.kappa = f64::INFINITY), "`kappa` must be above 0");
        assert_eq!(rejected(|c| c.eta = -0.1), "`eta` must be 0 or above");
        assert_eq!(rejected(|c| c.eta = f64::INFINITY), "`eta` must be 0 or above");
        assert_eq!(rejected(|c| c.tau = zero), "`tau` must be longer than 0");
        assert_eq!(
            rejected(|c| c.feedback_interval = TimeDelta::from_micros(999)),
            "`feedback_interval` must be at least 1 ms"
        );
        assert_eq!(
            rejected(|c| c.log_window = TimeDelta::from_millis(99)),
            "`log_window` must be at least `feedback_interval`"
        );
        assert_eq!(rejected(|c| c.median_filter = 0), "`median_filter` must be 1 to 1000");
        assert_eq!(rejected(|c| c.smoothing = 1.0), "`smoothing` must be in [0, 1)");
        assert_eq!(rejected(|c| c.warp_threshold = zero), "`warp_threshold` must be longer than 0");
        assert_eq!(
            rejected(|c| c.warp_end = c.warp_threshold),
            "`warp_end` must be longer than `warp_threshold`"
        );
        assert_eq!(rejected(|c| c.loss_penalty = negative), "`loss_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.mark_penalty = negative), "`mark_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.ramp_threshold = zero), "`ramp_threshold` must be longer than 0");
        assert_eq!(rejected(|c| c.gamma_max = 0.0), "`gamma_max` must be above 0");
        assert_eq!(rejected(|c| c.queue_bound = zero), "`queue_bound` must be longer than 0");
        assert_eq!(rejected(|c| c.frame_rate = f64::NAN), "`frame_rate` must be above 0");
        assert_eq!(rejected(|c| c.shaping_gain = -0.1), "`shaping_gain` must be 0 or above");
        assert_eq!(
            rejected(|c| c.clock_step = c.log_window),
            "`clock_step` must be longer than `log_window`"
        );
        assert_eq!(
            rejected(|c| c.feedback_timeout = c.feedback_interval),
            "`feedback_timeout` must be above `feedback_interval`"
        );
        assert_eq!(
            rejected(|c| c.pacing = NadaPacing::Factor(0.9)),
            "`pacing` must be a factor of at least 1"
        );
    }

    #[test]
    fn the_edges_of_the_ranges_are_within_them() {
        let edge = Config {
            eta: 0.0,
            feedback_interval: TimeDelta::from_millis(1),
            log_window: TimeDelta::from_millis(1),
            median_filter: 1000,
            smoothing: 0.0,
            loss_penalty: TimeDelta::ZERO,
            mark_penalty: TimeDelta::ZERO,
            shaping_gain: 0.0,
            pacing: NadaPacing::Factor(1.0),
            ..Config::default()
        };
        assert_eq!(edge.validate(), Ok(()));
    }
}
