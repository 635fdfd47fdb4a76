//! Kinds of traffic.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Kind of a flow's traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowKind {
    /// Video under a controller.
    Media,
    /// Packets at a constant rate, or one that changes at given times.
    Constant,
    /// Audio of a constant rate.
    Audio,
    /// A TCP transfer.
    Tcp,
    /// Downloads by TCP with idle times between them.
    Downloads,
    /// Web-like traffic.
    Web,
}
