//! Configuration of an endpoint and of its streams.

use weir_cc::{Ecn, PacketFormat, RateLimits};
use weir_units::{DataRate, TimeDelta};
use weir_wire::media::ExtensionIds;

use crate::chromium::QUEUE_LIMIT;
use crate::config::{AUDIO_CLOCK_HZ, CountedBytes, VIDEO_CLOCK_HZ};
use crate::path_config::PathConfig;
use crate::rtcp_interval::RtcpInterval;

/// Origin of the transport-wide sequence numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum PacketNumbering {
    /// The endpoint numbers packets.
    #[default]
    Own,
    /// The embedder numbers packets, and passes the number of each ([`Endpoint::poll_packet_as`],
    /// [`SentReport::number`]). Numbers may begin anywhere and have gaps.
    ///
    /// [`Endpoint::poll_packet_as`]: crate::Endpoint::poll_packet_as
    /// [`SentReport::number`]: crate::SentReport::number
    Given,
}

/// Configuration of an [`Endpoint`](crate::Endpoint).
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches")]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct EndpointConfig {
    /// Bounds and start of the rate; the controller has the same.
    pub limits: RateLimits,
    /// Identifiers of the header extensions in the session description.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire_forms::extension_ids"))]
    pub extension_ids: ExtensionIds,
    /// Format of the per-packet feedback that was agreed on. No other format is read.
    pub packet_format: PacketFormat,
    /// Whether a REMB bounds a controller that uses per-packet feedback.
    pub remb: bool,
    /// ECN field of media packets as the embedder sends them.
    pub ecn: Ecn,
    /// Bytes of a packet that the controller counts.
    pub counted: CountedBytes,
    /// Origin of the transport-wide sequence numbers.
    pub numbering: PacketNumbering,
    /// Whether the embedder's own pacer sends packets and probes, and reports departures
    /// ([`Endpoint::on_sent`](crate::Endpoint::on_sent)). No packet is queued at the endpoint then.
    pub foreign_pacer: bool,
    /// Lateness of timers that the pacer makes up for. Timers of operating systems are late by about a millisecond.
    pub pacer_lateness: TimeDelta,
    /// Longest time in which the pacer empties its queue, whatever its rate (`None`: no limit).
    pub queue_limit: Option<TimeDelta>,
    /// Most bytes of a packet with its RTP header, by the maximum transmission unit of the path. A payload may have
    /// 34 bytes less.
    pub most_bytes: u16,
    /// Greatest number of packets that wait in the queue.
    pub most_packets: usize,
    /// Queuing delay at the target rate above which a frame should be left out (`None`: no limit).
    pub skip_above: Option<TimeDelta>,
    /// Mean time between two sender reports.
    pub rtcp_interval: TimeDelta,
    /// Mean spacing of skipped transport-wide numbers, at least 2, by which a receiver that acknowledges packets
    /// without having received them is detected (`None`: no number is skipped). Without effect for
    /// [`PacketNumbering::Given`].
    pub leave_out: Option<u32>,
    /// Time between two frames of video.
    pub frame_interval: TimeDelta,
    /// Whether padding helps encoders with layers to the next one
    /// ([`LayerClimb`](crate::climb::LayerClimb)). Without effect without such encoders.
    pub climb: bool,
    /// Whether media stops where RFC 8083 requires it.
    pub breakers: bool,
}

impl EndpointConfig {
    /// An endpoint with transport-wide feedback, numbers of its own, and counted bytes without headers. Timers may be
    /// late by a millisecond, the queue is emptied within two seconds, and a frame is left out if the queue holds more
    /// than 250 ms.
    pub fn new(limits: RateLimits) -> Self {
        Self {
            limits,
            extension_ids: ExtensionIds::default(),
            packet_format: PacketFormat::TransportWide,
            remb: false,
            ecn: Ecn::NotEct,
            counted: CountedBytes::Payload,
            numbering: PacketNumbering::Own,
            foreign_pacer: false,
            pacer_lateness: TimeDelta::from_millis(1),
            queue_limit: Some(QUEUE_LIMIT),
            most_bytes: 1472,
            most_packets: 4096,
            skip_above: Some(TimeDelta::from_millis(250)),
            rtcp_interval: TimeDelta::from_secs(1),
            leave_out: Some(500),
            frame_interval: TimeDelta::from_nanos(1_000_000_000 / 30),
            climb: true,
            breakers: true,
        }
    }

    /// The part that concerns the mechanism.
    pub(super) fn mechanism(&self) -> PathConfig {
        PathConfig {
            limits: self.limits,
            rtcp_interval: RtcpInterval::new(self.rtcp_interval, 0.5),
            ecn: self.ecn,
            packet_format: self.packet_format,
            remb: self.remb,
            additional_reports: false,
            detection: None,
            leave_out: self.leave_out.filter(|_| self.numbering == PacketNumbering::Own),
            counted: self.counted,
            pacer_lateness: self.pacer_lateness,
            marks_frames: false,
            queue_limit: self.queue_limit,
            climbs: self.climb,
            always_waits: false,
            foreign_pacer: self.foreign_pacer,
            frame_interval: self.frame_interval,
            stops_media: self.breakers,
        }
    }
}

/// Kinds of streams, in order of their priority in the pacer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum StreamKind {
    /// Audio: its packets leave at once, by neither pacer nor window.
    Audio,
    /// Video.
    Video,
    /// Data that always has a packet to send. An endpoint with such a stream paces all packets at the target rate,
    /// since a faster pace would exceed it for ever. Beside video, data should have an endpoint of its own
    /// ([`EndpointGroup`](crate::EndpointGroup)).
    Data,
}

/// Stream of retransmissions (RFC 4588) of another stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct RetransmissionStream {
    /// Source identifier of the retransmissions.
    pub ssrc: u32,
    /// Payload type of the retransmissions.
    pub payload_type: u8,
}

/// An RTP stream of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct StreamConfig {
    /// Source identifier.
    pub ssrc: u32,
    /// Kind of the stream.
    pub kind: StreamKind,
    /// Payload type, 0 to 127.
    pub payload_type: u8,
    /// Ticks per second of the media clock.
    pub clock_hz: u32,
    /// Stream of its retransmissions, if they were negotiated. Padding repeats recent packets in it.
    pub retransmission: Option<RetransmissionStream>,
    /// Highest rate that the stream can use, zero where it is unknown.
    pub highest_rate: DataRate,
}

impl StreamConfig {
    /// Video with a clock of 90 kHz, without retransmissions.
    pub const fn video(ssrc: u32, payload_type: u8) -> Self {
        Self {
            ssrc,
            kind: StreamKind::Video,
            payload_type,
            clock_hz: VIDEO_CLOCK_HZ as u32,
            retransmission: None,
            highest_rate: DataRate::ZERO,
        }
    }

    /// Data with a clock of 90 kHz, without retransmissions.
    pub const fn data(ssrc: u32, payload_type: u8) -> Self {
        Self { kind: StreamKind::Data, ..Self::video(ssrc, payload_type) }
    }

    /// Audio with a clock of 48 kHz, without retransmissions.
    pub const fn audio(ssrc: u32, payload_type: u8) -> Self {
        Self { kind: StreamKind::Audio, clock_hz: AUDIO_CLOCK_HZ as u32, ..Self::video(ssrc, payload_type) }
    }

    /// The stream with retransmissions as `ssrc` and `payload_type`.
    #[must_use]
    pub const fn with_retransmissions(mut self, ssrc: u32, payload_type: u8) -> Self {
        self.retransmission = Some(RetransmissionStream { ssrc, payload_type });
        self
    }
}
