//! Configuration of TFRC: every constant, with the values of RFC 5348 and of ns-2.

use weir_units::{DataSize, TimeDelta};

use crate::config_error::{ConfigError, check, positive, span, weight};

/// Largest packet in bytes, by the length field of IP.
pub(super) const MAX_SIZE: f64 = 65_535.0;

/// The timeout term of the throughput equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum TimeoutTerm {
    /// 3·√(3p/8). RFC 5348 §3.1.
    Rfc5348,
    /// min(1, 3·√(3p/8)), as in the model that the equation comes from and in ns-2.
    AtMostOne,
}

/// The equation's value of TCP's retransmission timeout (RTO), `t_RTO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum RetransmissionTimeout {
    /// 4·R. RFC 5348 §3.1.
    FourRoundTrips,
    /// SRTT + 4·RTTVAR, measured as TCP does (RFC 6298 §2) in whole ticks of this length, 1 µs to 1 s, and without a least
    /// value. ns-2, whose ticks last 100 ms (`tcp_tick_`).
    MeasuredInTicks(TimeDelta),
}

/// Growth of the rate towards the equation's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Increase {
    /// At once, up to twice the receive rate. RFC 5348 §4.3.
    AtOnce,
    /// By one packet per round trip and round trip. ns-2.
    OnePacketPerRtt,
}

/// Constants of TFRC; [`Config::default`] is RFC 5348, [`Config::ns2`] a subset of ns-2.35's.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `s` before the first packet, and `MSS` of the initial window, 1 to 65 535 bytes. RFC 5348 §3.1, §4.2.
    pub segment_size: DataSize,
    /// `q`, weight of the past in the average round-trip time, in [0, 1). RFC 5348 §4.3.
    pub rtt_filter: f64,
    /// `q2`, weight of the past in the average of √R, in [0, 1). RFC 5348 §4.5.
    pub sqrt_rtt_filter: f64,
    /// Whether the rate follows each round-trip time: oscillation prevention. RFC 5348 §4.5.
    pub oscillation_prevention: bool,
    /// The equation's timeout term. RFC 5348 §3.1.
    pub timeout_term: TimeoutTerm,
    /// Retransmission timeout (RTO), `t_RTO`. RFC 5348 §3.1.
    pub retransmission_timeout: RetransmissionTimeout,
    /// Growth of the rate. RFC 5348 §4.3.
    pub increase: Increase,
    /// `NDUPACK`, later packets after which one is lost, 1 to 1000. RFC 5348 §5.1.
    pub duplicate_threshold: u32,
    /// `THRESHOLD` of history discounting, in (0, 1]; 1 for none. RFC 5348 §5.5.
    pub discount_threshold: f64,
    /// The nofeedback timer in round-trip times, above 0. RFC 5348 §4.3.
    pub nofeedback_rtts: f64,
    /// The nofeedback timer before the first feedback. RFC 5348 §4.2.
    pub initial_nofeedback: TimeDelta,
    /// Longest nofeedback timer, at most 2 s. Divergence 4.
    pub max_nofeedback: TimeDelta,
    /// `t_mbi`, the longest time between packets. RFC 5348 §4.3.
    pub max_backoff_interval: TimeDelta,
    /// Time in which the encoder's lower rate drains the backlog of the pacer. Divergence 3.
    pub drain_time: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            segment_size: DataSize::from_bytes(1200),
            rtt_filter: 0.9,
            sqrt_rtt_filter: 0.9,
            oscillation_prevention: true,
            timeout_term: TimeoutTerm::Rfc5348,
            retransmission_timeout: RetransmissionTimeout::FourRoundTrips,
            increase: Increase::AtOnce,
            duplicate_threshold: 3,
            discount_threshold: 0.25,
            nofeedback_rtts: 4.0,
            initial_nofeedback: TimeDelta::from_secs(2),
            max_nofeedback: TimeDelta::from_secs(2),
            max_backoff_interval: TimeDelta::from_secs(64),
            drain_time: TimeDelta::from_millis(500),
        }
    }
}

impl Config {
    /// The properties of ns-2.35's TFRC that affect the steady state (its defaults, packets of 1000 bytes). The
    /// equation has a bounded timeout term and a timeout measured in ticks of 100 ms. The filters are slower, and
    /// the rate increases by one packet per round trip and round trip. Reordering is not tolerated, discounting
    /// goes down to a half, and the nofeedback timer is two round trips.
    pub fn ns2() -> Self {
        Self {
            segment_size: DataSize::from_bytes(1000),
            rtt_filter: 0.95,
            sqrt_rtt_filter: 0.95,
            timeout_term: TimeoutTerm::AtMostOne,
            retransmission_timeout: RetransmissionTimeout::MeasuredInTicks(TimeDelta::from_millis(100)),
            increase: Increase::OnePacketPerRtt,
            duplicate_threshold: 1,
            discount_threshold: 0.5,
            nofeedback_rtts: 2.0,
            ..Self::default()
        }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let filter = |v: f64| (0.0..1.0).contains(&v);
        let two_seconds = TimeDelta::from_secs(2);
        let tick = match self.retransmission_timeout {
            RetransmissionTimeout::FourRoundTrips => true,
            RetransmissionTimeout::MeasuredInTicks(tick) => {
                (TimeDelta::from_micros(1)..=TimeDelta::from_secs(1)).contains(&tick)
            }
        };
        check([
            ("segment_size", (1..=65_535).contains(&self.segment_size.bytes()), "1 to 65535 bytes"),
            ("rtt_filter", filter(self.rtt_filter), "in [0, 1)"),
            ("sqrt_rtt_filter", filter(self.sqrt_rtt_filter), "in [0, 1)"),
            ("retransmission_timeout", tick, "in ticks of 1 µs to 1 s"),
            ("duplicate_threshold", (1..=1000).contains(&self.duplicate_threshold), "1 to 1000"),
            ("discount_threshold", weight(self.discount_threshold), "in (0, 1]"),
            ("nofeedback_rtts", positive(self.nofeedback_rtts), "above 0"),
            (
                "max_nofeedback",
                span(self.max_nofeedback) && self.max_nofeedback <= two_seconds,
                "in (0, 2 s]",
            ),
            (
                "initial_nofeedback",
                span(self.initial_nofeedback) && self.initial_nofeedback <= self.max_nofeedback,
                "longer than 0 and at most `max_nofeedback`",
            ),
            ("max_backoff_interval", span(self.max_backoff_interval), "longer than 0"),
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
        let error = Config { rtt_filter: 1.0, ..Config::default() }.validate().unwrap_err();
        assert_eq!(error.to_string(), "`rtt_filter` must be in [0, 1)");
        let ticks = |tick| Config {
            retransmission_timeout: RetransmissionTimeout::MeasuredInTicks(tick),
            ..Config::default()
        };
        assert_eq!(ticks(TimeDelta::from_micros(1)).validate(), Ok(()));
        for wrong in [
            Config { segment_size: DataSize::ZERO, ..Config::default() },
            Config { sqrt_rtt_filter: f64::NAN, ..Config::default() },
            ticks(TimeDelta::ZERO),
            ticks(TimeDelta::from_millis(1001)),
            Config { duplicate_threshold: 0, ..Config::default() },
            Config { discount_threshold: 0.0, ..Config::default() },
            Config { nofeedback_rtts: f64::INFINITY, ..Config::default() },
            Config { max_nofeedback: TimeDelta::from_secs(3), ..Config::default() },
            Config { drain_time: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
