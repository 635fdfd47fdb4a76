//! Configuration that sender and receiver of a media flow must agree on.

use weir_cc::{Ecn, PacketFormat, RateLimits};
use weir_units::{DataSize, TimeDelta};

use crate::audio::AudioConfig;
use crate::chromium::ChromiumConfig;
use crate::detection::BottleneckDetection;
use crate::encoder::EncoderConfig;

/// Ticks per second of the media clock of video (RFC 3551 §5).
pub const VIDEO_CLOCK_HZ: u64 = 90_000;
/// Ticks per second of the media clock of audio (RFC 7587 §4.1).
pub const AUDIO_CLOCK_HZ: u64 = 48_000;

/// Configuration of a media flow: encoder, packets and RTCP.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MediaConfig {
    /// Bounds and start of the rate.
    pub limits: RateLimits,
    /// The encoder.
    pub encoder: EncoderConfig,
    /// Audio beside the video, in a stream of its own under the same controller (`None`: video alone).
    pub audio: Option<AudioConfig>,
    /// Minimum time between key frame requests of a receiver that has lost video (`None`: no requests). With requests
    /// video packets carry a frame marking.
    pub key_frame_requests: Option<TimeDelta>,
    /// Most payload bytes in a packet; at least 1.
    pub payload_limit: u16,
    /// Mean time between sender reports, and between receiver reports.
    pub rtcp_interval: TimeDelta,
    /// Spread of the report intervals: each is drawn from the mean times `1 ± spread`; in [0, 1).
    pub rtcp_spread: f64,
    /// ECN field of media packets as they leave.
    pub ecn: Ecn,
    /// Format of the receiver's per-packet reports. The sender reads every format.
    pub packet_format: PacketFormat,
    /// Whether a REMB bounds a controller that uses per-packet feedback (`goog-remb` was agreed on beside
    /// `transport-cc`). A REMB holds until the next one, so one forged message would bound the rate for the rest of the
    /// call: refused unless `true`. A controller without per-packet feedback follows REMB in any case.
    pub remb: bool,
    /// Interval of additional per-packet reports beside a controller whose own reports are aggregates (`None`: no such
    /// reports). The controller uses its own reports as before, but the sender knows the fate of each packet, as shared
    /// bottleneck detection needs it (RFC 8382). Beside a controller over per-packet feedback there are no additional
    /// reports.
    pub additional_reports: Option<TimeDelta>,
    /// Statistics for shared bottleneck detection (RFC 8382), if any.
    pub detection: Option<BottleneckDetection>,
    /// Mean spacing of skipped transport-wide sequence numbers, at least 2 (`None`: no number is skipped). No packet
    /// has a skipped number, so a report of its arrival (an optimistic acknowledgement) is not believed
    /// ([`SendHistory::leave_out`](weir_cc::history::SendHistory::leave_out)). Numbers are not skipped where a receiver
    /// would take the gap for a loss. These are controllers with a receiver half of their own, RFC 8888, and statistics
    /// made at the receiver.
    pub leave_out: Option<u32>,
    /// Bytes of a packet that the controller counts.
    pub counted: CountedBytes,
    /// Lateness of timers that the pacer makes up for. Simulated timers are never late; those of an operating system are.
    pub pacer_lateness: TimeDelta,
    /// The sender around the controller as in Chromium (`None`: the encoder's target is the controller's).
    pub chromium: Option<ChromiumConfig>,
    /// Whether padding helps a source of layers to its next one
    /// ([`LayerClimb`](crate::climb::LayerClimb)). Without effect for other sources.
    pub climb: bool,
    /// Whether media stops where RFC 8083 requires it ([`Breaker`](crate::Breaker)).
    pub breakers: bool,
}

impl MediaConfig {
    /// Whether lost video is requested and sent again.
    pub(crate) fn retransmits(&self) -> bool {
        self.chromium.is_some_and(|chromium| chromium.retransmissions)
    }

    /// A flow with the papers' defaults: payload of 1200 bytes, reports every second ± 50 %, no ECN. Feedback is
    /// transport-wide where the controller reports per packet, and one number in 500 is skipped. Circuit breakers are
    /// on.
    pub const fn new(limits: RateLimits, encoder: EncoderConfig) -> Self {
        Self {
            limits,
            encoder,
            audio: None,
            key_frame_requests: None,
            payload_limit: 1200,
            rtcp_interval: TimeDelta::from_secs(1),
            rtcp_spread: 0.5,
            ecn: Ecn::NotEct,
            packet_format: PacketFormat::TransportWide,
            remb: false,
            additional_reports: None,
            detection: None,
            leave_out: Some(500),
            counted: CountedBytes::Payload,
            pacer_lateness: TimeDelta::ZERO,
            chromium: None,
            climb: true,
            breakers: true,
        }
    }
}

/// Bytes of a media packet that its controller counts as received and sent rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum CountedBytes {
    /// Payload alone, as targets are rates of media.
    #[default]
    Payload,
    /// Payload, RTP header, and this many bytes of UDP and IP: 28 over IPv4, 48 over IPv6. Browsers count so.
    WithHeaders(u8),
}

impl CountedBytes {
    /// Header bytes beside those that count, and those that count, of a packet with these lengths in bytes of RTP header
    /// and payload.
    pub(crate) fn of(self, header: u64, payload: u64) -> (DataSize, DataSize) {
        let (apart, counted) = match self {
            Self::Payload => (header, payload),
            Self::WithHeaders(below) => (0, payload + header + u64::from(below)),
        };
        (DataSize::from_bytes(apart), DataSize::from_bytes(counted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_count_as_the_route_says() {
        let header = 24;
        let bytes = DataSize::from_bytes;
        assert_eq!(CountedBytes::Payload.of(header, 1200), (bytes(24), bytes(1200)));
        assert_eq!(CountedBytes::WithHeaders(28).of(header, 1200), (bytes(0), bytes(1252)));
        assert_eq!(CountedBytes::WithHeaders(48).of(header, 1200), (bytes(0), bytes(1272)));
    }
}
