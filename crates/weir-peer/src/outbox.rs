//! Packets of an end that wait to be sent.

use std::collections::VecDeque;
use std::net::SocketAddr;

use weir_cc::Ecn;

/// The protection that a packet still needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketSealing {
    /// The session's trailer.
    Session,
    /// No further one: a packet of the handshake.
    Finished,
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QueuedPacket {
    start: usize,
    length: usize,
    pub(crate) ecn: Ecn,
    /// The destination, where it is not the peer of the session.
    pub(crate) to: Option<SocketAddr>,
    pub(crate) sealing: PacketSealing,
}

/// Packets in the order in which they leave. Their bytes stand in one buffer, which is emptied with the last of them.
#[derive(Debug, Default)]
pub(crate) struct PacketOutbox {
    bytes: Vec<u8>,
    packets: VecDeque<QueuedPacket>,
}

impl PacketOutbox {
    /// Adds a packet for the peer of the session.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.add(bytes, Ecn::NotEct, None, PacketSealing::Session);
    }

    /// Adds a packet for the address `to`.
    pub(crate) fn push_to(&mut self, to: SocketAddr, bytes: &[u8], sealing: PacketSealing) {
        self.add(bytes, Ecn::NotEct, Some(to), sealing);
    }

    /// Adds a packet of media.
    pub(crate) fn push_media(&mut self, bytes: &[u8], ecn: Ecn) {
        self.add(bytes, ecn, None, PacketSealing::Session);
    }

    fn add(&mut self, bytes: &[u8], ecn: Ecn, to: Option<SocketAddr>, sealing: PacketSealing) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.packets.push_back(QueuedPacket { start, length: bytes.len(), ecn, to, sealing });
    }

    /// The next packet, copied into `out`.
    pub(crate) fn pop(&mut self, out: &mut Vec<u8>) -> Option<QueuedPacket> {
        let Some(packet) = self.packets.pop_front() else {
            self.bytes.clear();
            return None;
        };
        out.clear();
        out.extend_from_slice(&self.bytes[packet.start..packet.start + packet.length]);
        Some(packet)
    }
}
