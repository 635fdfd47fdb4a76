//! Options of TCP endpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weir_units::{DataSize, TimeDelta};
use weir_world::tcp::{EcnMode, TcpConfig};

use crate::registry::{self, TcpProfile};

/// Options of TCP endpoints; options that are not given follow the profile, or the simulator's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TcpOptions {
    /// Data in a full segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mss: Option<DataSize>,
    /// Headers of IP and TCP, and the size of an acknowledgement without SACK blocks; a multiple of 4 (RFC 9293 §3.1).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 40, max = 80), extend("multipleOf" = 4))]
    pub header: Option<u16>,
    /// Initial congestion window, in segments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub initial_window: Option<u32>,
    /// Most segments that may be outstanding.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub receive_window: Option<u32>,
    /// Retransmission timeout before the first round-trip time is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initial_rto: Option<TimeDelta>,
    /// Shortest retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_rto: Option<TimeDelta>,
    /// Longest retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_rto: Option<TimeDelta>,
    /// Lower bound of the deviation term of the retransmission timeout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_deviation: Option<TimeDelta>,
    /// Number of segments in order per acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ack_every: Option<u32>,
    /// Longest delay of an acknowledgement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_delay: Option<TimeDelta>,
    /// Selective acknowledgements (RFC 2018, RFC 6675).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sack: Option<bool>,
    /// Whether the first duplicate acknowledgements allow new segments to be sent (RFC 3042).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limited_transmit: Option<bool>,
    /// Explicit congestion notification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ecn: Option<TcpEcn>,
    /// Proportional rate reduction in recovery (RFC 6937); only with SACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prr: Option<bool>,
    /// Whether segments are paced, at 2 or 1.2 times the congestion window per round trip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacing: Option<bool>,
    /// Number of segments at the beginning that are acknowledged one by one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub quick_acks: Option<u32>,
    /// Number of acknowledgements after each duplicate segment that are sent one by one, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1000))]
    pub quick_acks_again: Option<u32>,
    /// Whether segments are sent in bursts, each of which is pushed, and the receiver acknowledges pushed data at once; only with
    /// `rack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offload: Option<bool>,
    /// Whether, from the fourth on, acknowledgements of segments out of order wait for each other, at most a millisecond.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compress_sacks: Option<bool>,
    /// Losses, also of retransmissions, are found by time (RFC 8985); only with SACK.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<bool>,
    /// Whether the tail is probed (RFC 8985 §7); only with `rack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tlp: Option<bool>,
    /// Whether a reduction is undone once the loss or timeout behind it proves spurious (RFC 3522, RFC 3708, RFC 5682); only with
    /// `rack`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<bool>,
    /// Whether the receiver reports duplicate segments (RFC 2883).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dsack: Option<bool>,
    /// Initial receive window, in segments; it grows to twice the data read per round trip, up to `receive_window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 16_777_216))]
    pub initial_receive_window: Option<u32>,
}

/// How TCP uses ECN.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TcpEcn {
    /// Not at all.
    Off,
    /// ECT(0), ECN-Echo and CWR (RFC 3168).
    Classic,
    /// ECT(1) and exact counts of marks (RFC 9768), for L4S.
    Accurate,
}

impl From<TcpEcn> for EcnMode {
    fn from(ecn: TcpEcn) -> Self {
        match ecn {
            TcpEcn::Off => Self::Off,
            TcpEcn::Classic => Self::Classic,
            TcpEcn::Accurate => Self::Accurate,
        }
    }
}

/// The congestion control algorithm that needs exact counts of marks.
pub const NEEDS_COUNTS: &str = "dctcp";

impl TcpOptions {
    /// The configuration of the endpoints with these options laid over `profile`, for connections under the congestion control
    /// `algorithm`.
    pub fn config(&self, profile: TcpProfile, algorithm: &str) -> TcpConfig {
        let mss = self.mss.and_then(|mss| u16::try_from(mss.bytes()).ok());
        let usual = registry::tcp_config(profile, mss);
        TcpConfig {
            mss: mss.unwrap_or(usual.mss),
            header: self.header.unwrap_or(usual.header),
            initial_window: self.initial_window.unwrap_or(usual.initial_window),
            receive_window: self.receive_window.unwrap_or(usual.receive_window),
            initial_rto: self.initial_rto.unwrap_or(usual.initial_rto),
            min_rto: self.min_rto.unwrap_or(usual.min_rto),
            max_rto: self.max_rto.unwrap_or(usual.max_rto),
            min_deviation: self.min_deviation.unwrap_or(usual.min_deviation),
            ack_every: self.ack_every.unwrap_or(usual.ack_every),
            ack_delay: self.ack_delay.unwrap_or(usual.ack_delay),
            sack: self.sack.unwrap_or(usual.sack),
            limited_transmit: self.limited_transmit.unwrap_or(usual.limited_transmit),
            ecn: match self.ecn {
                // The algorithm has no input without exact counts of marks.
                None if algorithm == NEEDS_COUNTS => EcnMode::Accurate,
                ecn => ecn.map_or(usual.ecn, EcnMode::from),
            },
            prr: self.prr.unwrap_or(usual.prr),
            pacing: self.pacing.unwrap_or(usual.pacing),
            quick_acks: self.quick_acks.unwrap_or(usual.quick_acks),
            quick_acks_again: self.quick_acks_again.unwrap_or(usual.quick_acks_again),
            offload: self.offload.unwrap_or(usual.offload),
            compress_sacks: self.compress_sacks.unwrap_or(usual.compress_sacks),
            rack: self.rack.unwrap_or(usual.rack),
            tlp: self.tlp.unwrap_or(usual.tlp),
            undo: self.undo.unwrap_or(usual.undo),
            dsack: self.dsack.unwrap_or(usual.dsack),
            initial_receive_window: self.initial_receive_window.or(usual.initial_receive_window),
            ns3_recovery: usual.ns3_recovery,
            linux_deviation: usual.linux_deviation,
            tick: usual.tick,
        }
    }

    /// The durations among the options that have to be above 0, by their keys.
    pub(crate) fn times(&self) -> [(&'static str, Option<TimeDelta>); 5] {
        [
            ("initial_rto", self.initial_rto),
            ("min_rto", self.min_rto),
            ("max_rto", self.max_rto),
            ("min_deviation", self.min_deviation),
            ("ack_delay", self.ack_delay),
        ]
    }
}
