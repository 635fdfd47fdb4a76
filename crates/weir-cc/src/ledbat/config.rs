//! Every constant of LEDBAT.

use weir_units::{DataSize, TimeDelta};

use crate::config_error::{ConfigError, at_least_one, check, positive, span, weight};

/// `FILTER`, by which the current delay follows from the last few samples.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum CurrentFilter {
    /// The newest sample: the RFC's NULL filter.
    Newest,
    /// The smallest sample.
    Min,
    /// An exponentially weighted average; the newest sample has this weight, in (0, 1].
    Ewma(f64),
}

/// Constants of LEDBAT; [`Config::default`] is RFC 6817.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub struct Config {
    /// `TARGET`, queuing delay that the flow keeps, at most 100 ms. RFC 6817 §2.4.2, §2.5.
    pub target: TimeDelta,
    /// `GAIN`, packets per round trip by which an empty queue opens the window, in (0, 1]. RFC 6817 §2.4.2.
    pub gain: f64,
    /// `ALLOWED_INCREASE`, packets by which the window may exceed the bytes in flight, above 0. RFC 6817 §2.4.2.
    pub allowed_increase: f64,
    /// Factor on the bytes in flight in that rule, 1 or more; 1 is RFC 6817. Divergence 3.
    pub flight_headroom: f64,
    /// `INIT_CWND` in packets, 1 to 10. RFC 6817 §2.4.2.
    pub initial_window: f64,
    /// `MIN_CWND` in packets, 1 to 10. RFC 6817 §2.4.2.
    pub min_window: f64,
    /// `MSS`, a packet in bytes with its RTP header, 1 to 65 535. RFC 6817 §2.4.2.
    pub segment_size: DataSize,
    /// `CURRENT_FILTER`, samples that make up the current delay, 1 to 1000. RFC 6817 §2.4.2.
    pub current_filter: u32,
    /// `FILTER`. RFC 6817 §2.4.2.
    pub filter: CurrentFilter,
    /// `CTO` before the first round-trip time, and its least value. RFC 6817 §2.4.2, RFC 6298 §2.4.
    pub min_timeout: TimeDelta,
    /// Greatest `CTO`, at most 4 s. Divergence 5.
    pub max_timeout: TimeDelta,
    /// Time between reports of the receiver half, 1 to 100 ms. Divergence 6.
    pub feedback_interval: TimeDelta,
    /// Pacing as a multiple of the sending rate, at least 1. RFC 9002 §7.7; divergence 2.
    pub pacing_factor: f64,
    /// Time in which the encoder's lower rate drains the backlog of the pacer. Divergence 2.
    pub drain_time: TimeDelta,
    /// Queuing delay from which on a clock was set. Divergence 7.
    pub clock_step: TimeDelta,
}

impl Default for Config {
    fn default() -> Self {
        let ms = TimeDelta::from_millis;
        Self {
            target: ms(100),
            gain: 1.0,
            allowed_increase: 1.0,
            flight_headroom: 1.1,
            initial_window: 2.0,
            min_window: 2.0,
            segment_size: DataSize::from_bytes(1228),
            current_filter: 4,
            filter: CurrentFilter::Min,
            min_timeout: ms(1000),
            max_timeout: ms(4000),
            feedback_interval: ms(10),
            pacing_factor: 1.25,
            drain_time: ms(500),
            clock_step: ms(10_000),
        }
    }
}

impl Config {
    /// The settings of the comparison in the DCCC paper (2017, appendix C): `GAIN` 0.5, packets of 1094 bytes.
    pub fn dccc_2017() -> Self {
        Self { gain: 0.5, segment_size: DataSize::from_bytes(1094), ..Self::default() }
    }

    /// A target delay other than 100 ms: 25 ms was the first draft's, 60 ms is that of LEDBAT++.
    pub fn with_target(target: TimeDelta) -> Self {
        Self { target, ..Self::default() }
    }

    /// Checks every constant.
    ///
    /// # Errors
    /// The first constant out of its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let up_to = |v: TimeDelta, most: i64| span(v) && v <= TimeDelta::from_millis(most);
        let window = |v: f64| (1.0..=10.0).contains(&v);
        let filter = match self.filter {
            CurrentFilter::Newest | CurrentFilter::Min => true,
            CurrentFilter::Ewma(newest) => weight(newest),
        };
        let interval = self.feedback_interval >= TimeDelta::from_millis(1);
        check([
            ("target", up_to(self.target, 100), "in (0, 100 ms]"),
            ("gain", weight(self.gain), "in (0, 1]"),
            ("allowed_increase", positive(self.allowed_increase), "above 0"),
            ("flight_headroom", at_least_one(self.flight_headroom), "at least 1"),
            ("initial_window", window(self.initial_window), "1 to 10 packets"),
            ("min_window", window(self.min_window), "1 to 10 packets"),
            ("segment_size", (1..=65_535).contains(&self.segment_size.bytes()), "1 to 65535 bytes"),
            ("current_filter", (1..=1000).contains(&self.current_filter), "1 to 1000"),
            ("filter", filter, "a weight in (0, 1]"),
            ("max_timeout", up_to(self.max_timeout, 4000), "in (0, 4 s]"),
            (
                "min_timeout",
                span(self.min_timeout) && self.min_timeout <= self.max_timeout,
                "longer than 0 and at most `max_timeout`",
            ),
            ("feedback_interval", interval && up_to(self.feedback_interval, 100), "1 to 100 ms"),
            ("pacing_factor", at_least_one(self.pacing_factor), "at least 1"),
            ("drain_time", span(self.drain_time), "longer than 0"),
            ("clock_step", self.clock_step > self.target, "longer than `target`"),
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_out_of_range_are_named() {
        for right in [Config::default(), Config::dccc_2017(), Config::with_target(TimeDelta::from_millis(25))]
        {
            assert_eq!(right.validate(), Ok(()));
        }
        let error = Config::with_target(TimeDelta::from_millis(101)).validate().unwrap_err();
        assert_eq!(error.to_string(), "`target` must be in (0, 100 ms]");
        for wrong in [
            Config { gain: 1.5, ..Config::default() },
            Config { allowed_increase: 0.0, ..Config::default() },
            Config { flight_headroom: f64::NAN, ..Config::default() },
            Config { min_window: 0.5, ..Config::default() },
            Config { filter: CurrentFilter::Ewma(0.0), ..Config::default() },
            Config { max_timeout: TimeDelta::from_secs(5), ..Config::default() },
            Config { feedback_interval: TimeDelta::ZERO, ..Config::default() },
        ] {
            assert!(wrong.validate().is_err(), "{wrong:?}");
        }
    }
}
