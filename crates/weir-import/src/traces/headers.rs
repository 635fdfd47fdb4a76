//! Flow, length and identity of a captured packet, from its headers.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::net::IpAddr;

use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket, TcpSlice, TransportSlice, UdpSlice};
use pcap_parser::Linktype;

use super::packet::{CopyIdentity, FlowKey, PacketPart};

/// The type of links with Ethernet headers.
const ETHERNET: i32 = 1;
/// Number of payload bytes that distinguish packets; they include sequence numbers.
const HASHED_BYTES: usize = 128;
/// Number of fragmented packets whose first fragment is remembered, in each of two generations.
const MAX_DATAGRAMS: usize = 50_000;

/// Content of a packet's headers.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderContents<'a> {
    pub(super) flow: FlowKey,
    pub(super) bytes: u32,
    pub(super) part: PacketPart,
    pub(super) identity: CopyIdentity,
    /// The datagram, in a whole packet of UDP.
    pub(super) udp: Option<UdpContents<'a>>,
}

/// A datagram of UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UdpContents<'a> {
    /// Its payload, as far as it was captured.
    pub(crate) payload: &'a [u8],
    /// Length of the payload by the header.
    pub(crate) length: u32,
    /// Remaining hops: TTL, or hop limit.
    pub(crate) hops: u8,
}

/// Reader of the headers of packets, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct HeaderReader {
    firsts: FragmentPorts,
    /// Number of further fragments whose first fragment was not captured before.
    pub(super) orphan_fragments: u64,
}

/// Ports of fragmented packets from their first fragments, in two generations.
#[derive(Debug, Default)]
struct FragmentPorts {
    recent: HashMap<DatagramKey, PortPair>,
    before: HashMap<DatagramKey, PortPair>,
}

/// The interface, and the fields that the fragments of a packet share (RFC 791 §3.2, RFC 8200 §4.5).
type DatagramKey = (usize, IpAddr, IpAddr, IpNumber, u32);

/// The ports of the sender and of the receiver.
type PortPair = (u16, u16);

/// The IP header of a packet, and its payload.
struct Ip<'a> {
    from: IpAddr,
    to: IpAddr,
    protocol: IpNumber,
    /// Length of the whole packet.
    bytes: u32,
    /// TTL, or hop limit.
    hops: u8,
    /// Identification of the packet, 0 without one.
    identification: u32,
    /// For a fragment: number of bytes of the packet's payload before it.
    offset: Option<u32>,
    payload: &'a [u8],
}

/// The position of the IP header in packets of a link of this type, or `None` where it is not known. Ethernet has its
/// own.
pub(super) fn ip_header(link: Linktype) -> Option<usize> {
    match link.0 {
        ETHERNET | 12 | 14 | 101 | 228 | 229 => Some(0),
        0 | 108 => Some(4),
        113 => Some(16),
        276 => Some(20),
        _ => None,
    }
}

impl HeaderReader {
    /// The headers of a packet of `whole` bytes with the captured bytes `data`, whose IP header begins at `header`.
    /// Returns `None` for packets other than TCP or UDP over IP.
    pub(crate) fn read<'a>(
        &mut self,
        interface: usize,
        link: Linktype,
        header: usize,
        data: &'a [u8],
        whole: u32,
    ) -> Option<HeaderContents<'a>> {
        let packet = if link.0 == ETHERNET {
            LaxSlicedPacket::from_ethernet(data).ok()?
        } else {
            LaxSlicedPacket::from_ip(data.get(header..)?).ok()?
        };
        let ip = Ip::of(&packet, whole)?;
        let mut udp = None;
        let (ports, part) = match ip.offset {
            None => {
                let transport = packet.transport?;
                udp = udp_contents(&transport, ip.hops);
                (ports(&transport)?, PacketPart::Whole)
            }
            Some(0) => {
                let ports = ports(&ip.first_transport()?)?;
                self.firsts.add(ip.datagram(interface), ports);
                (ports, PacketPart::First)
            }
            Some(_) => {
                if !matches!(ip.protocol, IpNumber::TCP | IpNumber::UDP) {
                    return None;
                }
                let Some(ports) = self.firsts.of(&ip.datagram(interface)) else {
                    self.orphan_fragments += 1;
                    return None;
                };
                (ports, PacketPart::Later)
            }
        };
        let tcp = ip.protocol == IpNumber::TCP;
        let flow = FlowKey { from: (ip.from, ports.0), to: (ip.to, ports.1), tcp, interface };
        Some(HeaderContents { flow, bytes: ip.bytes, part, identity: ip.identity(), udp })
    }
}

impl FragmentPorts {
    fn add(&mut self, datagram: DatagramKey, ports: PortPair) {
        if self.recent.len() >= MAX_DATAGRAMS {
            self.before = mem::take(&mut self.recent);
        }
        self.recent.insert(datagram, ports);
    }

    fn of(&self, datagram: &DatagramKey) -> Option<PortPair> {
        self.recent.get(datagram).or_else(|| self.before.get(datagram)).copied()
    }
}

impl<'a> Ip<'a> {
    fn of(packet: &LaxSlicedPacket<'a>, whole: u32) -> Option<Self> {
        // A network card that segments by itself gets packets without a length.
        let bytes = |length: u32| if length == 0 { whole } else { length };
        match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let (header, payload) = (ip.header(), ip.payload());
                Some(Self {
                    from: IpAddr::V4(header.source_addr()),
                    to: IpAddr::V4(header.destination_addr()),
                    protocol: payload.ip_number,
                    bytes: bytes(u32::from(header.total_len())),
                    hops: header.ttl(),
                    identification: u32::from(header.identification()),
                    offset: payload.fragmented.then(|| u32::from(header.fragments_offset().value()) * 8),
                    payload: payload.payload,
                })
            }
            LaxNetSlice::Ipv6(ip) => {
                let (header, payload) = (ip.header(), ip.payload());
                let extensions = ip.extensions();
                let fragment = fragment_header(extensions.first_header(), extensions.slice());
                let length = u32::from(header.payload_length());
                Some(Self {
                    from: IpAddr::V6(header.source_addr()),
                    to: IpAddr::V6(header.destination_addr()),
                    protocol: payload.ip_number,
                    bytes: bytes(if length == 0 { 0 } else { length + 40 }),
                    hops: header.hop_limit(),
                    identification: fragment.map_or(0, |(identification, _)| identification),
                    offset: fragment.filter(|_| payload.fragmented).map(|(_, offset)| offset),
                    payload: payload.payload,
                })
            }
            LaxNetSlice::Arp(_) => None,
        }
    }

    fn datagram(&self, interface: usize) -> DatagramKey {
        (interface, self.from, self.to, self.protocol, self.identification)
    }

    /// The header of TCP or UDP in a first fragment.
    fn first_transport(&self) -> Option<TransportSlice<'a>> {
        match self.protocol {
            IpNumber::TCP => TcpSlice::from_slice(self.payload).ok().map(TransportSlice::Tcp),
            IpNumber::UDP => UdpSlice::from_slice_lax(self.payload).ok().map(TransportSlice::Udp),
            _ => None,
        }
    }

    fn identity(&self) -> CopyIdentity {
        let mut hasher = DefaultHasher::new();
        (self.identification, self.offset, self.bytes).hash(&mut hasher);
        let payload = &self.payload[..self.payload.len().min(HASHED_BYTES)];
        // Network cards fill in checksums after the first place of a capture.
        let checksum = match (self.protocol, self.offset) {
            (IpNumber::TCP, None | Some(0)) => 16..18,
            (IpNumber::UDP, None | Some(0)) => 6..8,
            _ => 0..0,
        };
        let (before, after) = payload.split_at(checksum.start.min(payload.len()));
        before.hash(&mut hasher);
        after.get(checksum.len()..).hash(&mut hasher);
        CopyIdentity { hash: hasher.finish(), numbered: self.identification != 0 }
    }
}

/// Identification and offset in bytes of the fragment header (RFC 8200 §4.5) among the extension headers, of which
/// `first` is the type of the first. The iterator of etherparse reads beyond headers that are cut.
fn fragment_header(first: Option<IpNumber>, mut rest: &[u8]) -> Option<(u32, u32)> {
    let mut kind = first?;
    loop {
        let length = match kind {
            IpNumber::IPV6_FRAGMENTATION_HEADER => {
                let &[_, _, offset @ .., a, b, c, d] = rest.first_chunk::<8>()?;
                return Some((u32::from_be_bytes([a, b, c, d]), u32::from(u16::from_be_bytes(offset) & !7)));
            }
            IpNumber::IPV6_HEADER_HOP_BY_HOP
            | IpNumber::IPV6_ROUTE_HEADER
            | IpNumber::IPV6_DESTINATION_OPTIONS => (usize::from(*rest.get(1)?) + 1) * 8,
            IpNumber::AUTHENTICATION_HEADER => (usize::from(*rest.get(1)?) + 2) * 4,
            _ => return None,
        };
        kind = IpNumber(*rest.first()?);
        rest = rest.get(length..)?;
    }
}

fn udp_contents<'a>(transport: &TransportSlice<'a>, hops: u8) -> Option<UdpContents<'a>> {
    let TransportSlice::Udp(udp) = transport else { return None };
    let payload = udp.payload();
    // A length of 0 stands for that of the packet.
    let length = u32::from(udp.length()).checked_sub(8).unwrap_or(payload.len() as u32);
    Some(UdpContents { payload, length, hops })
}

fn ports(transport: &TransportSlice<'_>) -> Option<PortPair> {
    match transport {
        TransportSlice::Tcp(tcp) => Some((tcp.source_port(), tcp.destination_port())),
        TransportSlice::Udp(udp) => Some((udp.source_port(), udp.destination_port())),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fragment_header_is_found_behind_others_and_cut_headers_have_none() {
        // Hop-by-hop options of 16 bytes, authentication of 16, and a fragment at 1480.
        let hop = [&[51, 1][..], &[0; 14]].concat();
        let authentication = [&[44, 2][..], &[0; 14]].concat();
        let fragment = [17, 0, 0x05, 0xC9, 1, 2, 3, 4];
        let headers = [&hop[..], &authentication, &fragment].concat();
        let first = Some(IpNumber::IPV6_HEADER_HOP_BY_HOP);
        assert_eq!(fragment_header(first, &headers), Some((0x0102_0304, 1480)));
        for end in 0..headers.len() {
            assert_eq!(fragment_header(first, &headers[..end]), None);
        }
        assert_eq!(fragment_header(None, &headers), None);
    }

    #[test]
    fn packets_with_cut_extension_headers_are_read_within_their_bytes() {
        let options = [60, 0, 1, 4, 0, 0, 0, 0];
        // Destination options, and further ones that are not there.
        let mut packet = vec![0x60, 0, 0, 0, 0, 8, 60, 64];
        packet.extend([0; 32]);
        packet.extend(options);
        for end in 0..=packet.len() {
            let found = HeaderReader::default().read(0, Linktype(101), 0, &packet[..end], 48);
            assert!(found.is_none());
        }
    }
}
