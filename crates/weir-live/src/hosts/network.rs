//! The network as the hosts of one thread see it: sockets, couplers and a log.

use std::io;

use weir_cc::Ecn;
use weir_cc::coupled::{CouplerAction, CouplingMessage};
use weir_media::MediaPacket;
use weir_net::Time;
use weir_world::host::{Couplings, SentAction, UDP_OVERHEAD, World, packet_meta};
use weir_world::{Monitor, PacketMeta, Side};

use super::{HostSocket, extensions};
use crate::emulator::route_of;
use crate::face::MTU;
use crate::face::udp::{self, overhead};
use crate::log::HostLog;
use crate::sys::socket_drops;

/// Room for one packet.
const MAX_PACKET_BYTES: usize = 2048;
/// Longest RTCP packet: longer ones do not cross a face, headers of IPv6 included.
const RTCP_ROOM: usize = MTU - overhead(true);

/// The network as the hosts of one thread see it.
#[derive(Debug)]
pub(crate) struct LiveNetwork {
    /// Socket of each end, by its route; `None` where another thread has the end.
    ends: Vec<Option<usize>>,
    pub(crate) sockets: Vec<HostSocket>,
    pub(crate) couplings: Couplings,
    pub(crate) log: HostLog,
    rtcp: Box<[u8; MAX_PACKET_BYTES]>,
    packet: Box<[u8; MAX_PACKET_BYTES]>,
    /// Packets that the system did not take.
    pub(crate) refused: u64,
    /// First error of a socket.
    pub(crate) error: Option<io::Error>,
}

impl LiveNetwork {
    pub(crate) fn new(routes: usize, couplings: Couplings, log: HostLog) -> Self {
        Self {
            ends: vec![None; routes],
            sockets: Vec::new(),
            couplings,
            log,
            rtcp: Box::new([0; MAX_PACKET_BYTES]),
            packet: Box::new([0; MAX_PACKET_BYTES]),
            refused: 0,
            error: None,
        }
    }

    /// Adds the socket of the end of `flow` at `side`.
    pub(crate) fn add(&mut self, flow: usize, side: Side, socket: HostSocket) {
        self.ends[route_of(flow, side)] = Some(self.sockets.len());
        self.sockets.push(socket);
    }

    /// Index of the socket of this end.
    pub(crate) fn socket_of(&self, flow: usize, side: Side) -> Option<usize> {
        self.ends[route_of(flow, side)]
    }

    /// Packets that the system did not take, or dropped at a socket.
    pub(crate) fn lost(&self) -> io::Result<u64> {
        let drops = self.sockets.iter().map(|own| socket_drops(&own.socket));
        Ok(self.refused + drops.sum::<io::Result<u64>>()?)
    }

    fn transmit(&mut self, route: usize, ecn: Ecn, bytes: Bytes, length: usize) {
        let Some(HostSocket { socket, peer: Some(peer) }) =
            self.ends[route].map(|index| &self.sockets[index])
        else {
            return;
        };
        let bytes = match bytes {
            Bytes::Rtcp => &self.rtcp[..length],
            Bytes::Packet => &self.packet[..length],
        };
        match udp::send(socket, *peer, ecn, bytes) {
            Ok(true) => {}
            Ok(false) => self.refused += 1,
            Err(error) => {
                self.refused += 1;
                self.error.get_or_insert(error);
            }
        }
    }

    /// The couplers' actions that are due at `now`, one at a time.
    pub(crate) fn next_action(&mut self, now: Time) -> Option<(usize, CouplerAction)> {
        self.couplings.next_due(now, &mut self.log).map(|sent| (sent.flow, sent.action))
    }

    /// Time of the couplers' next event.
    pub(crate) fn next_coupler_event(&self, now: Time) -> Time {
        self.couplings.next_event(now)
    }
}

/// The buffer that holds a packet.
#[derive(Clone, Copy)]
enum Bytes {
    Rtcp,
    Packet,
}

impl World for LiveNetwork {
    type Monitor = HostLog;

    fn monitor(&mut self) -> &mut HostLog {
        &mut self.log
    }

    fn rtcp_buffer(&mut self) -> &mut [u8] {
        &mut self.rtcp[..RTCP_ROOM]
    }

    fn send_rtcp(&mut self, now: Time, flow: usize, from: Side, length: usize) {
        let route = route_of(flow, from);
        self.log.sent_on(route, packet_meta(now, length as u32 + UDP_OVERHEAD, 0, true));
        self.transmit(route, Ecn::NotEct, Bytes::Rtcp, length);
    }

    fn send_media(&mut self, _: Time, flow: usize, meta: PacketMeta, packet: &MediaPacket, ecn: Ecn) {
        let Ok(length) = packet.write(&extensions(), &[], self.packet.as_mut_slice()) else {
            self.refused += 1;
            return;
        };
        let route = route_of(flow, Side::Sender);
        self.log.sent_on(route, meta);
        self.transmit(route, ecn, Bytes::Packet, length);
    }

    fn send_constant(&mut self, _: Time, flow: usize, meta: PacketMeta) {
        let length = (meta.wire_size.saturating_sub(UDP_OVERHEAD) as usize).min(MAX_PACKET_BYTES);
        self.packet[..length].fill(0);
        let route = route_of(flow, Side::Sender);
        self.log.sent_on(route, meta);
        self.transmit(route, Ecn::NotEct, Bytes::Packet, length);
    }

    fn send_message(&mut self, now: Time, flow: usize, message: &CouplingMessage) {
        // A far coupler's wake-up is that of `next_coupler_event`.
        let _far = self.couplings.send(now, flow, message, &mut self.log);
    }

    fn poll_action(&mut self, now: Time, flow: usize) -> Option<CouplerAction> {
        let near = self.couplings.near(flow)?;
        let SentAction { action, aggregate, .. } = self.couplings.answer(now, near, flow, &self.log)?;
        self.log.coupler_action(now, flow, &action, aggregate);
        Some(action)
    }
}
