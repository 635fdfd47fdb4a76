//! TCP stacks as used in the papers.

use serde::{Deserialize, Serialize};

/// A TCP stack of a certain time; options are laid over it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub enum TcpProfile {
    /// CUBIC of RFC 9438 without HyStart, with the timer and the window of Linux, and no other feature of a
    /// present Linux.
    #[serde(rename = "plain")]
    Plain,
    /// The recommendations of the RFCs: NewReno, SACK, a retransmission timeout of at least 1 s.
    #[serde(rename = "rfc")]
    Rfc,
    /// Linux 3.16 (2014): CUBIC with HyStart, proportional rate reduction.
    #[serde(rename = "linux-3.16")]
    Linux316,
    /// Linux 6.18 (2025) without the `fq` queue, hence without pacing: CUBIC with HyStart, losses found by time, probes of the
    /// tail, undo of what was reduced for nothing, a receive window that grows.
    #[default]
    #[serde(rename = "linux-6")]
    Linux6,
    /// ns-3.26 (2016): NewReno without SACK, which grows by half a segment per round trip.
    #[serde(rename = "ns3-3.26")]
    Ns326,
    /// The TCP of the WebRTC project's simulator (2015), as in nada-vs-gcc-2016: packets of 1200 bytes, a window
    /// algorithm of its own, no retransmissions.
    #[serde(rename = "chromium-2015")]
    Chromium2015,
}

impl TcpProfile {
    /// The window algorithm, if the flow names none and the stack has none of its own.
    pub fn algorithm(self) -> &'static str {
        match self {
            Self::Rfc | Self::Ns326 | Self::Chromium2015 => "newreno",
            Self::Plain | Self::Linux316 | Self::Linux6 => "cubic",
        }
    }
}
