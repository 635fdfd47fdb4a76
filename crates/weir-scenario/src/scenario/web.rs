//! The keys of web-like traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::{DataRate, DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;

use super::tcp::default_algorithm;
use super::tcp_options::TcpOptions;
use crate::registry::TcpProfile;

/// Web-like traffic: requests from the receiver's end, answered over TCP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Web {
    /// Mean rate of the responses that is offered, on the wire.
    pub load: DataRate,
    /// The stack of both ends.
    #[serde(default)]
    pub profile: TcpProfile,
    /// Name of the congestion control algorithm of the connections.
    #[serde(default = "default_algorithm")]
    pub algorithm: String,
    /// Mean number of requests in a session.
    #[serde(default = "default_requests")]
    #[schemars(range(min = 1.0, max = 10_000.0))]
    pub requests: f64,
    /// Mean time from a response to the session's next request.
    #[serde(default = "default_think")]
    pub think: TimeDelta,
    /// Range of the extra round-trip time of each session beyond the path's, drawn uniformly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extra_delay: Option<DelayRange>,
    /// Sizes of the responses.
    #[serde(default)]
    pub sizes: WebSizes,
    /// Options of the endpoints; their defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<TcpOptions>,
}

const fn default_requests() -> f64 {
    4.0
}

const fn default_think() -> TimeDelta {
    TimeDelta::from_secs(1)
}

/// A range of times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DelayRange {
    /// The shortest.
    #[serde(default)]
    pub min: TimeDelta,
    /// The longest.
    pub max: TimeDelta,
}

/// Sizes of responses: a log-normal body and a Pareto tail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct WebSizes {
    /// Median of the body.
    pub median: DataSize,
    /// Standard deviation of the body's logarithm.
    #[schemars(range(min = 0.0, max = 5.0))]
    pub sigma: f64,
    /// The share of the responses that belongs to the tail.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub tail: f64,
    /// The tail's smallest size.
    pub tail_from: DataSize,
    /// The tail's exponent.
    #[schemars(range(min = 1.01, max = 10.0))]
    pub tail_exponent: f64,
    /// Largest size; larger ones are cut to it.
    pub largest: DataSize,
}

impl Default for WebSizes {
    fn default() -> Self {
        let sizes = weir_world::WebSizes::default();
        Self {
            median: DataSize::from_bytes_f64(sizes.median),
            sigma: sizes.sigma,
            tail: sizes.tail,
            tail_from: DataSize::from_bytes_f64(sizes.tail_from),
            tail_exponent: sizes.tail_exponent,
            largest: DataSize::from_bytes_f64(sizes.largest),
        }
    }
}

impl Web {
    /// The configuration of the endpoints.
    pub fn config(&self) -> TcpConfig {
        self.options.unwrap_or_default().config(self.profile, &self.algorithm)
    }

    /// The traffic for the simulator.
    pub(crate) fn traffic(&self) -> weir_world::WebTraffic {
        let extra = self.extra_delay.unwrap_or_default();
        weir_world::WebTraffic {
            load: self.load,
            requests: self.requests,
            think: self.think,
            least_extra: extra.min,
            most_extra: extra.max,
            sizes: weir_world::WebSizes {
                median: self.sizes.median.bytes_f64(),
                sigma: self.sizes.sigma,
                tail: self.sizes.tail,
                tail_from: self.sizes.tail_from.bytes_f64(),
                tail_exponent: self.sizes.tail_exponent,
                largest: self.sizes.largest.bytes_f64(),
            },
        }
    }
}
