//! Packets of an attacker who has read the handshake of a session without a key.

use weir_peer::keys::{DirectionKeys, session_keys};

use crate::rig::{LISTENER, Rig};

/// A status message with its own number and that of the peer's status which it echoes. Of each flow it has the five counters.
pub(crate) fn status_message([number, echo]: [u32; 2], flows: &[[u64; 5]]) -> Vec<u8> {
    let mut bytes = b"Weir\x01\x05".to_vec();
    for number in [number, echo, 0] {
        bytes.extend_from_slice(&number.to_be_bytes());
    }
    bytes.push(flows.len() as u8);
    for (flow, counters) in flows.iter().enumerate() {
        bytes.push(flow as u8);
        for counter in counters {
            bytes.extend_from_slice(&counter.to_be_bytes());
        }
        // Delays.
        bytes.extend_from_slice(&[0xff; 12]);
    }
    bytes
}

/// Number of the last status of an end.
pub(crate) fn newest_status(rig: &Rig, end: usize) -> u32 {
    let mut statuses = rig.seen[end].iter().filter(|packet| packet.bytes.starts_with(b"Weir\x01\x05"));
    let newest = statuses.next_back().expect("a status each half second");
    u32::from_be_bytes(newest.bytes[6..10].try_into().expect("4 bytes"))
}

/// The keys of a session without a key, as anybody knows who has read its handshake.
pub(crate) fn read_keys(rig: &Rig) -> DirectionKeys {
    let nonce = |bytes: &[u8]| bytes.try_into().expect("16 bytes");
    let accept = rig.first[LISTENER].iter().find(|packet| packet.bytes[5] == 3).expect("consent");
    session_keys(&[], &nonce(&accept.bytes[6..22]), &nonce(&accept.bytes[22..38]))
}
