//! Every constant of the mixed coupler.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, at_least_one, check, not_negative, ratio, span, weight};

/// Round-trip time by which the rate of a data flow becomes its window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Conversion {
    /// The smallest one. A queue then reduces the data's rate below its share, and never increases the window.
    Base,
    /// The smoothed one, with a limited queuing delay. The data's rate is then its share while a queue persists.
    Smoothed {
        /// Greatest queuing delay that increases the window.
        longest_queue: TimeDelta,
    },
}

/// Flows whose changes affect the sum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum DrivingFlow {
    /// The rate controllers, on behalf of all flows. The growth of data flows counts only while no rate controller
    /// leads (`delay_leads`).
    #[default]
    Delay,
    /// All flows, each by its N-th part (`sum_all`). Beside LEDBAT the queue then reaches twice its target.
    All,
}

/// Constants of the mixed coupler. Rules and divergences are those of [the module](super).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// Round-trip time by which rates become windows. Rule 1; divergence 1.
    pub conversion: Conversion,
    /// Flows whose changes affect `S_CR`. Rule 2.
    pub lead: DrivingFlow,
    /// The least window of a data flow in segments, at least 1. Rule 1.
    pub least_window: f64,
    /// Segments by which an acknowledgement opens a window that is below its limit, above 0. Rule 6; divergence 3.
    pub burst: f64,
    /// Part of `S_CR` that remains after a loss event of a data flow, in (0, 1]. Rule 3.
    pub loss_factor: f64,
    /// Round trips after a loss during which `S_CR` does not change, 0 or above. Rule 3.
    pub loss_hold_rtts: f64,
    /// Whether a loss of a data flow reduces only that flow's part, until media has congestion within a round trip.
    /// Rule 3.
    pub partial_loss: bool,
    /// Queuing delay from which on data flows do not increase `S_CR` while no media leads. Half of it halves the
    /// growth. Rule 4.
    pub grow_below: TimeDelta,
    /// Queuing delay, longer than `grow_below`, from which on data flows reduce `S_CR` by `shrink_per_rtt`, and by
    /// less below it. Rule 4.
    pub shrink_above: TimeDelta,
    /// Part of `S_CR` by which it then shrinks per round trip, in [0, 1]. Rule 4.
    pub shrink_per_rtt: f64,
    /// Queuing delay above which data flows reduce `S_CR` even if media leads. Divergence 5.
    pub led_queue: TimeDelta,
    /// Part of `S_CR` by which it shrinks per round trip at twice that delay, and by less below; in [0, 1], 0 for
    /// never. Divergence 5.
    pub led_shrink_per_rtt: f64,
    /// Factor by which a media flow's share may grow within `jump_interval`, at least 1. Rule 5.
    pub jump: f64,
    /// Interval to which that factor applies. Rule 5.
    pub jump_interval: TimeDelta,
    /// Demand of a data flow that does not use its window, as a multiple of its flight, at least 1.
    pub demand_room: f64,
    /// Number of segments that a data flow may use whatever its flight, at least 1. RFC 6928: 10.
    pub initial_window: f64,
    /// Time without an update after which a rate controller does not lead, or two round trips if that is longer.
    pub leader_silence: TimeDelta,
    /// Time within which acknowledgements of another flow make a timeout spurious, or two round trips if that is
    /// longer.
    pub progress: TimeDelta,
    /// Time without messages after which a flow counts as paused, or `soft_intervals` of the flow's own intervals
    /// between messages if that is longer. Rule 9, as in the Flow State Exchange.
    pub soft_state: TimeDelta,
    /// Number of intervals between messages without a message after which a flow counts as paused, 0 or above. Rule
    /// 9.
    pub soft_intervals: f64,
    /// The round-trip time of flows without a measurement.
    pub usual_rtt: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            conversion: Conversion::Smoothed { longest_queue: ms(25) },
            lead: DrivingFlow::Delay,
            least_window: 2.0,
            burst: 3.0,
            loss_factor: 0.5,
            loss_hold_rtts: 2.0,
            partial_loss: false,
            grow_below: ms(25),
            shrink_above: ms(50),
            shrink_per_rtt: 0.05,
            led_queue: ms(12),
            led_shrink_per_rtt: 0.02,
            jump: 1.5,
            jump_interval: ms(200),
            demand_room: 1.5,
            initial_window: 10.0,
            leader_silence: ms(1000),
            progress: ms(200),
            soft_state: TimeDelta::from_secs(5),
            soft_intervals: 20.0,
            usual_rtt: ms(100),
        }
    }
}

impl Config {
    /// Conversion of windows and rates by the smallest round-trip time, as rule 1 is written.
    pub fn by_base_rtt() -> Self {
        Self { conversion: Conversion::Base, ..Self::default() }
    }

    /// LEDBAT beside TCP: the queue is at LEDBAT's own target, and data has its rate in spite of it.
    pub fn ledbat() -> Self {
        let longest_queue = TimeDelta::from_millis(200);
        Self {
            conversion: Conversion::Smoothed { longest_queue },
            led_shrink_per_rtt: 0.0,
            ..Self::default()
        }
    }

    /// LEDBAT beside TCP, with the growth of data flows in addition to LEDBAT's.
    pub fn ledbat_sum_all() -> Self {
        Self { lead: DrivingFlow::All, ..Self::ledbat() }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let conversion = match self.conversion {
            Conversion::Base => true,
            Conversion::Smoothed { longest_queue } => not_negative(longest_queue),
        };
        let shrinks = span(self.grow_below) && self.shrink_above > self.grow_below;
        check([
            ("conversion", conversion, "0 or longer"),
            ("least_window", at_least_one(self.least_window), "at least 1"),
            ("burst", self.burst > 0.0 && self.burst.is_finite(), "above 0"),
            ("loss_factor", weight(self.loss_factor), "in (0, 1]"),
            ("loss_hold_rtts", amount(self.loss_hold_rtts), "0 or above"),
            ("shrink_above", shrinks, "longer than `grow_below`, which is above 0"),
            ("shrink_per_rtt", ratio(self.shrink_per_rtt), "in [0, 1]"),
            ("led_queue", span(self.led_queue), "longer than 0"),
            ("led_shrink_per_rtt", ratio(self.led_shrink_per_rtt), "in [0, 1]"),
            ("jump", at_least_one(self.jump), "at least 1"),
            ("jump_interval", span(self.jump_interval), "longer than 0"),
            ("demand_room", at_least_one(self.demand_room), "at least 1"),
            ("initial_window", at_least_one(self.initial_window), "at least 1"),
            ("leader_silence", span(self.leader_silence), "longer than 0"),
            ("progress", span(self.progress), "longer than 0"),
            ("soft_state", span(self.soft_state), "longer than 0"),
            ("soft_intervals", amount(self.soft_intervals), "0 or above"),
            ("usual_rtt", span(self.usual_rtt), "longer than 0"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        for right in [Config::default(), Config::by_base_rtt(), Config::ledbat(), Config::ledbat_sum_all()] {
            assert_eq!(right.validate(), Ok(()));
        }
        let error = Config { jump: 0.9, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`jump` must be at least 1");
        let negative = TimeDelta::from_millis(-1);
        for wrong in [
            Config { conversion: Conversion::Smoothed { longest_queue: negative }, ..Config::default() },
            Config { least_window: f64::NAN, ..Config::default() },
            Config { burst: 0.0, ..Config::default() },
            Config { loss_factor: 0.0, ..Config::default() },
            Config { grow_below: TimeDelta::from_millis(60), ..Config::default() },
            Config { soft_state: TimeDelta::ZERO, ..Config::default() },
            Config { soft_intervals: -1.0, ..Config::default() },
            Config { usual_rtt: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
