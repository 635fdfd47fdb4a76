//! A reader of captures that shares nothing with their writer: blocks by their lengths, headers by their RFCs.

use std::io::{self, Write};

use weir_import::traces::TraceStore;
use weir_measure::metrics::{Measured, Recorder};
use weir_report::capture::{Captured, PacketCapture};
use weir_scenario::compile::RunOptions;
use weir_scenario::scenario::Scenario;
use weir_sim::Simulation;

/// A link of 2 Mbit/s, 25 ms there and back, that marks or drops; `flows` stand below it.
pub(crate) fn network(queue: &str, flows: &str) -> String {
    format!(
        "title = \"t\"\nduration = \"10s\"\n\
         [links.forward]\nfrom = \"left\"\nto = \"right\"\ndelay = \"25ms\"\nrate = \"2Mbps\"\nqueue = {queue}\n\
         [links.backward]\nfrom = \"right\"\nto = \"left\"\ndelay = \"25ms\"\nrate = \"2Mbps\"\n{flows}"
    )
}

/// A flow from left to right.
pub(crate) fn flow(name: &str, words: &str) -> String {
    format!("[flows.{name}]\nfrom = \"left\"\nto = \"right\"\n{words}\n")
}

/// Captures `links` of a scenario.
pub(crate) fn capture_to<W: Write>(out: W, scenario: &str, links: &[&str]) -> io::Result<(Measured, W)> {
    let scenario = Scenario::parse("test.toml", scenario, &[]).unwrap_or_else(|e| panic!("{e}"));
    let options = RunOptions { seed: 1, ..RunOptions::default() };
    let run = scenario.build(&options, &TraceStore::at(None)).unwrap_or_else(|e| panic!("{e}"));
    let index = |name: &&str| run.spec.links.iter().position(|link| link.name == *name).unwrap();
    let links: Vec<usize> = links.iter().map(index).collect();
    let capture = PacketCapture::new(out, &run.spec, &links)?;
    let watched = Captured::new(Recorder::new(run.plan), capture);
    let (recorder, out) = Simulation::new(run.spec, watched).unwrap().run().finish()?;
    Ok((recorder.finish(), out))
}

/// A file that was read.
#[derive(Debug, Default)]
pub(crate) struct Capture {
    pub(crate) interfaces: Vec<String>,
    pub(crate) packets: Vec<Packet>,
}

/// A packet whose lengths and checksums are right.
#[derive(Clone, Debug)]
pub(crate) struct Packet {
    pub(crate) interface: u32,
    pub(crate) nanos: u64,
    pub(crate) ecn: u8,
    pub(crate) whole: u32,
    pub(crate) source: ([u8; 4], u16),
    pub(crate) destination: ([u8; 4], u16),
    pub(crate) body: Body,
}

#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// The captured payload of a UDP datagram.
    Udp(Vec<u8>),
    Tcp(Tcp),
}

/// Fields of a TCP header.
#[derive(Clone, Debug)]
pub(crate) struct Tcp {
    pub(crate) sequence: u32,
    pub(crate) ack: u32,
    /// FIN 1, SYN 2, ACK 16, ECE 64, CWR 128, AE 256.
    pub(crate) flags: u16,
    pub(crate) payload: u32,
    pub(crate) timestamps: Option<(u32, u32)>,
    pub(crate) sacks: Vec<(u32, u32)>,
}

pub(crate) fn capture(scenario: &str, links: &[&str]) -> Capture {
    let (_, file) = capture_to(Vec::new(), scenario, links).unwrap();
    read(&file)
}

/// Reads a pcapng file, and checks the lengths of its blocks.
pub(crate) fn read(file: &[u8]) -> Capture {
    let mut capture = Capture::default();
    let mut rest = file;
    while !rest.is_empty() {
        let (kind, length) = (le32(rest, 0), le32(rest, 4) as usize);
        assert_eq!(length % 4, 0);
        assert_eq!(le32(rest, length - 4) as usize, length, "the length stands at both ends");
        let body = &rest[8..length - 4];
        match kind {
            0x0A0D_0D0A => assert_eq!((le32(body, 0), le16(body, 4)), (0x1A2B_3C4D, 1)),
            1 => {
                assert_eq!(le16(body, 0), 101, "raw IP");
                assert_eq!(option(body, 9), Some(vec![9]), "nanoseconds");
                capture.interfaces.push(String::from_utf8(option(body, 2).unwrap()).unwrap());
            }
            6 => capture.packets.push(packet(body)),
            other => panic!("a block of type {other}"),
        }
        rest = &rest[length..];
    }
    capture
}

/// The option `code` of an interface's block.
fn option(body: &[u8], code: u16) -> Option<Vec<u8>> {
    let mut rest = &body[8..];
    while le16(rest, 0) != 0 {
        let length = usize::from(le16(rest, 2));
        if le16(rest, 0) == code {
            return Some(rest[4..4 + length].to_vec());
        }
        rest = &rest[4 + length.next_multiple_of(4)..];
    }
    None
}

/// Reads an enhanced packet block, and checks the IPv4 header and the checksums.
fn packet(body: &[u8]) -> Packet {
    let nanos = u64::from(le32(body, 4)) << 32 | u64::from(le32(body, 8));
    let (kept, whole) = (le32(body, 12) as usize, le32(body, 16));
    assert_eq!(body.len(), 20 + kept.next_multiple_of(4));
    let mut bytes = body[20..20 + kept].to_vec();
    assert_eq!((bytes[0], be16(&bytes, 2)), (0x45, whole as u16), "IPv4, and its length");
    assert_eq!(checksum(&bytes[..20]), 0, "of the IP header");
    // The bytes that were cut off are zeros.
    bytes.resize(whole as usize, 0);
    let protocol = u16::from(bytes[9]);
    let pseudo = [&bytes[12..20], &protocol.to_be_bytes(), &(whole as u16 - 20).to_be_bytes()].concat();
    assert_eq!(checksum(&[&pseudo, &bytes[20..]].concat()), 0, "of all that IP carries");
    let address = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
    let source = (address(12), be16(&bytes, 20));
    let destination = (address(16), be16(&bytes, 22));
    let content = match protocol {
        17 => {
            assert_eq!(u32::from(be16(&bytes, 24)), whole - 20);
            Body::Udp(bytes[28..kept].to_vec())
        }
        6 => Body::Tcp(tcp(&bytes[20..])),
        other => panic!("protocol {other}"),
    };
    let ecn = bytes[1] & 3;
    Packet { interface: le32(body, 0), nanos, ecn, whole, source, destination, body: content }
}

/// Reads a TCP header and its options.
fn tcp(bytes: &[u8]) -> Tcp {
    let length = usize::from(bytes[12] >> 4) * 4;
    let (mut timestamps, mut sacks) = (None, Vec::new());
    let mut options = &bytes[20..length];
    while let [kind, rest @ ..] = options {
        if *kind == 1 {
            options = rest;
            continue;
        }
        let (own, next) = options.split_at(usize::from(rest[0]));
        match kind {
            4 => assert_eq!(own.len(), 2),
            5 => sacks.extend(own[2..].chunks(8).map(|block| (be32(block, 0), be32(block, 4)))),
            8 => timestamps = Some((be32(own, 2), be32(own, 6))),
            other => panic!("TCP option {other}"),
        }
        options = next;
    }
    Tcp {
        sequence: be32(bytes, 4),
        ack: be32(bytes, 8),
        flags: be16(bytes, 12) & 0x1FF,
        payload: (bytes.len() - length) as u32,
        timestamps,
        sacks,
    }
}

/// The Internet checksum (RFC 1071 §1); 0 over bytes that contain their own.
fn checksum(bytes: &[u8]) -> u16 {
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let mut sum: u32 = bytes.chunks(2).map(word).sum();
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

fn le16(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn le32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn be16(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn be32(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
