//! Configuration of a receiving endpoint and of its streams.

use weir_cc::PacketFormat;
use weir_cc::packet_feedback::PacketFeedback;
use weir_units::TimeDelta;
use weir_wire::ExtensionIds;

use super::refusal::ConfigRefusal;
use crate::config::CountedBytes;
use crate::endpoint::RetransmissionStream;

/// Configuration of a [`ReceivingEndpoint`](super::ReceivingEndpoint).
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ReceivingConfig {
    /// Source identifier of this end, the sender of all RTCP written here.
    pub ssrc: u32,
    /// IDs of the header extensions that are read.
    pub extensions: ReceivedExtensions,
    /// Format of per-packet reports. Transport-wide feedback reports only packets with a transport-wide number. RFC
    /// 8888 names each packet by its stream's own sequence number, and needs no extension.
    pub packet_format: PacketFormat,
    /// Times of per-packet reports.
    pub feedback: FeedbackInterval,
    /// Interval of additional per-packet reports beside the receiver half of a controller whose own reports are
    /// aggregates (`None`: no such reports).
    #[cfg_attr(feature = "serde", serde(rename = "witness"))]
    pub additional_reports: Option<TimeDelta>,
    /// Whether a REMB may be sent (`goog-remb` was agreed on). A receiver half's REMB is withheld otherwise.
    pub remb: bool,
    /// Whether packets leave ECN-capable. A mark (CE) counts for the receiver half of a controller only then.
    /// Per-packet reports carry it in any case.
    pub ecn: bool,
    /// Bytes of a packet that the receiver half of a controller counts. Padding counts as payload.
    pub counted: CountedBytes,
    /// Mean time between receiver reports; more than zero.
    pub rtcp_interval: TimeDelta,
    /// Spread of the report intervals: each is drawn from the mean times `1 ± spread` (RFC 3550 §6.3.1: 0.5); in [0,
    /// 1).
    pub rtcp_spread: f64,
    /// Seed of the report intervals. Each endpoint should have one of its own, so that reports do not coincide.
    pub seed: u64,
    /// Handling of packets whose source identifier no stream has.
    pub unknown: UnknownStreams,
}

impl ReceivingConfig {
    /// The endpoint `ssrc` with transport-wide feedback each 50 ms, by the extension IDs of [`ExtensionIds::default`].
    /// Receiver reports are sent every second ± 50 %, packets of unknown sources ignored, REMBs withheld, and marks
    /// taken.
    pub fn new(ssrc: u32) -> Self {
        Self {
            ssrc,
            extensions: ReceivedExtensions::from(ExtensionIds::default()),
            packet_format: PacketFormat::TransportWide,
            feedback: FeedbackInterval::Fixed(TimeDelta::from_millis(50)),
            additional_reports: None,
            remb: false,
            ecn: true,
            counted: CountedBytes::Payload,
            rtcp_interval: TimeDelta::from_secs(1),
            rtcp_spread: 0.5,
            seed: u64::from(ssrc),
            unknown: UnknownStreams::Ignored,
        }
    }

    /// Checks the values.
    pub(super) fn check(&self) -> Result<(), ConfigRefusal> {
        self.extensions.check()?;
        if self.rtcp_interval <= TimeDelta::ZERO {
            return Err(ConfigRefusal::RtcpInterval(self.rtcp_interval));
        }
        if !(0.0..1.0).contains(&self.rtcp_spread) {
            return Err(ConfigRefusal::RtcpSpread);
        }
        match self.unknown {
            UnknownStreams::Learned { clock_hz: 0, .. } => Err(ConfigRefusal::ClockRate),
            _ => Ok(()),
        }
    }
}

/// IDs of the header extensions that are read, each 1 to 255 and distinct; `None`: not negotiated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct ReceivedExtensions {
    /// Transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01).
    pub transport_sequence: Option<u8>,
    /// Departure time, for the receiver half of a controller.
    pub abs_send_time: Option<u8>,
    /// Weir's stamp, for the receiver halves of DCCC and TFRC.
    pub stamp: Option<u8>,
    /// Frame marking (RFC 9626), for key frame requests of [`IncomingStream::key_frames`].
    pub frame_marking: Option<u8>,
}

impl From<ExtensionIds> for ReceivedExtensions {
    fn from(ids: ExtensionIds) -> Self {
        Self {
            transport_sequence: Some(ids.transport_sequence()),
            abs_send_time: Some(ids.abs_send_time()),
            stamp: Some(ids.stamp()),
            frame_marking: Some(ids.frame_marking()),
        }
    }
}

impl ReceivedExtensions {
    fn check(self) -> Result<(), ConfigRefusal> {
        let ids = [self.transport_sequence, self.abs_send_time, self.stamp, self.frame_marking];
        for (place, id) in ids.iter().enumerate() {
            if let Some(id) = *id
                && (id == 0 || ids[..place].contains(&Some(id)))
            {
                return Err(ConfigRefusal::ExtensionId(id));
            }
        }
        Ok(())
    }
}

/// Times of per-packet reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum FeedbackInterval {
    /// Reports at this interval while packets come; at least 1 ms.
    Fixed(TimeDelta),
    /// Reports take 5 % of the receive rate, each 50 to 250 ms ([`PacketFeedback::adaptive`]).
    Adaptive,
}

impl FeedbackInterval {
    /// The receiver half with these times.
    pub(super) fn receiver(self) -> PacketFeedback {
        match self {
            Self::Fixed(interval) => PacketFeedback::new(interval),
            Self::Adaptive => PacketFeedback::adaptive(),
        }
    }
}

/// Handling of packets whose source identifier no stream has. They are counted in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case", deny_unknown_fields))]
pub enum UnknownStreams {
    /// Packets are ignored.
    Ignored,
    /// A stream is added with its first packet.
    Learned {
        /// Ticks per second of its media clock, more than zero. It scales only jitter.
        clock_hz: u32,
        /// Whether its lost packets are requested.
        nack: bool,
        /// Most streams of the endpoint; packets of further ones are ignored.
        most: usize,
    },
}

/// A stream that is received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(deny_unknown_fields))]
pub struct IncomingStream {
    /// Its source identifier.
    pub ssrc: u32,
    /// Ticks per second of its media clock, more than zero.
    pub clock_hz: u32,
    /// Its retransmissions, if they were agreed on. Packets of that stream with another payload type restore no packet.
    pub retransmission: Option<RetransmissionStream>,
    /// Whether lost packets are requested (RFC 4585 §6.2.1). Where too many are lost, a key frame is requested instead.
    pub nack: bool,
    /// Minimum time between key frame requests after a loss, by frame markings (`None`: no such requests). This needs
    /// [`ReceivedExtensions::frame_marking`]; applications that know key frames otherwise call
    /// [`request_key_frame`](super::ReceivingEndpoint::request_key_frame).
    pub key_frames: Option<TimeDelta>,
}

impl IncomingStream {
    /// A stream without retransmissions and requests.
    pub const fn new(ssrc: u32, clock_hz: u32) -> Self {
        Self { ssrc, clock_hz, retransmission: None, nack: false, key_frames: None }
    }
}
