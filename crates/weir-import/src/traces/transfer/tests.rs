//! Import of the rates of a transfer from a packet capture (`traces::transfer`).

use std::path::PathBuf;

use etherparse::{IpFragOffset, IpNumber, Ipv4Header, TcpHeader, UdpHeader};

use super::*;

const MS: i64 = 1_000_000;
/// Begin of captures, in s since 1970.
const BEGIN: i64 = 1_700_000_000;

/// Packets of IP by the time in ns at which they passed.
type Packets = Vec<(i64, Vec<u8>)>;

fn ip(protocol: IpNumber, identification: u16, offset: u16, more: bool, payload: &[u8]) -> Vec<u8> {
    let mut header =
        Ipv4Header::new(payload.len() as u16, 64, protocol, [10, 0, 0, 1], [10, 0, 0, 2]).unwrap();
    header.identification = identification;
    header.dont_fragment = false;
    header.more_fragments = more;
    header.fragment_offset = IpFragOffset::try_new(offset / 8).unwrap();
    [header.to_bytes().as_slice(), payload].concat()
}

/// A UDP datagram with zeros behind `begin`.
fn datagram(begin: &[u8], length: usize) -> Vec<u8> {
    let header =
        UdpHeader { source_port: 5000, destination_port: 6000, length: 8 + length as u16, checksum: 0 };
    let mut bytes = header.to_bytes().to_vec();
    bytes.extend(begin);
    bytes.resize(8 + length, 0);
    bytes
}

fn udp(identification: u16, begin: &[u8]) -> Vec<u8> {
    ip(IpNumber::UDP, identification, 0, false, &datagram(begin, 1200))
}

fn tcp(identification: u16, sequence: u32) -> Vec<u8> {
    let header = TcpHeader::new(5000, 6000, sequence, 65_000);
    ip(IpNumber::TCP, identification, 0, false, &[header.to_bytes().as_slice(), &[0; 1000]].concat())
}

/// pcap of packets of IP with times in µs.
fn pcap(packets: &Packets) -> Vec<u8> {
    let head = [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 101];
    let mut bytes: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (nanos, packet) in packets {
        let length = packet.len() as u32;
        let micros = BEGIN * 1_000_000 + nanos / 1000;
        let record = [(micros / 1_000_000) as u32, (micros % 1_000_000) as u32, length, length];
        bytes.extend(record.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend(packet);
    }
    bytes
}

#[derive(Debug)]
struct TransferOutcome {
    rates: Vec<RateFrom>,
    trace: Trace,
    findings: Vec<ImportFinding>,
}

impl TransferOutcome {
    fn mbps(&self) -> f64 {
        self.trace.mean_rate().bps_f64() / 1e6
    }

    fn finding(&self, subject: &str) -> Option<&ImportFinding> {
        self.findings.iter().find(|finding| finding.subject == subject)
    }
}

fn imported(bytes: &[u8]) -> Result<TransferOutcome, String> {
    read_as(bytes, None).map_err(|error| error.to_string())
}

fn read_as(bytes: &[u8], flow: Option<usize>) -> Result<TransferOutcome, FormError> {
    let place = tempfile::tempdir().unwrap();
    let path: PathBuf = place.path().join("a.pcap");
    std::fs::write(&path, bytes).unwrap();
    let mut findings = Vec::new();
    let options = ReadOptions { flow, ..ReadOptions::default() };
    read(&path, &options, &mut findings).map(|(rates, trace)| TransferOutcome { rates, trace, findings })
}

/// `count` packets, one each 10 ms.
fn paced(count: i64, packet: impl Fn(u16) -> Vec<u8>) -> Packets {
    (0..count).map(|n| (10 * MS * n, packet(n as u16))).collect()
}

#[test]
fn of_several_flows_the_one_that_is_asked_for_is_read() {
    let mut packets = paced(500, |n| udp(n + 1, &[]));
    packets.extend(paced(500, |n| tcp(n + 1, 1000 * u32::from(n))));
    packets.sort_by_key(|(nanos, _)| *nanos);
    let capture = pcap(&packets);
    let error = read_as(&capture, None).unwrap_err();
    assert_eq!(error.to_string(), "the capture has 2 flows");
    assert_eq!(
        error.form(),
        "name one with --flow NUMBER: 1: UDP 10.0.0.1:5000 → 10.0.0.2:6000, 0.6 MB in 5.0 s; \
         2: TCP 10.0.0.1:5000 → 10.0.0.2:6000, 0.5 MB in 5.0 s"
    );
    // 1228 and 1040 bytes each 10 ms.
    for (flow, mbps) in [(1, 0.9824), (2, 0.832)] {
        let outcome = read_as(&capture, Some(flow)).unwrap();
        assert!((outcome.mbps() - mbps).abs() < 0.01, "{flow}: {}", outcome.mbps());
    }
    let error = read_as(&capture, Some(3)).unwrap_err();
    assert_eq!(error.to_string(), "--flow 3: the number of flows is 2");
}

#[test]
fn packets_within_a_step_are_no_trace() {
    let error = imported(&pcap(&paced(5, |n| udp(n + 1, &[])))).unwrap_err();
    assert!(error.starts_with("its packets are less than 0.1 s apart"), "{error}");
}

/// Each packet again, 20 µs later.
fn twice(packets: &Packets) -> Packets {
    packets
        .iter()
        .flat_map(|(nanos, packet)| [(*nanos, packet.clone()), (nanos + 20_000, packet.clone())])
        .collect()
}

#[test]
fn packets_that_were_captured_twice_count_once_and_that_is_said() {
    let once = paced(500, |n| udp(n + 1, &[]));
    let (one, two) = (imported(&pcap(&once)).unwrap(), imported(&pcap(&twice(&once))).unwrap());
    assert!(one.finding("copies").is_none());
    assert_eq!(one.rates, two.rates);
    let copies = two.finding("copies").expect("said");
    assert!(
        copies.statement.starts_with("50 % of the packets, left out")
            && copies.statement.contains("`-i any`"),
        "{copies:?}"
    );
    assert_eq!(one.finding("flow"), two.finding("flow"));
}

#[test]
fn copies_of_tcp_count_once_even_without_identification() {
    for numbered in [1, 0] {
        let once = paced(500, |n| tcp((n + 1) * numbered, 1000 * u32::from(n)));
        let two = imported(&pcap(&twice(&once))).unwrap();
        assert_eq!(two.rates, imported(&pcap(&once)).unwrap().rates);
    }
}

/// Linux sends datagrams that must not be fragmented without identification.
#[test]
fn datagrams_without_identification_are_copies_by_what_they_carry() {
    let numbered = paced(500, |n| udp(0, &n.to_be_bytes()));
    let two = imported(&pcap(&twice(&numbered))).unwrap();
    assert_eq!(two.rates, imported(&pcap(&numbered)).unwrap().rates);
    assert!(two.finding("copies").is_some());
    // Ten in a row, 100 µs apart, with the same content: copies cannot be distinguished.
    let alike: Packets = (0..2000).map(|n| (n / 10 * 10 * MS + n % 10 * 100_000, udp(0, &[]))).collect();
    let alike = imported(&pcap(&alike)).unwrap();
    assert!(alike.finding("copies").is_none() && (alike.mbps() - 9.8).abs() < 0.1, "{}", alike.mbps());
}

#[test]
fn a_few_copies_are_the_path_s_own() {
    let mut packets = paced(500, |n| udp(n + 1, &[]));
    let copies: Packets =
        packets.iter().step_by(10).map(|(nanos, packet)| (nanos + 20_000, packet.clone())).collect();
    packets.extend(copies);
    packets.sort_by_key(|(nanos, _)| *nanos);
    assert!(imported(&pcap(&packets)).unwrap().finding("copies").is_none());
}

/// 8 kB in six fragments, one after the other.
fn fragments(identification: u16, payload: &[u8]) -> Vec<Vec<u8>> {
    let length = 1480;
    let parts = payload.chunks(length).count();
    payload
        .chunks(length)
        .enumerate()
        .map(|(n, part)| ip(IpNumber::UDP, identification, (n * length) as u16, n + 1 < parts, part))
        .collect()
}

/// `count` datagrams, one each 100 ms, whose fragments are 1 ms apart.
fn fragmented(count: i64, payload: impl Fn(u32) -> Vec<u8>) -> Packets {
    (0..count)
        .flat_map(|n| {
            let parts = fragments(n as u16, &payload(n as u32));
            parts.into_iter().enumerate().map(move |(part, bytes)| (100 * MS * n + part as i64 * MS, bytes))
        })
        .collect()
}

#[test]
fn fragments_belong_to_the_flow_of_the_first_one() {
    let packets = fragmented(100, |n| datagram(&n.to_be_bytes(), 8192));
    let outcome = imported(&pcap(&packets)).unwrap();
    // 8200 bytes and six IP headers each 100 ms.
    let expected = (8200.0 + 6.0 * 20.0) * 8.0 / 0.1 / 1e6;
    assert!((outcome.mbps() - expected).abs() < 0.02, "{} {expected}", outcome.mbps());
    assert!(outcome.finding("copies").is_none());
}

#[test]
fn fragments_of_which_a_part_is_missing_are_named() {
    let whole = fragmented(200, |n| datagram(&n.to_be_bytes(), 8192));
    let firsts: Packets = whole.iter().step_by(6).cloned().collect();
    let error = imported(&pcap(&firsts)).err().unwrap();
    assert!(
        error.starts_with("200 of its packets are first fragments") && error.contains("`host 10.0.0.2`"),
        "{error}"
    );
    let mut one = paced(500, |n| udp(n + 1, &[]));
    one[7].1 = whole[0].1.clone();
    assert!(imported(&pcap(&one)).is_ok(), "a single one is lost");
    let laters: Packets =
        whole.iter().enumerate().filter(|(n, _)| n % 6 != 0).map(|(_, packet)| packet.clone()).collect();
    let error = imported(&pcap(&laters)).err().unwrap();
    assert!(error.starts_with("it has 1000 fragments of IP packets and none of the first ones"), "{error}");
}

#[test]
fn a_clock_that_was_set_is_named() {
    let back = |by: i64| -> Packets {
        let set =
            |(n, (nanos, packet)): (usize, (i64, Vec<u8>))| (nanos - if n < 250 { 0 } else { by }, packet);
        paced(500, |n| udp(n + 1, &[])).into_iter().enumerate().map(set).collect()
    };
    let error = imported(&pcap(&back(3_600_000 * MS))).err().unwrap();
    assert!(
        error.starts_with("packet 251: its time is 3600.0 s before that of the packet before it"),
        "{error}"
    );
    assert!(error.contains("`editcap -r IN OUT 1-250`") && error.contains("`reordercap`"), "{error}");
    assert!(imported(&pcap(&back(20 * MS))).is_ok(), "nearly in order");
}

#[test]
fn pcap_of_the_modified_format_is_read() {
    let packets = paced(500, |n| udp(n + 1, &[]));
    let plain = pcap(&packets);
    let mut modified: Vec<u8> = [&[0x34, 0xcd, 0xb2, 0xa1], &plain[4..24]].concat();
    for record in plain[24..].chunks(16 + packets[0].1.len()) {
        modified.extend(&record[..16]);
        // Interface, protocol, kind of packet, padding.
        modified.extend([2, 0, 0, 0, 8, 0, 0, 0]);
        modified.extend(&record[16..]);
    }
    let (plain, modified) = (imported(&plain).unwrap(), imported(&modified));
    assert_eq!(modified.unwrap().rates, plain.rates);
    let error = imported(&[&[0xa1, 0xb2, 0xcd, 0x34][..], &[0; 40]].concat()).err().unwrap();
    assert!(error.contains("`editcap -F pcap IN OUT`"), "{error}");
}
