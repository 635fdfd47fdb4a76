//! Packets of a capture, pcap or pcapng: when they passed, whose they are, how long they are.

use std::fs::File;
use std::net::IpAddr;
use std::path::Path;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TcpOptionElement, TransportSlice};
use pcap_parser::{Block, Linktype, PcapBlockOwned, PcapError, create_reader};

use super::error::FormError;

/// Bytes that are read at a time, and the longest block that can be.
const BUFFER: usize = 1 << 16;
const LONGEST_BLOCK: usize = 1 << 24;
/// Bytes of an RTP header without extensions (RFC 3550 §5.1).
const RTP_HEADER: usize = 12;
/// The type of links with Ethernet headers.
const ETHERNET: i32 = 1;
const NANOS: i128 = 1_000_000_000;

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

/// What is known of an interface.
#[derive(Clone, Debug)]
struct Interface {
    link: Linktype,
    /// Ticks per second.
    resolution: u64,
    /// Seconds.
    offset: i64,
}

/// Shows each packet of TCP or UDP to `visit`, in the order of the file, and returns how many interfaces there are.
///
/// # Errors
/// The file cannot be read or is none, with the number of the packet; what `visit` finds wrong.
pub(super) fn each(
    path: &Path,
    mut visit: impl FnMut(&Packet) -> Result<(), FormError>,
) -> Result<usize, FormError> {
    let file = File::open(path).map_err(|error| FormError::whole(error.to_string()))?;
    let mut reader = create_reader(BUFFER, file).map_err(|error| match error {
        PcapError::Eof => FormError::whole("the file is empty"),
        _ => FormError::whole("this is neither pcap nor pcapng"),
    })?;
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut section = 0;
    let mut number = 0;
    let mut capacity = BUFFER;
    loop {
        let wrong = |problem: &str| FormError::Packet { number: number + 1, problem: problem.to_owned() };
        let (read, packet) = match reader.next() {
            Ok((read, block)) => {
                let is_packet = is_packet(&block);
                let packet = block_packet(block, number + 1, &mut interfaces, &mut section);
                number += u64::from(is_packet);
                (read, packet?)
            }
            Err(PcapError::Eof) => return Ok(interfaces.len()),
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|_| wrong("the file cannot be read here"))?;
                continue;
            }
            Err(PcapError::BufferTooSmall) if capacity < LONGEST_BLOCK => {
                capacity *= 2;
                reader.grow(capacity);
                reader.refill().map_err(|_| wrong("the file cannot be read here"))?;
                continue;
            }
            Err(PcapError::UnexpectedEof) => {
                return Err(wrong("the file ends within it; `editcap IN OUT` of Wireshark leaves it out"));
            }
            Err(PcapError::BufferTooSmall) => {
                return Err(wrong("it is longer than any packet; the file is damaged"));
            }
            Err(_) => return Err(wrong("the file is damaged here")),
        };
        if let Some(packet) = packet {
            visit(&packet)?;
        }
        reader.consume_noshift(read);
    }
}

fn is_packet(block: &PcapBlockOwned<'_>) -> bool {
    matches!(
        block,
        PcapBlockOwned::Legacy(_) | PcapBlockOwned::NG(Block::EnhancedPacket(_) | Block::SimplePacket(_))
    )
}

/// The packet of a block, if it has one of TCP or UDP.
fn block_packet(
    block: PcapBlockOwned<'_>,
    number: u64,
    interfaces: &mut Vec<Interface>,
    section: &mut usize,
) -> Result<Option<Packet>, FormError> {
    let wrong = |problem: String| FormError::Packet { number, problem };
    let (interface, ticks, data, whole) = match block {
        PcapBlockOwned::LegacyHeader(header) => {
            let resolution = if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 };
            interfaces.push(Interface { link: header.network, resolution, offset: 0 });
            return Ok(None);
        }
        PcapBlockOwned::Legacy(packet) => {
            let resolution = interfaces.last().map_or(1_000_000, |interface| interface.resolution);
            let ticks = u128::from(packet.ts_sec) * u128::from(resolution) + u128::from(packet.ts_usec);
            (0, ticks, packet.data, packet.origlen)
        }
        PcapBlockOwned::NG(Block::SectionHeader(_)) => {
            *section = interfaces.len();
            return Ok(None);
        }
        PcapBlockOwned::NG(Block::InterfaceDescription(description)) => {
            let resolution = resolution(description.if_tsresol)
                .ok_or_else(|| wrong("the resolution of its interface's times cannot be".to_owned()))?;
            let offset = description.if_tsoffset;
            interfaces.push(Interface { link: description.linktype, resolution, offset });
            return Ok(None);
        }
        PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
            let ticks = u128::from(packet.ts_high) << 32 | u128::from(packet.ts_low);
            let kept = packet.data.len().min(packet.caplen as usize);
            (*section + packet.if_id as usize, ticks, &packet.data[..kept], packet.origlen)
        }
        PcapBlockOwned::NG(Block::SimplePacket(_)) => {
            return Err(wrong("it has no time; record with another tool".to_owned()));
        }
        PcapBlockOwned::NG(_) => return Ok(None),
    };
    let found =
        interfaces.get(interface).ok_or_else(|| wrong("its interface is not described".to_owned()))?;
    let nanos = ticks as i128 * NANOS / i128::from(found.resolution) + i128::from(found.offset) * NANOS;
    // Half of what there is, so that differences of times are times.
    let range = i128::from(i64::MIN / 2)..=i128::from(i64::MAX / 2);
    if !range.contains(&nanos) {
        return Err(wrong("its time is out of range".to_owned()));
    }
    let nanos = nanos as i64;
    let header = ip_header(found.link).ok_or_else(|| {
        wrong(format!("links of type {} are not read; record Ethernet or IP", found.link.0))
    })?;
    let told = sliced(found.link, header, data).and_then(|packet| told(&packet, whole));
    Ok(told.map(|(from, to, tcp, bytes, content)| Packet {
        number,
        nanos,
        flow: FlowKey { from, to, tcp, interface },
        bytes,
        content,
    }))
}

/// Ticks per second by the option of pcapng: a power of 10, or of 2 where its highest bit is set.
fn resolution(option: u8) -> Option<u64> {
    let exponent = u32::from(option & 0x7f);
    if option & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}

/// Where the IP header stands in packets of a link of this type; none where it is not known. Ethernet has its own.
fn ip_header(link: Linktype) -> Option<usize> {
    match link.0 {
        ETHERNET | 12 | 14 | 101 | 228 | 229 => Some(0),
        0 | 108 => Some(4),
        113 => Some(16),
        276 => Some(20),
        _ => None,
    }
}

/// The headers of a packet; none where it is no packet of IP.
fn sliced(link: Linktype, header: usize, data: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    if link.0 == ETHERNET {
        return LaxSlicedPacket::from_ethernet(data).ok();
    }
    LaxSlicedPacket::from_ip(data.get(header..)?).ok()
}

type Told = ((IpAddr, u16), (IpAddr, u16), bool, u32, Content);

fn told(packet: &LaxSlicedPacket<'_>, whole: u32) -> Option<Told> {
    let (from, to, header, length) = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let header = ip.header();
            let (from, to) = (IpAddr::V4(header.source_addr()), IpAddr::V4(header.destination_addr()));
            (from, to, u32::from(header.ihl()) * 4, u32::from(header.total_len()))
        }
        LaxNetSlice::Ipv6(ip) => {
            let header = ip.header();
            let length = u32::from(header.payload_length());
            let length = if length == 0 { 0 } else { length + 40 };
            (IpAddr::V6(header.source_addr()), IpAddr::V6(header.destination_addr()), 40, length)
        }
        LaxNetSlice::Arp(_) => return None,
    };
    // A card that cuts segments itself is given one without a length.
    let bytes = if length == 0 { whole } else { length };
    match packet.transport.as_ref()? {
        TransportSlice::Tcp(tcp) => {
            let stamps = tcp.options_iterator().find_map(|option| match option {
                Ok(TcpOptionElement::Timestamp(own, echoed)) => Some((own, echoed)),
                _ => None,
            });
            let data = bytes.saturating_sub(header + u32::from(tcp.data_offset()) * 4);
            let segment =
                Segment { sequence: tcp.sequence_number(), data, syn: tcp.syn(), ack: tcp.ack(), stamps };
            let ends = ((from, tcp.source_port()), (to, tcp.destination_port()));
            Some((ends.0, ends.1, true, bytes, Content::Tcp(segment)))
        }
        TransportSlice::Udp(udp) => {
            let content = rtp(udp.payload()).map_or(Content::Udp, Content::Rtp);
            Some(((from, udp.source_port()), (to, udp.destination_port()), false, bytes, content))
        }
        _ => None,
    }
}

/// What can be the header of an RTP packet: version 2, and no type that RTCP has on the same port (RFC 5761 §4).
fn rtp(payload: &[u8]) -> Option<Rtp> {
    let header: &[u8; RTP_HEADER] = payload.first_chunk()?;
    let four = |from: usize| {
        u32::from_be_bytes([header[from], header[from + 1], header[from + 2], header[from + 3]])
    };
    let is_rtp = header[0] >> 6 == 2 && !(64..96).contains(&(header[1] & 0x7f));
    is_rtp.then(|| Rtp {
        source: four(8),
        sequence: u16::from_be_bytes([header[2], header[3]]),
        timestamp: four(4),
    })
}
