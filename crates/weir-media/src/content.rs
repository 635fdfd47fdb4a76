//! Frames and packets of a flow, with their content.

use weir_units::DataSize;
use weir_wire::FrameMarking;
use weir_wire::media::MediaHeader;

use crate::packetiser::MediaPosition;
use crate::sources::Kind;

/// Dynamic payload type of the media packets.
const PAYLOAD_TYPE: u8 = 96;
/// Dynamic payload type of audio packets.
const AUDIO_PAYLOAD_TYPE: u8 = 111;
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
}

/// Content of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Video(MediaPosition),
    /// RTP timestamp, and payload in bytes.
    Audio(u32, u16),
    Padding,
}

impl Content {
    pub(crate) fn payload(self) -> u16 {
        match self {
            Self::Video(piece) => piece.payload,
            Self::Audio(_, payload) => payload,
            Self::Padding => PADDING_PAYLOAD,
        }
    }

    pub(crate) fn payload_type(self) -> u8 {
        if self.is_audio() { AUDIO_PAYLOAD_TYPE } else { PAYLOAD_TYPE }
    }

    pub(crate) fn kind(self) -> Kind {
        if self.is_audio() { Kind::Audio } else { Kind::Video }
    }

    /// RTP timestamp; padding has none.
    pub(crate) fn timestamp(self) -> Option<u32> {
        match self {
            Self::Video(piece) => Some(piece.timestamp),
            Self::Audio(timestamp, _) => Some(timestamp),
            Self::Padding => None,
        }
    }

    pub(crate) fn marking(self) -> Option<FrameMarking> {
        if let Self::Video(piece) = self {
            Some(FrameMarking::new(piece.first, piece.last, piece.key))
        } else {
            None
        }
    }

    pub(crate) fn frame(self) -> Option<u32> {
        if let Self::Video(piece) = self { Some(piece.frame) } else { None }
    }

    pub(crate) fn is_last_of_frame(self) -> bool {
        matches!(self, Self::Video(piece) if piece.last)
    }

    pub(crate) fn is_audio(self) -> bool {
        matches!(self, Self::Audio(..))
    }
}

/// A frame that was captured and packetised, or skipped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
