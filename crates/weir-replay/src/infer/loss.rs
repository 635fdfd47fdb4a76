//! Random loss, and loss at a full queue: told apart by the wait of the packets beside a lost one.

use super::line::{LostPacket, PacketLine};
use super::path::LossEstimate;

/// A wait up to this share of the longest one counts as no full queue.
const SHORT_WAIT: f64 = 0.3;
/// Where the longest wait is shorter, no queue was full, in microseconds.
const LEAST_FULL_US: i64 = 20_000;
/// Fewer random losses count as none.
const LEAST_LOSSES: u64 = 3;

/// Losses by cause.
#[derive(Clone, Debug)]
pub(super) struct LossCauses {
    /// Random loss.
    pub(super) random: LossEstimate,
    /// Places in [`PacketLine::served`] of the packets before those lost at a full queue.
    pub(super) before_full: Vec<usize>,
}

/// The estimate of random loss, given the propagation delay as of [`PacketLine::propagation_us`].
pub(super) fn causes(line: &PacketLine, propagation_us: i64) -> LossCauses {
    let wait = |index: usize| line.served.get(index).map_or(0, |packet| packet.wait_us() - propagation_us);
    let longest = (0..line.served.len()).map(wait).max().unwrap_or(0);
    let short = if longest < LEAST_FULL_US { longest } else { (SHORT_WAIT * longest as f64) as i64 };
    let before = |lost: &LostPacket| lost.after.saturating_sub(1).min(line.served.len() - 1);
    let is_random = |lost: &&LostPacket| wait(before(lost)) <= short;
    let (random, queued): (Vec<&LostPacket>, Vec<&LostPacket>) = line.lost.iter().partition(is_random);
    let calm = (0..line.served.len()).filter(|&index| wait(index) <= short).count();
    let among = |lost: &[&LostPacket], served: usize| {
        let losses = lost.len() as u64;
        let packets = losses + served as u64;
        let rows = lost.chunk_by(|one, next| one.after == next.after).count();
        let share = if losses < LEAST_LOSSES { 0.0 } else { losses as f64 / packets.max(1) as f64 };
        let burst = if rows == 0 { 1.0 } else { losses as f64 / rows as f64 };
        LossEstimate { share, packets, burst, at_full_queue: 0 }
    };
    let estimate = among(&random, calm);
    // Random losses also meet packets that wait.
    let all = (line.served.len() + line.lost.len()) as f64;
    let expected = (estimate.share * all - random.len() as f64).max(0.0);
    let is_full = queued.len() as f64 > expected + 4.0 * expected.sqrt() + 1.0;
    if !is_full {
        let all: Vec<&LostPacket> = line.lost.iter().collect();
        return LossCauses { random: among(&all, line.served.len()), before_full: Vec::new() };
    }
    let before_full: Vec<usize> = queued.iter().map(|lost| before(lost)).collect();
    let at_full_queue = before_full.len() as u64;
    LossCauses { random: LossEstimate { at_full_queue, ..estimate }, before_full }
}
