//! Statistics of a receiving endpoint.

use weir_cc::ArrivalTime;
use weir_units::TimeDelta;

/// Statistics of a stream since it was added. Names and meaning are those of `RTCInboundRtpStreamStats` (W3C,
/// "Identifiers for WebRTC's Statistics API"), in this language's spelling: `packets_lost` is `packetsLost`. Statistics of a
/// stream of retransmissions count in the stream that it repairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct InboundStreamStats {
    /// Source identifier of the stream.
    pub ssrc: u32,
    /// Source identifier of its retransmissions, if they were agreed on.
    pub rtx_ssrc: Option<u32>,
    /// Packets received, with duplicates and retransmissions.
    pub packets_received: u64,
    /// Packets that arrived with the codepoint ECT(1).
    pub packets_received_with_ect1: u64,
    /// Packets that arrived with a mark (CE).
    pub packets_received_with_ce: u64,
    /// Packets expected less packets received in the stream itself (RFC 3550 §6.4.1). Retransmissions do not reduce it,
    /// and duplicates make it negative.
    pub packets_lost: i64,
    /// Interarrival jitter (RFC 3550 §6.4.1).
    pub jitter: TimeDelta,
    /// Bytes of payload received, without headers and padding, with retransmissions.
    pub bytes_received: u64,
    /// Bytes of RTP headers and padding received.
    pub header_bytes_received: u64,
    /// Packets that came as retransmissions (RFC 4588). Padding in that stream does not count.
    pub retransmitted_packets_received: u64,
    /// Bytes of payload in those packets.
    pub retransmitted_bytes_received: u64,
    /// Arrival of the last packet, `None` before the first.
    pub last_packet_received_timestamp: Option<ArrivalTime>,
    /// RTCP packets written that request lost packets (NACK).
    pub nack_count: u64,
    /// RTCP packets written that request a key frame (PLI).
    pub pli_count: u64,
}

impl InboundStreamStats {
    /// Names and values, by the names and units of webrtc-stats: `jitter` in seconds,
    /// `lastPacketReceivedTimestamp` in milliseconds of the receiver's clock and NaN before the first packet.
    pub fn fields(&self) -> [(&'static str, f64); 12] {
        let last = self.last_packet_received_timestamp;
        [
            ("packetsReceived", self.packets_received as f64),
            ("packetsReceivedWithEct1", self.packets_received_with_ect1 as f64),
            ("packetsReceivedWithCe", self.packets_received_with_ce as f64),
            ("packetsLost", self.packets_lost as f64),
            ("jitter", self.jitter.secs_f64()),
            ("bytesReceived", self.bytes_received as f64),
            ("headerBytesReceived", self.header_bytes_received as f64),
            ("retransmittedPacketsReceived", self.retransmitted_packets_received as f64),
            ("retransmittedBytesReceived", self.retransmitted_bytes_received as f64),
            ("lastPacketReceivedTimestamp", last.map_or(f64::NAN, |at| at.nanos() as f64 / 1e6)),
            ("nackCount", self.nack_count as f64),
            ("pliCount", self.pli_count as f64),
        ]
    }
}

/// Counts of a receiving endpoint since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct ReceivingStats {
    /// Packets received of known streams.
    pub packets_received: u64,
    /// Bytes of payload received of known streams, without headers and padding.
    pub bytes_received: u64,
    /// Packets refused because their bytes are malformed, and RTCP given as RTP.
    pub malformed_packets: u64,
    /// Packets whose source identifier no stream has.
    pub unknown_packets: u64,
    /// Packets dropped because their number is thousands from those before it (RFC 3550 A.1).
    pub stray_packets: u64,
    /// Packets that no report of the transport covers: they lack the transport-wide number, or a departure time that
    /// the receiver half needs.
    pub unreported_packets: u64,
    /// RTCP messages received that are malformed.
    pub malformed_rtcp: u64,
    /// Calls refused because their time runs back, or is [`ArrivalTime::MAX`].
    pub refused_times: u64,
    /// Reports of the controller's receiver half that were not written. They are REMBs that were not agreed on, and
    /// reports that name a packet of the transport where packets have no such number.
    pub withheld_reports: u64,
    /// RTCP packets written.
    pub rtcp_packets_sent: u64,
    /// Bytes of them.
    pub rtcp_bytes_sent: u64,
}
