//! Captures of packets, read back.

mod media;
mod reader;
mod tcp;
mod tshark;

use std::io::{self, Write};

use reader::{Body, capture, capture_to, flow, network, read};

const CALL: &str = "kind = \"media\"\ncontroller = \"gcc\"";

#[test]
fn each_link_is_an_interface_in_the_order_asked_for_and_other_links_are_left_out() {
    let scenario = network("{ time = \"300ms\" }", &flow("video", CALL));
    let both = capture(&scenario, &["backward", "forward"]);
    assert_eq!(both.interfaces, ["backward", "forward"]);
    assert!(
        both.packets.iter().all(|packet| packet.interface == u32::from(packet.source.0 == [10, 0, 0, 1]))
    );
    let one = capture(&scenario, &["forward"]);
    assert_eq!(one.interfaces, ["forward"]);
    assert_eq!(one.packets.len(), both.packets.iter().filter(|packet| packet.interface == 1).count());
}

#[test]
fn the_capture_has_the_packets_of_the_link_at_their_times() {
    let traffic = "kind = \"constant\"\nrate = \"4Mbps\"\npacket_size = \"1000B\"";
    let scenario = network("{ packets = 10 }", &flow("load", traffic));
    let (measured, file) = capture_to(Vec::new(), &scenario, &["forward"]).unwrap();
    let packets = read(&file).packets;
    // 2 Mbit/s are 250 packets a second, 4 ms each; the first comes out after 4 ms of serialisation and 25 ms of propagation.
    assert_eq!(packets[0].nanos, 29_000_000);
    assert!(packets.windows(2).all(|pair| pair[1].nanos - pair[0].nanos == 4_000_000));
    assert_eq!(packets.len() as u64, (10_000_000_000 - 29_000_000) / 4_000_000 + 1);
    assert!(packets.iter().all(|packet| packet.whole == 1000 && packet.ecn == 0));
    assert!(packets.iter().all(|packet| matches!(&packet.body, Body::Udp(kept) if kept.is_empty())));
    let loss = measured.metrics.flows[0].loss_ratio.unwrap();
    assert!((0.45..0.55).contains(&loss), "half is lost, and not in the file: {loss}");
}

#[test]
fn a_capture_changes_nothing_of_what_is_measured() {
    let scenario = network("{ time = \"300ms\" }", &flow("video", CALL));
    let measured = |links: &[&str]| capture_to(Vec::new(), &scenario, links).unwrap().0.metrics;
    assert_eq!(measured(&[]), measured(&["forward", "backward"]));
}

/// A writer that fails after this many bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 = self.0.checked_sub(bytes.len()).ok_or(io::ErrorKind::StorageFull)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_file_error_ends_the_capture_and_is_reported() {
    let scenario = network("{ time = \"300ms\" }", &flow("video", CALL));
    let error = capture_to(Full(10_000), &scenario, &["forward"]).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert!(capture_to(Full(10), &scenario, &["forward"]).is_err(), "not even its header");
}
