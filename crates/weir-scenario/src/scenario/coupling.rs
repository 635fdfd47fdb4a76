//! The keys of couplings: the flows that are coupled, and the algorithm.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::TimeDelta;

use super::media::ControllerOptions;
use super::named::Named;

/// Flows that are coupled. The weight of each is its own `priority`; a coupled controller's own weight is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Coupling {
    /// Names of the flows; all copies of a flow that is copied.
    pub flows: Vec<String>,
    /// Name of the coupler, as in the registry; `none` measures the flows as if they were coupled and does not couple them.
    pub algorithm: String,
    /// Options of that coupler, by the names of its configuration; its defaults unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<ControllerOptions>,
    /// Delay of a message from a flow's host to the coupler, and of an allocation back: up to 500 ms; none unless given.
    #[serde(default)]
    pub delay: TimeDelta,
    /// How flows with a shared bottleneck are detected.
    #[serde(default)]
    pub detection: Detection,
    /// Place at which the statistics of `detection = "measured"` are computed; at the sender unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<TakenAt>,
    /// The desired rate that the flows report.
    #[serde(default)]
    pub desired: Desired,
    /// The weights of tenants, by their names: the flows of a tenant share its weight; no tenants unless given.
    #[serde(default, skip_serializing_if = "Named::is_empty")]
    pub tenants: Named<f64>,
    /// Consent to an algorithm that is unsafe outside of testbeds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub testbed: bool,
}

/// How flows with a shared bottleneck are detected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Detection {
    /// All of them share one by configuration.
    #[default]
    Configured,
    /// Flows of one five-tuple, or else of one call, share one.
    Multiplexed,
    /// Flows share one by the statistics of their delays and losses (RFC 8382).
    Measured,
}

/// Place at which statistics are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TakenAt {
    /// At the sender, from feedback on single packets.
    #[default]
    Sender,
    /// At the receiver, which reports them.
    Receiver,
}

/// The desired rate that a flow reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Desired {
    /// No limit: the flow takes all that it can get.
    Unlimited,
    /// The highest rate that it can use.
    #[default]
    Limits,
    /// The same, but while the flow sends clearly less than it may, 1.5 times its sending rate.
    Measured,
}

/// Another priority from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityStep {
    /// Time of the change.
    pub at: TimeDelta,
    /// The priority from then on.
    #[schemars(range(min = 0.01, max = 100.0))]
    pub priority: f64,
}

/// The name of no algorithm: coupled flows are measured, but not coupled.
pub const NO_COUPLER: &str = "none";

impl Coupling {
    /// Whether its flows are not coupled.
    pub fn is_none(&self) -> bool {
        self.algorithm == NO_COUPLER
    }
}
