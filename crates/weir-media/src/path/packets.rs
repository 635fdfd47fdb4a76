//! Packets at the mechanism of a sender: about to leave, sent by another pacer, and departed.

use weir_cc::{Probe, ProbeId, SentPacket};
use weir_wire::FrameMarking;
use weir_wire::media::MediaHeader;

/// A packet that is about to leave.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingPacket {
    /// Place of its stream.
    pub(crate) stream: usize,
    pub(crate) payload_type: u8,
    /// RTP timestamp; padding has none.
    pub(crate) timestamp: Option<u32>,
    /// Payload bytes.
    pub(crate) payload: u16,
    pub(crate) marker: bool,
    /// Position in its frame.
    pub(crate) marking: Option<FrameMarking>,
    /// Sequence number of the packet that it repeats.
    pub(crate) original: Option<u16>,
    /// Whether it is padding alone.
    pub(crate) padding: bool,
    /// Whether it goes by the pacer. Audio does not.
    pub(crate) paced: bool,
}

/// A packet that left without the mechanism's pacer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReportedPacket {
    /// Place of its stream.
    pub(crate) stream: usize,
    pub(crate) sequence: u16,
    pub(crate) timestamp: u32,
    /// Bytes of the RTP header.
    pub(crate) header: u16,
    /// Payload bytes, or bytes of padding.
    pub(crate) payload: u16,
    pub(crate) padding: bool,
    pub(crate) probe: Option<ProbeId>,
}

/// A packet that has just left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DepartedPacket {
    pub(crate) header: MediaHeader,
    /// The probe that it belongs to.
    pub(crate) probe: Option<Probe>,
    /// The packet as the history has it.
    pub(crate) sent: SentPacket,
}
