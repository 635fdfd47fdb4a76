//! The words for coupling: which flows share one fate, and by which algorithm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::TimeDelta;

use super::media::Options;
use super::named::Named;

/// Flows that are coupled. The weight of each is its own `priority`; a coupled law's own weight is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// Names of the flows; all copies of a flow that is copied.
    pub flows: Vec<String>,
    /// Name of the coupler, as in the registry; `none` measures the flows as if they were coupled and leaves them alone.
    pub algorithm: String,
    /// Options of that coupler, by the names of its configuration; its defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Options>,
    /// How long a word takes from a flow's host to the coupler, and an order back: up to 500 ms; none unless given.
    #[serde(default)]
    pub delay: TimeDelta,
    /// How it is known which of the flows share a bottleneck.
    #[serde(default)]
    pub detection: Detection,
    /// Where the statistics of `detection = "measured"` are taken; at the sender unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TakenAt>,
    /// What the flows tell as their desired rate.
    #[serde(default)]
    pub desired: Desired,
    /// The weights of tenants, by their names: the flows of a tenant share its weight. None unless given.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub tenants: Named<f64>,
    /// That you know an algorithm to be unsafe outside of testbeds, and want it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub testbed: bool,
}

/// How it is known which flows share a bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// It is taken for granted of all of them.
    #[default]
    Configured,
    /// Those of one five-tuple, or else of one call, share one.
    Multiplexed,
    /// By statistics of their delays and losses (RFC 8382).
    Measured,
}

/// Where statistics are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TakenAt {
    /// At the sender, of what it hears of single packets.
    #[default]
    Sender,
    /// At the receiver, which reports them.
    Receiver,
}

/// What a flow tells as its desired rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Desired {
    /// Nothing: it takes what it can get.
    Unlimited,
    /// The highest rate that it can use.
    #[default]
    Limits,
    /// The same, and while it sends clearly less than it may, half as much again as it sends.
    Measured,
}

/// Another priority from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityStep {
    /// When.
    pub at: TimeDelta,
    /// The priority from then on.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub priority: f64,
}

/// The algorithm that couples nobody: what is measured of coupled flows, of flows left alone.
pub const NO_COUPLER: &str = "none";

impl Coupling {
    /// Whether its flows are left alone.
    pub fn is_none(&self) -> bool {
        self.algorithm == NO_COUPLER
    }
}
