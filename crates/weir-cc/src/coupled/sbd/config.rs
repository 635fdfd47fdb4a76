//! Every parameter of shared bottleneck detection.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, check, check_group, positive, ratio, span, weight};

/// Most intervals that any window may have.
const MOST_INTERVALS: u32 = 10_000;
/// A pair's past is kept in so many bits.
const MOST_REMEMBERED: u32 = 64;

/// Parameters of shared bottleneck detection.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `T`, the base interval, 10 ms to 10 s. RFC 8382 §2.2.
    pub interval: TimeDelta,
    /// `N`, intervals that `freq_est` and `pkt_loss` are of. RFC 8382 §2.2.
    pub long_window: u32,
    /// `M`, intervals that `mean_delay`, `skew_est` and `var_est` are of, at most `N`. RFC 8382 §2.2.
    pub window: u32,
    /// `F`, the newest of them, which weigh the same, at most `M`. RFC 8382 §4.1.
    pub flat: u32,
    /// Delays are sampled at most once in each so long a slot of the sender's clock, 0 for each packet's; at most
    /// `interval`. Resolution 10.
    pub sampling: TimeDelta,
    /// Whether `var_est` leaves out the intervals in which the path has no bottleneck. RFC 8382 §4.2 does. Divergence 5.
    pub gated_variability: bool,
    /// `c_s`: below this skew a flow passes a bottleneck. RFC 8382 §2.2 names −0.1 to 0.2. Resolution 12.
    pub skew_threshold: f64,
    /// `c_h`: the same for a flow that passed one an interval ago. RFC 8382 §2.2.
    pub skew_hysteresis: f64,
    /// `p_v`: a crossing of the mean is significant beyond so many times `var_est`. RFC 8382 §3.2.4.
    pub crossing: f64,
    /// `p_f`: flows of one bottleneck differ by less in `freq_est`. RFC 8382 §3.3.1.
    pub frequency_difference: f64,
    /// `p_mad`: and by less than this part of it in `var_est`. RFC 8382 §3.3.1.
    pub variability_difference: f64,
    /// `p_s`: and by less in `skew_est`. RFC 8382 §3.3.1.
    pub skew_difference: f64,
    /// `p_d`: and by less than this part of it in `pkt_loss`, where that is above `p_l`. RFC 8382 §3.3.1.
    pub loss_difference: f64,
    /// `p_l`: from this loss on it is a sign of a bottleneck. RFC 8382 gives no value; draft-ietf-rmcat-sbd-08 §2.2.
    pub loss_threshold: f64,
    /// Resolution of the times of arrival: delays that vary by less than a quarter of it say nothing of a queue.
    /// Resolution 3.
    pub resolution: TimeDelta,
    /// A change of the least delay by more than this within an interval is a clock that was set. Resolution 5.
    pub clock_step: TimeDelta,
    /// So is one by more than so many times `var_est` that is longer than the interval. Resolution 5.
    pub clock_step_variability: f64,
    /// How the skew between the clocks is taken out.
    pub clock_skew: ClockSkewConfig,
    /// From groupings to groups.
    pub stability: StabilityConfig,
}

/// How the skew between two clocks is found: a line below all delays. RFC 8382 §5.2 leaves the method open.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct ClockSkewConfig {
    /// Whether it is.
    pub removed: bool,
    /// `K`, intervals whose least delays are looked at, at least 2.
    pub window: u32,
    /// The least number of them, 2 to `window`.
    pub least: u32,
    /// Least length of the edge below the delays whose slope is believed.
    pub least_edge: TimeDelta,
    /// Most skew that is believed, in parts per million.
    pub most: f64,
    /// Weight of the newest slope, in (0, 1].
    pub newest: f64,
}

/// How groupings of single intervals become groups that last; all of it is ours, with RFC 8699 §5.1 for the guard.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct StabilityConfig {
    /// `W`, intervals by which a pair is judged, 1 to 64: the last ones that say something of it. Resolution 7.
    pub window: u32,
    /// At least so many of them before a pair joins, 1 to `window`.
    pub least: u32,
    /// Together in this part of them, a pair joins. Resolution 11.
    pub join: f64,
    /// Together in less than this part of them, it parts.
    pub part: f64,
    /// Intervals of both flows before a pair joins: RFC 8382 §3.3 recommends `2 M`.
    pub start_up: u32,
    /// A pair of which no interval says anything stays as it is so long; then it parts, and what was known is forgotten.
    pub hold: TimeDelta,
    /// A flow changes its group at most once in this time.
    pub between_changes: TimeDelta,
    /// The guard compares so long before a pair is coupled with as long after it.
    pub guard_span: TimeDelta,
    /// Coupling is dropped again if queuing delay or loss rises by more than this part of what it was ...
    pub guard_rise: f64,
    /// ... and by more than this, if it is the delay ...
    pub guard_delay: TimeDelta,
    /// ... or by more than this ratio of packets, if it is the loss.
    pub guard_loss: f64,
    /// The pair is then not coupled for so long.
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
    /// Those of RFC 8382, but for what resolutions 10 and 12 and divergence 5 of [`sbd`](super) say.
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
