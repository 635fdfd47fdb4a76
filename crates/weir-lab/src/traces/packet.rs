//! A packet of a capture.

use std::net::IpAddr;

/// A packet of TCP or UDP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet {
    /// Which of the file, counted from 1.
    pub(super) number: u64,
    /// When it passed, in ns from whenever.
    pub(super) nanos: i64,
    pub(super) flow: FlowKey,
    /// Of the IP packet, headers included.
    pub(super) bytes: u32,
    pub(super) content: Content,
    /// Which part of an IP packet it is.
    pub(super) part: Part,
    /// What copies of it have in common and other packets of its flow do not.
    pub(super) identity: Identity,
}

/// Which way a packet went, and where it was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FlowKey {
    pub(super) from: (IpAddr, u16),
    pub(super) to: (IpAddr, u16),
    pub(super) tcp: bool,
    /// Which interface of the file, counted from 0.
    pub(super) interface: usize,
}

impl FlowKey {
    /// Whether `other` goes the other way of the same connection, wherever it was seen.
    pub(super) fn answers(&self, other: &Self) -> bool {
        (self.from, self.to, self.tcp) == (other.to, other.from, other.tcp)
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    Tcp(Segment),
    Rtp(Rtp),
    Udp,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) sequence: u32,
    /// Bytes of data.
    pub(super) data: u32,
    pub(super) syn: bool,
    pub(super) ack: bool,
    /// The timestamps option: own and echoed (RFC 7323).
    pub(super) stamps: Option<(u32, u32)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Rtp {
    pub(super) source: u32,
    pub(super) sequence: u16,
    pub(super) timestamp: u32,
}

/// Which part of an IP packet that was sent a captured one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Whole,
    /// The fragment with the ports.
    First,
    /// A fragment behind the first.
    Later,
}

/// What copies of a packet have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    /// A hash of identification, place in a fragmented packet, length and what was captured behind the IP header, without checksums.
    pub(super) hash: u64,
    /// Whether the IP header has an identification, which is not 0.
    pub(super) numbered: bool,
}
