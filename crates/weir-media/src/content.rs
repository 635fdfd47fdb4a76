//! Frames and packets of a flow, with their content.

use weir_cc::Probe;
use weir_units::DataSize;
use weir_wire::media::{ExtensionIds, MediaHeader, RETRANSMISSION_PAYLOAD_TYPE};
use weir_wire::{BufferTooSmall, FrameMarking};

use crate::packetiser::MediaPosition;
use crate::sources::Kind;

/// Dynamic payload type of the media packets.
const PAYLOAD_TYPE: u8 = 96;
/// Dynamic payload type of audio packets.
const AUDIO_PAYLOAD_TYPE: u8 = 111;
/// The P bit of an RTP header, in its first byte.
const PADDING_BIT: u8 = 1 << 5;
/// Payload of a padding packet: RTP padding counts in one byte.
pub(crate) const PADDING_PAYLOAD: u16 = 255;

/// A media packet that leaves now: its header as on the wire, and additional values for measurements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MediaPacket {
    /// RTP header with extensions, at the resolution of the wire.
    pub header: MediaHeader,
    /// Payload bytes.
    pub payload: u16,
    /// The frame it belongs to, if it is video.
    pub frame: Option<u32>,
    /// Whether it is audio.
    pub audio: bool,
    /// The probe that it belongs to.
    pub probe: Option<Probe>,
}

impl MediaPacket {
    /// Writes the whole packet into `out`: header, `payload`, and zeros for the payload bytes that `payload` lacks. A packet of
    /// padding has its P bit and its count (RFC 3550 §5.1). Returns the length.
    ///
    /// # Errors
    /// `out` is shorter than the packet.
    pub fn write(&self, ids: &ExtensionIds, payload: &[u8], out: &mut [u8]) -> Result<usize, BufferTooSmall> {
        let start = self.header.write(ids, out)?;
        let length = start + usize::from(self.payload);
        let available = out.len();
        let body = out.get_mut(start..length).ok_or(BufferTooSmall { needed: length, available })?;
        let (given, rest) = body.split_at_mut(payload.len().min(body.len()));
        given.copy_from_slice(&payload[..given.len()]);
        rest.fill(0);
        if self.is_padding() {
            write_padding(&mut out[..length], start);
        }
        Ok(length)
    }

    /// Whether the packet is padding alone.
    pub const fn is_padding(&self) -> bool {
        self.frame.is_none() && !self.audio
    }
}

/// Makes the bytes of `packet` from `start` on padding, with the P bit and the count (RFC 3550 §5.1).
pub(crate) fn write_padding(packet: &mut [u8], start: usize) {
    let bytes = &mut packet[start..];
    let count = bytes.len();
    bytes.fill(0);
    if let Some(last) = bytes.last_mut() {
        *last = u8::try_from(count).unwrap_or(u8::MAX);
        packet[0] |= PADDING_BIT;
    }
}

/// Content of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Video(MediaPosition),
    /// Video that is sent again, with its first sequence number.
    Retransmission(u16, MediaPosition),
    /// RTP timestamp, and payload in bytes.
    Audio(u32, u16),
    Padding,
}

impl Content {
    pub(crate) fn payload(self) -> u16 {
        match self {
            Self::Video(piece) | Self::Retransmission(_, piece) => piece.payload,
            Self::Audio(_, payload) => payload,
            Self::Padding => PADDING_PAYLOAD,
        }
    }

    pub(crate) fn payload_type(self) -> u8 {
        match self {
            Self::Video(_) | Self::Padding => PAYLOAD_TYPE,
            Self::Audio(..) => AUDIO_PAYLOAD_TYPE,
            Self::Retransmission(..) => RETRANSMISSION_PAYLOAD_TYPE,
        }
    }

    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::Video(_) | Self::Padding => Kind::Video,
            Self::Audio(..) => Kind::Audio,
            Self::Retransmission(..) => Kind::Retransmission,
        }
    }

    /// RTP timestamp; padding has none.
    pub(crate) fn timestamp(self) -> Option<u32> {
        match self {
            Self::Video(piece) | Self::Retransmission(_, piece) => Some(piece.timestamp),
            Self::Audio(timestamp, _) => Some(timestamp),
            Self::Padding => None,
        }
    }

    pub(crate) fn marking(self) -> Option<FrameMarking> {
        if let Self::Video(piece) | Self::Retransmission(_, piece) = self {
            Some(FrameMarking::new(piece.first, piece.last, piece.key))
        } else {
            None
        }
    }

    pub(crate) fn frame(self) -> Option<u32> {
        if let Self::Video(piece) | Self::Retransmission(_, piece) = self { Some(piece.frame) } else { None }
    }

    pub(crate) fn is_last_of_frame(self) -> bool {
        matches!(self, Self::Video(piece) | Self::Retransmission(_, piece) if piece.last)
    }

    /// Sequence number of the packet that it repeats.
    pub(crate) fn original(self) -> Option<u16> {
        if let Self::Retransmission(sequence, _) = self { Some(sequence) } else { None }
    }

    pub(crate) fn is_audio(self) -> bool {
        matches!(self, Self::Audio(..))
    }
}

/// A frame that was captured and packetised, or skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SentFrame {
    /// Its number, from 0.
    pub number: u32,
    /// Packets it was split into; 0 for a frame that was skipped, whose number is that of the next.
    pub packets: u16,
    /// Payload bytes.
    pub size: DataSize,
    /// Whether it is a key frame.
    pub key: bool,
}

#[cfg(test)]
mod tests {
    use weir_wire::RtpPacket;

    use super::*;

    #[test]
    fn a_packet_of_padding_is_marked_and_one_of_media_carries_its_bytes() {
        let ids = ExtensionIds::default();
        let mut out = [0xff; 512];
        let padding = MediaPacket {
            header: MediaHeader::default(),
            payload: PADDING_PAYLOAD,
            frame: None,
            audio: false,
            probe: None,
        };
        let length = padding.write(&ids, &[], &mut out).unwrap();
        assert_eq!(length, padding.header.wire_len() + 255);
        let parsed = RtpPacket::parse(&out[..length]).unwrap();
        assert_eq!((parsed.payload.len(), parsed.padding), (0, 255));

        let media = MediaPacket { payload: 5, frame: Some(3), ..padding };
        let length = media.write(&ids, b"abc", &mut out).unwrap();
        assert_eq!(RtpPacket::parse(&out[..length]).unwrap().payload, b"abc\0\0");
        assert!(media.write(&ids, b"abc", &mut out[..length - 1]).is_err());
    }
}
