//! The keys of TCP flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::TcpConfig;

use super::media::usual_priority;
use super::tcp_options::TcpOptions;
use crate::registry::TcpProfile;

/// A TCP transfer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tcp {
    /// The stack.
    #[serde(default)]
    pub profile: TcpProfile,
    /// Name of the congestion control algorithm; that of the profile, or `cubic`, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// Size of the transfer; without end unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<DataSize>,
    /// Downloads with idle times between them, in place of one transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<Downloads>,
    /// Its share of a bottleneck relative to others, 1 being the usual one; a coupling uses it, TCP itself does not.
    #[serde(default = "usual_priority")]
    #[schemars(range(min = 0.01, max = 100.0))]
    pub priority: f64,
    /// Options of the endpoints; their defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<TcpOptions>,
}

/// Downloads with idle times between them, each over a connection of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Downloads {
    /// Range of the sizes, drawn uniformly.
    pub size: SizeRange,
    /// Mean of the exponentially distributed idle time after each.
    #[serde(default = "default_idle")]
    pub idle: TimeDelta,
    /// First phase: a download, or an idle time.
    #[serde(default)]
    pub begin: OnOrOff,
}

/// A range of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// The smallest.
    pub min: DataSize,
    /// The largest.
    pub max: DataSize,
}

/// First phase of a flow that alternates between sending and silence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum OnOrOff {
    /// With a download.
    #[default]
    On,
    /// With an idle time.
    Off,
}

fn default_idle() -> TimeDelta {
    TimeDelta::from_secs(10)
}

pub(super) fn default_algorithm() -> String {
    "cubic".to_owned()
}

impl Tcp {
    /// Name of the congestion control algorithm.
    pub fn algorithm(&self) -> &str {
        self.algorithm.as_deref().unwrap_or_else(|| self.profile.algorithm())
    }

    /// The configuration of the endpoints.
    pub fn config(&self) -> TcpConfig {
        self.options.unwrap_or_default().config(self.profile, self.algorithm())
    }
}
