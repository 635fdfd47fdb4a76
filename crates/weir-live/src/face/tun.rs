//! The TUN face: hosts in network namespaces of their own, whose packets come from TUN devices.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use nix::unistd::{read, write};
use weir_cc::Ecn;

use super::ip::{self, Header};
use super::{Face, FaceArrival, Received, is_of_one_packet};
use crate::namespace::Namespace;

/// A flow between two hosts. Routes 2f and 2f + 1 are those of flow f from the first end and from the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TunFlow {
    /// Index of the host of each end.
    pub hosts: [usize; 2],
    /// Address and port of each end; port zero stands for any.
    pub ends: [SocketAddr; 2],
    /// Protocol number; `None` stands for any.
    pub protocol: Option<u8>,
}

impl TunFlow {
    /// The end from which this packet comes, if it belongs to the flow.
    fn side(&self, header: &Header) -> Option<usize> {
        if self.protocol.is_some_and(|protocol| protocol != header.protocol) {
            return None;
        }
        let is = |end: SocketAddr, of: SocketAddr| {
            end.ip() == of.ip() && (end.port() == 0 || end.port() == of.port())
        };
        let from =
            |side: usize| is(self.ends[side], header.source) && is(self.ends[1 - side], header.destination);
        (0..2).find(|&side| from(side))
    }

    /// Whether the packet is between the hosts of the flow.
    fn is_between(&self, header: &Header) -> bool {
        let [one, other] = self.ends.map(|end| end.ip());
        [(one, other), (other, one)].contains(&(header.source.ip(), header.destination.ip()))
    }
}

/// Whether a packet may be one of a run. The kernel itself sends others, such as those of ICMP.
fn is_traffic(header: &Header) -> bool {
    matches!(header.protocol, ip::TCP | ip::UDP)
}

/// The TUN face.
#[derive(Debug)]
pub struct TunFace {
    hosts: Vec<Arc<Namespace>>,
    devices: Vec<OwnedFd>,
    flows: Vec<TunFlow>,
}

impl TunFace {
    /// A face for flows between hosts. The first flow that fits a packet has it.
    ///
    /// # Errors
    /// If a flow has a host that is not there, or there are no descriptors left.
    pub fn new(hosts: Vec<Arc<Namespace>>, flows: Vec<TunFlow>) -> io::Result<Self> {
        if let Some(&host) = flows.iter().flat_map(|flow| &flow.hosts).find(|&&host| host >= hosts.len()) {
            let text = format!("a flow is of host {host}, but there are {} hosts", hosts.len());
            return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
        }
        let devices = hosts.iter().map(|host| host.device()).collect::<io::Result<_>>()?;
        Ok(Self { hosts, devices, flows })
    }
}

impl Face for TunFace {
    fn descriptors(&self) -> &[OwnedFd] {
        &self.devices
    }

    fn receive(&mut self, descriptor: usize, buffer: &mut [u8]) -> io::Result<Received> {
        // A packet that is longer than the buffer would be cut: none is, as the MTU is below it.
        let length = match read(&self.devices[descriptor], buffer) {
            Ok(length) => length,
            Err(error) if is_of_one_packet(error) => return Ok(Received::Empty),
            Err(error) => return Err(error.into()),
        };
        let Some(header) = ip::parse(&buffer[..length]) else { return Ok(Received::Foreign) };
        let found =
            self.flows.iter().enumerate().find_map(|(flow, spec)| Some(2 * flow + spec.side(&header)?));
        let Some(route) = found else {
            let lost = is_traffic(&header) && self.flows.iter().any(|flow| flow.is_between(&header));
            return Ok(if lost { Received::Unknown } else { Received::Foreign });
        };
        // A route of any protocol has the flows of many programs.
        let flow = if self.flows[route / 2].protocol.is_some() { 0 } else { header.flow() };
        let (route, length) = (route as u32, length as u32);
        let ecn = header.ecn;
        Ok(Received::Packet(FaceArrival { route, length, wire_size: length, flow, ecn, stamp: None }))
    }

    fn send(&mut self, route: u32, ecn: Ecn, bytes: &mut [u8]) -> io::Result<bool> {
        let (flow, side) = (route as usize / 2, route as usize % 2);
        let host = self.flows[flow].hosts[1 - side];
        ip::set_ecn(bytes, ecn);
        match write(&self.devices[host], bytes) {
            Ok(_) => Ok(true),
            Err(error) if is_of_one_packet(error) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    fn drops(&self) -> io::Result<u64> {
        self.hosts.iter().map(|host| host.drops()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(source: &str, destination: &str, protocol: u8) -> Header {
        let [source, destination] = [source, destination].map(|address| address.parse().unwrap());
        Header { source, destination, protocol, ecn: Ecn::NotEct }
    }

    #[test]
    fn a_flow_has_the_packets_between_its_ends_in_both_directions() {
        let ends = ["10.84.1.1:0", "10.84.2.1:443"].map(|end| end.parse().unwrap());
        let flow = TunFlow { hosts: [0, 1], ends, protocol: Some(ip::TCP) };
        let side = |source, destination, protocol| flow.side(&header(source, destination, protocol));
        assert_eq!(side("10.84.1.1:40000", "10.84.2.1:443", ip::TCP), Some(0));
        assert_eq!(side("10.84.2.1:443", "10.84.1.1:40000", ip::TCP), Some(1));
        assert_eq!(side("10.84.1.1:40000", "10.84.2.1:443", ip::UDP), None);
        assert_eq!(side("10.84.1.1:443", "10.84.2.1:40000", ip::TCP), None);
        assert_eq!(side("10.84.3.1:40000", "10.84.2.1:443", ip::TCP), None);
        let any = TunFlow { protocol: None, ..flow };
        assert_eq!(any.side(&header("10.84.1.1:1", "10.84.2.1:443", 132)), Some(0));
        // The second fragment of a datagram has no ports, and is lost.
        let fragment = header("10.84.2.1:0", "10.84.1.1:0", ip::UDP);
        assert!(flow.side(&fragment).is_none() && flow.is_between(&fragment) && is_traffic(&fragment));
        assert!(!flow.is_between(&header("10.84.1.1:0", "224.0.0.22:0", 2)));
    }
}
