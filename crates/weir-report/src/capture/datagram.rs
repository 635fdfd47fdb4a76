//! Datagrams of real sockets as whole IP packets.

use std::io;
use std::net::{IpAddr, SocketAddr};

use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, UdpHeader};
use weir_cc::Ecn;

const TIME_TO_LIVE: u8 = 64;
const UDP_LENGTH: usize = 8;

/// Puts the headers of IP and UDP before `content`, all in `out`. DF is set, as on the sockets of Weir.
///
/// # Errors
/// Ends of different families, or a content that is too long for a packet.
pub fn ip_datagram(
    from: SocketAddr,
    to: SocketAddr,
    ecn: Ecn,
    content: &[u8],
    out: &mut Vec<u8>,
) -> io::Result<()> {
    let length = u16::try_from(UDP_LENGTH + content.len()).map_err(io::Error::other)?;
    let bits = match ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    out.clear();
    let udp = match (from.ip(), to.ip()) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let header =
                Ipv4Header::new(length, TIME_TO_LIVE, IpNumber::UDP, source.octets(), destination.octets());
            let mut header = header.map_err(io::Error::other)?;
            (header.ecn, header.dont_fragment) = (bits, true);
            header.header_checksum = header.calc_header_checksum();
            out.extend(header.to_bytes());
            UdpHeader::with_ipv4_checksum(from.port(), to.port(), &header, content)
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = Ipv6Header {
                traffic_class: bits.value(),
                flow_label: Ipv6FlowLabel::ZERO,
                payload_length: length,
                next_header: IpNumber::UDP,
                hop_limit: TIME_TO_LIVE,
                source: source.octets(),
                destination: destination.octets(),
            };
            out.extend(header.to_bytes());
            UdpHeader::with_ipv6_checksum(from.port(), to.port(), &header, content)
        }
        _ => return Err(io::Error::other("the ends are of different families")),
    };
    out.extend(udp.map_err(io::Error::other)?.to_bytes());
    out.extend_from_slice(content);
    Ok(())
}

#[cfg(test)]
mod tests {
    use etherparse::SlicedPacket;

    use super::*;

    #[test]
    fn both_families_have_headers_that_can_be_read() {
        for (from, to) in
            [("192.0.2.1:5004", "192.0.2.2:40000"), ("[2001:db8::1]:5004", "[2001:db8::2]:40000")]
        {
            let [from, to]: [SocketAddr; 2] = [from, to].map(|end| end.parse().unwrap());
            let mut bytes = Vec::new();
            ip_datagram(from, to, Ecn::Ect1, b"media", &mut bytes).unwrap();
            let packet = SlicedPacket::from_ip(&bytes).unwrap();
            let Some(etherparse::TransportSlice::Udp(udp)) = packet.transport else { panic!("{packet:?}") };
            assert_eq!(
                (udp.source_port(), udp.destination_port(), udp.payload()),
                (5004, 40_000, &b"media"[..])
            );
        }
        let mixed = ["192.0.2.1:1", "[::1]:1"].map(|end| end.parse().unwrap());
        assert!(ip_datagram(mixed[0], mixed[1], Ecn::NotEct, &[], &mut Vec::new()).is_err());
    }
}
