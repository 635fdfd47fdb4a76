//! The packets of a captured transfer in the order of their arrival.

use std::path::Path;

use super::super::error::FormError;
use super::super::packets::each;
use super::choice::TransferFlow;
use super::copies::RecentPackets;

/// Greatest number of packets of a transfer; each takes 16 bytes of memory.
const MAX_PACKETS: usize = 20_000_000;
/// Greatest step back in time from one packet of the file to the next, in ns.
const MAX_STEP_BACK: i64 = 1_000_000_000;

/// A packet of the transfer.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransferPacket {
    /// Time of the packet, in ns since the first one.
    pub(super) nanos: i64,
    pub(super) bytes: u32,
}

/// The packets of `flow` in order of time.
///
/// # Errors
/// If the capture cannot be read, has too many packets, or its clock was set back.
pub(crate) fn read(path: &Path, flow: &TransferFlow) -> Result<Vec<TransferPacket>, FormError> {
    let mut arrivals: Vec<TransferPacket> = Vec::new();
    let mut copies = RecentPackets::default();
    let mut previous: Option<i64> = None;
    each(path, |packet| {
        if packet.flow != flow.key || flow.is_copied && copies.is_repeated(packet) {
            return Ok(());
        }
        let wrong = |problem: String| FormError::Packet { number: packet.number, problem };
        if arrivals.len() >= MAX_PACKETS {
            return Err(wrong(format!("{MAX_PACKETS} packets are the most; cut it with `editcap`")));
        }
        let step_back = previous.map_or(0, |previous| previous - packet.nanos);
        if step_back > MAX_STEP_BACK {
            return Err(wrong(format!(
                "its time is {:.1} s before that of the packet before it: the clock was set back, or the file is not in order. \
                 Take one part, by `editcap -r IN OUT 1-{}`, or put it in order by `reordercap`",
                step_back as f64 / 1e9,
                packet.number - 1
            )));
        }
        previous = Some(packet.nanos);
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
