//! The words for TCP.

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
    /// Name of the window law; that of the profile, or `cubic`, unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub law: Option<String>,
    /// How much to transfer; without end unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<DataSize>,
    /// Downloads with idle times between them, in place of one transfer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub downloads: Option<Downloads>,
    /// Its share of a bottleneck against that of others, 1 being the usual one; a coupling heeds it, TCP itself does not.
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
    /// What the size of each is drawn from, uniformly.
    pub size: SizeRange,
    /// Mean of the exponentially distributed idle time after each.
    #[serde(default = "default_idle")]
    pub idle: TimeDelta,
    /// What it begins with.
    #[serde(default)]
    pub begin: OnOrOff,
}

/// Sizes from one to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SizeRange {
    /// The smallest.
    pub min: DataSize,
    /// The largest.
    pub max: DataSize,
}

/// Whether a flow that takes turns begins with sending.
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

pub(super) fn default_law() -> String {
    "cubic".to_owned()
}

impl Tcp {
    /// Name of the window law.
    pub fn law(&self) -> &str {
        self.law.as_deref().unwrap_or_else(|| self.profile.law())
    }

    /// The endpoints.
    pub fn config(&self) -> TcpConfig {
        self.options.unwrap_or_default().config(self.profile, self.law())
    }
}
