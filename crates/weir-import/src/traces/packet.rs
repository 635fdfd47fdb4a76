//! A packet of a capture.

use std::net::IpAddr;

/// A packet of TCP or UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// Its number in the file, from 1.
    pub(super) number: u64,
    /// Time at which it was captured, in ns since any fixed time.
    pub(crate) nanos: i64,
    pub(crate) flow: FlowKey,
    /// Length of the IP packet, headers included.
    pub(crate) bytes: u32,
    /// The part of an IP packet that it carries.
    pub(super) part: PacketPart,
    /// A value that all copies of the packet share, and other packets of its flow do not.
    pub(super) identity: CopyIdentity,
}

/// A direction between two ports, and the interface that saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct FlowKey {
    pub from: (IpAddr, u16),
    pub to: (IpAddr, u16),
    pub(super) tcp: bool,
    /// The number of the interface in the file, from 0.
    pub(super) interface: usize,
}

impl FlowKey {
    /// The opposite direction.
    pub(crate) const fn reversed(self) -> Self {
        Self { from: self.to, to: self.from, ..self }
    }
}

/// The part of an IP packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketPart {
    Whole,
    /// The fragment with the ports.
    First,
    /// A fragment behind the first.
    Later,
}

/// A value that copies of a packet share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CopyIdentity {
    /// A hash of identification, fragment offset, length and the captured bytes behind the IP header, without checksums.
    pub(super) hash: u64,
    /// Whether the IP header has an identification, which is not 0.
    pub(super) numbered: bool,
}
