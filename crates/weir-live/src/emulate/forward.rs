//! A forwarder of UDP as a face: one socket to the near side, one to the peer.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use weir_cc::Ecn;

use crate::face::ip;
use crate::face::udp::{overhead, prepare, receive, send};
use crate::face::{Face, FaceArrival, Received};
use crate::sys;

/// The two sockets. Route 0 leads from the near side to the peer, route 1 back to the latest sender of the near side.
#[derive(Debug)]
pub(super) struct ForwardFace {
    sockets: [OwnedFd; 2],
    listens_at: SocketAddr,
    peer: SocketAddr,
    latest: Option<SocketAddr>,
}

impl ForwardFace {
    /// A forwarder from `listen` to `peer`. An error comes with the address that it concerns.
    pub(super) fn new(listen: SocketAddr, peer: SocketAddr) -> Result<Self, (SocketAddr, io::Error)> {
        let open = |address: SocketAddr| {
            let socket = UdpSocket::bind(address)?;
            prepare(&socket)?;
            Ok(socket)
        };
        let any: IpAddr =
            if peer.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
        let near = open(listen).map_err(|error| (listen, error))?;
        let listens_at = near.local_addr().map_err(|error| (listen, error))?;
        let far = open((any, 0).into()).map_err(|error| (peer, error))?;
        Ok(Self { sockets: [near.into(), far.into()], listens_at, peer, latest: None })
    }

    /// The address at which packets arrive.
    pub(super) fn listens_at(&self) -> SocketAddr {
        self.listens_at
    }
}

impl Face for ForwardFace {
    fn descriptors(&self) -> &[OwnedFd] {
        &self.sockets
    }

    fn receive(&mut self, descriptor: usize, buffer: &mut [u8]) -> io::Result<Received> {
        let Some(datagram) = receive(&self.sockets[descriptor], buffer)? else { return Ok(Received::Empty) };
        if descriptor == 0 {
            self.latest = Some(datagram.from);
        } else if datagram.from != self.peer {
            return Ok(Received::Foreign);
        }
        if datagram.truncated {
            return Ok(Received::TooLong);
        }
        Ok(Received::Packet(FaceArrival {
            route: descriptor as u32,
            length: datagram.length as u32,
            flow: ip::flow_of(&(datagram.from, descriptor)),
            wire_size: (datagram.length + overhead(datagram.from.is_ipv6())) as u32,
            ecn: datagram.ecn,
            stamp: datagram.stamp,
        }))
    }

    fn send(&mut self, route: u32, ecn: Ecn, bytes: &mut [u8]) -> io::Result<bool> {
        if route == 0 {
            return send(&self.sockets[1], self.peer, ecn, bytes);
        }
        // Answers before the first packet have no receiver.
        let Some(latest) = self.latest else { return Ok(false) };
        send(&self.sockets[0], latest, ecn, bytes)
    }

    fn drops(&self) -> io::Result<u64> {
        self.sockets.iter().map(sys::socket_drops).sum()
    }
}
