//! Every constant of nada-dccc.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, check, not_negative, positive, span, weight};
use crate::nada::config::{NadaPacing, log_rules};

/// Reference of the delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Reference {
    /// The clocks agree: delays are true ones and `x_ref` is the least of them. zhu-03 §5.4, dccc-2017.
    Synchronised,
    /// The clocks may be hours apart: the least delay seen counts as this one, which is `x_ref`.
    Assumed(TimeDelta),
}

/// Constants of nada-dccc; [`Config::default`] is dccc-2017. `R_min` and `R_max` are the rate limits (dccc-2017: 0.1 and
/// 6 Mbit/s).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `w`, weight of the flow's priority, above 0. zhu-03 §5.2.
    pub priority: f64,
    /// `α`, weight of the newest packet in `x_n`, in (0, 1]. dccc-2017, Appendix C-B.
    pub smoothing: f64,
    /// `τ_0`, how far ahead the delay is predicted. dccc-2017, Appendix C-B; divergence 3.
    pub prediction: TimeDelta,
    /// Delay penalty of a lost packet. zhu-03 §5.1.
    pub loss_penalty: TimeDelta,
    /// Delay penalty of a marked packet. zhu-03 §5.1.
    pub mark_penalty: TimeDelta,
    /// Reference of the delay. Divergence 5.
    pub reference: Reference,
    /// Interval between reports. Divergence 4.
    pub feedback_interval: TimeDelta,
    /// `T`, length of the slow start; 0 for none. zhu-03 §6.5; divergence 6.
    pub slow_start: TimeDelta,
    /// Time without packets after which reports stop. Divergence 8.
    pub log_window: TimeDelta,
    /// Raw queuing delay from which on it means that a clock was set. Divergence 8.
    pub clock_step: TimeDelta,
    /// Feedback timeout, after which the rate is halved, and then each second. Divergence 8.
    pub feedback_timeout: TimeDelta,
    /// How packets leave; there is no shaping buffer. Divergence 9.
    pub pacing: NadaPacing,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            priority: 1.0,
            smoothing: 0.001,
            prediction: ms(100),
            loss_penalty: ms(1000),
            mark_penalty: ms(200),
            reference: Reference::Synchronised,
            feedback_interval: ms(100),
            slow_start: ms(10_000),
            log_window: ms(500),
            clock_step: ms(10_000),
            feedback_timeout: ms(1000),
            pacing: NadaPacing::Factor(1.0),
        }
    }
}

impl Config {
    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let reference = match self.reference {
            Reference::Assumed(delay) => span(delay),
            Reference::Synchronised => true,
        };
        let unshaped = self.pacing.is_sound() && self.pacing != NadaPacing::Shaped;
        let rules = [
            ("priority", positive(self.priority), "above 0"),
            ("smoothing", weight(self.smoothing), "in (0, 1]"),
            ("prediction", not_negative(self.prediction), "0 or longer"),
            ("loss_penalty", not_negative(self.loss_penalty), "0 or longer"),
            ("mark_penalty", not_negative(self.mark_penalty), "0 or longer"),
            ("reference", reference, "longer than 0"),
            ("slow_start", not_negative(self.slow_start), "0 or longer"),
            ("pacing", unshaped, "`unpaced` or a factor of at least 1"),
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

    /// The error of the default configuration with `change`.
    fn rejected(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        config.validate().unwrap_err().to_string()
    }

    #[test]
    fn constants_out_of_range_are_named() {
        let (zero, negative) = (TimeDelta::ZERO, TimeDelta::from_nanos(-1));
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(rejected(|c| c.priority = 0.0), "`priority` must be above 0");
        assert_eq!(rejected(|c| c.priority = f64::INFINITY), "`priority` must be above 0");
        assert_eq!(rejected(|c| c.smoothing = 0.0), "`smoothing` must be in (0, 1]");
        assert_eq!(rejected(|c| c.smoothing = 1.1), "`smoothing` must be in (0, 1]");
        assert_eq!(rejected(|c| c.prediction = negative), "`prediction` must be 0 or longer");
        assert_eq!(rejected(|c| c.loss_penalty = negative), "`loss_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.mark_penalty = negative), "`mark_penalty` must be 0 or longer");
        assert_eq!(rejected(|c| c.reference = Reference::Assumed(zero)), "`reference` must be longer than 0");
        assert_eq!(rejected(|c| c.feedback_interval = zero), "`feedback_interval` must be at least 1 ms");
        assert_eq!(rejected(|c| c.slow_start = negative), "`slow_start` must be 0 or longer");
        assert_eq!(rejected(|c| c.log_window = zero), "`log_window` must be at least `feedback_interval`");
        assert_eq!(
            rejected(|c| c.clock_step = c.log_window),
            "`clock_step` must be longer than `log_window`"
        );
        let timeout = "`feedback_timeout` must be above `feedback_interval`";
        assert_eq!(rejected(|c| c.feedback_timeout = c.feedback_interval), timeout);
        let pacing = "`pacing` must be `unpaced` or a factor of at least 1";
        assert_eq!(rejected(|c| c.pacing = NadaPacing::Shaped), pacing);
        assert_eq!(rejected(|c| c.pacing = NadaPacing::Factor(0.5)), pacing);
    }

    #[test]
    fn the_edges_of_the_ranges_are_within_them() {
        let millisecond = TimeDelta::from_millis(1);
        let edge = Config {
            smoothing: 1.0,
            prediction: TimeDelta::ZERO,
            loss_penalty: TimeDelta::ZERO,
            mark_penalty: TimeDelta::ZERO,
            reference: Reference::Assumed(TimeDelta::from_nanos(1)),
            feedback_interval: millisecond,
            slow_start: TimeDelta::ZERO,
            log_window: millisecond,
            pacing: NadaPacing::Unpaced,
            ..Config::default()
        };
        assert_eq!(edge.validate(), Ok(()));
    }
}
