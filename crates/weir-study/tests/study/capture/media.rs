//! RTP and RTCP in a capture.

use weir_wire::rtcp::messages;
use weir_wire::{ExtensionIds, MediaHeader};

use super::reader::{Body, Packet, capture, flow, network};

const SENDER: [u8; 4] = [10, 0, 0, 1];
const RECEIVER: [u8; 4] = [10, 0, 0, 2];

/// A call over a queue that marks packets after more than 20 ms.
fn call(controller: &str) -> Vec<Packet> {
    let words = format!("kind = \"media\"\ncontroller = \"{controller}\"\necn = \"ect1\"");
    let scenario = network("{ time = \"300ms\", mark_above = \"20ms\" }", &flow("video", &words));
    capture(&scenario, &["forward", "backward"]).packets
}

/// The UDP packets from and to `port`, with their payloads.
fn of_port(packets: &[Packet], port: u16) -> impl Iterator<Item = (&Packet, &[u8])> {
    packets.iter().filter_map(move |packet| match &packet.body {
        Body::Udp(kept) if packet.source.1 == port && packet.destination.1 == port => {
            Some((packet, kept.as_slice()))
        }
        _ => None,
    })
}

#[test]
fn rtp_is_complete_in_order_and_marked() {
    let packets = call("scream");
    let rtp: Vec<(&Packet, MediaHeader)> = of_port(&packets, 5004)
        .map(|(packet, kept)| {
            let header = MediaHeader::parse(kept, &ExtensionIds::default()).unwrap();
            assert_eq!((packet.source.0, packet.destination.0, packet.interface), (SENDER, RECEIVER, 0));
            assert_eq!(header.wire_len(), kept.len(), "all that is kept are headers");
            (packet, header)
        })
        .collect();
    assert!(rtp.len() > 500, "{}", rtp.len());
    for (number, (packet, header)) in rtp.iter().enumerate() {
        assert_eq!((header.sequence, header.transport_sequence), (number as u16, number as u16), "no loss");
        assert!(packet.whole > 52);
    }
    // ECT(1) is 1, CE is 3.
    let marked = rtp.iter().filter(|(packet, _)| packet.ecn == 3).count();
    assert!(marked > 0 && rtp.iter().all(|(packet, _)| [1, 3].contains(&packet.ecn)), "{marked}");
}

#[test]
fn rtcp_can_be_read_both_ways_under_every_kind_of_feedback() {
    for controller in ["gcc", "scream", "nada", "nada-dccc", "tfrc", "dccc"] {
        let packets = call(controller);
        let mut count = [0, 0];
        for (packet, kept) in of_port(&packets, 5005) {
            assert_eq!(packet.whole as usize, 28 + kept.len(), "{controller}: nothing is cut off");
            assert!(messages(kept).count() > 0);
            for message in messages(kept) {
                message.unwrap_or_else(|error| panic!("{controller}: {error}"));
            }
            assert_eq!(packet.source.0, if packet.interface == 0 { SENDER } else { RECEIVER });
            assert_eq!(packet.ecn, 0);
            count[packet.interface as usize] += 1;
        }
        assert!(count[0] >= 5 && count[1] >= 50, "{controller}: {count:?}");
    }
}

#[test]
fn every_flow_has_addresses_of_its_own() {
    let words = "kind = \"media\"\ncontroller = \"gcc-2016\"";
    let flows = [flow("a", words), flow("b", words)].concat();
    let packets = capture(&network("{ time = \"300ms\" }", &flows), &["forward", "backward"]).packets;
    for flow in [0, 1] {
        let own = packets.iter().filter(|packet| packet.source.0[2] == flow);
        assert!(own.clone().all(|packet| packet.destination.0[2] == flow));
        let ssrcs = own.filter_map(|packet| match &packet.body {
            Body::Udp(kept) if packet.source.1 == 5004 => {
                Some(MediaHeader::parse(kept, &ExtensionIds::default()).unwrap().ssrc)
            }
            _ => None,
        });
        let mut ssrcs: Vec<u32> = ssrcs.collect();
        ssrcs.dedup();
        assert_eq!(ssrcs.len(), 1, "flow {flow}");
    }
}

#[test]
fn the_flows_of_a_call_have_the_addresses_of_the_first() {
    let words = "kind = \"media\"\ncontroller = \"gcc-2016\"\ncall = \"c\"";
    let flows = [flow("load", "kind = \"constant\"\nrate = \"1kbps\""), flow("a", words), flow("b", words)];
    let scenario = network("{ time = \"300ms\" }", &flows.concat());
    let packets = capture(&scenario, &["forward", "backward"]).packets;
    let hosts = [[10, 0, 1, 1], [10, 0, 1, 2]];
    let mut ssrcs: Vec<u32> = of_port(&packets, 5004)
        .map(|(packet, kept)| {
            assert_eq!([packet.source.0, packet.destination.0], hosts);
            MediaHeader::parse(kept, &ExtensionIds::default()).unwrap().ssrc
        })
        .collect();
    ssrcs.sort_unstable();
    ssrcs.dedup();
    assert_eq!(ssrcs.len(), 2, "both flows are there");
    assert!(of_port(&packets, 5005).all(|(packet, _)| hosts.contains(&packet.source.0)));
}
