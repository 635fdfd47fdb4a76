//! Equal-cost paths: at each node a flow takes one of the next links by a hash of its five-tuple.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Nodes with several shortest paths to the same node spread the flows over them, each flow by a hash of its five-tuple (ECMP).
/// Flows with a `route` keep it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Multipath {
    /// Salt of the hash; the run's seed unless given, so that runs differ.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salt: Option<u64>,
}
