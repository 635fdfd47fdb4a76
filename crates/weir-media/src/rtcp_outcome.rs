//! What reports tell a sender.

use weir_cc::Decision;
use weir_cc::coupled::Statistics;
use weir_units::TimeDelta;

/// What a sender learnt of the reports that came together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RtcpOutcome {
    /// The round-trip time that they measured; the last of several.
    pub rtt: Option<TimeDelta>,
    /// What the controller decided; of several decisions one, from where the first began to where the last came.
    pub decision: Option<Decision>,
    /// Statistics of the newest interval that they end (RFC 8382).
    pub statistics: Option<Statistics>,
}
