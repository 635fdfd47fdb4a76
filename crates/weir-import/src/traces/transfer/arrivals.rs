//! The packets of a transfer by their arrival.

use std::path::Path;

use super::super::error::FormError;
use super::super::packets::each;
use super::choice::Chosen;
use super::copies::RecentPackets;

/// Most packets of a transfer: each takes 16 bytes of memory.
const MOST_PACKETS: usize = 20_000_000;
/// Largest disorder of a file whose packets are nearly in order, in ns.
const OUT_OF_ORDER: i64 = 1_000_000_000;

/// A packet of the transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransferPacket {
    /// Time of the packet, in ns since the first one.
    pub(super) nanos: i64,
    pub(super) bytes: u32,
}

/// The packets of the `chosen` flow in order of time.
///
/// # Errors
/// The capture cannot be read, has too many packets, or its clock was set back.
pub(crate) fn read(path: &Path, chosen: &Chosen) -> Result<Vec<TransferPacket>, FormError> {
    let mut arrivals: Vec<TransferPacket> = Vec::new();
    let mut copies = RecentPackets::default();
    let mut before: Option<i64> = None;
    each(path, |packet| {
        if packet.flow != chosen.flow || chosen.copied && copies.is_again(packet) {
            return Ok(());
        }
        let wrong = |problem: String| FormError::Packet { number: packet.number, problem };
        if arrivals.len() >= MOST_PACKETS {
            return Err(wrong(format!("{MOST_PACKETS} packets are the most; cut it with `editcap`")));
        }
        let back = before.map_or(0, |before| before - packet.nanos);
        if back > OUT_OF_ORDER {
            return Err(wrong(format!(
                "its time is {:.1} s before that of the packet before it: the clock was set back, or the file is not in order. \
                 Take one part, by `editcap -r IN OUT 1-{}`, or put it in order by `reordercap`",
                back as f64 / 1e9,
                packet.number - 1
            )));
        }
        before = Some(packet.nanos);
        arrivals.push(TransferPacket { nanos: packet.nanos, bytes: packet.bytes });
        Ok(())
    })?;
    arrivals.sort_by_key(|arrival| arrival.nanos);
    let begin = arrivals.first().map_or(0, |arrival| arrival.nanos);
    for arrival in &mut arrivals {
        arrival.nanos -= begin;
    }
    Ok(arrivals)
}
