//! Copies of packets, made by the emulator's thread.

use std::net::SocketAddr;
use std::sync::mpsc::SyncSender;

use crate::capture::{CapturePoint, CapturedPacket};
use crate::emulator::{Event, EventKind};
use crate::face::ip;

/// Copies of the packets that arrive at some links and leave them.
#[derive(Debug)]
pub(crate) struct PacketCopies {
    links: Vec<usize>,
    to: SyncSender<CapturedPacket>,
    /// Source and destination of the packets of each route, where packets come without IP and UDP headers.
    ends: Option<Vec<[SocketAddr; 2]>>,
    missing: u64,
}

impl PacketCopies {
    /// Copies at these links.
    pub(crate) fn new(
        links: Vec<usize>,
        to: SyncSender<CapturedPacket>,
        ends: Option<Vec<[SocketAddr; 2]>>,
    ) -> Self {
        Self { links, to, ends, missing: 0 }
    }

    /// Copies for which the receiver had no room.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    /// Sends a copy of the packet if it arrives at one of the links, or leaves one. The call does not wait.
    pub(crate) fn event(&mut self, event: &Event, bytes: &[u8]) {
        let (link, point) = match event.kind {
            EventKind::Entered { link, .. } => (link, CapturePoint::Before),
            EventKind::Left { link, .. } => (link, CapturePoint::Behind),
            EventKind::Dropped { .. } | EventKind::Delivered { .. } => return,
        };
        let Some(link) = self.links.iter().position(|&own| own == link) else { return };
        let ends = self.ends.as_ref().and_then(|ends| ends.get(event.packet.route as usize));
        let mut bytes = ends.map_or_else(|| bytes.to_vec(), |&ends| ip::udp_packet(ends, bytes));
        ip::set_ecn(&mut bytes, event.packet.ecn);
        let taken = self.to.try_send(CapturedPacket { at: event.at, link, point, bytes });
        self.missing += u64::from(taken.is_err());
    }
}
