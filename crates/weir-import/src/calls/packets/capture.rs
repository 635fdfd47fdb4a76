//! Datagrams of a capture: pcap or pcapng.

use std::collections::HashMap;
use std::io::Read;

use weir_world::recorded::RemarkSentence;

use super::datagram::FileDatagram;
use crate::calls::CallImportError;
use crate::traces::FormError;
use crate::traces::packet::FlowKey;
use crate::traces::packets::each_in;
use crate::traces::transfer::copies::RecentPackets;

/// Most pairs of ports with RTP; packets of further ones are skipped.
const MOST_PAIRS: usize = 10_000;

/// Passes each datagram that may be RTP or RTCP to `visit`. The result is a remark if the file is truncated.
///
/// # Errors
/// The file cannot be read or is no capture; errors of `visit`.
pub(super) fn each(
    input: impl Read,
    mut visit: impl FnMut(&FileDatagram<'_>) -> Result<(), CallImportError>,
) -> Result<Option<String>, CallImportError> {
    let mut pairs: HashMap<FlowKey, u32> = HashMap::new();
    let mut copies = RecentPackets::default();
    // Errors of `visit` are of another type than those of the capture.
    let mut refused = None;
    let facts = each_in(input, |packet, udp| {
        let Some(udp) = udp.filter(|udp| matches!(udp.payload, [0x80..=0xBF, _, ..])) else { return Ok(()) };
        if copies.is_copy(packet) {
            return Ok(());
        }
        let flow = packet.flow;
        let back = flow.reversed();
        let forward = flow <= back;
        let count = pairs.len();
        let key = if forward { flow } else { back };
        let pair = match pairs.get(&key) {
            Some(pair) => *pair,
            None if count >= MOST_PAIRS => return Ok(()),
            None => *pairs.entry(key).or_insert(count as u32),
        };
        let result = visit(&FileDatagram {
            time_us: packet.nanos.div_euclid(1000),
            pair,
            forward,
            bytes: udp.payload,
            length: udp.length,
            overhead: packet.bytes.saturating_sub(udp.length),
            hops: udp.hops,
        });
        result.map_err(|error| {
            refused = Some(error);
            FormError::Whole { problem: String::new() }
        })
    });
    if let Some(error) = refused {
        return Err(error);
    }
    let facts = facts.map_err(|error| match error {
        FormError::Packet { number, problem } => CallImportError::at(format!("packet {number}"), problem),
        other => CallImportError::UnknownForm(other.to_string()),
    })?;
    Ok(facts.cut.map(|packet| RemarkSentence::CUT_PACKET.with(&[&packet])))
}
