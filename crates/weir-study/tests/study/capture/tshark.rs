//! Captures as tshark understands them.

use std::process::Command;

use super::reader::{Body, capture_to, flow, network, read};

/// The output of `tshark` with these arguments, or `None` if it is not installed.
fn tshark(arguments: &[&str]) -> Option<String> {
    let output = Command::new("tshark").args(arguments).output().ok()?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn tshark_decodes_every_packet_without_complaint() {
    let call = "kind = \"media\"\ncontroller = \"gcc\"";
    let flows = [
        flow("video", call),
        flow("scream", "kind = \"media\"\ncontroller = \"scream\""),
        flow("bulk", "kind = \"tcp\"\noptions = { ecn = \"accurate\" }"),
        flow("web", "kind = \"web\"\nload = \"500kbps\""),
        flow("load", "kind = \"constant\"\nrate = \"100kbps\"\npacket_size = \"500B\""),
    ];
    let scenario = network("{ time = \"200ms\", mark_above = \"20ms\" }", &flows.concat());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("packets.pcapng");
    let (_, bytes) = capture_to(Vec::new(), &scenario, &["forward", "backward"]).unwrap();
    std::fs::write(&path, &bytes).unwrap();
    let file = path.to_str().unwrap();
    let count = |filter: &str| {
        let decode =
            ["-d", "udp.port==5004,rtp", "-d", "udp.port==5005,rtcp", "-o", "ip.check_checksum:TRUE"];
        let show = ["-r", file, "-Y", filter, "-T", "fields", "-e", "frame.number"];
        tshark(&[&decode[..], &show].concat()).map(|lines| lines.lines().count())
    };
    let Some(all) = count("frame") else {
        eprintln!("tshark is not installed: this test did not run");
        return;
    };
    let packets = read(&bytes).packets;
    let count_of =
        |wanted: fn(&super::reader::Packet) -> bool| Some(packets.iter().filter(|p| wanted(p)).count());
    assert_eq!(all, packets.len());
    assert_eq!(count("rtp"), count_of(|packet| packet.source.1 == 5004));
    assert_eq!(count("rtcp"), count_of(|packet| packet.source.1 == 5005));
    assert_eq!(count("tcp"), count_of(|packet| matches!(packet.body, Body::Tcp(_))));
    assert_eq!(count("ip.dsfield.ecn == 3"), count_of(|packet| packet.ecn == 3));
    assert_eq!(count("frame.interface_name == \"backward\""), count_of(|packet| packet.interface == 1));
    assert_eq!(count("ip.checksum.status != \"Good\""), Some(0));
    // Severities: error, then warning, which a lost segment is.
    assert_eq!(count("_ws.malformed || _ws.expert.severity == 0x800000"), Some(0));
    assert_eq!(count("_ws.expert.severity == 0x600000 && !tcp"), Some(0));
}
