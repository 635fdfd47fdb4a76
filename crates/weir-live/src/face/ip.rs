//! Headers of IPv4 and IPv6: addresses, ports, the ECN field.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use etherparse::PacketBuilder;
use weir_cc::Ecn;
use weir_wire::media::IPV4_HEADER_LEN;

/// Bytes of the fixed header of IPv6.
pub const IPV6_HEADER_LEN: usize = 40;
/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;
/// Time to live of packets that are put together here.
const TIME_TO_LIVE: u8 = 64;

/// The ECN field in the lowest two bits of a traffic class (RFC 3168 §5).
pub const fn ecn(traffic_class: u8) -> Ecn {
    match traffic_class & 3 {
        0 => Ecn::NotEct,
        1 => Ecn::Ect1,
        2 => Ecn::Ect0,
        _ => Ecn::Ce,
    }
}

/// The two bits of an ECN field.
pub const fn bits(ecn: Ecn) -> u8 {
    match ecn {
        Ecn::NotEct => 0,
        Ecn::Ect1 => 1,
        Ecn::Ect0 => 2,
        Ecn::Ce => 3,
    }
}

/// The fields of a packet that identify its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Address and port of the source. Protocols without ports, and fragments, have port zero.
    pub source: SocketAddr,
    /// Address and port of the destination.
    pub destination: SocketAddr,
    /// Protocol number; of IPv6 that of the first header behind the fixed one.
    pub protocol: u8,
    /// ECN field.
    pub ecn: Ecn,
}

impl Header {
    /// Number of the packet's flow: a hash of addresses, ports and protocol, above zero.
    pub fn flow(&self) -> u32 {
        flow_of(&(self.source, self.destination, self.protocol))
    }
}

/// A hash of what makes a flow, from 1 to 65 535, so that disciplines know a bounded number of flows.
pub(crate) fn flow_of(parts: &impl Hash) -> u32 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    1 + (hasher.finish() % 0xffff) as u32
}

/// The header of an IP packet; `None` if it is cut or of no known version.
pub fn parse(packet: &[u8]) -> Option<Header> {
    let address = |from: usize, length: usize| -> Option<IpAddr> {
        let bytes = packet.get(from..from + length)?;
        match <[u8; 4]>::try_from(bytes) {
            Ok(four) => Some(Ipv4Addr::from(four).into()),
            Err(_) => <[u8; 16]>::try_from(bytes).ok().map(|sixteen| Ipv6Addr::from(sixteen).into()),
        }
    };
    let (source, destination, protocol, class, ports_at) = match packet.first()? >> 4 {
        4 => {
            let length = usize::from(packet[0] & 15) * 4;
            let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3fff;
            let ports_at = (fragment == 0 && length >= IPV4_HEADER_LEN).then_some(length);
            (address(12, 4)?, address(16, 4)?, *packet.get(9)?, *packet.get(1)?, ports_at)
        }
        6 => {
            let class = packet[0] << 4 | packet.get(1)? >> 4;
            (address(8, 16)?, address(24, 16)?, *packet.get(6)?, class, Some(IPV6_HEADER_LEN))
        }
        _ => return None,
    };
    let has_ports = protocol == TCP || protocol == UDP;
    let (mut from, mut to) = (0, 0);
    if let Some(at) = ports_at.filter(|_| has_ports) {
        let ports = packet.get(at..at + 4)?;
        from = u16::from_be_bytes([ports[0], ports[1]]);
        to = u16::from_be_bytes([ports[2], ports[3]]);
    }
    let (source, destination) = (SocketAddr::new(source, from), SocketAddr::new(destination, to));
    Some(Header { source, destination, protocol, ecn: ecn(class) })
}

/// A datagram of UDP from the first end to the second with its headers, whose checksums hold. Ends of two families have no common
/// header, and leave the payload as it is.
pub(crate) fn udp_packet([from, to]: [SocketAddr; 2], payload: &[u8]) -> Vec<u8> {
    let ip = match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            PacketBuilder::ipv4(source.octets(), destination.octets(), TIME_TO_LIVE)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            PacketBuilder::ipv6(source.octets(), destination.octets(), TIME_TO_LIVE)
        }
        _ => return payload.to_vec(),
    };
    let builder = ip.udp(from.port(), to.port());
    let mut packet = Vec::with_capacity(builder.size(payload.len()));
    match builder.write(&mut packet, payload) {
        Ok(()) => packet,
        // Longer than a datagram can be.
        Err(_) => payload.to_vec(),
    }
}

/// Sets the ECN field of a packet that [`parse`] accepts. The checksum of IPv4 is put right incrementally
/// (RFC 1624, equation 3).
pub fn set_ecn(packet: &mut [u8], ecn: Ecn) {
    match packet.first().map(|first| first >> 4) {
        Some(4) if packet.len() >= IPV4_HEADER_LEN => {
            let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
            let before = word(packet, 0);
            packet[1] = packet[1] & !3 | bits(ecn);
            let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
            let folded = (sum & 0xffff) + (sum >> 16);
            let folded = (folded & 0xffff) + (folded >> 16);
            packet[10..12].copy_from_slice(&(!(folded as u16)).to_be_bytes());
        }
        Some(6) if packet.len() >= IPV6_HEADER_LEN => {
            packet[1] = packet[1] & !0x30 | bits(ecn) << 4;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Internet checksum over a whole header, which is zero if it is right (RFC 1071).
    fn checksum(header: &[u8]) -> u16 {
        let words = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        !(sum as u16)
    }

    fn ipv4(tos: u8, id: u16) -> Vec<u8> {
        let mut packet = vec![0x45, tos, 0, 28, 0, 0, 0x40, 0, 64, UDP, 0, 0, 10, 84, 1, 1, 10, 84, 2, 1];
        packet[4..6].copy_from_slice(&id.to_be_bytes());
        let sum = checksum(&packet);
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet.extend([0x13, 0x88, 0x13, 0x89, 0, 8, 0, 0]);
        packet
    }

    fn ipv6(class: u8) -> Vec<u8> {
        let mut packet = vec![0x60 | class >> 4, class << 4 | 0xa, 0xbc, 0xde, 0, 8, TCP, 64];
        packet.extend("fd84::1:1".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend("fd84::2:1".parse::<Ipv6Addr>().unwrap().octets());
        packet.extend([0x13, 0x88, 0x13, 0x89]);
        packet
    }

    #[test]
    fn a_flow_is_of_addresses_ports_and_protocol() {
        let header = parse(&ipv4(0, 7)).unwrap();
        let other_port = Header { source: SocketAddr::new(header.source.ip(), 9), ..header };
        let flows = [header, other_port, Header { protocol: TCP, ..header }].map(|header| header.flow());
        assert!(flows[0] != flows[1] && flows[0] != flows[2] && flows[1] != flows[2], "{flows:?}");
        // Neither identification nor ECN makes another flow.
        assert_eq!(parse(&ipv4(3, 8)).unwrap().flow(), flows[0]);
        assert!(flows.iter().all(|flow| (1..=0xffff).contains(flow)));
    }

    #[test]
    fn both_versions_give_addresses_ports_and_ecn() {
        let header = parse(&ipv4(0b1000_1001, 7)).expect("a packet");
        assert_eq!(header.source, "10.84.1.1:5000".parse().unwrap());
        assert_eq!(header.destination, "10.84.2.1:5001".parse().unwrap());
        assert_eq!((header.protocol, header.ecn), (UDP, Ecn::Ect1));
        let header = parse(&ipv6(0b1000_1010)).expect("a packet");
        assert_eq!(header.source, "[fd84::1:1]:5000".parse().unwrap());
        assert_eq!(header.destination, "[fd84::2:1]:5001".parse().unwrap());
        assert_eq!((header.protocol, header.ecn), (TCP, Ecn::Ect0));
    }

    #[test]
    fn a_datagram_gets_headers_whose_checksums_hold() {
        for [from, to] in [["10.84.1.1:40000", "10.84.2.1:50000"], ["[::1]:7", "[::1]:9"]] {
            let ends = [from, to].map(|end| end.parse().unwrap());
            let mut packet = udp_packet(ends, b"payload");
            set_ecn(&mut packet, Ecn::Ect1);
            let header = parse(&packet).expect("a packet");
            assert_eq!((header.source, header.destination, header.protocol), (ends[0], ends[1], UDP));
            assert_eq!(header.ecn, Ecn::Ect1);
            let headers = if ends[0].is_ipv4() { 28 } else { 48 };
            assert!(packet.len() == headers + 7 && packet.ends_with(b"payload"), "{packet:?}");
            if ends[0].is_ipv4() {
                assert_eq!(checksum(&packet[..20]), 0);
            }
        }
        let mixed = ["10.84.1.1:1", "[::1]:7"].map(|end| end.parse().unwrap());
        assert_eq!(udp_packet(mixed, b"payload"), b"payload");
    }

    #[test]
    fn a_later_fragment_has_no_ports_and_a_cut_packet_no_header() {
        let mut fragment = ipv4(0, 7);
        fragment[7] = 5;
        assert_eq!(parse(&fragment).expect("a packet").source.port(), 0);
        for whole in [ipv4(0, 7), ipv6(0)] {
            let ports = if whole[0] >> 4 == 4 { 24 } else { 44 };
            assert!((0..ports).all(|length| parse(&whole[..length]).is_none()));
            assert!(parse(&whole[..ports]).is_some());
        }
        assert_eq!(parse(&[0x50; 60]), None);
    }

    #[test]
    fn a_mark_keeps_the_checksum_right_and_the_other_bits() {
        for id in 0..=u16::MAX {
            let mut packet = ipv4(0b1000_1010, id);
            set_ecn(&mut packet, Ecn::Ce);
            assert_eq!((packet[1], checksum(&packet[..20])), (0b1000_1011, 0), "{id}");
        }
        let mut packet = ipv6(0b1000_1001);
        set_ecn(&mut packet, Ecn::Ce);
        assert_eq!(packet, ipv6(0b1000_1011));
    }

    #[test]
    fn the_two_bits_are_those_of_the_field() {
        for ecn_field in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce] {
            assert_eq!(ecn(0b1010_1000 | bits(ecn_field)), ecn_field);
        }
    }
}
