//! The RTP header that Weir's endpoints put before their media, as a plain value at the resolution of the wire.
//!
//! An RTP header without contributing sources and with one extension block in the one-byte form:
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! |V=2|0|1|   0   |M|     PT      |        sequence number        |
//! |                           timestamp                           |
//! |                             SSRC                              |
//! |            0xBEDE             | length = 2, stamped: 3, or 4  |
//! | ID=3  | len=2 |           abs-send-time (24 bits)             |
//! | ID=5  | len=1 |      transport sequence       | ID=7  | len=1 |   not stamped: zero for the last byte
//! |     RTT in units of 100 us    | ID=9  | len=0 |frame marking  |   only if stamped; zeros if not marked
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! A stamp with a rate has this end:
//!
//! ```text
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! | ID=5  | len=1 |      transport sequence       | ID=7  | len=5 |
//! |     RTT in units of 100 us    |     rate in bit/s, upper 16   |
//! |           lower 16            | ID=9  | len=0 |frame marking  |   zeros if not marked
//! +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//! ```
//!
//! The transport-wide sequence number is that of draft-holmer-rmcat-transport-wide-cc-extensions-01, one counter over
//! all streams of the transport. The [`StampExtension`] is Weir's own; the [`FrameMarking`] that may end the block is
//! that of RFC 9626.

use core::fmt;

use crate::abs_send_time::AbsSendTime;
use crate::cursor::Writer;
use crate::error::{BufferTooSmall, ParseError};
use crate::frame_marking::FrameMarking;
use crate::rtp::{FIXED_HEADER_LEN, ONE_BYTE_PROFILE, RtpPacket, VERSION};

/// Length of an IPv4 header without options, in bytes.
pub const IPV4_HEADER_LEN: usize = 20;
/// Length of a UDP header, in bytes.
pub const UDP_HEADER_LEN: usize = 8;
/// Overhead of UDP over IPv4 per packet, in bytes.
pub const UDP_IPV4_OVERHEAD: usize = IPV4_HEADER_LEN + UDP_HEADER_LEN;

/// Data from a controller's sender to its receiver in each packet: a header extension of two bytes, or of six if
/// the sender knows its rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StampExtension {
    /// The sender's round-trip time in units of 100 µs, 0 while unknown; the largest value, 6.5535 s, also covers
    /// longer times.
    pub rtt: u16,
    /// The sending rate in bit/s, 0 while unknown or of no use; 2³² − 1 also covers faster rates.
    pub rate: u32,
}

/// Nanoseconds in the unit of the stamp's round-trip time.
const RTT_UNIT_NANOS: i64 = 100_000;
/// Length of a stamp without its rate, in bytes.
const RTT_LEN: usize = 2;
/// Length of a stamp with its rate, in bytes.
const RTT_AND_RATE_LEN: usize = 6;

impl StampExtension {
    /// The stamp for a round-trip time in nanoseconds, to the nearest unit, and a rate in bit/s. A time of zero or less
    /// means unknown; anything longer is at least one unit, so that a short path is not taken for an unknown one. A
    /// rate of zero means unknown.
    pub const fn new(rtt_nanos: i64, rate_bps: u64) -> Self {
        let rate = if rate_bps > u32::MAX as u64 { u32::MAX } else { rate_bps as u32 };
        if rtt_nanos <= 0 {
            return Self { rtt: 0, rate };
        }
        let units = rtt_nanos.saturating_add(RTT_UNIT_NANOS / 2) / RTT_UNIT_NANOS;
        let rtt = if units > u16::MAX as i64 { u16::MAX } else { units as u16 };
        Self { rtt: if rtt == 0 { 1 } else { rtt }, rate }
    }

    /// The round-trip time in nanoseconds, 0 while unknown.
    pub const fn rtt_nanos(self) -> i64 {
        self.rtt as i64 * RTT_UNIT_NANOS
    }

    /// The stamp under the ID `id` in the header of `packet`, if it has one.
    ///
    /// # Errors
    /// If the extension has the wrong length.
    pub fn of_packet(packet: &RtpPacket<'_>, id: u8) -> Result<Option<Self>, ParseError> {
        if let Some(&[high, low, ref rate @ ..]) = packet.extension(id)
            && let Ok(rate) = rate.try_into()
        {
            return Ok(Some(Self { rtt: u16::from_be_bytes([high, low]), rate: u32::from_be_bytes(rate) }));
        }
        Ok(packet.extension_of(id)?.map(|rtt| Self { rtt: u16::from_be_bytes(rtt), rate: 0 }))
    }

    /// Length of its data on the wire in bytes.
    const fn data_len(self) -> usize {
        if self.rate == 0 { RTT_LEN } else { RTT_AND_RATE_LEN }
    }
}

/// The IDs under which a session carries the header extensions: distinct and within 1 to 14.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionIds {
    abs_send_time: u8,
    transport_sequence: u8,
    stamp: u8,
    frame_marking: u8,
}

impl Default for ExtensionIds {
    /// abs-send-time 3, transport-wide sequence number 5, stamp 7, frame marking 9.
    fn default() -> Self {
        Self { abs_send_time: 3, transport_sequence: 5, stamp: 7, frame_marking: 9 }
    }
}

impl ExtensionIds {
    /// A set of IDs.
    ///
    /// # Errors
    /// If two are the same, or one is not within 1 to 14: the one-byte form has no others.
    pub const fn new(
        abs_send_time: u8,
        transport_sequence: u8,
        stamp: u8,
        frame_marking: u8,
    ) -> Result<Self, InvalidExtensionIds> {
        let ids = Self { abs_send_time, transport_sequence, stamp, frame_marking };
        // Four IDs from 1 to 14 are distinct if they set four bits.
        let all = [abs_send_time, transport_sequence, stamp, frame_marking];
        let (mut bits, mut n) = (0_u16, 0);
        while n < all.len() {
            bits |= if all[n] < 16 { 1 << all[n] } else { 0 };
            n += 1;
        }
        if (bits & USABLE_IDS).count_ones() == 4 { Ok(ids) } else { Err(InvalidExtensionIds(ids)) }
    }

    /// ID of abs-send-time.
    pub const fn abs_send_time(&self) -> u8 {
        self.abs_send_time
    }

    /// ID of the transport-wide sequence number.
    pub const fn transport_sequence(&self) -> u8 {
        self.transport_sequence
    }

    /// ID of the [`StampExtension`].
    pub const fn stamp(&self) -> u8 {
        self.stamp
    }

    /// ID of the [`FrameMarking`].
    pub const fn frame_marking(&self) -> u8 {
        self.frame_marking
    }
}

/// The IDs from 1 to 14, as bits.
const USABLE_IDS: u16 = 0x7FFE;

/// Extension IDs that a session cannot use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidExtensionIds(ExtensionIds);

impl fmt::Display for InvalidExtensionIds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ExtensionIds { abs_send_time, transport_sequence, stamp, frame_marking } = self.0;
        write!(
            f,
            "extension IDs {abs_send_time} (abs-send-time), {transport_sequence} (transport sequence), {stamp} \
             (stamp) and {frame_marking} (frame marking) must be distinct and within 1 to 14"
        )
    }
}

impl core::error::Error for InvalidExtensionIds {}

/// The header of a media packet. The value and its bytes carry the same information.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct MediaHeader {
    /// Payload type, 0 to 127; the upper bit is not written. With the marker set, 64 to 95 would be taken for RTCP
    /// (RFC 5761 §4).
    pub payload_type: u8,
    /// Marker: the last packet of a frame.
    pub marker: bool,
    /// Sequence number of the stream.
    pub sequence: u16,
    /// Media time in ticks of the media clock.
    pub timestamp: u32,
    /// Synchronisation source: the stream.
    pub ssrc: u32,
    /// When the packet left.
    pub abs_send_time: AbsSendTime,
    /// Lower 16 bits of the packet's number on the transport.
    pub transport_sequence: u16,
    /// Stamp of the controller's sender, if it sends one.
    pub stamp: Option<StampExtension>,
    /// Position of the packet in its frame, if that is marked.
    pub frame_marking: Option<FrameMarking>,
    /// Sequence number of the packet that this one repeats (RFC 4588 §4): two bytes behind the header, of packets with
    /// [`RETRANSMISSION_PAYLOAD_TYPE`].
    pub original: Option<u16>,
}

/// Payload type of retransmissions.
pub const RETRANSMISSION_PAYLOAD_TYPE: u8 = 97;
/// Length of the original sequence number behind the header of a retransmission, in bytes.
const ORIGINAL_LEN: usize = 2;
/// Length of the longest media header with an original sequence number behind it, in bytes.
pub const LONGEST_LEN: usize = RATED_LEN + ORIGINAL_LEN;
/// Length of a media header with neither stamp nor frame marking, in bytes.
pub const PLAIN_LEN: usize = FIXED_HEADER_LEN + 12;
/// Length of a media header with a stamp without its rate, with a frame marking, or with both, in bytes.
pub const STAMPED_LEN: usize = PLAIN_LEN + 4;
/// Length of a media header with a stamp and its rate, marked or not, in bytes: no media header is longer.
pub const RATED_LEN: usize = PLAIN_LEN + 8;

/// Length on the wire in bytes of a media header with this stamp and with or without a frame marking: [`PLAIN_LEN`],
/// [`STAMPED_LEN`] or [`RATED_LEN`].
pub const fn header_len(stamp: Option<StampExtension>, marked: bool) -> usize {
    match (stamp, marked) {
        (None, false) => PLAIN_LEN,
        (None, true) | (Some(StampExtension { rate: 0, .. }), _) => STAMPED_LEN,
        (Some(_), _) => RATED_LEN,
    }
}

impl MediaHeader {
    /// Length on the wire in bytes; see [`header_len`]. The original sequence number of a retransmission counts.
    pub const fn wire_len(&self) -> usize {
        self.rtp_len() + if self.original.is_some() { ORIGINAL_LEN } else { 0 }
    }

    const fn rtp_len(&self) -> usize {
        header_len(self.stamp, self.frame_marking.is_some())
    }

    /// Writes the header to the start of `buffer` and returns its length.
    ///
    /// # Errors
    /// If the buffer is shorter than [`Self::wire_len`]. The buffer stays unchanged then.
    pub fn write(&self, ids: &ExtensionIds, buffer: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let length = self.rtp_len();
        let available = buffer.len();
        let needed = self.wire_len();
        let (buffer, rest) = buffer
            .split_at_mut_checked(length)
            .filter(|_| available >= needed)
            .ok_or(BufferTooSmall { needed, available })?;
        let mut writer = Writer::new(buffer, length)?;
        writer.u8(VERSION << 6 | EXTENSION_FLAG);
        writer.u8(u8::from(self.marker) << 7 | self.payload_type & 0x7F);
        writer.u16(self.sequence);
        writer.u32(self.timestamp);
        writer.u32(self.ssrc);
        writer.u16(ONE_BYTE_PROFILE);
        writer.u16(((length - FIXED_HEADER_LEN) / 4 - 1) as u16);
        writer.u8(element_prefix(ids.abs_send_time, 3));
        writer.u24(self.abs_send_time.ticks());
        writer.u8(element_prefix(ids.transport_sequence, 2));
        writer.u16(self.transport_sequence);
        if let Some(stamp) = self.stamp {
            writer.u8(element_prefix(ids.stamp, stamp.data_len() as u8));
            writer.u16(stamp.rtt);
            if stamp.rate > 0 {
                writer.u32(stamp.rate);
            }
        }
        if let Some(marking) = self.frame_marking {
            writer.u8(element_prefix(ids.frame_marking, 1));
            writer.u8(marking.byte());
        }
        writer.zeros();
        if let Some(original) = self.original {
            rest[..ORIGINAL_LEN].copy_from_slice(&original.to_be_bytes());
        }
        Ok(needed)
    }

    /// Reads the header at the start of an RTP packet.
    ///
    /// # Errors
    /// If `bytes` are no RTP packet, or as [`Self::from_packet`].
    pub fn parse(bytes: &[u8], ids: &ExtensionIds) -> Result<Self, ParseError> {
        Self::from_packet(&RtpPacket::parse(bytes)?, ids)
    }

    /// The fields of an RTP packet's header. Contributing sources and other extensions are skipped.
    ///
    /// # Errors
    /// If abs-send-time or the transport-wide sequence number is missing, or an extension has the wrong length.
    pub fn from_packet(packet: &RtpPacket<'_>, ids: &ExtensionIds) -> Result<Self, ParseError> {
        let [high, middle, low] = required(packet, ids.abs_send_time)?;
        Ok(Self {
            payload_type: packet.payload_type,
            marker: packet.marker,
            sequence: packet.sequence,
            timestamp: packet.timestamp,
            ssrc: packet.ssrc,
            abs_send_time: AbsSendTime::from_ticks(u32::from_be_bytes([0, high, middle, low])),
            transport_sequence: required(packet, ids.transport_sequence).map(u16::from_be_bytes)?,
            stamp: StampExtension::of_packet(packet, ids.stamp)?,
            // The first byte, which both forms share.
            frame_marking: packet
                .extension(ids.frame_marking)
                .and_then(|data| data.first())
                .map(|&byte| FrameMarking::from_byte(byte)),
            original: packet
                .payload
                .first_chunk()
                .filter(|_| packet.payload_type == RETRANSMISSION_PAYLOAD_TYPE)
                .map(|&bytes| u16::from_be_bytes(bytes)),
        })
    }
}

/// The bit of the first byte that announces an extension block.
const EXTENSION_FLAG: u8 = 0x10;

/// The byte before the data of a one-byte-form element.
const fn element_prefix(id: u8, data_len: u8) -> u8 {
    id << 4 | (data_len - 1)
}

fn required<const N: usize>(packet: &RtpPacket<'_>, id: u8) -> Result<[u8; N], ParseError> {
    packet
        .extension_of(id)?
        .ok_or_else(|| ParseError::MissingExtension { offset: packet.extension_offset(), id })
}

#[cfg(test)]
mod tests;
