//! Statistics of an endpoint, by the names of W3C webrtc-stats where it has the quantity.

use std::fmt::Write as _;

use weir_cc::LimitingFactor;
use weir_units::TimeDelta;

/// Counts of a stream.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct StreamCounts {
    pub(super) packets: u64,
    pub(super) payload: u64,
    pub(super) headers: u64,
    pub(super) repeated_packets: u64,
    pub(super) repeated_payload: u64,
    pub(super) padding_packets: u64,
    pub(super) padding_payload: u64,
    pub(super) send_delay: TimeDelta,
    pub(super) lost: u64,
    pub(super) expired: u64,
    pub(super) key_frame_requests: u64,
    pub(super) packet_requests: u64,
}

/// Statistics of a stream: `RTCOutboundRtpStreamStats`, with other counts.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct StreamStats {
    /// Source identifier: `ssrc`.
    pub ssrc: u32,
    /// Packets sent, with retransmissions and padding: `packetsSent`.
    pub packets_sent: u64,
    /// Payload bytes sent, with retransmissions and without padding: `bytesSent`.
    pub bytes_sent: u64,
    /// Bytes of RTP headers and padding: `headerBytesSent`.
    pub header_bytes_sent: u64,
    /// Packets sent again on request: `retransmittedPacketsSent`.
    pub retransmitted_packets_sent: u64,
    /// Payload bytes of these: `retransmittedBytesSent`.
    pub retransmitted_bytes_sent: u64,
    /// Time that sent packets have waited in the queue, in seconds: `totalPacketSendDelay`.
    pub total_packet_send_delay: f64,
    /// Requests for packets: `nackCount`.
    pub nack_count: u64,
    /// Requests for key frames: `pliCount`.
    pub pli_count: u64,
    /// Packets of padding; not in webrtc-stats.
    pub padding_packets_sent: u64,
    /// Bytes of padding; not in webrtc-stats.
    pub padding_bytes_sent: u64,
    /// Packets that expired in the queue; not in webrtc-stats.
    pub packets_expired: u64,
    /// Packets that feedback reported as missing; not in webrtc-stats.
    pub packets_reported_lost: u64,
}

impl StreamStats {
    pub(super) fn new(ssrc: u32, counts: &StreamCounts) -> Self {
        Self {
            ssrc,
            packets_sent: counts.packets + counts.repeated_packets + counts.padding_packets,
            bytes_sent: counts.payload + counts.repeated_payload,
            header_bytes_sent: counts.headers + counts.padding_payload,
            retransmitted_packets_sent: counts.repeated_packets,
            retransmitted_bytes_sent: counts.repeated_payload,
            total_packet_send_delay: counts.send_delay.secs_f64(),
            nack_count: counts.packet_requests,
            pli_count: counts.key_frame_requests,
            padding_packets_sent: counts.padding_packets,
            padding_bytes_sent: counts.padding_payload,
            packets_expired: counts.expired,
            packets_reported_lost: counts.lost,
        }
    }

    /// Names and values, by the names of webrtc-stats where it has them.
    pub fn fields(&self) -> [(&'static str, f64); 12] {
        [
            ("packetsSent", self.packets_sent as f64),
            ("bytesSent", self.bytes_sent as f64),
            ("headerBytesSent", self.header_bytes_sent as f64),
            ("retransmittedPacketsSent", self.retransmitted_packets_sent as f64),
            ("retransmittedBytesSent", self.retransmitted_bytes_sent as f64),
            ("totalPacketSendDelay", self.total_packet_send_delay),
            ("nackCount", self.nack_count as f64),
            ("pliCount", self.pli_count as f64),
            ("paddingPacketsSent", self.padding_packets_sent as f64),
            ("paddingBytesSent", self.padding_bytes_sent as f64),
            ("packetsExpired", self.packets_expired as f64),
            ("packetsReportedLost", self.packets_reported_lost as f64),
        ]
    }
}

/// Reason that limits the quality: `RTCQualityLimitationReason`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub enum QualityLimitation {
    /// `none`: the rate stands at its maximum, or the application sends less than it may.
    None,
    /// `bandwidth`: the controller.
    Bandwidth,
}

impl QualityLimitation {
    pub(super) const fn of(factor: LimitingFactor) -> Self {
        match factor {
            LimitingFactor::Maximum | LimitingFactor::Application => Self::None,
            _ => Self::Bandwidth,
        }
    }

    /// The value of `qualityLimitationReason`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Bandwidth => "bandwidth",
        }
    }
}

/// Serialised form of quantities that are NaN while they are unknown: JSON has no NaN.
#[cfg(feature = "serde")]
mod unknown_as_null {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
    pub(super) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        Some(*value).filter(|value| !value.is_nan()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
    }
}

/// Statistics of an endpoint: those of the candidate pair, of the remote end, and of each stream.
/// Serialised, unknown values are null.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase"))]
pub struct EndpointStats {
    /// The controller's rate on the wire, in bit/s: `availableOutgoingBitrate`.
    pub available_outgoing_bitrate: f64,
    /// The rate for all encoders together, in bit/s: `targetBitrate`.
    pub target_bitrate: f64,
    /// The last measured round-trip time in seconds, NaN before the first: `currentRoundTripTime`.
    #[cfg_attr(feature = "serde", serde(with = "unknown_as_null"))]
    pub current_round_trip_time: f64,
    /// Share of the packets that the last receiver report had as lost, in [0, 1], NaN before the first:
    /// `fractionLost`.
    #[cfg_attr(feature = "serde", serde(with = "unknown_as_null"))]
    pub fraction_lost: f64,
    /// Limit of the quality: `qualityLimitationReason`.
    pub quality_limitation_reason: QualityLimitation,
    /// Bytes that wait in front of the pacer; not in webrtc-stats.
    pub queued_bytes: u64,
    /// Bytes in flight; not in webrtc-stats.
    pub bytes_in_flight: u64,
    /// Reports that were refused; not in webrtc-stats.
    pub reports_refused: u64,
    /// Events that the embedder did not poll in time; not in webrtc-stats.
    pub events_dropped: u64,
    /// The streams, in the order in which they were added.
    pub streams: Vec<StreamStats>,
}

impl EndpointStats {
    /// Names and values of the quantities that belong to no single stream, by the names of webrtc-stats where it has
    /// them.
    pub fn fields(&self) -> [(&'static str, f64); 8] {
        [
            ("availableOutgoingBitrate", self.available_outgoing_bitrate),
            ("targetBitrate", self.target_bitrate),
            ("currentRoundTripTime", self.current_round_trip_time),
            ("fractionLost", self.fraction_lost),
            ("queuedBytes", self.queued_bytes as f64),
            ("bytesInFlight", self.bytes_in_flight as f64),
            ("reportsRefused", self.reports_refused as f64),
            ("eventsDropped", self.events_dropped as f64),
        ]
    }

    /// The statistics in the text format of Prometheus: gauges `weir_NAME` with the label `ssrc` for those of streams.
    /// Unknown values are left out.
    pub fn prometheus(&self) -> String {
        let mut text = String::new();
        for (name, value) in self.fields() {
            gauge(&mut text, name, &[("", value)]);
        }
        let limited = f64::from(u8::from(self.quality_limitation_reason == QualityLimitation::Bandwidth));
        gauge(&mut text, "qualityLimitedByBandwidth", &[("", limited)]);
        let streams: Vec<_> =
            self.streams.iter().map(|s| (format!("{{ssrc=\"{}\"}}", s.ssrc), s.fields())).collect();
        let names = streams.first().map(|(_, fields)| fields.map(|(name, _)| name));
        for (place, name) in names.into_iter().flatten().enumerate() {
            let values: Vec<_> =
                streams.iter().map(|(label, fields)| (label.as_str(), fields[place].1)).collect();
            gauge(&mut text, name, &values);
        }
        text
    }
}

/// Writes one gauge with its values by label.
fn gauge(text: &mut String, name: &str, values: &[(&str, f64)]) {
    let mut known = values.iter().filter(|(_, value)| !value.is_nan()).peekable();
    if known.peek().is_none() {
        return;
    }
    let mut metric = String::from("weir_");
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            metric.push('_');
        }
        metric.push(letter.to_ascii_lowercase());
    }
    _ = writeln!(text, "# TYPE {metric} gauge");
    for (label, value) in known {
        _ = writeln!(text, "{metric}{label} {value}");
    }
}
