//! TCP in a capture.

use std::collections::BTreeMap;

use super::reader::{Body, Packet, Tcp, capture, flow, network};

const SYN: u16 = 2;
const ACK: u16 = 16;
const ECE: u16 = 64;
const CWR: u16 = 128;
const AE: u16 = 256;

const BOTH: [&str; 2] = ["forward", "backward"];

/// The captured segments of a transfer over a link with this queue.
fn tcp(queue: &str, words: &str) -> Vec<(Packet, Tcp)> {
    let scenario = network(queue, &flow("bulk", &format!("kind = \"tcp\"\n{words}")));
    let tcp = |packet: Packet| match packet.body.clone() {
        Body::Tcp(header) => Some((packet, header)),
        Body::Udp(_) => None,
    };
    capture(&scenario, &BOTH).packets.into_iter().filter_map(tcp).collect()
}

fn forward(packets: &[(Packet, Tcp)]) -> impl Iterator<Item = &(Packet, Tcp)> {
    packets.iter().filter(|(packet, _)| packet.interface == 0)
}

fn backward(packets: &[(Packet, Tcp)]) -> impl Iterator<Item = &Tcp> {
    packets.iter().filter(|(packet, _)| packet.interface == 1).map(|(_, tcp)| tcp)
}

#[test]
fn a_transfer_begins_with_a_handshake_and_all_its_bytes_are_acknowledged() {
    // 100 000 = 69 · 1448 + 88: the last segment is not full.
    let packets = tcp("{ time = \"300ms\" }", "size = \"100kB\"\nprofile = \"plain\"");
    let sent: Vec<_> = forward(&packets).collect();
    let (syn, header) = sent[0];
    assert_eq!((syn.whole, header.flags, header.sequence, header.payload), (52, SYN, 0, 0));
    assert!(header.timestamps.is_some());
    let answer = backward(&packets).next().unwrap();
    assert_eq!((answer.flags, answer.sequence, answer.ack), (SYN | ACK, 0, 1));
    for (number, (packet, header)) in sent[1..].iter().enumerate() {
        let payload = if number == 69 { 88 } else { 1448 };
        assert_eq!((header.flags, header.ack), (ACK, 1));
        assert_eq!((header.sequence, header.payload), (1 + 1448 * number as u32, payload));
        assert_eq!(packet.whole, 52 + payload);
    }
    assert_eq!(sent.len(), 71);
    let acks: Vec<u32> = backward(&packets).map(|tcp| tcp.ack).collect();
    assert!(acks.is_sorted());
    assert_eq!(acks.last(), Some(&100_001));
    assert!(backward(&packets).all(|tcp| tcp.flags & ACK != 0 && tcp.payload == 0 && tcp.sacks.is_empty()));
}

#[test]
fn timestamps_come_back() {
    let packets = tcp("{ time = \"300ms\" }", "size = \"100kB\"");
    let sent: Vec<u32> = forward(&packets).map(|(_, tcp)| tcp.timestamps.unwrap().0).collect();
    assert!(backward(&packets).all(|tcp| sent.contains(&tcp.timestamps.unwrap().1)));
    let packets = tcp("{ time = \"300ms\" }", "size = \"100kB\"\noptions = { header = 40 }");
    assert!(packets.iter().all(|(_, tcp)| tcp.timestamps.is_none()), "a header of 40 bytes has no room");
}

#[test]
fn losses_are_gaps_that_selective_acknowledgements_surround() {
    let packets = tcp("{ packets = 20 }", "law = \"newreno\"");
    let sent: Vec<u32> =
        forward(&packets).filter(|(_, tcp)| tcp.payload > 0).map(|(_, tcp)| tcp.sequence).collect();
    assert!(sent.windows(2).any(|pair| pair[1] > pair[0] + 1448), "a gap");
    assert!(sent.windows(2).any(|pair| pair[1] < pair[0]), "and what fills it");
    let mut blocks = 0;
    for tcp in backward(&packets) {
        for &(start, end) in &tcp.sacks {
            assert!(start > tcp.ack && end > start, "{start} to {end} above {}", tcp.ack);
            assert_eq!(((start - 1) % 1448, (end - 1) % 1448), (0, 0));
            assert!(sent.contains(&start));
            blocks += 1;
        }
    }
    assert!(blocks > 10, "{blocks}");
}

#[test]
fn marks_are_echoed_until_they_are_answered() {
    let queue = "{ time = \"300ms\", mark_above = \"20ms\" }";
    let packets = tcp(queue, "options = { ecn = \"classic\" }");
    let flags = |tcp: &Tcp| tcp.flags & (SYN | ECE | CWR);
    assert_eq!(flags(&forward(&packets).next().unwrap().1), SYN | ECE | CWR);
    assert_eq!(flags(backward(&packets).next().unwrap()), SYN | ECE);
    let mark = packets.iter().position(|(packet, _)| packet.ecn == 3).expect("a mark");
    let before = &packets[..mark];
    assert!(before.iter().skip(2).all(|(_, tcp)| flags(tcp) == 0));
    assert!(forward(&packets).skip(1).all(|(packet, _)| packet.ecn >= 2), "ECT(0) or CE");
    let echo = packets.iter().position(|(_, tcp)| flags(tcp) == ECE).expect("an echo");
    let answer = packets.iter().position(|(_, tcp)| flags(tcp) == CWR).expect("an answer");
    assert!(mark < echo && echo < answer);
}

#[test]
fn exact_counts_of_marks_are_in_three_flags() {
    let queue = "{ time = \"300ms\", mark_above = \"5ms\" }";
    let packets = tcp(queue, "options = { ecn = \"accurate\" }");
    let count = |tcp: &Tcp| u32::from((tcp.flags & (AE | CWR | ECE)) >> 6);
    assert_eq!(count(&forward(&packets).next().unwrap().1), 7, "SYN");
    assert_eq!(count(backward(&packets).next().unwrap()), 2, "SYN-ACK, after a SYN without a mark");
    // Counts of marked packets by arrival time. An acknowledgement in the capture left the receiver 25 ms earlier.
    let mut marks = BTreeMap::from([(0, 0)]);
    for (packet, _) in forward(&packets).filter(|(packet, _)| packet.ecn == 3) {
        let so_far = marks.last_key_value().map_or(0, |(_, &count)| count);
        marks.insert(packet.nanos, so_far + 1);
    }
    assert!(marks.len() > 20, "{}", marks.len());
    let mut seen = [false; 8];
    for tcp in backward(&packets).skip(1) {
        seen[count(tcp) as usize] = true;
    }
    assert_eq!(seen, [true; 8]);
    let last = packets.iter().rfind(|(packet, _)| packet.interface == 1).unwrap();
    // At 2 Mbit/s the acknowledgement of 52 to 80 bytes takes 0.2 to 0.33 ms more.
    let reported = (count(&last.1) + 3) % 8;
    let when = |micros: u64| last.0.nanos - 25_000_000 - micros * 1000;
    let marks_at = |nanos: u64| marks.range(..=nanos).next_back().map_or(0, |(_, &count)| count % 8);
    assert!(reported == marks_at(when(400)) || reported == marks_at(when(200)), "{reported}");
}

#[test]
fn downloads_and_clients_have_connections_of_their_own() {
    let words = "downloads = { size = { min = \"10kB\", max = \"50kB\" }, idle = \"500ms\" }";
    let mut connections: BTreeMap<u16, Vec<Tcp>> = BTreeMap::new();
    for (packet, tcp) in tcp("{ time = \"300ms\" }", words) {
        let port = if packet.interface == 0 { packet.destination.1 } else { packet.source.1 };
        connections.entry(port).or_default().push(tcp);
    }
    assert!(connections.len() > 3, "{}", connections.len());
    for (port, packets) in connections.iter().take(3) {
        assert_eq!((packets[0].flags, packets[1].flags), (SYN, SYN | ACK), "{port}");
        let end = packets.iter().map(|tcp| tcp.sequence + tcp.payload).max();
        assert_eq!(packets.iter().map(|tcp| tcp.ack).max(), end, "all is acknowledged");
    }
    let scenario = network("{ time = \"300ms\" }", &flow("web", "kind = \"web\"\nload = \"1Mbps\""));
    let packets = capture(&scenario, &BOTH).packets;
    let requests = packets.iter().filter(|packet| matches!(packet.body, Body::Udp(_)));
    assert!(requests.clone().count() > 3);
    for request in requests {
        let answers = packets.iter().filter(|packet| packet.destination == request.source);
        let mut answers = answers.filter(|packet| packet.nanos > request.nanos);
        let first = answers.next().map(|packet| packet.body.clone());
        if request.nanos < 9_000_000_000 {
            assert!(matches!(first, Some(Body::Tcp(tcp)) if tcp.flags == SYN), "{request:?}");
        }
    }
}
