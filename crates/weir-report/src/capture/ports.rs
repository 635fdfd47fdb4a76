//! Addresses and ports: the same for a flow's packets of a kind in every file.

use weir_world::{Side, WireContent, WirePacket};

/// Port of RTP at both ends (RFC 3551 §8).
const RTP: u16 = 5004;
/// Port of RTCP at both ends (RFC 3551 §8).
const RTCP: u16 = 5005;
/// Port of constant traffic at both ends; of no protocol that decoders know.
const CONSTANT: u16 = 40_001;
/// Port of TCP's sender.
const TCP_SENDER: u16 = 40_000;
/// First of the ports of TCP's receivers, one per connection (RFC 6335 §6).
const DYNAMIC: u16 = 49_152;
/// Number of dynamic ports.
const DYNAMIC_PORTS: u32 = 16_384;
/// Clients with addresses of their own.
const CLIENT_ADDRESSES: u32 = 253;

/// Wireshark's file of this name, which lists the ports of RTP and RTCP; packet files do not identify them.
pub fn decode_as_entries() -> String {
    let entry =
        |(port, protocol): (u16, &str)| format!("decode_as_entry: udp.port,{port},(none),{protocol}\n");
    [(RTP, "RTP"), (RTCP, "RTCP")].map(entry).concat()
}

/// An address and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Socket {
    pub(super) address: [u8; 4],
    pub(super) port: u16,
}

/// Source and destination of `packet`, if its hosts are those of the flow `hosts`.
pub(super) fn sockets(packet: &WirePacket<'_>, hosts: usize) -> [Socket; 2] {
    let (near, far) = match packet.content {
        WireContent::Media(_) => (RTP, RTP),
        WireContent::Rtcp(_) => (RTCP, RTCP),
        WireContent::Constant => (CONSTANT, CONSTANT),
        WireContent::Segment(_) | WireContent::Acknowledgement(_) | WireContent::Request => {
            (TCP_SENDER, connection_port(packet))
        }
    };
    let [upper, lower] = (hosts as u16).to_be_bytes();
    let client = (packet.key.client % CLIENT_ADDRESSES) as u8;
    let sender = Socket { address: [10, upper, lower, 1], port: near };
    let receiver = Socket { address: [10, upper, lower, 2 + client], port: far };
    match packet.from {
        Side::Sender => [sender, receiver],
        Side::Receiver => [receiver, sender],
    }
}

/// Clients that share an address begin at different ports.
fn connection_port(packet: &WirePacket<'_>) -> u16 {
    let begin = (packet.key.client / CLIENT_ADDRESSES).wrapping_mul(97);
    DYNAMIC + (begin.wrapping_add(packet.key.connection) % DYNAMIC_PORTS) as u16
}
