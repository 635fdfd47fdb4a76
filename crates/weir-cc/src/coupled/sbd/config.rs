//! Every parameter of shared bottleneck detection.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, check, check_group, positive, ratio, span, weight};

/// Greatest number of intervals in a window.
const MOST_INTERVALS: u32 = 10_000;
/// Greatest number of bits in the history of a pair.
const MOST_REMEMBERED: u32 = 64;

/// Parameters of shared bottleneck detection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `T`, the base interval, 10 ms to 10 s. RFC 8382 §2.2.
    pub interval: TimeDelta,
    /// `N`, intervals of `freq_est` and `pkt_loss`. RFC 8382 §2.2.
    pub long_window: u32,
    /// `M`, intervals of `mean_delay`, `skew_est` and `var_est`, at most `N`. RFC 8382 §2.2.
    pub window: u32,
    /// `F`, the newest intervals, which have the same weight, at most `M`. RFC 8382 §4.1.
    pub flat: u32,
    /// Slot of the sender's clock in which the delay is sampled at most once, at most `interval`; 0 to sample every
    /// packet. Resolution 10.
    pub sampling: TimeDelta,
    /// Whether `var_est` leaves out the intervals in which the path has no bottleneck, as RFC 8382 §4.2 does.
    /// Divergence 5.
    pub gated_variability: bool,
    /// `c_s`: skew below which a flow passes a bottleneck. RFC 8382 §2.2 names −0.1 to 0.2. Resolution 12.
    pub skew_threshold: f64,
    /// `c_h`: skew below which a flow still passes one, if it did an interval ago. RFC 8382 §2.2.
    pub skew_hysteresis: f64,
    /// `p_v`: multiple of `var_est` beyond which a crossing of the mean is significant. RFC 8382 §3.2.4.
    pub crossing: f64,
    /// `p_f`: difference in `freq_est` at and above which flows are divided. RFC 8382 §3.3.1.
    pub frequency_difference: f64,
    /// `p_mad`: difference in `var_est`, as a part of it, at and above which flows are divided. RFC 8382 §3.3.1.
    pub variability_difference: f64,
    /// `p_s`: difference in `skew_est` at and above which flows are divided. RFC 8382 §3.3.1.
    pub skew_difference: f64,
    /// `p_d`: difference in `pkt_loss`, as a part of it, at and above which flows are divided, where loss is above
    /// `p_l`. RFC 8382 §3.3.1.
    pub loss_difference: f64,
    /// `p_l`: loss above which it is a sign of a bottleneck. RFC 8382 gives no value; draft-ietf-rmcat-sbd-08 §2.2.
    pub loss_threshold: f64,
    /// Resolution of the arrival times: delays that vary by less than a quarter of it are no evidence of a queue.
    /// Resolution 3.
    pub resolution: TimeDelta,
    /// Change of the least delay within an interval above which a clock was set. Resolution 5.
    pub clock_step: TimeDelta,
    /// Change in multiples of `var_est`, longer than the interval, above which a clock was set. Resolution 5.
    pub clock_step_variability: f64,
    /// Removal of the skew between the clocks.
    pub clock_skew: ClockSkewConfig,
    /// Filter from groupings to groups.
    pub stability: StabilityConfig,
}

/// Estimate of the skew between two clocks: a line below all delays. RFC 8382 §5.2 leaves the method open.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ClockSkewConfig {
    /// Whether the skew is removed.
    pub removed: bool,
    /// `K`, intervals whose least delays are used, at least 2.
    pub window: u32,
    /// The least number of them, 2 to `window`.
    pub least: u32,
    /// Least length of an edge below the delays whose slope is used.
    pub least_edge: TimeDelta,
    /// Greatest plausible skew, in parts per million.
    pub most: f64,
    /// Weight of the newest slope, in (0, 1].
    pub newest: f64,
}

/// Filter from the groupings of single intervals to lasting groups. It is Weir's; the guard follows RFC 8699 §5.1.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct StabilityConfig {
    /// `W`, number of intervals by which a pair is judged, 1 to 64: the last ones with a verdict on it. Resolution 7.
    pub window: u32,
    /// Least number of these intervals before a pair joins, 1 to `window`.
    pub least: u32,
    /// Part of these intervals with both flows in one group, from which on a pair joins. Resolution 11.
    pub join: f64,
    /// Part of these intervals with both flows in one group, below which a pair parts.
    pub part: f64,
    /// Intervals of both flows before a pair joins: RFC 8382 §3.3 recommends `2 M`.
    pub start_up: u32,
    /// Time without a verdict after which a pair parts and its history is cleared. Until then it is unchanged.
    pub hold: TimeDelta,
    /// Least time between two changes of a flow's group.
    pub between_changes: TimeDelta,
    /// Span before a pair is coupled that the guard compares with the same span after it.
    pub guard_span: TimeDelta,
    /// Relative rise of queuing delay or loss above which coupling is dropped.
    pub guard_rise: f64,
    /// Rise of the queuing delay that is also required.
    pub guard_delay: TimeDelta,
    /// Rise of the loss ratio that is also required.
    pub guard_loss: f64,
    /// Time for which the pair is then not coupled.
    pub block: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Default for ClockSkewConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Default for StabilityConfig {
    fn default() -> Self {
        Self::DEFAULT
    }
}

impl Config {
    /// Parameters of RFC 8382, but for resolutions 10 and 12 and divergence 5 of [`sbd`](super).
    pub const DEFAULT: Self = Self {
        interval: TimeDelta::from_millis(350),
        long_window: 50,
        window: 30,
        flat: 20,
        sampling: TimeDelta::from_millis(50),
        gated_variability: false,
        skew_threshold: 0.2,
        skew_hysteresis: 0.3,
        crossing: 0.7,
        frequency_difference: 0.1,
        variability_difference: 0.1,
        skew_difference: 0.15,
        loss_difference: 0.1,
        loss_threshold: 0.1,
        resolution: TimeDelta::from_micros(250),
        clock_step: TimeDelta::from_secs(1),
        clock_step_variability: 100.0,
        clock_skew: ClockSkewConfig::DEFAULT,
        stability: StabilityConfig::DEFAULT,
    };

    /// Checks every parameter.
    ///
    /// # Errors
    /// The first parameter out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let interval =
            TimeDelta::from_millis(10) <= self.interval && self.interval <= TimeDelta::from_secs(10);
        let skew = |value: f64| (-1.0..=1.0).contains(&value);
        check([
            ("interval", interval, "10 ms to 10 s"),
            ("long_window", (1..=MOST_INTERVALS).contains(&self.long_window), "1 to 10000"),
            ("window", (1..=self.long_window).contains(&self.window), "1 to `long_window`"),
            ("sampling", !self.sampling.is_negative() && self.sampling <= self.interval, "0 to `interval`"),
            ("flat", (1..=self.window).contains(&self.flat), "1 to `window`"),
            ("skew_threshold", skew(self.skew_threshold), "in [-1, 1]"),
            ("skew_hysteresis", skew(self.skew_hysteresis), "in [-1, 1]"),
            ("crossing", amount(self.crossing), "0 or above"),
            ("frequency_difference", weight(self.frequency_difference), "in (0, 1]"),
            ("variability_difference", weight(self.variability_difference), "in (0, 1]"),
            ("skew_difference", positive(self.skew_difference), "above 0"),
            ("loss_difference", weight(self.loss_difference), "in (0, 1]"),
            ("loss_threshold", ratio(self.loss_threshold), "in [0, 1]"),
            ("resolution", !self.resolution.is_negative(), "0 or longer"),
            ("clock_step", span(self.clock_step), "longer than 0"),
            ("clock_step_variability", positive(self.clock_step_variability), "above 0"),
        ])?;
        self.clock_skew.validate()?;
        self.stability.validate()
    }
}

impl ClockSkewConfig {
    /// Weir's own values.
    pub const DEFAULT: Self = Self {
        removed: true,
        window: 170,
        least: 30,
        least_edge: TimeDelta::from_secs(10),
        most: 500.0,
        newest: 0.1,
    };

    fn validate(&self) -> Result<(), ConfigError> {
        check_group(
            "clock_skew.",
            [
                ("window", (2..=MOST_INTERVALS).contains(&self.window), "2 to 10000"),
                ("least", (2..=self.window).contains(&self.least), "2 to `window`"),
                ("least_edge", !self.least_edge.is_negative(), "0 or longer"),
                ("most", (0.0..=100_000.0).contains(&self.most), "0 to 100000 ppm"),
                ("newest", weight(self.newest), "in (0, 1]"),
            ],
        )
    }
}

impl StabilityConfig {
    /// Weir's own values.
    pub const DEFAULT: Self = Self {
        window: 60,
        least: 20,
        join: 0.5,
        part: 0.25,
        start_up: 60,
        hold: TimeDelta::from_secs(30),
        between_changes: TimeDelta::from_secs(10),
        guard_span: TimeDelta::from_secs(10),
        guard_rise: 0.5,
        guard_delay: TimeDelta::from_millis(10),
        guard_loss: 0.01,
        block: TimeDelta::from_secs(120),
    };

    fn validate(&self) -> Result<(), ConfigError> {
        let part = weight(self.part) && self.part <= self.join;
        check_group(
            "stability.",
            [
                ("window", (1..=MOST_REMEMBERED).contains(&self.window), "1 to 64"),
                ("least", (1..=self.window).contains(&self.least), "1 to `window`"),
                ("join", weight(self.join), "in (0, 1]"),
                ("part", part, "in (0, 1] and at most `join`"),
                ("start_up", self.start_up <= MOST_INTERVALS, "at most 10000"),
                ("hold", !self.hold.is_negative(), "0 or longer"),
                ("between_changes", !self.between_changes.is_negative(), "0 or longer"),
                (
                    "guard_span",
                    span(self.guard_span) && self.guard_span <= TimeDelta::from_secs(600),
                    "in (0, 10 min]",
                ),
                ("guard_rise", amount(self.guard_rise), "0 or above"),
                ("guard_delay", !self.guard_delay.is_negative(), "0 or longer"),
                ("guard_loss", ratio(self.guard_loss), "in [0, 1]"),
                ("block", !self.block.is_negative(), "0 or longer"),
            ],
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_out_of_range_are_named() {
        let right = Config::default();
        assert_eq!(right.validate(), Ok(()));
        let error = |config: Config| config.validate().unwrap_err().to_string();
        assert_eq!(error(Config { window: 51, ..right }), "`window` must be 1 to `long_window`");
        assert_eq!(error(Config { flat: 31, ..right }), "`flat` must be 1 to `window`");
        assert_eq!(error(Config { interval: TimeDelta::ZERO, ..right }), "`interval` must be 10 ms to 10 s");
        assert_eq!(
            error(Config { skew_threshold: f64::NAN, ..right }),
            "`skew_threshold` must be in [-1, 1]"
        );
        let clock_skew = ClockSkewConfig { least: 171, ..right.clock_skew };
        assert_eq!(error(Config { clock_skew, ..right }), "`clock_skew.least` must be 2 to `window`");
        let stability = StabilityConfig { window: 65, ..right.stability };
        assert_eq!(error(Config { stability, ..right }), "`stability.window` must be 1 to 64");
    }
}
