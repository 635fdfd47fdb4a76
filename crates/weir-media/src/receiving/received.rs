//! A packet as the application gets it, and its header as it was read.

use core::ops::Range;

use weir_cc::Ecn;
use weir_wire::rtp::{self, Kind};
use weir_wire::{AbsSendTime, FrameMarking, ParseError, RtpPacket, StampExtension};

use super::config::ReceivedExtensions;
use super::packet::{ArrivedPacket, PacketDeparture};
use super::refusal::ReceivingError;

/// A packet of a known stream, in the bytes that it came in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ReceivedPacket {
    /// Source identifier of its stream. A retransmission has that of the stream it repairs.
    pub ssrc: u32,
    /// Sequence number in that stream. A retransmission has that of the packet it repeats.
    pub sequence: u16,
    /// The sequence number unwrapped: 2³² more than the first of the stream, and growing.
    pub number: u64,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit.
    pub marker: bool,
    /// Payload type on the wire. A retransmission has the type agreed on for the repeated one (`apt`).
    pub payload_type: u8,
    /// Place of the payload in the bytes, without padding. That of a retransmission begins behind the original sequence
    /// number.
    pub payload: Range<usize>,
    /// Kind of its content.
    pub content: PacketContent,
    /// Whether reports of the transport cover it: per-packet feedback, or reports of the controller's receiver half.
    pub reported: bool,
}

/// Kind of a packet's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PacketContent {
    /// Payload that the sender sends for the first time, as far as this end knows.
    Payload,
    /// Payload of a packet that is repeated (RFC 4588).
    Retransmission,
    /// No payload. In a stream of retransmissions, source identifier and sequence number are those of that stream.
    PaddingOnly,
}

/// Length of the original sequence number (RFC 4588 §4), in bytes.
const ORIGINAL_LEN: usize = 2;

/// Reads the bytes of an RTP packet.
pub(super) fn read(bytes: &[u8]) -> Result<RtpPacket<'_>, ReceivingError> {
    if rtp::demux(bytes) == Some(Kind::Rtcp) {
        return Err(ReceivingError::RtcpPacket);
    }
    Ok(RtpPacket::parse(bytes)?)
}

/// The fields of `packet`, with the original sequence number of a retransmission: a packet of the payload type given.
pub(super) fn fields(
    packet: &RtpPacket<'_>,
    ids: ReceivedExtensions,
    rtx_payload_type: Option<u8>,
    ecn: Ecn,
) -> Result<ArrivedPacket, ReceivingError> {
    let repeats = rtx_payload_type == Some(packet.payload_type) && !packet.payload.is_empty();
    let original = if repeats { Some(original(packet)?) } else { None };
    let of_header = if repeats { ORIGINAL_LEN } else { 0 };
    Ok(ArrivedPacket {
        ssrc: Some(packet.ssrc),
        sequence: packet.sequence,
        timestamp: packet.timestamp,
        marker: packet.marker,
        number: read_extension(ids.transport_sequence, |id| number(packet, id))?,
        departure: read_extension(ids.abs_send_time, |id| departure(packet, id))?,
        header: length(packet.header_len() + of_header),
        payload: length(packet.payload.len() - of_header),
        padding: u16::from(packet.padding),
        ecn,
        original,
        // The first byte, which both forms share.
        frame_marking: ids
            .frame_marking
            .and_then(|id| packet.extension(id)?.first())
            .map(|&byte| FrameMarking::from_byte(byte)),
        stamp: read_extension(ids.stamp, |id| StampExtension::of_packet(packet, id))?,
    })
}

/// No datagram is longer than the range.
fn length(bytes: usize) -> u16 {
    u16::try_from(bytes).unwrap_or(u16::MAX)
}

/// The packet `arrived`, whose bytes are `packet`, for the application.
pub(super) fn received(packet: &RtpPacket<'_>, arrived: &ArrivedPacket, ssrc: u32) -> ReceivedPacket {
    let begin = packet.header_len() + arrived.original.map_or(0, |_| ORIGINAL_LEN);
    ReceivedPacket {
        ssrc,
        sequence: arrived.original.unwrap_or(packet.sequence),
        number: 0,
        timestamp: packet.timestamp,
        marker: packet.marker,
        payload_type: packet.payload_type,
        payload: begin..packet.header_len() + packet.payload.len(),
        content: match arrived.original {
            Some(_) => PacketContent::Retransmission,
            None if packet.payload.is_empty() => PacketContent::PaddingOnly,
            None => PacketContent::Payload,
        },
        reported: false,
    }
}

/// The value that `read` finds under the ID `id`, if that was agreed on.
fn read_extension<T>(
    id: Option<u8>,
    read: impl FnOnce(u8) -> Result<Option<T>, ParseError>,
) -> Result<Option<T>, ParseError> {
    id.map_or(Ok(None), read)
}

fn original(packet: &RtpPacket<'_>) -> Result<u16, ParseError> {
    let too_short = ParseError::TooShort {
        offset: packet.header_len(),
        needed: ORIGINAL_LEN,
        available: packet.payload.len(),
    };
    packet.payload.first_chunk().map(|&bytes| u16::from_be_bytes(bytes)).ok_or(too_short)
}

/// The transport-wide number under the ID `id`. Its second version may have two further bytes, a request for feedback,
/// which is not answered here.
fn number(packet: &RtpPacket<'_>, id: u8) -> Result<Option<u16>, ParseError> {
    if let Some(&[high, low, _, _]) = packet.extension(id) {
        return Ok(Some(u16::from_be_bytes([high, low])));
    }
    Ok(packet.extension_of(id)?.map(u16::from_be_bytes))
}

fn departure(packet: &RtpPacket<'_>, id: u8) -> Result<Option<PacketDeparture>, ParseError> {
    let ticks = |[high, middle, low]: [u8; 3]| u32::from_be_bytes([0, high, middle, low]);
    let time = packet.extension_of(id)?.map(ticks).map(AbsSendTime::from_ticks);
    Ok(time.map(PacketDeparture::Wire))
}
