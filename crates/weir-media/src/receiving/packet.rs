//! A packet that has arrived, with the fields of its header.

use weir_cc::{Ecn, SendTime};
use weir_wire::{AbsSendTime, FrameMarking, StampExtension};

/// Departure of a packet, as it is known at the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum PacketDeparture {
    /// The 24 bits of abs-send-time, which wrap every 64 s.
    Wire(#[cfg_attr(feature = "serde", serde(with = "crate::wire_forms::abs_send_time"))] AbsSendTime),
    /// A reading of the sender's clock. Its zero is unknown here: only differences have a meaning.
    Clock(SendTime),
}

/// A packet that has arrived, for a stack that has read its header already. Lengths are in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ArrivedPacket {
    /// Source identifier, or `None` where the stack keeps the statistics of streams and repairs losses itself: the
    /// packet counts for per-packet feedback and controller alone. The fields up to `marker` have no meaning then.
    pub ssrc: Option<u32>,
    /// RTP sequence number.
    pub sequence: u16,
    /// RTP timestamp.
    pub timestamp: u32,
    /// RTP marker bit.
    pub marker: bool,
    /// Transport-wide sequence number, if the packet has one.
    pub number: Option<u16>,
    /// Departure, if the packet has it.
    pub departure: Option<PacketDeparture>,
    /// Length of the RTP header with its extensions and, of a retransmission, the original sequence number.
    pub header: u16,
    /// Length of the payload.
    pub payload: u16,
    /// Length of the padding after the payload.
    pub padding: u16,
    /// ECN field on arrival.
    pub ecn: Ecn,
    /// Sequence number of the packet that this one repeats, of a retransmission (RFC 4588 §4).
    pub original: Option<u16>,
    /// Position of the packet in its frame, if that is marked.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire_forms::frame_marking"))]
    pub frame_marking: Option<FrameMarking>,
    /// Stamp of a Weir sender, if the packet has one.
    #[cfg_attr(feature = "serde", serde(with = "crate::wire_forms::stamp"))]
    pub stamp: Option<StampExtension>,
}

impl ArrivedPacket {
    /// The packet `sequence` of the stream `ssrc`.
    pub fn of_stream(ssrc: u32, sequence: u16, timestamp: u32) -> Self {
        Self { ssrc: Some(ssrc), sequence, timestamp, ..Self::default() }
    }

    /// The packet `number` of the transport, of a stream that is unknown here.
    pub fn of_transport(number: u16) -> Self {
        Self { number: Some(number), ..Self::default() }
    }

    /// Length of payload and padding.
    pub(crate) fn len_behind_header(&self) -> u64 {
        u64::from(self.payload) + u64::from(self.padding)
    }
}
