//! Every constant of coupled windows.

use weir_units::TimeDelta;

use crate::config_error::{ConfigError, amount, at_least_one, check, ratio, span, weight};

/// Constants of coupled windows. [`Config::default`] couples flows that share a path, and gives newcomers their
/// shares by the ACK clock.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// Way in which a newcomer gets its share (draft-welzl-tcp-ccc-00 §3; resolution P2, divergence 1).
    pub newcomer: Newcomer,
    /// Whether a timeout of one flow, while others are acknowledged, is a loss event of all flows (P10).
    pub rto_counts_as_loss: bool,
    /// Whether the flows share a rate, `cwnd/srtt_min`, instead of the sum of windows. Flows to several destinations
    /// need that. On one path, a later flow would gain, because it measures a greater `srtt_min` over the others'
    /// queue.
    pub by_rates: bool,
    /// The flow whose growth counts if delay-based and other controllers are coupled.
    pub lead: CoordinatorSelection,
    /// `IW` in segments, at least 1: the window with which a flow without an ACK clock begins (RFC 6928).
    pub initial_window: f64,
    /// Greatest number of segments, at least 1, by which one acknowledgement opens a window whose share has risen.
    pub burst: f64,
    /// Least part of the aggregate that remains after a loss event, in (0, 1]. The controller with the loss
    /// determines the reduction, and a flow with a flight below its share would otherwise reduce by more than it has
    /// lost.
    pub least_kept: f64,
    /// Number of successive timeouts, at least 1, while others are acknowledged, after which a flow is no longer
    /// coupled.
    pub most_timeouts: u32,
    /// Number of round trips without an acknowledgement, at least 1, after which another flow coordinates.
    pub coordinator_silence: f64,
    /// Part of its share, in [0, 1], below which the use of a flow in a round trip leaves the remainder to others.
    pub limited_share: f64,
    /// Factor on the greatest flight of an application-limited flow, at least 1, that gives its `DW`.
    pub desired_headroom: f64,
    /// The least threshold of the aggregate in segments, 0 or above (RFC 5681 §3.1 eq. (4)).
    pub least_threshold: f64,
    /// The round-trip time until a first measurement.
    pub usual_rtt: TimeDelta,
}

/// Way in which a newcomer gets its share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Newcomer {
    /// The sum stays, and the others' acknowledgements release the newcomer's first segments.
    #[default]
    Clocked,
    /// The sum stays, and the newcomer's window opens from its initial window by its own acknowledgements.
    Ramped,
    /// `join_adds_iw`: the sum grows by the newcomer's window, as the draft prints it.
    AddsWindow,
}

/// The flow whose growth counts if delay-based and other controllers are coupled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum CoordinatorSelection {
    /// `delay_leads`: that of a delay-based controller, as long as one is active.
    #[default]
    Delay,
    /// `sum_all`: the additive growth of every flow, each by its part of `1/N`.
    All,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            newcomer: Newcomer::Clocked,
            rto_counts_as_loss: true,
            by_rates: false,
            lead: CoordinatorSelection::Delay,
            initial_window: 10.0,
            burst: 3.0,
            least_kept: 0.5,
            most_timeouts: 3,
            coordinator_silence: 2.0,
            limited_share: 0.5,
            desired_headroom: 1.5,
            least_threshold: 2.0,
            usual_rtt: TimeDelta::from_millis(100),
        }
    }
}

impl Config {
    /// The join as the draft prints it: the newcomer's window is added to the sum.
    pub fn as_printed() -> Self {
        Self { newcomer: Newcomer::AddsWindow, ..Self::default() }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        check([
            ("initial_window", at_least_one(self.initial_window), "at least 1"),
            ("burst", at_least_one(self.burst), "at least 1"),
            ("least_kept", weight(self.least_kept), "in (0, 1]"),
            ("most_timeouts", self.most_timeouts >= 1, "at least 1"),
            ("coordinator_silence", at_least_one(self.coordinator_silence), "at least 1"),
            ("limited_share", ratio(self.limited_share), "in [0, 1]"),
            ("desired_headroom", at_least_one(self.desired_headroom), "at least 1"),
            ("least_threshold", amount(self.least_threshold), "0 or above"),
            ("usual_rtt", span(self.usual_rtt), "longer than 0"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::as_printed().validate(), Ok(()));
        let error = Config { least_kept: 0.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`least_kept` must be in (0, 1]");
        for wrong in [
            Config { initial_window: 0.5, ..Config::default() },
            Config { burst: f64::NAN, ..Config::default() },
            Config { most_timeouts: 0, ..Config::default() },
            Config { coordinator_silence: 0.0, ..Config::default() },
            Config { limited_share: 1.5, ..Config::default() },
            Config { desired_headroom: 0.9, ..Config::default() },
            Config { least_threshold: -1.0, ..Config::default() },
            Config { usual_rtt: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
