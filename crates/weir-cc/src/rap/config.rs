//! Constants of RAP.

use weir_units::{DataSize, TimeDelta};

use crate::config_error::{ConfigError, amount, at_least_one, check, positive, ratio, span, weight};

/// Constants of RAP; [`Config::default`] is ns-2.35's RAP agent with a start fit for media, [`Config::ns2`] with its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `packetSize`, payload of a packet, 1 to 65 535 bytes: `ipg` is the gap between packets of this size.
    pub packet_size: DataSize,
    /// `alpha`, packets per round trip by which the rate grows in a round trip, above 0.
    pub alpha: f64,
    /// `beta`, share of the rate that remains after a loss, in (0, 1).
    pub beta: f64,
    /// `delta`, gain of both round-trip filters, in (0, 1].
    pub delta: f64,
    /// `mu`, weight of the round-trip time in the timeout, at least 1.
    pub mu: f64,
    /// `phi`, weight of its variation in the timeout, 0 or above.
    pub phi: f64,
    /// `dpthresh`, share of a step's allowance that must have been sent for the rate to grow, in [0, 1].
    pub usage_threshold: f64,
    /// `useFineGrain`, whether the gap follows the short-term round-trip time.
    pub fine_grain: bool,
    /// `kfrtt`, gain of the short-term round-trip time, in (0, 1].
    pub short_term_gain: f64,
    /// `kxrtt`, gain of the long-term round-trip time, in (0, 1].
    pub long_term_gain: f64,
    /// `ipg` until the first acknowledgement, which then gives one packet per round trip. With `None` the start rate,
    /// which the first acknowledgement does not change. Divergence 1.
    pub initial_gap: Option<TimeDelta>,
    /// Round-trip time and timeout before the first acknowledgement, at most 2 s.
    pub initial_rtt: TimeDelta,
    /// Longest timeout, at most 2.4 s. Divergence 5.
    pub max_timeout: TimeDelta,
    /// Time between reports of the receiver half, 1 to 100 ms. Divergence 2.
    pub feedback_interval: TimeDelta,
    /// Time in which the encoder's lower rate drains the backlog of the pacer. Divergence 7.
    pub drain_time: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            packet_size: DataSize::from_bytes(1200),
            alpha: 1.0,
            beta: 0.5,
            delta: 0.5,
            mu: 1.2,
            phi: 4.0,
            usage_threshold: 0.5,
            fine_grain: false,
            short_term_gain: 0.9,
            long_term_gain: 0.01,
            initial_gap: None,
            initial_rtt: ms(2000),
            max_timeout: ms(2400),
            feedback_interval: ms(10),
            drain_time: ms(500),
        }
    }
}

impl Config {
    /// ns-2.35's start: a packet each two seconds, then one per round trip; no timeout is longer than the first. Reports
    /// come at the shortest interval, so that each packet has its own where packets arrive less often. Packets have 1000 bytes on the
    /// link, as in "Coupled congestion control for RTP media" (TR 440, 2014); 948 of them are payload, as ns-2 counts headers in.
    pub fn ns2() -> Self {
        Self {
            packet_size: DataSize::from_bytes(948),
            initial_gap: Some(TimeDelta::from_secs(2)),
            max_timeout: TimeDelta::from_secs(2),
            feedback_interval: TimeDelta::from_millis(1),
            ..Self::default()
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let up_to = |v: TimeDelta, most: i64| span(v) && v <= TimeDelta::from_millis(most);
        let interval = self.feedback_interval >= TimeDelta::from_millis(1);
        check([
            ("packet_size", (1..=65_535).contains(&self.packet_size.bytes()), "1 to 65535 bytes"),
            ("alpha", positive(self.alpha), "above 0"),
            ("beta", self.beta > 0.0 && self.beta < 1.0, "in (0, 1)"),
            ("delta", weight(self.delta), "in (0, 1]"),
            ("mu", at_least_one(self.mu), "at least 1"),
            ("phi", amount(self.phi), "0 or above"),
            ("usage_threshold", ratio(self.usage_threshold), "in [0, 1]"),
            ("short_term_gain", weight(self.short_term_gain), "in (0, 1]"),
            ("long_term_gain", weight(self.long_term_gain), "in (0, 1]"),
            ("initial_gap", self.initial_gap.is_none_or(span), "longer than 0"),
            ("initial_rtt", up_to(self.initial_rtt, 2000), "in (0, 2 s]"),
            ("max_timeout", up_to(self.max_timeout, 2400), "in (0, 2.4 s]"),
            ("feedback_interval", interval && up_to(self.feedback_interval, 100), "1 to 100 ms"),
            ("drain_time", span(self.drain_time), "longer than 0"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        assert_eq!(Config::ns2().validate(), Ok(()));
        assert_eq!(Config::ns2().max_timeout, TimeDelta::from_secs(2));
        let error = Config { beta: 1.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`beta` must be in (0, 1)");
        for wrong in [
            Config { alpha: f64::NAN, ..Config::default() },
            Config { delta: 0.0, ..Config::default() },
            Config { mu: 0.9, ..Config::default() },
            Config { packet_size: DataSize::ZERO, ..Config::default() },
            Config { initial_gap: Some(TimeDelta::ZERO), ..Config::default() },
            Config { max_timeout: TimeDelta::from_secs(3), ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
