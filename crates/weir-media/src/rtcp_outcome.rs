//! Results of incoming reports at a sender.

use weir_cc::Decision;
use weir_cc::coupled::Statistics;
use weir_units::TimeDelta;

/// Results of the reports that came together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct RtcpOutcome {
    /// Round-trip time measured by the reports; the last of several.
    pub rtt: Option<TimeDelta>,
    /// Decision of the controller. Several decisions are merged to one, from where the first began to where the last
    /// ended.
    pub decision: Option<Decision>,
    /// Statistics of the newest interval that the reports end (RFC 8382).
    pub statistics: Option<Statistics>,
}
