//! The bytes of a packet: headers by the simulation's packet, zeros as payload.

use std::collections::HashMap;
use std::io;

use etherparse::{IpEcn, IpNumber, Ipv4Header, TcpHeader, UdpHeader};
use weir_cc::{Ecn, SendTime};
use weir_wire::ExtensionIds;
use weir_wire::media::{IPV4_HEADER_LEN, LONGEST_LEN, UDP_HEADER_LEN, UDP_IPV4_OVERHEAD};
use weir_world::tcp::{Acknowledgement, EcnMode, Segment, TcpConfig};
use weir_world::{FlowSpec, RunSpec, Traffic, WireContent, WirePacket};

use super::ports::{Socket, sockets};

const TIME_TO_LIVE: u8 = 64;
/// Maximum length of an IPv4 packet in bytes.
const LONGEST: usize = u16::MAX as usize;
/// Maximum length of the TCP options in bytes.
const MOST_OPTIONS: usize = 40;
const WINDOW: u16 = u16::MAX;
/// Initial value of the counter of exact marks (RFC 9768 §3.2.1).
const FIRST_MARK_COUNT: u16 = 5;

const NO_OPERATION: u8 = 1;
const SACK_PERMITTED: [u8; 2] = [4, 2];
const SACK: u8 = 5;
const TIMESTAMPS: [u8; 2] = [8, 10];
/// Length of the timestamps option in bytes, padded to a multiple of 4.
const TIMESTAMPS_LEN: usize = 12;

/// Puts packets together, each in the same buffer.
#[derive(Debug)]
pub(super) struct PacketBytes {
    tcp: Vec<TcpEnds>,
    /// For each flow, the first flow of its call, whose hosts it shares; a flow without a call stands for itself.
    hosts: Vec<usize>,
    /// The last segment of a client's latest connection, where it is not full.
    short: HashMap<(usize, u32), Short>,
    /// Payload of the IPv4 packet.
    payload: Vec<u8>,
    options: Vec<u8>,
    bytes: Vec<u8>,
}

/// The options and the ECN mode that a flow's TCP endpoints have negotiated.
#[derive(Clone, Copy, Debug)]
struct TcpEnds {
    mss: u32,
    ecn: EcnMode,
}

#[derive(Clone, Copy, Debug)]
struct Short {
    connection: u32,
    number: u32,
    lacking: u32,
}

/// For each flow, the flow whose hosts it shares.
fn hosts(flows: &[FlowSpec]) -> Vec<usize> {
    let mut calls = HashMap::new();
    let first = |(index, flow): (usize, &FlowSpec)| match flow.call {
        Some(call) => *calls.entry(call).or_insert(index),
        None => index,
    };
    flows.iter().enumerate().map(first).collect()
}

impl PacketBytes {
    pub(crate) fn new(spec: &RunSpec) -> Self {
        let ends = |config: &TcpConfig| TcpEnds { mss: u32::from(config.mss.max(1)), ecn: config.ecn };
        let tcp = spec.flows.iter().map(|flow| match &flow.traffic {
            Traffic::Tcp { config, .. }
            | Traffic::ChromiumTcp { config, .. }
            | Traffic::Downloads { config, .. }
            | Traffic::Web { config, .. } => ends(config),
            Traffic::Media(_) | Traffic::Constant { .. } | Traffic::Unresponsive(_) => {
                TcpEnds { mss: 1, ecn: EcnMode::Off }
            }
        });
        let buffer = Vec::new;
        Self {
            tcp: tcp.collect(),
            hosts: hosts(&spec.flows),
            short: HashMap::new(),
            payload: buffer(),
            options: buffer(),
            bytes: buffer(),
        }
    }

    /// Records the state that later packets depend on.
    pub(super) fn learn(&mut self, packet: &WirePacket<'_>) {
        if let WireContent::Segment(segment) = packet.content {
            let mss = self.ends(packet).mss;
            let lacking = mss.saturating_sub(u32::from(segment.payload));
            if !segment.syn && lacking > 0 {
                let short = Short { connection: packet.key.connection, number: segment.number, lacking };
                self.short.insert((packet.flow, packet.key.client), short);
            }
        }
    }

    /// The part of the packet that is kept, and the length of the whole.
    pub(super) fn write(&mut self, packet: &WirePacket<'_>) -> io::Result<(&[u8], u32)> {
        match packet.content {
            WireContent::Constant | WireContent::Request => self.udp(packet, &[]),
            WireContent::Media(header) => {
                let mut bytes = [0; LONGEST_LEN];
                let length = header.write(&ExtensionIds::default(), &mut bytes).map_err(io::Error::other)?;
                self.udp(packet, &bytes[..length])
            }
            WireContent::Rtcp(bytes) => self.udp(packet, bytes),
            WireContent::Segment(segment) => {
                let header = self.segment(packet, segment);
                self.tcp(packet, header, usize::from(segment.payload))
            }
            WireContent::Acknowledgement(ack) => {
                let header = self.acknowledgement(packet, ack);
                self.tcp(packet, header, 0)
            }
        }
    }

    fn udp(&mut self, packet: &WirePacket<'_>, content: &[u8]) -> io::Result<(&[u8], u32)> {
        let length = (packet.wire_size as usize).saturating_sub(UDP_IPV4_OVERHEAD).max(content.len());
        let length = length.min(LONGEST - UDP_IPV4_OVERHEAD);
        self.payload.clear();
        self.payload.extend(content);
        self.payload.resize(length, 0);
        let ends @ [from, to] = self.sockets(packet);
        let ip = ip_header(packet, ends, IpNumber::UDP, UDP_HEADER_LEN + length)?;
        let udp = UdpHeader::with_ipv4_checksum(from.port, to.port, &ip, &self.payload);
        self.bytes.clear();
        self.bytes.extend(ip.to_bytes());
        self.bytes.extend(udp.map_err(io::Error::other)?.to_bytes());
        self.bytes.extend(content);
        Ok((&self.bytes, packet.wire_size.max(u32::from(ip.total_len))))
    }

    fn tcp(
        &mut self,
        packet: &WirePacket<'_>,
        mut header: TcpHeader,
        payload: usize,
    ) -> io::Result<(&[u8], u32)> {
        let ends @ [from, to] = self.sockets(packet);
        (header.source_port, header.destination_port) = (from.port, to.port);
        header.window_size = WINDOW;
        header.set_options_raw(&self.options).map_err(io::Error::other)?;
        let payload = payload.min(LONGEST - IPV4_HEADER_LEN - header.header_len());
        self.payload.clear();
        self.payload.resize(payload, 0);
        let ip = ip_header(packet, ends, IpNumber::TCP, header.header_len() + payload)?;
        let checksum = header.calc_checksum_ipv4(&ip, &self.payload);
        header.checksum = checksum.map_err(io::Error::other)?;
        self.bytes.clear();
        self.bytes.extend(ip.to_bytes());
        self.bytes.extend(header.to_bytes());
        Ok((&self.bytes, packet.wire_size.max(u32::from(ip.total_len))))
    }

    fn segment(&mut self, packet: &WirePacket<'_>, segment: &Segment) -> TcpHeader {
        let room = room(packet, usize::from(segment.payload));
        self.options.clear();
        if room >= TIMESTAMPS_LEN {
            self.options.extend(if segment.syn { SACK_PERMITTED } else { [NO_OPERATION; 2] });
            self.timestamps(millis(segment.sent_at.nanos()), 0);
        } else if segment.syn && room >= SACK_PERMITTED.len() {
            self.options.extend(SACK_PERMITTED);
        }
        self.options.resize(room.max(self.options.len()), NO_OPERATION);
        let ecn = self.ends(packet).ecn;
        let syn = segment.syn;
        TcpHeader {
            sequence_number: if syn { 0 } else { self.place(packet, segment.number) },
            acknowledgment_number: u32::from(!syn),
            syn,
            ack: !syn,
            ns: syn && ecn == EcnMode::Accurate,
            psh: segment.push,
            cwr: segment.cwr || syn && ecn != EcnMode::Off,
            ece: syn && ecn != EcnMode::Off,
            ..TcpHeader::default()
        }
    }

    fn acknowledgement(&mut self, packet: &WirePacket<'_>, ack: &Acknowledgement) -> TcpHeader {
        let blocks = || ack.sacks.iter().filter(|block| !block.is_empty());
        let sack_len = match blocks().count() {
            0 => 0,
            count => (2 + 8 * count).next_multiple_of(4),
        };
        let room = room(packet, 0).max(sack_len);
        self.options.clear();
        if room >= TIMESTAMPS_LEN + sack_len {
            self.options.extend([NO_OPERATION; 2]);
            let left = packet.sent_at.nanos() as i64;
            let echo = ack.stamps.sent(SendTime::from_nanos(left));
            self.timestamps(millis(left), millis(echo.nanos()));
        }
        if sack_len > 0 {
            self.options.extend([NO_OPERATION; 2]);
            self.options.extend([SACK, (2 + 8 * blocks().count()) as u8]);
            for block in blocks() {
                for edge in [block.start, block.end] {
                    let edge = self.place(packet, edge);
                    self.options.extend(edge.to_be_bytes());
                }
            }
        }
        self.options.resize(room.max(self.options.len()), NO_OPERATION);
        let (ns, cwr, ece) = match self.ends(packet).ecn {
            EcnMode::Off => (false, false, false),
            EcnMode::Classic => (false, false, ack.ece || ack.syn),
            // The SYN arrived without a mark (RFC 9768 §3.1.1).
            EcnMode::Accurate if ack.syn => (false, true, false),
            EcnMode::Accurate => {
                let count = ack.marked.wrapping_add(FIRST_MARK_COUNT);
                (count & 4 != 0, count & 2 != 0, count & 1 != 0)
            }
        };
        TcpHeader {
            sequence_number: u32::from(!ack.syn),
            acknowledgment_number: if ack.syn { 1 } else { self.place(packet, ack.cumulative) },
            syn: ack.syn,
            ack: true,
            ns,
            cwr,
            ece,
            ..TcpHeader::default()
        }
    }

    fn sockets(&self, packet: &WirePacket<'_>) -> [Socket; 2] {
        sockets(packet, self.hosts.get(packet.flow).copied().unwrap_or(packet.flow))
    }

    fn timestamps(&mut self, value: u32, echo: u32) {
        self.options.extend(TIMESTAMPS);
        self.options.extend(value.to_be_bytes());
        self.options.extend(echo.to_be_bytes());
    }

    /// The sequence number at which segment `number` begins: the SYN takes the first.
    fn place(&self, packet: &WirePacket<'_>, number: u32) -> u32 {
        let full = number.wrapping_mul(self.ends(packet).mss).wrapping_add(1);
        match self.short.get(&(packet.flow, packet.key.client)) {
            Some(short) if short.connection == packet.key.connection && number > short.number => {
                full.wrapping_sub(short.lacking)
            }
            _ => full,
        }
    }

    fn ends(&self, packet: &WirePacket<'_>) -> TcpEnds {
        self.tcp.get(packet.flow).copied().unwrap_or(TcpEnds { mss: 1, ecn: EcnMode::Off })
    }
}

/// An IPv4 header before `length` bytes.
fn ip_header(
    packet: &WirePacket<'_>,
    [from, to]: [Socket; 2],
    protocol: IpNumber,
    length: usize,
) -> io::Result<Ipv4Header> {
    let length = u16::try_from(length).map_err(io::Error::other)?;
    let header = Ipv4Header::new(length, TIME_TO_LIVE, protocol, from.address, to.address);
    let mut header = header.map_err(io::Error::other)?;
    header.ecn = match packet.ecn {
        Ecn::NotEct => IpEcn::NotEct,
        Ecn::Ect0 => IpEcn::Ect0,
        Ecn::Ect1 => IpEcn::Ect1,
        Ecn::Ce => IpEcn::CongestionExperienced,
    };
    header.header_checksum = header.calc_header_checksum();
    Ok(header)
}

/// Bytes that the packet's size leaves for TCP options.
fn room(packet: &WirePacket<'_>, payload: usize) -> usize {
    let headers = (packet.wire_size as usize).saturating_sub(payload);
    let room = headers.saturating_sub(IPV4_HEADER_LEN + TcpHeader::MIN_LEN).min(MOST_OPTIONS);
    room / 4 * 4
}

/// A time as a timestamp in milliseconds, which wraps around.
fn millis(nanos: i64) -> u32 {
    nanos.div_euclid(1_000_000) as u32
}
