//! Packets of a capture, pcap or pcapng: time, flow and length of each.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{Block, LegacyPcapReader, Linktype, PcapBlockOwned, PcapError, PcapNGReader};

use super::error::FormError;
use super::headers::{HeaderContents, HeaderReader, UdpContents, ip_header};
use super::packet::Packet;

/// Number of bytes that are read at a time.
const BUFFER: usize = 1 << 16;
const MAX_BLOCK: usize = 1 << 24;
/// The first bytes of pcap in the modified format of Linux' old libpcap, big-endian: records have the interface, too.
pub(super) const MODIFIED_MAGIC: [u8; 4] = [0xa1, 0xb2, 0xcd, 0x34];
/// The first bytes of pcapng.
const PCAPNG: [u8; 4] = [0x0a, 0x0d, 0x0d, 0x0a];
/// First bytes of captures, in either byte order: pcap with times in µs or in ns, Kuznetzov's modified pcap, and pcapng.
pub(crate) const CAPTURES: [[u8; 4]; 7] = [
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x4d, 0x3c, 0xb2, 0xa1],
    MODIFIED_MAGIC,
    [0x34, 0xcd, 0xb2, 0xa1],
    PCAPNG,
];
const NANOS: i128 = 1_000_000_000;

/// The description of an interface.
#[derive(Clone, Debug)]
struct Interface {
    link: Linktype,
    /// Number of ticks per second.
    resolution: u64,
    /// Offset of the times, in seconds.
    offset: i64,
}

/// Facts about a capture besides its packets of TCP or UDP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CaptureFacts {
    /// Number of interfaces.
    pub(super) interfaces: usize,
    /// Fragments of IP packets whose first fragment, which has the ports, was not captured before them.
    pub(super) orphan_fragments: u64,
    /// The packet within which the file ends, counted from 1.
    pub(crate) cut: Option<u64>,
}

/// Passes each packet of TCP or UDP to `visit`, in the order of the file.
///
/// # Errors
/// The file cannot be read or is no capture, with the number of the packet; errors of `visit`.
pub(super) fn each(
    path: &Path,
    mut visit: impl FnMut(&Packet) -> Result<(), FormError>,
) -> Result<CaptureFacts, FormError> {
    let file = File::open(path).map_err(|error| FormError::whole(error.to_string()))?;
    let facts = each_in(file, |packet, _| visit(packet))?;
    match facts.cut {
        None => Ok(facts),
        Some(number) => {
            let problem = "the file ends within it; `editcap IN OUT` of Wireshark leaves it out";
            Err(FormError::Packet { number, problem: problem.to_owned() })
        }
    }
}

/// Passes each packet of TCP or UDP to `visit` with its datagram of UDP, if it is one, in the order of the file.
///
/// # Errors
/// The file cannot be read or is no capture, with the number of the packet; errors of `visit`.
pub(crate) fn each_in(
    input: impl Read,
    mut visit: impl FnMut(&Packet, Option<UdpContents<'_>>) -> Result<(), FormError>,
) -> Result<CaptureFacts, FormError> {
    let mut reader = block_reader(input)?;
    let mut interfaces: Vec<Interface> = Vec::new();
    let mut headers = HeaderReader::default();
    let mut section = 0;
    let mut number = 0;
    let mut capacity = BUFFER;
    loop {
        let wrong = |problem: &str| FormError::Packet { number: number + 1, problem: problem.to_owned() };
        let facts = |cut| CaptureFacts {
            interfaces: interfaces.len(),
            orphan_fragments: headers.orphan_fragments,
            cut,
        };
        let read = match reader.next() {
            Ok((read, block)) => {
                let is_packet = is_packet(&block);
                let packet = block_packet(block, number + 1, &mut interfaces, &mut section, &mut headers)?;
                if let Some((packet, udp)) = packet {
                    visit(&packet, udp)?;
                }
                number += u64::from(is_packet);
                read
            }
            Err(PcapError::Eof) => return Ok(facts(None)),
            Err(PcapError::Incomplete(_)) => {
                reader.refill().map_err(|_| wrong("the file cannot be read here"))?;
                continue;
            }
            Err(PcapError::BufferTooSmall) if capacity < MAX_BLOCK => {
                capacity *= 2;
                reader.grow(capacity);
                reader.refill().map_err(|_| wrong("the file cannot be read here"))?;
                continue;
            }
            Err(PcapError::UnexpectedEof) => return Ok(facts(Some(number + 1))),
            Err(PcapError::BufferTooSmall) => {
                return Err(wrong("it is longer than any packet; the file is damaged"));
            }
            Err(_) => return Err(wrong("the file is damaged here")),
        };
        reader.consume_noshift(read);
    }
}

/// A reader of the blocks of pcap or pcapng.
fn block_reader<'r>(mut input: impl Read + 'r) -> Result<Box<dyn PcapReaderIterator + 'r>, FormError> {
    let mut head = Vec::new();
    let read = input.by_ref().take(4).read_to_end(&mut head);
    read.map_err(|error| FormError::whole(error.to_string()))?;
    let refusal = match *head {
        [] => "the file is empty",
        _ if head == MODIFIED_MAGIC => {
            "this is pcap of the modified format with its greatest byte first; `editcap -F pcap IN OUT` of Wireshark makes one \
             that is read"
        }
        _ if CAPTURES.iter().any(|begin| head == begin) => {
            "the header of the capture is cut off or damaged; capture, or copy the file, again"
        }
        _ => "this is neither pcap nor pcapng",
    };
    let refused = |_| FormError::whole(refusal);
    let is_blocks = head == PCAPNG;
    let input = WholeReads(Cursor::new(head).chain(input));
    Ok(if is_blocks {
        Box::new(PcapNGReader::new(BUFFER, input).map_err(refused)?)
    } else {
        Box::new(LegacyPcapReader::new(BUFFER, input).map_err(refused)?)
    })
}

/// Reads that are whole wherever the file has as many bytes: the reader of blocks decides by the first one.
struct WholeReads<R>(R);

impl<R: Read> Read for WholeReads<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut read = 0;
        while read < buffer.len() {
            match self.0.read(&mut buffer[read..]) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(read)
    }
}

fn is_packet(block: &PcapBlockOwned<'_>) -> bool {
    matches!(
        block,
        PcapBlockOwned::Legacy(_) | PcapBlockOwned::NG(Block::EnhancedPacket(_) | Block::SimplePacket(_))
    )
}

/// The packet of a block, if it has one of TCP or UDP.
fn block_packet<'a>(
    block: PcapBlockOwned<'a>,
    number: u64,
    interfaces: &mut Vec<Interface>,
    section: &mut usize,
    headers: &mut HeaderReader,
) -> Result<Option<(Packet, Option<UdpContents<'a>>)>, FormError> {
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
    // Half of the range, so that differences of times do not overflow.
    let range = i128::from(i64::MIN / 2)..=i128::from(i64::MAX / 2);
    if !range.contains(&nanos) {
        return Err(wrong("its time is out of range".to_owned()));
    }
    let nanos = nanos as i64;
    let header = ip_header(found.link).ok_or_else(|| {
        wrong(format!("links of type {} are not read; record Ethernet or IP", found.link.0))
    })?;
    let contents = headers.read(interface, found.link, header, data, whole);
    Ok(contents.map(|HeaderContents { flow, bytes, part, identity, udp }| {
        (Packet { number, nanos, flow, bytes, part, identity }, udp)
    }))
}

/// Ticks per second by the option of pcapng: a power of 10, or of 2 where its highest bit is set.
fn resolution(option: u8) -> Option<u64> {
    let exponent = u32::from(option & 0x7f);
    if option & 0x80 == 0 { 10_u64.checked_pow(exponent) } else { 1_u64.checked_shl(exponent) }
}
